//! The survey of octal games, as a page.

use std::path::{Path, PathBuf};

use super::sources;
use crate::saved::{Saved, SavedError};
use crate::surveyed::Surveyed;

/// The folder of what `survey` kept, and of the page.
pub const FOLDER: &str = "profiles/discoveries/octal";

/// The page; none if nothing was surveyed.
///
/// # Errors
/// A file cannot be read or holds something else.
pub fn files(made: &str) -> Result<Vec<(PathBuf, String)>, SavedError> {
    let folder = Path::new(FOLDER);
    let mut paths = sources::entries(folder)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    let mut games = paths.iter().map(|path| Saved::<Surveyed>::read(path)).collect::<Result<Vec<_>, _>>()?;
    games.sort_by_key(|game| (game.content.code.len(), game.content.code.clone()));
    match games.is_empty() {
        true => Ok(Vec::new()),
        false => {
            Ok(vec![(folder.join("README.md"), format!("{made}\n\n{}{}", include_str!("survey.md"), table(&games)))])
        }
    }
}

fn table(games: &[Saved<Surveyed>]) -> String {
    let periodic: Vec<String> = games
        .iter()
        .filter_map(|game| game.content.period.map(|period| format!("`{}`: {period}", game.content.code)))
        .collect();
    let found = match periodic.as_slice() {
        [] => "No period was found".to_owned(),
        found => format!("Periods were found in {} ({})", found.len(), found.join("; ")),
    };
    let mut text = format!("{found}, in {} games.\n\n", games.len());
    text += "| game | heaps | values a second | kernel | largest value | first at | rare heaps | last rare heap | mask | day | CPU |\n";
    text += "| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |\n";
    let or_dash = |number: Option<u64>| number.map_or("–".to_owned(), |number| number.to_string());
    for Saved { date, environment, content: game, .. } in games {
        let Surveyed { code, heaps, seconds, kernel, largest, largest_at, .. } = game;
        let day = date.split('T').next().unwrap_or(date);
        let (rare, last) = (or_dash(game.rare), or_dash(game.last_rare));
        let mask = game.mask.map_or("–".to_owned(), |mask| format!("{mask:#x}"));
        let rate = *heaps as f64 / seconds;
        let rate = if rate < 1e6 { format!("{:.0} k", rate / 1e3) } else { format!("{:.1} M", rate / 1e6) };
        text += &format!(
            "| `{code}` | {heaps} | {rate} | `{kernel}` | {largest} | {largest_at} | {rare} | {last} | {mask} | {day} | {} |\n",
            environment.microarchitecture
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use nimlanes::lab::environment::Environment;
    use nimlanes::machine::Machine;

    use super::*;
    use crate::surveyed::Period;

    #[test]
    fn the_table_has_a_row_for_each_game_and_names_periods() {
        let game = |code: &str, period| Surveyed {
            code: code.to_owned(),
            kernel: "greedy".to_owned(),
            threads: 1,
            clock: "thread".to_owned(),
            seconds: 2.0,
            heaps: 3_000_000,
            largest: 99,
            largest_at: 777,
            rare: Some(5),
            last_rare: Some(44),
            mask: Some(0x1e),
            period,
        };
        let period = Period { length: 34, preperiod: 53, saltus: 0, proved: true };
        let environment = Environment::detect(&Machine::detect());
        let games = [game("0.07", Some(period)), game("0.6", None)].map(|game| Saved::now(environment.clone(), game));
        let text = table(&games);
        assert!(
            text.starts_with("Periods were found in 1 (`0.07`: 34 from heap 53 on, proved), in 2 games.\n"),
            "{text}"
        );
        assert!(text.contains("| `0.6` | 3000000 | 1.5 M | `greedy` | 99 | 777 | 5 | 44 | 0x1e |"), "{text}");
        assert!(table(&games[1..]).starts_with("No period was found, in 1 games.\n"));
    }
}
