//! Any text is a size or is refused; a size that is written and read again is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nimlanes::numbers::{number, within};

fuzz_target!(|text: &str| {
    match number(text) {
        Ok(n) => assert_eq!(number(&n.to_string()), Ok(n)),
        Err(why) => assert!(!why.to_string().is_empty()),
    }
    let small = within(1..=64)(text);
    assert!(small.is_err() || small == number(text) && small.is_ok_and(|n| (1..=64).contains(&n)));
});
