//! Words that hold marks, shared between threads: marked one bit at a time, read as a vector at any byte.
//!
//! # Memory order
//! Every access is relaxed and orders nothing by itself. Before a thread reads the marks of another, it loads, with
//! acquire order, a counter that the other stored, with release order, after making them; so those marks happen before
//! the reads, on any hardware. Two threads never mark the same word at the same time, so a mark is a load and a store,
//! and none is lost. Words may be read while they are being marked, but nothing depends on the bits that change. A
//! summary ([`Field::set_shared`]) needs no counter: it may be late, and a word that it calls full stays full.
//!
//! None of this relies on the order that x86 keeps: release and acquire are plain moves there, and `stlr` and `ldar` on
//! ARM. A vector that is read while some of its words are marked may mix old and new bytes on either architecture. A
//! mark changes one bit of its word, so every byte is either the old or the new one, and the bits that were set before
//! are set in both.
//!
//! This holds if the threads follow their wave of counters. The wave of the antichain kernels is modelled in loom
//! (`cores/table_scan/wave/model.rs`, run by `.ci/deep`): the model fails without release, without acquire, or with a
//! shorter lag. The tests of `wave` run it with threads, on hosted runners also on ARM. ThreadSanitizer could
//! detect no violation: it does not count relaxed accesses as a race, and it does not see reads by `asm!`.
#![allow(unsafe_code, reason = "vector loads from memory that other threads write, checked once for 16 lanes")]

use std::arch::asm;
use std::arch::x86_64::{__m512i, __mmask16, _mm512_cmpgt_epu32_mask, _mm512_maskz_mov_epi32, _mm512_set1_epi32};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::avx512::{lanes_of, prefetch};
use super::line::zeros;

/// Words after the last one into which windows may reach, so that no field is shorter than a window.
const PADDING: usize = WINDOW / 8;
/// Bytes in a window.
const WINDOW: usize = 64;

/// A row of words, all zero at first.
pub struct Field {
    words: Box<[AtomicU64]>,
}

impl Field {
    /// A field of `words` zeros.
    pub fn new(words: usize) -> Self {
        Field { words: zeros(words + PADDING) }
    }

    /// Bytes of a field of `words` words.
    pub fn bytes(words: usize) -> f64 {
        8.0 * (words + PADDING) as f64
    }

    /// One word.
    #[inline(always)]
    pub fn word(&self, at: usize) -> u64 {
        self.words[at].load(Relaxed)
    }

    /// Sets bits of one word; true if it is now full.
    #[inline(always)]
    pub fn set(&self, at: usize, bits: u64) -> bool {
        let word = &self.words[at];
        let now = word.load(Relaxed) | bits;
        word.store(now, Relaxed);
        now == u64::MAX
    }

    /// Sets bits of a word in which other threads may set bits at the same time.
    #[inline(always)]
    pub fn set_shared(&self, at: usize, bits: u64) {
        self.words[at].fetch_or(bits, Relaxed);
    }

    /// The 57 or more bits from bit `at` on.
    #[inline(always)]
    pub fn bits(&self, at: usize) -> u64 {
        let from = at / 8;
        assert!(from <= size_of_val(&*self.words) - 8, "a read inside the field");
        let word: u64;
        // SAFETY: the eight bytes are inside the allocation (asserted). Relaxed loads of the two words could do the
        // same, so it is no data race.
        unsafe {
            asm!("mov {word}, qword ptr [{base} + {from}]", word = out(reg) word, base = in(reg) self.words.as_ptr(),
                from = in(reg) from, options(nostack, readonly, pure, preserves_flags));
        }
        word >> (at % 8)
    }

    /// Prefetches the line of byte `at`, if there is one.
    #[inline(always)]
    pub fn prefetch(&self, at: usize) {
        prefetch(&self.words, at);
    }

    /// The 64 bytes from byte `at` on.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn window(&self, at: usize) -> __m512i {
        assert!(at <= size_of_val(&*self.words) - WINDOW, "a window inside the field");
        // SAFETY: asserted.
        unsafe { self.load(at) }
    }

    /// # Safety
    /// `at + 64` bytes are inside the field.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn load(&self, at: usize) -> __m512i {
        let vector: __m512i;
        // SAFETY: the 64 bytes are inside the allocation. Relaxed loads of the words could do the same, so it is no
        // data race; a plain load of memory that other threads write would be one.
        unsafe {
            asm!("vmovdqu64 {vector}, zmmword ptr [{base} + {at}]", vector = out(zmm_reg) vector,
                base = in(reg) self.words.as_ptr(), at = in(reg) at, options(nostack, readonly, pure, preserves_flags));
        }
        vector
    }

    /// The places of 64 searches in `R` rows, all at byte 0 at first. A window may end at most `reach` bytes after its
    /// place; `reach` is at least [`WINDOW`].
    pub fn starts<const R: usize>(&self, reach: usize) -> SearchStarts<'_, R> {
        assert!(reach >= WINDOW, "room for a window");
        let last = size_of_val(&*self.words).checked_sub(reach).expect("a reach inside the field");
        SearchStarts { field: self, reach, last, at: [[[0; 16]; 4]; R] }
    }

    /// The places of words to mark, one for each lane in `lanes`, all checked at once.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn marks(&self, at: __m512i, lanes: __mmask16) -> WordsToMark<'_> {
        WordsToMark { field: self, at: checked(at, lanes, self.words.len() - 1) }
    }
}

/// Sixteen places, asserted to be at most `last`. Lanes that are not in `lanes` may hold anything, and become 0.
#[inline]
#[target_feature(enable = "avx512f")]
fn checked(at: __m512i, lanes: __mmask16, last: usize) -> [u32; 16] {
    let last = u32::try_from(last).unwrap_or(u32::MAX);
    let at = _mm512_maskz_mov_epi32(lanes, at);
    assert!(_mm512_cmpgt_epu32_mask(at, _mm512_set1_epi32(last as i32)) == 0, "places inside the field");
    lanes_of(at)
}

/// The places of sixteen words to mark, known to be in the field.
#[derive(Clone, Copy)]
pub struct WordsToMark<'a> {
    field: &'a Field,
    at: [u32; 16],
}

impl WordsToMark<'_> {
    /// The place of a lane's word.
    #[inline(always)]
    pub fn at(&self, lane: usize) -> usize {
        self.at[lane % 16] as usize
    }

    /// Sets a bit of a lane's word; true if it is now full.
    #[inline(always)]
    pub fn mark(&self, lane: usize, bit: u32) -> bool {
        // SAFETY: `Field::marks` checked all places.
        let word = unsafe { self.field.words.get_unchecked(self.at(lane)) };
        let now = word.load(Relaxed) | 1 << (bit % 64);
        word.store(now, Relaxed);
        now == u64::MAX
    }
}

/// The places of 64 searches in `R` rows, in bytes; each is known to have `reach` bytes of the field after it.
pub struct SearchStarts<'a, const R: usize> {
    field: &'a Field,
    reach: usize,
    /// The last place with `reach` bytes after it.
    last: usize,
    at: [[[u32; 16]; 4]; R],
}

impl<const R: usize> SearchStarts<'_, R> {
    /// Sets the places of searches `16 part..16 part + 16`, or 0 for those not in `lanes`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn set(&mut self, row: usize, part: usize, at: __m512i, lanes: __mmask16) {
        self.at[row][part] = checked(at, lanes, self.last);
    }

    /// The place of a search in a row.
    #[inline(always)]
    pub fn at(&self, row: usize, search: usize) -> usize {
        self.at[row].as_flattened()[search % 64] as usize
    }

    /// The 64 bytes `skip` bytes after that place.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn window(&self, row: usize, search: usize, skip: usize) -> __m512i {
        assert!(skip <= self.reach - WINDOW, "a window within reach");
        // SAFETY: all places start at 0 or are checked by `set`, and `starts` checked that 0 has the reach.
        unsafe { self.field.load(self.at(row, search) + skip) }
    }
}
