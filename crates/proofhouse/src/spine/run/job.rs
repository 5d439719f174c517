//! A loaded suite together with what its kind makes of it: what every command that plans or runs works with.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use proofhouse_ledger::files::FileError;
use proofhouse_ledger::record::Line;
use proofhouse_ledger::{Part, RunId};

use super::again::{self, AgainError};
use super::execute::{self, Assignment, ExecuteError, Executed, Stop};
use super::open::{Open, run_id};
use super::record::RecordWriter;
use super::work::{Means, Work};
use super::{Options, Progress};
use crate::family::target::{Budget, Halt, Opening, Target};
use crate::spine::plan::{Planned, Trial, Trials};
use crate::spine::rejudge::{Again, JudgeAgain};
use crate::spine::suite::{Loaded, Problems, Suite};
use crate::stats::decisions::Unit;

/// What one kind of suite makes of its own settings.
pub(crate) trait SuiteBody: Any + Debug + Send + Sync {
    /// What a trial carries out.
    type Item: Send + 'static;

    /// The trials in their order.
    fn plan<'a>(&'a self, suite: &'a Suite) -> Planned<'a, Self::Item>;

    /// Makes ready to carry them out.
    ///
    /// # Errors
    /// What this machine lacks: a key, a file, a program.
    fn open(&self, writer: RecordWriter, means: Means) -> Result<Arc<dyn Work<Self::Item>>, ExecuteError>;

    /// Appends the record of a trial that nobody ran, and why. Nothing is opened for it: no target, no sandbox.
    fn not_run(&self, writer: &RecordWriter, planned: (&Trial, &Self::Item), why: &str, out: &mut Vec<u8>);

    /// How the number of trials comes about, in words.
    fn factors(&self, loaded: &Loaded) -> String;

    /// What `plan` says beside that: whole lines.
    fn described(&self) -> String;

    /// Whether cases are asked in other wordings too, some of which may be impossible to make.
    fn is_reworded(&self) -> bool {
        false
    }

    /// What two columns are compared on, so that what it can see is known beforehand; nothing where the kind says that itself.
    fn units(&self, loaded: &Loaded) -> Vec<Unit> {
        let _ = loaded;
        Vec::new()
    }

    /// Whether programs are run here, in the sandbox.
    fn runs_programs(&self) -> bool {
        false
    }

    /// Whether stored answers can be judged anew without asking.
    fn judges_stored_answers(&self) -> bool {
        false
    }

    /// What judges stored records again, where that takes the suite; nothing where the run's own configuration is enough.
    ///
    /// # Errors
    /// What this machine lacks.
    fn judge_again(
        &self,
        writer: RecordWriter,
        means: Means,
    ) -> Result<Option<Box<dyn JudgeAgain<Self::Item>>>, ExecuteError> {
        let _ = (writer, means);
        Ok(None)
    }

    /// Whether programs are run here for that.
    fn judges_again_in_sandbox(&self) -> bool {
        false
    }

    /// Whether answers are kept and used again.
    fn keeps_answers(&self) -> bool {
        false
    }

    /// How much `prepare` would ask for.
    fn unprepared(&self, resumed: bool) -> usize {
        let _ = resumed;
        0
    }

    /// What has to be asked for before the plan can be frozen; gives how much that was. A run that is resumed keeps its plan, so
    /// what was asked for it without an answer is not asked again.
    ///
    /// # Errors
    /// Whatever kept it from being asked for.
    fn prepare(
        &self,
        loaded: &Loaded,
        opening: &Opening,
        resumed: bool,
    ) -> Result<usize, Box<dyn Error + Send + Sync>> {
        let _ = (loaded, opening, resumed);
        Ok(0)
    }
}

/// The same for the commands, whatever the kind.
pub(crate) trait AnyBody: Any + Debug + Send + Sync {
    fn trials<'a>(&'a self, suite: &'a Suite) -> Trials<'a>;
    fn ready(self: Arc<Self>, loaded: &Arc<Loaded>, means: Means) -> Result<Box<dyn Ready>, ExecuteError>;
    fn not_run(
        &self,
        loaded: &Arc<Loaded>,
        missing: &BTreeSet<Part>,
        out: &mut dyn FnMut(&[u8]) -> Result<(), FileError>,
    ) -> Result<(), NotRunError>;
    fn factors(&self, loaded: &Loaded) -> String;
    fn described(&self) -> String;
    fn is_reworded(&self) -> bool;
    fn units(&self, loaded: &Loaded) -> Vec<Unit>;
    fn runs_programs(&self) -> bool;
    fn judges_stored_answers(&self) -> bool;
    fn judge_again(
        &self,
        loaded: &Arc<Loaded>,
        means: Means,
        lines: &mut NextLine<'_>,
        tell: &mut dyn FnMut(&Line<'_>, Again),
    ) -> Result<Option<BTreeMap<String, String>>, AgainError>;
    fn judges_again_in_sandbox(&self) -> bool;
    fn keeps_answers(&self) -> bool;
    fn unprepared(&self, resumed: bool) -> usize;
    fn prepare(
        &self,
        loaded: &Loaded,
        opening: &Opening,
        resumed: bool,
    ) -> Result<usize, Box<dyn Error + Send + Sync>>;
}

impl<B: SuiteBody> AnyBody for B {
    fn trials<'a>(&'a self, suite: &'a Suite) -> Trials<'a> {
        Box::new(self.plan(suite).map(|planned| planned.map(|(trial, _)| trial)))
    }

    fn ready(
        self: Arc<Self>,
        loaded: &Arc<Loaded>,
        mut means: Means,
    ) -> Result<Box<dyn Ready>, ExecuteError> {
        let (budget, halt) = (means.opening.budget.clone(), Arc::clone(&means.opening.halt));
        means.opening = of_suite(&means.opening, loaded);
        let work = self.open(RecordWriter::new(loaded, run_id(loaded)), means)?;
        Ok(Box::new(ReadyBody { loaded: Arc::clone(loaded), body: self, work, budget, halt }))
    }

    fn not_run(
        &self,
        loaded: &Arc<Loaded>,
        missing: &BTreeSet<Part>,
        out: &mut dyn FnMut(&[u8]) -> Result<(), FileError>,
    ) -> Result<(), NotRunError> {
        let count = missing.first().map_or(1, |part| part.count);
        let writer = RecordWriter::new(loaded, run_id(loaded));
        let mut line = Vec::new();
        for planned in self.plan(&loaded.suite) {
            let (trial, item) = planned.map_err(NotRunError::Suite)?;
            let part = Part::of(&trial.case_id, &loaded.suite.slots[trial.slot].name, count);
            if !missing.contains(&part) {
                continue;
            }
            let why = format!("shard {part} was missing when the others were merged");
            line.clear();
            SuiteBody::not_run(self, &writer, (&trial, &item), &why, &mut line);
            out(&line)?;
        }
        Ok(())
    }

    fn factors(&self, loaded: &Loaded) -> String {
        SuiteBody::factors(self, loaded)
    }

    fn described(&self) -> String {
        SuiteBody::described(self)
    }

    fn is_reworded(&self) -> bool {
        SuiteBody::is_reworded(self)
    }

    fn units(&self, loaded: &Loaded) -> Vec<Unit> {
        SuiteBody::units(self, loaded)
    }

    fn runs_programs(&self) -> bool {
        SuiteBody::runs_programs(self)
    }

    fn judges_stored_answers(&self) -> bool {
        SuiteBody::judges_stored_answers(self)
    }

    fn judge_again(
        &self,
        loaded: &Arc<Loaded>,
        means: Means,
        lines: &mut NextLine<'_>,
        tell: &mut dyn FnMut(&Line<'_>, Again),
    ) -> Result<Option<BTreeMap<String, String>>, AgainError> {
        let judge = SuiteBody::judge_again(self, RecordWriter::new(loaded, run_id(loaded)), means)?;
        let Some(judge) = judge else { return Ok(None) };
        again::in_order(judge.as_ref(), self.plan(&loaded.suite), lines, tell)?;
        Ok(Some(judge.toolchains()))
    }

    fn judges_again_in_sandbox(&self) -> bool {
        SuiteBody::judges_again_in_sandbox(self)
    }

    fn keeps_answers(&self) -> bool {
        SuiteBody::keeps_answers(self)
    }

    fn unprepared(&self, resumed: bool) -> usize {
        SuiteBody::unprepared(self, resumed)
    }

    fn prepare(
        &self,
        loaded: &Loaded,
        opening: &Opening,
        resumed: bool,
    ) -> Result<usize, Box<dyn Error + Send + Sync>> {
        SuiteBody::prepare(self, loaded, &of_suite(opening, loaded), resumed)
    }
}

/// Gives stored lines one after the other, without their newlines.
pub(crate) type NextLine<'a> = dyn FnMut() -> Result<Option<Vec<u8>>, FileError> + 'a;

/// What targets need, with the suite's own deadline and directory.
fn of_suite(opening: &Opening, loaded: &Loaded) -> Opening {
    Opening {
        timeout: Duration::from_millis(loaded.suite.timeout_ms),
        base_dir: loaded.path.parent().map(camino::Utf8Path::to_owned).unwrap_or_default(),
        ..opening.clone()
    }
}

/// Opens every target of a suite; none where stored answers take their place, which need neither a key nor a connection.
pub(crate) fn open_targets(suite: &Suite, means: &Means) -> Result<Vec<Arc<Target>>, ExecuteError> {
    if means.stored.is_some() {
        return Ok(Vec::new());
    }
    let opened = suite.targets.iter().map(|(slot, config)| {
        config
            .open(slot, &means.opening)
            .map(Arc::new)
            .map_err(|complaint| ExecuteError::Target(slot.clone(), complaint))
    });
    opened.collect()
}

/// Why trials that nobody ran could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum NotRunError {
    /// A dataset changed since it was loaded.
    #[error("{0}")]
    Suite(Problems),
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A suite that can be planned and run.
#[derive(Debug, Clone)]
pub struct Job {
    /// What the user wrote.
    pub loaded: Arc<Loaded>,
    pub(crate) body: Arc<dyn AnyBody>,
}

impl std::ops::Deref for Job {
    type Target = Loaded;

    fn deref(&self) -> &Loaded {
        &self.loaded
    }
}

impl Job {
    /// Its trials, one after the other; reads the datasets once more.
    pub fn trials(&self) -> Trials<'_> {
        self.body.trials(&self.loaded.suite)
    }

    /// What its kind made of it, as that kind's own type.
    pub fn body_as<B: Any>(&self) -> Option<&B> {
        let body: &dyn Any = &*self.body;
        body.downcast_ref()
    }

    /// What it will run, as an id.
    pub fn run_id(&self) -> RunId {
        run_id(&self.loaded)
    }

    /// The records of all trials of these parts, which nobody ran, in the order of the plan.
    ///
    /// # Errors
    /// A dataset that changed, or what `out` says.
    pub fn not_run(
        &self,
        missing: &BTreeSet<Part>,
        out: &mut dyn FnMut(&[u8]) -> Result<(), FileError>,
    ) -> Result<(), NotRunError> {
        self.body.not_run(&self.loaded, missing, out)
    }

    /// Judges stored records again with the suite at hand, and tells what came of each. Gives what took part in it; nothing where the
    /// run's own configuration is enough.
    pub(crate) fn judge_again(
        &self,
        means: Means,
        lines: &mut NextLine<'_>,
        tell: &mut dyn FnMut(&Line<'_>, Again),
    ) -> Result<Option<BTreeMap<String, String>>, AgainError> {
        self.body.judge_again(&self.loaded, means, lines, tell)
    }

    /// Makes ready for its trials.
    ///
    /// # Errors
    /// What this machine lacks: a key, a file, a program.
    pub fn ready(&self, means: Means) -> Result<Box<dyn Ready>, ExecuteError> {
        Arc::clone(&self.body).ready(&self.loaded, means)
    }
}

/// Everything that trials need, made ready before anything is written.
pub trait Ready {
    /// Runs every trial of the plan that has no record yet.
    ///
    /// # Errors
    /// What kept the first trial from being started.
    fn execute(
        self: Box<Self>,
        open: &mut Open,
        options: &Options,
        stop: &Stop,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Executed, ExecuteError>;
}

struct ReadyBody<B: SuiteBody> {
    loaded: Arc<Loaded>,
    body: Arc<B>,
    work: Arc<dyn Work<B::Item>>,
    budget: Option<Arc<Budget>>,
    halt: Arc<Halt>,
}

impl<B: SuiteBody> Ready for ReadyBody<B> {
    fn execute(
        self: Box<Self>,
        open: &mut Open,
        options: &Options,
        stop: &Stop,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Executed, ExecuteError> {
        let ReadyBody { loaded, body, work, budget, halt } = *self;
        work.begin(&open.paths, open.found.totals.count() == 0);
        let planned = body.plan(&loaded.suite);
        let slots = &loaded.suite.slots;
        let planned: Planned<'_, B::Item> = match options.part {
            None => planned,
            Some(part) => Box::new(planned.filter(move |planned| match planned {
                Ok((trial, _)) => part.holds(&trial.case_id, &slots[trial.slot].name),
                Err(_) => true,
            })),
        };
        let trial_count = open.envelope.total_cases_expected;
        let assignment = Assignment { work, planned, trial_count, budget, halt };
        execute::execute(assignment, open, options, stop, progress)
    }
}
