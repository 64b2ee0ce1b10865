//! The start of the automaton: its state, built from positions that another kernel finds.

use super::automaton::Joint;
use super::span::SPAN;
use super::tape::NewMarks;
use super::tapes::Tapes;
use super::window::{BLOCK, PAD, Registers, Window};
use crate::cores::occupancy::{Positions, ProportionateNim, Wanted, window_certificate};
use crate::kernel::{Run, RunError};
use crate::simd::bits::{WORD, window};

/// From this heap on, all marks that a span reads were made before the span.
pub const START: u64 = 4 * SPAN as u64;

/// A set of lines.
struct LineSet(Vec<u64>);

impl LineSet {
    fn new() -> Self {
        LineSet(vec![0; 8 * START as usize / WORD])
    }

    fn insert(&mut self, line: u64) {
        self.0[line as usize / WORD] |= 1 << (line % 64);
    }

    /// 64 lines from `at` on.
    fn window(&self, at: u64) -> u64 {
        window(&self.0, at as usize)
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
    before.truncate(before.partition_point(|[a, _]| *a < n));

    let (mut used, mut difference, mut flags) = (LineSet::new(), LineSet::new(), LineSet::new());
    let (mut even, mut odd, mut below) = (LineSet::new(), LineSet::new(), LineSet::new());
    let mut uppers = 0;
    for &[a, b] in &before {
        if a + b <= limit {
            sink.push([a, b]);
        }
        used.insert(b);
        difference.insert(b - a);
        let sum = 2 * b - a;
        if a % 2 == 0 {
            even.insert(sum / 2)
        } else {
            odd.insert(sum.div_ceil(2))
        }
        below.insert(sum);
        if b > 2 * a {
            flags.insert(a);
            uppers += 1;
        } else {
            below.insert(2 * a - b);
        }
    }

    let mut d = 0;
    while difference.window(d) == u64::MAX {
        d += 64;
    }
    d += u64::from(difference.window(d).trailing_ones()) & !7;
    let from = [n + d - PAD as u64, d - PAD as u64, n / 2 + d - PAD as u64];
    // Bit `q` of a register in falling order is the line `top - q`.
    let falling = |top: u64| below.window(top - 63).reverse_bits();
    let registers = Registers::Narrow(Window {
        used: used.window(from[0]),
        difference: difference.window(from[1]),
        twice: falling(n - d + PAD as u64),
        late: falling(n - d + (PAD + BLOCK) as u64),
        sum: [even.window(from[2]), odd.window(from[2])],
    });
    // The lower partners from the first word on that is not complete.
    let mut pending = 0;
    for [a, b] in &before {
        if *b <= 2 * a && *b >= (n + d) & !63 {
            pending += u128::from(*b);
        }
    }

    let [(used_words, used_partial), (even_words, even_partial), (odd_words, odd_partial)] =
        [used.before(n + d), even.before(n / 2 + d), odd.before(n / 2 + d)];
    let (flag_words, _) = flags.before(n);
    let mut tapes = Tapes::new(limit, shares, 8 * n);
    tapes.append(&mut NewMarks { used: used_words, sum: [even_words, odd_words], flags: flag_words });
    let partial = [used_partial, even_partial, odd_partial];
    Ok((tapes, Joint { n, d, uppers, pending, registers, partial }))
}
