//! The instruments: clocks, known answers, duels.

pub mod clock;
pub mod known;
