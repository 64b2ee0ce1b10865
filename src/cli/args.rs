//! How numbers and choices are read from the command line.

use std::ops::RangeInclusive;
use std::sync::Arc;

use clap::Args;
use clap::builder::PossibleValuesParser;
use nimlanes::cores::named::pair;
use nimlanes::games::{GAMES, Game, Parameter, Question, Rule, game};
use nimlanes::kernel::Run;
use nimlanes::selection::Selection;
use nimlanes::session::Session;
use nimlanes::workload::InputError;

use super::failure::Failure;
use super::interrupt;

/// A whole number, as people write sizes: `100000`, `10_000_000`, `1e7`, `2.5e6`.
pub fn number(text: &str) -> Result<u64, String> {
    within(0..=u64::MAX)(text)
}

/// A whole number in a range.
pub fn within(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<u64, String> + Clone {
    move |text| match parse(text) {
        Ok(n) if range.contains(&n) => Ok(n),
        Err(Wrong::Text) => Err("not a whole number; write 100000, 10_000_000 or 1e7".to_owned()),
        Err(Wrong::Large) => Err(format!("too large; at most {}", range.end())),
        Ok(n) if n > *range.end() => Err(format!("too large; at most {}", range.end())),
        Err(Wrong::Negative) | Ok(_) => Err(format!("too small; at least {}", range.start())),
    }
}

/// Why a text is no number of 64 bits.
#[derive(Clone, Copy)]
enum Wrong {
    Text,
    Negative,
    Large,
}

fn parse(text: &str) -> Result<u64, Wrong> {
    let digits = text.replace('_', "");
    if digits.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return Err(Wrong::Negative);
    }
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((&digits, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || exponent.is_empty() || ![whole, fraction, exponent].into_iter().all(is_digits) {
        return Err(Wrong::Text);
    }
    let fraction = fraction.trim_end_matches('0');
    let exponent: u32 = exponent.parse().map_err(|_| Wrong::Large)?;
    let zeros = exponent.checked_sub(fraction.len() as u32).ok_or(Wrong::Text)?;
    let mantissa: u64 = format!("{whole}{fraction}").parse().map_err(|_| Wrong::Large)?;
    if mantissa == 0 {
        return Ok(0);
    }
    10u64.checked_pow(zeros).and_then(|power| mantissa.checked_mul(power)).ok_or(Wrong::Large)
}

/// A name that is in a list twice.
pub fn twice<T: PartialEq>(names: &[T]) -> Option<&T> {
    names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)).map(|(_, name)| name)
}

/// A time in seconds.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("not a number of seconds above 0 and at most 86400".to_owned()),
    }
}

/// No kernel gains from more threads, and each costs a stack.
const MOST_THREADS: u64 = 1024;

/// A number of threads.
#[derive(Args, Clone, Copy, Default)]
pub struct Threads {
    /// Threads that a kernel may use
    #[arg(long, value_name = "T", value_parser = within(1..=MOST_THREADS), allow_negative_numbers = true)]
    threads: Option<u64>,
}

impl Threads {
    /// The selection of the environment, with this many threads, or `otherwise` if none are named.
    pub fn selection(self, otherwise: Option<u64>) -> Result<Selection, Failure> {
        let selection = Selection::from_env()?;
        match self.threads.or(otherwise) {
            None => Ok(selection),
            Some(threads) => Ok(selection.with_threads(threads as usize)?),
        }
    }
}

/// Which kernels a game is solved with.
#[derive(Args, Default)]
pub struct Kernels {
    /// Name the kernel of an operation, as in table_scan=bit_rows; may be given more than once
    #[arg(long, value_name = "OPERATION=NAME")]
    kernel: Vec<String>,
    #[command(flatten)]
    threads: Threads,
    /// Run even if it is predicted to take more than a day
    #[arg(long)]
    force: bool,
}

impl Kernels {
    /// The selection of the environment with these choices. Kernels may be named for what `game` uses, or for anything if all
    /// games are meant.
    pub fn selection(&self, game: Option<&Game>) -> Result<Selection, Failure> {
        let mut selection = self.threads.selection(None)?;
        let pairs = self.kernel.iter().map(|text| pair(text)).collect::<Result<Vec<_>, _>>()?;
        if let Some(operation) = twice(&pairs.iter().map(|(operation, _)| operation).collect::<Vec<_>>()) {
            return Err(Failure::Usage(format!("--kernel names a kernel of {operation} twice; once is allowed")));
        }
        for (operation, kernel) in pairs {
            selection = selection.with_kernel(operation, kernel)?;
            game.map_or(Ok(()), |game| game.uses(operation))?;
        }
        Ok(if self.force { selection.allow_long() } else { selection })
    }
}

/// The variant of the Stone Game.
#[derive(Args, Default)]
pub struct StoneRule {
    /// Which heaps a move may take from
    #[arg(long, value_parser = PossibleValuesParser::new(Rule::ALL.map(Rule::name)), requires = "game", help_heading = "Stone Game")]
    rule: Option<String>,
}

impl StoneRule {
    /// The question of `game` at `limit` with this rule and these moves; what is not the game's is refused.
    pub fn question(&self, game: &Game, limit: u64, moves: Option<&str>) -> Result<Question, Failure> {
        let mut question = Question::new(limit);
        if let Some(name) = &self.rule {
            game.takes(Parameter::Rule)?;
            question.rule = Rule::ALL.into_iter().find(|rule| rule.name() == name).unwrap_or(question.rule);
        }
        match moves {
            None => {}
            Some(text) if game.takes(Parameter::Diagonals).is_ok() => {
                question.diagonals = text.parse().map_err(InputError::Diagonals)?;
            }
            Some(text) => {
                game.takes(Parameter::Moves)?;
                question.moves = text.parse().map_err(InputError::Moves)?;
            }
        }
        Ok(question)
    }
}

/// The options that set a parameter.
pub fn options(parameter: Parameter) -> &'static str {
    match parameter {
        Parameter::Rule => "--rule",
        Parameter::Moves | Parameter::Diagonals => "--moves",
        Parameter::Heaps => "--heaps",
        Parameter::Count => "--modulus or --exact",
    }
}

/// A game whose P-positions can be listed, and how far.
#[derive(Args)]
pub struct Board {
    /// The game
    #[arg(value_parser = PossibleValuesParser::new(GAMES.iter().filter(|game| game.lists_positions()).map(|game| game.name)))]
    game: String,
    /// The largest heap of the Stone Game, the largest sum of both heaps of Proportionate Nim (1e7 and 10_000_000 are
    /// understood)
    #[arg(long, value_name = "N", value_parser = number, allow_negative_numbers = true)]
    limit: u64,
    #[command(flatten)]
    kernels: Kernels,
    #[command(flatten)]
    stone: StoneRule,
    /// The moves from both heaps, 1:1,1:2 if left out; p:q takes p t and q t for any t, either way round (1:1 is Wythoff's
    /// game, none is Nim)
    #[arg(long, value_name = "MOVES", allow_hyphen_values = true, help_heading = "Proportionate Nim")]
    moves: Option<String>,
}

/// What a [`Board`] names, and a run to find its positions.
pub struct Asked {
    pub game: &'static Game,
    pub question: Question,
    pub selection: Selection,
    pub run: Arc<Run>,
}

impl Board {
    /// What is asked for.
    pub fn ask(&self) -> Result<Asked, Failure> {
        let game = game(&self.game)?;
        let selection = self.kernels.selection(Some(game))?;
        let question = self.stone.question(game, self.limit, self.moves.as_deref())?;
        let run = interrupt::run(selection.threads());
        Ok(Asked { game, question, selection, run })
    }
}

/// An operation, one of its inputs and a size.
#[derive(Args)]
pub struct Target {
    /// The operation; `nimlanes kernels` lists them
    operation: String,
    /// A named input; the operation's first if left out
    #[arg(long, value_name = "W")]
    workload: Option<String>,
    /// Its size; the published one if left out (1e7 and 10_000_000 are understood)
    #[arg(long, value_name = "N", value_parser = number, allow_negative_numbers = true)]
    size: Option<u64>,
}

impl Target {
    /// The input that is named, and the kernels as candidates for it.
    pub fn session(&self, selection: &Selection) -> Result<Box<dyn Session>, Failure> {
        let operation = nimlanes::cores::operation(&self.operation)?;
        let listed = operation.workloads();
        let workload = self.workload.as_deref().unwrap_or(listed[0].name);
        // A workload need not be listed: mex_subtraction takes any set.
        let published = listed.iter().find(|known| known.name == workload).unwrap_or(&listed[0]).published;
        Ok(operation.session(selection, workload, self.size.unwrap_or(published))?)
    }
}

/// The index of the kernel of that name, or else of the one that `selection` chooses, if it can do the input.
pub fn kernel(session: &dyn Session, selection: &Selection, name: Option<&str>) -> Result<usize, Failure> {
    match name {
        None => Ok(selection.kernel_of(session)?),
        Some(name) => Ok(selection.clone().with_kernel(session.operation(), name)?.kernel_of(session)?),
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let read = ["0", "100000", "10_000_000", "1e7", "1E7", "2.5e6", "1.50e1", "0e99", "18446744073709551615"];
        let want = [0, 100_000, 10_000_000, 10_000_000, 10_000_000, 2_500_000, 15, 0, u64::MAX];
        assert_eq!(read.map(number), want.map(Ok));
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "-1", "-", "x", "1.5", "1e", "e7", "1e20", "18446744073709551616", "0x10", "1e-3", "+5", "1 0"]
        {
            assert!(number(text).is_err(), "{text}");
        }
    }
}
