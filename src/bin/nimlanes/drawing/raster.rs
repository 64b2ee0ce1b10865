//! Rasters of coloured cells, as PNG: a million positions are one element of an SVG.

use miniz_oxide::deflate::compress_to_vec_zlib;

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

    /// A PNG file of a pixel for each cell, with the palette.
    pub fn png(&self) -> Vec<u8> {
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        let mut chunk = |kind: &[u8], data: &[u8]| {
            file.extend((data.len() as u32).to_be_bytes());
            file.extend([kind, data].concat());
            file.extend(crc(kind.iter().chain(data)).to_be_bytes());
        };
        let [width, height] = [self.columns, self.cells.len() / self.columns].map(|side| (side as u32).to_be_bytes());
        // Eight bits are an index into the palette.
        chunk(b"IHDR", &[&width[..], &height, &[8, 3, 0, 0, 0]].concat());
        chunk(b"PLTE", &palette().iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).collect::<Vec<u8>>());
        chunk(b"tRNS", &palette().iter().map(|[.., opacity]| *opacity).collect::<Vec<u8>>());
        // No row has a filter, which would not help with indices.
        let rows: Vec<u8> = self.cells.chunks(self.columns).flat_map(|row| [&[0], row].concat()).collect();
        chunk(b"IDAT", &deflated(&rows));
        chunk(b"IEND", &[]);
        file
    }
}

/// Bytes in the format of zlib.
pub fn deflated(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec_zlib(bytes, 9)
}

/// The CRC-32 of bytes, as PNG has it.
fn crc<'a>(bytes: impl Iterator<Item = &'a u8>) -> u32 {
    let shifted = |crc: u32| (crc >> 1) ^ (0xedb8_8320 * (crc & 1));
    !bytes.fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| shifted(crc)))
}

#[cfg(test)]
mod tests {
    use miniz_oxide::inflate::decompress_to_vec_zlib;

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
        let file = Raster { columns: 3, cells: vec![1, CLEAR, CLEAR, 224, 7, 9], pixels: 1 }.png();
        let mut chunks = Vec::new();
        let mut rest = file.strip_prefix(b"\x89PNG\r\n\x1a\n").expect("a PNG file");
        while let Some((length, chunk)) = rest.split_first_chunk::<4>() {
            let length = u32::from_be_bytes(*length) as usize;
            chunks.push((&chunk[..4], &chunk[4..4 + length]));
            rest = &chunk[8 + length..];
        }
        let kinds: Vec<_> = chunks.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"]);
        let rows = decompress_to_vec_zlib(chunks[3].1).expect("packed rows");
        assert_eq!(
            (rows.as_slice(), &file[file.len() - 4..]),
            (&[0, 1, 0, 0, 0, 224, 7, 9][..], &[0xae, 0x42, 0x60, 0x82][..])
        );
    }
}
