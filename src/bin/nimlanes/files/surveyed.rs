//! Findings about an octal game, as a survey keeps them and `grundy` prints them.

use std::fmt;

use nimlanes::cores::mex::octal;
use nimlanes::cores::mex::period::{Proved, Rare, Theorem};
use nimlanes::lab::clock::Clock;
use serde::{Deserialize, Serialize};

use crate::files::saved::Measured;

/// The values of the first heaps of an octal game in figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Surveyed {
    /// The code of the game.
    pub code: String,
    /// The work that found it.
    #[serde(flatten)]
    pub effort: RunWork,
    /// The seconds after which it was stopped; none if it came to its limit or to a proof, or if the file is older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_after: Option<f64>,
    /// How many heaps it computed, or repeated once their period was proved.
    pub heaps: u64,
    /// The largest value.
    pub largest: u16,
    /// The first heap that has the largest value.
    pub largest_at: u64,
    /// The rare heaps, if they are few.
    #[serde(flatten)]
    pub sparse: Option<Sparse>,
    /// The period, if one was found.
    pub period: Option<Period>,
}

/// The work of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunWork {
    /// The kernel.
    pub kernel: String,
    /// Threads it could use.
    pub threads: usize,
    /// `thread` or `wall`: the clock of the seconds. Files of families that are older than this field have the time by the wall.
    #[serde(default = "by_the_wall")]
    pub clock: String,
    /// How long it computed.
    pub seconds: f64,
}

fn by_the_wall() -> String {
    Clock::Wall.name().to_owned()
}

/// The rare heaps of a game whose values are sparse: few of its heaps are rare. Where many are, the mask separates nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sparse {
    /// The number of rare heaps.
    pub rare: u64,
    /// The last one.
    pub last_rare: Option<u64>,
    /// Values with an even number of bits in common with it are rare.
    pub mask: u16,
    /// Whether the position of the heap counts as one more bit.
    #[serde(default)]
    pub by_position: bool,
}

impl Sparse {
    /// Of so many heaps, if few of them are rare.
    pub fn of(Rare { heaps, last, mask, .. }: Rare, all: u64) -> Option<Self> {
        const FEW: u64 = 4;
        let last_rare = (heaps > 0).then_some(last as u64);
        let sparse = Sparse { rare: heaps as u64, last_rare, mask: mask.values, by_position: mask.position.is_some() };
        (FEW.saturating_mul(sparse.rare) < all).then_some(sparse)
    }
}

/// A repetition of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// Its length.
    pub length: u64,
    /// The heap from which the repetition holds.
    pub preperiod: u64,
    /// The increment of the values in each round.
    pub saltus: u16,
    /// Whether it holds for all heaps. If not, it was observed: it has lasted among those that were computed.
    pub proved: bool,
    /// Its proof, of an octal game, unless the file is older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theorem: Option<TheoremName>,
    /// The number of heaps that prove it, or would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heaps: Option<u64>,
    /// The width of the window that repeats; none for the theorem of Guy and Smith.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<usize>,
}

/// The proof of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TheoremName {
    /// Values to twice the preperiod and the period.
    GuySmith,
    /// A window of values that repeats.
    Window,
}

/// A mask as text.
pub fn mask_in_words(mask: u16, by_position: bool) -> String {
    format!("{mask:#x}{}", if by_position { ", by position" } else { "" })
}

impl Measured for Surveyed {
    const KIND: &'static str = "octal-game";
}

impl Surveyed {
    /// Whether a survey to `limit`, if it has one, or else of a table to `table`, would find nothing more in so many seconds.
    pub fn is_final(&self, limit: Option<u64>, table: u64, seconds: f64) -> bool {
        match self.period {
            Some(Period { proved: true, .. }) => return true,
            // Versions before 2.0 kept repetitions that had not lasted.
            Some(Period { length, preperiod, .. }) if !octal::has_lasted(length, preperiod, self.heaps) => {
                return false;
            }
            _ => {}
        }
        // Where no table is needed, only the time ends a run without a limit.
        let ends = limit.or_else(|| self.stopped_after.is_none().then_some(table));
        ends.is_some_and(|limit| self.heaps > limit) || self.stopped_after.unwrap_or(self.effort.seconds) >= seconds
    }
}

impl From<octal::Period> for Period {
    fn from(found: octal::Period) -> Self {
        let (length, preperiod) = (found.period as u64, found.preperiod as u64);
        let period = Proved::classical(found).map_or_else(|| Period::new(length, preperiod, false), Period::from);
        Period { saltus: found.saltus, heaps: found.certificate.map(|heap| heap as u64 + 1), ..period }
    }
}

impl From<Proved> for Period {
    fn from(found: Proved) -> Self {
        let (theorem, width) = match found.theorem {
            Theorem::GuySmith => (TheoremName::GuySmith, None),
            Theorem::Window(width) => (TheoremName::Window, Some(width)),
        };
        let period = Period::new(found.period, found.preperiod, true);
        Period { theorem: Some(theorem), heaps: Some(found.heaps), width, ..period }
    }
}

impl Period {
    /// A period without a saltus, and without what proves it.
    pub fn new(length: u64, preperiod: u64, proved: bool) -> Self {
        Period { length, preperiod, saltus: 0, proved, theorem: None, heaps: None, width: None }
    }

    /// The repetition in words, with what proves it or would.
    pub fn with_proof(&self) -> String {
        let last = self.heaps.map_or(0, |heaps| heaps - 1);
        match *self {
            Period { proved: true, heaps: Some(heaps), width: Some(width), .. } => {
                format!("{self} at heap {heaps}, where {width} values and their proofs repeat")
            }
            Period { proved: true, heaps: Some(_), .. } => format!("{self} by the heaps up to {last}"),
            Period { proved: false, heaps: Some(_), .. } => format!("{self}; the heaps up to {last} would prove it"),
            _ => self.to_string(),
        }
    }
}

/// The repetition in words.
impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Period { length, preperiod, saltus, proved, .. } = self;
        let with_saltus = if *saltus == 0 { String::new() } else { format!(" with saltus {saltus}") };
        let claim = if *proved { "proved" } else { "observed, not proved" };
        write!(f, "{length}{with_saltus} from heap {preperiod} on, {claim}")
    }
}

impl fmt::Display for Surveyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Surveyed { code, heaps, effort: RunWork { kernel, seconds, .. }, .. } = self;
        write!(f, "{code}: {heaps} heaps by {kernel} in {seconds:.1} s")?;
        if let Some(Sparse { rare, last_rare: Some(last), .. }) = self.sparse {
            write!(f, ", {rare} rare heaps, the last {last}")?;
        }
        match self.period {
            Some(period) => write!(f, ", period {period}"),
            None => f.write_str(", no period found"),
        }
    }
}
