//! Joints: all that a run from some heap on depends on, besides the tapes.
//!
//! If two runs are in the same state at a joint, everything that they find from there on is the same.

use super::window::{PAD, Registers};
use crate::cores::occupancy::charge::Charge;
use crate::simd::bits::WORD;

/// The state between two spans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joint {
    /// The first heap after the joint.
    pub n: u64,
    /// At most the mex of the differences, a multiple of eight.
    pub d: u64,
    /// Upper positions so far.
    pub uppers: u64,
    /// The sum of the lower partners that are not yet in whole words of the tape `used`.
    pub pending: u128,
    pub registers: Registers,
    /// The marks below the first candidate in its word, for `used` and for `sum` by parity: this word is not on the
    /// tape yet.
    pub partial: [u64; 3],
}

impl Joint {
    /// A guess at heap `n`: see [`Registers::guess`].
    pub fn guess(n: u64, charge: &Charge, uppers: u64) -> Self {
        let (d, registers) = Registers::guess(n, charge);
        Joint { n, d, uppers, pending: 0, registers, partial: [0; 3] }
    }

    /// The lines of the first candidate: used, and sum by parity. All marks before these are complete.
    pub fn ends(&self) -> [u64; 2] {
        [self.n + self.d, self.n / 2 + self.d]
    }

    /// The first lines in the registers: used, difference, sum by parity.
    pub fn registers_begin(&self) -> [u64; 3] {
        [self.n + self.d, self.d, self.n / 2 + self.d].map(|line| line - PAD as u64)
    }

    /// The words of complete marks: used, and sum by parity.
    pub fn written(&self) -> [usize; 2] {
        self.ends().map(|line| line as usize / WORD)
    }
}
