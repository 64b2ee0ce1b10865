//! Any text is a set of moves, a game or a size, or is refused; one that was read, written and read again is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nimlanes::moves::{Code, Diagonals, MoveSet};
use nimlanes::numbers::{number, within};

fuzz_target!(|text: &str| {
    if let Ok(set) = text.parse::<MoveSet>() {
        assert_eq!(set.to_string().parse(), Ok(set.clone()));
        let moves = set.up_to(1000);
        assert!(moves.is_sorted_by(|a, b| a < b) && moves.iter().all(|m| (1..=1000).contains(m)));
        assert!(set.few_up_to(1000, 62).is_none_or(|few| few == moves));
        assert!(set.bytes_up_to(1000) >= 8.0 * moves.len() as f64);
    }
    if let Ok(diagonals) = text.parse::<Diagonals>() {
        assert_eq!(diagonals.to_string().parse(), Ok(diagonals.clone()));
        assert!(diagonals.directions().all(|direction| !direction.contains(&0)));
    }
    if let Ok(code) = text.parse::<Code>() {
        assert_eq!(code.to_string().parse(), Ok(code));
    }
    if let Ok(n) = number(text) {
        assert_eq!(number(&n.to_string()), Ok(n));
    }
    let small = within(1..=64)(text);
    assert!(small.is_err() || small == number(text) && small.is_ok_and(|n| (1..=64).contains(&n)));
});
