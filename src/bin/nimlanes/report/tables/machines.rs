//! Columns of other machines: the same kernels on the same inputs elsewhere.

use super::markdown::{code, times};
use super::{Entry, MachineReport, is_ahead};
use crate::measuring::duel::{Duel, Row};

fn row_of<'d>(duel: &'d Duel, kernel: &str) -> Option<&'d Row> {
    duel.rows.iter().find(|row| row.kernel == kernel)
}

/// The ratio of a kernel to a baseline, which need not be that of the duel.
fn ratio_to(duel: &Duel, baseline: &str, kernel: &str) -> Option<f64> {
    Some(row_of(duel, kernel)?.ratio / row_of(duel, baseline)?.ratio)
}

impl MachineReport<'_> {
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
}
