//! `nimlanes plot`

use std::ffi::OsStr;
use std::path::PathBuf;

use nimlanes::lab::plot::{View, draw};

use super::args::{Asked, Board};
use super::failure::Failure;
use super::monitor::watched;
use super::output::{deliver, try_out};

/// Draw the P-positions of a game
///
/// Three heaps are drawn as a table of two, coloured by the third; two heaps, one against the other. With --ratios the axes are
/// ratios of heaps, which shows the beams that the positions lie in.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  nimlanes plot stone-game --limit 4000 --out stone-game.png\n  \
    nimlanes plot proportionate-nim --limit 1e6 --moves 1:1,1:2 --ratios --out beams.svg")]
pub struct Args {
    #[command(flatten)]
    board: Board,
    /// Draw ratios of heaps instead of heaps
    #[arg(long)]
    ratios: bool,
    /// The file, an SVG or a PNG by its name; it appears when it is complete. One with several hard links is refused
    #[arg(long, value_name = "FILE.svg|FILE.png")]
    out: PathBuf,
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let is_svg = match args.out.extension().and_then(OsStr::to_str) {
        Some("svg") => true,
        Some("png") => false,
        _ => {
            let name = args.out.display();
            return Err(Failure::Usage(format!(
                "--out `{name}` is no picture; allowed: names that end in .svg or .png"
            )));
        }
    };
    try_out(Some(&args.out))?;
    let Asked { question, selection, run } = args.board.ask()?;
    let positions = watched(question.game(), &selection, &run, |solver| question.positions(solver))?.positions;
    let view = if args.ratios { View::Ratios } else { View::Heaps };
    let picture = draw(&positions, question.limit, &question.caption()?, view);
    run.advance(0)?;
    deliver(Some(&args.out), |out| out.write_all(&if is_svg { picture.svg().into_bytes() } else { picture.png() }))
}
