//! Who judges one answer: a tests' box that stays, and for each answer a candidate, warm or in a box of its own.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use proofhouse_sandbox::{Limits, Outcome, Sandbox, Spec, Status, link, recipes};
use serde_json::{Value, json};

use super::doubt::Doubt;
use super::known::{Known, Profile, Sites, Solution};
use super::said::{self, Said};
use super::{modules, programs};
use crate::kinds::code::bench::Bench;
use crate::kinds::code::boxes::{Running, frame};
use crate::kinds::code::dice::Dice;
use crate::kinds::code::output;
use crate::kinds::code::problem::Problem;
use crate::kinds::code::verdict::{Border, Judged};

// The budgets of answers are CPU time, which a busy machine does not change. The spans here are wall clock, and only keep us from waiting
// for a box that hangs: none of them decides a verdict by itself.

/// How long a box of ours may take beyond the budget of what runs in it.
const GRACE: Duration = Duration::from_secs(5);
/// How long a candidate that was asked to end may take.
const LAST_WAIT: Duration = Duration::from_millis(500);
/// CPU seconds and wall seconds of an answer that is judged warm: what needs more is judged alone, with its whole budget.
const WARM_CPU_S: u64 = 2;
const WARM_WALL_S: u64 = 6;

/// How often wrong expectations are tried at least, where there are any, and right ones again: who only knows how many runs there
/// were before has to find four among eight.
const FEWEST: usize = 4;
pub(super) const AGAIN: usize = 4;

/// No run takes longer.
const LONGEST_MS: u64 = 7 * 24 * 3600 * 1000;

/// A tests' box, and the means to run candidates. Its boxes stay from one batch to the next.
pub(super) struct TestSession {
    sandbox: Arc<Sandbox>,
    limits: Limits,
    python: recipes::Python,
    checker: Option<Running>,
    zygote: Option<Running>,
    /// How many warm boxes may still be started.
    zygotes: usize,
    /// How many candidates there were.
    judged: u32,
    /// How many of them were warm and left no doubt.
    warm_runs: u64,
    /// In which order an answer meets right and wrong expectations.
    pub(super) dice: Dice,
}

/// After this many candidates its boxes are replaced, so that nothing piles up in them.
const MOST: u32 = 2000;

impl TestSession {
    /// A session without any box yet.
    pub(super) fn new(bench: &Bench, python: &recipes::Python) -> TestSession {
        TestSession {
            sandbox: bench.shared_sandbox(),
            limits: bench.budgets().test,
            python: python.clone(),
            checker: None,
            zygote: None,
            zygotes: 0,
            judged: 0,
            warm_runs: 0,
            dice: Dice::of(&bench.secret()),
        }
    }

    /// Whether it may go on with another batch.
    pub(super) fn is_fresh(&self) -> bool {
        self.judged < MOST
    }

    /// Allows this batch so many warm boxes: one, and some in place of those that answers bring down. None at all where
    /// candidates need a box each.
    pub(super) fn allow_warm(&mut self, boxes: usize) {
        self.zygotes = boxes;
        if boxes == 0 {
            self.zygote = None;
        }
    }

    /// How many warm runs there were since this was last asked.
    pub(super) fn take_warm_runs(&mut self) -> u64 {
        std::mem::take(&mut self.warm_runs)
    }

    /// Judges one answer.
    pub(super) fn judge(&mut self, problem: &Problem, known: &Known, completion: &str) -> Judged {
        let learns = problem.canonical_solution.is_some();
        let first = match (known.solution.get(), learns) {
            (Some(solution), _) => Profile::Only(&solution.sites),
            (None, true) => Profile::Ask,
            (None, false) => Profile::None,
        };
        // Most answers pass or fail on plain values alone. Only one that offers the tests objects of its own is held to the places
        // where the task's solution does the same, and only then is that solution run (`profile`).
        let (mut said, mut status) = self.run(problem, completion, &first);
        if said.word == "profile" {
            let solution = self.learn(problem, known).clone();
            (said, status) = self.run(problem, completion, &Profile::Only(&solution.sites));
        }
        if said.passed() && said.mutates && !(learns && self.learn(problem, known).mutates) {
            // What it made of its arguments must not be what makes the tests pass. It is run again with its changes kept from the tests,
            // and not refused: most answers that sort or pop from an argument are right all the same.
            let sites = learns.then(|| self.learn(problem, known).sites.clone());
            (said, status) = self.run_frozen(problem, completion, sites.as_ref());
        }
        if said.passed() && !said.doubts.is_empty() {
            let sites = known.solution.get().map(|solution| solution.sites.clone());
            let right = sites.as_ref().map_or(Profile::None, Profile::Only);
            match self.doubted(problem, known, completion, &said.doubts, &right) {
                Doubt::Unmoved => said = Said::unmoved(),
                Doubt::Failed(failed, how) => (said, status) = (*failed, how),
                Doubt::Moved | Doubt::Open => {}
            }
        } else if said.refused
            && said.may_need_more()
            && let Some(convinced) = self.convinces(problem, known, completion)
        {
            (said, status) = convinced;
        }
        let reasons = || said.has_reasons() || said.runs_answer();
        let more = said.may_need_more()
            && if learns { self.learn(problem, known).needs_one_process } else { reasons() };
        if more {
            let decoys = known.solution.get().map(|solution| solution.decoys.clone());
            if let Some(judged) = self.judge_shared(problem, decoys, completion) {
                return judged;
            }
        }
        said::decide(&said, status.as_ref(), Border::Separate, completion)
    }

    /// Judges an answer in one process with its tests. There it could make them pass: so it has to fail wrong ones. Where there are
    /// none, and no solution, a pass says nothing.
    fn judge_shared(
        &mut self,
        problem: &Problem,
        decoys: Option<Vec<u64>>,
        completion: &str,
    ) -> Option<Judged> {
        let (mut said, mut status) = self.run_shared(problem, completion, 0);
        if said.passed() {
            if decoys.is_none() && said.checks == 0 {
                return None;
            }
            let decoys = decoys.unwrap_or_else(|| spread(said.checks));
            // Few of them are tried more than once, and the real ones again, in an order that nobody can foresee: who draws lots
            // between the two, or counts the runs, has no luck for long.
            let count = decoys.len().max(FEWEST);
            if decoys.is_empty() {
                said = Said::unproved();
            }
            let mut turns: Vec<u64> = decoys.into_iter().cycle().take(count).collect();
            turns.extend([0; AGAIN]);
            self.dice.shuffle(&mut turns);
            for decoy in turns {
                if !said.passed() {
                    break;
                }
                match self.run_shared(problem, completion, decoy) {
                    again if decoy == 0 => (said, status) = again,
                    (again, _) if again.passed() => said = Said::unmoved(),
                    _ => {}
                }
            }
        }
        Some(said::decide(&said, status.as_ref(), Border::Shared, completion))
    }

    /// What the task's own solution shows. It is never decided from an answer: a forger would buy the weaker way.
    pub(super) fn learn<'k>(&mut self, problem: &Problem, known: &'k Known) -> &'k Solution {
        if let Some(solution) = known.solution.get() {
            return solution;
        }
        let text = problem.canonical_solution.clone().unwrap_or_default();
        let (said, _) = self.run(problem, &text, &Profile::Record);
        let (mut needs_one_process, mut decoys) = (false, Vec::new());
        if !said.passed() {
            let (alone, _) = self.run_shared(problem, &text, 0);
            needs_one_process = alone.passed();
            if needs_one_process {
                decoys = spread(alone.checks);
                decoys.retain(|decoy| self.run_shared(problem, &text, *decoy).0.fails_these(&problem.test));
            }
        }
        // Where it passes without its changes, so has an answer to.
        let mutates =
            said.mutates && !(said.passed() && self.run_frozen(problem, &text, Some(&said.sites)).0.passed());
        known.solution.get_or_init(|| Solution { sites: said.sites, mutates, needs_one_process, decoys })
    }

    /// Runs an answer whose changes of what it is given do not reach the tests. An object that it changes and returns is its
    /// copy, or the tests' own: which of the two they look for, they alone know.
    fn run_frozen(
        &mut self,
        problem: &Problem,
        completion: &str,
        sites: Option<&Sites>,
    ) -> (Said, Option<Status>) {
        let (said, status) = self.run(problem, completion, &Profile::Frozen(sites, "copies"));
        if said.passed() {
            return (said, status);
        }
        let (again, status_again) = self.run(problem, completion, &Profile::Frozen(sites, "originals"));
        if again.passed() { (again, status_again) } else { (said, status) }
    }

    /// Runs an answer across the border: warm if it can be, alone if that leaves any doubt.
    pub(super) fn run(
        &mut self,
        problem: &Problem,
        completion: &str,
        profile: &Profile<'_>,
    ) -> (Said, Option<Status>) {
        self.judged += 1;
        if self.zygotes > 0 || self.zygote.is_some() {
            match self.run_warm(problem, completion, profile) {
                Some(said) if said.is_plain() => {
                    self.warm_runs += 1;
                    return (said, None);
                }
                _ => {}
            }
        }
        self.run_cold(problem, completion, profile)
    }

    fn run_warm(&mut self, problem: &Problem, completion: &str, profile: &Profile<'_>) -> Option<Said> {
        if self.zygote.is_none() {
            self.zygotes = self.zygotes.saturating_sub(1);
            self.zygote = self.start_zygote();
        }
        let job = warm_job(self.limits)?;
        let (ours, theirs) = link().ok()?;
        let zygote = self.zygote.as_ref()?;
        let given = zygote.hand(&job, &theirs).and_then(|()| {
            drop(theirs);
            load(ours, problem, completion)
        });
        let said = match given {
            Ok(ours) => self.check(problem, profile, ours, Duration::from_secs(WARM_WALL_S) + GRACE),
            Err(_) => Said::nothing(),
        };
        let zygote = self.zygote.as_mut()?;
        let done = zygote.send(&json!({}), GRACE).is_ok();
        let ended: Option<Value> =
            if done { zygote.read(Duration::from_secs(WARM_WALL_S) + GRACE) } else { None };
        let Some(ended) = ended else {
            if let Some(zygote) = self.zygote.take() {
                zygote.end(Duration::ZERO);
            }
            return Some(said);
        };
        // Its own limits are coarse: what comes near the budget is measured in a box of its own.
        let near = ended["cpu_ms"].as_u64().is_none_or(|used| used > self.limits.cpu_ms / 2);
        if near { None } else { Some(said) }
    }

    /// Runs an answer in a box of its own.
    fn run_cold(
        &mut self,
        problem: &Problem,
        completion: &str,
        profile: &Profile<'_>,
    ) -> (Said, Option<Status>) {
        let spec = self.spec(programs::CANDIDATE, self.limits);
        let started = Running::start("python", &self.sandbox, spec).and_then(Running::give_link);
        let (ours, ending) = match started {
            Ok(started) => started,
            Err(error) => return broken(&error),
        };
        let wait = Duration::from_millis(self.limits.wall_ms) + GRACE;
        // A candidate that cannot even be started closes the link: its box says why.
        let said = match load(ours, problem, completion) {
            Ok(ours) => self.check(problem, profile, ours, wait),
            Err(_) => Said::word("gone"),
        };
        let died = said.word == "gone" || said.word == "nothing";
        let outcome = ending.within(if died { GRACE } else { LAST_WAIT });
        (said, outcome.map(|outcome| outcome.status))
    }

    /// Runs an answer in one process with its tests, of whose expectations one is wrong, counted from 1, or none.
    fn run_shared(&mut self, problem: &Problem, completion: &str, decoy: u64) -> (Said, Option<Status>) {
        let finished = match self.finish(problem, decoy) {
            Ok(finished) => finished,
            Err(said) => return (*said, None),
        };
        let spec = self.spec(programs::SHARED, self.limits);
        let mut running = match Running::start("python", &self.sandbox, spec) {
            Ok(running) => running,
            Err(error) => return broken(&error),
        };
        let mut task = task_of(problem, completion);
        task["code"] = finished["code"].clone();
        task["itself"] = finished["itself"].clone();
        let wait = Duration::from_millis(self.limits.wall_ms) + GRACE;
        let said = running.send(&task, GRACE).ok().and_then(|()| running.read(wait));
        let mut said: Said = said.unwrap_or_else(|| Said::word("gone"));
        said.checks = finished["checks"].as_u64().unwrap_or_default();
        // The program reports once and ends: whoever wrote before it reported for it.
        if said.passed() && running.read::<Value>(LAST_WAIT).is_some() {
            said = Said::twice();
        }
        let outcome = running.end(if said.word == "gone" { GRACE } else { LAST_WAIT });
        (said, outcome.map(|outcome| outcome.status))
    }

    /// Has the tests' box make the tests ready for one process: there nothing is to tell which expectation is wrong, if one is.
    fn finish(&mut self, problem: &Problem, decoy: u64) -> Result<Value, Box<Said>> {
        if self.checker.is_none() {
            self.checker = self.start_checker().ok();
        }
        let Some(checker) = self.checker.as_mut() else {
            return Err(Box::new(Said::broken("a box for the tests could not be started")));
        };
        let learns = problem.canonical_solution.is_some();
        let job = json!({"k": "finish", "test": problem.test, "entry": problem.entry_point, "decoy": decoy, "learns": learns});
        let wait = Duration::from_millis(self.limits.wall_ms) + GRACE;
        let finished = checker.send(&job, GRACE).ok().and_then(|()| checker.read(wait));
        finished.ok_or_else(|| {
            let outcome = self.checker.take().and_then(|checker| checker.end(LAST_WAIT));
            Box::new(nothing_from(outcome.as_ref()))
        })
    }

    /// Has the tests' box judge whoever is at the other end of this link.
    fn check(&mut self, problem: &Problem, profile: &Profile<'_>, link: OwnedFd, wait: Duration) -> Said {
        if self.checker.is_none() {
            self.checker = self.start_checker().ok();
        }
        let mut task = task(problem);
        task["profile"] = profile.json();
        task["frozen"] = profile.frozen().into();
        task["trust"] = profile.trusts().into();
        task["decoy"] = json!(profile.decoy());
        task["canonical"] = problem.canonical_solution.as_deref().into();
        task["cpu_s"] = self.limits.cpu_ms.div_ceil(1000).into();
        let Some(checker) = self.checker.as_mut() else {
            return Said::broken("a box for the tests could not be started");
        };
        let handed = checker.hand(&task, &link).is_ok();
        drop(link);
        let said = if handed { checker.read(wait) } else { None };
        said.unwrap_or_else(|| {
            // It is stuck or gone, and with it what it knew of this answer.
            let outcome = self.checker.take().and_then(|checker| checker.end(LAST_WAIT));
            nothing_from(outcome.as_ref())
        })
    }

    fn start_checker(&self) -> io::Result<Running> {
        let spec = self.spec(programs::CHECKER, self.lasting());
        Running::start("python", &self.sandbox, spec)
    }

    fn start_zygote(&self) -> Option<Running> {
        // Never more memory than a box of its own has.
        let limits = Limits { memory_bytes: self.limits.memory_bytes, ..self.lasting() };
        let spec = self.spec(programs::ZYGOTE, limits).as_zygote();
        let mut running = Running::start("python", &self.sandbox, spec).ok()?;
        // A fork of the zygote shuts itself in by Landlock. Where the kernel has none, one answer could reach what another left, so
        // each gets a box of its own.
        let hello: Option<Value> = running.read(GRACE * 6);
        let has_landlock = hello.is_some_and(|hello| hello["landlock"].as_i64().is_some_and(|abi| abi >= 1));
        if has_landlock { Some(running) } else { None }
    }

    /// The limits of a box that stays: those of one answer for what happens at one time, and time for all of them.
    fn lasting(&self) -> Limits {
        Limits {
            cpu_ms: self.limits.cpu_ms.saturating_mul(u64::from(MOST)),
            wall_ms: LONGEST_MS,
            memory_bytes: self.limits.memory_bytes.saturating_add(256 << 20),
            ..self.limits
        }
    }

    fn spec(&self, program: &str, limits: Limits) -> Spec {
        let mut spec = self.python.script("main.py").file("main.py", program).as_program();
        spec.limits = limits;
        spec.keep = output::KEEP;
        spec
    }
}

/// Some of so many, first and last among them.
fn spread(count: u64) -> Vec<u64> {
    const MOST: u64 = 8;
    let some = count.min(MOST);
    (0..some).map(|at| if some == 1 { 1 } else { 1 + at * (count - 1) / (some - 1) }).collect()
}

/// What it means that the tests' box said nothing: it is stuck, or it ended.
fn nothing_from(outcome: Option<&Outcome>) -> Said {
    match outcome {
        None => Said::nothing(),
        Some(Outcome { status: Status::MemoryLimit, .. }) => Said::word("checker"),
        Some(outcome) => {
            let said = outcome.stderr.text();
            let last = said.trim().lines().last().unwrap_or_default();
            Said::broken(&format!("the tests' box ended ({}): {last}", outcome.status.word()))
        }
    }
}

fn broken(error: &io::Error) -> (Said, Option<Status>) {
    let infra = proofhouse_sandbox::Infra::Setup {
        step: "link two boxes".to_owned(),
        errno: error.raw_os_error().unwrap_or_default(),
    };
    (Said::word("gone"), Some(Status::InfraError(infra)))
}

/// What a task is, for either side; only the tests' side gets the tests.
fn task(problem: &Problem) -> Value {
    json!({
        "k": "task",
        "prompt": problem.prompt,
        "entry": problem.entry_point,
        "test": problem.test,
        "output": mentions(&problem.test, &["stdout", "stderr", "print", "capsys", "capfd"]),
        "warnings": mentions(&problem.test, &["warn"]),
        "files": mentions(&problem.test, &["open(", "tempfile", "pathlib", "os.", "shutil"]),
    })
}

fn mentions(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// What a process with an answer in it is told: no test.
fn task_of(problem: &Problem, completion: &str) -> Value {
    let mut task = task(problem);
    if let Some(fields) = task.as_object_mut() {
        fields.remove("test");
        fields.insert("completion".to_owned(), completion.into());
        fields.insert("packages".to_owned(), modules::named_in(completion).into());
    }
    task
}

/// Gives an answer to the candidate at the other end, which is all that the candidate ever gets, and returns our end.
fn load(ours: OwnedFd, problem: &Problem, completion: &str) -> io::Result<OwnedFd> {
    let task = task_of(problem, completion);
    let mut stream = std::os::unix::net::UnixStream::from(ours);
    stream.set_write_timeout(Some(GRACE))?;
    io::Write::write_all(&mut stream, &frame(&task))?;
    Ok(stream.into())
}

/// What a warm box needs to know to fork a candidate that closes itself.
#[cfg(target_os = "linux")]
fn warm_job(limits: Limits) -> Option<Value> {
    static FILTER: OnceLock<Option<proofhouse_sandbox::LoneFilter>> = OnceLock::new();
    let filter = FILTER.get_or_init(proofhouse_sandbox::lone_filter).as_ref()?;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Some(json!({
        "limits": [["RLIMIT_CPU", WARM_CPU_S], ["RLIMIT_FSIZE", limits.file_bytes]],
        "filter": hex(&filter.steps),
        "own": hex(&filter.own),
        "wall_s": WARM_WALL_S,
    }))
}

#[cfg(not(target_os = "linux"))]
fn warm_job(_: Limits) -> Option<Value> {
    None
}
