//! ProbeWork: one question, one reply, judged.

use std::collections::BTreeMap;
use std::sync::Arc;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::{Probe as Body, Status, output_digest};

use super::Probe;
use super::advisers::Advisers;
use super::plan::Item;
use crate::family::judge::{Advice, Panel, PanelVerdict, Subject};
use crate::family::target::{Chat, Reply, Request, Target};
use crate::spine::plan::Trial;
use crate::spine::run::execute::ExecuteError;
use crate::spine::run::record::{Assessment, RecordWriter, Timer, Timing, describe, trial_seed};
use crate::spine::run::stored::Stored;
use crate::spine::run::work::{
    self, Carrying, GroupTrial, Means, Provenance, RecordSender, TrialLines, TrialResult, Work,
};
use crate::spine::suite::Case;

/// Puts questions to targets and judges what they say.
pub(super) struct ProbeWork {
    writer: RecordWriter,
    targets: Vec<Arc<Target>>,
    panel: Panel,
    advisers: Advisers,
    stored: Option<Stored>,
    judges: Vec<String>,
    primary: String,
}

impl ProbeWork {
    pub(super) fn new(
        writer: RecordWriter,
        targets: Vec<Arc<Target>>,
        probe: &Probe,
        means: Means,
    ) -> Result<Self, ExecuteError> {
        let panel = probe.panel().map_err(ExecuteError::Judge)?;
        let judges: Vec<String> = probe.judges.iter().map(|(name, _)| name.clone()).collect();
        let advisers = Advisers::open(&panel, &judges, &means.opening, means.sandbox.map(Arc::new).as_ref())?;
        let (primary, stored) = (probe.primary_metric().to_owned(), means.stored);
        Ok(Self { writer, targets, panel, advisers, stored, judges, primary })
    }

    fn seed(&self, trial: &Trial) -> u64 {
        trial_seed(self.writer.loaded.suite.seed, &trial.case_id, trial.repetition)
    }

    /// Asks those whom the judges need about a reply that is there to be judged.
    async fn hear(&self, trial: &Trial, case: &Case, reply: &Reply) -> BTreeMap<usize, Vec<Advice>> {
        let only = case.judges.as_deref();
        if describe(&reply.outcome).0 != Status::Success || !self.advisers.is_needed(only) {
            return BTreeMap::new();
        }
        let null = Json::Null;
        let output = reply.output.as_ref().unwrap_or(&null);
        let subject = Subject { input: &case.input, output, expected: &case.expected };
        self.advisers.hear(&self.panel, &subject, only, trial.record_id).await
    }

    /// Judges a reply and appends its record.
    fn write(
        &self,
        lines: &mut TrialLines,
        (trial, case): (&Trial, &Case),
        (reply, advice): (&Reply, &BTreeMap<usize, Vec<Advice>>),
        timing: &Timing,
    ) -> TrialResult {
        let null = Json::Null;
        let output = reply.output.as_ref().unwrap_or(&null);
        let (status, error_type, error) = describe(&reply.outcome);
        let verdict = (status == Status::Success).then(|| {
            let subject = Subject { input: &case.input, output, expected: &case.expected };
            self.panel.judge_with(&subject, case.judges.as_deref(), advice)
        });
        let scores: Vec<(&str, Option<f64>)> = match &verdict {
            Some(verdict) => {
                verdict.scores.iter().map(|(at, score)| (self.judges[*at].as_str(), *score)).collect()
            }
            None => Vec::new(),
        };
        let judge = Json::Object(verdict.as_ref().map(|verdict| self.reasons(verdict)).unwrap_or_default());
        let passed = verdict.and_then(|verdict| verdict.passed);
        let said = Assessment {
            status,
            error_type,
            error,
            output_sha256: output_digest(output),
            scores: &scores,
            primary_metric: Some(&self.primary),
            passed,
            usage: reply.usage.as_ref(),
        };
        let about = reply.about();
        let body = Body {
            input: &case.input,
            output,
            expected: &case.expected,
            judge: &judge,
            response: about.as_ref(),
            tags: &case.tags,
        };
        body.push(&mut lines.record, &self.writer.head(trial, said, timing));
        self.writer.telemetry(&mut lines.telemetry, trial, timing);
        self.writer.attempts(&mut lines.telemetry, trial, reply);
        TrialResult { status, passed }
    }

    /// A wording that there is none of: its place in the plan has a record that says why.
    fn leave_out(&self, lines: &mut TrialLines, (trial, case): (&Trial, &Case), reason: &str) -> TrialResult {
        let error = work::shortfall(reason);
        let said = work::left_out(&error, &self.primary);
        let (null, judge) = (Json::Null, Json::Object(Object::new()));
        let body = Body {
            input: "",
            output: &null,
            expected: &case.expected,
            judge: &judge,
            response: None,
            tags: &case.tags,
        };
        body.push(&mut lines.record, &self.writer.head(trial, said, &Timer::start().timing()));
        TrialResult { status: Status::Skipped, passed: None }
    }

    fn reasons(&self, verdict: &PanelVerdict) -> Object {
        verdict.explanations.iter().map(|(at, why)| (self.judges[*at].as_str(), why.as_str())).collect()
    }
}

impl Work<Item> for ProbeWork {
    fn at_once(&self, trial: &Trial, item: &Item, lines: &mut TrialLines) -> Option<TrialResult> {
        let case = item.case();
        if let Item::Missing(_, reason) = item {
            return Some(self.leave_out(lines, (trial, case), reason));
        }
        let timer = Timer::start();
        if self.advisers.is_needed(case.judges.as_deref()) {
            return None;
        }
        let request = Request { input: &case.input, seed: self.seed(trial), repetition: trial.repetition };
        let reply = match &self.stored {
            Some(stored) => stored.reply(&trial.record_id),
            None => self.targets[trial.slot].at_once(&request)?,
        };
        let advice = BTreeMap::new();
        (reply.delay_ms == 0).then(|| self.write(lines, (trial, case), (&reply, &advice), &timer.timing()))
    }

    fn carry_out(self: Arc<Self>, group: Vec<GroupTrial<Item>>, sender: RecordSender) -> Carrying {
        Box::pin(async move {
            for GroupTrial { trial, item, .. } in group {
                let case = item.case();
                let timer = Timer::start();
                let chat = Chat::ask(case.input.as_str(), self.seed(&trial), trial.repetition);
                let reply = match &self.stored {
                    Some(stored) => stored.reply(&trial.record_id),
                    None => self.targets[trial.slot].chat(&chat).await,
                };
                let timing = timer.timing_of(&reply);
                let advice = self.hear(&trial, case, &reply).await;
                let mut lines = TrialLines::default();
                let result = self.write(&mut lines, (&trial, case), (&reply, &advice), &timing);
                sender.hand_over(&trial, lines, result);
            }
        })
    }

    fn provenance(&self) -> Provenance {
        let Some(sandbox) = self.advisers.sandbox() else { return Provenance::default() };
        Provenance {
            sandbox: Json::Object(Object::from_iter([("network", Json::from("none"))])),
            sandbox_tier: Some(sandbox.tier().to_string()),
            sandbox_gaps: sandbox.gap_texts(),
            ..Provenance::default()
        }
    }
}
