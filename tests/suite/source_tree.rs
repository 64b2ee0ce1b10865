//! Checks of the source text and of what is kept beside it: where `unsafe` is allowed, links, formulas and profiles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{read_dir, read_to_string};
use std::path::Path;

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

#[test]
fn unsafe_code_is_only_in_the_listed_files() {
    let is_allowed = |text: &str| text.contains("allow(unsafe_code") || text.contains("expect(unsafe_code");
    let found = files("src", ".rs").into_iter().filter(|path| is_allowed(&read(path)));
    let of_tiers: Vec<String> =
        Tier::ALL.iter().map(|tier| format!("src/foundation/simd/{}.rs", tier.name())).collect();
    let (vectors, others): (Vec<String>, Vec<String>) = found.partition(|path| of_tiers.contains(path));
    assert!(!vectors.is_empty(), "tiers have loads and stores");
    assert_eq!(others, UNSAFE);
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
    let kept: BTreeSet<String> = kept.into_iter().collect();
    let differences: Vec<&String> = shown.symmetric_difference(&kept).collect();
    assert!(differences.is_empty(), "shown or kept, but not both: {differences:?}");
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

/// Profiles show what is inside a kernel: no line of source has more than nine tenths of the time, but for the one of `pair_loop`.
#[test]
fn kept_profiles_are_not_flat() {
    let is_meant = |path: &&String| !path.contains("-to-") && !path.contains("/pair_loop-");
    for path in files("profiles/flamegraphs", ".txt").iter().filter(is_meant) {
        let text = read(path);
        let mut shares = BTreeMap::<&str, f64>::new();
        for (share, name) in text.lines().filter_map(|line| line.split_once(" % ")) {
            if name.contains(".rs:") {
                *shares.entry(name.trim()).or_default() += share.trim().parse::<f64>().expect("a share");
            }
        }
        let (line, widest) = shares.iter().max_by(|a, b| a.1.total_cmp(b.1)).expect("lines of source");
        assert!(*widest <= 90.0, "{path}: {widest} % of the samples are in {line}");
    }
}
