//! **Frequency-count XOR**: how many multisets of heaps have nim-sum 0, counted by Grundy value instead of heap by heap.

pub mod partitions;
pub mod triples;

use crate::kernel::{InputError, Operation, Run};
use crate::machine::Machine;
use crate::selection::Selection;

/// The Grundy values that an input of this core is made of, by the best kernel that this CPU has: they are no part of what is
/// compared or timed.
fn values_of<O: Operation>(
    input: Result<O::Input, InputError>,
    operation: &'static str,
) -> Result<O::Output, InputError> {
    let unknown = |reason: String| InputError::Values { operation, reason };
    let input = input.map_err(|error| unknown(error.to_string()))?;
    let selection = Selection::new(Machine::detect());
    let kernel = selection.kernel::<O>(&input).map_err(|error| unknown(error.to_string()))?;
    kernel.run(&input, &Run::new(selection.threads())).map_err(|stop| unknown(stop.to_string()))
}
