//! Whether a kernel can handle an input here, and if not, why. Selection, duels, checks, benches and the report all use
//! this list.

use std::time::Duration;

use crate::kernel::{Claim, Cost, KernelMeta, Operation, Yields};
use crate::machine::Machine;

pub use crate::kernel::obstacle::Obstacle;

/// The resources that a run may use.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Conditions {
    /// The machine: its instruction sets and memory.
    pub machine: Machine,
    /// The number of threads.
    pub threads: usize,
    /// The limit on the predicted time; [`Duration::MAX`] is no limit.
    pub time_limit: Duration,
}

/// A kernel considered for an input: the predicted cost of the run, and what prevents it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// The kernel.
    pub name: &'static str,
    /// The kernel's index in the operation's list.
    pub index: usize,
    /// Whether the kernel's answers are proved.
    pub claim: Claim,
    /// Predicted time and memory; [`Cost::IMPOSSIBLE`] for a kernel that cannot run here.
    pub cost: Cost,
    /// Why the kernel cannot or may not handle the input, if so.
    pub obstacle: Option<Obstacle>,
}

impl Candidate {
    /// All kernels of an operation, in list order, as candidates for an input.
    #[inline(never)]
    pub fn all<O: Operation>(input: &O::Input, conditions: &Conditions) -> Vec<Candidate> {
        let (mut all, wanted) = (Vec::with_capacity(O::KERNELS.len()), O::wanted(input));
        for (index, def) in O::KERNELS.iter().enumerate() {
            let cost = |threads| def.predict(input, threads).unwrap_or(Cost::IMPOSSIBLE);
            all.push(Candidate::new(index, def, wanted, &cost, conditions));
        }
        all
    }

    /// A kernel that must find as much as is `wanted`, with its cost for each number of threads.
    fn new(
        index: usize,
        meta: &'static KernelMeta,
        wanted: Yields,
        cost: &dyn Fn(usize) -> Cost,
        conditions: &Conditions,
    ) -> Self {
        let Conditions { machine, threads, time_limit } = *conditions;
        let (cost, obstacle) = match meta.obstacle_on(&machine) {
            Some(obstacle) => (Cost::IMPOSSIBLE, Some(obstacle)),
            None => {
                let (cost, at_more) = (cost(threads), cost);
                let free = meta.free_memory(&machine, threads);
                let obstacle = if meta.yields < wanted {
                    Some(Obstacle::TallyAlone)
                } else if !cost.is_possible() {
                    let more = threads.saturating_add(1);
                    Some(if at_more(more).is_possible() { Obstacle::Threads(more) } else { Obstacle::Domain })
                } else if cost.bytes > free as f64 {
                    Some(Obstacle::Memory { needs: cost.bytes, free })
                } else if cost.ns > time_limit.as_nanos() as f64 {
                    Some(Obstacle::TooSlow { ns: cost.ns })
                } else {
                    None
                };
                (cost, obstacle)
            }
        };
        Candidate { name: meta.name, index, claim: meta.claim, cost, obstacle }
    }

    /// Whether the kernel can and may handle the input.
    pub fn is_able(&self) -> bool {
        self.obstacle.is_none()
    }

    /// Whether the kernel's answers are proved.
    pub fn is_exact(&self) -> bool {
        self.claim == Claim::Exact
    }

    /// Predicted time of a run, clamped to the range from 1 ns to 10^9 s.
    pub fn predicted(&self) -> Duration {
        Duration::from_secs_f64((self.cost.ns / 1e9).clamp(1e-9, 1e9))
    }
}

/// The able candidate with the smallest predicted time ([`Candidate::is_able`]).
pub fn quickest<'a>(candidates: impl IntoIterator<Item = &'a Candidate>) -> Option<&'a Candidate> {
    let mut best = None;
    for candidate in candidates {
        if candidate.is_able() {
            best = quicker(best, candidate);
        }
    }
    best
}

/// The quicker of two candidates: of equals the first, in list order.
pub(crate) fn quicker<'a>(first: Option<&'a Candidate>, second: &'a Candidate) -> Option<&'a Candidate> {
    match first {
        Some(first) if first.cost.ns.total_cmp(&second.cost.ns).is_le() => Some(first),
        _ => Some(second),
    }
}
