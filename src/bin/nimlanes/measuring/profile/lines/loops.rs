//! Finds the loop that holds the most samples.

use std::collections::{BTreeMap, HashMap};

use super::disassembly::{Instruction, Program, assembly};
use super::tools::mca;
use crate::measuring::profile::hot_loop::{HotLoop, Step};

/// A loop within the instructions of a function, by the indices of its first and its last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    first: usize,
    last: usize,
    samples: u64,
}

/// The hottest loop, given the samples at addresses of the program's file, and what tells the line of an address.
///
/// # Errors
/// Why there is none.
pub fn hottest(
    program: &mut Program,
    samples: &HashMap<u64, u64>,
    mut line: impl FnMut(u64) -> String,
) -> Result<HotLoop, String> {
    // Functions by their first address.
    let mut functions = BTreeMap::new();
    for (&address, count) in samples {
        if let Some(function) = program.function(address) {
            functions.entry(function.start).or_insert((function, 0)).1 += count;
        }
    }
    let total: u64 = samples.values().sum();
    let mut best: Option<(Span, Vec<Instruction>)> = None;
    // Most functions hold hardly any samples.
    for (function, _) in functions.into_values().filter(|(_, count)| 50 * count > total) {
        let code = program.instructions(&function)?;
        for found in innermost(&loops(code, samples)) {
            if best.as_ref().is_none_or(|(best, _)| best.samples < found.samples) {
                best = Some((found, code[found.first..=found.last].to_vec()));
            }
        }
    }
    let (_, body) = best.ok_or("no loop holds samples")?;
    let step = |it: &Instruction| Step {
        samples: samples.get(&it.address).copied().unwrap_or(0),
        instruction: it.text.clone(),
        line: line(it.address),
    };
    Ok(HotLoop { steps: body.iter().map(step).collect(), model: mca(&assembly(&body)) })
}

/// The loops with samples: what a jump backwards spans. Jumps to the same place make one loop.
fn loops(instructions: &[Instruction], samples: &HashMap<u64, u64>) -> Vec<Span> {
    let index: HashMap<u64, usize> = instructions.iter().enumerate().map(|(i, it)| (it.address, i)).collect();
    let mut last = BTreeMap::new();
    for (i, it) in instructions.iter().enumerate().filter(|(_, it)| !it.is_call) {
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
fn innermost(loops: &[Span]) -> Vec<Span> {
    let holds = |outer: &Span, inner: &Span| {
        let is_within = outer.first <= inner.first && inner.last <= outer.last && inner != outer;
        is_within && 3 * inner.samples > outer.samples
    };
    loops.iter().filter(|outer| !loops.iter().any(|inner| holds(outer, inner))).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten instructions at the addresses 0 to 9, with these jumps.
    fn code(jumps: &[(u64, u64)]) -> Vec<Instruction> {
        let goes_to = |address| jumps.iter().find(|(from, _)| *from == address).map(|(_, to)| *to);
        let one = |address| Instruction { address, text: String::new(), goes_to: goes_to(address), is_call: false };
        (0..10).map(one).collect()
    }

    #[test]
    fn the_innermost_loop_with_the_samples_is_found() {
        let code = code(&[(1, 9), (5, 3), (4, 3), (8, 2), (9, 0)]);
        let found = loops(&code, &HashMap::from([(4, 60), (7, 30), (9, 10)]));
        let spans: Vec<_> = found.iter().map(|it| (it.first, it.last, it.samples)).collect();
        assert_eq!(spans, [(0, 9, 100), (2, 8, 90), (3, 5, 60)]);
        assert_eq!(innermost(&found), [found[2]]);
        // A small loop within does not hide the one around it.
        let found = loops(&code, &HashMap::from([(4, 20), (7, 70), (9, 10)]));
        assert_eq!(innermost(&found), [found[1], found[2]]);
    }
}
