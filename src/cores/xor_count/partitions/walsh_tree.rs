//! The Walsh transform over the nim-sum, computed in a tree. The proof and the details are at [`Plan`].
//!
//! For each character `w`, the partitions form a power series, to which each part is added or subtracted. Characters that agree in
//! their low bits share the parts with small values, so they form a binary tree. Parts that cannot affect the result are skipped,
//! the last class of parts starts from the side where the series is short, and series are trimmed to the terms still needed.
//!
//! Cost: about a sixteenth of the additions of the table that [`super::dp`] fills, for the rules of Scatterstone Nim.
//! Bound: applying a part takes two loads, an addition, a conditional subtraction and a store per vector.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::{Partitions, partition_numbers};
use crate::kernel::threads;
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

pub fn cost(input: &Partitions, _: CostContext) -> Cost {
    tree_cost::<1>(input, 0.22, 25.0)
}

/// The cost at `each` ns per addition and `pass` ns per pass over a series.
pub fn tree_cost<const LANES: usize>(input: &Partitions, each: f64, pass: f64) -> Cost {
    let n = input.total() as f64;
    let additions = input.additions() / 16.0;
    let passes = additions / (0.6 * n + 1.0);
    let one = each * additions + pass * passes;
    Cost { ns: 1000.0 + 30.0 * n + one, bytes: bytes::<LANES>(input, 1) }
}

/// Bytes of the plan and of the series of `threads` threads, for the ruleset that takes the most.
pub fn bytes<const LANES: usize>(input: &Partitions, threads: usize) -> f64 {
    let total = input.total();
    let rulesets = input.values().iter().map(|table| ruleset_bytes::<LANES>(table, total, threads));
    rulesets.fold(0.0, f64::max) + parts_bytes(total)
}

/// Bytes of a ruleset without those of its parts.
pub fn ruleset_bytes<const LANES: usize>(table: &[u32], total: usize, threads: usize) -> f64 {
    let shape = Shape::new(table, total);
    let series = series::<LANES>(shape.bits::<LANES>(), total) + stride::<LANES>(total);
    4.0 * (shape.pair_terms::<LANES>(total) + (threads * series) as f64)
}

/// Bytes of parts: each in its class and as a step, and each partition number in both widths.
pub fn parts_bytes(total: usize) -> f64 {
    46.0 * total as f64
}

/// Words of the series of the nodes above a leaf.
pub fn series<const LANES: usize>(bits: usize, total: usize) -> usize {
    (bits - LANES.ilog2() as usize) * stride::<LANES>(total)
}

/// Words from one series in the arena to the next.
fn stride<const LANES: usize>(total: usize) -> usize {
    (PAD + (total + 1) * LANES).next_multiple_of(16) + 16
}

/// The needs of passes over series of 16 characters, per term: two loads, an addition, a masked subtraction, another subtraction, a
/// minimum and a store. The terms are counted by a dry run of the passes.
pub fn lanes_needs(input: &Partitions) -> Needs {
    const LANES: usize = 16;
    let terms = AtomicU64::new(0);
    let run = Run::new(1);
    let count = |pass: Range<usize>| {
        terms.fetch_add(pass.len() as u64, Relaxed);
    };
    drive::<LANES>(input, 1, |plan, part| leaves::<LANES>(plan, &run, part, |_, _, _, pass, _| count(pass)))
        .expect("the run is not cancelled");
    let terms = terms.into_inner() as f64 / (input.values().len() * input.total()) as f64;
    let bytes = 64.0 * input.total() as f64;
    Needs { loads: 2.0 * terms, logic: 4.0 * terms, cycles: terms, bytes, ..Needs::default() }
}

pub fn run(input: &Partitions, run: &Run) -> Result<Vec<u32>, RunError> {
    drive::<1>(input, 1, |plan, part| {
        leaves::<1>(plan, run, part, |series, size, signs, terms, modulus| {
            add_shifted(series, size, signs, terms, modulus);
        })
    })
}

/// Words of padding before every series, its terms below 0, which vectors may read.
pub const PAD: usize = 16;

/// The size of a part, and its value in the nim-sum.
#[derive(Clone, Copy)]
pub struct Part {
    pub size: usize,
    pub value: usize,
}

/// A part of a node's class.
struct Step {
    part: Part,
    /// The last term of the series that is still needed after this part.
    end: usize,
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
    pub fn new<const LANES: usize>(table: &[u32], total: usize) -> Self {
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
        let bits = shape.bits::<LANES>();
        let Shape { kept, pairs } = shape;
        let mut paired = if pairs.is_some() { classes.swap_remove(kept) } else { Vec::new() };
        if let Some(Part { size: least, .. }) = paired.first().copied() {
            paired.retain(|part| part.size + least <= total);
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
    pub total: usize,
    pub modulus: u32,
    /// Bits of a character.
    pub bits: usize,
    /// Parts of value 0.
    neutral: Vec<Step>,
    /// The classes that nodes add, by bit, each with ascending parts.
    classes: Vec<Vec<Step>>,
    /// The parts of the last class, descending.
    pub last: Vec<Part>,
    /// The parts of the class that can only be used in pairs, ascending, without those that are too large for any.
    pub paired: Vec<Part>,
    /// Sums over the pairs of `paired`, unless the kernel finds them another way.
    pairs: Pairs,
    /// The numbers of partitions of `0..=total / 2`: as a series in the square of `x`, they count partitions into even parts.
    halves: Vec<u32>,
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
    fn bits<const LANES: usize>(&self) -> usize {
        self.kept.max(LANES.ilog2() as usize + 1)
    }

    /// Terms of [`Pairs`].
    fn pair_terms<const LANES: usize>(&self, total: usize) -> f64 {
        let sums = |first: usize| (total + 1 - first).next_multiple_of(LINE / LANES) as f64;
        self.pairs.map_or(0.0, |first| sums(first) * (self.bits::<LANES>() as f64).exp2())
    }
}

impl Plan {
    fn new<const LANES: usize>(table: &[u32], total: usize, modulus: u32) -> Self {
        let Classes { bits, neutral, classes, last, paired } = Classes::new::<LANES>(table, total);
        // Going from the last step to the first, the smallest sum that later steps and the leaf can add.
        let mut rest = least(&last, &paired, total);
        let mut steps = |class: Vec<Part>| {
            let mut steps: Vec<Step> = class
                .into_iter()
                .rev()
                .map(|part| {
                    let end = total.saturating_sub(rest);
                    rest = rest.min(part.size);
                    Step { part, end }
                })
                .collect();
            steps.reverse();
            steps
        };
        let mut classes: Vec<Vec<Step>> = classes.into_iter().rev().map(&mut steps).collect();
        classes.reverse();
        let neutral = steps(neutral);
        let halves = halves(table.len().saturating_sub(1), total / 2, modulus);
        Plan { total, modulus, bits, neutral, classes, last, paired, pairs: Pairs::default(), halves }
    }

    /// Prepares the sums over pairs.
    pub fn pair_up<const LANES: usize>(&mut self) {
        self.pairs = Pairs::new::<LANES>(&self.paired, self.bits, self.total, self.modulus);
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
struct Pairs {
    /// The smallest sum; above the total if there is no pair.
    first: usize,
    /// Indexed by line of sums, character, and sum within the line. The [`LINE`] words of a line are contiguous: sums of one
    /// character or, with lanes, characters of one sum.
    terms: Vec<u32>,
    characters: usize,
}

/// Words to copy together.
const LINE: usize = 16;

impl Pairs {
    fn new<const LANES: usize>(parts: &[Part], bits: usize, total: usize, modulus: u32) -> Self {
        let characters = 1 << bits;
        let first = first_pair(parts, total);
        let sums = LINE / LANES;
        let mut terms = vec![0u32; (total + 1).saturating_sub(first).next_multiple_of(sums) * characters];
        for (i, a) in parts.iter().enumerate() {
            for b in parts[i + 1..].iter().take_while(|b| a.size + b.size <= total) {
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
            if total < modulus as usize {
                line.iter_mut().for_each(|term| *term = term.wrapping_add(modulus & (*term as i32 >> 31) as u32));
            } else {
                line.iter_mut().for_each(|term| *term = i64::from(*term as i32).rem_euclid(i64::from(modulus)) as u32);
            }
        }
        Pairs { first, terms, characters }
    }

    /// Writes the terms of a character, or with lanes, of the characters of all lanes from it on, to a series.
    #[inline(always)]
    fn copy_to<const LANES: usize>(&self, series: &mut [u32], character: usize) {
        let sums = LINE / LANES;
        let to = &mut series[PAD + self.first * LANES..];
        for (to, from) in to.chunks_exact_mut(LINE).zip(self.terms.chunks_exact(self.characters * sums)) {
            to.copy_from_slice(&from[character * sums..][..LINE]);
        }
    }
}

/// Applies a part to a series of one lane: `series[t] += +-series[t - size]` for the terms `t`, descending.
#[inline(always)]
pub fn add_shifted(series: &mut [u32], size: usize, signs: u32, terms: Range<usize>, modulus: u32) {
    /// Terms to copy before they are added, so the addition vectorises although source and target may overlap.
    const BLOCK: usize = 64;
    let subtract = signs & 1 == 1;
    let add = |to: &mut [u32], from: &[u32]| {
        for (to, from) in to.iter_mut().zip(from) {
            let sum = if subtract { *to + modulus - *from } else { *to + *from };
            *to = sum.min(sum.wrapping_sub(modulus));
        }
    };
    let (start, mut end) = (PAD + terms.start, PAD + terms.end);
    let mut from = [0; BLOCK];
    while end >= start + BLOCK {
        from.copy_from_slice(&series[end - BLOCK - size..end - size]);
        add(&mut series[end - BLOCK..end], &from);
        end -= BLOCK;
    }
    let rest = end - start;
    from[..rest].copy_from_slice(&series[start - size..end - size]);
    add(&mut series[start..end], &from[..rest]);
}

/// Calls `apply` with block `i` and block `i - back` for all `i` in `blocks`, descending.
#[inline(always)]
pub fn descend<const N: usize>(
    series: &mut [[u32; N]],
    back: usize,
    blocks: Range<usize>,
    mut apply: impl FnMut(&mut [u32; N], &[u32; N]),
) {
    // `back` blocks at a time do not overlap their sources: two slices, and no check in the loop.
    let mut end = blocks.end;
    while end > blocks.start {
        let start = blocks.start.max(end.saturating_sub(back));
        let (behind, here) = series.split_at_mut(start);
        let (to, to_fours) = here[..end - start].as_rchunks_mut::<4>();
        let (from, from_fours) = behind[start - back..end - back].as_rchunks::<4>();
        for (to, from) in to_fours.iter_mut().zip(from_fours).rev() {
            let [to0, to1, to2, to3] = to;
            apply(to3, &from[3]);
            apply(to2, &from[2]);
            apply(to1, &from[1]);
            apply(to0, &from[0]);
        }
        to.iter_mut().zip(from).rev().for_each(|(to, from)| apply(to, from));
        end = start;
    }
}

/// The number of products to add up in 64 bits before taking a remainder. Each is a residue below 2^31 times half a word, so below
/// 2^47. Twice as many would still fit, but four times as many would not.
const PRODUCTS: usize = 1 << 16;

/// The sum over `t` in `terms` of term `t` of `a` times term `total - t` of `b`, over all lanes.
#[inline(always)]
fn dot<const LANES: usize>(a: &[u32], b: &[u32], terms: Range<usize>, total: usize, modulus: u32) -> u64 {
    let [a, b] = [a, b].map(|series| series[PAD..].as_chunks::<LANES>().0);
    let (a, b) = (&a[terms.clone()], &b[total + 1 - terms.end..total + 1 - terms.start]);
    let modulus = u64::from(modulus);
    let mut sum = 0;
    for (a, b) in a.chunks(PRODUCTS).zip(b.rchunks(PRODUCTS)) {
        let (mut low, mut high) = ([0u64; LANES], [0u64; LANES]);
        for (a, b) in a.iter().zip(b.iter().rev()) {
            for lane in 0..LANES {
                low[lane] += u64::from(a[lane]) * u64::from(b[lane] & 0xffff);
                high[lane] += u64::from(a[lane]) * u64::from(b[lane] >> 16);
            }
        }
        for (low, high) in low.into_iter().zip(high) {
            sum += (low + ((high % modulus) << 16)) % modulus;
        }
    }
    sum % modulus
}

/// The signs of lanes: bit `i` is set if lane `i` subtracts.
struct Signs([u32; 16]);

impl Signs {
    #[inline(always)]
    fn new<const LANES: usize>() -> Self {
        let lanes = |value: usize| (0..LANES).fold(0, |signs, lane| signs | ((value & lane).count_ones() & 1) << lane);
        Signs(std::array::from_fn(|value| if LANES == 1 { 0 } else { lanes(value) }))
    }

    #[inline(always)]
    fn of(&self, value: usize, character: usize) -> u32 {
        self.0[value % 16] ^ if (value & character).count_ones() % 2 == 1 { u32::MAX } else { 0 }
    }
}

/// Adds or subtracts the terms of all lanes.
#[inline(always)]
fn add_lanes(to: &mut [u32], from: &[u32], signs: u32, modulus: u32) {
    for (lane, (to, from)) in to.iter_mut().zip(from).enumerate() {
        let sum = if signs >> lane & 1 == 1 { *to + modulus - *from } else { *to + *from };
        *to = sum.min(sum.wrapping_sub(modulus));
    }
}

/// Words with room for some series, and the index of the first aligned one.
fn arena<const LANES: usize>(series: usize, total: usize) -> (Vec<u32>, usize) {
    let arena = vec![0; series * stride::<LANES>(total) + 16];
    let aligned = arena.as_ptr().align_offset(64).min(16);
    (arena, aligned)
}

/// The sum, over the characters of some leaves and the lanes of each, of the coefficient of `x^n`.
///
/// `apply(series, size, signs, terms, modulus)` applies a part to a series of `LANES` lanes: `series[t] += +-series[t - size]` for the
/// terms `t`, descending. Lane `i` subtracts if bit `i` of `signs` is set. A series has `LANES` words per term, from word [`PAD`] on,
/// which starts a vector. Other terms in the same vectors may be processed as well: earlier terms do not change, because terms
/// before `terms.start - size` are 0, and later terms are not needed.
#[inline(always)]
pub fn leaves<const LANES: usize>(
    plan: &Plan,
    run: &Run,
    leaves: Range<usize>,
    apply: impl Fn(&mut [u32], usize, u32, Range<usize>, u32),
) -> Result<u64, RunError> {
    let &Plan { total, modulus, bits, .. } = plan;
    let signs = Signs::new::<LANES>();
    // The leaf's other side.
    let (mut arena, aligned) = arena::<LANES>(1, total);
    let other = &mut arena[aligned..][..stride::<LANES>(total)];
    nodes::<LANES>(plan, run, leaves, &apply, |node, character| {
        let mut sum = 0;
        for last_bit in 0..2 {
            let character = character | last_bit << (bits - 1);
            // Without its constant term 1.
            other.fill(0);
            plan.pairs.copy_to::<LANES>(other, character);
            let mut least = plan.pairs.first;
            for Part { size, value } in &plan.last {
                let signs = signs.of(*value, character);
                if size + least <= total {
                    apply(other, *size, signs, size + least..total + 1, modulus);
                }
                add_lanes(&mut other[PAD + size * LANES..][..LANES], &[1; LANES], signs, modulus);
                least = least.min(*size);
            }
            sum += dot::<LANES>(other, node, least..total + 1, total, modulus);
        }
        sum
    })
}

/// Walks the nodes of the tree above some leaves. The result is the sum of `leaf(series, character)` over the leaves, plus the
/// coefficients of `x^n` in the series of all their characters. `character` is without its last bit: a leaf sums over both values
/// of that bit what the last class and pairs add to the series.
#[inline(always)]
pub fn nodes<const LANES: usize>(
    plan: &Plan,
    run: &Run,
    leaves: Range<usize>,
    apply: &impl Fn(&mut [u32], usize, u32, Range<usize>, u32),
    mut leaf: impl FnMut(&[u32], usize) -> u64,
) -> Result<u64, RunError> {
    let &Plan { total, modulus, bits, .. } = plan;
    let lane_bits = LANES.ilog2() as usize;
    let levels = bits - 1 - lane_bits;
    let signs = Signs::new::<LANES>();

    // Rows of the arena: the series of the root and of a node of each level.
    let stride = stride::<LANES>(total);
    let (mut arena, aligned) = arena::<LANES>(levels + 1, total);
    let nodes = &mut arena[aligned..][..(levels + 1) * stride];
    let mut tops = vec![[0; LANES]; levels + 1];

    let step = |series: &mut [u32], top: &mut [u32; LANES], step: &Step, character: usize| {
        let Step { part: Part { size, value }, end } = *step;
        let signs = signs.of(value, character);
        add_lanes(top, &series[PAD + (total - size) * LANES..][..LANES], signs, modulus);
        if end >= size {
            apply(series, size, signs, size..end + 1, modulus);
        }
    };

    let (root, top) = (&mut nodes[..stride], &mut tops[0]);
    for (terms, number) in root[PAD..].as_chunks_mut::<LANES>().0.iter_mut().step_by(2).zip(&plan.halves) {
        *terms = [*number; LANES];
    }
    *top = *root[PAD + total * LANES..].first_chunk().expect("the last term");
    for at in plan.neutral.iter().chain(plan.classes[..lane_bits].iter().flatten()) {
        step(root, top, at, 0);
    }

    let mut sum = 0;
    let count = 1 << levels;
    for number in leaves.clone() {
        // The first level is the highest bit of a leaf number, but in a character the lowest bit above those of the lanes.
        let character = (0..levels).fold(0, |w, level| w | (number >> (levels - 1 - level) & 1) << (lane_bits + level));
        let from = if number == leaves.start { 0 } else { levels - 1 - number.trailing_zeros() as usize };
        for level in from..levels {
            let (above, below) = nodes.split_at_mut((level + 1) * stride);
            let node = &mut below[..stride];
            node.copy_from_slice(&above[level * stride..]);
            tops[level + 1] = tops[level];
            for at in &plan.classes[lane_bits + level] {
                step(node, &mut tops[level + 1], at, character);
            }
        }
        sum += leaf(&nodes[levels * stride..], character);
        sum += 2 * tops[levels].iter().map(|top| u64::from(*top)).sum::<u64>();
        run.advance((total * (number + 1) / count - total * number / count) as u64)?;
    }
    Ok(sum % u64::from(modulus))
}

/// The driver. `leaves` is the function of that name for series of `LANES` lanes; `threads` threads share its work.
#[inline(always)]
pub fn drive<const LANES: usize>(
    input: &Partitions,
    threads: usize,
    leaves: impl Fn(&Plan, Range<usize>) -> Result<u64, RunError> + Sync,
) -> Result<Vec<u32>, RunError> {
    drive_with::<LANES, ()>(input, threads, |plan| plan.pair_up::<LANES>(), |plan, (), part| leaves(plan, part))
}

/// The driver, for `leaves` that share what `prepare` makes once for each ruleset.
#[inline(always)]
pub fn drive_with<const LANES: usize, T: Sync>(
    input: &Partitions,
    threads: usize,
    prepare: impl Fn(&mut Plan) -> T,
    leaves: impl Fn(&Plan, &T, Range<usize>) -> Result<u64, RunError> + Sync,
) -> Result<Vec<u32>, RunError> {
    let modulus = u64::from(input.modulus());
    let half = modulus.div_ceil(2); // the inverse of 2
    let mut counts = Vec::new();
    for table in input.values() {
        let lane_bits = LANES.ilog2() as usize;
        let mut plan = Plan::new::<LANES>(table, input.total(), input.modulus());
        let shared = prepare(&mut plan);
        let all = 0..1 << (plan.bits - 1 - lane_bits);
        let sum = share(threads.min(all.len()), all, |part| leaves(&plan, &shared, part))?;
        counts.push((0..plan.bits).fold(sum % modulus, |sum, _| sum * half % modulus) as u32);
    }
    Ok(counts)
}

/// The sum of `work` over parts of a range, shared by `threads` threads.
fn share(
    threads: usize,
    all: Range<usize>,
    work: impl Fn(Range<usize>) -> Result<u64, RunError> + Sync,
) -> Result<u64, RunError> {
    if threads == 1 {
        return work(all);
    }
    // Parts are small enough for threads to end together, and large enough to share the nodes above them.
    let size = all.len().div_ceil(8 * threads);
    let next = AtomicUsize::new(0);
    let worker = |_| {
        let mut sum = 0;
        loop {
            // Relaxed, because the counter only hands out numbers and orders nothing.
            let start = next.fetch_add(size, Relaxed);
            if start >= all.end {
                return Ok(sum);
            }
            sum += work(start..all.end.min(start + size))?;
        }
    };
    Ok(threads::share(threads, worker)?.into_iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums the largest possible products, at lengths around the chunk size and up to the largest total.
    #[test]
    fn a_dot_product_of_any_length_keeps_its_carries() {
        const MODULUS: u32 = (1 << 31) - 1;
        const LONGEST: usize = super::super::MAX_TOTAL as usize + 1;
        // Residues whose low or high half is as large as possible.
        for [x, y] in
            [[MODULUS - 1, MODULUS - 1], [MODULUS - 1, 0x7ffe_ffff], [0x7ffe_ffff, MODULUS - 1], [MODULUS - 1, 0xffff]]
        {
            let (a, b) = (vec![x; PAD + LONGEST], vec![y; PAD + LONGEST]);
            let around = (16..=20).flat_map(|bits| [(1 << bits) - 1, 1 << bits, (1 << bits) + 1]);
            for length in [0, 1, 3 << 16].into_iter().chain(around) {
                let product = u128::from(x) * u128::from(y) * length as u128 % u128::from(MODULUS);
                assert_eq!(u128::from(dot::<1>(&a, &b, 0..length, LONGEST - 1, MODULUS)), product, "{x} {y} {length}");
            }
        }
    }

    #[test]
    fn a_dot_product_pairs_terms_whose_degrees_add_up_to_the_total() {
        let total = PRODUCTS + 1;
        let series = |value: fn(u32) -> u32| [vec![0; PAD], (0..=total as u32).map(value).collect()].concat();
        let (a, b) = (series(|t| t + 1), series(|t| 3 * t + 2));
        for terms in [0..total + 1, 1..total, 5..6, total..total + 1] {
            let product = |t: usize| (t as u128 + 1) * (3 * (total - t) as u128 + 2);
            let want = terms.clone().map(product).sum::<u128>() % 97;
            assert_eq!(u128::from(dot::<1>(&a, &b, terms, total, 97)), want);
        }
    }
}
