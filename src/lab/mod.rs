//! The instruments: clocks, known answers, duels.

pub mod clock;
pub mod environment;
pub mod known;
pub mod verify;
