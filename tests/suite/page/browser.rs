//! A browser without a window, driven by the protocol of its developer tools over a pipe.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// The program of a Chromium.
pub fn program() -> &'static str {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let is_here = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    names.into_iter().find(is_here).expect("a Chromium is installed")
}

/// A browser with one tab.
pub struct Browser {
    process: Child,
    requests: ChildStdin,
    replies: Receiver<Value>,
    last: u64,
    session: Option<String>,
    /// The errors that the browser's console reports.
    pub errors: Vec<String>,
    _profile: TempDir,
}

impl Browser {
    /// Starts the program with some flags.
    pub fn start(program: &str, flags: &[&str]) -> Self {
        let profile = tempfile::tempdir().expect("a folder");
        // The browser reads from descriptor 3 and writes to 4.
        let mut command = Command::new("sh");
        command.args(["-c", r#"exec "$@" 3<&0 4>&1 >/dev/null 2>&1"#, "sh", program]);
        command
            .args("--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --remote-debugging-pipe".split(' '));
        command.arg(format!("--user-data-dir={}", profile.path().display())).args(flags);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut process = command.spawn().expect("a shell");
        let (requests, answers) = (process.stdin.take().expect("piped"), process.stdout.take().expect("piped"));
        let (send, replies) = channel();
        thread::spawn(move || {
            let messages = BufReader::new(answers).split(0).map_while(Result::ok);
            let parsed = messages.filter_map(|message| serde_json::from_slice(&message).ok());
            parsed.take_while(|message: &Value| send.send(message.clone()).is_ok()).count()
        });
        let (session, errors) = (None, Vec::new());
        let mut browser = Browser { process, requests, replies, last: 0, session, errors, _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached =
            browser.call("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut request = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            request["sessionId"] = session.as_str().into();
        }
        self.requests.write_all(format!("{request}\0").as_bytes()).expect("the browser listens");
        loop {
            let message = self.replies.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no answer to {request}"));
            if message["id"] == self.last {
                assert_eq!(message["error"], Value::Null, "{request}");
                return message["result"].clone();
            }
            self.hear(&message);
        }
    }

    /// Keeps the error that an event reports, if any.
    fn hear(&mut self, event: &Value) {
        let about = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.errors.push(about["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") => self.errors.push(about["args"].to_string()),
            Some("Log.entryAdded") if about["entry"]["level"] == "error" => {
                self.errors.push(about["entry"].to_string())
            }
            _ => {}
        }
    }

    /// Opens a file with a fragment.
    pub fn open(&mut self, file: &Path, fragment: &str) {
        // First another page: the same page with another fragment would not be loaded again.
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.call("Page.navigate", json!({ "url": format!("file://{}#{fragment}", file.display()) }));
        self.until("document.readyState === 'complete' && location.protocol === 'file:'");
    }

    /// The value of an expression.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let result = self.call("Runtime.evaluate", parameters);
        assert_eq!(result["exceptionDetails"], Value::Null, "{expression}");
        result["result"]["value"].clone()
    }

    /// The text of the value of an expression.
    pub fn text(&mut self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_else(|| panic!("{expression} is no text")).to_owned()
    }

    /// Waits until an expression is true.
    pub fn until(&mut self, expression: &str) {
        let start = Instant::now();
        while self.value(&format!("Boolean({expression})")) != true {
            assert!(start.elapsed() < PATIENCE, "{expression} never came true: {:?}", self.errors);
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Makes the window as wide as this, and light or dark.
    pub fn resize(&mut self, width: u32, is_dark: bool) {
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = json!({ "name": "prefers-color-scheme", "value": if is_dark { "dark" } else { "light" } });
        self.call("Emulation.setEmulatedMedia", json!({ "features": [scheme] }));
    }

    /// Writes pictures of a section in wide and narrow windows, light and dark, to look at; checks that the page fits in each.
    pub fn pictures(&mut self, section: &str) {
        for (width, is_dark) in [(1400, false), (1400, true), (390, false), (390, true)] {
            self.resize(width, is_dark);
            self.value("new Promise(resolve => setTimeout(resolve, 400))");
            let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth
                && [...document.querySelectorAll('.chart svg')].every(svg => svg.getBoundingClientRect().right <= innerWidth)";
            assert_eq!(self.value(fits), true, "{section} at {width}");
            let name = format!("{section}-{width}-{}.png", if is_dark { "dark" } else { "light" });
            self.picture(&format!("#{section}"), &Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
        }
        self.resize(1400, false);
    }

    fn picture(&mut self, selector: &str, file: &Path) {
        let clip = self.value(&format!(
            "(() => {{ const {{ left, top, width, height }} = document.querySelector('{selector}').getBoundingClientRect();
             return {{ x: left + scrollX, y: top + scrollY, width, height, scale: 1 }}; }})()"
        ));
        let parameters = json!({ "format": "png", "clip": clip, "captureBeyondViewport": true });
        let picture = self.call("Page.captureScreenshot", parameters);
        let bytes = super::bytes(picture["data"].as_str().expect("a picture"));
        std::fs::write(file, bytes).expect("writable");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Together with its children, which are in its process group.
        let _ = Command::new("kill").args(["-9", "--", &format!("-{}", self.process.id())]).status();
        let _ = self.process.wait();
    }
}
