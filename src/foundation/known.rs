//! Known answers from outside the project, for tests, `verify` and the assertions in benches. No kernel reads them.

use crate::kernel::case::Case;

const TABLE: &str = include_str!("known.tsv");

/// One known answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Known {
    /// The operation, workload and size; or the game, its variant (`-` if it has none) and its limit.
    pub case: Case,
    /// The known numbers, named as in [`crate::kernel::Operation::digest`].
    pub figures: Vec<(&'static str, u128)>,
}

/// All known answers.
///
/// # Panics
/// The table in the source is malformed; a test reads all of it.
pub fn all() -> impl Iterator<Item = Known> {
    TABLE.lines().filter_map(known)
}

/// What a line of the table says; nothing if it is a comment.
fn known(line: &'static str) -> Option<Known> {
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let mut fields = line.split('\t');
    let mut field = || fields.next().expect("four fields");
    let case = Case::new(field(), field(), field().parse().expect("a size"));
    let mut figures = Vec::new();
    for figure in field().split(' ') {
        let (name, value) = figure.split_once('=').expect("name=value");
        figures.push((name, value.parse().expect("a whole number")));
    }
    Some(Known { case, figures })
}

/// The known answer of a case, if there is one.
pub fn find(case: &Case) -> Option<Known> {
    all().find(|known| known.case == *case)
}

impl Known {
    /// The number with this name, if it is known.
    pub fn figure(&self, name: &str) -> Option<u128> {
        for (known, figure) in &self.figures {
            if *known == name {
                return Some(*figure);
            }
        }
        None
    }

    /// Compares a digest with the known numbers.
    ///
    /// # Errors
    /// A message that names a number that differs or is missing.
    pub fn check(&self, digest: &[(impl AsRef<str>, u128)]) -> Result<(), String> {
        let Known { case, figures } = self;
        for (name, want) in figures {
            match digest.iter().find(|(n, _)| n.as_ref() == *name) {
                Some((_, got)) if got == want => {}
                Some((_, got)) => return Err(format!("{case}: {name} is {got}, but the known value is {want}")),
                None => return Err(format!("{case}: there is no number named {name}")),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_or_missing_number_is_an_error() {
        let known = find(&Case::new("table_scan", "all-moves", 1000)).expect("in the table");
        assert_eq!(known.check(&[("sum", 167_542_057), ("positions", 121_060)]), Ok(()));
        assert!(known.check(&[("sum", 167_542_058), ("positions", 121_060)]).is_err());
        assert!(known.check(&[("sum", 167_542_057)]).is_err());
    }

    #[test]
    fn no_input_is_listed_twice() {
        let mut keys: Vec<_> = all().map(|known| known.case).collect();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }
}
