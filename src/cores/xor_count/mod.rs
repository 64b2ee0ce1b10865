//! **Frequency-count XOR**: how many multisets of heaps have nim-sum 0, counted by Grundy value instead of heap by heap.

pub mod partitions;
pub mod triples;

use crate::kernel::Operation;
use crate::kernel::selection::Selection;
use crate::kernel::workload::{InputError, ValuesError};

/// Computes the Grundy values for an input of this core, by a kernel that runs here even if the machine is a described one. This is
/// not part of what is compared or timed.
fn values_of<O: Operation>(
    input: Result<O::Input, InputError>,
    operation: &'static str,
    selection: &Selection,
) -> Result<O::Output, InputError> {
    let compute = || -> Result<O::Output, ValuesError> {
        let input = input?;
        let kernel = selection.on_this_cpu().kernel::<O>(&input)?;
        Ok(kernel.run(&input, &selection.run())?)
    };
    compute().map_err(|source| InputError::Values { operation, source: Box::new(source) })
}
