//! Requests that are refused: each gets one line that states what is wrong and what is allowed, whichever part of the program finds it.

use crate::nimlanes;

/// The words of a request, of which those with blanks, or none, stand in quotes.
fn words(request: &str) -> Vec<&str> {
    let parts = request.split('\'').enumerate();
    let words = parts.flat_map(|(i, part)| if i % 2 == 1 { vec![part] } else { part.split_whitespace().collect() });
    words.collect()
}

#[test]
fn requests_are_refused_in_one_line_and_leave_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines: Vec<&str> = include_str!("../refusals.tsv").lines().filter(|line| !line.starts_with('#')).collect();
    for line in &lines {
        let [code, request, says] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let mut program = nimlanes();
        program.args(words(request)).current_dir(folder.path()).refused(code.parse().expect("a code"), says);
    }
    assert!(lines.len() > 100 && folder.path().read_dir().expect("a folder").count() == 0);
}
