//! Axes: where a value is, the round numbers at which they are marked, and how numbers are written.

/// A linear or logarithmic axis.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    pub low: f64,
    pub high: f64,
    is_log: bool,
}

/// A tolerance: logarithms of round numbers are not always whole.
const ROUNDING: f64 = 1e-9;

impl Axis {
    pub fn linear(low: f64, high: f64) -> Self {
        Axis { low, high, is_log: false }
    }

    pub fn log(low: f64, high: f64) -> Self {
        Axis { low, high, is_log: true }
    }

    /// The position of a value, from 0 to 1.
    pub fn share(&self, value: f64) -> f64 {
        match self.is_log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        }
    }

    /// The pixel of a value, on an axis from one pixel to another.
    pub fn pixel(&self, value: f64, [from, to]: [i32; 2]) -> i32 {
        from + (self.share(value) * f64::from(to - from)).round() as i32
    }

    /// Tick marks and their labels, in one notation.
    pub fn labels(&self) -> impl Iterator<Item = (f64, String)> {
        let ticks = self.ticks();
        let labels = numbers(&ticks);
        ticks.into_iter().zip(labels)
    }

    /// Round numbers for tick marks; on a logarithmic axis, the powers of ten.
    fn ticks(&self) -> Vec<f64> {
        if self.is_log {
            let [low, high] = [self.low, self.high].map(f64::log10);
            let decades = (low - ROUNDING).ceil() as i32..=(high + ROUNDING).floor() as i32;
            return decades.map(|exponent| 10f64.powi(exponent)).collect();
        }
        let rough = (self.high - self.low) / 6.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let range = (self.low / step - ROUNDING).ceil() as i64..=(self.high / step + ROUNDING).floor() as i64;
        range.map(|i| i as f64 * step).collect()
    }

    /// One, two and five times the powers of ten, for a logarithmic axis of few decades.
    pub fn fine_ticks(&self) -> impl Iterator<Item = f64> {
        let exponents = self.low.log10().floor() as i32..=self.high.log10().floor() as i32;
        let all = exponents.flat_map(|exponent| [1, 2, 5].map(|digit| (digit, exponent)));
        let value = |(digit, exponent): (i32, i32)| match exponent {
            0.. => f64::from(digit) * 10f64.powi(exponent),
            _ => f64::from(digit) / 10f64.powi(-exponent), // exact for the decimal digits
        };
        all.map(value).filter(|value| (self.low..=self.high).contains(value))
    }
}

/// A number in short notation.
pub fn number(value: f64) -> String {
    numbers(&[value]).concat()
}

/// Numbers in one notation: with exponents if one of them needs one.
fn numbers(values: &[f64]) -> Vec<String> {
    // Drops rounding errors in the last digits.
    let rounded = values.iter().map(|value| format!("{value:.6e}").parse().unwrap_or(*value));
    let rounded: Vec<f64> = rounded.collect();
    let is_short = |value: &f64| matches!(value.abs(), 0.0 | 1e-4..1e5);
    let are_short = rounded.iter().all(is_short);
    let text = |value: f64| if are_short || value == 0.0 { value.to_string() } else { format!("{value:e}") };
    rounded.into_iter().map(text).collect()
}

/// A ratio with two significant digits.
pub fn ratio(ratio: f64) -> String {
    let places = (1.0 - ratio.log10().floor()).clamp(0.0, 9.0) as i32;
    let scale = 10f64.powi(places);
    format!("×{}", (ratio * scale).round() / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_on_the_axis() {
        assert_eq!(Axis::linear(0.0, 4001.0).ticks(), [0.0, 1000.0, 2000.0, 3000.0, 4000.0]);
        assert_eq!(Axis::log(1.0, 2500.0).ticks(), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(Axis::log(0.09, 10.0).ticks(), [0.1, 1.0, 10.0]);
        let fine: Vec<String> = Axis::log(0.009, 11.0).fine_ticks().map(ratio).collect();
        assert_eq!(fine, ["×0.01", "×0.02", "×0.05", "×0.1", "×0.2", "×0.5", "×1", "×2", "×5", "×10"]);
    }

    #[test]
    fn numbers_of_an_axis_have_one_notation() {
        let labels = |axis: Axis| axis.labels().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(labels(Axis::linear(0.4, 1.0)), ["0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"]);
        assert_eq!(labels(Axis::linear(0.0, 1e5)), ["0", "2e4", "4e4", "6e4", "8e4", "1e5"]);
        assert_eq!(labels(Axis::linear(0.0, 9e4)), ["0", "20000", "40000", "60000", "80000"]);
        assert_eq!(labels(Axis::log(1e-8, 1e-6)), ["1e-8", "1e-7", "1e-6"]);
        assert_eq!(labels(Axis::log(10.0, 1e4)), ["10", "100", "1000", "10000"]);
        assert_eq!(labels(Axis::log(1.0, 1e5)), ["1e0", "1e1", "1e2", "1e3", "1e4", "1e5"]);
        assert_eq!(numbers(&[0.0, 1.5, 4000.0]), ["0", "1.5", "4000"]);
        assert_eq!(numbers(&[0.0, -0.05, -2.5e6]), ["0", "-5e-2", "-2.5e6"]);
        assert_eq!(numbers(&[0.1 + 0.2, 3e-4]), ["0.3", "0.0003"]);
    }

    #[test]
    fn ratios_are_rounded() {
        assert_eq!([0.000_015_6, 0.0061].map(ratio), ["×0.000016", "×0.0061"]);
    }

    #[test]
    fn axes_reach_from_their_lowest_to_their_highest_value() {
        for axis in [Axis::log(10.0, 2000.0), Axis::linear(10.0, 2000.0)] {
            assert_eq!([10.0, 2000.0].map(|value| axis.pixel(value, [100, 300])), [100, 300]);
            assert_eq!([10.0, 2000.0].map(|value| axis.pixel(value, [300, 100])), [300, 100]);
        }
    }
}
