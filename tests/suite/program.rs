//! The program, as tests start it, and what they expect of it and of other processes.
#![allow(dead_code, reason = "several programs have this file, and use parts of it")]

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Result, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Child, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The file of the program.
pub fn path_of_program() -> PathBuf {
    env!("CARGO_BIN_EXE_nimlanes").into()
}

/// The program, without the settings that the environment may have for it.
pub fn nimlanes() -> Command {
    let mut command = Command::new(path_of_program());
    for setting in ["NIMLANES_ISA_MAX", "NIMLANES_KERNEL", "NIMLANES_SAMPLER"] {
        command.env_remove(setting);
    }
    command
}

/// The program with the words of a line. Words with blanks, or none, stand in quotes; a word `NAME=..` in front sets a variable.
pub fn command(line: &str) -> Command {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(i, part)| if i % 2 == 1 { vec![part] } else { part.split_whitespace().collect() });
    let mut command = nimlanes();
    for word in words {
        match word.split_once('=').filter(|(name, _)| name.starts_with("NIMLANES_")) {
            Some((name, value)) => command.env(name, value),
            None => command.arg(word),
        };
    }
    command
}

/// The same without llvm-mca, which takes most of the time of a short profile.
pub fn without_tools() -> Command {
    let mut program = nimlanes();
    program.env("PATH", "");
    program
}

/// A process whose output is captured, which is given a text, and which may be killed after a time.
pub struct Command {
    process: process::Command,
    input: Vec<u8>,
    limit: Option<Duration>,
}

impl From<process::Command> for Command {
    fn from(process: process::Command) -> Self {
        Command { process, input: Vec::new(), limit: None }
    }
}

impl Command {
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        process::Command::new(program).into()
    }

    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Self {
        self.with(|process| process.arg(arg))
    }

    pub fn args(&mut self, args: impl IntoIterator<Item: AsRef<OsStr>>) -> &mut Self {
        self.with(|process| process.args(args))
    }

    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.with(|process| process.env(name, value))
    }

    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.with(|process| process.env_remove(name))
    }

    pub fn current_dir(&mut self, folder: impl AsRef<Path>) -> &mut Self {
        self.with(|process| process.current_dir(folder))
    }

    fn with(&mut self, change: impl FnOnce(&mut process::Command) -> &mut process::Command) -> &mut Self {
        change(&mut self.process);
        self
    }

    /// Its standard input, which is empty otherwise.
    pub fn write_stdin(&mut self, text: impl Into<Vec<u8>>) -> &mut Self {
        self.input = text.into();
        self
    }

    /// Kills it if it has not ended after this time.
    pub fn timeout(&mut self, limit: Duration) -> &mut Self {
        self.limit = Some(limit);
        self
    }

    /// Starts it, with its standard error in a pipe and without an output.
    pub fn begin(&mut self) -> Child {
        self.process.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts")
    }

    /// Runs it to its end.
    pub fn output(&mut self) -> Result<Output> {
        self.process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.process.spawn()?;
        let mut stdin = child.stdin.take().expect("a pipe");
        let (mut out, mut errors) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
        let (input, limit) = (&self.input, self.limit.unwrap_or(Duration::MAX));
        let (end, ended) = channel::<()>();
        thread::scope(|scope| {
            // It need not read what it is given.
            scope.spawn(move || stdin.write_all(input).ok());
            let errors = scope.spawn(move || read(&mut errors));
            let out = scope.spawn(move || read(&mut out));
            let waiting = scope.spawn(move || {
                if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                    child.kill()?;
                }
                child.wait()
            });
            let [stdout, stderr] = [out, errors].map(|reader| reader.join().expect("no panic"));
            drop(end);
            Ok(Output { status: waiting.join().expect("no panic")?, stdout, stderr })
        })
    }

    /// Runs it to its end, for what is expected of that.
    pub fn assert(&mut self) -> Assert {
        Assert(self.output().expect("it starts"))
    }

    /// The standard output of a success.
    #[track_caller]
    pub fn text(&mut self) -> String {
        String::from_utf8(self.assert().success().0.stdout).expect("UTF-8")
    }

    /// The JSON that a success prints.
    #[track_caller]
    pub fn json(&mut self) -> serde_json::Value {
        serde_json::from_str(&self.text()).expect("JSON")
    }

    /// Ends in a failure of this code, with an empty standard output, and on standard error one line of the program that has this text,
    /// with more words of a child indented below.
    #[track_caller]
    pub fn refused(&mut self, code: i32, says: &str) {
        let Assert(output) = self.assert().code(code).stdout("");
        let line = String::from_utf8(output.stderr).expect("UTF-8");
        let is_a_line = line.starts_with("nimlanes: ") && line.lines().skip(1).all(|more| more.starts_with("    "));
        let is_a_line = is_a_line && !line.contains("'-- ");
        assert!(is_a_line && line.contains(says), "{:?} should print {says:?}: {line}", self.process);
    }
}

fn read(pipe: &mut impl Read) -> Vec<u8> {
    let mut all = Vec::new();
    pipe.read_to_end(&mut all).expect("a pipe");
    all
}

/// Looks again and again until something is so.
#[track_caller]
pub fn wait_for(mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "it never happens");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A folder for one test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("UTF-8").to_owned()
    }

    /// Writes a file, in a folder that is made if it is not there.
    pub fn put(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
        fs::write(path, text).expect("a writable folder");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file")
    }

    pub fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }

    /// The program with the words of a line, started here.
    pub fn run(&self, line: &str) -> Command {
        let mut command = command(line);
        command.current_dir(self.0.path());
        command
    }
}

/// Makes a program that is a shell script.
#[cfg(unix)]
pub fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("a writable folder");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a file of ours");
}

/// Sends a signal to a process.
pub fn send(signal: &str, child: &Child) {
    Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).assert().success();
}

/// How a process ended.
pub struct Assert(Output);

impl Assert {
    pub fn get_output(&self) -> &Output {
        &self.0
    }

    #[track_caller]
    fn expect(self, is_so: bool, what: &str) -> Self {
        let [out, errors] = [&self.0.stdout, &self.0.stderr].map(|text| String::from_utf8_lossy(text));
        assert!(is_so, "{what}: {}\n{out}\n{errors}", self.0.status);
        self
    }

    #[track_caller]
    pub fn success(self) -> Self {
        let is_so = self.0.status.success();
        self.expect(is_so, "no success")
    }

    #[track_caller]
    pub fn code(self, code: i32) -> Self {
        let is_so = self.0.status.code() == Some(code);
        self.expect(is_so, &format!("its code is not {code}"))
    }

    /// Its standard output is this text.
    #[track_caller]
    pub fn stdout(self, text: impl AsRef<[u8]>) -> Self {
        let is_so = self.0.stdout == text.as_ref();
        self.expect(is_so, "another output")
    }

    /// Its standard error is this text.
    #[track_caller]
    pub fn stderr(self, text: impl AsRef<[u8]>) -> Self {
        let is_so = self.0.stderr == text.as_ref();
        self.expect(is_so, "another error")
    }

    /// Its standard output has this text.
    #[track_caller]
    pub fn prints(self, text: &str) -> Self {
        let is_so = String::from_utf8_lossy(&self.0.stdout).contains(text);
        self.expect(is_so, &format!("its output lacks {text:?}"))
    }

    /// Its standard error has this text.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        let is_so = String::from_utf8_lossy(&self.0.stderr).contains(text);
        self.expect(is_so, &format!("its error lacks {text:?}"))
    }
}
