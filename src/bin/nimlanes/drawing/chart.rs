//! Charts as SVG: the speed of kernels at each size relative to the best plain Rust, ratios as dots, exponents of growth, and lines.
//!
//! Kernels differ in their marks as well as their colours, and keep both in all charts. Those for comparison are grey.

use super::axis::{Axis, ratio, size};
use super::colours::{COLOURS, Colour, GREY};
use super::svg::{Anchor, Paint, Svg, Text};

const WIDTH: i32 = 960;

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
    /// The number of its mark, if it has one: the baseline, the fastest, the best in plain Rust.
    pub mark: Option<usize>,
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

/// The left and the right end of a chart of sizes, and its top.
const ACROSS: [i32; 2] = [62, 600];
const TOP: i32 = 66;

/// Speed relative to the best plain Rust kernel of each size on logarithmic axes, one line per kernel. Kernels with a mark and
/// those that reach the largest size are named, with their growth at sizes above `small`.
pub fn sizes(title: &str, series: &[Series], small: f64) -> String {
    let last = series.iter().flat_map(|series| &series.points).map(|point| point.size).fold(0.0, f64::max);
    let ended = series.iter().filter_map(|series| Some((series, series.points.last()?)));
    let is_named =
        |(series, end): &(&Series, &Point)| series.mark.is_some() || end.size == last && end.ratio >= MIN_RATIO;
    let mut named: Vec<(&Series, &Point)> = ended.filter(is_named).collect();
    named.sort_by(|a, b| b.1.ratio.total_cmp(&a.1.ratio));

    let height = 470.max(TOP + FOOT + LEADING * named.len() as i32);
    let frame = Frame::new(series, height - FOOT);
    let wanted: Vec<i32> = named.iter().map(|(_, end)| frame.pixel(end)[1].min(frame.bottom)).collect();
    let places = spread(&wanted, TOP, frame.bottom);

    let mut svg = Svg::new([WIDTH, height]);
    let note =
        format!("times as fast as the best plain Rust kernel of the same size; grey: leads at no size above {small}");
    svg.heading(title, &note);
    frame.draw(&mut svg);
    for others in series.iter().filter(|series| series.mark.is_none()) {
        Style::new(None).line(&mut svg, &frame.pixels(others), frame.bottom);
    }
    for ((series, end), y) in named.into_iter().zip(places).rev() {
        frame.draw_marked(&mut svg, series, y);
        frame.draw_name(&mut svg, series, end, last, small, y);
    }
    svg.end()
}

/// The axes of a chart of sizes.
struct Frame {
    sizes: Axis,
    ratios: Axis,
    bottom: i32,
}

impl Frame {
    fn new(series: &[Series], bottom: i32) -> Self {
        let points = || series.iter().flat_map(|series| &series.points);
        let (least, most) = points().fold((f64::INFINITY, 0f64), |(low, high), p| (low.min(p.size), high.max(p.size)));
        let (low, high) = points().fold((1f64, 1f64), |(low, high), p| (low.min(p.ratio), high.max(p.ratio)));
        let sizes = Axis::log(10f64.powf(least.log10().floor()), most.max(least * 1.01));
        Frame { sizes, ratios: Axis::log(low.max(MIN_RATIO) / 1.1, high * 1.1), bottom }
    }

    fn x(&self, size: f64) -> i32 {
        self.sizes.pixel(size, ACROSS)
    }

    fn y(&self, ratio: f64) -> i32 {
        self.ratios.pixel(ratio, [self.bottom, TOP])
    }

    fn pixel(&self, point: &Point) -> [i32; 2] {
        [self.x(point.size), self.y(point.ratio)]
    }

    fn pixels(&self, series: &Series) -> Vec<[i32; 2]> {
        series.points.iter().map(|point| self.pixel(point)).collect()
    }

    fn draw(&self, svg: &mut Svg) {
        let [left, right] = ACROSS;
        for (size, name) in self.sizes.labels() {
            svg.path(&[[self.x(size), TOP], [self.x(size), self.bottom]], Paint::grey(0.25));
            svg.text(&name, [self.x(size), self.bottom + 12], Anchor::Middle, Text::Small);
        }
        svg.text("size", [(left + right) / 2, self.bottom + FOOT - 15], Anchor::Middle, Text::Medium);
        for tick in self.ratios.fine_ticks() {
            svg.path(&ACROSS.map(|x| [x, self.y(tick)]), Paint::grey(if tick == 1.0 { 1.0 } else { 0.25 }));
            svg.text(&ratio(tick), [left - 8, self.y(tick)], Anchor::End, Text::Small);
        }
    }

    /// A series with a mark, which is also beside its name.
    fn draw_marked(&self, svg: &mut Svg, series: &Series, name_y: i32) {
        if series.mark.is_some() {
            let (style, pixels) = (Style::new(series.mark), self.pixels(series));
            style.line(svg, &pixels, self.bottom);
            pixels.iter().filter(|[_, at]| *at <= self.bottom).for_each(|point| style.mark(svg, *point));
            style.mark(svg, [ACROSS[1] + 36, name_y]);
        }
    }

    /// The name with the growth, and a line to it from an end at the `last` size; or where the line ends, if that is too slow to be seen.
    fn draw_name(&self, svg: &mut Svg, series: &Series, end: &Point, last: f64, small: f64, y: i32) {
        let (right, is_seen) = (ACROSS[1], end.ratio >= self.ratios.low);
        if end.size == last && is_seen {
            let colour = Style::new(series.mark).colour;
            let leader = [[right + 6, self.y(end.ratio)], [right + 26, y]];
            svg.path(&leader, Paint::Line { colour, width: 1, opacity: 0.6 });
        }
        let mut name = series.name.clone();
        if let Some(exponent) = series.growth(small) {
            name += &format!("  n^{exponent:.2}");
        }
        if !is_seen {
            name += &format!("  ({} at {})", ratio(end.ratio), size(end.size));
        }
        svg.text(&name, [right + 48, y], Anchor::Start, Text::Medium);
    }
}

/// Height of what is below a chart of sizes: the numbers of its axis, and the name.
const FOOT: i32 = 52;

/// The style that distinguishes a kernel.
struct Style {
    colour: Colour,
    width: u32,
    mark: usize,
}

impl Style {
    fn new(mark: Option<usize>) -> Self {
        match mark {
            Some(mark) => Style { colour: COLOURS[mark % COLOURS.len()], width: 3, mark },
            None => Style { colour: GREY, width: 1, mark: 0 },
        }
    }

    /// Draws a line through points, cut off at `floor`.
    fn line(&self, svg: &mut Svg, points: &[[i32; 2]], floor: i32) {
        let opacity = if self.width > 1 { 1.0 } else { 0.6 };
        let paint = Paint::Line { colour: self.colour, width: self.width, opacity };
        let seen = points.windows(2).filter_map(|ends| above(ends[0], ends[1], floor));
        seen.for_each(|ends| svg.path(&ends, paint));
    }

    fn mark(&self, svg: &mut Svg, [x, y]: [i32; 2]) {
        let paint = Paint::Fill(self.colour);
        match self.mark % 4 {
            0 => svg.circle([x, y], 5, paint),
            1 => svg.rectangle([x - 4, y - 4], [9, 9], paint),
            2 => svg.path(&[[x, y - 6], [x + 6, y + 5], [x - 6, y + 5]], paint),
            _ => svg.path(&[[x, y - 7], [x + 7, y], [x, y + 7], [x - 7, y]], paint),
        }
    }
}

/// The part of a line segment that is not below the floor (pixels count downwards).
fn above(a: [i32; 2], b: [i32; 2], floor: i32) -> Option<[[i32; 2]; 2]> {
    let cut = |from: [i32; 2], to: [i32; 2]| {
        let share = f64::from(floor - from[1]) / f64::from(to[1] - from[1]);
        [from[0] + (share * f64::from(to[0] - from[0])).round() as i32, floor]
    };
    match (a[1] <= floor, b[1] <= floor) {
        (true, true) => Some([a, b]),
        (true, false) => Some([a, cut(a, b)]),
        (false, true) => Some([cut(b, a), b]),
        (false, false) => None,
    }
}

/// One kernel's ratio.
#[derive(Debug)]
pub struct Dot {
    /// The kernel.
    pub name: String,
    /// The technology it uses.
    pub technology: String,
    /// The number of its mark, as in [`Series`].
    pub mark: Option<usize>,
    /// The baseline's time divided by its own.
    pub ratio: f64,
    /// Range of the middle 80 % of the rounds.
    pub range: (f64, f64),
}

/// An axis with more numbers than this has only powers of ten.
const MOST_TICKS: usize = 9;

/// Ratios to the baseline as dots with their ranges, fastest first, on a logarithmic axis. It has no zero, so the length of a bar
/// would mean nothing.
pub fn ratios(title: &str, baseline: &str, dots: &[Dot]) -> String {
    let (left, right, top, technologies) = (236, 700, 84, 790);
    let step = 19;
    let bottom = top + step * dots.len() as i32;
    let values = || dots.iter().flat_map(|dot| [dot.ratio, dot.range.0, dot.range.1]);
    let (low, high) = values().fold((1f64, 1f64), |(low, high), v| (low.min(v), high.max(v)));
    let axis = Axis::log(low * 0.9, high.max(low * 1.5));
    let x = |ratio| axis.pixel(ratio, [left, right]);

    let mut svg = Svg::new([WIDTH, bottom + 14]);
    svg.heading(
        title,
        &format!("times as fast as {baseline}, on a logarithmic axis; lines: middle 80 % of the rounds"),
    );
    let mut ticks: Vec<f64> = axis.fine_ticks().collect();
    if ticks.len() > MOST_TICKS {
        ticks = axis.labels().map(|(tick, _)| tick).collect();
    }
    for tick in ticks {
        svg.path(&[[x(tick), top - 4], [x(tick), bottom + 4]], Paint::grey(if tick == 1.0 { 1.0 } else { 0.25 }));
        svg.text(&ratio(tick), [x(tick), top - 14], Anchor::Middle, Text::Small);
    }
    for (dot, y) in dots.iter().zip((top + step / 2..).step_by(step as usize)) {
        let (style, at) = (Style::new(dot.mark), x(dot.ratio));
        let [from, to] = [dot.range.0, dot.range.1].map(x);
        svg.text(&dot.name, [left - 10, y], Anchor::End, Text::Medium);
        svg.path(&[[left, y], [from.min(at), y]], Paint::grey(0.25));
        svg.path(&[[from, y], [to, y]], Paint::Line { colour: style.colour, width: 3, opacity: 0.6 });
        style.mark(&mut svg, [at, y]);
        let number = format!("{:.1$}", dot.ratio, if dot.ratio < 10.0 { 2 } else { usize::from(dot.ratio < 100.0) });
        svg.text(&number, [at.max(to) + 12, y], Anchor::Start, Text::Small);
        svg.text(&dot.technology, [technologies, y], Anchor::Start, Text::Small);
    }
    svg.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_fitted_to_the_last_decade() {
        let point = |(size, seconds): &(f64, f64)| Point { size: *size, seconds: *seconds, ratio: 1.0 };
        let growth = |points: &[(f64, f64)]| {
            Series { name: String::new(), mark: None, points: points.iter().map(point).collect() }.growth(100.0)
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
    fn names_do_not_overlap_and_stay_inside() {
        let at = spread(&[50, 50, 51, 300, 398, 399], 50, 400);
        assert!(at.is_sorted_by(|a, b| b - a >= LEADING), "{at:?}");
        assert!(at[0] >= 50 && *at.last().expect("six") <= 400, "{at:?}");
    }

    #[test]
    fn lines_end_at_the_floor() {
        assert_eq!(above([0, 10], [10, 20], 30), Some([[0, 10], [10, 20]]));
        assert_eq!(above([0, 10], [10, 30], 20), Some([[0, 10], [5, 20]]));
        assert_eq!(above([0, 30], [10, 10], 20), Some([[5, 20], [10, 10]]));
        assert_eq!(above([0, 21], [10, 30], 20), None);
    }
}
