//! `nimlanes grundy --code`

use std::io::{Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nimlanes::cores::mex::octal::{self, Code, MexOctal, Octal, Start, checkpoint};
use nimlanes::cores::mex::period::{self, Census, Certificate, MexPeriod, Progress, Proved};
use nimlanes::kernel::selection::{SelectError, Selection};
use nimlanes::kernel::workload::InputError;
use nimlanes::kernel::{Operation, Run, RunError};
use nimlanes::moves::Famous;

use super::checkpoint::CheckpointFile;
use super::summary::Summary;
use super::{Args, Computed, Format, Job, Sequence, compute};
use crate::commands::arguments::{self, Kernels};
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;

/// Help text of `--code`, which is given instead of something else.
pub fn code_help(instead_of: &str) -> String {
    let named: Vec<String> = Famous::by_word()
        .map(|Famous { word, code, .. }| if word == code { word.to_owned() } else { format!("{word} ({code})") })
        .collect();
    let named = named.join(", ");
    format!(
        "The code of an octal or hexadecimal game instead of {instead_of}: 0.137, 4.3, 0.[3], ..., or a name: {named}"
    )
}

/// The values of a game, for `plot`.
pub fn values(code: &str, limit: u64, kernels: &Kernels) -> Result<(Code, Vec<u16>, Arc<Run>), Failure> {
    let code = arguments::code(code)?;
    let input = Octal::new(&code, limit)?;
    let selection = kernels.selection_for("plot", &[MexOctal::NAME])?;
    let run = interrupt::run(selection.threads());
    let kernel = selection.kernel_for::<MexOctal, _>(&input, limit, |limit| Octal::new(&code, limit))?;
    let values = compute(&kernel, Start::default(), &input, &run)?.output;
    Ok((code, values, run))
}

pub fn main(args: &Args, code: &str) -> Result<(), Failure> {
    let code = arguments::code(code)?;
    let input = Octal::new(&code, args.limit)?;
    let is_certificate = args.format == Format::Certificate;
    if is_certificate && !is_octal(&code) {
        return Err(Failure::Usage(format!("a certificate needs a code of octal digits that end, not `{code}`")));
    }
    let is_list = !is_certificate && args.format != Format::Summary || args.zeros || args.records;
    let names = |operation: &str| args.kernels.names(operation);
    let operations: &[&str] = match is_list {
        false if is_certificate || names(MexPeriod::NAME) => &[MexPeriod::NAME],
        false if !names(MexOctal::NAME) => &[MexOctal::NAME, MexPeriod::NAME],
        _ => &[MexOctal::NAME],
    };
    let job = Job::new(args, operations)?;
    let needs_no_table = match operations {
        [operation] => *operation == MexPeriod::NAME,
        _ => is_quicker_without_table(&input, &job.selection),
    };
    let search = Search { job, input };
    let found = match needs_no_table {
        true => search.census()?,
        false => search.table(search.known_values()?)?,
    };
    search.finish(&found)
}

/// Whether the checker of certificates reads this code.
fn is_octal(code: &Code) -> bool {
    code.to_string().chars().all(|c| c == '.' || c.is_digit(8))
}

/// Whether the quickest kernel for a summary is one that keeps no table of values.
fn is_quicker_without_table(input: &Octal, selection: &Selection) -> bool {
    fn ns<O: Operation<Input = Octal>>(input: &Octal, selection: &Selection) -> Result<f64, SelectError> {
        Ok(selection.kernel::<O>(input)?.cost(input, selection.threads()).ns)
    }
    match (ns::<MexPeriod>(input, selection), ns::<MexOctal>(input, selection)) {
        (Ok(without), Ok(with)) => without <= with,
        (Err(SelectError::NoKernel { .. }), _) | (_, Ok(_)) => false,
        _ => true,
    }
}

/// What is known of a game.
enum Known {
    /// All values.
    Values(Vec<u16>),
    /// How often each value occurs, and the certificate if a window proves a period and one was asked for.
    Census(Census, Option<String>),
}

impl Known {
    /// All values; none where they are only counted.
    fn values(&self) -> &[u16] {
        match self {
            Known::Values(values) => values,
            Known::Census(..) => &[],
        }
    }
}

/// The search for the values of a game, or for what a summary needs of them.
struct Search<'a> {
    job: Job<'a>,
    input: Octal,
}

impl Search<'_> {
    fn of(&self, limit: u64) -> Result<Octal, InputError> {
        Octal::new(self.input.code(), limit)
    }

    /// All values, from those that are known.
    fn table(&self, known: Vec<u16>) -> Result<Computed<Known>, Failure> {
        let start = Start::with_journal(Arc::new(Keeper::new(self, false)), known);
        let found = self.job.compute::<MexOctal>(start, &self.input, |limit| self.of(limit))?;
        Ok(found.map(Known::Values))
    }

    /// What a summary needs, without a table of values. If too many heaps are rare, the values so far begin a table, unless a kernel is
    /// named that needs none.
    fn census(&self) -> Result<Computed<Known>, Failure> {
        let Search { job, input } = self;
        let (progress, values) = self.known()?;
        let is_named = job.args.kernels.names(MexPeriod::NAME);
        let keeper = Arc::new(Keeper::new(self, !is_named));
        let mut start = period::Start::default();
        // A named kernel may be one that can keep nothing.
        if !is_named || keeper.file.is_some() || keeper.certifies {
            let table = Start::with_journal(Arc::clone(&keeper) as Arc<dyn octal::Journal>, values);
            start = period::Start::with_journal(Arc::clone(&keeper) as Arc<dyn period::Journal>, progress)
                .with_table(table);
        }
        let kernel = job.selection.kernel_for::<MexPeriod, _>(input, job.args.limit, |limit| self.of(limit))?;
        let found = compute(&kernel, start, input, &job.run);
        let Held { values, certificate } = std::mem::take(&mut *keeper.held());
        match (found, values) {
            (Err(RunError::GaveUp(_)), Some(values)) => self.table(values),
            (Ok(found), Some(values)) => Ok(found.map(|_| Known::Values(values))),
            (found, _) => Ok(job.outcome(found)?.map(|census| Known::Census(census, certificate))),
        }
    }

    /// The progress of a summary, or the values of a table, in the file.
    fn known(&self) -> Result<(Option<Progress>, Vec<u16>), Failure> {
        let read = |from: &mut dyn Read| {
            let mut first = Vec::new();
            (&mut *from).take(checkpoint::MAGIC.len() as u64).read_to_end(&mut first)?;
            let mut whole = (&first[..]).chain(from);
            match first == checkpoint::MAGIC {
                true => Ok((None, checkpoint::read(self.input.code(), self.input.heaps(), &mut whole)?)),
                false => Ok((Some(Progress::read(&self.input, &mut whole)?), Vec::new())),
            }
        };
        let heaps = |(progress, values): &(Option<Progress>, Vec<u16>)| {
            progress.as_ref().map_or(values.len() as u64, Progress::done)
        };
        Ok(self.job.load(read, heaps)?.unwrap_or_default())
    }

    /// The values in the file.
    fn known_values(&self) -> Result<Vec<u16>, Failure> {
        let read = |from: &mut dyn Read| checkpoint::read(self.input.code(), self.input.heaps(), from);
        Ok(self.job.load(read, |values| values.len() as u64)?.unwrap_or_default())
    }

    fn finish(&self, found: &Computed<Known>) -> Result<(), Failure> {
        let Job { args, run, .. } = &self.job;
        let code = self.input.code();
        if args.format == Format::Certificate {
            let certificate = self.certificate(&found.output)?;
            return self.job.write(|out| out.write_all(certificate.as_bytes()));
        }
        let summary = |known: &Known| match known {
            Known::Values(values) => Summary::of_code(code, values, run),
            Known::Census(census, _) => Ok(Summary::of_census(code, args.limit, census)),
        };
        self.job.finish(found, summary, |known| {
            let values = known.values();
            let heaps = |is_listed: &mut dyn FnMut(u16) -> bool| {
                Sequence::Heaps((0..).zip(values).filter(|(_, value)| is_listed(**value)).map(|(n, _)| n).collect())
            };
            // The largest value so far; a smaller one may come later, or never.
            let mut largest = None;
            match (args.zeros, args.records) {
                (true, _) => heaps(&mut |value| value == 0),
                (_, true) => heaps(&mut |value| largest < Some(value) && largest.replace(value) < Some(value)),
                _ => Sequence::Values(values),
            }
        })
    }

    /// The certificate of the period that these heaps prove: that of a window, or the classical one.
    fn certificate(&self, known: &Known) -> Result<String, Failure> {
        let code = self.input.code();
        let proved = match known {
            Known::Census(_, Some(by_window)) => return Ok(by_window.clone()),
            Known::Census(census, None) => census.period,
            Known::Values(values) => octal::period(code, values, &self.job.run)?.and_then(Proved::classical),
        };
        let certificate = proved.and_then(|proved| Certificate::classical(code, proved));
        let limit = self.job.args.limit;
        let none = || Failure::Failed(format!("there is no certificate: the heaps up to {limit} prove no period"));
        Ok(certificate.ok_or_else(none)?.to_string())
    }
}

/// Keeps the progress of a run in the file of checkpoints, and holds what follows needs.
struct Keeper {
    file: Option<Arc<CheckpointFile>>,
    input: Octal,
    /// Whether to hold the values of a run that ends with a table.
    holds: bool,
    /// Whether to make a certificate.
    certifies: bool,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// All values, or as many as were known when the run gave up.
    values: Option<Vec<u16>>,
    /// The certificate of a period that a window proves.
    certificate: Option<String>,
}

impl Keeper {
    fn new(Search { job, input }: &Search, holds: bool) -> Self {
        let certifies = job.args.format == Format::Certificate;
        Keeper { file: job.file.clone(), input: input.clone(), holds, certifies, held: Mutex::default() }
    }

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
        if self.holds && (is_last || values.len() == self.input.heaps()) {
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
}
