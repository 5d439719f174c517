//! Checkers: the tests of tasks as programs of their own, compiled once and kept for every completion of every model, and the
//! boxed process of one that tests completion after completion.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use proofhouse_sandbox::{Cancel, Outcome, Program, Spec, Status, Stream, hand_over, link, recipes};

use super::checks::Mode;
use super::compile::{Compiler, Emit};
use super::diagnostics;
use super::prepared::Prepared;
use super::program;
use super::signature::Signature;
use super::warm::{self, Warm};
use crate::kinds::code::bench::Bench;

/// A task's tests behind one signature.
#[derive(Clone)]
pub(super) enum Checker {
    /// The program, and the number of these tests in it.
    Ready(Arc<Program>, usize),
    /// The program, where the tests take something from the task's own solution that every answer has to define too.
    Lent(Arc<Program>),
    /// The program of rustc's own harness, for tests that nothing but the compiler can list, and their names.
    Harness(Arc<Program>, Arc<Vec<String>>),
    /// They do not compile: the compiler's first words, where it had any.
    Broken(String),
    /// Nothing is known: the box or the compiler failed.
    Unknown,
}

/// Everything that was compiled so far.
#[derive(Default)]
pub(super) struct Checkers {
    known: Mutex<BTreeMap<(String, String), Checker>>,
}

impl std::fmt::Debug for Checkers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkers").finish_non_exhaustive()
    }
}

impl Checkers {
    /// The checkers of these tasks, in their order; what is not there yet is compiled in one crate, and by itself where that fails.
    pub(super) fn of(&self, compiler: &Compiler<'_>, wanted: &[(&Prepared, &Signature)]) -> Vec<Checker> {
        let key = |(task, signature): &(&Prepared, &Signature)| (task.id.clone(), signature.key());
        let mut seen = BTreeSet::new();
        let missing: Vec<_> = wanted
            .iter()
            .filter(|each| self.known(&key(each)).is_none() && seen.insert(key(each)))
            .copied()
            .collect();
        if !self.build(compiler, &missing) && missing.len() > 1 {
            for one in missing {
                self.build(compiler, &[one]);
            }
        }
        wanted.iter().map(|each| self.known(&key(each)).unwrap_or(Checker::Unknown)).collect()
    }

    fn known(&self, key: &(String, String)) -> Option<Checker> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Compiles these together; `false` if that says nothing of them yet.
    fn build(&self, compiler: &Compiler<'_>, tasks: &[(&Prepared, &Signature)]) -> bool {
        if tasks.is_empty() {
            return true;
        }
        let is_harness = |(task, _): &(&Prepared, &Signature)| task.frame.checks.mode == Mode::Harness;
        if tasks.len() > 1 && tasks.iter().any(is_harness) {
            return false;
        }
        let harness = tasks.iter().any(is_harness);
        let emit = if harness { Emit::Harness } else { Emit::Program };
        let mut outcome = compiler.run(&program::checker(tasks, false), false, emit);
        let lent = tasks.len() == 1 && !harness && !tasks[0].0.lent.is_empty();
        let lent = lent && outcome.status == Status::Exit(1);
        if lent {
            let with = compiler.run(&program::checker(tasks, true), false, emit);
            outcome = if with.status == Status::Ok { with } else { outcome };
        }
        let found = outcome.collected.pop().and_then(|each| each.result.ok());
        let built: Vec<Checker> = match (&outcome.status, found) {
            (Status::Ok, Some(found)) if harness => {
                let program = compiler.bench.sandbox().program(found);
                let Some(names) = listed(compiler.bench, &program) else { return false };
                vec![Checker::Harness(Arc::new(program), Arc::new(names))]
            }
            (Status::Ok, Some(found)) if lent => {
                vec![Checker::Lent(Arc::new(compiler.bench.sandbox().program(found)))]
            }
            (Status::Ok, Some(found)) => {
                let program = Arc::new(compiler.bench.sandbox().program(found));
                (0..tasks.len()).map(|number| Checker::Ready(Arc::clone(&program), number)).collect()
            }
            (Status::Exit(1), _) if tasks.len() == 1 => {
                let told = diagnostics::read(&outcome.stderr.head, &|_| false);
                vec![Checker::Broken(
                    told.errors.first().map_or_else(String::new, |error| error.message.clone()),
                )]
            }
            _ => return false,
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for ((task, signature), checker) in tasks.iter().zip(built) {
            known.entry((task.id.clone(), signature.key())).or_insert(checker);
        }
        true
    }
}

/// How the tests of one completion ended.
pub(super) struct Tested {
    /// The lines of the report.
    pub(super) lines: String,
    pub(super) ending: Ending,
    /// What the tests said when they panicked.
    pub(super) said: String,
}

/// How the process of the tests ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// All tests were run.
    Done,
    /// The completion's program went away in the middle of a call.
    Gone,
    /// It sent what no value is made of.
    Garbled,
    /// It sent more than can be carried.
    TooLarge,
    /// The tests' own process ran out of time.
    Late,
    /// The tests' own process was ended by a signal, or ended itself.
    Died(i32),
    /// There is no report.
    Lost,
}

/// With this code the tests' process ends when it reads what no value is made of.
const GARBLED: i32 = 6;
/// And with this one when it is sent more than can be carried.
const TOO_LARGE: i32 = 9;
/// How long a report may take once the completion's program has ended.
const REPORT_WAIT: Duration = Duration::from_secs(10);

/// A checker at work, in a box of its own.
pub(super) struct Checking<'a> {
    bench: &'a Bench,
    harness: UnixStream,
    /// A report did not come: one that comes later would be taken for another completion's.
    lost: bool,
}

/// Starts a checker that tests at most so many completions, and ends it when the work is done. The last value is how its box ended.
pub(super) fn checking<T>(
    bench: &Bench,
    program: &Program,
    completions: usize,
    work: impl FnOnce(&mut Checking<'_>) -> T,
) -> std::io::Result<(T, Outcome)> {
    let (ours, theirs) = link()?;
    let cancel = Cancel::new()?;
    let mut spec: Spec = program.run([]).binds(recipes::libraries());
    let mut limits = bench.budgets().test;
    let times = u64::try_from(completions).unwrap_or(u64::MAX);
    limits.cpu_ms = limits.cpu_ms.saturating_mul(times);
    limits.wall_ms = limits.wall_ms.saturating_mul(times).saturating_add(REPORT_WAIT.as_millis() as u64);
    spec.limits = limits;
    spec.keep = crate::kinds::code::output::KEEP;
    std::thread::scope(|scope| {
        let box_it = || bench.sandbox().run_linked(&spec, theirs, Some(&cancel));
        let boxed = std::thread::Builder::new().spawn_scoped(scope, box_it)?;
        let harness = UnixStream::from(ours);
        harness.set_read_timeout(Some(REPORT_WAIT))?;
        let mut checking = Checking { bench, harness, lost: false };
        let done = work(&mut checking);
        // Closing our end is what ends a checker that is well; one that is not is called off.
        let well = checking.harness.shutdown(std::net::Shutdown::Write).is_ok();
        drop(checking);
        if !well {
            cancel.cancel();
        }
        let outcome = boxed.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((done, outcome))
    })
}

impl Checking<'_> {
    /// Tests one completion: its program answers the calls of the tests with this number.
    pub(super) fn test(&mut self, number: usize, candidate: Spec) -> std::io::Result<(Tested, Outcome)> {
        let (ours, theirs): (OwnedFd, OwnedFd) = link()?;
        self.begin(number, ours)?;
        let outcome = self.bench.test_linked(candidate, theirs);
        Ok((self.report().unwrap_or_else(Tested::lost), outcome))
    }

    /// Tests a completion of a program that stays, and gives what it said on standard error; `None` unless all of it ended plainly.
    pub(super) fn test_warm(
        &mut self,
        number: usize,
        warm: &mut Warm<'_>,
        completion: usize,
    ) -> Option<(Tested, Stream)> {
        let (ours, theirs): (OwnedFd, OwnedFd) = link().ok()?;
        warm.hand(completion, theirs)?;
        self.begin(number, ours).ok()?;
        self.harness.set_read_timeout(Some(warm::WALL)).ok()?;
        let tested = self.report();
        self.harness.set_read_timeout(Some(REPORT_WAIT)).ok()?;
        if tested.is_none() {
            // Without its completion the tests' process ends, and says so.
            warm.end();
            self.lost = false;
            self.report();
            return None;
        }
        let said = warm.ended();
        tested.filter(|tested| tested.ending == Ending::Done).zip(said)
    }

    /// Has the tests with this number ask whoever is at the other end.
    fn begin(&mut self, number: usize, end: OwnedFd) -> std::io::Result<()> {
        if self.lost {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        let seconds = self.bench.budgets().test.cpu_ms.div_ceil(1000) + 1;
        let message = [(number as u64).to_le_bytes(), seconds.to_le_bytes()].concat();
        self.lost = hand_over(&self.harness, &message, &end).is_err();
        Ok(())
    }

    fn report(&mut self) -> Option<Tested> {
        let report = if self.lost { None } else { self.read_report() };
        self.lost = report.is_none();
        report
    }

    fn read_report(&mut self) -> Option<Tested> {
        let mut head = [0; 12];
        self.harness.read_exact(&mut head).ok()?;
        let (length, status) = head.split_first_chunk::<8>()?;
        let length = u64::from_le_bytes(*length).checked_sub(4)?;
        let status = i32::from_le_bytes(status.try_into().ok()?);
        let mut text = Vec::new();
        (&mut self.harness).take(length).read_to_end(&mut text).ok()?;
        Some(Tested::of(status, &String::from_utf8_lossy(&text)))
    }
}

/// The names of the tests that rustc's own harness would run.
fn listed(bench: &Bench, program: &Program) -> Option<Vec<String>> {
    let list = |more: &[&str]| {
        let args = ["--list", "--format=terse"].iter().chain(more).map(|word| (*word).into());
        let outcome = bench.test(program.run(args).binds(recipes::libraries()));
        let name = |line: &str| line.strip_suffix(": test").map(short_name).map(str::to_owned);
        (outcome.status == Status::Ok)
            .then(|| outcome.stdout.text().lines().filter_map(name).collect::<Vec<_>>())
    };
    let ignored = list(&["--ignored"])?;
    Some(list(&[])?.into_iter().filter(|name| !ignored.contains(name)).collect())
}

fn short_name(name: &str) -> &str {
    name.trim_start_matches("m0::__proofhouse_tests::")
}

/// Tests one completion under rustc's own harness. What it prints can hold anything that a test prints, so that it says only which
/// tests failed; that none did is told by how it ends, and which there are was known before.
pub(super) fn under_harness(
    bench: &Bench,
    program: &Program,
    names: &[String],
    candidate: Spec,
) -> std::io::Result<(Tested, Outcome)> {
    const GONE: i32 = 8;
    const FAILED: i32 = 101;
    let (ours, theirs) = link()?;
    let args = ["--test-threads=1", "--color=never"];
    let spec = program.run(args.map(Into::into)).binds(recipes::libraries());
    std::thread::scope(|scope| {
        let tests = scope.spawn(|| bench.test_linked(spec, ours));
        let candidate = bench.test_linked(candidate, theirs);
        let tests = tests.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let stdout = tests.stdout.text();
        let ending = match tests.status {
            Status::Ok | Status::Exit(FAILED) => Ending::Done,
            Status::Exit(GONE) => Ending::Gone,
            Status::Exit(GARBLED) => Ending::Garbled,
            Status::Exit(TOO_LARGE) => Ending::TooLarge,
            Status::CpuLimit | Status::WallLimit => Ending::Late,
            Status::Signal(signal) => Ending::Died(signal),
            _ => Ending::Lost,
        };
        let lines = harness_lines(&stdout, names, tests.status == Status::Ok);
        Ok((Tested { lines, ending, said: crate::kinds::code::output::normal(&stdout) }, candidate))
    })
}

/// The report of rustc's own harness in the words of ours.
fn harness_lines(stdout: &str, names: &[String], all_ok: bool) -> String {
    let panics = panics(stdout);
    let failed = |name: &str| {
        stdout.lines().any(|line| {
            let told = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"));
            told.map(|told| short_name(told.strip_suffix(" - should panic").unwrap_or(told))) == Some(name)
        })
    };
    let mut lines = String::new();
    let mut any = false;
    for name in names {
        if all_ok || !failed(name) {
            lines.push_str(&format!("ok\t{name}\t\t0\t0\t\n"));
        } else {
            any = true;
            let place = panics
                .iter()
                .find(|(thread, _)| thread.ends_with(name.as_str()))
                .map(|(_, place)| place.as_str());
            lines.push_str(&format!("failed\t{name}\t{}\n", place.unwrap_or("\t0\t0\t")));
        }
    }
    // It says that something failed, and what a test printed has hidden what: then nothing is known to be ok.
    if all_ok || any { lines } else { lines.replace("ok\t", "failed\t") }
}

/// The panics that were told: the thread, and file, line, column and message as a report has them.
fn panics(said: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let text = crate::kinds::code::output::normal(said);
    for piece in text.split("thread '").skip(1) {
        let Some((thread, rest)) = piece.split_once("' panicked at ") else { continue };
        let Some((place, message)) = rest.split_once(":\n") else { continue };
        let mut parts = place.rsplitn(3, ':');
        let (Some(column), Some(line), Some(file)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let file = file.strip_prefix("m0/").unwrap_or(file);
        let message = message.split("\nnote: run with").next().unwrap_or_default();
        let message = message.split("\n\n").next().unwrap_or_default().trim_end();
        let hex: String = message.bytes().take(4096).map(|byte| format!("{byte:02x}")).collect();
        found.push((thread.to_owned(), format!("{file}\t{line}\t{column}\t{hex}")));
    }
    found
}

impl Tested {
    fn lost() -> Tested {
        Tested { lines: String::new(), ending: Ending::Lost, said: String::new() }
    }

    /// Reads what a checker tells of one completion: how its process ended, and what that had to say.
    fn of(status: i32, text: &str) -> Tested {
        const CPU: i32 = 24;
        const KILL: i32 = 9;
        let word = |word: &str| {
            let at = if text.starts_with(&format!("{word}\n")) {
                0
            } else {
                text.find(&format!("\n{word}\n"))? + 1
            };
            Some((text[..at].to_owned(), text[at + word.len() + 1..].to_owned()))
        };
        let (signal, code) = (status & 0x7f, (status >> 8) & 0xff);
        let (ending, found) = match (word("done"), word("gone")) {
            (Some(found), _) => (Ending::Done, Some(found)),
            (None, Some(found)) => (Ending::Gone, Some(found)),
            _ if signal == CPU || signal == KILL => (Ending::Late, None),
            _ if signal != 0 => (Ending::Died(signal), None),
            _ if code == GARBLED => (Ending::Garbled, None),
            _ if code == TOO_LARGE => (Ending::TooLarge, None),
            _ => (Ending::Lost, None),
        };
        let (lines, said) = found.unwrap_or_default();
        Tested { lines, ending, said }
    }
}
