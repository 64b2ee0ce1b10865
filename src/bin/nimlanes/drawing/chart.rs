//! Charts as SVG: the speed of kernels at each size relative to the best plain Rust.
//!
//! Kernels differ in their marks as well as their colours, and keep both in all charts. Those for comparison are grey.

use nimlanes::units::grouped;

use super::axis::{Axis, ratio};
use super::colours::{COLOURS, Colour, GREY};
use super::svg::{Anchor, HEADING, Paint, Svg, Text};

const WIDTH: i32 = 960;

/// One kernel at one size.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The size.
    pub size: f64,
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
/// those that reach the largest size are named; those without one lead at no size above `small`.
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
    svg.text(title, HEADING[0], Anchor::Start, Text::Large);
    svg.text(&note, HEADING[1], Anchor::Start, Text::Small);
    frame.draw(&mut svg);
    for others in series.iter().filter(|series| series.mark.is_none()) {
        Style::new(None).line(&mut svg, &frame.pixels(others), frame.bottom);
    }
    for ((series, end), y) in named.into_iter().zip(places).rev() {
        frame.draw_marked(&mut svg, series, y);
        frame.draw_name(&mut svg, series, end, last, y);
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

    /// The name, and a line to it from an end at the `last` size; or where the line ends, if that is too slow to be seen.
    fn draw_name(&self, svg: &mut Svg, series: &Series, end: &Point, last: f64, y: i32) {
        let (right, is_seen) = (ACROSS[1], end.ratio >= self.ratios.low);
        if end.size == last && is_seen {
            let colour = Style::new(series.mark).colour;
            let leader = [[right + 6, self.y(end.ratio)], [right + 26, y]];
            svg.path(&leader, Paint::Line { colour, width: 1, opacity: 0.6 });
        }
        let mut name = series.name.clone();
        if !is_seen {
            name += &format!("  ({} at {})", ratio(end.ratio), grouped(&end.size.to_string()));
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

    /// Draws a line through points, as far as they are above `floor`: pixels count downwards.
    fn line(&self, svg: &mut Svg, points: &[[i32; 2]], floor: i32) {
        let opacity = if self.width > 1 { 1.0 } else { 0.6 };
        let paint = Paint::Line { colour: self.colour, width: self.width, opacity };
        for seen in points.split(|[_, y]| *y > floor).filter(|seen| seen.len() > 1) {
            svg.path(seen, paint);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_overlap_and_stay_inside() {
        let at = spread(&[50, 50, 51, 300, 398, 399], 50, 400);
        assert!(at.is_sorted_by(|a, b| b - a >= LEADING), "{at:?}");
        assert!(at[0] >= 50 && *at.last().expect("six") <= 400, "{at:?}");
    }
}
