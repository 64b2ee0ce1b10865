//! `mex_memory`: the Grundy values of Mem0 that recur for ever.
//!
//! In Mem0 (also Short Local Nim) a move takes any number from a heap, but not the number that the move before took from this heap.
//! So a position is a heap `n` with its last move `k`, and its value `G(n, k)` is the mex of all `G(n - j, j)` with `j != k`; a
//! heap without a last move has `G(n)`, the mex of all. R. K. Guy and R. J. Nowakowski ask for an analysis ("Unsolved Problems in
//! Combinatorial Games", problem 22), and A. N. Siegel lists the values that occur at infinitely many heaps, OEIS A351630: 0, 12,
//! 1270, 105161.
//!
//! # Theorems
//! `profiles/papers/mem0.md` in the source tree has the proofs.
//! * *Exceptions.* `G(n, k)` differs from `G(n)` only if taking `k` is the one option of `n` with its value, and this is below
//!   `G(n)`; then it is this value. So a heap has about twenty exceptions, each of which changes one option of one larger heap,
//!   `n + k <= 2 n`.
//! * *The criterion.* A value `v` occurs at infinitely many heaps exactly if `G(m) = v` for one heap `m` alone. If `m` is the only one
//!   among the heaps up to `2 m`, it is the only one of all.
//!
//! # Observations
#![doc = include_str!("NOTES.md")]

use crate::kernel::selection::Selection;
use crate::kernel::workload::{InputError, Workload, Workloads};
use crate::kernel::{Absent, Core, Digest, KernelDef, Operation, kernels};

mod changes;
mod exceptions;
mod holders;
mod oracle;
mod recurrence;
mod table;
mod tape;
mod tapes;
mod waiting;

use recurrence::Tally;
pub use recurrence::{MAX_LIMIT, Mem0, Output, Single};

/// The values of Mem0 that recur for ever, as heaps up to a limit prove.
#[derive(Debug)]
pub struct MexMemory;

impl Operation for MexMemory {
    type Input = Mem0;
    type Output = Output;
    type Start = ();

    const NAME: &'static str = "mex_memory";
    const CORE: Core = Core::Mex;
    const UNIT: &'static str = "heap";
    const KERNELS: &'static [KernelDef<Self>] = kernels! { MexMemory, [];
        table = table at [1.5, 50.0], Portable, [], "the baseline: counts the values of all options of each heap afresh";
        exceptions = exceptions at [100.0], Portable, [], "counts that last; near-linear, with lists of the exceptions by the heap that they change";
        tapes = tapes at [40.0], Portable, [], "the same in windows of the tables, with exceptions as words of four bytes or as bits";
    };
    const ABSENT: &'static [Absent] = &[
        Absent {
            feature: "bitvec",
            reason: "values are counted, and the least free one is nearly always the least past all",
        },
        Absent {
            feature: "wide",
            reason: "each heap changes some 40 values at scattered places and depends on the heap before",
        },
    ];
    const PUBLIC: &'static [&'static str] = &["table"];
    const NOTES: &'static str = include_str!("NOTES.md");

    fn oracle(input: &Mem0) -> Output {
        oracle::output(input)
    }

    fn steps(input: &Mem0) -> u64 {
        input.heaps() as u64
    }

    fn work(input: &Mem0, _: &Output) -> u64 {
        input.heaps() as u64
    }

    fn digest(output: &Output) -> Digest {
        let last = output.recurring.last().copied().unwrap_or_default();
        let oldest = output.open.first().copied().unwrap_or_default();
        let numbers = [
            ("recurring", output.recurring.len() as u64),
            ("answer", last.value),
            ("heap", last.heap),
            ("open", output.open.len() as u64),
            ("oldest", oldest.value),
            ("oldest_heap", oldest.heap),
            ("exceptions", output.exceptions),
            ("fingerprint", output.fingerprint),
        ];
        numbers.map(|(name, number)| (name, number.into())).to_vec()
    }
}

impl Workloads for MexMemory {
    const WORKLOADS: &'static [Workload] = &[Workload {
        name: "mem0",
        summary: "take any number but that of the last move; size = the largest heap",
        published: 50_000,
        sizes: &[1000, 50_000, 1_000_000],
    }];

    fn input(workload: &str, size: u64, _: &Selection) -> Result<Mem0, InputError> {
        match workload {
            "mem0" => Mem0::new(size),
            _ => Err(InputError::unknown_workload::<Self>(workload)),
        }
    }
}
