//! Command-line options for the parameters of games, generated from their declarations.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, FromArgMatches};
use nimlanes::games::{GAMES, Game, Question, Setting};
use nimlanes::moves::ALLOWED;

use super::listed;
use crate::terminal::failure::Failure;

/// The games that a command supports: all, or only those whose P-positions can be listed.
pub fn games(listed: bool) -> impl Iterator<Item = &'static Game> {
    GAMES.iter().filter(move |game| !listed || game.lists_positions())
}

/// Options given on the command line, with names and values. With `LISTED`, only options of games whose P-positions can be
/// listed exist.
#[derive(Default)]
pub struct Settings<const LISTED: bool>(Vec<(&'static str, String)>);

impl<const LISTED: bool> Settings<LISTED> {
    /// Whether no option is given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The question of `game` at `limit` with these settings. Settings of other games are an error.
    pub fn question(&self, game: &'static Game, limit: u64) -> Result<Question, Failure> {
        let with = |question: Question, (name, value): &(&str, String)| question.with(name, value);
        Ok(self.0.iter().try_fold(game.question(limit), with)?)
    }
}

impl<const LISTED: bool> clap::Args for Settings<LISTED> {
    fn augment_args(command: Command) -> Command {
        command.args(options(LISTED).iter().map(|option| arg(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const LISTED: bool> FromArgMatches for Settings<LISTED> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |option: Vec<(&Game, Setting)>| {
            let (_, Setting { name, value, .. }) = option[0];
            let given = match value {
                Some(_) => matches.get_one::<String>(name).cloned(),
                None => matches.get_flag(name).then(|| "true".to_owned()),
            };
            Some((name, given?))
        };
        Ok(Settings(options(LISTED).into_iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// All settings with their games, grouped by name.
fn options(listed: bool) -> Vec<Vec<(&'static Game, Setting)>> {
    let mut options: Vec<Vec<(&Game, Setting)>> = Vec::new();
    for (game, setting) in games(listed).flat_map(|game| game.settings().map(move |setting| (game, setting))) {
        match options.iter_mut().find(|option| option[0].1.name == setting.name) {
            Some(option) => option.push((game, setting)),
            None => options.push(vec![(game, setting)]),
        }
    }
    options
}

/// The option for all settings of one name.
fn arg(option: &[(&'static Game, Setting)]) -> Arg {
    let (_, Setting { name, value, choices, .. }) = &option[0];
    let titles: Vec<&str> = option.iter().map(|(game, _)| game.title).collect();
    let helps: Vec<String> = option.iter().map(|(_, setting)| help(setting)).collect();
    let help = match helps.iter().all(|help| *help == helps[0]) {
        true => capitalised(&helps[0]),
        false => {
            titles.iter().zip(&helps).map(|(title, help)| format!("{title}: {help}")).collect::<Vec<_>>().join(". ")
        }
    };
    let rivals = option.iter().flat_map(|(game, setting)| {
        game.settings().filter(|rival| rival.parameter == setting.parameter && rival.name != setting.name)
    });
    let arg = Arg::new(name)
        .long(name)
        .help(help)
        .help_heading(titles.join(", "))
        .requires("game")
        .conflicts_with_all(rivals.map(|rival| rival.name));
    match value {
        None => arg.action(ArgAction::SetTrue),
        // If several games have it, the possible values depend on the game.
        Some(value) if choices.is_empty() || option.len() > 1 => {
            arg.value_name(value).allow_hyphen_values(true).value_parser(listed::moves)
        }
        Some(value) => arg.value_name(value).value_parser(PossibleValuesParser::new(choices)),
    }
}

/// The help text of a setting, with its default.
fn help(Setting { help, value, published, .. }: &Setting) -> String {
    match value {
        None => (*help).to_owned(),
        Some(_) => {
            let help = if *help == ALLOWED { listed::MOVES_HELP } else { help };
            format!("{help} [default: {published}]")
        }
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
