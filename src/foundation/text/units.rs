//! Numbers with units, for people.

/// A number of bytes in a readable unit, with three decimals.
pub fn bytes(bytes: f64) -> String {
    let (number, unit) = scaled(bytes);
    format!("{number:.3} {unit}")
}

/// A number of bytes, scaled to the largest unit in which it is at least 1, and that unit.
pub fn scaled(bytes: f64) -> (f64, &'static str) {
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let step = if bytes < 1.0 { 0 } else { ((bytes.log10() / 3.0) as usize).min(units.len() - 1) };
    (bytes / 1000f64.powi(step as i32), units[step])
}

/// A number of nanoseconds in a readable unit.
pub fn span(ns: f64) -> String {
    let (decimals, scale, unit) = match ns {
        ..1e3 => (1, 1.0, "ns"),
        ..1e6 => (2, 1e3, "µs"),
        ..1e9 => (2, 1e6, "ms"),
        ..600e9 => (2, 1e9, "s"),
        ..7200e9 => (0, 60e9, "minutes"),
        ..172_800e9 => (1, 3600e9, "hours"),
        _ => (0, 24.0 * 3600e9, "days"),
    };
    format!("{:.decimals$} {unit}", ns / scale)
}

/// A ratio with three significant digits, or all digits before the point.
pub fn ratio(ratio: f64) -> String {
    let decimals = match ratio {
        ..10.0 => 2,
        ..100.0 => 1,
        _ => return grouped(&format!("{:.0}", ratio.round())),
    };
    format!("{ratio:.decimals$}")
}

/// Decimal digits in groups of three, with narrow spaces that do not break.
pub fn grouped(digits: &str) -> String {
    let mut groups = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            groups.push('\u{202f}');
        }
        groups.push(digit);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_readable_units() {
        let spans = [42.0, 1234.0, 5.6e6, 2.5e9, 599e9, 18.0 * 60e9, 5.0 * 3600e9, 90.0 * 3600e9].map(span);
        let want = ["42.0 ns", "1.23 µs", "5.60 ms", "2.50 s", "599.00 s", "18 minutes", "5.0 hours", "4 days"];
        assert_eq!(spans, want);
    }

    #[test]
    fn numbers_have_three_digits_and_separators() {
        let ratios = [0.5, 9.994, 12.34, 404.5, 130_987.2].map(ratio);
        assert_eq!(ratios, ["0.50", "9.99", "12.3", "405", "130\u{202f}987"]);
        assert_eq!(grouped("10672455813160"), "10\u{202f}672\u{202f}455\u{202f}813\u{202f}160");
    }
}
