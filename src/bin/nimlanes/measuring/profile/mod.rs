//! Flamegraphs: where a kernel spends its time, to the line of source.
//!
//! [`Sampling`] samples the addresses of instructions with perf events, where the system allows them; the debug information names
//! the inlined functions and the line of each. Elsewhere pprof samples with a timer, by functions that the compiler did not
//! inline. The entry of every kernel is `#[inline(never)]`, so that stacks begin there.
//!
//! Perf events come first: pprof walks the stack inside its signal, which can crash there.
//!
//! A [`Profile`] holds these stacks without the frames of the harness, and the hottest loop. It is written as a picture, as a
//! `.folded` file, a text format that other tools read, as a text for people, and for Firefox's profiler.

#[cfg(not(all(target_os = "linux", any(target_arch = "aarch64", target_arch = "x86_64"))))]
mod absent;
mod change;
mod firefox;
#[cfg(all(target_os = "linux", any(target_arch = "aarch64", target_arch = "x86_64")))]
mod lines;
#[cfg(unix)]
mod names;
mod picture;
#[cfg(unix)]
mod timer;

use std::env;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use nimlanes::lab::environment::{BUILD, Environment};
use nimlanes::machine::{Machine, variable};

#[cfg(not(all(target_os = "linux", any(target_arch = "aarch64", target_arch = "x86_64"))))]
use self::absent::{self as lines, Absent as Lines};
#[cfg(not(unix))]
use self::absent::{self as timer, Absent as Timer};
#[cfg(all(target_os = "linux", any(target_arch = "aarch64", target_arch = "x86_64")))]
use self::lines::Lines;
use self::picture::{Stacks, draw, folded, parse, tree};
#[cfg(unix)]
use self::timer::Timer;
use crate::files;
use crate::files::saved::{SavedError, read_text};

pub use self::change::change;
pub use crate::terminal::failure::Failure;

/// The sampler did not start, or lost its samples.
fn refused(why: impl Display) -> Failure {
    Failure::Failed(format!("cannot sample: {why}"))
}

/// The sampled functions have no names.
fn nameless(why: &str) -> Failure {
    Failure::Failed(format!("functions cannot be distinguished: {why}"))
}

/// The environment variable that names a sampler, for where no option does.
pub const SAMPLER: &str = "NIMLANES_SAMPLER";

/// A sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sampler {
    /// Perf events, by line of source
    Perf,
    /// A timer and its signal, by function that is not inlined
    Pprof,
}

impl Sampler {
    /// The sampler that the environment variable [`SAMPLER`] names, if it is set.
    ///
    /// # Errors
    /// It names none.
    pub fn from_env() -> Result<Option<Self>, Failure> {
        let named = |text: std::ffi::OsString| {
            let text = text.to_string_lossy();
            let unknown = |_| Failure::Usage(format!("{SAMPLER}: `{text}` is no sampler; allowed: perf, pprof"));
            clap::ValueEnum::from_str(&text, false).map_err(unknown)
        };
        variable(SAMPLER).map(named).transpose()
    }
}

/// A sampler at work.
enum Running {
    Perf(Lines),
    Pprof(Timer),
}

/// A running sampler, until [`Sampling::finish`].
pub struct Sampling {
    running: Running,
    remarks: Vec<String>,
}

impl std::fmt::Debug for Sampling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sampling").field("remarks", &self.remarks).finish_non_exhaustive()
    }
}

/// The samples in kernels.
struct Sampled {
    stacks: Stacks,
    /// Whether there were samples, but not one with a name of this program.
    is_nameless: bool,
    /// The loop that holds the most samples, or why none is known: the first line is for all, what follows for the text.
    hot_loop: String,
    remarks: Vec<String>,
}

impl Sampling {
    /// Starts sampling: by perf events this thread and those that it starts, by pprof this process. Without a choice, pprof is
    /// for where the system does not allow perf events.
    ///
    /// # Errors
    /// The system does not allow the sampler, another one is running, or nothing names what will be sampled.
    pub fn start(choice: Option<Sampler>) -> Result<Self, Failure> {
        env::current_exe().map_err(|_| nameless(NO_PROC))?;
        let timer = || Timer::start().map(Running::Pprof).map_err(refused);
        let (running, remark) = match choice {
            Some(Sampler::Pprof) => (timer()?, None),
            Some(Sampler::Perf) => (Running::Perf(Lines::start().map_err(refused)?), None),
            None => match Lines::start() {
                Ok(lines) => (Running::Perf(lines), None),
                Err(reason) => (timer()?, Some(format!("sampled by pprof, by function and not by line: {reason}"))),
            },
        };
        Ok(Sampling { running, remarks: remark.into_iter().collect() })
    }

    /// Stops sampling and keeps the samples in kernels. `id` is `<operation>/<workload>/<kernel>/<size>`.
    ///
    /// # Errors
    /// No sample fell into a kernel, or none can be named.
    pub fn finish(self, id: &str) -> Result<Profile, Failure> {
        let Sampling { running, mut remarks } = self;
        let (by, frequency, sampled) = match running {
            Running::Perf(lines) => ("perf events", lines::FREQUENCY, lines.finish()),
            Running::Pprof(timer) => ("pprof, functions that are not inlined", timer::FREQUENCY, timer.finish()),
        };
        let Sampled { stacks, is_nameless, hot_loop, remarks: more } = sampled.map_err(refused)?;
        remarks.extend(more);
        if is_nameless {
            return Err(nameless(why_nameless()));
        }
        if stacks.is_empty() {
            return Err(Failure::Failed(format!("no sample fell into {id}; run it for longer")));
        }
        let mut profile = Profile { frequency, hot_loop, remarks, ..Profile::new(id, stacks) };
        let samples = profile.samples();
        let cpu = Environment::detect(&Machine::detect()).microarchitecture;
        profile.subtitle = format!("{samples} samples of CPU time on {cpu}, {frequency} per second, by {by}");
        Ok(profile)
    }
}

/// Why no function has a name where the program does not find itself.
const NO_PROC: &str = "this system has no /proc to find the program by";

/// Why no function of this program has a name.
fn why_nameless() -> &'static str {
    match env::current_exe() {
        Err(_) => NO_PROC,
        Ok(program) if !program.exists() => "the program's file was replaced or removed while it ran",
        Ok(_) => "the program has no symbols",
    }
}

/// The folder of profiles in the working directory; native builds have their own.
pub const ROOT: &str = if matches!(BUILD.as_bytes(), b"native") { "profiles/native" } else { "profiles" };

/// The suffixes of the files that a profile can be: a picture, stacks as lines, a text for people, and what Firefox's profiler opens.
pub const SUFFIXES: [&str; 4] = [".svg", ".folded", ".txt", ".json"];

/// Sampled stacks of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// `<operation>/<workload>/<kernel>/<size>`.
    id: String,
    /// How it was sampled.
    subtitle: String,
    /// Samples per second.
    frequency: u32,
    stacks: Stacks,
    hot_loop: String,
    remarks: Vec<String>,
}

impl Profile {
    /// Stacks of which nothing more is known.
    fn new(id: &str, stacks: Stacks) -> Self {
        let hot_loop = "no loop: only stacks are known".to_owned();
        Profile { id: id.to_owned(), subtitle: String::new(), frequency: 1, stacks, hot_loop, remarks: Vec::new() }
    }

    /// Total number of samples.
    pub fn samples(&self) -> u64 {
        self.stacks.values().sum()
    }

    /// Failures of the sampler, a line each.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Writes `<root>/<operation>/<workload>/<kernel>-<size>.svg`, `.folded` and `.txt`, and creates missing folders. Returns the
    /// path of the SVG.
    ///
    /// # Errors
    /// A file or folder cannot be written.
    pub fn write(&self, root: &Path) -> Result<PathBuf, Failure> {
        let [_, kernel, size] = self.names();
        let path = |suffix: &str| self.path(root, &format!("{kernel}-{size}.{suffix}"));
        self.write_to(&path("folded"))?;
        self.write_to(&path("txt"))?;
        self.write_to(&path("svg"))?;
        Ok(path("svg"))
    }

    /// Writes one file in the format of its suffix, one of [`SUFFIXES`], and creates missing folders.
    ///
    /// # Errors
    /// The file or a folder cannot be written, or has another suffix.
    pub fn write_to(&self, path: &Path) -> Result<(), Failure> {
        let bytes = match path.extension().and_then(OsStr::to_str) {
            Some("svg") => draw(&self.id, &self.subtitle, &folded(&self.stacks)),
            Some("folded") => Ok(folded(&self.stacks).into_bytes()),
            Some("txt") => Ok(self.all().into_bytes()),
            Some("json") => firefox::json(&self.id, &self.subtitle, &self.stacks, self.frequency).map_err(Into::into),
            _ => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("not one of {}", SUFFIXES.join(", ")))),
        };
        let written = bytes.and_then(|bytes| files::save(path, &bytes));
        Ok(written.map_err(|source| SavedError::Write(path.to_owned(), source))?)
    }

    /// Reads the stacks in a `.folded` file, perhaps of another build.
    ///
    /// # Errors
    /// The file cannot be read, or is not such a file.
    pub fn read(id: &str, path: &Path) -> Result<Self, Failure> {
        let stacks = read_text(path)?;
        let stacks = parse(&stacks).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not stacks with counts"));
        let stacks = stacks.map_err(|source| SavedError::Read(path.to_owned(), source))?;
        Ok(Profile::new(id, stacks))
    }

    /// How it was sampled, the shares of functions and of lines, and where the hottest loop is.
    pub fn text(&self) -> String {
        let hot_loop = self.hot_loop.lines().next().unwrap_or_default();
        format!("{}\n\n{}\n{hot_loop}\n", self.subtitle, tree(&self.stacks))
    }

    /// All that is known for people.
    fn all(&self) -> String {
        let remarks: String = self.remarks.iter().map(|remark| format!("{remark}\n")).collect();
        let text = format!("{}\n{}\n{remarks}\n{}\n{}", self.id, self.subtitle, tree(&self.stacks), self.hot_loop);
        format!("{}\n", text.trim_end())
    }

    /// `<operation>/<workload>`, kernel and size.
    fn names(&self) -> [&str; 3] {
        let (rest, size) = self.id.rsplit_once('/').unwrap_or((&self.id, ""));
        let (group, kernel) = rest.rsplit_once('/').unwrap_or(("", rest));
        [group, kernel, size]
    }

    fn path(&self, root: &Path, file: &str) -> PathBuf {
        let [group, ..] = self.names();
        let (operation, workload) = group.split_once('/').unwrap_or((group, ""));
        // A workload may be the path of a file, which may lead elsewhere.
        root.join(operation).join(workload.replace(['/', '\\'], "_")).join(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_workload_stays_below_the_root() {
        let profile = Profile::new("mex_subtraction/@../../kept/moves.txt/stamp/100", Stacks::new());
        let path = profile.path(Path::new("profiles"), "stamp-100.svg");
        assert_eq!(path, Path::new("profiles/mex_subtraction/@.._.._kept_moves.txt/stamp-100.svg"));
    }
}
