//! What a `code` suite does for the commands that plan and run it.

use std::sync::Arc;

use super::CodeBody;
use super::plan::{self, Item};
use super::rejudge::VerdictsAgain;
use super::work::{self, CodeWork};
use crate::spine::plan::{Planned, Trial};
use crate::spine::rejudge::JudgeAgain;
use crate::spine::run::ExecuteError;
use crate::spine::run::job::{SuiteBody, open_targets};
use crate::spine::run::record::RecordWriter;
use crate::spine::run::work::{Means, Work};
use crate::spine::suite::{Loaded, Suite};
use crate::stats::decisions::Unit;
use crate::text::numbers::spaced;

impl SuiteBody for CodeBody {
    type Item = Item;

    fn plan<'a>(&'a self, suite: &'a Suite) -> Planned<'a, Item> {
        Box::new(plan::trials(suite, self))
    }

    fn open(&self, writer: RecordWriter, means: Means) -> Result<Arc<dyn Work<Item>>, ExecuteError> {
        let targets = open_targets(&writer.loaded.suite, &means)?;
        Ok(Arc::new(CodeWork::new(writer, targets, self, means)?))
    }

    fn not_run(&self, writer: &RecordWriter, planned: (&Trial, &Item), why: &str, out: &mut Vec<u8>) {
        work::not_run(writer, planned, why, out);
    }

    fn factors(&self, loaded: &Loaded) -> String {
        let mut parts: Vec<String> = Vec::new();
        if !self.samples.is_empty() {
            let lines: u64 = self.samples.iter().map(|source| source.planned).sum();
            parts.push(format!("{} of samples", spaced(lines, "line", "lines")));
        }
        let (cases, targets) = (loaded.case_count, loaded.suite.targets.len());
        if targets > 0 {
            let tasks = spaced(cases, "task", "tasks");
            let models = spaced(targets as u64, "model", "models");
            let samples = spaced(self.samples_per_task.into(), "sample", "samples");
            parts.push(format!("{tasks}{} x {models} x {samples}", self.wordings.factor()));
        }
        parts.join(" + ")
    }

    fn units(&self, loaded: &Loaded) -> Vec<Unit> {
        let targets = loaded.suite.targets.len() as u64;
        let lines: u64 = self.samples.iter().map(|source| source.planned).sum();
        let of_files = lines / (loaded.case_count * self.samples.len() as u64).max(1);
        let trials = if targets > 0 { u64::from(self.samples_per_task) } else { of_files.max(1) };
        vec![Unit { word: "task", count: loaded.case_count, trials }]
    }

    fn described(&self) -> String {
        let (compile, test) = (self.budgets.compile.cpu_ms, self.budgets.test.cpu_ms);
        format!("budgets:     compile {compile} ms CPU, tests {test} ms CPU\n")
    }

    fn is_reworded(&self) -> bool {
        self.wordings.per_case() > 1
    }

    fn runs_programs(&self) -> bool {
        true
    }

    fn judge_again(
        &self,
        _writer: RecordWriter,
        means: Means,
    ) -> Result<Option<Box<dyn JudgeAgain<Item>>>, ExecuteError> {
        Ok(Some(Box::new(VerdictsAgain::open(self, means)?)))
    }

    fn judges_again_in_sandbox(&self) -> bool {
        true
    }
}
