//! `nimlanes ceilings`

use nimlanes::lab::ceilings::{Reading, groups};
use nimlanes::machine::Machine;
use nimlanes::units::bytes;

use crate::terminal::failure::Failure;
use crate::terminal::output::{Document, headed, print, print_json_array};

/// Measure the peak rates of this machine: loads, vector operations, stores, random bits, latencies
#[derive(clap::Args)]
#[command(after_help = "Example: nimlanes ceilings --json")]
pub struct Args {
    /// Print JSON: an array with one object per ceiling
    #[arg(long)]
    json: bool,
}

impl Document for Reading {
    const SCHEMA: &'static str = "nimlanes-ceiling-1";
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let machine = Machine::from_env()?;
    let readings: Vec<Reading> = groups().flat_map(|group| group.measure(&machine)).collect();
    if args.json {
        return print_json_array(&readings);
    }
    let row = |reading: &Reading| {
        [
            format!("{}/{}", reading.kind, reading.name),
            if reading.bytes == 0 { "-".to_owned() } else { bytes(reading.bytes as f64) },
            reading.tier.clone(),
            format!("{:.3}", reading.ns),
            reading.median_ns.map_or("-".to_owned(), |ns| format!("{ns:.3}")),
            format!("{:.3}", 1.0 / reading.ns),
            reading.unit.clone(),
        ]
    };
    print(&headed(["ceiling", "buffer", "tier", "ns", "median", "G/s", "unit"], readings.iter().map(row)))
}
