//! The streaming register automaton with its steps in assembly, as `automaton_asm`, and its spans prepared and settled in
//! 512-bit vectors: candidates are opened eight heaps at once by a masked copy, picks are found and bits are counted eight words
//! at once.
//!
//! Cost: as `automaton_asm`, with fewer instructions outside of the blocks.
//! Bound: the steps and what links blocks, well over five cycles a step. Of the nearly three that are left around them, one goes
//! into the rows of the upper beam, which are appended piece by piece, and one into settling, which first waits for the last picks.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_kunpackb, _mm512_kunpackd, _mm512_kunpackw,
    _mm512_maskz_mov_epi64, _mm512_mul_epu32, _mm512_popcnt_epi64, _mm512_reduce_add_epi64, _mm512_set1_epi64,
    _mm512_slli_epi64, _mm512_test_epi64_mask, _pdep_u64, _pext_u64,
};

use super::automaton_asm::blocks;
pub use super::automaton_asm::needs;
use super::streaming::{BLOCK, Block, Blocks, Closures, DIGITS, PAD, Span, WORDS, Window, cost as cost_of, drive};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, On, Run, Stop};
use crate::simd::avx512::{load, store};

pub fn cost(input: &ProportionateNim, _: On) -> Cost {
    cost_of(input, 0.93)
}

/// [`Closures::open`].
#[inline]
#[target_feature(enable = "avx512f")]
fn open(used: u64, blocks: &mut Blocks) {
    const FLOORS: [u64; BLOCK] = {
        let mut floors = [0; BLOCK];
        let mut j = 0;
        while j < BLOCK {
            floors[j] = u64::MAX << (PAD + j);
            j += 1;
        }
        floors
    };
    let (floors, _) = FLOORS.as_chunks::<8>();
    for (i, block) in blocks.iter_mut().enumerate() {
        let (halves, _) = block.open.as_chunks_mut::<8>();
        for (j, half) in halves.iter_mut().enumerate() {
            let unused = !(used >> (BLOCK * i + 8 * j)) as u8;
            store(half, _mm512_maskz_mov_epi64(unused, load(&floors[j])));
        }
    }
}

/// [`Closures::lower`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn lower(blocks: &Blocks) -> u64 {
    let picked = |block: &Block| {
        let (halves, _) = block.picks.as_chunks::<8>();
        let [low, high] = [load(&halves[0]), load(&halves[1])].map(|picks| _mm512_test_epi64_mask(picks, picks));
        _mm512_kunpackb(high.into(), low.into())
    };
    let [a, b, c, d] = blocks.each_ref().map(picked);
    let [low, high] = [_mm512_kunpackw(b.into(), a.into()), _mm512_kunpackw(d.into(), c.into())];
    _mm512_kunpackd(high.into(), low.into())
}

/// [`Closures::sum_of_bits`].
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn sum_of_bits(words: &[u64; WORDS]) -> [u64; 2] {
    const FIRST: [u64; WORDS] = [0, 64, 128, 192, 256, 320, 384, 448];
    let words = load(words);
    let count = _mm512_popcnt_epi64(words);
    // Within the words by Horner's rule, then the words themselves.
    let digits = DIGITS.map(|numbers| _mm512_popcnt_epi64(_mm512_and_si512(words, _mm512_set1_epi64(numbers as i64))));
    let [rest @ .., last] = digits;
    let within =
        rest.iter().rev().fold(last, |sum: __m512i, digit| _mm512_add_epi64(_mm512_add_epi64(sum, sum), *digit));
    let sum = _mm512_add_epi64(within, _mm512_mul_epu32(count, load(&FIRST)));
    // One sum for both: at most 512 bits, and their numbers add up to less than `2^32`.
    let both = _mm512_reduce_add_epi64(_mm512_add_epi64(_mm512_slli_epi64::<32>(count), sum)) as u64;
    [both >> 32, both & u64::from(u32::MAX)]
}

#[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt,avx2,avx512f,avx512bw,avx512vpopcntdq")]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run) -> Result<S, Stop> {
    let inner = Closures {
        blocks: |span: &mut Span, window: &mut Window<u64>, block| blocks(span, window, block),
        open: |used, blocks: &mut Blocks| open(used, blocks),
        lower: |blocks: &Blocks| lower(blocks),
        sum_of_bits: |words: &[u64; WORDS]| sum_of_bits(words),
        deposit: |word, mask| _pdep_u64(word, mask),
        extract: |word, mask| _pext_u64(word, mask),
    };
    drive(input, run, inner)
}
