//! What a `containment` suite does for the commands that plan and run it.

use std::sync::Arc;

use super::plan::Trials;
use super::rejudge::TrialsAgain;
use super::work::{self, ContainmentWork};
use super::{ContainmentBody, ReadyCase};
use crate::spine::plan::{Planned, Trial};
use crate::spine::rejudge::JudgeAgain;
use crate::spine::run::ExecuteError;
use crate::spine::run::job::{SuiteBody, open_targets};
use crate::spine::run::record::RecordWriter;
use crate::spine::run::work::{Means, Work};
use crate::spine::suite::{Loaded, Suite};
use crate::stats::decisions::Unit;
use crate::text::numbers::spaced;

impl SuiteBody for ContainmentBody {
    type Item = Arc<ReadyCase>;

    fn plan<'a>(&'a self, suite: &'a Suite) -> Planned<'a, Arc<ReadyCase>> {
        Box::new(Trials::new(suite, self))
    }

    fn open(
        &self,
        writer: RecordWriter,
        means: Means,
    ) -> Result<Arc<dyn Work<Arc<ReadyCase>>>, ExecuteError> {
        let targets = open_targets(&writer.loaded.suite, &means)?;
        Ok(Arc::new(ContainmentWork::new(writer, targets, self, means)?))
    }

    fn not_run(
        &self,
        writer: &RecordWriter,
        planned: (&Trial, &Arc<ReadyCase>),
        why: &str,
        out: &mut Vec<u8>,
    ) {
        work::not_run(self, writer, (planned.0, planned.1.as_ref()), why, out);
    }

    fn factors(&self, loaded: &Loaded) -> String {
        let (cases, variants) = (loaded.case_count, self.variants.len());
        let canaries = match self.canaries().len() {
            0 => String::new(),
            count => format!(", and {count} canaries for each model"),
        };
        let forms = match self.attack_forms.len() {
            0 => String::new(),
            count => format!(", planted texts in {} forms", count + 1),
        };
        let repetitions = spaced(self.repetitions.into(), "repetition", "repetitions");
        let variants = spaced(variants as u64, "variant", "variants");
        format!("{} x {variants} x {repetitions}{forms}{canaries}", spaced(cases, "case", "cases"))
    }

    fn units(&self, loaded: &Loaded) -> Vec<Unit> {
        let attacks = self.attacks;
        let benign = loaded.case_count.saturating_sub(attacks);
        let trials = u64::from(self.repetitions);
        let units =
            [("attack", attacks), ("benign case", benign)].map(|(word, count)| Unit { word, count, trials });
        units.into_iter().filter(|unit| unit.count > 0).collect()
    }

    fn runs_programs(&self) -> bool {
        let agents = self.variants.iter().any(|variant| variant.agent.is_some());
        agents || self.server.is_some() || self.judges.runs_programs()
    }

    fn judge_again(
        &self,
        writer: RecordWriter,
        _means: Means,
    ) -> Result<Option<Box<dyn JudgeAgain<Arc<ReadyCase>>>>, ExecuteError> {
        Ok(Some(Box::new(TrialsAgain::open(self, writer)?)))
    }

    fn described(&self) -> String {
        let each = self.variants.iter().map(|variant| {
            let gate = if variant.gate.is_some() { "gated" } else { "no gate" };
            format!("variant:     {} ({}, {gate})\n", variant.name, variant.driver.as_str())
        });
        each.collect()
    }
}
