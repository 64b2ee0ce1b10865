//! Operations, and the kernels that perform them.
//!
//! A **kernel** is one implementation of an [`Operation`]. It is data: one line in the operation's list, made by the
//! `kernels!` macro, names it, its module, its [`Tier`] and its Cargo features. Tests, benches, the command line and the
//! report iterate over that list and know no kernel by name.
//!
//! Two things are checked by the compiler, not left to convention. The entry of a kernel carries exactly the CPU
//! features of its tier, so a kernel whose `run` asks for more does not compile (error E0133). And only
//! [`KernelDef::on`] makes a [`Kernel`], which can be run, so no instruction runs that the CPU lacks.
//!
//! This module defines operations and kernels, how a kernel is chosen, and how a run is observed. It knows no
//! particular operation, game or instruction: those are in `cores`, `games` and `simd`.

pub mod candidate;
pub mod case;
#[doc(hidden)]
pub mod cost;
mod definition;
#[doc(hidden)]
pub mod list;
mod obstacle;
#[doc(hidden)]
pub mod rates;
mod run;
pub mod selection;
pub mod session;
mod terms;
#[doc(hidden)]
pub mod threads;
pub mod workload;

pub use crate::machine::isa::Tier;
#[doc(hidden)]
pub use cost::CostContext;
pub use cost::{Cost, Needs};
#[doc(hidden)]
pub use definition::Body;
#[cfg(debug_assertions)]
#[doc(hidden)]
pub use definition::entered;
pub use definition::{Claim, Kernel, KernelDef, KernelMeta, Operation, available};
#[doc(hidden)]
pub use list::kernels;
pub use run::{Evidence, MAX_THREADS, Run, RunError};
pub use terms::{Core, Digest, Yields};
#[cfg(debug_assertions)]
#[doc(hidden)]
pub use threads::faults;
