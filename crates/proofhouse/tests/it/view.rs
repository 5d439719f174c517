//! `view` over HTTP: what is there is shown, what is not asked for by its name is not, and nothing is ever written.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::lab::Lab;

/// A server that ends with this value.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    pub(crate) fn start(lab: &Lab, args: &[&str]) -> Self {
        let mut process = lab.command(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
        Server { process, address }
    }

    fn ask(&self, method: &str, path: &str, host: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        write!(stream, "{method} {path} HTTP/1.0\r\nHost: {host}\r\n\r\n").unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        let text = String::from_utf8_lossy(&all).into_owned();
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        (status, text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    /// The answer with its headers.
    fn whole(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        String::from_utf8_lossy(&all).into_owned()
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask("GET", path, &self.address)
    }

    /// Reads a stream of events until one has these words.
    fn until(&self, path: &str, words: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address).unwrap();
        let mut all = String::new();
        for line in BufReader::new(stream).lines() {
            all.push_str(&line.unwrap());
            all.push('\n');
            if all.contains(words) {
                return all;
            }
        }
        panic!("`{words}` never came: {all}");
    }
}

pub(crate) fn suite(lab: &Lab, name: &str, reply: &str) {
    let cases: String =
        (0..8).map(|at| format!("  - {{id: c{at}, input: \"x{at}\", expected: \"yes\"}}\n")).collect();
    lab.write(
        name,
        format!("kind: probe\nsuite_id: seen\njudges:\n  exact: {{equals: {{}}}}\ntargets:\n  one: {{scripted: {{rules: [{{contains: x3, reply: \"{reply}\"}}], otherwise: {{reply: \"yes\"}}}}}}\ncases:\n{cases}"),
    );
}

#[test]
fn runs_are_listed_compared_and_followed_and_nothing_else_is_served() {
    let lab = Lab::new();
    suite(&lab, "a.yaml", "yes");
    suite(&lab, "b.yaml", "<script>no</script>");
    lab.run("run a.yaml --run-dir runs/seen/first --quiet").exits(0);
    lab.run("run b.yaml --run-dir runs/seen/second --quiet").exits(0);
    lab.run("run a.yaml --run-dir runs/seen/cut --quiet --deadline 0").exits(8);
    lab.write("secret.txt", "secret").write("runs/seen/first.txt", "secret");
    std::os::unix::fs::symlink(lab.path("runs/seen"), lab.path("runs/linked")).unwrap();
    let before = lab.snapshot();

    let server = Server::start(&lab, &["view", "runs"]);
    let (status, list) = server.get("/");
    assert_eq!(status, 200);
    for part in ["3 of 3 runs", "seen/first", "seen/second", "incomplete", "87.5", "connect-src 'self'"] {
        assert!(list.contains(part), "{part} in {list}");
    }
    assert!(!list.contains("linked"), "links are not followed");
    assert!(server.get("/?q=second").1.contains("1 of 3 runs"));
    assert!(server.get("/?state=incomplete").1.contains("1 of 3 runs"));
    let (status, report) = server.get("/run/seen/second/report.html");
    assert_eq!((status, report.as_str()), (200, lab.read("runs/seen/second/report.html").as_str()));
    let (status, page) = server.get("/compare?run=seen%2Fsecond&run=seen/first");
    assert!(status == 200 && page.contains("Got worse: 1") && page.contains("&lt;script&gt;"), "{page}");
    assert!(!page.contains("<script"), "hostile output stays text");
    assert!(server.get("/trend?suite=seen").1.contains("<polyline"), "a line with its band");

    for path in [
        "/run/../secret.txt",
        "/run/..%2F..%2Fsecret.txt/report.html",
        "/run/seen/first/records.jsonl",
        "/run/seen/first.txt",
        "/run//etc/passwd",
        "/run/linked/first/report.html",
        "/run/seen/first/report-data/..%2F..%2Ffirst.txt",
        "/run/seen/first/report-data/0001.js",
        "/etc/passwd",
    ] {
        let (status, body) = server.get(path);
        assert!(status == 404 && !body.contains("secret"), "{path}: {status} {body}");
    }
    assert_eq!(server.ask("POST", "/", &server.address).0, 405);
    assert_eq!(server.ask("GET", "/", "evil.example").0, 403, "a page of somebody else");
    let said = server.until("/events?run=seen%2Fcut", "progress");
    assert!(said.contains("text/event-stream"), "{said}");
    lab.run("run a.yaml --run-dir runs/seen/cut --quiet --resume").exits(0);
    server.until("/events?run=seen%2Fcut", "data: /run/seen/cut/report.html");
    drop(server);
    let after = lab.snapshot();
    let changed = before
        .iter()
        .filter(|(path, bytes)| !path.to_string_lossy().contains("cut") && after.get(*path) != Some(bytes));
    assert_eq!(changed.count(), 0, "it only reads");
}

#[test]
fn another_address_asks_for_its_token() {
    let lab = Lab::new();
    let mut process = lab
        .command(&["view", "--host", "0.0.0.0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let (address, token) = line.trim().strip_prefix("http://").unwrap().split_once('/').unwrap();
    let address = address.replace("0.0.0.0", "127.0.0.1");
    let server = Server { process, address };
    assert_eq!(token.trim_end_matches('/').len(), 32);
    assert_eq!(server.get("/").0, 403);
    assert_eq!(server.get(&format!("/{token}")).0, 200);
}

#[test]
fn a_watched_suite_runs_when_it_is_saved() {
    let lab = Lab::new();
    suite(&lab, "s.yaml", "yes");
    let server = Server::start(&lab, &["view", "runs", "--watch", "s.yaml"]);
    server.until("/events?watch=1", "data: 1");
    suite(&lab, "s.yaml", "no");
    server.until("/events?watch=1", "data: 2");
    let (_, page) = server.get("/watch");
    assert!(page.contains("Got worse: 1") && page.contains("x3"), "{page}");
    lab.write("s.yaml", "kind: probe\nbroken");
    server.until("/events?watch=1", "data: 3");
    let (_, page) = server.get("/watch");
    assert!(
        page.contains("Run 2, held against run 1"),
        "a suite that is half written changes nothing: {page}"
    );
    assert!(page.contains("The suite as it stands cannot be run") && page.contains("broken"), "{page}");
    suite(&lab, "s.yaml", "yes");
    server.until("/events?watch=1", "data: 4");
    assert!(!server.get("/watch").1.contains("cannot be run"), "it is whole again");
}

/// Prompts, cases and examples that the suite only names.
#[test]
fn files_that_a_watched_suite_names_are_watched_too() {
    let lab = Lab::new();
    lab.write("cases.jsonl", "{\"id\": \"a\", \"q\": \"x\", \"expected\": \"say x\"}\n")
        .write("p.md", "say {{ q }}\n")
        .write("s.yaml", "kind: probe\nsuite_id: named\ndatasets: [{path: cases.jsonl}]\nprompts:\n  one: {file: p.md}\njudges: {same: {equals: {}}}\ntargets:\n  echo: {scripted: {otherwise: {reply: '{input}'}}}\n");
    let server = Server::start(&lab, &["view", "runs", "--watch", "s.yaml"]);
    server.until("/events?watch=1", "data: 1");
    lab.write("p.md", "tell {{ q }}\n");
    server.until("/events?watch=1", "data: 2");
    let (_, page) = server.get("/watch");
    assert!(page.contains("Got worse: 1") && page.contains("<ins>tell</ins>"), "{page}");
    lab.write("cases.jsonl", "{\"id\": \"a\", \"q\": \"x\", \"expected\": \"tell x\"}\n");
    server.until("/events?watch=1", "data: 3");
    assert!(server.get("/watch").1.contains("Got better: 1"), "the cases are watched");
}

/// A run takes the first signal as a wish to stop in order; the server must not go on.
#[test]
fn one_signal_ends_a_server_that_watches() {
    let lab = Lab::new();
    suite(&lab, "s.yaml", "yes");
    let mut server = Server::start(&lab, &["view", "runs", "--watch", "s.yaml"]);
    server.until("/events?watch=1", "data: 1");
    let pid = rustix::process::Pid::from_child(&server.process);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert!(!server.process.wait().unwrap().success());
}

/// Directories that somebody else made: links, pipes, sparse giants, scripts, names of every kind.
#[test]
fn hostile_run_directories_harm_nobody() {
    let lab = Lab::new();
    suite(&lab, "s.yaml", "no");
    lab.run("run s.yaml --run-dir runs/good --quiet").exits(0);
    lab.write("secret.txt", "secret");
    let copy = |name: &str| {
        for (path, bytes) in lab.run_files("runs/good") {
            lab.write(&format!("runs/{name}/{}", path.display()), bytes);
        }
    };
    let names = [
        "linked-report",
        "scripted",
        "linked-parts",
        "script-parts",
        "pipe",
        "huge",
        "deep",
        "<b>x y",
        "ä\n",
        ".hidden",
    ];
    names.iter().for_each(|name| copy(name));
    let at = |name: &str| lab.path(&format!("runs/{name}"));
    let link = |to: &std::path::Path, from: &std::path::Path| std::os::unix::fs::symlink(to, from).unwrap();
    std::fs::remove_file(at("linked-report/report.html")).unwrap();
    link(&lab.path("secret.txt"), &at("linked-report/report.html"));
    lab.write("runs/scripted/report.html", "<script>alert('secret')</script>");
    std::fs::create_dir(lab.path("parts")).unwrap();
    lab.write("parts/0001.js", "proofhousePart(1,[],[\"secret\"]);\n");
    link(&lab.path("parts"), &at("linked-parts/report-data"));
    lab.write("runs/script-parts/report-data/0001.js", "proofhousePart(1,[],[]);alert('secret');\n");
    lab.write("runs/script-parts/report-data/0002.js", "proofhousePart(2,[],[]);\n");
    std::fs::remove_file(at("pipe/summary.json")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("pipe/summary.json"),
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    std::fs::File::create(at("huge/summary.json")).unwrap().set_len(64 << 30).unwrap();
    lab.write("runs/deep/summary.json", "[".repeat(100_000));

    let server = Server::start(&lab, &["view", "runs"]);
    let (status, list) = server.get("/");
    assert!(status == 200 && list.contains("10 of 10 runs"), "{list}");
    assert!(list.contains("&lt;b&gt;x y") && !list.contains("<b>x") && !list.contains(">.hidden<"), "{list}");
    assert_eq!(list.matches("verdict-bad\">damaged<").count(), 3, "{list}");
    let (status, page) = server.get("/run/linked-report/report.html");
    assert!(status == 200 && page.contains("seen") && !page.contains("secret"), "made anew: {page}");
    let whole = server.whole("/run/scripted/report.html");
    assert!(!whole.contains("alert("), "made anew");
    assert!(whole.contains("content-security-policy: default-src 'none'; script-src 'sha256-"), "{whole}");
    for (path, status) in [
        ("/run/linked-parts/report-data/0001.js", 404),
        ("/run/script-parts/report-data/0001.js", 404),
        ("/run/script-parts/report-data/0002.js", 200),
        ("/run/script-parts/report-data/2.js", 404),
        ("/run/script-parts/report-data/+2.js", 404),
        ("/run/pipe/report.html", 200),
        ("/run/.hidden/report.html", 404),
        ("/run/%3Cb%3Ex%20y/report.html", 200),
        ("/compare?run=huge&run=good", 404),
        ("/compare?run=deep&run=pipe", 404),
        ("/trend?suite=%3Cscript%3E", 200),
        ("/live?run=..%2F..", 404),
        ("/?from=18446744073709551615&q=%00%ff", 200),
    ] {
        let (got, body) = server.get(path);
        assert_eq!(got, status, "{path}: {body}");
        assert!(!body.contains("secret") && !body.contains("<script>alert"), "{path}: {body}");
    }
}
