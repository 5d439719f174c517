//! A long-lived program that is spoken to in JSON lines: one object a line in, one object a line out, paired by `id`.
//!
//! This is the one place outside the sandbox crate that starts a program. A plugin is a part of the harness that its user
//! wrote, not a thing under test: it lives as long as the run, and the sandbox's boxes have no conversation. It gets nothing
//! of our environment but `PATH`, `HOME` and the locale, so no key reaches it; and a process group of its own, so that what
//! it starts ends with it.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use camino::Utf8PathBuf;
use proofhouse_ledger::Json;
use proofhouse_ledger::json::{self, Object, Strictness};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use tokio::sync::oneshot;

use super::{Environment, Keys};

/// How often a program that died is started again.
const MAX_STARTS: u32 = 4;
/// The longest line that a program may say.
const MAX_LINE_BYTES: u64 = 8 << 20;
/// How much of what it says on standard error is kept for messages.
const KEPT_STDERR: usize = 2_000;
/// How long the streams of a program that has ended may take to end too, where a process that it left holds them open.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// What it may see of our environment.
const PASSED: [&str; 4] = ["PATH", "HOME", "LANG", "LC_ALL"];

/// Starts a server that its user runs anyway, in front of which we stand: with our environment, and its complaints where ours go.
pub(crate) fn start_server(argv: &[String]) -> std::io::Result<Child> {
    let (program, arguments) =
        argv.split_first().ok_or_else(|| std::io::Error::other("there is no command"))?;
    #[expect(clippy::disallowed_methods, reason = "the user's own server, as it would run without us")]
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// The program could not be started.
    NotStarted(String),
    /// It ended.
    Died(String),
    /// It said something that is no answer.
    Garbled(String),
    /// It did not answer in time.
    TimedOut,
}

/// A program and its conversation.
#[derive(Debug)]
pub(crate) struct Pipe {
    argv: Vec<String>,
    env: Vec<(String, String)>,
    dir: Utf8PathBuf,
    /// What nothing that it says may show.
    keys: Arc<Keys>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: Option<Running>,
    starts: u32,
    next_id: u64,
}

#[derive(Debug)]
struct Running {
    group: Arc<Group>,
    lines: mpsc::Sender<String>,
    pending: Arc<Pending>,
}

/// A program and everything that it started and that did not leave its process group.
#[derive(Debug)]
struct Group {
    leader: Option<Pid>,
    /// The program until it is reaped: only as long as it is not, its number is its own.
    child: Mutex<Option<Child>>,
}

/// What one of the threads beside a program does.
type Talk = Box<dyn FnOnce() + Send>;

/// Questions without an answer, and why there will be none.
#[derive(Debug, Default)]
struct Pending {
    asked: Mutex<Asked>,
    keys: Arc<Keys>,
}

#[derive(Debug, Default)]
struct Asked {
    waiting: BTreeMap<u64, oneshot::Sender<Result<Json, NoAnswer>>>,
    over: Option<NoAnswer>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pipe {
    /// A program that is started when it is first asked.
    pub(crate) fn new(
        argv: &[String],
        env: &BTreeMap<String, String>,
        dir: Utf8PathBuf,
        environment: &Environment,
    ) -> Self {
        let passed = PASSED.iter().filter_map(|name| Some(((*name).to_owned(), environment.get(name)?)));
        let own = env.iter().map(|(name, value)| (name.clone(), value.clone()));
        let keys = Arc::new(Keys::live(environment, ""));
        Pipe { argv: argv.to_vec(), env: passed.chain(own).collect(), dir, keys, state: Mutex::default() }
    }

    /// Asks, and waits no longer than `within`.
    pub(crate) async fn ask(&self, what: &str, question: Json, within: Duration) -> Result<Json, NoAnswer> {
        let answer = self.send(what, question)?;
        match tokio::time::timeout(within, answer).await {
            Err(_) => Err(NoAnswer::TimedOut),
            Ok(Err(_)) => Err(NoAnswer::Died("the program ended".to_owned())),
            Ok(Ok(answer)) => answer,
        }
    }

    fn send(
        &self,
        what: &str,
        question: Json,
    ) -> Result<oneshot::Receiver<Result<Json, NoAnswer>>, NoAnswer> {
        let mut state = locked(&self.state);
        let over = state.running.as_ref().and_then(|running| locked(&running.pending.asked).over.clone());
        if let Some(why) = over {
            if state.starts >= MAX_STARTS {
                return Err(why);
            }
            state.running = None;
        }
        if state.running.is_none() {
            state.starts += 1;
            state.running = Some(self.start()?);
        }
        let id = state.next_id;
        state.next_id += 1;
        let running = state.running.as_ref().expect("it was started just above");
        let (sender, receiver) = oneshot::channel();
        locked(&running.pending.asked).waiting.insert(id, sender);
        let line = Object::from_iter([("id", Json::Number(id as f64)), (what, question)]);
        // A closed channel means that the program is over; its readers tell whoever waits.
        let _ = running.lines.send(format!("{}\n", Json::Object(line)));
        if let Some(why) = locked(&running.pending.asked).over.clone() {
            return Err(why);
        }
        Ok(receiver)
    }

    fn start(&self) -> Result<Running, NoAnswer> {
        let failed = |why: String| NoAnswer::NotStarted(why);
        let (program, arguments) =
            self.argv.split_first().ok_or_else(|| failed("there is no command".to_owned()))?;
        #[expect(
            clippy::disallowed_methods,
            reason = "a plugin is the user's own part of the harness; see the module"
        )]
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(self.env.iter().cloned()).process_group(0);
        if !self.dir.as_str().is_empty() {
            command.current_dir(&self.dir);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|error| failed(format!("cannot start `{program}`: {error}")))?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(failed("its streams are not there".to_owned()));
        };
        let pending = Arc::new(Pending { asked: Mutex::default(), keys: Arc::clone(&self.keys) });
        let group = Arc::new(Group::new(child));
        let (lines, said) = mpsc::channel();
        let words = Arc::new(Words::default());
        // Nothing is ever sent on it: it closes when the reader has come to its end.
        let (reading, read) = mpsc::channel::<()>();
        let threads: [(&str, Talk); 4] = [
            ("plugin-in", Box::new(move || write_lines(stdin, &said))),
            ("plugin-err", {
                let words = Arc::clone(&words);
                Box::new(move || words.keep(stderr))
            }),
            ("plugin-out", {
                let (pending, words) = (Arc::clone(&pending), Arc::clone(&words));
                Box::new(move || {
                    let over = read_lines(stdout, &pending);
                    pending.end(|| over.unwrap_or_else(|| words.last(&pending.keys)));
                    drop(reading);
                })
            }),
            ("plugin-end", {
                let (pending, group) = (Arc::clone(&pending), Arc::clone(&group));
                Box::new(move || {
                    group.wait();
                    let _ = read.recv_timeout(LAST_WORDS);
                    pending.end(|| words.last(&pending.keys));
                })
            }),
        ];
        let running = Running { group, lines, pending };
        for (name, work) in threads {
            std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(work)
                .map_err(|error| failed(error.to_string()))?;
        }
        Ok(running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.group.end();
    }
}

impl Group {
    fn new(child: Child) -> Self {
        let leader = Pid::from_raw(child.id().cast_signed());
        Group { leader, child: Mutex::new(Some(child)) }
    }

    /// Waits until the program has ended, and ends what it leaves behind.
    fn wait(&self) {
        let Some(leader) = self.leader else { return };
        // Not reaped: as long as it is a zombie, nobody else can get its number.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = rustix::process::waitid(WaitId::Pid(leader), options) {}
        let child = locked(&self.child);
        if child.is_some() {
            self.kill();
        }
    }

    /// Ends all of it and takes the program's end in.
    fn end(&self) {
        let mut child = locked(&self.child);
        if let Some(mut child) = child.take() {
            self.kill();
            let _ = child.wait();
        }
    }

    fn kill(&self) {
        if let Some(leader) = self.leader {
            let _ = rustix::process::kill_process_group(leader, Signal::KILL);
        }
    }
}

fn write_lines(mut stdin: ChildStdin, lines: &mpsc::Receiver<String>) {
    for line in lines {
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// What a program says on standard error: the end of it, for messages.
#[derive(Debug, Default)]
struct Words {
    kept: Mutex<Kept>,
    closed: Condvar,
}

#[derive(Debug, Default)]
struct Kept {
    tail: VecDeque<u8>,
    closed: bool,
}

impl Words {
    fn keep(&self, mut stderr: ChildStderr) {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stderr.read(&mut buffer) {
            let mut kept = locked(&self.kept);
            kept.tail.extend(&buffer[..count]);
            // Twice as much as is shown, so that no key is cut in two before it is looked for.
            let beyond = kept.tail.len().saturating_sub(2 * KEPT_STDERR);
            kept.tail.drain(..beyond);
        }
        locked(&self.kept).closed = true;
        self.closed.notify_all();
    }

    /// Why there will be no answer, with the last words of the program.
    fn last(&self, keys: &Keys) -> NoAnswer {
        let waited = self.closed.wait_timeout_while(locked(&self.kept), LAST_WORDS, |kept| !kept.closed);
        let tail: Vec<u8> = waited.unwrap_or_else(PoisonError::into_inner).0.tail.iter().copied().collect();
        let words = String::from_utf8_lossy(&keys.redact_bytes(&tail)).into_owned();
        let from = words.char_indices().rev().nth(KEPT_STDERR).map_or(0, |(at, _)| at);
        match words[from..].trim() {
            "" => NoAnswer::Died("the program ended".to_owned()),
            words => NoAnswer::Died(format!("the program ended: {words}")),
        }
    }
}

/// Hands answers over until there are no more; the reason where it is not the program's end.
fn read_lines(stdout: ChildStdout, pending: &Pending) -> Option<NoAnswer> {
    let mut reader = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match (&mut reader).take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return None,
            Ok(_) if !line.ends_with(b"\n") && line.len() as u64 == MAX_LINE_BYTES => {
                return Some(NoAnswer::Garbled("it said a line without end".to_owned()));
            }
            Ok(_) => {}
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        if let Err(why) = pending.deliver(&line) {
            return Some(why);
        }
    }
}

/// The id in a line that is no JSON, as `{"id": 3, "verdict": {"score": NaN}}`.
fn id_in(line: &[u8]) -> Option<u64> {
    let from = memchr::memmem::find(line, b"\"id\"")? + 4;
    let rest = line[from..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

impl Pending {
    fn deliver(&self, line: &[u8]) -> Result<(), NoAnswer> {
        let shown = || super::transport::excerpt(&self.keys.redact_bytes(line));
        let answer = match json::parse(line, Strictness::Lenient) {
            Ok(answer) => answer,
            Err(error) => {
                let why =
                    NoAnswer::Garbled(format!("it said something that is not JSON ({error}): {}", shown()));
                // Whoever it was meant for has no answer; the others still wait for theirs.
                let asked = id_in(line).and_then(|id| locked(&self.asked).waiting.remove(&id));
                let Some(asked) = asked else { return Err(why) };
                let _ = asked.send(Err(why));
                return Ok(());
            }
        };
        let id = answer
            .get("id")
            .and_then(Json::as_f64)
            .ok_or_else(|| NoAnswer::Garbled(format!("it said a line without `id`: {}", shown())))?;
        let asked = locked(&self.asked).waiting.remove(&(id as u64));
        // An answer that nobody waits for any more came too late; that trial has its outcome.
        if let Some(asked) = asked {
            let _ = asked.send(Ok(answer));
        }
        Ok(())
    }

    /// Says to all who wait why there will be no answer; the first reason counts.
    fn end(&self, why: impl FnOnce() -> NoAnswer) {
        if locked(&self.asked).over.is_some() {
            return;
        }
        let why = why();
        let mut asked = locked(&self.asked);
        let why = asked.over.get_or_insert(why).clone();
        for (_, waiting) in std::mem::take(&mut asked.waiting) {
            let _ = waiting.send(Err(why.clone()));
        }
    }
}
