//! `nimlanes grundy --code`

use std::borrow::Cow;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use nimlanes::cores::mex::checkpoint::CheckpointError;
use nimlanes::cores::mex::octal::{Code, Journal, MexOctal, Octal, Start, checkpoint};
use nimlanes::cores::mex::period::{self, Census, Certificate, MexPeriod, Progress, Proved, Theorem};
use nimlanes::kernel::selection::{SelectError, Selection};
use nimlanes::kernel::workload::InputError;
use nimlanes::kernel::{Operation, Run, RunError};
use nimlanes::moves::Famous;

use super::checkpoint::{CheckpointFile, outcome};
use super::summary::Summary;
use super::{Args, Computed, Format, Sequence, check_files, compute, compute_by, keep, write};
use crate::commands::arguments::{self, Kernels};
use crate::files::found::{Periodic, ProvedPeriod};
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;
use crate::terminal::output::write_output;

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

pub fn main(args: &Args, code: &str) -> Result<(), Failure> {
    let code = arguments::code(code)?;
    let input = Octal::new(&code, args.limit)?;
    if args.certificate.is_some() && !is_octal(&code) {
        return Err(Failure::Usage(format!("--certificate needs a code of octal digits that end, not `{code}`")));
    }
    check_files(args)?;
    let is_summary = args.format == Format::Summary && !args.zeros && !args.records;
    let names = |operation: &str| args.kernels.names(operation);
    let used: &[&str] = match is_summary {
        true if args.save.is_some() || args.certificate.is_some() || names(MexPeriod::NAME) => &[MexPeriod::NAME],
        true if !names(MexOctal::NAME) => &[MexOctal::NAME, MexPeriod::NAME],
        _ => &[MexOctal::NAME],
    };
    let selection = args.kernels.selection_for("grundy", used)?;
    let needs_no_table = match used {
        [operation] => *operation == MexPeriod::NAME,
        _ => is_quicker_without_table(&input, &selection),
    };
    let run = interrupt::run(selection.threads());
    let file = CheckpointFile::of(args, &run)?;
    let job = Job { args, input, selection, run, file };
    if needs_no_table {
        job.census()?
    } else {
        job.table(job.known_values()?)?
    }
    job.file.map_or(Ok(()), |file| file.remove())
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

/// What is computed, and how.
struct Job<'a> {
    args: &'a Args,
    input: Octal,
    selection: Selection,
    run: Arc<Run>,
    file: Option<Arc<CheckpointFile>>,
}

impl Job<'_> {
    fn of(&self, limit: u64) -> Result<Octal, InputError> {
        Octal::new(self.input.code(), limit)
    }

    /// What all values show, from those that are known.
    fn table(&self, known: Vec<u16>) -> Result<(), Failure> {
        let Job { args, input, selection, run, file } = self;
        let kept = Arc::new(Kept { file: file.clone(), code: input.code().clone(), held: None });
        let start = Start::with_journal(kept, known);
        let found = compute::<MexOctal>(start, input, args.limit, |limit| self.of(limit), selection, run);
        let found = outcome(file.as_ref(), found)?;
        if args.save.is_none() && args.certificate.is_none() {
            return self.write(&found.output);
        }
        let output = Census::new(input.code(), &found.output, run)?;
        let census = Computed { output, kernel: found.kernel, time: found.time };
        keep(args, selection, || self.kept(&census))?;
        self.write(&found.output)?;
        self.certify(&census.output, None)
    }

    /// A summary without a table of values, unless too many heaps are rare.
    fn census(&self) -> Result<(), Failure> {
        let Job { args, input, selection, run, file } = self;
        let code = input.code();
        let (progress, known) = self.known()?;
        let keeper =
            Arc::new(Keeper { file: file.clone(), certificate: args.certificate.is_some().then(Mutex::default) });
        let mut start = match (file, &args.certificate) {
            (None, None) => period::Start::default(),
            _ => period::Start::with_journal(Arc::clone(&keeper) as Arc<dyn period::Journal>, progress),
        };
        let is_named = args.kernels.names(MexPeriod::NAME);
        let held = (!is_named).then(|| Arc::new(Held { all: input.heaps(), values: Mutex::default() }));
        // A named kernel may be one that can keep nothing.
        if file.is_some() || !is_named {
            let kept = Kept { file: file.clone(), code: code.clone(), held: held.clone() };
            start = start.with_table(Start::with_journal(Arc::new(kept), known));
        }
        let kernel = selection.kernel_for::<MexPeriod, _>(input, args.limit, |limit| self.of(limit))?;
        let found = compute_by(&kernel, start, input, run);
        let values = held.and_then(|held| held.values.lock().unwrap_or_else(PoisonError::into_inner).take());
        let found = match (found, values) {
            (Err(RunError::GaveUp(_)), Some(values)) => return self.table(values),
            (Ok(found), Some(values)) => {
                keep(args, selection, || self.kept(&found))?;
                self.write(&values)?;
                return self.certify(&found.output, keeper.certificate());
            }
            (found, _) => outcome(file.as_ref(), found.map_err(Failure::from))?,
        };
        keep(args, selection, || self.kept(&found))?;
        let summary = || Ok(Summary::of_census(code, args.limit, &found.output));
        write(args, run, summary, || Sequence::Heaps(Cow::default()))?;
        self.certify(&found.output, keeper.certificate())
    }

    /// Writes the certificate that was asked for, if these heaps prove a period: that of a window, or the classical one.
    fn certify(&self, census: &Census, by_window: Option<Certificate>) -> Result<(), Failure> {
        let Some(path) = &self.args.certificate else { return Ok(()) };
        let classical = || Certificate::classical(self.input.code(), census.period?);
        match by_window.or_else(classical) {
            Some(certificate) => write_output(Some(path), |out| write!(out, "{certificate}")),
            None => Err(Failure::Failed(format!("{} is not written: these heaps prove no period", path.display()))),
        }
    }

    /// Writes what the values show.
    fn write(&self, values: &[u16]) -> Result<(), Failure> {
        let Job { args, input, run, .. } = self;
        let heaps = || (0u64..).zip(values);
        write(
            args,
            run,
            || Summary::of_code(input.code(), values, run),
            || match (args.zeros, args.records) {
                (true, _) => Sequence::Heaps(heaps().filter(|(_, value)| **value == 0).map(|(n, _)| n).collect()),
                (_, true) => {
                    // The largest value so far; a smaller one may come later, or never.
                    let mut largest = None;
                    let is_record =
                        |(_, value): &(u64, &u16)| largest < Some(**value) && largest.replace(**value) < Some(**value);
                    Sequence::Heaps(heaps().filter(is_record).map(|(n, _)| n).collect())
                }
                _ => Sequence::Values(values),
            },
        )
    }

    /// What the file of a summary has: progress, or the values of a table.
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
        self.load(read, |(progress, values)| progress.as_ref().map_or(values.len() as u64, Progress::done))
    }

    /// The values in the file.
    fn known_values(&self) -> Result<Vec<u16>, Failure> {
        let read = |from: &mut dyn Read| checkpoint::read(self.input.code(), self.input.heaps(), from);
        self.load(read, |values| values.len() as u64)
    }

    /// What the file has, which `heaps` counts; nothing if there is none.
    fn load<T: Default>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> Result<T, CheckpointError>,
        heaps: impl FnOnce(&T) -> u64,
    ) -> Result<T, Failure> {
        let Some(file) = &self.file else { return Ok(T::default()) };
        Ok(file.load(self.args.resume, read, heaps)?.unwrap_or_default())
    }

    /// What `--save` keeps of a summary.
    fn kept(&self, found: &Computed<MexPeriod>) -> Periodic {
        let Census { tallies, period, rare, .. } = &found.output;
        let proved = |proved: Proved| ProvedPeriod {
            length: proved.period,
            preperiod: proved.preperiod,
            heaps: proved.heaps,
            width: match proved.theorem {
                Theorem::GuySmith => None,
                Theorem::Window(width) => Some(width),
            },
        };
        Periodic {
            code: self.input.code().to_string(),
            limit: self.args.limit,
            kernel: found.kernel.to_owned(),
            resumed: self.args.resume,
            milliseconds: found.time.as_millis() as u64,
            rare: rare.map(|rare| (rare.heaps, rare.last)),
            values: tallies.iter().map(|tally| (tally.value, tally.first, tally.heaps)).collect(),
            period: period.map(proved),
        }
    }
}

/// Keeps the progress of a summary in the file of checkpoints, and the certificate of a period, whichever was asked for.
struct Keeper {
    file: Option<Arc<CheckpointFile>>,
    certificate: Option<Mutex<Option<Certificate>>>,
}

impl Keeper {
    /// The certificate, if a window proved a period.
    fn certificate(&self) -> Option<Certificate> {
        self.certificate.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl period::Journal for Keeper {
    fn keep(&self, progress: &Progress, input: &Octal, is_last: bool) {
        if let Some(file) = &self.file {
            file.keep(progress.done(), is_last, |out| progress.write(input, out));
        }
    }

    fn proved(&self, certify: &dyn Fn() -> Result<Certificate, RunError>) -> Result<(), RunError> {
        if let Some(certificate) = &self.certificate {
            *certificate.lock().unwrap_or_else(PoisonError::into_inner) = Some(certify()?);
        }
        Ok(())
    }
}

/// The values of a game, for `plot`.
pub fn values(code: &str, limit: u64, kernels: &Kernels) -> Result<(Code, Vec<u16>, Arc<Run>), Failure> {
    let code = arguments::code(code)?;
    let input = Octal::new(&code, limit)?;
    let selection = kernels.selection_for("plot", &[MexOctal::NAME])?;
    let run = interrupt::run(selection.threads());
    let of = |limit| Octal::new(&code, limit);
    let values = compute::<MexOctal>(Start::default(), &input, limit, of, &selection, &run)?.output;
    Ok((code, values, run))
}

/// Keeps the values of a game, in a file or for a summary.
struct Kept {
    file: Option<Arc<CheckpointFile>>,
    code: Code,
    held: Option<Arc<Held>>,
}

/// The values of a run that ends with a table: all of them, or as many as were known when it gave up.
struct Held {
    all: usize,
    values: Mutex<Option<Vec<u16>>>,
}

impl Journal for Kept {
    fn keep(&self, values: &[u16], is_last: bool) {
        if let Some(file) = &self.file {
            file.keep(values.len() as u64, is_last, |out| checkpoint::write(&self.code, values, out));
        }
        if let Some(held) = self.held.as_ref().filter(|held| is_last || values.len() == held.all) {
            *held.values.lock().unwrap_or_else(PoisonError::into_inner) = Some(values.to_vec());
        }
    }
}
