//! Codes decoded by the vectors of crates, of the standard library, and of C.

use super::decoder::{Backend, Decoder, LANES, Planes, Sources, by_planes, resolve};
use super::plain;

#[cfg(feature = "wide")]
pub mod wide {
    //! The decoder by `wide`'s shuffle of 64 bytes.
    //!
    //! In a native build on a CPU with AVX-512 VBMI, the shuffle is `vpermb`; on ARM, it is `tbl` with a table of 64 bytes. On x86
    //! without SSSE3, as in a default build, `wide` shuffles byte by byte through memory.
    //!
    //! Cost per block, move and plane: one shuffle and one OR.
    //! Bound (native build, Zen 4): the two shuffle ports, one 512-bit shuffle per cycle.

    use ::wide::u8x64;

    use super::super::decoder::ONE_HOT;
    use super::*;

    static TABLES: Planes = ONE_HOT;

    /// ORs what the moves reach into the first planes of blocks.
    fn decode(from: &Sources, moves: &[usize], planes: usize, hits: &mut [Planes]) {
        let tables = std::hint::black_box(&TABLES);
        by_planes!(planes, accumulate(tables, from, moves, hits));
    }

    #[inline(always)]
    fn accumulate<const P: usize>(tables: &Planes, from: &Sources, moves: &[usize], hits: &mut [Planes]) {
        let mut table = [u8x64::new([0; LANES]); P];
        for p in 0..P {
            table[p] = u8x64::new(tables[p]);
        }
        for (from, hits) in from.blocks(hits) {
            let mut sum = table;
            for p in 0..P {
                sum[p] = u8x64::new(hits[p]);
            }
            for m in moves {
                let codes = u8x64::new(*from.behind(*m));
                for p in 0..P {
                    sum[p] |= shuffled(table[p], codes);
                }
            }
            for p in 0..P {
                hits[p] = sum[p].to_array();
            }
        }
    }

    /// A call costs nothing beside 64 lookups byte by byte, which compile slowly where they are repeated.
    #[cfg_attr(all(target_arch = "x86_64", not(target_feature = "ssse3")), inline(never))]
    #[cfg_attr(not(all(target_arch = "x86_64", not(target_feature = "ssse3"))), inline(always))]
    fn shuffled(table: u8x64, codes: u8x64) -> u8x64 {
        table.shuffle_wrapping(codes)
    }

    /// The shuffle, and the transposition in plain Rust.
    #[inline(never)] // compiled here, not where it is used
    pub fn parts() -> &'static dyn Decoder {
        &Backend { add: decode, free_words: plain::free_words, resolve }
    }
}

#[cfg(all(feature = "std_simd", nightly_compiler))]
pub mod std_simd {
    //! Codes decoded by comparisons of `std::simd`.
    //!
    //! Its lookup, `swizzle_dyn`, is an instruction only if the standard library itself was compiled for a CPU that has one, and else goes
    //! byte by byte. So the bit within a plane is selected in three steps, and each plane takes it by comparison.
    //!
    //! Cost per block, move and plane: a comparison, an AND and an OR per register.
    //! Bound: the vector ports.

    use std::borrow::Borrow;
    use std::simd::cmp::SimdPartialEq;
    use std::simd::{Select, Simd};

    use super::super::decoder::{PLANES, backend};
    use super::*;
    use crate::simd::array_of;
    use crate::simd::std_simd::by_tiers;

    /// A code is 63 - value. Its low three bits give the bit within the plane, the other three the plane.
    #[inline(always)]
    fn bit<const N: usize>(codes: Simd<u8, N>) -> Simd<u8, N> {
        let splat = Simd::<u8, N>::splat;
        let lacks = |bit: u8| (codes & splat(bit)).simd_eq(splat(0));
        let bit = lacks(4).select(splat(0x80), splat(0x08));
        let bit = lacks(2).select(bit, bit >> splat(2));
        lacks(1).select(bit, bit >> splat(1))
    }

    #[inline(always)]
    fn accumulate<const P: usize, const N: usize>(from: &Sources, moves: &[usize], hits: &mut [Planes]) {
        let zero = Simd::<u8, N>::splat(0);
        for (from, hits) in from.blocks(hits) {
            for part in 0..LANES / N {
                let load = |bytes: &[u8; LANES]| Simd::from_array(bytes.as_chunks::<N>().0[part]);
                let mut sum: [Simd<u8, N>; P] = array_of(|p| load(&hits[p]));
                for m in moves {
                    let codes = load(from.behind(*m));
                    let (bit, plane) = (bit(codes), codes >> Simd::splat(3));
                    for (p, sum) in sum.iter_mut().enumerate() {
                        *sum |= plane.simd_eq(Simd::splat((PLANES - 1 - p) as u8)).select(bit, zero);
                    }
                }
                for (plane, sum) in hits.iter_mut().zip(&sum) {
                    plane.as_chunks_mut::<N>().0[part] = sum.to_array();
                }
            }
        }
    }

    by_tiers!(Borrow<dyn Decoder>, {
        /// For [`by_planes`], which passes one parameter.
        #[inline(always)]
        fn of_register<const P: usize>(from: &Sources, moves: &[usize], hits: &mut [Planes]) {
            accumulate::<P, REGISTER>(from, moves, hits);
        }
        let parts: &'static dyn Decoder = &backend!(
            |from, moves, planes, hits| by_planes!(planes, of_register(from, moves, hits)),
            plain::free_words
        );
        parts
    });
}

#[cfg(feature = "c")]
pub mod c {
    //! Codes decoded in C, by comparisons as in `std::simd`: gcc and clang agree on no lookup by a variable.
    //!
    //! Cost per block, move and plane: a comparison, an AND and an OR per register.
    //! Bound: the vector ports.

    use std::borrow::Borrow;

    use super::super::decoder::backend;
    use super::*;
    use crate::simd::c::by_forms;

    by_forms!(Borrow<dyn Decoder>, |form| {
        let parts = backend!(
            |from, moves, planes, hits| form.decode(from.codes, from.at, moves, planes, hits),
            plain::free_words
        );
        Box::new(parts) as Box<dyn Decoder>
    });
}
