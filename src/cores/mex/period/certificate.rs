//! What proves a period, as text that others can check.

use std::fmt::{self, Write as _};

use super::{Proved, Theorem};
use crate::cores::mex::octal::{Code, Mask};

/// What proves a period. `examples/check_certificate.rs` checks its text, and uses nothing of this library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    pub(super) code: Code,
    pub(super) proved: Proved,
    pub(super) windows: Option<Windows>,
}

/// Windows on the way to a repetition, each of which leads to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Windows {
    pub(super) mask: Mask,
    pub(super) last_rare: usize,
    /// The first heap of the windows that repeat.
    pub(super) from: u64,
    /// Heaps, ascending, and the values of those before them.
    pub(super) values: Vec<(u64, Vec<u16>)>,
}

impl Certificate {
    /// The certificate of a period that the theorem of Guy and Smith proves: the numbers alone, for its values are few.
    pub fn classical(code: &Code, proved: Proved) -> Option<Self> {
        let is_classical = proved.theorem == Theorem::GuySmith;
        is_classical.then(|| Certificate { code: code.clone(), proved, windows: None })
    }
}

/// A word and its numbers a line: `code`, `period`, and the heap `from` which it holds; for windows also their `width`, the last `rare`
/// heap, the `mask` of values with `value` or `position`, and each `window` as the heap after it and its values, two hexadecimal digits
/// each; and at the `end` the FNV-1a hash of all before.
impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Certificate { code, proved, windows } = self;
        let mut text = format!("nimlanes certificate 1\ncode {code}\nperiod {}\n", proved.period);
        match (windows, proved.theorem) {
            (Some(Windows { mask, last_rare, from, values }), Theorem::Window(width)) => {
                let kind = if mask.position.is_some() { "position" } else { "value" };
                writeln!(text, "from {from}\nwidth {width}\nrare {last_rare}\nmask {} {kind}", mask.values)?;
                for (heap, values) in values {
                    write!(text, "window {heap} ")?;
                    values.iter().try_for_each(|value| write!(text, "{value:02x}"))?;
                    writeln!(text)?;
                }
            }
            _ => writeln!(text, "from {}", proved.preperiod)?,
        }
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        writeln!(f, "{text}end {hash:016x}")
    }
}
