//! Numbers in saved measurements. Anyone can edit these files, so each number is checked when it is read; later code
//! need not handle zeros and infinities.

use std::ops::RangeInclusive;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Accepted range of a measured time, in any unit, or a ratio of times: far wider than any machine produces.
const PLAUSIBLE: RangeInclusive<f64> = 1e-15..=1e15;

/// Deserialises a measured time or a ratio of two times.
pub fn positive<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(from)?;
    match PLAUSIBLE.contains(&number) {
        true => Ok(number),
        false => Err(D::Error::custom(format!("a measured number is {number:?}, not within 1e-15 and 1e15"))),
    }
}

/// Deserialises a time or rate that may be zero.
pub fn positive_or_zero<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(from)?;
    match number == 0.0 || PLAUSIBLE.contains(&number) {
        true => Ok(number),
        false => Err(D::Error::custom(format!("a measured number is {number:?}, not 0 or within 1e-15 and 1e15"))),
    }
}
