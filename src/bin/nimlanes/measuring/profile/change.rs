//! The change from one profile to another: of another kernel, or of another build.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Profile;
use super::picture::percent;

/// A line for each function with its own share of the samples before and now, the greatest changes first. Functions are named
/// without their kernel, so that those of the same name are compared. Shares under a fiftieth are left out.
pub fn change(before: &Profile, now: &Profile) -> String {
    let mut functions = BTreeMap::<&str, [u64; 2]>::new();
    for (which, profile) in [before, now].into_iter().enumerate() {
        let [_, kernel, _] = profile.names();
        for (stack, count) in &profile.stacks {
            // Lines of source end a stack, and move from one revision to another.
            let innermost = stack.rsplit(';').find(|frame| !frame.contains(".rs:")).unwrap_or(stack);
            let name = match innermost.strip_prefix(kernel) {
                Some("") => "the kernel itself",
                Some(phase) => phase.strip_prefix("::").unwrap_or(innermost),
                None => innermost,
            };
            functions.entry(name).or_default()[which] += count;
        }
    }
    let all = [before, now].map(Profile::samples);
    functions.retain(|_, counts| (0..2).any(|which| 50 * counts[which] >= all[which]));
    let mut functions: Vec<_> = functions.into_iter().collect();
    functions.sort_by_key(|(_, [before, now])| Reverse((before * all[1]).abs_diff(now * all[0])));
    let line = |(name, [before, now]): (&str, [u64; 2])| {
        format!("{:>8} {:>8}  {name}\n", percent(before, all[0]), percent(now, all[1]))
    };
    format!("{:>8} {:>8}  function\n", "before", "now") + &functions.into_iter().map(line).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_compared_by_their_share() {
        let profile = |kernel: &str, stacks: &[(&str, u64)]| {
            let stacks = stacks.iter().map(|(stack, count)| ((*stack).to_owned(), *count)).collect();
            Profile::new(&format!("mex/squares/{kernel}/10"), stacks)
        };
        let before = profile("old", &[("old;old::run;a.rs:9 x", 45), ("old;old::run", 45), ("old;a.rs:1 y", 10)]);
        let now = profile("new", &[("new;new::run;b.rs:1 x", 100), ("new;c::more", 99), ("new;c::few", 1)]);
        let want = "  before      now  function\n  0.0 %   49.5 %  c::more\n  90.0 %   50.0 %  run\n  10.0 %    0.0 %  the kernel itself\n";
        assert_eq!(change(&before, &now), want.replace("  0.0 %   49", "   0.0 %   49"));
    }
}
