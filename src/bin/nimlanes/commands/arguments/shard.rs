//! Shards: parts of a long list of jobs, each for a process or machine of its own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
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

/// A text that names no shard.
#[derive(Debug, thiserror::Error)]
#[error("not a shard; allowed: K/N, where N is up to {MOST} and K from 0 to N - 1, as in 0/4")]
pub struct NoShard;

impl Shard {
    /// The jobs that belong to this shard, in their order, given their predicted work. The longest are dealt first, each to the shard that
    /// has the least work so far: all shards have about the same.
    pub fn of<T>(self, jobs: Vec<T>, work: impl Fn(&T) -> u64) -> Vec<T> {
        let mut longest_first: Vec<(Reverse<u64>, usize)> =
            jobs.iter().map(|job| Reverse(work(job))).zip(0..).collect();
        longest_first.sort_unstable();
        let mut shards: BinaryHeap<_> = (0..self.count).map(|shard| Reverse((0, shard))).collect();
        let mut is_here = vec![false; jobs.len()];
        for (Reverse(work), job) in longest_first {
            let Some(mut least) = shards.peek_mut() else { break };
            let Reverse((sum, shard)) = &mut *least;
            *sum += work;
            is_here[job] = *shard == self.index;
        }
        jobs.into_iter().zip(is_here).filter_map(|(job, is_here)| is_here.then_some(job)).collect()
    }

    /// The part of a list of this many jobs, all alike, that belongs to this shard.
    pub fn range(self, jobs: u64) -> Range<u64> {
        let part = |index: u64| (u128::from(jobs) * u128::from(index) / u128::from(self.count)) as u64;
        part(self.index)..part(self.index + 1)
    }

    /// What it adds to the name of a file; nothing if it is the whole list.
    pub fn suffix(self) -> String {
        match self {
            Shard { count: 1, .. } => String::new(),
            Shard { index, count } => format!("-shard-{index}-of-{count}"),
        }
    }
}

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let (index, count) = text.split_once('/').ok_or(NoShard)?;
        let [index, count] = [index, count].map(|text| text.parse::<u64>().map_err(|_| NoShard));
        let (index, count) = (index?, count?);
        if index < count && count <= MOST { Ok(Shard { index, count }) } else { Err(NoShard) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(count: u64) -> impl Iterator<Item = Shard> {
        (0..count).map(move |index| Shard { index, count })
    }

    #[test]
    fn each_job_is_in_one_shard_and_work_is_even() {
        let jobs: Vec<u64> = (0..1000).map(|i| 1 + i * i % 997).collect();
        for count in [1, 2, 3, 64, 1000, 2000] {
            let dealt: Vec<Vec<u64>> = shards(count).map(|shard| shard.of(jobs.clone(), |job| *job)).collect();
            let mut all = dealt.concat();
            all.sort_unstable();
            let mut want = jobs.clone();
            want.sort_unstable();
            assert_eq!(all, want, "{count}");
            let sums = dealt.iter().map(|jobs| jobs.iter().sum::<u64>());
            let (least, most) = sums.fold((u64::MAX, 0), |(least, most), sum| (least.min(sum), most.max(sum)));
            assert!(most - least <= 997, "{count}: {least} to {most}");
        }
    }

    #[test]
    fn a_long_job_outweighs_many_short_ones() {
        let jobs = vec![1, 1, 1, 9, 1, 1, 1, 1, 1, 1];
        let dealt: Vec<Vec<u64>> = shards(2).map(|shard| shard.of(jobs.clone(), |job| *job)).collect();
        assert_eq!(dealt, [vec![9], vec![1; 9]]);
    }

    #[test]
    fn ranges_follow_one_another() {
        for jobs in [0, 1, 5, 1000, 1 << 62] {
            let ranges: Vec<Range<u64>> = shards(7).map(|shard| shard.range(jobs)).collect();
            assert!(ranges[0].start == 0 && ranges[6].end == jobs, "{jobs}");
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start), "{jobs}");
            assert!(ranges.iter().all(|range| (range.end - range.start).abs_diff(jobs / 7) <= 1), "{jobs}");
        }
    }

    #[test]
    fn a_shard_is_one_of_those_that_there_are() {
        for (text, shard) in [("0/1", [0, 1]), ("3/4", [3, 4]), ("999999/1000000", [999_999, 1_000_000])] {
            assert_eq!(text.parse::<Shard>().expect("a shard"), Shard { index: shard[0], count: shard[1] });
        }
        for text in ["", "1", "1/1", "4/4", "-1/4", "0/0", "0/1000001", "a/b", "0/4/2", "1.5/4"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
