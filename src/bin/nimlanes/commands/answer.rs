//! `nimlanes answer`, which `compare` starts

use std::hint::black_box;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::Duration;

use nimlanes::cores::named::ByName;
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::Session;
use nimlanes::lab::clock::{Clock, MIN_TURN};

use crate::measuring::builds::protocol::{Identity, Listed, Opening, Reply, Request};
use crate::measuring::duel::{DuelError, Local, Player};
use crate::terminal::failure::Failure;
use crate::terminal::{interrupt, output};

/// Run kernels for a duel of another process, which requests them on standard input
#[derive(clap::Args)]
pub struct Args;

pub fn main(_: &Args) -> Result<(), Failure> {
    let mut lines = stdin().lock().lines();
    let mut next = || -> Result<Option<Request>, Failure> {
        let Some(line) = lines.next() else { return Ok(None) };
        let line = line.map_err(|error| Failure::Failed(format!("cannot read standard input: {error}")))?;
        let unknown = |_| Failure::Failed(format!("`{line}` is no request; `compare` makes them"));
        serde_json::from_str(&line).map(Some).map_err(unknown)
    };
    while let Some(request) = next()? {
        match request {
            Request::Hello => say(&Reply::Hello(Box::new(Identity::of_this())))?,
            Request::Open(input) => return answer(&input, &mut next),
            Request::Check { .. } | Request::Turn { .. } => return fail("there is no input yet"),
        }
    }
    Ok(())
}

/// Answers all requests for one input.
fn answer(input: &Opening, next: &mut dyn FnMut() -> Result<Option<Request>, Failure>) -> Result<(), Failure> {
    let run = interrupt::run(input.threads);
    shift_heap(input.heap);
    let session = match open(input) {
        Ok(session) => session,
        Err(Failure::Usage(reason) | Failure::Failed(reason)) => return fail(&reason),
        Err(failure) => return Err(failure),
    };
    let listed = session.candidates(input.threads, Duration::MAX).into_iter().map(|candidate| Listed {
        kernel: candidate.name.to_owned(),
        obstacle: candidate.obstacle.map(|obstacle| obstacle.to_string()),
    });
    say(&Reply::Opened { kernels: listed.collect() })?;
    play(session.as_ref(), input, &run, next)
}

/// Allocates by [`Opening::heap`].
fn shift_heap(kept: [usize; 2]) {
    const HOLE: usize = 1 << 16;
    let bytes = |bytes: usize| black_box(vec![1u8; bytes]);
    let (before, hole, after) = (bytes(kept[0]), bytes(HOLE), bytes(kept[1]));
    before.leak();
    after.leak();
    drop(hole);
}

fn open(input: &Opening) -> Result<Box<dyn Session>, Failure> {
    let selection = Selection::from_env()?.with_threads(input.threads)?;
    let operation = nimlanes::cores::operation(&input.case.operation)?;
    Ok(operation.session(&selection, &input.case.workload, input.case.size)?)
}

fn play(
    session: &dyn Session,
    input: &Opening,
    run: &Run,
    next: &mut dyn FnMut() -> Result<Option<Request>, Failure>,
) -> Result<(), Failure> {
    let clock = if input.wall_clock { Clock::Wall } else { Clock::Thread };
    let mut player = Local::new(session, (0..session.kernels().len()).collect(), clock, MIN_TURN, run);
    let index = |kernel: &str| {
        session.index(kernel).ok_or_else(|| DuelError::Player(format!("there is no kernel {kernel} in this build")))
    };
    while let Some(request) = next()? {
        let reply = match request {
            Request::Hello | Request::Open(_) => return fail("there is an input already"),
            Request::Check { kernel } => index(&kernel).and_then(|kernel| player.check(kernel)).map(|checked| {
                let digest = checked.digest.into_iter().map(|(name, value)| (name, value.to_string())).collect();
                Reply::Checked { digest, work: checked.work, seconds: checked.once.as_secs_f64() }
            }),
            Request::Turn { kernel, times } => index(&kernel)
                .and_then(|kernel| player.turn(kernel, times))
                .map(|time| Reply::Turn { seconds: time.as_secs_f64() }),
        };
        match reply {
            Ok(reply) => say(&reply)?,
            Err(error) => return fail(&error.to_string()),
        }
    }
    Ok(())
}

fn say(reply: &Reply) -> Result<(), Failure> {
    let line = serde_json::to_string(reply).expect("a reply is JSON") + "\n";
    stdout().write_all(line.as_bytes()).map_err(|error| output::failure(&error, None))
}

/// Replies with a failure, which the process that asked shows to the user.
fn fail(reason: &str) -> Result<(), Failure> {
    say(&Reply::Failed { reason: reason.to_owned() })
}
