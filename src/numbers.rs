//! Whole numbers as people write sizes: `100000`, `10_000_000`, `1e7`, `2.5e6`.

use std::ops::RangeInclusive;

/// A text that is no whole number, or one that is out of bounds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberError {
    /// Not a whole number.
    #[error("not a whole number; write 100000, 10_000_000 or 1e7")]
    NotWhole,
    /// Above the upper bound.
    #[error("too large; at most {most}")]
    TooLarge {
        /// The largest number.
        most: u64,
    },
    /// Below the lower bound.
    #[error("too small; at least {least}")]
    TooSmall {
        /// The smallest number.
        least: u64,
    },
}

/// A whole number of 64 bits.
///
/// # Errors
/// It is none.
pub fn number(text: &str) -> Result<u64, NumberError> {
    within(0..=u64::MAX)(text)
}

/// Reads a whole number in a range.
pub fn within(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<u64, NumberError> + Clone {
    move |text| match parse(text) {
        Ok(n) if range.contains(&n) => Ok(n),
        Ok(n) if n > *range.end() => Err(NumberError::TooLarge { most: *range.end() }),
        Err(Wrong::Large) => Err(NumberError::TooLarge { most: *range.end() }),
        Ok(_) | Err(Wrong::Negative) => Err(NumberError::TooSmall { least: *range.start() }),
        Err(Wrong::Text) => Err(NumberError::NotWhole),
    }
}

/// Why a text is no number of 64 bits.
#[derive(Clone, Copy)]
enum Wrong {
    Text,
    Negative,
    Large,
}

fn parse(text: &str) -> Result<u64, Wrong> {
    let digits = text.replace('_', "");
    if digits.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return Err(Wrong::Negative);
    }
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((&digits, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || exponent.is_empty() || ![whole, fraction, exponent].into_iter().all(is_digits) {
        return Err(Wrong::Text);
    }
    let fraction = fraction.trim_end_matches('0');
    let exponent: u32 = exponent.parse().map_err(|_| Wrong::Large)?;
    let zeros = exponent.checked_sub(fraction.len() as u32).ok_or(Wrong::Text)?;
    let mantissa: u64 = format!("{whole}{fraction}").parse().map_err(|_| Wrong::Large)?;
    if mantissa == 0 {
        return Ok(0);
    }
    10u64.checked_pow(zeros).and_then(|power| mantissa.checked_mul(power)).ok_or(Wrong::Large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let read = ["0", "100000", "10_000_000", "1e7", "1E7", "2.5e6", "1.50e1", "0e99", "18446744073709551615"];
        let want = [0, 100_000, 10_000_000, 10_000_000, 10_000_000, 2_500_000, 15, 0, u64::MAX];
        assert_eq!(read.map(number), want.map(Ok));
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "-1", "-", "x", "1.5", "1e", "e7", "1e20", "18446744073709551616", "0x10", "1e-3", "+5", "1 0"]
        {
            assert!(number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_out_of_bounds_says_which_bound() {
        let read = within(3..=9);
        assert_eq!(["3", "9"].map(&read), [Ok(3), Ok(9)]);
        assert_eq!(["2", "-1"].map(&read), [const { Err(NumberError::TooSmall { least: 3 }) }; 2]);
        assert_eq!(["10", "1e99"].map(&read), [const { Err(NumberError::TooLarge { most: 9 }) }; 2]);
    }
}
