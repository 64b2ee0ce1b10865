//! Loops of machine code, by the jumps in it.

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
    let span = |(first, last): (usize, usize)| {
        let samples = instructions[first..=last].iter().filter_map(|it| samples.get(&it.address)).sum();
        Span { first, last, samples }
    };
    last.into_iter().map(span).filter(|found| found.samples > 0).collect()
}

/// The loops that hold most of their samples outside of smaller ones: no loop within holds more than a third.
pub fn innermost(loops: &[Span]) -> Vec<Span> {
    let holds = |outer: &Span, inner: &Span| {
        let is_within = outer.first <= inner.first && inner.last <= outer.last && inner != outer;
        is_within && 3 * inner.samples > outer.samples
    };
    loops.iter().filter(|outer| !loops.iter().any(|inner| holds(outer, inner))).copied().collect()
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
    fn the_innermost_loop_with_the_samples_is_found() {
        let code = code(&[(1, 9), (5, 3), (4, 3), (6, 1), (8, 2), (9, 0)]);
        let found = loops(&code, &HashMap::from([(4, 60), (7, 30), (9, 10)]));
        let spans: Vec<_> = found.iter().map(|it| (it.first, it.last, it.samples)).collect();
        assert_eq!(spans, [(0, 9, 100), (2, 8, 90), (3, 5, 60)]);
        assert_eq!(innermost(&found), [found[2]]);
        // A small loop within does not hide the one around it.
        let found = loops(&code, &HashMap::from([(4, 20), (7, 70), (9, 10)]));
        assert_eq!(innermost(&found), [found[1], found[2]]);
    }
}
