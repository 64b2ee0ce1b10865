//! `nimlanes env`

use nimlanes::lab::environment::Environment;
use nimlanes::machine::Machine;
use nimlanes::units::bytes;
use serde::Serialize;

use crate::measuring::cores::{self, CoreType};
use crate::terminal::failure::Failure;
use crate::terminal::output::{Document, print, print_json, table};

/// Show the machine and the build: CPU, tiers, caches, memory, compiler settings
#[derive(clap::Args)]
#[command(before_help = "Example: nimlanes env --json")]
pub struct Args {
    /// Print JSON: one object
    #[arg(long)]
    json: bool,
}

/// The output of `--json`.
#[derive(Serialize)]
struct EnvironmentDocument<'a> {
    #[serde(flatten)]
    environment: &'a Environment,
    cores: &'a [CoreType],
}

impl Document for EnvironmentDocument<'_> {
    const SCHEMA: &'static str = "nimlanes-environment-1";
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let environment = Environment::detect(&Machine::from_env()?);
    let cores = cores::types();
    if args.json {
        return print_json(&EnvironmentDocument { environment: &environment, cores: &cores });
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
        ("types of cores", cores.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        ("caches", list(&environment.caches)),
        ("memory", bytes(environment.memory as f64)),
        ("system", environment.system.clone()),
        ("build", format!("{} ({})", build.name, build.profile)),
        ("compiled for", list(&build.target_features)),
        ("features", list(&build.features)),
        ("compiler", build.compiler()),
        ("flags", list(&build.flags)),
    ];
    let known = rows.into_iter().filter(|(_, value)| !value.is_empty());
    print(&table(known.map(|(name, value)| [name.to_owned(), value])))
}
