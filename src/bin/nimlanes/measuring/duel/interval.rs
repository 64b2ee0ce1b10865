//! How exactly a ratio of times is known: a hierarchical bootstrap over processes and the rounds within them.

use fastrand::Rng;

use super::quantile;

/// A duel of fewer rounds has few: its ranges are nearly all that was measured.
pub const FEW_ROUNDS: usize = 10;

/// The share of intervals that should hold the true ratio.
pub const CONFIDENCE: f64 = 0.99;

/// Duels that are drawn: the interval leaves out the five smallest and the five largest ratios.
const DRAWS: usize = 1000;

/// A ratio that is observed in rounds of several processes, and an interval for it: `[low, ratio, high]`. The ratio is the mean of
/// the medians of the processes, without a fifth of them at either end: one process with an odd layout does not decide.
///
/// For the interval, duels are drawn that might have been: of as many processes, drawn from those that were, each with as many
/// rounds, drawn from its own. The draws are the same each time. With few processes it is too narrow, most of all with one, whose
/// layout is then taken for the only one. `profiles/tables/calibration.md` has how often it was wrong.
pub fn interval(processes: &[Vec<f64>]) -> [f64; 3] {
    let of = |rounds: Vec<f64>| quantile(&mut { rounds }, 0.5);
    let ratio = middle(processes.iter().map(|rounds| of(rounds.clone())).collect());
    let mut draw = Rng::with_seed(0);
    let mut one = |_| {
        let process = |_| {
            let rounds = &processes[draw.usize(..processes.len())];
            of(rounds.iter().map(|_| rounds[draw.usize(..rounds.len())]).collect())
        };
        middle((0..processes.len()).map(process).collect())
    };
    let mut ratios: Vec<f64> = (0..DRAWS).map(&mut one).collect();
    let outside = (1.0 - CONFIDENCE) / 2.0;
    let [low, high] = [outside, 1.0 - outside].map(|q| quantile(&mut ratios, q));
    [low.min(ratio), ratio, high.max(ratio)]
}

/// The geometric mean without a fifth of the ratios at either end.
fn middle(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_unstable_by(f64::total_cmp);
    let out = ratios.len() / 5;
    let kept = &ratios[out..ratios.len() - out];
    (kept.iter().map(|ratio| ratio.ln()).sum::<f64>() / kept.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_that_is_always_the_same_is_known_exactly() {
        let [low, _, high] = interval(&vec![vec![1.5; 7]; 5]);
        assert!((low - 1.5).abs() < 1e-12 && (high - 1.5).abs() < 1e-12, "{low} {high}");
    }

    /// Rounds that agree within each process do not hide that processes differ.
    #[test]
    fn what_differs_from_process_to_process_is_not_known_from_more_rounds() {
        let processes: Vec<Vec<f64>> = [0.98, 0.99, 1.0, 1.01, 1.02].map(|ratio| vec![ratio; 40]).to_vec();
        let [low, ratio, high] = interval(&processes);
        assert!((ratio - 1.0).abs() < 1e-4, "{ratio}");
        // The ends may be the extreme processes, but for the rounding of logarithms.
        let [least, most] = [0.98 - 1e-9, 1.02 + 1e-9];
        assert!((least..0.99).contains(&low) && (1.01..most).contains(&high), "{low} {high}");
    }

    #[test]
    fn one_odd_process_does_not_decide() {
        let mut processes = vec![vec![1.0; 7]; 5];
        processes[3] = vec![2.3; 7];
        let [low, ratio, high] = interval(&processes);
        assert!(low == 1.0 && ratio == 1.0 && high > 1.2, "{low} {ratio} {high}");
    }

    /// Ratios that come from one distribution: the interval is wrong about as often as it states, and somewhat more often.
    #[test]
    fn most_intervals_hold_the_true_ratio() {
        let mut draw = Rng::with_seed(1);
        // The sum of twelve uniform numbers is nearly normal: a standard deviation of 1 % in all.
        let mut noise = |scale: f64| {
            let sum: f64 = (0..12).map(|_| draw.f64()).sum();
            scale * (sum - 6.0)
        };
        let mut wrong = 0;
        for _ in 0..100 {
            let processes: Vec<Vec<f64>> = (0..10)
                .map(|_| {
                    let layout = noise(0.003);
                    (0..8).map(|_| (layout + noise(0.01)).exp()).collect()
                })
                .collect();
            let [low, _, high] = interval(&processes);
            wrong += usize::from(!(low..=high).contains(&1.0));
        }
        assert!(wrong <= 8, "{wrong} of 100");
    }
}
