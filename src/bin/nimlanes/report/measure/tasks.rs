//! The tasks of a report, from the registry: what it measures and for how long.

use std::time::Duration;

use nimlanes::cores::OPERATIONS;
use nimlanes::games::{GAMES, Game};
use nimlanes::kernel::candidate::{Candidate, quickest};
use nimlanes::kernel::case::Case;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::AnyOperation;
use nimlanes::kernel::workload::{InputError, Workload};
use nimlanes::lab::clock::MIN_TURN;
use nimlanes::lab::environment::BUILD;

/// How much a report measures.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// A draft: only small and published sizes, short duels.
    pub draft: bool,
    /// Budget of a headline duel: at the published size of an operation's first workload.
    headline: Duration,
    /// Time limit of a run in headline duels, so that the baselines are included. At other sizes of that workload that are not small, it
    /// applies to the best kernel in plain Rust and the best known elsewhere.
    pub headline_time_limit: Duration,
    /// Budget of any other duel.
    other: Duration,
}

impl Effort {
    /// The full report.
    pub const FULL: Effort = Effort {
        draft: false,
        headline: Duration::from_secs(8),
        headline_time_limit: Duration::from_secs(6),
        other: Duration::from_millis(1500),
    };

    /// A draft, in about two minutes.
    pub const DRAFT: Effort = Effort {
        draft: true,
        headline: Duration::from_secs(2),
        headline_time_limit: Duration::from_millis(600),
        other: Duration::from_millis(400),
    };
}

/// Time limit of a run, but for kernels that are always included.
pub const TIME_LIMIT: Duration = Duration::from_millis(50);

/// Sizes up to this are small: the fixed cost of a call dominates their times.
pub const SMALL: u64 = 100;

/// Sizes larger than those of the benches are measured if the fastest kernel needs at most this long for a run.
const LARGER_SIZE_LIMIT: Duration = Duration::from_millis(1000);

/// A duel at the published size has at least that many rounds, whatever its budget: a busy neighbour can slow a few.
const FEWEST_ROUNDS: u32 = 10;

/// One thing to measure.
#[derive(Clone)]
pub(super) enum Task {
    Sources,
    Needs,
    Ceilings,
    Duel(Planned),
    Game { game: &'static Game, limit: u64, budget: Duration },
    Far { game: &'static Game, limit: u64 },
}

/// A duel to be played.
#[derive(Clone)]
pub(super) struct Planned {
    pub(super) operation: &'static AnyOperation,
    pub(super) case: Case,
    /// The kernels that take part whatever the time limit; on several threads, all that take part.
    pub(super) included: Vec<&'static str>,
    pub(super) threads: usize,
    pub(super) budget: Duration,
}

impl Task {
    /// The name of the result file, without suffix.
    pub(super) fn name(&self) -> String {
        match self {
            Task::Sources => "sources".to_owned(),
            Task::Needs => "needs".to_owned(),
            Task::Ceilings => "ceilings".to_owned(),
            Task::Duel(Planned { case, threads: 1, .. }) => format!("duel-{BUILD}-{}", case.stem()),
            Task::Duel(Planned { case, threads, .. }) => format!("duel-{BUILD}-{}-threads-{threads}", case.stem()),
            Task::Game { game, limit, .. } => format!("game-{}-{limit}", game.name),
            Task::Far { game, limit } => format!("far-{}-{limit}", game.name),
        }
    }
}

/// Tasks for everything in the registry, with this effort.
///
/// # Errors
/// A workload is listed with an invalid size.
pub(super) fn all(effort: &Effort, selection: &Selection) -> Result<Vec<Task>, InputError> {
    let mut tasks = vec![Task::Sources, Task::Needs, Task::Ceilings];
    for operation in OPERATIONS.iter().copied() {
        for workload in operation.workloads() {
            tasks.extend(duels(operation, workload, effort, selection)?);
        }
    }
    for game in GAMES {
        tasks.push(Task::Game { game, limit: game.published, budget: effort.other });
        if !effort.draft {
            tasks.extend(game.far.iter().max().map(|limit| Task::Far { game, limit: *limit }));
        }
    }
    Ok(tasks)
}

/// Whether a workload is the first, main one of its operation.
fn is_first(operation: &AnyOperation, workload: &Workload) -> bool {
    operation.workloads()[0].name == workload.name
}

/// The sizes at which a workload is measured, ascending.
pub(super) fn sizes(
    operation: &'static AnyOperation,
    workload: &'static Workload,
    effort: &Effort,
    selection: &Selection,
) -> Result<Vec<u64>, InputError> {
    let is_first = is_first(operation, workload);
    let mut sizes = workload.sizes.to_vec();
    sizes.push(workload.published);
    sizes.sort_unstable();
    sizes.dedup();
    if effort.draft {
        sizes.retain(|size| *size <= SMALL || is_first && *size == workload.published);
    } else if is_first {
        for size in larger_sizes(sizes[sizes.len() - 1]) {
            let session = match operation.session(selection, workload.name, size) {
                Err(InputError::TooLarge { .. }) => continue,
                session => session?,
            };
            let candidates = session.candidates(1, LARGER_SIZE_LIMIT);
            sizes.extend(fastest(&candidates, |_| true).map(|_| size));
        }
    }
    Ok(sizes)
}

/// The tasks of one workload: a duel at each size. At the published size of the first workload and at the largest, also a duel of the
/// parallel kernels, if there are any.
fn duels(
    operation: &'static AnyOperation,
    workload: &'static Workload,
    effort: &Effort,
    selection: &Selection,
) -> Result<Vec<Task>, InputError> {
    let mut tasks = Vec::new();
    let threads = selection.machine().threads();
    let kernels = operation.kernels(selection.machine());
    let parallel = kernels.iter().filter(|kernel| kernel.is_parallel() && kernel.obstacle.is_none());
    let parallel: Vec<&'static str> = parallel.map(|kernel| kernel.name).collect();
    let is_first = is_first(operation, workload);
    let sizes = sizes(operation, workload, effort, selection)?;
    let largest = sizes.last().copied();
    for size in sizes {
        let session = operation.session(selection, workload.name, size)?;
        let mut able = session.candidates(1, Duration::MAX);
        able.retain(Candidate::is_able);
        if able.len() < 2 {
            continue; // nothing to compare
        }
        let is_headline = is_first && size == workload.published;
        let quickest = fastest(&able, |_| true);
        let plain = fastest(&able, |kernel| kernels[kernel].is_plain());
        let is_named =
            |kernel| is_first && size > SMALL && (Some(kernel) == plain || operation.public().contains(&kernel));
        let included = |is_wanted: &dyn Fn(&'static str) -> bool| {
            let is_quick = |candidate: &&Candidate| candidate.predicted() <= effort.headline_time_limit;
            // A duel needs a kernel.
            let is_it = |it: &&Candidate| Some(it.name) == quickest || is_quick(it) && is_wanted(it.name);
            able.iter().filter(is_it).collect::<Vec<_>>()
        };
        let names =
            |included: Vec<&Candidate>| included.into_iter().map(|candidate| candidate.name).collect::<Vec<_>>();
        let mut push = |included, threads, budget| {
            tasks.push(Task::Duel(Planned { operation, case: session.case().clone(), included, threads, budget }));
        };
        let budget = if is_headline { effort.headline } else { effort.other };
        if threads > 1 && !parallel.is_empty() && is_first && (is_headline || Some(size) == largest) {
            push([names(included(&is_named)), parallel.clone()].concat(), threads, budget / 2);
        }
        let included = included(&|kernel| is_headline || is_named(kernel));
        let round: Duration = included.iter().map(|candidate| candidate.predicted().max(MIN_TURN)).sum();
        let enough = if is_headline && !effort.draft { round * FEWEST_ROUNDS } else { Duration::ZERO };
        push(names(included), 1, budget.max(enough));
    }
    Ok(tasks)
}

/// The exact kernel that satisfies a condition and is predicted to be the fastest.
fn fastest(candidates: &[Candidate], is_wanted: impl Fn(usize) -> bool) -> Option<&'static str> {
    let wanted = candidates.iter().filter(|candidate| candidate.is_exact() && is_wanted(candidate.index));
    quickest(wanted).map(|candidate| candidate.name)
}

/// The next two sizes beyond those of the benches that are five or ten times a power of ten. They are too slow for a bench,
/// but show the growth.
fn larger_sizes(largest: u64) -> impl Iterator<Item = u64> {
    let decade = 10u64.pow(largest.checked_ilog10().unwrap_or(0));
    let sizes = [5, 10, 50, 100].into_iter().map(move |factor| factor * decade);
    sizes.filter(move |size| *size > largest).take(2)
}
