//! [`super::shifted_sets`] with the tile in four registers while the sets of a value are added.
//!
//! Cost per shifted set: four loads and four ORs, and six scalar instructions for its address.
//! Bound (Zen 4): the loads, which split lines: 1.8 cycles each.

use std::arch::x86_64::*;

use super::Subtraction;
use super::shifted_sets::{Bits, Shifted, TILE, cost_of, drive};
use crate::kernel::{Cost, On, Run, Stop};
use crate::simd::avx512::{load, store};

pub fn cost(input: &Subtraction, _: On) -> Cost {
    cost_of(input, 3.0)
}

/// Vectors in a tile.
const VECTORS: usize = TILE / 512;

#[target_feature(enable = "avx512f")]
fn forbid(sets: &Shifted, heaps: &[usize], start: usize, reached: &mut Bits) {
    let mut sum: [__m512i; VECTORS] = std::array::from_fn(|i| load(&reached.as_chunks::<64>().0[i]));
    for heap in heaps {
        let (reaching, _) = sets.reaching(*heap, start).as_chunks::<64>();
        for i in 0..VECTORS {
            sum[i] = _mm512_or_si512(sum[i], load(&reaching[i]));
        }
    }
    for (bytes, sum) in reached.as_chunks_mut::<64>().0.iter_mut().zip(sum) {
        store(bytes, sum);
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f")]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, Stop> {
    drive(input, run, |sets, heaps, start, reached| forbid(sets, heaps, start, reached))
}
