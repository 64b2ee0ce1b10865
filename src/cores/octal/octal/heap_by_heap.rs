//! Kernels that go heap by heap.

use super::input::Octal;
use super::values::{Start, VALUES, Values};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// The driver of kernels that go heap by heap: `value(n, g)` is the Grundy value of `n >= 1`, given those of `0..n`, or `None`
/// if it is too large.
#[inline(always)]
pub fn heap_by_heap(
    input: &Octal,
    run: &Run,
    start: Start,
    mut value: impl FnMut(usize, &[u16]) -> Option<u16>,
) -> Result<Vec<u16>, RunError> {
    let mut values = Values::new(input, run, start);
    while !values.is_complete() {
        let n = values.known.len();
        let value = if n == 0 { Some(0) } else { value(n, &values.known) };
        values.push(value)?;
    }
    values.advance()?;
    Ok(values.known)
}

/// The nim-sums of all splits of `left` into two heaps of at least `least`.
#[inline(always)]
pub fn pairs(g: &[u16], left: usize, least: usize, is_unequal: bool) -> impl Iterator<Item = u16> + '_ {
    let half = left.saturating_sub(usize::from(is_unequal)) / 2;
    let count = (half + 1).saturating_sub(least);
    let (small, large) = (&g[least..][..count], &g[left + 1 - least - count..][..count]);
    small.iter().zip(large.iter().rev()).map(|(a, b)| a ^ b)
}

/// The baseline: every split of every heap stamps its nim-sum in a table. The value is the first number without a stamp.
///
/// Cost: `n^2 / 4` stamps for each digit with two parts, `n^3 / 36` for each with three.
/// Bound: the stores.
/// Source: the definition, as in most programs for these games.
pub mod stamp {
    use super::*;

    /// Rates: the ns of a split, of a heap, and of a run.
    pub fn cost(input: &Octal, _: CostContext, [split, heap, run]: [f64; 3]) -> Cost {
        let (heaps, ns) = (input.heaps() as f64, split * input.splits() + run);
        let bytes = 2.0 * heaps + 4.0 * VALUES as f64;
        Cost { ns: ns + heap * heaps, bytes }.only_if(input.limit() < u32::MAX.into())
    }

    pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
        let mut stamp = vec![0u32; VALUES];
        heap_by_heap(input, run, start, |n, g| {
            let now = n as u32;
            nim_sums(input, n, g, |nim_sum| stamp[usize::from(nim_sum)] = now);
            stamp.iter().position(|at| *at != now).map(|value| value as u16)
        })
    }

    /// Calls `visit` with the nim-sum of each position that a move on a heap of `n` may leave.
    #[inline(always)]
    pub fn nim_sums(input: &Octal, n: usize, g: &[u16], mut visit: impl FnMut(u16)) {
        for (left, digit) in input.moves(n) {
            if Octal::leaves(digit, left) {
                visit(g[left]);
            }
            if digit & 4 > 0 {
                pairs(g, left, 1, input.code().is_unequal()).for_each(&mut visit);
            }
            if digit & 8 > 0 {
                for part in 1..=left / 3 {
                    pairs(g, left - part, part, false).for_each(|nim_sum| visit(nim_sum ^ g[part]));
                }
            }
        }
    }
}

/// Unlike [`stamp`], this has sets of nim-sums as bit rows. With three parts, the nim-sums of the pairs of each total are kept as a row; a
/// third part `c` XORs `g(c)` into the index of every bit of a row: see [`translate`](crate::cores::mex::translate).
///
/// Cost: a bit for each pair; for three parts, `n^2 / 6` translations of a row of `V / 64` words, where `V` is the power of two above the
/// largest value.
/// Bound: setting the bits of pairs, one read-modify-write each; with three parts, the translations.
pub mod bit_rows {
    use super::*;
    use crate::cores::growing;
    use crate::cores::mex::translate::{LINE, Translate};
    use crate::simd::bits::{WORD, first_zero};

    /// Nanoseconds of a heap, and of a pair.
    const NS_PER_HEAP: f64 = 60.0;
    const NS_PER_PAIR: f64 = 1.1;

    /// Rates: the ns of a translated row, and of a line of it.
    pub fn cost(input: &Octal, _: CostContext, [each, line]: [f64; 2]) -> Cost {
        let n = input.heaps() as f64;
        let has_rows = input.code().has_three_parts();
        // Values of 0.8 grow like this up to 4096 heaps, observed, and those of games with two parts more slowly; rows are lines of
        // 512 bits, a power of two of them.
        let lines = (n.powf(0.75) / 512.0).max(1.0).log2().ceil().exp2();
        let triples = input.places(8).count() as f64;
        let pairs = input.places(4).count() as f64 + f64::from(u8::from(has_rows));
        let rows = if has_rows { n * (64.0 * lines + growing::bytes::<Vec<u64>>(1.0)) } else { 0.0 };
        let ns = NS_PER_HEAP * n + NS_PER_PAIR * pairs * n * n / 4.0 + triples * n * n / 6.0 * (each + line * lines);
        Cost { ns, bytes: 2.0 * n + rows }
    }

    fn set(row: &mut [[u64; LINE]], bit: u16) {
        row.as_flattened_mut()[usize::from(bit) / WORD] |= 1 << (usize::from(bit) % WORD);
    }

    #[inline(always)]
    pub fn run(input: &Octal, run: &Run, start: Start, translate: impl Translate) -> Result<Vec<u16>, RunError> {
        let is_unequal = input.code().is_unequal();
        // rows[t]: the nim-sums of two heaps with t beans in all, where triples need them.
        let mut rows: Vec<Vec<[u64; LINE]>> = Vec::new();
        let (mut seen, mut largest) = (0, 0);
        heap_by_heap(input, run, start, |n, g| {
            largest = g[seen..].iter().fold(largest, |largest, value| largest.max(*value));
            seen = n;
            let blank = vec![[0; LINE]; (usize::from(largest) + 1).next_power_of_two().div_ceil(WORD * LINE)];
            while input.code().has_three_parts() && rows.len() <= n {
                let mut row = blank.clone();
                pairs(g, rows.len(), 1, is_unequal).for_each(|nim_sum| set(&mut row, nim_sum));
                growing::push(&mut rows, row);
            }
            let mut reached = blank;
            for (left, digit) in input.moves(n) {
                if Octal::leaves(digit, left) {
                    set(&mut reached, g[left]);
                }
                if digit & 4 > 0 {
                    pairs(g, left, 1, is_unequal).for_each(|nim_sum| set(&mut reached, nim_sum));
                }
                if digit & 8 > 0 {
                    for part in 1..=left / 3 {
                        let (short, value) = (&rows[left - part], usize::from(g[part]));
                        // The translation of a shorter row falls into the lines whose numbers have the high bits of `value`.
                        let first = (value / (WORD * LINE)) & !(short.len() - 1);
                        translate(&mut reached[first..first + short.len()], short, value - first * WORD * LINE);
                    }
                }
            }
            let words = reached.as_flattened();
            let value = match words.iter().position(|word| *word != u64::MAX) {
                Some(w) => w * WORD + first_zero(words[w]),
                None => words.len() * WORD,
            };
            u16::try_from(value).ok()
        })
    }
}

/// Unlike [`stamp`], this stamps the splits with a rare heap first: they reach all common values that are reached. The least common value
/// without a stamp is the value of the heap, if the other splits stamp every rare value below it.
///
/// Cost: a stamp for each rare heap, and as many for common splits as it takes to reach the rare values, a few hundred.
/// Bound: the stores; branches on values.
/// Source: Berlekamp, Conway and Guy, *Winning Ways*, chapter 4; the programs of Gangolli and Plambeck and of Flammenkamp.
pub mod sparse_stamps {
    use super::*;
    use crate::cores::octal::sparse::space::{Space, common_parity};

    /// Rate: the ns of a heap.
    pub fn cost(input: &Octal, _: CostContext, [heap]: [f64; 1]) -> Cost {
        let (heaps, is_possible) = (input.heaps() as f64, input.has_sparse_space() && input.limit() < u32::MAX.into());
        let bytes = 2.0 * heaps + 4.0 * VALUES as f64;
        Cost { ns: heap * heaps.min(0.5 * input.splits()), bytes }.only_if(is_possible)
    }

    pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
        let is_unequal = input.code().is_unequal();
        let mut stamp = vec![0u32; VALUES];
        let parity = common_parity(input.code());
        let mut space = None;
        heap_by_heap(input, run, start, |n, g| {
            let space = space.get_or_insert_with(|| Space::new(parity, g));
            let now = n as u32;
            for (left, digit) in input.moves(n) {
                if Octal::leaves(digit, left) {
                    stamp[usize::from(g[left])] = now;
                }
                if digit & 4 > 0 {
                    let rare = space.rare().iter().take_while(|(heap, _)| *heap < left);
                    for (heap, value) in rare.filter(|(heap, _)| !is_unequal || 2 * heap != left) {
                        stamp[usize::from(value ^ g[left - heap])] = now;
                    }
                }
            }
            let is_unresolved = |value: &usize, stamp: &[u32]| stamp[*value] != now;
            let common =
                (0..VALUES).find(|value| is_unresolved(value, &stamp) && !space.mask.is_rare(n, *value as u16))?;
            let mut unresolved = (0..common).filter(|value| is_unresolved(value, &stamp)).count();
            let splits = input.moves(n).filter(|(_, digit)| digit & 4 > 0);
            for nim_sum in splits.flat_map(|(left, _)| pairs(g, left, 1, is_unequal)) {
                if unresolved == 0 {
                    break;
                }
                let nim_sum = usize::from(nim_sum);
                unresolved -= usize::from(nim_sum < common && is_unresolved(&nim_sum, &stamp));
                stamp[nim_sum] = now;
            }
            let value = (0..=common).find(|value| is_unresolved(value, &stamp))? as u16;
            if space.push(n, value) {
                space.choose(&[g, &[value]].concat());
            }
            Some(value)
        })
    }
}
