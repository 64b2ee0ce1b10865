//! The summary of a sequence of Grundy values, as text or as JSON.

use std::io::{ErrorKind, Result, Write};

use nimlanes::cores::mex::octal::{self, Code};
use nimlanes::cores::mex::period::{self, Census, Proved, Theorem};
use nimlanes::cores::mex::subtraction;
use nimlanes::kernel::{Run, RunError};
use nimlanes::moves::MoveSet;
use serde::Serialize;

use crate::files::found::by_octaves;
use crate::files::surveyed::{self, is_sparse, mask_in_words};
use crate::terminal::output::{Document, write_json};

/// What a summary says. What was not asked for, or has no meaning for the game, is left out.
#[derive(Serialize)]
pub struct Summary {
    #[serde(flatten)]
    game: Game,
    /// The largest heap.
    limit: u64,
    /// The number of heaps of value 0.
    zeros: u64,
    /// The last heap of value 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_zero: Option<u64>,
    /// How many heaps of value 0 there are up to each power of two.
    #[serde(skip_serializing_if = "Option::is_none")]
    octaves: Option<Vec<Octave>>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    repetition: Option<Repetition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rare: Option<Rare>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Tally>>,
}

impl Document for Summary {
    const SCHEMA: &'static str = "nimlanes-grundy-1";
}

/// The game, as the options name it.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Game {
    Moves(String),
    Code(String),
}

/// The heaps of value 0 up to a power of two.
#[derive(Serialize)]
struct Octave {
    limit: u64,
    zeros: u64,
    /// The number of zeros divided by their number up to half of this limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
}

impl Octave {
    /// The octaves up to a limit.
    fn all(limit: u64, zeros: &[u64]) -> Vec<Octave> {
        let mut below = None;
        let octave = |(limit, zeros): (u64, usize)| {
            let ratio = below.replace(zeros).map(|below| zeros as f64 / below as f64);
            Octave { limit, zeros: zeros as u64, ratio }
        };
        by_octaves(limit, zeros).map(octave).collect()
    }
}

/// What is known of a repetition of the values.
#[derive(Serialize)]
struct Repetition {
    period: Option<Period>,
    /// The same in words, or why there is none.
    #[serde(rename = "period_in_words")]
    words: String,
}

#[derive(Serialize)]
struct Period {
    #[serde(flatten)]
    found: surveyed::Period,
    /// What proves it, of an octal game.
    #[serde(skip_serializing_if = "Option::is_none")]
    theorem: Option<&'static str>,
}

/// The names of theorems in JSON.
const GUY_SMITH: &str = "guy-smith";
const WINDOW: &str = "window";

/// The rare heaps of an octal game.
#[derive(Serialize)]
struct Rare {
    heaps: usize,
    last: usize,
    /// Values with an even number of bits in common with it are rare.
    mask: u16,
    /// Whether the position of the heap counts as one more bit.
    by_position: bool,
}

impl From<period::Rare> for Rare {
    fn from(period::Rare { heaps, last, mask, .. }: period::Rare) -> Self {
        Rare { heaps, last, mask: mask.values, by_position: mask.position.is_some() }
    }
}

/// How often a value occurs.
#[derive(Serialize)]
struct Tally {
    value: usize,
    /// The first heap that has it.
    first: u64,
    /// The number of heaps that have it.
    heaps: u64,
}

impl Tally {
    fn write(&self, out: &mut dyn Write) -> Result<()> {
        let Tally { value, first, heaps } = self;
        writeln!(out, "{value:<7}  {first}, {heaps}")
    }
}

impl Summary {
    /// Of the heaps of value 0 alone.
    pub fn of_zeros(set: &MoveSet, limit: u64, zeros: &[u64]) -> Self {
        Summary {
            game: Game::Moves(set.to_string()),
            limit,
            zeros: zeros.len() as u64,
            last_zero: zeros.last().copied(),
            octaves: Some(Octave::all(limit, zeros)),
            repetition: None,
            rare: None,
            values: None,
        }
    }

    /// Of first heaps and numbers of heaps, where values are not kept.
    pub fn of_records(set: &MoveSet, limit: u64, first: &[u64], counts: &[u64]) -> Self {
        let unsearched = || Repetition { period: None, words: "not searched, as values are not kept".to_owned() };
        let tallies = (0..).zip(first.iter().zip(counts));
        Summary {
            game: Game::Moves(set.to_string()),
            limit,
            zeros: counts.first().copied().unwrap_or(0),
            last_zero: None,
            octaves: None,
            repetition: set.largest().map(|_| unsearched()),
            rare: None,
            values: Some(
                tallies.map(|(value, (first, heaps))| Tally { value, first: *first, heaps: *heaps }).collect(),
            ),
        }
    }

    /// Of the values of a subtraction set.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`]: the search for a period takes long if moves are large.
    pub fn of_moves(set: &MoveSet, values: &[u16], run: &Run) -> Result<Self> {
        let found = match (set, set.largest()) {
            (MoveSet::AllBut(left_out), _) => saltus_period(left_out, values, run),
            (_, Some(largest)) => {
                subtraction::period(values, largest as usize, run).map(|found| found.map(|found| (found, 0)))
            }
            _ => return Ok(Summary::of_values(Game::Moves(set.to_string()), values)),
        };
        let repetition = match found.map_err(|_| ErrorKind::Interrupted)? {
            Some((subtraction::Period { period, preperiod }, saltus)) => {
                let (length, preperiod) = (period as u64, preperiod as u64);
                let found = surveyed::Period { length, preperiod, saltus, proved: true };
                Repetition { period: Some(Period { found, theorem: None }), words: found.to_string() }
            }
            None => Repetition { period: None, words: "not proved by these heaps".to_owned() },
        };
        Ok(Summary { repetition: Some(repetition), ..Summary::of_values(Game::Moves(set.to_string()), values) })
    }

    /// Of the values of an octal game.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`], as above.
    pub fn of_code(code: &Code, values: &[u16], run: &Run) -> Result<Self> {
        let found = octal::period(code, values, run).map_err(|_| ErrorKind::Interrupted)?;
        let period = found.map(|found| Period { found: found.into(), theorem: found.is_proved.then_some(GUY_SMITH) });
        let rare = (!code.has_three_parts()).then(|| Rare::from(period::Rare::of(code, values)));
        let rare = rare.filter(|rare| is_sparse(rare.heaps as u64, values.len() as u64));
        let repetition = Some(Repetition { period, words: in_words(code, found) });
        Ok(Summary { repetition, rare, ..Summary::of_values(Game::Code(code.to_string()), values) })
    }

    /// Of first heaps, frequencies and the period of an octal game, where values are not kept.
    pub fn of_census(code: &Code, limit: u64, census: &Census) -> Self {
        let repetition = match census.period {
            None => Repetition { period: None, words: "none proved by these heaps".to_owned() },
            Some(proved @ Proved { theorem, heaps, .. }) => {
                let found = surveyed::Period::from(proved);
                let (theorem, proof) = match theorem {
                    Theorem::GuySmith => (GUY_SMITH, format!("proved by the heaps up to {}", heaps - 1)),
                    Theorem::Window(width) => {
                        (WINDOW, format!("proved at heap {heaps}, where {width} values and their proofs repeat"))
                    }
                };
                let period = Some(Period { found, theorem: Some(theorem) });
                Repetition { period, words: format!("{}, {proof}", found.course()) }
            }
        };
        Summary {
            repetition: Some(repetition),
            rare: census.rare.map(Rare::from).filter(|rare| is_sparse(rare.heaps as u64, limit)),
            ..Summary::of_tallies(Game::Code(code.to_string()), limit, &census.tallies)
        }
    }

    fn of_values(game: Game, values: &[u16]) -> Self {
        Summary::of_tallies(game, (values.len() as u64).saturating_sub(1), &period::tallies(values))
    }

    fn of_tallies(game: Game, limit: u64, tallies: &[period::Tally]) -> Self {
        let tally = |tally: &period::Tally| Tally { value: tally.value.into(), first: tally.first, heaps: tally.heaps };
        Summary {
            game,
            limit,
            zeros: tallies.first().filter(|tally| tally.value == 0).map_or(0, |tally| tally.heaps),
            last_zero: None,
            octaves: None,
            repetition: None,
            rare: None,
            values: Some(tallies.iter().map(tally).collect()),
        }
    }

    /// Writes it as JSON or as text.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, as_json: bool, out: &mut dyn Write) -> Result<()> {
        if as_json { write_json(self, out) } else { self.write_text(out) }
    }

    /// A note on digits that octal games do not have.
    fn hexadecimal(&self) -> &'static str {
        let is_hexadecimal = |code: &str| code.parse::<Code>().is_ok_and(|code| code.has_three_parts());
        match &self.game {
            Game::Code(code) if is_hexadecimal(code) => " (hexadecimal: digits from 8 on leave three heaps)",
            _ => "",
        }
    }

    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        match &self.game {
            Game::Moves(set) => writeln!(out, "moves    {set}")?,
            Game::Code(code) => {
                writeln!(out, "code     {code}{}", self.hexadecimal())?;
                let names = code.parse::<Code>().map_or_else(|_| Vec::new(), |code| code.names());
                if !names.is_empty() {
                    writeln!(out, "known as {}", names.join("; "))?;
                }
            }
        }
        writeln!(out, "heaps    0..={}", self.limit)?;
        if let Some(values) = &self.values {
            let largest = values.last().map_or(0, |tally| tally.value);
            match self.game {
                Game::Moves(_) => writeln!(out, "values   {}", values.len())?,
                // Not all values up to the largest need occur.
                Game::Code(_) => writeln!(out, "values   {}, the largest {largest}", values.len())?,
            }
        }
        writeln!(out, "zeros    {}", self.zeros)?;
        if let Some(last) = self.last_zero {
            writeln!(out, "last     {last}")?;
        }
        if let Some(octaves) = &self.octaves {
            writeln!(out, "up to    zeros, ratio, exponent")?;
            let (first, last) = ends(octaves, [0, SHOWN]);
            write_left_out(octaves.len() - first.len() - last.len(), out)?;
            for Octave { limit, zeros, ratio } in last {
                write!(out, "2^{:<5}  {zeros}", limit.ilog2())?;
                // Zeros grow like a power of the limit if the exponent stays the same from octave to octave.
                match ratio {
                    Some(ratio) => writeln!(out, ", {ratio:.4}, {:.4}", ratio.log2())?,
                    None => writeln!(out)?,
                }
            }
        }
        if let Some(repetition) = &self.repetition {
            writeln!(out, "period   {}", repetition.words)?;
        }
        if let Some(Rare { heaps, last, mask, by_position }) = self.rare {
            let mask = mask_in_words(mask, by_position);
            writeln!(out, "rare     {heaps} heaps, the last {last}, with mask {mask}")?;
        }
        if let Some(values) = &self.values {
            writeln!(out, "value    first heap, heaps")?;
            let mut by_first: Vec<&Tally> = values.iter().collect();
            by_first.sort_by_key(|tally| tally.first);
            let (first, last) = ends(&by_first, [FIRST, SHOWN - FIRST]);
            first.iter().try_for_each(|tally| tally.write(out))?;
            write_left_out(by_first.len() - first.len() - last.len(), out)?;
            last.iter().try_for_each(|tally| tally.write(out))?;
        }
        Ok(())
    }
}

/// Rows of a table that is too long for a screen: in all, and those that appear first.
const SHOWN: usize = 14;
const FIRST: usize = 8;

/// The first and the last entries of a list; all of them, as the last ones, if at most one would be left out.
fn ends<T>(all: &[T], [first, last]: [usize; 2]) -> (&[T], &[T]) {
    if all.len() <= first + last + 1 { (&[], all) } else { (&all[..first], &all[all.len() - last..]) }
}

/// Says how many entries a table leaves out, if it does.
fn write_left_out(count: usize, out: &mut dyn Write) -> Result<()> {
    if count == 0 { Ok(()) } else { writeln!(out, "...      {count} more; --json prints all") }
}

/// The period of the values of a set without the moves `left_out`, and what each round adds to them, if these values prove it.
///
/// Let `f` be the largest move left out. All other moves being allowed, a value occurs again only where each earlier heap that has it is
/// a move left out away, so all heaps of a value are within `f`. The values that are used are those below some `u`, and once none is new
/// for `f` heaps, the next one is `u`. So the last `2 f` values say which may occur again and what `u` is, and with them all that
/// follows: if they are those of an earlier place plus a constant, the same holds from there on.
fn saltus_period(
    left_out: &[u64],
    values: &[u16],
    run: &Run,
) -> std::result::Result<Option<(subtraction::Period, u16)>, RunError> {
    let farthest = left_out.last().map_or(0, |f| usize::try_from(*f).unwrap_or(usize::MAX));
    // Values differ by a constant where their steps are equal.
    let steps: Vec<u16> = values.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
    let found = subtraction::period(&steps, farthest.saturating_mul(2), run)?;
    Ok(found.map(|found| (found, values[found.preperiod + found.period] - values[found.preperiod])))
}

/// What is known of the period of an octal game.
fn in_words(code: &Code, found: Option<octal::Period>) -> String {
    let proof = match found {
        None if code.last_place().is_some() => return "none found".to_owned(),
        None => return "not searched, as the digits do not end".to_owned(),
        Some(octal::Period { certificate: Some(heap), is_proved: true, .. }) => {
            format!("proved by the heaps up to {heap}")
        }
        Some(octal::Period { certificate: Some(heap), .. }) => {
            format!("observed, not proved; the heaps up to {heap} would prove it")
        }
        Some(_) => "observed, not proved".to_owned(),
    };
    found.map_or(String::new(), |found| format!("{}, {proof}", surveyed::Period::from(found).course()))
}
