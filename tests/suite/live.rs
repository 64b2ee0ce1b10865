//! The page at work in a browser: it solves and races. This needs a Chromium and the target of the module, which `.ci/deep page`
//! installs. Screenshots are left in the folder for temporary files of tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::page::browser::{Browser, program};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A page with its module, one for all tests.
fn page() -> &'static Path {
    static PAGE: OnceLock<PathBuf> = OnceLock::new();
    PAGE.get_or_init(|| {
        let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page.html");
        let mut report = super::nimlanes();
        let said = report.current_dir(ROOT).args(["report", "--html"]).arg(&page).text();
        assert_eq!(said.lines().nth(1), None, "the page has no module");
        page
    })
}

/// Opens the page in a browser, which reports no errors in the end.
fn browse(flags: &[&str], fragment: &str, test: impl FnOnce(&mut Browser)) {
    let mut browser = Browser::start(program(), flags);
    browser.resize(1400, false);
    browser.open(page(), fragment);
    test(&mut browser);
    assert_eq!(browser.errors, [""; 0]);
}

impl Browser {
    /// The text of a section when it has done its work.
    fn done(&mut self, section: &str) -> String {
        self.until(&format!("document.querySelector('#{section}-status').textContent"));
        self.until(&format!("!document.querySelector('#{section}').hasAttribute('aria-busy')"));
        self.text(&format!("document.querySelector('#{section}-status').textContent"))
    }

    /// Follows another link in the same page. Returns the text of its section when it has done its work.
    fn follow(&mut self, fragment: &str) -> String {
        self.value(&format!("location.hash = '{fragment}'"));
        // The event of the change comes later.
        self.value("new Promise(resolve => setTimeout(resolve, 50))");
        self.done(fragment.split('=').next().expect("a section"))
    }

    fn click(&mut self, selector: &str) {
        self.value(&format!("document.querySelector('{selector}').click()"));
    }
}

#[test]
#[ignore = "needs a browser and a module for it: .ci/deep page"]
fn a_page_with_its_module_is_small() {
    let bytes = fs::metadata(page()).expect("the page").len();
    assert!(bytes < 4_000_000, "{bytes} bytes");
}

#[test]
#[ignore = "needs a browser and a module for it: .ci/deep page"]
fn links_solve_games() {
    browse(&[], "", |browser| {
        for (link, answer) in [
            ("solve=stone-game&limit=1000", "167542057"),
            ("solve=stone-game&limit=100&rule=one-or-two", "194965"),
            ("solve=proportionate-nim&limit=1e7", "11541685709674"),
            ("solve=proportionate-nim&limit=20&moves=1:1", "38"),
            ("solve=nim-square&limit=1e5", "2586528661783"),
            ("solve=scatterstone-nim&limit=200", "626616617"),
            ("solve=proportionate-nim&limit=1e6&kernel=occupancy=window_tree", "115402361059"),
        ] {
            let said = browser.follow(link);
            assert!(said.contains(&format!("the answer is {answer},")), "{link}: {said}");
            assert_eq!(browser.text("document.querySelector('.answer').textContent"), answer);
        }
        assert!(browser.text("document.querySelector('#solve-answer').textContent").contains("observed"));
        browser.pictures("solve");

        // The address follows the form.
        browser.value("document.querySelector('#solve-limit').value = '2000'");
        browser.value("document.querySelector('#solve-kernel').value = ''");
        browser.click("#solve-form [type=submit]");
        browser.done("solve");
        assert_eq!(browser.text("location.hash"), "#solve=proportionate-nim&limit=2000");
    });
}

#[test]
#[ignore = "needs a browser and a module for it: .ci/deep page"]
fn links_find_periods_of_families() {
    browse(&[], "", |browser| {
        let last = "document.querySelector('#family-table tbody tr:last-child')";
        for (link, row, sets) in [
            ("family=symmetric&largest-move=12&kernel=mex_family=words", ["12", "68"], "189"),
            ("family=all", ["14", "144"], "16\u{202f}383"),
        ] {
            let said = browser.follow(link);
            assert!(said.contains(&format!("The periods of {sets} sets are proved: ")), "{link}: {said}");
            let cells = browser.value(&format!("[...{last}.children].map(cell => cell.textContent)"));
            assert_eq!([&cells[0], &cells[1]], row, "{cells}");
        }
        let set = browser.text(&format!("{last}.querySelector('td:last-child').textContent"));
        assert_eq!(set, "{3, 4, 5, 9, 10, 11, 12, 14}");
        browser.pictures("family");
    });
}

#[test]
#[ignore = "needs a browser and a module for it: .ci/deep page"]
fn bad_links_say_what_is_allowed() {
    browse(&[], "", |browser| {
        for (link, says) in [
            ("solve=stone-gam", "unknown game `stone-gam`; did you mean `stone-game`? allowed: stone-game, "),
            ("solve=stone-game&limt=5", "stone-game has no setting `limt`; allowed: rule, limit, kernel"),
            ("solve=stone-game&limit=x", "limit `x` is not a whole number"),
            ("solve=stone-game&limit=1e6", "are free; "),
            ("solve=stone-game&kernel=table_scan=none", "unknown kernel `none` of table_scan; allowed: "),
            ("race=mex", "unknown operation `mex`; allowed: table_scan, "),
            ("race=mex_zeros&workload=x", "unknown move set `x`; allowed: squares, "),
            ("family=most", "unknown family `most`; allowed: all, symmetric"),
            ("family=all&largest-move=64", "largest-move `64` is too large; "),
            ("family=all&limit=9", "a family has no setting `limit`; allowed: largest-move, kernel"),
            ("race=mex_zeros&seconds=0", "seconds `0` is too small; at least 1"),
        ] {
            let said = browser.follow(link);
            assert!(said.contains(says), "{link}: {said}");
            let section = link.split('=').next().expect("a section");
            assert_eq!(browser.value(&format!("document.querySelector('#{section}-status').className")), "error");
        }
        browser.follow("solve=stone-game&limit=1e6");
        browser.pictures("solve");
    });
}

/// The lanes of a race from the fastest on, as names.
fn ranking(browser: &mut Browser) -> Vec<String> {
    let names = browser.value("[...document.querySelectorAll('#race-lanes .kernel')].map(name => name.textContent)");
    names.as_array().expect("names").iter().map(|name| name.as_str().expect("text").replace('†', "")).collect()
}

#[test]
#[ignore = "needs a browser and a module for it: .ci/deep page"]
fn a_race_ends_with_a_ranking() {
    browse(&[], "race=mex_subtraction&size=10000&seconds=2", |browser| {
        browser.until("parseFloat(document.querySelector('#race-lanes .bar i')?.style.width) > 0");
        let said = browser.done("race");
        let named = ranking(browser);
        assert!(named.len() > 5 && named.iter().any(|name| name.ends_with("_simd128")), "{named:?}");
        assert!(said.contains(&format!("{} wins at 10\u{202f}000", named[0])), "{said}");
        assert!(said.contains(&format!("All {} outputs agree: max 33, zeros 579, sum 104989", named.len())), "{said}");
        // Each lane has a sentence and a link to the source.
        let explained = "[...document.querySelectorAll('#race-lanes li')].every(lane => lane.querySelector('small').textContent.length > 10
            && /\\.rs#L\\d+$/.test(lane.querySelector('a').getAttribute('href')))";
        assert_eq!(browser.value(explained), true);
        assert!(browser.follow("race=mex_subtraction&seconds=2").contains("wins at 100\u{202f}000"));
        browser.pictures("race");
    });
}

#[test]
#[ignore = "needs a browser and a module for it: .ci/deep page"]
fn stop_stops() {
    browse(&[], "race=mex_subtraction&size=10000&seconds=600", |browser| {
        browser.until("document.querySelector('#race-status').textContent.includes('Racing')");
        browser.click("#race-form button:not([type=submit])");
        assert_eq!(browser.done("race"), "Stopped.");
        assert_eq!(browser.value("document.querySelector('#race-form button:not([type=submit])').disabled"), true);
        // A long computation can be stopped, too, and then another can begin.
        browser.value("location.hash = 'solve=stone-game&limit=40000'");
        browser.until("document.querySelector('#solve-status').textContent.includes('table_scan by')");
        browser.click("#solve-form button:not([type=submit])");
        assert_eq!(browser.done("solve"), "Stopped.");
        assert!(browser.follow("solve=stone-game&limit=100").contains("173895"));
    });
}

/// A browser without vectors. V8 needs SSE4.1 for them on x86.
#[test]
#[ignore = "needs a browser and a module for it: .ci/deep page"]
#[cfg(target_arch = "x86_64")]
fn without_vectors_the_portable_kernels_race() {
    browse(&["--js-flags=--no-enable-sse4-1"], "race=mex_subtraction&size=2000&seconds=1", |browser| {
        let said = browser.done("race");
        assert!(said.contains("Tier portable"), "{said}");
        let names = ranking(browser);
        assert!(names.len() > 5 && !names.iter().any(|name| name.ends_with("_simd128")), "{names:?}");
    });
}
