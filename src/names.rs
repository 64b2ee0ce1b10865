//! What to say of a name that nothing has.

use strsim::osa_distance;

/// The end of an error's line: the allowed name that `asked` was perhaps meant to be, and all that are allowed.
pub(crate) fn hint<'a>(asked: &str, allowed: impl IntoIterator<Item = &'a str>) -> String {
    let allowed: Vec<&str> = allowed.into_iter().collect();
    let meant = nearest(asked, &allowed).map(|name| format!(" did you mean `{name}`?")).unwrap_or_default();
    let allowed = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
    format!(";{meant} allowed: {allowed}")
}

/// The name that fewest changes lead to, if they are few beside its letters.
fn nearest<'a>(asked: &str, allowed: &[&'a str]) -> Option<&'a str> {
    let most = asked.chars().count().div_ceil(4);
    let names = allowed.iter().map(|name| (osa_distance(asked, name), *name));
    names.min().filter(|(changes, _)| (1..=most).contains(changes)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_is_meant() {
        let allowed = ["bit_rows", "byte_rows", "bitvec_rows"];
        assert_eq!(nearest("bit_row", &allowed), Some("bit_rows"));
        assert_eq!(nearest("bti_rows", &allowed), Some("bit_rows"));
        assert_eq!(nearest("bytes_row", &allowed), Some("byte_rows"));
        assert_eq!(["", "x", "rows", "stamp"].map(|asked| nearest(asked, &allowed)), [None; 4]);
        assert_eq!(hint("x", []), "; allowed: none");
        assert_eq!(hint("x", ["flags", "stamp"]), "; allowed: flags, stamp");
        assert_eq!(hint("stamps", ["flags", "stamp"]), "; did you mean `stamp`? allowed: flags, stamp");
    }
}
