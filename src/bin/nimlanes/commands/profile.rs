//! `nimlanes profile`

use std::path::{Path, PathBuf};

use nimlanes::lab::profile::{Profile, ProfileError, ROOT, Sampling};
use nimlanes::units::span;

use nimlanes::session::Session;

use super::run::repeat;
use crate::args::{Target, Threads, kernel, seconds};
use crate::failure::Failure;
use crate::output::{print, table};

/// Sample one kernel and draw a flamegraph of where it spends its time
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  nimlanes profile mex_subtraction --kernel stamp --size 100000\n  \
    nimlanes profile table_scan --against byte_table")]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// The kernel [default: the selected one]
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Also sample this kernel, and draw which functions take a larger (red) or smaller (blue) share of the time than in it; the
    /// picture compares shares, and the times are printed
    #[arg(long, value_name = "NAME")]
    against: Option<String>,
    /// How long to sample, in seconds; at least one run
    #[arg(long, value_name = "S", default_value = "3", value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    /// The folder for <operation>/<workload>/<kernel>-<size>.svg
    #[arg(long, value_name = "DIR", default_value = ROOT)]
    into: PathBuf,
    #[command(flatten)]
    threads: Threads,
}

impl From<ProfileError> for Failure {
    fn from(error: ProfileError) -> Self {
        Failure::Failed(error.to_string())
    }
}

/// Number of functions listed as text; the picture has all of them.
const LISTED: usize = 8;

pub fn main(args: &Args) -> Result<(), Failure> {
    let selection = args.threads.selection(Some(1))?;
    let session = args.target.session(&selection)?;
    let named = |name: Option<&str>| kernel(session.as_ref(), &selection, name);
    let after = named(args.kernel.as_deref())?;
    let before = args.against.as_deref().map(|name| named(Some(name))).transpose()?;
    let sample = |kernel| sample(session.as_ref(), kernel, selection.threads(), args);
    let (profile, now) = sample(after)?;
    if let Some(before) = before {
        let (other, then) = sample(before)?;
        let picture = profile.write_against(&other, [then, now], &args.into)?;
        let (path, then, now) = (picture.display(), span(1e9 * then), span(1e9 * now));
        print(&format!("{path}\nthe picture compares shares of time; time of a run: {then} before, {now} now\n"))?;
    }
    Ok(())
}

/// Samples one kernel, writes its flamegraph and lists where it spent its time. Returns the profile and the seconds per run.
fn sample(session: &dyn Session, kernel: usize, threads: usize, args: &Args) -> Result<(Profile, f64), Failure> {
    let sampling = Sampling::start()?;
    let start = repeat(session, kernel, threads, args.seconds)?;
    let profile = sampling.finish(&session.case().with_kernel(session.kernels()[kernel].name))?;
    show(&profile, &profile.write(&args.into)?)?;
    Ok((profile, start.later_seconds))
}

fn show(profile: &Profile, picture: &Path) -> Result<(), Failure> {
    let samples = profile.samples();
    let share = |(function, count): (&str, u64)| {
        vec![format!("{:.1} %", 100.0 * count as f64 / samples as f64), function.to_owned()]
    };
    let rows: Vec<Vec<String>> = profile.innermost().into_iter().take(LISTED).map(share).collect();
    print(&format!("{}\n{samples} samples\n{}\n", picture.display(), table(&rows)))
}
