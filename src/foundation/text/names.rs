//! Suggestions for misspelt names.

use strsim::osa_distance;

/// The end of an error message: the allowed name closest to `given`, if any is close, and all allowed names.
pub fn hint<'a>(given: &str, allowed: impl IntoIterator<Item = &'a str>) -> String {
    hint_among(given, &allowed.into_iter().collect::<Vec<_>>())
}

/// [`hint`], compiled once for all lists of names.
fn hint_among(given: &str, allowed: &[&str]) -> String {
    let suggestion = nearest(given, allowed).map(|name| format!(" did you mean `{name}`?")).unwrap_or_default();
    let allowed = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
    format!(";{suggestion} allowed: {allowed}")
}

/// The name at the smallest edit distance from `given`, if that is at most a quarter of its length, rounded up.
fn nearest<'a>(given: &str, allowed: &[&'a str]) -> Option<&'a str> {
    let most = given.chars().count().div_ceil(4);
    let names = allowed.iter().map(|name| (osa_distance(given, name), *name));
    names.min().filter(|(distance, _)| (1..=most).contains(distance)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_close_names_are_suggested() {
        let allowed = ["bit_rows", "byte_rows", "bitvec_rows"];
        assert_eq!(nearest("bit_row", &allowed), Some("bit_rows"));
        assert_eq!(nearest("bti_rows", &allowed), Some("bit_rows"));
        assert_eq!(nearest("bytes_row", &allowed), Some("byte_rows"));
        assert_eq!(["", "x", "rows", "stamp"].map(|given| nearest(given, &allowed)), [None; 4]);
        assert_eq!(hint("x", []), "; allowed: none");
        assert_eq!(hint("x", ["flags", "stamp"]), "; allowed: flags, stamp");
        assert_eq!(hint("stamps", ["flags", "stamp"]), "; did you mean `stamp`? allowed: flags, stamp");
    }
}
