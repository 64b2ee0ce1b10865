//! A report can be made from any measurements, or they are refused: the committed files with numbers changed, and any
//! text.
#![no_main]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use nimlanes_lab::files::folder;
use nimlanes_lab::report::data::Data;
use nimlanes_lab::report::tables::Report;
use serde_json::Value;
use tempfile::TempDir;

#[derive(Arbitrary, Debug)]
enum File {
    Text(String),
    Changed { file: u8, changes: Vec<(u16, Number)> },
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

/// Kernels count their branches here, and take hundreds of times as long as predicted.
const LONGEST_INPUT: Duration = Duration::from_millis(10);

/// The measurements of the newest folder.
static FILES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles/data");
    let folders = fs::read_dir(folders).expect("the folder of measurements");
    let newest = folders.map(|folder| folder.expect("an entry").path()).filter(|path| path.is_dir()).max().expect("a folder");
    let measurements = folder::read(&newest).expect("readable").into_values();
    measurements.map(|measurement| serde_json::from_str(&measurement.text).expect("JSON")).collect()
});

/// A folder with one of the duels, to which a changed file is added.
static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let duel = FILES.iter().find(|saved| saved["kind"] == "duel").expect("a duel");
    fs::write(folder.path().join("duel.json"), duel.to_string()).expect("the temporary folder takes it");
    folder
});

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
        File::Changed { file, changes } => {
            let mut value = FILES[file as usize % FILES.len()].clone();
            let mut numbers = numbers(&mut value);
            let count = numbers.len();
            for (index, to) in changes.into_iter().filter(|_| count > 0) {
                *numbers[usize::from(index) % count] = to.into();
            }
            value.to_string()
        }
    };
    fs::write(FOLDER.path().join("changed.json"), text).expect("the temporary folder takes it");
    if let Ok(data) = Data::read(FOLDER.path(), true) {
        let report = Report::new(&data, None, &[]).within(LONGEST_INPUT);
        report.results();
        report.charts();
        report.pages();
        report.digest();
    }
});
