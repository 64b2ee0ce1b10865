//! `mex_family`: the periods of all subtraction sets of a family, such as those with the same largest move.
//!
//! The Grundy values of a set with largest move `M` depend on the `M` values before them, so they repeat, and `M` values in succession that
//! have occurred before prove it ([`prove`](super::subtraction::prove) has the argument). A family is all sets that have some moves, and any
//! of some others. Its sets are numbered: bit `k` of the number is set if the set has the `k`-th of these others, a move or a group.
//!
//! All other kernels compute many heaps of one game. Here the games are many and small, so the kernels turn this around: a bit of a
//! register is the same bit of the Grundy value of the same heap in another game (bit slicing).
//!
//! Guy conjectures that the periods are bounded by polynomials (quoted in arXiv 2405.20054). Althöfer and Bültermann have sets whose
//! periods are more than linear in the largest move (1995); Flammenkamp found longer ones in his thesis (1997).
//!
//! # Observations
#![doc = include_str!("NOTES.md")]

use std::ops::Range;

use super::oracle;
use crate::kernel::selection::Selection;
use crate::kernel::workload::{InputError, Workload, Workloads, workload};
use crate::kernel::{Core, Digest, KernelDef, Operation, kernels};

mod findings;
mod one_by_one;
mod sets;
mod slices;

pub use findings::{Findings, Repeating};

/// The periods of the sets of a family.
#[derive(Debug)]
pub struct MexFamily;

/// The largest move of a family. More moves would not fit in a word, and have more sets than anyone can try.
pub const MAX_MOVE: u64 = 63;

/// Sets that have all of some moves, and any of some groups of others; or a part of these sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// Bit `m` is set for the move `m`.
    always: u64,
    /// The same for each group. No move is in two of them.
    free: Vec<u64>,
    first: u64,
    sets: u64,
    /// The numbers of the sets, where not all are meant.
    listed: Option<Vec<u64>>,
    kept: usize,
}

/// Moves that make no family.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FamilyError {
    /// There is no move at all.
    #[error("a family has at least one move")]
    NoMoves,
    /// A move is not one of a family.
    #[error("{0} is not a move of a family; allowed: 1 to {MAX_MOVE}")]
    Move(u64),
    /// A move is named twice.
    #[error("{0} is named twice as a move; once is allowed")]
    Twice(u64),
    /// A move is not below the largest.
    #[error("{0} is not below the largest move {1}; allowed: smaller moves")]
    NotBelow(u64, u64),
}

impl Family {
    /// The sets that have all moves of `always`, and any of `free`.
    ///
    /// ```
    /// # use nimlanes_mex as nimlanes;
    /// use nimlanes::cores::mex::family::Family;
    /// let family = Family::new(&[4], &[1, 2, 3])?;
    /// assert_eq!(family.sets(), 8);
    /// assert_eq!(family.moves(0b101), [1, 3, 4]);
    /// # Ok::<(), nimlanes::cores::mex::family::FamilyError>(())
    /// ```
    ///
    /// # Errors
    /// There is no move, one is 0 or above [`MAX_MOVE`], or one is named twice.
    pub fn new(always: &[u64], free: &[u64]) -> Result<Self, FamilyError> {
        Family::of_groups(always, free.chunks(1))
    }

    /// The sets that have all moves of `always`, and for each group of `free` all of its moves or none.
    ///
    /// # Errors
    /// As [`Family::new`].
    pub fn of_groups<'a>(always: &[u64], free: impl IntoIterator<Item = &'a [u64]>) -> Result<Self, FamilyError> {
        let always = word(always, 0)?;
        let (mut seen, mut groups) = (always, Vec::new());
        for moves in free {
            let group = word(moves, seen)?;
            seen |= group;
            groups.push(group);
        }
        let sets = 1 << groups.len();
        match seen {
            0 => Err(FamilyError::NoMoves),
            _ => Ok(Family { always, free: groups, first: 0, sets, listed: None, kept: 1 }),
        }
    }

    /// These sets and no others. Bit 0 of a number is for the move 1.
    ///
    /// ```
    /// # use nimlanes_mex as nimlanes;
    /// use nimlanes::cores::mex::family::Family;
    /// let family = Family::of_sets([&[1, 4][..], &[2, 3]])?;
    /// assert_eq!((family.sets(), family.moves(0b110)), (2, vec![2, 3]));
    /// # Ok::<(), nimlanes::cores::mex::family::FamilyError>(())
    /// ```
    ///
    /// # Errors
    /// There is no move, or one is 0 or above [`MAX_MOVE`].
    pub fn of_sets<'a>(sets: impl IntoIterator<Item = &'a [u64]>) -> Result<Self, FamilyError> {
        let number = |moves: &[u64]| moves.iter().try_fold(0, |number, m| Ok(number | word(&[*m], 0)? >> 1));
        let listed = sets.into_iter().map(number).collect::<Result<Vec<u64>, _>>()?;
        let all = listed.iter().fold(0, |all, number| all | number);
        let free: Vec<u64> = (1..u64::from(u64::BITS - all.leading_zeros()) + 1).collect();
        let family = Family::new(&[], &free)?;
        Ok(Family { sets: listed.len() as u64, listed: Some(listed), ..family })
    }

    /// All sets with this largest move. Bit 0 of a number is for the move below it.
    ///
    /// # Errors
    /// The move is 0 or above [`MAX_MOVE`].
    pub fn with_largest(largest: u64) -> Result<Self, FamilyError> {
        Family::with_moves(largest, &[])
    }

    /// The sets with this largest move that have all of some smaller ones, too. Bit 0 of a number is for the largest move that not all
    /// of them have.
    ///
    /// ```
    /// # use nimlanes_mex as nimlanes;
    /// use nimlanes::cores::mex::family::Family;
    /// let family = Family::with_moves(4, &[2])?;
    /// assert_eq!([0, 1, 2, 3].map(|set| family.moves(set)), [&[2, 4][..], &[2, 3, 4], &[1, 2, 4], &[1, 2, 3, 4]]);
    /// # Ok::<(), nimlanes::cores::mex::family::FamilyError>(())
    /// ```
    ///
    /// # Errors
    /// A move is 0 or above [`MAX_MOVE`], named twice, or not below the largest.
    pub fn with_moves(largest: u64, moves: &[u64]) -> Result<Self, FamilyError> {
        if !(1..=MAX_MOVE).contains(&largest) {
            return Err(FamilyError::Move(largest));
        }
        if let Some(large) = moves.iter().find(|m| **m >= largest) {
            return Err(FamilyError::NotBelow(*large, largest));
        }
        let mut free: Vec<u64> = (1..largest).rev().collect();
        free.retain(|m| !moves.contains(m));
        Family::new(&[moves, &[largest]].concat(), &free)
    }

    /// The symmetric sets with this largest move `M`: where `s` below `M` is a move, so is `M - s`.
    ///
    /// # Errors
    /// The move is 0 or above [`MAX_MOVE`].
    pub fn symmetric(largest: u64) -> Result<Self, FamilyError> {
        if !(1..=MAX_MOVE).contains(&largest) {
            return Err(FamilyError::Move(largest));
        }
        // The nearest pairs first: sets of a batch differ in them, and a kernel masks all moves between their first and last.
        let pairs: Vec<[u64; 2]> = (1..largest / 2 + 1).rev().map(|s| [s, largest - s]).collect();
        // Half of an even move is its own partner.
        Family::of_groups(&[largest], pairs.iter().map(|pair| if pair[0] == pair[1] { &pair[..1] } else { pair }))
    }

    /// Of the sets of this one, `sets` from the `first` on; fewer if there are not as many.
    #[must_use]
    pub fn part(self, first: u64, sets: u64) -> Self {
        let before = first.min(self.sets);
        Family { first: self.first + before, sets: sets.min(self.sets - before), ..self }
    }

    /// The same sets, with lists of the longest periods and preperiods that have up to so many sets.
    #[must_use]
    pub fn listing(self, kept: usize) -> Self {
        Family { kept, ..self }
    }

    /// The number of sets.
    pub fn sets(&self) -> u64 {
        self.sets
    }

    /// The number of the first set.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The moves of the set with this number, ascending.
    pub fn moves(&self, set: u64) -> Vec<u64> {
        bits_of(self.mask(set)).map(|m| m as u64).collect()
    }

    /// The moves of the set with this number, as bits.
    fn mask(&self, set: u64) -> u64 {
        let has = |k: usize| set >> k & 1 == 1;
        (0..self.free.len()).filter(|k| has(*k)).fold(self.always, |mask, k| mask | self.free[k])
    }

    /// The numbers of the sets of a part.
    fn numbers(&self, part: Range<u64>) -> impl Iterator<Item = u64> {
        part.map(|index| self.listed.as_ref().map_or(index, |listed| listed[index as usize]))
    }

    /// The indices of the sets of this part.
    fn indices(&self) -> Range<u64> {
        self.first..self.first + self.sets
    }

    /// The largest move of any set of the family.
    fn largest(&self) -> usize {
        self.mask(u64::MAX).ilog2() as usize
    }

    /// The most moves of a set, and so the largest value that a heap may have.
    fn most_moves(&self) -> usize {
        let all = self.mask(u64::MAX).count_ones();
        self.listed.as_ref().map_or(all, |listed| listed.iter().map(|set| set.count_ones()).max().unwrap_or(0)) as usize
    }

    /// The number of moves of an average set.
    fn mean_moves(&self) -> f64 {
        match self.listed {
            // The longest stands for all: listed sets are alike.
            Some(_) => self.most_moves() as f64,
            None => f64::from(self.always.count_ones() + self.mask(u64::MAX).count_ones()) / 2.0,
        }
    }

    /// The moves that any set of a batch has, on average, where the numbers of its sets differ in so many digits.
    fn moves_of_batch(&self, digits: u32) -> f64 {
        match self.listed {
            // Listed sets may differ in any move.
            Some(_) => self.free.len() as f64,
            None => self.mean_moves() + (self.free.len() as f64).min(digits.into()) / 2.0,
        }
    }
}

/// The word of some moves, of which none is in `seen`.
fn word(moves: &[u64], seen: u64) -> Result<u64, FamilyError> {
    moves.iter().try_fold(0, |word, m| match m {
        1..=MAX_MOVE if (seen | word) >> m & 1 == 0 => Ok(word | 1 << m),
        1..=MAX_MOVE => Err(FamilyError::Twice(*m)),
        _ => Err(FamilyError::Move(*m)),
    })
}

/// The indices of the bits that are set, ascending.
fn bits_of(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(bit)
    })
}

impl Operation for MexFamily {
    type Input = Family;
    type Output = Findings;
    type Start = ();

    const NAME: &'static str = "mex_family";
    const CORE: Core = Core::Mex;
    const UNIT: &'static str = "set";
    const KERNELS: &'static [KernelDef<Self>] = kernels! { MexFamily;
        one_by_one = one_by_one with one_by_one::proved, Portable, [], "the baseline: each set alone, by the search of mex_subtraction";
        one_by_one_flags = one_by_one with one_by_one::flags like one_by_one, Portable, [], "each set alone, with flags in one register";
        words = words in slices, Portable, [], "a bit of a word is a set, 64 sets at a time";
        slices_avx2 = slices with slices::x86::avx2 on one like words, Avx2, ["avx2"], "512 sets in two registers";
        slices_threads_avx2 = slices with slices::x86::avx2 on all like slices_avx2, Avx2, ["avx2", "parallel"], "the same on all threads";
        slices_neon = slices with slices::v128 on one like words, Neon, ["neon"], "512 sets in four registers";
        slices_simd128 = slices with slices::v128 on one like words, Simd128, ["simd128"], "512 sets in four vectors";
        slices_avx512 = slices with slices::x86::avx512 on one like words, Avx512, ["avx512"], "512 sets in a register; three operands in an operation";
        slices_threads_avx512 = slices with slices::x86::avx512 on all like slices_avx512, Avx512, ["avx512", "parallel"], "the same on all threads";
    };
    const ABSENT: &'static [(&'static str, &'static str)] =
        &[("bitvec", "a bit is a set, and all bits of a register take the same step: no bit is addressed")];
    const PUBLIC: &'static [&'static str] = &["one_by_one"];
    const NOTES: &'static str = include_str!("NOTES.md");
    const RATES: &'static str = include_str!("../rates.tsv");

    /// A state is the last values, as many as the largest move. Once one recurs, all values since then do.
    fn oracle(input: &Family) -> Findings {
        let farthest = input.largest();
        let mut findings = Findings::default();
        for set in input.numbers(input.indices()) {
            let moves: Vec<usize> = bits_of(input.mask(set)).collect();
            let (mut values, mut period) = (Vec::new(), None);
            let mut heaps = 4 * farthest;
            while period.is_none() {
                values = oracle::values(&moves, heaps);
                let last = heaps - farthest;
                period = (1..last + 1).find(|period| values[last - period..][..farthest] == values[last..]);
                heaps *= 2;
            }
            let period = period.expect("a state recurs");
            let mut preperiod = values.len() - period;
            while preperiod > 0 && values[preperiod - 1] == values[preperiod - 1 + period] {
                preperiod -= 1;
            }
            let largest = values.into_iter().max().unwrap_or(0) as u64;
            let found = Repeating { set, period: period as u64, preperiod: preperiod as u64 };
            findings.add(found, largest, input.kept);
        }
        findings
    }

    fn steps(input: &Family) -> u64 {
        input.sets
    }

    fn digest(found: &Findings) -> Digest {
        vec![
            ("longest", found.longest_period().into()),
            ("sum", found.sum_of_periods()),
            ("distinct", found.periods.len() as u128),
            ("pure", found.pure.into()),
            ("preperiod", found.longest_preperiod().into()),
            ("max", found.largest.into()),
        ]
    }
}

/// What the names of workloads begin with; the largest move follows.
const LARGEST: &str = "largest-";

impl Workloads for MexFamily {
    const WORKLOADS: &'static [Workload] = &[
        workload(
            "largest-16",
            "sets with largest move 16; size = how many of the 32 768",
            1 << 15,
            &[64, 512, 1 << 12, 1 << 15],
        ),
        workload("largest-12", "sets with largest move 12; size = how many of the 2048", 1 << 11, &[1 << 11]),
        workload("largest-20", "sets with largest move 20; size = how many of the 524 288", 1 << 19, &[1 << 19]),
        workload("largest-24", "sets with largest move 24; size = how many of the 8 388 608", 1 << 23, &[1 << 23]),
    ];

    fn canonical(workload: &str) -> Result<String, InputError> {
        Ok(format!("{LARGEST}{}", largest_in(workload)?.largest()))
    }

    fn input(workload: &str, size: u64, _: &Selection) -> Result<Family, InputError> {
        let family = largest_in(workload)?;
        if size > family.sets {
            return Err(InputError::TooLarge { operation: Self::NAME, size, most: family.sets });
        }
        Ok(family.part(0, size))
    }
}

/// The family that a workload names.
fn largest_in(workload: &str) -> Result<Family, InputError> {
    let largest = workload.strip_prefix(LARGEST).and_then(|text| text.parse().ok());
    let family = largest.and_then(|largest| Family::with_largest(largest).ok());
    family.ok_or_else(|| InputError::unknown_workload::<MexFamily>(workload))
}
