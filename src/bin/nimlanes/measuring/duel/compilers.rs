//! Duels of one kernel with itself, as other compilers made it.

use std::path::Path;

use nimlanes::kernel::case::Case;
use nimlanes::lab::environment::Build;
use nimlanes::units::span;
use serde::{Deserialize, Serialize};

use super::processes::Match;
use super::protocol::Identity;
use super::show::{across, build_of, disturbances, left_out, range, tie};
use super::{DuelError, Skipped, Verdict};
use crate::terminal::output::{Document, headed};

/// Kernels by several compilers on one input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compilers {
    #[serde(flatten)]
    pub case: Case,
    /// The CPU that all is compiled for: `default`, `native` or what the flags of rustc name.
    pub build: String,
    /// The first kernel that is not skipped, or the one that was named.
    pub baseline: String,
    /// Number of processes that the rounds are spread over.
    pub processes: usize,
    /// Number of rounds.
    pub rounds: usize,
    /// Share of the turns that took over 10 % longer than the best of their kernel, and are left out: from 0 to 1.
    pub disturbed: f64,
    /// Oldest first.
    pub compilers: Vec<Compiler>,
    /// The kernels, those that are fastest by the newest compiler first.
    pub rows: Vec<CompiledKernel>,
    /// The kernels that did not take part.
    #[serde(default)]
    pub skipped: Vec<Skipped>,
}

/// A compiler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compiler {
    /// What `rustc --version` says.
    pub rustc: String,
    /// The version of LLVM in it.
    pub llvm: String,
}

/// A kernel by each compiler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompiledKernel {
    pub kernel: String,
    /// The tier that it needs.
    pub tier: String,
    /// In the order of the compilers; none where it cannot run.
    pub times: Vec<Option<CompiledTime>>,
}

/// The time of a kernel by one compiler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompiledTime {
    /// Median time of a run.
    pub median_seconds: f64,
    /// Beside the compiler before it.
    #[serde(flatten)]
    pub step: Option<Step>,
}

/// The time by a compiler divided by the time by the one before: the median of the rounds, and the ends of their middle 80 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub over_older: f64,
    pub over_older_low: f64,
    pub over_older_high: f64,
    /// The smallest and the largest ratio of the best times in a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_older_processes: Option<[f64; 2]>,
}

impl Document for Compilers {
    const SCHEMA: &'static str = "nimlanes-compilers-1";
}

impl Compiler {
    /// The compiler of a build.
    pub fn of(build: &Build) -> Self {
        Compiler { rustc: build.rustc.clone(), llvm: build.llvm.clone() }
    }

    /// `1.95.0`
    pub fn version(&self) -> &str {
        self.rustc.split(' ').nth(1).unwrap_or(&self.rustc)
    }

    /// The numbers of the version.
    pub fn age(&self) -> Vec<u32> {
        let number = |part: &str| part.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
        self.version().split('.').map_while(number).collect()
    }
}

impl Step {
    /// `slower` or `faster` than by the compiler before; a `tie` if the middle 80 % leave that open.
    pub fn verdict(&self) -> &'static str {
        Verdict::on(self.over_older, [self.over_older_low, self.over_older_high]).word()
    }
}

impl Match<'_> {
    /// Plays the duel among the kernels of this build and those of the same names in others, by other compilers.
    ///
    /// # Errors
    /// As [`Match::play`]; or another program cannot duel.
    pub fn play_compilers(&self, others: &[&Path], watch: &mut dyn FnMut(f64)) -> Result<Compilers, DuelError> {
        let (sides, seats, played) = self.rounds(others, |sides| self.seats_everywhere(sides), watch)?;
        let compiler = |side: usize| {
            let Identity { build, .. } = &sides[side].identity;
            Compiler::of(build)
        };
        let mut order: Vec<usize> = (0..sides.len()).collect();
        order.sort_by_key(|side| (compiler(*side).age(), *side));
        let place = |side: usize, kernel: &str| {
            seats.iter().position(|seat| seat.side == side && seat.contender.kernel == kernel)
        };
        let time = |kernel: &str, rank: usize| {
            let this = place(order[rank], kernel)?;
            let older = rank.checked_sub(1).and_then(|rank| place(order[rank], kernel));
            let step = older.map(|older| {
                let [over_older_low, over_older, over_older_high] = played.ratios(this, older);
                let over_older_processes = played.ratios_of_processes(this, older);
                Step { over_older, over_older_low, over_older_high, over_older_processes }
            });
            Some(CompiledTime { median_seconds: played.median_seconds(this), step })
        };
        let row = |kernel: &str, tier: &str| {
            let times = (0..order.len()).map(|rank| time(kernel, rank)).collect();
            CompiledKernel { kernel: kernel.to_owned(), tier: tier.to_owned(), times }
        };
        let own = seats.iter().filter(|seat| seat.side == 0).map(|seat| &seat.contender);
        let mut rows: Vec<_> = own.map(|contender| row(&contender.kernel, &contender.tier)).collect();
        let newest =
            |row: &CompiledKernel| row.times.iter().flatten().next_back().map_or(f64::MAX, |time| time.median_seconds);
        rows.sort_by(|a, b| newest(a).total_cmp(&newest(b)));
        Ok(Compilers {
            case: self.case().clone(),
            build: Build::of_this().name,
            baseline: seats[0].contender.kernel.clone(),
            processes: played.processes,
            rounds: played.rounds(),
            disturbed: played.disturbed(),
            compilers: order.iter().map(|side| compiler(*side)).collect(),
            rows,
            skipped: self.lineup.skipped.clone(),
        })
    }
}

impl Compilers {
    /// The table of `compare`.
    pub fn text(&self) -> String {
        let Compilers { case, build, processes, rounds, disturbed, compilers, rows, skipped, .. } = self;
        let listed: String = compilers.iter().map(|one| format!("{}, LLVM {}\n", one.rustc, one.llvm)).collect();
        let heads = compilers.iter().enumerate().flat_map(|(rank, compiler)| {
            let version = compiler.version();
            let over = rank.checked_sub(1).map(|rank| format!("/{}", compilers[rank].version()));
            let rest = over.map(|over| [over, "middle 80 %".to_owned(), "processes".to_owned(), String::new()]);
            [version.to_owned()].into_iter().chain(rest.into_iter().flatten()).collect::<Vec<_>>()
        });
        let cells = |row: &CompiledKernel| {
            let cells = row.times.iter().enumerate().flat_map(|(rank, time)| {
                let dash = || "–".to_owned();
                let mut cells = vec![time.as_ref().map_or_else(dash, |time| span(time.median_seconds * 1e9))];
                match time.as_ref().and_then(|time| time.step) {
                    Some(step) => cells.extend([
                        format!("{:.3}", step.over_older),
                        range(step.over_older_low, step.over_older_high),
                        across(step.over_older_processes),
                        step.verdict().to_owned(),
                    ]),
                    None if rank > 0 => cells.extend([dash(), dash(), dash(), String::new()]),
                    None => {}
                }
                cells
            });
            [row.kernel.clone(), row.tier.clone()].into_iter().chain(cells).collect::<Vec<_>>()
        };
        let heads = ["kernel".to_owned(), "tier".to_owned()].into_iter().chain(heads);
        let [disturbed, unreliable] = disturbances(*disturbed);
        format!(
            "{case}, {}, {rounds} rounds in {processes} processes{disturbed}\n{listed}ratio = time by a compiler / time by the \
             one before; {}, as is what the middle 80 % leave open\n{unreliable}\n{}{}",
            build_of(build),
            tie(),
            headed(heads.collect::<Vec<_>>(), rows.iter().map(cells)),
            left_out(skipped),
        )
    }
}
