//! When a long run saves its progress.

use std::time::{Duration, Instant};

/// The longest time between two saves.
const MINUTE: Duration = Duration::from_secs(60);

/// Saves come soon at first, later a minute apart: a run that is killed loses little of what it has done. All of them together take at
/// most a twentieth of the time.
#[derive(Debug)]
pub struct Pace {
    begin: Instant,
    last: Instant,
    took: Duration,
}

impl Pace {
    /// A run that begins now.
    pub fn from_now() -> Self {
        let now = Instant::now();
        Pace { begin: now, last: now, took: Duration::ZERO }
    }

    /// Whether it is time to save.
    pub fn is_due(&self) -> bool {
        is_due(self.begin.elapsed(), self.last.elapsed(), self.took)
    }

    /// Saves, and measures how long that takes.
    pub fn save<T>(&mut self, save: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let saved = save();
        (self.took, self.last) = (begin.elapsed(), Instant::now());
        saved
    }
}

/// Whether to save, after a run of this length, the time since the last save, and how long that one took.
fn is_due(run: Duration, last: Duration, took: Duration) -> bool {
    last >= (run / 8).min(MINUTE).max(20 * took)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saves_come_soon_at_first_and_take_little_of_the_time() {
        let is_due =
            |run, last, took| is_due(Duration::from_secs(run), Duration::from_secs(last), Duration::from_secs(took));
        assert!(is_due(3, 3, 0), "nothing was saved yet");
        assert!(is_due(80, 10, 0) && !is_due(80, 9, 0));
        assert!(is_due(80_000, 60, 3) && !is_due(80_000, 59, 0));
        assert!(is_due(80, 40, 2) && !is_due(80, 39, 2), "a large file");
    }
}
