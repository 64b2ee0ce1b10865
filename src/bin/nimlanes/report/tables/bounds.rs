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
            tables: format!("{WHY}\n{}", measured.iter().map(|saved| self.machine_bounds(saved)).collect::<String>()),
        })
    }

    fn machine_bounds(&self, Saved { environment, content, date, .. }: &Saved<Bounds>) -> String {
        let heads = ["operation", "kernel", "size", "per", "instructions", "cycles"];
        let mut table = Table::new(&[&heads[..], &Bound::SHARES].concat());
        for Counted { case, counters } in &content.operations {
            let entry = self.entries().find(|entry| entry.name() == case.operation);
            for (kernel, instructions, bound) in counters.bounds() {
                let link = entry.as_ref().map_or_else(|| code(kernel), |entry| entry.link(kernel));
                let figures = [code(&case.operation), link, size(case.size), counters.unit().to_owned()];
                let counts = [instructions, bound.measured_cycles].map(times);
                table.row(figures.into_iter().chain(counts).chain(bound.shares().map(percent)));
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
