//! Many completions in one crate: one compilation, one checker that tests them one after the other, and a boxed program of its
//! own for each. A member that is in any doubt gets no verdict here and is judged alone, so that what is said of it never depends
//! on its neighbours.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use proofhouse_sandbox::{Program, Status};

use super::assemble::{Assembled, Reading, assemble};
use super::checker::{Checker, Checking, Tested, checking};
use super::compile::{Compiler, Emit};
use super::diagnostics::{self, CompilerReport};
use super::prepared::{Prepared, Way};
use super::screen::{Screened, screen};
use super::signature::Signature;
use super::tested::{self, Candidate};
use super::warm::Warm;
use super::{Clippy, Rust, judge as alone, program, rescue};
use crate::kinds::code::bench::Bench;
use crate::kinds::code::output;
use crate::kinds::code::problem::Problem;
use crate::kinds::code::verdict::{ErrorType, Judged};

/// How often a crate is compiled again without the members that an error named.
const MAX_ROUNDS: usize = 4;
/// Fewer members than this are not divided further: each is judged alone.
const MIN_DIVIDED: usize = 8;
/// Members of each part of a crate that took more than a compiler may use: halving it would pay that price too often.
const SMALL: usize = 16;

/// One member of a crate.
struct Member {
    /// Its place among the items that were given.
    at: usize,
    task: Arc<Prepared>,
    assembled: Assembled,
    screened: Screened,
    signature: Signature,
}

/// Judges what can be judged together; `tell` gets the place and the verdict of each as soon as it is known.
pub(super) fn judge(
    rust: &Rust,
    bench: &Bench,
    items: &[(&Problem, &str)],
    tell: &mut dyn FnMut(usize, Judged),
) {
    let Ok(toolchain) = &rust.toolchain else { return };
    if rust.unsound(bench).is_some() || (rust.clippy == Clippy::Required && !toolchain.has_clippy()) {
        return;
    }
    let compiler = Compiler { rust, toolchain, bench };
    let eligible = items
        .iter()
        .enumerate()
        .filter_map(|(at, (problem, completion))| eligible(at, rust.prepared(problem), completion));
    // What is behind in the list comes first.
    let mut parts: Vec<Vec<Member>> = vec![eligible.collect()];
    while let Some(part) = parts.pop() {
        let doubtful = judge_part(&compiler, part, tell);
        let divided = doubtful.divided();
        if !divided.is_empty() {
            tracing::info!(
                parts = divided.len(),
                "batch divided: the compiler did not say whose fault it is"
            );
        }
        parts.extend(divided.into_iter().rev());
    }
}

/// Members of which nothing is known, because of one that no error names.
enum Doubtful {
    None,
    /// The compiler could not say whose fault it is.
    Unclear(Vec<Member>),
    /// It was stopped: it had used what it may use.
    Stopped(Vec<Member>),
}

impl Doubtful {
    /// The parts that are tried next, in their order.
    fn divided(self) -> Vec<Vec<Member>> {
        let (mut members, size) = match self {
            Doubtful::None => return Vec::new(),
            Doubtful::Unclear(members) => {
                let half = members.len().div_ceil(2);
                (members, half)
            }
            Doubtful::Stopped(members) => (members, SMALL),
        };
        if members.len() <= size || members.len() < MIN_DIVIDED {
            return Vec::new();
        }
        let mut parts = Vec::new();
        while members.len() > size {
            let rest = members.split_off(size);
            parts.push(std::mem::replace(&mut members, rest));
        }
        parts.push(members);
        parts
    }
}

/// Judges members of one crate; who is neither told of nor given back is judged alone.
fn judge_part(
    compiler: &Compiler<'_>,
    mut members: Vec<Member>,
    tell: &mut dyn FnMut(usize, Judged),
) -> Doubtful {
    for _ in 0..MAX_ROUNDS {
        if members.len() < 2 {
            return Doubtful::None;
        }
        match compile(compiler, &members) {
            Compiled::Program(program, told) => {
                let batch = Crate { compiler, members: &members, program: &program, told: &told };
                let groups = batch.ready(tell);
                // Who does not end plainly comes last, so that nobody waits for who takes long.
                let (failed, doubtful) = batch.test_warm(groups, tell);
                settle(compiler, failed, tell);
                batch.test_alone(doubtful, &mut |member, judged| match rescue::concerns(&judged) {
                    true => settle(compiler, vec![(member, judged)], tell),
                    false => tell(member.at, judged),
                });
                return Doubtful::None;
            }
            Compiled::Named(named) if !named.is_empty() => {
                let mut number = 0;
                members.retain(|member| {
                    let told = named.get(&number);
                    number += 1;
                    if let Some(Some(told)) = told {
                        tell(member.at, rejected(member, told.clone()));
                    }
                    told.is_none()
                });
            }
            Compiled::Named(_) | Compiled::Unclear => return Doubtful::Unclear(members),
            Compiled::Stopped => return Doubtful::Stopped(members),
        }
    }
    Doubtful::Unclear(members)
}

/// A completion that cannot reach or notice its neighbours.
fn eligible(at: usize, task: Arc<Prepared>, completion: &str) -> Option<Member> {
    let assembled = assemble(&task.frame, completion)?;
    member(at, task, assembled)
}

fn member(at: usize, task: Arc<Prepared>, assembled: Assembled) -> Option<Member> {
    let screened = screen(&task.frame, &assembled);
    let plain = !screened.unreadable
        && !screened.at_root
        && !screened.has_unsafe
        && !screened.notices_its_place
        && screened.missing_crates.is_empty()
        && assembled.reading != Reading::AsIs
        && !task.frame.checks.names.is_empty();
    match task.way(&assembled) {
        Way::Border(signature) if plain && !signature.shows_its_error() => {
            Some(Member { at, task, assembled, screened, signature })
        }
        _ => None,
    }
}

enum Compiled {
    Program(Program, Vec<CompilerReport>),
    /// These members, by their numbers, have errors of their own; who has no neighbour's part in them is told what they are.
    Named(BTreeMap<usize, Option<CompilerReport>>),
    Unclear,
    /// The compiler had used all that it may use.
    Stopped,
}

fn compile(compiler: &Compiler<'_>, members: &[Member]) -> Compiled {
    let lints = compiler.rust.clippy != Clippy::Off && compiler.toolchain.has_clippy();
    let pairs: Vec<_> = members.iter().map(|member| (&member.assembled, &member.signature)).collect();
    let mut outcome = compiler.run(&program::many(&pairs), lints, Emit::Program);
    let stderr = std::mem::take(&mut outcome.stderr.head);
    tracing::info!(members = members.len(), status = ?outcome.status, wall_ms = outcome.usage.wall_ms, "batch compiled");
    let found = outcome.collected.pop().and_then(|each| each.result.ok());
    match (&outcome.status, found) {
        (Status::Ok, Some(found)) => {
            let told = members.iter().enumerate().map(|(number, member)| {
                diagnostics::read_member(&stderr, number, &|at| member.assembled.is_own(at))
            });
            Compiled::Program(compiler.bench.sandbox().program(found), told.collect())
        }
        (Status::Exit(1), _) => match diagnostics::members_in_error(&stderr) {
            Some(numbers) if !numbers.is_empty() => {
                let told = |number: usize| (number, diagnostics::rejected_member(&stderr, number));
                Compiled::Named(numbers.into_iter().map(told).collect())
            }
            _ => Compiled::Unclear,
        },
        (Status::CpuLimit | Status::WallLimit | Status::MemoryLimit, _) => Compiled::Stopped,
        _ => Compiled::Unclear,
    }
}

/// A member that does not compile, with what the compiler has against it.
fn rejected(member: &Member, told: CompilerReport) -> Judged {
    let mut judged = alone::begun(&member.assembled, &member.screened);
    let error = told.errors.iter().find(|error| error.file.is_some()).map(|error| error.message.clone());
    judged.compile_ok = Some(false);
    judged.stderr = output::of_text(&told.rendered);
    judged.diagnostics.errors = told.errors;
    alone::ended(judged, ErrorType::CompileError, error.unwrap_or_default())
}

/// One member that is ready to be tested: its number in the crate, and that of its tests in the checker.
type Ready<'a> = (usize, &'a Member, usize);
/// Members by the program that tests them.
type Groups<'a> = Vec<(Arc<Program>, Vec<Ready<'a>>)>;
/// Members that failed in a way that the border could be behind.
type Failed<'a> = Vec<(&'a Member, Judged)>;

/// Members that were compiled together.
struct Crate<'a> {
    compiler: &'a Compiler<'a>,
    members: &'a [Member],
    program: &'a Program,
    /// What the linter has to say of each.
    told: &'a [CompilerReport],
}

impl<'a> Crate<'a> {
    /// Finds everybody's tests; who is refused by the linter is told of.
    fn ready(&self, tell: &mut dyn FnMut(usize, Judged)) -> Groups<'a> {
        let compiler = self.compiler;
        let required = compiler.rust.clippy == Clippy::Required;
        let rejected = |number: usize| required && !self.told[number].lints.is_empty();
        for (number, member) in self.members.iter().enumerate().filter(|(number, _)| rejected(*number)) {
            tell(member.at, alone::lint_failure(self.begun(number)));
        }
        let wanted: Vec<_> = self.members.iter().map(|member| (&*member.task, &member.signature)).collect();
        let checkers = compiler.rust.checkers.of(compiler, &wanted);
        let mut groups: BTreeMap<*const Program, (Arc<Program>, Vec<Ready<'a>>)> = BTreeMap::new();
        for ((number, member), checker) in self.members.iter().enumerate().zip(checkers) {
            if let Checker::Ready(tests, at) = checker
                && !rejected(number)
            {
                let group = groups.entry(Arc::as_ptr(&tests)).or_insert_with(|| (tests, Vec::new()));
                group.1.push((number, member, at));
            }
        }
        groups.into_values().collect()
    }

    fn begun(&self, number: usize) -> Judged {
        let (member, told) = (&self.members[number], &self.told[number]);
        let lints = self.compiler.rust.clippy != Clippy::Off && self.compiler.toolchain.has_clippy();
        let mut judged = Judged {
            compile_ok: Some(true),
            clippy_ok: lints.then_some(told.lints.is_empty()),
            ..alone::begun(&member.assembled, &member.screened)
        };
        judged.diagnostics.lints = told.lints.clone();
        judged
    }

    fn judged<'c>(&self, number: usize, report: Tested, candidate: impl Into<Candidate<'c>>) -> Judged {
        let names = &self.members[number].task.frame.checks.names;
        tested::judge(self.begun(number), names, report, candidate, None)
    }

    /// Tests members in forks of one box; gives back who failed, and who did not end plainly.
    fn test_warm(&self, groups: Groups<'a>, tell: &mut dyn FnMut(usize, Judged)) -> (Failed<'a>, Groups<'a>) {
        let count = groups.iter().map(|(_, ready)| ready.len()).sum();
        let mut warm = Warm::new(self.compiler.bench, self.program, count);
        let (mut failed, mut left) = (Vec::new(), Vec::new());
        for (tests, ready) in groups {
            let mut doubtful = Vec::new();
            let mut work = |checking: &mut Checking<'_>| {
                for (number, member, at) in &ready {
                    let Some((report, stderr)) = checking.test_warm(*at, &mut warm, *number) else {
                        doubtful.push((*number, *member, *at));
                        continue;
                    };
                    let candidate = Candidate { status: &Status::Ok, stderr: &stderr };
                    self.compiler.rust.warm.fetch_add(1, Ordering::Relaxed);
                    let judged = self.judged(*number, report, candidate);
                    match is_certain(&judged) {
                        true if rescue::concerns(&judged) => failed.push((*member, judged)),
                        true => tell(member.at, judged),
                        false => doubtful.push((*number, *member, *at)),
                    }
                }
            };
            if checking(self.compiler.bench, &tests, ready.len(), &mut work).is_err() {
                doubtful.clone_from(&ready);
            }
            left.push((tests, doubtful));
        }
        (failed, left)
    }

    /// Tests members in a box for each; who is in doubt here too is not told of.
    fn test_alone(&self, groups: Groups<'a>, tell: &mut dyn FnMut(&'a Member, Judged)) {
        for (tests, ready) in groups.into_iter().filter(|(_, ready)| !ready.is_empty()) {
            let mut work = |checking: &mut Checking<'_>| {
                for (number, member, at) in &ready {
                    let call = tested::call(self.program, Some(*number));
                    let Ok((report, candidate)) = checking.test(*at, call) else { return };
                    let judged = self.judged(*number, report, &candidate);
                    if is_certain(&judged) {
                        tell(member, judged);
                    }
                }
            };
            let _ = checking(self.compiler.bench, &tests, ready.len(), &mut work);
        }
    }
}

/// Tells of members that failed, once their tasks' own solutions have passed in the same way. Who is not told of is judged alone,
/// where the rest is found out.
fn settle(compiler: &Compiler<'_>, failed: Failed<'_>, tell: &mut dyn FnMut(usize, Judged)) {
    let mut tasks: BTreeMap<&str, &Arc<Prepared>> = BTreeMap::new();
    for (member, _) in &failed {
        if member.task.known_beside_only().is_none() {
            tasks.insert(&member.task.id, &member.task);
        }
    }
    let tasks: Vec<&Arc<Prepared>> = tasks.into_values().collect();
    let solution =
        |(at, task): (usize, &&Arc<Prepared>)| member(at, Arc::clone(task), task.solution.clone()?);
    let solutions: Vec<Member> = tasks.iter().enumerate().filter_map(solution).collect();
    let rust = rescue::without_linter(compiler.rust);
    let compiler = Compiler { rust: &rust, ..*compiler };
    if !solutions.is_empty()
        && let Compiled::Program(program, told) = compile(&compiler, &solutions)
    {
        let batch = Crate { compiler: &compiler, members: &solutions, program: &program, told: &told };
        let groups = batch.ready(&mut |_, _| {});
        batch.test_alone(groups, &mut |member, judged| {
            if judged.passed() {
                let _ = tasks[member.at].beside_only.set(false);
            }
        });
    }
    for (member, judged) in failed {
        if member.task.known_beside_only() == Some(false) {
            tell(member.at, judged);
        }
    }
}

/// Whether a verdict would be the same if the completion were judged alone.
fn is_certain(judged: &Judged) -> bool {
    match judged.error_type {
        None | Some(ErrorType::AssertionFailure) => true,
        Some(ErrorType::RuntimeError) => judged.diagnostics.panic.is_some(),
        // The first of two tries: what is recorded comes from the second, which has nothing beside it.
        Some(ErrorType::TestTimeout) => true,
        Some(_) => false,
    }
}
