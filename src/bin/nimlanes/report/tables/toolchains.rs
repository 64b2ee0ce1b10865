//! The tables of compilers: the same kernels by each, and what became slower or faster.

use super::markdown::{Table, code, range, size, time, times};
use super::{Report, Topic};
use crate::files::saved::{Saved, day};
use crate::measuring::duel::show::{MOST_DISTURBED, disturbances};
use crate::measuring::duel::{CompiledKernel, CompiledTime, Compiler, Compilers, Step};
use crate::report::data::apart::Toolchains;

/// The explanation, which is written by hand.
const WHY: &str = include_str!("toolchains.md");

/// A kernel that became slower or faster.
struct Changed<'a> {
    operation: &'a str,
    row: &'a CompiledKernel,
    times: [f64; 2],
    step: Step,
}

impl Report<'_> {
    pub(super) fn toolchains(&self) -> Option<Topic> {
        let measured = &self.apart.toolchains;
        let found: Vec<String> = measured.iter().flat_map(findings).collect();
        (!found.is_empty()).then(|| Topic {
            file: "toolchains",
            title: "Compilers".to_owned(),
            finding: format!("{} Every \"times the baseline\" holds for one version of a compiler.", found.join(" ")),
            tables: format!("{WHY}\n{}", measured.iter().map(machine).collect::<String>()),
        })
    }
}

/// The compilers, oldest first.
fn compilers(measured: &Toolchains) -> &[Compiler] {
    measured.operations.first().map_or(&[], |duel| &duel.compilers)
}

fn named(compiler: &Compiler) -> String {
    format!("{} (LLVM {})", compiler.version(), compiler.llvm)
}

/// The number of kernels by two compilers, the older of which has this rank, and those that changed: slowest first.
fn changed(measured: &Toolchains, rank: usize) -> (usize, Vec<Changed<'_>>) {
    let rows = measured.operations.iter().flat_map(|duel| duel.rows.iter().map(|row| (&*duel.case.operation, row)));
    let both = rows.filter_map(|(operation, row)| match row.times.get(rank..rank + 2)? {
        [Some(before), Some(CompiledTime { median_seconds, step: Some(step) })] => {
            Some(Changed { operation, row, times: [before.median_seconds, *median_seconds], step: *step })
        }
        _ => None,
    });
    let (mut changed, tied): (Vec<_>, Vec<_>) = both.partition(|one| one.step.verdict() != "tie");
    changed.sort_by(|a, b| b.step.over_older.total_cmp(&a.step.over_older));
    (changed.len() + tied.len(), changed)
}

/// How much changed from each compiler to the next.
fn findings(Saved { environment, content, .. }: &Saved<Toolchains>) -> Vec<String> {
    let steps = compilers(content).windows(2).enumerate();
    let finding = |(rank, step): (usize, &[Compiler])| {
        let (count, changed) = changed(content, rank);
        let is_quiet = content.operations.iter().all(|duel| duel.disturbed <= MOST_DISTURBED);
        let unquiet = if is_quiet { "" } else { ", which was not quiet" };
        let [older, newer] = [0, 1].map(|side| named(&step[side]));
        let slower = changed.iter().filter(|one| one.step.over_older > 1.0).count();
        let extreme =
            |one: Option<&Changed>| one.map(|one| format!("{} {}", times(one.step.over_older), code(&one.row.kernel)));
        let span = extreme(changed.last()).zip(extreme(changed.first()));
        let span = span.map_or(String::new(), |(low, high)| format!(": the new time is {low} to {high} of the old"));
        format!(
            "From rustc {older} to {newer}, on {}{unquiet}, {slower} of {count} kernels became slower by more than 5 %, {} faster{span}.",
            environment.microarchitecture,
            changed.len() - slower,
        )
    };
    steps.map(finding).collect()
}

fn machine(saved: &Saved<Toolchains>) -> String {
    let Saved { environment, content, date, .. } = saved;
    let disturbed = noise(content.operations.iter().map(|duel| duel.disturbed));
    let compilers = compilers(content);
    let by: Vec<String> = compilers.iter().map(named).collect();
    let mut text = format!(
        "## {}\n\n{}, on {}, {} build, by rustc {}.{disturbed}\n\n",
        environment.microarchitecture,
        environment.cpu,
        day(date),
        environment.build.name,
        by.join(", "),
    );
    text += &over_baselines(content).below("The best kernel as times the baseline, by each compiler:");
    let mut steps = Table::new(&["operation", "kernel", "tier", "by", "time before", "time", "ratio", "middle 80 %"]);
    for (rank, compiler) in compilers.iter().enumerate().skip(1) {
        for Changed { operation, row, times: [before, now], step } in changed(content, rank - 1).1 {
            let names = [code(operation), code(&row.kernel), code(&row.tier), compiler.version().to_owned()];
            let ratio = format!("**{}** {}", times(step.over_older), step.verdict());
            let middle = format!("{:.2} to {:.2}", step.over_older_low, step.over_older_high);
            steps.row(names.into_iter().chain([time(before), time(now), ratio, middle]));
        }
    }
    text += &steps.below("What became slower or faster, as time divided by that of the compiler before:");
    text + &content.operations.iter().map(all_kernels).collect::<String>()
}

/// A warning if many turns were disturbed, given their shares in some duels.
pub(super) fn noise(shares: impl Iterator<Item = f64>) -> String {
    let shares: Vec<f64> = shares.filter(|share| *share > MOST_DISTURBED).collect();
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    range(&shares, percent).map_or(String::new(), |range| {
        let count = shares.len();
        format!(
            " **Not quiet**: in {count} of the duels {range} of the turns were disturbed and left out. Take a difference of less than 10 % for a \
             tie here."
        )
    })
}

/// What the best kernels win, by each compiler.
fn over_baselines(measured: &Toolchains) -> Table {
    let versions = compilers(measured).iter().map(|compiler| format!("× by {}", compiler.version()));
    let heads = ["operation", "baseline"].map(str::to_owned).into_iter().chain(versions);
    let mut table = Table::new(&heads.collect::<Vec<_>>());
    for Compilers { case, baseline, compilers, rows, .. } in &measured.operations {
        let ratio = |rank: usize| {
            let seconds = |row: &CompiledKernel| row.times.get(rank)?.as_ref().map(|time| time.median_seconds);
            let base = rows.iter().find(|row| row.kernel == *baseline).and_then(seconds)?;
            let timed = rows.iter().filter_map(|row| Some((seconds(row)?, row)));
            let (best, row) = timed.min_by(|a, b| a.0.total_cmp(&b.0))?;
            Some(format!("{} {}", times(base / best), code(&row.kernel)))
        };
        let ratios = (0..compilers.len()).map(|rank| ratio(rank).unwrap_or_else(|| "–".to_owned()));
        table.row([code(&case.operation), code(baseline)].into_iter().chain(ratios));
    }
    table
}

/// The kernels of an operation by each compiler.
fn all_kernels(Compilers { case, compilers, rows, processes, rounds, disturbed, .. }: &Compilers) -> String {
    let [disturbed, _] = disturbances(*disturbed);
    let versions = compilers.iter().map(|compiler| compiler.version().to_owned());
    let mut table = Table::new(&["kernel", "tier"].map(str::to_owned).into_iter().chain(versions).collect::<Vec<_>>());
    for CompiledKernel { kernel, tier, times: timed } in rows {
        let cell = |one: &Option<CompiledTime>| match one {
            None => "–".to_owned(),
            Some(CompiledTime { median_seconds, step: Some(step) }) if step.verdict() != "tie" => {
                format!("{} (**{}**)", time(*median_seconds), times(step.over_older))
            }
            Some(CompiledTime { median_seconds, .. }) => time(*median_seconds),
        };
        table.row([code(kernel), code(tier)].into_iter().chain(timed.iter().map(cell)));
    }
    let title = format!("### {} at {}", code(&case.operation), size(case.size));
    format!(
        "{title}\n\n{rounds} rounds in {processes} processes{disturbed}; in brackets how many times as long, where it is no tie.\n\n{}",
        table.end()
    )
}

#[cfg(test)]
mod tests {
    use nimlanes::lab::environment::Environment;
    use nimlanes::machine::Machine;

    use super::*;
    use crate::measuring::duel::example;

    /// Milliseconds by each compiler.
    fn row(kernel: &str, times: &[f64]) -> CompiledKernel {
        let time = |rank: usize| {
            let step = rank.checked_sub(1).map(|older| {
                let over_older = times[rank] / times[older];
                let [low, high] = [0.99, 1.01].map(|factor| factor * over_older);
                Step { over_older, over_older_low: low, over_older_high: high, over_older_processes: None }
            });
            Some(CompiledTime { median_seconds: times[rank] / 1e3, step })
        };
        let times = (0..times.len()).map(time).collect();
        CompiledKernel { kernel: kernel.to_owned(), tier: "portable".to_owned(), times }
    }

    #[test]
    fn what_changed_is_told_from_ties() {
        let compiler =
            |version: &str| Compiler { rustc: format!("rustc {version} (a 2026-01-01)"), llvm: "20".to_owned() };
        let duel = Compilers {
            case: example::duel(Vec::new()).case,
            build: "default".to_owned(),
            baseline: "stamp".to_owned(),
            processes: 5,
            rounds: 20,
            disturbed: 0.0,
            compilers: ["1.2.0", "1.10.0"].map(compiler).to_vec(),
            rows: vec![row("lanes", &[1.0, 0.5]), row("flags", &[2.0, 2.02]), row("stamp", &[4.0, 5.0])],
            skipped: Vec::new(),
        };
        assert!(duel.compilers.is_sorted_by_key(Compiler::age));
        let environment = Environment::detect(&Machine::detect());
        let saved = Saved::now(environment, Toolchains { operations: vec![duel] });
        let found = findings(&saved).concat();
        let says = "1 of 3 kernels became slower by more than 5 %, 1 faster: the new time is 0.50 `lanes` to 1.25 `stamp` of the old.";
        assert!(
            found.starts_with("From rustc 1.2.0 (LLVM 20) to 1.10.0 (LLVM 20), on ") && found.ends_with(says),
            "{found}"
        );
        let text = machine(&saved).replace('\u{a0}', " ");
        for row in [
            "| `mex_subtraction` | `stamp` | 4.00 `lanes` | 10.0 `lanes` |\n",
            "| `mex_subtraction` | `stamp` | `portable` | 1.10.0 | 4.00 ms | 5.00 ms | **1.25** slower | 1.24 to 1.26 |\n",
            "| `flags` | `portable` | 2.00 ms | 2.02 ms |\n",
            "| `lanes` | `portable` | 1.00 ms | 500.00 µs (**0.50**) |\n",
        ] {
            assert!(text.contains(row), "{row}\n{text}");
        }
    }
}
