//! How much slower the selected kernels are than the fastest.

use std::iter;

use nimlanes::cores::operation;
use nimlanes::kernel::case::Case;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::Session;
use nimlanes::machine::isa::Tier;

use super::findings::Finding;
use super::markdown::times;
use super::{MachineReport, place};

/// A selection is good if the kernel takes at most this many times as long as the fastest.
const GOOD_CHOICE: f64 = 1.2;

impl MachineReport<'_> {
    /// How good what today's costs select is on each machine, beside what was the fastest there.
    pub(super) fn selections(&self) -> Option<Finding> {
        let machines: Vec<&MachineReport> = iter::once(self).chain(&self.others).collect();
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
        let on_each = machines.iter().zip(choices);
        let verdicts: Vec<String> =
            on_each.filter_map(|(machine, choices)| verdict(machine.name(), &choices)).collect();
        let finding = format!(
            "Kernels are selected by their predicted time. With one thread, the selected one takes at most {GOOD_CHOICE} times as \
             long as the fastest {}.",
            verdicts.join("; ")
        );
        (!verdicts.is_empty()).then(|| ("Kernel selection".to_owned(), finding))
    }

    /// How many times as long as the fastest the kernel takes that today's costs select for an input on this machine, if any were timed on
    /// it; none within if this one was not.
    fn todays_choice(&self, session: &dyn Session) -> Option<Option<f64>> {
        let case = session.case();
        let duel =
            self.data.duel(case, "default", "thread").filter(|duel| duel.rows.len() > 1 || !duel.skipped.is_empty());
        let times = duel?.rows.iter().map(|row| (row.kernel.as_str(), row.median_seconds));
        let times: Vec<(&str, f64)> = times.collect();
        let infos = session.kernels();
        let exact = |name: &str| infos.iter().any(|info| info.name == name && info.is_exact());
        let best = times.iter().filter(|time| exact(time.0)).map(|time| time.1).min_by(f64::total_cmp)?;
        let environment = &self.data.environment;
        let tier = Tier::named(&environment.tier)?;
        let able = infos.iter().enumerate().filter(|(_, info)| info.is_exact() && tier.includes(info.tier));
        let costs = able.filter_map(|(index, info)| Some((info.name, session.predict(index, 1)?)));
        let costs = costs.filter(|(_, cost)| cost.is_possible() && cost.bytes <= environment.memory as f64);
        // The first of equals, as in a selection.
        let selected = costs.min_by(|a, b| a.1.ns.total_cmp(&b.1.ns))?.0;
        Some(times.iter().find(|time| time.0 == selected).map(|time| time.1 / best))
    }
}

/// The cases that were timed on any machine, in the order of the operations, workloads and sizes.
fn cases(machines: &[&MachineReport]) -> Vec<Case> {
    let duels = machines.iter().flat_map(|machine| &machine.data.duels);
    let mut cases: Vec<Case> = duels.map(|duel| duel.case.clone()).collect();
    cases.sort_by_cached_key(place);
    cases.dedup();
    cases
}

/// How good the choices on a machine are, in words; none if nothing was timed.
fn verdict(machine: &str, choices: &[Option<f64>]) -> Option<String> {
    let losses: Vec<f64> = choices.iter().copied().flatten().collect();
    let good = losses.iter().filter(|loss| **loss <= GOOD_CHOICE).count();
    let (all, untimed) = (losses.len(), choices.len() - losses.len());
    let worst = times(losses.into_iter().max_by(f64::total_cmp)?);
    Some(format!(
        "in {good} of {all} cases on {machine} ({untimed} more were not timed there), the worst {worst} times"
    ))
}
