//! A report can be made from any measurements, or they are refused: the committed files with numbers changed, and any
//! text.
#![no_main]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use nimlanes_lab::report::data::{Data, FILE};
use nimlanes_lab::report::tables::MachineReport;
use serde_json::Value;
use tempfile::TempDir;

#[derive(Arbitrary, Debug)]
enum File {
    Text(String),
    Changed { duel: u8, changes: Vec<(u16, Number)> },
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Number {
    Zero,
    Float(f64),
    Integer(i64),
}

impl From<Number> for Value {
    fn from(number: Number) -> Value {
        match number {
            Number::Zero => 0.0.into(),
            Number::Float(number) => number.into(),
            Number::Integer(number) => number.into(),
        }
    }
}

/// The measurements of the newest folder.
static MEASURED: LazyLock<Value> = LazyLock::new(|| {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles/data");
    let folders = fs::read_dir(folders).expect("the folder of measurements");
    let newest = folders.map(|folder| folder.expect("an entry").path()).max().expect("a folder");
    serde_json::from_str(&fs::read_to_string(newest.join(FILE)).expect("readable")).expect("JSON")
});

/// A folder for a changed file.
static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));

/// All numbers of a file.
fn numbers(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Number(_) => vec![value],
        Value::Array(values) => values.iter_mut().flat_map(numbers).collect(),
        Value::Object(map) => map.values_mut().flat_map(numbers).collect(),
        _ => Vec::new(),
    }
}

fuzz_target!(|file: File| {
    let text = match file {
        File::Text(text) => text,
        File::Changed { duel, changes } => {
            let mut value = MEASURED.clone();
            // With one of the duels, or a report takes too long.
            let duels = value["duels"].as_array().expect("a list");
            let duel = duels[usize::from(duel) % duels.len()].clone();
            value["duels"] = [duel].into_iter().collect();
            let mut numbers = numbers(&mut value);
            let count = numbers.len();
            for (index, to) in changes.into_iter().filter(|_| count > 0) {
                *numbers[usize::from(index) % count] = to.into();
            }
            value.to_string()
        }
    };
    fs::write(FOLDER.path().join(FILE), text).expect("the temporary folder takes it");
    if let Ok(data) = Data::read(FOLDER.path()) {
        let report = MachineReport::new(&data, None, &[]);
        report.results();
        report.pages().for_each(drop);
        report.charts().for_each(drop);
        report.digest();
    }
});
