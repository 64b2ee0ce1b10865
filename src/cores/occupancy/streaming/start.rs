//! The start of the automaton: its state, built from positions that another kernel finds.

use super::automaton::{Automaton, SLACK};
use super::marks::{Reader, SUM, USED};
use super::row::SpanRow;
use super::span::{SPAN, Span};
use super::tape::{Pool, Tape};
use super::window::{BLOCK, PAD, Registers, Window};
use crate::bits::WORD;
use crate::cores::occupancy::{Positions, ProportionateNim, Sink, window_certificate};
use crate::kernel::{Run, RunError};

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

    /// Writes the lines before `end`: whole words onto the tape, and the words from `start` on into the row.
    fn write(&self, tape: &mut Tape, row: &mut SpanRow, pool: &mut Pool, start: u64, end: u64) {
        let (start, end) = (start as usize / WORD, end as usize / WORD);
        self.0[..end].iter().for_each(|word| tape.push(*word, pool));
        (start..=end).for_each(|word| row.store(8 * (word - start), self.0[word]));
    }
}

impl Automaton {
    /// The state at [`START`]. Positions before it go to the sink. The tapes keep `shares` of the limit.
    pub fn start<S: Sink>(input: &ProportionateNim, shares: [f64; 3], sink: &mut S) -> Result<Self, RunError> {
        let limit = input.limit();
        let n = START;
        let first = ProportionateNim { limit: 4 * n, ..input.clone() };
        let mut before = window_certificate::run(&first, &Run::new(1), Positions::default())?.0;
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

        let mut pool = Pool::default();
        let mut span = Span::new();
        let tape = |share: f64| Tape::new(((limit as f64 * share) as usize + 8 * n as usize) / WORD);
        let mut tapes = [tape(shares[0]), tape(shares[1]), tape(shares[1]), tape(shares[2])];
        let [used_tape, even, odd, flags_tape] = &mut tapes;
        used.write(used_tape, &mut span.new[0], &mut pool, from[0], n + d);
        sum[0].write(even, &mut span.new[1], &mut pool, from[2], n / 2 + d);
        sum[1].write(odd, &mut span.new[2], &mut pool, from[2], n / 2 + d);
        flags.0[..n as usize / WORD].iter().for_each(|word| flags_tape.push(*word, &mut pool));

        // The readers start where the rows of new marks start.
        let (mut upper_used, mut upper_sum) = (Reader::new(), Reader::new());
        upper_used.start_at(&USED, &mut span.old.used, flags_tape, from[0]);
        upper_sum.start_at(&SUM, &mut span.old.sum, flags_tape, from[2]);
        let [used, even, odd, flags] = tapes;
        Ok(Automaton {
            limit,
            n,
            d,
            uppers: before.iter().filter(|[a, b]| *b > 2 * a).count() as u64,
            pending: before
                .iter()
                .filter(|[a, b]| *b <= 2 * a && *b >= (n + d) & !63)
                .map(|[_, b]| u128::from(*b))
                .sum(),
            registers,
            used,
            sum: [even, odd],
            flags,
            pool,
            upper_used,
            upper_difference: Reader::new(),
            upper_sum,
            top: (n - d) / 64 - SLACK / 64,
            room: SpanRow::BITS / WORD,
            span,
        })
    }
}
