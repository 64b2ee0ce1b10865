//! Numbers, units and names as people write and read them, independent of games, kernels and machines.

pub mod names;
pub mod numbers;
pub mod units;
