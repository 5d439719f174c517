//! What is known of a task whose tests share a process with completions, found out once: whether they compile beside the task's own
//! solution, what they take from it, and which wrong tests that solution fails. A pass beside the tests is believed only of who
//! fails those too.

use std::sync::Arc;

use proofhouse_sandbox::{Found, Outcome, Program, Status};

use super::compile::{Compiler, Emit};
use super::decoys::{self, Decoy};
use super::judge::Alone;
use super::one_process::{self, LIBRARY};
use super::prepared::Prepared;
use super::rescue::without_linter;
use super::scope::{Scope, Tests};
use super::screen::screen;

/// What a task's own solution says of its tests.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Whether the tests compile beside the solution; `None` where there is none.
    pub(super) compiles: Option<bool>,
    /// Whether they take something that only the solution defines.
    pub(super) lent: bool,
    /// Tests with one expectation made wrong.
    decoys: Vec<Decoy>,
    /// Whether the solution passes the real tests and was seen to fail each of the others.
    tried: bool,
}

/// What is known of the task of this completion.
pub(super) fn known<'a>(alone: &Alone<'a>) -> &'a Beside {
    let task = alone.task;
    task.beside.get_or_init(|| {
        let rust = without_linter(alone.compiler.rust);
        solved(&Compiler { rust: &rust, ..alone.compiler }, task).unwrap_or_else(|| unsolved(task))
    })
}

/// Without a solution only such wrong tests are used as nobody can pass who passes the real ones.
fn unsolved(task: &Prepared) -> Beside {
    let checks = &task.frame.checks.source;
    // A test that has to panic passes as well if it is its assertion that does.
    let panics = checks.contains("::core::option::Option::Some(");
    let all = if panics { Vec::new() } else { candidates(task) };
    let decoys = all.into_iter().filter(|decoy| decoy.sure).collect();
    Beside { decoys, ..Beside::default() }
}

fn candidates(task: &Prepared) -> Vec<Decoy> {
    decoys::of(&task.frame.checks.source, task.frame.entry.as_deref().unwrap_or_default())
}

/// Asks the task's own solution; `None` where there is none.
fn solved(compiler: &Compiler<'_>, task: &Prepared) -> Option<Beside> {
    let solution = task.solution.as_ref()?;
    let screened = screen(&task.frame, solution);
    let alone = Alone { compiler: *compiler, task, assembled: solution, screened: &screened };
    let scope = Scope::of(&alone);
    let Some(library) = compiler.library(&scope.library(), LIBRARY) else {
        return Some(Beside { compiles: Some(false), ..unsolved(task) });
    };
    let ways = if scope.may_be_lent(task) { vec![false, true] } else { vec![false] };
    let passes = |program: &Program, number: usize| one_process::run(&alone, program, number).passed;
    for lent in ways {
        let mut tests = Tests { lent, texts: vec![task.frame.checks.source.as_str()] };
        let Ok(real) = compile(&alone, &scope, &library, &tests) else { continue };
        let compiles = Some(true);
        if !passes(&real, 0) {
            return Some(Beside { compiles, lent, ..unsolved(task) });
        }
        let candidates = candidates(task);
        tests.texts = candidates.iter().map(|decoy| decoy.text.as_str()).collect();
        let each = programs(&alone, &scope, &library, &tests);
        // Twice, so that a test that draws lots decides nothing.
        let fails = |(program, number): &(Arc<Program>, usize)| {
            !passes(program, *number) && !passes(program, *number)
        };
        let kept = candidates.iter().zip(each).filter(|(_, each)| each.as_ref().is_some_and(fails));
        let decoys = kept.map(|(decoy, _)| decoy.clone()).collect();
        return Some(Beside { compiles, lent, decoys, tried: true });
    }
    Some(Beside { compiles: Some(false), ..unsolved(task) })
}

/// Whether a completion that passes its tests passes them as well where they expect something else.
pub(super) fn catches(alone: &Alone<'_>, scope: &Scope, library: &Found) -> bool {
    let known = known(alone);
    let texts: Vec<&str> = known.decoys.iter().map(|decoy| decoy.text.as_str()).collect();
    if texts.is_empty() {
        return false;
    }
    let each = programs(alone, scope, library, &Tests { lent: known.lent, texts });
    let passes = |each: &Option<(Arc<Program>, usize)>| {
        each.as_ref().map(|(program, number)| one_process::run(alone, program, *number).passed)
    };
    if known.tried {
        // What cannot even be compiled beside it shows nothing good of it.
        return each.iter().any(|each| passes(each) == Some(true)) || each.iter().all(Option::is_none);
    }
    // What nobody was seen to fail accuses only together.
    let all = |denies: bool| {
        let of_kind = known.decoys.iter().zip(&each).filter(|(decoy, _)| decoy.denies == denies);
        let passed: Vec<_> = of_kind.map(|(_, each)| passes(each)).collect();
        !passed.is_empty() && passed.iter().all(|passed| *passed == Some(true))
    };
    all(false) || all(true)
}

/// A program and a number in it for each of these tests: one for all, or one for each where they do not compile together.
fn programs(
    alone: &Alone<'_>,
    scope: &Scope,
    library: &Found,
    tests: &Tests<'_>,
) -> Vec<Option<(Arc<Program>, usize)>> {
    if let Ok(program) = compile(alone, scope, library, tests) {
        let program = Arc::new(program);
        return (0..tests.texts.len()).map(|number| Some((Arc::clone(&program), number))).collect();
    }
    let one = |text: &&str| {
        let tests = Tests { texts: vec![text], ..*tests };
        compile(alone, scope, library, &tests).ok().map(|program| (Arc::new(program), 0))
    };
    tests.texts.iter().map(one).collect()
}

/// Compiles tests beside a completion; what the compiler came to, where it made no program.
pub(super) fn compile(
    alone: &Alone<'_>,
    scope: &Scope,
    library: &Found,
    tests: &Tests<'_>,
) -> Result<Program, Box<Outcome>> {
    let files = scope.tests(alone.task, tests);
    let mut outcome = alone.compiler.run_with(&files, Emit::Program, (LIBRARY, library));
    let found = outcome.collected.pop().and_then(|each| each.result.ok());
    match found.filter(|_| outcome.status == Status::Ok) {
        Some(found) => Ok(alone.compiler.bench.sandbox().program(found)),
        None => Err(Box::new(outcome)),
    }
}
