//! `nimlanes schema`

use nimlanes::lab::ceilings::Reading;
use nimlanes::lab::environment::Environment;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use super::fit::Fit;
use super::{compare, grundy, kernels, run, solve};
use crate::files::families::{Part, Periods};
use crate::files::found::{FirstHeaps, Growth, Periodic};
use crate::files::saved::{self, Measured, Saved};
use crate::files::surveyed::Surveyed;
use crate::files::swept::Sweep;
use crate::measuring::calibration::Calibration;
use crate::measuring::duel::show::Versus;
use crate::measuring::duel::{Compilers, Duel};
use crate::report::data::apart::Bounds;
use crate::terminal::failure::Failure;
use crate::terminal::output::{Document, print, table};

/// Print the JSON Schema of what --json prints, or of a file that --save or --into makes
#[derive(clap::Args)]
#[command(after_help = "Example: nimlanes schema nimlanes-solve-2")]
pub struct Args {
    /// The name of the format; without it, all names are listed
    name: Option<String>,
}

/// A format of JSON.
struct Format {
    name: String,
    /// What makes it.
    made_by: &'static str,
    schema: fn() -> Schema,
}

/// All formats: what `--json` prints, then what files hold.
fn formats() -> [Format; 20] {
    [
        printed::<solve::Report>("solve --json"),
        printed::<grundy::Summary>("grundy --json"),
        printed::<Periods>("family --json"),
        printed::<kernels::Row>("kernels --json"),
        printed::<compare::Outcome>("compare --json"),
        printed::<Fit>("compare --fit --json"),
        printed::<Versus>("compare --json with another build"),
        printed::<Compilers>("compare --toolchain --json"),
        printed::<run::Outcome>("run --json"),
        printed::<Reading>("ceilings --json"),
        printed::<Environment>("env --json"),
        kept::<Duel>("compare --save"),
        kept::<Calibration>("calibrate --into"),
        kept::<Bounds>("report --bounds"),
        kept::<FirstHeaps>("grundy --records --save"),
        kept::<Growth>("grundy --zeros --save"),
        kept::<Periodic>("grundy --code --save"),
        kept::<Surveyed>("survey --into"),
        kept::<Sweep>("survey --sets --into, in the first line"),
        kept::<Part>("family --into"),
    ]
}

/// The format of an object that `--json` prints.
fn printed<T: Document>(made_by: &'static str) -> Format {
    let schema = || with_constants(schema_of::<T>(), &[("schema", T::SCHEMA)]);
    Format { name: T::SCHEMA.to_owned(), made_by, schema }
}

/// The format of a file.
fn kept<T: Measured + JsonSchema>(made_by: &'static str) -> Format {
    let schema = || with_constants(schema_of::<Saved<T>>(), &[("schema", saved::SCHEMA), ("kind", T::KIND)]);
    Format { name: format!("{}/{}", saved::SCHEMA, T::KIND), made_by, schema }
}

fn schema_of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// Adds fields that always have the same text.
fn with_constants(mut schema: Schema, fields: &[(&str, &str)]) -> Schema {
    for (field, text) in fields {
        schema.ensure_object()["properties"][field] = serde_json::json!({ "const": text });
        let required =
            schema.ensure_object()["required"].as_array_mut().expect("every format has fields that it always has");
        if !required.iter().any(|name| name == field) {
            required.insert(0, (*field).into());
        }
    }
    schema
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let formats = formats();
    let Some(name) = &args.name else {
        return print(&table(formats.map(|format| [format.name, format.made_by.to_owned()])));
    };
    let Some(format) = formats.iter().find(|format| format.name == *name) else {
        let names: Vec<_> = formats.iter().map(|format| format.name.as_str()).collect();
        return Err(Failure::Usage(format!("there is no format {name}; allowed: {}", names.join(", "))));
    };
    let text = serde_json::to_string_pretty(&(format.schema)()).map_err(|error| Failure::Failed(error.to_string()))?;
    print(&(text + "\n"))
}
