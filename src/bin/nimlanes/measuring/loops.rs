//! Machine code of x86-64: how its instructions read, and the loops in it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use iced_x86::{FlowControl, Formatter, GasFormatter, Instruction, OpKind};

/// Formats instructions as an assembler takes them, but for the place that they jump to or call.
pub fn text() -> impl FnMut(&Instruction) -> String {
    let mut formatter = GasFormatter::new();
    let options = formatter.options_mut();
    options.set_rip_relative_addresses(true);
    options.set_uppercase_hex(false);
    options.set_branch_leading_zeros(false);
    move |instruction| {
        let mut text = String::new();
        formatter.format(instruction, &mut text);
        text
    }
}

/// Whether an instruction names the place that it jumps to or calls.
pub fn names_target(instruction: &Instruction) -> bool {
    instruction.op_count() == 1 && instruction.op0_kind() == OpKind::NearBranch64
}

/// A loop: what a jump backwards spans. Jumps to the same place make one loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its instructions.
    pub body: RangeInclusive<usize>,
    /// The counts in it.
    pub count: u64,
    /// Those in no smaller loop.
    pub own: u64,
}

/// The loop with the greatest count outside of smaller ones, in instructions by address with the count of each. Of two that are equal, the
/// first.
pub fn hottest(code: &[(Instruction, u64)]) -> Option<Span> {
    let index: HashMap<u64, usize> = code.iter().enumerate().map(|(place, (it, _))| (it.ip(), place)).collect();
    let mut last = BTreeMap::new();
    for (place, (it, _)) in code.iter().enumerate().filter(|(_, (it, _))| names_target(it)) {
        let first = index.get(&it.near_branch_target()).filter(|first| **first <= place);
        if let Some(&first) = first.filter(|_| it.flow_control() != FlowControl::Call) {
            last.insert(first, place);
        }
    }
    // Functions that jump back to one another at their ends are no loop.
    let returns = |(it, count): &(Instruction, u64)| *count > 0 && it.flow_control() == FlowControl::Return;
    let bodies = last.into_iter().map(|(first, last)| first..=last);
    let bodies = bodies.filter(|body| !code[body.clone()].iter().any(returns));
    let mut found: Vec<Span> = bodies.map(|body| Span { body, count: 0, own: 0 }).collect();
    for (place, (_, count)) in code.iter().enumerate() {
        let mut around: Vec<&mut Span> = found.iter_mut().filter(|span| span.body.contains(&place)).collect();
        around.iter_mut().for_each(|span| span.count += count);
        if let Some(smallest) = around.into_iter().min_by_key(|span| span.body.end() - span.body.start()) {
            smallest.own += count;
        }
    }
    let hot = found.into_iter().filter(|span| span.count > 0);
    hot.min_by_key(|span| (Reverse(span.own), *span.body.start()))
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions};

    use super::*;

    /// Ten instructions of five bytes, with these jumps. The one at 6 is a call.
    fn code(jumps: &[(i32, i32)], counts: &[(usize, u64)]) -> Vec<(Instruction, u64)> {
        let bytes: Vec<u8> = (0..10)
            .flat_map(|place: i32| match jumps.iter().find(|(from, _)| *from == place) {
                Some((_, to)) => {
                    let [a, b, c, d] = (5 * (to - place - 1)).to_le_bytes();
                    [if place == 6 { 0xe8 } else { 0xe9 }, a, b, c, d]
                }
                None => [0x0f, 0x1f, 0x44, 0, 0],
            })
            .collect();
        let count = |place| counts.iter().find(|(at, _)| *at == place).map_or(0, |(_, count)| *count);
        let decoded = Decoder::with_ip(64, &bytes, 0x1000, DecoderOptions::NONE).into_iter().enumerate();
        decoded.map(|(place, it)| (it, count(place))).collect()
    }

    #[test]
    fn the_loop_with_the_most_is_found() {
        let jumps = [(1, 9), (5, 3), (4, 3), (6, 1), (8, 2), (9, 0)];
        assert_eq!(code(&jumps, &[]).len(), 10);
        let found = |counts| hottest(&code(&jumps, counts));
        assert_eq!(found(&[(4, 60), (7, 30), (9, 10)]), Some(Span { body: 3..=5, count: 60, own: 60 }));
        // A small loop within does not hide the one around it.
        assert_eq!(found(&[(4, 20), (7, 70), (9, 10)]), Some(Span { body: 2..=8, count: 90, own: 70 }));
        assert_eq!(found(&[(1, 0)]), None);
    }

    #[test]
    fn no_loop_goes_through_a_return() {
        let mut code = code(&[(9, 0)], &[(1, 5)]);
        assert!(hottest(&code).is_some());
        code[5] = (Decoder::new(64, &[0xc3], DecoderOptions::NONE).decode(), 1);
        assert_eq!(hottest(&code), None);
    }
}
