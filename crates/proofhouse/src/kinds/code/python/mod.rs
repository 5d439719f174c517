//! Python: tests and answer are in two boxes, and only claims cross between them.
//!
//! In Python everything can be reached from everywhere, so nothing is safe from an answer in its own process. The candidate's box
//! has the prompt and the answer, the tests' box has the prompt and the tests; plain values cross as values, everything else is
//! used through handles (`values.py.txt`, `border.py.txt`), and every comparison is made on the tests' side.

mod chance;
pub(super) mod docstring;
mod doubt;
mod known;
mod modules;
mod programs;
mod said;
mod session;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use proofhouse_ledger::Digest;
use proofhouse_sandbox::{Status, Tier, recipes};

use self::known::Known;
use self::session::TestSession;
use super::bench::Bench;
use super::language::{Language, Profile, Task};
use super::problem::Problem;
use super::prose::Prose;
use super::verdict::{ErrorType, Judged};
use crate::text::complaint::Complaint;

pub(super) const PROFILE: Profile = Profile {
    word: "python",
    title: "Python",
    // Tasks of MBPP are named after it.
    aliases: &["py", "python3", "mbpp"],
    marks: &["def ", "assert ", "import ", ">>> ", "candidate(", "\"\"\"", "isinstance("],
    open: |_, _| Ok(Box::new(Python::find("python3".as_ref()))),
    bare: || Box::new(Python::find("python3".as_ref())),
    prose: |prompt, entry| Prose::in_python(prompt, entry),
    crates: |_| BTreeMap::new(),
    doubts: chance::warning,
};

/// The Python language with one interpreter.
#[derive(Clone)]
pub struct Python {
    found: Result<recipes::Python, Complaint>,
    /// What a box said of the interpreter, once one was asked.
    tried: Arc<OnceLock<Result<Interpreter, Complaint>>>,
    tasks: Arc<Mutex<BTreeMap<Digest, Arc<Known>>>>,
    /// Sessions that wait for their next batch.
    sessions: Arc<Mutex<Vec<TestSession>>>,
    warm: Arc<AtomicU64>,
}

/// An interpreter that judged a right answer as right and a wrong one as wrong, inside a box.
#[derive(Debug, Clone)]
struct Interpreter {
    python: recipes::Python,
    version: String,
}

impl Python {
    /// Finds the installation that a Python of the host belongs to. If there is none, every verdict says so.
    pub fn find(python: &OsStr) -> Python {
        let found = recipes::Python::find(python)
            .map_err(|error| Complaint::new(format!("`{}`: {error}", python.display())));
        Python {
            found,
            tried: Arc::default(),
            tasks: Arc::default(),
            sessions: Arc::default(),
            warm: Arc::default(),
        }
    }

    /// How many answers ran in an interpreter that was warm already, and needed no box of their own.
    pub fn warm_runs(&self) -> u64 {
        self.warm.load(Ordering::Relaxed)
    }

    /// The interpreter, tried once; otherwise why no answer can be judged.
    fn interpreter(&self, bench: &Bench) -> Result<&Interpreter, (ErrorType, Complaint)> {
        let found =
            self.found.as_ref().map_err(|reason| (ErrorType::InfraMissingToolchain, reason.clone()))?;
        let tried = self.tried.get_or_init(|| {
            let elsewhere = || try_out(&found.clone().at_its_own_place(), bench);
            try_out(found, bench).or_else(|why| elsewhere().map_err(|_| why))
        });
        tried.as_ref().map_err(|reason| (ErrorType::InfraToolchainBroken, reason.clone()))
    }

    fn known(&self, problem: &Problem) -> Arc<Known> {
        let texts = [
            problem.prompt.as_bytes(),
            problem.entry_point.as_deref().unwrap_or_default().as_bytes(),
            problem.test.as_bytes(),
            problem.canonical_solution.as_deref().unwrap_or_default().as_bytes(),
        ];
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(tasks.entry(Digest::of_parts(&texts)).or_default())
    }

    /// Judges answers one after the other, with one tests' box for all of them.
    fn judge_all(
        &self,
        bench: &Bench,
        items: &[(&Problem, &str)],
        warm: bool,
        tell: &mut dyn FnMut(usize, Judged),
    ) {
        let interpreter = match self.interpreter(bench) {
            Ok(interpreter) => interpreter,
            Err((error_type, why)) => {
                return (0..items.len()).for_each(|at| tell(at, Judged::refused(error_type, why.clone())));
            }
        };
        let waiting = || self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let mut session = waiting().pop().unwrap_or_else(|| TestSession::new(bench, &interpreter.python));
        session.allow_warm(if warm { 1 + items.len() / 4 } else { 0 });
        for (at, (problem, completion)) in items.iter().enumerate() {
            let judged = match untestable(problem) {
                Some(why) => Judged::refused(ErrorType::NoTests, why),
                None => session.judge(problem, &self.known(problem), completion),
            };
            tell(at, judged);
        }
        self.warm.fetch_add(session.take_warm_runs(), Ordering::Relaxed);
        if session.is_fresh() {
            waiting().push(session);
        }
    }
}

impl Language for Python {
    fn name(&self) -> &'static str {
        PROFILE.word
    }

    fn begins_a_line(&self) -> bool {
        true
    }

    fn prepare(&self, bench: &Bench) {
        // A broken interpreter is told with each verdict.
        let _ = self.interpreter(bench);
    }

    fn toolchains(&self) -> BTreeMap<String, String> {
        let version = match self.tried.get() {
            Some(Ok(interpreter)) => Some(interpreter.version.clone()),
            Some(Err(_)) => None,
            None => self.found.as_ref().ok().map(|python| python.version.clone()),
        };
        version.map(|version| ("python".to_owned(), version)).into_iter().collect()
    }

    fn conditions(&self) -> String {
        let programs =
            [programs::CANDIDATE, programs::CHECKER, programs::SHARED, programs::ZYGOTE].map(str::as_bytes);
        format!("python {} {:?} {:?}", Digest::of_parts(&programs), self.toolchains(), self.found)
    }

    fn task(&self, problem: &Problem) -> Box<dyn Task> {
        Box::new(PythonTask { python: self.clone(), problem: problem.clone() })
    }

    fn judge_together(&self, bench: &Bench, items: &[(&Problem, &str)], tell: &mut dyn FnMut(usize, Judged)) {
        // Where other processes could be seen, each candidate needs a box of its own.
        let warm = bench.sandbox().tier() == Tier::Strong && items.len() > 1;
        self.judge_all(bench, items, warm, tell);
    }
}

struct PythonTask {
    python: Python,
    problem: Problem,
}

impl Task for PythonTask {
    fn judge(&self, bench: &Bench, completion: &str) -> Judged {
        let mut verdict = None;
        self.python
            .judge_all(bench, &[(&self.problem, completion)], false, &mut |_, judged| verdict = Some(judged));
        verdict.unwrap_or_else(|| Judged::refused(ErrorType::InfraSandbox, "there is no verdict"))
    }
}

/// Why a task cannot be judged at all.
fn untestable(problem: &Problem) -> Option<&'static str> {
    // A text without any of these cannot fail.
    let checks = ["assert", "raise", "unittest"].iter().any(|word| problem.test.contains(word));
    match &problem.entry_point {
        None => Some("the task does not name its `entry_point`"),
        Some(_) if !checks => Some("the task has no test that does anything"),
        Some(_) => None,
    }
}

/// Asks an interpreter for its version inside a box, and has it judge a right and a wrong answer.
fn try_out(python: &recipes::Python, bench: &Bench) -> Result<Interpreter, Complaint> {
    const VERSION: &str = "import sys; print(sys.implementation.name, sys.version.replace(chr(10), ' ')); sys.exit(sys.version_info < (3, 8))";
    let asked = bench.test(python.run(["-S", "-c", VERSION]));
    let version = asked.stdout.text().trim().to_owned();
    match asked.status {
        Status::Ok if !version.is_empty() => {}
        Status::Exit(1) if !version.is_empty() => {
            return Err(Complaint::new(format!("`{version}` is too old: Python 3.8 or newer is needed")));
        }
        status => {
            let said = asked.stderr.text();
            return Err(Complaint::new(format!(
                "the interpreter does not start inside the sandbox ({}): {}",
                status.word(),
                said.trim()
            )));
        }
    }
    let task = Problem {
        prompt: "def double(value):\n    \"\"\" Twice the value. \"\"\"\n".to_owned(),
        entry_point: Some("double".to_owned()),
        test: "def check(candidate):\n    assert candidate(21) == 42\n".to_owned(),
        ..Problem::default()
    };
    let mut session = TestSession::new(bench, python);
    let [right, wrong] = ["    return 2 * value\n", "    return value\n"]
        .map(|completion| session.judge(&task, &Known::default(), completion));
    if right.passed() && wrong.error_type == Some(ErrorType::AssertionFailure) {
        return Ok(Interpreter { python: python.clone(), version });
    }
    let why = |judged: &Judged| judged.error.clone().unwrap_or_else(|| "it passed".to_owned());
    Err(Complaint::new(if right.passed() {
        format!("a wrong answer is not judged as wrong: {}", why(&wrong))
    } else {
        format!("a right answer does not pass: {}", why(&right))
    }))
}
