//! The rates of kernels, fitted to this machine: `cargo run --release --example fit -- OPERATION [KERNEL ..]`.
//!
//! Times the kernels on all inputs that the benches have, a minute in all, and writes the rates of their predicted times to the table of
//! their crate, `rates.tsv`. If kernels are named, only their lines are written: rates of one machine are compared with one another, so
//! the lines of an operation should be of one machine.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use nimlanes::cores::operation;
use nimlanes::kernel::Run;
use nimlanes::kernel::case::Case;
use nimlanes::kernel::rates::TABLE;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::{AnyOperation, Session};
use nimlanes::kernel::workload::Workload;
use nimlanes::lab::clock::utc_now;
use nimlanes::lab::duel::{Duel, DuelError, DuelOptions, run_duel};
use nimlanes::lab::environment::Environment;
use nimlanes::machine::Machine;
use tempfile::NamedTempFile;

/// How long to measure; the inputs share it evenly.
const BUDGET: Duration = Duration::from_secs(60);

/// A kernel is left out on an input where a run takes more than this share of the time for it.
const LONGEST_RUN: f64 = 0.1;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fit: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let Some(name) = args.next() else {
        return Err("usage: fit OPERATION [KERNEL ..]".into());
    };
    let named: Vec<String> = args.collect();
    let operation = operation(&name)?;
    let machine = Machine::from_env()?;
    if let Some(unknown) =
        named.iter().find(|name| operation.kernels(&machine).iter().all(|kernel| kernel.name != **name))
    {
        return Err(format!("{name} has no kernel `{unknown}`").into());
    }
    let selection = Selection::new(machine).with_threads(1)?;
    let sizes = |workload: &'static Workload| workload.sizes.iter().map(|size| (workload.name, *size));
    let inputs: Vec<(&str, u64)> = operation.workloads().iter().flat_map(sizes).collect();
    let budget = BUDGET / inputs.len() as u32;
    let options = DuelOptions {
        kernels: Vec::new(),
        baseline: None,
        threads: selection.threads(),
        budget,
        time_limit: budget.mul_f64(LONGEST_RUN),
        always_included: Vec::new(),
    };
    let mut duels = Vec::new();
    for (workload, size) in inputs {
        let session = operation.session(&selection, workload, size)?;
        match run_duel(session.as_ref(), &options, &Run::new(options.threads), &mut |_| {}) {
            Ok(duel) => duels.push((session, duel)),
            // All of them take too long on this input.
            Err(DuelError::NoBaseline(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut fitted = fit(&duels, options.threads);
    fitted.retain(|fitted| named.is_empty() || named.contains(&fitted.kernel));
    if fitted.is_empty() {
        return Err("none of these kernels ends a run in a tenth of the time for an input".into());
    }
    write(operation, &fitted, &Environment::detect(&machine).microarchitecture)?;
    for Fitted { kernel, inputs, before, fitted } in fitted {
        let [before, fitted] =
            [before, fitted].map(|Rates { rates, off_by, worst }| format!("{rates:?}, off by {off_by:.2} on {worst}"));
        println!("{kernel}, {inputs} inputs\n    before {before}\n    fitted {fitted}");
    }
    Ok(())
}

/// Writes the lines of these kernels to the table of the operation's crate, beside its other lines.
fn write(operation: &AnyOperation, fitted: &[Fitted], machine: &str) -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the library is a folder of the source tree");
    let source = operation.kernels(&Machine::detect())[0].source();
    let folders = Path::new(&source).ancestors().skip(1).map(|folder| root.join(folder));
    let folder =
        folders.into_iter().find(|folder| folder.join("Cargo.toml").exists()).ok_or("no crate has the kernels")?;
    let date = utc_now();
    let table = std::fs::read_to_string(folder.join(TABLE))?;
    let mut file = NamedTempFile::new_in(&folder)?;
    file.write_all(rewritten(&table, operation.name(), fitted, machine, &date[..10]).as_bytes())?;
    file.persist(folder.join(TABLE))?;
    Ok(())
}

/// The table with new lines for these kernels of an operation, in place of theirs or after the last one.
fn rewritten(table: &str, operation: &str, fitted: &[Fitted], machine: &str, date: &str) -> String {
    let mut lines: Vec<String> = table.lines().map(str::to_owned).collect();
    for Fitted { kernel, fitted, .. } in fitted {
        let rates: Vec<String> = fitted.rates.iter().map(f64::to_string).collect();
        let line = format!("{operation}\t{kernel}\t{}\t{machine}\t{date}", rates.join(" "));
        let is_that = |line: &String| line.starts_with(&format!("{operation}\t{kernel}\t"));
        match lines.iter_mut().find(|line| is_that(line)) {
            Some(before) => *before = line,
            None => {
                let last = lines.iter().rposition(|line| line.starts_with(&format!("{operation}\t")));
                lines.insert(last.map_or(lines.len(), |last| last + 1), line);
            }
        }
    }
    lines.join("\n") + "\n"
}

/// The rates of a kernel before and after the fit.
struct Fitted {
    kernel: String,
    /// The number of inputs on which it was timed.
    inputs: usize,
    /// The rates that the table has.
    before: Rates,
    /// Rates that predict the measured times better.
    fitted: Rates,
}

/// Rates, and how far the times that they predict are off.
struct Rates {
    /// The rates, in the order of the cost.
    rates: Vec<f64>,
    /// On the input where they are farthest off: the larger of predicted and measured time, divided by the smaller.
    off_by: f64,
    /// That input.
    worst: Case,
}

/// The time in ns that rates predict.
type Predict<'s> = dyn Fn(&[f64]) -> f64 + 's;

/// The measured time of a kernel on an input, and the time that rates predict.
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
fn fit(duels: &[(Box<dyn Session>, Duel)], threads: usize) -> Vec<Fitted> {
    let Some((session, _)) = duels.first() else { return Vec::new() };
    let infos = session.kernels().iter().enumerate();
    infos.filter_map(|(kernel, info)| fit_kernel(kernel, info.name, session.rates(kernel), duels, threads)).collect()
}

fn fit_kernel(
    kernel: usize,
    name: &str,
    before: &[f64],
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
    if before.is_empty() || observed.is_empty() {
        return None;
    }
    let rates = |rates: Vec<f64>| {
        let off = |observed: &Observed| observed.error(&rates).abs().exp();
        let worst = observed.iter().max_by(|a, b| off(a).total_cmp(&off(b))).expect("at least one input");
        Rates { off_by: off(worst), worst: worst.case.clone(), rates }
    };
    let fitted = search(before, |rates| observed.iter().map(|observed| observed.error(rates).powi(2)).sum());
    let fitted = fitted.into_iter().map(rounded).collect();
    Some(Fitted {
        kernel: name.to_owned(),
        inputs: observed.len(),
        before: rates(before.to_vec()),
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

    #[test]
    fn lines_are_replaced_or_follow_those_of_their_operation() {
        let rates = |rates: &[f64]| Rates { rates: rates.to_vec(), off_by: 1.0, worst: Case::new("a", "squares", 10) };
        let fitted = |kernel: &str, new: &[f64]| Fitted {
            kernel: kernel.to_owned(),
            inputs: 1,
            before: rates(&[1.0]),
            fitted: rates(new),
        };
        let table =
            "operation\tkernel\trates\tmachine\tdate\na\told\t1\tzen3\t2026-01-01\nb\told\t2\tzen3\t2026-01-01\n";
        let new = rewritten(table, "a", &[fitted("old", &[0.5, 2e6]), fitted("new", &[3.0])], "zen4", "2026-02-02");
        let lines: Vec<&str> = new.lines().skip(1).collect();
        assert_eq!(
            lines,
            ["a\told\t0.5 2000000\tzen4\t2026-02-02", "a\tnew\t3\tzen4\t2026-02-02", "b\told\t2\tzen3\t2026-01-01"]
        );
    }
}
