//! Duels between two builds of the program: who takes part, what is refused, and that nothing is left behind. The other
//! build is a shell script, or this build behind one.
#![cfg(target_os = "linux")]

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use nimlanes::lab::environment::{BUILD, Build};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{self, Command, Folder, command, path_of_program, send, wait_for};

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// A short duel of two kernels against other programs.
pub fn duel(other: impl AsRef<Path>) -> Command {
    let mut command = command("compare mex_subtraction --size 100 --kernels flags,stamp --seconds 0.1 --builds");
    command.arg(other.as_ref());
    command
}

fn json(command: &mut Command) -> Value {
    command.arg("--json").json()
}

fn rows(of: &Value) -> &Vec<Value> {
    of["rows"].as_array().expect("an array")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// A shell script that notes its group of processes in the file `group` beside it.
pub fn script(folder: &TempDir, text: &str) -> PathBuf {
    let [path, group] = ["other", "group"].map(|name| folder.path().join(name));
    program::script(&path, &format!("cut -d ' ' -f 5 /proc/$$/stat > {}\n{text}", group.display()));
    path
}

/// Waits until a script has noted its group.
pub fn wait_for_script(folder: &TempDir) {
    let group = folder.path().join("group");
    wait_for(|| fs::read_to_string(&group).is_ok_and(|group| group.ends_with('\n')));
}

/// The state of a process, its parent, its group and all that follows in `stat`.
fn stat(process: &Path) -> Option<Vec<String>> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    Some(stat.rsplit_once(") ")?.1.split(' ').map(str::to_owned).collect())
}

/// Whether nothing is left of the script: neither the first process of its group, even as a zombie of this program, nor the others.
/// A killed process without a parent may stay a zombie until the system collects it.
pub fn is_gone(folder: &TempDir) -> bool {
    let group = fs::read_to_string(folder.path().join("group")).expect("the script began");
    let group = group.trim();
    let is_left = |entry: fs::DirEntry| {
        let fields = stat(&entry.path())?;
        let is_zombie = fields[0] == "Z" && (fields[1] == "1" || entry.file_name() != group);
        Some(fields[2] == group && !is_zombie)
    };
    let mut processes = fs::read_dir("/proc").expect("processes").flatten();
    !processes.any(|entry| is_left(entry) == Some(true))
}

/// The replies of a build that has the kernel `flags` and works correctly.
fn hello() -> String {
    let build = format!(r#""build":"default","profile":"{}""#, Build::of_this().profile);
    format!(r#"{{"hello":{{"program":"nimlanes","protocol":1,"version":"0","revision":null,{build}}}}}"#)
}

const OPENED: &str = r#"{"opened":{"kernels":[{"kernel":"flags","obstacle":null}]}}"#;

/// Whether or not Node is installed: here, a script has its place, or nothing.
#[test]
fn a_module_of_webassembly_is_given_to_node() {
    let folder = folder();
    let module = folder.path().join("other.wasm");
    fs::write(&module, b"\0asm\x01\0\0\0").expect("a writable folder");
    duel(&module).env("PATH", "").refused(1, "other.wasm: No such file or directory");
    program::script(&folder.path().join("node"), "case \"$*\" in *other.wasm*) exit 5; esac");
    let says = "other.wasm is no build of nimlanes that can duel: it ended with exit status: 5";
    duel(&module).env("PATH", folder.path()).refused(1, says);
}

#[test]
fn a_build_is_compared_with_itself() {
    // Nothing is kept in files meanwhile.
    let duel = json(duel(path_of_program()).args(["--processes", "2"]).env("TMPDIR", "/nonexistent"));
    assert_eq!((&duel["schema"], &duel["baseline"]), (&"nimlanes-duel-2".into(), &"flags".into()));
    let [other] = &duel["builds"].as_array().expect("an array")[..] else { panic!("one other build: {duel}") };
    assert_eq!((rows(&duel).len(), rows(other).len()), (2, 2));
    for row in rows(other) {
        let over = &row["this_over_other"];
        let [low, high, ratio] = ["low", "high", "ratio"].map(|name| number(&over[name]));
        let [least, most] = [0, 1].map(|end| number(&over["interval"][end]));
        assert!(0.0 < low && low <= ratio && ratio <= high, "{row}");
        assert!(0.0 < least && least <= ratio && ratio <= most, "{row}");
    }
    assert!(rows(&duel).iter().all(|row| row["this_over_other"].is_null()));
    assert!(rows(&duel).iter().any(|row| row["kernel"] == "flags" && row["ratio"] == 1.0));
    assert_eq!([&other["only_here"], &other["only_there"]], [&Value::Array(Vec::new()); 2]);
    assert_eq!(other["program"], "nimlanes");
    assert!(other["rustc"].as_str().is_some_and(|rustc| rustc.starts_with("rustc 1.")), "{duel}");
}

/// Each has its own ratios to this build, in the file as on standard output.
#[test]
fn several_builds_take_turns() {
    let (folder, path) = (folder(), path_of_program());
    let saved = folder.path().join("saved.json");
    let printed = json(duel(format!("this,{}", path.display())).arg("--save").arg(&saved));
    let content = crate::saved::load(&saved)["content"].take();
    assert_eq!((&content["builds"], &content["size"]), (&printed["builds"], &100.into()));
    let builds = printed["builds"].as_array().expect("an array");
    let named: Vec<&Value> = builds.iter().map(|build| &build["name"]).collect();
    assert_eq!(named, ["itself", path.to_str().expect("UTF-8")]);
    for of in builds.iter().chain([&content]) {
        let kernels: Vec<&Value> = rows(of).iter().map(|row| &row["kernel"]).collect();
        assert!(kernels.contains(&&"flags".into()) && kernels.contains(&&"stamp".into()) && kernels.len() == 2, "{of}");
    }
}

/// Of at most 200 rounds; no fewer than five in each process.
#[test]
fn a_duel_ends_when_its_ratios_are_known() {
    let others = format!("--builds {}", path_of_program().display());
    for other in ["", &others] {
        let compare = "compare mex_subtraction --size 100 --kernels flags,stamp --seconds 60 --processes 2 --until 50%";
        let rounds = number(&json(&mut command(&format!("{compare} {other}")))["rows"][0]["rounds"]);
        assert!((10.0..100.0).contains(&rounds), "{rounds}");
    }
}

#[test]
fn both_builds_are_in_the_table() {
    let profile = Build::of_this().profile;
    // A headline names the profile unless that is the one that is measured in.
    let named = if profile == "release" { String::new() } else { format!(" {profile} profile,") };
    let headline = format!("mex_subtraction/squares/100, {BUILD} build,{named} thread clock, ");
    let output = duel("this").text();
    assert!(output.starts_with(&headline), "{output}");
    let says = ["itself  portable", "this    portable", "this/other", &format!("{BUILD} build, {profile} profile\n")];
    assert!(says.iter().all(|part| output.contains(part)), "{output}");
}

#[test]
fn kernels_of_one_build_are_listed() {
    let folder = folder();
    let rename = script(&folder, &format!("{} \"$@\" | sed -u s/stamp/seal/g", path_of_program().display()));
    let named = json(&mut duel(&rename));
    let other = &named["builds"][0];
    assert_eq!(other["only_here"][0]["kernel"], "stamp");
    assert_eq!((rows(&named).len(), rows(other).len()), (2, 1));
    // No other kernels were asked for.
    assert_eq!(other["only_there"], Value::Array(Vec::new()));
    let output = command("compare mex_subtraction --size 100 --seconds 0.1 --builds").arg(&rename).text();
    let name = rename.display();
    assert!(output.contains(&format!("only in this build: stamp (in {name}: no such kernel)")), "{output}");
    assert!(output.contains(&format!("only in {name}: seal\n")), "{output}");
}

#[test]
fn other_programs_are_refused() {
    let folder = folder();
    let none = folder.path().join("none").display().to_string();
    for (path, says) in
        [(&none, "No such file"), (&format!("{none}.wasm"), "No such file"), (&"/".to_owned(), "is a directory")]
    {
        duel(path).refused(2, &format!("cannot start {path}: {says}"));
    }
    for (path, says) in [
        ("/bin/true", "/bin/true is no build of nimlanes that can duel: it ended with exit status: 0"),
        ("/bin/cat", "it ended with exit status: 1: /bin/cat: answer: No such file"),
        ("/usr/bin/yes", "it prints `answer`"),
        ("/etc/passwd", "cannot start /etc/passwd: Permission denied"),
    ] {
        duel(path).refused(1, says);
    }
    let replaced = |from: &str, to: &str| format!("echo '{}'; sleep 60", hello().replace(from, to));
    let profile = format!(r#""profile":"{}""#, Build::of_this().profile);
    let checked = |sum: u32, seconds: &str| {
        let digest = format!(r#"[["max","8"],["zeros","9"],["sum","{sum}"]]"#);
        format!(r#"'{{"checked":{{"digest":{digest},"work":101,"seconds":{seconds}}}}}'"#)
    };
    // In the middle of a duel.
    let replies =
        |last: &str| format!("for reply in '{}' '{OPENED}' {last}; do read request; echo \"$reply\"; done", hello());
    for (text, says) in [
        ("exec sleep 0".to_owned(), "it ended with exit status: 0"),
        ("echo >&2 'nimlanes: unknown command'; exit 2".to_owned(), "it ended with exit status: 2: unknown command"),
        ("head -c 3000000 /dev/zero".to_owned(), "it prints"),
        (replaced("\"protocol\":1", "\"protocol\":7"), "speaks version 7"),
        (replaced("nimlanes", "chess"), "it prints that it is chess"),
        (replaced(&profile, r#""profile":"strange""#), "other is a strange build, and this program a "),
        (format!("echo '{OPENED}'; sleep 60"), "answers another request"),
        (replies(""), "it ended with exit status: 0"),
        (
            replies("") + "\nread it\necho 'out of luck' >&2\nkill -9 $$",
            "it ended with signal: 9 (SIGKILL): out of luck",
        ),
        (replies("") + "\nread request\nexec >&-\nsleep 60", "it ended"),
        (replies("'{\"failed\":{\"reason\":\"no time\"}}'") + "\nsleep 60", "no time"),
        (replies("nonsense") + "\nsleep 60", "it prints `nonsense`"),
        (replies(&format!("'{OPENED}'")), "answers another request"),
        (replies(&checked(1, "1e-6")), "outputs differ: flags of "),
        (replies(&checked(1, "-1")), "answers another request"),
    ] {
        duel(script(&folder, &text)).refused(1, says);
        wait_for(|| is_gone(&folder));
    }
}

/// As with any path: a name alone is not one to look up.
#[test]
fn a_program_is_found_here_alone() {
    let (here, elsewhere) = (folder(), folder());
    script(&here, "exit 5");
    script(&elsewhere, "exit 6");
    let path = format!("{}:{}", elsewhere.path().display(), std::env::var("PATH").unwrap_or_default());
    let refused =
        |code, name: &str, says: &str| duel(name).current_dir(here.path()).env("PATH", &path).refused(code, says);
    refused(1, "other", "other is no build of nimlanes that can duel: it ended with exit status: 5");
    refused(2, "sh", "cannot start sh: No such file");
}

/// A signal ends the duel and all children.
#[test]
fn an_interrupted_duel_leaves_no_children() {
    let (folder, begun) = (folder(), folder());
    let begun = begun.path().join("begun");
    let text = format!("read request; echo '{}'; sleep 60 & touch {}; wait", hello(), begun.display());
    let mut duel = duel(script(&folder, &text)).begin();
    wait_for(|| begun.exists());
    send("TERM", &duel);
    assert_eq!(duel.wait().expect("it ends").code(), Some(143));
    wait_for(|| is_gone(&folder));
}

/// Children end with a duel that is killed, be they in the middle of a turn.
#[test]
fn a_killed_duel_leaves_no_children() {
    // A turn takes minutes.
    let mut duel = command("compare mex_subtraction --size 5e7 --kernels flags --time-limit 86400").begin();
    let children = || fs::read_to_string(format!("/proc/{0}/task/{0}/children", duel.id())).unwrap_or_default();
    wait_for(|| !children().is_empty());
    let child = PathBuf::from(format!("/proc/{}", children().split_whitespace().next().expect("a child")));
    let worked = || stat(&child).and_then(|stat| stat[11].parse::<u64>().ok());
    wait_for(|| worked().is_some_and(|hundredths| hundredths > 5));
    duel.kill().expect("a process of ours");
    duel.wait().expect("it ends");
    // A zombie stays until the system collects it.
    wait_for(|| stat(&child).is_none_or(|stat| stat[0] == "Z"));
}

#[test]
fn rounds_are_spread_over_processes() {
    let duel = |processes: u32| {
        let compare = "compare mex_subtraction --size 100 --kernels flags,stamp --seconds 0.1 --json --processes";
        let duel = command(&format!("{compare} {processes}")).json();
        assert_eq!(duel["processes"], processes);
        rows(&duel).clone()
    };
    assert!(duel(1).iter().all(|row| row["ratio_processes"].is_null()));
    for row in duel(3) {
        let [low, high] = [0, 1].map(|end| number(&row["ratio_processes"][end]));
        assert!(low <= high && low <= number(&row["ratio"]) * 1.5, "{row}");
    }
}

/// A repository with a package whose program is this build.
struct Repository(Folder);

impl Deref for Repository {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.0
    }
}

impl Repository {
    fn new(main: &str) -> Self {
        let repository = Repository(Folder::new());
        let package = "[package]\nname = \"nimlanes-lab\"\nversion = \"9.0.0\"\nedition = \"2024\"\n";
        repository.put("Cargo.toml", &format!("{package}[[bin]]\nname = \"nimlanes\"\npath = \"src/main.rs\"\n"));
        repository.put("build.rs", include_str!("../../src/build.rs"));
        repository.put("src/main.rs", main);
        repository.put(".gitignore", "target\n");
        repository.git(&["init", "--quiet"]);
        repository.commit();
        repository
    }

    /// Commits all files. Returns the name of the commit.
    fn commit(&self) -> String {
        self.git(&["add", "."]);
        self.git(&["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "it"]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    fn git(&self, args: &[&str]) -> String {
        let mut git = Process::new("git");
        // The tests may run within a hook.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
            git.env_remove(name);
        }
        let output = git.current_dir(self.path("")).args(args).output().expect("git");
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// A duel with other builds, which are made here.
    fn duel(&self, builds: &str) -> Command {
        let mut command = duel(builds);
        command.current_dir(self.path(""));
        command
    }

    fn compare(&self, revision: &str) -> Command {
        self.duel(&format!("rev:{revision}"))
    }

    /// Whether git knows of no worktree but that of the user, in which nothing has changed.
    fn is_clean(&self) -> bool {
        let worktrees = self.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count();
        worktrees == 1 && self.git(&["status", "--porcelain", "--untracked-files=no"]).is_empty()
    }
}

/// A program that becomes this build, but says of itself what it is.
fn exec() -> String {
    let program = path_of_program();
    let answer = format!("{} answer | sed -u \"$0\"", program.display());
    format!(
        r#"use std::{{env, os::unix::process::CommandExt, process::Command}};
        fn main() {{
            let args: Vec<String> = env::args().skip(1).collect();
            let revision = option_env!("BUILT_FROM_REVISION").map_or("null".to_owned(), |it| format!("\"{{it}}\""));
            let rustc = format!(r"s/.rustc.:.[^\x22]*./\x22rustc\x22:\x22{{}}\x22/", env!("BUILT_BY"));
            let flags: Vec<_> = env!("BUILT_WITH_FLAGS").split('\x1f').filter(|it| !it.is_empty()).map(|it| format!("\x22{{it}}\x22")).collect();
            let flags = format!(r"s@.flags.:.[^]]*.@\x22flags\x22:[{{}}]@", flags.join(","));
            let profile = format!(r"s/.profile.:.[^\x22]*./\x22profile\x22:\x22{{}}\x22/", env!("BUILT_IN_PROFILE"));
            let says = format!(r"s/.revision.:null/\x22revision\x22:{{revision}}/; s/.build.:.default./\x22build\x22:\x22{{}}\x22/; {{rustc}}; {{flags}}; {{profile}}", env!("BUILT_AS"));
            let error = match args[0].as_str() {{
                "answer" => Command::new("sh").args(["-c", {answer:?}, &says]).exec(),
                _ => Command::new({program:?}).args(args).exec(),
            }};
            panic!("{{error}}");
        }}"#
    )
}

/// Cargo compiles a revision again if anything has changed that it is made with, and only then.
#[test]
fn a_revision_is_built_with_the_settings_of_now() {
    let strange = r#"if cfg!(debug_assertions) { eprintln!("other profile"); std::process::exit(1) }
        if option_env!("CFLAGS").is_some() { eprintln!("other flags of C"); std::process::exit(1) }"#;
    let repository = Repository::new(&exec().replace("fn main() {", &format!("fn main() {{ {strange}")));
    let has_assertions = |is_on: bool| {
        let profiles = ["dev", "release"].map(|name| format!("[profile.{name}]\ndebug-assertions = {is_on}\n"));
        repository.put(".cargo/config.toml", &profiles.concat());
    };
    has_assertions(false);
    let built = |command: &mut Command| {
        let other = json(command.env_remove("CFLAGS"))["builds"][0].take();
        assert_eq!(rows(&other).len(), 2);
        let program = other["path"].as_str().expect("a path");
        fs::metadata(program).and_then(|program| program.modified()).expect("a program")
    };
    let first = built(&mut repository.compare("HEAD"));
    assert!(repository.is_clean());
    // By another name, and with a target and flags that this program does not have.
    let commit = repository.git(&["rev-parse", "HEAD"]);
    let mut again = repository.compare(commit.trim());
    again.env("CARGO_BUILD_TARGET", "none").env("RUSTFLAGS", "-Ctarget-cpu=native");
    assert_eq!(built(&mut again), first);

    repository.compare("HEAD").env("CFLAGS", "-O1").refused(1, "other flags of C");
    has_assertions(true);
    repository.compare("HEAD").refused(1, "other profile");
    repository.compare("HEAD").env("RUSTC", "/bin/echo").refused(1, "does not build");
    has_assertions(false);
    let compilers = folder();
    rustup(&compilers);
    let other = "HEAD is another build than the requested one: it has rustc rustc 1.42.0 ";
    repository.compare("HEAD").env("RUSTC", compilers.path().join("old-rustc")).refused(1, other);
}

/// Whichever target cargo builds for, wherever that lies, and whatever is built there. The source tree around the first revision is a
/// workspace now.
#[test]
fn a_revision_is_what_it_is_called_and_shares_nothing() {
    let repository = Repository::new(&exec());
    let shared = folder();
    let [target, build] = ["target", "build"].map(|name| shared.path().join(name));
    let folders = format!("[build]\ntarget-dir = {target:?}\nbuild-dir = {build:?}\n");
    repository.put(".cargo/config.toml", &folders);
    let of = |command: &mut Command| {
        let revision = json(command)["builds"][0]["revision"].as_str().expect("a revision").to_owned();
        assert!(fs::read_dir(shared.path()).expect("a folder").next().is_none(), "folders are shared");
        revision
    };
    let first = of(&mut repository.compare("HEAD"));
    let manifest = repository.read("Cargo.toml");
    let excluded = include_str!("../../Cargo.toml").lines().find(|line| line.starts_with("exclude = "));
    repository.put("Cargo.toml", &format!("{manifest}[workspace]\n{}\n", excluded.unwrap_or_default()));
    repository.put("added", "");
    let second = repository.commit();
    let rustc = Command::new("rustc").arg("-vV").text();
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).expect("a target");
    repository.put(".cargo/config.toml", &format!("{folders}target = '{host}'"));
    // As git calls a hook, with the index of the commit that is being made.
    repository.put("staged", "");
    repository.git(&["add", "staged"]);
    let mut hook = repository.compare("HEAD");
    hook.env("GIT_DIR", ".git").env("GIT_INDEX_FILE", repository.path(".git/index"));
    assert_eq!((of(&mut hook), &*first), (second, repository.git(&["rev-parse", "HEAD~1"]).trim()));
    assert_eq!(repository.git(&["diff", "--cached", "--name-only"]), "staged\n");
    // It has its own files, and no others.
    let has = |name: &str| repository.path("target/compare/files").join(name).exists();
    assert!(has("added") && !has("staged"));
    repository.put("target/compare/files/stray", "");
    let mut before = repository.compare("HEAD~1");
    before.env("CARGO_TARGET_DIR", &target).env("CARGO_BUILD_TARGET_DIR", &target).env("CARGO_BUILD_BUILD_DIR", &build);
    assert_eq!(of(&mut before), first);
    assert!(has("Cargo.toml") && !has("added") && !has("stray"));
    let mut another = repository.compare("HEAD");
    another.env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
    another.refused(1, "fatal: detected dubious ownership in repository at");
    another.refused(1, "\n    \tgit config --global --add safe.directory ");
}

#[test]
fn a_revision_that_cannot_be_built_leaves_nothing_behind() {
    let repository = Repository::new("fn main() { chess }");
    repository.compare("nonsense").refused(1, "there is no revision `nonsense`");
    let mut compare = repository.compare("HEAD");
    compare
        .env("CARGO_TERM_COLOR", "always")
        .refused(1, "HEAD does not build: error[E0425]: cannot find value `chess`");
    compare.refused(1, "\n    error: could not compile `nimlanes-lab`");
    repository.compare("HEAD").env("CARGO", "/nonexistent").refused(1, "cannot start /nonexistent");
    assert!(repository.is_clean());
    // The cause of a cause.
    let manifest = repository.read("Cargo.toml");
    repository.put("Cargo.toml", &format!("{manifest}[dependencies]\nchess = {{ path = 'chess' }}\n"));
    repository.commit();
    repository.compare("HEAD").refused(1, "No such file or directory");
    let shallow = folder();
    let from = format!("file://{}", repository.path("").display());
    repository.git(&["clone", "--quiet", "--depth", "1", &from, &shallow.path().display().to_string()]);
    let says = "it is a shallow clone: `git fetch --unshallow` fetches";
    repository.compare("HEAD~1").current_dir(shallow.path()).refused(1, says);
    let elsewhere = folder();
    let says = "a revision needs the source tree of nimlanes";
    repository.compare("HEAD").current_dir(elsewhere.path()).refused(1, says);
    // A program that does not know its commit.
    let forgetful = Repository::new(&exec().replace("BUILT_FROM_REVISION", "BUILT_FROM_NOTHING"));
    forgetful.compare("HEAD").refused(1, "it prints none");
    assert!(forgetful.is_clean());
}

#[test]
fn the_native_build_is_made_as_by_its_alias() {
    if BUILD == "native" {
        return command("compare mex_split --builds native").refused(2, "this is the native one");
    }
    let repository = Repository::new(&exec());
    let native = || repository.duel("native");
    let other =
        json(native().env("RUSTFLAGS", "-Cdebuginfo=1").current_dir(repository.path("src")))["builds"][0].take();
    assert_eq!((&other["build"], rows(&other).len()), (&"native".into(), 2));
    assert!(repository.path("target/native").is_dir());

    // The alias finds nothing to compile, and does not make another build under this name. It is for release builds; the tests may be
    // another.
    let profile = Build::of_this().profile;
    let profile = if profile == "debug" { "dev" } else { &profile };
    let config = include_str!("../../.cargo/config.toml");
    let config = config.replace("\"--release\"", &format!("\"--profile\", \"{profile}\""));
    repository.put(".cargo/config.toml", &config);
    let alias = || {
        let mut cargo = Command::new(env!("CARGO"));
        for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR"] {
            cargo.env_remove(name);
        }
        cargo.current_dir(repository.path("")).args(["run-native", "--", "--version"]);
        cargo
    };
    let again = alias().assert().success();
    assert!(!String::from_utf8_lossy(&again.get_output().stderr).contains("Compiling"));
    let says = "this would be the default build, not the native one";
    alias().env("RUSTFLAGS", "-Cdebuginfo=1").assert().code(101).says(says);
    // Flags of linkers are kept.
    repository.put(".cargo/config.toml", &(config + "[target.'cfg(unix)']\nrustflags = ['-Cdebuginfo=1']\n"));
    alias().assert().success();

    // A source tree within another repository.
    repository.put("inner/Cargo.toml", "name = \"nimlanes-lab\"\n");
    repository.compare("HEAD").current_dir(repository.path("inner")).refused(1, "inner lies in another one");

    native().env("CARGO", "/nonexistent").refused(1, "cannot start /nonexistent");
    repository.put("src/main.rs", "fn main() { chess }");
    native().refused(1, "the native program does not build: error[E0425]");
    let elsewhere = folder();
    native().current_dir(elsewhere.path()).refused(1, "the native build needs the source tree of nimlanes");
    // Its result is not the native build.
    repository.put("src/main.rs", &exec().replace("BUILT_WITH_FLAGS", "CARGO_PKG_NAME"));
    let says = "the native program is another build than the requested one: it has flags nimlanes-lab, not ";
    native().refused(1, says);
}

#[test]
fn an_interrupted_build_leaves_nothing_behind() {
    let repository = Repository::new(&exec());
    let folder = folder();
    let cargo = script(&folder, "sleep 60 & wait");
    let begin = || {
        let _ = fs::remove_file(folder.path().join("group"));
        let compare = repository.compare("HEAD").env("CARGO", &cargo).begin();
        wait_for_script(&folder);
        assert!(!is_gone(&folder));
        repository.compare("HEAD").refused(1, "another command has a revision in ");
        compare
    };
    let mut compare = begin();
    send("TERM", &compare);
    assert_eq!(compare.wait().expect("it ends").code(), Some(143));
    wait_for(|| is_gone(&folder));
    assert!(repository.is_clean());
    // Cargo ends, with all that it started, also if the program is killed.
    let mut compare = begin();
    compare.kill().expect("a process of ours");
    compare.wait().expect("it ends");
    wait_for(|| is_gone(&folder));
    repository.compare("HEAD").env("CARGO", "/nonexistent").refused(1, "cannot start /nonexistent");
    assert!(repository.is_clean());
}

/// Git is killed while it writes the files of a revision.
#[test]
fn an_interrupted_checkout_is_begun_anew() {
    let repository = Repository::new("fn main() {}");
    repository.put(".gitattributes", "src/main.rs filter=slow\n");
    repository.commit();
    let folder = folder();
    let filter = script(&folder, "sleep 60 & wait");
    repository.git(&["config", "filter.slow.smudge", filter.to_str().expect("UTF-8")]);
    let mut compare = repository.compare("HEAD").begin();
    wait_for_script(&folder);
    compare.kill().expect("a process of ours");
    compare.wait().expect("it ends");
    let group = fs::read_to_string(folder.path().join("group")).expect("a group of processes");
    // Unless git has ended with the program.
    Process::new("kill").args(["-KILL", "--", &format!("-{}", group.trim())]).output().expect("kill");
    wait_for(|| is_gone(&folder));

    repository.git(&["config", "--unset", "filter.slow.smudge"]);
    let is_checked_out = || {
        repository.compare("HEAD").env("CARGO", "/nonexistent").refused(1, "cannot start /nonexistent");
        assert!(repository.is_clean() && repository.path("target/compare/files/src/main.rs").exists());
    };
    is_checked_out();
    // As after a power cut.
    repository.put("target/compare/index", "");
    is_checked_out();
}

/// A `rustup` that has the toolchains `this` and, once `old-rustc.installed` is there, `old`: the same compiler by another name.
fn rustup(folder: &TempDir) -> String {
    let write = |name: &str, text: &str| {
        program::script(&folder.path().join(name), text);
        folder.path().join(name).display().to_string()
    };
    let rename = r"rustc $1 | sed '1s/rustc [0-9.]*/rustc 1.42.0/'";
    let old = write("old-rustc", &format!("case $1 in -vV|--version) {rename} ;; *) exec rustc \"$@\" ;; esac"));
    let this = write("this-rustc", "exec rustc \"$@\"");
    let cases = [
        format!("'which --toolchain this rustc') echo {this} ;;"),
        format!("'which --toolchain old rustc') test -e {old}.installed && echo {old} && exit"),
        "echo \"error: toolchain 'old' is not installed\" >&2; exit 1 ;;".to_owned(),
    ];
    write("rustup", &format!("case \"$*\" in\n{}\nesac", cases.join("\n")));
    format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap_or_default())
}

#[test]
fn kernels_are_compared_by_compilers() {
    let repository = Repository::new(&exec());
    let folder = folder();
    let path = rustup(&folder);
    let by = |builds: &str| {
        let mut command = repository.duel(builds);
        command.env("PATH", &path);
        command
    };
    let both = "toolchain:this,toolchain:old";
    let says = "there is no rustc of old; `rustup toolchain install old --profile minimal` installs it: \
        error: toolchain 'old' is not installed";
    by(both).refused(1, says);

    fs::write(folder.path().join("old-rustc.installed"), "").expect("a writable folder");
    let duel = json(&mut by(both));
    assert_eq!(duel["baseline"], "flags");
    let builds = duel["builds"].as_array().expect("an array");
    assert!(builds.len() == 2 && builds[1]["rustc"].as_str().is_some_and(|it| it.starts_with("rustc 1.42.0 ")));
    assert!(builds.iter().all(|build| rows(build).len() == 2));
    let output = by("toolchain:old").text();
    assert!(output.contains("\nold: ") && output.contains("rustc 1.42.0 ") && output.contains("LLVM"), "{output}");

    // A program that another compiler has made.
    repository.put("src/main.rs", &exec().replace("BUILT_BY", "CARGO_PKG_NAME"));
    let says = "the program by old is another build than the requested one: it has rustc nimlanes-lab, not ";
    by("toolchain:old").refused(1, says);
    by("toolchain:old").current_dir(folder.path()).refused(1, "a toolchain needs the source tree of nimlanes");
}

/// The revision is this build again, so that only names differ.
#[test]
fn a_profile_shows_what_changed_since_a_revision() {
    let repository = Repository::new(&exec());
    let profile = |build: &str| {
        let options = "--kernel stamp --size 100 --seconds 0.3 --sampler pprof";
        let mut command = command(&format!("profile mex_subtraction {options} --build {build}"));
        command.current_dir(repository.path("")).env_remove("CARGO_TARGET_DIR");
        command
    };
    let commit = repository.git(&["rev-parse", "--short=12", "HEAD"]);
    let commit = commit.trim();
    let output = profile("rev:HEAD").text();
    let says = format!("from stamp of {commit} to stamp, shares of the samples:\n");
    let (_, table) = output.split_once(&says).expect("a table of what changed");
    // The same code is in the same functions.
    let both = table.lines().skip(1).filter(|line| !line.split_whitespace().any(|word| word == "0.0")).count();
    assert!(both > 0, "{table}");
    assert!(repository.is_clean());

    // A program that cannot profile.
    let folder = folder();
    let other = script(&folder, "echo no kernel >&2; exit 1");
    profile(&other.display().to_string()).assert().code(1).says(": no kernel\n");
}
