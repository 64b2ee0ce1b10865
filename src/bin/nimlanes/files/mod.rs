//! Files: how they are written, and the formats of what commands keep and read again.
//!
//! Files are independent of commands and measuring. The formats of what a report measures are with the report.

mod atomic;
pub mod families;
pub mod identity;
pub mod pace;
pub mod saved;
pub mod surveyed;

pub use self::atomic::{
    LockedFile, are_same, buffered, check, check_saved, exit, is_standard, is_stdout, keep, save, write,
};
