//! The players of a duel: this process, or others that receive requests over a pipe.

use std::time::Duration;

use crate::kernel::Run;
use crate::kernel::session::{Answer, Session};
use crate::lab::clock::Clock;
use crate::simd::mapped;

use super::DuelError;

/// Runs the kernels of a duel, which are identified by their index in the duel's list.
pub trait Player {
    /// Runs a kernel once and compares its output with those of the kernels checked before.
    ///
    /// # Errors
    /// Outputs differ, the run was stopped, or the player failed.
    fn check(&mut self, kernel: usize) -> Result<Checked, DuelError>;

    /// Runs a kernel `times` times. Returns the time of all runs by the duel's clock.
    ///
    /// # Errors
    /// The run was stopped, or the player failed.
    fn turn(&mut self, kernel: usize, times: u64) -> Result<Duration, DuelError>;
}

/// The results of the first run of a kernel in a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The digest of the output.
    pub digest: Vec<(String, u128)>,
    /// Units of work in a run.
    pub work: u64,
    /// Time of a run.
    pub once: Duration,
}

/// Runs kernels of a session in this process.
pub struct Local<'a> {
    session: &'a dyn Session,
    kernels: Vec<usize>,
    clock: Clock,
    /// The minimum duration of a turn.
    shortest: Duration,
    run: &'a Run,
    /// The first kernel that was checked, and its output.
    first: Option<(usize, Box<dyn Answer>)>,
}

impl std::fmt::Debug for Local<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Local").field("case", self.session.case()).finish_non_exhaustive()
    }
}

impl<'a> Local<'a> {
    /// A player for these kernels, given by their indices in the session. Its turns are to be `shortest` or longer.
    pub fn new(session: &'a dyn Session, kernels: Vec<usize>, clock: Clock, shortest: Duration, run: &'a Run) -> Self {
        Local { session, kernels, clock, shortest, run, first: None }
    }
}

impl Player for Local<'_> {
    fn check(&mut self, kernel: usize) -> Result<Checked, DuelError> {
        let index = self.kernels[kernel];
        let clock = self.clock.for_one_run();
        let start = clock.now();
        let answer = self.session.run(index, self.run)?;
        let mut once = clock.now() - start;
        if once < self.shortest {
            // The first run of a short kernel is mostly page faults and cache misses. A single run may be shorter than
            // a step of the clock. The shorter of two times counts, as another program may have had the CPU in the
            // other.
            let spin = |times: u32| clock.time(|| self.session.spin(index, self.run, times.into()));
            let mut times = 1;
            once = loop {
                let all = spin(times)?.min(spin(times)?);
                if all >= self.shortest / 20 {
                    break all / times;
                }
                times *= 4;
            };
        }
        let named = |answer: &dyn Answer| {
            let mut digest = Vec::new();
            for (name, value) in answer.digest() {
                digest.push((name.to_owned(), value));
            }
            digest
        };
        let digest = named(answer.as_ref());
        let work = self.session.work(answer.as_ref());
        match &self.first {
            None => self.first = Some((index, answer)),
            Some((_, expected)) if answer.agrees(expected.as_ref()) => {}
            Some((first, expected)) => {
                let names = mapped([index, *first], |index| self.session.kernels()[index].name);
                return Err(DuelError::outputs_differ(names, [&digest, &named(expected.as_ref())]));
            }
        }
        Ok(Checked { digest, work, once })
    }

    fn turn(&mut self, kernel: usize, times: u64) -> Result<Duration, DuelError> {
        Ok(self.clock.time(|| self.session.spin(self.kernels[kernel], self.run, times))?)
    }
}
