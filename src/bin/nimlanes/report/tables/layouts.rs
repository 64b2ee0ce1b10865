//! Layouts in memory: how many the duels cover, and the kernels that are fast in one and slow in another.

use super::markdown::{Table, code, time, times};
use super::{Report, TABLES, Topic};
use crate::measuring::duel::{Duel, Mode};

/// The file of the page, without suffix.
const PAGE: &str = "layouts";

impl Report<'_> {
    /// How many layouts the duels cover, as part of a sentence.
    pub(super) fn layouts(&self) -> String {
        match self.data.duels.iter().map(|saved| saved.content.processes).max() {
            None | Some(1) => {
                "each duel is of one process, so of one layout in memory, and another may be faster or slower"
            }
            Some(_) => "rounds are spread over several processes, so over several layouts in memory",
        }
        .to_owned()
    }

    pub(super) fn layout_note(&self) -> String {
        let more = match self.layout_topic() {
            Some(_) => {
                format!("; some kernels have a [slow mode]({TABLES}/{PAGE}.md), and ratios are of the faster one")
            }
            None => String::new(),
        };
        let twice = match self.data.left_out {
            0 => "",
            _ => {
                ". Duels of fewer than ten rounds at published sizes, and games, were measured twice, and count with the \
                    faster baseline"
            }
        };
        format!("- **Layouts**: {}{more}{twice}.\n", self.layouts())
    }

    /// The kernels with two modes.
    pub(super) fn layout_topic(&self) -> Option<Topic> {
        let mut table = Table::new(&["input", "kernel", "fast", "slow", "slow / fast", "processes"]);
        let (mut count, mut all) = (0, 0);
        for Duel { case, processes, rows, .. } in self.data.duels.iter().map(|saved| &saved.content) {
            all += rows.len();
            for row in rows {
                let Some(Mode { median_seconds: slow, processes: slowed }) = row.slow_mode else { continue };
                count += 1;
                table.row([
                    case.to_string(),
                    code(&row.kernel),
                    time(row.median_seconds),
                    time(slow),
                    times(slow / row.median_seconds),
                    format!("{slowed} of {processes}"),
                ]);
            }
        }
        (count > 0).then(|| Topic {
            file: PAGE,
            title: "Layouts in memory".to_owned(),
            finding: format!(
                "{count} of {all} kernels and inputs are fast in some processes and slow in others. Ratios are of the faster mode."
            ),
            tables: table.below("Kernels with two modes, and the processes that were in the slow one:"),
        })
    }
}
