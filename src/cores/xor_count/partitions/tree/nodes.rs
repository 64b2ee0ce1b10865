//! The walk through the nodes of the tree.

use std::ops::Range;

use super::plan::{Part, Plan, Step};
use super::series::{PAD, Signs, add_lanes, arena, dot, stride};
use crate::kernel::{Run, RunError};

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
