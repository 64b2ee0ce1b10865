//! Suggestions for misspelt names.

use strsim::osa_distance;

/// The end of an error message: the allowed name closest to `given`, if any is close, and all allowed names.
pub fn hint(given: &str, allowed: &[&str]) -> String {
    let all = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
    match nearest(given, allowed) {
        Some(name) => format!("; did you mean `{name}`? allowed: {all}"),
        None => format!("; allowed: {all}"),
    }
}

/// The name at the smallest edit distance from `given`, if that is at most a quarter of its length, rounded up. Of several, the first
/// in alphabetical order.
fn nearest<'a>(given: &str, allowed: &[&'a str]) -> Option<&'a str> {
    let most = given.chars().count().div_ceil(4);
    let mut nearest = None;
    for name in allowed {
        let found = (osa_distance(given, name), *name);
        if nearest.is_none_or(|best| found < best) {
            nearest = Some(found);
        }
    }
    let (distance, name) = nearest?;
    if (1..=most).contains(&distance) { Some(name) } else { None }
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
        assert_eq!(hint("x", &[]), "; allowed: none");
        assert_eq!(hint("x", &["flags", "stamp"]), "; allowed: flags, stamp");
        assert_eq!(hint("stamps", &["flags", "stamp"]), "; did you mean `stamp`? allowed: flags, stamp");
    }
}
