//! What a `robustness` suite does for the commands that plan and run it.

use std::error::Error;
use std::sync::Arc;

use super::RobustnessBody;
use super::plan::{self, Order};
use super::work::{self, RobustnessWork};
use super::{rewrite, stopping};
use crate::family::target::Opening;
use crate::spine::plan::{Planned, Trial};
use crate::spine::run::ExecuteError;
use crate::spine::run::job::SuiteBody;
use crate::spine::run::record::RecordWriter;
use crate::spine::run::work::{Means, Work};
use crate::spine::suite::{Loaded, Suite};

impl SuiteBody for RobustnessBody {
    type Item = Arc<Order>;

    fn plan<'a>(&'a self, suite: &'a Suite) -> Planned<'a, Arc<Order>> {
        Box::new(plan::trials(suite, self))
    }

    fn open(&self, writer: RecordWriter, means: Means) -> Result<Arc<dyn Work<Arc<Order>>>, ExecuteError> {
        if writer.loaded.suite.targets.is_empty() {
            return Err(ExecuteError::NoTargets);
        }
        Ok(Arc::new(RobustnessWork::new(writer, self, means)?))
    }

    fn not_run(&self, writer: &RecordWriter, planned: (&Trial, &Arc<Order>), why: &str, out: &mut Vec<u8>) {
        work::not_run(self, writer, (planned.0, planned.1.as_ref()), why, out);
    }

    fn factors(&self, loaded: &Loaded) -> String {
        let variants: usize = self.cases.iter().map(|case| case.variants.len()).sum();
        format!("{} cases, {variants} variants and levels, at most", loaded.case_count)
    }

    fn described(&self) -> String {
        stopping::describe(self)
    }

    fn runs_programs(&self) -> bool {
        true
    }

    fn unprepared(&self, resumed: bool) -> usize {
        rewrite::wanted(self, resumed).len()
    }

    fn prepare(
        &self,
        _: &Loaded,
        opening: &Opening,
        resumed: bool,
    ) -> Result<usize, Box<dyn Error + Send + Sync>> {
        Ok(rewrite::rewrite(self, opening, resumed)?)
    }
}
