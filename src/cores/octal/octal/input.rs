//! The input: a game and a limit.

use crate::kernel::workload::InputError;
use crate::moves::Code;
use crate::text::numbers::indexable;

const NAME: &str = "mex_octal";

/// The largest limit.
pub const MAX_LIMIT: u64 = indexable(1 << 48);

/// The largest limit of a code without a last digit, whose heaps have as many moves as beans.
pub const MAX_ENDLESS: u64 = 1 << 20;

/// A game and a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Octal {
    code: Code,
    limit: u64,
    /// The places of the code up to the limit whose digit is not 0, with their digits.
    moves: Vec<(usize, u8)>,
}

impl Octal {
    /// The heaps `0..=limit` of a game.
    ///
    /// # Errors
    /// The limit is above [`MAX_LIMIT`], or above [`MAX_ENDLESS`] for a code with repeated digits.
    pub fn new(code: &Code, limit: u64) -> Result<Self, InputError> {
        let most = if code.last_place().is_some() { MAX_LIMIT } else { MAX_ENDLESS };
        if limit > most {
            return Err(InputError::TooLarge { operation: NAME, size: limit, most });
        }
        Ok(Octal { code: code.clone(), limit, moves: code.moves(limit as usize) })
    }

    /// The game.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// The largest heap.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The number of heaps, `limit + 1`.
    pub fn heaps(&self) -> usize {
        self.limit as usize + 1
    }

    /// The moves of a heap of `n`: what is left of it, and the digit.
    #[inline(always)]
    pub fn moves(&self, n: usize) -> impl Iterator<Item = (usize, u8)> + '_ {
        self.moves.iter().take_while(move |(place, _)| *place <= n).map(move |(place, digit)| (n - place, *digit))
    }

    /// Whether a digit allows a move that leaves one heap of this size, or nothing.
    #[inline(always)]
    pub(crate) fn leaves(digit: u8, left: usize) -> bool {
        digit & if left == 0 { 1 } else { 2 } > 0
    }

    /// Whether the theorem on sparse space applies, at no cost beyond the rare heaps: two parts, and few moves.
    pub(crate) fn has_sparse_space(&self) -> bool {
        self.code.last_place().is_some() && !self.code.has_three_parts()
    }

    /// The places whose digit has this bit.
    pub(crate) fn places(&self, bit: u8) -> impl Iterator<Item = usize> + '_ {
        self.moves.iter().filter(move |(_, digit)| digit & bit > 0).map(|(place, _)| *place)
    }

    /// How many splits all heaps have, asymptotically.
    pub(crate) fn splits(&self) -> f64 {
        let n = self.limit as f64;
        let of_digit = |bit: u8| self.places(bit).map(|place| n - place as f64);
        of_digit(4).map(|n| n * n / 4.0).chain(of_digit(8).map(|n| n * n * n / 36.0)).sum()
    }
}
