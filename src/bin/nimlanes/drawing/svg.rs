//! SVG: the few elements that pictures and charts are made of.
//!
//! They appear on light and dark pages, so the background is transparent, and text and axes are medium grey.

use std::fmt::{self, Arguments, Display, Formatter, Write};

use base64::prelude::{BASE64_STANDARD, Engine as _};

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

impl Display for Paint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Paint::Fill(GREY) => Ok(()),
            Paint::Fill(colour) => write!(f, " fill=\"{colour}\""),
            Paint::Line { colour, width, opacity } => {
                write!(f, " fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"")?;
                if *opacity < 1.0 { write!(f, " opacity=\"{opacity}\"") } else { Ok(()) }
            }
        }
    }
}

/// A file that is written element by element. Coordinates are pixels from the top left.
#[derive(Debug)]
pub struct Svg(String);

impl Svg {
    pub fn new([width, height]: [i32; 2]) -> Self {
        Svg(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"{}\" fill=\"{GREY}\" \
             stroke=\"none\">\n",
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
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.line(format_args!("<text x=\"{x}\" y=\"{y}\" dy=\"0.36em\" text-anchor=\"{anchor}\"{size}>{text}</text>"));
    }

    /// The title and the note of a chart.
    pub fn heading(&mut self, title: &str, note: &str) {
        self.text(title, HEADING[0], Anchor::Start, Text::Large);
        self.text(note, HEADING[1], Anchor::Start, Text::Small);
    }

    pub fn rectangle(&mut self, [x, y]: [i32; 2], [width, height]: [i32; 2], paint: Paint) {
        self.shape(format_args!("rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""), paint);
    }

    pub fn circle(&mut self, [x, y]: [i32; 2], radius: u32, paint: Paint) {
        self.shape(format_args!("circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\""), paint);
    }

    /// A line through points; filled, the polygon that they enclose.
    pub fn path(&mut self, points: &[[i32; 2]], paint: Paint) {
        let points: Vec<String> = points.iter().map(|[x, y]| format!("{x},{y}")).collect();
        self.shape(format_args!("polyline points=\"{}\"", points.join(" ")), paint);
    }

    /// A PNG file, drawn in this size without smoothing.
    pub fn image(&mut self, [x, y]: [i32; 2], [width, height]: [usize; 2], png: &[u8]) {
        let png = BASE64_STANDARD.encode(png);
        self.line(format_args!(
            "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" \
             style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{png}\"/>"
        ));
    }

    fn shape(&mut self, shape: Arguments<'_>, paint: Paint) {
        self.line(format_args!("<{shape}{paint}/>"));
    }

    fn line(&mut self, line: Arguments<'_>) {
        writeln!(self.0, "{line}").expect("writing to a string succeeds");
    }

    /// The text of the file.
    pub fn end(self) -> String {
        self.0 + "</svg>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let mut svg = Svg::new([9, 9]);
        svg.text("n < m & more", [0, 0], Anchor::End, Text::Small);
        assert!(svg.end().contains(" font-size=\"11\">n &lt; m &amp; more</text>"));
    }

    #[test]
    fn shapes_say_only_what_differs_from_the_page() {
        let mut svg = Svg::new([9, 9]);
        svg.rectangle([1, 2], [3, 4], Paint::Fill(GREY));
        svg.path(&[[0, 0], [1, 1]], Paint::grey(0.5));
        let text = svg.end();
        let lines: Vec<&str> = text.lines().collect();
        let line = "<polyline points=\"0,0 1,1\" fill=\"none\" stroke=\"rgb(118,124,133)\" stroke-width=\"1\" opacity=\"0.5\"/>";
        assert_eq!(lines[1..], ["<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\"/>", line, "</svg>"]);
    }
}
