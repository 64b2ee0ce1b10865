//! Charts as SVG: time against size, and ratios as bars.
//!
//! They stand in pages that may be light or dark, so nothing is filled behind them, and lines and text keep to tones in the
//! middle. Colours are those of Okabe and Ito ("Color universal design", 2008) that can be seen on both; what must be told
//! apart differs in its mark as well, and every line is named at its end.

use std::fmt::Display;

use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::selection::span;

/// Text, axes and leaders.
const GREY: RGBColor = RGBColor(118, 124, 133);

const BLUE: RGBColor = RGBColor(0, 114, 178);
const VERMILION: RGBColor = RGBColor(213, 94, 0);
const GREEN: RGBColor = RGBColor(0, 158, 115);
const ORANGE: RGBColor = RGBColor(230, 159, 0);
const SKY: RGBColor = RGBColor(86, 180, 233);
const PURPLE: RGBColor = RGBColor(204, 121, 167);

const COLOURS: [RGBColor; 6] = [BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE];

const FONT: &str = "sans-serif";

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Draws into a string. Nothing can go wrong that is not a fault of this file: no font or file is opened.
fn svg(width: u32, height: u32, draw: impl FnOnce(&Area) -> Drawn) -> String {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (width, height)).into_drawing_area();
        draw(&area).and_then(|()| area.present()).expect("a drawing in memory");
    }
    text
}

fn label(area: &Area, text: impl Display, at: (i32, i32), size: u32, (h, v): (HPos, VPos)) -> Drawn {
    let style = (FONT, size).into_font().color(&GREY).pos(Pos::new(h, v));
    area.draw(&Text::new(text.to_string(), at, style))
}

fn line(area: &Area, points: &[(i32, i32)], style: impl Into<ShapeStyle>) -> Drawn {
    area.draw(&PathElement::new(points.to_vec(), style))
}

/// A number line that is equally spaced in the logarithm.
struct LogAxis {
    low: f64,
    high: f64,
    /// Pixels at `low` and at `high`.
    pixels: (i32, i32),
}

impl LogAxis {
    /// An axis from the power of ten at or below the smallest value to the largest value.
    fn over(values: impl Iterator<Item = f64>, pixels: (i32, i32)) -> Self {
        let (low, high) = values.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), v| (low.min(v), high.max(v)));
        LogAxis { low: 10f64.powf(low.log10().floor()), high: high.max(low * 1.01), pixels }
    }

    fn at(&self, value: f64) -> i32 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        self.pixels.0 + (share * f64::from(self.pixels.1 - self.pixels.0)).round() as i32
    }

    /// The powers of ten on it.
    fn decades(&self) -> impl Iterator<Item = f64> {
        let (first, last) = (self.low.log10().round() as i32, (self.high * 1.0001).log10().floor() as i32);
        (first..=last).map(|exponent| 10f64.powi(exponent))
    }
}

/// Measured times of one kernel.
pub struct Series {
    /// The kernel.
    pub name: String,
    /// Sizes, ascending, and seconds.
    pub points: Vec<(f64, f64)>,
}

impl Series {
    /// The exponent `e` for which `size^e` fits the times at the largest sizes best (least squares of the logarithms): those
    /// within a factor of ten, or the last two, of the sizes above `small`. Over more of them, what a call costs besides its
    /// loops would pass for slow growth.
    pub fn growth(&self, small: f64) -> Option<f64> {
        let points: Vec<&(f64, f64)> = self.points.iter().filter(|(size, _)| *size > small).collect();
        let (largest, _) = points.last()?;
        let decade = points.iter().filter(|(size, _)| size * 10.0 >= *largest).count().max(2);
        let points = &points[points.len().checked_sub(decade)?..];
        let points: Vec<(f64, f64)> = points.iter().map(|(size, time)| (size.ln(), time.ln())).collect();
        let n = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
        let (x, y) = (mean(|p| p.0), mean(|p| p.1));
        let (xy, xx) =
            points.iter().fold((0.0, 0.0), |(xy, xx), p| (xy + (p.0 - x) * (p.1 - y), xx + (p.0 - x).powi(2)));
        Some(xy / xx)
    }
}

/// Pixels from one name to the next.
const LEADING: i32 = 17;

/// Moves positions apart so that each is at least [`LEADING`] below the one before, with as little change as needed, between
/// `top` and `bottom`. They must be sorted.
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

/// Time against size on logarithmic axes, a line a kernel, each named at its end with its growth at sizes above `small`.
pub fn times(title: &str, series: &[Series], small: f64) -> String {
    let (width, left, right, top, bottom) = (960, 78, 640, 52, 58);
    let height = 420.max(top + bottom + LEADING * series.len() as i32 + 20);
    let points = || series.iter().flat_map(|series| &series.points);
    let x = LogAxis::over(points().map(|point| point.0), (left, right));
    let y = LogAxis::over(points().map(|point| point.1), (height - bottom, top));
    svg(width as u32, height as u32, |area| {
        label(area, title, (left, 14), 17, (HPos::Left, VPos::Top))?;
        label(area, "time of a run", (left, 36), 13, (HPos::Left, VPos::Top))?;
        label(area, "size", ((left + right) / 2, height - 22), 14, (HPos::Center, VPos::Top))?;
        let grid = GREY.mix(0.3);
        for size in x.decades() {
            line(area, &[(x.at(size), top), (x.at(size), height - bottom)], grid)?;
            let name = if size < 1e4 { size.to_string() } else { format!("1e{}", size.log10().round()) };
            label(area, name, (x.at(size), height - bottom + 8), 13, (HPos::Center, VPos::Top))?;
        }
        for time in y.decades() {
            line(area, &[(left, y.at(time)), (right, y.at(time))], grid)?;
            label(area, round_span(time), (left - 8, y.at(time)), 13, (HPos::Right, VPos::Center))?;
        }
        let pixel = |(size, time): &(f64, f64)| (x.at(*size), y.at(*time));
        let mut named: Vec<(usize, (i32, i32))> =
            series.iter().enumerate().filter_map(|(i, series)| Some((i, pixel(series.points.last()?)))).collect();
        named.sort_by_key(|(_, (_, y))| *y);
        let wanted: Vec<i32> = named.iter().map(|(_, (_, y))| *y).collect();
        for ((index, end), name_y) in named.iter().zip(spread(&wanted, top, height - bottom)) {
            let (series, look) = (&series[*index], Look::of(*index));
            // Thin from the end of the line to the edge of the plot, then to the name.
            let leader = [*end, (right + 6, end.1), (right + 34, name_y), (right + 42, name_y)];
            line(area, &leader, look.colour.mix(0.55))?;
            let pixels: Vec<(i32, i32)> = series.points.iter().map(pixel).collect();
            look.line(area, &pixels)?;
            pixels.iter().try_for_each(|point| look.mark(area, *point))?;
            look.mark(area, (right + 50, name_y))?;
            let growth = series.growth(small).map_or(String::new(), |exponent| format!("  n^{exponent:.2}"));
            label(area, format!("{}{growth}", series.name), (right + 62, name_y), 14, (HPos::Left, VPos::Center))?;
        }
        Ok(())
    })
}

/// A power of ten of seconds, without decimals.
fn round_span(seconds: f64) -> String {
    let text = span(seconds * 1.000_001e9);
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    format!("{} {unit}", number.parse::<f64>().unwrap_or(0.0).round())
}

/// How a line is told from others.
struct Look {
    colour: RGBColor,
    /// Whole, dashed, dotted.
    round: usize,
    mark: usize,
}

impl Look {
    fn of(index: usize) -> Self {
        Look {
            colour: COLOURS[index % COLOURS.len()],
            round: index / COLOURS.len(),
            mark: index % 4 + index / COLOURS.len(),
        }
    }

    fn line(&self, area: &Area, points: &[(i32, i32)]) -> Drawn {
        let style = self.colour.stroke_width(2);
        match self.round {
            0 => line(area, points, style),
            round => {
                let (dash, gap) = if round == 1 { (9, 4) } else { (3, 4) };
                area.draw(&DashedPathElement::new(points.iter().copied(), dash, gap, style))
            }
        }
    }

    fn mark(&self, area: &Area, (x, y): (i32, i32)) -> Drawn {
        let style = self.colour.filled();
        match self.mark % 4 {
            0 => area.draw(&Circle::new((x, y), 4, style)),
            1 => area.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], style)),
            2 => area.draw(&Polygon::new(vec![(x, y - 6), (x + 5, y + 4), (x - 5, y + 4)], style)),
            _ => area.draw(&Polygon::new(vec![(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)], style)),
        }
    }
}

/// Technologies by the colour that they have in every chart; any other is grey. Of several the last of this list counts.
const TECHNOLOGIES: [(&str, RGBColor); 6] =
    [("scalar", BLUE), ("bitvec", PURPLE), ("wide", GREEN), ("avx2", ORANGE), ("avx512", VERMILION), ("parallel", SKY)];

fn place(technology: &str) -> Option<usize> {
    TECHNOLOGIES.iter().rposition(|(name, _)| technology.contains(name))
}

fn colour(technology: &str) -> RGBColor {
    place(technology).map_or(GREY, |place| TECHNOLOGIES[place].1)
}

/// One kernel's ratio.
pub struct Bar {
    /// The kernel.
    pub name: String,
    /// What makes it quick, which gives the colour.
    pub technology: String,
    /// Baseline's time over its own.
    pub ratio: f64,
    /// The middle 80 % of the rounds.
    pub range: (f64, f64),
}

/// Ratios to the baseline as bars from 1, quickest first, on a logarithmic axis.
pub fn ratios(title: &str, baseline: &str, bars: &[Bar]) -> String {
    let (width, left, right, top) = (960, 250, 860, 78);
    let step = 22;
    let bottom = top + step * bars.len() as i32;
    let height = bottom + 62;
    let mut technologies: Vec<&str> = Vec::new();
    for bar in bars {
        if !technologies.contains(&bar.technology.as_str()) {
            technologies.push(&bar.technology);
        }
    }
    technologies.sort_by_key(|name| place(name));
    let values = || bars.iter().flat_map(|bar| [bar.ratio, bar.range.0, bar.range.1]).chain([1.0]);
    let (low, high) = values().fold((1f64, 1f64), |(low, high), v| (low.min(v), high.max(v)));
    let x = LogAxis { low: low * 0.9, high: high.max(low * 1.5), pixels: (left, right) };
    svg(width as u32, height as u32, |area| {
        label(area, title, (12, 14), 17, (HPos::Left, VPos::Top))?;
        label(
            area,
            format!("times as quick as {baseline}; whiskers hold the middle 80 % of the rounds"),
            (12, 38),
            13,
            (HPos::Left, VPos::Top),
        )?;
        let whole = LogAxis { low: 10f64.powf(x.low.log10().ceil()), ..x };
        for decade in whole.decades() {
            let at = x.at(decade);
            line(area, &[(at, top - 6), (at, bottom + 4)], GREY.mix(0.3))?;
            label(area, decade, (at, bottom + 8), 13, (HPos::Center, VPos::Top))?;
        }
        let one = x.at(1.0);
        for (bar, y) in bars.iter().zip((top..).step_by(step as usize)) {
            let colour = colour(&bar.technology);
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
        for (index, technology) in technologies.iter().enumerate() {
            let (at, y) = (left + 120 * index as i32, height - 18);
            area.draw(&Rectangle::new([(at, y - 5), (at + 10, y + 5)], colour(technology).filled()))?;
            label(area, technology, (at + 16, y), 13, (HPos::Left, VPos::Center))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_that_of_the_last_decade() {
        let growth = |points: &[(f64, f64)]| Series { name: String::new(), points: points.to_vec() }.growth(100.0);
        // A linear loop behind a call that costs as much as ten thousand steps.
        let linear = [1e4, 1e6, 1e7, 5e7, 1e8].map(|n: f64| (n, 1e4 + n));
        assert!((growth(&linear).expect("five points") - 1.0).abs() < 1e-3);
        // Where nothing else is within a factor of ten, the size before it; but none of the small ones.
        let root = [10.0, 1e3, 1e5].map(|n: f64| (n, if n < 100.0 { 1.0 } else { n.sqrt() }));
        assert!((growth(&root).expect("two points above 100") - 0.5).abs() < 1e-9);
        assert_eq!(growth(&root[..2]), None);
        assert_eq!(growth(&[]), None);
    }

    #[test]
    fn names_do_not_overlap_and_stay_inside() {
        let at = spread(&[50, 50, 51, 300, 398, 399], 50, 400);
        assert!(at.is_sorted_by(|a, b| b - a >= LEADING), "{at:?}");
        assert!(at[0] >= 50 && *at.last().expect("six") <= 400, "{at:?}");
    }

    #[test]
    fn axes_reach_from_a_decade_to_the_largest_value() {
        let axis = LogAxis::over([30.0, 2000.0].into_iter(), (100, 300));
        assert_eq!((axis.at(10.0), axis.at(2000.0)), (100, 300));
        assert_eq!(axis.decades().collect::<Vec<_>>(), [10.0, 100.0, 1000.0]);
    }
}
