//! Parts of kernels in C, by the C compiler of the build: the border to it.
//!
//! Each part has two forms, loops left to the vectoriser and vector extensions, and is compiled for the target of the build and for AVX2.
//! A [`Form`] has the parts of one of these. Its methods check what the C code relies on, once for a call.
#![allow(unsafe_code, reason = "calls of C, with pointers into slices whose bounds are checked before")]

use std::ops::Range;

/// Bytes of a line, and heaps of a block.
const LINE: usize = 64;
/// Lanes of a term.
const LANES: usize = 16;

/// The parts of one form. There is none but where the CPU has what they are compiled for.
#[derive(Clone, Copy)]
pub struct Form {
    decode: unsafe extern "C" fn(*const u8, usize, *const usize, usize, usize, *mut u8, usize),
    add: unsafe extern "C" fn(*mut u32, usize, usize, usize, u32, u32),
}

/// A function that gives the parts of a form, by the end of their names in C.
macro_rules! form {
    ($name:ident $(at $tier:ident)?: $end:literal) => {
        #[inline]
        $(#[$crate::machine::isa::tier($tier)])?
        pub fn $name() -> Form {
            unsafe extern "C" {
                #[link_name = concat!("nimlanes_decode_", $end)]
                fn decode(codes: *const u8, at: usize, moves: *const usize, count: usize, planes: usize, hits: *mut u8, blocks: usize);
                #[link_name = concat!("nimlanes_add_", $end)]
                fn add(series: *mut u32, back: usize, start: usize, end: usize, signs: u32, modulus: u32);
            }
            Form { decode, add }
        }
    };
}

impl Form {
    form!(loops: "loops_portable");
    #[cfg(not(target_env = "msvc"))]
    form!(vectors: "vectors_portable");
    #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
    form!(loops_avx2 at Avx2: "loops_avx2");
    #[cfg(all(target_arch = "x86_64", feature = "avx2", not(target_env = "msvc")))]
    form!(vectors_avx2 at Avx2: "vectors_avx2");

    /// ORs the first `planes` planes of what `moves` reach into the hits of consecutive blocks, the first of which is at `codes[at..]`.
    #[inline(always)]
    pub fn decode(self, codes: &[u8], at: usize, moves: &[usize], planes: usize, hits: &mut [[[u8; LINE]; 8]]) {
        assert!(all_within(codes.len(), at, moves, LINE * hits.len()), "codes are padded by a block");
        // SAFETY: the CPU has what the form needs. For each move, all codes that are read are in `codes` (checked above); each block of
        // hits has eight planes, and no more are written.
        unsafe {
            (self.decode)(
                codes.as_ptr(),
                at,
                moves.as_ptr(),
                moves.len(),
                planes,
                hits.as_mut_ptr().cast(),
                hits.len(),
            );
        }
    }

    /// Adds term `t - back` of a series to term `t` modulo `modulus`, for `t` in `terms`, descending. Lane `i` subtracts if bit `i` of
    /// `signs` is set.
    #[inline(always)]
    pub fn add(self, series: &mut [u32], back: usize, terms: Range<usize>, signs: u32, modulus: u32) {
        let series = series.as_chunks_mut::<LANES>().0;
        assert!((1..=terms.start).contains(&back) && terms.end <= series.len(), "all terms are in the series");
        // SAFETY: the CPU has what the form needs. The terms from `terms.start - back`, which is not below 0, to `terms.end` are in the
        // series (checked above), and as `back` is not 0, no term is added to itself.
        unsafe { (self.add)(series.as_mut_ptr().cast(), back, terms.start, terms.end, signs, modulus) };
    }
}

/// Whether `len` bytes from `at - back` on are within `size` bytes, for all `back`.
#[inline(always)]
fn all_within(size: usize, at: usize, back: &[usize], len: usize) -> bool {
    let (mut least, mut most) = (at, 0);
    for back in back {
        (least, most) = (least.min(*back), most.max(*back));
    }
    most <= at && size.checked_sub(len).is_some_and(|last| at - least <= last)
}

/// A module with a function `parts` for each form, whose body is given the [`Form`].
#[doc(hidden)]
#[macro_export]
macro_rules! by_forms {
    ($parts:path, |$form:ident| $body:expr) => {
        $crate::by_forms!(@ loops [feature = "c"] [] $parts, $form, $body);
        $crate::by_forms!(@ vectors [not(target_env = "msvc")] [] $parts, $form, $body);
        $crate::by_forms!(@ loops_avx2 [all(target_arch = "x86_64", feature = "avx2")]
            [#[$crate::machine::isa::tier(Avx2)]] $parts, $form, $body);
        $crate::by_forms!(@ vectors_avx2 [all(target_arch = "x86_64", feature = "avx2", not(target_env = "msvc"))]
            [#[$crate::machine::isa::tier(Avx2)]] $parts, $form, $body);
    };
    (@ $name:ident [$condition:meta] [$($features:tt)*] $parts:path, $form:ident, $body:expr) => {
        /// Parts of this form.
        #[cfg($condition)]
        pub mod $name {
            use super::*;

            /// The parts.
            #[inline]
            $($features)*
            pub fn parts() -> impl $parts {
                let $form = $crate::simd::c::Form::$name();
                $body
            }
        }
    };
}
pub use by_forms;
