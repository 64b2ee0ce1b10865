//! The survey of octal games, as a page.

use std::path::{Path, PathBuf};

use nimlanes::moves::Code;

use super::far;
use crate::files::folder;
use crate::files::saved::{Saved, SavedError, day};
use crate::files::surveyed::{Surveyed, mask_in_words};
use crate::report::tables::markdown::{Table, grouped};

/// The folder of what `survey` kept, and of the page.
pub const FOLDER: &str = "profiles/discoveries/octal";
/// Within it the folder of what other kernels found in some of the games.
pub const CHECKED: &str = "checked";

type Game = Saved<Surveyed>;

/// The page; none if nothing was surveyed.
///
/// # Errors
/// A file cannot be read or holds something else.
pub fn files(made: &str) -> Result<Vec<(PathBuf, String)>, SavedError> {
    let folder = Path::new(FOLDER);
    let games = read(folder)?;
    if games.is_empty() {
        return Ok(Vec::new());
    }
    let text = include_str!("survey.md").to_owned()
        + &periods(&games, &read(&folder.join(CHECKED))?)
        + &far::section(&folder.join(far::FOLDER))?
        + &table(&games);
    Ok(vec![(folder.join("README.md"), format!("{made}\n\n{text}"))])
}

/// The tables of the paper on windows: the periods that they prove, and the games that are sparse by position.
///
/// # Errors
/// A file cannot be read or holds something else.
pub fn of_windows() -> Result<String, SavedError> {
    let folder = Path::new(FOLDER);
    let periods = far::table(&far::read(&folder.join(far::FOLDER))?);
    let by_position = by_position(&read(folder)?);
    let below = if by_position.is_empty() { "" } else { include_str!("of_positions.md") };
    Ok(format!("{}\n{periods}\n{below}\n{by_position}", include_str!("of_windows.md")))
}

/// The games that are sparse by position.
fn by_position(games: &[Game]) -> String {
    let mut table = Table::new(&["game", "mask", "rare heaps", "the last", "largest value", "heaps"]);
    for game in games.iter().map(|game| &game.content).filter(|game| game.by_position) {
        if let (Some(mask), Some(rare), Some(last)) = (game.mask, game.rare, game.last_rare) {
            let numbers = [rare, last, game.largest.into(), game.heaps].map(|number| grouped(&number.to_string()));
            let [rare, last, largest, heaps] = numbers;
            let heaps = if game.period.is_some_and(|period| period.proved) { "all".to_owned() } else { heaps };
            table.row([format!("`{}`", game.code), format!("{mask:#x}"), rare, last, largest, heaps]);
        }
    }
    table.end()
}

/// The games of a folder, in the order of their codes.
fn read(folder: &Path) -> Result<Vec<Game>, SavedError> {
    let mut games: Vec<Game> = folder::saved(folder)?;
    games.sort_by_key(|game| (game.content.code.len(), game.content.code.clone()));
    Ok(games)
}

/// The games that repeat, and which kernels saw it.
fn periods(games: &[Game], checked: &[Game]) -> String {
    let line = |game: &Surveyed| {
        let period = game.period?;
        let is_same = |other: &&Game| other.content.code == game.code && other.content.period == Some(period);
        let seen = match checked.iter().find(is_same) {
            Some(other) => format!("`{}` and `{}` agree", game.kernel, other.content.kernel),
            None => format!("as `{}` alone has seen", game.kernel),
        };
        Some(format!("- `{}`: period {period}; {seen}.\n", game.code))
    };
    let lines: String = games.iter().filter_map(|game| line(&game.content)).collect();
    let lines = if lines.is_empty() { "- none.\n" } else { &lines };
    format!("A period was found in these of the {} games:\n\n{lines}\n", games.len())
}

fn table(games: &[Game]) -> String {
    let mut text = String::new();
    text += "| game | heaps | values a second | kernel | largest value | first at | rare heaps | last rare heap | mask | day | CPU |\n";
    text += "| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |\n";
    let or_dash = |number: Option<u64>| number.map_or("–".to_owned(), |number| number.to_string());
    for Saved { date, environment, content: game, .. } in games {
        let Surveyed { code, heaps, seconds, kernel, largest, largest_at, .. } = game;
        let day = day(date);
        let (rare, last) = (or_dash(game.rare), or_dash(game.last_rare));
        let names = code.parse::<Code>().map_or_else(|_| Vec::new(), |code| code.names());
        let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join("; ")) };
        let mask = game.mask.map_or("–".to_owned(), |mask| mask_in_words(mask, game.by_position));
        let rate = match *heaps as f64 / seconds {
            _ if game.period.is_some_and(|period| period.proved) => "–".to_owned(), // most values are repeated
            rate if rate < 1e6 => format!("{:.0} k", rate / 1e3),
            rate => format!("{:.1} M", rate / 1e6),
        };
        text += &format!(
            "| `{code}`{names} | {heaps} | {rate} | `{kernel}` | {largest} | {largest_at} | {rare} | {last} | {mask} | {day} | {} |\n",
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
    use crate::files::surveyed::Period;

    #[test]
    fn the_page_has_a_row_for_each_game_and_names_periods() {
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
            by_position: false,
            period,
        };
        let period = Period { length: 34, preperiod: 53, saltus: 0, proved: true };
        let environment = Environment::detect(&Machine::detect());
        let games = [game("0.07", Some(period)), game("0.6", None)].map(|game| Saved::now(environment.clone(), game));
        let text = table(&games);
        assert!(text.contains("| `0.6` (Officers; Couples-are-Forever, of size n + 1 for a heap of n) | 3000000 | 1.5 M | `greedy` | 99 | 777 | 5 | 44 | 0x1e |"), "{text}");
        assert!(text.lines().count() == 4, "{text}");

        let alone = periods(&games, &games[1..]);
        assert!(
            alone
                .contains("in these of the 2 games:\n\n- `0.07`: period 34 from heap 53 on, proved; as `greedy` alone"),
            "{alone}"
        );
        let mut positional = games.clone();
        positional[1].content.by_position = true;
        let text = by_position(&positional);
        assert!(text.lines().nth(2) == Some("| `0.6` | 0x1e | 5 | 44 | 99 | 3\u{202f}000\u{202f}000 |"), "{text}");
        positional[1].content.period = Some(period);
        assert!(by_position(&positional).contains("| 99 | all |"), "{text}");

        let mut checked = games[..1].to_vec();
        checked[0].content.kernel = "sparse".to_owned();
        assert!(periods(&games, &checked).contains("; `greedy` and `sparse` agree.\n"));
        checked[0].content.period = Some(Period { preperiod: 54, ..period });
        assert!(periods(&games, &checked).contains("alone"), "they differ");
        assert!(periods(&games[1..], &[]).contains("- none."));
    }
}
