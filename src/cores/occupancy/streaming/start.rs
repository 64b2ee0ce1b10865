//! The start of the automaton: its state, built from positions that another kernel finds.

use super::automaton::Joint;
use super::span::SPAN;
use super::tapes::{NewMarks, Tapes};
use super::window::{BLOCK, PAD, Registers, Window};
use crate::cores::occupancy::{Positions, ProportionateNim, Wanted, window_certificate};
use crate::kernel::{Run, RunError};
use crate::simd::bits::WORD;

/// From this heap on, all marks that a span reads were made before the span.
pub const START: u64 = 4 * SPAN as u64;

/// A set of lines.
struct LineSet(Vec<u64>);

impl LineSet {
    fn new(lines: impl Iterator<Item = u64>) -> Self {
        let mut words = vec![0; 8 * START as usize / WORD];
        lines.for_each(|line| words[line as usize / WORD] |= 1 << (line % 64));
        LineSet(words)
    }

    fn contains(&self, line: u64) -> bool {
        self.0[line as usize / WORD] >> (line % 64) & 1 == 1
    }

    /// 64 lines from `at` on.
    fn window(&self, at: u64) -> u64 {
        (0..64).fold(0, |word, i| word | u64::from(self.contains(at + i)) << i)
    }

    /// The lines before `end`: whole words, and what is left.
    fn before(&self, end: u64) -> (Vec<u64>, u64) {
        let word = end as usize / WORD;
        (self.0[..word].to_vec(), self.0[word] & !(u64::MAX << (end % 64)))
    }
}

/// The state at [`START`], and the tapes, which keep `shares` of the limit. Positions before it go to the sink.
pub fn start(input: &ProportionateNim, shares: [f64; 3], sink: &mut Positions) -> Result<(Tapes, Joint), RunError> {
    let limit = input.limit();
    let n = START;
    let first = ProportionateNim { limit: 4 * n, ..input.clone() }.finding(Wanted::Positions);
    let mut before = window_certificate::run(&first, &Run::new(1))?.into_list();
    before.retain(|[a, _]| *a < n);
    before.iter().filter(|[a, b]| a + b <= limit).for_each(|position| sink.push(*position));

    let lines = |line: fn(u64, u64) -> Option<u64>| LineSet::new(before.iter().filter_map(|[a, b]| line(*a, *b)));
    let used = lines(|_, b| Some(b));
    let difference = lines(|a, b| Some(b - a));
    let sum = [
        lines(|a, b| (a % 2 == 0).then(|| (2 * b - a) / 2)),
        lines(|a, b| (a % 2 == 1).then(|| (2 * b - a).div_ceil(2))),
    ];
    let below = LineSet::new(before.iter().flat_map(|[a, b]| [Some(2 * b - a), (2 * a).checked_sub(*b)]).flatten());
    let flags = LineSet::new(before.iter().filter(|[a, b]| *b > 2 * a).map(|[a, _]| *a));

    let d = (0..).find(|d| !difference.contains(*d)).unwrap_or(0) & !7;
    let from = [n + d - PAD as u64, d - PAD as u64, n / 2 + d - PAD as u64];
    // Bit `q` of a register in falling order is the line `top - q`.
    let falling = |top: u64| (0..64).fold(0, |word, q| word | u64::from(below.contains(top - q)) << q);
    let registers = Registers::Narrow(Window {
        used: used.window(from[0]),
        difference: difference.window(from[1]),
        twice: falling(n - d + PAD as u64),
        late: falling(n - d + (PAD + BLOCK) as u64),
        sum: [sum[0].window(from[2]), sum[1].window(from[2])],
    });

    let [(used_words, used_partial), (even_words, even_partial), (odd_words, odd_partial)] =
        [used.before(n + d), sum[0].before(n / 2 + d), sum[1].before(n / 2 + d)];
    let (flag_words, _) = flags.before(n);
    let mut tapes = Tapes::new(limit, shares, 8 * n);
    tapes.append(&mut NewMarks { used: used_words, sum: [even_words, odd_words], flags: flag_words });
    let joint = Joint {
        n,
        d,
        uppers: before.iter().filter(|[a, b]| *b > 2 * a).count() as u64,
        pending: before.iter().filter(|[a, b]| *b <= 2 * a && *b >= (n + d) & !63).map(|[_, b]| u128::from(*b)).sum(),
        registers,
        partial: [used_partial, even_partial, odd_partial],
    };
    Ok((tapes, joint))
}
