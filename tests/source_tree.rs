//! What must hold of the source as text: where `unsafe` stands, and that other architectures see no x86 intrinsics.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// A new file here is a decision, so it must be written down.
const UNSAFE: [&str; 7] = [
    "src/cores/occupancy/automaton_asm.rs",
    "src/kernel.rs",
    "src/simd/avx2.rs",
    "src/simd/avx512.rs",
    "src/simd/field.rs",
    "src/simd/lines.rs",
    "src/simd/probe/mod.rs",
];

/// Every Rust file below `src`, with its path from the root and its text.
fn sources() -> Vec<(String, String)> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in read_dir(folder).expect("a folder of the source tree") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => collect(&path, found),
                false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
                false => {}
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&root.join("src"), &mut files);
    files.sort();
    let relative = |path: &PathBuf| path.strip_prefix(root).expect("below the root").display().to_string();
    files.iter().map(|path| (relative(path), read_to_string(path).expect("a source file"))).collect()
}

#[test]
fn unsafe_code_stands_only_where_it_is_allowed() {
    let is_allowed = |text: &str| text.contains("allow(unsafe_code") || text.contains("expect(unsafe_code");
    let found: Vec<String> = sources().into_iter().filter(|(_, text)| is_allowed(text)).map(|(path, _)| path).collect();
    println!("files with unsafe code: {found:#?}");
    assert_eq!(found, UNSAFE);
}

/// A file that names x86 intrinsics is a module that exists on x86 only: the condition stands on its `mod` line.
#[test]
fn other_architectures_see_no_x86_intrinsics() {
    let sources = sources();
    let naming = sources.iter().filter(|(_, text)| text.contains("arch::x86_64"));
    let mut count = 0;
    for (path, _) in naming {
        let path = Path::new(path);
        let name = path.file_stem().expect("a file").to_str().expect("UTF-8");
        let parent = path.with_file_name("mod.rs").display().to_string();
        let (_, parent) = sources.iter().find(|(path, _)| *path == parent).expect("the parent module");
        let mut lines = parent.lines().rev().skip_while(|line| !line.trim_end().ends_with(&format!("mod {name};")));
        assert!(lines.next().is_some(), "{} has no mod line", path.display());
        let condition = lines.next().unwrap_or_default();
        assert!(condition.contains("target_arch = \"x86_64\""), "{}: {condition}", path.display());
        count += 1;
    }
    assert!(count > 0, "there are kernels with intrinsics");
}
