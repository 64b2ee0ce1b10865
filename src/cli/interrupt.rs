//! Ctrl-C ends a run at its next block; a second Ctrl-C ends the process.

use std::process::exit;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use nimlanes::kernel::Run;

use super::failure::INTERRUPTED;

/// The run that listens: the last one made.
static CURRENT: OnceLock<Mutex<Arc<Run>>> = OnceLock::new();

/// A new run, which Ctrl-C cancels.
pub fn run(threads: usize) -> Arc<Run> {
    let run = Arc::new(Run::new(threads));
    match CURRENT.get() {
        Some(current) => *current.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&run),
        None => {
            let current = CURRENT.get_or_init(|| Mutex::new(Arc::clone(&run)));
            let mut was_asked = false;
            // Without a handler Ctrl-C still ends the process, only less politely.
            let _ = ctrlc::set_handler(move || {
                if std::mem::replace(&mut was_asked, true) {
                    exit(INTERRUPTED.into());
                }
                current.lock().unwrap_or_else(PoisonError::into_inner).cancel();
            });
        }
    }
    run
}
