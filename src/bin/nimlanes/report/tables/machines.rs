//! Machine beside machine: the same kernels on the same inputs elsewhere, and which rankings hold there.

use nimlanes::kernel::case::Case;

use super::markdown::{Table, code, size, times};
use super::{Entry, Report, SMALL, TABLES, is_ahead};
use crate::files::saved::day;
use crate::measuring::duel::{Duel, Row, quantile};

/// The file of the page with all pairs of kernels whose order turns over, without suffix.
const PAGE: &str = "machines";

/// Two kernels whose order turns over: one is faster here, the other there.
struct Turn<'d> {
    case: &'d Case,
    /// The faster one here, and there.
    faster: [&'d str; 2],
    /// How many times as fast as the other it is, here and there.
    by: [f64; 2],
}

/// The order of all pairs of kernels that two machines have in common, and that are further apart than a tie on both.
#[derive(Default)]
struct Rankings<'d> {
    /// The inputs of pairs whose order holds.
    holding: Vec<&'d Case>,
    turns: Vec<Turn<'d>>,
}

impl<'d> Rankings<'d> {
    fn add(&mut self, here: &'d Duel, there: &'d Duel) {
        let common: Vec<[&Row; 2]> = common(here, there).collect();
        for (number, a) in common.iter().enumerate() {
            for b in &common[number + 1..] {
                // `a` is the faster one here.
                let [by, there] = [0, 1].map(|machine| b[machine].median_seconds / a[machine].median_seconds);
                match (is_ahead(by), is_ahead(there), is_ahead(1.0 / there)) {
                    (true, true, _) => self.holding.push(&here.case),
                    (true, _, true) => {
                        let faster = [a[0].kernel.as_str(), b[0].kernel.as_str()];
                        self.turns.push(Turn { case: &here.case, faster, by: [by, 1.0 / there] });
                    }
                    _ => {}
                }
            }
        }
    }

    /// The number of pairs of an operation that turn over, and of all its pairs; none if there are no pairs.
    fn of(&self, operation: &str) -> Option<[usize; 2]> {
        let holding = self.holding.iter().filter(|case| case.operation == operation).count();
        let turning = self.turns.iter().filter(|turn| turn.case.operation == operation).count();
        (holding + turning > 0).then_some([turning, holding + turning])
    }

    /// The number of pairs that turn over, and of all pairs.
    fn all(&self) -> [usize; 2] {
        [self.turns.len(), self.holding.len() + self.turns.len()]
    }

    /// How many orders turn over, in a sentence.
    fn count(&self) -> String {
        let [turning, all] = self.all().map(|count| size(count as u64));
        format!("Of {all} pairs of kernels on one input, {turning} turn over.")
    }
}

/// Headings of the table of leaders.
const LEADERS: [&str; 4] = ["operation", "the best", "the best plain Rust", "pairs that turn over"];

/// The beginning of a verdict on the same leader.
const HOLDS: &str = "holds";

/// The rows of the kernels that are in both duels, fastest here first.
fn common<'d>(here: &'d Duel, there: &'d Duel) -> impl Iterator<Item = [&'d Row; 2]> {
    here.rows.iter().filter_map(|row| Some([row, row_of(there, &row.kernel)?]))
}

fn row_of<'d>(duel: &'d Duel, kernel: &str) -> Option<&'d Row> {
    duel.rows.iter().find(|row| row.kernel == kernel)
}

/// The ratio of a kernel to a baseline, which need not be that of the duel.
fn ratio_to(duel: &Duel, baseline: &str, kernel: &str) -> Option<f64> {
    Some(row_of(duel, kernel)?.ratio / row_of(duel, baseline)?.ratio)
}

impl Report<'_> {
    /// The name of the machine that was measured.
    pub(super) fn name(&self) -> &str {
        self.data.name()
    }

    /// What the CPU said, if the machine was named by hand.
    pub(super) fn named_by_hand(&self) -> String {
        let said = |_: &String| format!(", named by hand: it said {}", self.data.environment.microarchitecture);
        self.data.given_name.as_ref().map_or_else(String::new, said)
    }

    /// Headings of columns for the other machines.
    pub(super) fn heads_of_others(&self) -> impl Iterator<Item = String> {
        self.others.iter().map(|other| format!("× on {}", other.name()))
    }

    /// The ratio of a kernel to the baseline of a duel at a published size, on each other machine; in bold where it is the best.
    pub(super) fn steps_of_others(&self, entry: &Entry, duel: &Duel, kernel: &str) -> impl Iterator<Item = String> {
        self.others.iter().map(move |other| {
            let there = other.headline(entry);
            let ratio = there.and_then(|there| ratio_to(there, &duel.baseline, kernel)).map(times);
            let is_best = there.and_then(|there| there.rows.first()).is_some_and(|best| best.kernel == kernel);
            ratio.map_or("–".to_owned(), |ratio| if is_best { format!("**{ratio}**") } else { ratio })
        })
    }

    /// What the columns of [`Self::best_of_others`] show, in a sentence; nothing if there is no other machine.
    pub(super) fn note_on_others(&self) -> &'static str {
        if self.others.is_empty() {
            return "";
        }
        " \"× on\" a machine: the first ratio there. After a semicolon, the kernel that wins there by over 5 %. A dash: not measured."
    }

    /// The ratio of the best kernel of a duel on each other machine, and the best kernel there if it beats that one by more than
    /// a tie.
    pub(super) fn best_of_others(&self, entry: &Entry, duel: &Duel) -> impl Iterator<Item = String> {
        self.others.iter().map(move |other| {
            let (Some(there), Some(best)) = (other.headline(entry), duel.rows.first()) else { return "–".to_owned() };
            let ratio = |kernel: &str| ratio_to(there, &duel.baseline, kernel);
            let same = ratio(&best.kernel);
            let leads = there.rows.first().and_then(|row| Some((&row.kernel, ratio(&row.kernel)?)));
            let leads = leads.filter(|(_, ratio)| same.is_none_or(|same| is_ahead(ratio / same)));
            let same = same.map_or("–".to_owned(), times);
            leads.map_or(same.clone(), |(kernel, ratio)| format!("{same}; {} {}", times(ratio), code(kernel)))
        })
    }

    /// The section on the other machines.
    pub(super) fn machines(&self) -> String {
        if self.others.is_empty() {
            return String::new();
        }
        let spread = |report: &Report| report.noise().map_or("–".to_owned(), |noise| format!("±{noise:.1} %"));
        let mut table =
            Table::new(&["machine", "spread", "files that differ", "leaders that hold", "pairs that turn over"]);
        table.row([self.name().to_owned(), spread(self)].into_iter().chain(["–"; 3].map(str::to_owned)));
        for other in &self.others {
            let share = |[part, all]: [usize; 2]| format!("{} of {}", size(part as u64), size(all as u64));
            let rankings = self.rankings(other);
            let leaders = self.leaders(other, &rankings);
            let holding = leaders.iter().filter(|(hold, _)| *hold).count();
            table.row([
                other.name().to_owned(),
                spread(other),
                self.changed_between(other).map_or("–".to_owned(), share),
                share([holding, leaders.len()]),
                share(rankings.all()),
            ]);
        }
        format!(
            "Which rankings hold elsewhere? Two kernels have an order if they are further apart than a tie on both machines. It may \
             turn over because of the machine, changed code, or the layout in memory.\n\n{}Half of the ratios spread by more over \
             the rounds. Files are sources, beside {}. Leaders are the best kernel and the best in plain Rust at a published size, of \
             those of both machines. Which, and every pair that turns over: [machine beside machine]({TABLES}/{PAGE}.md).",
            table.end(),
            self.name()
        )
    }

    /// The median over all kernels and inputs of half the range of the ratio over the rounds, in percent; none if there are only
    /// baselines.
    fn noise(&self) -> Option<f64> {
        let rows = self.data.duels.iter().flat_map(|duel| duel.rows.iter().map(move |row| (duel, row)));
        let rows = rows.filter(|(duel, row)| row.kernel != duel.baseline);
        let mut noise: Vec<f64> = rows.map(|(_, row)| row.spread()).collect();
        (!noise.is_empty()).then(|| quantile(&mut noise, 0.5))
    }

    /// How many of the source files that were measured on another machine were not measured here; none if either does not say.
    fn changed_between(&self, other: &Report) -> Option<[usize; 2]> {
        let (here, there) = (self.data.sources.as_ref()?, other.data.sources.as_ref()?);
        Some([here.lacks(there).count(), there.digests.len()])
    }

    /// The rankings at all sizes that are not small, on one thread.
    fn rankings<'d>(&'d self, other: &'d Report) -> Rankings<'d> {
        let mut rankings = Rankings::default();
        for entry in self.entries() {
            for workload in entry.operation.workloads() {
                for size in self.sizes(&entry, workload).filter(|size| *size > SMALL) {
                    let both = self.duel(&entry, workload, size).zip(other.duel(&entry, workload, size));
                    both.into_iter().for_each(|(here, there)| rankings.add(here, there));
                }
            }
        }
        rankings.turns.sort_by(|a, b| (b.by[0] * b.by[1]).total_cmp(&(a.by[0] * a.by[1])));
        rankings
    }

    /// Whether the best kernels at the published sizes lead on another machine as well, of the kernels that both have: a row for
    /// each operation that both machines have, and whether both of its leaders hold.
    fn leaders(&self, other: &Report, rankings: &Rankings) -> Vec<(bool, Vec<String>)> {
        let mut leaders = Vec::new();
        for entry in self.entries() {
            let Some((here, there)) = self.headline(&entry).zip(other.headline(&entry)) else { continue };
            let verdicts = [false, true].map(|plain_only| {
                let rows = common(here, there).filter(|[row, _]| !plain_only || entry.is_plain(row));
                self.leader(other, &rows.collect::<Vec<_>>())
            });
            let hold = verdicts.iter().all(|verdict| verdict.starts_with(HOLDS));
            let operation = format!("{} at {}", code(entry.name()), size(here.case.size));
            let count = |[turning, all]: [usize; 2]| format!("{turning} of {}", size(all as u64));
            let turning = rankings.of(entry.name()).map_or("–".to_owned(), count);
            leaders.push((hold, [operation].into_iter().chain(verdicts).chain([turning]).collect()));
        }
        leaders
    }

    /// Whether the fastest of some kernels is the same on both machines.
    fn leader(&self, other: &Report, rows: &[[&Row; 2]]) -> String {
        let fastest =
            |machine: usize| rows.iter().min_by(|a, b| a[machine].median_seconds.total_cmp(&b[machine].median_seconds));
        let (Some(here), Some(there)) = (fastest(0), fastest(1)) else { return "–".to_owned() };
        if here[0].kernel == there[0].kernel {
            return format!("{HOLDS}: {}", code(&here[0].kernel));
        }
        let by = [there[0].median_seconds / here[0].median_seconds, here[1].median_seconds / there[1].median_seconds];
        let verdict = match by.map(is_ahead) {
            [true, true] => "turns over",
            [false, true] => &format!("a tie on {}", self.name()),
            [true, false] => &format!("a tie on {}", other.name()),
            [false, false] => "a tie on both",
        };
        let side =
            |row: &Row, report: &Report, by| format!("{} by {} on {}", code(&row.kernel), times(by), report.name());
        format!("{verdict}: {}, {}", side(here[0], self, by[0]), side(there[1], other, by[1]))
    }

    /// The page with the leaders at published sizes, and every pair of kernels that turns over.
    pub(super) fn machines_page(&self) -> Option<(&'static str, &'static str, String)> {
        let mut text = String::new();
        for other in &self.others {
            let rankings = self.rankings(other);
            text +=
                &format!("## {} beside {}\n\n{}{}\n\n", other.name(), self.name(), other.origin(), rankings.count());
            let mut table = Table::new(&LEADERS);
            self.leaders(other, &rankings).into_iter().for_each(|(_, row)| table.row(row));
            text += &table.below(
                "Leaders at published sizes, of the kernels that both have; pairs at all sizes that are not small:",
            );
            text += &self.turning(other, rankings);
        }
        (!text.is_empty()).then_some((PAGE, "Machine beside machine", text))
    }

    /// The machine, and what was measured there, in a sentence.
    fn origin(&self) -> String {
        let (cpu, name, date) = (&self.data.environment.cpu, self.named_by_hand(), day(self.data.date()));
        format!("{cpu}{name}, measured on {date}; revision: {}; {}. ", self.revision(), self.layouts())
    }

    fn turning(&self, other: &Report, rankings: Rankings) -> String {
        let by = "times as fast";
        let mut table = Table::new(&[
            "input",
            &format!("faster on {}", self.name()),
            by,
            &format!("faster on {}", other.name()),
            by,
        ]);
        for Turn { case, faster, by } in rankings.turns {
            let input = format!("{} {} at {}", code(&case.operation), code(&case.workload), size(case.size));
            table.row([input, code(faster[0]), times(by[0]), code(faster[1]), times(by[1])]);
        }
        table.below(
            "What turns over: each is the faster of the two on its machine by more than a tie, at sizes that are not small, on one \
             thread. The clearest come first.",
        )
    }
}
