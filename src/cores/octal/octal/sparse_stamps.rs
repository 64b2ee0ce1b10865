//! Sparse space, one heap at a time: the splits with a rare heap stamp all common values that are reached. The least common value
//! without a stamp is the value of the heap, if the other splits stamp every rare value below it.
//!
//! Cost: a stamp for each rare heap, and as many for common splits as it takes to reach the rare values, a few hundred.
//! Bound: the stores; branches on values.
//! Source: Berlekamp, Conway and Guy, *Winning Ways*, chapter 4; the programs of Gangolli and Plambeck and of Flammenkamp.

use super::{Octal, Start, heap_by_heap, pairs};
use crate::cores::octal::sparse::space::{Space, common_parity};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Numbers that fit in the output.
const VALUES: usize = 1 << 16;

/// Rate: the ns of a heap.
pub fn cost(input: &Octal, _: CostContext, [heap]: [f64; 1]) -> Cost {
    if !input.has_sparse_space() || input.limit() >= u64::from(u32::MAX) {
        return Cost::IMPOSSIBLE;
    }
    let heaps = input.heaps() as f64;
    Cost { ns: heap * heaps.min(0.5 * input.splits()), bytes: 2.0 * heaps + 4.0 * VALUES as f64 }
}

pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    let is_unequal = input.code().is_unequal();
    let mut stamp = vec![0u32; VALUES];
    let parity = common_parity(input.code());
    let mut space = None;
    heap_by_heap(input, run, start, |n, g| {
        let space = space.get_or_insert_with(|| Space::new(parity, g));
        let now = n as u32;
        for (left, digit) in input.moves(n) {
            if Octal::leaves(digit, left) {
                stamp[usize::from(g[left])] = now;
            }
            if digit & 4 > 0 {
                let rare = space.rare().iter().take_while(|(heap, _)| *heap < left);
                for (heap, value) in rare.filter(|(heap, _)| !is_unequal || 2 * heap != left) {
                    stamp[usize::from(value ^ g[left - heap])] = now;
                }
            }
        }
        let is_open = |value: &usize, stamp: &[u32]| stamp[*value] != now;
        let common = (0..VALUES).find(|value| is_open(value, &stamp) && !space.mask().is_rare(n, *value as u16))?;
        let mut open = (0..common).filter(|value| is_open(value, &stamp)).count();
        let splits = input.moves(n).filter(|(_, digit)| digit & 4 > 0);
        for nim_sum in splits.flat_map(|(left, _)| pairs(g, left, 1, is_unequal)) {
            if open == 0 {
                break;
            }
            let nim_sum = usize::from(nim_sum);
            open -= usize::from(nim_sum < common && is_open(&nim_sum, &stamp));
            stamp[nim_sum] = now;
        }
        let value = (0..=common).find(|value| is_open(value, &stamp))? as u16;
        if space.push(n, value) {
            space.choose(&[g, &[value]].concat());
        }
        Some(value)
    })
}
