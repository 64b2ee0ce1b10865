//! What a ratio of times shows.

/// Relative differences of ratios up to this are ties, whatever their spread.
pub const TIE: f64 = 0.05;

/// What a ratio of times shows of the time above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Slower,
    Faster,
    Tie,
}

impl Verdict {
    /// The verdict on a ratio with this interval: a difference is larger than a [`TIE`], and its interval does not hold 1.
    pub fn on(ratio: f64, [low, high]: [f64; 2]) -> Self {
        match ratio {
            _ if low > 1.0 && ratio > 1.0 + TIE => Verdict::Slower,
            _ if high < 1.0 && ratio * (1.0 + TIE) < 1.0 => Verdict::Faster,
            _ => Verdict::Tie,
        }
    }

    /// `slower`, `faster` or `tie`.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Slower => "slower",
            Verdict::Faster => "faster",
            Verdict::Tie => "tie",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_beyond_the_tie_and_its_interval() {
        for (ratio, interval, verdict) in [
            (1.07, [1.01, 1.09], Verdict::Slower),
            (0.93, [0.91, 0.99], Verdict::Faster),
            (1.07, [0.99, 1.09], Verdict::Tie),
            (0.93, [0.91, 1.01], Verdict::Tie),
            (1.04, [1.01, 1.07], Verdict::Tie),
            (0.96, [0.93, 0.99], Verdict::Tie),
        ] {
            assert_eq!(Verdict::on(ratio, interval), verdict, "{ratio}");
        }
    }
}
