//! How far each superband of [`super`] has come, and how one waits for another.
//!
//! Steps are candidates. A superband runs those of a segment once the one before it has: then no two threads mark the same word, and all
//! that a search depends on is done. `model` checks this for small superbands.

use std::time::Duration;

use crate::kernel::RunError;
use crate::machine::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::machine::sync::{spin_loop, yield_now};

/// Reads of a counter after which a thread sleeps between two reads: it then assumes that the thread of the superband before is
/// itself kept from running.
const SPINS_BEFORE_SLEEP: u32 = 1 << 20;

/// Counters of how far each superband has come.
pub struct Wave {
    done: Vec<AtomicUsize>,
    stopped: AtomicBool,
}

impl Wave {
    /// A wave in which no step of any superband is done.
    pub fn new(superbands: usize) -> Self {
        Wave { done: (0..superbands).map(|_| AtomicUsize::new(0)).collect(), stopped: AtomicBool::new(false) }
    }

    /// Bytes of a wave.
    pub fn bytes(superbands: usize) -> f64 {
        (superbands * size_of::<AtomicUsize>()) as f64
    }

    /// Waits until the superband before number `index` has run the steps below `step`.
    pub fn wait(&self, index: usize, step: usize) -> Result<(), RunError> {
        let Some(before) = index.checked_sub(1) else { return Ok(()) };
        let mut spins = 0_u32;
        while self.done[before].load(Ordering::Acquire) < step {
            if self.stopped.load(Ordering::Relaxed) {
                return Err(RunError::Cancelled);
            }
            spins = spins.saturating_add(1);
            match spins {
                SPINS_BEFORE_SLEEP.. => std::thread::sleep(Duration::from_millis(1)),
                _ if spins.is_multiple_of(64) => yield_now(),
                _ => spin_loop(),
            }
        }
        Ok(())
    }

    /// Records that superband `index` has run its steps below `end`.
    pub fn leave(&self, index: usize, end: usize) {
        self.done[index].store(end, Ordering::Release);
    }
}

/// Guards the share of a thread: if an error or a panic ends it early, other threads stop waiting for its superbands.
pub struct StopOnDrop<'a>(pub &'a Wave);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod model {
    //! The wave in every interleaving: superbands of two layers, words of two bits.
    //!
    //! [`Wave`] is that of the kernels. What a superband reads and marks is written anew, one bit at a time. Loom tracks every
    //! bit and every word: the model panics if a search reads a bit whose mark has not *happened before*, or may be made at
    //! the same time, and if two threads mark a word at the same time.

    use std::array::from_fn;
    use std::ops::Range;
    use std::rc::Rc;

    use loom::cell::Cell;
    use loom::thread;

    use super::{StopOnDrop, Wave};
    use crate::cores::table_scan::{Rule, StoneGame, oracle};
    use crate::kernel::RunError;
    use crate::machine::sync::atomic::Ordering;
    use crate::machine::sync::{explore, explore_without};

    /// Bits of a word.
    const WORD: usize = 2;

    /// A row of marks: words, each of which is also a cell of its own, for loom to know who wrote it.
    struct Row(Vec<(Cell<()>, [Cell<bool>; WORD])>);

    impl Row {
        /// Reads a bit on which something depends.
        fn has(&self, place: usize) -> bool {
            self.0[place / WORD].1[place % WORD].get()
        }

        /// A load and a store of a word.
        fn mark(&self, place: usize) {
            let (word, bits) = &self.0[place / WORD];
            word.set(());
            bits[place % WORD].set(true);
        }
    }

    /// The marks, with the names of [`super::super`].
    struct Marks {
        heaps: usize,
        one: Vec<Row>,
        two: Vec<Row>,
        all: Vec<Row>,
        gap: Vec<Row>,
    }

    impl Marks {
        fn new(heaps: usize) -> Self {
            let row = |_| Row((0..=heaps / WORD).map(|_| (Cell::new(()), from_fn(|_| Cell::new(false)))).collect());
            let [one, two, all, gap] = from_fn(|_| (0..heaps).map(row).collect());
            Marks { heaps, one, two, all, gap }
        }
    }

    /// A superband of at most `L` layers, each of which has a word of its own in a segment of `L` candidates.
    struct Superband<'a, const L: usize> {
        marks: &'a Marks,
        layers: Range<usize>,
        /// Whether the pair of a heap `x` and a layer is used.
        used: Vec<[bool; L]>,
        /// `gap[y]` of the layers.
        rows: Vec<[bool; L]>,
        found: Vec<[u32; 3]>,
    }

    impl<'a, const L: usize> Superband<'a, L> {
        /// Runs all segments, each once the superband before has come as far but for `less` candidates.
        fn run(marks: &'a Marks, index: usize, wave: &Wave, less: usize) -> Vec<[u32; 3]> {
            let wait = |end| wave.wait(index, end).expect("no thread stops");
            let layers = L * index..marks.heaps.min(L * (index + 1));
            let none = vec![[false; L]; marks.heaps];
            let mut superband =
                Superband { marks, layers: layers.clone(), used: none.clone(), rows: none, found: Vec::new() };
            let end = |segment: usize| marks.heaps.min(L * (segment + 1));
            wait(end((layers.end - 1) / L));
            for y in layers.clone() {
                for before in 0..layers.start {
                    superband.used[before][y % L] = marks.one[before].has(y);
                    if marks.two[before].has(y) {
                        superband.mark_gap(y, before);
                    }
                }
            }
            for segment in index..marks.heaps.div_ceil(L) {
                wait(end(segment) - less);
                for x in 0..layers.end {
                    for y in x.max(layers.start)..layers.end {
                        superband.search(x, y, L * segment..end(segment));
                    }
                }
                wave.leave(index, end(segment));
            }
            superband.found
        }

        fn mark_gap(&mut self, y: usize, gap: usize) {
            self.rows[gap][y % L] = true;
            self.marks.gap[y].mark(gap);
        }

        fn search(&mut self, x: usize, y: usize, candidates: Range<usize>) {
            let Marks { one, two, all, gap, .. } = self.marks;
            if self.used[x][y % L] {
                return;
            }
            let is_free = |z: &usize| {
                let by_z = [&one[x], &one[y], &two[y - x]].map(|row| row.has(*z));
                let by_gap = [&gap[x], &all[y - x]].map(|row| row.has(z - y));
                // Reads all of them.
                !by_z.into_iter().chain(by_gap).chain([self.rows[z - x][y % L]]).any(|is_set| is_set)
            };
            let Some(z) = (candidates.start.max(y)..candidates.end).find(is_free) else { return };
            [&one[x], &one[y], &two[y - x]].into_iter().for_each(|row| row.mark(z));
            [&gap[x], &all[y - x]].into_iter().for_each(|row| row.mark(z - y));
            self.mark_gap(y, z - x);
            self.used[x][y % L] = true;
            if z < self.layers.end {
                [x, y].into_iter().for_each(|heap| self.used[heap][z % L] = true);
                self.mark_gap(z, y - x);
            }
            self.found.push([x, y, z].map(|heap| heap as u32));
        }
    }

    /// Finds all positions of `heaps` heaps on `threads` threads, as the driver does, and compares them with the oracle's.
    fn scan<const L: usize>(heaps: usize, threads: usize, less: usize) {
        let superbands = heaps.div_ceil(L);
        let shared = Rc::new((Wave::new(superbands), Marks::new(heaps)));
        let share = move |thread: usize| {
            let (wave, marks) = &*shared;
            let indices = (thread..superbands).step_by(threads);
            indices.flat_map(|index| Superband::<L>::run(marks, index, wave, less)).collect::<Vec<_>>()
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
    fn superbands_on_several_threads() {
        explore("3 superbands of 2 layers, 2 threads", None, || scan::<2>(6, 2, 0));
        explore("4 superbands of 2 layers, 2 threads", Some(3), || scan::<2>(8, 2, 0));
        explore("3 superbands of 2 layers, 3 threads", None, || scan::<2>(5, 3, 0));
    }

    #[test]
    #[should_panic(expected = "Causality violation")]
    fn a_counter_stored_without_release_is_seen() {
        explore_without(Ordering::Release, "release dropped", || scan::<2>(6, 2, 0));
    }

    #[test]
    #[should_panic(expected = "Causality violation")]
    fn a_counter_loaded_without_acquire_is_seen() {
        explore_without(Ordering::Acquire, "acquire dropped", || scan::<2>(6, 2, 0));
    }

    #[test]
    #[should_panic(expected = "Causality violation")]
    fn a_superband_that_follows_too_closely_is_seen() {
        explore("no lag", None, || scan::<2>(6, 2, 2));
    }

    /// A thread that ends early, by an error or a panic.
    #[test]
    fn no_thread_waits_for_one_that_has_ended() {
        explore("a thread ends early", None, || {
            let wave = Rc::new(Wave::new(2));
            let other = Rc::clone(&wave);
            let other = thread::spawn(move || {
                let _unfinished = StopOnDrop(&other);
                other.leave(0, 2);
            });
            // Its end may be seen before its last step.
            let _ = wave.wait(1, 2);
            assert_eq!(wave.wait(1, 4), Err(RunError::Cancelled));
            other.join().expect("no panic");
        });
    }
}
