//! Duels between two builds of the program: who takes part, what is refused, and that nothing is left behind. The other
//! build is a shell script, or this build behind one.
#![cfg(target_os = "linux")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nimlanes::lab::environment::{BUILD, Build};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Command, path_of_program};

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn nimlanes() -> Command {
    let mut command = Command::new(path_of_program());
    command.env_remove("NIMLANES_ISA_MAX").env_remove("NIMLANES_KERNEL").env_remove("CARGO_TARGET_DIR");
    command
}

/// A short duel of two kernels against another program.
pub fn duel(other: &Path) -> Command {
    let mut command = nimlanes();
    command.args(["compare", "mex_subtraction", "--size", "100", "--kernels", "flags,stamp", "--seconds", "0.2"]);
    command.arg("--builds").arg(other);
    command
}

fn json(command: &mut Command) -> Value {
    command.arg("--json").json()
}

/// Expects exit code 1, an empty standard output, and on stderr a line that contains `says`, with more words of a child indented below.
pub fn failed(command: &mut Command, says: &str) {
    let output = command.assert().code(1).stdout("").get_output().clone();
    let line = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(line.lines().skip(1).all(|more| more.starts_with("    ")), "more than a line: {line}");
    assert!(line.starts_with("nimlanes: ") && line.contains(says), "should say {says:?}: {line}");
}

/// A shell script that notes its group of processes in the file `group` beside it.
pub fn script(folder: &TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("other");
    let group = folder.path().join("group");
    let note = format!("cut -d ' ' -f 5 /proc/$$/stat > {}", group.display());
    fs::write(&path, format!("#!/bin/sh\n{note}\n{text}\n")).expect("a writable folder");
    fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("a file of ours");
    path
}

/// Whether nothing is left of the script: neither the first process of its group, even as a zombie of this program, nor the others.
/// A killed process without a parent may stay a zombie until the system collects it.
pub fn is_gone(folder: &TempDir) -> bool {
    let group = fs::read_to_string(folder.path().join("group")).expect("the script began");
    let group = group.trim();
    let is_left = |entry: fs::DirEntry| {
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // `pid (name) state parent group ..`
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
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
    failed(duel(&module).env("PATH", ""), "other.wasm: No such file or directory");
    let node = folder.path().join("node");
    fs::write(&node, "#!/bin/sh\ncase \"$*\" in *other.wasm*) exit 5; esac\n").expect("a writable folder");
    fs::set_permissions(&node, Permissions::from_mode(0o755)).expect("an own file");
    let refused = "other.wasm is no build of nimlanes that can duel: it ended with exit status: 5";
    failed(duel(&module).env("PATH", folder.path()), refused);
}

#[test]
fn a_build_is_compared_with_itself() {
    // Nothing is kept in files meanwhile.
    let duel = json(duel(&path_of_program()).args(["--processes", "2"]).env("TMPDIR", "/nonexistent"));
    assert_eq!((&duel["schema"], &duel["baseline"]), (&"nimlanes-duel-2".into(), &"flags".into()));
    let rows = |build: &Value| build["rows"].as_array().expect("an array").clone();
    let [other] = &duel["builds"].as_array().expect("an array")[..] else { panic!("one other build: {duel}") };
    assert_eq!((rows(&duel).len(), rows(other).len()), (2, 2));
    for row in rows(other) {
        let ratio = &row["this_over_other"];
        let number = |value: &Value| value.as_f64().expect("a number");
        let [low, high] = ["low", "high"].map(|name| number(&ratio[name]));
        let [least, most] = [0, 1].map(|end| number(&ratio["interval"][end]));
        let ratio = number(&ratio["ratio"]);
        assert!(0.0 < low && low <= ratio && ratio <= high, "{row}");
        assert!(0.0 < least && least <= ratio && ratio <= most, "{row}");
    }
    assert!(rows(&duel).iter().all(|row| row["this_over_other"].is_null()));
    let flags = rows(&duel).into_iter().find(|row| row["kernel"] == "flags").expect("the baseline");
    assert_eq!(flags["ratio"], 1.0);
    assert_eq!((&other["only_here"], &other["only_there"]), (&Value::Array(Vec::new()), &Value::Array(Vec::new())));
    assert_eq!(other["program"], "nimlanes");
    assert!(other["rustc"].as_str().is_some_and(|rustc| rustc.starts_with("rustc 1.")), "{duel}");
}

/// Each has its own ratios to this build, in the file as on standard output.
#[test]
fn several_builds_take_turns() {
    let (folder, path) = (folder(), path_of_program());
    let saved = folder.path().join("saved.json");
    let builds = format!("this,{}", path.display());
    let printed = json(duel(Path::new(&builds)).arg("--save").arg(&saved));
    let saved: Value = serde_json::from_slice(&fs::read(saved).expect("a file")).expect("JSON");
    assert_eq!(saved["content"]["builds"], printed["builds"]);
    let named: Vec<&Value> = printed["builds"].as_array().expect("an array").iter().map(|it| &it["name"]).collect();
    assert_eq!(named, ["itself", path.to_str().expect("UTF-8")]);
    for build in printed["builds"].as_array().expect("an array") {
        let kernels: Vec<&Value> = build["rows"].as_array().expect("an array").iter().map(|it| &it["kernel"]).collect();
        assert_eq!(kernels, ["flags", "stamp"]);
    }
    for (builds, says) in [
        ("this,this", "--builds names this twice"),
        ("rev:a,rev:b", "allowed: one revision"),
        ("this,", "allowed: this, native, rev:"),
        ("rev:", "such as HEAD~1"),
        ("toolchain:../old", "names of toolchains, such as "),
    ] {
        duel(Path::new(builds)).assert().code(2).says(says);
    }
}

/// Of at most 200 rounds; no fewer than five in each process.
#[test]
fn a_duel_ends_when_its_ratios_are_known() {
    let path = path_of_program();
    let program = path.to_str().expect("UTF-8");
    for other in [&[][..], &["--builds", program]] {
        let mut compare = nimlanes();
        compare.args(["compare", "mex_subtraction", "--size", "100", "--kernels", "flags,stamp", "--seconds", "60"]);
        let duel = json(compare.args(["--processes", "2", "--until", "50%"]).args(other));
        let rounds = duel["rows"][0]["rounds"].as_u64().expect("a number");
        assert!((10..100).contains(&rounds), "{rounds}");
    }
    nimlanes().args(["compare", "mex_subtraction", "--until", "0"]).assert().code(2);
}

#[test]
fn both_builds_are_in_the_table() {
    let profile = Build::of_this().profile;
    // A headline names the profile unless that is the one that is measured in.
    let named = if profile == "release" { String::new() } else { format!(" {profile} profile,") };
    let headline = format!("mex_subtraction/squares/100, {BUILD} build,{named} thread clock, ");
    let output = duel(Path::new("this")).text();
    assert!(output.starts_with(&headline), "{output}");
    let says = ["itself  portable", "this    portable", "this/other", &format!("{BUILD} build, {profile} profile\n")];
    assert!(says.iter().all(|part| output.contains(part)), "{output}");
}

#[test]
fn kernels_of_one_build_are_listed() {
    let folder = folder();
    let program = path_of_program();
    let rename = script(&folder, &format!("{} \"$@\" | sed -u s/stamp/seal/g", program.display()));
    let mut command = duel(&rename);
    let duel = json(&mut command);
    let other = &duel["builds"][0];
    assert_eq!(other["only_here"][0]["kernel"], "stamp");
    let [own, others] = [&duel, other].map(|build| build["rows"].as_array().expect("an array").len());
    assert_eq!((own, others), (2, 1));
    // No other kernels were asked for.
    assert_eq!(other["only_there"], Value::Array(Vec::new()));
    let mut all = nimlanes();
    all.args(["compare", "mex_subtraction", "--size", "100", "--seconds", "0.1", "--builds"]).arg(&rename);
    let output = all.text();
    let name = rename.display();
    assert!(output.contains(&format!("only in this build: stamp (in {name}: no such kernel)")), "{output}");
    assert!(output.contains(&format!("only in {name}: seal\n")), "{output}");
}

#[test]
fn other_programs_are_refused() {
    let folder = folder();
    let refused = |path: &str, says: &str| failed(&mut duel(Path::new(path)), says);
    refused("/bin/true", "/bin/true is no build of nimlanes that can duel: it ended with exit status: 0");
    refused("/bin/cat", "it ended with exit status: 1: /bin/cat: answer: No such file");
    refused("/usr/bin/yes", "it prints `answer`");
    let none = folder.path().join("none").display().to_string();
    for (path, why) in
        [(none.clone(), "No such file"), (none + ".wasm", "No such file"), ("/".to_owned(), "is a directory")]
    {
        duel(Path::new(&path)).refused(2, &format!("cannot start {path}: {why}"));
    }
    refused("/etc/passwd", "cannot start /etc/passwd: Permission denied");
    let profile = format!(r#""profile":"{}""#, Build::of_this().profile);
    let in_another_profile = format!("echo '{}'; sleep 60", hello().replace(&profile, r#""profile":"strange""#));
    for (text, says) in [
        ("exec sleep 0", "it ended with exit status: 0"),
        ("echo >&2 'nimlanes: unknown command'; exit 2", "it ended with exit status: 2: unknown command"),
        ("head -c 3000000 /dev/zero", "it prints"),
        (&format!("echo '{}'; sleep 60", hello().replace("\"protocol\":1", "\"protocol\":7")), "speaks version 7"),
        (&format!("echo '{}'; sleep 60", hello().replace("nimlanes", "chess")), "it prints that it is chess"),
        (&in_another_profile, "other is a strange build, and this program a "),
        (&format!("echo '{OPENED}'; sleep 60"), "answers another request"),
    ] {
        failed(&mut duel(&script(&folder, text)), says);
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
    let by_name = |name: &str| {
        let mut command = duel(Path::new(name));
        command.current_dir(here.path()).env("PATH", &path);
        command
    };
    failed(&mut by_name("other"), "other is no build of nimlanes that can duel: it ended with exit status: 5");
    by_name("sh").refused(2, "cannot start sh: No such file");
}

#[test]
fn a_build_that_fails_in_the_middle_ends_the_duel() {
    let folder = folder();
    let digest = |sum: u32| {
        format!(r#"{{"checked":{{"digest":[["max","8"],["zeros","9"],["sum","{sum}"]],"work":101,"seconds":1e-6}}}}"#)
    };
    let replies =
        |last: &str| format!("for reply in '{}' '{OPENED}' {last}; do read request; echo \"$reply\"; done", hello());
    for (text, says) in [
        (replies(""), "it ended with exit status: 0"),
        (
            replies("") + "\nread request\necho 'out of luck' >&2\nkill -9 $$",
            "it ended with signal: 9 (SIGKILL): out of luck",
        ),
        (replies("") + "\nread request\nexec >&-\nsleep 60", "it ended"),
        (replies("'{\"failed\":{\"reason\":\"no time\"}}'") + "\nsleep 60", "no time"),
        (replies("nonsense") + "\nsleep 60", "it prints `nonsense`"),
        (replies(&format!("'{OPENED}'")), "answers another request"),
        (replies(&format!("'{}'", digest(1))), "outputs differ: flags of "),
        (replies(&format!("'{}'", digest(1).replace("1e-6", "-1"))), "answers another request"),
    ] {
        failed(&mut duel(&script(&folder, &text)), says);
        wait_for(|| is_gone(&folder));
    }
}

/// A signal ends the duel and all children.
#[test]
fn an_interrupted_duel_leaves_no_children() {
    let folder = folder();
    let text = format!("read request; echo '{}'; sleep 60 & wait", hello());
    let mut command = Process::new(path_of_program());
    command.args(["compare", "mex_subtraction", "--size", "100", "--builds"]).arg(script(&folder, &text));
    let mut duel = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    wait_for(|| folder.path().join("group").exists());
    sleep(Duration::from_millis(300));
    interrupt(duel.id());
    assert_eq!(duel.wait().expect("it ends").code(), Some(143));
    wait_for(|| is_gone(&folder));
}

/// Children end with a duel that is killed, be they in the middle of a turn.
#[test]
fn a_killed_duel_leaves_no_children() {
    let mut command = Process::new(path_of_program());
    // A turn takes minutes.
    command.args(["compare", "mex_subtraction", "--size", "5e7", "--kernels", "flags", "--time-limit", "86400"]);
    let mut duel = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let children = || fs::read_to_string(format!("/proc/{0}/task/{0}/children", duel.id())).unwrap_or_default();
    wait_for(|| !children().is_empty());
    let child = format!("/proc/{}", children().trim());
    sleep(Duration::from_millis(500));
    duel.kill().expect("a process of ours");
    duel.wait().expect("it ends");
    // A zombie stays until the system collects it.
    wait_for(|| fs::read_to_string(format!("{child}/stat")).map_or(true, |stat| stat.contains(") Z ")));
}

/// Sends SIGTERM. SIGINT may be ignored: processes that a shell starts in the background inherit that.
pub fn interrupt(process: u32) {
    assert!(Process::new("kill").args(["-TERM", &process.to_string()]).status().expect("kill").success());
}

pub fn wait_for(mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "it never happens");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn rounds_are_spread_over_processes() {
    let duel = |processes: &str| {
        json(nimlanes().args([
            "compare",
            "mex_subtraction",
            "--size",
            "100",
            "--seconds",
            "0.2",
            "--processes",
            processes,
        ]))
    };
    let (one, three) = (duel("1"), duel("3"));
    assert_eq!((&one["processes"], &three["processes"]), (&1.into(), &3.into()));
    let rows = |duel: &Value| duel["rows"].as_array().expect("an array").clone();
    assert!(rows(&one).iter().all(|row| row["ratio_processes"].is_null()));
    for row in rows(&three) {
        let [low, high] = [0, 1].map(|end| row["ratio_processes"][end].as_f64().expect("a number"));
        assert!(low <= high && low <= row["ratio"].as_f64().expect("a number") * 1.5, "{row}");
    }
}

/// A repository with a package whose program is this build.
struct Repository(TempDir);

impl Repository {
    fn new(main: &str) -> Self {
        let folder = folder();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
            fs::write(path, text).expect("a writable folder");
        };
        let package = "[package]\nname = \"nimlanes-lab\"\nversion = \"9.0.0\"\nedition = \"2024\"\n";
        write("Cargo.toml", &format!("{package}[[bin]]\nname = \"nimlanes\"\npath = \"src/main.rs\"\n"));
        write("build.rs", include_str!("../../src/build.rs"));
        write("src/main.rs", main);
        write(".gitignore", "target\n");
        let repository = Repository(folder);
        repository.git(&["init", "--quiet"]);
        repository.git(&["add", "."]);
        repository.commit();
        repository
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    /// Commits what is staged, be it nothing. Returns the name of the commit.
    fn commit(&self) -> String {
        self.git(&["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "--allow-empty", "-m", "it"]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    fn git(&self, args: &[&str]) -> String {
        let mut git = Process::new("git");
        // The tests may run within a hook.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
            git.env_remove(name);
        }
        let output = git.current_dir(self.0.path()).args(args).output().expect("git");
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// A duel with other builds, which are made here.
    fn duel(&self, builds: &str) -> Command {
        let mut command = nimlanes();
        command.current_dir(self.0.path()).args(["compare", "mex_subtraction", "--size", "100", "--seconds", "0.1"]);
        command.args(["--kernels", "flags,stamp", "--builds", builds]);
        command
    }

    fn compare(&self, revision: &str) -> Command {
        self.duel(&format!("rev:{revision}"))
    }

    /// A duel with the last commit, to be interrupted.
    fn process(&self) -> Process {
        let mut command = Process::new(path_of_program());
        command.current_dir(self.0.path());
        command.args(["compare", "mex_subtraction", "--size", "100", "--builds", "rev:HEAD"]);
        command
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
    fs::create_dir(repository.path(".cargo")).expect("a writable folder");
    let has_assertions = |is_on: bool| {
        let profiles = ["dev", "release"].map(|name| format!("[profile.{name}]\ndebug-assertions = {is_on}\n"));
        fs::write(repository.path(".cargo/config.toml"), profiles.concat()).expect("a writable folder");
    };
    has_assertions(false);
    let built = |command: &mut Command| {
        let duel = json(command.env_remove("CFLAGS"));
        assert_eq!(duel["builds"][0]["rows"].as_array().map(Vec::len), Some(2));
        let program = duel["builds"][0]["path"].as_str().expect("a path").to_owned();
        fs::metadata(program).and_then(|program| program.modified()).expect("a program")
    };
    let first = built(&mut repository.compare("HEAD"));
    assert!(repository.is_clean());
    // By another name, and with a target and flags that this program does not have.
    let commit = repository.git(&["rev-parse", "HEAD"]);
    let mut again = repository.compare(commit.trim());
    again.env("CARGO_BUILD_TARGET", "none").env("RUSTFLAGS", "-Ctarget-cpu=native");
    assert_eq!(built(&mut again), first);

    failed(repository.compare("HEAD").env("CFLAGS", "-O1"), "other flags of C");
    has_assertions(true);
    failed(&mut repository.compare("HEAD"), "other profile");
    failed(repository.compare("HEAD").env("RUSTC", "/bin/echo"), "does not build");
    has_assertions(false);
    let compilers = folder();
    rustup(&compilers);
    let other = "HEAD is another build than the requested one: it has rustc rustc 1.42.0 ";
    failed(repository.compare("HEAD").env("RUSTC", compilers.path().join("old-rustc")), other);
}

/// Another build may be there, of the tree itself.
#[test]
fn a_revision_shares_no_artefacts() {
    let repository = Repository::new(&exec());
    let shared = folder();
    let [target, build] = ["target", "build"].map(|name| shared.path().join(name));
    let config = format!("[build]\ntarget-dir = {target:?}\nbuild-dir = {build:?}\n");
    fs::create_dir(repository.path(".cargo")).expect("a writable folder");
    fs::write(repository.path(".cargo/config.toml"), config).expect("a writable folder");
    let is_unused = || fs::read_dir(shared.path()).expect("a folder").next().is_none();
    repository.compare("HEAD").assert().success();
    assert!(is_unused());
    let mut by_variables = repository.compare("HEAD");
    for (name, folder) in
        [("CARGO_TARGET_DIR", &target), ("CARGO_BUILD_TARGET_DIR", &target), ("CARGO_BUILD_BUILD_DIR", &build)]
    {
        by_variables.env(name, folder);
    }
    by_variables.assert().success();
    assert!(is_unused());
}

/// The source tree around it is a workspace now.
#[test]
fn a_revision_from_before_the_workspace_is_built() {
    let repository = Repository::new(&exec());
    let manifest = fs::read_to_string(repository.path("Cargo.toml")).expect("a manifest");
    let excluded = include_str!("../../Cargo.toml").lines().find(|line| line.starts_with("exclude = "));
    let workspace = format!("[workspace]\n{}\n", excluded.unwrap_or_default());
    fs::write(repository.path("Cargo.toml"), manifest + &workspace).expect("a writable folder");
    repository.git(&["add", "Cargo.toml"]);
    repository.commit();
    for revision in ["HEAD~1", "HEAD"] {
        repository.compare(revision).assert().success();
    }
}

/// Whichever target cargo builds for, and wherever that lies.
#[test]
fn a_revision_is_what_it_is_called() {
    let repository = Repository::new(&exec());
    let of = |command: &mut Command| json(command)["builds"][0]["revision"].as_str().expect("a revision").to_owned();
    let first = of(&mut repository.compare("HEAD"));
    fs::write(repository.path("added"), "").expect("a writable folder");
    repository.git(&["add", "added"]);
    let second = repository.commit();
    let rustc = Process::new("rustc").arg("-vV").output().expect("rustc").stdout;
    let rustc = String::from_utf8(rustc).expect("UTF-8");
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).expect("a target");
    fs::create_dir(repository.path(".cargo")).expect("a writable folder");
    fs::write(repository.path(".cargo/config.toml"), format!("build.target = '{host}'")).expect("a writable folder");
    // As git calls a hook, with the index of the commit that is being made.
    fs::write(repository.path("staged"), "").expect("a writable folder");
    repository.git(&["add", "staged"]);
    let mut hook = repository.compare("HEAD");
    hook.env("GIT_DIR", ".git").env("GIT_INDEX_FILE", repository.path(".git/index"));
    assert_eq!((of(&mut hook), first), (second, repository.git(&["rev-parse", "HEAD~1"]).trim().to_owned()));
    assert_eq!(repository.git(&["diff", "--cached", "--name-only"]), "staged\n");
    // It has its own files, and no others.
    let has = |name: &str| repository.path("target/compare/files").join(name).exists();
    assert!(has("added") && !has("staged"));
    fs::write(repository.path("target/compare/files/stray"), "").expect("a writable folder");
    repository.compare("HEAD~1").assert().success();
    assert!(has("Cargo.toml") && !has("added") && !has("stray"));
    let mut another = repository.compare("HEAD");
    another.env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
    failed(&mut another, "fatal: detected dubious ownership in repository at");
    failed(&mut another, "\n    \tgit config --global --add safe.directory ");
}

#[test]
fn a_revision_that_cannot_be_built_leaves_nothing_behind() {
    let repository = Repository::new("fn main() { chess }");
    failed(&mut repository.compare("nonsense"), "there is no revision `nonsense`");
    let mut compare = repository.compare("HEAD");
    failed(compare.env("CARGO_TERM_COLOR", "always"), "HEAD does not build: error[E0425]: cannot find value `chess`");
    failed(&mut compare, "\n    error: could not compile `nimlanes-lab`");
    assert!(repository.is_clean());
    failed(repository.compare("HEAD").env("CARGO", "/nonexistent"), "cannot start /nonexistent");
    assert!(repository.is_clean());
    // The cause of a cause.
    let manifest = fs::read_to_string(repository.path("Cargo.toml")).expect("a file of ours");
    let manifest = format!("{manifest}[dependencies]\nchess = {{ path = 'chess' }}\n");
    fs::write(repository.path("Cargo.toml"), manifest).expect("a writable folder");
    repository.git(&["add", "."]);
    repository.commit();
    failed(&mut repository.compare("HEAD"), "No such file or directory");
    let shallow = folder();
    let from = format!("file://{}", repository.0.path().display());
    let into = shallow.path().display().to_string();
    repository.git(&["clone", "--quiet", "--depth", "1", &from, &into]);
    failed(repository.compare("HEAD~1").current_dir(&into), "it is a shallow clone: `git fetch --unshallow` fetches");
    let elsewhere = folder();
    failed(repository.compare("HEAD").current_dir(elsewhere.path()), "a revision needs the source tree of nimlanes");
    // A program that does not know its commit.
    let forgetful = Repository::new(&exec().replace("BUILT_FROM_REVISION", "BUILT_FROM_NOTHING"));
    failed(&mut forgetful.compare("HEAD"), "it prints none");
    assert!(forgetful.is_clean());
}

#[test]
fn the_native_build_is_made_as_by_its_alias() {
    if BUILD == "native" {
        nimlanes().args(["compare", "mex_split", "--builds", "native"]).assert().code(2);
    } else {
        the_native_build_is_made();
    }
}

fn the_native_build_is_made() {
    let repository = Repository::new(&exec());
    let other = |command: &mut Command| {
        let duel = json(command);
        (duel["builds"][0]["build"].clone(), duel["builds"][0]["rows"].as_array().map(Vec::len))
    };
    let native = || repository.duel("native");
    let built = ("native".into(), Some(2));
    assert_eq!(other(native().env("RUSTFLAGS", "-Cdebuginfo=1")), built);

    // The alias finds nothing to compile, and does not make another build under this name.
    fs::create_dir(repository.path(".cargo")).expect("a writable folder");
    // The alias is for release builds; the tests may be another.
    let profile = Build::of_this().profile;
    let profile = if profile == "debug" { "dev" } else { &profile };
    let config = include_str!("../../.cargo/config.toml");
    let config = config.replace("\"--release\"", &format!("\"--profile\", \"{profile}\""));
    fs::write(repository.path(".cargo/config.toml"), &config).expect("a writable folder");
    let alias = || {
        let mut cargo = Command::new(env!("CARGO"));
        let flags = ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR"];
        for name in flags {
            cargo.env_remove(name);
        }
        cargo.current_dir(repository.0.path()).args(["run-native", "--", "--version"]);
        cargo
    };
    let again = alias().assert().success().get_output().stderr.clone();
    assert!(!String::from_utf8_lossy(&again).contains("Compiling"));
    let says = "this would be the default build, not the native one";
    alias().env("RUSTFLAGS", "-Cdebuginfo=1").assert().failure().says(says);
    // Flags of linkers are kept.
    let linked = "[target.'cfg(unix)']\nrustflags = ['-Cdebuginfo=1']\n";
    fs::write(repository.path(".cargo/config.toml"), config + linked).expect("a writable folder");
    alias().assert().success();

    // A source tree within another repository.
    let inner = repository.path("inner");
    fs::create_dir_all(inner.join("src")).expect("a writable folder");
    for file in ["Cargo.toml", "build.rs", "src/main.rs"] {
        fs::copy(repository.path(file), inner.join(file)).expect("a writable folder");
    }
    assert_eq!(other(native().current_dir(inner.join("src"))), built);
    assert!(inner.join("target/native").is_dir());
    failed(repository.compare("HEAD").current_dir(&inner), "inner lies in another one");

    failed(native().env("CARGO", "/nonexistent"), "cannot start /nonexistent");
    fs::write(repository.path("src/main.rs"), "fn main() { chess }").expect("a writable folder");
    failed(&mut native(), "the native program does not build: error[E0425]");
    let folder = folder();
    failed(native().current_dir(folder.path()), "the native build needs the source tree of nimlanes");
    // Its result is not the native build.
    let main = exec().replace("BUILT_WITH_FLAGS", "CARGO_PKG_NAME");
    fs::write(repository.path("src/main.rs"), main).expect("a writable folder");
    failed(
        &mut native(),
        "the native program is another build than the requested one: it has flags nimlanes-lab, not ",
    );
}

#[test]
fn an_interrupted_build_leaves_nothing_behind() {
    let repository = Repository::new(&exec());
    let folder = folder();
    let cargo = script(&folder, "sleep 60 & wait");
    let begin = || {
        let group = folder.path().join("group");
        let _ = fs::remove_file(&group);
        let mut command = repository.process();
        let compare = command.env("CARGO", &cargo).stderr(Stdio::null()).spawn().expect("it starts");
        wait_for(|| fs::read_to_string(&group).is_ok_and(|group| group.ends_with('\n')));
        assert!(!is_gone(&folder));
        failed(&mut repository.compare("HEAD"), "another command has a revision in ");
        compare
    };
    let mut compare = begin();
    interrupt(compare.id());
    assert_eq!(compare.wait().expect("it ends").code(), Some(143));
    wait_for(|| is_gone(&folder));
    assert!(repository.is_clean());
    // Cargo ends, with all that it started, also if the program is killed.
    let mut compare = begin();
    compare.kill().expect("a process of ours");
    compare.wait().expect("it ends");
    wait_for(|| is_gone(&folder));
    repository.compare("HEAD").assert().success();
    assert!(repository.is_clean());
}

/// Git is killed while it writes the files of a revision.
#[test]
fn an_interrupted_checkout_is_begun_anew() {
    let repository = Repository::new(&exec());
    fs::write(repository.path(".gitattributes"), "src/main.rs filter=slow\n").expect("a writable folder");
    repository.git(&["add", "."]);
    repository.commit();
    let folder = folder();
    let filter = script(&folder, "sleep 60 & wait");
    repository.git(&["config", "filter.slow.smudge", filter.to_str().expect("UTF-8")]);
    let mut compare = repository.process().stderr(Stdio::null()).spawn().expect("it starts");
    let group = folder.path().join("group");
    wait_for(|| fs::read_to_string(&group).is_ok_and(|group| group.ends_with('\n')));
    compare.kill().expect("a process of ours");
    compare.wait().expect("it ends");
    let group = fs::read_to_string(group).expect("a group of processes");
    // Unless git has ended with the program.
    Process::new("kill").args(["-KILL", "--", &format!("-{}", group.trim())]).output().expect("kill");
    wait_for(|| is_gone(&folder));

    repository.git(&["config", "--unset", "filter.slow.smudge"]);
    repository.compare("HEAD").assert().success();
    assert!(repository.is_clean());
    // As after a power cut.
    fs::write(repository.path("target/compare/index"), "").expect("a writable folder");
    repository.compare("HEAD").assert().success();
}

/// A `rustup` that has the toolchains `this` and, once `old-rustc.installed` is there, `old`: the same compiler by another name.
fn rustup(folder: &TempDir) -> String {
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a writable folder");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("a file of ours");
        path.display().to_string()
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
    failed(&mut by(both), says);

    fs::write(folder.path().join("old-rustc.installed"), "").expect("a writable folder");
    let duel = json(&mut by(both));
    assert_eq!(duel["baseline"], "flags");
    let builds = duel["builds"].as_array().expect("an array");
    assert!(builds.len() == 2 && builds[1]["rustc"].as_str().is_some_and(|it| it.starts_with("rustc 1.42.0 ")));
    assert!(builds.iter().all(|build| build["rows"].as_array().map(Vec::len) == Some(2)));
    let output = by("toolchain:old").text();
    assert!(output.contains("\nold: ") && output.contains("rustc 1.42.0 ") && output.contains("LLVM"), "{output}");

    let mut profile = nimlanes();
    profile
        .current_dir(repository.0.path())
        .env("PATH", &path)
        .args("profile mex_subtraction --kernel stamp".split(' '));
    profile.args(["--size", "100", "--seconds", "0.3", "--build", "toolchain:old"]);
    profile.assert().success().prints("from stamp of old to stamp, ");

    // A program that another compiler has made.
    let main = exec().replace("BUILT_BY", "CARGO_PKG_NAME");
    fs::write(repository.path("src/main.rs"), main).expect("a writable folder");
    failed(
        &mut by("toolchain:old"),
        "the program by old is another build than the requested one: it has rustc nimlanes-lab, not ",
    );
    failed(by("toolchain:old").current_dir(folder.path()), "a toolchain needs the source tree of nimlanes");
}

/// The revision is this build again, so that only names differ.
#[test]
fn a_profile_shows_what_changed_since_a_revision() {
    let repository = Repository::new(&exec());
    let profile = |revision: &str| {
        let mut command = nimlanes();
        command.current_dir(repository.0.path()).args(["profile", "mex_subtraction", "--kernel", "stamp"]);
        command.args(["--size", "100", "--seconds", "0.3", "--build", &format!("rev:{revision}")]);
        command
    };
    let commit = repository.git(&["rev-parse", "--short=12", "HEAD"]);
    let commit = commit.trim();
    let output = profile("HEAD").text();
    let says = format!("from stamp of {commit} to stamp, shares of the samples:\n");
    let (_, table) = output.split_once(&says).expect("a table of what changed");
    // The same code is in the same functions.
    let both = table.lines().skip(1).filter(|line| !line.split_whitespace().any(|word| word == "0.0")).count();
    assert!(both > 0, "{table}");
    assert!(repository.is_clean());

    // The line before says how long a run is predicted to take.
    let refused = |mut command: Command, says: &str| {
        command.assert().code(1).says(says);
    };
    refused(profile("nonsense"), "there is no revision `nonsense`");
    let outside = folder();
    let mut command = profile("HEAD");
    command.current_dir(outside.path());
    refused(command, "a revision needs the source tree of nimlanes");
    profile("HEAD").args(["--against", "flags"]).assert().code(2);
    // A program that cannot profile.
    let stranger = Repository::new("fn main() { eprintln!(\"no kernel\"); std::process::exit(1) }");
    profile("HEAD").current_dir(stranger.0.path()).assert().code(1).says(": no kernel\n");
    assert!(stranger.is_clean());
}
