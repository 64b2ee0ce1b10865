//! The probes in plain Rust: whatever the compiler makes of words, and a permutation with one lookup per byte.

use std::array::from_fn;
use std::hint::black_box;

use super::{Probe, operations, order, sums};

pub fn run(probe: Probe) {
    match probe {
        Probe::Loads(vectors, times) => {
            sums(vectors, times, [[0; 8]; 2], |sum, vector| from_fn(|i| sum[i] ^ vector[i]))
        }
        Probe::Logic(count) => {
            let mask = black_box([0x5a5a_5a5a_a5a5_a5a5u64; 8]);
            operations(count / 2, [[1; 8], mask], |a, _| from_fn(|i| (a[i] ^ mask[i]).wrapping_add(mask[i])));
        }
        Probe::LogicOfThree(count) => {
            let mask = black_box([0x5a5a_5a5a_a5a5_a5a5u64; 8]);
            operations(count, [[1; 8], mask], |a, b| from_fn(|i| (a[i] & mask[i]) ^ b[i]));
        }
        Probe::Permute(count) => {
            let order = order();
            operations(64 * count, from_fn::<u8, 12, _>(|i| i as u8), |a, _| order[usize::from(a % 64)]);
        }
    }
}
