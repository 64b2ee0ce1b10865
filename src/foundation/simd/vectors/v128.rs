//! Four words, in two vectors of 128 bits. A funnel shift is two or three shifts and an OR.

use super::{Parts, WordVectors};
use crate::simd::v128::{first_zero, funnel, or, words};

/// The parts of these tiers.
#[inline(always)]
pub fn parts() -> impl WordVectors {
    Parts(words, or, funnel, first_zero)
}
