//! Finite sets: their values repeat, and once a repetition is proved, the rest is copied.
//!
//! `g(n)` depends on the `M` values before it, where `M` is the largest move. So if `M` consecutive values equal the `M` values
//! `p` earlier, everything from the earlier ones on has period `p`. This is a proof, not an observation. One of the portable
//! kernels computes prefixes of doubling length until the last `M` values have occurred before.
//!
//! Cost: the prefix, plus a copy of two bytes per heap.
//! Bound: memory bandwidth, if the period is short.

use super::heap_by_heap::{PROGRESS_STEP, stamp};
use super::value_by_value::{pull_words, shifted_sets};
use super::{MexSubtraction, Subtraction};
use crate::kernel::{Cost, CostContext, Operation, Run, RunError};

/// A proved repetition: `g(n + period) = g(n)` for all `n >= preperiod`, both as small as possible.
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
/// # use nimlanes_mex as nimlanes;
/// use nimlanes::cores::mex::subtraction::{Period, period};
/// # use nimlanes::kernel::Run;
/// let run = Run::new(1);
/// assert_eq!(period(&[0, 1, 2, 0, 1, 2], 2, &run)?, Some(Period { period: 3, preperiod: 0 })); // take 1 or 2
/// assert_eq!(period(&[0, 1, 2, 0], 2, &run)?, None); // the last two values have not occurred before
/// assert_eq!(period(&[0], 0, &run)?, None); // one value proves nothing
/// # Ok::<(), nimlanes::kernel::RunError>(())
/// ```
///
/// # Errors
/// [`RunError::Cancelled`]: the search takes long where `farthest` is large.
pub fn period(g: &[u16], farthest: usize, run: &Run) -> Result<Option<Period>, RunError> {
    let heaps = g.len();
    // Without moves all values are equal; comparing one value is then more than enough.
    let farthest = farthest.max(1);
    if heaps <= farthest {
        return Ok(None);
    }
    let mut comparisons = 0;
    let mut compared = || {
        comparisons += 1;
        if comparisons % PROGRESS_STEP == 0 { run.advance(0) } else { Ok(()) }
    };
    // Searches the reversed values for their own beginning, the last `farthest` values (Knuth, Morris and Pratt 1977):
    // `border[i]` is the length of the longest proper border of the first `i + 1`.
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

/// Of the first prefix if it is enough, and of all heaps if no period shows and the prefixes are wasted.
const PREFIXES: [f64; 2] = [1.4, 2.0];
/// The limit of the first prefix, in units of the largest move.
const FIRST: u64 = 8;
/// Most periods show well below a limit of this many times the largest move.
const PERIOD_DUE: u64 = 20;

type Values = fn(&Subtraction, &Run) -> Result<Vec<u16>, RunError>;

/// A prefix of `limit + 1` values, the cost of computing it, and the fastest kernel for it. If the period should show by then, only
/// `stamp` is considered: it takes little more memory than the values.
fn prefix(input: &Subtraction, limit: u64) -> (Subtraction, Cost, Values) {
    let input = Subtraction { limit, ..input.clone() };
    let kernels: [(Cost, Values); 3] = [
        (listed_cost("stamp", &input), stamp::run),
        (listed_cost("pull_words", &input), pull_words::run),
        (listed_cost("shifted_sets", &input), shifted_sets::run),
    ];
    let is_due = input.moves().last().is_some_and(|farthest| limit / PERIOD_DUE >= *farthest);
    let kernels = if is_due { &kernels[..1] } else { &kernels[..] };
    let best = *kernels.iter().min_by(|a, b| a.0.ns.total_cmp(&b.0.ns)).expect("three kernels");
    (input, best.0, best.1)
}

/// The cost of a portable kernel by its formula, with the rates of the list.
fn listed_cost(name: &str, input: &Subtraction) -> Cost {
    let def = MexSubtraction::KERNELS.iter().find(|def| def.name == name).expect("the kernel is listed");
    let body = def.body().expect("portable kernels are compiled");
    (body.cost)(input, CostContext { tier: def.tier, threads: 1, is_parallel: false }, body.rates)
}

/// Rates: the ns to copy a value, and of a run.
pub fn cost(input: &Subtraction, _: CostContext, [copy, run]: [f64; 2]) -> Cost {
    let heaps = input.heaps() as f64;
    let farthest = farthest(input);
    let (_, whole, _) = prefix(input, input.limit());
    let (_, first, _) = prefix(input, input.limit().min(FIRST * farthest));
    let Cost { ns, bytes } = match input.limit() / PERIOD_DUE >= farthest {
        true => Cost { ns: PREFIXES[0] * first.ns + copy * heaps, bytes: whole.bytes.max(first.bytes) },
        false => Cost { ns: PREFIXES[1] * whole.ns, bytes: whole.bytes },
    };
    // The bytes of the search for the period, besides a prefix.
    let border = if FIRST * farthest < input.limit() { 8.0 * farthest as f64 } else { 0.0 };
    Cost { ns: ns + run, bytes: bytes + border }
}

/// How many of the last values decide the next. Without moves all are equal: see [`period`].
fn farthest(input: &Subtraction) -> u64 {
    input.moves().last().copied().unwrap_or(1)
}

/// The values of the first heaps, as many as it takes to prove their period, and that period; none if heaps below the limit do not
/// prove it. No progress is counted.
///
/// ```
/// # use nimlanes_mex as nimlanes;
/// use nimlanes::cores::mex::subtraction::{Period, Subtraction, prove};
/// # use nimlanes::{kernel::Run, machine::Machine};
/// let input = Subtraction::new(&"2,4,7".parse()?, 1000, &Machine::detect())?;
/// let (_, period) = prove(&input, &Run::new(1))?.expect("a short period");
/// assert_eq!(period, Period { period: 3, preperiod: 8 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RunError::Cancelled`], or a value passes 16 bits.
pub fn prove(input: &Subtraction, run: &Run) -> Result<Option<(Vec<u16>, Period)>, RunError> {
    let farthest = farthest(input);
    let mut limit = FIRST.saturating_mul(farthest);
    while limit < input.limit() {
        let (start, _, values) = prefix(input, limit);
        let g = values(&start, &run.counted_apart())?;
        if let Some(period) = period(&g, farthest as usize, run)? {
            return Ok(Some((g, period)));
        }
        limit = limit.saturating_mul(2);
    }
    Ok(None)
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    match prove(input, run)? {
        Some((mut g, Period { period, .. })) => {
            repeat(&mut g, period, input.heaps(), run)?;
            Ok(g)
        }
        None => prefix(input, input.limit()).2(input, run),
    }
}

/// Values to copy between two progress updates: few enough for L2.
const COPY_STEP: usize = 1 << 16;

/// Repeats the last `period` values until there are `heaps` values, and counts all of them as done.
fn repeat(g: &mut Vec<u16>, period: usize, heaps: usize, run: &Run) -> Result<(), RunError> {
    run.advance(g.len() as u64)?;
    g.reserve_exact(heaps - g.len());
    // Copies whole periods, twice as many at a time as before. The values before them need not repeat.
    let mut back = period;
    while g.len() < heaps {
        let length = back.min(COPY_STEP).min(heaps - g.len());
        let from = g.len() - back;
        g.extend_from_within(from..from + length);
        if length == back {
            back *= 2;
        }
        run.advance(length as u64)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proved(g: &[u16], farthest: usize) -> Option<Period> {
        super::period(g, farthest, &Run::new(1)).expect("the run is not cancelled")
    }

    /// Checks the definition: the least `p` such that the last `farthest` values equal those `p` earlier.
    #[test]
    fn the_period_of_any_values_is_the_one_that_they_prove() {
        for seed in 0..3000u32 {
            // Random bits, so that repetitions occur by chance.
            let g: Vec<u16> = (0..seed % 13).map(|i| (seed.wrapping_mul(0x9e37_79b9) >> (2 * i) & 1) as u16).collect();
            let heaps = g.len();
            for farthest in 1..5 {
                let proves = |p: &usize| (0..farthest).all(|i| g[heaps - 1 - i] == g[heaps - 1 - i - p]);
                let least = (1..(heaps + 1).saturating_sub(farthest)).find(proves);
                let found = proved(&g, farthest);
                assert_eq!(found.map(|found| found.period), least, "{g:?}, {farthest}");
                if let Some(Period { period, preperiod }) = found {
                    assert!((preperiod..heaps - period).all(|n| g[n] == g[n + period]), "{g:?}, {farthest}");
                    assert!(preperiod == 0 || g[preperiod - 1] != g[preperiod - 1 + period], "{g:?}, {farthest}");
                }
            }
        }
        for farthest in [0, 1, 5, usize::MAX] {
            assert_eq!([proved(&[], farthest), proved(&[0], farthest)], [None, None]);
        }
        assert_eq!(proved(&[0, 0], 0), Some(Period { period: 1, preperiod: 0 }), "no move at all");
    }

    /// Cancels each of the three parts of the kernel: the prefix, the search for a period, the copies.
    #[test]
    fn a_cancelled_run_ends_within_a_block() {
        let input = Subtraction::of_moves(vec![1, 2, 500_000], 30_000_000);
        let run = Run::new(1);
        run.cancel();
        let kernels: [Values; 3] = [pull_words::run, shifted_sets::run, stamp::run];
        for values in kernels {
            let prefix = run.counted_apart();
            assert_eq!(values(&input, &prefix).err(), Some(RunError::Cancelled));
            assert!(prefix.done() <= PROGRESS_STEP as u64, "{} heaps", prefix.done());
        }
        assert_eq!(super::run(&input, &run), Err(RunError::Cancelled));

        // No period, a period that is found at once and starts far back, and a period that is found late.
        let late: Vec<u16> = (0..100_000).map(|n| (n / 50_000) as u16).collect();
        let zeros = vec![0; 100_000];
        for (g, farthest) in [(&late, 50_001), (&zeros, 1), (&zeros, 90_000)] {
            assert_eq!(super::period(g, farthest, &run), Err(RunError::Cancelled), "{farthest}");
        }
        for period in [1, 3, 70_000] {
            let run = Run::new(1);
            run.cancel();
            assert_eq!(repeat(&mut vec![0; 140_000], period, 3_000_000, &run), Err(RunError::Cancelled));
            assert!(run.done() <= 140_000 + COPY_STEP as u64, "{} heaps", run.done());
        }
    }

    /// And only the last period: the values before it need not repeat.
    #[test]
    fn values_are_repeated_to_the_last_heap() {
        for period in [1, 2, 3, 1000, COPY_STEP - 1, COPY_STEP, COPY_STEP + 1, 2 * COPY_STEP + 5] {
            for heaps in [2 * period, 2 * period + 1, 7 * COPY_STEP + 3] {
                let run = Run::new(1);
                let value = |n: usize| if n == 0 { u16::MAX } else { ((n - 1) % period % 60_000) as u16 };
                let mut g: Vec<u16> = (0..2 * period + 1).map(value).collect();
                let heaps = heaps.max(g.len());
                assert_eq!(repeat(&mut g, period, heaps, &run), Ok(()));
                assert!(g.len() == heaps && run.done() == heaps as u64);
                assert!(g.iter().enumerate().all(|(n, v)| *v == value(n)), "period {period}, {heaps} heaps");
            }
        }
    }
}
