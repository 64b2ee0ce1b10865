//! The wave in every interleaving: bands of one or two layers, words of two bits.
//!
//! [`Wave`] and [`Turn`](super::Turn) are those of the kernels. What a band reads and marks is written anew, one bit at
//! a time, in the order of [`super::super::antichain`]. Loom tracks every bit and every word: the model panics if a search reads a
//! bit whose mark has not *happened before*, or may be made at the same time, and if two threads mark a word at the
//! same time.

use std::cell::Cell;
use std::rc::Rc;

use loom::cell::UnsafeCell;
use loom::thread;

use super::super::{Rule, StoneGame, oracle};
use super::{StopOnDrop, Wave};
use crate::kernel::RunError;
use crate::machine::sync::atomic::Ordering;
use crate::machine::sync::{explore, explore_without};

/// Bits of a word.
const WORD: usize = 2;

/// A word of marks. The cells hold nothing, but loom knows who has read and written each.
struct Word {
    marked: UnsafeCell<()>,
    bits: [(UnsafeCell<()>, Cell<bool>); WORD],
}

impl Word {
    /// A load and a store.
    fn set(&self, bits: [bool; WORD]) {
        self.marked.with_mut(|_| ());
        for ((access, is_set), bit) in self.bits.iter().zip(bits) {
            if bit {
                access.with_mut(|_| is_set.set(true));
            }
        }
    }
}

/// A row of marks.
struct Row(Vec<Word>);

impl Row {
    fn new(heaps: usize) -> Self {
        let bit = || (UnsafeCell::new(()), Cell::new(false));
        let word = || Word { marked: UnsafeCell::new(()), bits: std::array::from_fn(|_| bit()) };
        Row((0..=heaps / WORD).map(|_| word()).collect())
    }

    /// Reads a bit on which something depends.
    fn has(&self, place: usize) -> bool {
        let (access, is_set) = &self.0[place / WORD].bits[place % WORD];
        access.with(|_| is_set.get())
    }

    fn mark(&self, place: usize) {
        self.0[place / WORD].set(std::array::from_fn(|bit| bit == place % WORD));
    }
}

/// The marks, with the names of [`super::super::antichain::layout`].
struct Marks {
    heaps: usize,
    one: Vec<Row>,
    two: Vec<Row>,
    all: Vec<Row>,
    gap: Vec<Row>,
}

impl Marks {
    fn new(heaps: usize) -> Self {
        let rows = || (0..heaps).map(|_| Row::new(heaps)).collect();
        Marks { heaps, one: rows(), two: rows(), all: rows(), gap: rows() }
    }
}

/// A band of `K` layers.
struct Band<'a, const K: usize> {
    marks: &'a Marks,
    x0: usize,
    layers: usize,
    /// Whether the pair of each step and layer is used.
    used: Vec<[bool; K]>,
    hint: [usize; K],
    found: Vec<[u32; 3]>,
}

impl<'a, const K: usize> Band<'a, K> {
    fn new(marks: &'a Marks, index: usize) -> Self {
        let x0 = index * K;
        let layers = K.min(marks.heaps - x0);
        Band { marks, x0, layers, used: vec![[false; K]; marks.heaps + K], hint: [0; K], found: Vec::new() }
    }

    /// Runs all steps. A band that tells the wave fewer layers than it has would follow too closely.
    fn run(mut self, wave: &Wave, layers_per_band: usize) -> Result<Vec<[u32; 3]>, RunError> {
        let heaps = self.marks.heaps;
        let steps = heaps + self.layers - 1;
        let turn = wave.turn(self.x0 / K, layers_per_band, heaps);
        turn.begin()?;
        self.find_used();
        for block in (self.x0 / WORD * WORD..steps).step_by(WORD) {
            let end = steps.min(block + WORD);
            turn.enter(end)?;
            if block < heaps {
                self.transpose_into_gap(block);
            }
            self.raise_hints();
            (block.max(self.x0)..end).for_each(|t| self.step(t));
            turn.leave(end);
        }
        Ok(self.found)
    }

    fn find_used(&mut self) {
        for k in 0..self.layers {
            let x = self.x0 + k;
            (x..self.marks.heaps).for_each(|y| self.used[y + k][k] = self.marks.one[x].has(y));
        }
    }

    fn transpose_into_gap(&self, c: usize) {
        let heaps = self.marks.heaps;
        let first = (c + 1).saturating_sub(self.x0 + K);
        let last = c + WORD - 1 - self.x0.min(c);
        for d in (first / WORD * WORD..=last.min(c)).step_by(WORD) {
            let has = |d: usize, c: usize| d < heaps && c < heaps && self.marks.two[d].has(c);
            let tile: [[bool; WORD]; WORD] = std::array::from_fn(|i| std::array::from_fn(|j| has(d + j, c + i)));
            if tile.as_flattened().contains(&true) {
                for (c, row) in (c..heaps).zip(tile).skip(self.x0.saturating_sub(c)) {
                    self.marks.gap[c].0[d / WORD].set(row);
                }
            }
        }
    }

    fn raise_hints(&mut self) {
        for (k, hint) in self.hint[..self.layers].iter_mut().enumerate() {
            while *hint < self.marks.heaps && self.marks.gap[self.x0 + k].has(*hint) {
                *hint += 1;
            }
        }
    }

    fn step(&mut self, t: usize) {
        let Marks { heaps, one, two, all, gap } = self.marks;
        let pairs = (0..self.layers).filter(|k| (self.x0 + 2 * k..heaps + k).contains(&t) && !self.used[t][*k]);
        let searched: Vec<_> = pairs
            .map(|k| {
                let (x, y) = (self.x0 + k, t - k);
                let mut candidates = y + self.hint[k]..*heaps;
                let is_free = |z: &usize| {
                    let by_z = [&one[x], &one[y], &two[y - x]].map(|row| row.has(*z));
                    let less_x = [&gap[y], &all[y - x]].map(|row| row.has(z - x));
                    // Reads all of them, whatever they say.
                    !by_z.into_iter().chain(less_x).chain([gap[x].has(z - y)]).any(|is_set| is_set)
                };
                (k, x, y, candidates.find(is_free).unwrap_or(*heaps))
            })
            .collect();
        for (k, x, y, z) in searched {
            [&one[x], &one[y], &two[y - x]].into_iter().for_each(|row| row.mark(z));
            [&gap[y], &all[y - x]].into_iter().for_each(|row| row.mark(z - x));
            gap[x].mark(z - y);
            if z == *heaps {
                continue;
            }
            self.found.push([x, y, z].map(|heap| heap as u32));
            self.used[z + k][k] = true;
            if y < self.x0 + self.layers {
                self.used[z + y - self.x0][y - self.x0] = true;
            }
            if z - y < K {
                gap[z].mark(y - x);
            }
        }
    }
}

/// Finds all positions of `heaps` heaps on `threads` threads, as the driver does, and compares them with the oracle's.
fn scan<const K: usize>(heaps: usize, threads: usize, layers_per_band: usize) {
    let bands = heaps.div_ceil(K);
    let shared = Rc::new((Wave::new(bands), Marks::new(heaps)));
    let share = move |thread: usize| {
        let (wave, marks) = &*shared;
        let bands = (thread..bands).step_by(threads);
        bands
            .flat_map(|index| Band::<K>::new(marks, index).run(wave, layers_per_band).expect("no thread stops"))
            .collect::<Vec<_>>()
    };
    let others: Vec<_> = (1..threads)
        .map(|thread| {
            let share = share.clone();
            thread::spawn(move || share(thread))
        })
        .collect();
    let mut found = share(0);
    others.into_iter().for_each(|other| found.extend(other.join().expect("no panic")));
    found.sort_unstable();
    let mut want = Vec::new();
    let input = StoneGame::new(heaps as u64 - 1, Rule::AllMoves).expect("a small limit");
    oracle::positions(&input, |position| want.push(position));
    assert_eq!(found, want);
}

#[test]
fn bands_of_one_layer() {
    explore("4 bands of 1 layer, 2 threads", None, || scan::<1>(4, 2, 1));
}

#[test]
fn more_bands_of_one_layer() {
    explore("5 bands of 1 layer, 2 threads", Some(3), || scan::<1>(5, 2, 1));
}

#[test]
fn bands_of_two_layers_on_two_threads() {
    explore("3 bands of 2 layers, 2 threads", None, || scan::<2>(5, 2, 2));
}

#[test]
fn bands_of_two_layers_on_three_threads() {
    explore("3 bands of 2 layers, 3 threads", None, || scan::<2>(5, 3, 2));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_counter_stored_without_release_is_seen() {
    explore_without(Ordering::Release, "release dropped", || scan::<2>(6, 2, 2));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_counter_loaded_without_acquire_is_seen() {
    explore_without(Ordering::Acquire, "acquire dropped", || scan::<2>(6, 2, 2));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_band_that_follows_too_closely_is_seen() {
    explore("half the lag", None, || scan::<2>(6, 2, 1));
}

/// A thread that ends early, by an error or a panic of the sink.
#[test]
fn no_thread_waits_for_one_that_has_ended() {
    explore("a thread ends early", None, || {
        let wave = Rc::new(Wave::new(2));
        let other = Rc::clone(&wave);
        let other = thread::spawn(move || {
            let _unfinished = StopOnDrop(&other);
            other.turn(0, 1, 4).leave(2);
        });
        let turn = wave.turn(1, 1, 4);
        // Its end may be seen before its last step.
        let _ = turn.enter(0);
        assert_eq!(turn.enter(2), Err(RunError::Cancelled));
        other.join().expect("no panic");
    });
}
