//! The command line of nimlanes.

fn main() {}
