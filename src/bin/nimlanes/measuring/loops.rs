//! Loops of machine code, by the jumps in it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// An instruction of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// In the file, or in a process.
    pub address: u64,
    /// As an assembler takes it, except for the place that it jumps to or calls.
    pub text: String,
    /// The address that it jumps to or calls, if it names one.
    pub goes_to: Option<u64>,
}

/// A loop within the instructions of a function, by the indices of its first and its last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub first: usize,
    pub last: usize,
    pub samples: u64,
    /// The samples that are in no smaller loop.
    pub own: u64,
}

/// The loops with samples: what a jump backwards spans. Jumps to the same place make one loop.
pub fn loops(instructions: &[Instruction], samples: &HashMap<u64, u64>) -> Vec<Span> {
    let index: HashMap<u64, usize> = instructions.iter().enumerate().map(|(i, it)| (it.address, i)).collect();
    let is_call = |it: &Instruction| it.text.starts_with("call") || it.text.starts_with("bl ");
    let mut last = BTreeMap::new();
    for (i, it) in instructions.iter().enumerate().filter(|(_, it)| !is_call(it)) {
        if let Some(&first) = it.goes_to.and_then(|address| index.get(&address)).filter(|&&first| first <= i) {
            last.insert(first, i);
        }
    }
    let mut found: Vec<Span> = last.into_iter().map(|(first, last)| Span { first, last, samples: 0, own: 0 }).collect();
    for (i, it) in instructions.iter().enumerate() {
        let Some(count) = samples.get(&it.address) else { continue };
        let around = || (0..found.len()).filter(|&at| (found[at].first..=found[at].last).contains(&i));
        let smallest = around().min_by_key(|&at| found[at].last - found[at].first);
        for at in around().collect::<Vec<_>>() {
            found[at].samples += count;
        }
        if let Some(at) = smallest {
            found[at].own += count;
        }
    }
    found.retain(|found| found.samples > 0);
    found
}

/// The loop with the most samples outside of smaller ones. Of two that are equal, the first.
pub fn hottest(loops: &[Span]) -> Option<Span> {
    loops.iter().min_by_key(|found| (Reverse(found.own), found.first)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten instructions at the addresses 0 to 9, with these jumps. The one at 6 is a call.
    fn code(jumps: &[(u64, u64)]) -> Vec<Instruction> {
        let goes_to = |address| jumps.iter().find(|(from, _)| *from == address).map(|(_, to)| *to);
        let text = |address| if address == 6 { "call 1" } else { "jmp" };
        (0..10)
            .map(|address| Instruction { address, text: text(address).to_owned(), goes_to: goes_to(address) })
            .collect()
    }

    #[test]
    fn the_loop_with_the_samples_is_found() {
        let code = code(&[(1, 9), (5, 3), (4, 3), (6, 1), (8, 2), (9, 0)]);
        let found = loops(&code, &HashMap::from([(4, 60), (7, 30), (9, 10)]));
        let spans: Vec<_> = found.iter().map(|it| (it.first, it.last, it.samples, it.own)).collect();
        assert_eq!(spans, [(0, 9, 100, 10), (2, 8, 90, 30), (3, 5, 60, 60)]);
        assert_eq!(hottest(&found), Some(found[2]));
        // A small loop within does not hide the one around it.
        let found = loops(&code, &HashMap::from([(4, 20), (7, 70), (9, 10)]));
        assert_eq!(hottest(&found), Some(found[1]));
    }
}
