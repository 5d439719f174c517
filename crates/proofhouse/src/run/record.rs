//! From a reply to a record: judging it, and writing its line.

use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::{Head, Kind, Probe, Status, output_digest};
use proofhouse_ledger::spine::{Spine, Stamp};
use proofhouse_ledger::telemetry::TrialTelemetry;
use proofhouse_ledger::{Digest, Json, RunId};

use crate::judge::{Panel, PanelVerdict, Subject};
use crate::plan::Trial;
use crate::suite::Loaded;
use crate::target::{Outcome, Reply};

/// Writes the records of one run.
pub struct Scribe<'a> {
    loaded: &'a Loaded,
    run_id: RunId,
    spine: Spine,
    panel: Panel,
    judges: Vec<&'a str>,
    primary: &'a str,
    deterministic: bool,
}

/// What the dispatcher wants to know of a record.
#[derive(Debug, Clone, Copy)]
pub struct Noted {
    /// What became of the trial.
    pub status: Status,
    /// Whether it was right.
    pub passed: Option<bool>,
}

/// The seed of one trial: of the suite's seed, the case and the repetition, so that one more trial never shifts the
/// others, and of no slot, so that two targets meet the same luck and can be compared in pairs.
pub fn trial_seed(seed: u64, case_id: &str, repetition: u32) -> u64 {
    let digest =
        Digest::of_parts(&[b"trial", &seed.to_le_bytes(), &repetition.to_le_bytes(), case_id.as_bytes()]);
    u64::from_le_bytes(digest.0[..8].try_into().expect("eight of thirty-two bytes"))
}

impl<'a> Scribe<'a> {
    /// Compiles the judges of a suite.
    pub fn new(loaded: &'a Loaded, run_id: RunId) -> Result<Self, String> {
        let suite = &loaded.suite;
        let panel = suite.panel()?;
        let primary = suite.primary_metric();
        let judges = suite.judges.iter().map(|(name, _)| name.as_str()).collect();
        let deterministic = suite.determinism.deterministic_artifacts;
        Ok(Self { loaded, run_id, spine: Spine::new(&run_id), panel, judges, primary, deterministic })
    }

    /// Judges a reply and appends its record.
    pub fn write(
        &self,
        out: &mut Vec<u8>,
        trial: &Trial,
        reply: &Reply,
        started: Stamp,
        latency_ms: f64,
    ) -> Noted {
        let null = Json::Null;
        let output = reply.output.as_ref().unwrap_or(&null);
        let (status, error_type, error) = describe(&reply.outcome);
        let verdict = (status == Status::Success).then(|| {
            let subject = Subject { input: &trial.case.input, output, expected: &trial.case.expected };
            self.panel.judge(&subject, trial.case.judges.as_deref())
        });
        let scores: Vec<(&str, Option<f64>)> = match &verdict {
            Some(verdict) => verdict.scores.iter().map(|(at, score)| (self.judges[*at], *score)).collect(),
            None => Vec::new(),
        };
        let judge = Json::Object(verdict.as_ref().map(|verdict| self.reasons(verdict)).unwrap_or_default());
        let passed = verdict.and_then(|verdict| verdict.passed);
        let wall = Stamp(started.0 + (latency_ms * 1e3) as i64);
        let head = Head {
            kind: Kind::Probe,
            run_id: self.run_id,
            record_id: trial.record_id,
            index: trial.index,
            suite_id: &self.loaded.suite.suite_id,
            case_id: &trial.case.id,
            slot: &self.loaded.suite.targets[trial.slot].0,
            variant_id: None,
            repetition: trial.repetition,
            input_fingerprint: trial.input_fingerprint,
            status,
            error_type,
            error,
            output_sha256: output_digest(output),
            scores: &scores,
            primary_metric: Some(self.primary),
            passed,
            started_at: if self.deterministic { self.spine.started(trial.index) } else { started },
            completed_at: if self.deterministic { self.spine.completed(trial.index) } else { wall },
            latency_ms: (!self.deterministic).then_some(latency_ms),
            usage: reply.usage.as_ref(),
        };
        let case = &trial.case;
        let body =
            Probe { input: &case.input, output, expected: &case.expected, judge: &judge, tags: &case.tags };
        body.push(out, &head);
        Noted { status, passed }
    }

    fn reasons(&self, verdict: &PanelVerdict) -> Object {
        verdict.explanations.iter().map(|(at, why)| (self.judges[*at], why.as_str())).collect()
    }

    /// Appends what was measured.
    pub fn write_telemetry(&self, out: &mut Vec<u8>, trial: &Trial, started: Stamp, latency_ms: f64) {
        let (index, record_id) = (trial.index, trial.record_id);
        TrialTelemetry { index, record_id, started, latency_ms, attempts: 1 }.push(out);
    }
}

fn describe(outcome: &Outcome) -> (Status, Option<&str>, Option<&str>) {
    let status = match outcome.status() {
        "success" => Status::Success,
        "timeout" => Status::Timeout,
        "rate_limited" => Status::RateLimited,
        _ => Status::Error,
    };
    let (error_type, error) = outcome.explained();
    (status, error_type, error)
}
