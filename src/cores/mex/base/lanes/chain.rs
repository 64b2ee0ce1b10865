//! The serial chain through the heaps of a block, in any number of windows. Each heap takes the lowest value that is free for it.

use super::{APART, LANES, act_apart, below};

/// Windows whose last one-hot word the chain keeps in registers.
const IN_REGISTERS: usize = 4;

/// The state of a window in a block.
pub struct Near {
    /// For each heap of the current block, the values that no earlier block rules out.
    pub free: [u64; LANES],
    /// A block of zeros, then the one-hot values of the heaps of the current block.
    pub own: [u64; 2 * LANES],
}

impl Default for Near {
    fn default() -> Self {
        Near { free: [u64::MAX >> 1; LANES], own: [0; 2 * LANES] }
    }
}

/// The moves inside a block.
pub struct NearMoves {
    /// Those of at least [`APART`].
    pub apart: Vec<usize>,
    /// Those from 2 to [`APART`]` - 1`.
    pub close: Vec<usize>,
    /// All ones if 1 is a move, else 0.
    pub one: u64,
}

impl NearMoves {
    /// Of moves in ascending order, those inside a block.
    pub fn new(moves: &[usize]) -> Self {
        NearMoves {
            apart: moves[below(moves, APART)..below(moves, LANES)].to_vec(),
            close: moves[below(moves, 2)..below(moves, APART)].to_vec(),
            one: if moves.first() == Some(&1) { u64::MAX } else { 0 },
        }
    }
}

/// Finds the one-hot values of a block's heaps, in order. Returns false if some heap has no free value in any window. Repeating the
/// block with one more window gives the same values and the missing ones.
///
/// Inlined into the decoder of each tier, which has its CPU features.
#[inline(always)]
pub fn resolve(windows: &mut [Near], moves: &NearMoves) -> bool {
    // Loops over a known number of windows and moves are unrolled.
    match (windows.len(), moves.close.len()) {
        (1, 0..=2) => resolve_with::<2>(windows, 1, moves),
        (2, 0..=2) => resolve_with::<2>(windows, 2, moves),
        (3, 0..=2) => resolve_with::<2>(windows, 3, moves),
        (count, 0..=2) => resolve_with::<2>(windows, count, moves),
        (1, 3..=6) => resolve_with::<6>(windows, 1, moves),
        (2, 3..=6) => resolve_with::<6>(windows, 2, moves),
        (count, 3..=6) => resolve_with::<6>(windows, count, moves),
        (1, _) => resolve_with::<{ APART - 2 }>(windows, 1, moves),
        (count, _) => resolve_with::<{ APART - 2 }>(windows, count, moves),
    }
}

/// [`resolve`] with at most `C` close moves.
#[inline(always)]
fn resolve_with<const C: usize>(windows: &mut [Near], count: usize, moves: &NearMoves) -> bool {
    let windows = &mut windows[..count];
    // Where the close moves of heap 0 lead in `own`. Unused entries are moves of a whole block, which lead to zeros.
    let mut close = [0; C];
    for (to, m) in close.iter_mut().zip(&moves.close) {
        *to = LANES - m;
    }
    // The value of the previous heap, for the move 1. In memory, it would add a store and a load to the chain.
    let mut last = [0; IN_REGISTERS];
    let mut all_resolved = true;
    for group in 0..LANES / 8 {
        // The `apart` moves are applied to the next group: what they read was stored a while before, and loads that meet
        // unfinished stores delay nothing.
        for window in windows.iter_mut().filter(|_| group < LANES / 8 - 1) {
            let next = 8 * (group + 1);
            act_apart(&moves.apart, &window.own, LANES + next, &mut window.free[next..]);
        }
        for i in 8 * group..8 * group + 8 {
            // All ones until a window has a free value. No branch and no select, since the window is unpredictable.
            let mut wanted = u64::MAX;
            for (w, window) in windows.iter_mut().enumerate() {
                // The remainder changes nothing and spares a check.
                let mut reached = 0;
                for m in &close {
                    reached |= window.own[(m + i) % window.own.len()];
                }
                let before = if w < IN_REGISTERS { last[w] } else { window.own[LANES + i - 1] & moves.one };
                let open = window.free[i] & !reached & !before;
                let own = open & open.wrapping_neg() & wanted;
                wanted &= (open.wrapping_sub(1) as i64 >> 63) as u64; // bit 63 is never open
                window.own[LANES + i] = own;
                if w < IN_REGISTERS {
                    last[w] = own & moves.one;
                }
            }
            all_resolved &= wanted == 0;
        }
    }
    all_resolved
}
