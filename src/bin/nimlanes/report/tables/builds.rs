//! Comparison with other builds, instruction sets and another harness; first calls, memory, and the cost of builds.

use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::Tier;

use super::markdown::{Table, code, memory, range, size, time, times, within};
use super::operation::summary;
use super::{Report, Topic};
use crate::measuring::duel::{TIE, quantile};
use crate::report::data::{ColdStart, ColdStarts};

impl Report<'_> {
    pub(super) fn builds(&self) -> Option<Topic> {
        let mut tables = self.build_cost();
        let (mut kernels, mut faster, mut slower) = (0, 0, 0);
        for entry in self.entries() {
            let workload = entry.headline();
            let native = self.data.duel(&entry.case(workload, workload.published), "native", "thread");
            let (Some(default), Some(native)) = (self.headline(&entry), native) else { continue };
            let mut table = Table::new(&["kernel", "default", "native", "default / native"]);
            for row in &native.rows {
                let Some(other) = default.rows.iter().find(|other| other.kernel == row.kernel) else { continue };
                let gain = other.median_seconds / row.median_seconds;
                table.row([entry.link(&row.kernel), time(other.median_seconds), time(row.median_seconds), times(gain)]);
                kernels += 1;
                faster += usize::from(gain > 1.0 + TIE);
                slower += usize::from(gain * (1.0 + TIE) < 1.0);
            }
            tables += &table.below(&format!("{} at {}", code(entry.name()), size(native.case.size)));
        }
        if kernels == 0 {
            return None;
        }
        Some(Topic {
            file: "builds",
            title: "Default and native build".to_owned(),
            finding: format!(
                "Of {kernels} kernels, {faster} are more than 5 % faster when everything is compiled for this CPU, and {slower} are more than 5 % slower."
            ),
            tables: format!(
                "The vectors of `wide` and plain Rust depend on the compile target: SSE2 in the default build, everything this CPU \
                 has in the native build (where the compiler may still prefer 256-bit vectors). The builds ran in two processes, so \
                 small differences mean nothing.\n\n{tables}"
            ),
        })
    }

    fn build_cost(&self) -> String {
        let mut table = Table::new(&["build", "clean build", "compiler processes", "program", "without symbols"]);
        for built in self.data.builds.iter().map(|saved| &saved.content) {
            let stripped = built.stripped_bytes.map_or("–".to_owned(), |n| memory(n as f64));
            table.row([
                built.build.clone(),
                time(built.seconds),
                built.jobs.to_string(),
                memory(built.program_bytes as f64),
                stripped,
            ]);
        }
        table.below("The cost of a build:")
    }

    pub(super) fn criterion(&self) -> Option<Topic> {
        let heads = ["operation", "size", "kernel", "build", "duel", "criterion", "95 % interval", "criterion / duel"];
        let mut table = Table::new(&heads);
        let mut quotients = Vec::new();
        for entry in self.entries() {
            let workload = entry.headline();
            for build in ["default", "native"] {
                for n in self.sizes(&entry, workload) {
                    let case = entry.case(workload, n);
                    let Some(duel) = self.data.duel(&case, build, "thread") else { continue };
                    let named = [duel.rows.first(), entry.plain(duel), entry.baseline(duel)];
                    for row in &duel.rows {
                        let Some(estimate) = self.data.estimate(&case.with_kernel(&row.kernel), build) else {
                            continue;
                        };
                        let quotient = estimate.time.median_seconds / row.median_seconds;
                        quotients.push(quotient);
                        let is_named = named.iter().flatten().any(|named| named.kernel == row.kernel);
                        if is_named && n == workload.published {
                            table.row([
                                code(entry.name()),
                                size(n),
                                code(&row.kernel),
                                build.to_owned(),
                                time(row.median_seconds),
                                time(estimate.time.median_seconds),
                                within(&estimate.time),
                                times(quotient),
                            ]);
                        }
                    }
                }
            }
        }
        if quotients.is_empty() {
            return None;
        }
        let [low, middle, high] = [0.1, 0.5, 0.9].map(|q| times(quantile(&mut quotients, q)));
        Some(Topic {
            file: "criterion",
            title: "A second harness".to_owned(),
            finding: format!(
                "Criterion also timed {} of these pairs of kernel and size. Its median is {middle} times the duel's ({low} to {high} in \
                 the middle 80 %).",
                quotients.len()
            ),
            tables: table.below(
                "Criterion times kernels minutes apart, one after the other, while a duel takes turns. The ratios in the report come \
                 from the duels. At published sizes:",
            ),
        })
    }

    /// The tiers of the measured machine, strongest first.
    fn tiers(&self) -> Vec<Tier> {
        let strongest = self.data.environment().and_then(|environment| Tier::named(&environment.tier));
        let included = |tier: &Tier| strongest.is_some_and(|strongest| strongest.includes(*tier));
        Tier::ALL.iter().rev().copied().filter(included).collect()
    }

    pub(super) fn tiers_below(&self) -> Option<Topic> {
        let tiers = self.tiers();
        let weaker = tiers.get(1..).filter(|weaker| !weaker.is_empty())?;
        let heads = tiers.iter().map(|tier| format!("best up to {}", tier.name()));
        let mut table = Table::new(&["operation".to_owned()].into_iter().chain(heads).collect::<Vec<_>>());
        let mut losses = vec![Vec::new(); weaker.len()];
        for entry in self.entries() {
            let Some(duel) = self.headline(&entry) else { continue };
            let best_up_to =
                |cap: &Tier| duel.rows.iter().find(|row| Tier::named(&row.tier).is_some_and(|tier| cap.includes(tier)));
            for (losses, cap) in losses.iter_mut().zip(weaker) {
                losses.extend(duel.rows.first().zip(best_up_to(cap)).map(|(best, row)| best.ratio / row.ratio));
            }
            let cell = |cap| {
                best_up_to(cap).map_or("–".to_owned(), |row| {
                    format!("{} {} (×{})", code(&row.kernel), time(row.median_seconds), times(row.ratio))
                })
            };
            table.row([code(entry.name())].into_iter().chain(tiers.iter().map(cell)));
        }
        let finding = |(cap, losses): (&Tier, &Vec<f64>)| {
            Some(format!("{} times as long with at most {}", range(losses, times)?, code(cap.name())))
        };
        let findings: Vec<String> = weaker.iter().zip(&losses).filter_map(finding).collect();
        let extensions = tiers.iter().copied().filter_map(Tier::extension).map(|extension| extension.title);
        Some(Topic {
            file: "tiers",
            title: format!("Without {}", extensions.collect::<Vec<_>>().join(", without ")),
            finding: format!("The best kernels for a weaker CPU take {}.", findings.join(", and ")),
            tables: table.below("The best kernels that a weaker CPU could run, at the published sizes."),
        })
    }

    /// Kernels that use more than plain Rust and lose to the best in plain Rust.
    pub(super) fn slower_than_plain(&self) -> Option<Topic> {
        let mut table = Table::new(&["operation", "kernel", "what it is", "× as long", "as plain Rust"]);
        let mut count = 0;
        for entry in self.entries() {
            let Some(duel) = self.headline(&entry) else { continue };
            let Some(plain) = entry.plain(duel) else { continue };
            for row in duel.rows.iter().filter(|row| row.ratio * (1.0 + TIE) < plain.ratio) {
                let Some(info) = entry.info(&row.kernel).filter(|info| !info.is_plain()) else { continue };
                count += 1;
                table.row([
                    code(entry.name()),
                    entry.link(&row.kernel),
                    summary(info),
                    times(plain.ratio / row.ratio),
                    code(&plain.kernel),
                ]);
            }
        }
        (count > 0).then(|| Topic {
            file: "slower-than-plain",
            title: "What did not help".to_owned(),
            finding: format!(
                "{count} kernels with intrinsics, crates or a higher tier lose to the best in plain Rust at the published size."
            ),
            tables: table.end(),
        })
    }

    pub(super) fn first_calls(&self) -> Option<Topic> {
        let (mut tables, mut best) = (String::new(), Vec::new());
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
                    memory(peak_bytes.saturating_sub(*idle_bytes) as f64),
                ]);
            }
            let quickest = rows.iter().min_by(|a, b| a.later_seconds.total_cmp(&b.later_seconds));
            best.extend(quickest.map(|row| row.first_seconds / row.later_seconds));
            let subject = format!("{} {} at {}", code(&case.operation), code(&case.workload), size(case.size));
            tables += &table.below(&subject);
        }
        Some(Topic {
            file: "first-calls",
            title: "First call, later calls, memory".to_owned(),
            finding: format!(
                "In a fresh process, the first call of the fastest kernels takes {} times as long as later ones.",
                range(&best, times)?
            ),
            tables: format!(
                "Each kernel in its own process. The first call has cold caches and faults in its pages. Memory is how far the peak of \
                 the process rose above its level before the kernel ran, which includes the input.\n\n{tables}"
            ),
        })
    }
}
