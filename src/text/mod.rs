//! Numbers, units and names as people write and read them. Nothing here knows a game, a kernel or a machine.

pub(crate) mod names;
pub mod numbers;
pub mod units;
