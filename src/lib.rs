//! **nimlanes** is a lab for SIMD and bit-parallel code, which solves combinatorial games.
//!
//! Four *cores* decide impartial games with bits. Each core has one to seven *operations*, typed jobs with many
//! interchangeable *kernels*; *games* are whole problems solved by operations. A [glossary](#glossary) is below.
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
//! coefficients. The candidates are kernels with proved answers ([`Claim`](kernel::Claim)) that are compiled in, that
//! this CPU can run, and that fit in memory. The one with the smallest predicted time is selected, so the choice follows
//! the size and the shape of the input. See [`kernel::selection`].
//!
//! # Cores
//! Each core is a Cargo feature: `table_scan`, `occupancy`, `mex` (subtraction sets), `octal`, `xor_count`. All are on by
//! default. With `default-features = false` and some of them, games, lists and functions are those whose cores are
//! there. The machine code is in crates such as `nimlanes-occupancy`; only the re-exports of this crate are stable.
//!
//! # Stability
//! - The functions above, [`games`], [`moves`], [`kernel`], [`machine`], [`lab`] and the exports of the modules of
//!   [`cores`] follow [semantic versioning](https://semver.org). Enums that may grow, and structs that may get more
//!   fields, are marked `#[non_exhaustive]`. Traits may get more items, except the journals of runs and
//!   [`Player`](lab::duel::Player), which other crates can implement. Items that these pages do not show are not part of
//!   the API.
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
//!
//! # Glossary
//! Jobs and how they are done:
//!
//! | term | meaning |
//! |---|---|
//! | core | one of the four families of algorithms in the first table |
//! | operation | a job with a typed input and output, such as `mex_zeros` |
//! | kernel | a function that does the job of an operation; all give the same output |
//! | workload | a named input of an operation, without its size |
//! | limit | the size of an input: the largest heap |
//! | published limit | the limit in the source that a game was taken from, such as Project Euler |
//! | tier | the instruction set that a kernel may use: portable, AVX2, AVX-512, NEON, simd128 |
//! | portable | without intrinsics or assembly; the compiler may use the build's target, SSE2 by default on x86-64 |
//! | oracle | the slow computation from the rules alone, to which every output must be equal |
//! | baseline | the published algorithm, to which ratios refer |
//! | best known elsewhere | the best algorithm found outside of this project, as a kernel |
//! | exact, observed | the answers of a kernel are proved, or rest on a property without a proof |
//! | rates | the coefficients of a kernel's predicted time |
//! | lower bound | the least time of a kernel on a machine, by its loads, operations, stores and chain |
//! | dependency chain | instructions that each wait for the one before |
//!
//! Measurements:
//!
//! | term | meaning |
//! |---|---|
//! | duel | kernels or builds timed in interleaved rounds on one input |
//! | turn, round | the timed runs of one kernel; one turn of each kernel |
//! | tie | a ratio whose interval, or range, holds 1 |
//! | disturbed | of a turn: over 10 % longer than the best turn of its kernel, and left out |
//! | layout | the addresses of code, stack and tables in one process |
//! | mode | the speed of a kernel in one layout, if others are faster or slower |
//!
//! Games:
//!
//! | term | meaning |
//! |---|---|
//! | P-position | a position in which the player to move loses |
//! | mex | the smallest number that is not in a set |
//! | Grundy value | the mex of the values that a move reaches; 0 in P-positions alone |
//! | nim-sum | XOR; a sum of games is lost if the nim-sum of its Grundy values is 0 |
//! | subtraction set | the numbers that a move may take from a heap |
//! | octal game | a game on heaps given by digits; a digit allows to take, to leave a heap, to leave two |
//! | period, preperiod, saltus | values repeat after so many heaps, from this heap on, raised by this number |
//! | rare, common heap | of an octal game: of the few heaps that decide the next values, or of the others |
//!
//! Algorithms:
//!
//! | term | meaning |
//! |---|---|
//! | byte lanes | 64 consecutive heaps as the bytes of vectors |
//! | plane | eight values of 64 heaps, a bit for each value |
//! | decode | to turn a value `v` into the bit `1 << v` of its plane |
//! | candidate bound | a proved range that leaves a few partners of a heap; `*_certificate` are kernels that use it |
//! | register pipeline | the kernels `automaton*`: marks that are needed next slide along in registers |
//! | charge | a number that no step of `occupancy` changes, and that a guessed state must have right |
//! | period certificate | the windows of values that prove the period of an octal game |
//! | window | the values just before a heap, on which the next value depends |
//! | Walsh row | a row of the Walsh-Hadamard transform; `characters` count by it |

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
