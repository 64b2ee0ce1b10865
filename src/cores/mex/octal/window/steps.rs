//! Windows in a run that keeps all values.

use super::super::drive::{Alone, Step, Steps};
use super::super::inner::Inner;
use super::super::lanes::Sparse;
use super::super::period::Watch;
use super::super::values::Values;
use super::{CHUNK, CODES, End, Lanes, Window};

/// Chunks of common heaps by a window while no heap is rare; else blocks on this thread.
pub struct Windowed<'l, L> {
    lanes: &'l L,
    window: Option<Window>,
    /// The value of each code, for heaps of even and of odd number.
    values: [[u16; CODES]; 2],
    /// From this heap on a window is tried, or made anew.
    from: usize,
}

impl<'l, L: Lanes> Windowed<'l, L> {
    pub fn new(lanes: &'l L) -> Self {
        Windowed { lanes, window: None, values: [[0; CODES]; 2], from: 0 }
    }

    /// The window of the heaps so far.
    fn make(&mut self, sparse: &Sparse, n: usize) {
        self.window = Window::new(sparse.window_parts(n), self.lanes);
        self.from = if self.window.is_some() { 4 * n } else { n + n / 8 };
        if let Some(window) = &self.window {
            self.values = [0, 1].map(|odd| std::array::from_fn(|code| window.coder().common(odd, code as u8)));
        }
    }
}

impl<'a, L: Lanes> Steps<'a> for Windowed<'_, L> {
    #[inline(always)]
    fn step(&mut self, sparse: &mut Sparse<'a>, values: &mut Values, watch: &Watch, inner: &impl Inner) -> Step {
        let n = values.known.len();
        if n >= self.from {
            self.make(sparse, n);
        }
        let Some(window) = &mut self.window else { return Alone.step(sparse, values, watch, inner) };
        if values.heaps < n + CHUNK {
            (self.window, self.from) = (None, usize::MAX);
            return Alone.step(sparse, values, watch, inner);
        }
        let mut end = window.compute(&mut sparse.codes, n, self.lanes);
        if end.is_ok() {
            let (codes, known) = (&sparse.codes, &mut values.known);
            let of = |(heap, code): (usize, &u8)| self.values[heap % 2][usize::from(*code) % CODES];
            known.extend((n..).zip(&codes[n..n + CHUNK]).map(of));
            let coder = window.coder();
            let is_reached = |heap, code| sparse.is_reached(heap, known, coder.rare(heap, code));
            end = window.verify(codes, n, n % 2, self.lanes, is_reached);
        }
        if let Err(end) = end {
            // The next heap is rare, or its code too large, and other blocks take it from here.
            if let End::Open(heap, _) = end {
                values.known.truncate(heap);
            }
            sparse.recount(&values.known);
            (self.window, self.from) = (None, values.known.len() + values.known.len() / 8);
            return Alone.step(sparse, values, watch, inner);
        }
        values.advance()?;
        Ok(Ok(()))
    }
}
