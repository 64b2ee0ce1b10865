//! What bounds a kernel: a simulation of the instructions that it executes, beside the cycles that it takes.

use nimlanes::lab::ceilings;
use nimlanes::machine::Machine;
use serde::{Deserialize, Serialize};

use super::figure;
use crate::measuring::loops::Instruction;
use crate::measuring::mca::{assembly, simulate};

/// What `llvm-mca` says of instructions in the order in which they were executed, if all loads hit L1, no load waits for a store, and all
/// branches are predicted. Shares are of the simulated cycles, from 0 to 1, and 1 together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The program, its version and the model of the CPU.
    pub by: String,
    /// Number of instructions that were simulated.
    instructions: usize,
    /// Cycles per unit of work.
    pub cycles: f64,
    /// Cycles per unit of work as measured, by the time and by the frequency of a chain of dependent operations.
    pub measured_cycles: f64,
    /// What the front end takes to hand the instructions out.
    front_end: f64,
    /// Waiting for units that calculate.
    ports: f64,
    /// Waiting for units that load and store.
    loads: f64,
    /// Waiting for results: for a chain of operations.
    chain: f64,
}

impl Bound {
    /// Simulates instructions of a run that has so many per unit of work, and takes so many cycles for it.
    ///
    /// # Errors
    /// Why they cannot be simulated.
    pub(super) fn new(executed: &[Instruction], per_unit: f64, measured_cycles: f64) -> Result<Self, String> {
        // The simulation takes a call for a hundred cycles.
        let is_plain = |it: &&Instruction| !["call", "ret"].iter().any(|not| it.text.starts_with(not));
        let plain: Vec<Instruction> = executed.iter().filter(is_plain).cloned().collect();
        let simulated = simulate(&assembly(&plain), 1)?;
        let cycles = simulated.cycles / executed.len().max(1) as f64 * per_unit;
        let [front_end, ports, loads, chain] = simulated.shares();
        let (by, instructions) = (simulated.by, executed.len());
        Ok(Bound { by, instructions, cycles, measured_cycles, front_end, ports, loads, chain })
    }

    /// What has a share of the cycles.
    pub const SHARES: [&str; 5] = ["front end", "ports", "loads and stores", "chain", "unexplained"];

    /// [`Bound::SHARES`] of the measured cycles. The last is what the simulation leaves: below 0 if it takes longer than the CPU.
    pub fn shares(&self) -> [f64; 5] {
        let explained = self.explained();
        let [front_end, ports, loads, chain] =
            [self.front_end, self.ports, self.loads, self.chain].map(|share| explained * share);
        [front_end, ports, loads, chain, 1.0 - explained]
    }

    /// The simulated cycles as a share of those measured.
    pub fn explained(&self) -> f64 {
        self.cycles / self.measured_cycles
    }

    pub(super) fn text(&self, unit: &str) -> String {
        let Bound { by, instructions, cycles, measured_cycles, .. } = self;
        let shares = Self::SHARES.iter().zip(self.shares());
        let shares: Vec<String> = shares.map(|(name, share)| format!("{name} {:.0} %", 100.0 * share)).collect();
        format!(
            "{by}, of {instructions} instructions from all parts of the run, if loads hit L1 and branches are predicted:\n\
             {} cycles per {unit}; measured: {}. Of these: {}\n",
            figure(*cycles),
            figure(*measured_cycles),
            shares.join(", "),
        )
    }
}

/// By a chain of dependent operations that take a cycle each.
pub(super) fn nanoseconds_of_a_cycle() -> f64 {
    let machine = Machine::detect();
    let chain = ceilings::groups().find(|group| group.kind() == "clock").expect("there is one");
    chain.measure(&machine)[0].ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_what_was_measured() {
        let bound = Bound {
            by: "llvm-mca".to_owned(),
            instructions: 1000,
            cycles: 8.0,
            measured_cycles: 10.0,
            front_end: 0.5,
            ports: 0.25,
            loads: 0.0,
            chain: 0.25,
        };
        let says = "8.00 cycles per heap; measured: 10.0. Of these: front end 40 %, ports 20 %, loads and stores 0 %, chain 20 %, \
                    unexplained 20 %\n";
        assert!(bound.text("heap").ends_with(says), "{}", bound.text("heap"));
    }
}
