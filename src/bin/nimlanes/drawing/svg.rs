//! SVG: the look of the few elements that pictures and charts are made of.
//!
//! They appear on light and dark pages, so the background is transparent, and text and axes are medium grey.

use svg::node::Value;
use svg::node::element::{self, Circle, Element, Image, Polyline, Rectangle};
use svg::{Document, Node};

use super::colours::{Colour, GREY};

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

impl From<Colour> for Value {
    fn from(colour: Colour) -> Self {
        colour.to_string().into()
    }
}

/// A file to which elements are added. Coordinates are pixels from the top left.
#[derive(Debug)]
pub struct Svg(Document);

impl Svg {
    pub fn new([width, height]: [i32; 2]) -> Self {
        let document = Document::new().set("width", width).set("height", height).set("viewBox", (0, 0, width, height));
        let text = document.set("font-family", "sans-serif").set("font-size", Text::Large as u32);
        Svg(text.set("fill", GREY).set("stroke", "none"))
    }

    /// A line of text at a point.
    pub fn text(&mut self, text: &str, [x, y]: [i32; 2], anchor: Anchor, size: Text) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let mut text = element::Text::new(text).set("x", x).set("y", y).set("dy", "0.36em").set("text-anchor", anchor);
        if size != Text::Large {
            text.assign("font-size", size as u32);
        }
        self.0.append(Element::from(text)); // on one line: a `Text` puts its content on lines of its own
    }

    /// The title and the note of a chart.
    pub fn heading(&mut self, title: &str, note: &str) {
        self.text(title, HEADING[0], Anchor::Start, Text::Large);
        self.text(note, HEADING[1], Anchor::Start, Text::Small);
    }

    pub fn rectangle(&mut self, [x, y]: [i32; 2], [width, height]: [i32; 2], paint: Paint) {
        self.shape(Rectangle::new().set("x", x).set("y", y).set("width", width).set("height", height), paint);
    }

    pub fn circle(&mut self, [x, y]: [i32; 2], radius: u32, paint: Paint) {
        self.shape(Circle::new().set("cx", x).set("cy", y).set("r", radius), paint);
    }

    /// A line through points; filled, the polygon that they enclose.
    pub fn path(&mut self, points: &[[i32; 2]], paint: Paint) {
        self.shape(Polyline::new().set("points", points.concat()), paint);
    }

    /// A PNG file, drawn in this size without smoothing.
    pub fn image(&mut self, [x, y]: [i32; 2], [width, height]: [usize; 2], png: &[u8]) {
        let image = Image::new().set("x", x).set("y", y).set("width", width).set("height", height);
        let image = image.set("preserveAspectRatio", "none").set("style", "image-rendering:pixelated");
        self.0.append(image.set("href", format!("data:image/png;base64,{}", base64(png))));
    }

    fn shape(&mut self, mut shape: impl Node, paint: Paint) {
        match paint {
            Paint::Fill(GREY) => {}
            Paint::Fill(colour) => shape.assign("fill", colour),
            Paint::Line { colour, width, opacity } => {
                shape.assign("fill", "none");
                shape.assign("stroke", colour);
                shape.assign("stroke-width", width);
                if opacity < 1.0 {
                    shape.assign("opacity", opacity);
                }
            }
        }
        self.0.append(shape);
    }

    /// The text of the file.
    pub fn end(self) -> String {
        format!("{}\n", self.0)
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

    /// The lines of what is drawn, without those of the page around it.
    fn lines(draw: impl FnOnce(&mut Svg)) -> Vec<String> {
        let mut svg = Svg::new([9, 9]);
        draw(&mut svg);
        let text = svg.end();
        let inside = text.strip_suffix("\n</svg>\n").expect("the end of the page");
        inside.lines().skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn what_is_special_in_xml_is_escaped() {
        let said = lines(|svg| svg.text("n < m & \"more\"", [0, 0], Anchor::End, Text::Small));
        let text =
            "<text dy=\"0.36em\" font-size=\"11\" text-anchor=\"end\" x=\"0\" y=\"0\">n &lt; m &amp; \"more\"</text>";
        assert_eq!(said, [text]);
        let shape = Rectangle::new().set("id", "<'a' & \"b\">");
        let said = lines(|svg| svg.shape(shape, Paint::Fill(GREY)));
        assert_eq!(said, ["<rect id=\"&lt;&apos;a&apos; &amp; &quot;b&quot;&gt;\"/>"]);
    }

    #[test]
    fn shapes_say_only_what_differs_from_the_page() {
        let said = lines(|svg| {
            svg.rectangle([1, 2], [3, 4], Paint::Fill(GREY));
            svg.path(&[[0, 0], [1, 1]], Paint::grey(0.5));
        });
        let line = "<polyline fill=\"none\" opacity=\"0.5\" points=\"0 0 1 1\" stroke=\"rgb(118,124,133)\" stroke-width=\"1\"/>";
        assert_eq!(said, ["<rect height=\"4\" width=\"3\" x=\"1\" y=\"2\"/>", line]);
    }
}
