//! Candidates: some splits of a heap stamp most of the values that are reached. Each unresolved value is then searched for
//! among all splits, many at once, in ascending order. The first that is not found is the value of the heap.
//!
//! A copy of the values in reverse order makes both heaps of consecutive splits contiguous, so the search is a loop of XOR and
//! compare that the compiler vectorises.
//!
//! How many splits stamp depends on how long the searches were: in some games most values are found at once, in others a hundred
//! are left for the end, and stamps are quicker.
//!
//! Cost: the stamps, and `n / 2` splits for the value itself; fewer for each value that is found.
//! Bound: the stores of stamps, or the comparisons, while the values fit in L2.

use super::input::Octal;
use super::values::{Start, VALUES, Values};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Splits of each total that stamp, at least.
const SAMPLE: usize = 1024;
/// Splits that are searched at once, and the stamps that take as long.
const CHUNK: usize = 256;
const STAMPS: usize = 48;

/// Nanoseconds of a run, of a heap and of a stamp; and of these where all splits stamp.
const NS_PER_RUN: f64 = 4000.0;
const NS_PER_HEAP: f64 = 150.0;
const NS_PER_STAMP: f64 = 0.4;
const NS_OF_ALL: [f64; 2] = [30.0, 0.34];

/// Nanoseconds for a heap of `n`, past the first hundreds, with `places` places that split in two, at `search` for a split that is
/// searched.
pub fn heap_ns(search: f64, n: f64, places: f64) -> f64 {
    NS_PER_HEAP + places * (NS_PER_STAMP * (n / 2.0).min(SAMPLE as f64) + search * n)
}

/// Rate: the ns of a split that is searched.
pub fn cost(input: &Octal, _: CostContext, [search]: [f64; 1]) -> Cost {
    let (heaps, places) = (input.heaps() as f64, input.places(4).count() as f64);
    // All splits of the first heaps stamp, and nothing is searched.
    let all_stamp = NS_OF_ALL[0] + NS_OF_ALL[1] * places * heaps / 4.0;
    let each = if heaps < 2.0 * SAMPLE as f64 { all_stamp } else { heap_ns(search, heaps / 2.0, places) };
    let bytes = 4.0 * heaps + 4.0 * VALUES as f64;
    Cost { ns: heaps * each + NS_PER_RUN, bytes }.only_if(input.has_sparse_space())
}

#[inline(always)]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    let mut candidates = Candidates::new(input.heaps());
    // A loop: a closure would be compiled without the CPU features of the entry.
    let mut values = Values::new(input, run, start);
    while !values.is_complete() {
        let value = candidates.value(input, &values.known);
        values.push(value)?;
    }
    values.advance()?;
    Ok(values.known)
}

/// The table of stamps, and the values in reverse order.
pub struct Candidates {
    stamp: Box<[u32; VALUES]>,
    /// The value of heap `n` is at index `len - 1 - n`.
    reversed: Vec<u16>,
    known: usize,
    /// Stamps count heaps from this one on.
    since: usize,
    /// Splits of each total that stamp.
    sample: usize,
}

impl Candidates {
    /// For values of up to this many heaps.
    pub fn new(heaps: usize) -> Self {
        Candidates {
            stamp: vec![0; VALUES].try_into().expect("as many"),
            reversed: vec![0; heaps],
            known: 0,
            since: 0,
            sample: SAMPLE,
        }
    }

    /// The value of the next heap; `None` if it is too large.
    #[inline(always)]
    pub fn value(&mut self, input: &Octal, g: &[u16]) -> Option<u16> {
        let (n, heaps) = (g.len(), self.reversed.len());
        if n == 0 {
            return Some(0);
        }
        for (known, value) in g.iter().enumerate().skip(self.known) {
            self.reversed[heaps - 1 - known] = *value;
        }
        self.known = n;
        if n - self.since >= u32::MAX as usize {
            self.stamp.fill(0);
            self.since = n;
        }
        let (now, is_unequal) = ((n - self.since) as u32 + 1, input.code().is_unequal());
        for (left, digit) in input.moves(n) {
            if Octal::leaves(digit, left) {
                self.stamp[usize::from(g[left])] = now;
            }
            if digit & 4 > 0 {
                let count = (left.saturating_sub(usize::from(is_unequal)) / 2).min(self.sample);
                let large = &self.reversed[(heaps - left).min(heaps - 1)..];
                stamp_all(&mut self.stamp, now, &g[1..][..count], &large[..count]);
            }
        }
        let (sample, mut searched) = (self.sample, 0);
        'values: for value in 0..VALUES {
            if self.stamp[value] == now {
                continue;
            }
            for (left, digit) in input.moves(n) {
                let half = left.saturating_sub(usize::from(is_unequal)) / 2;
                if digit & 4 == 0 || half <= sample {
                    continue;
                }
                let (chunks, is_found) =
                    search(&g[1 + sample..=half], &self.reversed[heaps + sample - left..], value as u16);
                searched += chunks;
                if is_found {
                    continue 'values;
                }
            }
            // Towards equal time for stamps and searches.
            self.sample = match STAMPS * searched {
                time if time > 2 * sample => (sample + sample / 8).min(n),
                time if time < sample => (sample - sample / 16).max(SAMPLE),
                _ => sample,
            };
            return Some(value as u16);
        }
        None
    }
}

/// Stamps the nim-sums of the numbers at the same index, which are computed many at a time.
#[inline(always)]
fn stamp_all(stamp: &mut [u32; VALUES], now: u32, a: &[u16], b: &[u16]) {
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<32>(), b.as_chunks::<32>());
    for (a, b) in a.iter().zip(b) {
        let mut nim_sums = [0; 32];
        for i in 0..32 {
            nim_sums[i] = a[i] ^ b[i];
        }
        for nim_sum in nim_sums {
            stamp[usize::from(nim_sum)] = now;
        }
    }
    for (a, b) in rest_a.iter().zip(rest_b) {
        stamp[usize::from(a ^ b)] = now;
    }
}

/// How many chunks of two lists are searched until two numbers at the same index have this nim-sum, and whether any
/// have it. The second list may be longer.
#[inline(always)]
pub fn search(a: &[u16], b: &[u16], nim_sum: u16) -> (usize, bool) {
    let b = &b[..a.len()];
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<CHUNK>(), b.as_chunks::<CHUNK>());
    // Loops, not iterators, whose parts would be compiled for another tier where they are not inlined.
    for (chunk, (a, b)) in a.iter().zip(b).enumerate() {
        let mut hits = 0;
        for i in 0..CHUNK {
            hits |= u16::from(a[i] ^ b[i] == nim_sum);
        }
        if hits > 0 {
            return (chunk + 1, true);
        }
    }
    let mut hits = 0;
    for (a, b) in rest_a.iter().zip(rest_b) {
        hits |= u16::from(a ^ b == nim_sum);
    }
    (a.len() + 1, hits > 0)
}
