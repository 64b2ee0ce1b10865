//! `exceptions` in little memory. Option `n` of heap `t` is exceptional only if `2 n >= t`. So tables are windows: the values of
//! heaps below a third of this one are given up, and so are the holders of a value that two heaps below half of it have. Exceptions
//! that change a later block wait in its list, four bytes each, in the order of their heaps, so that their values are read in order. An
//! exception against an old single value is one bit: heap `n` sets it, and heap `2 n - m` reads it.
//!
//! Cost: as for `exceptions`. Memory: 6.5 bytes a heap.
//! Bound: branches that depend on the data, some 25 of which are mispredicted at each heap.

use std::collections::BTreeMap;

use super::changes::{Changes, MOST};
use super::holders::{Holders, MOST_HOLDERS};
use super::tape::Tape;
use super::waiting::Waiting;
use super::{Mem0, Output, Tally};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// The binary logarithm of the heaps of a block, and of the entries of a chunk.
const BITS: u32 = 13;
/// The same up to the limit [`SMALL`], where a run is to take all the ways that a long one takes.
const FEW_BITS: u32 = 4;
const SMALL: u64 = 1 << 12;

/// Rates: the ns of an exception.
pub fn cost(input: &Mem0, _: CostContext, [exception]: [f64; 1]) -> Cost {
    let heaps = input.heaps() as f64;
    let limit = input.limit() as usize;
    let lists = if input.limit() <= SMALL { Waiting::<FEW_BITS>::bytes(limit) } else { Waiting::<BITS>::bytes(limit) };
    // The landings of a block, in lists that double.
    let block = 40.0 * heaps.min((16 << BITS) as f64);
    Cost { ns: exception * input.exceptions(), bytes: 6.5 * heaps + lists as f64 + block + 200_000.0 }
}

pub fn run(input: &Mem0, run: &Run) -> Result<Output, RunError> {
    if input.limit() <= SMALL {
        State::<FEW_BITS>::new(input).run(input, run)
    } else {
        State::<BITS>::new(input).run(input, run)
    }
}

/// The first heap whose value is kept at heap `t`. An exception of heap `n` that lands there is mostly against a heap `2 n - t` from
/// half of `n` on, or a little below it, and so from a third of `t` on, or a little below it.
fn oldest(t: usize) -> usize {
    t / 16 * 5
}

/// Option `heap` of a heap has the value `to` and not `from`, its own.
#[derive(Clone, Copy, Default)]
struct Landing {
    heap: u32,
    from: u32,
    to: u32,
}

/// A value that one heap alone has.
#[derive(Clone, Copy)]
struct Single {
    value: u32,
    heap: u32,
    /// Its trail, if it is old.
    trail: Option<usize>,
}

/// The heaps that have an exception against an old single value: option `n` of heap `2 n - heap` has that value.
struct Trail {
    value: u32,
    heap: u32,
    /// A bit for each heap `n`.
    marks: Tape<u64, MARKS>,
    /// The last heap that is marked.
    last: u32,
}

/// The binary logarithm of the words of a chunk of marks.
const MARKS: u32 = 8;

impl Trail {
    fn mark(&mut self, n: u32) {
        *self.marks.reach(n as usize / 64) |= 1 << (n % 64);
        self.last = n;
    }

    /// The heap whose exception lands at heap `t`.
    #[inline(always)]
    fn lands(&self, t: u32) -> Option<u32> {
        let sum = u64::from(t) + u64::from(self.heap);
        let n = (sum / 2) as u32;
        let word = self.marks.get(n as usize / 64)?;
        (sum % 2 == 0 && word >> (n % 64) & 1 == 1).then_some(n)
    }
}

/// The holders of all values that still matter.
struct Values<const BITS: u32> {
    tape: Tape<Holders, BITS>,
    /// For each chunk, the last heap that was the second one of a value, unless that value is among `late`.
    seconds: Vec<u32>,
    /// Values whose second heap came late, with that heap. They are not to keep a whole chunk.
    late: Vec<(u32, u32)>,
    /// Values below the tape that still matter.
    old: Vec<Old>,
}

struct Old {
    value: u32,
    holders: Holders,
    /// The second heap that has it.
    second: Option<u32>,
}

impl<const BITS: u32> Values<BITS> {
    fn new() -> Self {
        let mut tape = Tape::from(0);
        tape.reach(0);
        Values { tape, seconds: Vec::new(), late: Vec::new(), old: Vec::new() }
    }

    /// The heaps that have a value. Values that two heaps have for ever are given up: that they are neither free nor single is all
    /// that matters, and `Holders::MANY` says it.
    #[inline(always)]
    fn of(&self, value: u32) -> Holders {
        match self.tape.get(value as usize) {
            Some(holders) => *holders,
            None => self.old.iter().find(|old| old.value == value).map_or(Holders::MANY, |old| old.holders),
        }
    }

    /// Adds a heap that has a value. Returns how many there are now.
    #[inline(always)]
    fn add(&mut self, value: u32, heap: u32) -> usize {
        let holders = if value as usize >= self.tape.start() {
            self.tape.reach(value as usize)
        } else {
            let old = self.old.iter_mut().find(|old| old.value == value);
            &mut old.expect("a value that is given up is never free").holders
        };
        holders.add(Holders::own(heap));
        holders.count()
    }

    /// Notes that heap `n` is the second one that has `value`, after `first`.
    fn add_second(&mut self, value: u32, first: u32, n: u32) {
        if let Some(old) = self.old.iter_mut().find(|old| old.value == value) {
            old.second = Some(n);
        } else if n - first > n / 16 {
            self.late.push((value, n));
        } else {
            let chunk = value as usize >> BITS;
            if chunk >= self.seconds.len() {
                self.seconds.resize(chunk + 1, 0);
            }
            self.seconds[chunk] = self.seconds[chunk].max(n);
        }
    }

    /// Gives up what does not matter from heap `n` on: values that two heaps below half of it have. All values below `least` have
    /// holders.
    fn retire(&mut self, n: u32, least: usize) {
        let matters = |second: u32| u64::from(second) * 2 >= u64::from(n);
        loop {
            let start = self.tape.start();
            let end = start + (1 << BITS);
            if end > least || matters(self.seconds.get(start >> BITS).copied().unwrap_or(0)) {
                break;
            }
            let (tape, old) = (&self.tape, &mut self.old);
            for (value, holders) in (start as u32..).zip(tape.front()) {
                if holders.count() == 1 {
                    old.push(Old { value, holders: *holders, second: None });
                }
            }
            self.late.retain(|(value, second)| {
                let is_here = (*value as usize) < end;
                if is_here && matters(*second) {
                    let holders = tape.front()[*value as usize - start];
                    old.push(Old { value: *value, holders, second: Some(*second) });
                }
                !is_here
            });
            self.tape.drop_front();
        }
        self.old.retain(|old| old.second.is_none_or(matters));
    }
}

/// The landings of a block.
struct Block<const BITS: u32> {
    /// Where the landings of each heap begin that were found before this block.
    starts: Vec<u32>,
    far: Vec<Landing>,
    /// For each heap, the last landing that was found in this block.
    last: Vec<u32>,
    near: Vec<Near>,
    free: u32,
    found: Vec<(u32, Landing)>,
}

/// A landing that was found in the block, and the one before it at the same heap.
#[derive(Clone, Copy)]
struct Near {
    landing: Landing,
    before: u32,
}

/// No landing.
const NONE: u32 = u32::MAX;

impl<const BITS: u32> Block<BITS> {
    fn new() -> Self {
        let heaps = 1 << BITS;
        let (far, near, found) = (Vec::new(), Vec::new(), Vec::new());
        Block { starts: vec![0; heaps + 1], far, last: vec![NONE; heaps], near, free: NONE, found }
    }

    /// Begins the block of heap `n`.
    fn begin(&mut self, n: usize, waiting: &mut Waiting<BITS>, own: &Tape<u32, BITS>) {
        self.found.clear();
        self.starts.fill(0);
        waiting.take(n >> BITS, |heap, place| {
            let (from, to) = (own[heap as usize], own[2 * heap as usize - (n + place as usize)]);
            self.starts[place as usize + 1] += 1;
            self.found.push((place, Landing { heap, from, to }));
        });
        for place in 1..self.starts.len() {
            self.starts[place] += self.starts[place - 1];
        }
        self.far.resize(self.found.len(), Landing::default());
        for (place, landing) in &self.found {
            let start = &mut self.starts[*place as usize];
            self.far[*start as usize] = *landing;
            *start += 1;
        }
        // Each start is now that of the next heap.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    #[inline(always)]
    fn add(&mut self, place: usize, landing: Landing) {
        let last = &mut self.last[place];
        let new = Near { landing, before: *last };
        if let Some(slot) = self.near.get_mut(self.free as usize) {
            *last = std::mem::replace(&mut self.free, slot.before);
            *slot = new;
        } else {
            *last = self.near.len() as u32;
            self.near.push(new);
        }
    }

    /// Hands on the landings at a heap.
    #[inline(always)]
    fn take<E>(&mut self, place: usize, mut land: impl FnMut(Landing) -> Result<(), E>) -> Result<(), E> {
        let far = self.starts[place] as usize..self.starts[place + 1] as usize;
        self.far[far].iter().try_for_each(|landing| land(*landing))?;
        let mut next = std::mem::replace(&mut self.last[place], NONE);
        while let Some(near) = self.near.get_mut(next as usize) {
            let before = std::mem::replace(&mut near.before, self.free);
            self.free = std::mem::replace(&mut next, before);
            land(near.landing)?;
        }
        Ok(())
    }
}

struct State<const BITS: u32> {
    limit: usize,
    /// The values of the heaps.
    own: Tape<u32, BITS>,
    values: Values<BITS>,
    changes: Changes,
    /// All values below it have holders.
    least: usize,
    block: Block<BITS>,
    waiting: Waiting<BITS>,
    /// Exceptions that the lists cannot hold, by the heap that they change: a value that its only holder has as an exception itself,
    /// or whose holder is given up before.
    strays: BTreeMap<usize, Vec<(u32, u32)>>,
    singles: Vec<Single>,
    trails: Vec<Trail>,
    unused: Vec<usize>,
    tally: Tally,
}

impl<const BITS: u32> State<BITS> {
    /// The heaps of a block but the first.
    const REST: usize = (1 << BITS) - 1;

    fn new(input: &Mem0) -> Self {
        let limit = input.limit() as usize;
        State {
            limit,
            own: Tape::from(0),
            values: Values::new(),
            changes: Changes::new(),
            least: 0,
            block: Block::new(),
            waiting: Waiting::new(limit),
            strays: BTreeMap::new(),
            singles: Vec::new(),
            trails: Vec::new(),
            unused: Vec::new(),
            tally: Tally::default(),
        }
    }

    fn run(mut self, input: &Mem0, run: &Run) -> Result<Output, RunError> {
        let mut alone = [Default::default(); MOST];
        for start in (0..=self.limit).step_by(1 << BITS) {
            self.begin_block(start);
            let end = self.limit.min(start + Self::REST);
            for n in start..=end {
                self.land(n)?;
                let (free, alone) = self.changes.free_and_single(|value| self.values.of(value), &mut alone);
                let g = self.value(free);
                self.find(n, g, alone);
                self.add(n, g)?;
            }
            run.advance((end - start) as u64 + 1)?;
        }
        Ok(self.tally.output(input, self.singles.iter().map(|single| (single.value, single.heap))))
    }

    fn begin_block(&mut self, n: usize) {
        self.own.drop_below(oldest(n));
        self.values.retire(n as u32, self.least);
        self.block.begin(n, &mut self.waiting, &self.own);
        for (place, trail) in self.trails.iter_mut().enumerate() {
            let next = (n + trail.heap as usize) / 2;
            trail.marks.drop_below(next / 64);
            let is_in_use =
                trail.last as usize >= next || self.singles.iter().any(|single| single.trail == Some(place));
            if !is_in_use && !self.unused.contains(&place) {
                self.unused.push(place);
            }
        }
    }

    /// Changes the holders of values by the exceptions that land at heap `n`.
    #[inline(always)]
    fn land(&mut self, n: usize) -> Result<(), RunError> {
        let State { own, block, strays, trails, changes, .. } = self;
        changes.clear();
        let mut land = |Landing { heap, from, to }: Landing| {
            changes.of(from)?.remove(Holders::own(heap));
            changes.of(to)?.add(Holders::exceptional(heap));
            Ok(())
        };
        block.take(n & Self::REST, &mut land)?;
        for trail in trails {
            if let Some(heap) = trail.lands(n as u32) {
                land(Landing { heap, from: own[heap as usize], to: trail.value })?;
            }
        }
        if !strays.is_empty() {
            for (heap, to) in strays.remove(&n).into_iter().flatten() {
                land(Landing { heap, from: own[heap as usize], to })?;
            }
        }
        Ok(())
    }

    /// The value of a heap, the least one without holders, given the least one among those that changed.
    #[inline(always)]
    fn value(&self, free: u32) -> u32 {
        let is_free =
            |value: &u32| self.values.of(*value).with(self.changes.get(*value).unwrap_or_default()).is_empty();
        (self.least as u32..free).find(is_free).unwrap_or(free)
    }

    /// Finds the exceptions of heap `n`, whose value is `g`: the values below it that one option alone has. `alone` are those
    /// that one option has among the values that changed.
    #[inline(always)]
    fn find(&mut self, n: usize, g: u32, alone: &[(u32, Holders)]) {
        let last = n | Self::REST;
        for (value, holders) in alone {
            if *value >= g {
                continue;
            }
            self.tally.exceptions += 1;
            let m = holders.only() as usize;
            let lands = 2 * n - m;
            if lands <= last {
                self.block.add(lands & Self::REST, Landing { heap: n as u32, from: g, to: *value });
            } else if lands > self.limit {
                continue;
            } else if holders.is_own() && m >= oldest(lands) {
                self.waiting.add(n as u32, lands as u32);
            } else {
                self.strays.entry(lands).or_default().push((n as u32, *value));
            }
        }
        for place in 0..self.singles.len() {
            let Single { value, heap: m, .. } = self.singles[place];
            if value >= g || self.changes.get(value).is_some() {
                continue;
            }
            self.tally.exceptions += 1;
            let lands = 2 * n - m as usize;
            if lands <= last {
                self.block.add(lands & Self::REST, Landing { heap: n as u32, from: g, to: value });
            } else if lands > self.limit {
                continue;
            } else if n - m as usize <= Self::REST {
                self.waiting.add(n as u32, lands as u32);
            } else {
                let trail = self.trail(place, n);
                self.trails[trail].mark(n as u32);
            }
        }
    }

    /// The trail of a single value, which begins at heap `n` if there is none yet.
    fn trail(&mut self, place: usize, n: usize) -> usize {
        let Single { value, heap, trail } = self.singles[place];
        let (trails, unused) = (&mut self.trails, &mut self.unused);
        let trail = trail.unwrap_or_else(|| {
            let new = Trail { value, heap, marks: Tape::from(n / 64), last: 0 };
            let place = unused.pop().unwrap_or(trails.len());
            if place < trails.len() {
                trails[place] = new;
            } else {
                trails.push(new);
            }
            place
        });
        self.singles[place].trail = Some(trail);
        trail
    }

    /// Adds heap `n` with its value `g`.
    #[inline(always)]
    fn add(&mut self, n: usize, g: u32) -> Result<(), RunError> {
        *self.own.reach(n) = g;
        self.tally.add(g);
        self.values.tape.reach(g as usize + 1);
        match self.values.add(g, n as u32) {
            1 => self.singles.push(Single { value: g, heap: n as u32, trail: None }),
            2 => {
                if let Some(place) = self.singles.iter().position(|single| single.value == g) {
                    let first = self.singles.swap_remove(place).heap;
                    self.values.add_second(g, first, n as u32);
                }
            }
            count if count > MOST_HOLDERS => return Err(RunError::Overflow),
            _ => {}
        }
        while !self.values.of(self.least as u32).is_empty() {
            self.least += 1;
        }
        Ok(())
    }
}
