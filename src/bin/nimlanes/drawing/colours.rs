//! Colours: of text and axes, of technologies, the same everywhere, and of scales.
//!
//! All are visible on light and dark pages. Those that tell things apart are of Okabe and Ito ("Color universal design", 2008).
//! The scale follows viridis (Smith and van der Walt 2015), whose lightness grows evenly for every kind of colour vision.

use std::fmt::{self, Display, Formatter};

use nimlanes::isa::Tier;

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

/// What tells lines apart, in this order.
pub const COLOURS: [Colour; 7] = [BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE, BROWN];

/// Technologies and their colours.
pub fn technologies() -> impl Iterator<Item = (&'static str, Colour)> {
    let tier = |tier: &Tier| Some((tier.name(), Colour(tier.extension()?.colour)));
    let crates = [("plain Rust", BLUE), ("bitvec", PURPLE), ("wide", GREEN)];
    let several = [("fearless_simd", BROWN), ("parallel", SKY)];
    crates.into_iter().chain(Tier::ALL.iter().filter_map(tier)).chain(several)
}

/// The position and colour of the technology that a kernel uses: the last one if it uses several, grey if none is known.
pub fn technology(used: &str) -> (Option<usize>, Colour) {
    let known = technologies().enumerate().filter(|(_, (name, _))| used.contains(name)).last();
    known.map_or((None, GREY), |(place, (_, colour))| (Some(place), colour))
}

/// The colour of a scale at a share from 0, dark, to 1, light.
pub fn scale(share: f64) -> Colour {
    const STOPS: [[f64; 3]; 5] =
        [[68.0, 1.0, 84.0], [59.0, 82.0, 139.0], [33.0, 145.0, 140.0], [94.0, 201.0, 98.0], [253.0, 231.0, 37.0]];
    let at = share * (STOPS.len() - 1) as f64;
    let (low, high) = (STOPS[at.floor() as usize], STOPS[at.ceil() as usize]);
    Colour([0, 1, 2].map(|i| (low[i] + (high[i] - low[i]) * at.fract()).round() as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn technologies_in_one_chart_have_different_colours_of_the_palette() {
        assert!(technologies().all(|(_, colour)| COLOURS.contains(&colour)));
        let architecture = |name| Some(Tier::named(name)?.extension()?.architecture);
        for (i, (name, colour)) in technologies().enumerate() {
            for (other, same) in technologies().take(i).filter(|(_, other)| *other == colour) {
                let [own, others] = [architecture(name), architecture(other)];
                assert!(own.is_some() && others.is_some() && own != others, "{name} and {other} are both {same}");
            }
        }
    }
}
