//! `nimlanes plot`

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgGroup;
use nimlanes::cores::mex::octal::sparse_space;
use nimlanes::kernel::Run;

use super::arguments::PositionArgs;
use super::grundy;
use crate::drawing::plot::{Picture, draw, draw_values};
use crate::terminal::failure::Failure;
use crate::terminal::monitor::with_progress;
use crate::terminal::output::{check_writable, write_output};

/// Draw the P-positions of a game, or the Grundy values of an octal game
#[derive(clap::Args)]
#[command(group(ArgGroup::new("subject").args(["game", "code"]).required(true)))]
#[command(before_help = "Examples:\n  nimlanes plot stone-game --limit 4000 --output stone-game.svg\n  \
    nimlanes plot proportionate-nim --limit 1e6 --moves 1:1,1:2 --output beams.svg\n  \
    nimlanes plot --code 0.6 --limit 1e5 --output officers.svg")]
pub struct Args {
    #[command(flatten)]
    listed: PositionArgs,
    #[arg(long, help = grundy::code_help("a game"), value_name = "CODE", allow_hyphen_values = true)]
    code: Option<String>,
    /// Draw only the rare heaps of the sparse space
    #[arg(long)]
    rare: bool,
    /// The output file, which appears when it is complete
    #[arg(short, long, value_name = "FILE.svg")]
    output: PathBuf,
}

pub fn main(args: &Args) -> Result<(), Failure> {
    if args.output.extension().is_none_or(|extension| extension != "svg") {
        return Err(Failure::Usage(format!(
            "--output `{}` is not a picture; allowed: names that end in .svg",
            args.output.display()
        )));
    }
    if args.code.is_some() && args.listed.has_settings() {
        return Err(Failure::Usage("--code takes no option of another game".to_owned()));
    }
    // clap ignores `requires` if the missing argument conflicts with one that is given.
    if args.rare && args.code.is_none() {
        return Err(Failure::Usage("--rare needs --code".to_owned()));
    }
    check_writable(Some(&args.output))?;
    let (picture, run) = match &args.code {
        Some(code) => {
            let (code, values, run) = grundy::values(code, args.listed.limit, &args.listed.kernels)?;
            (draw_values(&values, args.rare.then(|| sparse_space(&code, &values).rare), &format!("{code}")), run)
        }
        None => positions(args)?,
    };
    run.advance(0)?;
    write_output(Some(&args.output), |out| out.write_all(picture.svg().as_bytes()))
}

fn positions(args: &Args) -> Result<(Picture, Arc<Run>), Failure> {
    let (question, selection, run) = args.listed.query()?;
    let positions = with_progress(question.game(), &selection, &run, |solver| question.positions(solver))?.positions;
    Ok((draw(&positions, question.limit, &question.caption()?), run))
}
