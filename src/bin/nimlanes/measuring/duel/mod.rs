//! Duels of [`nimlanes::lab::duel`] over several processes, of this build or several.

mod comparison;
mod interval;
mod matches;
mod show;
mod verdict;

use crate::files::saved::Measured;

pub use nimlanes::lab::duel::*;

pub use comparison::Comparison;
pub use matches::{Match, PROCESSES};
pub use verdict::{TIE, Verdict};

impl Measured for Duel {
    const KIND: &'static str = "duel";
}

/// Made-up duels for tests.
#[cfg(test)]
pub mod example {
    use nimlanes::kernel::Claim;
    use nimlanes::kernel::case::Case;

    use super::{Duel, Row};

    /// The times of a kernel, with its ratio between a low and a high one.
    pub fn row(kernel: &str, median_seconds: f64, [ratio_low, ratio, ratio_high]: [f64; 3]) -> Row {
        Row {
            kernel: kernel.to_owned(),
            tier: "portable".to_owned(),
            claim: Claim::Exact.name().to_owned(),
            clock: "thread".to_owned(),
            threads: 1,
            rounds: 20,
            median_seconds,
            ratio,
            ratio_low,
            ratio_high,
            ratio_processes: None,
            slow_mode: None,
            throughput: 1e5 / median_seconds,
            unit: "heap".to_owned(),
        }
    }

    /// Times on some input.
    pub fn duel(rows: Vec<Row>) -> Duel {
        let (case, skipped) = (Case::new("mex_subtraction", "squares", 100), Vec::new());
        let (build, baseline) = ("default".to_owned(), "flags".to_owned());
        Duel { case, build, baseline, processes: 1, disturbed: 0.0, rows, skipped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files from before there were several processes.
    #[test]
    fn a_duel_that_names_no_processes_is_of_one_layout() {
        let mut several = example::duel(vec![example::row("flags", 0.04, [1.0; 3])]);
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
