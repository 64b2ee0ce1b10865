//! Positions in lexicographic order, though a superband has all of some layers `y`.
//!
//! A superband that ends sorts its own: by counting for each `x`, and by `y` among the few of one `x`. When all have ended, those of
//! one `x` after another are taken from each superband in turn. None can be handed on earlier, because the last superband has some
//! of the first `x`.

use super::{Found, SUPERBAND};
use crate::cores::table_scan::{BATCH_LAYERS, Positions};
use crate::growing;
use crate::kernel::{Run, RunError};
use crate::simd::bits::WORD;

/// Bits of a heap `z`, of which the largest is [`MAX_LIMIT`](crate::cores::table_scan::MAX_LIMIT). Above them is a layer's number in
/// its superband.
const Z_BITS: u32 = u32::BITS - SUPERBAND.ilog2();
const _: () = assert!(crate::cores::table_scan::MAX_LIMIT < 1 << Z_BITS);

/// Positions of the densest layer, divided by the number of heaps, and the least by which their mean is below that in a superband of
/// all layers: observed at 716 to 3000. The density rises to the densest layer and falls from there.
const DENSEST: f64 = 0.29;
const FALL: f64 = 0.16;

/// The positions of one superband as it finds them: `x`, and `y` with `z`.
#[derive(Default)]
pub struct Collected(Vec<[u32; 2]>);

/// The positions of one superband in order.
pub struct Sorted {
    /// The first layer.
    pub y0: usize,
    /// `y - y0` and `z` of each position.
    layers: Vec<u32>,
    /// Where those of each `x` begin, and the end.
    starts: Vec<u32>,
}

/// Bytes of all sorted superbands, and of those that threads collect, given the number of heaps, the layers in a superband, the threads
/// and the positions to each pair of heaps.
pub fn bytes(heaps: usize, layers: usize, threads: usize, density: f64) -> [f64; 2] {
    let (n, layers) = (heaps as f64, layers as f64);
    let most = (DENSEST - FALL * layers / n) * layers * n;
    let sorted = size_of::<u32>() as f64 * (density * n * n + (n + 1.0) * heaps.div_ceil(SUPERBAND) as f64);
    [sorted, growing::bytes::<[u32; 2]>((threads as f64 * most).min(density * n * n))]
}

impl Collected {
    /// Takes what a step has found, given its `t`, the number of the first layer in the superband and the first candidate.
    #[inline(never)]
    pub fn take(&mut self, found: &Found, hits: u64, [t, layer, z0]: [usize; 3]) {
        let mut left = hits;
        while left != 0 {
            let k = left.trailing_zeros() as usize % WORD;
            left &= left - 1;
            growing::push(&mut self.0, [(t - k) as u32, ((layer + k) << Z_BITS | (z0 + found.place(k))) as u32]);
        }
    }

    /// The positions in order, and room for those of another superband.
    pub fn sort(&mut self, y0: usize, layers: usize) -> Sorted {
        let mut starts = vec![0; y0 + layers + 1];
        for [x, _] in &self.0 {
            starts[*x as usize] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut sorted = vec![0; self.0.len()];
        // Each start is the end of its positions, until they are placed.
        for [x, layer] in self.0.drain(..) {
            let end = &mut starts[x as usize];
            *end -= 1;
            sorted[*end as usize] = layer;
        }
        for ends in starts.windows(2) {
            sorted[ends[0] as usize..ends[1] as usize].sort_unstable();
        }
        Sorted { y0, layers: sorted, starts }
    }
}

/// Hands on the positions of all superbands, which ascend by their layers.
pub fn hand_on(heaps: usize, superbands: &[Sorted], run: &Run, sink: &mut Positions) -> Result<(), RunError> {
    let mut positions = Vec::new();
    for x in 0..heaps {
        for Sorted { y0, layers, starts } in superbands {
            let Some([from, to]) = starts.get(x..).and_then(|starts| starts.first_chunk::<2>()) else { continue };
            for layer in &layers[*from as usize..*to as usize] {
                let (y, z) = (*y0 as u32 + (layer >> Z_BITS), layer & (u32::MAX >> SUPERBAND.ilog2()));
                positions.push([x as u32, y, z]);
            }
        }
        sink.extend(&positions);
        positions.clear();
        if (x + 1).is_multiple_of(BATCH_LAYERS) {
            sink.advance(run, 0)?;
        }
    }
    Ok(())
}
