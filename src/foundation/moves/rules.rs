//! The rules of a game on one heap, however they are given.

use std::str::FromStr;

use super::{Code, CodeError, FORMS, Famous, MoveSet, MoveSetError};
use crate::text::names::hint;

/// The rules of a game on one heap: a subtraction set, or the code of an octal or hexadecimal game.
///
/// A word of [`FAMOUS`](super::FAMOUS) and a text with a point are codes; but two points make a range of moves. All other texts are sets.
///
/// ```
/// # use nimlanes_foundation as nimlanes;
/// use nimlanes::moves::Rules;
/// let is_code = |text: &str| text.parse().map(|rules| matches!(rules, Rules::Code(_)));
/// assert_eq!(["kayles", "0.77", ".6"].map(is_code), [const { Ok(true) }; 3]);
/// assert_eq!(["squares", "1,4,9", "1..5"].map(is_code), [const { Ok(false) }; 3]);
/// assert!(is_code("kayle").unwrap_err().to_string().starts_with("unknown game `kayle`; did you mean `kayles`?"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rules {
    /// A move takes a number of this set from the heap.
    Moves(MoveSet),
    /// A move takes what the code allows, and may split the rest.
    Code(Code),
}

/// Why a text does not give the rules of a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RulesError {
    /// It is a word, but names neither a set nor a code.
    #[error("unknown game `{0}`{hint}, and codes such as 0.137, 4.3 or 0.[3]", hint = hint(.0, &words()))]
    Unknown(String),
    /// It should be a subtraction set.
    #[error(transparent)]
    Moves(#[from] MoveSetError),
    /// It should be a code.
    #[error(transparent)]
    Code(#[from] CodeError),
}

/// The words for sets and for codes.
fn words() -> Vec<&'static str> {
    let mut all = Famous::words();
    all.extend_from_slice(FORMS);
    all
}

impl FromStr for Rules {
    type Err = RulesError;

    fn from_str(text: &str) -> Result<Self, RulesError> {
        let has_point = text.split_once('.').is_some_and(|(_, rest)| !rest.starts_with('.'));
        if has_point || Famous::of_word(text).is_some() {
            return Ok(Rules::Code(text.parse()?));
        }
        match text.parse() {
            Ok(set) => Ok(Rules::Moves(set)),
            Err(MoveSetError::Unknown(text)) => Err(RulesError::Unknown(text)),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_of_one_kind_and_means_the_same_alone() {
        for word in words() {
            match (word.parse::<Rules>(), word.parse::<MoveSet>(), word.parse::<Code>()) {
                (Ok(Rules::Moves(set)), alone, Err(_)) => assert_eq!(alone, Ok(set), "{word}"),
                (Ok(Rules::Code(code)), Err(_), alone) => assert_eq!(alone, Ok(code), "{word}"),
                // Forms, such as `powers-of-k`.
                (Err(_), Err(_), Err(_)) => assert!(word.contains(['-', ' ']), "{word}"),
                all => panic!("{word}: {all:?}"),
            }
        }
    }

    #[test]
    fn an_error_is_of_the_kind_that_the_text_has() {
        let error = |text: &str| text.parse::<Rules>().expect_err(text);
        assert_eq!(error("square"), RulesError::Unknown("square".to_owned()));
        for text in ["", "4,2", "1..0", "..", "...", "powers-of-1", "all-but:"] {
            assert_eq!(error(text), RulesError::Moves(text.parse::<MoveSet>().expect_err(text)), "{text}");
        }
        for text in ["2.6", "0.9x", "0.77...", "1.5,2", "."] {
            assert_eq!(error(text), RulesError::Code(text.parse::<Code>().expect_err(text)), "{text}");
        }
    }
}
