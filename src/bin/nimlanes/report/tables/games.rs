//! Tables of complete games.

use nimlanes::games::GAMES;

use super::MachineReport;
use super::markdown::{MarkdownTable, grouped, memory, size, time, times};
use crate::measuring::duel::Duel;

impl MachineReport<'_> {
    /// Each game at its published limit and at its largest.
    pub(super) fn complete_games(&self) -> String {
        let heads = ["game", "limit", "baseline", "best plain Rust", "selected kernels", "× the baseline"];
        let mut table = MarkdownTable::new(&heads);
        for game in GAMES {
            let is_it = |duel: &&Duel| (duel.case.operation.as_str(), duel.case.size) == (game.name, game.published);
            let Some(duel) = self.data.games.iter().find(is_it) else { continue };
            let row = |set: &str| duel.rows.iter().find(|row| row.kernel == set);
            let [Some(baseline), Some(plain), Some(selected)] = ["baseline", "best_plain", "best"].map(row) else {
                continue;
            };
            let medians = [baseline, plain, selected].map(|row| time(row.median_seconds));
            let cells = [game.name.to_owned(), size(game.published)].into_iter().chain(medians);
            table.row(cells.chain([times(selected.ratio)]));
        }
        let text = table.below("Complete solutions at the published limits, all threads allowed, wall-clock time.");
        text + &self.furthest()
    }

    /// Each game at its largest limit.
    pub(super) fn furthest(&self) -> String {
        let mut table = MarkdownTable::new(&["game", "limit", "times the published", "answer", "time", "peak memory"]);
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
