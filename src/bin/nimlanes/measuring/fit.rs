//! The rates of kernels, fitted to measured times.

use nimlanes::kernel::case::Case;
use nimlanes::kernel::session::Session;
use serde::Serialize;

use super::duel::Duel;

/// The rates of a kernel before and after the fit.
#[derive(Debug, Serialize)]
pub struct Fitted {
    /// The kernel.
    pub kernel: String,
    /// The number of inputs on which it was timed.
    pub inputs: usize,
    /// The rates of its line in the list.
    pub listed: Rates,
    /// Rates that predict the measured times better.
    pub fitted: Rates,
}

/// Rates, and how far the times that they predict are off.
#[derive(Debug, Serialize)]
pub struct Rates {
    /// The rates, in the order of the list.
    pub rates: Vec<f64>,
    /// On the input where they are farthest off: the larger of predicted and measured time, divided by the smaller.
    pub off_by: f64,
    /// That input.
    pub worst: Case,
}

/// The time in ns that rates predict.
type Predict<'s> = dyn Fn(&[f64]) -> f64 + 's;

/// What a kernel took on an input, and what rates predict for it.
struct Observed<'s> {
    case: &'s Case,
    ns: f64,
    predict: Box<Predict<'s>>,
}

impl Observed<'_> {
    /// The logarithm of the ratio of the predicted time to the measured one.
    fn error(&self, rates: &[f64]) -> f64 {
        ((self.predict)(rates) / self.ns).ln()
    }
}

/// Fits the rates of each kernel to the duels in which it took part on this many threads. Kernels without rates are left out.
pub fn fit(duels: &[(Box<dyn Session>, Duel)], threads: usize) -> Vec<Fitted> {
    let Some((session, _)) = duels.first() else { return Vec::new() };
    let infos = session.kernels().iter().enumerate();
    infos.filter_map(|(kernel, info)| fit_kernel(kernel, info.name, session.rates(kernel), duels, threads)).collect()
}

fn fit_kernel(
    kernel: usize,
    name: &str,
    listed: &[f64],
    duels: &[(Box<dyn Session>, Duel)],
    threads: usize,
) -> Option<Fitted> {
    let observed = duels.iter().filter_map(|(session, duel)| {
        let row = duel.rows.iter().find(|row| row.kernel == name)?;
        let predict =
            move |rates: &[f64]| session.predict_at(kernel, threads, rates).map_or(f64::INFINITY, |cost| cost.ns);
        Some(Observed { case: &duel.case, ns: row.median_seconds * 1e9, predict: Box::new(predict) })
    });
    let observed: Vec<Observed> = observed.collect();
    if listed.is_empty() || observed.is_empty() {
        return None;
    }
    let rates = |rates: Vec<f64>| {
        let off = |observed: &Observed| observed.error(&rates).abs().exp();
        let worst = observed.iter().max_by(|a, b| off(a).total_cmp(&off(b))).expect("at least one input");
        Rates { off_by: off(worst), worst: worst.case.clone(), rates }
    };
    let fitted = search(listed, |rates| observed.iter().map(|observed| observed.error(rates).powi(2)).sum());
    let fitted = fitted.into_iter().map(rounded).collect();
    Some(Fitted {
        kernel: name.to_owned(),
        inputs: observed.len(),
        listed: rates(listed.to_vec()),
        fitted: rates(fitted),
    })
}

/// Rates near those where `loss` is least, by the pattern search of Hooke and Jeeves in the logarithms of the rates. It needs no
/// derivatives, keeps signs, and leaves a rate alone that changes nothing.
fn search(start: &[f64], loss: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    /// The factors of the steps.
    const FIRST: f64 = 2.0;
    const LAST: f64 = 1.001;
    /// A step has to do this much better.
    const GAIN: f64 = 1e-12;
    let explore = |mut rates: Vec<f64>, factor: f64| {
        let mut least = loss(&rates);
        for i in 0..rates.len() {
            for factor in [factor, factor.recip()] {
                let before = rates[i];
                rates[i] *= factor;
                let now = loss(&rates);
                if now < least - GAIN {
                    least = now;
                    break;
                }
                rates[i] = before;
            }
        }
        (rates, least)
    };
    let (mut best, mut factor) = (start.to_vec(), FIRST);
    while factor > LAST {
        let least = loss(&best);
        let (next, now) = explore(best.clone(), factor);
        if now >= least - GAIN {
            factor = factor.sqrt();
            continue;
        }
        // The same step once more, as long as that helps.
        let further = next.iter().zip(&best).map(|(next, best)| if *best == 0.0 { *next } else { next * next / best });
        let (further, then) = explore(further.collect(), factor);
        best = if then < now { further } else { next };
    }
    best
}

/// A rate to three digits.
fn rounded(rate: f64) -> f64 {
    format!("{rate:.2e}").parse().unwrap_or(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_made_the_times_are_found() {
        let made = [0.2, 7.0, 40.0];
        let time = |rates: &[f64], n: f64| rates[0] * n * n + rates[1] * n + rates[2];
        let sizes = [1.0, 10.0, 30.0, 100.0, 1000.0];
        let loss = |rates: &[f64]| sizes.iter().map(|n| (time(rates, *n) / time(&made, *n)).ln().powi(2)).sum();
        let found = search(&[1.0, 1.0, 1.0], loss);
        for (found, made) in found.iter().zip(made) {
            assert!((found / made - 1.0).abs() < 0.02, "{found} for {made}");
        }
    }

    #[test]
    fn a_rate_that_changes_nothing_is_left_alone() {
        assert_eq!(search(&[3.0, 5.0], |rates| (rates[0] / 3.0).ln().powi(2)), [3.0, 5.0]);
    }
}
