//! Vectors of consecutive words of bit rows: the parts of kernels that search such rows, in `table_scan` and `occupancy`.

#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub mod avx2;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub mod avx512;
pub mod plain;
#[cfg(all(feature = "std_simd", nightly_compiler))]
pub mod std_simd;
#[cfg(any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128")))]
pub mod v128;
#[cfg(feature = "wide")]
pub mod wide;

/// The parts of a tier.
pub trait WordVectors: Copy {
    /// The words of a vector.
    const WORDS: usize;
    /// A vector.
    type Vector: Copy;

    /// Loads the first words.
    fn load(&self, words: &[u64]) -> Self::Vector;

    /// The OR of two vectors.
    fn or(&self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// 64 bits, from bit `by` on, of each word of `low` and the same word of `high`, which follows it. `by` is below 64.
    fn funnel(&self, low: Self::Vector, high: Self::Vector, by: usize) -> Self::Vector;

    /// The first bit that is not set; at least that many bits as the vector has if all are.
    fn first_zero(&self, vector: Self::Vector) -> usize;
}

/// Parts made of closures, which have the CPU features of the function that makes them: of `N` words, [`load`](WordVectors::load),
/// [`or`](WordVectors::or), [`funnel`](WordVectors::funnel) and [`first_zero`](WordVectors::first_zero).
#[derive(Clone, Copy)]
pub struct Parts<const N: usize, L, O, F, Z>(pub L, pub O, pub F, pub Z);

impl<const N: usize, V, L, O, F, Z> WordVectors for Parts<N, L, O, F, Z>
where
    V: Copy,
    L: Fn(&[u64; N]) -> V + Copy,
    O: Fn(V, V) -> V + Copy,
    F: Fn(V, V, usize) -> V + Copy,
    Z: Fn(V) -> usize + Copy,
{
    const WORDS: usize = N;
    type Vector = V;

    #[inline(always)]
    fn load(&self, words: &[u64]) -> V {
        self.0(words.first_chunk().expect("a whole vector"))
    }

    #[inline(always)]
    fn or(&self, a: V, b: V) -> V {
        self.1(a, b)
    }

    #[inline(always)]
    fn funnel(&self, low: V, high: V, by: usize) -> V {
        self.2(low, high, by)
    }

    #[inline(always)]
    fn first_zero(&self, vector: V) -> usize {
        self.3(vector)
    }
}
