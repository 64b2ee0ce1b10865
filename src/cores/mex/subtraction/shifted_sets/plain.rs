//! Sets added to a tile in plain Rust, byte by byte, as the compiler vectorises it. The tile is loaded and stored once per set.

use super::{RuleOut, ShiftedSets, TileBits};

#[inline(always)]
fn rule_out(sets: &ShiftedSets, heaps: &[usize], start: usize, reached: &mut TileBits) {
    for heap in heaps {
        for (reached, reaching) in reached.iter_mut().zip(sets.reaching(*heap, start)) {
            *reached |= reaching;
        }
    }
}

/// The part in plain Rust.
#[inline(always)]
pub fn parts() -> impl RuleOut {
    rule_out
}
