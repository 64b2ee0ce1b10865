//! Moves that take from both heaps.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::text::numbers::is_whole;

/// A list of moves that take from both heaps. With `p:q` in the list, a player may take `p t` from one heap and `q t`
/// from the other, either way round, for any `t > 0`. Taking any amount from one heap is always allowed.
///
/// `1:1` is Wythoff's game, `1:1,1:2` is Proportionate Nim, and the empty list (written `none`) is Nim. Common factors
/// matter: `2:4` takes 2 and 4, or 4 and 8, but not 3 and 6. Listing a move twice is an error.
///
/// The term is Larsson's ("A generalized diagonal Wythoff Nim", Integers 12, 2012).
///
/// ```
/// # use nimlanes_foundation as nimlanes;
/// use nimlanes::moves::Diagonals;
/// let diagonals: Diagonals = "2:1,1:1".parse()?;
/// assert_eq!(diagonals, Diagonals::PUBLISHED);
/// assert_eq!(diagonals.to_string(), "1:1,1:2");
/// assert!("1:2,2:1".parse::<Diagonals>().is_err());
/// # Ok::<(), nimlanes::moves::DiagonalsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagonals(Cow<'static, [[u16; 2]]>);

/// Why a list of diagonals is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiagonalsError {
    /// The text is empty.
    #[error("the list of moves is empty; write p:q as in 1:1,1:2, or none for Nim")]
    Empty,
    /// An item is not of the form `p:q`.
    #[error("`{0}` is not p:q with whole numbers, as in 1:1,1:2")]
    NotAPair(String),
    /// A number is too large.
    #[error("`{0}` has a number above 65535")]
    TooLarge(String),
    /// A move takes nothing.
    #[error("0:0 takes nothing")]
    Nothing,
    /// A move takes from one heap only.
    #[error("{0}:{1} takes from one heap only; taking any amount from one heap is always allowed")]
    OneHeap(u16, u16),
    /// A move is listed twice, perhaps once in each order.
    #[error("the list of moves has {0}:{1} twice ({1}:{0} is the same move)")]
    Duplicate(u16, u16),
}

impl Diagonals {
    /// The diagonals of Proportionate Nim: `1:1,1:2`.
    pub const PUBLISHED: Diagonals = Diagonals(Cow::Borrowed(&[[1, 1], [1, 2]]));

    /// Makes a list of the diagonals `p:q`, given in any order.
    ///
    /// # Errors
    /// A pair contains 0, or a move is listed twice.
    pub fn new(list: &[[u16; 2]]) -> Result<Self, DiagonalsError> {
        let mut pairs: Vec<[u16; 2]> = Vec::with_capacity(list.len());
        for [p, q] in list {
            let pair = [*p.min(q), *p.max(q)];
            match pair {
                [0, 0] => return Err(DiagonalsError::Nothing),
                [0, more] => return Err(DiagonalsError::OneHeap(0, more)),
                _ => {}
            }
            match pairs.binary_search(&pair) {
                Ok(_) => return Err(DiagonalsError::Duplicate(pair[0], pair[1])),
                Err(place) => pairs.insert(place, pair),
            }
        }
        Ok(Diagonals(pairs.into()))
    }

    /// Every move with `t = 1`, as `[from the first heap, from the second]`, both ways round.
    pub fn directions(&self) -> impl Iterator<Item = [usize; 2]> {
        self.0.iter().flat_map(|[p, q]| {
            let (p, q) = (usize::from(*p), usize::from(*q));
            [Some([p, q]), (p != q).then_some([q, p])].into_iter().flatten()
        })
    }
}

impl FromStr for Diagonals {
    type Err = DiagonalsError;

    fn from_str(text: &str) -> Result<Self, DiagonalsError> {
        match text.trim() {
            "" => return Err(DiagonalsError::Empty),
            "none" => return Diagonals::new(&[]),
            _ => {}
        }
        let mut pairs = Vec::new();
        for part in text.split(',') {
            let part = part.trim();
            let Some((p, q)) = part.split_once(':') else { return Err(DiagonalsError::NotAPair(part.to_owned())) };
            let mut pair = [0; 2];
            for (number, text) in pair.iter_mut().zip([p.trim(), q.trim()]) {
                if !is_whole(text) {
                    return Err(DiagonalsError::NotAPair(part.to_owned()));
                }
                *number = text.parse().map_err(|_| DiagonalsError::TooLarge(part.to_owned()))?;
            }
            pairs.push(pair);
        }
        Diagonals::new(&pairs)
    }
}

impl fmt::Display for Diagonals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        let mut before = "";
        for [p, q] in self.0.iter() {
            write!(f, "{before}{p}:{q}")?;
            before = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_lists_say_why() {
        let error = |text: &str| text.parse::<Diagonals>().expect_err(text);
        assert_eq!(error(" "), DiagonalsError::Empty);
        assert_eq!(error("0:0"), DiagonalsError::Nothing);
        assert_eq!(error("1:1,3:0"), DiagonalsError::OneHeap(0, 3));
        assert_eq!(error("1:2,1:1,2:1"), DiagonalsError::Duplicate(1, 2));
        assert_eq!(error("1:65536"), DiagonalsError::TooLarge("1:65536".to_owned()));
        assert_eq!(
            error("1:99999999999999999999999"),
            DiagonalsError::TooLarge("1:99999999999999999999999".to_owned())
        );
        for text in ["1", "1:", ":", "1:1,", "1:-2", "1:+2", "1:2:3", "squares", "1.5:2"] {
            assert!(matches!(error(text), DiagonalsError::NotAPair(_)), "{text}");
        }
    }

    #[test]
    fn order_does_not_matter_and_common_factors_do() {
        let read = |text: &str| text.parse::<Diagonals>().expect(text);
        assert_eq!(read(" 2:1 , 1:1"), Diagonals::PUBLISHED);
        assert_ne!(read("2:4"), read("1:2"));
        assert_eq!(read("none").directions().count(), 0);
        assert_eq!(read("1:1,3:2").directions().collect::<Vec<_>>(), [[1, 1], [2, 3], [3, 2]]);
    }
}
