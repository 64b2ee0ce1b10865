//! Windows of heaps: the driver of the `window_tree` kernels, which find only the tally.
//!
//! What happens near heap `n` depends on the marks near five scaled places (0.677, 0.658, 0.560, 0.383 and 0.267 of `n`)
//! and on the *charge*: as many lower positions take a difference below the mex of the differences as take a value
//! `2n - m` below the mex of those. So a window of heaps needs five windows further down, and so on to a *base* in which
//! every heap is visited ([`plan`], with a [`model`] of where the places are). A window is run by the engine of the
//! automaton ([`tree`]). It begins with a guess of the registers that has the right charge, and discards a long warm-up
//! ([`restart`]). It reads nothing above seven tenths of its heaps, so several windows can be run at the same time.
//!
//! # What is known
//! Proved: given the marks, all totals before a window ([`restart::Prefix`]). All differences and values below the two
//! mexes are taken, and all heaps below `n` are used, so what upper positions and sums do not take, lower ones do.
//!
//! Observed, not proved: a guess with the right charge reaches the true registers (it *couples*). At joints a second run
//! from a guess of its own must reach the same registers within a warm-up, and ends there. Up to limits of `10^15`,
//! 310 847 of 310 847 did, after at most 4096 of 8192 heaps. Two wrong runs that agree would not be noticed.
//!
//! The place of a window is not exactly known beforehand; margins allow for that. A window that reads past another ends
//! the attempt, and the next attempt has wider margins; the answer says so. No margin makes an answer wrong.

mod interval;
mod model;
mod plan;
mod restart;
mod tree;

use plan::Options;
use tree::Failure;
pub use tree::Loops;
use tree::attempt;

use super::{Positions, ProportionateNim};
use crate::kernel::{Cost, Evidence, Run, RunError};
use crate::machine::STACK;

/// Smaller limits are left to the automaton: there are no windows.
pub const LEAST: u64 = 1_000_000;

/// Attempts, each with wider margins or a longer warm-up.
const ATTEMPTS: u64 = 4;

/// Why no attempt succeeded.
const NO_PLAN: &str = "the windows of the plan do not fit together, even with wide margins; use an exact kernel";

/// How a run checked itself.
#[derive(Clone, Copy, Debug, Default)]
struct Joints {
    /// Places where two runs that began with different guesses were compared and were equal.
    compared: u64,
    /// The longest way from a guess to a run that was equal from there on, in heaps.
    longest: u64,
    /// The way from a guess to the first heap that counts.
    warm_up: u64,
    /// How often the run began again with wider margins or a longer warm-up.
    widened: u64,
    /// Windows that the work was cut into.
    windows: u64,
    /// Heaps visited, those of warm-ups and second runs among them.
    heaps: u64,
}

impl From<Joints> for Evidence {
    fn from(Joints { compared, longest, warm_up, widened, windows, heaps }: Joints) -> Self {
        let mut summary = format!(
            "joints compared: {compared}, all equal; the slowest guess took {longest} of {warm_up} heaps; \
             {heaps} heaps visited in {windows} windows"
        );
        if widened > 0 {
            summary += &format!("; begun again {widened} time(s) with wider margins");
        }
        let numbers = vec![
            ("joints", compared),
            ("longest", longest),
            ("warm_up", warm_up),
            ("widened", widened),
            ("windows", windows),
            ("heaps", heaps),
        ];
        Evidence::new(compared, summary, numbers)
    }
}

/// The cost on some threads, one of which takes `ns` nanoseconds per heap; the base is run by one. Heaps visited and bytes held at
/// once were measured up to limits of `10^15`.
pub fn cost_on(input: &ProportionateNim, ns: f64, threads: usize) -> Cost {
    let limit = input.limit() as f64;
    let heaps = (590.0 * limit.sqrt()).max(4.15e10 * (limit / 1e15).powf(0.66));
    // Up to some limit the base takes the greater part of the bytes; from there on it grows no more.
    let bytes = 3.5e5 + (4.6e6 * (limit.min(5e12) / 1e9).powf(0.44)).max(1.98e9 * (limit / 1e15).powf(0.61));
    let one = input.published_any_limit(ns * heaps, bytes);
    if threads == 1 || !one.is_possible() {
        return one;
    }
    let base = ns * Options::for_limit(input.limit()).base as f64;
    Cost {
        ns: base + 1.05 * (one.ns - base).max(0.0) / threads as f64,
        // A window that ends late is read late, too: observed.
        bytes: one.bytes + (threads - 1) as f64 * (STACK + 0.01 * one.bytes),
    }
}

/// Runs the tree on `threads` threads, for a limit of at least [`LEAST`], with the loops of a tier.
pub fn drive(input: &ProportionateNim, run: &Run, threads: usize, loops: Loops) -> Result<Positions, RunError> {
    let mut sink = input.sink();
    // A sink that takes positions one by one is outside the domain.
    let Some(tally) = sink.totals_alone() else { return Err(RunError::OutsideDomain) };
    let mut options = Options::for_limit(input.limit());
    let mut reported = 0;
    for widened in 0..ATTEMPTS {
        match attempt(input, &options, run, threads, &mut reported, loops) {
            Ok((found, joints)) => {
                *tally = found;
                run.observe(Joints { widened, ..joints }.into());
                run.advance(input.smaller_heaps() - reported)?;
                return Ok(sink);
            }
            Err(Failure::Run(error)) => return Err(error),
            Err(Failure::Missed) => options.margin *= 3.0,
            Err(Failure::Uncoupled) => options.warm_up *= 2,
        }
    }
    Err(RunError::GaveUp(NO_PLAN))
}
