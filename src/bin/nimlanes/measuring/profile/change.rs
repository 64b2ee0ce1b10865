//! Pictures of a change: from one kernel to another, or from a kernel in another revision to this build.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nimlanes::units::span;

use super::picture::{Stacks, draw_change};
use super::{Profile, ProfileError, save};

/// The most changes that a text lists.
const LISTED: usize = 40;

/// What is compared.
#[derive(Clone, Debug)]
pub struct Side {
    /// Its name in pictures, unlike that of the other side.
    pub name: String,
    /// Its stacks.
    pub profile: Profile,
    /// Seconds for a unit of work.
    pub seconds: f64,
}

/// A change of the time for a unit of work.
#[derive(Clone, Debug)]
pub struct Change {
    /// The side that it is from.
    pub before: Side,
    /// The side that it is to.
    pub now: Side,
    /// The unit of work, in the singular.
    pub unit: &'static str,
}

impl Change {
    /// Writes `<root>/<operation>/<workload>/<before>-to-<now>-<size>.svg`, a picture of the time for a unit of work, and a `.txt`
    /// with the greatest changes. Each frame is as wide as the larger of its two times, red if that is the time now, blue if it
    /// is the one before. The outermost frame names both sides; phases within are named without their kernel, so that those of
    /// the same name are compared. Returns the path of the SVG.
    ///
    /// # Errors
    /// A file or folder cannot be written.
    pub fn write(&self, root: &Path) -> Result<PathBuf, ProfileError> {
        let Change { before, now, unit } = self;
        let [group, _, size] = now.profile.names();
        let both = format!("{} to {}", before.name, now.name);
        let path = |ending: &str| now.profile.path(root, &format!("{}-{size}.{ending}", both.replace(' ', "-")));
        let title = format!("{group}/{size}: {both}");
        // Whole numbers of a small unit.
        let (scale, small) = if before.seconds.max(now.seconds) < 1e-9 { (1e18, "as") } else { (1e15, "fs") };
        let mut changes = BTreeMap::<String, [u64; 2]>::new();
        for (which, side) in [before, now].into_iter().enumerate() {
            let each = scale * side.seconds / side.profile.samples() as f64;
            for (stack, count) in side.profile.outermost_named(&both) {
                changes.entry(stack).or_default()[which] = (each * count as f64).round() as u64;
            }
        }
        let text = format!("{title}\n{}\n\n{}", self.times(), changes_of_leaves(&changes, scale));
        save(&path("txt"), Ok(text.into_bytes()))?;
        let [then, takes] = [before, now].map(|side| duration(side.seconds));
        let subtitle = format!("{then} a {unit}, now {takes}; width: larger time, red: added, blue: saved");
        save(&path("svg"), draw_change(&title, &subtitle, &format!("{small} per {unit}"), &changes))?;
        Ok(path("svg"))
    }

    /// The times of both sides, in words.
    pub fn times(&self) -> String {
        let Change { before, now, unit } = self;
        let [first, second] = [before, now].map(|side| duration(side.seconds));
        format!("a {unit} took {first} in {}, and takes {second} in {}", before.name, now.name)
    }
}

impl Profile {
    /// The stacks with the kernel's name replaced by `name` in outermost frames, and left out of frames within.
    fn outermost_named(&self, name: &str) -> Stacks {
        let [_, kernel, _] = self.names();
        let rename = |(depth, frame): (usize, &str)| match frame.strip_prefix(kernel) {
            Some(phase) if depth == 0 && (phase.is_empty() || phase.starts_with("::")) => format!("{name}{phase}"),
            Some(phase) => phase.strip_prefix("::").unwrap_or(frame).to_owned(),
            None => frame.to_owned(),
        };
        self.renamed(|stack| stack.split(';').enumerate().map(rename).collect::<Vec<_>>().join(";"))
    }

    /// The profile with lines of source named as in `now`, where they have only moved in their file. Each is taken for the
    /// nearest line of the same text.
    pub fn with_lines_as_in(mut self, now: &Profile) -> Self {
        let mut places = BTreeMap::<(&str, &str), Vec<u64>>::new();
        for (file, number, text) in now.stacks.keys().flat_map(|stack| stack.split(';')).filter_map(source) {
            places.entry((file, text)).or_default().push(number);
        }
        let moved = |frame: &str| {
            let (file, number, text) = source(frame)?;
            let nearest = places.get(&(file, text))?.iter().min_by_key(|place| place.abs_diff(number))?;
            Some(format!("{file}:{nearest} {text}"))
        };
        let rename = |frame: &str| moved(frame).unwrap_or_else(|| frame.to_owned());
        self.stacks = self.renamed(|stack| stack.split(';').map(rename).collect::<Vec<_>>().join(";"));
        self
    }

    fn renamed(&self, rename: impl Fn(&str) -> String) -> Stacks {
        let mut stacks = Stacks::new();
        for (stack, count) in &self.stacks {
            *stacks.entry(rename(stack)).or_default() += count;
        }
        stacks
    }
}

/// The file, the number and the text of a line of source, if a frame is one.
fn source(frame: &str) -> Option<(&str, u64, &str)> {
    let (place, text) = frame.split_once(' ')?;
    let (file, number) = place.rsplit_once(':')?;
    Some((file, number.parse().ok()?, text))
}

/// A line for each innermost frame with its times before and now, the greatest changes first.
fn changes_of_leaves(changes: &BTreeMap<String, [u64; 2]>, scale: f64) -> String {
    let mut leaves = BTreeMap::<String, [u64; 2]>::new();
    for (stack, times) in changes {
        let leaf = stack.rsplit(';').next().unwrap_or(stack);
        let sum = leaves.entry(leaf.to_owned()).or_default();
        (0..2).for_each(|which| sum[which] += times[which]);
    }
    let mut leaves: Vec<_> = leaves.into_iter().collect();
    leaves.sort_by_key(|(_, [before, now])| std::cmp::Reverse(before.abs_diff(*now)));
    let time = |time: u64| if time == 0 { "-".to_owned() } else { duration(time as f64 / scale) };
    let line = |(frame, [before, now]): (String, [u64; 2])| format!("{:>9}  {:>9}  {frame}\n", time(before), time(now));
    let head = format!("{:>9}  {:>9}\n", "before", "now");
    head + &leaves.into_iter().take(LISTED).map(line).collect::<String>()
}

/// Seconds, for people; below a nanosecond in picoseconds.
fn duration(seconds: f64) -> String {
    if seconds < 1e-9 { format!("{:.1} ps", 1e12 * seconds) } else { span(1e9 * seconds) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(kernel: &str, stacks: &[(&str, u64)]) -> Profile {
        let stacks = stacks.iter().map(|(stack, count)| ((*stack).to_owned(), *count)).collect();
        Profile::new(&format!("mex/squares/{kernel}/10"), stacks)
    }

    #[test]
    fn both_sides_are_named_and_phases_are_compared() {
        let side =
            |kernel: &str, stacks, seconds| Side { name: kernel.to_owned(), profile: profile(kernel, stacks), seconds };
        let before = side("old", &[("old;old::run", 1), ("old;older::run", 1)], 2e-9);
        let now = side("new", &[("new;new::run", 4)], 1e-9);
        let root = tempfile::tempdir().expect("a folder");
        let picture = Change { before, now, unit: "heap" }.write(root.path()).expect("written");
        assert!(picture.ends_with("mex/squares/old-to-new-10.svg"), "{}", picture.display());
        let image = std::fs::read_to_string(&picture).expect("a picture");
        for says in ["2.0 ns a heap, now 1.0 ns; width", "<title>old to new (", "<title>run (", "<title>older::run ("] {
            assert!(image.contains(says), "{says}: {image}");
        }
        let text = std::fs::read_to_string(picture.with_extension("txt")).expect("a text");
        assert!(text.starts_with("mex/squares/10: old to new\na heap took 2.0 ns in old, and takes 1.0 ns in new\n"));
    }

    #[test]
    fn lines_that_have_moved_are_the_same() {
        let now = profile("k", &[("k;a.rs:9 x", 1), ("k;a.rs:70 x", 1), ("k;a.rs:8 y", 1)]);
        let before = profile("k", &[("k;a.rs:5 x", 1), ("k;a.rs:71 x", 1), ("k;a.rs:8 z", 1), ("k;b.rs:9 x", 1)]);
        let want = profile("k", &[("k;a.rs:9 x", 1), ("k;a.rs:70 x", 1), ("k;a.rs:8 z", 1), ("k;b.rs:9 x", 1)]);
        assert_eq!(before.with_lines_as_in(&now), want);
    }
}
