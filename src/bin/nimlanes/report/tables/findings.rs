//! What holds across operations, in a line each. The numbers of every kernel are in the page.

use nimlanes::kernel::Tier;

use super::markdown::{code, range, time, times};
use super::{Entry, MachineReport, SMALL, is_ahead};

/// A title, and what was found.
pub(super) type Finding = (String, String);

impl MachineReport<'_> {
    /// The findings for which there are measurements, in a line each.
    pub(super) fn findings(&self) -> String {
        let findings = [
            self.limits(),
            self.weaker_tiers(),
            self.slower_than_plain(),
            self.small_sizes(),
            self.slow_modes().map(|finding| ("Layouts in memory".to_owned(), finding)),
        ];
        findings.into_iter().flatten().map(|(title, finding)| format!("- **{title}.** {finding}\n")).collect()
    }

    fn weaker_tiers(&self) -> Option<Finding> {
        let strongest = Tier::named(&self.data.environment.tier)?;
        let tiers: Vec<Tier> = Tier::ALL.iter().rev().copied().filter(|tier| strongest.includes(*tier)).collect();
        let weaker = tiers.get(1..).filter(|weaker| !weaker.is_empty())?;
        let finding = |cap: &Tier| {
            let loss = |entry: Entry| {
                let duel = self.headline(&entry)?;
                let can_run = |tier: &str| Tier::named(tier).is_some_and(|tier| cap.includes(tier));
                Some(duel.rows.first()?.ratio / duel.rows.iter().find(|row| can_run(&row.tier))?.ratio)
            };
            let losses: Vec<f64> = self.entries().filter_map(loss).collect();
            Some(format!("{} times as long with at most {}", range(&losses, times)?, code(cap.name())))
        };
        let findings: Vec<String> = weaker.iter().filter_map(finding).collect();
        let extensions = tiers.iter().copied().filter_map(Tier::extension).map(|extension| extension.title);
        let title = format!("Without {}", extensions.collect::<Vec<_>>().join(", without "));
        Some((title, format!("The best kernels for a weaker CPU take {}.", findings.join(", and "))))
    }

    /// Kernels that use more than plain Rust and lose to the best in plain Rust.
    fn slower_than_plain(&self) -> Option<Finding> {
        let losing = |entry: Entry| {
            let duel = self.headline(&entry)?;
            let plain = entry.plain(duel)?;
            let slower = duel.rows.iter().filter(|row| is_ahead(plain.ratio / row.ratio));
            Some(slower.filter_map(|row| entry.info(&row.kernel)).filter(|kernel| !kernel.is_plain()).count())
        };
        let count: usize = self.entries().filter_map(losing).sum();
        let finding = format!(
            "{count} kernels with intrinsics, crates or a higher tier lose to the best in plain Rust at the published size."
        );
        (count > 0).then(|| ("What did not help".to_owned(), finding))
    }

    fn small_sizes(&self) -> Option<Finding> {
        let mut fastest = Vec::new();
        for entry in self.entries() {
            let sizes = self.sizes(&entry, entry.headline()).filter(|size| *size <= SMALL);
            let duels = sizes.filter_map(|size| self.duel(&entry, entry.headline(), size));
            fastest.extend(duels.filter_map(|duel| Some(duel.rows.first()?.median_seconds)));
        }
        let finding = format!("Up to size {SMALL}, the fastest kernels take {} a call.", range(&fastest, time)?);
        Some(("Small sizes".to_owned(), finding))
    }

    pub(super) fn layout_note(&self) -> String {
        let modes = self.slow_modes().map_or("", |_| "; where a kernel has a slow mode, ratios are of the faster one");
        format!(
            "- **Layouts**: rounds are spread over the processes of a duel, so over as many layouts in memory{modes}.\n"
        )
    }

    /// How many kernels are fast in some processes and slow in others; none if none are.
    fn slow_modes(&self) -> Option<String> {
        let rows = || self.data.duels.iter().flat_map(|duel| &duel.rows);
        let (count, all) = (rows().filter(|row| row.slow_mode.is_some()).count(), rows().count());
        let finding = format!(
            "{count} of {all} kernels and inputs are fast in some processes and slow in others. Ratios are of the faster mode."
        );
        (count > 0).then_some(finding)
    }
}
