//! **nimlanes** is a SIMD and bit-parallel performance lab for combinatorial games.
//!
//! Four *cores* decide impartial games with bits. Each core has one to six *operations*, typed jobs with many
//! interchangeable *kernels*; *games* are whole problems solved by operations.
//!
//! | core | operation | computes | game |
//! |---|---|---|---|
//! | boolean-table scan | [`table_scan`](cores::table_scan) | P-positions of three heaps | [Stone Game](games::stone_game) |
//! | bitset occupancy | [`occupancy`](cores::occupancy) | P-positions of two heaps | [Proportionate Nim](games::proportionate_nim) |
//! | SIMD mex | [`mex_subtraction`](cores::mex::subtraction), [`mex_zeros`](cores::mex::zeros), [`mex_records`](cores::mex::records), [`mex_split`](cores::mex::split), [`mex_octal`](cores::mex::octal), [`mex_period`](cores::mex::period), [`mex_family`](cores::mex::family) | Grundy values, P-positions, first heaps, periods | [Nim Square](games::nim_square), [Scatterstone Nim](games::scatterstone_nim) |
//! | frequency-count XOR | [`xor_triples`](cores::xor_count::triples), [`xor_partitions`](cores::xor_count::partitions) | multisets with nim-sum 0 | the first two of these |
//!
//! # Solving
//! ```
//! assert_eq!(nimlanes::solve("stone-game", 100)?.answer, 173_895u32.into());
//! # Ok::<(), nimlanes::games::SolveError>(())
//! ```
//!
//! Grundy values of a subtraction set (a name, a list, or any set that [`MoveSet::list`](moves::MoveSet::list) makes)
//! and of an octal game:
//! ```
//! assert_eq!(nimlanes::grundy_values("squares", 10)?, [0, 1, 0, 1, 2, 0, 1, 0, 1, 2, 0]);
//! assert_eq!(nimlanes::grundy_values("1,4,9", 10)?, [0, 1, 0, 1, 2, 0, 1, 0, 1, 2, 0]);
//! assert_eq!(nimlanes::zeros("squares", 20)?, [0, 2, 5, 7, 10, 12, 15, 17, 20]); // P-positions alone
//! assert_eq!(nimlanes::octal_values("0.77", 9)?, [0, 1, 2, 3, 1, 4, 3, 2, 1, 4]);
//! # Ok::<(), nimlanes::games::SolveError>(())
//! ```
//!
//! P-positions, here under rules other than the published ones: with the move `1:1` alone, the game is Wythoff's.
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
//! The functions above use what this machine has: its CPU, threads and free memory. A
//! [`Selection`](kernel::selection::Selection) can prescribe something else: another number of threads, less memory, a
//! kernel by name. A [`Run`](kernel::Run) reports progress and can be cancelled from another thread. A
//! [`Solver`](games::Solver) takes both:
//! ```
//! use nimlanes::games::{SolveError, Solver, game};
//! use nimlanes::kernel::RunError;
//! # use nimlanes::{kernel::selection::Selection, machine::Machine};
//! let selection = Selection::new(Machine::detect()).with_threads(1)?;
//! let run = selection.run();
//! let solver = Solver::new(&selection, &run);
//! let question = game("stone-game")?.question(500);
//! let solution = std::thread::scope(|scope| {
//!     scope.spawn(|| println!("{} steps are done", run.done()));
//!     question.solve(&solver)
//! })?;
//! assert!(run.done() > 0);
//! run.cancel();
//! assert_eq!(question.solve(&solver), Err(SolveError::Run(RunError::Cancelled)));
//! # Ok::<(), SolveError>(())
//! ```
//!
//! # How a kernel is selected
//! Every kernel states a [`Cost`](kernel::Cost): predicted time and memory, by a formula with measured or estimated
//! constants, and a constant for each page that is touched for the first time. Among the kernels whose answers are proved ([`Claim`](kernel::Claim)), that are compiled in, that this
//! CPU can run and that fit in memory, the one with the smallest predicted time is selected. The choice therefore
//! follows the size and the shape of the input. See [`kernel::selection`].
//!
//! # Cores
//! Each core is a Cargo feature: `table_scan`, `occupancy`, `mex` (subtraction sets), `octal`, `xor_count`. All are on by default. With
//! `default-features = false` and some of them, games, lists and functions are those whose cores are there. The machine code is in crates
//! such as `nimlanes-occupancy`, of which nothing is stable but what this one re-exports.
//!
//! # What is stable
//! - The functions above, [`games`], [`moves`], [`kernel`], [`machine`], [`lab`] and what the modules of [`cores`]
//!   export, by [semantic versioning](https://semver.org). Enums that may grow, and structs that may get more fields,
//!   are marked `#[non_exhaustive]`. Traits may get more items, except the journals of runs and
//!   [`Player`](lab::duel::Player), which other crates can implement. What these pages do not show is not part of the
//!   API.
//! - The names of games, operations, workloads and kernels. A kernel may become faster; the changelog names each one
//!   that is removed.
//! - Checkpoints and saved files: each names its format and version, and every released version can be read. Documents
//!   of `--json` name theirs in the field `schema`. A version is raised when a field changes or is removed; fields may
//!   be added.
//! - Not stable: predicted times, which kernel is selected, and text for people.
//!
//! # How to add to it
//! A kernel is a file, its `mod` line and its line in the operation's list; tests, benches, listings and the report
//! find it through that list. CONTRIBUTING.md has the recipes for kernels, operations, games and tiers.

#![cfg_attr(
    not(all(
        feature = "table_scan",
        feature = "occupancy",
        feature = "mex",
        feature = "octal",
        feature = "xor_count"
    )),
    allow(dead_code, unused_imports, unused_macros, reason = "what only cores use that are left out of the build")
)]

pub mod cores;
pub mod games;
pub mod lab;
mod simple;

#[doc(inline)]
pub use nimlanes_foundation::text::numbers;
#[doc(hidden)]
pub use nimlanes_foundation::text::units;
#[doc(inline)]
pub use nimlanes_foundation::{kernel, machine, moves};
use nimlanes_foundation::{simd, text};

#[cfg(feature = "octal")]
pub use simple::octal_values;
#[cfg(feature = "mex")]
pub use simple::{grundy_values, zeros};
pub use simple::{kernel_named, positions, solve};
