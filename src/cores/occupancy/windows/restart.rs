//! Charged restarts, and what is known of all positions before a heap.

use super::interval::{Flags, Interval, Marks, Sums, Total, Used};
use crate::cores::occupancy::charge::{self, Charge};
use crate::cores::occupancy::streaming::{BLOCK, Engine, PAD, Registers, Sources};
use crate::simd::bits::WORD;
use crate::simd::mapped;

/// What a window reads of intervals.
#[derive(Clone, Copy)]
pub struct Places<'a> {
    /// Used heaps, near the window itself.
    pub heaps: &'a Used,
    /// Lines `2m - n`, for the values `2n - m` that they take.
    pub sum: &'a Sums,
    /// Upper heaps, for the rows used, difference and sum.
    pub flags: [&'a Flags; 3],
}

impl<'a> Places<'a> {
    /// Their bit strings.
    pub fn sources(&self) -> Sources<'a, Marks> {
        let [even, odd] = &self.sum.rows;
        Sources { used: &self.heaps.marks, sum: [even, odd], flags: mapped(self.flags, |flags| &flags.marks) }
    }

    /// The charge at heap `n`, given an estimate of the mex of the differences there.
    fn guess(&self, n: u64, estimate: u64) -> Option<Charge> {
        /// Lines between what the intervals know and what is asked.
        const EDGE: u64 = 64;
        let row = &self.sum.rows[0];
        let lines = self.flags[1].lines(1, 1);
        let first = lines.start.max(n.saturating_sub(2 * row.end_bit())) + EDGE;
        let last = lines.end.min(n.checked_sub(2 * row.first_bit())?).checked_sub(EDGE)?;
        let differences = |x: u64| Some(x - 1 - self.flags[1].upper_count(1, 1, x)?);
        charge::guess(n, estimate, first..last, differences, |x| Some(x - self.sum.count(x - 1)?))
    }
}

/// Takes `engine` to heap `n` with a guess of its registers, given an estimate of the mex of the differences there.
/// `None` if the intervals do not reach far enough.
pub fn restart(engine: &mut Engine, n: u64, estimate: u64, places: Places<'_>) -> Option<()> {
    let (d, registers) = Registers::guess(n, &places.guess(n, estimate)?);
    engine.registers = registers;
    let pad = PAD as u64;
    let [used, difference, sum] = places.flags;
    let words =
        [used.seek(2, 1, n + d - pad)?, difference.seek(1, 1, d - pad)?, sum.seek(3, 2, 2 * (n / 2 + d - pad))?];
    engine.jump(n, d, words);
    Some(())
}

/// The positions whose smaller heap is below a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The smaller heaps in the lower beam, without that of the two empty heaps.
    pub lower: Total,
    /// The sum of the differences of those positions.
    pub differences: u128,
    /// The smaller heaps in the upper beam.
    pub upper: Total,
}

impl Prefix {
    /// What the taken lines say about the positions before heap `engine.n`.
    ///
    /// All differences below `d` are taken, and all values `2n - m` below some bound. What upper positions and sums do
    /// not take, lower ones do, and difference and value add up to the smaller heap. All heaps below `n` are used; those
    /// that are neither larger ones nor smaller ones of the lower beam belong to the upper beam.
    pub fn new(engine: &Engine, places: Places<'_>) -> Option<Prefix> {
        let (n, d) = (engine.n, engine.d);
        let own = engine.own();
        let uppers = places.flags[1].uppers_below(1, 1, d)?.lines(1, 1);
        let differences = Total::range(1..d).minus(uppers).plus(Total::of_bits(own.difference >> PAD as u32, d));

        // Bit `q` of `late` is the value `top - q`. From bit `full` on all are taken.
        let top = n - d + (PAD + BLOCK) as u64;
        let full = u128::BITS - engine.all().late.leading_ones();
        let end = top - u64::from(full) + 1;
        let bits = Total::of_bits(own.late & !(u128::MAX.checked_shl(full).unwrap_or(0)), 0);
        let own = Total { count: bits.count, sum: u128::from(bits.count) * u128::from(top) - bits.sum };
        let values = Total::range(0..end).minus(places.sum.up_to(end - 1)?).plus(own);
        if values.count != differences.count {
            return None;
        }

        let lower = Total { count: values.count, sum: values.sum.wrapping_add(differences.sum) };
        let upper = Total::range(0..n).minus(places.heaps.below(n)?).minus(lower);
        Some(Prefix { lower, differences: differences.sum, upper })
    }

    /// The lines `a + q (b - a)` of the positions `(a,b)` of the lower beam.
    fn lower_lines(&self, q: u128) -> Total {
        Total { sum: self.lower.sum.wrapping_add(self.differences.wrapping_mul(q)), ..self.lower }
    }

    /// An empty interval from heap `engine.n` on, with the totals of these positions before it.
    pub fn interval(&self, engine: &Engine, places: Places<'_>) -> Option<Interval> {
        // The row begins with a word that is not complete yet, so some positions have their mark in it or after it.
        let own = own(engine)[0];
        let word = (engine.n + engine.d) / WORD as u64;
        let uppers = places.flags[0].uppers_below(2, 1, word * WORD as u64)?.lines(2, 1);
        let used = self.lower_lines(1).minus(own).plus(uppers).plus(ORIGIN);
        Some(Interval::new(engine.n, word as usize, self.upper, used))
    }

    /// The same for lines `2m - n`, up to heap `to`.
    pub fn sums(&self, engine: &Engine, places: Places<'_>, to: u64) -> Option<Sums> {
        let [_, even, odd] = own(engine);
        let word = (engine.n / 2 + engine.d) / WORD as u64;
        // The first odd line that is in the word or after it.
        let uppers = places.flags[2].uppers_below(3, 2, 2 * word * WORD as u64 - 1)?.lines(3, 2);
        let own = even.scaled(2, 0).plus(odd.scaled(2, 1));
        let before = self.lower_lines(2).minus(own).plus(uppers).plus(ORIGIN);
        Some(Sums::new(to, word as usize, before))
    }
}

/// The line of the two empty heaps.
const ORIGIN: Total = Total { count: 1, sum: 0 };

/// The marks of an engine's own beam in words that are not complete: used, and sum by parity.
fn own(engine: &Engine) -> [Total; 3] {
    mapped(engine.own_incomplete(), |[(word, first), (rest, next)]| {
        Total::of_bits(word, first).plus(Total::of_bits(rest, next))
    })
}
