//! Ceilings: the peak rates of this machine, on one thread, for the basic operations that kernels consist of. A kernel
//! that needs `k` such operations per unit of work is compared with the time of `k` of them in a loop that does nothing
//! else.
//!
//! The loops use buffers of fixed size: 16 KiB, 512 KiB, 8 MiB and 256 MiB fit in L1, L2, L3 and memory on most recent
//! machines (L3 may be shared with neighbours); fresh pages are of 64 MiB. The results are the best of several timings, as a ceiling is not an
//! average, and their median. Ceilings that are compared on one buffer, such as loads within a line and across two, take
//! turns on the same memory. Vector loops use 512-bit registers if the machine has them, else whatever plain Rust
//! compiles to.

use std::hint::black_box;

use crate::kernel::Tier;
use crate::lab::clock::Clock;
use crate::lab::duel::quantile;
use crate::machine::Machine;
use crate::simd::probe::{self, Probe};

/// One operation to measure, on a buffer of a given size.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Ceiling {
    /// Kind of operation, which is part of bench ids.
    pub kind: &'static str,
    /// Name within its kind.
    pub name: &'static str,
    /// Unit that is counted, in the singular.
    pub unit: &'static str,
    /// Size of the buffer; 0 for operations on registers.
    pub bytes: usize,
    work: Work,
}

#[derive(Clone, Copy, Debug)]
enum Work {
    /// Sequential loads of 64 bytes, starting `offset` words after a multiple of 64 bytes.
    Loads { offset: usize },
    /// Two-operand operations on 64-byte registers: XOR and addition.
    Logic,
    /// Three-operand logical operations on 64-byte registers (`vpternlogq`).
    LogicOfThree,
    /// Permutations of the bytes of a 64-byte register (`vpermb`).
    Permute,
    /// Stores of a word, each to a different line than the previous one.
    Stores,
    /// Setting a bit at a random place: load, OR, store.
    SetBits,
    /// Dependent loads at random places: each needs the result of the previous one.
    Chase,
    /// Dependent one-cycle operations on a word: the clock rate of the CPU.
    Chain,
    /// Touching pages that the process has just been given.
    Pages,
}

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// Buffer sizes for each level of the memory hierarchy.
const L1: usize = 16 * KIB;
const L2: usize = 512 * KIB;
const L3: usize = 8 * MIB;
const MEMORY: usize = 256 * MIB;
/// More than an allocator keeps for itself: the pages go back to the system after each run.
const FRESH: usize = 64 * MIB;

/// Offset in words at which every load touches two lines. Half a line would not do: machines that load 64 bytes as two
/// halves of 32 would find both halves aligned (on Zen 4, an offset of 32 bytes costs as much as 0, and any other 50 %
/// more).
const SPLIT: usize = 3;

macro_rules! ceilings {
    ($($kind:literal, $unit:literal { $($name:literal $bytes:expr, $work:expr;)* })*) => {
        /// All ceilings.
        pub static CEILINGS: &[Ceiling] =
            &[$($(Ceiling { kind: $kind, name: $name, unit: $unit, bytes: $bytes, work: $work }),*),*];
    };
}
ceilings! {
    "loads", "64-byte load" {
        "l1" L1, Work::Loads { offset: 0 };
        "l1_split" L1, Work::Loads { offset: SPLIT };
        "l2" L2, Work::Loads { offset: 0 };
        "l2_split" L2, Work::Loads { offset: SPLIT };
        "l3" L3, Work::Loads { offset: 0 };
        "l3_split" L3, Work::Loads { offset: SPLIT };
        "memory" MEMORY, Work::Loads { offset: 0 };
        "memory_split" MEMORY, Work::Loads { offset: SPLIT };
    }
    "vectors", "64-byte operation" {
        "logic" 0, Work::Logic;
        "logic_of_three" 0, Work::LogicOfThree;
        "permute_bytes" 0, Work::Permute;
    }
    "stores", "store to another line" {
        "l1" L1, Work::Stores;
    }
    "bits", "random bit set" {
        "l1" L1, Work::SetBits;
        "l2" L2, Work::SetBits;
        "l3" L3, Work::SetBits;
    }
    "latency", "dependent load" {
        "l1" L1, Work::Chase;
        "l2" L2, Work::Chase;
        "l3" L3, Work::Chase;
        "memory" MEMORY, Work::Chase;
    }
    "clock", "dependent one-cycle operation" {
        "word" 0, Work::Chain;
    }
    "pages", "fresh page" {
        "touch" FRESH, Work::Pages;
    }
}

/// Bytes of a page, wherever the system has no larger ones.
const PAGE: usize = 4 * KIB;
/// Bytes of a cache line, and words in it.
const LINE: usize = 64;
const WORDS: usize = LINE / size_of::<u64>();

/// 2^64 divided by the golden ratio: its multiples modulo 2^64 are spread evenly.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Minimum operations per run, so that the overhead of a call is negligible.
const MIN_UNITS: usize = 1 << 14;

/// A ceiling with its buffer, ready to run.
#[derive(Debug)]
pub struct Prepared<'m> {
    ceiling: Ceiling,
    machine: &'m Machine,
    /// The buffer, after padding words that align it to 64 bytes; empty if each run has its own.
    words: Vec<u64>,
    start: usize,
    /// Positions of the bits to set, in order.
    bits: Vec<u32>,
    /// Current position of the chain of loads.
    next: u64,
}

impl Ceiling {
    /// Allocates and fills the buffer.
    pub fn prepare<'m>(&self, machine: &'m Machine) -> Prepared<'m> {
        let lines = if matches!(self.work, Work::Pages) { 0 } else { self.bytes / LINE };
        let mut words = vec![0; (lines + 2) * WORDS];
        let start = words.as_ptr().align_offset(LINE);
        // A cycle through all lines: the factor is 1 modulo 4, the increment odd, the modulus a power of two (Hull, Dobell
        // 1962). All words are written, because untouched memory maps to a single zero page.
        let follower = |line: u64| line.wrapping_mul(GOLDEN).wrapping_add(12345) % lines as u64;
        for line in 0..lines {
            words[start + line * WORDS..][..WORDS].fill(follower(line as u64) * WORDS as u64);
        }
        let mut bits = Vec::new();
        if matches!(self.work, Work::SetBits) {
            let width = (8 * self.bytes).ilog2();
            for i in 0..self.sweep() as u64 {
                bits.push((i.wrapping_mul(GOLDEN) >> (64 - width)) as u32);
            }
        }
        Prepared { ceiling: *self, machine, words, start, bits, next: 0 }
    }

    /// Number of operations in one [`Prepared::run`].
    pub fn units(&self) -> usize {
        self.sweeps() * self.sweep()
    }

    /// Number of operations in one sweep over the buffer.
    fn sweep(&self) -> usize {
        match self.work {
            Work::Loads { .. } => self.bytes / LINE,
            Work::SetBits | Work::Stores => self.bytes / size_of::<u64>(),
            Work::Pages => self.bytes / PAGE,
            _ => MIN_UNITS,
        }
    }

    fn sweeps(&self) -> usize {
        MIN_UNITS.div_ceil(self.sweep())
    }

    /// The clock for it. CPU time leaves out what a virtual machine waits for its host, which can be most of the time of a
    /// page.
    pub fn clock(&self) -> Clock {
        if matches!(self.work, Work::Pages) { Clock::Wall } else { Clock::Thread.for_one_run() }
    }

    /// The tier of its instructions.
    fn tier(&self, machine: &Machine) -> Tier {
        match self.work {
            Work::Loads { .. } | Work::Logic | Work::LogicOfThree | Work::Permute => probe::tier(machine),
            Work::Stores | Work::SetBits | Work::Chase | Work::Chain | Work::Pages => Tier::Portable,
        }
    }
}

/// Ceilings of one kind on buffers of one size.
#[derive(Debug)]
pub struct Group(&'static [Ceiling]);

/// All ceilings, grouped by kind and size of the buffer.
pub fn groups() -> impl Iterator<Item = Group> {
    CEILINGS.chunk_by(|a, b| (a.kind, a.bytes) == (b.kind, b.bytes)).map(Group)
}

impl Group {
    /// The kind of operation.
    pub fn kind(&self) -> &'static str {
        self.0[0].kind
    }

    /// Measures each ceiling for about 100 ms, in turns on one buffer, so that pages and machine drift affect all
    /// equally.
    pub fn measure(&self, machine: &Machine) -> Vec<Reading> {
        let Group(ceilings) = self;
        let mut prepared = ceilings[0].prepare(machine);
        let mut time_runs = |ceiling: &Ceiling, runs: u32| {
            prepared.ceiling = *ceiling;
            let clock = ceiling.clock();
            let start = clock.now();
            for _ in 0..runs {
                prepared.run();
            }
            (clock.now() - start).as_secs_f64() * 1e9
        };
        let mut runs = vec![1; ceilings.len()];
        for (place, ceiling) in ceilings.iter().enumerate() {
            while time_runs(ceiling, runs[place]) < MIN_TIMING_NS {
                runs[place] *= 2;
            }
        }
        let mut times = vec![Vec::new(); ceilings.len()];
        for _ in 0..TIMINGS {
            for (place, ceiling) in ceilings.iter().enumerate() {
                let ns = time_runs(ceiling, runs[place]);
                times[place].push(ns / (f64::from(runs[place]) * ceiling.units() as f64));
            }
        }
        let mut readings = Vec::new();
        for (place, ceiling) in ceilings.iter().enumerate() {
            readings.push(Reading {
                kind: ceiling.kind.to_owned(),
                name: ceiling.name.to_owned(),
                unit: ceiling.unit.to_owned(),
                bytes: ceiling.bytes,
                tier: ceiling.tier(machine).name().to_owned(),
                ns: quantile(&mut times[place], 0.0),
                median_ns: Some(quantile(&mut times[place], 0.5)),
            });
        }
        readings
    }
}

/// Number of timings of one ceiling; the best counts.
const TIMINGS: usize = 9;
/// Minimum duration of each timing, in nanoseconds.
const MIN_TIMING_NS: f64 = 5e6;

/// A measured ceiling.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reading {
    /// Kind of operation.
    pub kind: String,
    /// Name within its kind.
    pub name: String,
    /// Unit that is counted, in the singular.
    pub unit: String,
    /// Size of the buffer; 0 for operations on registers.
    pub bytes: usize,
    /// The tier of the instructions.
    pub tier: String,
    /// Nanoseconds per operation, in the best timing.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "super::numbers::positive"))]
    pub ns: f64,
    /// Median of the timings, if it was saved.
    #[cfg_attr(feature = "serde", serde(default))]
    pub median_ns: Option<f64>,
}

impl Prepared<'_> {
    /// Performs [`Ceiling::units`] operations.
    #[inline(never)]
    pub fn run(&mut self) {
        let words = &mut self.words[self.start..];
        let sweeps = self.ceiling.sweeps();
        match self.ceiling.work {
            Work::Loads { offset } => {
                let (vectors, _) = words[offset..][..self.ceiling.bytes / size_of::<u64>()].as_chunks();
                probe::run(self.machine, Probe::Loads(vectors, sweeps));
            }
            Work::Logic => probe::run(self.machine, Probe::Logic(MIN_UNITS as u64)),
            Work::LogicOfThree => probe::run(self.machine, Probe::LogicOfThree(MIN_UNITS as u64)),
            Work::Permute => probe::run(self.machine, Probe::Permute(MIN_UNITS as u64)),
            Work::Stores => {
                for sweep in 0..sweeps {
                    store(words, sweep as u64);
                }
            }
            Work::SetBits => {
                for _ in 0..sweeps {
                    set_bits(words, &self.bits);
                }
            }
            Work::Chase => self.next = (0..MIN_UNITS).fold(self.next, |next, _| words[next as usize]),
            Work::Pages => touch(self.ceiling.bytes),
            Work::Chain => {
                let (a, b) = black_box((GOLDEN, 1));
                black_box((0..MIN_UNITS / 2).fold(1u64, |word, _| (word ^ a).wrapping_add(b)));
            }
        }
    }
}

/// Allocates memory, and writes to each page.
fn touch(bytes: usize) {
    let mut memory = vec![0u8; bytes];
    memory.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
    black_box(&mut memory);
}

/// Stores to every word of a table, each two lines and one word after the previous one.
fn store(words: &mut [u64], word: u64) {
    const COUNT: usize = L1 / size_of::<u64>();
    let table = words.first_chunk_mut::<COUNT>().expect("a buffer of this size");
    // An odd stride reaches every word.
    (0..COUNT).for_each(|i| table[i * (2 * WORDS + 1) % COUNT] = word);
    black_box(table);
}

/// Sets bits in a table of constant size, so that the compiler removes bounds checks.
fn set_bits(words: &mut [u64], bits: &[u32]) {
    fn set<const W: usize>(words: &mut [u64], bits: &[u32]) {
        let table = words.first_chunk_mut::<W>().expect("a buffer of this size");
        for bit in bits {
            table[(bit / 64) as usize % W] |= 1 << (bit % 64);
        }
    }
    match bits.len() {
        n if n == L1 / 8 => set::<{ L1 / 8 }>(words, bits),
        n if n == L2 / 8 => set::<{ L2 / 8 }>(words, bits),
        _ => set::<{ L3 / 8 }>(words, bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chain_of_loads_visits_every_line() {
        let machine = Machine::detect();
        for ceiling in CEILINGS.iter().filter(|ceiling| matches!(ceiling.work, Work::Chase) && ceiling.bytes <= L2) {
            let prepared = ceiling.prepare(&machine);
            let words = &prepared.words[prepared.start..];
            let lines = ceiling.bytes / LINE;
            let mut tour: Vec<u64> =
                std::iter::successors(Some(0), |at| Some(words[*at as usize])).take(lines).collect();
            tour.sort_unstable();
            tour.dedup();
            assert_eq!(tour.len(), lines, "{}", ceiling.name);
        }
    }

    #[test]
    fn stores_reach_every_word() {
        let mut words = vec![0; L1 / size_of::<u64>()];
        store(&mut words, 7);
        assert!(words.iter().all(|word| *word == 7));
    }

    #[test]
    fn scattered_bits_stay_in_the_table_and_differ() {
        let machine = Machine::detect();
        let ceiling = CEILINGS.iter().find(|ceiling| matches!(ceiling.work, Work::SetBits)).expect("one of them");
        let mut bits = ceiling.prepare(&machine).bits;
        assert!(bits.iter().all(|bit| (*bit as usize) < 8 * ceiling.bytes));
        let count = bits.len();
        bits.sort_unstable();
        bits.dedup();
        assert_eq!(bits.len(), count);
    }
}
