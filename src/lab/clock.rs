//! The two clocks that time runs.
//!
//! [`Clock::Thread`] counts the CPU time of the calling thread, and stops while another program has the CPU. This protects
//! a measurement from busy neighbours, but not from one that streams memory. It does not count the work of other threads,
//! so multi-threaded runs use [`Clock::Wall`], which every neighbour disturbs.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A clock. Both times of a ratio are measured with the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// CPU time of the calling thread.
    Thread,
    /// Elapsed real time.
    Wall,
}

impl Clock {
    /// The clock for runs on `threads` threads.
    pub fn for_threads(threads: usize) -> Self {
        if threads > 1 { Clock::Wall } else { Clock::Thread }
    }

    /// Its name in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Clock::Thread => "thread",
            Clock::Wall => "wall",
        }
    }

    /// How long `work` takes.
    ///
    /// # Errors
    /// Those of `work`.
    pub fn time<E>(self, work: impl FnOnce() -> Result<(), E>) -> Result<Duration, E> {
        let start = self.now();
        work()?;
        Ok(self.now() - start)
    }

    /// Time since an arbitrary moment, fixed for the calling thread: only differences are meaningful.
    pub fn now(self) -> Duration {
        let time = clock_gettime(match self {
            Clock::Thread => ClockId::ThreadCPUTime,
            Clock::Wall => ClockId::Monotonic,
        });
        // Both clocks count up from zero.
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_time_stops_while_the_thread_sleeps() {
        let [thread, wall] = [Clock::Thread, Clock::Wall].map(Clock::now);
        std::thread::sleep(Duration::from_millis(30));
        assert!(Clock::Wall.now() - wall >= Duration::from_millis(30));
        assert!(Clock::Thread.now() - thread < Duration::from_millis(30));
    }
}
