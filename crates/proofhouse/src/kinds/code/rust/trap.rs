//! What is known of a task whose tests share a process with completions, found out once: whether they compile beside the task's own
//! solution, what they take from it, and which wrong tests that solution fails. A pass beside the tests is believed only of who
//! passes them again among wrong ones, in an order that nobody knows, and fails those.

use proofhouse_sandbox::{Outcome, Program, ResultFile, Status};

use super::compile::{Compiler, Emit};
use super::decoys::{self, Dealt, Dice, Site, Source, Weight};
use super::judge::Alone;
use super::one_process::{self, LIBRARY, Ran};
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
    /// Places at which they can expect something else.
    sites: Vec<Site>,
    /// By place and number, what they can be made to expect there.
    decoys: Vec<(usize, usize)>,
    /// Whether the solution passes the real tests and was seen to fail each of the others.
    tried: bool,
}

/// Whether a pass is believed.
pub(super) enum Belief {
    Believed,
    /// It passes wrong tests too.
    Unmoved,
    /// It does not pass the real ones among others.
    Failed(Box<Ran>),
    /// The tests cannot be made to expect something else of it, though they can of the task's own solution.
    Untestable,
}

/// What is known of the task of this completion.
pub(super) fn known<'a>(alone: &Alone<'a>) -> &'a Beside {
    let task = alone.task;
    task.beside.get_or_init(|| {
        let rust = without_linter(alone.compiler.rust);
        let compiler = Compiler { rust: &rust, ..alone.compiler };
        let mut dice = Dice::of(&compiler.bench.secret());
        solved(&compiler, task, &mut dice).unwrap_or_else(|| unsolved(task, &mut dice))
    })
}

/// Without a solution only such wrong tests are used as nobody can pass who passes the real ones. Where the prompt says itself when
/// its types are equal, not every other value is another: they accuse only together.
fn unsolved(task: &Prepared, dice: &mut Dice) -> Beside {
    let calm = decoys::calm(&task.frame.checks.source);
    let is_calm = |at: usize| calm.as_ref().is_none_or(|bodies| bodies.iter().any(|body| body.contains(&at)));
    let open = task.leaves_its_function_open();
    let told = |weight| matches!(weight, Weight::Whole | Weight::Denial) || open && weight == Weight::Loose;
    let keep = |weight, at| told(weight) && is_calm(at);
    let mut sites = candidates(task, keep, dice);
    if decoys::defines_equality(task.preamble()) {
        sites
            .iter_mut()
            .filter(|site| site.weight == Weight::Whole)
            .for_each(|site| site.weight = Weight::Loose);
    }
    Beside { decoys: all(&sites), sites, ..Beside::default() }
}

fn candidates(task: &Prepared, keep: impl Fn(Weight, usize) -> bool, dice: &mut Dice) -> Vec<Site> {
    let entry = task.frame.entry.as_deref().unwrap_or_default();
    let (text, open) = (task.frame.checks.source.as_str(), task.leaves_its_function_open());
    decoys::find(Source { text, before: task.preamble(), entry, open }, keep, dice)
}

/// Every other value of every place.
fn all(sites: &[Site]) -> Vec<(usize, usize)> {
    let others = |(number, site): (usize, &Site)| {
        (1..site.texts.len()).map(move |other| (number, other)).collect::<Vec<_>>()
    };
    sites.iter().enumerate().flat_map(others).collect()
}

/// Asks the task's own solution; `None` where there is none.
fn solved(compiler: &Compiler<'_>, task: &Prepared, dice: &mut Dice) -> Option<Beside> {
    let solution = task.solution.as_ref()?;
    let screened = screen(&task.frame, solution);
    let alone = Alone { compiler: *compiler, task, assembled: solution, screened: &screened };
    let scope = Scope::of(&alone);
    let Some(library) = compiler.library(&scope.library(), LIBRARY) else {
        return Some(Beside { compiles: Some(false), ..unsolved(task, dice) });
    };
    // First without what only the solution defines: where the tests do without it, a completion is not given it either.
    let ways = if scope.may_be_lent(task) { vec![false, true] } else { vec![false] };
    for lent in ways {
        let room = Room { alone: &alone, scope: &scope, library: &library, lent };
        let Ok(real) = room.real() else { continue };
        let compiles = Some(true);
        if !one_process::run(&alone, &real, "").passed {
            return Some(Beside { compiles, lent, ..unsolved(task, dice) });
        }
        let Some((sites, dealt, program)) = room.fitting(candidates(task, |_, _| true, dice), dice) else {
            return Some(Beside { compiles, lent, tried: true, ..Beside::default() });
        };
        let passes = |decoy| one_process::run(&alone, &program, &dealt.told(decoy)).passed;
        let mut decoys = if passes(None) { all(&sites) } else { Vec::new() };
        // Twice, so that a test that draws lots decides nothing.
        decoys.retain(|decoy| !passes(Some(*decoy)) && !passes(Some(*decoy)));
        return Some(Beside { compiles, lent, sites, decoys, tried: true });
    }
    Some(Beside { compiles: Some(false), ..unsolved(task, dice) })
}

/// Whether a completion passes its tests because it does what they say.
pub(super) fn belief(alone: &Alone<'_>, scope: &Scope, library: &ResultFile) -> Belief {
    let known = known(alone);
    // What is known of nobody else, only the completion's own types say.
    let unknown = || match known.tried || alone.task.leaves_its_function_open() {
        true => Belief::Untestable,
        false => Belief::Believed,
    };
    if known.decoys.is_empty() {
        return if known.tried { Belief::Believed } else { unknown() };
    }
    // By a secret of this bench and not by the suite's seed: an answer that knew the order could tell the real tests from the others.
    let mut dice = Dice::of(&alone.compiler.bench.secret());
    let room = Room { alone, scope, library, lent: known.lent };
    let Some((sites, dealt, program)) = room.fitting(known.sites.clone(), &mut dice) else {
        return unknown();
    };
    // Where a place is now that not all of them may be left.
    let now = |(site, other): (usize, usize)| {
        Some((sites.iter().position(|each| *each == known.sites[site])?, other))
    };
    let decoys: Vec<(usize, usize)> = known.decoys.iter().copied().filter_map(now).collect();
    let mut runs: Vec<Option<(usize, usize)>> =
        std::iter::once(None).chain(decoys.into_iter().map(Some)).collect();
    dice.shuffle(&mut runs);
    let run = |decoy| one_process::run(alone, &program, &dealt.told(decoy));
    let (mut loose, mut failed) = (Vec::new(), None);
    for decoy in runs {
        let ran = run(decoy);
        match decoy {
            None if !ran.passed => failed = Some(ran),
            None => {}
            Some((site, _)) if sites[site].weight == Weight::Loose => {
                loose.push(ran.passed && ran.seen(site))
            }
            // Twice, so that an answer that draws lots is not accused of more; and what was not looked at says nothing.
            Some((site, _)) if ran.passed && ran.seen(site) && run(decoy).passed => return Belief::Unmoved,
            Some(_) => {}
        }
    }
    match failed {
        Some(ran) => Belief::Failed(Box::new(ran)),
        None if loose.len() > 1 && loose.iter().all(|passed| *passed) => Belief::Unmoved,
        None => Belief::Believed,
    }
}

/// Where tests are compiled beside a completion.
pub(super) struct Room<'a> {
    pub(super) alone: &'a Alone<'a>,
    pub(super) scope: &'a Scope,
    pub(super) library: &'a ResultFile,
    /// Whether the tests get what only the task's own solution defines.
    pub(super) lent: bool,
}

impl Room<'_> {
    /// The tests as they are.
    pub(super) fn real(&self) -> Result<Program, Box<Outcome>> {
        self.compile(&self.tests(&self.alone.task.frame.checks.source, 0))
    }

    pub(super) fn tests<'a>(&self, text: &'a str, picks: usize) -> Tests<'a> {
        Tests { lent: self.lent, text, picks }
    }

    /// The tests with as many of these places as the compiler takes; `None` where it takes none.
    fn fitting(&self, sites: Vec<Site>, dice: &mut Dice) -> Option<(Vec<Site>, Dealt, Program)> {
        if sites.is_empty() {
            return None;
        }
        let source = &self.alone.task.frame.checks.source;
        let dealt = Dealt::of(source, &sites, dice);
        if let Ok(program) = self.compile(&self.tests(&dealt.text, dealt.count)) {
            return Some((sites, dealt, program));
        }
        if sites.len() == 1 {
            return None;
        }
        let (left, right) = sites.split_at(sites.len() / 2);
        let mut halves = [left, right].map(|half| self.fitting(half.to_vec(), dice));
        match &mut halves {
            [Some((left, ..)), Some((right, ..))] => {
                let mut both = std::mem::take(left);
                both.append(right);
                let dealt = Dealt::of(source, &both, dice);
                let program = self.compile(&self.tests(&dealt.text, dealt.count)).ok()?;
                Some((both, dealt, program))
            }
            _ => halves.into_iter().flatten().next(),
        }
    }

    /// Compiles tests beside a completion; what the compiler came to, where it made no program.
    fn compile(&self, tests: &Tests<'_>) -> Result<Program, Box<Outcome>> {
        let Room { alone, scope, library, .. } = self;
        let files = scope.tests(alone.task, tests);
        let mut outcome = alone.compiler.run_with(&files, Emit::Program, (LIBRARY, library));
        let found = outcome.collected.pop().and_then(|each| each.result.ok());
        match found.filter(|_| outcome.status == Status::Ok) {
            Some(found) => Ok(alone.compiler.bench.sandbox().program(found)),
            None => Err(Box::new(outcome)),
        }
    }
}
