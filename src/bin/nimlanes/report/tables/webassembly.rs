//! The tables of WebAssembly: each kernel as it is compiled for this program and for an engine, beside the tiers that CPUs and
//! engines have.

use super::markdown::{Table, code, range, size, spread, time, times};
use super::{Report, Topic};
use crate::files::saved::{Saved, day};
use crate::measuring::duel::{self, Duel, Row};
use crate::report::data::webassembly::WebAssembly;

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

    /// Each kernel in the columns where it is, whatever its tier is called; fastest first.
    fn table(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for row in &self.duel.rows {
            names.extend((!names.contains(&family(row))).then_some(family(row)));
        }
        let heads = ["kernel"].into_iter().chain(COLUMNS).chain(["simd128 / AVX2"]);
        let mut table = Table::new(&heads.collect::<Vec<_>>());
        for name in names {
            let of = |column: usize| self.rows.iter().find(|(at, row)| *at == column && family(row) == name);
            let cells = (0..COLUMNS.len()).map(|column| of(column).map_or("–".to_owned(), |(_, row)| cell(row)));
            let ratio = of(WITH[1]).zip(of(AVX2)).map(|((_, a), (_, b))| times(a.median_seconds / b.median_seconds));
            table.row([code(name)].into_iter().chain(cells).chain([ratio.unwrap_or("–".to_owned())]));
        }
        table.end()
    }
}

/// The name that relatives share.
fn family(row: &Row) -> &str {
    duel::family(&row.kernel, &row.tier)
}

fn cell(row: &Row) -> String {
    format!("{} {}", time(row.median_seconds), spread(row))
}

impl Report<'_> {
    pub(super) fn webassembly(&self) -> Option<Topic> {
        let measured = self.webassembly;
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
    let mut text = format!(
        "## {}\n\n{}, {}, on {}. The fastest kernel of each kind; at the right how many times as long the best in the engine takes.\n\n{}",
        environment.microarchitecture,
        environment.cpu,
        content.engine,
        day(date),
        table.end(),
    );
    for one in &operations {
        let Duel { case, baseline, processes, disturbed, rows, .. } = one.duel;
        text += &format!(
            "### {} at {}\n\n{} rounds, {processes} processes of each program, {:.0} % of the turns left out. Spreads are those of the \
             ratio to {}.\n\n{}",
            code(&case.operation),
            size(case.size),
            rows.first().map_or(0, |row| row.rounds),
            100.0 * disturbed,
            code(baseline),
            one.table(),
        );
    }
    text
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
        for row in [
            "| `mex_subtraction` at 100 | 2.00 ms `stamp` | 1.00 ms `lanes_avx2` | – | 3.00 ms `stamp` | 3.10 ms `stamp` | \
             2.50 ms `lanes_simd128` | 2.50 | – |\n",
            "| `lanes` | 4.00 ms ±10.0 % | 1.00 ms ±10.0 % | – | 40.00 ms ±10.0 % | 8.00 ms ±10.0 % | 2.50 ms ±10.0 % | 2.50 |\n",
            "| `stamp` | 2.00 ms ±10.0 % | – | – | 3.00 ms ±10.0 % | 3.10 ms ±10.0 % | – | – |\n",
        ] {
            assert!(text.contains(row), "{row}\n{text}");
        }
    }
}
