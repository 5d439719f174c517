//! What a `probe` suite does for the commands that plan and run it.

use std::sync::Arc;

use super::Probe;
use super::plan::{Item, Trials};
use super::work::ProbeWork;
use crate::spine::plan::Planned;
use crate::spine::run::ExecuteError;
use crate::spine::run::job::{SuiteBody, open_targets};
use crate::spine::run::record::RecordWriter;
use crate::spine::run::work::{Means, Work};
use crate::spine::suite::{Loaded, Suite};
use crate::stats::decisions::Unit;

impl SuiteBody for Probe {
    type Item = Item;

    fn plan<'a>(&'a self, suite: &'a Suite) -> Planned<'a, Item> {
        Box::new(Trials::new(suite, self))
    }

    fn open(&self, writer: RecordWriter, means: Means) -> Result<Arc<dyn Work<Item>>, ExecuteError> {
        let targets = open_targets(&writer.loaded.suite, &means)?;
        Ok(Arc::new(ProbeWork::new(writer, targets, self, means)?))
    }

    fn factors(&self, loaded: &Loaded) -> String {
        let (cases, targets) = (loaded.case_count, loaded.suite.targets.len());
        let wordings = self.wordings.factor();
        format!("{cases} cases{wordings} x {targets} targets x {} repetitions", self.repetitions)
    }

    fn described(&self) -> String {
        self.judges.iter().map(|(name, judge)| format!("judge:       {name} ({})\n", judge.name())).collect()
    }

    fn units(&self, loaded: &Loaded) -> Vec<Unit> {
        vec![Unit { word: "case", count: loaded.case_count }]
    }

    fn is_reworded(&self) -> bool {
        self.wordings.per_case() > 1
    }

    fn runs_programs(&self) -> bool {
        Probe::runs_programs(self)
    }

    fn judges_stored_answers(&self) -> bool {
        true
    }
}
