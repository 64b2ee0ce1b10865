//! **nimlanes** is a SIMD and bit-parallel performance lab for combinatorial games.
//!
//! Four *cores* decide impartial games with bits. Each core has one to five *operations*, typed jobs with many
//! interchangeable *kernels*; *games* are whole problems solved by operations.
//!
//! | core | operation | computes | game |
//! |---|---|---|---|
//! | boolean-table scan | [`table_scan`](cores::table_scan) | P-positions of three heaps | [Stone Game](games::stone_game) |
//! | bitset occupancy | [`occupancy`](cores::occupancy) | P-positions of two heaps | [Proportionate Nim](games::proportionate_nim) |
//! | SIMD mex | [`mex_subtraction`](cores::mex::subtraction), [`mex_zeros`](cores::mex::zeros), [`mex_records`](cores::mex::records), [`mex_split`](cores::mex::split), [`mex_octal`](cores::mex::octal) | Grundy values, P-positions, first heaps | [Nim Square](games::nim_square), [Scatterstone Nim](games::scatterstone_nim) |
//! | frequency-count XOR | [`xor_triples`](cores::xor_count::triples), [`xor_partitions`](cores::xor_count::partitions) | multisets with nim-sum 0 | the same two |
//!
//! # Solving
//! ```
//! assert_eq!(nimlanes::solve("stone-game", 100)?.answer, 173_895u32.into());
//! assert_eq!(nimlanes::grundy_values("squares", 10)?, [0, 1, 0, 1, 2, 0, 1, 0, 1, 2, 0]);
//! # Ok::<(), nimlanes::games::SolveError>(())
//! ```
//!
//! P-positions, here of other rules than the published: with `1:1` alone the game is Wythoff's.
//! ```
//! # use nimlanes::games::{Positions, game};
//! let wythoff = game("proportionate-nim")?.question(20).with("moves", "1:1")?;
//! assert_eq!(nimlanes::positions(&wythoff)?, Positions::Two(vec![[0, 0], [1, 2], [3, 5], [4, 7], [6, 10]]));
//! # Ok::<(), nimlanes::games::SolveError>(())
//! ```
//!
//! One kernel by name:
//! ```
//! use nimlanes::cores::mex::subtraction::{MexSubtraction, Subtraction};
//! # use nimlanes::{kernel::Run, machine::Machine};
//! let squares = Subtraction::new(&"squares".parse()?, 10, &Machine::detect())?;
//! let values = nimlanes::kernel_named::<MexSubtraction>("stamp")?.run(&squares, &Run::new(1))?;
//! assert_eq!(values, nimlanes::grundy_values("squares", 10)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! These take what this machine has. A [`Selection`](kernel::selection::Selection) says otherwise: other threads, less memory, a kernel
//! by name. A [`Run`](kernel::Run) tells how far a solution is and can be cancelled from another thread; both go into a
//! [`Solver`](games::Solver).
//!
//! # How a kernel is selected
//! Every kernel states a [`Cost`](kernel::Cost): predicted time and memory, a formula with measured constants. The one with
//! the smallest predicted time is selected among those that are compiled in, that this CPU can run and that fit in memory.
//! The choice therefore follows the size and the shape of the input. See [`selection`].
//!
//! # How to add to it
//! A kernel is a file, its `mod` line and its line in the operation's list; everything else finds it by itself: tests, benches,
//! listings, the report. CONTRIBUTING.md has the recipes for kernels, operations, games and tiers.

#![cfg_attr(
    not(all(
        target_arch = "x86_64",
        feature = "bitvec",
        feature = "fearless_simd",
        feature = "wide",
        feature = "avx2",
        feature = "avx512",
        feature = "parallel"
    )),
    allow(dead_code, unused_imports, unused_macros, reason = "drivers whose only kernels are left out of the build")
)]

pub mod cores;
pub mod games;
pub mod kernel;
pub mod lab;
pub mod machine;
pub mod moves;
mod simd;
mod simple;
mod text;

pub use kernel::{candidate, case, selection, session, workload};
pub use machine::isa;
pub use text::{numbers, units};

pub use simple::{grundy_values, kernel_named, positions, solve, zeros};
