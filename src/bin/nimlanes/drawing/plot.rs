//! Pictures of P-positions, and of the Grundy values of octal games.

use nimlanes::games::Positions;

use super::axis::{Axis, number};
use super::colours::GREY;
use super::raster::{CLEAR, Ink, Raster, tint};
use super::svg::{Anchor, HEADING, Paint, Svg, Text};

/// Maximum side of the plot in pixels.
const SIDE: usize = 560;
const LEFT: i32 = 78;
const TOP: i32 = 84;

/// A picture of the P-positions up to `limit`. Its title starts with `caption`.
pub fn draw(positions: &Positions, limit: u64, caption: &str) -> Picture {
    match positions {
        Positions::Three(found) => third_heap(found, limit, caption),
        Positions::Two(found) => beams(found, limit, caption),
    }
}

/// A picture of Grundy values: of these heaps, or of all.
pub fn draw_values(values: &[u16], heaps: Option<Vec<usize>>, caption: &str) -> Picture {
    let high = f64::from(values.iter().max().copied().unwrap_or(0)) + 1.0;
    let axes = [values.len() as f64, high].map(|high| Axis::linear(0.0, high));
    let what = if heaps.is_some() { "rare heaps" } else { "heaps" };
    let heaps = heaps.unwrap_or_else(|| (0..values.len()).collect());
    let mut grid = Grid::new(SIDE / 2, 2);
    for heap in &heaps {
        grid.add_at(&axes, [*heap as f64, f64::from(values[*heap])]);
    }
    let most = quantile(grid.cells.iter().map(|cell| cell.0).filter(|count| *count > 0.0), 0.995);
    let raster = grid.raster(|_, _, count, _| faint(count / most));
    Picture {
        raster,
        title: format!("{caption}: Grundy values of {what}"),
        note: format!("{} {what} up to {}", heaps.len(), values.len() - 1),
        axes,
        names: ["heap", "Grundy value"],
        legend: ["density".to_owned(), "least".to_owned(), "most".to_owned()],
        ink: faint,
    }
}

/// For two heaps of the Stone Game, the third heap that makes a P-position. There is exactly one, as in an addition table.
fn third_heap(positions: &[[u32; 3]], limit: u64, caption: &str) -> Picture {
    let heaps = limit as usize + 1;
    let mut grid = Grid::for_heaps(heaps, SIDE);
    for [x, y, z] in positions {
        let mut pairs =
            [[x, y, z], [y, x, z], [x, z, y], [z, x, y], [y, z, x], [z, y, x]].map(|heaps| heaps.map(|h| *h));
        pairs.sort_unstable();
        for (i, [a, b, c]) in pairs.iter().enumerate() {
            if i == 0 || pairs[i] != pairs[i - 1] {
                grid.add(*a as usize / grid.step, *b as usize / grid.step, f64::from(*c));
            }
        }
    }
    let width = |cell: usize| grid.step.min(heaps - cell * grid.step) as f64;
    let raster = grid.raster(|column, row, count, sum| {
        tint(sum / count / limit.max(1) as f64, count / (width(column) * width(row)))
    });
    Picture {
        raster,
        title: format!("{caption}: the third heap of a P-position, given the other two"),
        note: format!("paler where some third heaps are above {limit}, blank where all are"),
        axes: [Axis::linear(0.0, heaps as f64); 2],
        names: ["a heap", "another heap"],
        legend: ["third heap".to_owned(), "0".to_owned(), number(limit as f64)],
        ink: area,
    }
}

/// One heap against the other, in both orders.
fn beams(positions: &[[u64; 2]], limit: u64, caption: &str) -> Picture {
    let largest = positions.iter().map(|[_, m]| *m as usize).max().unwrap_or(0);
    let mut grid = Grid::for_heaps(largest + 1, SIDE / 2);
    let steepest = quantile(ratios(positions), 0.99).max(1.1);
    for ([n, m], ratio) in positions.iter().zip(ratios(positions)) {
        let [n, m] = [n, m].map(|heap| *heap as usize / grid.step);
        grid.add(n, m, ratio);
        grid.add(m, n, ratio);
    }
    let raster = grid.raster(|_, _, count, sum| line((sum / count - 1.0) / (steepest - 1.0)));
    Picture {
        raster,
        title: format!("{caption}: P-positions in beams"),
        note: format!("{} positions with a sum of heaps up to {limit}, in both orders", positions.len()),
        axes: [Axis::linear(0.0, (grid.step * grid.side) as f64); 2],
        names: ["a heap", "the other heap"],
        legend: ["larger / smaller".to_owned(), "1".to_owned(), format!("{steepest:.2}")],
        ink: line,
    }
}

/// The larger heap of each position divided by the smaller; 1 if both are empty.
fn ratios(positions: &[[u64; 2]]) -> impl Iterator<Item = f64> + Clone {
    positions.iter().map(|[n, m]| if *n == 0 { 1.0 } else { *m as f64 / *n as f64 })
}

/// The full colour scale, for areas.
fn area(share: f64) -> Ink {
    tint(share, 1.0)
}

/// The colour scale without the lightest colours, for thin lines that are visible on any page.
fn line(share: f64) -> Ink {
    tint(0.75 * share, 1.0)
}

/// One colour, strong enough to be visible in a single cell.
fn faint(share: f64) -> Ink {
    tint(0.5, 0.35 + 0.65 * share)
}

/// The quantile of the values at `share`, from a sample of at most a million; 1 if there are none.
fn quantile(values: impl Iterator<Item = f64> + Clone, share: f64) -> f64 {
    let every = values.clone().count().div_ceil(1_000_000).max(1);
    let mut sample: Vec<f64> = values.step_by(every).collect();
    sample.sort_unstable_by(f64::total_cmp);
    sample.get((share * sample.len() as f64) as usize).or(sample.last()).copied().unwrap_or(1.0)
}

/// A square of cells, each with the number of its positions and the sum of a value over them. Row 0 is the lowest.
struct Grid {
    side: usize,
    /// Heap sizes per cell, if the axes show heaps.
    step: usize,
    pixels: usize,
    cells: Vec<(f64, f64)>,
}

impl Grid {
    fn new(side: usize, pixels: usize) -> Self {
        Grid { side, step: 1, pixels, cells: vec![(0.0, 0.0); side * side] }
    }

    /// A grid for `heaps` heap sizes with at most `most` cells per side, with equally many sizes in each cell.
    fn for_heaps(heaps: usize, most: usize) -> Self {
        let step = heaps.div_ceil(most);
        let side = heaps.div_ceil(step);
        Grid { step, ..Grid::new(side, (SIDE + side / 2) / side) }
    }

    fn add(&mut self, column: usize, row: usize, value: f64) {
        let cell = &mut self.cells[row * self.side + column];
        cell.0 += 1.0;
        cell.1 += value;
    }

    /// Counts a point that is on both axes.
    fn add_at(&mut self, axes: &[Axis; 2], at: [f64; 2]) {
        let cell = |i: usize| ((axes[i].share(at[i]) * self.side as f64) as usize).min(self.side - 1);
        self.add(cell(0), cell(1), 0.0);
    }

    /// Colours each cell that is not empty, by its column, row, count and sum.
    fn raster(&self, ink: impl Fn(usize, usize, f64, f64) -> Ink) -> Raster {
        let mut cells = Vec::with_capacity(self.cells.len());
        for row in (0..self.side).rev() {
            cells.extend((0..self.side).map(|column| match self.cells[row * self.side + column] {
                (0.0, _) => CLEAR,
                (count, sum) => ink(column, row, count, sum),
            }));
        }
        Raster { columns: self.side, cells, pixels: self.pixels }
    }
}

/// A square plot with title, axes and legend.
pub struct Picture {
    raster: Raster,
    title: String,
    note: String,
    axes: [Axis; 2],
    /// The subjects of the axes.
    names: [&'static str; 2],
    /// The meaning of the inks, and of the first and the last.
    legend: [String; 3],
    /// The ink for a share from 0 to 1.
    ink: fn(f64) -> Ink,
}

impl Picture {
    /// The picture as SVG.
    pub fn svg(&self) -> String {
        let side = self.raster.size()[0] as i32;
        let (right, bottom) = (LEFT + side, TOP + side);
        let mut svg = Svg::new([right.max(LEFT + SIDE as i32) + 190, bottom + 62]);
        svg.text(&self.title, HEADING[0], Anchor::Start, Text::Large);
        svg.text(&self.note, HEADING[1], Anchor::Start, Text::Large);
        svg.image([LEFT, TOP], &self.raster);
        line_of_axis(&mut svg, [LEFT - 1, TOP], [LEFT - 1, bottom]);
        line_of_axis(&mut svg, [LEFT - 1, bottom], [right, bottom]);
        let [x, y] = &self.axes;
        svg.text(self.names[1], [LEFT - 14, TOP - 18], Anchor::Start, Text::Large);
        svg.text(self.names[0], [LEFT + side / 2, bottom + 44], Anchor::Middle, Text::Large);
        for (tick, label) in x.labels() {
            let at = x.pixel(tick, [LEFT, right]);
            line_of_axis(&mut svg, [at, bottom], [at, bottom + 5]);
            svg.text(&label, [at, bottom + 18], Anchor::Middle, Text::Large);
        }
        for (tick, label) in y.labels() {
            let at = y.pixel(tick, [bottom, TOP]);
            line_of_axis(&mut svg, [LEFT - 6, at], [LEFT - 1, at]);
            svg.text(&label, [LEFT - 10, at], Anchor::End, Text::Large);
        }
        let [name, first, last] = &self.legend;
        let (left, height) = (right + 32, 160);
        svg.text(name, [left, TOP + 8], Anchor::Start, Text::Large);
        let scale = (0..height).rev().map(|i| (self.ink)(f64::from(i) / f64::from(height - 1)));
        let cells = scale.flat_map(|ink| [ink; 16]).collect();
        svg.image([left, TOP + 26], &Raster { columns: 16, cells, pixels: 1 });
        svg.text(last, [left + 24, TOP + 32], Anchor::Start, Text::Large);
        svg.text(first, [left + 24, TOP + 20 + height], Anchor::Start, Text::Large);
        svg.end()
    }
}

/// A line from top left to bottom right, vertical or horizontal.
fn line_of_axis(svg: &mut Svg, from: [i32; 2], to: [i32; 2]) {
    svg.rectangle(from, [0, 1].map(|i| to[i] - from[i] + 1), Paint::Fill(GREY));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_a_picture() {
        for limit in [0, 1, 2, 559, 560, 561, 2000] {
            let two = (0..=limit / 2).map(|n| [n, n]).collect();
            draw(&Positions::Two(two), limit, "none").svg();
            let three = (0..=limit as u32 / 2).map(|x| [x, x, 2 * x]).collect();
            draw(&Positions::Three(three), limit, "a test").svg();
        }
    }

    /// The third heap is drawn for both orders of the other two, and once if they are equal.
    #[test]
    fn a_position_is_drawn_in_every_order() {
        let inks = |position| {
            let picture = draw(&Positions::Three(vec![position]), 5, "a test");
            picture.raster.cells.iter().filter(|ink| **ink != CLEAR).count()
        };
        assert_eq!([inks([0, 1, 2]), inks([1, 1, 4]), inks([0, 0, 0])], [6, 3, 1]);
    }
}
