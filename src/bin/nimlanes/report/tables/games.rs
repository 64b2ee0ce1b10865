//! Tables of complete games.

use crate::report::TABLES;
use crate::report::data::{FarSolution, GameDuel, GameRow};
use nimlanes::games::GAMES;
use nimlanes::lab::known;

use super::Report;
use super::markdown::{Table, code, grouped, memory, size, time, times};

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
    pub(super) fn games_in_short(&self) -> String {
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
        let text = text + &self.furthest();
        if text.is_empty() {
            text
        } else {
            format!("{text}More limits, and the kernels used: [games]({TABLES}/games.md).")
        }
    }

    /// All duels and far solutions.
    pub(super) fn all_games(&self) -> String {
        let mut table = Table::new(&["game", "limit", "choice", "kernels", "time", "×", "middle 80 %"]);
        for GameDuel { game, limit, rows, .. } in self.game_duels() {
            for row in rows {
                let kernels = row.kernels.iter().map(|pair| code(pair)).collect::<Vec<_>>().join(" ");
                table.row([
                    game.clone(),
                    size(*limit),
                    self.choice(row).to_owned(),
                    kernels,
                    time(row.median_seconds),
                    format!("×{}", times(row.ratio)),
                    format!("{} .. {}", times(row.ratio_low), times(row.ratio_high)),
                ]);
            }
        }
        let duels = table.below(
            "Complete solutions, wall-clock time. The baseline is the first kernel of each list that can process the limit within \
             the time limit of published sizes; if that is not a baseline of an operation, the row says so. Then follow the kernels \
             predicted to be fastest in plain Rust, and the selected ones, with all threads allowed.",
        );
        duels + &self.far()
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

    /// How the kernels of a row were chosen.
    fn choice(&self, row: &GameRow) -> &'static str {
        match row.kernel_set.as_str() {
            "baseline" if self.is_baseline(row) => "the baseline",
            "baseline" => "the first that are fast enough",
            "best_plain" => "the best plain Rust",
            _ => "selected",
        }
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

    fn far(&self) -> String {
        let mut far: Vec<_> = self.data.far.iter().map(|saved| &saved.content).collect();
        far.sort_by_key(|far| (place(&far.game), far.limit));
        let heads = ["game", "limit", "× published", "answer", "time", "peak memory", "kernels", "answer known"];
        let mut table = Table::new(&heads);
        for FarSolution { game, limit, answer, kernels, seconds, peak_bytes } in far {
            let Some(listed) = place(game).map(|place| &GAMES[place]) else { continue };
            let kernels = kernels.iter().map(|(operation, kernel)| code(&format!("{operation}={kernel}")));
            table.row([
                game.clone(),
                size(*limit),
                size(limit / listed.published),
                grouped(answer),
                time(*seconds),
                memory(*peak_bytes as f64),
                kernels.collect::<Vec<_>>().join(" "),
                if known::find_game(listed, *limit).is_some() { "yes" } else { "no" }.to_owned(),
            ]);
        }
        table.below(
            "Far beyond the published limits: one complete solution each, in its own process, wall-clock time, with the selected \
             kernels and all threads. A known answer was computed independently by another program.",
        )
    }
}
