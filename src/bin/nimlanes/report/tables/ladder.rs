//! The section of an operation: result, charts, and tables of kernels by size.

use nimlanes::kernel::Tier;

use crate::report::chart::{self, Bar, Point, Role, Series};
use nimlanes::lab::duel::{Duel, Row, Skipped};
use nimlanes::lab::saved::TIE;
use nimlanes::session::KernelInfo;
use nimlanes::units::span;
use nimlanes::workload::Workload;

use super::markdown::{Table, code, folded, ns, size, spread, time, times};
use super::{Chart, Listed, Report, SMALL};

impl<'a> Report<'a> {
    pub(super) fn operation(&self, listed: &Listed, charts: &str, drawn: &mut Vec<Chart>) -> String {
        let operation = listed.operation;
        let mut text = String::new();
        let mut draw = |text: &mut String, kind: &str, svg: String| {
            let file = format!("{}-{kind}.svg", operation.name());
            *text += &format!("![{} {kind}]({charts}/{file})\n\n", operation.name());
            drawn.push(Chart { file, svg });
        };
        if let Some(line) = self.result(listed) {
            text += &format!("{line}\n\n");
        }
        let notes = operation.notes().trim();
        if !notes.is_empty() {
            // Headings of the notes go below those of the report.
            text += &format!("{}\n\n", notes.replace("\n# ", "\n### "));
        }
        let headline = listed.headline();
        let series = self.series(listed, headline);
        if series.iter().any(|series| series.points.len() > 1) {
            let title = format!("{}: {}", operation.name(), headline.name);
            draw(&mut text, "sizes", chart::sizes(&title, &series, SMALL as f64));
        }
        if let Some(duel) = self.headline(listed) {
            let title = format!("{}: {} at {}", operation.name(), headline.name, size(duel.case.size));
            draw(&mut text, "ratio", chart::ratios(&title, &duel.baseline, &bars(listed, duel)));
        }
        for workload in operation.workloads() {
            let sizes = self.sizes(listed, workload).filter(|size| *size > SMALL);
            let duels: Vec<&Duel> = sizes.filter_map(|size| self.duel(listed, workload, size)).collect();
            if duels.is_empty() {
                continue;
            }
            text += &format!("### {}: {}\n\n", code(workload.name), workload.summary);
            text.push_str(&self.ladder(listed, &duels));
            let threaded = self.threaded(listed, workload);
            if let Some(threads) = threaded.iter().flat_map(|duel| &duel.rows).map(|row| row.threads).max() {
                text += &format!(
                    "On {threads} threads, wall clock, with single-threaded kernels for comparison:\n\n{}",
                    size_table(listed, &threaded)
                );
            }
        }
        let absent = operation.absent();
        if !absent.is_empty() {
            text.push_str("Not in the list:\n\n");
            absent.iter().for_each(|absent| text += &format!("- {}: {}\n", code(absent.feature), absent.reason));
        }
        text
    }

    /// Duels with parallel kernels.
    fn threaded(&self, listed: &Listed, workload: &Workload) -> Vec<&'a Duel> {
        let duel = |size| self.data.duel(&listed.case(workload, size), "default", "wall");
        self.sizes(listed, workload).filter_map(duel).collect()
    }

    fn series(&self, listed: &Listed, workload: &Workload) -> Vec<Series> {
        // A logarithmic axis cannot show size 0.
        let sizes = self.sizes(listed, workload).filter(|size| *size > 0);
        let duels: Vec<&Duel> = sizes.filter_map(|size| self.duel(listed, workload, size)).collect();
        let plain = |duel: &'a Duel| duel.rows.iter().find(|row| listed.is_plain(row));
        // The source's algorithm, and the kernels that lead, overall or in plain Rust, at a size that is not small.
        let mut leads: Vec<&str> = self.headline(listed).map(|duel| duel.baseline.as_str()).into_iter().collect();
        for duel in duels.iter().filter(|duel| duel.case.size > SMALL) {
            leads.extend(duel.rows.first().into_iter().chain(plain(duel)).map(|row| row.kernel.as_str()));
        }
        let series = |kernel: &KernelInfo| {
            let point = |duel: &&'a Duel| {
                let row = duel.rows.iter().find(|row| row.kernel == kernel.name)?;
                let ratio = row.ratio / plain(duel)?.ratio;
                Some(Point { size: duel.case.size as f64, seconds: row.median_seconds, ratio })
            };
            let role = if leads.contains(&kernel.name) { Role::Lead } else { Role::Other };
            Series { name: kernel.name.to_owned(), role, points: duels.iter().filter_map(point).collect() }
        };
        listed.kernels.iter().map(series).filter(|series| !series.points.is_empty()).collect()
    }

    /// The result in one line.
    fn result(&self, listed: &Listed) -> Option<String> {
        let duel = self.headline(listed)?;
        let best = duel.rows.first()?;
        let tied = duel.rows[1..].iter().take_while(|row| best.ratio < row.ratio * (1.0 + TIE));
        let tied: Vec<String> = tied.map(|row| code(&row.kernel)).collect();
        let tied = if tied.is_empty() { String::new() } else { format!(" (a tie with {})", tied.join(", ")) };
        let mut line = format!(
            "**Result** at {}: {}{tied} takes {}, {} per {}, and is {} times as fast as the source's algorithm ({})",
            size(duel.case.size),
            code(&best.kernel),
            time(best.median_seconds),
            ns(1e9 / best.throughput),
            best.unit,
            times(best.ratio),
            code(&duel.baseline),
        );
        if let Some(plain) = duel.rows.iter().find(|row| listed.is_plain(row)) {
            match plain.kernel == best.kernel {
                true => line.push_str("; it is plain Rust"),
                false => {
                    line += &format!(
                        ", and {} times as fast as the best plain Rust ({})",
                        times(best.ratio / plain.ratio),
                        code(&plain.kernel)
                    );
                }
            }
        }
        Some(line + ".")
    }

    /// Kernels by size: time, ratio and spread, with the best of a column and its ties in bold. A folded list below says
    /// which kernels were skipped, and why.
    fn ladder(&self, listed: &Listed, duels: &[&Duel]) -> String {
        let mut text = size_table(listed, duels);
        let mut reasons: Vec<(&str, String)> = Vec::new();
        for duel in duels {
            for Skipped { kernel, reason, predicted_seconds } in &duel.skipped {
                let reason = match (predicted_seconds, self.time_limit(listed, duel)) {
                    (Some(predicted), Some(most)) => {
                        format!("over the time limit of {} ({} per run)", time(most), span(1e9 * predicted))
                    }
                    _ => reason.clone(),
                };
                let line = format!("{} {reason}", size(duel.case.size));
                match reasons.iter_mut().find(|(name, _)| name == kernel) {
                    Some((_, lines)) => *lines += &format!("; {line}"),
                    None => reasons.push((kernel, line)),
                }
            }
        }
        if !reasons.is_empty() {
            let list: String =
                reasons.iter().map(|(kernel, lines)| format!("- {}: {lines}\n", listed.link(kernel))).collect();
            text += &folded("Skipped kernels, with sizes and reasons", &list);
        }
        text
    }
}

/// The table of kernels by size.
fn size_table(listed: &Listed, duels: &[&Duel]) -> String {
    let head = |duel: &&Duel| format!("{} (× {})", size(duel.case.size), code(&duel.baseline));
    let mut table = Table::new(&["kernel".to_owned()].into_iter().chain(duels.iter().map(head)).collect::<Vec<_>>());
    for kernel in listed.kernels.iter().map(|kernel| kernel.name) {
        let rows: Vec<Option<&Row>> =
            duels.iter().map(|duel| duel.rows.iter().find(|row| row.kernel == kernel)).collect();
        if rows.iter().all(Option::is_none) {
            continue;
        }
        let cell = |(duel, row): (&&Duel, Option<&Row>)| {
            let Some(row) = row else { return "–".to_owned() };
            let ties = duel.rows.first().is_some_and(|best| row.median_seconds <= best.median_seconds * (1.0 + TIE));
            let bold = if ties { "**" } else { "" };
            let ratio = if row.kernel == duel.baseline { String::new() } else { format!(" {}", spread(row)) };
            format!("{bold}{}{bold}<br>×{}{ratio}", time(row.median_seconds), times(row.ratio))
        };
        table.row([listed.link(kernel)].into_iter().chain(duels.iter().zip(rows).map(cell)));
    }
    table.end()
}

/// The technology that a kernel uses: its Cargo features, else its tier, else plain Rust.
fn technology(kernel: &KernelInfo) -> String {
    match (kernel.features, kernel.tier) {
        ([], Tier::Portable) => "plain Rust".to_owned(),
        ([], tier) => tier.name().to_owned(),
        (features, _) => features.join(" + "),
    }
}

fn bars(listed: &Listed, duel: &Duel) -> Vec<Bar> {
    let bar = |row: &Row| Bar {
        name: row.kernel.clone(),
        technology: listed.info(&row.kernel).map_or(row.tier.clone(), technology),
        ratio: row.ratio,
        range: (row.ratio_low, row.ratio_high),
    };
    duel.rows.iter().map(bar).collect()
}
