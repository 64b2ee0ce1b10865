//! Flamegraphs: where a kernel spends its time.
//!
//! [`Sampling`] samples the stack 250 times per second of CPU time. A [`Profile`] holds these stacks without the frames of
//! the harness. It is written as an `.svg` and a `.folded` file, a text format that other tools read.
//!
//! Only *physical* frames are kept, those of functions that the compiler did not inline. An address inside an inlined
//! function is resolved once for the whole enclosing function, so the shares of inlined functions would be wrong. A phase
//! that should appear is `#[inline(never)]`, as is the entry of every kernel.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use inferno::{differential, flamegraph};
use pprof::{ProfilerGuard, Symbol};

use crate::lab::files;
use crate::units::span;

/// Samples per second of CPU time; the timer of common operating system kernels allows no more.
const FREQUENCY: i32 = 250;

/// Why no profile was made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The sampler did not start, or lost its samples.
    #[error("cannot sample: {0}")]
    Sampler(#[from] pprof::Error),
    /// The kernel ran too briefly to be sampled.
    #[error("no sample fell into {0}; run it for longer")]
    Empty(String),
    /// A file cannot be written.
    #[error("cannot write to {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// A running sampler, until [`Sampling::finish`].
pub struct Sampling(ProfilerGuard<'static>);

impl std::fmt::Debug for Sampling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sampling").finish_non_exhaustive()
    }
}

impl Sampling {
    /// Starts sampling this process.
    ///
    /// # Errors
    /// Another sampler is running, or the system has no profiling timer.
    pub fn start() -> Result<Self, ProfileError> {
        Ok(Sampling(ProfilerGuard::new(FREQUENCY)?))
    }

    /// Stops sampling and keeps the samples in kernels. `id` is `<operation>/<workload>/<kernel>/<size>`.
    ///
    /// # Errors
    /// No sample fell into a kernel.
    pub fn finish(self, id: &str) -> Result<Profile, ProfileError> {
        let report = self.0.report().build()?;
        let mut stacks = BTreeMap::new();
        for (stack, count) in &report.data {
            // Frames come innermost first; within a physical frame, inlined functions come before the enclosing one.
            // A leaf in a linker stub has no name, but its caller has one.
            let named = |symbol: &&Symbol| symbol.name.is_some();
            let physical =
                stack.frames.iter().rev().filter_map(|symbols| symbols.last()).filter(named).map(Symbol::name);
            if let Some(frames) = below_the_harness(physical) {
                *stacks.entry(frames.join(";")).or_default() += *count as u64;
            }
        }
        if stacks.is_empty() {
            Err(ProfileError::Empty(id.to_owned()))
        } else {
            Ok(Profile { id: id.to_owned(), stacks })
        }
    }
}

/// The harness functions that call the measured code: for an operation, for a game, for anything else in a bench.
const HARNESS: [&str; 3] =
    ["session::Session>::spin", "games::Question::solve", "criterion::bencher::Bencher<M>::iter"];

/// Short names of the frames below the harness, outermost first. On a thread started by a kernel, the frames from the
/// first one of this crate. `None` for samples outside of kernels.
fn below_the_harness(frames: impl Iterator<Item = String>) -> Option<Vec<String>> {
    let frames: Vec<String> = frames.collect();
    let start = match frames.iter().rposition(|frame| HARNESS.iter().any(|name| frame.ends_with(name))) {
        Some(harness) => harness + 1,
        None if frames.iter().any(|frame| frame == "main") => return None,
        None => frames.iter().position(|frame| frame.contains("nimlanes::cores"))?,
    };
    // Shims for calls through function references are attributed to the caller.
    let own = frames[start..].iter().filter(|frame| !frame.contains("core::ops::function::"));
    let own: Vec<String> = own.map(|frame| short(frame)).collect();
    (!own.is_empty()).then_some(own)
}

/// Shortens `nimlanes::cores::mex::subtraction::stamp::run<u16>` to `stamp::run`: the last two path segments, without
/// generics. The entry of a kernel becomes the kernel's name.
fn short(function: &str) -> String {
    let mut depth = 0;
    let plain: String = function
        .chars()
        .filter(|c| {
            depth += i32::from(*c == '<');
            let keep = depth == 0;
            depth -= i32::from(*c == '>');
            keep
        })
        .collect();
    let names: Vec<&str> = plain.split("::").filter(|name| !name.is_empty() && *name != "{{closure}}").collect();
    match names[..] {
        [.., "KERNELS", kernel] => kernel.to_owned(),
        [.., module, name] => format!("{module}::{name}"),
        [name] => name.to_owned(),
        [] => function.to_owned(),
    }
}

/// The folder of profiles in the working directory; native builds have their own.
pub const ROOT: &str = if cfg!(target_feature = "avx2") { "profiles/native" } else { "profiles" };

/// Sampled stacks of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// `<operation>/<workload>/<kernel>/<size>`.
    id: String,
    /// Number of samples per stack; frames are joined by `;`, outermost first.
    stacks: BTreeMap<String, u64>,
}

impl Profile {
    /// Total number of samples.
    pub fn samples(&self) -> u64 {
        self.stacks.values().sum()
    }

    /// Functions with the number of samples in their own code, callees excluded; most first.
    pub fn innermost(&self) -> Vec<(&str, u64)> {
        let mut by_function = BTreeMap::<&str, u64>::new();
        for (stack, count) in &self.stacks {
            *by_function.entry(stack.rsplit(';').next().unwrap_or(stack)).or_default() += count;
        }
        let mut functions: Vec<_> = by_function.into_iter().collect();
        functions.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        functions
    }

    /// Writes `<root>/<operation>/<workload>/<kernel>-<size>.svg` and `.folded`, and creates missing folders. Returns the
    /// path of the SVG.
    ///
    /// # Errors
    /// A file or folder cannot be written.
    pub fn write(&self, root: &Path) -> Result<PathBuf, ProfileError> {
        let [_, kernel, size] = self.names();
        let subtitle = format!("{} samples of CPU time, {FREQUENCY} per second", self.samples());
        let folded = self.folded();
        write(&self.path(root, &format!("{kernel}-{size}.folded")), folded.as_bytes())?;
        draw(&self.path(root, &format!("{kernel}-{size}.svg")), &self.id, subtitle, &folded)
    }

    /// Writes `<root>/<operation>/<workload>/<before>-to-<kernel>-<size>.svg`: this profile, with functions in red if they
    /// take a larger share of the time than in `before`, in blue if they take a smaller one. Both kernels are named `kernel`
    /// in it, so that phases of the same name are compared. It compares shares, since with absolute times a much faster
    /// kernel would be all blue. The subtitle gives the time of a run of each, from `seconds`.
    ///
    /// # Errors
    /// A file or folder cannot be written.
    pub fn write_against(&self, before: &Profile, seconds: [f64; 2], root: &Path) -> Result<PathBuf, ProfileError> {
        let [group, kernel, size] = self.names();
        let [_, old, _] = before.names();
        let path = self.path(root, &format!("{old}-to-{kernel}-{size}.svg"));
        let [first, second] = [before, self].map(|profile| profile.without_kernel_name().folded());
        let mut both = Vec::new();
        let options = differential::Options { normalize: true, strip_hex: false };
        differential::from_readers(options, first.as_bytes(), second.as_bytes(), &mut both)
            .map_err(|source| ProfileError::Write { path: path.clone(), source })?;
        let title = format!("{group}/{size}: {old} to {kernel}");
        let [first, second] = seconds.map(|seconds| span(1e9 * seconds));
        let subtitle =
            format!("shares, not times: red grew, blue shrank; a run took {first} before and takes {second} now");
        draw(&path, &title, subtitle, &String::from_utf8_lossy(&both))
    }

    /// The stacks as text, one per line with its count.
    fn folded(&self) -> String {
        self.stacks.iter().map(|(stack, count)| format!("{stack} {count}\n")).collect()
    }

    /// `<operation>/<workload>`, kernel and size.
    fn names(&self) -> [&str; 3] {
        let (rest, size) = self.id.rsplit_once('/').unwrap_or((&self.id, ""));
        let (group, kernel) = rest.rsplit_once('/').unwrap_or(("", rest));
        [group, kernel, size]
    }

    fn path(&self, root: &Path, file: &str) -> PathBuf {
        let [group, ..] = self.names();
        root.join(group).join(file)
    }

    /// This profile with the kernel's name replaced by `kernel`.
    fn without_kernel_name(&self) -> Profile {
        let [_, kernel, _] = self.names();
        let rename = |frame: &str| match frame.strip_prefix(kernel) {
            Some(phase) if phase.is_empty() || phase.starts_with("::") => format!("kernel{phase}"),
            _ => frame.to_owned(),
        };
        let mut stacks = BTreeMap::new();
        for (stack, count) in &self.stacks {
            *stacks.entry(stack.split(';').map(rename).collect::<Vec<_>>().join(";")).or_default() += count;
        }
        Profile { id: self.id.clone(), stacks }
    }
}

/// Writes a flamegraph of the stacks to a file.
fn draw(path: &Path, title: &str, subtitle: String, folded: &str) -> Result<PathBuf, ProfileError> {
    let mut image = Vec::new();
    flamegraph::from_lines(&mut style(title, subtitle), folded.lines(), &mut image)
        .map_err(|source| ProfileError::Write { path: path.to_owned(), source })?;
    write(path, &image)?;
    Ok(path.to_owned())
}

/// Flamegraph options: a function has the same colour in every picture.
fn style(title: &str, subtitle: String) -> flamegraph::Options<'static> {
    let mut options = flamegraph::Options::default();
    options.title = title.to_owned();
    options.subtitle = Some(subtitle);
    options.deterministic = true;
    options.hash = true;
    options
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ProfileError> {
    files::save(path, bytes).map_err(|source| ProfileError::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(stack: &str) -> Option<Vec<String>> {
        below_the_harness(stack.split(';').map(str::to_owned))
    }

    #[test]
    fn the_harness_is_cut_off_and_names_are_short() {
        let spin = "<nimlanes::session::OpenSession<O> as nimlanes::session::Session>::spin";
        let entry = "nimlanes::cores::mex::subtraction::<impl nimlanes::kernel::Operation for X>::KERNELS::stamp";
        let inner = "nimlanes::cores::mex::subtraction::stamp::first_gap<u16>";
        let want = Some(vec!["stamp".to_owned(), "stamp::first_gap".to_owned()]);
        assert_eq!(cut(&format!("main;criterion::routine::warm_up;{spin};{entry};{inner}")), want);
        assert_eq!(cut(&format!("main;criterion::analysis::common;nimlanes::session::Session::run;{entry}")), None);
        assert_eq!(cut(&format!("clone3;start_thread;std::thread::start;{inner}")).unwrap(), ["stamp::first_gap"]);
        assert_eq!(cut("clone3;start_thread;rayon::join"), None);
        let shim = "core::ops::function::impls::<impl core::ops::function::Fn<A> for &F>::call";
        assert_eq!(cut(&format!("main;{spin};{entry};{shim}")).unwrap(), ["stamp"]);
    }
}
