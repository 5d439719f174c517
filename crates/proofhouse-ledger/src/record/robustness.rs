//! The record of a `robustness` trial: what a black-box tool was told, how it ended, and what its output says about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::declare::record;
use super::field::words;
use super::rules::{is_digest_of, score_is_the_verdict};
use super::{Damage, HEAD, Line, Status, Value};
use crate::{Digest, Json};

/// Which of the three questions of a robustness suite a trial belongs to.
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
    /// All of them, in the order of reports.
    pub const ALL: [Mode; 3] = [Mode::Baseline, Mode::Adversarial, Mode::Stress];

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
    /// All of them.
    pub const ALL: [Termination; 4] =
        [Termination::Exited, Termination::Signalled, Termination::Timeout, Termination::SpawnFailed];

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

words!(Mode, Termination, FailureStage);

record! {
    fields ROBUSTNESS: RobustnessFields;
    /// A `robustness` record as it is read; also what its JSON Schema is generated from.
    reads RobustnessRecord;
    /// The fields that a `robustness` record has beside the head.
    writes Robustness;
    own {
        /// Which question the trial belongs to.
        suite: Mode,
        /// `run_001`: which repetition, as the `tree` export names it.
        run_name: String,
        /// The case of a baseline suite that this one varies.
        base_case: Option<String>,
        /// Exactly what the tool received.
        instruction: String,
        /// The generator that made the instruction.
        generator: Option<String>,
        /// The generator's version.
        generator_version: Option<u32>,
        /// What the generator changed.
        edits: Json,
        /// What a model was asked for the instruction: `choice`, `prompt`, `rejections`; null where no model was asked.
        generation: Json,
        /// The rung of a stress ladder.
        level: Option<u32>,
        /// How the process ended.
        termination: Option<Termination>,
        /// The exit code of a process that ended by itself.
        exit_code: Option<i32>,
        /// The signal that ended the tool.
        signal: Option<i32>,
        /// Wall time; null in deterministic mode.
        duration_ms: Option<u64>,
        /// Wall clock; null in deterministic mode.
        timestamp_utc: Option<String>,
        /// Whether it was told to.
        debug_enabled: bool,
        /// Whether the tool left debug artefacts; null where it was not run.
        debug_artifacts_present: Option<bool>,
        /// Where their copy is in the folder beside the run directory; null where none was kept.
        debug_path: Option<String>,
        /// SHA-256 over names and contents of what was there.
        debug_sha256: Option<String>,
        /// What the tool's version command said.
        tool_version as "ironclad_version": Option<String>,
        /// Whether the outcome differs from the baseline's modal outcome.
        interesting: Option<bool>,
        /// Standard output, bounded.
        stdout: Option<String>,
        /// Its true length.
        stdout_bytes: Option<u64>,
        /// Standard error, bounded.
        stderr: Option<String>,
        /// Its true length.
        stderr_bytes: Option<u64>,
        /// Why a judge of the suite gave less than 1, or nothing, by its name; absent where the suite has no judges.
        judge [absent if "Option::is_none"]: Option<Json>,
        /// What the sandbox on that host does not hold, in the doctor's words, where that lets an attack through; absent where it holds
        /// everything, and where nothing was run.
        sandbox_does_not_hold [absent if "Vec::is_empty"]: Vec<String>,
    }
    given {
        /// What was seen; nothing where the trial was not run or the harness failed.
        observed: Option<&'a Observed>,
        /// Set on the run after which the policy stopped, and on those that it made unnecessary.
        stop: Option<&'a Stop>,
    }
    derived {
        /// Validation cycles; null where the output does not say.
        attempts: Option<u32> = |body, _head| body.observed.and_then(|seen| seen.attempts);
        /// Where it failed; null on success and where nothing could be assessed.
        failure_stage: Option<FailureStage> = |body, _head| body.observed.and_then(|seen| seen.failure_stage);
        /// `sha256:` and 64 hexadecimal digits of `instruction`.
        instruction_hash: String = |body, _head| Value::Prefixed(Digest::of(body.instruction.as_bytes()));
        /// Its Unicode scalars.
        instruction_length: u64 = |body, _head| body.instruction.chars().count() as u64;
        /// Repairs; null where the output does not say.
        repairs_triggered: Option<u32> = |body, _head| body.observed.and_then(|seen| seen.repairs_triggered);
        /// After how many runs the policy stopped.
        stop_n: Option<u32> = |body, _head| body.stop.map(|stop| stop.n);
        /// Why, in words.
        stop_reason: Option<String> = |body, _head| body.stop.map(|stop| stop.reason.as_str());
        /// A stable code of the rule that stopped.
        stop_rule: Option<String> = |body, _head| body.stop.map(|stop| stop.rule.as_str());
        /// A clean exit, and the output says that it worked.
        success: Option<bool> = |body, _head| body.observed.map(|seen| seen.success);
    }
    means {
        input_fingerprint: "SHA-256 of `instruction`.",
        kind: "Always `robustness`.",
        output_sha256: "SHA-256 of standard output, whole.",
        passed: "Whether the tool succeeded, in the eyes of the judges too; null where that could not be said.",
        primary_metric: "Always `success`.",
        scores: "`success`, 0 or 1, and the scores of the suite's judges.",
    }
    digests {
        HEAD.input_fingerprint => ROBUSTNESS.instruction,
        ROBUSTNESS.instruction_hash => ROBUSTNESS.instruction,
    }
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

/// Fields of a `robustness` record that say different things.
pub(super) fn contradictions(line: &Line<'_>) -> Result<Vec<&'static str>, Damage> {
    let mut wrong = Vec::new();
    score_is_the_verdict(line, "success", line.raw(ROBUSTNESS.judge).is_some(), &mut wrong)?;
    let (passed, success) = (line.get(HEAD.passed)?, line.get(ROBUSTNESS.success)?);
    if passed != success {
        wrong.push("`success` contradicts `passed`");
    }
    let termination = line.get(ROBUSTNESS.termination)?;
    if success == Some(true)
        && (termination != Some(Termination::Exited) || line.get(ROBUSTNESS.failure_stage)?.is_some())
    {
        wrong.push("`success` is true, and the tool did not end by itself or failed at a stage");
    }
    ended(line, (termination, success), &mut wrong)?;
    planned(line, &mut wrong)?;
    if line.get(ROBUSTNESS.exit_code)?.is_some() && termination != Some(Termination::Exited) {
        wrong.push("there is an `exit_code`, and the tool did not end by itself");
    }
    let instruction = line.get(ROBUSTNESS.instruction)?;
    if line.get(ROBUSTNESS.instruction_length)? != instruction.chars().count() as u64 {
        wrong.push("`instruction_length` is not the length of `instruction`");
    }
    let (stdout, length) = (line.get(ROBUSTNESS.stdout)?, line.get(ROBUSTNESS.stdout_bytes)?);
    if !is_digest_of(stdout.as_deref(), length, line.get(HEAD.output_sha256)?) {
        wrong.push("`output_sha256` is not the digest of `stdout`");
    }
    Ok(wrong)
}

/// How the tool ended, what was seen of it, and the status are one story.
fn ended(
    line: &Line<'_>,
    (termination, success): (Option<Termination>, Option<bool>),
    wrong: &mut Vec<&'static str>,
) -> Result<(), Damage> {
    let status = line.status()?;
    let was_seen = !matches!(termination, None | Some(Termination::SpawnFailed));
    if was_seen != success.is_some() {
        wrong.push("`success` is null exactly where the tool did not run, and here it is not");
    }
    let due = match termination {
        Some(Termination::Timeout) => status == Status::Timeout,
        _ if was_seen => status == Status::Success,
        _ => !matches!(status, Status::Success | Status::Timeout),
    };
    if !due {
        wrong.push("`termination` contradicts `status`");
    }
    let stage = line.get(ROBUSTNESS.failure_stage)?;
    if success == Some(false) && stage.is_none() {
        wrong.push("`success` is false, and `failure_stage` is null");
    }
    let counts = [ROBUSTNESS.attempts, ROBUSTNESS.repairs_triggered].map(|field| line.get(field));
    let counted = counts.into_iter().collect::<Result<Vec<_>, _>>()?.iter().any(Option::is_some);
    if success.is_none() && (stage.is_some() || counted) {
        wrong.push("`success` is null, and there is a `failure_stage`, or `attempts` or `repairs_triggered`");
    }
    if success == Some(true) && line.get(ROBUSTNESS.exit_code)?.is_some_and(|code| code != 0) {
        wrong.push("`success` is true, and `exit_code` is not 0");
    }
    if line.get(ROBUSTNESS.signal)?.is_some() && termination != Some(Termination::Signalled) {
        wrong.push("there is a `signal`, and the tool was not ended by one");
    }
    if matches!(status, Status::NotRun | Status::Skipped)
        && [line.require(ROBUSTNESS.stdout)?, line.require(ROBUSTNESS.stderr)?]
            .iter()
            .any(|raw| *raw != b"null")
    {
        wrong.push("there is output, and `status` says that the tool was not run");
    }
    Ok(())
}

/// Fields that are there together or not at all.
fn planned(line: &Line<'_>, wrong: &mut Vec<&'static str>) -> Result<(), Damage> {
    let is_null = |raw: &[u8]| raw == b"null";
    for (one, other, what) in [
        (
            line.require(ROBUSTNESS.stdout)?,
            line.require(ROBUSTNESS.stdout_bytes)?,
            "one of `stdout` and `stdout_bytes` is null and the other is not",
        ),
        (
            line.require(ROBUSTNESS.stderr)?,
            line.require(ROBUSTNESS.stderr_bytes)?,
            "one of `stderr` and `stderr_bytes` is null and the other is not",
        ),
        (
            line.require(ROBUSTNESS.stop_rule)?,
            line.require(ROBUSTNESS.stop_n)?,
            "one of `stop_rule` and `stop_n` is null and the other is not",
        ),
        (
            line.require(ROBUSTNESS.stop_rule)?,
            line.require(ROBUSTNESS.stop_reason)?,
            "one of `stop_rule` and `stop_reason` is null and the other is not",
        ),
        (
            line.require(ROBUSTNESS.generator)?,
            line.require(ROBUSTNESS.generator_version)?,
            "one of `generator` and `generator_version` is null and the other is not",
        ),
    ] {
        if is_null(one) != is_null(other) {
            wrong.push(what);
        }
    }
    if line.get(ROBUSTNESS.level)?.is_some() && line.get(ROBUSTNESS.suite)? != Mode::Stress {
        wrong.push("there is a `level`, and `suite` is not `stress`");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::samples;

    #[test]
    fn what_was_seen_and_why_it_stopped_reads_back() {
        let (seen, stop) = samples::seen();
        for given in [Some((&seen, &stop)), None] {
            let record: RobustnessRecord =
                serde_json::from_slice(&samples::robustness(3, given)).expect("a record");
            assert_eq!(record.observed().as_ref(), given.map(|(seen, _)| seen));
            assert_eq!(record.stop().as_ref(), given.map(|(_, stop)| stop));
            assert_eq!(record.instruction_length, samples::INPUT.chars().count() as u64);
            assert_eq!(record.instruction_hash, Digest::of(samples::INPUT.as_bytes()).prefixed());
        }
    }

    #[test]
    fn a_stage_is_known_by_its_word() {
        for stage in FailureStage::ALL {
            assert_eq!(FailureStage::from_word(stage.as_str()), Some(stage));
        }
        assert_eq!(FailureStage::from_word("elsewhere"), None);
    }
}
