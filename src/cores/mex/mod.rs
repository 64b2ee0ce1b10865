//! **SIMD mex**: Grundy values, each the minimum excludant (mex) of the values that a move reaches.

pub mod checkpoint;
pub mod family;
mod lanes;
pub mod memory;
pub mod octal;
mod oracle;
pub mod period;
pub mod records;
mod residues;
mod sparse;
pub mod split;
pub mod subtraction;
mod translate;
pub mod zeros;
