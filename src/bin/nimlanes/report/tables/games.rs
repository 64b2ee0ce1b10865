//! Tables of complete games.

use crate::report::data::{GameDuel, GameRow};
use nimlanes::games::GAMES;

use super::Report;
use super::markdown::{Table, grouped, memory, size, time, times};

fn place(name: &str) -> Option<usize> {
    GAMES.iter().position(|game| game.name == name)
}

impl Report<'_> {
    /// Duels of games, in the order of the list.
    fn game_duels(&self) -> Vec<&GameDuel> {
        let mut duels: Vec<_> = self.data.games.iter().map(|saved| &saved.content).collect();
        duels.sort_by_key(|duel| (place(&duel.game), duel.limit));
        duels
    }

    /// Each game at its published limit and at its largest.
    pub(super) fn complete_games(&self) -> String {
        let heads = ["game", "limit", "baseline", "best plain Rust", "selected kernels", "× the baseline"];
        let mut table = Table::new(&heads);
        for GameDuel { game, limit, rows, .. } in self.game_duels() {
            let is_published = place(game).is_some_and(|place| GAMES[place].published == *limit);
            let [baseline, plain, selected] = rows.as_slice() else { continue };
            if is_published && self.is_baseline(baseline) {
                table.row([
                    game.clone(),
                    size(*limit),
                    time(baseline.median_seconds),
                    time(plain.median_seconds),
                    time(selected.median_seconds),
                    times(selected.ratio),
                ]);
            }
        }
        let text = table.below("Complete solutions at the published limits, all threads allowed, wall-clock time.");
        text + &self.furthest()
    }

    /// Whether the kernels of a row are the baselines of their operations.
    fn is_baseline(&self, row: &GameRow) -> bool {
        let is_baseline = |pair: &String| {
            let Some((operation, kernel)) = pair.split_once('=') else { return false };
            let Some(entry) = self.entries().find(|entry| entry.name() == operation) else { return false };
            let first = entry.kernels.first().is_some_and(|first| first.name == kernel);
            first || self.headline(&entry).is_some_and(|duel| duel.baseline == kernel)
        };
        row.kernels.iter().all(is_baseline)
    }

    /// Each game at its largest limit.
    pub(super) fn furthest(&self) -> String {
        let far: Vec<_> = self.data.far.iter().map(|saved| &saved.content).collect();
        let mut table = Table::new(&["game", "limit", "times the published", "answer", "time", "peak memory"]);
        for game in GAMES {
            let Some(far) = far.iter().filter(|far| far.game == game.name).max_by_key(|far| far.limit) else {
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
