//! Shards: parts of a long list of jobs, each for a process or machine of its own.

use std::ops::Range;
use std::str::FromStr;

/// More shards than any cluster has cores.
const MOST: u64 = 1_000_000;

/// One of the shards of a list, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    /// The part of a list of this many jobs, all alike, that belongs to this shard.
    pub fn range(self, jobs: u64) -> Range<u64> {
        let part = |index: u64| (u128::from(jobs) * u128::from(index) / u128::from(self.count)) as u64;
        part(self.index)..part(self.index + 1)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('/').map(|(index, count)| (index.parse(), count.parse())) {
            Some((Ok(index), Ok(count))) if index < count && count <= MOST => Ok(Shard { index, count }),
            _ => Err(format!("not a shard; allowed: K/N, where N is up to {MOST} and K from 0 to N - 1, as in 0/4")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_follow_one_another() {
        for jobs in [0, 1, 5, 1000, 1 << 62] {
            let ranges: Vec<_> = (0..7).map(|index| Shard { index, count: 7 }.range(jobs)).collect();
            assert!(ranges[0].start == 0 && ranges[6].end == jobs, "{jobs}");
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start), "{jobs}");
            assert!(ranges.iter().all(|range| (range.end - range.start).abs_diff(jobs / 7) <= 1), "{jobs}");
        }
    }
}
