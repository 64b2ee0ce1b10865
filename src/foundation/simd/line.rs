//! Lines of 512 marks, shared between threads: marked one bit at a time, read as a whole.
//!
//! # Memory order
//! Every access is relaxed and orders nothing by itself. Before a thread reads the marks of another, it loads, with acquire order, a
//! counter that the other stored, with release order, after making them: so those marks happen before the reads, on any hardware. Two
//! threads never mark the same word at the same time, so a mark is a load and a store, and none is lost. A line may be read while
//! another thread marks it, if nothing depends on the bits that change: every byte is then either the old or the new one.
//!
//! None of this relies on the order that x86 keeps: release and acquire are plain moves there, and `stlr` and `ldar` on ARM. The wave
//! of counters is modelled in loom (`cores/table_scan/blocks/wave.rs`, run by `.ci/deep`). ThreadSanitizer could detect no violation: it
//! does not count relaxed accesses as a race, and it does not see reads by `asm!`.
#![allow(unsafe_code, reason = "lines at multiples of 64 bytes, and vector loads from memory that other threads write")]

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
#[cfg(target_arch = "x86_64")]
use std::arch::{
    asm,
    x86_64::{__m256i, __m512i},
};
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::bits::WORD;
#[cfg(target_arch = "x86_64")]
use crate::machine::isa::tier;
use crate::machine::pages::request_huge_pages;

/// Marks in a line.
pub const PLACES: usize = 512;
/// Words in a line.
pub const WORDS: usize = PLACES / WORD;

/// The marks of 512 places: a cache line.
#[repr(C, align(64))]
pub struct Line([AtomicU64; WORDS]);

impl Line {
    /// One word.
    #[inline(always)]
    pub fn word(&self, word: usize) -> u64 {
        self.0[word % WORDS].load(Relaxed)
    }

    /// Sets bits of one word; true if it is now full.
    #[inline(always)]
    pub fn set(&self, word: usize, bits: u64) -> bool {
        let word = &self.0[word % WORDS];
        let now = word.load(Relaxed) | bits;
        word.store(now, Relaxed);
        now == u64::MAX
    }

    /// Marks a place, modulo 512; true if its word is now full.
    #[inline(always)]
    pub fn mark(&self, place: usize) -> bool {
        self.set(place / WORD, 1 << (place % WORD))
    }

    /// Marks all places from the given one on.
    pub fn mark_from(&self, place: usize) {
        for word in 0..WORDS {
            if place < WORD * (word + 1) {
                self.set(word, u64::MAX << place.saturating_sub(WORD * word));
            }
        }
    }

    /// Half of the line as a vector.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[tier(Avx2)]
    pub fn load_half(&self, half: usize) -> __m256i {
        let words = &self.0[half % 2 * (WORDS / 2)..][..WORDS / 2];
        let vector: __m256i;
        // SAFETY: reads the 32 bytes of the words; see `load`.
        unsafe {
            asm!("vmovdqa {vector}, ymmword ptr [{words}]", vector = out(ymm_reg) vector, words = in(reg) words.as_ptr(),
                options(nostack, readonly, pure, preserves_flags));
        }
        vector
    }

    /// A vector ORed with the line in one instruction. The compiler would not fuse the OR with the load in
    /// [`Line::load`], which it cannot see.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[tier(Avx512)]
    pub fn or(&self, with: __m512i) -> __m512i {
        let vector: __m512i;
        // SAFETY: reads the 64 bytes of the line; see `load`.
        unsafe {
            asm!("vporq {vector}, {with}, zmmword ptr [{line}]", vector = lateout(zmm_reg) vector, with = in(zmm_reg) with,
                line = in(reg) self, options(nostack, readonly, pure, preserves_flags));
        }
        vector
    }

    /// The line as a vector.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[tier(Avx512)]
    pub fn load(&self) -> __m512i {
        let vector: __m512i;
        // SAFETY: reads the 64 bytes of the line. Relaxed loads of the words could do the same, so it is no data race; a plain
        // load of memory that other threads write would be one.
        unsafe {
            asm!("vmovdqa64 {vector}, zmmword ptr [{line}]", vector = out(zmm_reg) vector, line = in(reg) self,
                options(nostack, readonly, pure, preserves_flags));
        }
        vector
    }
}

/// Words that are zero, in huge pages if they are many. The allocator clears them, which touches no page.
pub fn zeros(words: usize) -> Box<[AtomicU64]> {
    let layout = Layout::array::<AtomicU64>(words).expect("memory has an address");
    assert!(layout.size() > 0, "at least one word");
    // SAFETY: the size of the layout is not zero.
    let start = unsafe { alloc_zeroed(layout) }.cast::<AtomicU64>();
    if start.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: a zero is a valid word, nothing else owns the memory, and a box of so many words is freed with this layout.
    let mut words = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, words)) };
    request_huge_pages(&mut words);
    words
}

/// A list of lines, without marks at first.
pub struct Lines {
    words: Box<[AtomicU64]>,
    /// The first word of the first line.
    first: usize,
}

impl Lines {
    /// `lines` lines without marks.
    pub fn new(lines: usize) -> Self {
        let words = zeros(WORDS * lines + WORDS - 1);
        let first = words.as_ptr().align_offset(align_of::<Line>());
        assert!(first < WORDS, "a multiple of 64 bytes is among the first words");
        Lines { words, first }
    }

    /// Removes all marks.
    pub fn clear(&mut self) {
        self.words.iter_mut().for_each(|word| *word.get_mut() = 0);
    }

    /// Bytes of `lines` lines.
    pub fn bytes(lines: u64) -> f64 {
        64.0 * lines as f64 + 56.0
    }
}

impl Deref for Lines {
    type Target = [Line];

    #[inline(always)]
    fn deref(&self) -> &[Line] {
        let words = &self.words[self.first..];
        // SAFETY: a line is eight words and has their bit patterns; the first one is at a multiple of its alignment.
        unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len() / WORDS) }
    }
}
