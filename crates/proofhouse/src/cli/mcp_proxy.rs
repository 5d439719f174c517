//! `mcp-proxy`: the gate of a suite in front of a real MCP server.

use std::io::{BufRead, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Parser};
use proofhouse_ledger::files;

use super::exit::Exit;
use super::failure::Failure;
use super::{Cli, Terminal, dispatch};
use crate::family::target::start_server;
use crate::kinds::containment::proxy::{Onward, Proxy};

/// The longest line that is read, of either side.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// Sessions below one directory.
const MAX_SESSIONS: u32 = 1_000_000;
const CASES: &str = "calls.jsonl";
const SUITE: &str = "session.yaml";

/// Put the gate in front of a real MCP server: every call is decided by the policy, then forwarded or simulated.
///
/// A client starts this in place of the server and speaks to it on standard input and output. Everything else passes through unchanged. Each
/// session leaves a directory with its calls, a suite that plays them and, when the client has gone, a run of that suite:
/// receipts that `verify`, `report` and `diff` read. A session that was killed still has its calls: `proofhouse run` on its
/// `session.yaml` makes the receipts.
#[derive(Debug, Args)]
pub(super) struct McpProxy {
    /// What may be called: a policy as suites write it, or a suite, whose `policy` is taken.
    #[arg(long, value_name = "FILE")]
    policy: Utf8PathBuf,

    /// Forward no call: what is allowed is answered as a simulated tool would.
    #[arg(long)]
    simulate: bool,

    /// Where sessions are kept, each in a directory of its own.
    #[arg(long, value_name = "DIR", default_value = "mcp-sessions")]
    sessions: Utf8PathBuf,

    /// The server and its arguments.
    #[arg(required = true, last = true, value_name = "SERVER")]
    server: Vec<String>,
}

/// What both directions share.
struct Session {
    proxy: Proxy,
    cases: std::fs::File,
}

impl Session {
    /// Writes a call down before anybody hears of it.
    fn keep(&mut self, line: Option<String>) -> std::io::Result<()> {
        match line {
            Some(line) => self.cases.write_all(format!("{line}\n").as_bytes()),
            None => Ok(()),
        }
    }
}

type Shared = Arc<Mutex<Session>>;

fn locked(session: &Shared) -> MutexGuard<'_, Session> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}

impl McpProxy {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let text = String::from_utf8_lossy(&files::read(&self.policy)?).into_owned();
        let about = |complaint: crate::text::complaint::Complaint| {
            Failure::of(Exit::Usage, complaint.about(format!("`{}`:", self.policy)))
        };
        let policy = Proxy::policy(&text).map_err(about)?;
        let proxy = Proxy::new(policy, self.simulate).map_err(about)?;
        let dir = new_session(&self.sessions)?;
        let cases = std::fs::File::options().append(true).create_new(true).open(dir.join(CASES))?;
        std::fs::write(dir.join(SUITE), proxy.suite(CASES))?;
        let mut child = start_server(&self.server).map_err(|error| {
            Failure::say(Exit::Usage, format!("cannot start `{}`: {error}", self.server[0]))
        })?;
        let session: Shared = Arc::new(Mutex::new(Session { proxy, cases }));
        let (Some(to_server), Some(from_server)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::say(Exit::Internal, "the server's streams are not there".to_owned()));
        };
        let outward = {
            let session = Arc::clone(&session);
            std::thread::Builder::new()
                .name("client".to_owned())
                .spawn(move || outward(&session, to_server))?
        };
        let inward = inward(&session, from_server);
        let ended = wait(&mut child);
        // The client may stay although its server has gone; nobody waits for it then.
        if outward.is_finished() {
            let _ = outward.join();
        }
        inward?;
        let calls = {
            let mut session = locked(&session);
            for line in session.proxy.unanswered() {
                session.keep(Some(line))?;
            }
            session.cases.sync_all()?;
            std::fs::write(dir.join(SUITE), session.proxy.suite(CASES))?;
            session.proxy.calls()
        };
        if calls > 0 {
            receipts(&dir)?;
        }
        terminal.say(&format!("{calls} calls decided; receipts in `{dir}`"));
        Ok(if ended { Exit::Ok } else { Exit::Infrastructure })
    }
}

/// A directory that no other session has.
fn new_session(parent: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    std::fs::create_dir_all(parent)?;
    for number in 1..=MAX_SESSIONS {
        let dir = parent.join(format!("session-{number:04}"));
        match std::fs::create_dir(&dir) {
            Ok(()) => return Ok(dir),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Failure::say(Exit::Refused, format!("`{parent}` holds a million sessions")))
}

/// Runs the suite that makes receipts of the calls.
fn receipts(dir: &Utf8Path) -> Result<(), Failure> {
    let (suite, run) = (dir.join(SUITE), dir.join("run"));
    let words = ["proofhouse", "--quiet", "run", suite.as_str(), "--run-dir", run.as_str(), "--overwrite"];
    let cli = Cli::try_parse_from(words).map_err(|error| Failure::new(Exit::Internal, &error))?;
    let quiet = Terminal { quiet: true, surroundings: super::env::surroundings(true) };
    dispatch(cli.command, &quiet).map(drop)
}

/// From the client to the server, until either is gone.
fn outward(session: &Shared, mut server: ChildStdin) -> std::io::Result<()> {
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut input).take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let (onward, kept) = {
            let mut session = locked(session);
            let (onward, kept) = session.proxy.client_said(line.trim_ascii_end());
            (onward, session.keep(kept))
        };
        kept?;
        match onward {
            Some(Onward::Server(mut bytes)) => {
                bytes.push(b'\n');
                server.write_all(&bytes)?;
                server.flush()?;
            }
            Some(Onward::Client(bytes)) => say(&bytes)?,
            None => {}
        }
    }
}

/// From the server to the client, until the server is gone.
fn inward(session: &Shared, server: ChildStdout) -> std::io::Result<()> {
    let mut output = std::io::BufReader::new(server);
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut output).take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let kept = {
            let mut session = locked(session);
            let line = session.proxy.server_said(&line);
            session.keep(line)
        };
        kept?;
        say(line.trim_ascii_end())?;
    }
}

/// A whole line at once: two threads speak to the client.
fn say(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(&[bytes, b"\n"].concat())?;
    out.flush()
}

/// Whether the server ended as it should.
fn wait(child: &mut Child) -> bool {
    child.wait().is_ok_and(|status| status.success())
}
