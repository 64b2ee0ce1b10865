//! Finite sets: the values repeat, and once a repetition is proved the rest is copied.
//!
//! `g(n)` depends on the `M` values before it, `M` the largest move. So if `M` values in a row equal the `M` values that
//! stand `p` earlier, everything from the earlier ones on has period `p`: that is a proof, not an observation. Prefixes of
//! doubling length are computed by one of the portable kernels until the last `M` values have occurred before.
//!
//! Cost: the prefix, and a copy of two bytes a heap.
//! Bound: memory bandwidth, if the period is short.

use super::{BLOCK, Subtraction, pull_words, shifted_sets, stamp};
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};

/// A proved repetition: `g(n + period) = g(n)` for all `n >= preperiod`, both as small as can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The length of the repetition.
    pub period: usize,
    /// Where it starts.
    pub preperiod: usize,
}

/// The period of the values of a set with largest move `farthest`, if the values `g` of the first heaps prove it.
///
/// ```
/// use nimlanes::cores::mex::subtraction::{Period, period};
/// assert_eq!(period(&[0, 1, 2, 0, 1, 2], 2), Some(Period { period: 3, preperiod: 0 })); // take 1 or 2
/// assert_eq!(period(&[0, 1, 2, 0], 2), None); // no two values have come back
/// assert_eq!(period(&[0], 0), None); // one value says nothing
/// ```
pub fn period(g: &[u16], farthest: usize) -> Option<Period> {
    find_period(g, farthest, &Run::new(1)).expect("nobody cancels it")
}

/// [`period`], which may take long, as a part of a run that may be cancelled.
fn find_period(g: &[u16], farthest: usize, run: &Run) -> Result<Option<Period>, RunError> {
    let heaps = g.len();
    // Without a move all values are equal, which is more than enough if one says so.
    let farthest = farthest.max(1);
    if heaps <= farthest {
        return Ok(None);
    }
    let mut comparisons = 0;
    let mut compared = || {
        comparisons += 1;
        if comparisons % BLOCK == 0 { run.advance(0) } else { Ok(()) }
    };
    // The last values, backwards, are looked for in all of them, backwards (Knuth, Morris and Pratt 1977): `border[i]` of the
    // first `i + 1` end as all of them begin.
    let back = |i: usize| g[heaps - 1 - i];
    let mut border = Vec::with_capacity(farthest);
    border.push(0);
    let mut matched = 0;
    for i in 1..heaps {
        while matched > 0 && back(matched) != back(i) {
            matched = border[matched - 1];
            compared()?;
        }
        compared()?;
        matched += usize::from(back(matched) == back(i));
        if matched == farthest {
            let period = i + 1 - farthest;
            let mut preperiod = heaps - 1 - i;
            while preperiod > 0 && g[preperiod - 1] == g[preperiod - 1 + period] {
                preperiod -= 1;
                compared()?;
            }
            return Ok(Some(Period { period, preperiod }));
        }
        if i < farthest {
            border.push(matched);
        }
    }
    Ok(None)
}

/// The first prefix holds this many times the largest move.
const FIRST: u64 = 8;
/// A limit of so many times the largest move lies far behind most periods.
const FINITE: u64 = 20;

type Values = fn(&Subtraction, &Run) -> Result<Vec<u16>, RunError>;

/// A prefix of `limit + 1` values, and the quickest way to compute it with its cost. Where a period is due by then it is the one
/// that takes hardly more memory than the values, as no more is needed if the period shows.
fn prefix(input: &Subtraction, limit: u64) -> (Subtraction, Cost, Values) {
    let input = Subtraction { limit, ..input.clone() };
    let context = CostContext { tier: Tier::Portable, threads: 1 };
    let ways: [(Cost, Values); 3] = [
        (stamp::cost(&input, context), stamp::run),
        (pull_words::cost(&input, context), pull_words::run),
        (shifted_sets::cost(&input, context), shifted_sets::run),
    ];
    let is_due = input.moves().last().is_some_and(|farthest| limit / FINITE >= *farthest);
    let ways = if is_due { &ways[..1] } else { &ways[..] };
    let (cost, run) = ways.iter().copied().min_by(|(a, _), (b, _)| a.ns.total_cmp(&b.ns)).expect("three ways");
    (input, cost, run)
}

pub fn cost(input: &Subtraction, _: CostContext) -> Cost {
    let heaps = input.heaps() as f64;
    let farthest = input.moves().last().copied().unwrap_or(input.limit());
    let (_, whole, _) = prefix(input, input.limit());
    let (_, first, _) = prefix(input, input.limit().min(FIRST * farthest));
    let Cost { ns, bytes } = match input.limit() / FINITE >= farthest {
        // The first prefix, as a rule.
        true => Cost { ns: 1.4 * first.ns + 0.2 * heaps, bytes: whole.bytes.max(first.bytes) },
        // Perhaps no period shows, and the prefixes were for nothing.
        false => Cost { ns: 2.0 * whole.ns, bytes: whole.bytes },
    };
    // What looks for the period, beside a prefix.
    let border = if FIRST * farthest < input.limit() { 8.0 * farthest as f64 } else { 0.0 };
    Cost { ns: ns + 300.0, bytes: bytes + border }
}

/// The limits of the prefixes that are tried, ascending.
fn prefixes(farthest: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(FIRST.saturating_mul(farthest)), |limit| limit.checked_mul(2))
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    let farthest = input.moves().last().copied().unwrap_or(input.limit());
    for limit in prefixes(farthest).take_while(|limit| *limit < input.limit()) {
        let (start, _, values) = prefix(input, limit);
        // A prefix is progress only if its values repeat.
        let mut g = values(&start, &run.counted_apart())?;
        if let Some(Period { period, .. }) = find_period(&g, farthest as usize, run)? {
            g.reserve_exact(input.heaps() - g.len());
            repeat(&mut g, period, input.heaps(), run)?;
            return Ok(g);
        }
    }
    prefix(input, input.limit()).2(input, run)
}

/// Values that are copied between two looks at the progress counter: few enough for the second cache.
const COPIED: usize = 1 << 16;

/// Continues values that end with a whole period until there are `heaps` of them, and counts all as done.
fn repeat(g: &mut Vec<u16>, period: usize, heaps: usize, run: &Run) -> Result<(), RunError> {
    run.advance(g.len() as u64)?;
    g.reserve_exact(heaps - g.len());
    // Whole periods, ever more of them at once.
    let mut back = period;
    while g.len() < heaps {
        while back < COPIED && 2 * back <= g.len() {
            back *= 2;
        }
        let length = back.min(COPIED).min(heaps - g.len());
        let from = g.len() - back;
        g.extend_from_within(from..from + length);
        run.advance(length as u64)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Operation;
    use crate::machine::Machine;
    use crate::moves::MoveSet;

    #[test]
    fn the_period_is_the_least_and_starts_where_it_can() {
        for (moves, period, preperiod) in [("1,2", 3, 0), ("1..9", 10, 0), ("2,4,7", 3, 8), ("1,8,11", 19, 13)] {
            let set: MoveSet = moves.parse().expect("a list");
            let input = Subtraction::new(&set, 2000, &Machine::detect()).expect("a small limit");
            let g = super::super::MexSubtraction::oracle(&input);
            let found = super::period(&g, *input.moves().last().expect("a move") as usize).expect("a period");
            assert!((found.preperiod..=2000 - found.period).all(|n| g[n] == g[n + found.period]), "{moves}: {found:?}");
            assert!(found.preperiod == 0 || g[found.preperiod - 1] != g[found.preperiod - 1 + found.period]);
            assert_eq!(found, Period { period, preperiod }, "{moves}");
        }
    }

    /// By the definition: the least `p` such that as many values as the largest move equal those `p` earlier.
    #[test]
    fn any_values_have_the_period_that_they_prove() {
        for seed in 0..3000u32 {
            // Digits of a number, few different ones, so that repetitions come by chance.
            let g: Vec<u16> = (0..seed % 13).map(|i| (seed.wrapping_mul(0x9e37_79b9) >> (2 * i) & 1) as u16).collect();
            let heaps = g.len();
            for farthest in 1..5 {
                let proves = |p: &usize| (0..farthest).all(|i| g[heaps - 1 - i] == g[heaps - 1 - i - p]);
                let least = (1..(heaps + 1).saturating_sub(farthest)).find(proves);
                let found = super::period(&g, farthest);
                assert_eq!(found.map(|found| found.period), least, "{g:?}, {farthest}");
                if let Some(Period { period, preperiod }) = found {
                    assert!((preperiod..heaps - period).all(|n| g[n] == g[n + period]), "{g:?}, {farthest}");
                    assert!(preperiod == 0 || g[preperiod - 1] != g[preperiod - 1 + period], "{g:?}, {farthest}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_proved_by_too_few_values() {
        for farthest in [0, 1, 5, usize::MAX] {
            assert_eq!([super::period(&[], farthest), super::period(&[0], farthest)], [None, None]);
        }
        assert_eq!(super::period(&[0, 0], 0), Some(Period { period: 1, preperiod: 0 }), "no move at all");
    }

    /// Each of the three parts of the kernel: the prefix, the search for a period, the copies.
    #[test]
    fn a_cancelled_run_ends_within_a_block() {
        let input = Subtraction::new(&"1,2,500000".parse().expect("a list"), 30_000_000, &Machine::detect())
            .expect("a small limit");
        let run = Run::new(1);
        run.cancel();
        let ways: [Values; 3] = [pull_words::run, shifted_sets::run, stamp::run];
        for values in ways {
            let prefix = run.counted_apart();
            assert_eq!(values(&input, &prefix).err(), Some(RunError::Cancelled));
            assert!(prefix.done() <= BLOCK as u64, "{} heaps", prefix.done());
        }
        let prefix = run.counted_apart();
        prefix.cancel();
        assert!(Run::advance(&run, 0).is_err() && run.done() == 0, "they are cancelled together and count apart");

        // The whole kernel, whose first prefix is a thousand blocks long.
        let start = std::time::Instant::now();
        assert_eq!(super::run(&input, &Run::new(1)).map(|g| g.len()), Ok(30_000_001));
        let whole = start.elapsed();
        let start = std::time::Instant::now();
        assert_eq!(super::run(&input, &run), Err(RunError::Cancelled));
        assert!(10 * start.elapsed() < whole, "{:?} of {whole:?}", start.elapsed());

        // A period that is not there, one that is found at once and goes far back, one that is found late.
        let late: Vec<u16> = (0..100_000).map(|n| (n / 50_000) as u16).collect();
        let zeros = vec![0; 100_000];
        for (g, farthest) in [(&late, 50_001), (&zeros, 1), (&zeros, 90_000)] {
            assert_eq!(find_period(g, farthest, &run), Err(RunError::Cancelled), "{farthest}");
        }

        for period in [1, 3, 70_000] {
            let run = Run::new(1);
            run.cancel();
            let mut g = vec![0; 140_000];
            assert_eq!(repeat(&mut g, period, 3_000_000, &run), Err(RunError::Cancelled));
            assert!(run.done() <= 140_000 + COPIED as u64, "{} heaps", run.done());
        }
    }

    #[test]
    fn values_are_repeated_to_the_last_heap() {
        for period in [1, 2, 3, 1000, COPIED - 1, COPIED, COPIED + 1, 2 * COPIED + 5] {
            for heaps in [2 * period, 2 * period + 1, 7 * COPIED + 3] {
                let run = Run::new(1);
                let value = |n: usize| (n % period % 60_000) as u16;
                let mut g: Vec<u16> = (0..2 * period).map(value).collect();
                let heaps = heaps.max(g.len());
                assert_eq!(repeat(&mut g, period, heaps, &run), Ok(()));
                assert!(g.len() == heaps && run.done() == heaps as u64);
                assert!(g.iter().enumerate().all(|(n, v)| *v == value(n)), "period {period}, {heaps} heaps");
            }
        }
    }
}
