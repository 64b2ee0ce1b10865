//! The tables that a run ends with.

use std::fmt::Write;

use nimlanes::kernel::Tier;
use nimlanes::units::{grouped, ratio, span};

/// Times that differ by less are marked: here they have no range, and a duel decides.
const NEAR: f64 = 1.05;

/// The time of a kernel on an input, as measured in this run.
#[derive(Clone, Debug)]
pub struct Timing {
    pub operation: &'static str,
    pub workload: &'static str,
    /// Whether the workload is the default one.
    pub is_default: bool,
    pub size: u64,
    pub is_published: bool,
    pub kernel: &'static str,
    pub tier: Tier,
    pub is_baseline: bool,
    /// Whether it is the best algorithm known elsewhere.
    pub is_public: bool,
    pub is_exact: bool,
    pub is_parallel: bool,
    pub ns: f64,
    /// Whether it is one run, not criterion's estimate.
    pub is_one_run: bool,
}

impl Timing {
    fn time(&self) -> String {
        format!("{}{}", span(self.ns), if self.is_one_run { "*" } else { " " })
    }

    /// How many times as fast as the baseline it is.
    fn ratio(&self, baseline: Option<&Timing>) -> String {
        baseline.map_or_else(|| "–".to_owned(), |baseline| ratio(baseline.ns / self.ns))
    }

    fn is_near(&self, other: &Timing) -> bool {
        self.ns.max(other.ns) < NEAR * self.ns.min(other.ns)
    }
}

/// Criterion's estimate in its file: the slope of a linear sample, the mean of a flat one.
pub fn estimate(json: &str) -> Option<f64> {
    let of = |name| {
        let estimate = json.split_once(&format!(r#""{name}":{{"#))?.1;
        let number = estimate.split_once(r#""point_estimate":"#)?.1;
        number.split([',', '}']).next()?.trim().parse().ok()
    };
    of("slope").or_else(|| of("mean"))
}

fn quickest<'t>(timings: impl Iterator<Item = &'t Timing>) -> Option<&'t Timing> {
    timings.min_by(|a, b| a.ns.total_cmp(&b.ns))
}

/// For each operation at its published size: the baseline, the best known elsewhere, and the best of each of these tiers, on one thread.
pub fn of_operations(timings: &[Timing], tiers: &[Tier]) -> String {
    let mut table = String::new();
    for all in timings.chunk_by(|a, b| a.operation == b.operation) {
        let all: Vec<&Timing> = all.iter().filter(|timing| timing.is_default && timing.is_published).collect();
        let best = |has: &dyn Fn(&Timing) -> bool| quickest(all.iter().copied().filter(|timing| has(timing)));
        let baseline = best(&|timing| timing.is_baseline);
        let mut rows = vec![("baseline", baseline, None), ("elsewhere", best(&|timing| timing.is_public), None)];
        let mut below: Option<(Tier, &Timing)> = None;
        for tier in tiers {
            let fits = |timing: &Timing| timing.tier == *tier && timing.is_exact && !timing.is_parallel;
            let Some(best) = best(&fits) else { continue };
            let near = below.filter(|(_, below)| best.is_near(below)).map(|(tier, _)| tier);
            rows.push((tier.name(), Some(best), near));
            below = Some((*tier, best));
        }
        let mut names = all
            .first()
            .map(|first| [first.operation.to_owned(), format!("at {}", grouped(&first.size.to_string()))])
            .into_iter()
            .flatten();
        for (row, timing, near) in rows {
            let Some(timing) = timing else { continue };
            let near = near.map_or_else(String::new, |tier| format!("within 5 % of {}", tier.name()));
            let (name, kernel) = (names.next().unwrap_or_default(), timing.kernel);
            let (time, ratio) = (timing.time(), timing.ratio(baseline));
            push(&mut table, format!("{name:<15}  {row:<9}  {kernel:<28}  {time:>10}  {ratio:>8}  {near}"));
        }
    }
    if !table.is_empty() {
        let [name, row, kernel, time, ratio] = ["", "best of", "kernel, on one thread", "time ", "× base"];
        table = format!("{name:<15}  {row:<9}  {kernel:<28}  {time:>10}  {ratio:>8}\n{table}\n");
    }
    with_notes(table, timings)
}

/// Each kernel at each size that was run, the quickest at the published size first: of default workloads, or of others if of those alone.
pub fn of_kernels(timings: &[Timing]) -> String {
    let is_default = timings.iter().any(|timing| timing.is_default);
    let shown = timings.chunk_by(|a, b| (a.operation, a.workload) == (b.operation, b.workload));
    let shown = shown.filter(|timings| timings[0].is_default || !is_default);
    let tables: String = shown.map(of_workload).collect();
    with_notes(tables, timings)
}

fn of_workload(timings: &[Timing]) -> String {
    let mut sizes: Vec<u64> = timings.iter().map(|timing| timing.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let published = timings.iter().find(|timing| timing.is_published).map(|timing| timing.size);
    let ranked = published.or(sizes.last().copied()).unwrap_or_default();
    let at = |kernel: &str, size| timings.iter().find(|timing| timing.kernel == kernel && timing.size == size);
    let mut kernels: Vec<&str> = Vec::new();
    for timing in timings {
        if !kernels.contains(&timing.kernel) {
            kernels.push(timing.kernel);
        }
    }
    let ns = |kernel: &str| at(kernel, ranked).map_or(f64::INFINITY, |timing| timing.ns);
    kernels.sort_by(|a, b| ns(a).total_cmp(&ns(b)));
    let best = kernels.first().and_then(|kernel| at(kernel, ranked));
    let baseline = timings.iter().find(|timing| timing.is_baseline && timing.size == ranked);
    let columns =
        |cell: &dyn Fn(u64) -> String| sizes.iter().map(|size| format!("{:>11}", cell(*size))).collect::<String>();

    let Timing { operation, workload, .. } = timings[0];
    let mut table = format!("{operation}, {workload}, by the time at {}\n", grouped(&ranked.to_string()));
    let titles = columns(&|size| format!("{} ", grouped(&size.to_string())));
    push(&mut table, format!("{:<28}{titles}  {:>8}", "", "× base"));
    for kernel in kernels {
        let times = columns(&|size| at(kernel, size).map_or_else(|| "– ".to_owned(), Timing::time));
        let timing = at(kernel, ranked);
        let ratio = timing.map_or_else(|| "–".to_owned(), |timing| timing.ratio(baseline));
        let near = timing.zip(best).filter(|(timing, best)| timing.kernel != best.kernel && timing.is_near(best));
        let near = near.map_or("", |_| "within 5 %");
        push(&mut table, format!("{kernel:<28}{times}  {ratio:>8}  {near}"));
    }
    table + "\n"
}

/// A line without what would be spaces at its end.
fn push(table: &mut String, line: String) {
    let _ = writeln!(table, "{}", line.trim_end());
}

/// Tables and what their marks mean, or nothing if there are none.
fn with_notes(tables: String, timings: &[Timing]) -> String {
    if tables.is_empty() {
        return tables;
    }
    let one_run = if timings.iter().any(|timing| timing.is_one_run) { " *: one run." } else { "" };
    format!("{tables}× base: times as fast as the baseline. Within 5 %, `nimlanes compare` decides.{one_run}\n\n")
}
