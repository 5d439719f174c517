//! Asking: one question, one reply, judged.

use std::sync::Arc;
use std::time::Duration;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::{Probe as Body, Status, output_digest};

use super::{Carrying, Desk, Noted, Sheet, Step, Work};
use crate::judge::{Panel, PanelVerdict, Subject};
use crate::plan::{Item, Trial};
use crate::run::execute::ExecuteError;
use crate::run::record::{Said, Scribe, Timer, Timing, describe, trial_seed};
use crate::suite::{Case, Probe};
use crate::target::{Outcome, Reply, Request, Target};

/// Puts questions to targets and judges what they say.
pub(super) struct Asking {
    scribe: Scribe,
    targets: Vec<Arc<Target>>,
    panel: Panel,
    judges: Vec<String>,
    primary: String,
}

impl Asking {
    pub(super) fn new(
        scribe: Scribe,
        targets: Vec<Arc<Target>>,
        probe: &Probe,
    ) -> Result<Self, ExecuteError> {
        let panel = probe.panel().map_err(ExecuteError::Judge)?;
        let judges = probe.judges.iter().map(|(name, _)| name.clone()).collect();
        Ok(Self { scribe, targets, panel, judges, primary: probe.primary_metric().to_owned() })
    }

    fn ask(&self, trial: &Trial) -> Reply {
        let case = case(trial);
        let seed = trial_seed(self.scribe.loaded.suite.seed, &case.id, trial.repetition);
        let request = Request { input: &case.input, seed, repetition: trial.repetition };
        self.targets[trial.slot].reply(&request)
    }

    /// Judges a reply and appends its record.
    fn write(&self, sheet: &mut Sheet, trial: &Trial, reply: &Reply, timing: &Timing) -> Noted {
        let null = Json::Null;
        let case = case(trial);
        let output = reply.output.as_ref().unwrap_or(&null);
        let (status, error_type, error) = describe(&reply.outcome);
        let verdict = (status == Status::Success).then(|| {
            let subject = Subject { input: &case.input, output, expected: &case.expected };
            self.panel.judge(&subject, case.judges.as_deref())
        });
        let scores: Vec<(&str, Option<f64>)> = match &verdict {
            Some(verdict) => {
                verdict.scores.iter().map(|(at, score)| (self.judges[*at].as_str(), *score)).collect()
            }
            None => Vec::new(),
        };
        let judge = Json::Object(verdict.as_ref().map(|verdict| self.reasons(verdict)).unwrap_or_default());
        let passed = verdict.and_then(|verdict| verdict.passed);
        let said = Said {
            status,
            error_type,
            error,
            output_sha256: output_digest(output),
            scores: &scores,
            primary_metric: Some(&self.primary),
            passed,
            usage: reply.usage.as_ref(),
        };
        let body =
            Body { input: &case.input, output, expected: &case.expected, judge: &judge, tags: &case.tags };
        body.push(&mut sheet.line, &self.scribe.head(trial, said, timing));
        self.scribe.telemetry(&mut sheet.telemetry, trial, timing);
        Noted { status, passed }
    }

    /// A wording that there is none of: its place in the plan has a record that says why.
    fn leave_out(&self, sheet: &mut Sheet, trial: &Trial, case: &Case, reason: &str) -> Noted {
        let error = format!("the generator has no such variant of this case ({reason})");
        let said = Said {
            status: Status::Skipped,
            error_type: Some("variant_shortfall"),
            error: Some(&error),
            output_sha256: None,
            scores: &[],
            primary_metric: Some(&self.primary),
            passed: None,
            usage: None,
        };
        let (null, judge) = (Json::Null, Json::Object(Object::new()));
        let body =
            Body { input: "", output: &null, expected: &case.expected, judge: &judge, tags: &case.tags };
        body.push(&mut sheet.line, &self.scribe.head(trial, said, &Timer::start().timing()));
        Noted { status: Status::Skipped, passed: None }
    }

    fn reasons(&self, verdict: &PanelVerdict) -> Object {
        verdict.explanations.iter().map(|(at, why)| (self.judges[*at].as_str(), why.as_str())).collect()
    }
}

impl Work for Asking {
    fn at_once(&self, trial: &Trial, sheet: &mut Sheet) -> Option<Noted> {
        if let Item::Missing(case, reason) = &trial.item {
            return Some(self.leave_out(sheet, trial, case, reason));
        }
        let timer = Timer::start();
        let reply = self.ask(trial);
        (reply.delay_ms == 0).then(|| self.write(sheet, trial, &reply, &timer.timing()))
    }

    fn carry_out(self: Arc<Self>, group: Vec<Step>, desk: Desk) -> Carrying {
        Box::pin(async move {
            for Step { trial, .. } in group {
                let timer = Timer::start();
                let mut reply = self.ask(&trial);
                let deadline = self.scribe.loaded.suite.timeout_ms;
                tokio::time::sleep(Duration::from_millis(reply.delay_ms.min(deadline))).await;
                if reply.delay_ms > deadline {
                    reply =
                        Reply { outcome: Outcome::TimedOut, output: None, usage: None, delay_ms: deadline };
                }
                let mut sheet = Sheet::default();
                let noted = self.write(&mut sheet, &trial, &reply, &timer.timing());
                desk.hand_over(&trial, sheet, noted);
            }
        })
    }
}

fn case(trial: &Trial) -> &Case {
    match &trial.item {
        Item::Probe(case) | Item::Missing(case, _) => case,
        Item::Sample(_) | Item::Task(..) | Item::Tool(_) => {
            unreachable!("the plan of a probe suite holds questions only")
        }
    }
}
