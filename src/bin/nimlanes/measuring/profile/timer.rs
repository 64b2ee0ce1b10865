//! Samples by function, from a timer and its signal: `pprof`. It works wherever there are signals, but resolves an address once for
//! the whole function that was not inlined: inlined functions and lines have no shares of their own.

use std::collections::BTreeMap;

use pprof::{ProfilerGuard, Symbol};

pub use pprof::Error as SamplerError;

use super::names::{below_the_harness, shown};

/// Samples per second of CPU time; the timer of common operating system kernels allows no more.
pub const FREQUENCY: u32 = 250;

/// A running sampler of this process.
pub struct Timer(ProfilerGuard<'static>);

impl Timer {
    /// Starts sampling.
    ///
    /// # Errors
    /// Another sampler is running, or the system has no profiling timer.
    pub fn start() -> Result<Self, SamplerError> {
        Ok(Timer(ProfilerGuard::new(FREQUENCY as i32)?))
    }

    /// Stops sampling. Returns the number of samples of each stack in a kernel; frames are joined by `;`, outermost first.
    ///
    /// # Errors
    /// The samples are lost.
    pub fn finish(self) -> Result<BTreeMap<String, u64>, SamplerError> {
        let report = self.0.report().build()?;
        let mut stacks = BTreeMap::new();
        for (stack, count) in &report.data {
            // Frames come innermost first; within a frame, inlined functions come before the enclosing one.
            // A leaf in a linker stub has no name, but its caller has one.
            let named = |symbol: &&Symbol| symbol.name.is_some();
            let physical = stack.frames.iter().rev().filter_map(|symbols| symbols.last()).filter(named);
            let frames: Vec<[String; 1]> = physical.map(|symbol| [symbol.name()]).collect();
            let names = shown(below_the_harness(&frames).iter().flatten());
            if !names.is_empty() {
                *stacks.entry(names.join(";")).or_default() += *count as u64;
            }
        }
        Ok(stacks)
    }
}
