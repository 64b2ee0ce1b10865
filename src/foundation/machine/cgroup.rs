//! The memory that the control groups of this process, of both versions, leave to it.
//!
//! This is not taken from `sysinfo`, which reads only the group at the root of the hierarchy, and counts cached files
//! as used.

use std::fs;
use std::path::Path;

/// The places and names under which a version of control groups keeps its numbers.
struct Version {
    /// Where the hierarchy may be mounted.
    mounts: &'static [&'static str],
    limit: &'static str,
    used: &'static str,
    /// The entry of `memory.stat` that says how much of the used memory the system can reclaim when needed.
    reclaimable: &'static str,
}

const V1: Version = Version {
    mounts: &["sys/fs/cgroup/memory"],
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file ",
};
const V2: Version = Version {
    mounts: &["sys/fs/cgroup", "sys/fs/cgroup/unified"],
    limit: "memory.max",
    used: "memory.current",
    reclaimable: "inactive_file ",
};

/// Bytes that the control groups of this process leave to it; `None` if they set no limit. `root` is the root of the
/// file system.
pub fn free(root: &Path) -> Option<u64> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mut least = None;
    for line in groups.lines() {
        if let Some(free) = free_in(root, line) {
            least = Some(least.unwrap_or(free).min(free));
        }
    }
    least
}

/// The same for one hierarchy, given by a line `number:controllers:path`.
fn free_in(root: &Path, line: &str) -> Option<u64> {
    let (_, line) = line.split_once(':')?;
    let (controllers, path) = line.split_once(':')?;
    let version = match controllers {
        "" => V2,
        list if list.split(',').any(|controller| controller == "memory") => V1,
        _ => return None,
    };
    let mut least = None;
    for mount in version.mounts {
        // Every group on the way up limits all groups below it. In a container, the path may be that of the host. Then only
        // the end of the way exists here, the mount, which is the container's own group.
        let mount = root.join(mount);
        let mut group = mount.join(path.trim_start_matches('/'));
        while group.starts_with(&mount) {
            if let Some(free) = version.free_of(&group) {
                least = Some(least.unwrap_or(free).min(free));
            }
            group.pop();
        }
    }
    least
}

impl Version {
    /// Bytes that one group leaves. A limit that is not a number is no limit.
    fn free_of(&self, group: &Path) -> Option<u64> {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let read = |name: &str| fs::read_to_string(group.join(name)).ok();
        let (limit, used) = (number(&read(self.limit)?)?, number(&read(self.used)?)?);
        let mut reclaimable = None;
        for line in read("memory.stat").unwrap_or_default().lines() {
            if reclaimable.is_none()
                && let Some(text) = line.strip_prefix(self.reclaimable)
            {
                reclaimable = number(text);
            }
        }
        Some(limit.saturating_sub(used.saturating_sub(reclaimable.unwrap_or(0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of [`free`] if the root of the file system has these files.
    fn free_with(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        free(root.path())
    }

    #[test]
    fn groups_without_a_limit_leave_everything() {
        assert_eq!(free_with(&[]), None);
        let own = ("proc/self/cgroup", "0::/a/b\n");
        assert_eq!(free_with(&[own]), None);
        let files = [own, ("sys/fs/cgroup/a/b/memory.max", "max\n"), ("sys/fs/cgroup/a/b/memory.current", "5\n")];
        assert_eq!(free_with(&files), None);
    }

    #[test]
    fn the_tightest_group_on_the_way_up_counts_and_files_in_memory_do_not() {
        let own = ("proc/self/cgroup", "0::/a/b\n");
        let inner = [("sys/fs/cgroup/a/b/memory.max", "1000\n"), ("sys/fs/cgroup/a/b/memory.current", "600\n")];
        let outer = [("sys/fs/cgroup/a/memory.max", "2000\n"), ("sys/fs/cgroup/a/memory.current", "1900\n")];
        let other = [("sys/fs/cgroup/c/memory.max", "1\n"), ("sys/fs/cgroup/c/memory.current", "0\n")];
        assert_eq!(free_with(&[&[own][..], &inner, &other].concat()), Some(400));
        assert_eq!(free_with(&[&[own][..], &inner, &outer, &other].concat()), Some(100));
        let files = ("sys/fs/cgroup/a/memory.stat", "anon 7\ninactive_file 250\nactive_file 9\n");
        assert_eq!(free_with(&[&[own, files][..], &inner, &outer].concat()), Some(350));
    }

    #[test]
    fn both_versions_are_read() {
        let own = ("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/docker/1\n5:pids:/other\n0::/x\n");
        let first = [
            ("sys/fs/cgroup/memory/other/memory.limit_in_bytes", "10\n"),
            ("sys/fs/cgroup/memory/other/memory.usage_in_bytes", "0\n"),
            ("sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/docker/1/memory.usage_in_bytes", "500\n"),
            ("sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "800\n"),
            ("sys/fs/cgroup/memory/docker/memory.usage_in_bytes", "500\n"),
            ("sys/fs/cgroup/memory/docker/memory.stat", "inactive_file 1\ntotal_inactive_file 100\n"),
        ];
        assert_eq!(free_with(&[&[own][..], &first].concat()), Some(400));
        let second = [("sys/fs/cgroup/unified/x/memory.max", "90"), ("sys/fs/cgroup/unified/x/memory.current", "100")];
        assert_eq!(free_with(&[&[own][..], &first, &second].concat()), Some(0));
    }

    /// The path is that of the host, while the container sees its own group at the mount.
    #[test]
    fn a_container_that_does_not_see_the_host_has_its_own_limit() {
        let files = [
            ("proc/self/cgroup", "4:memory:/docker/1\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "300"),
        ];
        assert_eq!(free_with(&files), Some(700));
    }
}
