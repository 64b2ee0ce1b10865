//! The input of the commands that repeat a kernel: one that the kernel is predicted to finish in time.

use std::time::Duration;

use clap::Args;
use nimlanes::kernel::selection::{Selection, largest};
use nimlanes::kernel::session::Session;
use nimlanes::units::span;

use super::{Target, Threads, duplicate, kernel, seconds};
use crate::terminal::failure::{Failure, remark};

/// The predicted time of a run at the default size is at most this.
const SHORT: Duration = Duration::from_secs(2);

/// A run that is predicted to take longer at the given size is refused unless it is forced.
const LONG: Duration = Duration::from_secs(60);

/// The runs that a command repeats, and their total time.
#[derive(Args)]
pub struct Repeat {
    #[command(flatten)]
    target: Target,
    /// Run even if a run is predicted to take more than a minute; without --size, at the published size
    #[arg(long)]
    force: bool,
    /// How long to repeat it, in seconds; at least one run
    #[arg(long, value_name = "S", default_value = "3", value_parser = seconds, allow_negative_numbers = true)]
    pub seconds: f64,
    #[command(flatten)]
    threads: Threads,
}

/// A session, and the kernels to run in it.
pub struct Opened {
    pub session: Box<dyn Session>,
    /// In the order in which they were named.
    pub kernels: Vec<usize>,
    /// Threads that they may use.
    pub threads: usize,
    /// The name of the slowest, and the predicted nanoseconds of a run.
    slowest: (&'static str, f64),
    /// On the size and the prediction.
    remark: String,
}

impl Opened {
    fn is_within(&self, limit: Duration) -> bool {
        self.slowest.1 <= limit.as_nanos() as f64
    }

    fn prediction(&self) -> String {
        let (name, ns) = self.slowest;
        format!("{name} is predicted to take {} a run", span(ns))
    }
}

impl Repeat {
    /// Opens a session for the kernels of these names, each once; `None` is the selected one. Prints on stderr how long the slowest of them
    /// is predicted to take, and why the size is not the published one.
    pub fn open(&self, names: &[Option<&str>]) -> Result<Opened, Failure> {
        let opened = self.fitting(names)?;
        if let Some(kernel) = duplicate(&opened.kernels) {
            let name = opened.session.kernels()[*kernel].name;
            return Err(Failure::Usage(format!("--against is {name}, the kernel itself; allowed: another one")));
        }
        remark(&opened.remark);
        Ok(opened)
    }

    fn fitting(&self, names: &[Option<&str>]) -> Result<Opened, Failure> {
        let selection = self.threads.selection(Some(1))?.allow_long(); // what is long is decided here
        let attempt = |size| self.attempt(size, &selection, names);
        let (is_default, size) = (self.target.size.is_none(), self.target.size_or_published()?);
        let (which, limit) = if is_default { (", the published one", SHORT) } else { ("", LONG) };
        let asked = attempt(size);
        let why = match &asked {
            Ok(opened) if self.force || opened.is_within(limit) => {
                let remark = format!("size {size}{which}: {}", opened.prediction());
                return asked.map(|opened| Opened { remark, ..opened });
            }
            Ok(opened) => opened.prediction(),
            Err(Failure::Usage(line)) if is_default => line.clone(),
            Err(_) => return asked,
        };
        let fitting = |size| attempt(size).ok().filter(|opened| opened.is_within(limit));
        let less = largest(size, |size| fitting(size).is_some());
        match fitting(less).filter(|_| less > 0) {
            Some(opened) if is_default => {
                let limit = span(SHORT.as_nanos() as f64);
                let remark = format!("size {less}, the largest within {limit} a run: at {size}{which}, {why}");
                Ok(Opened { remark, ..opened })
            }
            None if is_default => asked,
            fits => {
                let hint = fits.map_or_else(String::new, |_| format!("; {less} would fit"));
                Err(Failure::Usage(format!("size {size}: {why}, more than a minute{hint}; --force allows it")))
            }
        }
    }

    fn attempt(&self, size: u64, selection: &Selection, names: &[Option<&str>]) -> Result<Opened, Failure> {
        let session = self.target.session_at(size, selection)?;
        let find = |name: &Option<&str>| kernel(session.as_ref(), selection, *name);
        let kernels = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let costs = kernels.iter().map(|kernel| session.cost(*kernel, selection.threads()).ns);
        let (ns, slowest) = costs.zip(&kernels).max_by(|a, b| a.0.total_cmp(&b.0)).expect("a kernel is named");
        let slowest = (session.kernels()[*slowest].name, ns);
        Ok(Opened { session, kernels, threads: selection.threads(), slowest, remark: String::new() })
    }
}
