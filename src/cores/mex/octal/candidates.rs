//! Candidates: some splits of a heap stamp most of the values that are reached. Each value that is still open is then looked for
//! among all splits, many at once, in ascending order. The first that is not found is the value of the heap.
//!
//! A copy of the values in reverse order makes both heaps of consecutive splits contiguous, so the search is a loop of XOR and
//! compare that the compiler vectorises.
//!
//! Cost: a thousand stamps, and `n / 2` splits for the value itself; fewer for each value that is found.
//! Bound: while the values fit in L1 or L2, the comparisons.

use super::{Octal, Start, heap_by_heap, pairs};
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};

/// Numbers that fit in the output.
const VALUES: usize = 1 << 16;
/// Splits of each total that stamp.
const SAMPLE: usize = 1024;
/// Splits that are searched at once.
const CHUNK: usize = 256;

/// Nanoseconds for a heap of `n` with `places` places that split in two.
pub fn heap_ns(tier: Tier, n: f64, places: f64) -> f64 {
    let each = if tier == Tier::Avx512 { 0.05 } else { 0.2 };
    150.0 + places * (0.5 * (n / 2.0).min(SAMPLE as f64) + each * n)
}

pub fn cost(input: &Octal, context: CostContext) -> Cost {
    if !input.has_sparse_space() || input.limit() >= u64::from(u32::MAX) {
        return Cost::IMPOSSIBLE;
    }
    let heaps = input.heaps() as f64;
    let ns = heaps * heap_ns(context.tier, heaps / 2.0, input.places(4) as f64);
    Cost { ns: ns + 10_000.0, bytes: 4.0 * heaps + 4.0 * VALUES as f64 }
}

#[inline(always)]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    let mut candidates = Candidates::new(input.heaps());
    heap_by_heap(input, run, start, |_, g| candidates.value(input, g))
}

/// The table of stamps, and the values in reverse order.
pub struct Candidates {
    stamp: Vec<u32>,
    /// The value of heap `n` is at index `len - 1 - n`.
    reversed: Vec<u16>,
    known: usize,
}

impl Candidates {
    /// For values of up to this many heaps.
    pub fn new(heaps: usize) -> Self {
        Candidates { stamp: vec![0; VALUES], reversed: vec![0; heaps], known: 0 }
    }

    /// The value of the next heap; `None` if it is too large.
    #[inline(always)]
    pub fn value(&mut self, input: &Octal, g: &[u16]) -> Option<u16> {
        let (n, heaps) = (g.len(), self.reversed.len());
        for (known, value) in g.iter().enumerate().skip(self.known) {
            self.reversed[heaps - 1 - known] = *value;
        }
        self.known = n;
        let (now, is_unequal) = (n as u32, input.code().is_unequal());
        for (left, digit) in input.moves(n) {
            if digit & 1 > 0 && left == 0 {
                self.stamp[0] = now;
            }
            if digit & 2 > 0 && left > 0 {
                self.stamp[usize::from(g[left])] = now;
            }
            if digit & 4 > 0 {
                pairs(g, left, 1, is_unequal).take(SAMPLE).for_each(|nim_sum| self.stamp[usize::from(nim_sum)] = now);
            }
        }
        'values: for value in 0..VALUES {
            if self.stamp[value] == now {
                continue;
            }
            for (left, digit) in input.moves(n) {
                let half = left.saturating_sub(usize::from(is_unequal)) / 2;
                if digit & 4 == 0 || half <= SAMPLE {
                    continue;
                }
                if is_found(&g[1 + SAMPLE..=half], &self.reversed[heaps + SAMPLE - left..], value as u16) {
                    continue 'values;
                }
            }
            return Some(value as u16);
        }
        None
    }
}

/// Whether two numbers at the same index have this nim-sum. The second list may be longer.
#[inline(always)]
pub fn is_found(a: &[u16], b: &[u16], nim_sum: u16) -> bool {
    let b = &b[..a.len()];
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<CHUNK>(), b.as_chunks::<CHUNK>());
    // Loops, not iterators, whose parts would be compiled for another tier where they are not inlined.
    for (a, b) in a.iter().zip(b) {
        let mut hits = 0;
        for i in 0..CHUNK {
            hits |= u16::from(a[i] ^ b[i] == nim_sum);
        }
        if hits > 0 {
            return true;
        }
    }
    let mut hits = 0;
    for (a, b) in rest_a.iter().zip(rest_b) {
        hits |= u16::from(a ^ b == nim_sum);
    }
    hits > 0
}
