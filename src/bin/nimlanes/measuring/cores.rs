//! The types of cores of a hybrid CPU, whose times cannot be compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Serialize;

/// Cores that are alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CoreType {
    /// The system's name for them.
    name: String,
    /// The CPUs, such as `0-3,8`.
    cpus: String,
}

impl CoreType {
    fn has(&self, cpu: usize) -> bool {
        self.cpus.split(',').any(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            first.parse().is_ok_and(|first: usize| first <= cpu) && last.parse().is_ok_and(|last: usize| cpu <= last)
        })
    }
}

impl std::fmt::Display for CoreType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.name, self.cpus)
    }
}

/// The types of this machine, as Linux lists them; none if all cores are alike.
pub fn types() -> Vec<CoreType> {
    types_in(Path::new("/sys/devices"))
}

fn types_in(devices: &Path) -> Vec<CoreType> {
    let read = |file: String| fs::read_to_string(devices.join(file)).ok().map(|text| text.trim().to_owned());
    let named = ["core", "atom", "lowpower"].map(|name| {
        let name = format!("cpu_{name}");
        read(format!("{name}/cpus")).map(|cpus| CoreType { name, cpus })
    });
    let mut types: Vec<CoreType> = named.into_iter().flatten().collect();
    // Of ARM. On Intel's CPUs some cores of one type have more than others.
    if types.is_empty() {
        let capacities = (0..).map_while(|cpu| read(format!("system/cpu/cpu{cpu}/cpu_capacity")));
        let mut found = BTreeMap::<String, Vec<String>>::new();
        for (cpu, capacity) in capacities.enumerate() {
            found.entry(capacity).or_default().push(cpu.to_string());
        }
        let of = |(capacity, cpus): (String, Vec<String>)| CoreType {
            name: format!("capacity {capacity}"),
            cpus: cpus.join(","),
        };
        types = found.into_iter().map(of).collect();
    }
    if types.len() > 1 { types } else { Vec::new() }
}

/// Succeeds if all cores that this process may use are alike.
///
/// # Errors
/// The types that they are of.
pub fn are_alike() -> Result<(), String> {
    #[cfg(target_os = "linux")]
    if let Ok(allowed) = rustix::thread::sched_getaffinity(None) {
        return of_one_type(&types(), |cpu| allowed.is_set(cpu));
    }
    Ok(())
}

#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "no other system lists them"))]
fn of_one_type(types: &[CoreType], is_allowed: impl Fn(usize) -> bool) -> Result<(), String> {
    const CPUS: usize = 1 << 12;
    let used: Vec<&CoreType> = types.iter().filter(|it| (0..CPUS).any(|cpu| it.has(cpu) && is_allowed(cpu))).collect();
    let [first, _, ..] = used[..] else { return Ok(()) };
    let used = used.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Err(format!(
        "this process may use several types of cores, {used}; `taskset -c {} nimlanes ..` allows one",
        first.cpus
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> Vec<CoreType> {
        let folder = tempfile::tempdir().expect("a folder");
        for (file, text) in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            fs::write(path, text).expect("written");
        }
        types_in(folder.path())
    }

    #[test]
    fn hybrid_cpus_have_types() {
        let capacity =
            |cpu, capacity| (["system/cpu/cpu0/cpu_capacity", "system/cpu/cpu1/cpu_capacity"][cpu], capacity);
        let intel = machine(&[("cpu_core/cpus", "0-3,12\n"), ("cpu_atom/cpus", "4-11\n"), capacity(0, "1024\n")]);
        assert_eq!(intel.iter().map(ToString::to_string).collect::<Vec<_>>(), ["cpu_core (0-3,12)", "cpu_atom (4-11)"]);
        assert_eq!((0..20).filter(|cpu| intel[0].has(*cpu)).collect::<Vec<_>>(), [0, 1, 2, 3, 12]);
        let arm = machine(&[capacity(0, "1024\n"), capacity(1, "446\n")]);
        assert_eq!(arm.iter().map(ToString::to_string).collect::<Vec<_>>(), ["capacity 1024 (0)", "capacity 446 (1)"]);
        assert_eq!(machine(&[capacity(0, "1024\n"), capacity(1, "1024\n")]), []);
        assert_eq!([machine(&[]), machine(&[("cpu_core/cpus", "0-7\n")])], [vec![], vec![]]);
    }

    #[test]
    fn types_are_not_mixed() {
        let types = machine(&[("cpu_core/cpus", "0-3\n"), ("cpu_atom/cpus", "4-11\n")]);
        let says = "this process may use several types of cores, cpu_core (0-3), cpu_atom (4-11); `taskset -c 0-3 nimlanes ..` allows one";
        assert_eq!(of_one_type(&types, |_| true), Err(says.to_owned()));
        assert_eq!([of_one_type(&types, |cpu| cpu < 4), of_one_type(&[], |_| true)], [Ok(()), Ok(())]);
    }
}
