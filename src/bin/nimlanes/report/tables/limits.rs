//! How close kernels come to the limits of the machine.

use std::collections::BTreeMap;

use nimlanes::kernel::Needs;
use nimlanes::lab::ceilings::Reading;

use super::markdown::{Table, code, memory, ns, range, times};
use super::{Entry, Report, Topic};
use crate::measuring::duel::Row;
use crate::report::data::KernelNeeds;

const LIMITS: &str = include_str!("limits.md");

/// The least time for what a unit of work needs, by the measured ceilings.
pub(super) struct Limit {
    pub(super) ns: f64,
    /// The most expensive need.
    bound: &'static str,
    /// The needs as text, most expensive first.
    needs: String,
}

impl Limit {
    /// Multiplies each need by its ceiling. The most expensive is the limit, as the others may overlap with it.
    fn from_needs(needs: &Needs, readings: &[Reading]) -> Option<Self> {
        // The largest buffer that is no larger than the data accessed: its time per operation cannot be too high.
        let ceiling = |kind: &str, name: &str| {
            let level = |reading: &&Reading| {
                reading.kind == kind
                    && (name.is_empty() || reading.name == name || name == SPLIT && reading.name.ends_with(name))
            };
            let plain = |reading: &&Reading| !name.is_empty() || !reading.name.ends_with(SPLIT);
            let all = || readings.iter().filter(level).filter(plain);
            let within =
                all().filter(|reading| reading.bytes as f64 <= needs.bytes).max_by_key(|reading| reading.bytes);
            within.or(all().min_by_key(|reading| reading.bytes)).map(|reading| reading.ns)
        };
        // A kernel may use the faster of the two forms.
        let logical =
            ["logic", "logic_of_three"].into_iter().filter_map(|name| ceiling("vectors", name)).min_by(f64::total_cmp);
        let cost = |count: f64, kind, name| if count > 0.0 { Some(count * ceiling(kind, name)?) } else { Some(0.0) };
        let Needs { loads, split_loads, logic, permutes, bits, stores, cycles, .. } = *needs;
        let mut parts = [
            (loads + split_loads, "loads", cost(loads, "loads", "")? + cost(split_loads, "loads", SPLIT)?),
            (logic, "logical operations", if logic > 0.0 { logic * logical? } else { 0.0 }),
            (permutes, "permutations", cost(permutes, "vectors", "permute_bytes")?),
            (bits, "scattered bits", cost(bits, "bits", "")?),
            (stores, "stores", cost(stores, "stores", "")?),
            (cycles, "cycles", cost(cycles, "clock", "")?),
        ];
        parts.sort_by(|a, b| b.2.total_cmp(&a.2));
        let needed = parts.iter().filter(|(count, ..)| *count > 0.0);
        let needs: Vec<String> =
            needed.map(|(count, what, ns)| format!("{} {what} ({})", times(*count), self::ns(*ns))).collect();
        Some(Limit { ns: parts[0].2, bound: parts[0].1, needs: needs.join(", ") })
    }
}

/// Suffix of ceilings for loads across cache lines.
const SPLIT: &str = "_split";

/// The limit in percent of the measured time per unit of work.
pub(super) fn share(limit_ns: f64, row: &Row) -> String {
    format!("{:.0} %", 100.0 * limit_ns * row.throughput / 1e9)
}

impl Report<'_> {
    /// The limit of a kernel, from its stated needs and the measured ceilings.
    pub(super) fn limit(&self, entry: &Entry, row: &Row) -> Option<Limit> {
        let is_of_it =
            |stated: &&KernelNeeds| (stated.operation.as_str(), &stated.kernel) == (entry.name(), &row.kernel);
        Limit::from_needs(&self.data.needs.iter().find(is_of_it)?.needs, &self.data.ceilings)
    }

    pub(super) fn limits(&self) -> Option<Topic> {
        let mut ceilings = Table::new(&["ceiling", "buffer", "time of one", "median"]);
        for reading in &self.data.ceilings {
            let buffer = if reading.bytes == 0 { "registers".to_owned() } else { memory(reading.bytes as f64) };
            let what = format!("{} ({}, {})", reading.unit, reading.kind, reading.name);
            ceilings.row([what, buffer, ns(reading.ns), reading.median_ns.map_or("–".to_owned(), ns)]);
        }
        let heads = ["operation", "kernel", "a unit of work needs at least", "limit", "measured", "share of the limit"];
        let mut table = Table::new(&heads);
        let (mut best, mut reached) = (Vec::new(), BTreeMap::<_, Vec<f64>>::new());
        for entry in self.entries() {
            let Some(duel) = self.headline(&entry) else { continue };
            for (index, row) in duel.rows.iter().enumerate() {
                let Some(limit) = self.limit(&entry, row) else { continue };
                let ratio = limit.ns * row.throughput / 1e9;
                if index == 0 {
                    best.push(ratio);
                }
                reached.entry(limit.bound).or_default().push(ratio);
                table.row([
                    code(entry.name()),
                    entry.link(&row.kernel),
                    limit.needs.clone(),
                    ns(limit.ns),
                    ns(1e9 / row.throughput),
                    share(limit.ns, row),
                ]);
            }
        }
        let percent = |share| format!("{:.0} %", 100.0 * share);
        let mut bounds = Table::new(&["what bounds", "kernels", "share of the limit"]);
        for (bound, shares) in reached {
            bounds.row([bound.to_owned(), shares.len().to_string(), range(&shares, percent)?]);
        }
        Some(Topic {
            file: "limits",
            title: "Distance to the limit".to_owned(),
            finding: format!("The best kernels reach {} of what the machine could do at best.", range(&best, percent)?),
            tables: table.below(LIMITS)
                + &bounds.below("The same by what bounds them:")
                + &ceilings.below("Measured ceilings on one thread: the best of several timings, and their median."),
        })
    }
}
