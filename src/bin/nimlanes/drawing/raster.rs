//! Rasters of coloured cells, as PNG: a million positions are one element of an SVG.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

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
    // 8 bits a pixel, by the palette, not interlaced.
    let header = [&(width as u32).to_be_bytes()[..], &(height as u32).to_be_bytes(), &[8, 3, 0, 0, 0]].concat();
    let (colours, opacities): (Vec<_>, Vec<_>) = palette().into_iter().map(|[r, g, b, a]| ([r, g, b], a)).unzip();
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    // Each row begins with its filter: none, as filters do not help with indices.
    let rows = inks.chunks(width).try_for_each(|row| packed.write_all(&[0]).and_then(|()| packed.write_all(row)));
    let packed = rows.and_then(|()| packed.finish()).expect("writing to memory succeeds");
    let chunks = [(b"IHDR", header), (b"PLTE", colours.concat()), (b"tRNS", opacities), (b"IDAT", packed)];
    let chunks = chunks.into_iter().chain([(b"IEND", Vec::new())]).flat_map(|(name, data)| chunk(name, &data));
    SIGNATURE.into_iter().chain(chunks).collect()
}

/// The first bytes of every PNG file.
const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// A part of a PNG file: its length, name, data and checksum.
fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(name);
    crc.update(data);
    [&(data.len() as u32).to_be_bytes()[..], name, data, &crc.sum().to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

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
        let file = png([3, 2], &cells);
        assert_eq!(file[..33], *b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x08\x03\0\0\0\xaa\xaa\x96\x28");
        let data = file.windows(4).position(|name| name == b"IDAT").expect("cells") + 4;
        let mut rows = Vec::new();
        flate2::read::ZlibDecoder::new(&file[data..]).read_to_end(&mut rows).expect("packed");
        assert_eq!(rows, [0, 1, CLEAR, CLEAR, 0, 224, 7, 9]);
        assert!(file.ends_with(b"\0\0\0\0IEND\xae\x42\x60\x82"));
    }
}
