//! Rasters of coloured cells, as PNG: a million positions are one element of an SVG.

use png::{ColorType, Compression, Filter};

use super::colours::{Colour, scale};

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

    /// A PNG file of a pixel for each cell.
    pub fn png(&self) -> Vec<u8> {
        png([self.columns, self.cells.len() / self.columns], &self.cells)
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
