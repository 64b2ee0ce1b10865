//! The instruments: clocks, known answers, duels.

pub mod known;
