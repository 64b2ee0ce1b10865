//! `nimlanes env`

use nimlanes::lab::environment::Environment;
use nimlanes::machine::Machine;
use nimlanes::units::bytes;

use crate::terminal::failure::Failure;
use crate::terminal::output::{Document, print, print_json, table};

/// Show the machine and the build: CPU, tiers, caches, memory, compiler settings
#[derive(clap::Args)]
#[command(after_help = "Example: nimlanes env --json")]
pub struct Args {
    /// Print JSON: one object
    #[arg(long)]
    json: bool,
}

impl Document for Environment {
    const SCHEMA: &'static str = "nimlanes-environment-1";
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let environment = Environment::detect(&Machine::from_env()?);
    if args.json {
        return print_json(&environment);
    }
    let tiers =
        Environment::tiers().map(|(tier, offered)| format!("{}{}", if offered { "" } else { "no " }, tier.name()));
    let build = &environment.build;
    let list = |items: &[String]| if items.is_empty() { "none".to_owned() } else { items.join(", ") };
    let rows = [
        ("cpu", environment.cpu.clone()),
        ("microarchitecture", environment.microarchitecture.clone()),
        ("tiers", tiers.collect::<Vec<_>>().join(", ")),
        ("used up to", environment.tier.clone()),
        ("threads", environment.threads.to_string()),
        ("caches", list(&environment.caches)),
        ("memory", bytes(environment.memory as f64)),
        ("system", environment.system.clone()),
        ("build", format!("{} ({})", build.name, build.profile)),
        ("compiled for", list(&build.target_features)),
        ("features", list(&build.features)),
        ("compiler", build.compiler()),
        ("flags", list(&build.flags)),
    ];
    print(&table(rows.map(|(name, value)| [name.to_owned(), value])))
}
