//! Tables of complete games.

use nimlanes::games::GAMES;

use super::Report;
use super::markdown::{Table, grouped, memory, size, time, times};
use crate::measuring::duel::Duel;
use crate::report::data::GameDuel;

impl Report<'_> {
    /// Each game at its published limit and at its largest.
    pub(super) fn complete_games(&self) -> String {
        let heads = ["game", "limit", "baseline", "best plain Rust", "selected kernels", "× the baseline"];
        let mut table = Table::new(&heads);
        for game in GAMES {
            let published = (game.name, game.published);
            let is_it =
                |GameDuel { duel: Duel { case, .. }, .. }: &&GameDuel| (&*case.operation, case.size) == published;
            let Some(GameDuel { duel, sets }) = self.data.games.iter().find(is_it) else { continue };
            let row = |set: &str| duel.rows.iter().find(|row| row.kernel == set);
            let rows = ["baseline", "best_plain", "best"].map(row);
            let ([Some(baseline), Some(plain), Some(selected)], Some(kernels)) = (rows, sets.get("baseline")) else {
                continue;
            };
            if self.are_baselines(kernels) {
                let medians = [baseline, plain, selected].map(|row| time(row.median_seconds));
                let cells = [game.name.to_owned(), size(game.published)].into_iter().chain(medians);
                table.row(cells.chain([times(selected.ratio)]));
            }
        }
        let text = table.below("Complete solutions at the published limits, all threads allowed, wall-clock time.");
        text + &self.furthest()
    }

    /// Whether kernels, as `operation=kernel`, are the baselines of their operations.
    fn are_baselines(&self, kernels: &[String]) -> bool {
        let is_baseline = |pair: &String| {
            let Some((operation, kernel)) = pair.split_once('=') else { return false };
            let Some(entry) = self.entries().find(|entry| entry.name() == operation) else { return false };
            let first = entry.kernels.first().is_some_and(|first| first.name == kernel);
            first || self.headline(&entry).is_some_and(|duel| duel.baseline == kernel)
        };
        kernels.iter().all(is_baseline)
    }

    /// Each game at its largest limit.
    pub(super) fn furthest(&self) -> String {
        let mut table = Table::new(&["game", "limit", "times the published", "answer", "time", "peak memory"]);
        for game in GAMES {
            let Some(far) = self.data.far.iter().filter(|far| far.game == game.name).max_by_key(|far| far.limit) else {
                continue;
            };
            table.row([
                game.name.to_owned(),
                size(far.limit),
                size(far.limit / game.published),
                grouped(&far.answer),
                time(far.seconds),
                memory(far.peak_bytes as f64),
            ]);
        }
        table.below("Far beyond the published limits, all threads:")
    }
}
