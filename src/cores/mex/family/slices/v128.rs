//! A slice in four vectors of 128 bits.

use super::{Parts, Shared, WORDS, Work, work};
use crate::simd::array_of;
use crate::simd::v128::{Vector, load, store};

type Slice = [Vector<u64>; 4];

/// The part of these tiers.
#[inline(always)]
pub fn parts() -> impl Work {
    let parts = Parts(
        |words: &[u64; WORDS]| -> Slice { array_of(|i| load(&words.as_chunks::<2>().0[i])) },
        |slice: Slice, words: &mut [u64; WORDS]| {
            words.as_chunks_mut::<2>().0.iter_mut().zip(slice).for_each(|(words, vector)| store(words, vector));
        },
        |a: Slice, b: Slice| -> Slice { array_of(|i| a[i] | b[i]) },
        |sum: Slice, a: Slice, b: Slice| -> Slice { array_of(|i| sum[i] | (a[i] & b[i])) },
        |a: Slice, b: Slice| -> Slice { array_of(|i| a[i].without(b[i])) },
        |a: Slice, b: Slice| -> Slice { array_of(|i| a[i] ^ b[i]) },
        |of: Slice, a: Slice, b: Slice| -> Slice { array_of(|i| of[i].without(a[i] ^ b[i])) },
        |[a, b, c, d]: Slice| {
            let mut words = [0; 2];
            store(&mut words, a | b | (c | d));
            words != [0; 2]
        },
    );
    move |shared: &Shared<'_>| work(shared, parts)
}
