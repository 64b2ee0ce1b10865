//! The proof of a period, as text that others can check.

use std::fmt::{self, Write as _};

use super::{Proved, Theorem};
use crate::cores::octal::octal::{Code, Mask};

/// The proof of a period. `examples/check_certificate.rs` checks its text, and uses nothing of this library.
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
        f.write_str(&sealed(&text))
    }
}

/// With its hash at the end.
fn sealed(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{text}end {hash:016x}\n")
}

#[cfg(test)]
#[path = "../../../examples/check_certificate.rs"]
#[expect(dead_code, reason = "it has a main function")]
mod check_certificate;

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::super::{Journal, Progress, Start, stream};
    use super::check_certificate::check;
    use super::*;
    use crate::cores::octal::octal::Octal;
    use crate::cores::octal::sparse::portable;
    use crate::kernel::{Run, RunError};

    #[derive(Default)]
    struct Keep(Mutex<String>);

    impl Journal for Keep {
        fn keep(&self, _: &Progress, _: &Octal, _: bool) {}

        fn proved(&self, certificate: &dyn Fn() -> Result<Certificate, RunError>) -> Result<(), RunError> {
            *self.0.lock().expect("no panic") = certificate()?.to_string();
            Ok(())
        }
    }

    fn certificate(code: &str, limit: u64) -> String {
        let input = Octal::new(&code.parse().expect("a game"), limit).expect("a small limit");
        let keep = Arc::new(Keep::default());
        let start = Start::with_journal(Arc::clone(&keep) as Arc<dyn Journal>, None);
        stream::run(&input, &Run::new(1), start, portable::parts()).expect("it ends");
        keep.0.lock().expect("no panic").clone()
    }

    #[test]
    fn a_certificate_is_checked_and_a_changed_one_refused() {
        assert!(check(&sealed("nimlanes certificate 1\ncode 0.77\nperiod 12\nfrom 70\n")).is_err());
        let narrow = certificate("0.356", 100_000);
        assert!(narrow.contains("window "));
        assert!(check(&narrow).is_ok_and(|said| said.starts_with("0.356: period 142 from heap ")));
        let text = certificate("0.56", 600_000);
        assert_eq!(check(&text), Ok("0.56: period 144 from heap 326640".to_owned()));
        let (body, _) = text.split_once("end ").expect("a hash");
        assert_eq!(sealed(body), text);
        let damaged = text.replacen("period 144", "period 145", 1);
        assert!(check(&damaged).is_err_and(|reason| reason.contains("damaged")));
        // With another digit and the hash that fits it is refused by its values.
        let window = body.lines().filter(|line| line.starts_with("window")).nth(2).expect("windows");
        let (rest, last) = window.split_at(window.len() - 1);
        let other_value = format!("{rest}{}", if last == "0" { "1" } else { "0" });
        for (from, to) in [
            ("code 0.56", "code 0.57"),
            ("period 144", "period 146"),
            ("from 3", "from 4"),
            ("width ", "width 1\nwidth "),
            ("rare 1795", "rare 1794"),
            ("mask 9", "mask 8"),
            (window, &window.replacen("window ", "window 2", 1)),
            (window, &other_value),
        ] {
            let changed = body.replacen(from, to, 1);
            assert_ne!(changed, body, "{from}");
            assert!(check(&sealed(&changed)).is_err(), "{from} {to}");
        }
    }
}
