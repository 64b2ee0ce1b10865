//! `nimlanes profile --build`: what has changed since another build.

use std::slice;
use std::time::Duration;

use clap::ValueEnum;
use nimlanes::kernel::session::Session;

use super::{Args, INTO};
use crate::measuring::builds::{Program, announce};
use crate::measuring::duel::{Comparison, DuelOptions, Match, PROCESSES};
use crate::measuring::profile::{Change, Profile, Side};
use crate::measuring::programs::{complete, program};
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;

impl Program {
    /// Has this other build sample its kernel of the same name, and times both in turns. `profile` is that of this build.
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
        let failed = |why: &str| format!("cannot profile {kernel} of {}: {why}", self.name);
        let threads = args.threads.selection(Some(1))?.threads();
        let run = interrupt::run(threads);
        let folder = tempfile::tempdir_in(self.path.with_file_name(""));
        let folder = folder.map_err(|error| Failure::Failed(failed(&error.to_string())))?;
        let mut command = program(&self.path);
        command.args(["profile", session.operation(), "--workload", session.workload(), "--kernel", kernel]);
        command.args(["--size", &case.size.to_string(), "--threads", &threads.to_string()]);
        command.args(["--seconds", &args.seconds.to_string(), &format!("--{INTO}")]).arg(folder.path());
        if let Some(sampler) = args.sampler.as_ref().and_then(ValueEnum::to_possible_value) {
            command.args(["--sampler", sampler.get_name()]);
        }
        complete(&mut command, "", &run).map_err(|error| error.because(failed))?;
        Ok(Profile::read(&case.with_kernel(kernel), folder.path())?)
    }

    /// Seconds for a unit of work, in the other build and in this one, which take turns.
    fn paces(&self, size: u64, kernel: &str, args: &Args) -> Result<[f64; 2], Failure> {
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
        let duel = Match::new(open, &options, PROCESSES, selection.machine(), &run)?;
        let Comparison { duel, builds } = duel.play(slice::from_ref(self), &mut |_| {})?;
        match (&duel.rows[..], &builds[0].rows[..]) {
            ([now], [before]) => Ok([&before.row, now].map(|row| 1.0 / row.throughput)),
            _ => Err(self.lacks(kernel)),
        }
    }
}
