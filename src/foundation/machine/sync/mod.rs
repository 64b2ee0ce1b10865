//! The means by which threads exchange data: the standard library's atomics and channels, or those of `loom` in a
//! model.
//!
//! With `--cfg loom`, tests in modules named `model` run the code that imports from here in every interleaving of its
//! threads, and with every value that a load may return: see `.ci/deep`.

#[cfg(not(loom))]
pub use std::{
    hint::spin_loop,
    sync::{atomic, mpsc},
    thread::yield_now,
};

#[cfg(loom)]
pub use self::model::{atomic, explore, explore_without, mpsc};
#[cfg(loom)]
pub use loom::{hint::spin_loop, thread::yield_now};

#[cfg(loom)]
mod model;
