//! SVG: the look of the few elements that pictures and charts are made of.
//!
//! They appear on light and dark pages, so the background is transparent, and text and axes are medium grey.

use std::fmt::{self, Display, Formatter};

use super::colours::{Colour, GREY};
use super::raster::Raster;

/// The place of the title, and of the note below it.
pub const HEADING: [[i32; 2]; 2] = [[14, 18], [14, 40]];

/// Height of text in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Titles, and all text of pictures.
    Large = 14,
    /// Names in charts.
    Medium = 12,
    /// Numbers and notes in charts.
    Small = 11,
}

/// Horizontal alignment of text at its point; vertically it is always centred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// How a shape is painted.
#[derive(Clone, Copy, Debug)]
pub enum Paint {
    Fill(Colour),
    Line { colour: Colour, width: u32, opacity: f64 },
}

impl Paint {
    /// A thin line of axes and grids.
    pub fn grey(opacity: f64) -> Self {
        Paint::Line { colour: GREY, width: 1, opacity }
    }
}

/// As attributes: only what differs from the page.
impl Display for Paint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Paint::Fill(GREY) => Ok(()),
            Paint::Fill(colour) => write!(f, " fill=\"{colour}\""),
            Paint::Line { colour, width, opacity } => {
                write!(f, " fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"")?;
                if opacity < 1.0 { write!(f, " opacity=\"{opacity}\"") } else { Ok(()) }
            }
        }
    }
}

/// A file to which elements are added, a line each. Coordinates are pixels from the top left.
#[derive(Debug)]
pub struct Svg(String);

impl Svg {
    pub fn new([width, height]: [i32; 2]) -> Self {
        Svg(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"{}\" fill=\"{GREY}\" stroke=\"none\">\n",
            Text::Large as u32
        ))
    }

    /// A line of text at a point.
    pub fn text(&mut self, text: &str, [x, y]: [i32; 2], anchor: Anchor, size: Text) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let size = if size == Text::Large { String::new() } else { format!(" font-size=\"{}\"", size as u32) };
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        self.0 += &format!("<text x=\"{x}\" y=\"{y}\" dy=\"0.36em\" text-anchor=\"{anchor}\"{size}>{text}</text>\n");
    }

    pub fn rectangle(&mut self, [x, y]: [i32; 2], [width, height]: [i32; 2], paint: Paint) {
        self.0 += &format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{paint}/>\n");
    }

    pub fn circle(&mut self, [x, y]: [i32; 2], radius: u32, paint: Paint) {
        self.0 += &format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{paint}/>\n");
    }

    /// A line through points; filled, the polygon that they enclose.
    pub fn path(&mut self, points: &[[i32; 2]], paint: Paint) {
        let points: Vec<String> = points.iter().map(|[x, y]| format!("{x},{y}")).collect();
        self.0 += &format!("<polyline points=\"{}\"{paint}/>\n", points.join(" "));
    }

    /// A raster, drawn without smoothing.
    pub fn image(&mut self, [x, y]: [i32; 2], raster: &Raster) {
        let ([width, height], png) = (raster.size(), base64(&raster.png()));
        self.0 += &format!(
            "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" \
             style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{png}\"/>\n"
        );
    }

    /// The text of the file.
    pub fn end(self) -> String {
        self.0 + "</svg>\n"
    }
}

/// Bytes as a text of letters, digits, `+` and `/`, with `=` to a multiple of four.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = |three: &[u8]| {
        let bits = three.iter().chain(&[0; 3]).take(3).fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        let digit = move |place: usize| match place <= three.len() {
            true => char::from(DIGITS[bits >> (18 - 6 * place) & 63]),
            false => '=',
        };
        (0..4).map(digit).collect::<String>()
    };
    bytes.chunks(3).map(digits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_padded() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }

    #[test]
    fn elements_state_only_what_differs_from_the_page() {
        let mut svg = Svg::new([9, 9]);
        svg.text("n < m & \"more\"", [0, 0], Anchor::End, Text::Small);
        svg.rectangle([1, 2], [3, 4], Paint::Fill(GREY));
        svg.path(&[[0, 0], [1, 1]], Paint::grey(0.5));
        let text = svg.end();
        let lines: Vec<&str> = text.lines().collect();
        let wanted = [
            "<text x=\"0\" y=\"0\" dy=\"0.36em\" text-anchor=\"end\" font-size=\"11\">n &lt; m &amp; \"more\"</text>",
            "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\"/>",
            "<polyline points=\"0,0 1,1\" fill=\"none\" stroke=\"rgb(118,124,133)\" stroke-width=\"1\" opacity=\"0.5\"/>",
            "</svg>",
        ];
        assert_eq!(lines[1..], wanted);
    }
}
