//! **Frequency-count XOR**: how many multisets of heaps have nim-sum 0, counted by Grundy value instead of heap by heap.

pub mod partitions;
pub mod triples;

use crate::kernel::{InputError, Operation, Run};
use crate::machine::Machine;
use crate::selection::Selection;

/// The Grundy values that an input of this core is made of, by whatever kernel is best.
fn values_of<O: Operation>(input: &O::Input, operation: &'static str, size: u64) -> Result<O::Output, InputError> {
    let too_large = InputError::TooLarge { operation, size, most: 0 };
    let selection = Selection::new(Machine::detect());
    let kernel = selection.kernel::<O>(input).map_err(|_| too_large.clone())?;
    kernel.run(input, &Run::new(selection.threads())).map_err(|_| too_large)
}
