//! What a survey keeps about subtraction sets: a file for each shard, with a line for each set.

use std::collections::BTreeMap;
use std::path::Path;

use nimlanes::cores::mex::subtraction;
use serde::{Deserialize, Serialize};

use crate::files::saved::{Measured, Saved, SavedError, entries};

/// The first line of a file: which sets were asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sweep {
    /// The number of moves in a set.
    pub sets: u64,
    /// The largest move.
    pub moves_up_to: u64,
    /// The part of these sets: `K/N`.
    pub shard: String,
    /// How long it took in all.
    pub milliseconds: u64,
}

impl Measured for Sweep {
    const KIND: &'static str = "subtraction-sets";
}

/// A set, and what was found. A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swept {
    /// The moves, ascending.
    pub moves: Vec<u64>,
    /// The period of its values.
    #[serde(flatten)]
    pub found: Found,
}

/// The period of the values of a set, or how far it was searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Found {
    /// It is proved.
    Period {
        /// The length of the repetition.
        period: u64,
        /// The first heap from which it holds.
        preperiod: u64,
    },
    /// No period is proved.
    Nothing {
        /// The largest heap of the search.
        limit: u64,
    },
}

impl From<subtraction::Period> for Found {
    fn from(found: subtraction::Period) -> Self {
        Found::Period { period: found.period as u64, preperiod: found.preperiod as u64 }
    }
}

impl Found {
    /// Whether a search up to `limit` would find nothing more.
    pub fn is_final(self, limit: u64) -> bool {
        match self {
            Found::Period { .. } => true,
            Found::Nothing { limit: searched } => searched >= limit,
        }
    }
}

/// Sets by their moves.
pub type Sets = BTreeMap<Vec<u64>, Found>;

/// The number of sets of `count` moves up to `largest`; none if it passes 64 bits.
pub fn number_of_sets(count: u64, largest: u64) -> Option<u64> {
    (0..count).try_fold(1u64, |number, i| Some(number.checked_mul(largest.saturating_sub(i))? / (i + 1)))
}

/// The files of a folder, and the sets in all of them.
///
/// # Errors
/// A file cannot be read or holds something else, or two contradict each other.
pub fn read_all(folder: &Path) -> Result<(Vec<Saved<Sweep>>, Sets), SavedError> {
    let (mut sweeps, mut sets) = (Vec::new(), Sets::new());
    for path in entries(folder)? {
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let (sweep, lines) = Saved::read_lines::<Swept>(&path)?;
        sweeps.push(sweep);
        for Swept { moves, found } in lines {
            match (sets.get(&moves), found) {
                (Some(known @ Found::Period { .. }), Found::Period { .. }) if *known != found => {
                    let reason = format!("another file has another period of {moves:?}");
                    return Err(SavedError::Invalid { path, reason });
                }
                (Some(Found::Period { .. }), _) => {}
                (Some(Found::Nothing { limit: known }), Found::Nothing { limit }) if *known >= limit => {}
                _ => drop(sets.insert(moves, found)),
            }
        }
    }
    Ok((sweeps, sets))
}

#[cfg(test)]
mod tests {
    use nimlanes::lab::environment::Environment;
    use nimlanes::machine::Machine;

    use super::*;

    #[test]
    fn files_of_a_folder_are_merged_unless_they_contradict_each_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, lines: &[(u64, Found)]| {
            let sweep = Sweep { sets: 1, moves_up_to: 9, shard: "0/1".to_owned(), milliseconds: 5 };
            let lines = lines.iter().map(|(m, found)| Swept { moves: vec![*m], found: *found });
            let saved = Saved::now(Environment::detect(&Machine::detect()), sweep);
            saved.write_lines(&folder.path().join(name), lines).expect("writable");
        };
        let proved = |period| Found::Period { period, preperiod: 0 };
        write("a.jsonl", &[(1, proved(2)), (2, Found::Nothing { limit: 9 }), (3, proved(6))]);
        write("b.jsonl", &[(1, proved(2)), (2, proved(4)), (3, Found::Nothing { limit: 9 })]);
        write("other.json", &[(1, proved(7))]);
        let (sweeps, sets) = read_all(folder.path()).expect("two files");
        assert_eq!(sweeps.len(), 2);
        assert_eq!(sets, [(1, 2), (2, 4), (3, 6)].map(|(m, period)| (vec![m], proved(period))).into());
        write("c.jsonl", &[(2, proved(5))]);
        let error = read_all(folder.path()).expect_err("they differ").to_string();
        assert!(error.contains("c.jsonl") && error.contains("[2]"), "{error}");
    }

    #[test]
    fn sets_are_counted() {
        let counts = [(1, 5), (3, 64), (3, 2), (5, 64), (40, 1000)].map(|(k, m)| number_of_sets(k, m));
        assert_eq!(counts, [Some(5), Some(41_664), Some(0), Some(7_624_512), None]);
    }
}
