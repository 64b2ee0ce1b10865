//! Whole games.

use crate::games::GAMES;
use crate::lab::known;
use crate::lab::report::data::{Far, GameDuel};
use crate::selection::bytes;

use super::Report;
use super::markdown::{Table, code, size, time, times};

impl Report<'_> {
    pub(super) fn games(&self) -> String {
        let mut table = Table::new(&["game", "limit", "kernels", "time", "ratio", "middle 80 %"]);
        let mut any = false;
        for GameDuel { game, limit, rows, .. } in self.data.games.iter().map(|saved| &saved.content) {
            for row in rows {
                any = true;
                let kernels = row.kernels.iter().map(|pair| code(pair)).collect::<Vec<_>>().join(" ");
                table.row([
                    game.clone(),
                    size(*limit),
                    format!("{}: {kernels}", row.cast.replace('_', " ")),
                    time(row.median_seconds),
                    format!("×{}", times(row.ratio)),
                    format!("{} .. {}", times(row.ratio_low), times(row.ratio_high)),
                ]);
            }
        }
        let intro = "A whole solution, by the wall: the source's kernels, the best scalar ones, and those that are selected (all threads allowed).";
        if any { format!("{intro}\n\n{}", table.end()) } else { String::new() }
    }

    pub(super) fn far(&self) -> String {
        let mut far: Vec<_> = self.data.far.iter().map(|saved| &saved.content).collect();
        let place = |name: &str| GAMES.iter().position(|game| game.name == name);
        far.sort_by_key(|far| (place(&far.game), far.limit));
        let heads = ["game", "limit", "× published", "answer", "time", "peak memory", "kernels", "answer known"];
        let mut table = Table::new(&heads);
        for Far { game, limit, answer, kernels, seconds, peak_bytes } in &far {
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
                if known::of_game(listed, *limit).is_some() { "yes" } else { "no" }.to_owned(),
            ]);
        }
        if far.is_empty() {
            return String::new();
        }
        format!(
            "One whole solution each, in a process of its own, by the wall, with the kernels that are selected and all threads. \
             A known answer was found elsewhere, by another program.\n\n{}",
            table.end()
        )
    }
}
