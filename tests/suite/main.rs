//! The tests that need neither a process nor a harness of their own, in one program, so that there is one link instead
//! of one for each module. A filter names a module: `cargo test --test suite octal::`.

mod api;
mod games;
mod octal;
mod oeis;
mod properties;
mod records;
mod selection;
mod source_tree;
#[cfg(debug_assertions)]
mod threads;
mod walls;
mod zeros;

// Tests of the program.
#[cfg(feature = "cli")]
mod children;
#[cfg(feature = "cli")]
mod command_line;
#[cfg(feature = "cli")]
mod discoveries;
#[cfg(feature = "cli")]
mod duels;
#[cfg(feature = "cli")]
mod families;
#[cfg(all(feature = "cli", unix))]
mod files;
#[cfg(feature = "cli")]
mod formats;
#[cfg(feature = "cli")]
mod grundy;
#[cfg(feature = "cli")]
mod instruments;
#[cfg(all(feature = "cli", unix))]
mod live;
#[cfg(feature = "cli")]
mod locks;
#[cfg(feature = "cli")]
mod observed;
#[cfg(all(feature = "cli", unix))]
mod page;
#[cfg(feature = "cli")]
mod positions;
#[cfg(feature = "cli")]
mod program;
#[cfg(feature = "cli")]
mod reports;
#[cfg(feature = "cli")]
mod requests;
#[cfg(feature = "cli")]
mod saved;

#[cfg(feature = "cli")]
use program::nimlanes;

/// An example of the library, optimised, if it has been built: `cargo test` does so.
#[cfg(feature = "cli")]
fn example(name: &str) -> Option<program::Command> {
    let path = std::env::current_exe().expect("a path");
    let folder = path.ancestors().nth(2).expect("that of the profile");
    let example = folder.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    example.is_file().then(|| program::Command::new(example))
}

/// A folder for a test, in memory on Linux: right after a build, a file that is synced to a disk waits for all that the build has
/// written.
#[cfg(feature = "cli")]
fn in_memory() -> tempfile::TempDir {
    #[cfg(target_os = "linux")]
    {
        const MEMORY: &str = "/dev/shm";
        const ROOM: u64 = 1 << 30; // a container may have 64 MB
        let room = rustix::fs::statvfs(MEMORY).map_or(0, |found| found.f_bavail * found.f_frsize);
        if let Some(folder) = tempfile::tempdir_in(MEMORY).ok().filter(|_| room >= ROOM) {
            return folder;
        }
    }
    tempfile::tempdir().expect("a folder")
}
