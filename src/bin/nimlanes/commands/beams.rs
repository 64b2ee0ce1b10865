//! `nimlanes beams`

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use nimlanes::games::{Positions, SolveError};
use nimlanes::numbers::within;

use super::arguments::{PositionArgs, PositionQuery, has_ending, picture_form};
use crate::drawing::beams::{Bins, csv};
use crate::drawing::plot::fluctuations;
use crate::terminal::failure::Failure;
use crate::terminal::monitor::with_progress;
use crate::terminal::output::{check_cancelled, check_writable, write_output};

/// Measure the beams that the P-positions of two heaps form
///
/// For bins of the smaller heap n on a logarithmic scale and for both beams: positions, mean and standard deviation of m/n, the
/// gap between the mean and the limit of m/n, how many heaps m strays from that line on average, and positions per heap. Where
/// the limit of m/n is not known, the mean in the last whole bin takes its place. Positions are not kept, so memory is that of
/// the kernel alone.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  nimlanes beams proportionate-nim --limit 1e8\n  \
    nimlanes beams proportionate-nim --limit 1e9 --bins 40 --out fluctuations.csv --out fluctuations.svg\n  \
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
    /// Write to a file, CSV or a picture by its extension: .csv, .svg or .png; can be repeated. The picture shows spreads and gaps
    /// [default: CSV to standard output]
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,
}

/// Parses the ratio that separates the beams.
fn split(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(split) if split > 1.0 && split.is_finite() => Ok(split),
        _ => Err("not a ratio above 1".to_owned()),
    }
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let form =
        |out: &Path| if has_ending(out, "csv") { Ok(None) } else { picture_form(out, ".csv, .svg, .png").map(Some) };
    let mut outputs =
        args.out.iter().map(|out| Ok((Some(out.as_path()), form(out)?))).collect::<Result<Vec<_>, Failure>>()?;
    if outputs.is_empty() {
        outputs.push((None, None));
    }
    outputs.iter().try_for_each(|(out, _)| check_writable(*out))?;
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
    outputs.into_iter().try_for_each(|(out, form)| {
        let bytes = || form.map_or_else(|| csv(&rows).into_bytes(), |form| picture().bytes(form));
        write_output(out, |out| out.write_all(&bytes()))
    })
}
