//! Parsing of whole numbers in the forms used for sizes: `100000`, `10_000_000`, `1e7`, `2.5e6`, `2^30`.

use std::ops::RangeInclusive;

/// Why a text is not a whole number within bounds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberError {
    /// Not a whole number.
    #[error("not a whole number; write 100000, 10_000_000, 1e7 or 2^30")]
    NotWhole,
    /// Above the upper bound.
    #[error("too large; at most {most}")]
    TooLarge {
        /// The upper bound.
        most: u64,
    },
    /// Below the lower bound.
    #[error("too small; at least {least}")]
    TooSmall {
        /// The lower bound.
        least: u64,
    },
}

/// Parses an unsigned 64-bit whole number.
///
/// # Errors
/// The text is not a whole number, or does not fit in 64 bits.
pub fn number(text: &str) -> Result<u64, NumberError> {
    within(0..=u64::MAX)(text)
}

/// Returns a parser for whole numbers in a range.
pub fn within(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<u64, NumberError> + Clone {
    move |text| match parse(text) {
        Ok(n) if range.contains(&n) => Ok(n),
        Ok(n) if n > *range.end() => Err(NumberError::TooLarge { most: *range.end() }),
        Err(ParseError::TooLarge) => Err(NumberError::TooLarge { most: *range.end() }),
        Ok(_) | Err(ParseError::Negative) => Err(NumberError::TooSmall { least: *range.start() }),
        Err(ParseError::NotWhole) => Err(NumberError::NotWhole),
    }
}

/// Why a text is not an unsigned 64-bit number.
#[derive(Clone, Copy)]
enum ParseError {
    NotWhole,
    Negative,
    TooLarge,
}

fn parse(text: &str) -> Result<u64, ParseError> {
    let digits = text.replace('_', "");
    if let [b'-', b'0'..=b'9', ..] = digits.as_bytes() {
        return Err(ParseError::Negative);
    }
    let (mantissa, base, exponent) = if let Some((base, exponent)) = digits.split_once('^') {
        (1, part(base)?, part(exponent)?)
    } else {
        let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((&digits, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        part(whole)?;
        let zeros = part(exponent)?.checked_sub(fraction.len() as u64).ok_or(ParseError::NotWhole)?;
        (part(&format!("{whole}{fraction}"))?, 10, zeros)
    };
    if mantissa == 0 {
        return Ok(0);
    }
    let exponent = u32::try_from(exponent).map_err(|_| ParseError::TooLarge)?;
    base.checked_pow(exponent).and_then(|power| mantissa.checked_mul(power)).ok_or(ParseError::TooLarge)
}

/// Part of a number, which has digits alone.
fn part(text: &str) -> Result<u64, ParseError> {
    if !is_whole(text) {
        return Err(ParseError::NotWhole);
    }
    text.parse().map_err(|_| ParseError::TooLarge)
}

/// Whether a text has digits alone.
pub(crate) fn is_whole(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The largest limit: `most`, or less if an index has 32 bits, as a sum of a few heaps must be an index, too.
pub const fn indexable(most: u64) -> u64 {
    const WITH_32_BITS: u64 = 1 << 30;
    if cfg!(target_pointer_width = "32") && most > WITH_32_BITS { WITH_32_BITS } else { most }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_ways_to_write_sizes_are_parsed() {
        let read = [
            "0",
            "100000",
            "10_000_000",
            "1e7",
            "1E7",
            "2.5e6",
            "1.50e1",
            "0e99",
            "18446744073709551615",
            "2^33",
            "4294967296^1",
            "10^0",
        ];
        let want = [0, 100_000, 10_000_000, 10_000_000, 10_000_000, 2_500_000, 15, 0, u64::MAX, 1 << 33, 1 << 32, 1];
        assert_eq!(read.map(number), want.map(Ok));
    }

    #[test]
    fn invalid_sizes_are_rejected() {
        for text in
            ["", "-", "x", "1.5", "1e", "e7", "0x10", "1e-3", "+5", "1 0", "2^", "^3", "2^2^2", "2^-1", "1e3^2", "0^-1"]
        {
            assert_eq!(number(text), Err(NumberError::NotWhole), "{text}");
        }
        for text in ["1e20", "18446744073709551616", "2^64", "4294967296^2", "1e4294967296"] {
            assert_eq!(number(text), Err(NumberError::TooLarge { most: u64::MAX }), "{text}");
        }
        assert_eq!(number("-1"), Err(NumberError::TooSmall { least: 0 }));
    }

    #[test]
    fn errors_name_the_violated_bound() {
        let read = within(3..=9);
        assert_eq!(["3", "9"].map(&read), [Ok(3), Ok(9)]);
        assert_eq!(["2", "-1"].map(&read), [const { Err(NumberError::TooSmall { least: 3 }) }; 2]);
        assert_eq!(["10", "1e99"].map(&read), [const { Err(NumberError::TooLarge { most: 9 }) }; 2]);
    }
}
