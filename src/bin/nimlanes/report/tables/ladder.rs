//! The ladder of a duel: the steps from the baseline to the best kernel.

use nimlanes::kernel::session::KernelInfo;

use super::is_ahead;
use crate::measuring::duel::{Duel, Row};

/// A kernel that beats all before it in the list by more than a tie, or is the best of all or the best in plain Rust.
#[derive(Debug)]
pub struct Step<'d> {
    pub kernel: &'d KernelInfo,
    pub row: &'d Row,
    /// How much faster it is than the best step before it; none for the first.
    pub gain: Option<f64>,
}

/// The best kernel in plain Rust of a duel.
pub fn best_plain<'d>(duel: &'d Duel, kernels: &[KernelInfo]) -> Option<&'d Row> {
    duel.rows.iter().find(|row| kernels.iter().any(|kernel| kernel.name == row.kernel && kernel.is_plain()))
}

/// The steps of a duel, in the order of the list of kernels.
pub fn steps<'d>(duel: &'d Duel, kernels: &'d [KernelInfo]) -> Vec<Step<'d>> {
    let row_of = |kernel: &KernelInfo| duel.rows.iter().find(|row| row.kernel == kernel.name);
    let named = [duel.rows.first(), best_plain(duel, kernels)];
    let mut best: Option<&Row> = None;
    let mut steps = Vec::new();
    for (kernel, row) in kernels.iter().filter_map(|kernel| Some((kernel, row_of(kernel)?))) {
        let gain = best.map(|best| row.ratio / best.ratio);
        let leads = best.is_none_or(|best| is_ahead(row.ratio / best.ratio));
        if leads || named.iter().flatten().any(|named| named.kernel == row.kernel) {
            steps.push(Step { kernel, row, gain });
        }
        if leads {
            best = Some(row);
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use nimlanes::cores::OPERATIONS;
    use nimlanes::machine::Machine;

    use super::*;
    use crate::measuring::duel::example;

    #[test]
    fn a_step_beats_all_before_it_or_is_the_best_of_its_kind() {
        let operation = OPERATIONS.iter().find(|operation| operation.name() == "mex_subtraction").expect("it exists");
        let kernels = operation.kernels(&Machine::detect());
        // In the order of the list; `pull_words` leads in plain Rust, but does not beat what comes before it by more than a tie.
        let ratios = [
            ("flags", 1.0),
            ("flags_u128", 0.5),
            ("stamp", 4.0),
            ("pull_words", 4.15),
            ("residue_classes_avx2", 3.9),
            ("byte_lanes_avx512", 8.3),
        ];
        let mut rows: Vec<Row> =
            ratios.iter().map(|(kernel, ratio)| example::row(kernel, 1.0 / ratio, [*ratio; 3])).collect();
        rows.sort_by(|a, b| a.median_seconds.total_cmp(&b.median_seconds));
        let duel = example::duel(rows);
        let found: Vec<(&str, Option<f64>)> =
            steps(&duel, &kernels).iter().map(|step| (step.kernel.name, step.gain)).collect();
        let wanted = [
            ("flags", None),
            ("stamp", Some(4.0)),
            ("pull_words", Some(4.15 / 4.0)),
            ("byte_lanes_avx512", Some(8.3 / 4.0)),
        ];
        assert_eq!(found, wanted);
        assert!(steps(&example::duel(Vec::new()), &kernels).is_empty());
    }
}
