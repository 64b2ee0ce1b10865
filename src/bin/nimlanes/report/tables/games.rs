//! Tables of complete games.

use crate::report::data::{FarSolution, GameDuel, GameRow};
use nimlanes::games::GAMES;
use nimlanes::lab::known;
use nimlanes::units::bytes;

use super::Report;
use super::markdown::{Table, code, size, time, times};

fn place(name: &str) -> Option<usize> {
    GAMES.iter().position(|game| game.name == name)
}

impl Report<'_> {
    pub(super) fn games(&self) -> String {
        let mut table = Table::new(&["game", "limit", "choice", "kernels", "time", "×", "middle 80 %"]);
        let mut any = false;
        let mut games: Vec<_> = self.data.games.iter().map(|saved| &saved.content).collect();
        games.sort_by_key(|duel| (place(&duel.game), duel.limit));
        for GameDuel { game, limit, rows, .. } in games {
            for row in rows {
                any = true;
                let kernels = row.kernels.iter().map(|pair| code(pair)).collect::<Vec<_>>().join(" ");
                table.row([
                    game.clone(),
                    size(*limit),
                    self.purpose(row),
                    kernels,
                    time(row.median_seconds),
                    format!("×{}", times(row.ratio)),
                    format!("{} .. {}", times(row.ratio_low), times(row.ratio_high)),
                ]);
            }
        }
        let intro = "Complete solutions, wall-clock time. The source's algorithm is the first kernel of each list that can process \
                     the limit within the time limit of published sizes; if that is not a kernel that \"Summary\" \
                     compares against, the row says so. Then follow the kernels predicted to be fastest in plain Rust, \
                     and the selected ones, with all threads allowed.";
        if any { format!("{intro}\n\n{}", table.end()) } else { String::new() }
    }

    /// How the kernels of a row were chosen.
    fn purpose(&self, row: &GameRow) -> String {
        let is_source = |pair: &String| {
            let Some((operation, kernel)) = pair.split_once('=') else { return false };
            let Some(listed) = self.listed().find(|listed| listed.operation.name() == operation) else { return false };
            let first = listed.kernels.first().is_some_and(|first| first.name == kernel);
            first || self.headline(&listed).is_some_and(|duel| duel.baseline == kernel)
        };
        match row.kernel_set.as_str() {
            "baseline" if row.kernels.iter().all(is_source) => "the source's algorithm",
            "baseline" => "the first that are fast enough",
            "best_plain" => "the best plain Rust",
            _ => "selected",
        }
        .to_owned()
    }

    /// Each game at its largest limit.
    pub(super) fn furthest(&self) -> String {
        let far: Vec<_> = self.data.far.iter().map(|saved| &saved.content).collect();
        let mut table = Table::new(&["game", "limit", "times the published", "answer", "time", "peak memory"]);
        let mut any = false;
        for game in GAMES {
            let Some(far) = far.iter().filter(|far| far.game == game.name).max_by_key(|far| far.limit) else {
                continue;
            };
            any = true;
            table.row([
                game.name.to_owned(),
                size(far.limit),
                size(far.limit / game.published),
                far.answer.clone(),
                time(far.seconds),
                bytes(far.peak_bytes as f64),
            ]);
        }
        if any { format!("Far beyond the published limits, all threads:\n\n{}", table.end()) } else { String::new() }
    }

    pub(super) fn far(&self) -> String {
        let mut far: Vec<_> = self.data.far.iter().map(|saved| &saved.content).collect();
        far.sort_by_key(|far| (place(&far.game), far.limit));
        let heads = ["game", "limit", "× published", "answer", "time", "peak memory", "kernels", "answer known"];
        let mut table = Table::new(&heads);
        for FarSolution { game, limit, answer, kernels, seconds, peak_bytes } in &far {
            let Some(listed) = place(game).map(|place| &GAMES[place]) else { continue };
            table.row([
                game.clone(),
                size(*limit),
                size(limit / listed.published),
                answer.clone(),
                time(*seconds),
                bytes(*peak_bytes as f64),
                kernels
                    .iter()
                    .map(|(operation, kernel)| code(&format!("{operation}={kernel}")))
                    .collect::<Vec<_>>()
                    .join(" "),
                if known::find_game(listed, *limit).is_some() { "yes" } else { "no" }.to_owned(),
            ]);
        }
        if far.is_empty() {
            return String::new();
        }
        format!(
            "One complete solution each, in its own process, wall-clock time, with the selected kernels and all threads. A known \
             answer was computed independently by another program.\n\n{}",
            table.end()
        )
    }
}
