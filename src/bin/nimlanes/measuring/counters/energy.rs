//! Energy of the CPU packages, as Linux reports it in its power capping zones (RAPL, on Intel and on AMD).
//!
//! It covers all cores and whatever else runs on them, so it is meaningful only on an idle machine. Most systems let only
//! root read it, and virtual machines do not report it.

use std::fs;
use std::path::{Path, PathBuf};

use nimlanes::kernel::RunError;

use super::{Counts, ENERGY, Source};

/// Where the zones are.
const ZONES: &str = "/sys/class/powercap";

/// A source that also meters energy, if it can be read.
pub struct Metered<S> {
    source: S,
    packages: Vec<Package>,
}

/// The energy counter of a package.
struct Package {
    /// Microjoules since some time.
    counter: PathBuf,
    /// Where it wraps around to 0.
    range: u64,
}

impl Package {
    fn of(zone: &Path) -> Option<Self> {
        let package = Package { counter: zone.join("energy_uj"), range: number(&zone.join("max_energy_range_uj"))? };
        number(&package.counter).map(|_| package)
    }
}

/// The number in a file of the system.
fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

impl<S> Metered<S> {
    pub fn new(source: S) -> Self {
        Metered::of(source, Path::new(ZONES))
    }

    fn of(source: S, zones: &Path) -> Self {
        // A package is a zone such as `intel-rapl:0`. Its parts are `intel-rapl:0:1`.
        let is_package = |zone: &Path| {
            let name = zone.file_name().and_then(|name| name.to_str());
            name.and_then(|name| name.strip_prefix("intel-rapl:")).is_some_and(|number| number.parse::<u32>().is_ok())
        };
        let zones = fs::read_dir(zones).into_iter().flatten().flatten().map(|zone| zone.path());
        let packages = zones.filter(|zone| is_package(zone)).filter_map(|zone| Package::of(&zone)).collect();
        Metered { source, packages }
    }

    fn read(&self) -> Option<Vec<u64>> {
        self.packages.iter().map(|package| number(&package.counter)).collect()
    }
}

impl<S: Source> Source for Metered<S> {
    fn count(&mut self, work: &mut dyn FnMut() -> Result<(), RunError>) -> Result<Counts, RunError> {
        let before = self.read();
        let mut counts = self.source.count(work)?;
        if let (false, Some(before), Some(after)) = (self.packages.is_empty(), before, self.read()) {
            let used = self.packages.iter().zip(before.iter().zip(after));
            let used = used.map(
                |(package, (before, after))| {
                    if after >= *before { after - before } else { package.range - before + after }
                },
            );
            counts.insert(ENERGY.to_owned(), used.sum::<u64>() as f64 * 1000.0);
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Source for Nothing {
        fn count(&mut self, work: &mut dyn FnMut() -> Result<(), RunError>) -> Result<Counts, RunError> {
            work().map(|()| Counts::new())
        }
    }

    fn zone(zones: &Path, name: &str, energy: u64) -> PathBuf {
        let zone = zones.join(name);
        fs::create_dir(&zone).unwrap();
        fs::write(zone.join("max_energy_range_uj"), "1000\n").unwrap();
        fs::write(zone.join("energy_uj"), format!("{energy}\n")).unwrap();
        zone.join("energy_uj")
    }

    #[test]
    fn energy_is_that_of_all_packages_and_of_no_part_twice() {
        let zones = tempfile::tempdir().unwrap();
        let first = zone(zones.path(), "intel-rapl:0", 100);
        let second = zone(zones.path(), "intel-rapl:1", 990);
        let part = zone(zones.path(), "intel-rapl:0:0", 0);
        let mut metered = Metered::of(Nothing, zones.path());
        let mut work = || {
            // The second wraps around to 0.
            for (file, energy) in [(&first, "160"), (&second, "20"), (&part, "500")] {
                fs::write(file, energy).unwrap();
            }
            Ok(())
        };
        assert_eq!(metered.count(&mut work).unwrap()[ENERGY], 90_000.0, "nanojoules");
    }

    #[test]
    fn no_energy_is_told_where_none_can_be_read() {
        let zones = tempfile::tempdir().unwrap();
        let none = |zones: &Path| Metered::of(Nothing, zones).count(&mut || Ok(())).unwrap().is_empty();
        assert!(none(&zones.path().join("missing")) && none(zones.path()));
        fs::remove_file(zone(zones.path(), "intel-rapl:0", 100)).unwrap();
        assert!(none(zones.path()));
    }
}
