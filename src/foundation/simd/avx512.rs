//! 512-bit loads and stores.
#![allow(unsafe_code, reason = "vector loads and stores through references of the right size")]

use std::arch::asm;
use std::arch::x86_64::{__m512i, _MM_HINT_T0, _mm_prefetch, _mm512_loadu_si512, _mm512_storeu_si512};

use super::Lane;
use crate::machine::isa::tier;

/// Loads 64 bytes: `N` lanes of `T`.
#[inline]
#[tier(Avx512)]
pub fn load<T: Lane, const N: usize>(from: &[T; N]) -> __m512i {
    const { assert!(size_of::<T>() * N == 64, "a vector has 64 bytes") };
    // SAFETY: the reference covers the 64 bytes read (asserted above); the load needs no alignment.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

/// Stores 64 bytes: `N` lanes of `T`.
#[inline]
#[tier(Avx512)]
pub fn store<T: Lane, const N: usize>(to: &mut [T; N], v: __m512i) {
    const { assert!(size_of::<T>() * N == 64, "a vector has 64 bytes") };
    // SAFETY: the reference covers the 64 bytes written (asserted above), and every bit pattern is a `T`.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), v) }
}

/// Prefetches the cache line at `bytes` bytes after the start of `memory`, which may be past its end.
#[inline(always)]
pub fn prefetch<T>(memory: &[T], bytes: usize) {
    // SAFETY: a prefetch is a hint: it reads nothing, and any address is allowed.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(memory.as_ptr().cast::<i8>().wrapping_add(bytes)) };
}

/// The lanes of a vector.
#[inline(always)]
pub fn lanes_of<T: Lane, const N: usize>(v: __m512i) -> [T; N] {
    const { assert!(size_of::<[T; N]>() == 64, "a vector has 64 bytes") };
    // SAFETY: the sizes are equal (asserted above), and every bit pattern is a `T`.
    unsafe { std::mem::transmute_copy(&v) }
}

/// Assembly on eight `rows` of `BYTES` bytes; `{a}` to `{h}` are the places in them.
macro_rules! on_rows {
    ($rows:expr, $at:expr, [$($line:literal,)*], $($operands:tt)*) => {{
        let [a, b, c, d, e, f, g, h] = crate::simd::mapped($at, usize::from);
        asm!(
            $($line,)*
            rows = in(reg) $rows,
            a = in(reg) a,
            b = in(reg) b,
            c = in(reg) c,
            d = in(reg) d,
            e = in(reg) e,
            f = in(reg) f,
            g = in(reg) g,
            h = in(reg) h,
            BYTES = const BYTES,
            $($operands)*
        )
    }};
}

/// Eight words, one from each row: the word at byte `from + at[i]` of row `i` in lane `i`.
///
/// This is in assembly, because the compiler goes through memory, with a stall. The registers are named, because rustc
/// 1.95 prints wrong names for the halves of registers from `zmm16` on.
#[inline]
#[tier(Avx512)]
pub fn collect<const BYTES: usize>(rows: &[[u8; BYTES]; 8], from: usize, at: [u8; 8]) -> __m512i {
    assert!(from + usize::from(u8::MAX) + 8 <= BYTES, "the word is in the row");
    let words: __m512i;
    // SAFETY: reads eight bytes of each row, which are in it (asserted above); the instructions are those of AVX-512F.
    unsafe {
        on_rows!(
            rows.as_ptr().cast::<u8>().add(from), at,
            [
                "vmovq xmm0, qword ptr [{rows} + {a}]",
                "vmovq xmm1, qword ptr [{rows} + {c} + 2 * {BYTES}]",
                "vmovq xmm2, qword ptr [{rows} + {e} + 4 * {BYTES}]",
                "vmovq xmm3, qword ptr [{rows} + {g} + 6 * {BYTES}]",
                "vpinsrq xmm0, xmm0, qword ptr [{rows} + {b} + {BYTES}], 1",
                "vpinsrq xmm1, xmm1, qword ptr [{rows} + {d} + 3 * {BYTES}], 1",
                "vpinsrq xmm2, xmm2, qword ptr [{rows} + {f} + 5 * {BYTES}], 1",
                "vpinsrq xmm3, xmm3, qword ptr [{rows} + {h} + 7 * {BYTES}], 1",
                "vinserti128 ymm0, ymm0, xmm1, 1",
                "vinserti128 ymm2, ymm2, xmm3, 1",
                "vinserti64x4 zmm0, zmm0, ymm2, 1",
            ],
            out("zmm0") words,
            out("zmm1") _,
            out("zmm2") _,
            out("zmm3") _,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    words
}

/// Stores the word in lane `i` at byte `from + at[i]` of row `i`.
#[inline]
#[tier(Avx512)]
pub fn spread<const BYTES: usize>(rows: &mut [[u8; BYTES]; 8], from: usize, at: [u8; 8], words: __m512i) {
    assert!(from + usize::from(u8::MAX) + 8 <= BYTES, "the word is in the row");
    // SAFETY: writes eight bytes of each row, which are in it (asserted above); the instructions are those of AVX-512F.
    unsafe {
        on_rows!(
            rows.as_mut_ptr().cast::<u8>().add(from), at,
            [
                "vextracti64x4 ymm2, zmm0, 1",
                "vmovq qword ptr [{rows} + {a}], xmm0",
                "vpextrq qword ptr [{rows} + {b} + {BYTES}], xmm0, 1",
                "vextracti128 xmm1, ymm0, 1",
                "vmovq qword ptr [{rows} + {e} + 4 * {BYTES}], xmm2",
                "vpextrq qword ptr [{rows} + {f} + 5 * {BYTES}], xmm2, 1",
                "vextracti128 xmm2, ymm2, 1",
                "vmovq qword ptr [{rows} + {c} + 2 * {BYTES}], xmm1",
                "vpextrq qword ptr [{rows} + {d} + 3 * {BYTES}], xmm1, 1",
                "vmovq qword ptr [{rows} + {g} + 6 * {BYTES}], xmm2",
                "vpextrq qword ptr [{rows} + {h} + 7 * {BYTES}], xmm2, 1",
            ],
            in("zmm0") words,
            out("zmm1") _,
            out("zmm2") _,
            options(nostack, preserves_flags),
        );
    }
}

/// A byte of the result of instructions: for tests of their constants, which run on every CPU.
pub mod model {
    /// `vgf2p8affineqb`, as Intel defines it: the row of the matrix for bit `i` is byte `7 - i`.
    pub fn affine(matrix: u64, byte: u8) -> u8 {
        let rows = matrix.to_be_bytes();
        let bit = |i: usize| ((rows[i] & byte).count_ones() as u8 & 1) << i;
        (0..8).map(bit).sum()
    }

    /// `vpmultishiftqb`: eight bits of the word, from bit `at` on, around its end.
    pub fn multishift(word: u64, at: u8) -> u8 {
        word.rotate_right(at.into()) as u8
    }
}
