//! Windows.
#![allow(unsafe_code, reason = "two calls of the system, which take pointers to what they fill")]

use std::mem::zeroed;
use std::time::Duration;

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetCurrentThread, GetThreadTimes};

use super::{ADDRESSES, hardware};

pub use hardware::names;

/// Ticks of the scheduler, 64 a second.
pub const THREAD_TIME_STEP: Duration = Duration::from_micros(15_625);

pub fn free_memory() -> Option<u64> {
    let (total, available) = hardware::memory();
    (total > 0).then_some(available)
}

pub fn free_addresses() -> Option<u64> {
    ADDRESSES
}

pub fn peak_memory() -> Option<u64> {
    // SAFETY: a structure of numbers, for which zeros are valid.
    let mut counters: PROCESS_MEMORY_COUNTERS = unsafe { zeroed() };
    let size = size_of_val(&counters) as u32;
    // SAFETY: the handle of this process is always valid, and `counters` has the size that is passed.
    let is_known = unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), &raw mut counters, size) } != 0;
    is_known.then_some(counters.PeakWorkingSetSize as u64)
}

pub fn thread_time() -> Option<Duration> {
    let mut times = [FILETIME::default(); 4];
    let [created, ended, kernel, user] = &mut times;
    // SAFETY: the handle of this thread is always valid, and the four places are borrowed for the call.
    let is_known = unsafe { GetThreadTimes(GetCurrentThread(), created, ended, kernel, user) } != 0;
    let [_, _, kernel, user] = times.map(|time| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime));
    // In steps of 100 nanoseconds.
    is_known.then(|| Duration::from_nanos(100 * (kernel + user)))
}
