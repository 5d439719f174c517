//! What the suite's judges say about a run of a tool, beside the tool's own outcome rules.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::{FailureStage, Observed};

use super::suite::{RobustnessBody, ToolCase};
use crate::family::judge::{Panel, Scoring, Subject};
use crate::family::target::command::Invocation;
use crate::text::complaint::Complaint;

/// The judges of a suite; none where it has none.
pub(super) struct Judging {
    panel: Option<Panel>,
    names: Vec<String>,
}

/// What they said of one run.
#[derive(Default)]
pub(super) struct Judged {
    /// Each judge that the case has, and its score.
    pub(super) scores: Vec<(String, Option<f64>)>,
    /// Why a score is not 1 or missing, by the judge's name; none where the suite has no judges.
    pub(super) reasons: Option<Json>,
}

impl Judging {
    pub(super) fn new(body: &RobustnessBody) -> Result<Judging, Complaint> {
        let names: Vec<String> = body.judges.iter().map(|(name, _)| name.clone()).collect();
        let panel = (!names.is_empty()).then(|| Panel::new(&body.judges, &Scoring::default())).transpose()?;
        Ok(Judging { panel, names })
    }

    /// Judges what the tool printed without line ends at its end, as far as the record keeps it. A success is one by the tool's own rules and a pass of all
    /// judges of the case; what no judge could assess is not assessed.
    pub(super) fn assess(&self, ran: &mut Invocation, case: &ToolCase, instruction: &str) -> Judged {
        let (Some(panel), Some(seen)) = (&self.panel, ran.observed) else { return Judged::default() };
        if !seen.success {
            return Judged { reasons: Some(Json::Object(Object::new())), ..Judged::default() };
        }
        // As a shell takes what a program prints: `^5$` is meant to match what `echo 5` says.
        let output = Json::from(ran.stdout.text.trim_end_matches(['\n', '\r']));
        let subject =
            Subject { input: instruction, output: &output, expected: &case.expected, ..Subject::default() };
        let verdict = panel.judge(&subject, case.judges.as_deref());
        let named = |at: usize| self.names[at].as_str();
        let reasons: Object =
            verdict.explanations.iter().map(|(at, why)| (named(*at), why.as_str())).collect();
        match verdict.passed {
            Some(passed) => {
                let failure_stage = (!passed).then_some(FailureStage::Validation);
                ran.observed = Some(Observed { success: passed, failure_stage, ..seen });
            }
            None => {
                ran.observed = None;
                ran.trouble = Some(("unjudged", "a judge could not assess what the tool printed".to_owned()));
            }
        }
        Judged {
            scores: verdict.scores.iter().map(|(at, score)| (named(*at).to_owned(), *score)).collect(),
            reasons: Some(Json::Object(reasons)),
        }
    }
}
