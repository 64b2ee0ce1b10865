//! The tree of [`super::walsh_tree::avx512`] with the last class in the frequency domain of the terms, see [`Fourier`]: a leaf needs four
//! transforms modulo each of two primes, instead of one pass over a series for each part.
//!
//! Cost: for a leaf 14 ns (Zen 5) or 26 ns (Zen 4) for each point of its transforms, of which there are two to four times `n`;
//! above the leaves a third of the additions of `walsh_tree_avx512`. What is the same for all leaves is made by one thread.
//! Bound: half of the time the loads and stores of passes over series, else the multiplications of residues; from `n` = 16000 on, L2.

use std::arch::x86_64::*;

use super::Partitions;
use super::transform::{Field, LANES, PRIMES, Row, Transform, Vectors, all};
use super::tree::{
    self, Classes, PAD, Part, Plan, by_rulesets, least, leaves, nodes, parts_bytes, ruleset_bytes, series, share,
};
use super::walsh_tree::avx512::parts;
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::machine::STACK;
use crate::machine::isa::tier;
use crate::simd::avx512::{lanes_of, load};
use crate::simd::{array_of, mapped};

/// Rates: those of [`super::walsh_tree`], the part of its time above the leaves, and ns of a term of the transforms.
pub fn cost(input: &Partitions, context: CostContext, [addition, pass, above, term]: [f64; 4]) -> Cost {
    let Cost { ns, .. } = tree::cost(1, input, [addition, pass]);
    let (total, threads) = (input.total(), context.threads);
    // Terms of the transforms of all leaves, and bytes of the ruleset that takes the most.
    let (mut terms, mut bytes) = (0.0, 0.0_f64);
    for table in input.values() {
        let Classes { bits, mut last, paired, .. } = Classes::new(1, table, total);
        last.reverse();
        bytes = bytes.max(if let Some(length) = length(&last, &paired, total, input.modulus()) {
            terms += length as f64 * ((bits - 1) as f64).exp2();
            let values = if paired.is_empty() { 2 } else { 4 };
            // For each prime the values at all powers and the twiddles; for each thread values and terms.
            let shared = PRIMES.len() * (8 * 4 * length + 16 * length / LANES);
            let of_thread = (8 * values + 4) * length + 4 * series(1, bits, total);
            (shared + threads * of_thread + size_of::<Part>() * (last.len() + paired.len())) as f64
        } else {
            ruleset_bytes(1, table, total, threads)
        });
    }
    // If no class is transformed, all are done as in that kernel.
    let one = if terms > 0.0 { above * ns + term * terms } else { ns };
    let bytes = bytes + parts_bytes(total) + (threads - 1) as f64 * STACK;
    Cost { ns: tree::on_threads(one, context), bytes }
}

#[inline]
#[tier(Avx512)]
pub fn run(input: &Partitions, run: &Run, threads: usize) -> Result<Vec<u32>, RunError> {
    let passes = parts();
    by_rulesets(1, input, &|mut plan| {
        let Some(last) = Fourier::new(&plan) else {
            plan.pair_up();
            return share(threads, plan.leaves(), &|part| leaves(&plan, run, part, &passes));
        };
        share(threads, plan.leaves(), &|part| {
            let mut scratch = last.scratch();
            nodes(&plan, run, part, &passes, &mut |node, character| last.sum(&plan, node, character, &mut scratch))
        })
    })
}

/// The work for the last class of a ruleset, the same for all characters.
///
/// **Power sums.** With `p_j` the sum of `e^j x^js` over the parts of the class, the product of all `1 + e x^s` is
/// `exp(p_1 - p_2/2 + p_3/3 - ..)`. At the powers of a root of unity, `p_3` and `p_5` are values of `p_1` at other powers, and
/// the even power sums are the same for all characters. The terms with at most six parts are polynomials in these, and more parts
/// are not needed:
///
/// **Even numbers of parts.** The bit of the class in a character flips the signs of all parts of the class. The sum over both
/// values of that bit is twice the even part of the product, so terms with seven parts cancel, and eight parts exceed the total.
///
/// **Pairs.** If the next class can only be used in pairs, these are `(p_1^2 - p_2) / 2` of that class, with at most three parts
/// of the last one. Parts with and without the last bit are transformed separately, for the sum over both values of that bit.
///
/// **Exact numbers.** The coefficient of `x^n` in the product with the series of the leaf is found modulo two primes, which
/// together are large enough for it. So any modulus will do, although `p_3 / 3` is among the terms.
pub struct Fourier {
    length: usize,
    /// The first term of the class, or of a pair.
    least: usize,
    last: Vec<Part>,
    paired: Vec<Part>,
    /// The bit of the last class.
    bit: usize,
    primes: [OnePrime; 2],
}

/// The data that all leaves use modulo a prime.
struct OnePrime {
    transform: Transform,
    /// The factors from the even power sums, which involve no signs: with at most 2, 4 and 6 parts.
    even: [Vec<Row>; 3],
    /// `p_2` of the parts that come in pairs.
    squares: Vec<Row>,
}

/// Memory of a thread.
pub struct Scratch {
    terms: Vec<i32>,
    /// Values of the series of the leaf, of the class, and of the parts of pairs without and with the last bit.
    values: [Vec<Row>; 4],
}

/// The most parts of the last class that are used: an even number.
const MOST: usize = 6;
/// The most that are used beside a pair.
const BESIDE: usize = 3;

/// The length of the transforms, if they can be used: for a last class and the parts of pairs, both with ascending sizes.
fn length(last: &[Part], paired: &[Part], total: usize, modulus: u32) -> Option<usize> {
    let least = last.first()?.size;
    let sum = |parts: &[Part]| parts.iter().map(|part| part.size).sum::<usize>();
    let smallest = |parts: &[Part], many: usize| parts.get(..many).map(sum);
    let largest = |parts: &[Part], many: usize| sum(&parts[parts.len().saturating_sub(many)..]);
    let pair = smallest(paired, 2);
    if smallest(last, MOST + 2).is_some_and(|sum| sum <= total) {
        return None;
    }
    if let (Some(pair), Some(more)) = (pair, smallest(last, BESIDE + 1))
        && pair + more <= total
    {
        return None;
    }
    // At most `rest^many / many!^2` sets of `many` distinct sizes from `least` on have a sum of at most `total`: less `least`
    // each, their sum is at most `rest - many`, and each set has `many!` orders.
    let sets = |total: usize, least: usize, many: usize| {
        let rest = (total + many).saturating_sub(many * least) as f64;
        (1..=many).fold(1.0, |sets, i| sets * rest / (i * i) as f64)
    };
    let all = |total: usize, most: usize| (0..=most).map(|many| sets(total, least, many)).sum::<f64>();
    let with_pairs = pair.map_or(0.0, |pair| sets(total, paired[0].size, 2) * all(total - pair, BESIDE));
    let largest_number = f64::from(modulus) * (all(total, MOST) + with_pairs);
    if 2.01 * largest_number > PRIMES[0].0 as f64 * PRIMES[1].0 as f64 {
        return None;
    }
    // Exponents wrap around, and no other term of the product may land on that of the total.
    let most = largest(last, MOST).max(largest(paired, 2) + largest(last, BESIDE));
    Some((total.max(most) + 1).next_power_of_two().max(128))
}

impl Fourier {
    /// `None` if the last class cannot be done this way.
    #[tier(Avx512)]
    pub fn new(plan: &Plan) -> Option<Self> {
        let mut last = plan.last.clone();
        last.reverse();
        let paired = plan.paired.clone();
        let length = length(&last, &paired, plan.total, plan.modulus)?;
        let least = least(&plan.last, &plan.paired, plan.total);
        let primes = PRIMES.map(|prime| OnePrime::new(prime, length, &last, &paired));
        Some(Fourier { length, least, last, paired, bit: 1 << (plan.bits - 1), primes })
    }

    pub fn scratch(&self) -> Scratch {
        let values = |is_used: bool| vec![[0; LANES]; if is_used { self.length / LANES } else { 0 }];
        let pairs = !self.paired.is_empty();
        Scratch { terms: vec![0; self.length], values: [values(true), values(true), values(pairs), values(pairs)] }
    }

    /// The sum over both characters of a leaf of the coefficients of `x^total`, without that of the series itself.
    #[tier(Avx512)]
    pub fn sum(&self, plan: &Plan, node: &[u32], character: usize, scratch: &mut Scratch) -> u64 {
        let &Plan { total, modulus, .. } = plan;
        let Some(end) = (total + 1).checked_sub(self.least) else { return 0 };
        let Scratch { terms, values } = scratch;
        let mut residue = |shared: &OnePrime| {
            let [series, class, without, with] = values;
            let transform = &shared.transform;
            // Divided by `x^total`, so the coefficient of the product is its constant term.
            let start = self.length - total;
            for (to, from) in terms[start..].iter_mut().zip(&node[PAD..][..end]) {
                *to = *from as i32;
            }
            transform.run(terms, start..start + end, series);
            terms[start..start + end].fill(0);
            let mut of_parts = |parts: &[Part], bit: Option<usize>, to: &mut [Row]| {
                let (Some(least), Some(most)) = (parts.first(), parts.last()) else { return };
                for part in parts {
                    if bit.is_none_or(|bit| part.value & self.bit == bit) {
                        terms[part.size] = 1 - 2 * (i32::from((part.value & character).count_ones() as u8 & 1));
                    }
                }
                transform.run(terms, least.size..most.size + 1, to);
                for part in parts {
                    terms[part.size] = 0;
                }
            };
            of_parts(&self.last, None, class);
            of_parts(&self.paired, Some(0), without);
            of_parts(&self.paired, Some(self.bit), with);
            shared.product(values)
        };
        let number = from_residues([residue(&self.primes[0]), residue(&self.primes[1])]);
        (2 * number).rem_euclid(i128::from(modulus)) as u64
    }
}

/// The number with these residues modulo two primes, by the Chinese remainder theorem. The upper half of the range stands for negative
/// numbers.
fn from_residues([(residue, field), (other_residue, other_field)]: [(u64, Field); 2]) -> i128 {
    let [prime, other_prime] = mapped([field, other_field], |field| field.prime);
    let difference = other_residue + other_prime - residue % other_prime;
    let times = other_field.times(difference, other_field.invert(prime % other_prime));
    let number = i128::from(residue) + i128::from(prime) * i128::from(times);
    let range = i128::from(prime) * i128::from(other_prime);
    if 2 * number > range { number - range } else { number }
}

impl OnePrime {
    #[tier(Avx512)]
    fn new(prime: (u64, u64), length: usize, last: &[Part], paired: &[Part]) -> Self {
        let transform = Transform::new(length, prime);
        let field = transform.field;
        let power_sum = |parts: &[Part], exponent: usize| {
            let mut terms = vec![0; length];
            for part in parts {
                terms[part.size * exponent % length] += 1;
            }
            let mut values = vec![[0; LANES]; length / LANES];
            transform.run(&terms, 0..length, &mut values);
            for value in values.as_flattened_mut() {
                *value %= field.prime;
            }
            values
        };
        // The even power sums as `exp(-p_2/2 - p_4/4 - p_6/6)`, truncated.
        let mut even = [power_sum(last, 2), power_sum(last, 4), power_sum(last, 6)];
        let one = field.montgomery(1);
        let unscale = field.invert(one);
        let times = |a, b| field.times(field.times(a, b), unscale);
        let divisors = mapped([2, 4, 6], |by| field.prime - field.invert(by));
        let [half, third] = mapped([2, 3], |by| field.invert(by));
        let [upto_two, upto_four, upto_six] = &mut even;
        let mut rows = [upto_two, upto_four, upto_six];
        for i in 0..length {
            let (row, lane) = (i / LANES, i % LANES);
            // The exponent: its terms with two, four and six parts.
            let power_sums: [u64; 3] = array_of(|upto| rows[upto][row][lane]);
            let [two, four, six] = array_of(|i| field.times(power_sums[i], divisors[i]));
            let square = field.times(times(two, two), half);
            let cube = field.times(times(two, square), third);
            let sums =
                [one + two, one + two + square + four, one + two + square + four + cube + times(two, four) + six];
            for (rows, sum) in rows.iter_mut().zip(&sums) {
                rows[row][lane] = sum % field.prime;
            }
        }
        let squares = if paired.is_empty() { Vec::new() } else { power_sum(paired, 2) };
        OnePrime { transform, even, squares }
    }

    /// Half of the sum over both characters of the coefficient, from the values of all series; and the field.
    #[tier(Avx512)]
    fn product(&self, values: &[Vec<Row>; 4]) -> (u64, Field) {
        let field = self.transform.field;
        let vectors = Vectors::new(field);
        let [half, third, fifth, sixth] = mapped([2, 3, 5, 6], |by| all(field.factor(field.invert(by))));
        let one = _mm512_set1_epi64(field.montgomery(1) as i64);
        let (add, times, scale) = (|a, b| vectors.add(a, b), |a, b| vectors.times(a, b), |a, b| vectors.scale(a, b));
        let [series, class, without, with] = values;
        let flat = class.as_flattened();
        let elsewhere = |at: usize, times: usize| {
            let row: Row = array_of(|lane| flat[((LANES * at + lane) * times) & (flat.len() - 1)]);
            load(&row)
        };
        let mut sum = _mm512_setzero_si512();
        for (at, series) in series.iter().enumerate() {
            let [two, four, six] = array_of(|i| load(&self.even[i][at]));
            // Of `exp(p_1 + p_3/3 + p_5/5)`, the terms with 0, 2, 4 and 6 parts are needed. With the odd power sums `ones = p_1`,
            // `threes = p_3/3` and `fives = p_5/5`, these are `1`, `ones^2/2`, `ones^4/24 + ones threes` and
            // `ones^6/720 + ones^3 threes/6 + threes^2/2 + ones fives`.
            let ones = vectors.reduce(load(&class[at]));
            let (threes, fives) = (scale(elsewhere(at, 3), third), scale(elsewhere(at, 5), fifth));
            let square = scale(times(ones, ones), half);
            let both = times(ones, threes);
            let fourth = scale(times(square, square), sixth);
            let cubes = scale(times(square, add(scale(fourth, fifth), both)), third);
            let of_six = add(cubes, add(scale(times(threes, threes), half), times(ones, fives)));
            let mut product = add(add(six, times(square, four)), add(times(add(fourth, both), two), of_six));
            if let (Some(without), Some(with), Some(squares)) = (without.get(at), with.get(at), self.squares.get(at)) {
                let [without, with] = mapped([without, with], |row| vectors.reduce(load(row)));
                let with_repeats = add(times(without, without), times(with, with));
                let pairs = scale(vectors.subtract(with_repeats, load(squares)), half);
                // The terms with one and three parts: `ones`, and `ones^3/6 + threes`.
                let odd = add(times(ones, add(two, scale(square, third))), threes);
                let beside = add(times(pairs, add(two, square)), times(times(without, with), odd));
                product = add(product, beside);
            }
            // The constant term of the product stands for the series itself.
            sum = add(sum, times(vectors.subtract(product, one), vectors.reduce(load(series))));
        }
        let lanes: Row = lanes_of(sum);
        let sum = lanes.into_iter().fold(0, |sum, lane| (sum + lane) % field.prime);
        let scale = field.invert(field.times(field.montgomery(1), (LANES * series.len()) as u64));
        (field.times(sum, scale), field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_from_its_residues() {
        for number in [0, 1, 1 << 60, (1 << 96) - 1, 0x1_2345_6789_abcd_ef01_2345_6789]
            .into_iter()
            .flat_map(|number: i128| [number, -number])
        {
            let residues = PRIMES.map(Field::new).map(|field| (number.rem_euclid(field.prime.into()) as u64, field));
            assert_eq!(from_residues(residues), number);
        }
    }
}
