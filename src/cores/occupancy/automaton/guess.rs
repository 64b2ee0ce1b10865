//! The guess from which a run can begin at any heap: a state with the right *balance*.
//!
//! Let `U` be the differences `b - a` that upper positions occupy, and `S` the lines `2b - a` of all positions. Each
//! lower position `(n, m)` takes a difference that is not in `U` and a line `2n - m` that is not in `S`. With `x1` and
//! `x2` as in the certificate, all differences below `x1` are occupied and so are all lines below `x2`. So the number
//! of lower positions is the number of differences below `x1` outside `U`, and also that of lines below `x2` outside
//! `S`, except for the few that were taken above `x1` and `x2`. This is proved, by counting.
//!
//! A run that begins in a wrong state can reach the states of the true run only if that equality holds from the
//! beginning, because no later position changes the difference between the two sides. Observed: if it holds, and all
//! old marks are right, the run does reach them, after some 300 heaps on average, and after more than `t` in about
//! `exp(-t / 350)` of all cases.
//!
//! The balance alone bounds nothing: with every third heap used and no other old marks, two runs with the right balance may repeat every
//! 24 heaps and never meet.
//!
//! `profiles/papers/charge.md` in the source tree has the proofs, and calls the balance *charge*.

use std::ops::Range;

/// A state without its window: `lowers` lower positions have taken exactly the first free slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotBalance {
    /// Lower positions other than `(0,0)`.
    pub lowers: u64,
    /// The first difference that is still free.
    pub x1: u64,
    /// The first line `2n - m` that is still free.
    pub x2: u64,
}

/// `n - x1 - x2` of a guess: that of the true run is about four on average.
const WIDTH: u64 = 4;

/// The balance at heap `n`.
///
/// `differences(x)` and `lines(x)` count the slots `1..x` that no old mark takes: differences outside `U`, lines
/// outside `S`. They are `None` where old marks are not known, and then so is the balance. `near` is an estimate of
/// `x1`; one that is far off costs time. `x1` is looked for within `among`.
pub fn guess(
    n: u64,
    near: u64,
    among: Range<u64>,
    differences: impl Fn(u64) -> Option<u64>,
    lines: impl Fn(u64) -> Option<u64>,
) -> Option<SlotBalance> {
    let (mut low, mut high) = (among.start, among.end.min(n.checked_sub(WIDTH + 1)?));
    if low + 1 >= high {
        return None;
    }
    // Free differences below `x` less free lines below what `x` leaves for `x2`: never falls as `x` grows.
    let surplus = |x: u64| Some(differences(x)? as i64 - lines(n - WIDTH - x)? as i64);
    // The first `x` without a deficit is in `low + 1..=high`. The next `x` is where the surplus points, if that is
    // inside, and otherwise the middle.
    let mut x = near.clamp(low + 1, high - 1);
    while high - low > 1 {
        let surplus = surplus(x)?;
        if surplus < 0 {
            low = x
        } else {
            high = x
        }
        // As `x` moves by two, the surplus changes by three (observed). One more, so that the other side comes nearer
        // as well.
        let step = surplus.unsigned_abs() * 2 / 3 + 1;
        let next = if surplus < 0 { x + step } else { x.saturating_sub(step) };
        x = if low < next && next < high { next } else { low.midpoint(high) };
    }
    let lowers = differences(high)?;
    Some(SlotBalance {
        lowers,
        x1: free_slot(lowers, high, differences)?,
        x2: free_slot(lowers, n - WIDTH - high, lines)?,
    })
}

/// The slot after `count` free ones, at `from` or later.
fn free_slot(count: u64, from: u64, free_below: impl Fn(u64) -> Option<u64>) -> Option<u64> {
    let mut slot = from;
    while free_below(slot + 1)? <= count {
        slot += 1;
    }
    Some(slot)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cores::occupancy::bit_rows::window_certificate;
    use crate::cores::occupancy::{ProportionateNim, Wanted};
    use crate::kernel::Run;

    fn positions(limit: u64) -> Vec<[u64; 2]> {
        let input = ProportionateNim::new(limit).expect("small").finding(Wanted::Positions);
        window_certificate::run(&input, &Run::new(1)).expect("runs to its end").into_list()
    }

    /// The state before heap `n`: its lower positions, and old marks.
    struct State {
        lowers: u64,
        upper: BTreeSet<u64>,
        sums: BTreeSet<u64>,
    }

    impl State {
        fn before(n: u64, positions: &[[u64; 2]]) -> Self {
            let before = || positions.iter().copied().filter(|[a, b]| *a < n && *b > 0);
            let upper: BTreeSet<u64> = before().filter(|[a, b]| *b > 2 * a).map(|[a, b]| b - a).collect();
            let lowers = (before().count() - upper.len()) as u64;
            State { lowers, upper, sums: before().map(|[a, b]| 2 * b - a).collect() }
        }

        fn free_differences(&self, x: u64) -> u64 {
            x - 1 - self.upper.range(..x).count() as u64
        }

        fn free_lines(&self, x: u64) -> u64 {
            x - 1 - self.sums.range(..x).count() as u64
        }
    }

    #[test]
    fn a_guess_has_the_right_charge_wherever_it_begins_to_search() {
        let positions = positions(30_000);
        for n in (300..8000).step_by(61) {
            let state = State::before(n, &positions);
            let at = |near| {
                guess(n, near, 0..n, |x| Some(state.free_differences(x)), |x| Some(state.free_lines(x)))
                    .expect("all is known")
            };
            let balance = at(n / 2);
            let SlotBalance { lowers, x1, x2 } = balance;
            assert!(!state.upper.contains(&x1) && !state.sums.contains(&x2));
            assert_eq!((state.free_differences(x1), state.free_lines(x2)), (lowers, lowers), "n = {n}");
            assert!((x1 + x2).abs_diff(n - WIDTH) < 12, "n = {n}: {balance:?}");
            // The true run is within a few positions.
            assert!(lowers.abs_diff(state.lowers) < 12, "n = {n}: {balance:?}");
            for near in [0, 1, n / 4, n - 1, 2 * n] {
                assert_eq!(at(near), balance, "n = {n} from {near}");
            }
        }
    }

    #[test]
    fn without_old_marks_there_is_no_guess() {
        assert_eq!(guess(1000, 478, 0..1000, |_| None, Some), None);
        assert_eq!(guess(1000, 478, 0..1000, |x| (x < 400).then_some(x), Some), None);
        assert_eq!(guess(1000, 478, 700..701, Some, Some), None);
        assert_eq!(guess(3, 1, 0..3, Some, Some), None);
    }
}
