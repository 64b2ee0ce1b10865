//! Where `unsafe` stands. A new file here is a decision, so it must be written down.

use std::path::Path;

const ALLOWED: [&str; 3] = ["src/kernel.rs", "src/simd/avx2.rs", "src/simd/avx512.rs"];

fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the source tree") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
            false => {}
        }
    }
}

#[test]
fn unsafe_code_stands_only_where_it_is_allowed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    let allows = |path: &&std::path::PathBuf| {
        let text = std::fs::read_to_string(path).expect("a source file");
        text.contains("allow(unsafe_code") || text.contains("expect(unsafe_code")
    };
    let relative = |path: &std::path::PathBuf| path.strip_prefix(root).expect("below the root").display().to_string();
    let mut found: Vec<String> = files.iter().filter(allows).map(relative).collect();
    found.sort();
    println!("files with unsafe code: {found:#?}");
    assert_eq!(found, ALLOWED);
}
