//! **nimlanes**: a SIMD and bit-parallel performance lab for combinatorial games.

pub mod bits;
pub mod cores;
pub mod games;
pub mod kernel;
pub mod lab;
pub mod machine;
pub mod moves;
pub mod selection;
pub mod session;
mod simd;
