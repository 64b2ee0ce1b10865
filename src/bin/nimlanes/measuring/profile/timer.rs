//! Samples by function, from a timer and its signal: `pprof`. It works wherever there are signals, but resolves an address once for
//! the whole function that was not inlined: inlined functions and lines have no shares of their own.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use pprof::{Error, ProfilerGuard, Symbol};

use super::Sampled;
use super::names::{below_the_harness, is_own, shown};
use super::picture::Stacks;

/// Samples per second of CPU time; the timer of common operating system kernels allows no more.
pub const FREQUENCY: u32 = 250;

/// A running sampler of this process.
pub struct Timer(Option<ProfilerGuard<'static>>);

impl Timer {
    /// Starts sampling.
    ///
    /// # Errors
    /// Another sampler is running, or the system has no profiling timer.
    pub fn start() -> Result<Self, Error> {
        let folder = FOLDER.get_or_init(|| {
            let folder = tempfile::tempdir().ok()?.keep();
            tempfile::env::override_temp_dir(&folder).is_ok().then_some(folder)
        });
        folder.iter().try_for_each(fs::create_dir_all)?;
        let guard = || ProfilerGuard::new(FREQUENCY as i32);
        if IS_WITHOUT_FILE.swap(false, Ordering::Relaxed) {
            drop(guard()?); // which makes a new file for the next
        }
        Ok(Timer(Some(guard()?)))
    }

    /// Stops sampling, and keeps the samples in kernels.
    ///
    /// # Errors
    /// The samples are lost.
    pub fn finish(self) -> Result<Sampled, String> {
        let guard = self.0.as_ref().ok_or(Error::NotRunning);
        let report = guard.and_then(|guard| guard.report().build()).map_err(|error| error.to_string())?;
        let (mut stacks, mut has_name) = (Stacks::new(), false);
        for (stack, count) in &report.data {
            // Frames come innermost first; within a frame, inlined functions come before the enclosing one.
            // A leaf in a linker stub has no name, but its caller has one.
            let physical = stack.frames.iter().filter_map(|symbols| symbols.last());
            let names =
                physical.filter(|symbol| symbol.name.is_some()).map(Symbol::name).skip_while(|it| is_sampler(it));
            let mut frames: Vec<[String; 1]> = names.map(|name| [name]).collect();
            frames.reverse();
            has_name |= frames.iter().flatten().any(|name| is_own(name));
            let names = shown(below_the_harness(&frames).iter().flatten());
            if !names.is_empty() {
                *stacks.entry(names.join(";")).or_default() += *count as u64;
            }
        }
        let hot_loop = "no loop: it needs samples by line".to_owned();
        Ok(Sampled { stacks, is_nameless: !has_name && !report.data.is_empty(), hot_loop, remarks: Vec::new() })
    }
}

/// Whether a function takes samples. The signal interrupts a kernel, and so they are within its innermost function. pprof removes
/// its handler, but not what the handler calls unless that was inlined.
fn is_sampler(function: &str) -> bool {
    function.contains("pprof::") || function.starts_with("backtrace::")
}

/// A folder for the temporary file that pprof keeps for the next sampling, and never removes.
static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();

/// Whether that file was removed.
static IS_WITHOUT_FILE: AtomicBool = AtomicBool::new(false);

impl Drop for Timer {
    /// Stops sampling.
    fn drop(&mut self) {
        self.0 = None;
        if let Some(Some(folder)) = FOLDER.get() {
            IS_WITHOUT_FILE.store(fs::remove_dir_all(folder).is_ok(), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_sampler_are_told_from_kernels() {
        let trace = "<pprof::backtrace::backtrace_rs::Trace as pprof::backtrace::Trace>::trace";
        for function in [trace, "backtrace::backtrace::trace_unsynchronized"] {
            assert!(is_sampler(function), "{function}");
        }
        assert!(!is_sampler("nimlanes_mex::cores::mex::subtraction::stamp::run"));
    }
}
