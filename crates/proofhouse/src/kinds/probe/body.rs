//! What a `probe` suite does for the commands that plan and run it.

use std::sync::Arc;

use super::Probe;
use super::plan::{Item, Trials};
use super::work::{self, ProbeWork};
use crate::spine::plan::{Planned, Trial};
use crate::spine::run::ExecuteError;
use crate::spine::run::job::{SuiteBody, open_targets};
use crate::spine::run::record::RecordWriter;
use crate::spine::run::work::{Means, Work};
use crate::spine::suite::{Loaded, Suite};
use crate::stats::decisions::{Unit, foreseen_calibration};
use crate::text::numbers::spaced;
use crate::text::template::Form;

impl SuiteBody for Probe {
    type Item = Item;

    fn plan<'a>(&'a self, suite: &'a Suite) -> Planned<'a, Item> {
        Box::new(Trials::new(suite, self))
    }

    fn open(&self, writer: RecordWriter, mut means: Means) -> Result<Arc<dyn Work<Item>>, ExecuteError> {
        means.opening.timed = self.weighs.time;
        let targets = open_targets(&writer.loaded.suite, &means)?;
        if let Some(stored) = &means.stored {
            stored.check(
                &writer.loaded,
                self.plan(&writer.loaded.suite).map(|planned| planned.map(|(trial, _)| trial)),
            )?;
        }
        Ok(Arc::new(ProbeWork::new(writer, targets, self, means)?))
    }

    fn not_run(&self, writer: &RecordWriter, planned: (&Trial, &Item), why: &str, out: &mut Vec<u8>) {
        work::not_run(writer, planned, (why, self.primary_metric()), out);
    }

    fn factors(&self, loaded: &Loaded) -> String {
        let (cases, targets) = (loaded.case_count, loaded.suite.targets.len());
        let wordings = self.wordings.factor();
        let slots = match (loaded.suite.slots.len(), self.prompt_count()) {
            (slots, prompts) if prompts > 1 && slots == targets * prompts => {
                format!("{} x {prompts} prompts", spaced(targets as u64, "target", "targets"))
            }
            (slots, prompts) if prompts > 1 => {
                let targets = spaced(targets as u64, "target", "targets");
                format!("{slots} cells of {targets} and {prompts} prompts")
            }
            _ => spaced(targets as u64, "target", "targets"),
        };
        let labels = match &self.calibration {
            Some(calibration) => format!(", and {} labelled answers", calibration.count),
            None => String::new(),
        };
        let repetitions = spaced(self.repetitions.into(), "repetition", "repetitions");
        format!("{}{wordings} x {slots} x {repetitions}{labels}", spaced(cases, "case", "cases"))
    }

    fn described(&self) -> String {
        let judges =
            self.judges.iter().map(|(name, judge)| format!("judge:       {name} ({})\n", judge.name()));
        let prompts = self.prompts().filter_map(|(name, form)| {
            let form = if form == Form::Jinja { "jinja" } else { "simple" };
            name.map(|name| format!("prompt:      {name} (template: {form})\n"))
        });
        let mut text: String = prompts.chain(judges).collect();
        if let Some(calibration) = &self.calibration {
            let (right, wrong) = calibration.kinds();
            text.push_str(&format!("calibration: {}\n", foreseen_calibration(right, wrong)));
        }
        text
    }

    fn units(&self, loaded: &Loaded) -> Vec<Unit> {
        let trials = self.wordings.per_case() * u64::from(self.repetitions);
        vec![Unit { word: "case", count: loaded.case_count, trials }]
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

    fn keeps_answers(&self) -> bool {
        self.cache
    }
}
