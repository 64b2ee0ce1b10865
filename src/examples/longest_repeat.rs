//! The longest window of Grundy values that an octal game has twice among its first heaps:
//! `cargo run --release --example longest_repeat CODE HEAPS`. A period needs one as long as in `profiles/papers/windows.md`, so
//! this shows which games may be near theirs.

/// Heaps before these may have no repeated window.
const FIRST: usize = 100_000;

/// Whether two windows of `length` values end at heaps of the same parity and are equal, by a polynomial hash modulo 2^64 of values
/// that are mixed before.
fn repeats(values: &[u16], length: usize) -> bool {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = |value: u16| {
        let x = (u64::from(value) + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (x ^ x >> 29).wrapping_mul(0x94d0_49bb_1331_11eb)
    };
    let top = (0..length).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let (mut hash, mut seen) = (0_u64, [Vec::new(), Vec::new()]);
    for (n, value) in values.iter().enumerate() {
        hash = hash.wrapping_mul(BASE).wrapping_add(mixed(*value));
        if n >= length {
            hash = hash.wrapping_sub(top.wrapping_mul(mixed(values[n - length])));
        }
        if n + 1 >= length {
            seen[n % 2].push(hash);
        }
    }
    seen.iter_mut().any(|hashes| {
        hashes.sort_unstable();
        hashes.windows(2).any(|pair| pair[0] == pair[1])
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(code), Some(heaps)) = (args.next(), args.next()) else {
        return Err("usage: longest_repeat CODE HEAPS".into());
    };
    let values = nimlanes::octal_values(&code, heaps.parse::<u64>()?)?;
    let values = values.get(FIRST..).ok_or("too few heaps")?;
    let mut longest = 1;
    while repeats(values, 2 * longest) {
        longest *= 2;
    }
    let mut step = longest;
    while step > 0 {
        if repeats(values, longest + step) {
            longest += step;
        }
        step /= 2;
    }
    println!("{longest}");
    Ok(())
}
