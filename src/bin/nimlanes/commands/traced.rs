//! `nimlanes traced`, which `run --counters` and `compare --counters` start

use super::arguments::{Target, Threads, kernel};
use crate::measuring::counters::{CountError, steps};
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;

/// Run a kernel once for the process that counts its instructions
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// The kernel
    #[arg(long, value_name = "NAME")]
    kernel: String,
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let selection = Threads::default().selection(Some(1))?.allow_long();
    let session = args.target.session(&selection)?;
    let kernel = kernel(session.as_ref(), &selection, Some(&args.kernel))?;
    steps::perform(session.as_ref(), kernel, &interrupt::run(1)).map_err(|error| match error {
        CountError::Run(error) => error.into(),
        error => Failure::Failed(error.to_string()),
    })
}
