//! Pictures of text, lines and rasters of cells, as SVG.
//!
//! A raster of a million positions is one element, an embedded PNG.

use png::{ColorType, Compression, Filter};

use super::colours::{Colour, GREY, scale};
use super::svg::{Anchor, Paint, Svg, Text};

/// An index into the palette of all rasters: transparent, then the values of [`tint`].
pub type Ink = u8;

/// Number of shades of the colour scale, and of strengths of each.
const SHADES: u8 = 32;
const STRENGTHS: u8 = 7;

/// Transparent.
pub const CLEAR: Ink = 0;

/// A colour of the scale, from 0 to 1, with a strength from 0 to 1. The weakest is still visible.
pub fn tint(colour: f64, strength: f64) -> Ink {
    let level = |share: f64, levels: u8| (share.clamp(0.0, 1.0) * f64::from(levels)).round() as u8;
    1 + level(colour, SHADES - 1) * STRENGTHS + level(strength, STRENGTHS).max(1) - 1
}

/// Red, green, blue and opacity of each ink.
fn palette() -> Vec<[u8; 4]> {
    let opacity = |level: u8, levels: u8| (255.0 * f64::from(level) / f64::from(levels)).round() as u8;
    let shade = |shade: u8| scale(f64::from(shade) / f64::from(SHADES - 1));
    let tints = (0..SHADES).flat_map(|s| (1..=STRENGTHS).map(move |level| (shade(s), opacity(level, STRENGTHS))));
    [[0; 4]].into_iter().chain(tints.map(|(Colour([r, g, b]), a)| [r, g, b, a])).collect()
}

/// Cells of ink, row by row from the top.
#[derive(Debug)]
pub struct Raster {
    /// Cells in a row.
    pub columns: usize,
    /// All cells.
    pub cells: Vec<Ink>,
    /// Side of a cell in pixels.
    pub pixels: usize,
}

impl Raster {
    /// Width and height in pixels.
    pub fn size(&self) -> [usize; 2] {
        [self.columns, self.cells.len() / self.columns].map(|cells| cells * self.pixels)
    }
}

#[derive(Debug)]
enum Item {
    Text {
        text: String,
        at: [i32; 2],
        anchor: Anchor,
    },
    /// From top left to bottom right, vertical or horizontal.
    Line {
        from: [i32; 2],
        to: [i32; 2],
    },
    Raster {
        raster: Raster,
        at: [i32; 2],
    },
}

/// A picture.
#[derive(Debug)]
pub struct Picture {
    size: [usize; 2],
    items: Vec<Item>,
}

impl Picture {
    pub(super) fn new(size: [usize; 2]) -> Self {
        Picture { size, items: Vec::new() }
    }

    pub(super) fn text(&mut self, text: impl Into<String>, at: [i32; 2], anchor: Anchor) {
        self.items.push(Item::Text { text: text.into(), at, anchor });
    }

    pub(super) fn line(&mut self, from: [i32; 2], to: [i32; 2]) {
        self.items.push(Item::Line { from, to });
    }

    pub(super) fn raster(&mut self, raster: Raster, at: [i32; 2]) {
        self.items.push(Item::Raster { raster, at });
    }

    #[cfg(test)]
    pub(super) fn first_raster(&self) -> &[Ink] {
        let rasters = self
            .items
            .iter()
            .filter_map(|item| if let Item::Raster { raster, .. } = item { Some(raster) } else { None });
        rasters.map(|raster| &raster.cells[..]).next().unwrap_or(&[])
    }

    /// The picture as SVG.
    pub fn svg(&self) -> String {
        let mut svg = Svg::new(self.size.map(|side| side as i32));
        for item in &self.items {
            match item {
                Item::Text { text, at, anchor } => svg.text(text, *at, *anchor, Text::Large),
                Item::Line { from, to } => {
                    let size = [0, 1].map(|i| to[i] - from[i] + 1);
                    svg.rectangle(*from, size, Paint::Fill(GREY));
                }
                Item::Raster { raster, at } => {
                    let cells = raster.size().map(|size| size / raster.pixels);
                    svg.image(*at, raster.size(), &png(cells, &raster.cells));
                }
            }
        }
        svg.end()
    }
}

/// Encodes inks as a PNG file with the palette.
fn png([width, height]: [usize; 2], inks: &[Ink]) -> Vec<u8> {
    let palette = palette();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width as u32, height as u32);
    encoder.set_color(ColorType::Indexed);
    encoder.set_palette(palette.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).collect::<Vec<u8>>());
    encoder.set_trns(palette.iter().map(|[.., opacity]| *opacity).collect::<Vec<u8>>());
    encoder.set_compression(Compression::High);
    // Filters do not help with palette indices.
    encoder.set_filter(Filter::NoFilter);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(inks)?;
        writer.finish()
    });
    written.expect("writing to memory succeeds, and there is an ink for each pixel");
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ink_is_in_the_palette() {
        let palette = palette();
        assert!(palette.len() <= 256);
        assert_eq!(usize::from(tint(1.0, 1.0)), palette.len() - 1);
        assert_eq!(palette[usize::from(tint(1.0, 1.0))], [253, 231, 37, 255]);
        assert_eq!(palette[usize::from(tint(0.0, 0.0))], [68, 1, 84, 36], "faint, but there");
    }

    #[test]
    fn a_raster_holds_its_cells() {
        let cells = [1, CLEAR, CLEAR, 224, 7, 9];
        let mut reader = png::Decoder::new(std::io::Cursor::new(png([3, 2], &cells))).read_info().expect("a file");
        let mut inks = [CLEAR; 6];
        let frame = reader.next_frame(&mut inks).expect("cells");
        assert_eq!((frame.width, frame.height, frame.color_type), (3, 2, ColorType::Indexed));
        assert_eq!(inks, cells);
    }
}
