//! What threads exchange data with: the standard library's atomics and channels, or in a model those of `loom`.
//!
//! With `--cfg loom`, tests in modules called `model` run what imports from here in every interleaving of its threads, and with
//! every value that a load may return: `.ci/deep`.

#[cfg(not(loom))]
pub use std::{
    hint::spin_loop,
    sync::{atomic, mpsc},
    thread::yield_now,
};

#[cfg(loom)]
pub use self::model::{atomic, mpsc};
#[cfg(all(test, loom))]
pub use self::model::{explore, explore_without};
#[cfg(loom)]
pub use loom::{hint::spin_loop, thread::yield_now};

#[cfg(loom)]
mod model;
