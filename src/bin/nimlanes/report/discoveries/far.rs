//! Periods of octal games that are proved far out, as a part of the page of the survey.

use std::path::Path;

use crate::files::folder;
use crate::files::found::{Periodic, ProvedPeriod};
use crate::files::saved::{Saved, SavedError, day};
use crate::report::tables::markdown::grouped;

/// The folder of what `grundy --code --save` kept, within that of the survey.
pub const FOLDER: &str = "far";

/// The games of a folder as a table, each with what proves its period; nothing if there are none.
///
/// # Errors
/// A file cannot be read or holds something else.
pub fn section(folder: &Path) -> Result<String, SavedError> {
    let games = read(folder)?;
    Ok(if games.is_empty() { String::new() } else { format!("{}\n{}\n", include_str!("far.md"), table(&games)) })
}

/// The games of a folder, in the order of their codes; none if it is not there.
///
/// # Errors
/// A file cannot be read or holds something else.
pub fn read(folder: &Path) -> Result<Vec<Saved<Periodic>>, SavedError> {
    let mut games: Vec<Saved<Periodic>> = folder::saved(folder)?;
    games.sort_by_key(|game| (game.content.code.clone(), game.content.limit));
    Ok(games)
}

/// Games as a table, each with what proves its period.
pub fn table(games: &[Saved<Periodic>]) -> String {
    let number = |number: u64| grouped(&number.to_string());
    let mut text = String::new();
    text +=
        "| game | period | from heap | proved at heap | window | rare heaps | largest value | kernel | day | CPU |\n";
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- | --- |\n";
    for Saved { date, environment, content: game, .. } in games {
        let Periodic { code, limit, kernel, rare, values, period, .. } = game;
        let day = day(date);
        let largest = values.last().map_or(0, |(value, ..)| *value);
        let rare = rare.map_or("–".to_owned(), |(count, last)| format!("{count}, the last {}", number(last as u64)));
        let found = match period {
            Some(ProvedPeriod { length, preperiod, heaps, width }) => {
                let width = width.map_or("–".to_owned(), |width| number(width as u64));
                format!("{} | {} | {} | {width}", number(*length), number(*preperiod), number(*heaps))
            }
            None => format!("none up to {} | – | – | –", number(*limit)),
        };
        text += &format!(
            "| `{code}` | {found} | {rare} | {largest} | `{kernel}` | {day} | {} |\n",
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

    #[test]
    fn a_game_has_a_row_with_its_period_or_its_limit() {
        let period = ProvedPeriod { length: 149_459, preperiod: 105_351, heaps: 280_531, width: Some(15_000) };
        let game = |period| Periodic {
            code: "0.16".to_owned(),
            limit: 300_000,
            kernel: "window_words".to_owned(),
            resumed: false,
            milliseconds: 20,
            rare: Some((53, 13_935)),
            values: vec![(0, 0, 7), (22, 100_000, 1)],
            period,
        };
        let environment = Environment::detect(&Machine::detect());
        let games = [Some(period), None].map(|period| Saved::now(environment.clone(), game(period)));
        let text = table(&games).replace('\u{202f}', " ");
        let row = "| `0.16` | 149 459 | 105 351 | 280 531 | 15 000 | 53, the last 13 935 | 22 | `window_words` |";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("| `0.16` | none up to 300 000 | – | – | – | 53, the last 13 935 |"), "{text}");
    }
}
