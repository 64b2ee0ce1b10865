//! A [`window`](crate::cores::octal::sparse::window) where few heaps are rare: a value is the lowest bit that is not set in an OR over
//! these heaps. Small common heaps show in the same way that rare values are reached. Elsewhere, [`super::greedy`].
//!
//! Cost and bound: those of the window.
//! Source: Flammenkamp computed games with few rare heaps to 10^11 and beyond.

use super::{Octal, Start, greedy};
use crate::cores::octal::sparse::Compiled;
use crate::cores::octal::sparse::drive::drive;
use crate::cores::octal::sparse::window::steps::Windowed;
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rate: that of [`greedy`]. Whether a game has few rare heaps is not known beforehand, but a game that has no windows loses little,
/// and long runs gain much.
pub fn cost(input: &Octal, context: CostContext, rates: [f64; 1]) -> Cost {
    let Cost { ns, bytes } = greedy::cost(input, context, rates);
    let factor = if input.heaps() > 1 << 22 { 0.98 } else { 1.02 };
    Cost { ns: factor * ns, bytes }
}

pub fn run(input: &Octal, run: &Run, start: Start, parts: Compiled) -> Result<Vec<u16>, RunError> {
    drive(input, run, start, parts, &mut Windowed::new(parts.loops))
}
