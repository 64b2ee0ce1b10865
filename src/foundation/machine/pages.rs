//! Huge pages: one page fault for each 2 MB instead of each 4 kB.
#![allow(unsafe_code, reason = "advice on the pages of a slice")]

/// The size in bytes from which huge pages are requested.
const HUGE: usize = 1 << 22;

/// Asks the system to back large memory with huge pages. A refusal costs only time, and systems other than Linux are
/// not asked.
pub fn request_huge_pages<T>(memory: &mut [T]) {
    let bytes = size_of_val(memory);
    if cfg!(target_os = "linux") && bytes >= HUGE {
        advise(memory.as_mut_ptr() as usize, bytes);
    }
}

#[cfg(target_os = "linux")]
fn advise(start: usize, bytes: usize) {
    use rustix::mm::{Advice, madvise};
    let page = rustix::param::page_size();
    let (first, end) = (start.next_multiple_of(page), (start + bytes) / page * page);
    // SAFETY: whole pages of a slice that the caller borrows for itself; the advice changes no contents.
    let _ = unsafe { madvise(first as *mut _, end - first, Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_: usize, _: usize) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Whether huge pages were requested for the page at an address.
    fn is_advised(address: usize) -> bool {
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("a list of mappings");
        let mut mappings = maps.lines().skip_while(|line| {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let range = range.map(|(first, end)| [first, end].map(|at| usize::from_str_radix(at, 16)));
            !matches!(range, Some([Ok(first), Ok(end)]) if (first..end).contains(&address))
        });
        let flags = mappings.find_map(|line| line.strip_prefix("VmFlags:")).expect("a mapping with flags");
        flags.split(' ').any(|flag| flag == "hg")
    }

    #[test]
    #[ignore = "needs a kernel with huge pages: .ci/run"]
    fn huge_pages_are_requested_for_large_memory_alone() {
        // Not memory that was freed before: malloc maps an allocation of this size anew.
        let mut memory = vec![0u8; 1 << 26];
        let (start, page) = (memory.as_ptr() as usize, rustix::param::page_size());
        request_huge_pages(&mut memory[..HUGE - 1]);
        assert!(!is_advised(start + page));
        request_huge_pages(&mut memory[..HUGE]);
        let advised = [page, HUGE - page, HUGE + page, memory.len() - 1].map(|at| is_advised(start + at));
        assert_eq!(advised, [true, true, false, false]);
    }
}
