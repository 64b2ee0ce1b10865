//! Number-theoretic transforms with IFMA: a series at all powers of a root of unity, modulo a prime below 2^49.
//!
//! Idea: lane `l` of vector `q` is the value at power `8q + l`, so the input is first folded to the eight cosets of lanes, and
//! then every butterfly has one twiddle for the whole vector. The fold leaves its vectors in bit-reversed order; the result is in
//! order. Residues are in Montgomery form with `R = 2^52`, and below twice or four times the prime between reductions.
//!
//! Cost: 4.5 operations for a vector and level, four of ten of them multiplications; 62 us for 65 536 values (Zen 5).
//! Bound: the operations, as long as the values are in L2.
//! Source: lazy reductions of D. Harvey, "Faster arithmetic for number-theoretic transforms", with Montgomery's quotients.

use std::arch::x86_64::*;

use crate::machine::isa::tier;
use crate::simd::avx512::{load, store};
use crate::simd::{array_of, mapped};

/// Lanes of a vector.
pub const LANES: usize = 8;
/// A vector of residues.
pub type Row = [u64; LANES];

/// Bits of an operand of the multiplier.
const BITS: u32 = 52;
const MASK: u64 = (1 << BITS) - 1;

/// Two primes `p = 1 (mod 2^24)` and a primitive root of each.
pub const PRIMES: [(u64, u64); 2] = [(0x1_ffff_fb00_0001, 5), (0x1_ffff_e600_0001, 10)];

/// Arithmetic modulo a prime.
#[derive(Clone, Copy)]
pub struct Field {
    pub prime: u64,
    /// The inverse of the prime modulo `2^52`.
    inverse: u64,
    root: u64,
}

impl Field {
    pub fn new((prime, root): (u64, u64)) -> Self {
        // Newton's iteration doubles the number of correct bits, three at first.
        let inverse = (0..5).fold(prime, |x, _| x.wrapping_mul(2u64.wrapping_sub(prime.wrapping_mul(x)))) & MASK;
        Field { prime, inverse, root }
    }

    pub fn times(self, a: u64, b: u64) -> u64 {
        (u128::from(a) * u128::from(b) % u128::from(self.prime)) as u64
    }

    pub fn power(self, base: u64, exponent: u64) -> u64 {
        let (mut power, mut square, mut left) = (1, base, exponent);
        while left != 0 {
            if left & 1 == 1 {
                power = self.times(power, square);
            }
            square = self.times(square, square);
            left >>= 1;
        }
        power
    }

    pub fn invert(self, a: u64) -> u64 {
        self.power(a, self.prime - 2)
    }

    /// A primitive root of unity of this order, a power of two up to `2^24`.
    pub fn root_of_unity(self, order: usize) -> u64 {
        self.power(self.root, (self.prime - 1) / order as u64)
    }

    /// `a R`.
    pub fn montgomery(self, a: u64) -> u64 {
        self.times(a, MASK + 1)
    }

    /// A constant to multiply by: `a R`, and that times the inverse of the prime.
    pub fn factor(self, a: u64) -> [u64; 2] {
        let factor = self.montgomery(a);
        [factor, factor.wrapping_mul(self.inverse) & MASK]
    }
}

/// The same for vectors. Bounds of operands are multiples of the prime; eight times the prime is below `2^52`.
#[derive(Clone, Copy)]
pub struct Vectors {
    prime: __m512i,
    twice: __m512i,
    inverse: __m512i,
}

macro_rules! with_features {
    ($($(#[$attribute:meta])* pub fn $name:ident($($arguments:tt)*) -> $result:ty $body:block)*) => { $(
        $(#[$attribute])*
        #[inline]
        #[tier(Avx512)]
        pub fn $name($($arguments)*) -> $result $body
    )* };
}

impl Vectors {
    with_features! {
        pub fn new(field: Field) -> Self {
            let all = |x: u64| _mm512_set1_epi64(x as i64);
            Vectors { prime: all(field.prime), twice: all(2 * field.prime), inverse: all(field.inverse) }
        }

        /// Reduces a number below 4 to one below 2.
        pub fn reduce(self, a: __m512i) -> __m512i {
            _mm512_min_epu64(a, _mm512_sub_epi64(a, self.twice))
        }

        /// The sum, below 2, of numbers below 2.
        pub fn add(self, a: __m512i, b: __m512i) -> __m512i {
            self.reduce(_mm512_add_epi64(a, b))
        }

        /// The difference, below 2, of numbers below 2.
        pub fn subtract(self, a: __m512i, b: __m512i) -> __m512i {
            self.reduce(_mm512_sub_epi64(_mm512_add_epi64(a, self.twice), b))
        }

        /// `a b / R`, below 2. The product of the bounds is at most 8.
        pub fn times(self, a: __m512i, b: __m512i) -> __m512i {
            let zero = _mm512_setzero_si512();
            let low = _mm512_madd52lo_epu64(zero, a, b);
            let multiple = _mm512_madd52lo_epu64(zero, low, self.inverse);
            _mm512_sub_epi64(_mm512_madd52hi_epu64(self.prime, a, b), _mm512_madd52hi_epu64(zero, multiple, self.prime))
        }

        /// `a` times a constant, below 2, for any `a` below `2^52`.
        pub fn scale(self, a: __m512i, factor: [__m512i; 2]) -> __m512i {
            let zero = _mm512_setzero_si512();
            let multiple = _mm512_madd52lo_epu64(zero, a, factor[1]);
            _mm512_sub_epi64(_mm512_madd52hi_epu64(self.prime, a, factor[0]), _mm512_madd52hi_epu64(zero, multiple, self.prime))
        }

        /// The two numbers `a + b` and `a - b`, below 4, of numbers below 2.
        pub fn both(self, a: __m512i, b: __m512i) -> [__m512i; 2] {
            [_mm512_add_epi64(a, b), _mm512_sub_epi64(_mm512_add_epi64(a, self.twice), b)]
        }
    }
}

/// The same constant in all lanes.
#[inline]
#[tier(Avx512)]
pub fn all([a, b]: [u64; 2]) -> [__m512i; 2] {
    [_mm512_set1_epi64(a as i64), _mm512_set1_epi64(b as i64)]
}

/// The data that transforms of one length modulo one prime use.
pub struct Transform {
    pub field: Field,
    /// Vectors of a transform.
    rows: usize,
    /// Factor `half + k` is the `k`-th power of the root of unity of order `2 half`.
    twiddles: Vec<[u64; 2]>,
    /// Lane `l` has power `l i` of the root of unity of order 8, for block `i` of the input.
    blocks: [Row; LANES],
    /// Lane `l` has power `l u` of the root of unity, times `R^2`, for the first eight `u`; in `step`, power `8 l` as a factor.
    first: [Row; LANES],
    step: [Row; 2],
}

impl Transform {
    /// Transforms of `length` values, a power of two from 128 on.
    pub fn new(length: usize, prime: (u64, u64)) -> Self {
        let field = Field::new(prime);
        let rows = length / LANES;
        let mut twiddles = vec![[0; 2]; rows];
        let mut half = 1;
        while half < rows {
            let root = field.root_of_unity(2 * half);
            let mut power = 1;
            for twiddle in &mut twiddles[half..2 * half] {
                *twiddle = field.factor(power);
                power = field.times(power, root);
            }
            half *= 2;
        }
        let root = field.root_of_unity(length);
        let powers = |turn: u64, exponent: usize| -> Row { array_of(|l| field.power(turn, (l * exponent) as u64)) };
        let eighth = field.root_of_unity(LANES);
        let step = mapped(powers(root, LANES), |power| field.factor(power));
        Transform {
            field,
            rows,
            twiddles,
            blocks: array_of(|i| mapped(powers(eighth, i), |power| field.montgomery(power))),
            first: array_of(|u| mapped(powers(root, u), |power| field.montgomery(field.montgomery(power)))),
            step: array_of(|part| mapped(step, |factor| factor[part])),
        }
    }

    /// The values, in Montgomery form and below 4 primes, of the series with these terms, whose absolute values are below `2^31`.
    /// Terms outside `used` are 0.
    #[tier(Avx512)]
    pub fn run(&self, terms: &[i32], used: std::ops::Range<usize>, to: &mut [Row]) {
        assert!(to.len() == self.rows && terms.len() == LANES * self.rows);
        self.fold(terms, used.start / self.rows..used.end.div_ceil(self.rows), to);
        self.combine(to);
    }

    /// Lane `l` of vector `u`, at its bit-reversed place: the sum of the terms `u + rows i`, each times its power of the root of
    /// unity, `l (u + rows i)`.
    #[tier(Avx512)]
    fn fold(&self, terms: &[i32], used: std::ops::Range<usize>, to: &mut [Row]) {
        let vectors = Vectors::new(self.field);
        let zero = _mm512_setzero_si512();
        let step = [load(&self.step[0]), load(&self.step[1])];
        let blocks: [__m512i; LANES] = array_of(|i| load(&self.blocks[i]));
        let mut turns: [__m512i; LANES] = array_of(|u| load(&self.first[u]));
        let shift = usize::BITS - self.rows.ilog2();
        for at in (0..self.rows).step_by(LANES) {
            let mut sums = [[zero; 2]; LANES];
            for block in used.clone() {
                let eight: &[i32; LANES] =
                    terms[block * self.rows + at..].first_chunk().expect("a block has whole vectors");
                // Negative terms become positive.
                let wide: Row =
                    mapped(*eight, |term| (i64::from(term) + (i64::from(term) >> 63 & self.field.prime as i64)) as u64);
                for (sum, term) in sums.iter_mut().zip(wide) {
                    let term = _mm512_set1_epi64(term as i64);
                    sum[0] = _mm512_madd52lo_epu64(sum[0], term, blocks[block]);
                    sum[1] = _mm512_madd52hi_epu64(sum[1], term, blocks[block]);
                }
            }
            for u in 0..LANES {
                let [low, high] = sums[u];
                let multiple = _mm512_madd52lo_epu64(zero, low, vectors.inverse);
                let high = _mm512_add_epi64(_mm512_add_epi64(high, vectors.prime), _mm512_srli_epi64::<BITS>(low));
                let sum = _mm512_sub_epi64(high, _mm512_madd52hi_epu64(zero, multiple, vectors.prime));
                store(&mut to[(at + u).reverse_bits() >> shift], vectors.times(sum, turns[u]));
                turns[u] = vectors.scale(turns[u], step);
            }
        }
    }

    /// The butterflies of all levels, two levels at a time.
    #[tier(Avx512)]
    fn combine(&self, rows: &mut [Row]) {
        /// Vectors that fit L1, for all levels among them.
        const NEAR: usize = 512;
        let vectors = Vectors::new(self.field);
        let odd = rows.len().ilog2() % 2 == 1;
        for near in rows.chunks_mut(NEAR) {
            let mut half = 1;
            if odd {
                for pair in near.as_chunks_mut::<2>().0 {
                    let [a, b] = array_of(|i| vectors.reduce(load(&pair[i])));
                    let [a, b] = vectors.both(a, b);
                    store(&mut pair[0], a);
                    store(&mut pair[1], b);
                }
                half = 2;
            }
            while 4 * half <= near.len() {
                near.chunks_exact_mut(4 * half).for_each(|four| self.two_levels(four, vectors));
                half *= 4;
            }
        }
        let mut size = NEAR;
        // The nine levels of `NEAR` vectors are done if the number of all levels is odd too; otherwise the last is left.
        if !odd {
            size /= 2;
        }
        while 4 * size <= rows.len() {
            rows.chunks_exact_mut(4 * size).for_each(|four| self.two_levels(four, vectors));
            size *= 4;
        }
    }

    #[inline]
    #[tier(Avx512)]
    fn two_levels(&self, four: &mut [Row], vectors: Vectors) {
        let half = four.len() / 4;
        let (low, high) = four.split_at_mut(2 * half);
        let ((a, b), (c, d)) = (low.split_at_mut(half), high.split_at_mut(half));
        let first = &self.twiddles[half..2 * half];
        let (second, third) = self.twiddles[2 * half..4 * half].split_at(half);
        // Of one length, so that the loop checks none.
        let (b, c, d) = (&mut b[..half], &mut c[..half], &mut d[..half]);
        let (a, first, second, third) = (&mut a[..half], &first[..half], &second[..half], &third[..half]);
        for i in 0..half {
            let first = all(first[i]);
            let [e, f] = vectors.both(vectors.reduce(load(&a[i])), vectors.scale(load(&b[i]), first));
            let [g, h] = vectors.both(vectors.reduce(load(&c[i])), vectors.scale(load(&d[i]), first));
            let [x, z] = vectors.both(vectors.reduce(e), vectors.scale(g, all(second[i])));
            let [y, w] = vectors.both(vectors.reduce(f), vectors.scale(h, all(third[i])));
            store(&mut a[i], x);
            store(&mut b[i], y);
            store(&mut c[i], z);
            store(&mut d[i], w);
        }
    }
}
