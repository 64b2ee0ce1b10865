//! The summary of a sequence of Grundy values, as text or as JSON.

use std::hash::Hasher as _;
use std::io::{ErrorKind, Result, Write};

use nimlanes::cores::mex::octal::{self, Code};
use nimlanes::cores::mex::period::{self, Census};
use nimlanes::cores::mex::subtraction;
use nimlanes::kernel::{Run, RunError};
use nimlanes::lab::environment::Environment;
use nimlanes::moves::MoveSet;
use serde::Serialize;
use twox_hash::XxHash3_64;

use super::{Computed, Job};
use crate::files::saved::utc_now;
use crate::files::surveyed::{Period, is_sparse, mask_in_words};
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
    /// The values that occur, ascending.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Tally>>,
}

/// What `--json` prints: a summary, and the run that made it.
#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    summary: Summary,
    run: Origin,
}

impl Document for Found {
    const SCHEMA: &'static str = "nimlanes-grundy-1";
}

/// The run that made a summary.
#[derive(Serialize)]
pub struct Origin {
    /// Date and time in UTC.
    date: String,
    /// The machine and the build.
    environment: Environment,
    operation: &'static str,
    kernel: &'static str,
    /// Threads that it could use.
    threads: usize,
    /// Whether it resumed an earlier run.
    resumed: bool,
    /// How long it took, without the run that it resumed.
    seconds: f64,
}

impl Origin {
    /// A run that has ended now.
    pub fn now<T>(job: &Job, found: &Computed<T>) -> Self {
        Origin {
            date: utc_now(),
            environment: Environment::detect(job.selection.machine()),
            operation: found.operation,
            kernel: found.kernel,
            threads: job.selection.threads(),
            resumed: job.args.resume,
            seconds: found.time.as_secs_f64(),
        }
    }
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
    /// The XXH3-64 of all of them, as little-endian 64-bit numbers.
    hash: String,
}

impl Octave {
    /// The octaves up to a limit.
    fn all(limit: u64, zeros: &[u64]) -> Vec<Octave> {
        let (mut hash, mut hashed, mut below) = (XxHash3_64::new(), 0, None);
        let mut octave = |limit: u64| {
            let count = zeros.partition_point(|n| *n <= limit);
            zeros[hashed..count].iter().for_each(|n| hash.write(&n.to_le_bytes()));
            hashed = count;
            let ratio = below.replace(count).map(|below| count as f64 / below as f64);
            Octave { limit, zeros: count as u64, ratio, hash: format!("{:016x}", hash.finish()) }
        };
        (0..=limit.checked_ilog2().unwrap_or(0)).map(|power| octave(1 << power)).collect()
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

impl Repetition {
    fn new(period: Option<Period>, none: &str) -> Self {
        Repetition { period, words: period.map_or_else(|| none.to_owned(), |period| period.with_proof()) }
    }
}

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

impl Rare {
    /// None if many of the heaps are rare.
    fn of(period::Rare { heaps, last, mask, .. }: period::Rare, all: u64) -> Option<Self> {
        let by_position = mask.position.is_some();
        is_sparse(heaps as u64, all).then_some(Rare { heaps, last, mask: mask.values, by_position })
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

impl From<&period::Tally> for Tally {
    fn from(tally: &period::Tally) -> Self {
        Tally { value: tally.value.into(), first: tally.first, heaps: tally.heaps }
    }
}

impl Summary {
    /// Of the heaps of value 0 alone.
    pub fn of_zeros(set: &MoveSet, limit: u64, zeros: &[u64]) -> Self {
        Summary {
            zeros: zeros.len() as u64,
            last_zero: zeros.last().copied(),
            octaves: Some(Octave::all(limit, zeros)),
            values: None,
            ..Summary::new(Game::Moves(set.to_string()), limit, Vec::new())
        }
    }

    /// Of first heaps and numbers of heaps, where values are not kept.
    pub fn of_records(set: &MoveSet, limit: u64, first: &[u64], counts: &[u64]) -> Self {
        let tallies = (0..).zip(first.iter().zip(counts));
        let tallies = tallies.map(|(value, (first, heaps))| Tally { value, first: *first, heaps: *heaps });
        Summary {
            repetition: set.largest().map(|_| Repetition::new(None, "not searched, as values are not kept")),
            ..Summary::new(Game::Moves(set.to_string()), limit, tallies.collect())
        }
    }

    /// Of the values of a subtraction set.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`]: the search for a period takes long if moves are large.
    pub fn of_moves(set: &MoveSet, values: &[u16], run: &Run) -> Result<Self> {
        let found = match (set, set.largest()) {
            (MoveSet::AllBut(left_out), _) => Some(saltus_period(left_out, values, run)),
            (_, Some(largest)) => {
                let found = subtraction::period(values, largest as usize, run);
                Some(found.map(|found| found.map(|found| (found, 0))))
            }
            _ => None,
        };
        let period = |(subtraction::Period { period, preperiod }, saltus)| Period {
            saltus,
            ..Period::new(period as u64, preperiod as u64, true)
        };
        let repetition = |found: Option<_>| Repetition::new(found.map(period), "not proved by these heaps");
        let found = found.transpose().map_err(|_| ErrorKind::Interrupted)?;
        Ok(Summary { repetition: found.map(repetition), ..Summary::of_values(Game::Moves(set.to_string()), values) })
    }

    /// Of the values of an octal game.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`], as above.
    pub fn of_code(code: &Code, values: &[u16], run: &Run) -> Result<Self> {
        let found = octal::period(code, values, run).map_err(|_| ErrorKind::Interrupted)?;
        let none = if code.last_place().is_some() { "none found" } else { "not searched, as the digits do not end" };
        let rare = (!code.has_three_parts()).then(|| period::Rare::of(code, values));
        Ok(Summary {
            repetition: Some(Repetition::new(found.map(Period::from), none)),
            rare: rare.and_then(|rare| Rare::of(rare, values.len() as u64)),
            ..Summary::of_values(Game::Code(code.to_string()), values)
        })
    }

    /// Of first heaps, frequencies and the period of an octal game, where values are not kept.
    pub fn of_census(code: &Code, limit: u64, census: &Census) -> Self {
        Summary {
            repetition: Some(Repetition::new(census.period.map(Period::from), "none proved by these heaps")),
            rare: census.rare.and_then(|rare| Rare::of(rare, limit)),
            ..Summary::new(Game::Code(code.to_string()), limit, census.tallies.iter().map(Tally::from).collect())
        }
    }

    fn of_values(game: Game, values: &[u16]) -> Self {
        let tallies = period::tallies(values);
        Summary::new(game, (values.len() as u64).saturating_sub(1), tallies.iter().map(Tally::from).collect())
    }

    fn new(game: Game, limit: u64, values: Vec<Tally>) -> Self {
        let zeros = values.first().filter(|tally| tally.value == 0).map_or(0, |tally| tally.heaps);
        let values = Some(values);
        Summary { game, limit, zeros, last_zero: None, octaves: None, repetition: None, rare: None, values }
    }

    /// Writes it as JSON, with the run that made it.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_json(self, run: Origin, out: &mut dyn Write) -> Result<()> {
        write_json(&Found { summary: self, run }, out)
    }

    /// Writes it as text.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        let octaves = self.octaves.as_deref().map_or_else(Vec::new, octaves_in_words);
        let values = self.values.as_deref().map_or_else(Vec::new, values_in_words);
        let lines = [self.game.in_words(), self.counts_in_words(), octaves, self.period_in_words(), values];
        lines.concat().iter().try_for_each(|(name, text)| writeln!(out, "{name:<8} {text}"))
    }

    fn counts_in_words(&self) -> Vec<Line> {
        let mut lines = vec![line("heaps", format!("0..={}", self.limit))];
        if let Some(values) = &self.values {
            let largest = values.last().map_or(0, |tally| tally.value);
            lines.push(match self.game {
                Game::Moves(_) => line("values", values.len()),
                // Not all values up to the largest need occur.
                Game::Code(_) => line("values", format!("{}, the largest {largest}", values.len())),
            });
        }
        lines.push(line("zeros", self.zeros));
        lines.extend(self.last_zero.map(|last| line("last", last)));
        lines
    }

    fn period_in_words(&self) -> Vec<Line> {
        let rare = |Rare { heaps, last, mask, by_position }: &Rare| {
            let mask = mask_in_words(*mask, *by_position);
            line("rare", format!("{heaps} heaps, the last {last}, with mask {mask}"))
        };
        let repetition = self.repetition.iter().map(|repetition| line("period", &repetition.words));
        repetition.chain(self.rare.iter().map(rare)).collect()
    }
}

/// A line of text: a name, and what it names.
type Line = (String, String);

fn line(name: impl ToString, text: impl ToString) -> Line {
    (name.to_string(), text.to_string())
}

impl Game {
    fn in_words(&self) -> Vec<Line> {
        let code = match self {
            Game::Moves(set) => return vec![line("moves", set)],
            Game::Code(code) => code,
        };
        let Ok(parsed) = code.parse::<Code>() else { return vec![line("code", code)] };
        let note = if parsed.has_three_parts() { " (hexadecimal: digits from 8 on leave three heaps)" } else { "" };
        let mut lines = vec![line("code", format!("{code}{note}"))];
        let names = parsed.names();
        if !names.is_empty() {
            lines.push(line("known as", names.join("; ")));
        }
        lines
    }
}

fn octaves_in_words(octaves: &[Octave]) -> Vec<Line> {
    let octave = |Octave { limit, zeros, ratio, .. }: &Octave| {
        // Zeros grow like a power of the limit if the exponent stays the same from octave to octave.
        let growth = ratio.map_or(String::new(), |ratio| format!(", {ratio:.4}, {:.4}", ratio.log2()));
        line(format!("2^{}", limit.ilog2()), format!("{zeros}{growth}"))
    };
    [vec![line("up to", "zeros, ratio, exponent")], ends(octaves, 0, octave)].concat()
}

fn values_in_words(values: &[Tally]) -> Vec<Line> {
    let mut by_first: Vec<&Tally> = values.iter().collect();
    by_first.sort_by_key(|tally| tally.first);
    let tally = |Tally { value, first, heaps }: &&Tally| line(value, format!("{first}, {heaps}"));
    [vec![line("value", "first heap, heaps")], ends(&by_first, FIRST, tally)].concat()
}

/// Rows of a table that is too long for a screen: in all, and of values those that appear first.
const SHOWN: usize = 14;
const FIRST: usize = 8;

/// The first and the last entries of a list, and how many it leaves out; all of them if that would be one.
fn ends<T>(all: &[T], first: usize, row: impl Fn(&T) -> Line) -> Vec<Line> {
    let left_out = all.len().saturating_sub(SHOWN);
    if left_out <= 1 {
        return all.iter().map(row).collect();
    }
    let mut rows: Vec<Line> = all.iter().map(row).collect();
    rows.splice(first..first + left_out, [line("...", format!("{left_out} more; --json prints all"))]);
    rows
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
