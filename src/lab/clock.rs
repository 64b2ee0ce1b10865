//! The two clocks that runs are timed with.
//!
//! [`Clock::Thread`] counts what the calling thread computed, and stands still while another program has the CPU. That
//! shields a measurement from busy neighbours, though not from one that streams memory. It does not see what other threads
//! did for the caller, so runs on several threads take [`Clock::Wall`], which every neighbour disturbs.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What a time is measured by. A ratio has the same clock on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// CPU time of the calling thread.
    Thread,
    /// Time that passed.
    Wall,
}

impl Clock {
    /// The clock for runs of `threads` threads.
    pub fn of(threads: usize) -> Self {
        if threads > 1 { Clock::Wall } else { Clock::Thread }
    }

    /// Its name in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Clock::Thread => "thread",
            Clock::Wall => "wall",
        }
    }

    /// Time since a moment that is fixed for the calling thread: only differences mean anything.
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
    fn thread_time_stands_still_while_the_thread_sleeps() {
        let [thread, wall] = [Clock::Thread, Clock::Wall].map(Clock::now);
        std::thread::sleep(Duration::from_millis(30));
        assert!(Clock::Wall.now() - wall >= Duration::from_millis(30));
        assert!(Clock::Thread.now() - thread < Duration::from_millis(30));
    }
}
