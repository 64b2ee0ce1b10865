//! How close kernels come to the limits of the machine.

use nimlanes::kernel::Needs;
use nimlanes::lab::ceilings::Reading;

use super::MachineReport;
use super::markdown::{code, ns, percent, times};
use crate::measuring::duel::{Duel, Row};
use crate::report::data::KernelNeeds;

/// The least time for what a unit of work needs, by the measured ceilings.
pub(in crate::report) struct Limit {
    ns: f64,
    /// The needs as text, most expensive first.
    pub(in crate::report) needs: String,
}

impl Limit {
    /// The limit as a share of the measured time per unit of work.
    pub(in crate::report) fn share(&self, row: &Row) -> f64 {
        self.ns * row.throughput / 1e9
    }

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
        Some(Limit { ns: parts[0].2, needs: needs.join(", ") })
    }
}

/// Suffix of ceilings for loads across cache lines.
const SPLIT: &str = "_split";

impl MachineReport<'_> {
    /// The limit of a kernel, from its stated needs and the measured ceilings.
    pub(in crate::report) fn limit(&self, operation: &str, row: &Row) -> Option<Limit> {
        let is_of_it = |stated: &&KernelNeeds| stated.operation == operation && stated.kernel == row.kernel;
        Limit::from_needs(&self.data.needs.iter().find(is_of_it)?.needs, &self.data.ceilings)
    }

    /// The bound of the fastest kernel that states one: its largest need, and all of them.
    pub(super) fn bound(&self, operation: &str, duel: &Duel) -> Option<[String; 2]> {
        let mut bounds = duel.rows.iter().filter_map(|row| Some((row, self.limit(operation, row)?)));
        let (row, limit) = bounds.next()?;
        let (kernel, unit, share) = (code(&row.kernel), &row.unit, percent(limit.share(row)));
        let share = format!("{share} of its {}", ns(1e9 / row.throughput));
        let largest = limit.needs.split(", ").next().unwrap_or_default();
        let all = format!("{kernel} needs {} per {unit}. The largest is its bound: {share}.", limit.needs);
        Some([format!("Bound of {kernel}: {largest} per {unit}, {share}."), all])
    }
}
