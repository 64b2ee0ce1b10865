//! Rates: the constants of predicted times, which are data.
//!
//! Each crate of kernels has a table, `rates.tsv`. A line of the table names an operation and a kernel, its rates with spaces between
//! them, the microarchitecture that was measured, and the date. Tabs separate the five fields. Lines of which the machine was not
//! written down have `unrecorded`, and those of CPUs that were not at hand `estimated`. `kernel@feature` is a kernel in a build
//! whose target has the feature; such a line stands before that of the kernel alone.
//! `cargo run --release --example fit -- OPERATION` measures the rates of an operation and writes its lines.

use super::cost::{Cost, CostContext};

/// The name of a table, in the folder of its crate.
pub const TABLE: &str = "rates.tsv";

/// The rate of a kernel without a line: a kernel can be compiled, and timed, before it has one.
const UNMEASURED: f64 = 1.0;

/// The rates of a kernel in a table, as many as its cost takes.
pub const fn listed<I, const N: usize>(
    _cost: fn(&I, CostContext, [f64; N]) -> Cost,
    table: &str,
    operation: &str,
    kernel: &str,
) -> [f64; N] {
    find(table, operation, kernel)
}

/// The rates of a kernel in a table, read as the crate is compiled.
///
/// # Panics
/// The line of the kernel has another number of rates, or one that is not a number.
pub const fn find<const N: usize>(table: &str, operation: &str, kernel: &str) -> [f64; N] {
    let mut rest = table.as_bytes();
    while !rest.is_empty() {
        let mut line;
        (line, rest) = split(rest, b'\n');
        let (found, named);
        (found, line) = split(line, b'\t');
        (named, line) = split(line, b'\t');
        let (named, feature) = split(named, b'@');
        if same(found, operation.as_bytes()) && same(named, kernel.as_bytes()) && has(feature) {
            return numbers(split(line, b'\t').0);
        }
    }
    [UNMEASURED; N]
}

/// The bytes before and after the first `end`.
const fn split(text: &[u8], end: u8) -> (&[u8], &[u8]) {
    let mut length = 0;
    while length < text.len() && text[length] != end {
        length += 1;
    }
    let (before, after) = text.split_at(length);
    (before, if after.is_empty() { after } else { after.split_at(1).1 })
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Whether the build's target has a feature that tables name.
const fn has(feature: &[u8]) -> bool {
    match feature {
        b"" => true,
        b"avx2" => cfg!(target_feature = "avx2"),
        b"avx512vbmi" => cfg!(target_feature = "avx512vbmi"),
        b"neon" => cfg!(target_feature = "neon"),
        _ => panic!("rates of a target feature that tables cannot name"),
    }
}

const fn numbers<const N: usize>(text: &[u8]) -> [f64; N] {
    let mut numbers = [0.0; N];
    let mut rest = text;
    let mut i = 0;
    while i < N {
        let one;
        (one, rest) = split(rest, b' ');
        numbers[i] = number(one);
        i += 1;
    }
    assert!(rest.is_empty(), "a line of the table of rates has more rates than the cost of its kernel takes");
    numbers
}

/// A number in decimal notation, with an exponent or without. It is exact as long as its digits make an integer below 2^53 and its
/// power of ten is at most 22.
const fn number(text: &[u8]) -> f64 {
    let (digits, exponent) = split(text, b'e');
    let (whole, decimals) = split(digits, b'.');
    let (below_one, exponent) = match exponent {
        [b'-', exponent @ ..] => (integer(exponent, 0), 0),
        [] => (0, 0),
        exponent => (0, integer(exponent, 0)),
    };
    assert!(!whole.is_empty(), "a line of the table of rates has fewer rates than the cost of its kernel takes");
    let value = integer(decimals, integer(whole, 0)) as f64;
    let down = below_one + decimals.len() as u64;
    if exponent >= down { value * power_of_ten(exponent - down) } else { value / power_of_ten(down - exponent) }
}

/// The digits of `text` after those of `before`.
const fn integer(text: &[u8], before: u64) -> u64 {
    let mut value = before;
    let mut i = 0;
    while i < text.len() {
        assert!(text[i].is_ascii_digit(), "a rate is not a number");
        value = 10 * value + (text[i] - b'0') as u64;
        i += 1;
    }
    value
}

const fn power_of_ten(exponent: u64) -> f64 {
    let mut power = 1.0;
    let mut i = 0;
    while i < exponent {
        power *= 10.0;
        i += 1;
    }
    power
}

/// A line of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'t> {
    /// The name of the operation.
    pub operation: &'t str,
    /// The name of the kernel.
    pub kernel: &'t str,
    /// The target feature of the builds for which the line is; empty for all others.
    pub feature: &'t str,
    /// The rates, separated by spaces.
    pub rates: &'t str,
    /// The microarchitecture that was measured, `unrecorded` or `estimated`.
    pub machine: &'t str,
    /// The date of the measurement.
    pub date: &'t str,
}

/// The lines of a table below its head.
///
/// # Panics
/// A line has not five fields.
pub fn lines(table: &str) -> impl Iterator<Item = Line<'_>> {
    table.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [operation, kernel, rates, machine, date] = fields[..] else {
            panic!("a line of rates has five fields: {line}")
        };
        let (kernel, feature) = kernel.split_once('@').unwrap_or((kernel, ""));
        Line { operation, kernel, feature, rates, machine, date }
    })
}

/// The rates given to a cost, as many as it takes.
pub fn given<const N: usize>(rates: &[f64]) -> [f64; N] {
    rates.try_into().expect("as many rates as the table has for the kernel")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "mex_zeros\tstamp@avx512vbmi\t9\tzen3\t2026-11-28\nmex_zeros\tstamp\t0.0116 40000 3.6e-4 2e6\tzen3\t2026-11-28\n";

    #[test]
    fn a_number_is_read_as_the_compiler_reads_it() {
        let read: [f64; 4] = find(LINES, "mex_zeros", "stamp");
        if !cfg!(target_feature = "avx512vbmi") {
            assert_eq!(read, [0.0116, 40_000.0, 3.6e-4, 2e6]);
        }
    }
}
