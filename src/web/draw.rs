//! Pictures, point by point: P-positions as they are found, or Grundy values.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use nimlanes::cores::mex::octal::{Code, MexOctal, Octal};
use nimlanes::cores::mex::subtraction::{MexSubtraction, Subtraction};
use nimlanes::games::{ChosenKernel, Positions, Receiver, SolveError, Solver};
use nimlanes::kernel::workload::InputError;
use nimlanes::kernel::{Run, RunError};
use nimlanes::moves::MoveSet;
use serde::Serialize;

use crate::{Asked, Failure, limit, question, say, selection};

/// The most points of a picture: a browser draws this many almost at once.
const MOST: usize = 2_000_000;

/// The limit of a picture of values, unless the request sets one.
const VALUES: u64 = 100_000;

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    /// What follows: a title, and the highest heap.
    Picture {
        title: String,
        limit: u64,
    },
    /// The heaps of positions.
    Two(Vec<[u64; 2]>),
    Three(Vec<[u32; 3]>),
    /// The values of the heaps from 0 on.
    Values(Vec<u16>),
    Drawn {
        operation: &'static str,
        kernel: &'static str,
        seconds: f64,
    },
}

pub fn answer(asked: Asked) -> Result<(), Failure> {
    let start = Instant::now();
    let ChosenKernel { operation, kernel, .. } =
        if asked.name == "grundy" { values(asked)? } else { positions(asked)? };
    say(&Line::Drawn { operation, kernel, seconds: start.elapsed().as_secs_f64() })?;
    Ok(())
}

fn positions(asked: Asked) -> Result<ChosenKernel, Failure> {
    let (question, selection) = question(asked)?;
    say(&Line::Picture { title: question.caption()?, limit: question.limit })?;
    let said = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&said);
    let receiver: Receiver = Arc::new(move |batch| {
        let (length, line) = match batch {
            Positions::Two(list) => (list.len(), Line::Two(list)),
            Positions::Three(list) => (list.len(), Line::Three(list)),
        };
        let is_full = count.fetch_add(length, Relaxed) + length > MOST;
        if is_full || say(&line).is_err() { Err(RunError::Cancelled) } else { Ok(()) }
    });
    let run = selection.run();
    question.hand_on(&Solver::new(&selection, &run), receiver).map_err(|error| match error {
        SolveError::Run(RunError::Cancelled) if said.load(Relaxed) > MOST => too_many(),
        error => error.into(),
    })
}

fn too_many() -> Failure {
    format!("a picture has at most {MOST} points; take a smaller limit").into()
}

/// The Grundy values of a set of moves or of a code.
fn values(Asked { mut settings, .. }: Asked) -> Result<ChosenKernel, Failure> {
    let selection = selection(&mut settings)?;
    let limit = limit(&mut settings, VALUES)?;
    if limit >= MOST as u64 {
        return Err(too_many());
    }
    let (moves, code) = (settings.remove("moves"), settings.remove("code"));
    if let Some(name) = settings.keys().next() {
        return Err(format!(
            "a picture of Grundy values has no setting `{name}`; allowed: moves or code, limit, kernel"
        )
        .into());
    }
    let run = selection.run();
    let solver = Solver::new(&selection, &run);
    let picture = |title: String| say(&Line::Picture { title, limit });
    let (values, used) = match (moves, code) {
        (Some(_), Some(_)) => return Err("Grundy values are of moves or of a code, not of both".into()),
        (_, Some(code)) => {
            let code: Code = code.parse().map_err(InputError::Code)?;
            picture(format!("The game {code}"))?;
            solver.apply::<MexOctal>(limit, |limit| Octal::new(&code, limit))?
        }
        (moves, None) => {
            let moves: MoveSet = moves.as_deref().unwrap_or("squares").parse().map_err(InputError::Moves)?;
            picture(format!("Taking {moves}"))?;
            let machine = selection.machine();
            solver.apply::<MexSubtraction>(limit, |limit| Subtraction::new(&moves, limit, machine))?
        }
    };
    say(&Line::Values(values))?;
    Ok(used)
}
