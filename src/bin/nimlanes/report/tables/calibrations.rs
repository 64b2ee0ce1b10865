//! The tables of calibrations: how far duels can be trusted on some machines.

use super::markdown::Table;
use super::{Report, Topic};
use crate::files::saved::{Saved, day};
use crate::measuring::calibration::{COLUMNS, Calibration};

/// The explanation, which is written by hand.
const WHY: &str = include_str!("calibrations.md");

impl Report<'_> {
    pub(super) fn calibrations(&self) -> Option<Topic> {
        let measured = &self.apart.calibrations;
        let finding = |Saved { environment, content, .. }: &Saved<Calibration>| {
            let said = content.says();
            (!said.is_empty()).then(|| format!("On {}, {}.", environment.microarchitecture, said.join("; ")))
        };
        let found: Vec<String> = measured.iter().filter_map(finding).collect();
        (!found.is_empty()).then(|| Topic {
            file: "calibration",
            title: "How far to trust a duel".to_owned(),
            finding: found.join(" "),
            tables: format!("{WHY}\n{}", measured.iter().map(machine).collect::<String>()),
        })
    }
}

fn machine(Saved { environment, content, date, .. }: &Saved<Calibration>) -> String {
    let lines = content.lines();
    let mut table = Table::new(&lines[0]);
    lines[1..].iter().for_each(|line| table.row(line.iter().cloned()));
    let columns: String = COLUMNS.lines().map(|line| format!("- {line}\n")).collect();
    format!(
        "## {}\n\n{}, on {}, {} build, {}: {}.\n\n{}{columns}\n",
        environment.microarchitecture,
        environment.cpu,
        day(date),
        environment.build.name,
        environment.build.rustc,
        content.played(),
        table.end(),
    )
}
