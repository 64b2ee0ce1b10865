//! **SIMD mex**: Grundy values, the minimum excludant of the values that a move reaches.

mod oracle;
pub mod records;
pub mod split;
pub mod subtraction;
pub mod zeros;
