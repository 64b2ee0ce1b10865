//! How stable the clocks are.

use crate::report::data::ClockRow;

use super::markdown::{Table, code, time, within};
use super::{Report, Topic};

/// Half the range of the middle 80 % of the times, in percent of their median.
fn spread(ClockRow { time, .. }: &ClockRow) -> String {
    format!("±{:.1} %", 50.0 * (time.high_seconds - time.low_seconds) / time.median_seconds)
}

impl Report<'_> {
    pub(super) fn clocks(&self) -> Option<Topic> {
        let clocks = &self.data.clocks.first()?.content;
        let mut table = Table::new(&["beside", "clock", "median", "middle 80 %", "spread"]);
        for row in &clocks.rows {
            table.row([
                row.neighbours.clone(),
                row.clock.clone(),
                time(row.time.median_seconds),
                within(&row.time),
                spread(row),
            ]);
        }
        let by_thread = clocks.rows.iter().filter(|row| row.clock == "thread");
        let spreads: Vec<String> = by_thread
            .map(|row| match row.neighbours.as_str() {
                "nothing" => format!("{} alone", spread(row)),
                neighbours => format!("{} beside {neighbours}", spread(row)),
            })
            .collect();
        Some(Topic {
            file: "clocks",
            title: "Stability of the clocks".to_owned(),
            finding: format!(
                "The times of one kernel by the CPU clock of its thread spread by {}.",
                spreads.join(", ")
            ),
            tables: table.below(&format!("{}, timed repeatedly:", code(&clocks.subject))),
        })
    }
}
