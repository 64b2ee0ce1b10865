//! The tables of WebAssembly: the fastest kernels as compiled for this program and for an engine, by the tiers that CPUs and engines
//! have.

use super::markdown::{Table, code, range, size, time, times};
use super::{Report, Topic};
use crate::files::saved::{Saved, day};
use crate::measuring::duel::{Duel, Row};
use crate::report::data::apart::WebAssembly;

/// The explanation, which is written by hand.
const WHY: &str = include_str!("webassembly.md");

/// The columns of a table.
const COLUMNS: [&str; 6] =
    ["SSE2 by the compiler", "AVX2", "AVX-512", "WebAssembly", "with vectors by the compiler", "simd128"];
const AVX2: usize = 1;
const AVX512: usize = 2;
const WITHOUT: usize = 3;
const WITH: [usize; 2] = [4, 5];

/// The times of an operation.
struct Operation<'a> {
    /// The duel of this program.
    duel: &'a Duel,
    /// Each with its column.
    rows: Vec<(usize, &'a Row)>,
}

impl<'a> Operation<'a> {
    fn new(duels: &'a [Duel]) -> Option<Self> {
        let duel = duels.first()?;
        let column = |build: usize, row: &Row| match (build, row.tier.as_str()) {
            (0, "portable") => Some(0),
            (0, "avx2") => Some(AVX2),
            (0, "avx512") => Some(AVX512),
            (1, _) => Some(WITHOUT),
            (2, "portable") => Some(WITH[0]),
            (2, _) => Some(WITH[1]),
            _ => None,
        };
        let rows = duels.iter().enumerate().flat_map(|(build, duel)| duel.rows.iter().map(move |row| (build, row)));
        Some(Operation { duel, rows: rows.filter_map(|(build, row)| Some((column(build, row)?, row))).collect() })
    }

    /// The fastest kernel of some columns.
    fn best(&self, columns: &[usize]) -> Option<&'a Row> {
        let rows = self.rows.iter().filter(|(column, _)| columns.contains(column)).map(|(_, row)| *row);
        rows.min_by(|a, b| a.median_seconds.total_cmp(&b.median_seconds))
    }

    /// How many times as long the fastest kernel of some columns takes as that of others.
    fn ratio(&self, over: &[usize], under: &[usize]) -> Option<f64> {
        Some(self.best(over)?.median_seconds / self.best(under)?.median_seconds)
    }
}

impl Report<'_> {
    pub(super) fn webassembly(&self) -> Option<Topic> {
        let measured = &self.apart.webassembly;
        let found: Vec<String> = measured.iter().filter_map(finding).collect();
        let [why, more] = WHY.split_once("\n\n").map(|(why, more)| [why, more])?;
        (!found.is_empty()).then(|| Topic {
            file: "webassembly",
            title: "WebAssembly".to_owned(),
            finding: format!("{} {why}", found.join(" ")),
            tables: format!("{}\n\n{}", more.trim_end(), measured.iter().map(machine).collect::<String>()),
        })
    }
}

fn operations(measured: &WebAssembly) -> Vec<Operation<'_>> {
    measured.operations.iter().filter_map(|duels| Operation::new(duels)).collect()
}

/// How far apart the best kernels are.
fn finding(Saved { environment, content, .. }: &Saved<WebAssembly>) -> Option<String> {
    let operations = operations(content);
    let apart = |over: &[usize]| {
        let ratios: Vec<f64> = operations.iter().filter_map(|one| one.ratio(over, &[0, AVX2])).collect();
        range(&ratios, times)
    };
    let (with, without) = (apart(&[WITHOUT, WITH[0], WITH[1]])?, apart(&[WITHOUT])?);
    let engine = content.engine.split(" (").next().unwrap_or_default();
    Some(format!(
        "In {engine} on {}, the best kernels take {with} times as long as the best up to AVX2 beside them, without vectors {without} times.",
        environment.microarchitecture
    ))
}

fn machine(Saved { environment, content, date, .. }: &Saved<WebAssembly>) -> String {
    let operations = operations(content);
    let heads = ["operation"].into_iter().chain(COLUMNS).chain(["beside AVX2", "beside AVX-512"]);
    let mut table = Table::new(&heads.collect::<Vec<_>>());
    for one in &operations {
        let best = |column| one.best(&[column]);
        let cells = (0..COLUMNS.len()).map(|column| {
            best(column).map_or("–".to_owned(), |row| format!("{} {}", time(row.median_seconds), code(&row.kernel)))
        });
        let beside = |under: usize| one.ratio(&[WITHOUT, WITH[0], WITH[1]], &[under]).map_or("–".to_owned(), times);
        let (name, at) = (code(&one.duel.case.operation), size(one.duel.case.size));
        table.row([format!("{name} at {at}")].into_iter().chain(cells).chain([beside(AVX2), beside(AVX512)]));
    }
    format!(
        "## {}\n\n{}, {}, on {}. The fastest kernel of each kind; at the right how many times as long the best in the engine takes.\n\n{}",
        environment.microarchitecture,
        environment.cpu,
        content.engine,
        day(date),
        table.end(),
    )
}

#[cfg(test)]
mod tests {
    use nimlanes::lab::environment::Environment;
    use nimlanes::machine::Machine;

    use super::*;
    use crate::measuring::duel::example;

    fn duel(build: &str, rows: &[(&str, &str, f64)]) -> Duel {
        let row = |(kernel, tier, ms): &(&str, &str, f64)| {
            let seconds = ms / 1e3;
            Row {
                tier: (*tier).to_owned(),
                ..example::row(kernel, seconds, [0.9, 1.0, 1.1].map(|low| low * 1e-3 / seconds))
            }
        };
        Duel { build: build.to_owned(), ..example::duel(rows.iter().map(row).collect()) }
    }

    #[test]
    fn a_kernel_has_a_row_with_all_its_tiers() {
        let duels = vec![
            duel("default", &[("lanes_avx2", "avx2", 1.0), ("stamp", "portable", 2.0), ("lanes", "portable", 4.0)]),
            duel("wasm32", &[("stamp", "portable", 3.0), ("lanes", "portable", 40.0)]),
            duel(
                "simd128",
                &[("lanes_simd128", "simd128", 2.5), ("stamp", "portable", 3.1), ("lanes", "portable", 8.0)],
            ),
        ];
        let environment = Environment::detect(&Machine::detect());
        let engine = "Node 1.2.3 (V8 4.5)".to_owned();
        let saved = Saved::now(environment, WebAssembly { engine, operations: vec![duels] });
        let found = finding(&saved).expect("all tiers");
        assert!(found.starts_with("In Node 1.2.3 on "), "{found}");
        assert!(
            found.contains(" take 2.50 to 2.50 times as long ") && found.ends_with(" 3.00 to 3.00 times."),
            "{found}"
        );
        let text = machine(&saved).replace('\u{a0}', " ");
        let row = "| `mex_subtraction` at 100 | 2.00 ms `stamp` | 1.00 ms `lanes_avx2` | – | 3.00 ms `stamp` | 3.10 ms `stamp` | \
                   2.50 ms `lanes_simd128` | 2.50 | – |\n";
        assert!(text.contains(row), "{row}\n{text}");
    }
}
