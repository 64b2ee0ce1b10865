//! Charts as SVG: the speed of kernels at each size relative to the best plain Rust, and ratios as bars.
//!
//! Charts appear on light and dark pages, so the background is transparent, and lines and text have medium tones. Colours
//! are those of Okabe and Ito ("Color universal design", 2008) that are visible on both. Lines differ in their marks as
//! well as their colours, and each is named at its end.

use std::fmt::Display;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use nimlanes::isa::Tier;

/// Colour of text, axes and leader lines.
const GREY: RGBColor = RGBColor(118, 124, 133);

const BLUE: RGBColor = RGBColor(0, 114, 178);
const VERMILION: RGBColor = RGBColor(213, 94, 0);
const GREEN: RGBColor = RGBColor(0, 158, 115);
const ORANGE: RGBColor = RGBColor(230, 159, 0);
const SKY: RGBColor = RGBColor(86, 180, 233);
const PURPLE: RGBColor = RGBColor(204, 121, 167);
const BROWN: RGBColor = RGBColor(140, 86, 75);

const COLOURS: [RGBColor; 7] = [BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE, BROWN];

const FONT: &str = "sans-serif";

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type DrawResult = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Draws into a string. No font or file is opened, so it fails only if there is a bug in this file.
fn svg(width: u32, height: u32, draw: impl FnOnce(&Area) -> DrawResult) -> String {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (width, height)).into_drawing_area();
        draw(&area).and_then(|()| area.present()).expect("a drawing in memory");
    }
    text
}

fn label(area: &Area, text: impl Display, at: (i32, i32), size: u32, (h, v): (HPos, VPos)) -> DrawResult {
    let style = (FONT, size).into_font().color(&GREY).pos(Pos::new(h, v));
    area.draw(&Text::new(text.to_string(), at, style))
}

fn line(area: &Area, points: &[(i32, i32)], style: impl Into<ShapeStyle>) -> DrawResult {
    area.draw(&PathElement::new(points.to_vec(), style))
}

/// A logarithmic axis.
struct LogAxis {
    low: f64,
    high: f64,
    /// Pixel positions of `low` and `high`.
    pixels: (i32, i32),
}

impl LogAxis {
    /// An axis from the power of ten at or below the smallest value up to the largest value.
    fn over(values: impl Iterator<Item = f64>, pixels: (i32, i32)) -> Self {
        let (low, high) = values.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), v| (low.min(v), high.max(v)));
        LogAxis { low: 10f64.powf(low.log10().floor()), high: high.max(low * 1.01), pixels }
    }

    fn at(&self, value: f64) -> i32 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        self.pixels.0 + (share * f64::from(self.pixels.1 - self.pixels.0)).round() as i32
    }

    /// Tick marks at one, two and five times the powers of ten.
    fn ticks(&self) -> impl Iterator<Item = f64> {
        let exponents = self.low.log10().floor() as i32..=self.high.log10().floor() as i32;
        let all = exponents.flat_map(|exponent| [1, 2, 5].map(|digit| (digit, exponent)));
        let value = |(digit, exponent): (i32, i32)| match exponent {
            0.. => f64::from(digit) * 10f64.powi(exponent),
            _ => f64::from(digit) / 10f64.powi(-exponent), // exact for the decimal digits
        };
        all.map(value).filter(|value| (self.low..=self.high).contains(value))
    }

    /// Tick marks at the powers of ten, and their labels, in one notation.
    fn decades(&self) -> impl Iterator<Item = (f64, String)> {
        let (first, last) = (self.low.log10().round() as i32, (self.high * 1.0001).log10().floor() as i32);
        (first..=last).map(move |exponent| {
            let size = 10f64.powi(exponent);
            (size, if last < 4 { size.to_string() } else { format!("1e{exponent}") })
        })
    }
}

/// The role of a kernel in a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A highlighted kernel with its own colour: the baseline, the fastest, or the best in plain Rust.
    Lead,
    /// A kernel shown for comparison, thin and grey.
    Other,
}

/// One kernel at one size.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The size.
    pub size: f64,
    /// Time of a run.
    pub seconds: f64,
    /// Time of the best plain Rust kernel divided by its own.
    pub ratio: f64,
}

/// One kernel at several sizes.
#[derive(Debug)]
pub struct Series {
    /// The kernel.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// By size, ascending.
    pub points: Vec<Point>,
}

impl Series {
    /// The exponent `e` for which `size^e` fits the times best (least squares of the logarithms). The fit uses the sizes
    /// above `small` within a factor of ten of the largest, or the last two. Over a wider range, the fixed cost of a call
    /// would look like slow growth.
    pub fn growth(&self, small: f64) -> Option<f64> {
        let points: Vec<&Point> = self.points.iter().filter(|point| point.size > small).collect();
        let largest = points.last()?.size;
        let decade = points.iter().filter(|point| point.size * 10.0 >= largest).count().max(2);
        let points = &points[points.len().checked_sub(decade)?..];
        let points: Vec<(f64, f64)> = points.iter().map(|point| (point.size.ln(), point.seconds.ln())).collect();
        let n = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
        let (x, y) = (mean(|p| p.0), mean(|p| p.1));
        let (xy, xx) =
            points.iter().fold((0.0, 0.0), |(xy, xx), p| (xy + (p.0 - x) * (p.1 - y), xx + (p.0 - x).powi(2)));
        Some(xy / xx)
    }
}

/// Minimum vertical distance of names, in pixels.
const LEADING: i32 = 17;

/// Moves sorted positions apart, as little as needed, so that each is at least [`LEADING`] below the previous one and all
/// are between `top` and `bottom`.
fn spread(positions: &[i32], top: i32, bottom: i32) -> Vec<i32> {
    let mut at = positions.to_vec();
    let mut least = top;
    for position in &mut at {
        *position = (*position).max(least);
        least = *position + LEADING;
    }
    let mut most = bottom;
    for position in at.iter_mut().rev() {
        *position = (*position).min(most);
        most = *position - LEADING;
    }
    at
}

/// Lower end of the ratio axis. Anything slower is cut off to save space.
const MIN_RATIO: f64 = 0.01;

/// Speed relative to the best plain Rust kernel of each size on logarithmic axes, one line per kernel. Leading kernels and
/// those that reach the largest size are named, with their growth at sizes above `small`.
pub fn sizes(title: &str, series: &[Series], small: f64) -> String {
    let points = || series.iter().flat_map(|series| &series.points);
    let last = points().map(|point| point.size).fold(0.0, f64::max);
    let end = |series: &Series| series.points.last().copied();
    let arrives = |series: &Series| end(series).is_some_and(|point| point.size == last);
    let mut named: Vec<(&Series, Point, LineStyle)> = Vec::new();
    let mut leads = 0;
    for series in series {
        let Some(end) = end(series) else { continue };
        let line_style = LineStyle::new(series.role, leads);
        leads += usize::from(series.role == Role::Lead);
        if series.role == Role::Lead || arrives(series) && end.ratio >= MIN_RATIO {
            named.push((series, end, line_style));
        }
    }
    named.sort_by(|a, b| b.1.ratio.total_cmp(&a.1.ratio));

    let (width, left, right, top, bottom) = (960, 62, 620, 66, 52);
    let height = 470.max(top + bottom + LEADING * named.len() as i32);
    let x = LogAxis::over(points().map(|point| point.size), (left, right));
    let (low, high) = points().fold((1f64, 1f64), |(low, high), p| (low.min(p.ratio), high.max(p.ratio)));
    let y = LogAxis { low: low.max(MIN_RATIO) / 1.1, high: high * 1.1, pixels: (height - bottom, top) };
    let pixel = |point: &Point| (x.at(point.size), y.at(point.ratio));
    let wanted: Vec<i32> = named.iter().map(|(_, end, _)| y.at(end.ratio.max(y.low))).collect();
    let places = spread(&wanted, top, height - bottom);
    svg(width as u32, height as u32, |area| {
        label(area, title, (12, 12), 17, (HPos::Left, VPos::Top))?;
        let what = format!(
            "times as fast as the best plain Rust kernel of the same size; grey: leads at no size above {small}"
        );
        label(area, what, (12, 36), 13, (HPos::Left, VPos::Top))?;
        label(area, "size", ((left + right) / 2, height - 20), 14, (HPos::Center, VPos::Top))?;
        for (size, name) in x.decades() {
            line(area, &[(x.at(size), top), (x.at(size), height - bottom)], GREY.mix(0.25))?;
            label(area, name, (x.at(size), height - bottom + 8), 13, (HPos::Center, VPos::Top))?;
        }
        for ratio in y.ticks() {
            let style = if ratio == 1.0 { GREY.stroke_width(1) } else { GREY.mix(0.25).stroke_width(1) };
            line(area, &[(left, y.at(ratio)), (right, y.at(ratio))], style)?;
            label(area, round_ratio(ratio), (left - 8, y.at(ratio)), 13, (HPos::Right, VPos::Center))?;
        }
        let plain = LineStyle::new(Role::Other, 0);
        for others in series.iter().filter(|series| series.role == Role::Other) {
            plain.line(area, &others.points.iter().map(pixel).collect::<Vec<_>>(), y.pixels.0)?;
        }
        for ((series, end, line_style), name_y) in named.iter().zip(places).rev() {
            let pixels: Vec<(i32, i32)> = series.points.iter().map(pixel).collect();
            if series.role == Role::Lead {
                line_style.line(area, &pixels, y.pixels.0)?;
                let seen = pixels.iter().filter(|(_, at)| *at <= y.pixels.0);
                seen.copied().try_for_each(|point| line_style.mark(area, point))?;
                line_style.mark(area, (right + 36, name_y))?;
            }
            let is_seen = end.ratio >= y.low;
            if arrives(series) && is_seen {
                let leader = [(right + 6, y.at(end.ratio)), (right + 26, name_y)];
                line(area, &leader, line_style.colour.mix(0.6))?;
            }
            let growth = series.growth(small).map_or(String::new(), |exponent| format!("  n^{exponent:.2}"));
            let unseen = format!("  ({} at {})", round_ratio(end.ratio), round_size(end.size));
            let unseen = if is_seen { "" } else { &unseen };
            let name = format!("{}{growth}{unseen}", series.name);
            label(area, name, (right + 48, name_y), 14, (HPos::Left, VPos::Center))?;
        }
        Ok(())
    })
}

/// A size in short notation.
fn round_size(size: f64) -> String {
    let decade = size.log10().floor();
    let digits = size / 10f64.powf(decade);
    if size < 1e4 { size.to_string() } else { format!("{}e{decade}", (digits * 100.0).round() / 100.0) }
}

/// A ratio with two significant digits.
fn round_ratio(ratio: f64) -> String {
    let places = (1.0 - ratio.log10().floor()).clamp(0.0, 9.0) as i32;
    let scale = 10f64.powi(places);
    format!("×{}", (ratio * scale).round() / scale)
}

/// The style that distinguishes a line.
struct LineStyle {
    colour: RGBColor,
    width: u32,
    mark: usize,
}

impl LineStyle {
    /// The style of the `index`th kernel with this role.
    fn new(role: Role, index: usize) -> Self {
        match role {
            Role::Lead => LineStyle { colour: COLOURS[index % COLOURS.len()], width: 3, mark: index },
            Role::Other => LineStyle { colour: GREY, width: 1, mark: 0 },
        }
    }

    /// Draws a line through points, cut off at `floor`.
    fn line(&self, area: &Area, points: &[(i32, i32)], floor: i32) -> DrawResult {
        let style = ShapeStyle {
            color: self.colour.mix(if self.width > 1 { 1.0 } else { 0.6 }),
            filled: false,
            stroke_width: self.width,
        };
        points
            .windows(2)
            .filter_map(|ends| above(ends[0], ends[1], floor))
            .try_for_each(|ends| line(area, &ends, style))
    }

    fn mark(&self, area: &Area, (x, y): (i32, i32)) -> DrawResult {
        let style = self.colour.filled();
        match self.mark % 4 {
            0 => area.draw(&Circle::new((x, y), 5, style)),
            1 => area.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], style)),
            2 => area.draw(&Polygon::new(vec![(x, y - 6), (x + 6, y + 5), (x - 6, y + 5)], style)),
            _ => area.draw(&Polygon::new(vec![(x, y - 7), (x + 7, y), (x, y + 7), (x - 7, y)], style)),
        }
    }
}

/// The part of a line segment that is not below the floor (pixels count downwards).
fn above(a: (i32, i32), b: (i32, i32), floor: i32) -> Option<[(i32, i32); 2]> {
    let cut = |from: (i32, i32), to: (i32, i32)| {
        let share = f64::from(floor - from.1) / f64::from(to.1 - from.1);
        (from.0 + (share * f64::from(to.0 - from.0)).round() as i32, floor)
    };
    match (a.1 <= floor, b.1 <= floor) {
        (true, true) => Some([a, b]),
        (true, false) => Some([a, cut(a, b)]),
        (false, true) => Some([cut(b, a), b]),
        (false, false) => None,
    }
}

/// Technologies and their colours, the same in every chart.
pub fn technologies() -> impl Iterator<Item = (&'static str, RGBColor)> {
    let tier = |tier: &Tier| {
        let [red, green, blue] = tier.extension()?.colour;
        Some((tier.name(), RGBColor(red, green, blue)))
    };
    let crates = [("plain Rust", BLUE), ("bitvec", PURPLE), ("wide", GREEN)];
    let several = [("fearless_simd", BROWN), ("parallel", SKY)];
    crates.into_iter().chain(Tier::ALL.iter().filter_map(tier)).chain(several)
}

/// The position and colour of the technology that a kernel uses: the last one if it uses several, grey if none is known.
fn technology(used: &str) -> (Option<usize>, RGBColor) {
    let known = technologies().enumerate().filter(|(_, (name, _))| used.contains(name)).last();
    known.map_or((None, GREY), |(place, (_, colour))| (Some(place), colour))
}

/// One kernel's ratio.
#[derive(Debug)]
pub struct Bar {
    /// The kernel.
    pub name: String,
    /// The technology it uses, which determines the colour.
    pub technology: String,
    /// The baseline's time divided by its own.
    pub ratio: f64,
    /// Range of the middle 80 % of the rounds.
    pub range: (f64, f64),
}

/// Ratios to the baseline as bars from 1, fastest first, on a logarithmic axis.
pub fn ratios(title: &str, baseline: &str, bars: &[Bar]) -> String {
    let (width, left, right, top) = (960, 250, 860, 78);
    let step = 22;
    let bottom = top + step * bars.len() as i32;
    let height = bottom + 62;
    let mut used: Vec<&str> = Vec::new();
    for bar in bars {
        if !used.contains(&bar.technology.as_str()) {
            used.push(&bar.technology);
        }
    }
    used.sort_by_key(|used| technology(used).0);
    let values = || bars.iter().flat_map(|bar| [bar.ratio, bar.range.0, bar.range.1]).chain([1.0]);
    let (low, high) = values().fold((1f64, 1f64), |(low, high), v| (low.min(v), high.max(v)));
    let x = LogAxis { low: low * 0.9, high: high.max(low * 1.5), pixels: (left, right) };
    svg(width as u32, height as u32, |area| {
        label(area, title, (12, 14), 17, (HPos::Left, VPos::Top))?;
        label(
            area,
            format!("times as fast as {baseline}; whiskers: middle 80 % of the rounds"),
            (12, 38),
            13,
            (HPos::Left, VPos::Top),
        )?;
        let whole = LogAxis { low: 10f64.powf(x.low.log10().ceil()), ..x };
        for (decade, name) in whole.decades() {
            let at = x.at(decade);
            line(area, &[(at, top - 6), (at, bottom + 4)], GREY.mix(0.3))?;
            label(area, name, (at, bottom + 8), 13, (HPos::Center, VPos::Top))?;
        }
        let one = x.at(1.0);
        for (bar, y) in bars.iter().zip((top..).step_by(step as usize)) {
            let (_, colour) = technology(&bar.technology);
            let (end, middle) = (x.at(bar.ratio), y + step / 2);
            label(area, &bar.name, (left - 10, middle), 14, (HPos::Right, VPos::Center))?;
            let body = [(one.min(end), y + 3), (one.max(end).max(one.min(end) + 1), y + step - 4)];
            area.draw(&Rectangle::new(body, colour.filled()))?;
            line(area, &[(x.at(bar.range.0), middle), (x.at(bar.range.1), middle)], GREY.stroke_width(2))?;
            let number =
                format!("{:.1$}", bar.ratio, if bar.ratio < 10.0 { 2 } else { usize::from(bar.ratio < 100.0) });
            let past = one.max(end).max(x.at(bar.range.1)) + 8;
            label(area, number, (past, middle), 13, (HPos::Left, VPos::Center))?;
        }
        line(area, &[(one, top - 6), (one, bottom + 4)], GREY.stroke_width(1))?;
        for (index, used) in used.iter().enumerate() {
            let (at, y) = (left + 120 * index as i32, height - 18);
            area.draw(&Rectangle::new([(at, y - 5), (at + 10, y + 5)], technology(used).1.filled()))?;
            label(area, used, (at + 16, y), 13, (HPos::Left, VPos::Center))?;
        }
        Ok(())
    })
}

/// The exponent of growth in an octave.
#[derive(Clone, Copy, Debug)]
pub struct Exponent {
    /// The power of two at the end of the octave.
    pub to: usize,
    /// The exponent.
    pub exponent: f64,
    /// Whether one kernel alone found it.
    pub is_alone: bool,
}

/// Exponents by octaves, as dots; hollow where one kernel alone found them.
pub fn exponents(title: &str, points: &[Exponent]) -> String {
    /// Distance of the lines of the grid.
    const STEP: f64 = 0.02;
    let (width, height, left, top, bottom) = (960, 400, 62, 66, 52);
    let [first, last] = [points.first(), points.last()].map(|point| point.map_or(0, |point| point.to));
    let lines = points.iter().map(|point| (point.exponent / STEP).floor() as i32);
    let (low, high) = lines.fold((i32::MAX, 0), |(low, high), line| (low.min(line), high.max(line + 1)));
    let (right, foot) = (width - 30, height - bottom);
    let x = |to: usize| left + 15 + (to - first) as i32 * (right - left - 30) / (last - first).max(1) as i32;
    let y = |exponent: f64| {
        let share = (exponent / STEP - f64::from(low)) / f64::from(high - low);
        foot - (share * f64::from(foot - top)).round() as i32
    };
    svg(width as u32, height as u32, |area| {
        label(area, title, (12, 12), 17, (HPos::Left, VPos::Top))?;
        let what =
            "binary logarithm of the ratio to the number up to half the limit; hollow: found by one kernel alone";
        label(area, what, (12, 36), 13, (HPos::Left, VPos::Top))?;
        label(area, "up to", ((left + right) / 2, height - 20), 14, (HPos::Center, VPos::Top))?;
        for step in low..=high {
            let at = y(f64::from(step) * STEP);
            line(area, &[(left, at), (right, at)], GREY.mix(0.25))?;
            label(area, format!("{:.2}", f64::from(step) * STEP), (left - 8, at), 13, (HPos::Right, VPos::Center))?;
        }
        let places: Vec<(i32, i32)> = points.iter().map(|point| (x(point.to), y(point.exponent))).collect();
        line(area, &places, GREY.mix(0.6))?;
        for (point, place) in points.iter().zip(places) {
            if point.to % 2 == 0 {
                label(area, format!("2^{}", point.to), (place.0, foot + 8), 13, (HPos::Center, VPos::Top))?;
            }
            let style = if point.is_alone { BLUE.stroke_width(2) } else { BLUE.filled() };
            area.draw(&Circle::new(place, 5, style))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_fitted_to_the_last_decade() {
        let point = |(size, seconds): &(f64, f64)| Point { size: *size, seconds: *seconds, ratio: 1.0 };
        let growth = |points: &[(f64, f64)]| {
            Series { name: String::new(), role: Role::Lead, points: points.iter().map(point).collect() }.growth(100.0)
        };
        // A linear loop with a fixed cost of ten thousand steps.
        let linear = [1e4, 1e6, 1e7, 5e7, 1e8].map(|n: f64| (n, 1e4 + n));
        assert!((growth(&linear).expect("five points") - 1.0).abs() < 1e-3);
        // If no other size is within a factor of ten, the previous size is used, unless it is small.
        let root = [10.0, 1e3, 1e5].map(|n: f64| (n, if n < 100.0 { 1.0 } else { n.sqrt() }));
        assert!((growth(&root).expect("two points above 100") - 0.5).abs() < 1e-9);
        assert_eq!(growth(&root[..2]), None);
        assert_eq!(growth(&[]), None);
    }

    #[test]
    fn technologies_in_one_chart_have_different_colours_of_the_palette() {
        assert!(technologies().all(|(_, colour)| COLOURS.contains(&colour)));
        let architecture = |name| Some(Tier::named(name)?.extension()?.architecture);
        for (i, (name, colour)) in technologies().enumerate() {
            for (other, same) in technologies().take(i).filter(|(_, other)| *other == colour) {
                let [own, others] = [architecture(name), architecture(other)];
                assert!(own.is_some() && others.is_some() && own != others, "{name} and {other} are both {same:?}");
            }
        }
    }

    #[test]
    fn names_do_not_overlap_and_stay_inside() {
        let at = spread(&[50, 50, 51, 300, 398, 399], 50, 400);
        assert!(at.is_sorted_by(|a, b| b - a >= LEADING), "{at:?}");
        assert!(at[0] >= 50 && *at.last().expect("six") <= 400, "{at:?}");
    }

    #[test]
    fn lines_end_at_the_floor() {
        assert_eq!(above((0, 10), (10, 20), 30), Some([(0, 10), (10, 20)]));
        assert_eq!(above((0, 10), (10, 30), 20), Some([(0, 10), (5, 20)]));
        assert_eq!(above((0, 30), (10, 10), 20), Some([(5, 20), (10, 10)]));
        assert_eq!(above((0, 21), (10, 30), 20), None);
    }

    #[test]
    fn ticks_and_numbers_are_round() {
        let axis = LogAxis { low: 0.009, high: 11.0, pixels: (0, 100) };
        let ticks: Vec<String> = axis.ticks().map(round_ratio).collect();
        assert_eq!(ticks, ["×0.01", "×0.02", "×0.05", "×0.1", "×0.2", "×0.5", "×1", "×2", "×5", "×10"]);
        assert_eq!([10.0, 5000.0, 1e4, 1_048_576.0].map(round_size), ["10", "5000", "1e4", "1.05e6"]);
        assert_eq!([0.000_015_6, 0.0061].map(round_ratio), ["×0.000016", "×0.0061"]);
    }

    #[test]
    fn axes_reach_from_a_decade_to_the_largest_value() {
        let axis = LogAxis::over([30.0, 2000.0].into_iter(), (100, 300));
        assert_eq!((axis.at(10.0), axis.at(2000.0)), (100, 300));
        let decades: Vec<(f64, String)> = axis.decades().collect();
        assert_eq!(
            decades,
            [(10.0, "10"), (100.0, "100"), (1000.0, "1000")].map(|(size, name)| (size, name.to_owned()))
        );
        let names = LogAxis { high: 2e4, ..axis }.decades().map(|decade| decade.1).collect::<Vec<_>>();
        assert_eq!(names, ["1e1", "1e2", "1e3", "1e4"], "one notation");
    }
}
