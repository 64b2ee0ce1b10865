//! `nimlanes profile --rev` and `--toolchain`: what has changed since another build.

use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use nimlanes::kernel::session::Session;

use super::Args;
use crate::measuring::builds::announce;
use crate::measuring::duel::{DuelError, DuelOptions, Match, PROCESSES};
use crate::measuring::profile::{Change, Profile, Side};
use crate::measuring::programs::{ProgramError, complete, program};
use crate::measuring::toolchains::Toolchain;
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;

/// Another build of this program.
pub struct OtherBuild<'a> {
    /// The revision or the toolchain.
    pub name: &'a str,
    pub program: &'a Path,
    /// A folder to write to.
    pub folder: &'a Path,
}

impl<'a> OtherBuild<'a> {
    /// The build by a toolchain.
    pub fn by(Toolchain { name, folder, program }: &'a Toolchain) -> Self {
        OtherBuild { name, program, folder }
    }

    /// Has the other build sample its kernel of the same name, and times both in turns. `profile` is that of this build.
    pub fn change(
        &self,
        session: &dyn Session,
        kernel: &str,
        profile: Profile,
        args: &Args,
    ) -> Result<Change, Failure> {
        let named = format!("{kernel} of {}", self.name);
        announce(&format!("sampling and timing {named}"));
        let before = self.sample(session, kernel, args)?.with_lines_as_in(&profile);
        let [then, now] = self.paces(session.case().size, kernel, args)?;
        let before = Side { name: named, profile: before, seconds: then };
        let now = Side { name: "this build".to_owned(), profile, seconds: now };
        Ok(Change { before, now, unit: session.unit() })
    }

    fn lacks(&self, kernel: &str) -> Failure {
        Failure::Failed(format!("{} has no {kernel} that can run here", self.name))
    }

    /// The stacks that the other program samples.
    fn sample(&self, session: &dyn Session, kernel: &str, args: &Args) -> Result<Profile, Failure> {
        let case = session.case();
        let failed = |why: &str| Failure::Failed(format!("cannot profile {kernel} of {}: {why}", self.name));
        let threads = args.threads.selection(Some(1))?.threads();
        let run = interrupt::run(threads);
        let folder = tempfile::tempdir_in(self.folder).map_err(|error| failed(&error.to_string()))?;
        let mut command = program(self.program);
        command.args(["profile", session.operation(), "--workload", session.workload(), "--kernel", kernel]);
        command.args(["--size", &case.size.to_string(), "--threads", &threads.to_string()]);
        command.args(["--seconds", &args.seconds.to_string(), "--into"]).arg(folder.path());
        if let Some(sampler) = args.sampler.as_ref().and_then(ValueEnum::to_possible_value) {
            command.args(["--sampler", sampler.get_name()]);
        }
        match complete(&mut command, "", &run) {
            Ok(Ok(_)) => Ok(Profile::read(&case.with_kernel(kernel), folder.path())?),
            Ok(Err(why)) => Err(failed(&why)),
            Err(ProgramError::Run(cancelled)) => Err(cancelled.into()),
            Err(error) => Err(failed(&error.to_string())),
        }
    }

    /// Seconds for a unit of work, in the other build and in this one, which take turns.
    fn paces(&self, size: u64, kernel: &str, args: &Args) -> Result<[f64; 2], Failure> {
        let (duel, other) = duel(size, kernel, args, |duel| duel.play_against(self.program, false, &mut |_| {}))?;
        match (&other.rows[..], &duel.rows[..]) {
            ([before], [now]) => Ok([&before.row, now].map(|row| 1.0 / row.throughput)),
            _ => Err(self.lacks(kernel)),
        }
    }
}

/// Plays a duel in which this program has one kernel, and others have theirs of the same name.
fn duel<T>(
    size: u64,
    kernel: &str,
    args: &Args,
    play: impl FnOnce(Match) -> Result<T, DuelError>,
) -> Result<T, Failure> {
    let selection = args.threads.selection(Some(1))?;
    let options = DuelOptions {
        kernels: vec![kernel.to_owned()],
        baseline: None,
        threads: selection.threads(),
        budget: Duration::from_secs_f64(args.seconds),
        time_limit: Duration::MAX,
        always_included: Vec::new(),
    };
    let run = interrupt::run(selection.threads());
    let open = || args.target.session_at(size, &selection);
    Ok(play(Match::new(open, &options, PROCESSES, selection.machine(), &run)?)?)
}
