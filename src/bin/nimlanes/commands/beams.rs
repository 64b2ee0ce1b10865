//! `nimlanes beams`

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::PathBuf;

use nimlanes::games::{Positions, SolveError};
use nimlanes::numbers::within;

use crate::args::{PositionArgs, PositionQuery};
use crate::beams::{Bins, csv};
use crate::failure::Failure;
use crate::monitor::with_progress;
use crate::output::{check_cancelled, check_writable, write_output};
use crate::plot::fluctuations;

/// Measure the beams that the P-positions of two heaps form
///
/// For bins of the smaller heap n on a logarithmic scale and for both beams: positions, mean and standard deviation of m/n, the
/// gap between the mean and the limit of m/n, how many heaps m strays from that line on average, and positions per heap. Where
/// the limit of m/n is not known, the mean in the last whole bin takes its place. Positions are not kept, so memory is that of
/// the kernel alone.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  nimlanes beams proportionate-nim --limit 1e8\n  \
    nimlanes beams proportionate-nim --limit 1e9 --bins 40 --out fluctuations.svg\n  \
    nimlanes beams proportionate-nim --limit 1e8 --moves 1:1,3:5 --split 1.6 --out beams.csv")]
pub struct Args {
    #[command(flatten)]
    listed: PositionArgs,
    /// Bins for each factor of ten
    #[arg(long, value_name = "N", default_value = "10", value_parser = within(1..=200), allow_negative_numbers = true)]
    bins: u64,
    /// The ratio m/n that separates the lower beam from the upper one
    #[arg(long, value_name = "RATIO", default_value = "2", value_parser = split, allow_negative_numbers = true)]
    split: f64,
    /// Write to a file, CSV or a picture by its extension: .csv, .svg or .png. The picture shows spreads and gaps [default: CSV to
    /// standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Parses the ratio that separates the beams.
fn split(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(split) if split > 1.0 && split.is_finite() => Ok(split),
        _ => Err("not a ratio above 1".to_owned()),
    }
}

/// What to write.
#[derive(Clone, Copy)]
enum Form {
    Csv,
    Svg,
    Png,
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let form = match args.out.as_deref().map(|out| (out, out.extension().and_then(OsStr::to_str))) {
        None | Some((_, Some("csv"))) => Form::Csv,
        Some((_, Some("svg"))) => Form::Svg,
        Some((_, Some("png"))) => Form::Png,
        Some((out, _)) => {
            let name = out.display();
            return Err(Failure::Usage(format!("--out `{name}` is no file of these; allowed: .csv, .svg, .png")));
        }
    };
    check_writable(args.out.as_deref())?;
    let PositionQuery { question, selection, run } = args.listed.query()?;
    let asymptotes = question.asymptotes().filter(|[lower, upper]| *lower < args.split && args.split < *upper);
    let mut bins = Bins::new(args.bins as u32, question.limit, args.split, asymptotes);
    let caption = question.caption()?;
    let streamed = with_progress(question.game(), &selection, &run, |solver| {
        question.stream(solver, |batch| -> std::io::Result<()> {
            check_cancelled(&run)?;
            match batch {
                Positions::Two(positions) => bins.add(&positions),
                Positions::Three(_) => return Err(ErrorKind::Unsupported.into()),
            }
            Ok(())
        })
    });
    match streamed {
        Ok(found) => found.map(drop)?,
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            let error = SolveError::NoBeams { game: question.game().name };
            return Err(error.into());
        }
        Err(_) => return Err(Failure::Interrupted),
    }
    let rows = bins.rows();
    let reference = if asymptotes.is_some() { "its limit" } else { "that of the last whole bin" };
    let picture = || fluctuations(&rows, question.limit, reference, &caption);
    write_output(args.out.as_deref(), |out| {
        out.write_all(&match form {
            Form::Csv => csv(&rows).into_bytes(),
            Form::Svg => picture().svg().into_bytes(),
            Form::Png => picture().png(),
        })
    })
}
