//! What changed between two saved duels.

use nimlanes::cores::operation;
use nimlanes::kernel::case::Case;
use serde::Serialize;

use super::{Duel, TIE};
use crate::files::saved::{Measured, Mismatch, Saved};

impl Measured for Duel {
    const KIND: &'static str = "duel";
}

/// How one kernel changed between two duels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The kernel.
    pub kernel: String,
    /// The kind of change.
    pub verdict: Verdict,
    /// Its ratio before.
    pub before: Option<f64>,
    /// Its ratio after.
    pub after: Option<f64>,
}

/// How a kernel's ratio changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The ratio rose by more than the noise.
    Faster,
    /// The ratio fell by more than the noise.
    Slower,
    /// No significant change: the ranges overlap, or the medians differ by at most [`TIE`].
    Same,
    /// Only the later duel has the kernel.
    Added,
    /// Only the earlier duel has the kernel.
    Gone,
}

impl Saved<Duel> {
    /// How each kernel changed from this duel to a `later` one, in the order of the later duel.
    ///
    /// A ratio changed if the ranges of the middle 80 % of the rounds do not overlap *and* the medians differ by more than
    /// [`TIE`].
    ///
    /// # Errors
    /// The input, baseline or clock differs; or the machine or build does and `allow_mismatch` is false.
    pub fn changes(&self, later: &Saved<Duel>, allow_mismatch: bool) -> Result<Vec<Change>, Mismatch> {
        let (old, new) = (&self.content, &later.content);
        let subject = |duel: &Duel| {
            let Duel { case, baseline, rows, .. } = duel;
            let clock = rows.first().map_or("no", |row| &row.clock);
            format!("{} against {baseline} by the {clock} clock", canonical(case))
        };
        if subject(old) != subject(new) {
            return Err(Mismatch::Subject(format!("{}, not {}", subject(old), subject(new))));
        }
        if !allow_mismatch {
            self.fits(&later.environment)?;
        }
        let find = |duel: &Duel, kernel: &str| duel.rows.iter().find(|row| row.kernel == kernel).cloned();
        let change = |kernel: &String| {
            let (before, after) = (find(old, kernel), find(new, kernel));
            let verdict = match (&before, &after) {
                (None, _) => Verdict::Added,
                (_, None) => Verdict::Gone,
                (Some(a), Some(b)) if b.ratio_low > a.ratio_high && b.ratio > a.ratio * (1.0 + TIE) => Verdict::Faster,
                (Some(a), Some(b)) if b.ratio_high < a.ratio_low && b.ratio * (1.0 + TIE) < a.ratio => Verdict::Slower,
                _ => Verdict::Same,
            };
            let [before, after] = [before, after].map(|row| row.map(|row| row.ratio));
            Change { kernel: kernel.clone(), verdict, before, after }
        };
        let gone = old.rows.iter().filter(|row| find(new, &row.kernel).is_none());
        Ok(new.rows.iter().chain(gone).map(|row| change(&row.kernel)).collect())
    }
}

/// A case by its canonical name. Older files name a workload as it was asked for, be it `@` and a file, which may have changed.
fn canonical(case: &Case) -> Case {
    let is_file = case.workload.starts_with('@');
    let operation = operation(&case.operation).ok().filter(|_| !is_file);
    let named = operation.and_then(|operation| operation.name_of(&case.workload).ok());
    named.map_or_else(|| case.clone(), |workload| Case { workload, ..case.clone() })
}

#[cfg(test)]
mod tests {
    use nimlanes::lab::environment::Environment;
    use nimlanes::machine::Machine;

    use super::*;
    use crate::measuring::duel::example;

    /// A duel with these kernels, each with its ratio between a low and a high one.
    fn duel(rows: &[(&str, [f64; 3])]) -> Saved<Duel> {
        let row = |(kernel, ratio): &(&str, [f64; 3])| example::row(kernel, 0.04 / ratio[1], *ratio);
        let duel = example::duel(rows.iter().map(row).collect());
        Saved::now(Environment::detect(&Machine::detect()), duel)
    }

    #[test]
    fn only_changes_beyond_the_noise_count() {
        let before = duel(&[
            ("faster", [4.9, 5.0, 5.1]),
            ("slower", [4.9, 5.0, 5.1]),
            ("overlapping", [4.0, 5.0, 6.0]),
            ("a_tie", [4.99, 5.0, 5.01]),
            ("gone", [1.0, 1.0, 1.0]),
        ]);
        let after = duel(&[
            ("added", [1.0, 1.0, 1.0]),
            ("faster", [5.2, 5.3, 5.4]),
            ("slower", [4.6, 4.7, 4.8]),
            ("overlapping", [5.9, 7.0, 8.0]),
            ("a_tie", [5.1, 5.2, 5.3]),
        ]);
        let want = [
            ("added", Verdict::Added),
            ("faster", Verdict::Faster),
            ("slower", Verdict::Slower),
            ("overlapping", Verdict::Same),
            ("a_tie", Verdict::Same),
            ("gone", Verdict::Gone),
        ];
        let changes = before.changes(&after, false).expect("the same machine");
        let got: Vec<(&str, Verdict)> = changes.iter().map(|change| (change.kernel.as_str(), change.verdict)).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn duels_that_do_not_match_are_compared_only_on_request() {
        let here = duel(&[("flags", [1.0, 1.0, 1.0])]);
        let mut elsewhere = here.clone();
        elsewhere.environment.cpu = "another".to_owned();
        assert!(matches!(elsewhere.changes(&here, false), Err(Mismatch::Machine(_))));
        assert!(elsewhere.changes(&here, true).is_ok());
        let mut native = here.clone();
        native.environment.build.name = "another".to_owned();
        assert!(matches!(native.changes(&here, false), Err(Mismatch::Build(_))));
        assert!(native.changes(&here, true).is_ok());
        let mut larger = here.clone();
        larger.content.case.size = 1000;
        assert!(matches!(larger.changes(&here, true), Err(Mismatch::Subject(_))));
    }

    /// Older files name an input as it was asked for.
    #[test]
    fn an_input_is_the_same_by_any_of_its_names() {
        let of = |workload: &str| {
            let mut duel = duel(&[("flags", [1.0, 1.0, 1.0])]);
            duel.content.case.workload = workload.to_owned();
            duel
        };
        assert!(of("1,2,3").changes(&of("1..3"), false).is_ok());
        for other in ["1,2,4", "@moves.txt"] {
            assert!(matches!(of(other).changes(&of("1..3"), false), Err(Mismatch::Subject(_))), "{other}");
        }
    }

    /// Files from before there were several processes.
    #[test]
    fn a_duel_that_names_no_processes_is_of_one_layout() {
        let mut several = duel(&[("flags", [1.0, 1.0, 1.0])]).content;
        several.processes = 2;
        assert_eq!(several.layouts(), "2 processes");
        let mut old = serde_json::to_value(several).expect("JSON");
        for field in ["processes", "disturbed"] {
            assert!(old.as_object_mut().and_then(|fields| fields.remove(field)).is_some(), "{field}");
        }
        let old: Duel = serde_json::from_value(old).expect("a duel");
        assert_eq!((old.processes, old.layouts().as_str()), (1, "one process, so one layout"));
    }
}
