//! Codes of octal and hexadecimal games.

use std::fmt;
use std::str::FromStr;

use crate::text::names::hint;

/// The code of an octal or hexadecimal game, which says what moves are allowed.
///
/// The digit at place `k` says what may be left of a heap from which `k` are taken: bit 0 stands for nothing, bit 1 for
/// one heap, bit 2 for two heaps, bit 3 for three heaps, none of them empty. Digits up to 7 make an octal game, digits
/// up to F a hexadecimal one. Place 0 is before the point; there, only splits are moves. Digits in brackets are
/// repeated without end. `grundy` is Grundy's game: a move splits a heap into two that differ. The other words of [`FAMOUS`] stand
/// for their codes.
///
/// ```
/// # use nimlanes_foundation as nimlanes;
/// use nimlanes::moves::Code;
/// let kayles: Code = "0.77".parse()?;
/// assert_eq!([0, 1, 2, 3].map(|place| kayles.digit(place)), [0, 7, 7, 0]);
/// assert_eq!("kayles".parse::<Code>()?, kayles);
/// assert_eq!("0.[3]".parse::<Code>()?.digit(1_000_000), 3); // Nim
/// assert_eq!(".6".parse::<Code>()?.to_string(), "0.6");
/// assert!("2.6".parse::<Code>().is_err());
/// # Ok::<(), nimlanes::moves::CodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Code {
    /// The digits from place 0 on.
    digits: Vec<u8>,
    /// The number of digits at the end that are repeated.
    repeated: usize,
    /// Whether the heaps of a split must differ.
    is_unequal: bool,
}

/// Why a text is not the code of a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// There is no point, and it is no name.
    #[error("`{0}` is not a game{hint}, and codes such as 0.137, 4.3 or 0.[3]", hint = hint(.0, &Famous::words()))]
    NoPoint(String),
    /// The digit before the point allows a move that leaves the heap as it is or leaves nothing, or is not a digit.
    #[error("`{0}` in front of the point is not a digit of a game; allowed: 0, 4, 8, C or nothing")]
    First(String),
    /// There are no digits after the point, or none in the brackets.
    #[error("`{0}` has no digits behind the point, or none in brackets")]
    Empty(String),
    /// It ends in dots.
    #[error("`{text}` ends in dots; digits that are repeated are in brackets: `{bracketed}`")]
    Dots {
        /// The text.
        text: String,
        /// The code that is probably meant.
        bracketed: String,
    },
    /// A character after the point is not a hexadecimal digit.
    #[error("`{0}` is not a digit of a game; allowed: 0 to 7, and to F for splits into three heaps")]
    Digit(char),
    /// The brackets do not enclose the last digits.
    #[error("`{0}` has brackets that are not around its last digits, as in 0.1[3]")]
    Brackets(String),
}

/// A name of a game that has a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Famous {
    /// The name as a text that [`Code::from_str`] takes.
    pub word: &'static str,
    /// The name.
    pub name: &'static str,
    /// The code.
    pub code: &'static str,
    /// What to add to a heap of the code for the size in that game.
    pub more: i8,
}

const fn famous(word: &'static str, name: &'static str, code: &'static str, more: i8) -> Famous {
    Famous { word, name, code, more }
}

/// Games with a name. A word means the first code that has it.
///
/// Treblecross on `n` squares is a heap of `n + 2` of 0.007: a move spoils two squares on either side, also past the ends.
/// Couples-are-Forever splits heaps other than two, so a heap of `n` has the moves of `n - 1` officers.
pub const FAMOUS: [Famous; 11] = [
    famous("nim", "Nim", "0.[3]", 0),
    famous("kayles", "Kayles", "0.77", 0),
    famous("dawsons-kayles", "Dawson's Kayles", "0.07", 0),
    famous("dawsons-kayles", "Dawson's Kayles", "0.4", -1),
    famous("dawsons-chess", "Dawson's Chess", "0.137", 0),
    famous("treblecross", "Treblecross", "0.007", -2),
    famous("treblecross", "Treblecross", "0.04", -3),
    famous("officers", "Officers", "0.6", 0),
    famous("couples-are-forever", "Couples-are-Forever", "0.6", 1),
    famous("lasker", "Lasker's Nim", "4.[3]", 0),
    famous(GRUNDY, "Grundy's game", GRUNDY, 0),
];

/// The text of Grundy's game, which no digits describe.
const GRUNDY: &str = "grundy";

impl Famous {
    /// The games that the words of [`FAMOUS`] mean, one for each word.
    pub fn by_word() -> impl Iterator<Item = Famous> {
        let is_first = |game: &Famous| Some(game) == Famous::of_word(game.word).as_ref();
        FAMOUS.into_iter().filter(is_first)
    }

    /// The game that a word means.
    pub(super) fn of_word(word: &str) -> Option<Famous> {
        FAMOUS.into_iter().find(|game| game.word == word)
    }

    /// The words, each once.
    pub(super) fn words() -> Vec<&'static str> {
        let mut words = Vec::new();
        for game in FAMOUS {
            if !words.contains(&game.word) {
                words.push(game.word);
            }
        }
        words
    }
}

impl Code {
    /// The names of the game. Where a heap of `n` has another size under a name, that is said.
    ///
    /// ```
    /// # use nimlanes_foundation as nimlanes;
    /// use nimlanes::moves::Code;
    /// let officers: Code = "0.6".parse()?;
    /// assert_eq!(officers.names(), ["Officers", "Couples-are-Forever, of size n + 1 for a heap of n"]);
    /// # Ok::<(), nimlanes::moves::CodeError>(())
    /// ```
    pub fn names(&self) -> Vec<String> {
        let code = self.to_string();
        let mut names = Vec::new();
        for Famous { name, more, code: of_game, .. } in FAMOUS {
            if of_game != code {
                continue;
            }
            let sign = if more > 0 { '+' } else { '-' };
            names.push(match more.unsigned_abs() {
                0 => name.to_owned(),
                more => format!("{name}, of size n {sign} {more} for a heap of n"),
            });
        }
        names
    }

    /// The digit at a place; 0 past the last digit.
    pub fn digit(&self, place: usize) -> u8 {
        match place.checked_sub(self.digits.len()) {
            None => self.digits[place],
            Some(_) if self.repeated == 0 => 0,
            Some(past) => self.digits[self.digits.len() - self.repeated + past % self.repeated],
        }
    }

    /// The places up to `limit` whose digit is not 0, with their digits.
    #[doc(hidden)]
    pub fn moves(&self, limit: usize) -> Vec<(usize, u8)> {
        let end = if self.is_finite() { self.digits.len() } else { usize::MAX };
        let mut moves = Vec::new();
        for place in 0..end.min(limit.saturating_add(1)) {
            let digit = self.digit(place);
            if digit > 0 {
                moves.push((place, digit));
            }
        }
        moves
    }

    /// The last place with a digit other than 0; `None` if such digits are repeated without end. If there are none, the
    /// last place is 0.
    pub fn last_place(&self) -> Option<usize> {
        if !self.is_finite() {
            return None;
        }
        let mut last = 0;
        for (place, digit) in self.digits.iter().enumerate() {
            if *digit > 0 {
                last = place;
            }
        }
        Some(last)
    }

    /// The same game as results name it: with as few digits as possible.
    #[doc(hidden)]
    pub fn canonical(mut self) -> Self {
        if let Some(last) = self.last_place() {
            self.digits.truncate(last.max(1) + 1);
            self.repeated = 0;
            return self;
        }
        let mut from = self.digits.len() - self.repeated;
        let repeated = &self.digits[from..];
        let is_period = |length: usize| {
            repeated.len().is_multiple_of(length) && repeated[length..] == repeated[..repeated.len() - length]
        };
        let mut period = 1;
        while !is_period(period) {
            period += 1;
        }
        self.repeated = period;
        self.digits.truncate(from + self.repeated);
        // 0.3[73] is 0.[37].
        while from > 1 && self.digits.last() == Some(&self.digits[from - 1]) {
            self.digits.pop();
            from -= 1;
        }
        self
    }

    /// Whether a move may leave three heaps.
    pub fn has_three_parts(&self) -> bool {
        self.digits.iter().any(|digit| digit & 8 > 0)
    }

    /// Whether the heaps of a split must differ, as in Grundy's game.
    pub fn is_unequal(&self) -> bool {
        self.is_unequal
    }

    fn is_finite(&self) -> bool {
        self.digits[self.digits.len() - self.repeated..].iter().all(|digit| *digit == 0)
    }
}

impl FromStr for Code {
    type Err = CodeError;

    fn from_str(text: &str) -> Result<Self, CodeError> {
        if text == GRUNDY {
            return Ok(Code { digits: vec![4], repeated: 0, is_unequal: true });
        }
        if let Some(game) = Famous::of_word(text) {
            return game.code.parse();
        }
        if let Some(bracketed) = without_dots(text) {
            return Err(CodeError::Dots { text: text.to_owned(), bracketed });
        }
        let Some((first, rest)) = text.split_once('.') else { return Err(CodeError::NoPoint(text.to_owned())) };
        let first = match first {
            "" | "0" => 0,
            "4" => 4,
            "8" => 8,
            "C" | "c" => 12,
            _ => return Err(CodeError::First(first.to_owned())),
        };
        let brackets = rest.bytes().filter(|byte| matches!(byte, b'[' | b']')).count();
        let bracketed = rest.strip_suffix(']').and_then(|rest| rest.split_once('['));
        let (single, repeated) = match bracketed {
            Some(parts) if brackets == 2 => parts,
            None if brackets == 0 => (rest, ""),
            _ => return Err(CodeError::Brackets(text.to_owned())),
        };
        if if bracketed.is_some() { repeated } else { single }.is_empty() {
            return Err(CodeError::Empty(text.to_owned()));
        }
        let mut digits = vec![first];
        for part in [single, repeated] {
            for digit in part.chars() {
                digits.push(digit.to_digit(16).ok_or(CodeError::Digit(digit))? as u8);
            }
        }
        Ok(Code { digits, repeated: repeated.len(), is_unequal: false })
    }
}

/// A code that ends in dots, with its last digit in brackets instead: `0.[7]` for `0.777...`.
fn without_dots(text: &str) -> Option<String> {
    let rest = text.strip_suffix("...").or_else(|| text.strip_suffix('…'))?;
    let last = rest.chars().last().filter(char::is_ascii_hexdigit)?;
    let (first, digits) = rest.split_once('.')?;
    Some(format!("{first}.{}[{last}]", digits.trim_end_matches(last)))
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unequal {
            return f.write_str(GRUNDY);
        }
        let from = self.digits.len() - self.repeated;
        for (place, digit) in self.digits.iter().enumerate() {
            let before = if self.repeated > 0 && place == from { "[" } else { "" };
            let after = match place {
                0 => ".",
                _ if self.repeated > 0 && place == self.digits.len() - 1 => "]",
                _ => "",
            };
            write!(f, "{before}{digit:X}{after}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_has_one_canonical_code() {
        let canonical = |text: &str| text.parse::<Code>().expect(text).canonical().to_string();
        for (text, want) in [
            (".6", "0.6"),
            ("0.60", "0.6"),
            ("0.00", "0.0"),
            ("4.0[0]", "4.0"),
            ("grundy", "grundy"),
            ("0.7[7]", "0.[7]"),
            ("0.[3737]", "0.[37]"),
            ("0.13[73]", "0.1[37]"),
            ("0.[337]", "0.[337]"),
        ] {
            assert_eq!(canonical(text), want, "{text}");
        }
    }

    #[test]
    fn codes_are_printed_as_they_are_read() {
        let printed = |text: &str| text.parse::<Code>().map(|code| code.to_string());
        for text in ["0.6", "4.3", "0.137", "0.[3]", "0.12[34]", "C.F", "8.0", "grundy"] {
            assert_eq!(printed(text), Ok(text.to_owned()));
        }
        assert_eq!([printed(".6"), printed("c.af")], ["0.6", "C.AF"].map(|text| Ok(text.to_owned())));
    }

    #[test]
    fn names_are_words_for_codes() {
        for game in FAMOUS {
            let code: Code = game.word.parse().expect(game.word);
            assert!(code.names().iter().any(|name| name.starts_with(game.name)), "{}", game.word);
            assert_eq!(game.code.parse::<Code>().expect(game.code).to_string(), game.code);
        }
        let code = |text: &str| text.parse::<Code>().map(|code| code.to_string());
        assert_eq!(["treblecross", "lasker"].map(code), ["0.007", "4.[3]"].map(|text| Ok(text.to_owned())));
    }

    #[test]
    fn a_code_says_what_a_split_may_leave() {
        let of = |text: &str| text.parse::<Code>().map(|code| (code.has_three_parts(), code.is_unequal()));
        for (text, says) in
            [("0.7", (false, false)), ("0.18", (true, false)), ("0.9", (true, false)), ("grundy", (false, true))]
        {
            assert_eq!(of(text), Ok(says), "{text}");
        }
    }

    #[test]
    fn what_is_no_game_is_refused_with_a_reason() {
        let error = |text: &str| text.parse::<Code>().expect_err("no game");
        assert_eq!(error("6"), CodeError::NoPoint("6".to_owned()));
        let says = error("kailes").to_string();
        let begin =
            "`kailes` is not a game; did you mean `kayles`? allowed: nim, kayles, dawsons-kayles, dawsons-chess, ";
        assert!(says.starts_with(begin) && says.ends_with("grundy, and codes such as 0.137, 4.3 or 0.[3]"), "{says}");
        for first in ["1", "2", "7", "12", "F", "-"] {
            assert_eq!(error(&format!("{first}.6")), CodeError::First(first.to_owned()));
        }
        for text in ["0.", ".", "0.3[]", "0.[]"] {
            assert_eq!(error(text), CodeError::Empty(text.to_owned()));
        }
        for text in ["0.[3", "0.3]", "0.[3]4", "0.[[3]]", "0.[3][4]"] {
            assert_eq!(error(text), CodeError::Brackets(text.to_owned()));
        }
        assert_eq!([error("0.6G"), error("0.6.1"), error("0. 6")], ['G', '.', ' '].map(CodeError::Digit));
        for (text, meant) in [("0.777...", "0.[7]"), ("4.3…", "4.[3]"), (".1233...", ".12[3]"), ("0.F0...", "0.F[0]")]
        {
            assert!(error(text).to_string().ends_with(&format!(" in brackets: `{meant}`")), "{}", error(text));
            assert!(meant.parse::<Code>().is_ok());
        }
        assert_eq!(
            [error("0...."), error("0.[7]...")],
            [CodeError::Digit('.'), CodeError::Brackets("0.[7]...".to_owned())]
        );
    }

    #[test]
    fn digits_are_repeated_without_end() {
        let code: Code = "0.1[23]".parse().expect("a game");
        assert_eq!((0..8).map(|place| code.digit(place)).collect::<Vec<_>>(), [0, 1, 2, 3, 2, 3, 2, 3]);
        assert_eq!(code.moves(3), [(1, 1), (2, 2), (3, 3)]);
        let digits =
            |text: &str| (0..5).map(|place| text.parse::<Code>().expect("a game").digit(place)).collect::<Vec<_>>();
        assert_eq!([digits("0.01[2]"), digits("0.7")], [[0, 0, 1, 2, 2], [0, 7, 0, 0, 0]]);
        assert_eq!(code.last_place(), None);
        let last = |text: &str| text.parse::<Code>().expect("a game").last_place();
        assert_eq!([last("0.07"), last("0.70"), last("0.7[0]"), last("4.0")], [2, 1, 1, 0].map(Some));
    }
}
