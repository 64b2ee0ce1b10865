//! A [`window`] in plain words: where few heaps are rare, a value is the lowest bit that is not set in an OR over
//! these heaps. Small common heaps show in the same way that rare values are reached.
//!
//! Cost per heap: a shift and an OR for each rare heap and each head, 30 to 200 of them.
//! Bound: these operations, several heaps at once where the tier shifts each lane by its own count.
//! Source: Flammenkamp computed games with few rare heaps to 10^11 and beyond.

use super::drive;
use super::sparse_lanes::parts;
use super::window::{steps::Windowed, words::loops};
use super::{Octal, Start, greedy, window};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Octal, context: CostContext) -> Cost {
    window::cost(greedy::cost(input, context), input)
}

pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    drive::drive(input, run, start, &parts(Some(greedy::WORTH)), &mut Windowed::new(loops()))
}
