//! The two clocks for timing runs, and the date.
//!
//! [`Clock::Thread`] counts the CPU time of the calling thread, and stops while another program has the CPU. This
//! protects a measurement from busy neighbours, but not from one that streams memory. It does not count the work of
//! other threads, so multi-threaded runs use [`Clock::Wall`], which every neighbour disturbs. All runs use the wall
//! clock if the system has no clock for threads, as in WebAssembly.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use crate::machine::system::{THREAD_TIME_STEP, thread_time};

/// Minimum duration of a timed turn: shorter runs are repeated within it. If the thread clock has steps of a
/// millisecond or more, this is twenty steps.
pub const MIN_TURN: Duration = match Clock::Thread.step() {
    step if step.as_millis() == 0 => Duration::from_millis(5),
    step => step.saturating_mul(20),
};

/// The rounding of a clock is negligible in a turn of so many of its steps.
const STEPS: u32 = 200;

/// The minimum duration of a turn in a duel of so many contenders: [`MIN_TURN`]; in WebAssembly more, since browsers round times to a
/// tenth of a millisecond or more. There it is two hundred steps of the wall clock, as far as the budget of the duel allows.
pub fn shortest_turn(budget: Duration, contenders: usize) -> Duration {
    match cfg!(target_family = "wasm") {
        true => turn_within(budget, contenders, seen_step()),
        false => MIN_TURN,
    }
}

/// The minimum duration of a turn by a clock with such steps.
pub(super) fn turn_within(budget: Duration, contenders: usize, step: Duration) -> Duration {
    /// A contender has three rounds at least, and it takes about as long to find out how many runs are a turn.
    const TURNS: u32 = 6;
    MIN_TURN.max((STEPS * step).min(budget / (TURNS * contenders.max(1) as u32)))
}

/// The step of the wall clock if that is no small share of a turn. Ratios of times are then rounded, too.
pub fn coarse_step(turn: Duration) -> Option<Duration> {
    Some(seen_step()).filter(|step| turn < STEPS * *step)
}

/// The median of several observed steps of the wall clock, or of the few that it makes in a twentieth of a second.
fn seen_step() -> Duration {
    static STEP: OnceLock<Duration> = OnceLock::new();
    *STEP.get_or_init(|| {
        const MOST: usize = 9;
        const TIME: Duration = Duration::from_millis(50);
        let (begin, mut steps) = (Clock::Wall.now(), Vec::new());
        while steps.is_empty() || steps.len() < MOST && Clock::Wall.now() - begin < TIME {
            let start = Clock::Wall.now();
            let mut step = Duration::ZERO;
            while step.is_zero() {
                step = Clock::Wall.now() - start;
            }
            steps.insert(steps.partition_point(|other| *other < step), step);
        }
        steps[steps.len() / 2]
    })
}

/// A clock. Both times of a ratio are measured with the same clock.
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
        Clock::for_runs(threads > 1)
    }

    /// The clock for runs; `are_parallel`: they may start threads.
    pub fn for_runs(are_parallel: bool) -> Self {
        if are_parallel || thread_time().is_none() { Clock::Wall } else { Clock::Thread }
    }

    /// The clock for a single run: this clock, or the wall clock if a step of this clock is longer than a millisecond.
    #[must_use]
    pub fn for_one_run(self) -> Self {
        if self.step() > Duration::from_millis(1) { Clock::Wall } else { self }
    }

    /// The clock's name in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Clock::Thread => "thread",
            Clock::Wall => "wall",
        }
    }

    /// Runs `work` and returns how long it took.
    ///
    /// # Errors
    /// The errors of `work`.
    pub fn time<E>(self, work: impl FnOnce() -> Result<(), E>) -> Result<Duration, E> {
        let start = self.now();
        work()?;
        Ok(self.now() - start)
    }

    /// The step by which the clock advances, or zero if a step is negligible. On Windows, the time of a thread advances
    /// in ticks of the scheduler.
    pub const fn step(self) -> Duration {
        match self {
            Clock::Thread => THREAD_TIME_STEP,
            Clock::Wall => Duration::ZERO,
        }
    }

    /// Time since an arbitrary moment, fixed for the calling thread: only differences are meaningful. If the system
    /// does not count the time of threads, both clocks show wall time.
    ///
    /// # Panics
    /// The system has no clock at all, as on the target `wasm32-unknown-unknown`.
    pub fn now(self) -> Duration {
        static START: OnceLock<Instant> = OnceLock::new();
        let wall = || START.get_or_init(Instant::now).elapsed();
        match self {
            Clock::Thread => thread_time().unwrap_or_else(wall),
            Clock::Wall => wall(),
        }
    }
}

/// The current time in UTC, as `2026-01-31T12:00:00Z`.
pub fn utc_now() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    utc(now.map_or(0, |passed| passed.as_secs()))
}

/// A time in UTC, in seconds since 1970.
pub fn utc(seconds: u64) -> String {
    // Years begin in March here, so that a leap day is the last one. 400 years have 146 097 days, and five months 153.
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month, after) = (day - (153 * month + 2) / 5 + 1, (month + 2) % 12 + 1, u64::from(month >= 10));
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z", 400 * era + year + after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_turn_is_many_steps_of_the_clock() {
        assert!(!seen_step().is_zero());
        assert!(MIN_TURN >= 20 * Clock::Thread.step());
        let within = |seconds, step| turn_within(Duration::from_secs(seconds), 10, Duration::from_micros(step));
        assert_eq!([within(5, 1), within(0, 100)], [MIN_TURN; 2]);
        assert_eq!(within(5, 100), Duration::from_millis(20));
        assert_eq!(within(5, 16_667), Duration::from_secs(5) / 60, "the budget bounds it");
    }

    #[test]
    fn thread_time_stops_while_the_thread_sleeps() {
        let [thread, wall] = [Clock::Thread, Clock::Wall].map(Clock::now);
        std::thread::sleep(Duration::from_millis(30));
        assert!(Clock::Wall.now() - wall >= Duration::from_millis(30));
        assert!(Clock::Thread.now() - thread < Duration::from_millis(30));
    }
}
