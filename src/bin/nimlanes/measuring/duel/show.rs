//! Duels as tables and as JSON.

use nimlanes::kernel::case::Case;
use nimlanes::lab::environment::Build;
use nimlanes::units::span;
use serde::Serialize;

use super::interval::CONFIDENCE;
use super::protocol::{Identity, Listed};
use super::{Duel, MIN_ROUNDS, NewOverOld, Other, OtherRow, Row, Skipped, TIE, Verdict};
use crate::terminal::output::{Document, headed};

/// The output of `--json` with another build: the fields of a duel, with rows of both builds.
#[derive(Serialize)]
pub struct Versus<'a> {
    #[serde(skip)]
    duel: &'a Duel,
    #[serde(flatten)]
    case: &'a Case,
    build: &'a str,
    baseline: &'a str,
    processes: usize,
    disturbed: f64,
    rows: Vec<BuildRow<'a>>,
    skipped: &'a [Skipped],
    other: OtherBuild<'a>,
    /// Kernels that took part only in this build.
    only_here: &'a [Listed],
    /// Kernels that only the other build has.
    only_there: &'a [String],
}

/// The other build.
#[derive(Serialize)]
struct OtherBuild<'a> {
    path: String,
    #[serde(flatten)]
    identity: &'a Identity,
}

/// A row of one of two builds.
#[derive(Serialize)]
struct BuildRow<'a> {
    #[serde(flatten)]
    row: &'a Row,
    /// `this` or `other`.
    build: &'static str,
    #[serde(flatten)]
    change: Option<NewOverOld>,
}

impl Document for Versus<'_> {
    const SCHEMA: &'static str = "nimlanes-versus-1";
}

impl<'a> Versus<'a> {
    /// The outcome of a duel with another build.
    pub fn new(duel: &'a Duel, other: &'a Other) -> Self {
        let Duel { case, build, baseline, processes, disturbed, rows, skipped } = duel;
        let Other { path, identity, rows: other_rows, only_here, only_there } = other;
        let own = rows.iter().map(|row| BuildRow { row, build: "this", change: None });
        let others =
            other_rows.iter().map(|OtherRow { row, change }| BuildRow { row, build: "other", change: Some(*change) });
        let mut rows: Vec<BuildRow> = own.chain(others).collect();
        rows.sort_by(|a, b| a.row.median_seconds.total_cmp(&b.row.median_seconds));
        let other = OtherBuild { path: path.display().to_string(), identity };
        Versus {
            duel,
            case,
            build,
            baseline,
            processes: *processes,
            disturbed: *disturbed,
            rows,
            skipped,
            other,
            only_here,
            only_there,
        }
    }

    /// The tables of `compare`: all rows, then the change of each kernel.
    pub fn text(&self) -> String {
        let Identity { version, revision, build, .. } = self.other.identity;
        let Build { name: build, profile, .. } = build;
        // A default and a native build go by these names: neither is the old one.
        let differ = self.build != build;
        let [new_name, old_name] = if differ { [self.build, build] } else { ["new", "old"] };
        let name = |row: &BuildRow<'_>| match row.build {
            side if !differ => side,
            "this" => new_name,
            _ => old_name,
        };
        let rows: Vec<(&Row, &str)> = self.rows.iter().map(|row| (row.row, name(row))).collect();
        let quotient = format!("{new_name}/{old_name}");
        let change = |BuildRow { row, change, .. }: &BuildRow<'_>| {
            let NewOverOld {
                new_over_old: ratio,
                new_over_old_low,
                new_over_old_high,
                new_over_old_interval: interval,
                new_over_old_processes,
            } = (*change)?;
            let said = Verdict::on(ratio, interval).word();
            let [all, best] = [range(new_over_old_low, new_over_old_high), across(new_over_old_processes)];
            let interval = interval.map(|bound| format!("{bound:.3}")).join(" .. ");
            Some([row.kernel.clone(), format!("{ratio:.3}"), interval, all, best, said.to_owned()])
        };
        let interval = format!("{:.0} % interval", 100.0 * CONFIDENCE);
        let changes = headed(
            ["kernel", &quotient, &interval, "middle 80 %", "processes", ""],
            self.rows.iter().filter_map(change),
        );
        let revision = revision.as_ref().map(|revision| format!(" of {revision:.12}")).unwrap_or_default();
        let only_here = self.only_here.iter().map(|listed| {
            let why = listed.obstacle.as_deref().unwrap_or_default();
            format!("only in this build: {} (in the other: {why})\n", listed.kernel)
        });
        let only_there = self.only_there.iter().map(|kernel| format!("only in the other build: {kernel}\n"));
        format!(
            "{}{}{}\nother build: {}, nimlanes {version}{revision}, {build} build, {profile} profile\n{quotient} = time of this build / time of the \
             other; {}; an interval that holds 1 is a tie\n\n{}",
            heading(self.duel),
            body(&rows, self.skipped),
            only_here.chain(only_there).collect::<String>(),
            self.other.path,
            tie(),
            changes,
        )
    }
}

/// The table of `compare`, fastest first.
pub fn duel(duel: &Duel) -> String {
    let listed: Vec<(&Row, &str)> = duel.rows.iter().map(|row| (row, "")).collect();
    heading(duel) + &body(&listed, &duel.skipped)
}

/// The build of a duel, and its profile unless that is the one that is measured in.
pub fn build_of(name: &str) -> String {
    match Build::of_this().profile.as_str() {
        "release" => format!("{name} build"),
        profile => format!("{name} build, {profile} profile"),
    }
}

/// What was measured.
fn heading(duel: &Duel) -> String {
    let Duel { case, build, baseline, disturbed, rows, .. } = duel;
    let (clock, rounds) = rows.first().map_or(("", 0), |row| (row.clock.as_str(), row.rounds));
    let few = if rounds <= MIN_ROUNDS { " (few: the range covers nearly all of them)" } else { "" };
    let [disturbed, unreliable] = disturbances(*disturbed);
    format!(
        "{case}, {}, {clock} clock, {rounds} rounds{few} in {}{disturbed}\nratio = time of {baseline} / time of the \
         kernel; {}\n{unreliable}\n",
        build_of(build),
        duel.layouts(),
        tie(),
    )
}

/// What a tie is, in words.
pub fn tie() -> String {
    format!("under {:.0} % is a tie", 100.0 * TIE)
}

/// What the share of turns that are left out says: the end of a line, and a line.
pub fn disturbances(share: f64) -> [String; 2] {
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

/// A duel that leaves out a larger share of its turns says little.
pub const MOST_DISTURBED: f64 = 1.0 / 3.0;

/// The rows, each with its build if there are two.
fn body(listed: &[(&Row, &str)], skipped: &[Skipped]) -> String {
    let unit = listed.first().map_or("", |(row, _)| row.unit.as_str());
    let per_unit = format!("ns/{unit}");
    let heads = ["tier", "claim", "threads", "time", "ratio", "middle 80 %", "processes", &per_unit, "# per doubling"];
    let builds = listed.iter().any(|(_, build)| !build.is_empty());
    let head = ["kernel"].into_iter().chain(builds.then_some("build")).chain(heads);
    // A fixed scale, on which ties have the same length.
    let slowest = listed.iter().map(|(row, _)| row.ratio).fold(1.0, f64::min);
    let cells = |(row, build): &(&Row, &str)| {
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
        ];
        [row.kernel.clone()].into_iter().chain(builds.then(|| (*build).to_owned())).chain(numbers).collect::<Vec<_>>()
    };
    let two_modes = listed.iter().filter_map(|(row, build)| {
        let slow = row.slow_mode?;
        let (kernel, of) = (&row.kernel, if build.is_empty() { String::new() } else { format!(" of {build} build") });
        let [fast_time, slow_time] = [row.median_seconds, slow.median_seconds].map(|seconds| span(seconds * 1e9));
        Some(format!("two modes: {kernel}{of} takes {fast_time}, but {slow_time} in {} processes\n", slow.processes))
    });
    headed(head, listed.iter().map(cells)) + &two_modes.collect::<String>() + &left_out(skipped)
}

/// A line for each kernel that did not take part.
pub fn left_out(skipped: &[Skipped]) -> String {
    skipped.iter().map(|skipped| format!("skipped {}: {}\n", skipped.kernel, skipped.reason)).collect()
}

pub fn range(low: f64, high: f64) -> String {
    format!("{low:.2} .. {high:.2}")
}

/// A range over processes.
pub fn across(processes: Option<[f64; 2]>) -> String {
    processes.map_or("–".to_owned(), |[low, high]| range(low, high))
}
