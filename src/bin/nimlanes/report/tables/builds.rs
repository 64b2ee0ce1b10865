//! Comparison with other builds, instruction sets and another harness; first calls, memory, and the cost of builds.

use crate::report::data::{ColdStart, ColdStarts};
use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::Tier;
use nimlanes::lab::duel::quantile;
use nimlanes::lab::saved::TIE;
use nimlanes::units::bytes;

use super::Report;
use super::markdown::{Table, code, size, time, times};

impl Report<'_> {
    pub(super) fn native(&self) -> String {
        let (mut text, mut slower) = (String::new(), Vec::new());
        for listed in self.listed() {
            let workload = listed.headline();
            let native = self.data.duel(&listed.case(workload, workload.published), "native", "thread");
            let (Some(default), Some(native)) = (self.headline(&listed), native) else { continue };
            let mut table = Table::new(&["kernel", "default", "native", "default / native"]);
            for row in &native.rows {
                let Some(other) = default.rows.iter().find(|other| other.kernel == row.kernel) else { continue };
                let gain = other.median_seconds / row.median_seconds;
                table.row([code(&row.kernel), time(other.median_seconds), time(row.median_seconds), times(gain)]);
                if gain * (1.0 + TIE) < 1.0 {
                    slower.push(format!(
                        "{} {} ({:+.0} %)",
                        code(listed.operation.name()),
                        code(&row.kernel),
                        100.0 / gain - 100.0
                    ));
                }
            }
            text += &format!("{} at {}\n\n{}", code(listed.operation.name()), size(native.case.size), table.end());
        }
        if text.is_empty() {
            return text;
        }
        format!(
            "The vectors of `wide` and plain Rust depend on the compile target: SSE2 in the default build, everything this CPU has \
             in the native build (where the compiler may still prefer 256-bit vectors). The builds ran in two processes, so \
             small differences mean nothing.\n\n{}{text}",
            match slower.as_slice() {
                [] => "No kernel is more than 5 % slower in the native build.\n\n".to_owned(),
                slower => format!(
                    "More CPU features do not guarantee more speed. More than 5 % slower than in the default build: {}.\n\n",
                    slower.join(", ")
                ),
            }
        )
    }

    pub(super) fn second_opinion(&self) -> String {
        let heads = ["operation", "size", "kernel", "build", "duel", "criterion", "95 % interval", "criterion / duel"];
        let mut table = Table::new(&heads);
        let mut quotients = Vec::new();
        for listed in self.listed() {
            let workload = listed.headline();
            for build in ["default", "native"] {
                for n in self.sizes(&listed, workload) {
                    let case = listed.case(workload, n);
                    let Some(duel) = self.data.duel(&case, build, "thread") else { continue };
                    let plain = duel.rows.iter().position(|row| listed.is_plain(row));
                    for (index, row) in duel.rows.iter().enumerate() {
                        let Some(estimate) = self.data.estimate(&case.with_kernel(&row.kernel), build) else {
                            continue;
                        };
                        let quotient = estimate.median_seconds / row.median_seconds;
                        quotients.push(quotient);
                        let is_named = index == 0 || Some(index) == plain || row.kernel == duel.baseline;
                        if is_named && n == workload.published {
                            table.row([
                                code(listed.operation.name()),
                                size(n),
                                code(&row.kernel),
                                build.to_owned(),
                                time(row.median_seconds),
                                time(estimate.median_seconds),
                                format!("{} .. {}", time(estimate.low_seconds), time(estimate.high_seconds)),
                                times(quotient),
                            ]);
                        }
                    }
                }
            }
        }
        if quotients.is_empty() {
            return String::new();
        }
        let [low, middle, high] = [0.1, 0.5, 0.9].map(|q| times(quantile(&mut quotients, q)));
        format!(
            "The same kernels under criterion. It times them minutes apart, one after the other, while a duel takes turns. Over the \
             {} pairs of kernel and size that both timed, criterion's median is {middle} times the duel's ({low} to {high} in \
             the middle 80 %). The ratios in this report come from the duels.\n\n{}",
            quotients.len(),
            table.end()
        )
    }

    /// The tiers of the measured machine.
    fn tiers(&self) -> Vec<Tier> {
        let strongest = self.data.environment().and_then(|environment| Tier::named(&environment.tier));
        let included = |tier: &Tier| strongest.is_some_and(|strongest| strongest.includes(*tier));
        Tier::ALL.iter().copied().filter(included).collect()
    }

    /// The tiers that caps remove, strongest first: `Without AVX-512, without AVX2`.
    pub(super) fn capped_title(&self) -> String {
        let extensions = self.tiers().into_iter().rev().filter_map(Tier::extension);
        let titles: Vec<&str> = extensions.map(|extension| extension.title).collect();
        format!("Without {}", titles.join(", without "))
    }

    pub(super) fn capped(&self) -> String {
        let tiers = self.tiers();
        if tiers.len() < 2 {
            return String::new(); // no weaker tier
        }
        let heads = tiers.iter().map(|tier| format!("best up to {}", tier.name()));
        let mut table = Table::new(&["operation".to_owned()].into_iter().chain(heads).collect::<Vec<_>>());
        let mut any = false;
        for listed in self.listed() {
            let Some(duel) = self.headline(&listed) else { continue };
            any = true;
            let best = |cap: &Tier| {
                let mut rows = duel.rows.iter();
                let row = rows.find(|row| Tier::named(&row.tier).is_some_and(|tier| cap.includes(tier)));
                row.map_or("–".to_owned(), |row| {
                    format!("{} {} (×{})", code(&row.kernel), time(row.median_seconds), times(row.ratio))
                })
            };
            table.row([code(listed.operation.name())].into_iter().chain(tiers.iter().map(best)));
        }
        let intro = "The best kernels that a weaker CPU could run, at the published sizes.";
        if any { format!("{intro}\n\n{}", table.end()) } else { String::new() }
    }

    /// Kernels that use more than plain Rust and lose to the best in plain Rust.
    pub(super) fn losers(&self) -> String {
        let mut text = String::new();
        for listed in self.listed() {
            let Some(duel) = self.headline(&listed) else { continue };
            let Some(plain) = duel.rows.iter().find(|row| listed.is_plain(row)) else { continue };
            for row in duel.rows.iter().filter(|row| row.ratio * (1.0 + TIE) < plain.ratio) {
                let Some(info) = listed.info(&row.kernel).filter(|info| !info.is_plain()) else { continue };
                text += &format!(
                    "- {} {} ({}) takes {} times as long as {} in plain Rust at {}.\n",
                    code(listed.operation.name()),
                    listed.link(&row.kernel),
                    listed.explained(info),
                    times(plain.ratio / row.ratio),
                    code(&plain.kernel),
                    size(duel.case.size),
                );
            }
        }
        if text.is_empty() {
            text
        } else {
            format!("Kernels with intrinsics, crates or a higher tier that lose to the best in plain Rust:\n\n{text}")
        }
    }

    pub(super) fn starts(&self) -> String {
        let mut text = String::new();
        let mut starts: Vec<_> = self.data.starts.iter().map(|saved| &saved.content).collect();
        starts.sort_by_key(|starts| OPERATIONS.iter().position(|operation| operation.name() == starts.case.operation));
        for ColdStarts { case, rows, .. } in starts {
            let mut table = Table::new(&["kernel", "first call", "later calls", "first / later", "its peak memory"]);
            for row in rows {
                let ColdStart { kernel, first_seconds, later_seconds, idle_bytes, peak_bytes, .. } = row;
                table.row([
                    code(kernel),
                    time(*first_seconds),
                    time(*later_seconds),
                    times(first_seconds / later_seconds),
                    bytes(peak_bytes.saturating_sub(*idle_bytes) as f64),
                ]);
            }
            text += &format!(
                "{} {} at {}\n\n{}",
                code(&case.operation),
                code(&case.workload),
                size(case.size),
                table.end()
            );
        }
        if text.is_empty() {
            return text;
        }
        format!(
            "Each kernel in its own process. The first call has cold caches and faults in its pages. Memory is how far the peak of \
             the process rose above its level before the kernel ran, which includes the input.\n\n{text}"
        )
    }

    pub(super) fn built(&self) -> String {
        let mut table = Table::new(&["build", "clean build", "compiler processes", "program", "without symbols"]);
        for built in self.data.builds.iter().map(|saved| &saved.content) {
            let stripped = built.stripped_bytes.map_or("–".to_owned(), |n| bytes(n as f64));
            table.row([
                built.build.clone(),
                time(built.seconds),
                built.jobs.to_string(),
                bytes(built.program_bytes as f64),
                stripped,
            ]);
        }
        if self.data.builds.is_empty() { String::new() } else { table.end() }
    }
}
