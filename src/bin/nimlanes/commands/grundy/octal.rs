//! `nimlanes grundy --code`, and the search for the values of an octal game.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nimlanes::cores::mex::octal::{self, Code, MexOctal, Octal, Start, checkpoint};
use nimlanes::cores::mex::period::{self, Census, Certificate, MexPeriod, Progress, Proved, Rare};
use nimlanes::kernel::{Operation, Run, RunError};

use super::checkpoint::CheckpointFile;
use super::summary::{Figures, GameSummary};
use super::{Args, Format, Job};
use crate::commands::arguments::{self, Kernels};
use crate::commands::work::Work;
use crate::files::surveyed::{Period, Sparse};
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;

/// Help text of `--code`, which is given instead of something else.
pub fn code_help(instead_of: &str) -> String {
    format!("An octal game instead of {instead_of}: a code, or a name such as kayles")
}

/// The values of a game, for `plot`.
pub fn values(code: &str, limit: u64, kernels: &Kernels) -> Result<(Code, Vec<u16>, Arc<Run>), Failure> {
    let code = arguments::code(code)?;
    let input = Octal::new(&code, limit)?;
    let work = Work::new("plot".to_owned(), kernels.selection_for("plot", &[MexOctal::NAME])?, None);
    let values = work.run::<MexOctal, _>(Start::default(), &input, limit, |limit| Octal::new(&code, limit))??;
    Ok((code, values, work.run))
}

pub fn main(args: &Args, code: &str) -> Result<(), Failure> {
    let code = arguments::code(code)?;
    let input = Octal::new(&code, args.limit)?;
    let certifies = args.format == Format::Certificate;
    // The checker of certificates reads no others.
    if certifies && !code.to_string().chars().all(|c| c == '.' || c.is_digit(8)) {
        return Err(Failure::Usage(format!("a certificate needs a code of octal digits that end, not `{code}`")));
    }
    let is_list = !certifies && args.format != Format::Summary || args.zeros || args.records;
    let names = |operation: &str| args.kernels.names(operation);
    let operations: &[&str] = match is_list {
        false if certifies || names(MexPeriod::NAME) => &[MexPeriod::NAME],
        false if !names(MexOctal::NAME) => &[MexOctal::NAME, MexPeriod::NAME],
        _ => &[MexOctal::NAME],
    };
    let job = Job::new(args, operations)?;
    let is_named = names(MexPeriod::NAME);
    let search =
        GameSearch { work: &job.work, input: &input, table: &input, is_named, certifies, file: job.file.clone() };
    let is_census = match operations {
        [operation] => *operation == MexPeriod::NAME,
        _ => needs_no_table(&code),
    };
    let (progress, values) = known(&job, &input, is_census)?;
    let known = job.outcome(match is_census {
        true => search.census(progress, values),
        false => search.values(values),
    })?;
    if certifies {
        let certificate = known.certificate(&code)?;
        let none =
            || Failure::Failed(format!("there is no certificate: the heaps up to {} prove no period", args.limit));
        let certificate = certificate.ok_or_else(none)?;
        return job.write(|out| out.write_all(certificate.as_bytes()));
    }
    job.finish(
        || Ok(GameSummary::of_code(&code, args.limit, known.figures(&code)?)),
        || {
            let Known::Values(values) = &known else { return Box::new(std::iter::empty()) };
            // The largest value so far; a smaller one may come later, or never.
            let mut largest = None;
            let heaps = (0..).zip(values);
            match (args.zeros, args.records) {
                (true, _) => Box::new(heaps.filter(|(_, value)| **value == 0).map(|(n, _)| n)),
                (_, true) => Box::new(heaps.filter_map(move |(n, value)| {
                    (largest < Some(*value) && largest.replace(*value) < Some(*value)).then_some(n)
                })),
                _ => Box::new(values.iter().map(|value| u64::from(*value))),
            }
        },
    )
}

/// The progress of a summary, or the values of a table, in the file.
fn known(job: &Job, input: &Octal, reads_progress: bool) -> Result<(Option<Progress>, Vec<u16>), Failure> {
    let read = |from: &mut dyn Read| {
        let mut first = Vec::new();
        (&mut *from).take(checkpoint::MAGIC.len() as u64).read_to_end(&mut first)?;
        let mut whole = (&first[..]).chain(from);
        match reads_progress && first != checkpoint::MAGIC {
            true => Ok((Some(Progress::read(input, &mut whole)?), Vec::new())),
            false => Ok((None, checkpoint::read(input.code(), input.heaps(), &mut whole)?)),
        }
    };
    let heaps = |(progress, values): &(Option<Progress>, Vec<u16>)| {
        progress.as_ref().map_or(values.len() as u64, Progress::done)
    };
    Ok(job.load(read, heaps)?.unwrap_or_default())
}

/// Whether windows may show what a summary needs: the digits end, and no move leaves three heaps.
pub fn needs_no_table(code: &Code) -> bool {
    code.last_place().is_some() && !code.has_three_parts()
}

/// The known facts about a game.
pub enum Known {
    /// All values.
    Values(Vec<u16>),
    /// How often each value occurs, and the certificate if a window proves a period and one was requested.
    Census(Census, Option<String>),
}

impl Known {
    pub fn figures(self: &Known, code: &Code) -> Result<Figures, Failure> {
        let (tallies, rare, period) = match self {
            Known::Values(values) => (
                period::tallies(values),
                (!code.has_three_parts()).then(|| Rare::of(code, values)),
                octal::period(code, values, &interrupt::run(1))?.map(Period::from),
            ),
            Known::Census(census, _) => (census.tallies.clone(), census.rare, census.period.map(Period::from)),
        };
        let heaps = tallies.iter().map(|tally| tally.heaps).sum();
        Ok(Figures { tallies, sparse: rare.and_then(|rare| Sparse::of(rare, heaps)), period })
    }

    /// The certificate of the period that these heaps prove: that of a window, or the classical one.
    fn certificate(&self, code: &Code) -> Result<Option<String>, Failure> {
        let proved = match self {
            Known::Census(_, Some(by_window)) => return Ok(Some(by_window.clone())),
            Known::Census(census, None) => census.period,
            Known::Values(values) => octal::period(code, values, &interrupt::run(1))?.and_then(Proved::classical),
        };
        Ok(proved.and_then(|proved| Certificate::classical(code, proved)).map(|certificate| certificate.to_string()))
    }
}

/// The search for the values of a game, or for what a summary needs of them. If its time is over, it ends with what is known.
pub struct GameSearch<'a> {
    pub work: &'a Work,
    /// The game, as far as it is searched without a table of values.
    pub input: &'a Octal,
    /// The game, as far as a table goes.
    pub table: &'a Octal,
    /// Whether a kernel is named that needs no table.
    pub is_named: bool,
    /// Whether to make a certificate.
    pub certifies: bool,
    /// Where to save the progress.
    pub file: Option<Arc<CheckpointFile>>,
}

impl GameSearch<'_> {
    /// All values, from those that are known.
    pub fn values(&self, known: Vec<u16>) -> Result<Known, Failure> {
        let (code, limit) = (self.table.code(), self.table.limit());
        let keeper = self.keeper(false);
        let start = Start::with_journal(Arc::clone(&keeper) as Arc<dyn octal::Journal>, Some(known));
        let found = self.work.run::<MexOctal, _>(start, self.table, limit, |limit| Octal::new(code, limit))?;
        let held = keeper.held().values.take();
        match found {
            Err(RunError::Cancelled) if self.work.is_out_of_time() => Ok(Known::Values(held.unwrap_or_default())),
            found => Ok(Known::Values(found?)),
        }
    }

    /// The figures of a summary, without a table of values. If too many heaps are rare, the values so far begin a table, unless a kernel is
    /// named that needs none, and may take all the time that it wants.
    pub fn census(&self, progress: Option<Progress>, values: Vec<u16>) -> Result<Known, Failure> {
        let (code, limit) = (self.input.code(), self.input.limit());
        let keeper = self.keeper(!self.is_named);
        let mut start = period::Start::default();
        // A named kernel may be one that can keep nothing.
        if !self.is_named || self.work.time.is_some() || self.file.is_some() || self.certifies {
            let table = Start::with_journal(Arc::clone(&keeper) as Arc<dyn octal::Journal>, Some(values));
            start = period::Start::with_journal(Arc::clone(&keeper) as Arc<dyn period::Journal>, progress)
                .with_table(table);
        }
        let found = self.work.run::<MexPeriod, _>(start, self.input, limit, |limit| Octal::new(code, limit))?;
        let Held { values, census, certificate } = std::mem::take(&mut *keeper.held());
        match (found, values, census) {
            (Err(RunError::GaveUp(_)), Some(values), _) if !self.is_named || self.work.time.is_some() => {
                self.values(values)
            }
            (Err(RunError::Cancelled), _, Some(census)) if self.work.is_out_of_time() => {
                Ok(Known::Census(census, None))
            }
            (Err(RunError::Cancelled), values, _) if self.work.is_out_of_time() => {
                Ok(Known::Values(values.unwrap_or_default()))
            }
            (Ok(_), Some(values), _) => Ok(Known::Values(values)),
            (found, ..) => Ok(Known::Census(found?, certificate)),
        }
    }

    fn keeper(&self, holds_all: bool) -> Arc<Keeper> {
        Arc::new(Keeper {
            file: self.file.clone(),
            input: self.input.clone(),
            holds_all,
            holds_last: holds_all || self.work.time.is_some(),
            certifies: self.certifies,
            held: Mutex::default(),
        })
    }
}

/// Keeps the progress of a run in the file of checkpoints, and holds what follows needs.
struct Keeper {
    file: Option<Arc<CheckpointFile>>,
    input: Octal,
    /// Whether to hold all values when they are complete.
    holds_all: bool,
    /// Whether to hold what is known when the run ends early.
    holds_last: bool,
    certifies: bool,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// All values, or as many as were known when the run gave up.
    values: Option<Vec<u16>>,
    /// The counts when the run was cancelled.
    census: Option<Census>,
    /// The certificate of a period that a window proves.
    certificate: Option<String>,
}

impl Keeper {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Saves the progress of so many heaps.
    fn save(&self, heaps: u64, is_last: bool, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
        if let Some(file) = &self.file {
            file.keep(heaps, is_last, write);
        }
    }
}

impl octal::Journal for Keeper {
    fn keep(&self, values: &[u16], is_last: bool) {
        self.save(values.len() as u64, is_last, |out| checkpoint::write(self.input.code(), values, out));
        if self.holds_last && is_last || self.holds_all && values.len() == self.input.heaps() {
            self.held().values = Some(values.to_vec());
        }
    }
}

impl period::Journal for Keeper {
    fn keep(&self, progress: &Progress, input: &Octal, is_last: bool) {
        self.save(progress.done(), is_last, |out| progress.write(input, out));
    }

    fn proved(&self, certify: &dyn Fn() -> Result<Certificate, RunError>) -> Result<(), RunError> {
        if self.certifies {
            self.held().certificate = Some(certify()?.to_string());
        }
        Ok(())
    }

    fn stopped(&self, census: &Census) {
        self.held().census = Some(census.clone());
    }
}
