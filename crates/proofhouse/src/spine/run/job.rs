//! A loaded suite together with what its kind makes of it: what every command that plans or runs works with.

use std::any::Any;
use std::error::Error;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use proofhouse_ledger::RunId;

use super::execute::{self, Assignment, ExecuteError, Executed, Stop};
use super::open::{Open, run_id};
use super::record::RecordWriter;
use super::work::{Means, Work};
use super::{Options, Progress};
use crate::family::target::{Budget, Halt, Opening, Target};
use crate::spine::plan::{Planned, Trials};
use crate::spine::suite::{Loaded, Suite};
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

    /// Whether answers are kept and used again.
    fn keeps_answers(&self) -> bool {
        false
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
    fn factors(&self, loaded: &Loaded) -> String;
    fn described(&self) -> String;
    fn is_reworded(&self) -> bool;
    fn units(&self, loaded: &Loaded) -> Vec<Unit>;
    fn runs_programs(&self) -> bool;
    fn judges_stored_answers(&self) -> bool;
    fn keeps_answers(&self) -> bool;
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

    fn keeps_answers(&self) -> bool {
        SuiteBody::keeps_answers(self)
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
        let planned: Planned<'_, B::Item> = match options.part {
            None => planned,
            Some(part) => Box::new(planned.filter(move |planned| match planned {
                Ok((trial, _)) => part.holds(&trial.case_id),
                Err(_) => true,
            })),
        };
        let trial_count = open.envelope.total_cases_expected;
        let assignment = Assignment { work, planned, trial_count, budget, halt };
        execute::execute(assignment, open, options, stop, progress)
    }
}
