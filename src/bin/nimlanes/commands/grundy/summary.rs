//! The summary of a sequence of Grundy values, as text or as JSON.

use std::hash::Hasher as _;
use std::io::{Result, Write};

use nimlanes::cores::mex::octal::Code;
use nimlanes::cores::mex::period;
use nimlanes::cores::mex::subtraction;
use nimlanes::kernel::{Run, RunError};
use nimlanes::moves::MoveSet;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::files::saved::Measured;
use crate::files::surveyed::{Period, RunWork, Sparse, mask_in_words};
use crate::terminal::failure::Failure;

/// A summary. Figures that were not requested, or have no meaning for the game, are left out.
#[derive(Serialize, Deserialize)]
pub struct GameSummary {
    #[serde(flatten)]
    game: Game,
    /// The largest heap.
    limit: u64,
    /// The work of this run, without an earlier one that it resumed.
    #[serde(flatten)]
    pub effort: RunWork,
    /// The number of heaps of value 0.
    zeros: u64,
    /// The last heap of value 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_zero: Option<u64>,
    /// How many heaps of value 0 there are up to each power of two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    octaves: Vec<Octave>,
    /// The repetition of the values, if one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<Period>,
    /// Why there is none, if one was looked for.
    #[serde(skip)]
    no_period: Option<&'static str>,
    /// The rare heaps of an octal game, if they are few.
    #[serde(flatten)]
    sparse: Option<Sparse>,
    /// The values that occur, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    values: Vec<Tally>,
}

impl Measured for GameSummary {
    const KIND: &'static str = "grundy";
}

/// The game, as the options name it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Game {
    Moves(String),
    Code(String),
}

/// The heaps of value 0 up to a power of two.
#[derive(Serialize, Deserialize)]
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

/// How often a value occurs.
#[derive(Serialize, Deserialize)]
struct Tally {
    value: usize,
    /// The first heap that has it.
    first: u64,
    /// The number of heaps that have it.
    heaps: u64,
}

fn tallies(counted: &[period::Tally]) -> Vec<Tally> {
    let tally = |tally: &period::Tally| Tally { value: tally.value.into(), first: tally.first, heaps: tally.heaps };
    counted.iter().map(tally).collect()
}

/// The known facts about a game, in figures.
pub struct Figures {
    /// The values that occur, ascending.
    pub tallies: Vec<period::Tally>,
    /// Of a game whose values are sparse.
    pub sparse: Option<Sparse>,
    pub period: Option<Period>,
}

impl GameSummary {
    /// Of the heaps of value 0 alone.
    pub fn of_zeros(set: &MoveSet, limit: u64, zeros: &[u64]) -> Self {
        GameSummary {
            zeros: zeros.len() as u64,
            last_zero: zeros.last().copied(),
            octaves: Octave::all(limit, zeros),
            ..GameSummary::new(Game::Moves(set.to_string()), limit, Vec::new())
        }
    }

    /// Of first heaps and numbers of heaps, where values are not kept.
    pub fn of_records(set: &MoveSet, limit: u64, first: &[u64], counts: &[u64]) -> Self {
        let tallies = (0..).zip(first.iter().zip(counts));
        let tallies = tallies.map(|(value, (first, heaps))| Tally { value, first: *first, heaps: *heaps });
        GameSummary {
            no_period: set.largest().map(|_| "not searched, as values are not kept"),
            ..GameSummary::new(Game::Moves(set.to_string()), limit, tallies.collect())
        }
    }

    /// Of the values of a subtraction set. The search for a period takes long if moves are large.
    pub fn of_moves(set: &MoveSet, limit: u64, values: &[u16], run: &Run) -> std::result::Result<Self, Failure> {
        let found = match (set, set.largest()) {
            (MoveSet::AllBut(left_out), _) => saltus_period(left_out, values, run)?,
            (_, Some(largest)) => subtraction::period(values, largest as usize, run)?.map(|found| (found, 0)),
            _ => None,
        };
        let period = |(subtraction::Period { period, preperiod }, saltus)| Period {
            saltus,
            ..Period::new(period as u64, preperiod as u64, true)
        };
        let is_searched = set.largest().is_some() || matches!(set, MoveSet::AllBut(_));
        Ok(GameSummary {
            period: found.map(period),
            no_period: is_searched.then_some("not proved by these heaps"),
            ..GameSummary::new(Game::Moves(set.to_string()), limit, tallies(&period::tallies(values)))
        })
    }

    /// Of the values of an octal game.
    pub fn of_code(code: &Code, limit: u64, found: Figures) -> Self {
        let ends = code.last_place().is_some();
        GameSummary {
            period: found.period,
            no_period: Some(if ends { "none found" } else { "not searched, as the digits do not end" }),
            sparse: found.sparse,
            ..GameSummary::new(Game::Code(code.to_string()), limit, tallies(&found.tallies))
        }
    }

    fn new(game: Game, limit: u64, values: Vec<Tally>) -> Self {
        GameSummary {
            game,
            limit,
            effort: RunWork::default(),
            zeros: values.first().filter(|tally| tally.value == 0).map_or(0, |tally| tally.heaps),
            last_zero: None,
            octaves: Vec::new(),
            period: None,
            no_period: None,
            sparse: None,
            values,
        }
    }

    /// Writes it as text.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        let lines = [self.figures_in_words(), octaves_in_words(&self.octaves), self.period_in_words()];
        let lines = lines.into_iter().flatten().chain(values_in_words(&self.values));
        lines.into_iter().try_for_each(|(name, text)| writeln!(out, "{name:<8} {text}"))
    }

    /// The game and its counts.
    fn figures_in_words(&self) -> Vec<Line> {
        let mut lines = match &self.game {
            Game::Moves(set) => vec![line("moves", set)],
            Game::Code(code) => code_in_words(code),
        };
        lines.push(line("heaps", format!("0..={}", self.limit)));
        match (&self.game, self.values.last()) {
            (_, None) => {}
            (Game::Moves(_), _) => lines.push(line("values", self.values.len())),
            // Not all values up to the largest need occur.
            (Game::Code(_), Some(Tally { value, .. })) => {
                lines.push(line("values", format!("{}, the largest {value}", self.values.len())));
            }
        }
        lines.push(line("zeros", self.zeros));
        lines.extend(self.last_zero.map(|last| line("last", last)));
        lines
    }

    fn period_in_words(&self) -> Vec<Line> {
        let rare = |Sparse { rare, last_rare, mask, by_position }: &Sparse| {
            let mask = mask_in_words(*mask, *by_position);
            line("rare", format!("{rare} heaps, the last {}, with mask {mask}", last_rare.unwrap_or(0)))
        };
        let words = self.period.map(|period| period.with_proof()).or(self.no_period.map(str::to_owned));
        let period = words.map(|words| line("period", words));
        period.into_iter().chain(self.sparse.iter().map(rare)).collect()
    }
}

/// A line of text: a name, and what it names.
type Line = (String, String);

fn line(name: impl ToString, text: impl ToString) -> Line {
    (name.to_string(), text.to_string())
}

fn code_in_words(code: &str) -> Vec<Line> {
    let Ok(parsed) = code.parse::<Code>() else { return vec![line("code", code)] };
    let note = if parsed.has_three_parts() { " (hexadecimal: digits from 8 on leave three heaps)" } else { "" };
    let names = parsed.names().join("; ");
    let names = (!names.is_empty()).then(|| line("known as", names));
    [line("code", format!("{code}{note}"))].into_iter().chain(names).collect()
}

fn octaves_in_words(octaves: &[Octave]) -> Vec<Line> {
    let octave = |Octave { limit, zeros, ratio, .. }: &Octave| {
        // Zeros grow like a power of the limit if the exponent stays the same from octave to octave.
        let growth = ratio.map_or(String::new(), |ratio| format!(", {ratio:.4}, {:.4}", ratio.log2()));
        line(format!("2^{}", limit.ilog2()), format!("{zeros}{growth}"))
    };
    headed("up to", "zeros, ratio, exponent", octaves.iter().map(octave).collect(), 0)
}

fn values_in_words(values: &[Tally]) -> Vec<Line> {
    let mut by_first: Vec<&Tally> = values.iter().collect();
    by_first.sort_by_key(|tally| tally.first);
    let tally = |Tally { value, first, heaps }: &Tally| line(value, format!("{first}, {heaps}"));
    headed("value", "first heap, heaps", by_first.into_iter().map(tally).collect(), FIRST)
}

/// Rows of a table that is too long for a screen: in all, and of values those that appear first.
const SHOWN: usize = 14;
const FIRST: usize = 8;

/// A table with its heading, if it has rows. Of many rows, those after the `first` give way to how many they are.
fn headed(name: &str, text: &str, mut rows: Vec<Line>, first: usize) -> Vec<Line> {
    let left_out = rows.len().saturating_sub(SHOWN);
    if left_out > 1 {
        rows.splice(first..first + left_out, [line("...", format!("{left_out} more; --json prints all"))]);
    }
    if !rows.is_empty() {
        rows.insert(0, line(name, text));
    }
    rows
}

/// The period of the values of a set without the moves `left_out`, and what each round adds to them, if these values prove it.
///
/// Let `f` be the largest move left out. All other moves being allowed, a value occurs again only where each earlier heap that has it is
/// a move left out away, so all heaps of a value are within `f`. The values that are used are those below some `u`, and once none is new
/// for `f` heaps, the next one is `u`. So the last `2 f` values decide which may occur again and what `u` is, and with them all that
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
