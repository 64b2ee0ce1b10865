//! The selected kernels, and how much slower they are than the fastest.

use std::iter;

use nimlanes::cores::{OPERATIONS, operation};
use nimlanes::kernel::case::Case;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::Session;
use nimlanes::machine::isa::Tier;

use super::markdown::{Table, code, size, times};
use super::{Report, Topic};

/// A selection is good if the kernel takes at most this many times as long as the fastest.
const GOOD_CHOICE: f64 = 1.2;

const HOW: &str = "The choices are those of today's costs, on each machine that was measured, with one thread. The last column shows the \
                   cost of the choice. Sizes without a duel of all kernels had a short duel of those with similar predictions.";

impl Report<'_> {
    /// What today's costs select on every machine, beside what was the fastest there.
    pub(super) fn selections(&self) -> Option<Topic> {
        let machines: Vec<&Report> = iter::once(self).chain(&self.others).collect();
        let mut choices = vec![Vec::new(); machines.len()];
        for case in cases(&machines) {
            let Ok(operation) = operation(&case.operation) else { continue };
            // A size that was damaged in its file could ask for Grundy values that take hours.
            let selection = Selection::new(self.machine).within(self.longest_input);
            let Ok(session) = operation.session(&selection, &case.workload, case.size) else { continue };
            for (choices, machine) in choices.iter_mut().zip(&machines) {
                choices.extend(machine.todays_choice(session.as_ref()));
            }
        }
        let on_each = || machines.iter().map(|machine| machine.name()).zip(&choices);
        let findings: Vec<String> = on_each().filter_map(|(name, choices)| verdict(name, choices)).collect();
        let section = |(name, choices): (&str, &Vec<Choice>)| {
            let verdict = verdict(name, choices)?;
            let good =
                format!("The selected kernel takes at most {GOOD_CHOICE} times as long as the fastest {verdict}.");
            Some(format!("## On {name}\n\n{good}\n\n{}", table(choices)))
        };
        let tables: Vec<String> = on_each().filter_map(section).collect();
        (!findings.is_empty()).then(|| Topic {
            file: "selection",
            title: "Kernel selection".to_owned(),
            finding: format!(
                "Kernels are selected by their predicted time. With one thread, the selected one takes at most {GOOD_CHOICE} times as \
                 long as the fastest {}.",
                findings.join("; ")
            ),
            tables: format!("{HOW}\n\n{}", tables.concat()),
        })
    }

    /// What today's costs select for an input on this machine, if any of its kernels were timed on it.
    fn todays_choice(&self, session: &dyn Session) -> Option<Choice> {
        let case = session.case();
        let duel =
            self.data.duel(case, "default", "thread").filter(|duel| duel.rows.len() > 1 || !duel.skipped.is_empty());
        let times: Vec<(&str, f64)> = match duel {
            Some(duel) => duel.rows.iter().map(|row| (row.kernel.as_str(), row.median_seconds)).collect(),
            None => {
                let trial = self.data.trials.iter().find(|trial| trial.case == *case)?;
                trial.times.iter().map(|(kernel, time)| (kernel.as_str(), *time)).collect()
            }
        };
        let infos = session.kernels();
        let exact = |name: &str| infos.iter().any(|info| info.name == name && info.is_exact());
        let (quickest, best) = times.iter().filter(|time| exact(time.0)).copied().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let environment = &self.data.environment;
        let tier = Tier::named(&environment.tier)?;
        let able = infos.iter().enumerate().filter(|(_, info)| info.is_exact() && tier.includes(info.tier));
        let costs = able.filter_map(|(index, info)| Some((info.name, session.predict(index, 1)?)));
        let costs = costs.filter(|(_, cost)| cost.is_possible() && cost.bytes <= environment.memory as f64);
        // The first of equals, as in a selection.
        let selected = costs.min_by(|a, b| a.1.ns.total_cmp(&b.1.ns))?.0;
        let loss = times.iter().find(|time| time.0 == selected).map(|time| time.1 / best);
        Some(Choice { case: case.clone(), selected, quickest: quickest.to_owned(), loss })
    }
}

/// The cases that were timed on any machine, in the order of the operations, workloads and sizes.
fn cases(machines: &[&Report]) -> Vec<Case> {
    let of = |machine: &&Report| {
        let duels = machine.data.duels.iter().map(|duel| &duel.case);
        duels.chain(machine.data.trials.iter().map(|trial| &trial.case)).cloned().collect::<Vec<_>>()
    };
    let mut cases: Vec<Case> = machines.iter().flat_map(of).collect();
    let place = |case: &Case| {
        let operation = OPERATIONS.iter().position(|operation| operation.name() == case.operation)?;
        let mut workloads = OPERATIONS[operation].workloads().iter();
        Some((operation, workloads.position(|workload| workload.name == case.workload)?, case.size))
    };
    cases.sort_by_cached_key(place);
    cases.dedup();
    cases
}

/// The kernel that is selected for an input, and the fastest that was timed.
#[derive(Clone)]
struct Choice {
    case: Case,
    selected: &'static str,
    quickest: String,
    /// How many times as long as the fastest the selected kernel takes; none if it was not timed.
    loss: Option<f64>,
}

fn table(choices: &[Choice]) -> String {
    let mut table = Table::new(&["operation", "workload", "size", "selected", "fastest", "selected / fastest"]);
    for Choice { case, selected, quickest, loss } in choices {
        let quickest = if quickest == selected { "the same".to_owned() } else { code(quickest) };
        let loss = loss.map_or_else(|| "–".to_owned(), times);
        table.row([code(&case.operation), code(&case.workload), size(case.size), code(selected), quickest, loss]);
    }
    table.end()
}

/// How good the choices on a machine are, in words; none if nothing was timed.
fn verdict(machine: &str, choices: &[Choice]) -> Option<String> {
    let losses: Vec<f64> = choices.iter().filter_map(|choice| choice.loss).collect();
    let good = losses.iter().filter(|loss| **loss <= GOOD_CHOICE).count();
    let (all, untimed) = (losses.len(), choices.len() - losses.len());
    let worst = times(losses.into_iter().max_by(f64::total_cmp)?);
    Some(format!(
        "in {good} of {all} cases on {machine} ({untimed} more were not timed there), the worst {worst} times"
    ))
}
