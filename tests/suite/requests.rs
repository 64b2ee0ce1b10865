//! Requests, and what the program prints: lines of tables, whichever part of the program answers or refuses them.

use serde_json::Value;

use crate::program::command;

/// The cells of the lines of a table.
fn lines(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

#[test]
fn requests_are_refused_in_one_line_and_leave_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for line in lines(include_str!("../refusals.tsv")) {
        let [code, request, says] = line[..] else { panic!("{line:?}") };
        command(request).current_dir(folder.path()).refused(code.parse().expect("a code"), says);
    }
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 0);
}

#[test]
fn requests_are_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    for line in lines(include_str!("../answers.tsv")) {
        let (request, cells) = line.split_first().expect("a request");
        let (fields, texts): (Vec<&str>, Vec<&str>) = cells.iter().partition(|cell| cell.starts_with('/'));
        if !fields.is_empty() {
            let printed = command(&format!("{request} --json")).current_dir(folder.path()).json();
            for (field, value) in fields.iter().map(|cell| cell.split_once(' ').expect("a field and its value")) {
                let value: Value = serde_json::from_str(value).expect("JSON");
                assert_eq!(printed.pointer(field).unwrap_or(&Value::Null), &value, "{request}: {field}");
            }
        }
        if !texts.is_empty() {
            let printed = command(request).current_dir(folder.path()).text();
            for text in texts.iter().map(|text| text.replace("\\n", "\n")) {
                let is_so = match text.strip_prefix(['!', '=']) {
                    Some(all) if text.starts_with('=') => printed == all,
                    Some(part) => !printed.contains(part),
                    None => printed.contains(&text),
                };
                assert!(is_so, "{request}: {text:?}: {printed}");
            }
        }
    }
}
