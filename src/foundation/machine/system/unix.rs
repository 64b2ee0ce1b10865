//! Linux, macOS and their relatives.

use std::path::Path;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

use super::{ADDRESSES, hardware};
use crate::machine::cgroup;

pub use hardware::names;

pub const THREAD_TIME_STEP: Duration = Duration::from_nanos(1);

pub fn free_memory() -> Option<u64> {
    // Miri supports none of these calls.
    if cfg!(miri) {
        return None;
    }
    let (total, available) = hardware::memory();
    least_free(total, available, cgroup::free(Path::new("/")))
}

/// The free bytes of a machine with `total` bytes, or fewer if a container is allowed fewer. A total of 0 means that
/// the system does not say.
fn least_free(total: u64, available: u64, allowed: Option<u64>) -> Option<u64> {
    match allowed {
        Some(allowed) if total > 0 => Some(allowed.min(available)),
        None if total > 0 => Some(available),
        allowed => allowed,
    }
}

pub fn free_addresses() -> Option<u64> {
    if cfg!(miri) {
        return None;
    }
    let most = match (getrlimit(Resource::As).current, ADDRESSES) {
        (Some(limit), Some(addresses)) => limit.min(addresses),
        (limit, addresses) => limit.or(addresses)?,
    };
    Some(most.saturating_sub(status("VmSize").unwrap_or(0)))
}

pub fn peak_memory() -> Option<u64> {
    status("VmHWM")
}

/// Bytes that `/proc/self/status` states for this process under a name.
fn status(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    for line in status.lines() {
        if let Some((named, size)) = line.split_once(':')
            && named == name
        {
            return Some(1024 * size.trim().strip_suffix(" kB")?.parse::<u64>().ok()?);
        }
    }
    None
}

pub fn thread_time() -> Option<Duration> {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // This clock counts up from zero.
    Some(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_known_to_be_short_where_the_system_does_not_say() {
        assert_eq!(least_free(0, 0, None), None);
        assert_eq!(least_free(0, 0, Some(5)), Some(5));
        assert_eq!(least_free(100, 0, None), Some(0));
        assert_eq!(least_free(100, 60, None), Some(60));
        assert_eq!(least_free(100, 60, Some(70)), Some(60));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_system_says_what_is_free_and_what_was_held() {
        const TOUCHED: u64 = 64 << 20;
        assert!(free_memory().is_some_and(|free| (1 << 20..1 << 50).contains(&free)));
        let held = std::hint::black_box(vec![1u8; TOUCHED as usize]);
        assert!(peak_memory().is_some_and(|peak| (TOUCHED..1 << 50).contains(&peak)));
        assert!(status("VmSize").is_some_and(|addresses| addresses >= TOUCHED));
        assert_eq!(status("Vm"), None);
        drop(held);
    }
}
