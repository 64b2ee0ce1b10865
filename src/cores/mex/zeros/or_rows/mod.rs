//! Rows of bits, shifted by whole bytes and ORed into blocks of heaps: the operation in which the tiers of shifted rows differ.

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub mod avx512;

/// Bytes of a line of heaps, one bit for each.
pub const LINE: usize = 64;

/// For each `b` in `back`, `or_rows(row, at, back, hits)` ORs the bytes of `row` from `at - b` on into `hits`, which is whole lines.
/// `row` has one more line at each end of these bytes.
pub trait OrRows: Fn(&[u8], usize, &[usize], &mut [u8]) {}

impl<F: Fn(&[u8], usize, &[usize], &mut [u8])> OrRows for F {}

pub mod plain {
    //! Rows ORed in plain Rust: loops over the bytes of a line, vectorised by the compiler.
    //!
    //! Cost per move and line of 512 heaps: a load, an OR and a store for each vector of the tier.
    //! Bound: these loads and stores, most of which touch two cache lines.

    use super::*;

    #[inline(always)]
    fn or_rows(row: &[u8], at: usize, back: &[usize], hits: &mut [u8]) {
        for (l, line) in hits.as_chunks_mut::<LINE>().0.iter_mut().enumerate() {
            let at = at + l * LINE;
            // Stays in registers, if there are enough.
            let mut sum = *line;
            // Its length is known from `at`, which saves a register and a check.
            let row = &row[..at + LINE];
            for back in back {
                let source: &[u8; LINE] = row[at - back..].first_chunk().expect("the row has one more line");
                for (sum, source) in sum.iter_mut().zip(source) {
                    *sum |= source;
                }
            }
            *line = sum;
        }
    }

    #[inline(always)]
    pub fn parts() -> impl OrRows {
        or_rows
    }
}

#[cfg(any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128")))]
pub mod v128 {
    //! Rows ORed in 128-bit vectors: heaps stay in registers while the moves are applied, 2048 of them for NEON, so that the
    //! address of a move is computed and checked once for them.
    //!
    //! Cost per move and line of 512 heaps: four loads and four ORs.
    //! Bound (llvm-mca, Neoverse V2): the loads, 1.6 cycles for a line; the portable source takes 2.2. In WebAssembly nothing is gained:
    //! there the portable source, which holds one line, takes 12 % less time (Node 20, Zen 5).

    use super::*;
    use crate::simd::v128::{SUMS, or_all};

    /// Vectors of a line.
    const SINGLE: usize = LINE / 16;

    fn or_rows(row: &[u8], at: usize, back: &[usize], hits: &mut [u8]) {
        let (held, single) = hits.as_chunks_mut::<16>().0.as_chunks_mut::<SUMS>();
        let after = at + 16 * held.as_flattened().len();
        or_vectors(row, at, back, held);
        or_vectors(row, after, back, single.as_chunks_mut::<SINGLE>().0);
    }

    /// [`or_rows`], `V` vectors at a time.
    #[inline(always)]
    fn or_vectors<const V: usize>(row: &[u8], at: usize, back: &[usize], hits: &mut [[[u8; 16]; V]]) {
        for (i, hits) in hits.iter_mut().enumerate() {
            let source = |back: &usize| row[at + 16 * V * i - back..].as_chunks().0.first_chunk();
            or_all(hits, back.iter().map(|back| source(back).expect("the row has one more line")));
        }
    }

    #[inline(always)]
    pub fn parts() -> impl OrRows {
        or_rows
    }
}
