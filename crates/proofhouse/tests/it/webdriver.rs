//! A real browser, driven over the WebDriver protocol: `chromedriver` on loopback, plain HTTP and JSON.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use camino::Utf8Path;
use serde_json::{Value, json};

/// Names under which Chromium is installed.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A headless browser with one page; it ends with this value.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

/// How to open the browser.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// A phone's layout width may be below the smallest window's, so it is emulated.
    pub(crate) phone: bool,
    pub(crate) dark: bool,
    pub(crate) scripts: bool,
}

/// A desktop in daylight.
pub(crate) const DESKTOP: Screen =
    Screen { width: 1280, height: 900, phone: false, dark: false, scripts: true };

impl Browser {
    /// Starts the browser; `None`, said aloud, where it is not installed.
    pub(crate) fn start(screen: Screen) -> Option<Self> {
        let browser = BROWSERS.into_iter().find(|name| installed(name));
        let (Some(browser), true) = (browser, installed("chromedriver")) else {
            eprintln!("SKIPPED: install chromium and chromedriver to run the browser tests");
            return None;
        };
        let mut driver = command("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .spawn()
            .expect("start chromedriver");
        let port = port_of(&mut driver);
        let profile = tempfile::tempdir().unwrap();
        let mut browser_options = json!({
            "binary": path_of(browser),
            "args": [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
                "--disable-dev-shm-usage",
                // A test goes to more places in a second than a person does.
                "--disable-ipc-flooding-protection",
                format!("--user-data-dir={}", profile.path().display()),
                format!("--window-size={},{}", screen.width, screen.height),
                format!("--blink-settings=preferredColorScheme={}", u8::from(!screen.dark)),
            ],
        });
        if screen.phone {
            let metrics = json!({ "width": screen.width, "height": screen.height, "pixelRatio": 2.0 });
            browser_options["mobileEmulation"] = json!({ "deviceMetrics": metrics });
        }
        if !screen.scripts {
            browser_options["prefs"] = json!({ "profile.managed_default_content_settings.javascript": 2 });
        }
        let mut this = Self { driver, port, session: String::new(), _profile: profile };
        let wanted = json!({
            "goog:chromeOptions": browser_options,
            "goog:loggingPrefs": { "browser": "ALL" },
            "unhandledPromptBehavior": "ignore",
            "timeouts": { "script": 60_000, "pageLoad": 120_000 },
        });
        let session = this
            .call("POST", "/session", &json!({ "capabilities": { "alwaysMatch": wanted } }))
            .expect("a session");
        this.session = session["sessionId"].as_str().expect("a session id").to_owned();
        Some(this)
    }

    /// Opens a page from disk and waits until it is loaded.
    pub(crate) fn open(&self, page: &Utf8Path, fragment: &str) {
        // Another fragment of the same page would not load it anew.
        self.post("url", &json!({ "url": "about:blank" }));
        self.post("url", &json!({ "url": format!("file://{page}{fragment}") }));
        // On a loaded machine the driver may answer before the page is whole.
        for _ in 0..600 {
            if self.eval("location.protocol === 'file:' && document.readyState === 'complete'") == true {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("`{page}` did not load within a minute");
    }

    /// Opens an address and waits until it is loaded.
    pub(crate) fn visit(&self, url: &str) {
        self.post("url", &json!({ "url": url }));
        self.wait_for("document.readyState === 'complete'");
    }

    /// Waits until an expression is true in the page.
    #[track_caller]
    pub(crate) fn wait_for(&self, expression: &str) {
        for _ in 0..1_200 {
            if self.eval(expression) == true {
                return;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        panic!("not within half a minute: {expression}\n{}", self.eval("document.body.innerText"));
    }

    /// The text of the first thing that a selector finds.
    pub(crate) fn text(&self, selector: &str) -> String {
        let text = self.eval(&format!("document.querySelector({}).innerText", json!(selector)));
        text.as_str().unwrap().to_owned()
    }

    /// The value of a JavaScript expression in the page.
    pub(crate) fn eval(&self, expression: &str) -> Value {
        self.post("execute/sync", &json!({ "script": format!("return ({expression});"), "args": [] }))
    }

    /// What a script gives to its last argument.
    pub(crate) fn eval_async(&self, script: &str, arguments: &Value) -> Value {
        self.post("execute/async", &json!({ "script": script, "args": arguments }))
    }

    /// Does something that makes the table show anew, and waits until it has.
    pub(crate) fn and_wait(&self, action: &str) {
        let script = format!(
            "const done = arguments[0], root = document.documentElement, before = root.dataset.shown;
             new MutationObserver((_, seen) => {{ if (root.dataset.shown !== before) {{ seen.disconnect(); done(); }} }})
               .observe(root, {{ attributes: true }});
             {action}"
        );
        self.post("execute/async", &json!({ "script": script, "args": [] }));
    }

    /// Presses keys, one after the other, where the focus is.
    pub(crate) fn press(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })]
            })
            .collect();
        self.post(
            "actions",
            &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] }),
        );
    }

    /// Shows the page as it would be printed.
    pub(crate) fn as_printed(&self) {
        let media = json!({ "cmd": "Emulation.setEmulatedMedia", "params": { "media": "print" } });
        self.post("goog/cdp/execute", &media);
    }

    /// Whether the page has opened a dialog (`alert` and the like).
    pub(crate) fn has_alert(&self) -> bool {
        self.call("GET", &format!("/session/{}/alert/text", self.session), &Value::Null).is_ok()
    }

    /// What the page and the browser complained about.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.post("se/log", &json!({ "type": "browser" }));
        log.as_array().expect("a log").iter().map(|entry| entry["message"].to_string()).collect()
    }

    fn post(&self, what: &str, body: &Value) -> Value {
        self.call("POST", &format!("/session/{}/{what}", self.session), body)
            .unwrap_or_else(|error| panic!("{what} with {body}: {error}"))
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(180))).map_err(|error| error.to_string())?;
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()))
            .map_err(|error| error.to_string())?;
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line).map_err(|error| error.to_string())?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = number.trim().parse().map_err(|_| line.clone())?;
            }
        }
        let mut text = vec![0; length];
        answer.read_exact(&mut text).map_err(|error| error.to_string())?;
        let mut answer: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        match answer["value"].take() {
            error if error["error"].is_string() => Err(error["message"].to_string()),
            value => Ok(value),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ending the session ends the browser; the driver is ours to end.
        let _ = self.call("DELETE", &format!("/session/{}", self.session), &Value::Null);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "the browser is part of the test, not of the program")]
fn command(name: &str) -> Command {
    Command::new(name)
}

fn installed(name: &str) -> bool {
    !path_of(name).is_empty()
}

fn path_of(name: &str) -> String {
    let found = command("sh").args(["-c", "command -v \"$1\"", "sh", name]).output().expect("run sh");
    String::from_utf8_lossy(&found.stdout).trim().to_owned()
}

fn port_of(driver: &mut Child) -> u16 {
    let out = BufReader::new(driver.stdout.take().expect("stdout is piped"));
    for line in out.lines() {
        let line = line.expect("chromedriver's output");
        if let Some(port) = line.strip_prefix("ChromeDriver was started successfully on port ") {
            return port.trim_end_matches('.').parse().expect("a port");
        }
    }
    panic!("chromedriver ended without a port");
}
