//! Comparisons as tables.

use nimlanes::lab::environment::Build;
use nimlanes::units::span;

use super::comparison::{ComparedBuild, Comparison};
use super::interval::{CONFIDENCE, FEW_ROUNDS};
use super::{Duel, Row, Skipped, is_tie};
use crate::measuring::builds::protocol::Identity;
use crate::terminal::output::headed;

impl Comparison {
    /// The tables of `compare`: all rows, fastest first, then what this build takes of the time of each other.
    pub fn text(&self) -> String {
        let Comparison { duel, builds } = self;
        let mut listed: Vec<(&Row, &str)> = duel.rows.iter().map(|row| (row, "this")).collect();
        for build in builds {
            listed.extend(build.rows.iter().map(|kernel| (&kernel.row, build.name.as_str())));
        }
        listed.sort_by(|(a, _), (b, _)| a.median_seconds.total_cmp(&b.median_seconds));
        let table = heading(duel) + &body(&listed, !builds.is_empty(), duel);
        if builds.is_empty() { table } else { table + &self.changes() }
    }

    /// The other builds, and the ratios to them.
    fn changes(&self) -> String {
        let apart: String = self.builds.iter().map(ComparedBuild::apart).collect();
        let this = described("this", None, &Identity::of_this());
        let others = self.builds.iter().map(|build| {
            let path = Some(build.path.as_str()).filter(|path| *path != build.name);
            described(&build.name, path, &build.identity)
        });
        let described: String = [this].into_iter().chain(others).collect();
        let interval = format!("{:.0} % interval", 100.0 * CONFIDENCE);
        let rows = self.builds.iter().flat_map(|build| build.rows.iter().map(move |kernel| (build, kernel)));
        let cells = rows.map(|(build, kernel)| {
            let ratio = &kernel.this_over_other;
            let interval = ratio.interval.map(|bound| format!("{bound:.3}")).join(" .. ");
            let [all, best] = [range(ratio.low, ratio.high), across(ratio.processes)];
            let verdict = ratio.verdict().to_owned();
            [kernel.row.kernel.clone(), build.name.clone(), format!("{:.3}", ratio.ratio), interval, all, best, verdict]
        });
        format!(
            "{apart}\n{described}this/other = time of this build / time of the other; a tie if the interval holds 1\n\n{}",
            headed(["kernel", "build", "this/other", &interval, "middle 80 %", "processes", ""], cells),
        )
    }
}

impl ComparedBuild {
    /// The kernels that only one of the builds has.
    fn apart(&self) -> String {
        let only_here = self.only_here.iter().map(|listed| {
            let why = listed.obstacle.as_deref().unwrap_or_default();
            format!("only in this build: {} (in {}: {why})\n", listed.kernel, self.name)
        });
        let only_there = self.only_there.iter().map(|kernel| format!("only in {}: {kernel}\n", self.name));
        only_here.chain(only_there).collect()
    }
}

/// The stated identity of a build, in a line.
fn described(name: &str, path: Option<&str>, identity: &Identity) -> String {
    let Identity { version, revision, build, .. } = identity;
    let revision = revision.as_ref().map(|revision| format!(" of {revision:.12}")).unwrap_or_default();
    let (compiler, Build { name: target, profile, .. }) = (build.compiler(), build);
    let path = path.map(|path| format!(" {path},")).unwrap_or_default();
    format!("{name}:{path} nimlanes {version}{revision}, {compiler}, {target} build, {profile} profile\n")
}

/// The build of a duel, and its profile unless that is the one that is measured in.
fn build_of(name: &str) -> String {
    match Build::of_this().profile.as_str() {
        "release" => format!("{name} build"),
        profile => format!("{name} build, {profile} profile"),
    }
}

/// The subject of the duel.
fn heading(duel: &Duel) -> String {
    let Duel { case, build, baseline, disturbed, rows, .. } = duel;
    let (clock, rounds) = rows.first().map_or(("", 0), |row| (row.clock.as_str(), row.rounds));
    let few = if rounds < FEW_ROUNDS { " (few: the range covers nearly all of them)" } else { "" };
    let [disturbed, unreliable] = disturbances(*disturbed);
    format!(
        "{case}, {}, {clock} clock, {rounds} rounds{few} in {}{disturbed}\nratio = time of {baseline} / time of the \
         kernel; a tie if its ranges hold 1\n{unreliable}\n",
        build_of(build),
        duel.layouts(),
    )
}

/// The share of turns that are left out, in words: the end of a line, and a line.
fn disturbances(share: f64) -> [String; 2] {
    let unreliable = match share > MOST_DISTURBED {
        true => "not reliable: more than a third of the turns were disturbed; repeat it on an idle machine\n",
        false => "",
    };
    let disturbed = match 100.0 * share {
        percent if percent < 0.5 => String::new(),
        percent => format!(", {percent:.0} % of the turns disturbed and left out"),
    };
    [disturbed, unreliable.to_owned()]
}

/// A duel that leaves out a larger share of its turns is not reliable.
const MOST_DISTURBED: f64 = 1.0 / 3.0;

/// The rows, each with its build if there are several. Those that tie with the baseline end with the word.
fn body(listed: &[(&Row, &str)], builds: bool, duel: &Duel) -> String {
    let unit = listed.first().map_or("", |(row, _)| row.unit.as_str());
    let per_unit = format!("ns/{unit}");
    let heads =
        ["tier", "claim", "threads", "time", "ratio", "middle 80 %", "processes", &per_unit, "# per doubling", ""];
    let head = ["kernel"].into_iter().chain(builds.then_some("build")).chain(heads);
    // A fixed scale, on which equal times have the same length.
    let slowest = listed.iter().map(|(row, _)| row.ratio).fold(1.0, f64::min);
    let baseline = duel.rows.iter().find(|row| row.kernel == duel.baseline);
    let cells = |(row, build): &(&Row, &str)| {
        let ties = is_tie(row.bounds()) && baseline.is_none_or(|baseline| !std::ptr::eq(baseline, *row));
        let numbers = [
            row.tier.clone(),
            row.claim.clone(),
            row.threads.to_string(),
            span(row.median_seconds * 1e9),
            format!("{:.2}", row.ratio),
            range(row.ratio_low, row.ratio_high),
            across(row.ratio_processes),
            format!("{:.3}", 1e9 / row.throughput),
            "#".repeat(1 + (row.ratio / slowest).log2().round() as usize),
            if ties { "tie" } else { "" }.to_owned(),
        ];
        [row.kernel.clone()].into_iter().chain(builds.then(|| (*build).to_owned())).chain(numbers).collect::<Vec<_>>()
    };
    let two_modes = listed.iter().filter_map(|(row, build)| {
        let slow = row.slow_mode?;
        let (kernel, of) = (&row.kernel, if builds { format!(" of {build}") } else { String::new() });
        let [fast_time, slow_time] = [row.median_seconds, slow.median_seconds].map(|seconds| span(seconds * 1e9));
        Some(format!("two modes: {kernel}{of} takes {fast_time}, but {slow_time} in {} processes\n", slow.processes))
    });
    headed(head, listed.iter().map(cells)) + &two_modes.collect::<String>() + &left_out(&duel.skipped)
}

/// A line for each kernel that did not take part.
fn left_out(skipped: &[Skipped]) -> String {
    skipped.iter().map(|skipped| format!("skipped {}: {}\n", skipped.kernel, skipped.reason)).collect()
}

fn range(low: f64, high: f64) -> String {
    format!("{low:.2} .. {high:.2}")
}

/// A range over processes.
fn across(processes: Option<[f64; 2]>) -> String {
    processes.map_or("–".to_owned(), |[low, high]| range(low, high))
}
