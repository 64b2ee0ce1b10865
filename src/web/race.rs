//! Races: duels of the library, reported turn by turn.

use std::time::Duration;

use nimlanes::cores::operation;
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::lab::clock::{coarse_step, shortest_turn};
use nimlanes::lab::duel::{
    Checked, Contender, Duel, DuelError, DuelOptions, Lineup, Local, Player, Row, Skipped, is_tie, play,
};
use nimlanes::machine::Machine;
use nimlanes::numbers::{number, within};
use nimlanes::units::{grouped, ratio};
use serde::{Deserialize, Serialize};

use crate::{Failure, Settings, say, time};

/// Kernels whose runs are predicted to take longer do not take part.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// How long a race takes besides its checks, in seconds, unless the request sets it.
const SECONDS: u64 = 5;

/// An operation, and the settings of a race: `workload`, `size` and `seconds`.
#[derive(Deserialize)]
pub struct Asked {
    name: String,
    settings: Settings,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Line<'a> {
    /// The kernels that take part, baseline first.
    Lineup { contenders: Vec<&'a str>, tiers: Vec<&'a str>, skipped: &'a [Skipped], size: u64, workload: &'a str },
    /// The output of a contender agrees with those of earlier ones.
    Checked { contender: usize, digest: String },
    /// The time of a run in a turn.
    Turn { contender: usize, seconds: f64, time: String },
    Duel {
        duel: &'a Duel,
        /// Those of each row.
        numbers: Vec<Numbers>,
        /// The winner, in words.
        verdict: String,
    },
}

/// The numbers of a row of a duel, as texts.
#[derive(Serialize)]
struct Numbers {
    time: String,
    ratio: String,
    spread: String,
}

impl From<&Row> for Numbers {
    fn from(row: &Row) -> Self {
        Numbers { time: time(row.median_seconds), ratio: ratio(row.ratio), spread: format!("±{:.1} %", row.spread()) }
    }
}

/// The winner of a duel, by how much, and how it was timed, in turns of `shortest` or more.
fn verdict(duel: &Duel, machine: &Machine, shortest: Duration) -> String {
    let Duel { case, baseline, disturbed, rows, .. } = duel;
    let Some(first) = rows.first() else { return "No kernel was timed.".to_owned() };
    let ahead = |second: &Row| match first.ratio_to(second) {
        [low, _, high] if is_tie([low, high]) => format!(", and ties with {}", second.kernel),
        [_, times, _] => format!(", {} times as fast as {}", ratio(times), second.kernel),
    };
    let rounded = coarse_step(shortest).map_or(String::new(), |step| {
        let step = time(step.as_secs_f64());
        format!(" The clock has steps of {step}, which round the times of turns: more seconds make them more exact.")
    });
    format!(
        "{} wins at {}: {} times as fast as {baseline}{}. {} rounds of turns of {} or more; {:.1} % of the turns were disturbed and \
         are left out.{rounded} Tier {}.",
        first.kernel,
        grouped(&case.size.to_string()),
        ratio(first.ratio),
        rows.get(1).map_or(String::new(), ahead),
        first.rounds,
        time(shortest.as_secs_f64()),
        100.0 * disturbed,
        machine.strongest_tier().name(),
    )
}

/// A player that reports what it does.
struct Telling<'a> {
    local: Local<'a>,
    /// A turn of half of that is played again.
    shortest: Duration,
}

impl Player for Telling<'_> {
    fn check(&mut self, contender: usize) -> Result<Checked, DuelError> {
        let checked = self.local.check(contender)?;
        let numbers = checked.digest.iter().map(|(name, number)| format!("{name} {number}"));
        tell(&Line::Checked { contender, digest: numbers.collect::<Vec<_>>().join(", ") })?;
        Ok(checked)
    }

    fn turn(&mut self, contender: usize, times: u64) -> Result<Duration, DuelError> {
        let time = self.local.turn(contender, times)?;
        if time >= self.shortest / 2 {
            let seconds = time.as_secs_f64() / times as f64;
            tell(&Line::Turn { contender, seconds, time: crate::time(seconds) })?;
        }
        Ok(time)
    }
}

fn tell(line: &Line) -> Result<(), DuelError> {
    say(line).map_err(|error| DuelError::Player(error.to_string()))
}

pub fn answer(Asked { name, mut settings }: Asked) -> Result<(), Failure> {
    let operation = operation(&name)?;
    let workload = settings.remove("workload").unwrap_or_else(|| operation.workloads()[0].name.to_owned());
    let published =
        operation.workloads().iter().find(|known| known.name == workload).map_or(0, |known| known.published);
    let mut count =
        |name: &str, read: &dyn Fn(&str) -> Result<u64, nimlanes::numbers::NumberError>, otherwise| match settings
            .remove(name)
        {
            None => Ok(otherwise),
            Some(text) => read(&text).map_err(|error| format!("{name} `{text}` is {error}")),
        };
    let size = count("size", &number, published)?;
    let budget = Duration::from_secs(count("seconds", &within(1..=600), SECONDS)?);
    if let Some(name) = settings.keys().next() {
        return Err(format!("a race has no setting `{name}`; allowed: workload, size, seconds").into());
    }
    let machine = Machine::detect();
    let session = operation.session(&Selection::new(machine), &workload, size)?;
    let (kernels, baseline, always_included) = (Vec::new(), None, Vec::new());
    let options = DuelOptions { kernels, baseline, threads: 1, budget, time_limit: TIME_LIMIT, always_included };
    let lineup = Lineup::new(session.as_ref(), &options)?;
    let Lineup { contenders, skipped, .. } = &lineup;
    say(&Line::Lineup {
        contenders: contenders.iter().map(|contender| contender.kernel.as_str()).collect(),
        tiers: contenders.iter().map(|contender| contender.tier.as_str()).collect(),
        skipped,
        size,
        workload: &workload,
    })?;
    let run = Run::new(1);
    let places: Vec<usize> = contenders.iter().map(|Contender { index, .. }| *index).collect();
    let shortest = shortest_turn(budget, places.len());
    let local = || Local::new(session.as_ref(), places.clone(), lineup.clock, shortest, &run);
    let mut open = |_| Ok(Telling { local: local(), shortest });
    let played = play(&lineup.case, &lineup.names(), 1, budget, &mut open, &mut |_| false, &mut |_| {})?;
    let duel = lineup.duel(&played, |number| number);
    let (numbers, verdict) = (duel.rows.iter().map(Numbers::from).collect(), verdict(&duel, &machine, shortest));
    say(&Line::Duel { duel: &duel, numbers, verdict })?;
    Ok(())
}
