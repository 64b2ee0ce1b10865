//! Huge pages: a fault for each 2 MB in place of each 4 kB.
#![allow(unsafe_code, reason = "advice on the pages of a slice")]

/// The size in bytes from which huge pages are requested.
const HUGE: usize = 1 << 22;

/// Asks the system to back large memory by huge pages. A refusal costs time only, and systems other than Linux are not asked.
pub(crate) fn request_huge_pages<T>(memory: &mut [T]) {
    let bytes = size_of_val(memory);
    if cfg!(target_os = "linux") && bytes >= HUGE {
        advise(memory.as_mut_ptr() as usize, bytes);
    }
}

#[cfg(target_os = "linux")]
fn advise(start: usize, bytes: usize) {
    use rustix::mm::{Advice, madvise};
    let (first, end) = (start.next_multiple_of(4096), (start + bytes) & !4095);
    // SAFETY: whole pages of a slice that the caller borrows for itself; the advice changes no contents.
    let _ = unsafe { madvise(first as *mut _, end - first, Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_: usize, _: usize) {}
