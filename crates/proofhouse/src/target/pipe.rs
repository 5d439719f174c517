//! A long-lived program that is spoken to in JSON lines: one object a line in, one object a line out, paired by `id`.
//!
//! This is the one place outside the sandbox crate that starts a program. A plugin is a part of the harness that its user
//! wrote, not a thing under test: it lives as long as the run, and the sandbox's boxes have no conversation. It gets nothing
//! of our environment but `PATH`, `HOME` and the locale, so no key reaches it.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use camino::Utf8PathBuf;
use proofhouse_ledger::Json;
use proofhouse_ledger::json::{self, Object, Strictness};
use tokio::sync::oneshot;

use super::Environment;

/// How often a program that died is started again.
const MAX_STARTS: u32 = 4;
/// The longest line that a program may say.
const MAX_LINE_BYTES: u64 = 8 << 20;
/// How much of what it says on standard error is kept for messages.
const KEPT_STDERR: usize = 2_000;
/// What it may see of our environment.
const PASSED: [&str; 4] = ["PATH", "HOME", "LANG", "LC_ALL"];

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Silence {
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
    child: Child,
    lines: mpsc::Sender<String>,
    pending: Arc<Pending>,
}

/// What one of the threads beside a program does.
type Talk = Box<dyn FnOnce() + Send>;

/// Questions without an answer, and why there will be none.
#[derive(Debug, Default)]
struct Pending(Mutex<Asked>);

#[derive(Debug, Default)]
struct Asked {
    waiting: BTreeMap<u64, oneshot::Sender<Result<Json, Silence>>>,
    over: Option<Silence>,
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
        Pipe { argv: argv.to_vec(), env: passed.chain(own).collect(), dir, state: Mutex::default() }
    }

    /// Asks, and waits no longer than `within`.
    pub(crate) async fn ask(&self, what: &str, question: Json, within: Duration) -> Result<Json, Silence> {
        let answer = self.send(what, question)?;
        match tokio::time::timeout(within, answer).await {
            Err(_) => Err(Silence::TimedOut),
            Ok(Err(_)) => Err(Silence::Died("the program ended".to_owned())),
            Ok(Ok(answer)) => answer,
        }
    }

    fn send(&self, what: &str, question: Json) -> Result<oneshot::Receiver<Result<Json, Silence>>, Silence> {
        let mut state = locked(&self.state);
        let over = state.running.as_ref().and_then(|running| locked(&running.pending.0).over.clone());
        if let Some(why) = over {
            if state.starts >= MAX_STARTS {
                return Err(why);
            }
            state.running = None;
        }
        if state.running.is_none() {
            state.starts += 1;
            state.running = Some(self.start().map_err(Silence::NotStarted)?);
        }
        let id = state.next_id;
        state.next_id += 1;
        let running = state.running.as_ref().expect("it was started just above");
        let (sender, receiver) = oneshot::channel();
        locked(&running.pending.0).waiting.insert(id, sender);
        let line = Object::from_iter([("id", Json::Number(id as f64)), (what, question)]);
        // A closed channel means that the program is over; its readers tell whoever waits.
        let _ = running.lines.send(format!("{}\n", Json::Object(line)));
        if let Some(why) = locked(&running.pending.0).over.clone() {
            return Err(why);
        }
        Ok(receiver)
    }

    fn start(&self) -> Result<Running, String> {
        let (program, arguments) = self.argv.split_first().ok_or("there is no command")?;
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
        let mut child = command.spawn().map_err(|error| format!("cannot start `{program}`: {error}"))?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err("its streams are not there".to_owned());
        };
        let pending = Arc::new(Pending::default());
        let (lines, said) = mpsc::channel();
        let last_words = Arc::new(Mutex::new(VecDeque::new()));
        let threads: [(&str, Talk); 3] = [
            ("plugin-in", Box::new(move || write_lines(stdin, &said))),
            ("plugin-err", {
                let last_words = last_words.clone();
                Box::new(move || keep_tail(stderr, &last_words))
            }),
            ("plugin-out", {
                let pending = pending.clone();
                Box::new(move || read_lines(stdout, &pending, &last_words))
            }),
        ];
        for (name, work) in threads {
            std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(work)
                .map_err(|error| error.to_string())?;
        }
        Ok(Running { child, lines, pending })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The whole group, so that nothing it started outlives the run.
        if let Some(group) = rustix::process::Pid::from_raw(self.child.id().cast_signed()) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

fn write_lines(mut stdin: ChildStdin, lines: &mpsc::Receiver<String>) {
    for line in lines {
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn keep_tail(mut stderr: ChildStderr, kept: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut buffer) {
        let mut kept = locked(kept);
        kept.extend(&buffer[..count]);
        let beyond = kept.len().saturating_sub(KEPT_STDERR);
        kept.drain(..beyond);
    }
}

fn read_lines(stdout: ChildStdout, pending: &Pending, last_words: &Mutex<VecDeque<u8>>) {
    let mut reader = BufReader::new(stdout);
    let over = loop {
        let mut line = Vec::new();
        match (&mut reader).take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break None,
            Ok(_) if !line.ends_with(b"\n") && line.len() as u64 == MAX_LINE_BYTES => {
                break Some(Silence::Garbled("it said a line without end".to_owned()));
            }
            Ok(_) => {}
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        if let Err(why) = pending.deliver(&line) {
            break Some(Silence::Garbled(why));
        }
    };
    let over = over.unwrap_or_else(|| {
        let words: Vec<u8> = locked(last_words).iter().copied().collect();
        let words = String::from_utf8_lossy(&words).trim().to_owned();
        Silence::Died(if words.is_empty() {
            "the program ended".to_owned()
        } else {
            format!("the program ended: {words}")
        })
    });
    pending.end(&over);
}

impl Pending {
    fn deliver(&self, line: &[u8]) -> Result<(), String> {
        let shown = || super::transport::excerpt(line);
        let answer = json::parse(line, Strictness::Lenient)
            .map_err(|error| format!("it said something that is not JSON ({error}): {}", shown()))?;
        let id = answer
            .get("id")
            .and_then(Json::as_f64)
            .ok_or_else(|| format!("it said a line without `id`: {}", shown()))?;
        let asked = locked(&self.0).waiting.remove(&(id as u64));
        // An answer that nobody waits for any more came too late; that trial has its outcome.
        if let Some(asked) = asked {
            let _ = asked.send(Ok(answer));
        }
        Ok(())
    }

    fn end(&self, why: &Silence) {
        let mut asked = locked(&self.0);
        asked.over = Some(why.clone());
        for (_, waiting) in std::mem::take(&mut asked.waiting) {
            let _ = waiting.send(Err(why.clone()));
        }
    }
}
