//! Numbers in files of measurements, which anyone can edit: each is checked when it is read, so that what is made of them need
//! not fear zeros and infinities.

use std::ops::RangeInclusive;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// What a measured time, in any unit, or a ratio of times can be: far more than any machine shows.
const PLAUSIBLE: RangeInclusive<f64> = 1e-15..=1e15;

/// A measured time or a ratio of two.
pub fn positive<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(from)?;
    match PLAUSIBLE.contains(&number) {
        true => Ok(number),
        false => Err(D::Error::custom(format!("a measured number is {number:e}, not within 1e-15 and 1e15"))),
    }
}

/// A time or a rate that may be nothing at all.
pub fn positive_or_zero<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(from)?;
    match number == 0.0 || PLAUSIBLE.contains(&number) {
        true => Ok(number),
        false => Err(D::Error::custom(format!("a measured number is {number:e}, not 0 or within 1e-15 and 1e15"))),
    }
}
