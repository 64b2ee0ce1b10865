//! Windows in a run that keeps all values.

use super::super::Compiled;
use super::super::blocks::Sparse;
use super::super::drive::{Alone, Step, Steps};
use super::{CHUNK, CODES, End, Loops, Window};
use crate::cores::octal::octal::period::Watch;
use crate::cores::octal::octal::values::Values;

/// Chunks of common heaps by a window while no heap is rare; else blocks on this thread.
pub struct Windowed {
    loops: Loops,
    window: Option<Window>,
    /// The value of each code, for even and for odd heaps.
    values: [[u16; CODES]; 2],
    /// From this heap on a window is tried, or made anew.
    from: usize,
}

impl Windowed {
    pub fn new(loops: Loops) -> Self {
        Windowed { loops, window: None, values: [[0; CODES]; 2], from: 0 }
    }

    /// The window of the heaps so far.
    fn make(&mut self, sparse: &Sparse, n: usize) {
        self.window = Window::new(sparse, n, self.loops);
        self.from = if self.window.is_some() { 4 * n } else { n + n / 8 };
        if let Some(window) = &self.window {
            self.values = window.values();
        }
    }

    /// Computes and verifies a chunk. False if there is no window, or it ends: then other blocks continue from there.
    fn chunk(&mut self, sparse: &mut Sparse, values: &mut Values) -> bool {
        let n = values.known.len();
        if n >= self.from {
            self.make(sparse, n);
        }
        let Some(window) = &mut self.window else { return false };
        if values.heaps < n + CHUNK {
            (self.window, self.from) = (None, usize::MAX);
            return false;
        }
        let mut end = (self.loops.compute)(window, &mut sparse.codes, n);
        if end.is_ok() {
            let (codes, known) = (&sparse.codes, &mut values.known);
            for (heap, code) in (n..).zip(&codes[n..n + CHUNK]) {
                known.push(self.values[heap % 2][usize::from(*code) % CODES]);
            }
            let coder = window.coder;
            let mut is_reached = |heap, code| sparse.is_reached(heap, known, coder.rare(heap, code));
            end = (self.loops.verify)(window, codes, n, n % 2, &mut is_reached);
        }
        let Err(end) = end else { return true };
        // The next heap is rare, or its code too large.
        if let End::Open(heap, _) = end {
            values.known.truncate(heap);
        }
        sparse.space.recount(&values.known);
        (self.window, self.from) = (None, values.known.len() + values.known.len() / 8);
        false
    }
}

impl<'a> Steps<'a> for Windowed {
    fn step(&mut self, sparse: &mut Sparse<'a>, values: &mut Values, watch: &Watch, compiled: Compiled) -> Step {
        if !self.chunk(sparse, values) {
            return Alone.step(sparse, values, watch, compiled);
        }
        values.advance()?;
        Ok(Ok(()))
    }
}
