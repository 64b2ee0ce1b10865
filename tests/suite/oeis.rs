//! Grundy values against published tables: the SHA-256 sums of whole OEIS b-files (`n a(n)` lines), and first positions.
//! The sums come from other programs; a kernel must match every byte.

use hmac_sha256::Hash;
use nimlanes::cores::mex::subtraction::{MexSubtraction, Subtraction};
use nimlanes::cores::mex::zeros::{MexZeros, Zeros};
use nimlanes::kernel::{Kernel, Run, available};
use nimlanes::machine::Machine;
use nimlanes::moves::MoveSet;

/// Values of heaps `0..=limit`, from each kernel predicted to need less than half a second.
fn by_each_kernel(set: MoveSet, limit: u64) -> impl Iterator<Item = (&'static str, Vec<u16>)> {
    let input = Subtraction::new(&set, limit, &Machine::detect()).expect("a small limit");
    let kernels: Vec<_> = available::<MexSubtraction>(&Machine::detect()).collect();
    kernels.into_iter().filter_map(move |kernel| {
        let threads = [1, 2].into_iter().find(|threads| kernel.cost(&input, *threads).ns < 5e8)?;
        Some((kernel.def().name, kernel.run(&input, &Run::new(threads)).expect("not cancelled")))
    })
}

fn sha256(lines: impl Iterator<Item = (usize, u64)>) -> String {
    let text: String = lines.map(|(n, a)| format!("{n} {a}\n")).collect();
    Hash::hash(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn values_are_those_of_published_tables() {
    for (set, number, sum) in [
        (MoveSet::Squares, "A014586", "931eb17bcf07d057955b4b21f68683a5d7741a507e2f2a19c693a1f59b1e19c5"),
        (MoveSet::Factorials, "A014587", "76cc60204917a7860029c934385bd90186bd995ed507837f5d612673d931b6ac"),
        (MoveSet::Fibonacci, "A014588", "150f7dd93753319266460cfb8e1512dc51337a89b5298920527fe8ea8e585386"),
        (MoveSet::Primes, "A014589", "fc1678f7ae7df3da487a5e30506e9f37afd237ca0a575aef4fce01f35b482c4a"),
    ] {
        for (kernel, g) in by_each_kernel(set.clone(), 10_000) {
            let lines = g.iter().enumerate().map(|(n, v)| (n, u64::from(*v)));
            assert_eq!(sha256(lines), sum, "{number}: {kernel}");
        }
    }
}

/// As its first terms stand in the OEIS: values, not the first heaps of values.
#[test]
fn a019509_subtract_a_triangular_number() {
    const TERMS: &str =
        "010101232010101232010101232010101232323454545323454010123232010123232010145232354545601354545601367";
    for (kernel, g) in by_each_kernel(MoveSet::Triangular, TERMS.len() as u64 - 1) {
        let text: String = g.iter().map(u16::to_string).collect();
        assert_eq!(text, TERMS, "{kernel}");
    }
}

#[test]
fn a030193_zeros_of_subtract_a_square() {
    // The file has 61300 lines; there are as many zeros up to heap 8.4 million.
    let input = Zeros::new(&MoveSet::Squares, 8_400_000, &Machine::detect()).expect("a small limit");
    let sum = |zeros: Vec<u64>| sha256(zeros.into_iter().take(61_300).enumerate());
    const SUM: &str = "5ae7b8748744d84f1c7a63dba8d6e73363f1dca8450a2933f13abd3f18626ec7";
    let is_fast = |kernel: &Kernel<MexZeros>| kernel.cost(&input, 1).ns < 5e8;
    for kernel in available::<MexZeros>(&Machine::detect()).filter(is_fast) {
        assert_eq!(sum(kernel.run(&input, &Run::new(1)).expect("not cancelled")), SUM, "{}", kernel.def().name);
    }
    let limit = 500_000;
    let values = (0..).zip(nimlanes::grundy_values("squares", limit).expect("a small limit"));
    let zeros = nimlanes::zeros("squares", limit).expect("a small limit");
    assert!(values.filter(|(_, value)| *value == 0).map(|(n, _)| n).eq(zeros));
}

#[test]
fn first_positions_of_values() {
    let firsts = |set, limit| {
        let g = nimlanes::grundy_values(set, limit).expect("a small limit");
        let mut firsts = Vec::new();
        for (n, v) in g.iter().enumerate() {
            if usize::from(*v) == firsts.len() {
                firsts.push(n);
            }
        }
        firsts
    };
    // OEIS A355556, A019307 and A355557.
    assert_eq!(firsts("factorials", 700_000), [0, 1, 2, 6, 5050, 5056, 5064, 40520, 40696, 630_373]);
    let fibonacci = [0, 1, 2, 3, 8, 9, 144, 145, 167, 627, 2677, 2725, 2726, 12071, 48652, 206_025];
    assert_eq!(firsts("fibonacci", 250_000), fibonacci);
    assert_eq!(firsts("primes", 20_000), [0, 2, 4, 6, 8, 19, 21, 23, 43, 48, 67, 156]);
}
