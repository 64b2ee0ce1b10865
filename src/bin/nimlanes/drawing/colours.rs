//! Colours of text and axes, of lines and marks (the same everywhere), and of scales.
//!
//! All are visible on light and dark pages. Those that distinguish things, but for brown, are of Okabe and Ito ("Color universal
//! design", 2008). The scale follows viridis (Smith and van der Walt 2015), whose lightness grows evenly for every kind of
//! colour vision.

use std::fmt::{self, Display, Formatter};

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

impl Display for Colour {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "rgb({red},{green},{blue})")
    }
}

/// Text and axes.
pub const GREY: Colour = Colour([118, 124, 133]);

pub const BLUE: Colour = Colour([0, 114, 178]);
const VERMILION: Colour = Colour([213, 94, 0]);
const GREEN: Colour = Colour([0, 158, 115]);
const ORANGE: Colour = Colour([230, 159, 0]);
const SKY: Colour = Colour([86, 180, 233]);
const PURPLE: Colour = Colour([204, 121, 167]);
const BROWN: Colour = Colour([140, 86, 75]);

/// The colours that distinguish lines and marks. The first six are in the order of the page.
pub const COLOURS: [Colour; 7] = [BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BROWN];

/// The colour of a scale at a share from 0, dark, to 1, light.
pub fn scale(share: f64) -> Colour {
    const STOPS: [[f64; 3]; 5] =
        [[68.0, 1.0, 84.0], [59.0, 82.0, 139.0], [33.0, 145.0, 140.0], [94.0, 201.0, 98.0], [253.0, 231.0, 37.0]];
    let at = share * (STOPS.len() - 1) as f64;
    let (low, high) = (STOPS[at.floor() as usize], STOPS[at.ceil() as usize]);
    Colour([0, 1, 2].map(|i| (low[i] + (high[i] - low[i]) * at.fract()).round() as u8))
}
