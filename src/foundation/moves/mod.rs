//! Legal moves: subtraction sets and codes of octal games for one heap, [`Diagonals`] for two. Nothing here knows how a game is
//! solved.

mod code;
mod diagonals;
mod rules;

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use crate::text::names::hint;

pub use code::{Code, CodeError, FAMOUS, Famous};
pub use diagonals::{Diagonals, DiagonalsError};
pub use rules::{Rules, RulesError};

/// A subtraction set: a player may take `m` from a heap for each `m` of the set.
///
/// ```
/// # use nimlanes_foundation as nimlanes;
/// use nimlanes::moves::MoveSet;
/// let set: MoveSet = "squares".parse()?;
/// assert_eq!(set.up_to(30), [1, 4, 9, 16, 25]);
/// assert_eq!("1..4".parse::<MoveSet>()?.up_to(3), [1, 2, 3]);
/// assert!("4,2".parse::<MoveSet>().is_err());
/// # Ok::<(), nimlanes::moves::MoveSetError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MoveSet {
    /// 1, 4, 9, 16, ... (Project Euler 310)
    Squares,
    /// 1, 8, 27, 64, ...
    Cubes,
    /// 1, 3, 6, 10, ...
    Triangular,
    /// 2, 3, 5, 7, ...
    Primes,
    /// 1, 2, 6, 24, ...
    Factorials,
    /// 1, 2, 3, 5, 8, ...
    Fibonacci,
    /// Random, about as dense as the squares: `m` is a move with probability `1 / (2 sqrt m)`.
    RandomSparse,
    /// Random: every `m` is a move with probability 1/2.
    RandomDense,
    /// 1, 2, 3, 4, 7, 11, ...: the 2 that begins the Lucas numbers is a move, too.
    Lucas,
    /// 1, 3, 4, 7, 11, ...: the Lucas numbers from the one that follows the 2.
    LucasFromOne,
    /// 1, 5, 12, 22, ...
    Pentagonal,
    /// 1, 6, 15, 28, ...
    Hexagonal,
    /// 2, 6, 12, 20, ...
    Pronic,
    /// 1, 4, 10, 20, ...
    Tetrahedral,
    /// 1, k, k^2, ...; 1 alone if `k` is 0 or 1, which [`FromStr`] refuses.
    Powers(u64),
    /// 1, 2, ..., k
    UpTo(u64),
    /// All positive numbers but these.
    AllBut(MoveList),
    /// A finite list; use [`MoveSet::list`] to make one.
    Explicit(MoveList),
}

/// A finite, non-empty list of moves: positive and strictly ascending.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MoveList(Vec<u64>);

impl MoveList {
    /// Checks a list of moves.
    ///
    /// # Errors
    /// The list is empty, contains 0 or is not strictly ascending.
    pub fn new(moves: Vec<u64>) -> Result<Self, MoveSetError> {
        if moves.is_empty() {
            return Err(MoveSetError::Empty);
        }
        if moves.contains(&0) {
            return Err(MoveSetError::Zero);
        }
        for i in 1..moves.len() {
            let (after, before) = (moves[i - 1], moves[i]);
            if after == before {
                return Err(MoveSetError::Duplicate(after));
            }
            if after > before {
                return Err(MoveSetError::NotAscending { after, before });
            }
        }
        Ok(MoveList(moves))
    }
}

/// The moves with commas between them.
impl fmt::Display for MoveList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for m in &self.0 {
            write!(f, "{before}{m}")?;
            before = ",";
        }
        Ok(())
    }
}

impl Deref for MoveList {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.0
    }
}

/// Why a text or list is not a subtraction set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveSetError {
    /// Neither a name nor a list.
    #[error("unknown move set `{0}`{hint}", hint = hint(.0, FORMS))]
    Unknown(String),
    /// The list is empty.
    #[error("the move list is empty; give at least one positive number")]
    Empty,
    /// An item of the list is not an unsigned 64-bit number.
    #[error("`{0}` in the move list is not a whole number below 2^64")]
    NotANumber(String),
    /// The list contains 0.
    #[error("the move list contains 0; moves are positive")]
    Zero,
    /// The list is out of order.
    #[error("the move list is not ascending: {after} comes before {before}")]
    NotAscending {
        /// The larger number, which is listed first.
        after: u64,
        /// The smaller number.
        before: u64,
    },
    /// A move is listed twice.
    #[error("the move list contains {0} twice")]
    Duplicate(u64),
    /// The base of the powers is below 2, or no number.
    #[error("powers of k are written powers-of-k with k at least 2, not `{0}`")]
    Base(String),
    /// The range is not `1..k` with `k` at least 1.
    #[error("a range of moves is 1..k with k at least 1, not `{0}`")]
    Range(String),
}

const NAMED: [(&str, MoveSet); 14] = [
    ("squares", MoveSet::Squares),
    ("cubes", MoveSet::Cubes),
    ("triangular", MoveSet::Triangular),
    ("primes", MoveSet::Primes),
    ("factorials", MoveSet::Factorials),
    ("fibonacci", MoveSet::Fibonacci),
    ("lucas", MoveSet::Lucas),
    ("lucas-from-1", MoveSet::LucasFromOne),
    ("pentagonal", MoveSet::Pentagonal),
    ("hexagonal", MoveSet::Hexagonal),
    ("pronic", MoveSet::Pronic),
    ("tetrahedral", MoveSet::Tetrahedral),
    ("random-sparse", MoveSet::RandomSparse),
    ("random-dense", MoveSet::RandomDense),
];

/// What the text of powers and of a set without a few moves begin with.
const POWERS: &str = "powers-of-";
const ALL_BUT: &str = "all-but:";

macro_rules! forms {
    ($first:literal $($form:literal)*) => {
        /// The texts that [`MoveSet::from_str`] takes.
        pub const ALLOWED: &str = concat!($first $(, ", ", $form)*);
        /// These, one by one.
        const FORMS: &[&str] = &[$first $(, $form)*];
    };
}
forms!("squares" "cubes" "triangular" "primes" "factorials" "fibonacci" "lucas" "lucas-from-1" "pentagonal" "hexagonal" "pronic"
    "tetrahedral" "random-sparse" "random-dense" "powers-of-k" "all-but:a,b,c" "a list a,b,c or a range 1..k");

impl FromStr for MoveSet {
    type Err = MoveSetError;

    fn from_str(text: &str) -> Result<Self, MoveSetError> {
        if let Some((_, set)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(set.clone());
        }
        if let Some(base) = text.strip_prefix(POWERS) {
            return match base.parse() {
                Ok(base) if base > 1 => Ok(MoveSet::Powers(base)),
                _ => Err(MoveSetError::Base(text.to_owned())),
            };
        }
        if let Some(left_out) = text.strip_prefix(ALL_BUT) {
            return Ok(MoveSet::AllBut(MoveList::new(numbers(left_out)?)?));
        }
        if let Some((low, high)) = text.split_once('.')
            && let Some(high) = high.strip_prefix('.')
        {
            return match (low.trim(), high.trim().parse()) {
                ("1", Ok(k)) if k > 0 => Ok(MoveSet::UpTo(k)),
                _ => Err(MoveSetError::Range(text.to_owned())),
            };
        }
        if text.trim().is_empty() {
            return Err(MoveSetError::Empty);
        }
        if !text.contains(',') && !text.trim().starts_with(|c: char| c.is_ascii_digit()) {
            return Err(MoveSetError::Unknown(text.to_owned()));
        }
        MoveSet::list(numbers(text)?)
    }
}

/// The numbers of a list.
fn numbers(text: &str) -> Result<Vec<u64>, MoveSetError> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let part = part.trim();
        all.push(part.parse().map_err(|_| MoveSetError::NotANumber(part.to_owned()))?);
    }
    Ok(all)
}

impl fmt::Display for MoveSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = NAMED.iter().find(|(_, set)| set == self) {
            return f.write_str(name);
        }
        match self {
            MoveSet::UpTo(k) => write!(f, "1..{k}"),
            MoveSet::Powers(k) => write!(f, "{POWERS}{k}"),
            MoveSet::AllBut(moves) => write!(f, "{ALL_BUT}{moves}"),
            MoveSet::Explicit(moves) => moves.fmt(f),
            _ => unreachable!("every other set is named"),
        }
    }
}

impl MoveSet {
    /// The same set as results name it: the list of `1, 2, .., k` is a range.
    #[doc(hidden)]
    pub fn canonical(self) -> Self {
        match &self {
            MoveSet::Explicit(moves) if moves.last() == Some(&(moves.len() as u64)) => {
                MoveSet::UpTo(moves.len() as u64)
            }
            _ => self,
        }
    }

    /// A finite set.
    ///
    /// ```
    /// # use nimlanes_foundation as nimlanes;
    /// use nimlanes::moves::MoveSet;
    /// let set = MoveSet::list((1..=20).map(|k| k * k + 1).collect())?; // 2, 5, 10, ..., 401
    /// assert_eq!(set.to_string().parse::<MoveSet>()?, set); // for what takes the text of a set, such as `grundy_values`
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`MoveList::new`].
    pub fn list(moves: Vec<u64>) -> Result<Self, MoveSetError> {
        MoveList::new(moves).map(MoveSet::Explicit)
    }

    /// The moves that are at most `limit`, ascending.
    ///
    /// # Panics
    /// The moves do not fit in memory. Check [`MoveSet::bytes_up_to`] first.
    pub fn up_to(&self, limit: u64) -> Vec<u64> {
        let terms = |term: &dyn Fn(u128) -> u128| terms_up_to(limit, term);
        let those = |is_move: &dyn Fn(u64) -> bool| those_up_to(limit, is_move);
        match self {
            MoveSet::Squares => terms(&|i| i * i),
            MoveSet::Cubes => terms(&|i| i * i * i),
            MoveSet::Triangular => terms(&|i| i * (i + 1) / 2),
            MoveSet::Primes => primes_up_to(limit),
            MoveSet::Factorials => terms(&factorial),
            MoveSet::Fibonacci => terms(&|i| sum_of_last_two([1, 2], i)),
            MoveSet::RandomSparse => those(&|m| fraction(m) < 0.5 / (m as f64).sqrt()),
            MoveSet::RandomDense => those(&|m| fraction(m) < 0.5),
            MoveSet::Lucas => {
                let mut moves = MoveSet::LucasFromOne.up_to(limit);
                if limit >= 2 {
                    moves.insert(1, 2);
                }
                moves
            }
            MoveSet::LucasFromOne => terms(&|i| sum_of_last_two([1, 3], i)),
            MoveSet::Pentagonal => terms(&|i| i * (3 * i - 1) / 2),
            MoveSet::Hexagonal => terms(&|i| i * (2 * i - 1)),
            MoveSet::Pronic => terms(&|i| i * (i + 1)),
            MoveSet::Tetrahedral => terms(&|i| i * (i + 1) * (i + 2) / 6),
            MoveSet::Powers(k) => terms(&|i| u128::from(*k).saturating_pow(i as u32 - 1)),
            MoveSet::UpTo(k) => (1..=limit.min(*k)).collect(),
            MoveSet::AllBut(moves) => those(&|m| moves.binary_search(&m).is_err()),
            MoveSet::Explicit(moves) => moves[..moves.partition_point(|m| *m <= limit)].to_vec(),
        }
    }

    /// The odd moves that are at most `limit`, in that many words or more: bit `i` is set if `2 i + 1` is a move.
    ///
    /// # Panics
    /// As [`MoveSet::up_to`]; but a byte holds 16 numbers.
    #[doc(hidden)]
    pub fn odd_up_to(&self, limit: u64, words: usize) -> Vec<u64> {
        match self {
            MoveSet::Primes => odd_primes_up_to(limit, words),
            _ => odd_row(&self.up_to(limit), words),
        }
    }

    /// The even moves that are at most `limit`, ascending.
    ///
    /// # Panics
    /// As [`MoveSet::up_to`].
    #[doc(hidden)]
    pub fn even_up_to(&self, limit: u64) -> Vec<u64> {
        match self {
            MoveSet::Primes => (2..=limit.min(2)).collect(),
            _ => even(&self.up_to(limit)).collect(),
        }
    }

    /// Estimates the peak memory of [`MoveSet::up_to`], in bytes, without making the list.
    pub fn bytes_up_to(&self, limit: u64) -> f64 {
        let n = limit as f64;
        // A list of unknown length grows by doubling: for a moment, the old and the new buffer both exist.
        let growing = |moves: f64| 3.0 * 8.0 * moves;
        match self {
            MoveSet::Squares | MoveSet::RandomSparse | MoveSet::Pronic => growing(n.sqrt()),
            MoveSet::Cubes => growing(n.cbrt()),
            MoveSet::Tetrahedral => growing((6.0 * n).cbrt()),
            MoveSet::Triangular => growing((2.0 * n).sqrt()),
            MoveSet::Pentagonal => growing((2.0 / 3.0 * n).sqrt() + 1.0),
            MoveSet::Hexagonal => growing((n / 2.0).sqrt() + 1.0),
            // pi(n) < 1.25506 n / ln n for n > 1 (Rosser and Schoenfeld 1962), plus the sieve.
            MoveSet::Primes => growing(1.25506 * n / n.max(2.0).ln()) + n / 16.0,
            // No more of them fit in 64 bits.
            MoveSet::Factorials | MoveSet::Fibonacci | MoveSet::Lucas | MoveSet::LucasFromOne | MoveSet::Powers(_) => {
                growing(93.0)
            }
            MoveSet::RandomDense => growing(n / 2.0),
            MoveSet::AllBut(_) => growing(n),
            MoveSet::UpTo(k) => 8.0 * limit.min(*k) as f64,
            MoveSet::Explicit(moves) => growing(moves.partition_point(|m| *m <= limit) as f64),
        }
    }

    /// The largest move, if the set is finite.
    pub fn largest(&self) -> Option<u64> {
        match self {
            MoveSet::UpTo(k) => Some(*k),
            MoveSet::Explicit(moves) => moves.last().copied(),
            _ => None,
        }
    }

    /// The moves that are at most `limit`, if there are at most `most` of them (`most` <= 62). Lists few others.
    pub fn few_up_to(&self, limit: u64, most: usize) -> Option<Vec<u64>> {
        /// Every dense set has more than 62 moves up to here.
        const PROBE: u64 = 10_000;
        let left_out = if let MoveSet::AllBut(moves) = self { moves.len() as u64 } else { 0 };
        if self.up_to(limit.min(PROBE + left_out)).len() > most {
            return None;
        }
        let moves = self.up_to(limit);
        if moves.len() > most { None } else { Some(moves) }
    }
}

/// The terms of a sequence from the first on that are at most `limit`, as long as they ascend.
fn terms_up_to(limit: u64, term: &dyn Fn(u128) -> u128) -> Vec<u64> {
    let mut moves = Vec::new();
    for i in 1.. {
        let term = term(i);
        if term > limit.into() || moves.last().is_some_and(|last| term <= u128::from(*last)) {
            break;
        }
        moves.push(term as u64);
    }
    moves
}

/// The numbers up to `limit` that are moves.
fn those_up_to(limit: u64, is_move: &dyn Fn(u64) -> bool) -> Vec<u64> {
    let mut moves = Vec::new();
    for m in 1..=limit {
        if is_move(m) {
            moves.push(m);
        }
    }
    moves
}

fn factorial(n: u128) -> u128 {
    let mut product = 1;
    for factor in 2..=n {
        product *= factor;
    }
    product
}

/// Term `i` of a sequence that begins with these two, where each is the sum of the two before it.
fn sum_of_last_two([mut a, mut b]: [u128; 2], i: u128) -> u128 {
    for _ in 1..i {
        (a, b) = (b, a + b);
    }
    a
}

/// The even numbers of a list.
#[doc(hidden)]
pub fn even(moves: &[u64]) -> impl Iterator<Item = u64> {
    moves.iter().copied().filter(|m| m % 2 == 0)
}

/// The odd numbers of a list, in a row of `words` words: bit `i` is set if `2 i + 1` is among them.
#[doc(hidden)]
pub fn odd_row(moves: &[u64], words: usize) -> Vec<u64> {
    let mut row = vec![0; words];
    for m in moves {
        if m % 2 == 1 {
            row[(m / 128) as usize] |= 1 << (m / 2 % 64);
        }
    }
    row
}

/// A pseudorandom number in 0..1 that depends only on `m`, so a set does not change with the limit. This is the output
/// function of SplitMix64 (Steele, Lea and Flood 2014).
#[doc(hidden)]
pub fn fraction(m: u64) -> f64 {
    let mut z = m.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31) as f64 / 2f64.powi(64)
}

/// The primes up to `limit`.
fn primes_up_to(limit: u64) -> Vec<u64> {
    let mut primes = Vec::new();
    if limit >= 2 {
        primes.push(2);
    }
    for (i, word) in odd_primes_up_to(limit, 0).iter().enumerate() {
        let mut left = *word;
        while left > 0 {
            primes.push(128 * i as u64 + 2 * u64::from(left.trailing_zeros()) + 1);
            left &= left - 1;
        }
    }
    primes
}

/// The odd primes up to `limit`, in that many words or more, `2 i + 1` as bit `i`, by the sieve of Eratosthenes.
///
/// It goes through the numbers in segments that fit in L1.
fn odd_primes_up_to(limit: u64, words: usize) -> Vec<u64> {
    /// Words of a segment: 32 KiB.
    const SEGMENT: usize = 1 << 12;
    let bits = usize::try_from(limit.div_ceil(2)).expect("a row that fits in memory");
    let mut row = vec![0; words.max(bits.div_ceil(64))];
    let sieve = &mut row[..bits.div_ceil(64)];
    sieve.fill(u64::MAX);
    if let Some(last) = sieve.last_mut() {
        *last >>= (64 - bits % 64) % 64;
        sieve[0] &= !1; // 1 is no prime
    }
    // Odd primes up to the root of the limit, and the next bit that each clears.
    let mut small = Vec::new();
    if limit >= 9 {
        for p in &primes_up_to(limit.isqrt())[1..] {
            small.push((*p as usize, (p * p / 2) as usize));
        }
    }
    for (segment, words) in sieve.chunks_mut(SEGMENT).enumerate() {
        let first = 64 * SEGMENT * segment;
        let end = 64 * words.len();
        for (p, next) in &mut small {
            let mut bit = *next - first;
            while bit < end {
                words[bit / 64] &= !(1 << (bit % 64));
                bit += *p;
            }
            *next = first + bit;
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_from_one_on_is_a_range() {
        let canonical = |text: &str| text.parse::<MoveSet>().expect(text).canonical().to_string();
        assert_eq!(
            ["1,2,3", "1..3", " 1, 2 ,3", "1", "2,3", "1,2,4", "squares"].map(canonical),
            ["1..3", "1..3", "1..3", "1..1", "2,3", "1,2,4", "squares"]
        );
    }

    #[test]
    fn primes_are_those_without_smaller_factors() {
        let primes: Vec<u64> = (2..600_000).filter(|n: &u64| (2..=n.isqrt()).all(|p| !n.is_multiple_of(p))).collect();
        for limit in (0..300).chain([16_383, 16_384, 262_143, 524_287, 524_288, 524_289, 599_999]) {
            let want = &primes[..primes.partition_point(|p| *p <= limit)];
            assert_eq!(primes_up_to(limit), want, "up to {limit}");
            let words = limit as usize / 128 + 3;
            assert_eq!(MoveSet::Primes.odd_up_to(limit, words), odd_row(want, words), "up to {limit}");
        }
    }

    #[test]
    fn named_sets_begin_as_they_should() {
        let sets = [
            ("squares", vec![1, 4, 9, 16, 25]),
            ("cubes", vec![1, 8, 27]),
            ("triangular", vec![1, 3, 6, 10, 15, 21, 28]),
            ("primes", vec![2, 3, 5, 7, 11, 13, 17, 19, 23, 29]),
            ("factorials", vec![1, 2, 6, 24]),
            ("fibonacci", vec![1, 2, 3, 5, 8, 13, 21]),
            ("lucas", vec![1, 2, 3, 4, 7, 11, 18, 29]),
            ("lucas-from-1", vec![1, 3, 4, 7, 11, 18, 29]),
            ("pentagonal", vec![1, 5, 12, 22]),
            ("hexagonal", vec![1, 6, 15, 28]),
            ("pronic", vec![2, 6, 12, 20, 30]),
            ("tetrahedral", vec![1, 4, 10, 20]),
            // Published answers depend on the random sets: they must never change.
            ("random-sparse", vec![3, 5, 7]),
            ("random-dense", vec![2, 3, 5, 6, 7, 9, 11, 17, 19, 24, 27, 28]),
            ("powers-of-3", vec![1, 3, 9, 27]),
            ("all-but:2,5", [1, 3, 4].into_iter().chain(6..=30).collect()),
            ("1..1", vec![1]),
            ("1..4", vec![1, 2, 3, 4]),
            ("7", vec![7]),
            ("2,7,40", vec![2, 7]),
        ];
        for (text, moves) in sets {
            let set: MoveSet = text.parse().expect(text);
            assert_eq!(set.to_string(), text);
            assert_eq!(set.up_to(30), moves, "{text}");
        }
        for (name, set) in NAMED {
            assert_eq!(set.up_to(0), [0; 0], "{set}");
            assert!(FORMS.contains(&name), "{name} is not listed");
            assert_eq!(name.parse::<MoveSet>(), Ok(set));
        }
        let to_the_end = ["lucas", "powers-of-2", "powers-of-18446744073709551615", "tetrahedral"];
        assert_eq!(
            to_the_end.map(|text| text.parse::<MoveSet>().expect(text).up_to(u64::MAX).len()),
            [93, 64, 2, 4_801_278]
        );
        assert_eq!([0, 1].map(|base| MoveSet::Powers(base).up_to(u64::MAX)), [[1], [1]]);
    }

    #[test]
    fn fractions_are_outputs_of_splitmix64() {
        // The first ones with the seed 0.
        let outputs = [0xe220_a839_7b1d_cdaf_u64, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        assert_eq!([1, 2, 3].map(fraction), outputs.map(|output| output as f64 / 2f64.powi(64)));
    }

    #[test]
    fn finite_sets_have_a_largest_move_and_few_moves_are_listed() {
        let set = |text: &str| text.parse::<MoveSet>().expect(text);
        assert_eq!(
            ["1..9", "2,70", "squares", "all-but:3"].map(|text| set(text).largest()),
            [Some(9), Some(70), None, None]
        );
        assert_eq!(set("squares").few_up_to(24, 4), Some(vec![1, 4, 9, 16]));
        assert_eq!(set("squares").few_up_to(25, 4), None);
        assert_eq!(set("2,7,20000").few_up_to(u64::MAX, 3), Some(vec![2, 7, 20_000]));
        assert_eq!(set("2,7,20000").few_up_to(u64::MAX, 2), None);
        assert_eq!(set("primes").few_up_to(u64::MAX, 62), None);
        // Two moves are left below the limit.
        let many: Vec<String> = (3..20_000).map(|m| m.to_string()).collect();
        assert_eq!(set(&format!("all-but:{}", many.join(","))).few_up_to(19_999, 62), Some(vec![1, 2]));
    }

    #[test]
    fn wrong_names_say_why() {
        let error = |text: &str| text.parse::<MoveSet>().expect_err(text);
        for text in ["powers-of-1", "powers-of-0", "powers-of-x", "powers-of-"] {
            assert_eq!(error(text), MoveSetError::Base(text.to_owned()));
        }
        let many: Vec<String> = (2..20_000).map(|m| m.to_string()).collect();
        let set: MoveSet = format!("all-but:{}", many.join(",")).parse().expect("a set");
        assert_eq!(set.few_up_to(u64::MAX, 62), None, "and no list of all moves is made");
        for text in ["1..0", "2..5", "1..", "..", "1..x"] {
            assert_eq!(error(text), MoveSetError::Range(text.to_owned()));
        }
        // A text names no file, whatever a command line makes of the @.
        for text in ["square", "-3", "a", "@/etc/passwd"] {
            assert_eq!(error(text), MoveSetError::Unknown(text.to_owned()));
        }
        assert_eq!(["", "  "].map(error), [MoveSetError::Empty, MoveSetError::Empty]);
        assert_eq!(error("a,2"), MoveSetError::NotANumber("a".to_owned()));
        assert_eq!(error("all-but:"), MoveSetError::NotANumber(String::new()));
        assert_eq!(error("all-but:3,2"), MoveSetError::NotAscending { after: 3, before: 2 });
    }

    #[test]
    fn invalid_lists_say_why() {
        let error = |moves: &[u64]| MoveSet::list(moves.to_vec()).expect_err("no set");
        assert_eq!(error(&[]), MoveSetError::Empty);
        assert_eq!(error(&[0, 1]), MoveSetError::Zero);
        assert_eq!(error(&[3, 2, 0]), MoveSetError::Zero);
        assert_eq!(error(&[1, 3, 3, 2]), MoveSetError::Duplicate(3));
        assert_eq!(error(&[1, 3, 2]), MoveSetError::NotAscending { after: 3, before: 2 });
    }

    #[test]
    fn each_move_is_odd_or_even() {
        for set in NAMED.map(|(_, set)| set) {
            for limit in [0, 1, 2, 3, 127, 128, 129, 5000] {
                let row = set.odd_up_to(limit, 40);
                let odd = (0..limit.div_ceil(2)).filter(|i| row[*i as usize / 64] >> (i % 64) & 1 == 1);
                let mut moves: Vec<u64> = odd.map(|i| 2 * i + 1).chain(set.even_up_to(limit)).collect();
                moves.sort_unstable();
                assert_eq!(moves, set.up_to(limit), "{set} up to {limit}");
            }
        }
    }

    /// While a list doubles, its contents are at most a third of the memory that it takes.
    #[test]
    fn the_memory_of_a_list_is_predicted() {
        let list = MoveSet::list(vec![5, 50, 5_000_000]).expect("ascending");
        let others = ["all-but:3,4", "powers-of-2", "1..700", "1..10000000"].map(|text| text.parse().expect(text));
        for set in NAMED.map(|(_, set)| set).into_iter().chain([list]).chain(others) {
            let bytes = if let MoveSet::UpTo(_) = set { 8.0 } else { 24.0 };
            // Of all limits, the bound on the primes is closest at 113.
            for limit in [0, 1, 2, 113, 12_345, 1_000_000] {
                let moves = set.up_to(limit).len() as f64;
                let predicted = set.bytes_up_to(limit);
                let sieve = if set == MoveSet::Primes { limit as f64 / 16.0 } else { 0.0 };
                let least = match set {
                    // They may have slightly more moves than expected.
                    MoveSet::RandomSparse | MoveSet::RandomDense => bytes * (0.9 * moves - 10.0),
                    _ => bytes * moves + sieve,
                };
                let most = match set {
                    MoveSet::Factorials
                    | MoveSet::Fibonacci
                    | MoveSet::Lucas
                    | MoveSet::LucasFromOne
                    | MoveSet::Powers(_) => 93.0 * bytes,
                    _ => bytes * (1.2 * moves + 10.0) + sieve,
                };
                assert!((least..=most).contains(&predicted), "{set} up to {limit}: {predicted} for {moves} moves");
            }
        }
        assert!(MoveSet::Primes.bytes_up_to(u64::MAX) > 1e18);
        assert_eq!(MoveSet::UpTo(u64::MAX).bytes_up_to(500_000_000), 4e9);
    }
}
