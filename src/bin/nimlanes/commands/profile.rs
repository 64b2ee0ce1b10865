//! `nimlanes profile`

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use nimlanes::kernel::Run;
use nimlanes::kernel::session::Session;

use super::run::repeat;
use crate::commands::arguments::listed;
use crate::commands::arguments::repeated::{Opened, Repeat};
use crate::measuring::builds::{self, Build, Program, announce};
use crate::measuring::profile::{Profile, ROOT, SUFFIXES, Sampler, Sampling, change};
use crate::measuring::programs::{complete, program};
use crate::terminal::failure::{Failure, remark};
use crate::terminal::interrupt;
use crate::terminal::output::{check_folder, check_writable, print};

/// Sample one kernel, draw a flamegraph of where it spends its time, and show its hottest loop
#[derive(clap::Args)]
#[command(before_help = "Example: nimlanes profile mex_subtraction --kernel stamp --size 100000")]
#[command(after_help = "More examples:\n  nimlanes profile mex_subtraction --kernel stamp --output stamp.json\n  \
    nimlanes profile table_scan --against byte_table\n  \
    nimlanes profile mex_subtraction --kernel stamp --build rev:HEAD~1\n  \
    nimlanes profile mex_split --kernel near_sum --build toolchain:nightly")]
pub struct Args {
    #[command(flatten)]
    repeat: Repeat,
    /// The kernel [default: the selected one]
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Also sample this kernel, and show how the shares of functions changed from it
    #[arg(long, value_name = "NAME")]
    against: Option<String>,
    /// Also sample the kernel in this build, and show what changed from it: one of those of compare --builds
    #[arg(long, conflicts_with = "against")]
    build: Option<Build>,
    /// perf: events, by line of source; pprof: a timer, by function [default: perf where it is allowed]
    #[arg(long, hide_possible_values = true)]
    sampler: Option<Sampler>,
    /// The folder for <operation>/<workload>/<kernel>-<size>.svg, .folded and .txt
    #[arg(long, value_name = "DIR", default_value = ROOT, value_parser = listed::folder())]
    dir: PathBuf,
    /// Write one file instead, by its suffix: .svg, .folded, .txt, or .json for profiler.firefox.com
    #[arg(short, long, value_name = "FILE", value_parser = output, conflicts_with_all = ["dir", "against", "build"])]
    output: Option<PathBuf>,
}

/// A file that a profile can be written to.
fn output(text: &str) -> Result<PathBuf, String> {
    // A name that begins with its only dot has no suffix.
    let suffix = Path::new(text).extension().unwrap_or_default();
    let is_known = SUFFIXES.iter().any(|known| known[1..] == *suffix);
    is_known.then(|| text.into()).ok_or_else(|| format!("the suffix of the file is none of {}", SUFFIXES.join(", ")))
}

pub fn main(args: &Args) -> Result<(), Failure> {
    match &args.output {
        Some(file) => check_writable(Some(file))?,
        None => check_folder(&args.dir)?,
    }
    let sampler = args.sampler.map_or_else(Sampler::from_env, |named| Ok(Some(named)))?;
    let against = args.against.as_deref();
    let names: Vec<_> = [args.kernel.as_deref()].into_iter().chain(against.map(Some)).collect();
    let Opened { session, kernels, threads, .. } = args.repeat.open(&names)?;
    let after = kernels[0];
    let run = interrupt::run(threads);
    // The sources of a revision are there while its program is: this one reads the text of lines from them.
    let others = builds::programs(args.build.as_slice(), &run)?;
    let name = |kernel: usize| session.kernels()[kernel].name;
    let sample = |kernel| sample(session.as_ref(), kernel, threads, sampler, args);
    let now = sample(after)?;
    let (before, from) = if let Some(before) = kernels.get(1).copied() {
        (sample(before)?, name(before).to_owned())
    } else if let [other] = &others[..] {
        let from = format!("{} of {}", name(after), other.name);
        announce(&format!("sampling {from}"));
        (sample_in(other, session.as_ref(), name(after), &run, args)?, from)
    } else {
        return Ok(());
    };
    print(&format!("from {from} to {}, shares of the samples:\n{}", name(after), change(&before, &now)))
}

/// Samples one kernel, writes its flamegraph and prints where it spent its time.
fn sample(
    session: &dyn Session,
    kernel: usize,
    threads: usize,
    sampler: Option<Sampler>,
    args: &Args,
) -> Result<Profile, Failure> {
    let sampling = Sampling::start(sampler)?;
    repeat(session, kernel, threads, args.repeat.seconds)?;
    let profile = sampling.finish(&session.case().with_kernel(session.kernels()[kernel].name))?;
    profile.remarks().iter().for_each(|line| remark(line));
    let picture = match &args.output {
        Some(file) => profile.write_to(file).map(|()| file.clone())?,
        None => profile.write(&args.dir)?,
    };
    print(&format!("{}\n{}\n", picture.display(), profile.text()))?;
    Ok(profile)
}

/// The stacks of a kernel that another build samples.
fn sample_in(other: &Program, session: &dyn Session, kernel: &str, run: &Run, args: &Args) -> Result<Profile, Failure> {
    let failed = |why: &str| format!("cannot profile {kernel} of {}: {why}", other.name);
    // That of tempfile may be a folder of the sampler, which is gone.
    let folder =
        tempfile::tempdir_in(std::env::temp_dir()).map_err(|error| Failure::Failed(failed(&error.to_string())))?;
    let stacks = folder.path().join("stacks.folded");
    let mut command = program(&other.path);
    command.args(["profile", session.operation(), "--workload", session.workload(), "--kernel", kernel]);
    command.args(["--size", &session.case().size.to_string(), "--threads", &run.threads().to_string()]);
    command.args(["--seconds", &args.repeat.seconds.to_string(), "--output"]).arg(&stacks);
    if let Some(sampler) = args.sampler.as_ref().and_then(ValueEnum::to_possible_value) {
        command.args(["--sampler", sampler.get_name()]);
    }
    complete(&mut command, "", run).map_err(|error| error.because(failed))?;
    Profile::read(&session.case().with_kernel(kernel), &stacks)
}
