//! The data that all characters of a ruleset use: which parts matter, and where in the tree each of them is added.

use std::ops::Range;

use super::series::{PAD, Signs, series, stride};
use crate::cores::xor_count::partitions::{Partitions, partition_numbers};

/// Bytes of a ruleset without those of its parts.
pub fn ruleset_bytes(lanes: usize, table: &[u32], total: usize, threads: usize) -> f64 {
    let shape = Shape::new(table, total);
    let series = series(lanes, shape.bits(lanes), total) + stride(lanes, total);
    4.0 * (shape.pair_terms(lanes, total) + (threads * series) as f64)
}

/// Bytes of parts: each in its class and as a step, and each partition number in both widths.
pub fn parts_bytes(total: usize) -> f64 {
    46.0 * total as f64
}

/// The size of a part, and its value in the nim-sum.
#[derive(Clone, Copy)]
pub struct Part {
    pub size: usize,
    pub value: usize,
}

/// A part of a node's class.
pub struct Step {
    pub part: Part,
    /// The last term of the series that is still needed after this part.
    pub end: usize,
}

/// The parts that matter, by class, each ascending but for the last one.
pub struct Classes {
    /// Bits of a character.
    pub bits: usize,
    /// Parts of value 0.
    neutral: Vec<Part>,
    /// The classes that nodes add, by bit.
    classes: Vec<Vec<Part>>,
    /// The parts of the last class, descending.
    pub last: Vec<Part>,
    /// The parts of the class that can only be used in pairs, without those that are too large for any.
    pub paired: Vec<Part>,
}

impl Classes {
    pub fn new(lanes: usize, table: &[u32], total: usize) -> Self {
        let mut neutral = Vec::new();
        let mut classes: Vec<Vec<Part>> = Vec::new();
        for (size, value) in Partitions::parts(table) {
            let part = Part { size, value };
            let Some(class) = value.checked_ilog2() else {
                neutral.push(part);
                continue;
            };
            classes.resize_with(classes.len().max(class as usize + 1), Vec::new);
            classes[class as usize].push(part);
        }
        let shape = Shape::new(table, total);
        let bits = shape.bits(lanes);
        let Shape { kept, pairs } = shape;
        let mut paired = if pairs.is_some() { classes.swap_remove(kept) } else { Vec::new() };
        while let [first, .., last] = &*paired
            && first.size + last.size > total
        {
            paired.pop();
        }
        classes.truncate(kept);
        classes.resize_with(bits, Vec::new);
        let mut last = classes.pop().unwrap_or_default();
        last.reverse();
        Classes { bits, neutral, classes, last, paired }
    }
}

/// The work for one ruleset, the same for all characters.
///
/// **Characters.** The result is `2^-B sum over w of [x^n] prod over s of 1/(1 - e x^s)`, where `e = (-1)^|w & sg(s)|` and `B` is
/// the number of bits of the values. So each character `w` has its own series, in which each part is added or subtracted.
///
/// **Distinct parts.** Since `1/(1 - e x^s) = (1 + e x^s) / (1 - x^2s)`, pairs of equal parts do not affect the nim-sum. The series
/// of all partitions into even parts, `P(x^2)`, is at the root for all characters, and each part is used at most once on top of it.
///
/// **Classes.** Parts are classed by the highest bit of their value.
/// * If the two smallest parts of the highest class add up to more than `n`, the class cannot cancel its bit. The class is
///   skipped, and so is its bit; then the next class is the highest.
/// * If the four smallest parts of the highest remaining class add up to more than `n`, its parts can only be used in pairs. The
///   signs of pairs do not involve the bit of the class, so this bit is skipped too. Sums over pairs are a separate transform, for
///   all characters at once ([`Pairs`]).
/// * The signs of a class depend on the bits of `w` up to its own bit. So the characters form a binary tree with bit 0 at the root.
///   A node holds the series over the classes so far, for all characters below it.
/// * The last class belongs to the leaves, where most of the work is. It is done from the other side: starting from 1 and the
///   pairs, with parts in descending order, so the series has few terms at first. The coefficient of `x^n` in its product with the
///   series of the leaf is a dot product.
///
/// **Trimming.** In a node's series, the part `s` changes only terms from `s` on. Of these, only terms from which the smallest
/// remaining part can still reach `n` are needed. The term `n` itself is kept separately.
pub struct Plan {
    /// Lanes of a series.
    pub lanes: usize,
    pub total: usize,
    pub modulus: u32,
    /// Bits of a character.
    pub bits: usize,
    /// Which lanes subtract.
    pub signs: Signs,
    /// Parts of value 0.
    pub neutral: Vec<Step>,
    /// The classes that nodes add, by bit, each with ascending parts.
    pub classes: Vec<Vec<Step>>,
    /// The parts of the last class, descending.
    pub last: Vec<Part>,
    /// The parts of the class that can only be used in pairs, ascending, without those that are too large for any.
    pub paired: Vec<Part>,
    /// Sums over the pairs of `paired`, unless the kernel finds them another way.
    pub pairs: Pairs,
    /// The numbers of partitions of `0..=total / 2`: as a series in the square of `x`, they count partitions into even parts.
    pub halves: Vec<u32>,
}

/// The classes of parts that matter.
struct Shape {
    /// The number of classes that nodes and leaves add, from bit 0 on.
    kept: usize,
    /// The smallest sum of two parts of the next class, if its parts can only be used in pairs.
    pairs: Option<usize>,
}

impl Shape {
    fn new(table: &[u32], total: usize) -> Self {
        // For each class, the number of parts, and the sums of the smallest two and four parts.
        let mut classes = [(0, 0, 0); u32::BITS as usize];
        for (size, value) in Partitions::parts(table) {
            if let Some(class) = value.checked_ilog2() {
                let (parts, two, four) = &mut classes[class as usize];
                *parts += 1;
                *two += if *parts <= 2 { size } else { 0 };
                *four += if *parts <= 4 { size } else { 0 };
            }
        }
        let last = classes.iter().rposition(|(parts, two, _)| *parts >= 2 && *two <= total);
        match last.map(|last| (last, classes[last])) {
            None => Shape { kept: 0, pairs: None },
            Some((last, (parts, two, four))) if parts < 4 || four > total => Shape { kept: last, pairs: Some(two) },
            Some((last, _)) => Shape { kept: last + 1, pairs: None },
        }
    }

    /// Bits of a character, at least one more than the bits of a lane number.
    fn bits(&self, lanes: usize) -> usize {
        self.kept.max(lanes.ilog2() as usize + 1)
    }

    /// Terms of [`Pairs`].
    fn pair_terms(&self, lanes: usize, total: usize) -> f64 {
        let Some(first) = self.pairs else { return 0.0 };
        (total + 1 - first).next_multiple_of(LINE / lanes) as f64 * (self.bits(lanes) as f64).exp2()
    }
}

impl Plan {
    pub fn new(lanes: usize, table: &[u32], total: usize, modulus: u32) -> Self {
        let Classes { bits, neutral, classes: parts, last, paired } = Classes::new(lanes, table, total);
        // Going from the last step to the first, the smallest sum that later steps and the leaf can add.
        let mut rest = least(&last, &paired, total);
        let mut steps = |class: &[Part]| {
            let step = |part: &Part| {
                let end = total.saturating_sub(rest);
                rest = rest.min(part.size);
                Step { part: *part, end }
            };
            let mut steps: Vec<Step> = class.iter().rev().map(step).collect();
            steps.reverse();
            steps
        };
        let mut classes: Vec<Vec<Step>> = parts.iter().rev().map(|class| steps(class)).collect();
        classes.reverse();
        let neutral = steps(&neutral);
        let halves = halves(table.len().saturating_sub(1), total / 2, modulus);
        let (signs, pairs) = (Signs::new(lanes), Pairs::default());
        Plan { lanes, total, modulus, bits, signs, neutral, classes, last, paired, pairs, halves }
    }

    /// The numbers of all leaves.
    pub fn leaves(&self) -> Range<usize> {
        0..1 << (self.bits - 1 - self.lanes.ilog2() as usize)
    }

    /// Prepares the sums over pairs.
    pub fn pair_up(&mut self) {
        self.pairs = Pairs::new(self.lanes, &self.paired, self.bits, self.total, self.modulus);
    }
}

/// The least sum of parts of the last class, which are descending, or of a pair; above the total if there is none.
pub fn least(last: &[Part], paired: &[Part], total: usize) -> usize {
    last.last().map_or(total + 1, |part| part.size).min(first_pair(paired, total))
}

/// The smallest sum of two parts; above the total if there is none.
fn first_pair(parts: &[Part], total: usize) -> usize {
    if let [a, b, ..] = parts { a.size + b.size } else { total + 1 }
}

/// The numbers of partitions of `0..=limit` into parts of at most `largest`.
fn halves(largest: usize, limit: usize, modulus: u32) -> Vec<u32> {
    if largest >= limit {
        return partition_numbers(limit, modulus);
    }
    let mut numbers = vec![0; limit + 1];
    numbers[0] = 1;
    for part in 1..=largest {
        for m in part..=limit {
            numbers[m] = (numbers[m] + numbers[m - part]) % modulus;
        }
    }
    numbers
}

/// The terms of a class whose parts can only be used two at a time, for all characters.
///
/// A pair of parts with sum `t`, whose values differ by `d` in the bits of a character, counts as `(-1)^|w & d|` for the character
/// `w`. This is a Walsh-Hadamard transform over `d` for each `t`, done for [`LINE`] words at once.
#[derive(Default)]
pub struct Pairs {
    /// The smallest sum; above the total if there is no pair.
    pub first: usize,
    /// Indexed by line of sums, character, and sum within the line. The [`LINE`] words of a line are contiguous: sums of one
    /// character or, with lanes, characters of one sum.
    terms: Vec<u32>,
    characters: usize,
}

/// Words to copy together.
const LINE: usize = 16;

impl Pairs {
    fn new(lanes: usize, parts: &[Part], bits: usize, total: usize, modulus: u32) -> Self {
        let characters = 1 << bits;
        let first = first_pair(parts, total);
        let sums = LINE / lanes;
        let mut terms = vec![0u32; (total + 1).saturating_sub(first).next_multiple_of(sums) * characters];
        for (i, a) in parts.iter().enumerate() {
            for b in &parts[i + 1..] {
                if a.size + b.size > total {
                    break;
                }
                let sum = a.size + b.size - first;
                let difference = (a.value ^ b.value) % characters;
                terms[(sum / sums * characters + difference) * sums + sum % sums] += 1;
            }
        }
        for line in terms.chunks_exact_mut(characters * sums) {
            let mut half = sums;
            while half < line.len() {
                for pair in line.chunks_exact_mut(2 * half) {
                    let (low, high) = pair.split_at_mut(half);
                    for (a, b) in low.iter_mut().zip(high) {
                        (*a, *b) = (a.wrapping_add(*b), a.wrapping_sub(*b));
                    }
                }
                half *= 2;
            }
            // Terms are differences of counts of fewer than `total` pairs, in two's complement.
            for term in line {
                *term = if total < modulus as usize {
                    term.wrapping_add(modulus & (*term as i32 >> 31) as u32)
                } else {
                    i64::from(*term as i32).rem_euclid(i64::from(modulus)) as u32
                };
            }
        }
        Pairs { first, terms, characters }
    }

    /// Writes the terms of a character, or with lanes, of the characters of all lanes from it on, to a series.
    #[inline(always)]
    pub fn copy_to<const LANES: usize>(&self, series: &mut [u32], character: usize) {
        let sums = LINE / LANES;
        let to = &mut series[PAD + self.first * LANES..];
        for (to, from) in to.chunks_exact_mut(LINE).zip(self.terms.chunks_exact(self.characters * sums)) {
            to.copy_from_slice(&from[character * sums..][..LINE]);
        }
    }
}
