//! Checks of the source text: where `unsafe` is allowed, that no architecture compiles intrinsics of another, and that each
//! kept profile is documented.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

use nimlanes::machine::isa::Tier;

/// Files with unsafe code. A new one is a deliberate decision; the loads and stores of a tier belong to its row of the table.
const UNSAFE: [&str; 9] = [
    "src/cores/occupancy/automaton/asm.rs",
    "src/foundation/kernel/definition.rs",
    "src/foundation/kernel/list.rs",
    "src/foundation/machine/pages.rs",
    "src/foundation/machine/system/windows.rs",
    "src/foundation/simd/c/mod.rs",
    "src/foundation/simd/lanes128.rs",
    "src/foundation/simd/line.rs",
    "src/foundation/simd/probe/mod.rs",
];

/// The paths, relative to the root, of all files below a folder whose names have this ending.
fn files(folder: &str, end: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut left = vec![root.join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = left.pop() {
        for entry in read_dir(folder).expect("a folder of the source tree") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => left.push(path),
                false => found.push(path.strip_prefix(root).expect("below the root").display().to_string()),
            }
        }
    }
    found.retain(|path| path.ends_with(end));
    found.sort();
    found
}

fn read(path: &str) -> String {
    read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a file of the source tree")
}

/// The path, relative to the root, and text of every Rust file below `src`.
fn sources() -> Vec<(String, String)> {
    files("src", ".rs").into_iter().map(|path| (path.clone(), read(&path))).collect()
}

#[test]
fn unsafe_code_is_only_in_the_listed_files() {
    let is_allowed = |text: &str| text.contains("allow(unsafe_code") || text.contains("expect(unsafe_code");
    let found: Vec<String> = sources().into_iter().filter(|(_, text)| is_allowed(text)).map(|(path, _)| path).collect();
    println!("files with unsafe code: {found:#?}");
    let of_tiers: Vec<String> =
        Tier::ALL.iter().map(|tier| format!("src/foundation/simd/{}.rs", tier.name())).collect();
    let (vectors, others): (Vec<String>, Vec<String>) = found.into_iter().partition(|path| of_tiers.contains(path));
    assert!(!vectors.is_empty(), "tiers have loads and stores");
    assert_eq!(others, UNSAFE);
}

/// The line above the `mod` line of a file or folder: in the `mod.rs` beside it, or the file with the name of the folder that it is in.
fn condition(module: &Path) -> String {
    let name = module.file_stem().expect("a module").to_str().expect("UTF-8");
    let parents = [module.with_file_name("mod.rs"), module.parent().expect("a folder").with_extension("rs")];
    let is_there = |parent: &&PathBuf| Path::new(env!("CARGO_MANIFEST_DIR")).join(parent).exists();
    let parent = read(&parents.iter().find(is_there).expect("a parent").display().to_string());
    let mut lines = parent.lines().rev().skip_while(|line| !line.trim_end().ends_with(&format!("mod {name};")));
    assert!(lines.next().is_some(), "{} has no mod line", module.display());
    lines.next().unwrap_or_default().to_owned()
}

/// Whether the lines of a file that name intrinsics of an architecture are in modules of the file with this condition.
fn are_in_modules(text: &str, intrinsics: &str, condition: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let is_module =
        |line: &&str| line.trim_start().trim_start_matches("pub ").starts_with("mod ") && line.ends_with('{');
    let mut named = lines.iter().enumerate().filter(|(_, line)| line.contains(intrinsics));
    named.all(|(at, _)| {
        let module = lines[..at].iter().rposition(is_module).and_then(|module| module.checked_sub(1));
        module.is_some_and(|above| lines[above].contains(condition))
    })
}

/// A file that names intrinsics of an architecture is compiled only there, or the module in it that does: the condition is on the `mod`
/// line, or on that of the folder.
#[test]
fn no_architecture_sees_intrinsics_of_another() {
    let sources = sources();
    let architectures: BTreeSet<_> = Tier::ALL.iter().filter_map(|tier| Some(tier.extension()?.architecture)).collect();
    let mut count = 0;
    for (path, text) in &sources {
        let path = Path::new(path);
        for architecture in architectures.iter().filter(|name| text.contains(&format!("arch::{name}"))) {
            let folder = path.parent().expect("a folder");
            let wanted = format!("target_arch = \"{architecture}\"");
            let is_there = |module: &Path| condition(module).contains(&wanted);
            let has_condition = are_in_modules(text, &format!("arch::{architecture}"), &wanted)
                || !path.ends_with("mod.rs") && is_there(path)
                || is_there(folder);
            assert!(has_condition, "{} has no condition", path.display());
            count += 1;
        }
    }
    assert!(count > 0, "there are kernels with intrinsics");
}

/// `profiles/flamegraphs/README.md` shows exactly the kept flamegraphs, each of which has its text beside it.
#[test]
fn every_kept_profile_has_its_entry() {
    let text = read("profiles/flamegraphs/README.md");
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let shown: BTreeSet<String> =
        links.filter(|link| !link.starts_with("..")).map(|link| format!("profiles/flamegraphs/{link}")).collect();
    let kept = files("profiles/flamegraphs", ".svg");
    let texts: Vec<String> = kept.iter().map(|path| path.replace(".svg", ".txt")).collect();
    assert_eq!(files("profiles/flamegraphs", ".txt"), texts);
    let kept_files: BTreeSet<String> = kept.iter().cloned().collect();
    let differences: Vec<&String> = shown.symmetric_difference(&kept_files).collect();
    assert!(differences.is_empty(), "shown or kept, but not both: {differences:?}");
    let operations: BTreeSet<&str> = kept.iter().filter_map(|path| path.split('/').nth(2)).collect();
    let named: BTreeSet<&str> = nimlanes::cores::OPERATIONS.iter().map(|operation| operation.name()).collect();
    assert!(!operations.is_empty() && operations.is_subset(&named), "{operations:?}");
}

/// Relative links in the documents for readers lead to files and folders of the source tree.
#[test]
fn every_relative_link_leads_somewhere() {
    let mut documents = files("profiles", ".md");
    documents.extend(["README.md", "RESULTS.md", "CONTRIBUTING.md"].map(str::to_owned));
    for document in documents {
        let text = read(&document);
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let sources = text.split(" src=\"").skip(1).filter_map(|rest| rest.split('"').next());
        for link in links.chain(sources).filter(|link| !link.contains("://")) {
            let target = link.split('#').next().unwrap_or(link);
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(&document);
            let target = if target.is_empty() { folder } else { folder.with_file_name("").join(target) };
            assert!(target.exists(), "{document}: {link}");
        }
    }
}

/// GitHub renders a formula only if it is on one line, and treats a backslash before punctuation as an escape of its
/// own.
#[test]
fn formulas_are_what_github_renders() {
    for paper in files("profiles/papers", ".md") {
        for line in read(&paper).lines() {
            let formulas: String = line.split('$').skip(1).step_by(2).collect();
            assert!(line.split('$').count() % 2 == 1, "{paper}: {line}");
            let is_escaped = |part: &str| part.starts_with(|c: char| c.is_ascii_punctuation());
            assert!(!formulas.split('\\').skip(1).any(is_escaped), "{paper}: {line}");
        }
    }
}

#[test]
fn the_citation_and_the_changelog_are_of_this_version() {
    let (citation, version) = (read("CITATION.cff"), env!("CARGO_PKG_VERSION"));
    let field = |name: &str| citation.lines().find_map(|line| line.strip_prefix(name));
    assert_eq!(field("version: "), Some(version));
    let heading = format!("\n## {version} - {}\n", field("date-released: ").expect("a date"));
    assert!(read("CHANGELOG.md").contains(&heading), "{heading}");
}

/// Lines of code of a kernel, from its function `run` to its tests.
fn length(operation: &str, kernel: &str) -> usize {
    let operation = nimlanes::cores::OPERATIONS.iter().find(|it| it.name() == operation).expect("an operation");
    let kernels = operation.kernels(&nimlanes::machine::Machine::detect());
    let kernel = kernels.iter().find(|it| it.name == kernel).expect("a kernel");
    let source = read(&kernel.source());
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    // In its module, if several kernels share the file.
    let module = source.find(&format!("pub mod {} {{", kernel.body));
    let end = if module.is_some() { "}" } else { "#[cfg(test)]" };
    let body = source[module.unwrap_or(0)..].lines().skip_while(|line| !line.trim_start().starts_with("pub fn run"));
    body.take_while(|line| *line != end).filter(is_code).count()
}

/// The frames of a flamegraph: name, row from the top, first sample and number of samples.
fn frames(svg: &str) -> Vec<(&str, u32, u64, u64)> {
    let field = |text: &str, name: &str| -> u64 {
        let (_, rest) = text.split_once(&format!("{name}=\"")).expect("a field");
        rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
    };
    let parts = svg.split("<g><title>").skip(1);
    let frames = parts.map(|part| {
        let title = part.split("</title>").next().unwrap_or(part);
        let name = title.rsplit_once(" (").map_or(title, |(name, _)| name);
        (name, field(part, " y") as u32 / 16, field(part, "fg:x"), field(part, "fg:w"))
    });
    frames.collect()
}

/// Pictures show what is inside a kernel: unless the kernel has at most twenty lines, no frame on top has more than
/// three quarters of the time.
#[test]
fn kept_profiles_are_not_flat() {
    let kept: Vec<String> = files("profiles/flamegraphs", ".svg");
    for path in kept.iter().filter(|path| !path.contains("-to-")) {
        let svg = read(path);
        assert!(svg.contains(".rs:"), "{path} has no lines of source");
        let frames = frames(&svg);
        // A frame's own samples are not in frames above it.
        let own = |(_, level, from, count): (&str, u32, u64, u64)| {
            let above =
                frames.iter().filter(|(_, above, at, _)| above + 1 == level && (from..from + count).contains(at));
            count - above.map(|(.., count)| count).sum::<u64>()
        };
        let mut leaves = BTreeMap::<&str, u64>::new();
        for frame in &frames {
            *leaves.entry(frame.0).or_default() += own(*frame);
        }
        let all: u64 = leaves.values().sum();
        let (leaf, widest) = leaves.iter().max_by_key(|(_, count)| **count).expect("a stack");
        let names: Vec<&str> = path.split('/').collect();
        let [.., operation, _, file] = names[..] else { panic!("{path} is in no folder of a workload") };
        let (kernel, _) = file.rsplit_once('-').expect("a kernel and a size");
        let is_short = length(operation, kernel) <= 20;
        assert!(is_short || 4 * widest <= 3 * all, "{path}: {widest} of {all} samples are in {leaf}");
    }
}

#[test]
fn every_kernel_links_to_its_source() {
    let files = files("src/cores", ".rs");
    for operation in nimlanes::cores::OPERATIONS {
        for kernel in operation.kernels(&nimlanes::machine::Machine::detect()) {
            assert!(files.contains(&kernel.source()), "{}: {}", kernel.name, kernel.source());
        }
    }
}
