//! The record of a `robustness` trial: what a black-box tool was told, how it ended, and what its output says about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Field, Head, Kind, Status, push_not_held, push_record};
use crate::{Digest, Json, RecordId, RunId};

/// Which of the seed's three questions a trial belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The same instruction again and again.
    Baseline,
    /// Other wordings of the same task.
    Adversarial,
    /// Harder versions of the task.
    Stress,
}

impl Mode {
    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Baseline => "baseline",
            Mode::Adversarial => "adversarial",
            Mode::Stress => "stress",
        }
    }
}

/// How the tool's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Termination {
    /// By itself, with an exit code.
    Exited,
    /// By a signal, or because it broke a limit on output, memory or files.
    Signalled,
    /// It ran into its deadline.
    Timeout,
    /// It could not be started.
    SpawnFailed,
}

impl Termination {
    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Termination::Exited => "exited",
            Termination::Signalled => "signalled",
            Termination::Timeout => "timeout",
            Termination::SpawnFailed => "spawn_failed",
        }
    }
}

/// Where a failure happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureStage {
    /// Nothing usable was made.
    Generation,
    /// What was made did not hold.
    Validation,
    /// Repairing it did not help.
    Repair,
    /// The output does not say.
    Unknown,
}

impl FailureStage {
    /// All of them, in the order of reports.
    pub const ALL: [FailureStage; 4] =
        [FailureStage::Generation, FailureStage::Validation, FailureStage::Repair, FailureStage::Unknown];

    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            FailureStage::Generation => "generation",
            FailureStage::Validation => "validation",
            FailureStage::Repair => "repair",
            FailureStage::Unknown => "unknown",
        }
    }

    /// The stage of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.as_str() == word)
    }
}

/// What two runs must share to be equivalent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Observed {
    /// How the process ended.
    pub termination: Termination,
    /// A clean exit, and the output says that it worked.
    pub success: bool,
    /// Null on success.
    pub failure_stage: Option<FailureStage>,
    /// Validation cycles; null where the output does not say.
    pub attempts: Option<u32>,
    /// Repairs; null where the output does not say.
    pub repairs_triggered: Option<u32>,
}

/// Where a policy stopped, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// A stable code of the rule.
    pub rule: String,
    /// After how many runs.
    pub n: u32,
    /// In words.
    pub reason: String,
}

/// The fields that a `robustness` record has beside the head.
#[derive(Debug, Clone)]
pub struct Robustness<'a> {
    /// Which question the trial belongs to.
    pub suite: Mode,
    /// `run_001`: which repetition, as the `tree` export names it.
    pub run_name: &'a str,
    /// The case of a baseline suite that this one varies, if the suite names one.
    pub base_case: Option<&'a str>,
    /// Exactly what the tool received.
    pub instruction: &'a str,
    /// The generator that made it.
    pub generator: Option<&'a str>,
    /// The generator's version.
    pub generator_version: Option<u32>,
    /// What the generator changed, as a list of edits; empty for a base instruction.
    pub edits: &'a Json,
    /// What a model was asked for the instruction and which answers the guard refused; null where no model was asked.
    pub generation: &'a Json,
    /// The rung of a stress ladder.
    pub level: Option<u32>,
    /// What was seen; nothing where the trial was not run or the harness failed.
    pub observed: Option<&'a Observed>,
    /// How the process ended, also where nothing could be assessed.
    pub termination: Option<Termination>,
    /// The exit code of a process that ended by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Wall time; null in deterministic mode.
    pub duration_ms: Option<u64>,
    /// Wall clock; null in deterministic mode.
    pub timestamp_utc: Option<&'a str>,
    /// Whether the tool was told to leave debug artefacts.
    pub debug_enabled: bool,
    /// Whether it left any; null where it was not run.
    pub debug_artifacts_present: Option<bool>,
    /// Where, as the tool sees it.
    pub debug_path: Option<&'a str>,
    /// SHA-256 over names and contents of what was there.
    pub debug_sha256: Option<&'a str>,
    /// What the tool's version command said.
    pub ironclad_version: Option<&'a str>,
    /// Whether the outcome differs from the baseline's modal outcome; null where there is nothing to compare.
    pub interesting: Option<bool>,
    /// Set on the run after which the policy stopped, and on those that it made unnecessary.
    pub stop: Option<&'a Stop>,
    /// Standard output, bounded.
    pub stdout: Option<&'a str>,
    /// Its true length.
    pub stdout_bytes: Option<u64>,
    /// Standard error, bounded.
    pub stderr: Option<&'a str>,
    /// Its true length.
    pub stderr_bytes: Option<u64>,
    /// What the sandbox on that host does not hold, in the doctor's words, where that lets an attack through; absent where it holds
    /// everything, and where nothing was run.
    pub sandbox_does_not_hold: Option<&'a Json>,
}

impl Robustness<'_> {
    /// Appends the line and gives its digest.
    pub fn push(&self, out: &mut Vec<u8>, head: &Head<'_>) -> Digest {
        let integer = |value: Option<u64>| value.map_or(Field::Null, Field::Integer);
        let signed = |value: Option<i32>| value.map_or(Field::Null, |value| Field::Number(value.into()));
        let boolean = |value: Option<bool>| value.map_or(Field::Null, Field::Bool);
        let seen = self.observed;
        let small = |value: Option<u32>| integer(value.map(u64::from));
        let instruction_hash = Digest::of(self.instruction.as_bytes()).prefixed();
        let mut body = vec![
            ("attempts", small(seen.and_then(|seen| seen.attempts))),
            ("base_case", Field::text_or_null(self.base_case)),
            ("debug_artifacts_present", boolean(self.debug_artifacts_present)),
            ("debug_enabled", Field::Bool(self.debug_enabled)),
            ("debug_path", Field::text_or_null(self.debug_path)),
            ("debug_sha256", Field::text_or_null(self.debug_sha256)),
            ("duration_ms", integer(self.duration_ms)),
            ("edits", Field::Json(self.edits)),
            ("exit_code", signed(self.exit_code)),
            (
                "failure_stage",
                Field::text_or_null(seen.and_then(|seen| seen.failure_stage).map(FailureStage::as_str)),
            ),
            ("generation", Field::Json(self.generation)),
            ("generator", Field::text_or_null(self.generator)),
            ("generator_version", small(self.generator_version)),
            ("instruction", Field::Text(self.instruction)),
            ("instruction_hash", Field::Text(&instruction_hash)),
            ("instruction_length", Field::Integer(self.instruction.chars().count() as u64)),
            ("interesting", boolean(self.interesting)),
            ("ironclad_version", Field::text_or_null(self.ironclad_version)),
            ("level", small(self.level)),
            ("repairs_triggered", small(seen.and_then(|seen| seen.repairs_triggered))),
            ("run_name", Field::Text(self.run_name)),
            ("signal", signed(self.signal)),
            ("stderr", Field::text_or_null(self.stderr)),
            ("stderr_bytes", integer(self.stderr_bytes)),
            ("stdout", Field::text_or_null(self.stdout)),
            ("stdout_bytes", integer(self.stdout_bytes)),
            ("stop_n", small(self.stop.map(|stop| stop.n))),
            ("stop_reason", Field::text_or_null(self.stop.map(|stop| stop.reason.as_str()))),
            ("stop_rule", Field::text_or_null(self.stop.map(|stop| stop.rule.as_str()))),
            ("success", boolean(seen.map(|seen| seen.success))),
            ("suite", Field::Plain(self.suite.as_str().as_bytes())),
            ("termination", Field::text_or_null(self.termination.map(Termination::as_str))),
            ("timestamp_utc", Field::text_or_null(self.timestamp_utc)),
        ];
        push_not_held(&mut body, self.sandbox_does_not_hold);
        push_record(out, head, &body)
    }
}

/// A `robustness` record as it is read; also what its JSON Schema is generated from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RobustnessRecord {
    /// Validation cycles; null where the output does not say.
    pub attempts: Option<u32>,
    /// The case of a baseline suite that this one varies.
    pub base_case: Option<String>,
    /// The case.
    pub case_id: String,
    /// On the time spine in deterministic mode.
    pub completed_at: String,
    /// Whether the tool left debug artefacts; null where it was not run.
    pub debug_artifacts_present: Option<bool>,
    /// Whether it was told to.
    pub debug_enabled: bool,
    /// Where, as the tool sees it.
    pub debug_path: Option<String>,
    /// SHA-256 over names and contents of what was there.
    pub debug_sha256: Option<String>,
    /// Wall time; null in deterministic mode.
    pub duration_ms: Option<u64>,
    /// What the generator changed.
    #[schemars(with = "serde_json::Value")]
    pub edits: Json,
    /// What went wrong, in words.
    pub error: Option<String>,
    /// A stable code for what went wrong.
    pub error_type: Option<String>,
    /// The exit code of a process that ended by itself.
    pub exit_code: Option<i32>,
    /// Where it failed; null on success and where nothing could be assessed.
    pub failure_stage: Option<FailureStage>,
    /// What a model was asked for the instruction: `choice`, `prompt`, `rejections`; null where no model was asked.
    #[schemars(with = "serde_json::Value")]
    pub generation: Json,
    /// The generator that made the instruction.
    pub generator: Option<String>,
    /// The generator's version.
    pub generator_version: Option<u32>,
    /// The place in the plan.
    pub index: u64,
    /// SHA-256 of `instruction`.
    pub input_fingerprint: Digest,
    /// Exactly what the tool received.
    pub instruction: String,
    /// `sha256:` and 64 hexadecimal digits of `instruction`.
    pub instruction_hash: String,
    /// Its Unicode scalars.
    pub instruction_length: u64,
    /// Whether the outcome differs from the baseline's modal outcome.
    pub interesting: Option<bool>,
    /// What the tool's version command said.
    pub ironclad_version: Option<String>,
    /// Always `robustness`.
    pub kind: Kind,
    /// Null in deterministic mode.
    pub latency_ms: Option<f64>,
    /// The rung of a stress ladder.
    pub level: Option<u32>,
    /// SHA-256 of standard output, whole.
    pub output_sha256: Option<Digest>,
    /// Whether the tool succeeded; null where that could not be said.
    pub passed: Option<bool>,
    /// Always `success`.
    pub primary_metric: Option<String>,
    /// The trial within the plan.
    pub record_id: RecordId,
    /// SHA-256 of this line without this field.
    pub record_sha256: Digest,
    /// Repairs; null where the output does not say.
    pub repairs_triggered: Option<u32>,
    /// Which repetition, from 0.
    pub repetition: u32,
    /// The run.
    pub run_id: RunId,
    /// `run_001`: which repetition, as the `tree` export names it.
    pub run_name: String,
    /// What the sandbox on that host does not hold, in the doctor's words, where that lets an attack through; absent where it holds
    /// everything, and where nothing was run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sandbox_does_not_hold: Vec<String>,
    /// The version of this format.
    pub schema_version: String,
    /// `success`, 0 or 1.
    pub scores: std::collections::BTreeMap<String, Option<f64>>,
    /// The signal that ended the tool.
    pub signal: Option<i32>,
    /// The target's name in the suite.
    pub slot: String,
    /// On the time spine in deterministic mode.
    pub started_at: String,
    /// What became of the trial.
    pub status: Status,
    /// Standard error, bounded.
    pub stderr: Option<String>,
    /// Its true length.
    pub stderr_bytes: Option<u64>,
    /// Standard output, bounded.
    pub stdout: Option<String>,
    /// Its true length.
    pub stdout_bytes: Option<u64>,
    /// After how many runs the policy stopped.
    pub stop_n: Option<u32>,
    /// Why, in words.
    pub stop_reason: Option<String>,
    /// A stable code of the rule that stopped.
    pub stop_rule: Option<String>,
    /// A clean exit, and the output says that it worked.
    pub success: Option<bool>,
    /// Which question the trial belongs to.
    pub suite: Mode,
    /// The suite.
    pub suite_id: String,
    /// How the process ended.
    pub termination: Option<Termination>,
    /// Wall clock; null in deterministic mode.
    pub timestamp_utc: Option<String>,
    /// Tokens and the like, as the target reported them.
    #[schemars(with = "serde_json::Value")]
    pub usage: Json,
    /// The variant of the case, if a generator made one.
    pub variant_id: Option<String>,
}

impl RobustnessRecord {
    /// What was seen; nothing where the trial was not run or could not be assessed.
    pub fn observed(&self) -> Option<Observed> {
        Some(Observed {
            termination: self.termination?,
            success: self.success?,
            failure_stage: self.failure_stage,
            attempts: self.attempts,
            repairs_triggered: self.repairs_triggered,
        })
    }

    /// Where and why the policy stopped, on the records that say so.
    pub fn stop(&self) -> Option<Stop> {
        Some(Stop {
            rule: self.stop_rule.clone()?,
            n: self.stop_n?,
            reason: self.stop_reason.clone().unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical;
    use crate::json::{Strictness, parse};
    use crate::spine::Spine;

    fn line(observed: Option<&Observed>, stop: Option<&Stop>) -> Vec<u8> {
        let run_id = RunId::of_identity(b"run");
        let spine = Spine::new(&run_id);
        let head = Head {
            kind: Kind::Robustness,
            run_id,
            record_id: RecordId::of_trial("tool", "case", Some("level_1"), 1),
            index: 3,
            suite_id: "suite",
            case_id: "case",
            slot: "tool",
            variant_id: Some("level_1"),
            repetition: 1,
            input_fingerprint: Digest::of("é\tx".as_bytes()),
            status: if observed.is_some() { Status::Success } else { Status::NotRun },
            error_type: None,
            error: None,
            output_sha256: None,
            scores: &[("success", observed.map(|seen| f64::from(u8::from(seen.success))))],
            primary_metric: Some("success"),
            passed: observed.map(|seen| seen.success),
            started_at: spine.started(3),
            completed_at: spine.completed(3),
            latency_ms: None,
            usage: None,
        };
        let body = Robustness {
            suite: Mode::Stress,
            run_name: "run_002",
            base_case: None,
            instruction: "é\tx",
            generator: Some("add_ambiguity"),
            generator_version: Some(1),
            edits: &Json::Array(Vec::new()),
            generation: &Json::Null,
            level: Some(1),
            observed,
            termination: observed.map(|seen| seen.termination),
            exit_code: Some(-1),
            signal: None,
            duration_ms: None,
            timestamp_utc: None,
            debug_enabled: true,
            debug_artifacts_present: Some(false),
            debug_path: None,
            debug_sha256: None,
            ironclad_version: Some("git:3fa91bc"),
            interesting: None,
            stop,
            stdout: Some("out"),
            stdout_bytes: Some(3),
            stderr: Some(""),
            stderr_bytes: Some(0),
            sandbox_does_not_hold: None,
        };
        let mut out = Vec::new();
        body.push(&mut out, &head);
        out
    }

    #[test]
    fn a_line_is_canonical_and_reads_back() {
        let seen = Observed {
            termination: Termination::Exited,
            success: false,
            failure_stage: Some(FailureStage::Repair),
            attempts: Some(4),
            repairs_triggered: None,
        };
        let stop = Stop { rule: "sprt".to_owned(), n: 3, reason: "three in a row".to_owned() };
        for (observed, stop) in [(Some(&seen), Some(&stop)), (None, None)] {
            let bytes = line(observed, stop);
            let bytes = bytes.strip_suffix(b"\n").unwrap();
            let record: RobustnessRecord = serde_json::from_slice(bytes).unwrap();
            assert_eq!(canonical::to_vec(&record).unwrap(), bytes, "typed round trip");
            assert_eq!(parse(bytes, Strictness::Canonical).unwrap().to_string().as_bytes(), bytes);
            assert_eq!(record.observed().as_ref(), observed);
            assert_eq!(record.stop().as_ref(), stop);
            assert_eq!(record.instruction_length, 3);
            assert_eq!(record.instruction_hash, Digest::of("é\tx".as_bytes()).prefixed());
        }
    }
}
