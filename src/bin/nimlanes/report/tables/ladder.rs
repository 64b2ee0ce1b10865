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
