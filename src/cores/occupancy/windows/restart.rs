//! Charged restarts, and what is known of all positions before a heap.

use super::interval::{Before, Interval, Marks, Sums, Total};
use crate::bits::WORD;
use crate::cores::occupancy::streaming::{BLOCK, Engine, PAD, Registers, Sources, Window};

/// The intervals that a window reads.
#[derive(Clone, Copy)]
pub struct Places<'a> {
    /// Used heaps, near the window itself.
    pub heaps: &'a Interval,
    /// Lines `2m - n`, for the values `2n - m` that they take.
    pub sum: &'a Sums,
    /// Upper heaps, for the rows used, difference and sum.
    pub flags: [&'a Interval; 3],
}

impl<'a> Places<'a> {
    /// Their bit strings.
    pub fn sources(&self) -> Sources<'a, Marks> {
        let [even, odd] = &self.sum.rows;
        Sources { heaps: &self.heaps.used, sum: [even, odd], flags: self.flags.map(|interval| &interval.flags) }
    }

    /// How many lower positions take a difference below `x`, if they take all that upper ones leave; and whether an
    /// upper one takes `x`.
    fn differences(&self, x: u64) -> Option<(i64, bool)> {
        let (uppers, is_taken) = self.flags[1].upper_count(1, 1, x)?;
        Some((x as i64 - 1 - uppers as i64, is_taken))
    }

    /// The same for values `2n - m`, which sums take as well.
    fn values(&self, x: u64) -> Option<(i64, bool)> {
        Some((x as i64 - self.sum.count(x.checked_sub(1)?)? as i64, self.sum.has(x)?))
    }

    /// Guesses the mexes of the differences and of the values `2n - m` at heap `n`, given an estimate of the first.
    ///
    /// Each lower position takes one of each, so as many must be taken below the one as below the other: a guess with
    /// another *charge* never meets the truth.
    fn guess(&self, n: u64, estimate: u64) -> Option<[u64; 2]> {
        /// What the two leave of `n`, on average.
        const WINDOW: u64 = 4;
        /// How much the charge grows with the first, if their sum stays.
        const SLOPE: f64 = 1.535;
        // What the intervals know something about.
        const EDGE: u64 = 64;
        let near = n - 5 * WINDOW;
        let row = &self.sum.rows[0];
        let lines = self.flags[1].lines(1, 1);
        let first = lines.start.max(near.saturating_sub(2 * row.end_bit())) + EDGE;
        let last = lines.end.min(near.checked_sub(2 * row.first_bit())?).checked_sub(EDGE)?;
        if first >= last {
            return None;
        }
        let mut x = estimate;
        // Newton's method on two staircases.
        for _ in 0..40 {
            x = x.clamp(first, last);
            let charge = self.differences(x)?.0 - self.values(near - x)?.0;
            let step = (charge as f64 / SLOPE) as i64;
            x = x.checked_add_signed(-step)?;
            if step == 0 {
                break;
            }
        }
        // Up to the first pair of free lines with equal charge whose window is narrow enough.
        let mut guess = [x, near - x];
        loop {
            let [mut differences, mut values] = [self.differences(guess[0])?, self.values(guess[1])?];
            while differences.1 {
                guess[0] += 1;
                differences = self.differences(guess[0])?;
            }
            while values.1 {
                guess[1] += 1;
                values = self.values(guess[1])?;
            }
            let charge = differences.0 - values.0;
            if charge == 0 && guess[0] + guess[1] + WINDOW >= n {
                return Some(guess);
            }
            guess[0] += u64::from(charge <= 0);
            guess[1] += u64::from(charge >= 0);
        }
    }
}

/// Takes `engine` to heap `n` with a guess of its registers, given an estimate of the mex of the differences there.
/// `None` if the intervals do not reach far enough.
pub fn restart(engine: &mut Engine, n: u64, estimate: u64, places: Places<'_>) -> Option<()> {
    let [x, value] = places.guess(n, estimate)?;
    let d = x & !7;
    let pad = PAD as u64;
    // From this bit on all values are taken.
    let full = (n + pad + 1).checked_sub(value + d)? as u32;
    engine.registers = Registers::Narrow(Window {
        used: 0,
        difference: !(u64::MAX << (pad + x - d)),
        twice: u64::MAX.checked_shl(full)?,
        late: u64::MAX.checked_shl(full + BLOCK as u32)?,
        sum: [0; 2],
    });
    let [used, difference, sum] = places.flags;
    let words =
        [used.seek(2, 1, n + d - pad)?, difference.seek(1, 1, d - pad)?, sum.seek(3, 2, 2 * (n / 2 + d - pad))?];
    engine.jump(n, d, words);
    Some(())
}

/// The positions whose smaller heap is below a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The smaller heaps in the lower beam, but for the two empty heaps.
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
        let upper = Total::range(0..n).minus(places.heaps.used_below(n)?).minus(lower);
        Some(Prefix { lower, differences: differences.sum, upper })
    }

    /// The positions `(a,b)` of the lower beam by `a + q (b - a)`.
    fn lower_lines(&self, q: u128) -> Total {
        Total { sum: self.lower.sum.wrapping_add(self.differences.wrapping_mul(q)), ..self.lower }
    }

    /// An empty interval from heap `engine.n` on, before which these positions are, with room up to heap `to`.
    pub fn interval(&self, engine: &Engine, places: Places<'_>, to: u64) -> Option<Interval> {
        // The row begins with a word that is not complete yet, so some positions have their mark in it or after it.
        let own = own(engine)[0];
        let word = (engine.n + engine.d) / WORD as u64;
        let uppers = places.flags[0].uppers_below(2, 1, word * WORD as u64)?.lines(2, 1);
        let used = self.lower_lines(1).minus(own).plus(uppers).plus(ORIGIN);
        Some(Interval::new(engine.n, to, word as usize, Before { flags: self.upper, used }))
    }

    /// The same for lines `2m - n`.
    pub fn sums(&self, engine: &Engine, places: Places<'_>, to: u64) -> Option<Sums> {
        let [_, even, odd] = own(engine);
        let word = (engine.n / 2 + engine.d) / WORD as u64;
        // The first odd line that is in the word or after it.
        let uppers = places.flags[2].uppers_below(3, 2, 2 * word * WORD as u64 - 1)?.lines(3, 2);
        let own = even.scaled(2, 0).plus(odd.scaled(2, 1));
        let before = self.lower_lines(2).minus(own).plus(uppers).plus(ORIGIN);
        Some(Sums::new(engine.n, to, word as usize, before))
    }
}

/// The line of the two empty heaps.
const ORIGIN: Total = Total { count: 1, sum: 0 };

/// The marks of an engine's own beam in words that are not complete: used, and sum by parity.
fn own(engine: &Engine) -> [Total; 3] {
    engine.own_incomplete().map(|parts| {
        parts.into_iter().fold(Total::default(), |total, (bits, first)| total.plus(Total::of_bits(bits, first)))
    })
}
