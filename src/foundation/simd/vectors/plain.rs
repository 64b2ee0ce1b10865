//! Single words.

use super::{Parts, WordVectors};
use crate::simd::bits::{first_zero, funnel};

/// The parts of plain Rust.
#[inline(always)]
pub fn parts() -> impl WordVectors {
    Parts(|[word]: &[u64; 1]| *word, |a: u64, b: u64| a | b, funnel, first_zero)
}
