//! The output by the rules of the game: the value of each heap with each last move.

use super::{Mem0, Output, Tally};

/// For each position, the options are listed and the least number that none of them has is searched.
pub fn output(input: &Mem0) -> Output {
    let mut tally = Tally::default();
    // The values of a heap by its last move, 0 if there was none. A last move above the heap forbids nothing.
    let mut g: Vec<Vec<u32>> = Vec::new();
    for n in 0..input.heaps() {
        let after = |taken: usize| {
            let rest: &Vec<u32> = &g[n - taken];
            rest.get(taken).copied().unwrap_or(rest[0])
        };
        let options: Vec<u32> = (1..=n).map(after).collect();
        let value = |last: usize| {
            let mut is_reached = vec![false; n + 1];
            for (value, _) in options.iter().zip(1..).filter(|(_, taken)| *taken != last) {
                is_reached[*value as usize] = true;
            }
            is_reached.iter().position(|is_reached| !is_reached).expect("there are fewer options than numbers") as u32
        };
        let values: Vec<u32> = (0..=n).map(value).collect();
        tally.exceptions += values.iter().filter(|value| **value != values[0]).count() as u64;
        tally.add(values[0]);
        g.push(values);
    }
    let own: Vec<u32> = g.iter().map(|values| values[0]).collect();
    let is_single = |value: u32| own.iter().filter(|other| **other == value).count() == 1;
    let heaps = own.iter().zip(0..).filter(|(value, _)| is_single(**value));
    tally.output(input, heaps.map(|(value, heap)| (*value, heap)))
}
