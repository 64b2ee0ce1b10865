//! The tables of what bounds kernels, by a simulation of what they execute.

use super::markdown::{Table, code, range, size, times};
use super::{Report, Topic};
use crate::files::saved::{Saved, day};
use crate::measuring::counters::{Bound, Counted};
use crate::report::data::apart::Bounds;

/// The explanation, which is written by hand.
const WHY: &str = include_str!("bounds.md");

impl Report<'_> {
    pub(super) fn bounds(&self) -> Option<Topic> {
        let measured = &self.apart.bounds;
        let found: Vec<String> = measured.iter().filter_map(finding).collect();
        (!found.is_empty()).then(|| Topic {
            file: "bounds",
            title: "Bound by what".to_owned(),
            finding: found.join(" "),
            tables: format!("{WHY}\n{}", measured.iter().map(machine).collect::<String>()),
        })
    }
}

fn machine(Saved { environment, content, date, .. }: &Saved<Bounds>) -> String {
    let heads = ["operation", "kernel", "size", "per", "instructions", "cycles"];
    let mut table = Table::new(&[&heads[..], &Bound::SHARES].concat());
    for Counted { case, counters } in &content.operations {
        for (kernel, instructions, bound) in counters.bounds() {
            let what = [code(&case.operation), code(kernel), size(case.size), counters.unit().to_owned()];
            let counts = [instructions, bound.measured_cycles].map(times);
            table.row(what.into_iter().chain(counts).chain(bound.shares().map(percent)));
        }
    }
    let by = bounds(content).next().map_or("", |bound| &bound.by);
    format!(
        "## {}\n\n{}, on {}, {} build, {}, {by}.\n\n{}",
        environment.microarchitecture,
        environment.cpu,
        day(date),
        environment.build.name,
        environment.build.rustc,
        table.end(),
    )
}

fn bounds(measured: &Bounds) -> impl Iterator<Item = &Bound> {
    measured.operations.iter().flat_map(|counted| counted.counters.bounds().map(|(_, _, bound)| bound))
}

/// How much the simulation explains, and what has the largest share of that.
fn finding(Saved { environment, content, .. }: &Saved<Bounds>) -> Option<String> {
    let explained: Vec<f64> = bounds(content).map(Bound::explained).collect();
    let mut largest: Vec<(&str, usize)> = Vec::new();
    for bound in bounds(content) {
        let [explained @ .., _] = bound.shares();
        let (_, name) = explained.into_iter().zip(Bound::SHARES).max_by(|a, b| a.0.total_cmp(&b.0))?;
        match largest.iter_mut().find(|(seen, _)| *seen == name) {
            Some((_, count)) => *count += 1,
            None => largest.push((name, 1)),
        }
    }
    largest.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let largest: Vec<String> = largest.iter().map(|(name, count)| format!("{name} for {count}")).collect();
    Some(format!(
        "On {}, a simulation of what the selected kernels execute explains {} of their time, without cache misses and mispredicted \
         branches. The largest part of that: {}.",
        environment.microarchitecture,
        range(&explained, percent)?,
        largest.join(", "),
    ))
}

/// A share, which may be below 0.
fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share).replace('-', "−")
}

#[cfg(test)]
mod tests {
    use nimlanes::lab::environment::Environment;
    use nimlanes::machine::Machine;
    use serde_json::json;

    use super::*;
    use crate::report::data::Data;
    use crate::report::data::apart::Apart;

    /// A kernel that takes ten cycles, so many of which are simulated: half of these are those of the front end, and a quarter each waits
    /// for ports and for a chain.
    fn counted(kernel: &str, cycles: f64) -> Counted {
        let bound = json!({
            "by": "llvm-mca 19", "instructions": 1000, "cycles": cycles, "measured_cycles": 10.0,
            "front_end": 0.5, "ports": 0.25, "loads": 0.0, "chain": 0.25,
        });
        let row = json!({ "kernel": kernel, "runs": 1, "instructions": 30.0, "bound": bound });
        let counters = json!({ "counted_by": "steps", "unit": "heap", "rows": [row] });
        let case = json!({ "operation": "mex_subtraction", "workload": "squares", "size": 5000, "counters": counters });
        serde_json::from_value(case).expect("counts")
    }

    #[test]
    fn a_row_has_what_is_explained_and_what_is_not() {
        let bounds = Bounds { operations: vec![counted("stamp", 8.0), counted("flags", 12.0)] };
        let apart =
            Apart { bounds: vec![Saved::now(Environment::detect(&Machine::detect()), bounds)], ..Apart::default() };
        let data = Data::default();
        let Topic { finding, tables, .. } = Report::new(&data, None, &[]).with_apart(&apart).bounds().expect("bounds");
        assert!(finding.contains(" explains 80 % to 120 % of their time"), "{finding}");
        assert!(finding.ends_with("The largest part of that: front end for 2."), "{finding}");
        for row in [
            "| `mex_subtraction` | `stamp` | 5\u{202f}000 | heap | 30.0 | 10.0 | 40 % | 20 % | 0 % | 20 % | 20 % |\n",
            "| `mex_subtraction` | `flags` | 5\u{202f}000 | heap | 30.0 | 10.0 | 60 % | 30 % | 0 % | 30 % | −20 % |\n",
        ] {
            let plain = |text: &str| text.replace(['\u{202f}', '\u{a0}'], " ");
            assert!(plain(&tables).contains(&plain(row)), "{tables}");
        }
        assert!(Report::new(&data, None, &[]).bounds().is_none(), "nothing was measured");
    }
}
