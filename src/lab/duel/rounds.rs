//! The order of turns within rounds, and of rounds over processes.

use std::time::{Duration, Instant};

use crate::kernel::case::Case;
use crate::lab::clock::{MIN_TURN, shortest_turn};
use crate::lab::known;

use super::{Checked, DuelError, Mode, Player, quantile, ratios};

/// Minimum number of rounds, even if they exceed the budget.
pub const MIN_ROUNDS: usize = 3;

/// Maximum number of rounds: more would add no information.
const MAX_ROUNDS: usize = 200;

/// Runs longer than this need no warm-up run to fill caches and page tables: only the first process checks their
/// outputs.
const LONG_RUN: Duration = Duration::from_millis(20);

/// List order and its reverse, alternately.
fn order(contenders: usize, round: usize) -> Vec<usize> {
    let mut order = Vec::new();
    for place in 0..contenders {
        order.push(if round.is_multiple_of(2) { place } else { contenders - 1 - place });
    }
    order
}

/// The share of the budget, or of the maximum number of rounds, that is spent: the larger of the two.
fn progress(rounds: usize, elapsed: Duration, budget: Duration) -> f64 {
    let spent = elapsed.as_secs_f64() / budget.as_secs_f64();
    spent.max(rounds as f64 / MAX_ROUNDS as f64).min(1.0)
}

/// Maximum number of runs in a turn.
const MAX_REPEATS: u64 = 10_000_000;

/// Runs in a turn of [`MIN_TURN`] or more, if one run takes about this long.
pub fn repeats(once: Duration) -> u64 {
    runs_in(once, MIN_TURN)
}

/// The same for a turn of another duration.
fn runs_in(once: Duration, shortest: Duration) -> u64 {
    (shortest.as_secs_f64() / once.as_secs_f64().max(1e-9)).ceil().clamp(1.0, MAX_REPEATS as f64) as u64
}

/// A turn that takes more than this many times as long as the best turn of its contender is left out: nothing makes a
/// single turn faster, but other work on the core and bad layouts make turns slower.
const DISTURBED: f64 = 1.1;

/// A process is in a slower mode if the probability that all its turns were disturbed by chance is below this. A duel
/// tests about a hundred pairs of a kernel and a process.
const CHANCE: f64 = 1e-4;

/// The times of a duel, by contender, round and process.
///
/// # Panics
/// Methods that take the number of a contender panic if there is no such contender.
#[derive(Clone, Debug)]
pub struct Played {
    /// Units of work in a run.
    pub work: u64,
    /// Number of processes that the rounds are spread over.
    pub processes: usize,
    rounds: Vec<Round>,
    /// Seconds of the best run of each contender.
    best: Vec<f64>,
}

/// One turn of each contender, all in one process.
#[derive(Clone, Debug)]
struct Round {
    process: usize,
    /// Seconds of a run, by contender.
    seconds: Vec<f64>,
}

/// Plays a duel: checks that all outputs agree, then times the contenders in turns until the budget is spent. Rounds go
/// to up to `processes` players in turn, so that machine drift affects all alike. `open` makes a player when it is
/// first needed; players are numbered from 0. There are fewer players if the runs are so long that the budget is spent
/// earlier. `names` are the names of the contenders, for errors. `enough` is called whenever all players have had as many
/// rounds, whether what was played suffices; `watch` receives the progress, from 0 to 1.
///
/// # Errors
/// Outputs differ or are wrong, a run was stopped, or a player failed.
pub fn play<P: Player>(
    case: &Case,
    names: &[String],
    processes: usize,
    budget: Duration,
    open: &mut dyn FnMut(usize) -> Result<P, DuelError>,
    enough: &mut dyn FnMut(&Played) -> bool,
    watch: &mut dyn FnMut(f64),
) -> Result<Played, DuelError> {
    /// Share of the progress bar for the first checks.
    const CHECKS: f64 = 0.1;
    let (processes, shortest) = (processes.clamp(1, MAX_ROUNDS), shortest_turn(budget, names.len()));
    let mut players: Vec<P> = Vec::new();
    let mut first: Vec<Checked> = Vec::new();
    let mut once: Vec<Duration> = Vec::new();
    let mut played = Played { work: 0, processes: 0, rounds: Vec::new(), best: vec![f64::INFINITY; names.len()] };
    let mut start = Instant::now();
    while played.rounds() < MIN_ROUNDS || start.elapsed() < budget && played.rounds() < MAX_ROUNDS {
        if players.len() < processes {
            let mut player = open(players.len())?;
            for (contender, name) in names.iter().enumerate() {
                if first.get(contender).is_some_and(|checked| !players.is_empty() && checked.once > LONG_RUN) {
                    continue;
                }
                let checked = player.check(contender)?;
                compare(case, &checked, name, first.first().map(|first| (first, names[0].as_str())))?;
                if players.is_empty() {
                    once.push(checked.once);
                    first.push(checked);
                    watch(CHECKS * (contender + 1) as f64 / names.len() as f64);
                }
            }
            if players.is_empty() {
                start = Instant::now();
            }
            players.push(player);
            played.processes = players.len();
        }
        // `lap` counts the earlier rounds of this process.
        let (process, lap) = (played.rounds() % processes, played.rounds() / processes);
        let player = &mut players[process];
        let mut round = Round { process, seconds: vec![0.0; names.len()] };
        // In each process, and from one to the next, the order alternates.
        for contender in order(names.len(), process + lap) {
            round.seconds[contender] = turn(player, contender, &mut once[contender], shortest)?;
        }
        for (contender, seconds) in round.seconds.iter().enumerate() {
            played.best[contender] = played.best[contender].min(*seconds);
        }
        played.rounds.push(round);
        watch(CHECKS + (1.0 - CHECKS) * progress(played.rounds(), start.elapsed(), budget));
        if process + 1 == processes && played.rounds() >= MIN_ROUNDS && enough(&played) {
            break;
        }
    }
    played.work = first.first().map_or(0, |checked| checked.work);
    Ok(played)
}

/// Plays a turn of a contender whose runs take about `once`, and returns the seconds of a run. A turn that was much
/// shorter than intended is inaccurate: it is played again with more runs, after `once` is corrected. The first run may
/// have been disturbed, or compiled less well than later ones, as engines of WebAssembly do.
fn turn<P: Player>(
    player: &mut P,
    contender: usize,
    once: &mut Duration,
    shortest: Duration,
) -> Result<f64, DuelError> {
    loop {
        let runs = runs_in(*once, shortest);
        let time = player.turn(contender, runs)?;
        let seconds = time.as_secs_f64() / runs as f64;
        if time >= shortest / 2 || runs == MAX_REPEATS {
            return Ok(seconds);
        }
        // The clock may show that the turn took no time at all.
        *once = Duration::from_secs_f64(seconds).max(*once / 10);
    }
}

/// Compares an output with that of the first contender; the output of the first itself, with the known answer.
fn compare(case: &Case, checked: &Checked, kernel: &str, first: Option<(&Checked, &str)>) -> Result<(), DuelError> {
    match first {
        None => match known::find(case) {
            Some(known) => known.check(&checked.digest).map_err(DuelError::WrongAnswer),
            None => Ok(()),
        },
        Some((first, _)) if first.digest == checked.digest => Ok(()),
        Some((first, baseline)) => Err(DuelError::outputs_differ([kernel, baseline], [&checked.digest, &first.digest])),
    }
}

impl Played {
    /// Number of rounds, in all processes.
    pub fn rounds(&self) -> usize {
        self.rounds.len()
    }

    fn is_disturbed(&self, round: &Round, contender: usize) -> bool {
        round.seconds[contender] > DISTURBED * self.best[contender]
    }

    /// The share of turns that are left out, from 0 to 1.
    pub fn disturbed(&self) -> f64 {
        let (mut turns, mut disturbed) = (0, 0);
        for round in &self.rounds {
            for contender in 0..self.best.len() {
                turns += 1;
                disturbed += usize::from(self.is_disturbed(round, contender));
            }
        }
        disturbed as f64 / turns.max(1) as f64
    }

    /// Median seconds of a run of a contender, over the turns that are not left out.
    pub fn median_seconds(&self, contender: usize) -> f64 {
        let mut good = Vec::new();
        for round in &self.rounds {
            if !self.is_disturbed(round, contender) {
                good.push(round.seconds[contender]);
            }
        }
        quantile(&mut good, 0.5)
    }

    /// The slower mode of a contender, if it has one: processes in which all its turns are left out, and too many turns
    /// for this to be chance, given the share that is left out in the other processes.
    pub fn slow_mode(&self, contender: usize) -> Option<Mode> {
        // Of each process: its turns, and how many of them are disturbed.
        let mut turns = vec![(0, 0); self.processes];
        for round in &self.rounds {
            let (turns, disturbed) = &mut turns[round.process];
            *turns += 1;
            *disturbed += usize::from(self.is_disturbed(round, contender));
        }
        // Of the processes that are not slow.
        let (mut all, mut by_chance) = (0, 0);
        for (turns, disturbed) in &turns {
            if disturbed < turns {
                all += turns;
                by_chance += disturbed;
            }
        }
        let share = by_chance as f64 / all.max(1) as f64;
        let is_mode = |process: usize| {
            let (turns, disturbed) = turns[process];
            disturbed == turns && turns >= MIN_ROUNDS && share.powi(turns as i32) < CHANCE
        };
        let mut seconds = Vec::new();
        for round in &self.rounds {
            if is_mode(round.process) {
                seconds.push(round.seconds[contender]);
            }
        }
        if seconds.is_empty() {
            return None;
        }
        let processes = (0..self.processes).filter(|process| is_mode(*process)).count();
        Some(Mode { median_seconds: quantile(&mut seconds, 0.5), processes })
    }

    /// The median time of `over` divided by that of `under`, between the bounds of the middle 80 % of this ratio in the
    /// rounds in which neither is disturbed, or in all rounds if there are too few of these.
    pub fn ratios(&self, over: usize, under: usize) -> [f64; 3] {
        let is_good = |round: &Round| !self.is_disturbed(round, over) && !self.is_disturbed(round, under);
        let are_few = self.rounds.iter().filter(|round| is_good(round)).count() < MIN_ROUNDS;
        let (mut of_over, mut of_under) = (Vec::new(), Vec::new());
        for round in &self.rounds {
            if are_few || is_good(round) {
                of_over.push(round.seconds[over]);
                of_under.push(round.seconds[under]);
            }
        }
        let ratio = self.median_seconds(over) / self.median_seconds(under);
        let [low, _, high] = ratios(&of_over, &of_under);
        [low.min(ratio), ratio, high.max(ratio)]
    }

    /// The ratio of the time of `over` to that of `under` in each round, by process. Disturbed rounds are among them: what disturbs
    /// both sides of a round cancels out.
    pub fn ratios_by_process(&self, over: usize, under: usize) -> Vec<Vec<f64>> {
        let mut ratios = vec![Vec::new(); self.processes];
        for round in &self.rounds {
            ratios[round.process].push(round.seconds[over] / round.seconds[under]);
        }
        ratios
    }

    /// The smallest and the largest ratio of the best times within a process; `None` if there is only one process.
    pub fn ratios_of_processes(&self, over: usize, under: usize) -> Option<[f64; 2]> {
        if self.processes < 2 {
            return None;
        }
        let mut best = vec![[f64::INFINITY; 2]; self.processes];
        for round in &self.rounds {
            let [of_over, of_under] = &mut best[round.process];
            *of_over = of_over.min(round.seconds[over]);
            *of_under = of_under.min(round.seconds[under]);
        }
        let (mut low, mut high) = (f64::INFINITY, 0f64);
        for [of_over, of_under] in best {
            low = low.min(of_over / of_under);
            high = high.max(of_over / of_under);
        }
        Some([low, high])
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::lab::clock::turn_within;

    /// A player whose times, in milliseconds per run, are given by process, contender and number of the round in the
    /// process.
    struct Fake<'a> {
        process: usize,
        turns: usize,
        times: &'a dyn Fn(usize, usize, usize) -> u64,
        checks: &'a RefCell<Vec<(usize, usize)>>,
    }

    impl Player for Fake<'_> {
        fn check(&mut self, contender: usize) -> Result<Checked, DuelError> {
            self.checks.borrow_mut().push((self.process, contender));
            let time = (self.times)(self.process, contender, 0);
            Ok(Checked { digest: Vec::new(), work: 7, once: Duration::from_millis(time) })
        }

        fn turn(&mut self, contender: usize, times: u64) -> Result<Duration, DuelError> {
            let time = (self.times)(self.process, contender, self.turns / 2);
            self.turns += 1;
            Ok(Duration::from_millis(time * times))
        }
    }

    /// Plays two contenders in five processes. Also returns the checks that were made.
    fn played(budget: Duration, times: &dyn Fn(usize, usize, usize) -> u64) -> (Played, Vec<(usize, usize)>) {
        let checks = RefCell::default();
        let mut open = |process| Ok(Fake { process, turns: 0, times, checks: &checks });
        let names = ["old", "new"].map(str::to_owned);
        let played = play(&Case::new("none", "-", 1), &names, 5, budget, &mut open, &mut |_| false, &mut |_| {})
            .expect("all agree");
        (played, checks.into_inner())
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_ratio_does_not_rest_on_the_slow_mode_of_its_baseline() {
        let times = |process: usize, contender: usize, _| [[10, 23, 23, 10, 23], [5; 5]][contender][process];
        let (played, _) = played(LONG, &times);
        assert_eq!((played.rounds(), played.processes, played.disturbed()), (MAX_ROUNDS, 5, 0.3));
        assert_eq!(played.ratios(0, 1), [2.0; 3]);
        assert_eq!(played.ratios_of_processes(0, 1), Some([2.0, 4.6]));
        assert_eq!(played.median_seconds(0), 0.01);
        assert_eq!(played.slow_mode(0), Some(Mode { median_seconds: 0.023, processes: 3 }));
        assert_eq!(played.slow_mode(1), None);
        let ratios = played.ratios_by_process(0, 1);
        assert_eq!(ratios.iter().map(Vec::len).collect::<Vec<_>>(), [MAX_ROUNDS / 5; 5]);
        assert_eq!([ratios[0][0], ratios[1][0]], [2.0, 4.6]);
    }

    #[test]
    fn a_duel_ends_after_a_lap_that_suffices() {
        let (checks, mut asked) = (RefCell::default(), Vec::new());
        let mut open = |process| Ok(Fake { process, turns: 0, times: &|_, _, _| 10, checks: &checks });
        let mut enough = |played: &Played| {
            asked.push(played.rounds());
            played.rounds() >= 15
        };
        let names = ["old", "new"].map(str::to_owned);
        let case = Case::new("none", "-", 1);
        let played = play(&case, &names, 5, LONG, &mut open, &mut enough, &mut |_| {}).expect("all agree");
        assert_eq!((played.rounds(), asked), (15, vec![5, 10, 15]));
    }

    #[test]
    fn a_turn_that_is_too_short_is_played_again() {
        struct Compiled(Vec<u64>);
        impl Player for Compiled {
            fn check(&mut self, _: usize) -> Result<Checked, DuelError> {
                unreachable!("it was checked")
            }
            fn turn(&mut self, _: usize, times: u64) -> Result<Duration, DuelError> {
                self.0.push(times);
                // A clock with steps of a tenth of a millisecond.
                Ok(Duration::from_micros(times * 20 / 100 * 100))
            }
        }
        let mut player = Compiled(Vec::new());
        let mut once = Duration::from_millis(4);
        let seconds = turn(&mut player, 0, &mut once, MIN_TURN).expect("it has no errors");
        assert!((seconds - 20e-6).abs() < 1e-6, "{seconds}");
        let Compiled(turns) = player;
        assert!(turns[0] == 2 && turns.len() < 5 && turns.is_sorted(), "{turns:?}");
    }

    /// The rounds that are played at least, by a clock of such steps. The time of the kernels is counted, by no clock.
    #[test]
    fn rounds_by_a_coarse_clock_take_no_longer_than_their_budget() {
        struct Coarse {
            step: Duration,
            taken: Duration,
        }
        impl Player for Coarse {
            fn check(&mut self, _: usize) -> Result<Checked, DuelError> {
                unreachable!("it was checked")
            }
            fn turn(&mut self, contender: usize, times: u64) -> Result<Duration, DuelError> {
                let steps = |time: Duration| time.as_nanos() / self.step.as_nanos();
                let end = self.taken + Duration::from_micros(times * (20 + 7 * contender as u64));
                let shown = self.step * (steps(end) - steps(self.taken)) as u32;
                self.taken = end;
                Ok(shown)
            }
        }
        const CONTENDERS: usize = 12;
        for (step, budget) in [(1_000, 2), (16_667, 2), (16_667, 5)] {
            let (step, budget) = (Duration::from_micros(step), Duration::from_secs(budget));
            let mut player = Coarse { step, taken: Duration::ZERO };
            let shortest = turn_within(budget, CONTENDERS, step);
            // The clock showed a step for the first run of each.
            let mut once = [step; CONTENDERS];
            for contender in (0..MIN_ROUNDS).flat_map(|round| order(CONTENDERS, round)) {
                turn(&mut player, contender, &mut once[contender], shortest).expect("it has no errors");
            }
            assert!(player.taken <= budget, "{step:?}: {:?}", player.taken);
        }
    }

    #[test]
    fn disturbed_turns_are_left_out() {
        let times = |_, contender: usize, round: usize| {
            let turn = if round.is_multiple_of(4) { [100, 50] } else { [150, 90] };
            turn[contender]
        };
        let (played, _) = played(LONG, &times);
        assert_eq!((played.ratios(0, 1), played.disturbed()), ([2.0; 3], 0.75));
        assert_eq!((played.slow_mode(0), played.slow_mode(1)), (None, None), "each process has good rounds");
    }

    #[test]
    fn a_process_that_was_disturbed_by_chance_is_no_mode() {
        let times = |process, _, round: usize| if process == 4 || !round.is_multiple_of(10) { 150 } else { 100 };
        assert_eq!(played(LONG, &times).0.slow_mode(0), None, "0.9 to the power of 40 is 0.015");
        let times = |process, _, round: usize| if process == 4 || !round.is_multiple_of(4) { 150 } else { 100 };
        assert_eq!(played(LONG, &times).0.slow_mode(0), Some(Mode { median_seconds: 0.15, processes: 1 }));
    }

    /// Three rounds in three processes do not separate busy neighbours from bad layouts.
    #[test]
    fn few_rounds_show_no_modes() {
        let (played, _) =
            played(Duration::ZERO, &|process, contender, _| [[100, 150, 150], [50, 90, 90]][contender][process]);
        assert_eq!((played.rounds(), played.slow_mode(0), played.slow_mode(1)), (MIN_ROUNDS, None, None));
        let [low, ratio, high] = played.ratios(0, 1);
        assert!(low < 1.7 && ratio == 2.0 && high == 2.0, "the range is of all rounds: {low} {ratio} {high}");
    }

    #[test]
    fn long_runs_use_no_more_processes_than_rounds_and_are_checked_once() {
        let (played, checks) = played(Duration::ZERO, &|_, contender, _| [100, 5][contender]);
        assert_eq!((played.rounds(), played.processes, played.work), (3, 3, 7));
        assert_eq!(checks, [(0, 0), (0, 1), (1, 1), (2, 1)]);
    }
}
