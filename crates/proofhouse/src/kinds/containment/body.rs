//! What a `containment` suite does for the commands that plan and run it.

use std::sync::Arc;

use super::plan::Trials;
use super::work::Containing;
use super::{Case, ContainmentBody};
use crate::spine::plan::Planned;
use crate::spine::run::ExecuteError;
use crate::spine::run::job::{SuiteBody, open_targets};
use crate::spine::run::record::Scribe;
use crate::spine::run::work::{Means, Work};
use crate::spine::suite::{Loaded, Suite};

impl SuiteBody for ContainmentBody {
    type Item = Arc<Case>;

    fn plan<'a>(&'a self, suite: &'a Suite) -> Planned<'a, Arc<Case>> {
        Box::new(Trials::new(suite, self))
    }

    fn open(&self, scribe: Scribe, means: Means) -> Result<Arc<dyn Work<Arc<Case>>>, ExecuteError> {
        let targets = open_targets(&scribe.loaded.suite, &means)?;
        Ok(Arc::new(Containing::new(scribe, targets, self)))
    }

    fn factors(&self, loaded: &Loaded) -> String {
        let (cases, variants) = (loaded.case_count, self.variants.len());
        let canaries = match self.canaries().len() {
            0 => String::new(),
            count => format!(", and {count} canaries for each model"),
        };
        format!("{cases} cases x {variants} variants x {} repetitions{canaries}", self.repetitions)
    }

    fn described(&self) -> String {
        let each = self.variants.iter().map(|variant| {
            let gate = if variant.gate.is_some() { "gated" } else { "no gate" };
            format!("variant:     {} ({}, {gate})\n", variant.name, variant.driver.as_str())
        });
        each.collect()
    }
}
