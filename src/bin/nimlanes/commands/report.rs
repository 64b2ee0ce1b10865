//! `nimlanes report`

use std::path::{Path, PathBuf};

use nimlanes::lab::clock::utc_now;
use nimlanes::lab::environment::Environment;
use nimlanes::machine::Machine;
use nimlanes::units::bytes;

use crate::commands::arguments::listed;
use crate::files;
use crate::files::saved;
use crate::measuring::builds::{announce, cargo};
use crate::report::data::is_name;
use crate::report::html::{self, Page};
use crate::report::measure::Plan;
use crate::report::measure::tasks::Effort;
use crate::report::{self, Overview};
use crate::terminal::failure::{Failure, remark, say};
use crate::terminal::interrupt;
use crate::terminal::output::{check_folder, check_writable, failure, print};

/// Measure everything, and generate RESULTS.md, its charts, and the digest in README.md
///
/// Run it in the source tree. The measurements are a file in a folder of their own under profiles/data. Those made earlier today are
/// kept, so an interrupted report resumes where it stopped. A draft, and what is made of its measurements, goes to target/draft.
///
/// The report also shows the newest folder below profiles/data of each other microarchitecture. One that cannot be used is named and
/// left out.
///
/// `--html` measures nothing and writes that one file: a page of the measurements to browse, without a network.
#[derive(clap::Args)]
#[command(before_help = "Examples:\n  nimlanes report\n  nimlanes report --quick\n  nimlanes report --check\n  \
                  nimlanes report --html target/page.html")]
pub struct Args {
    /// Make a draft in under two minutes, below target/draft: few sizes, short duels
    #[arg(long, conflicts_with_all = ["data", "check"])]
    quick: bool,
    /// Measure nothing; use the measurements in this folder
    #[arg(long, value_name = "DIR", value_parser = listed::folder())]
    data: Option<PathBuf>,
    /// Write nothing; fail if RESULTS.md, a chart or the digest differs from what the measurements give
    #[arg(long)]
    check: bool,
    /// Name the machine by hand, where the CPU hides its model: lower-case letters, digits and hyphens
    #[arg(long, value_name = "NAME", value_parser = name, conflicts_with_all = ["data", "check", "html"])]
    name: Option<String>,
    /// Measure everything again; today's measurements are replaced when all is done
    #[arg(long, conflicts_with_all = ["data", "check"])]
    again: bool,
    /// Measure nothing; write a page to browse: of the measurements of RESULTS.md, or of --data, and the newest ones of each other
    /// machine in profiles/data
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "check", "again"])]
    html: Option<PathBuf>,
}

/// A name of a machine.
fn name(text: &str) -> Result<String, String> {
    match is_name(text) {
        true => Ok(text.to_owned()),
        false => Err("allowed: lower-case letters and digits, with hyphens between them".to_owned()),
    }
}

pub fn main(args: &Args) -> Result<(), Failure> {
    if let Some(file) = &args.html {
        return page(file, args);
    }
    report::in_source_tree()?;
    let folder = match (&args.data, args.check) {
        (Some(folder), _) => folder.clone(),
        (None, true) => report::source()?,
        (None, false) => measure(args)?,
    };
    let (summary, said) = if args.check {
        (report::check(&folder, &mut remark)?, "is what its measurements give")
    } else {
        (report::write(&folder, &mut remark)?, "is written, with its charts")
    };
    let Overview { results, beside, unmeasured, changed } = summary;
    let mut lines = format!("{} {said}: {}\n", results.display(), folder.display());
    let mut line = |what: &str, names: String| {
        if !names.is_empty() {
            lines += &format!("{what}: {names}\n");
        }
    };
    line("beside it", beside.join(", "));
    line("not measured", report::list(unmeasured.iter()));
    match changed {
        Some(kernels) => line("changed since they were measured", report::list(kernels.iter())),
        None => lines.push_str("the measurements name no source, so changed kernels are not listed\n"),
    }
    print(&lines)
}

/// Writes the page.
fn page(file: &Path, args: &Args) -> Result<(), Failure> {
    let main = args.data.clone().map_or_else(report::source, Ok)?;
    let measurements = saved::entries(&main)?;
    if measurements.iter().any(|measurement| files::are_same(measurement, file)) {
        let (file, main) = (file.display(), main.display());
        return Err(Failure::Usage(format!("--html `{file}` is a measurement in {main}; choose another name")));
    }
    check_writable(Some(file))?;
    let modules = || {
        announce("building the modules of the page for WebAssembly");
        cargo::modules(&interrupt::run(1))
    };
    let Page { html, rows, machines, no_module } = report::page(&main, &html::way_back(file), modules, &mut remark)?;
    files::write(file, |out| out.write_all(html.as_bytes())).map_err(|error| failure(&error, Some(file)))?;
    let (size, machines) = (bytes(html.len() as f64), machines.join(", "));
    let mut lines = format!("{} is written: {size}, {rows} rows of {machines}\n", file.display());
    if let Some(reason) = no_module {
        lines += &format!("it does not race and solve: {reason}\n");
    }
    // The page itself is on standard output.
    if files::is_stdout(file) {
        say(lines.trim_end());
        return Ok(());
    }
    print(&lines)
}

/// Measures what is missing, and returns the folder of the measurements.
fn measure(args: &Args) -> Result<PathBuf, Failure> {
    let machine = Machine::from_env()?;
    let environment = Environment::detect(&machine);
    let name = args.name.as_ref().unwrap_or(&environment.microarchitecture);
    let folder = report::folder(name, &utc_now(), args.quick);
    if !environment.is_named() && args.name.is_none() {
        say(&format!("nimlanes: this microarchitecture has no name; using {name}; --name NAME gives it one"));
    }
    let effort = if args.quick { Effort::DRAFT } else { Effort::FULL };
    check_folder(&folder)?;
    let plan = Plan::new(machine, &folder, effort, args.again, args.name.as_deref())?;
    say(&format!("{}; do not use the machine meanwhile", plan.summary()));
    let measured = plan.execute(&interrupt::run, &mut say);
    match measured {
        // Ctrl-C also ends child processes; that is not a failure of theirs.
        Err(_) if interrupt::is_over() => Err(Failure::Interrupted),
        measured => {
            measured?;
            Ok(folder)
        }
    }
}
