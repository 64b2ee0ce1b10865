//! Known answers from outside the project, for tests, `verify` and the assertions in benches. No kernel reads them.

pub use nimlanes_foundation::known::{Known, all, find};

use crate::cores::operation;
use crate::games::Game;
use crate::kernel::case::Case;

/// The known answer of a game in its published form, if there is one. For a game with only one operation, this may be
/// the operation's known answer, whose sum over the P-positions is the `answer`.
pub fn find_game(game: &Game, limit: u64) -> Option<Known> {
    find(&Case::new(game.name, "-", limit)).or_else(|| {
        let [name] = game.operations else { return None };
        let mut known = find(&Case::new(name, operation(name).ok()?.workloads()[0].name, limit))?;
        for (name, _) in &mut known.figures {
            if *name == "sum" {
                *name = "answer";
            }
        }
        Some(known)
    })
}
