//! The longest periods of families of subtraction sets, by their largest move.

use std::time::Instant;

use nimlanes::cores::mex::family::{Family, FamilyError, MAX_MOVE, MexFamily};
use nimlanes::numbers::within;
use nimlanes::units::grouped;
use serde::{Deserialize, Serialize};

use crate::{Failure, Settings, say, selection, time};

/// The largest move of the last family, unless the request sets it.
const LARGEST: u64 = 14;

/// `all` sets or the `symmetric` ones, and the settings `largest-move` and `kernel`.
#[derive(Deserialize)]
pub struct Asked {
    name: String,
    settings: Settings,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    /// The sets with this largest move, and the first one with the longest period.
    Family { largest_move: u64, longest: Period, mean: Period, first: String },
    /// All of them, in words.
    Summary(String),
}

/// A period, to sort by, and its text.
#[derive(Serialize)]
struct Period {
    value: f64,
    text: String,
}

pub fn answer(Asked { name, mut settings }: Asked) -> Result<(), Failure> {
    let family: fn(u64) -> Result<Family, FamilyError> = match &*name {
        "all" => Family::with_largest,
        "symmetric" => Family::symmetric,
        _ => return Err(format!("unknown family `{name}`; allowed: all, symmetric").into()),
    };
    let selection = selection(&mut settings)?;
    let last = settings.remove("largest-move").map_or(Ok(LARGEST), |text| {
        within(1..=MAX_MOVE)(&text).map_err(|error| format!("largest-move `{text}` is {error}"))
    })?;
    if let Some(name) = settings.keys().next() {
        return Err(format!("a family has no setting `{name}`; allowed: largest-move, kernel").into());
    }
    let (start, mut sets) = (Instant::now(), 0);
    for largest_move in 1..=last {
        let family = family(largest_move)?;
        let kernel = selection.kernel::<MexFamily>(&family)?;
        let found = kernel.run(&family, &selection.run())?;
        sets += family.sets();
        let longest = found.longest_period();
        let mean = found.sum_of_periods() as f64 / family.sets() as f64;
        let moves = found.longest_periods.first().map_or(Vec::new(), |longest| family.moves(longest.set));
        let moves: Vec<String> = moves.iter().map(u64::to_string).collect();
        say(&Line::Family {
            largest_move,
            longest: Period { value: longest as f64, text: grouped(&longest.to_string()) },
            mean: Period { value: mean, text: format!("{mean:.1}") },
            first: format!("{{{}}}", moves.join(", ")),
        })?;
        if largest_move == last {
            let (sets, time) = (grouped(&sets.to_string()), time(start.elapsed().as_secs_f64()));
            let kernel = kernel.def().name;
            say(&Line::Summary(format!("The periods of {sets} sets are proved: {time}, the last ones by {kernel}.")))?;
        }
    }
    Ok(())
}
