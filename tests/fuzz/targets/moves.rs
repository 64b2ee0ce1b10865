//! Any text is a set of moves or is refused; a set that was read, written and read again is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nimlanes::moves::{Diagonals, MoveSet};

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
});
