//! `nimlanes survey --sets`: the periods of all subtraction sets of some moves.

use std::collections::HashMap;
use std::iter::successors;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nimlanes::cores::mex::family::{Family, MAX_MOVE, MexFamily, Repeating};
use nimlanes::cores::mex::subtraction::{MexSubtraction, Subtraction, prove};
use nimlanes::cores::named::ByName;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::workload::InputError;
use nimlanes::kernel::{Operation, Run, RunError};
use nimlanes::lab::environment::Environment;
use nimlanes::machine::Machine;
use nimlanes::moves::MoveSet;

use super::Args;
use crate::files::saved::{Saved, SavedError, check_writable};
use crate::files::swept::{Found, Sets, Sweep, Swept, number_of_sets, read_all};
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;
use crate::terminal::monitor::Monitor;
use crate::terminal::output::print;

/// More sets at once are refused: what is known of them must fit in memory.
const MOST: u64 = 10_000_000;

/// How often the file is written. A job that is killed loses no more work than that; one that is asked to end, hardly any.
const KEPT_EVERY: Duration = Duration::from_secs(30);

/// Sets with moves that a kernel of families takes are done so many at once: some batches of it, but no long list to keep in order.
const AT_ONCE: usize = 2048;

/// Sweeps all sets of `count` moves up to `largest` that belong to the shard.
pub fn main(count: u64, largest: u64, args: &Args) -> Result<(), Failure> {
    check(count, largest, args.limit())?;
    let selection = args.kernels.selection_for("survey --sets", &[MexFamily::NAME])?;
    let selection = selection.with_kernel(MexSubtraction::NAME, "periodic")?;
    let machine = *selection.machine();
    let input = |limit| input(&(largest + 1 - count..=largest).collect::<Vec<_>>(), limit, &machine);
    selection.kernel_for::<MexSubtraction, _>(&input(args.limit())?, args.limit(), input)?;

    let name = format!("{count}-moves-up-to-{largest}{}", args.shard.suffix());
    let path = args.into.join(format!("{name}.jsonl"));
    check_writable(&path)?;
    let sweep = Sweep { sets: count, moves_up_to: largest, shard: args.shard.to_string(), milliseconds: 0 };
    let mut kept = Kept { sweep, sets: Sets::new(), path, environment: Environment::detect(&machine) };
    kept.resume()?;
    let known = if args.again { Sets::new() } else { read_all(&args.into)?.1 };
    // The time of what is replaced no longer counts once all of it is.
    let replaced = if args.again { kept.sweep.milliseconds } else { 0 };
    // The largest move predicts the work: the first prefix whose values are computed is a multiple of it.
    let mut deal = args.shard.dealer();
    let mine = sets(count as usize, largest).filter(|set| deal(set[set.len() - 1]));
    let (mut left, mut before) = (Vec::new(), 0);
    for set in mine {
        match known.get(&set).is_some_and(|found| found.is_final(args.limit())) {
            true => before += 1,
            false => left.push(set),
        }
    }
    let all = before + left.len();
    let run = interrupt::run(selection.threads());
    let monitor = Monitor::new(format!("survey: {name}"), &run, left.len() as u64);
    let find = |sets: &[Vec<u64>]| periods(sets, args.limit(), &selection, &run);
    let unproved = kept.fill(&left, replaced, find)?;
    drop(monitor);
    let nothing = match unproved {
        0 => String::new(),
        sets => format!(", {sets} without a period up to heap {}", args.limit()),
    };
    print(&format!("{name}: {all} sets, {before} of them known before{nothing}\n"))
}

/// The periods of sets whose moves are all small, or of others.
fn periods(sets: &[Vec<u64>], limit: u64, selection: &Selection, run: &Run) -> Result<Vec<Found>, Failure> {
    let are_small = is_small(&sets[0]);
    let together = if are_small { together(sets, limit, selection, run)? } else { HashMap::new() };
    let find = |set: &Vec<u64>| {
        if let Some(found) = together.get(set) {
            return Ok(*found);
        }
        // The others have been counted.
        run.advance(u64::from(!are_small))?;
        let proved = prove(&input(set, limit, selection.machine())?, run)?;
        Ok(proved.map_or(Found::Nothing { limit }, |(_, period)| period.into()))
    };
    sets.iter().map(find).collect()
}

/// The periods of sets by a kernel of families, as far as [`prove`] would surely find them below the limit, too.
fn together(
    sets: &[Vec<u64>],
    limit: u64,
    selection: &Selection,
    run: &Run,
) -> Result<HashMap<Vec<u64>, Found>, Failure> {
    // A list of as many sets has all of them.
    let family = Family::of_sets(sets.iter().map(Vec::as_slice))?.listing(sets.len());
    let found = match selection.kernel::<MexFamily>(&family)?.run(&family, run) {
        Err(RunError::GaveUp(_)) => Vec::new(),
        found => found?.longest_periods,
    };
    let named = |Repeating { set, period, preperiod }| (family.moves(set), Found::Period { period, preperiod });
    // It computes eight times as many heaps as the largest move, then twice as many each time.
    let is_near = |found: &Repeating| 8 * (MAX_MOVE + found.period + found.preperiod) < limit;
    Ok(found.into_iter().filter(is_near).map(named).collect())
}

/// Whether a kernel of families takes a set.
fn is_small(set: &[u64]) -> bool {
    set[set.len() - 1] <= MAX_MOVE
}

/// The file of a shard, and what it holds.
struct Kept {
    sweep: Sweep,
    sets: Sets,
    path: PathBuf,
    environment: Environment,
}

impl Kept {
    /// Loads what the file holds already.
    fn resume(&mut self) -> Result<(), SavedError> {
        if self.path.exists() {
            let (saved, lines): (Saved<Sweep>, Vec<Swept>) = Saved::read_lines(&self.path)?;
            self.sweep.milliseconds = saved.content.milliseconds;
            self.sets = lines.into_iter().map(|Swept { moves, found }| (moves, found)).collect();
        }
        Ok(())
    }

    /// Finds the periods of these sets and writes the file: now and then, at the end, and if the search is interrupted. What the file
    /// held stays until it is found again; that took `replaced` milliseconds. Returns how many have no proof.
    fn fill(
        &mut self,
        sets: &[Vec<u64>],
        replaced: u64,
        find: impl Fn(&[Vec<u64>]) -> Result<Vec<Found>, Failure>,
    ) -> Result<usize, Failure> {
        let (mut unproved, mut written, mut done) = (0, Instant::now(), 0);
        while done < sets.len() {
            // Those with larger moves come first, and one of them may take long.
            let at_once = if is_small(&sets[done]) { AT_ONCE } else { 1 };
            let some = &sets[done..sets.len().min(done + at_once)];
            let found = find(some);
            if let Ok(found) = &found {
                unproved += found.iter().filter(|found| matches!(found, Found::Nothing { .. })).count();
                self.sets.extend(some.iter().cloned().zip(found.iter().copied()));
                done += some.len();
            }
            let is_done = done == sets.len();
            if is_done || found.is_err() || written.elapsed() > KEPT_EVERY {
                self.sweep.milliseconds += written.elapsed().as_millis() as u64;
                written = Instant::now();
                if is_done {
                    self.sweep.milliseconds -= replaced;
                }
                self.write()?;
            }
            found?;
        }
        Ok(unproved)
    }

    fn write(&self) -> Result<(), SavedError> {
        let lines = self.sets.iter().map(|(moves, found)| Swept { moves: moves.clone(), found: *found });
        Saved::now(self.environment.clone(), self.sweep.clone()).write_lines(&self.path, lines)
    }
}

/// Whether the sets can be swept.
fn check(count: u64, largest: u64, limit: u64) -> Result<(), Failure> {
    let asked = format!("--sets {count} --moves-up-to {largest}");
    if count > largest {
        return Err(Failure::Usage(format!("{asked} has no sets; allowed: --moves-up-to {count} or more")));
    }
    if number_of_sets(count, largest).is_none_or(|number| number > MOST) {
        return Err(Failure::Usage(format!("{asked} has too many sets; allowed: up to {MOST} of them")));
    }
    if limit < largest {
        return Err(Failure::Usage(format!("--limit {limit} is below the largest move; allowed: {largest} or more")));
    }
    Ok(())
}

/// The sets of `count` moves up to `largest`, from those with the largest last move to `1..count`.
fn sets(count: usize, largest: u64) -> impl Iterator<Item = Vec<u64>> {
    let last = (largest + 1 - count as u64..=largest).collect();
    successors(Some(last), move |set: &Vec<u64>| {
        let place = (0..count).find(|place| set[*place] > *place as u64 + 1)?;
        let mut next = set.clone();
        next[place] -= 1;
        for below in (0..place).rev() {
            next[below] = next[below + 1] - 1;
        }
        Some(next)
    })
}

fn input(moves: &[u64], limit: u64, machine: &Machine) -> Result<Subtraction, InputError> {
    let set = MoveSet::list(moves.to_vec()).expect("moves are positive and not many");
    Subtraction::new(&set, limit, machine)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_set_comes_once_and_those_with_the_largest_moves_first() {
        for (count, largest) in [(1, 1), (1, 9), (3, 3), (3, 12), (4, 9), (9, 9)] {
            let sets: Vec<Vec<u64>> = sets(count, largest).collect();
            assert_eq!(Some(sets.len() as u64), number_of_sets(count as u64, largest));
            assert_eq!(sets.iter().collect::<BTreeSet<_>>().len(), sets.len());
            assert!(sets.iter().all(|set| set[0] > 0 && set.is_sorted_by(|a, b| a < b) && set.len() == count));
            assert!(sets.is_sorted_by_key(|set| u64::MAX - set[count - 1]));
        }
    }
}
