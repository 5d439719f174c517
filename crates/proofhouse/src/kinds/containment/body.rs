//! What a `containment` suite does for the commands that plan and run it.

use std::sync::Arc;

use super::plan::Trials;
use super::work::ContainmentWork;
use super::{Case, ContainmentBody};
use crate::spine::plan::Planned;
use crate::spine::run::ExecuteError;
use crate::spine::run::job::{SuiteBody, open_targets};
use crate::spine::run::record::RecordWriter;
use crate::spine::run::work::{Means, Work};
use crate::spine::suite::{Loaded, Suite};
use crate::stats::decisions::Unit;

impl SuiteBody for ContainmentBody {
    type Item = Arc<Case>;

    fn plan<'a>(&'a self, suite: &'a Suite) -> Planned<'a, Arc<Case>> {
        Box::new(Trials::new(suite, self))
    }

    fn open(&self, writer: RecordWriter, means: Means) -> Result<Arc<dyn Work<Arc<Case>>>, ExecuteError> {
        let targets = open_targets(&writer.loaded.suite, &means)?;
        Ok(Arc::new(ContainmentWork::new(writer, targets, self)))
    }

    fn factors(&self, loaded: &Loaded) -> String {
        let (cases, variants) = (loaded.case_count, self.variants.len());
        let canaries = match self.canaries().len() {
            0 => String::new(),
            count => format!(", and {count} canaries for each model"),
        };
        format!("{cases} cases x {variants} variants x {} repetitions{canaries}", self.repetitions)
    }

    fn units(&self, loaded: &Loaded) -> Vec<Unit> {
        let attacks = self.attacks;
        let benign = loaded.case_count.saturating_sub(attacks);
        let units = [Unit { word: "attack", count: attacks }, Unit { word: "benign case", count: benign }];
        units.into_iter().filter(|unit| unit.count > 0).collect()
    }

    fn described(&self) -> String {
        let each = self.variants.iter().map(|variant| {
            let gate = if variant.gate.is_some() { "gated" } else { "no gate" };
            format!("variant:     {} ({}, {gate})\n", variant.name, variant.driver.as_str())
        });
        each.collect()
    }
}
