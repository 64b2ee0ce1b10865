//! `nimlanes report`

use std::path::PathBuf;

use nimlanes::lab::environment::Environment;
use nimlanes::lab::report::measure::{MeasureError, Plan};
use nimlanes::lab::report::tasks::Pace;
use nimlanes::lab::report::{self, ReportError};
use nimlanes::lab::saved::utc_now;
use nimlanes::machine::Machine;

use super::failure::Failure;
use super::interrupt;
use super::output::{print, say};

/// Measure everything, and write RESULTS.md, its charts and the digest in README.md from what was measured
///
/// Works in the folder of the source tree. Every measurement is a file under profiles/data; what is there from today is not
/// measured again, so that an interrupted report goes on where it stopped. What `cargo bench` and `cargo bench-native`
/// have estimated since the sources last changed is read, too.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  nimlanes report\n  nimlanes report --quick\n  nimlanes report --check")]
pub struct Args {
    /// Make a draft in under two minutes: few sizes, short duels, no clean builds
    #[arg(long, conflicts_with_all = ["data", "check"])]
    quick: bool,
    /// Measure nothing; read the measurements in this folder, files of `compare --save` among them
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Write nothing; fail if RESULTS.md, a chart or the digest is not what its measurements give
    #[arg(long)]
    check: bool,
    /// Forget today's measurements and make all of them anew
    #[arg(long, conflicts_with_all = ["data", "check"])]
    again: bool,
    /// Allow measurements of several machines
    #[arg(long)]
    mixed: bool,
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        Failure::Failed(error.to_string())
    }
}

impl From<MeasureError> for Failure {
    fn from(error: MeasureError) -> Self {
        match error {
            MeasureError::Run(stop) => stop.into(),
            MeasureError::Duel(error) => error.into(),
            _ => Failure::Failed(error.to_string()),
        }
    }
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let folder = match (&args.data, args.check) {
        (Some(folder), _) => folder.clone(),
        (None, true) => report::source()?,
        (None, false) => measure(args)?,
    };
    if args.check {
        report::check(&folder, args.mixed)?;
        print(&format!("{} is what {} gives\n", report::RESULTS, folder.display()))?;
    } else {
        report::write(&folder, args.mixed)?;
        print(&format!("{} and {} written from {}\n", report::RESULTS, report::CHARTS, folder.display()))?;
    }
    match report::unmeasured(&folder, args.mixed)?.as_slice() {
        [] => Ok(()),
        kernels => print(&format!("not measured: {}\n", kernels.join(", "))),
    }
}

/// Measures what is missing, and says where it is kept.
fn measure(args: &Args) -> Result<PathBuf, Failure> {
    let machine = Machine::from_env()?;
    let environment = Environment::detect(&machine);
    let folder = report::folder(&environment, &utc_now(), args.quick);
    if !environment.is_named() {
        let name = &environment.microarchitecture;
        say(&format!("nimlanes: the name of this microarchitecture is not known; it goes by {name}"));
    }
    let plan = Plan::new(machine, &folder, if args.quick { Pace::DRAFT } else { Pace::FULL })?;
    if args.again {
        plan.forget()?;
    }
    say(&format!("{}; leave the machine alone", plan.summary()));
    let measured = plan.carry_out(&interrupt::run, &mut say);
    match measured {
        // A program that was started for a measurement ends by the same Ctrl-C, which is not its failure.
        Err(_) if interrupt::is_over() => Err(Failure::Interrupted),
        measured => Ok(measured.map(|()| folder)?),
    }
}
