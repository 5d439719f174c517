//! The `tree` export: the run as a folder of small files, one for each run of the tool, from records and telemetry alone.

use std::collections::{BTreeMap, BTreeSet};

use proofhouse_ledger::record::{FailureStage, Mode, RobustnessRecord, Status};
use proofhouse_ledger::summary::robustness::Aggregate;
use proofhouse_ledger::telemetry::TrialTimes;
use proofhouse_ledger::{RecordId, config};
use serde::{Deserialize, Serialize};

use super::aggregate::{Run, aggregate};

/// What telemetry knows of one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// Wall clock, RFC 3339.
    pub started_at: String,
    /// Wall time of the tool.
    pub duration_ms: u64,
}

/// A file of the tree: its path with `/`, and its bytes.
pub type File = (String, Vec<u8>);

/// `summary.json` of one run of the tool, with the fields of the `tree` format in its order.
#[derive(Debug, Serialize)]
struct RunSummary<'a> {
    run_id: &'a str,
    suite: Mode,
    case_id: &'a str,
    variant_id: Option<&'a str>,
    instruction_hash: &'a str,
    instruction_length: u64,
    success: Option<bool>,
    failure_stage: Option<FailureStage>,
    attempts: Option<u32>,
    repairs_triggered: Option<u32>,
    duration_ms: Option<u64>,
    debug_enabled: bool,
    debug_artifacts_present: bool,
    debug_path: Option<&'a str>,
    timestamp_utc: Option<String>,
    /// Readers of this format know it by the name of the first tool.
    #[serde(rename = "ironclad_version")]
    tool_version: Option<&'a str>,
}

/// `ai_generation_failure.json`: the last answer of a rewriting model that the guard refused.
#[derive(Debug, Serialize)]
struct GenerationFailure<'a> {
    generator: &'a str,
    attempt: u64,
    base_instruction: &'a str,
    ai_output: String,
    failure_reasons: Vec<String>,
    timestamp_utc: Option<String>,
}

/// What a record says of the rewriting model, as far as this export tells it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Generation {
    rejections: Vec<Rejection>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Rejection {
    attempt: u64,
    ai_output: String,
    failure_reasons: Vec<String>,
}

/// `metadata.json` of the whole run.
#[derive(Debug, Serialize)]
struct Metadata<'a> {
    run_id: String,
    suite_id: &'a str,
    slot: &'a str,
    started_at: Option<&'a str>,
    /// Readers of this format know it by the name of the first tool.
    #[serde(rename = "ironclad_version")]
    tool_version: Option<&'a str>,
    /// SHA-256 of the suite's file.
    suite_sha256: Option<String>,
    /// The seed of everything random.
    seed: Option<u64>,
    /// The rules by which runs were ended.
    policy: Option<&'a str>,
    /// Each generator that made an instruction, and its version.
    generator_versions: BTreeMap<String, Option<u32>>,
    /// Each generator of the suite, and the seeds that it drew with.
    generator_seeds: &'a BTreeMap<String, BTreeSet<u64>>,
    planned_runs: u64,
    total_runs: u64,
    successes: u64,
    failures: u64,
    not_assessed: u64,
    not_run: u64,
    /// Variants without any run that differs from the baseline's modal outcome: kept, and not worth a look.
    uninteresting: Vec<String>,
}

/// What the tree says of the run that its records do not say.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// SHA-256 of the suite's file.
    pub suite_sha256: Option<String>,
    /// The seed of everything random.
    pub seed: Option<u64>,
    /// The rules by which runs were ended.
    pub policy: Option<String>,
    /// Each generator of the suite, and the seeds that it drew with.
    pub generator_seeds: BTreeMap<String, BTreeSet<u64>>,
}

/// Makes the tree of one target from its records in plan order.
#[derive(Debug, Default)]
pub struct Tree {
    files: Vec<File>,
    groups: BTreeMap<String, Group>,
    variants: BTreeMap<String, bool>,
    first: Option<(String, String)>,
    /// The instruction of the case that is passing by.
    base: String,
    version: Option<String>,
    generators: BTreeMap<String, Option<u32>>,
    planned: u64,
    not_assessed: u64,
    not_run: u64,
}

#[derive(Debug)]
struct Group {
    suite: Mode,
    case_id: String,
    variant: Option<String>,
    runs: Vec<Run>,
}

impl Tree {
    /// Takes the next record; `timing` is what telemetry knows of it.
    pub fn push(&mut self, record: &RobustnessRecord, timing: Option<&Timing>) {
        self.planned += 1;
        if let Some(generator) = &record.generator {
            self.generators.entry(generator.clone()).or_insert(record.generator_version);
        }
        self.first.get_or_insert_with(|| (record.suite_id.clone(), record.slot.clone()));
        let place = RecordFolder::of(record);
        if record.suite == Mode::Baseline {
            self.base.clone_from(&record.instruction);
        }
        if record.status == Status::NotRun {
            self.not_run += 1;
            return;
        }
        let folder = format!("{}/{}", place.runs, record.run_name);
        let duration_ms = record.duration_ms.or(timing.map(|timing| timing.duration_ms));
        self.not_assessed += u64::from(record.observed().is_none());
        self.version = self.version.take().or_else(|| record.tool_version.clone());
        let group = self.groups.entry(place.group.clone()).or_insert_with(|| Group {
            suite: record.suite,
            case_id: record.case_id.clone(),
            variant: place.variant,
            runs: Vec::new(),
        });
        if let Some(observed) = record.observed() {
            group.runs.push(Run {
                observed,
                duration_ms,
                debug: record.debug_artifacts_present == Some(true),
            });
        }
        if record.suite == Mode::Adversarial {
            *self.variants.entry(place.runs).or_default() |= record.interesting == Some(true);
        }
        if record.repetition == 0
            && let Some(failure) = generation_failure(record, &self.base, timing)
        {
            self.files.push((format!("{folder}/ai_generation_failure.json"), pretty(&failure)));
        }
        if record.status == Status::Skipped {
            return;
        }
        let timestamp =
            record.timestamp_utc.clone().or_else(|| timing.map(|timing| timing.started_at.clone()));
        self.files.push((format!("{folder}/summary.json"), pretty(&summary(record, duration_ms, timestamp))));
        self.files.push((format!("{folder}/instruction.txt"), record.instruction.clone().into_bytes()));
        if let Some(path) = &record.debug_path {
            self.files.push((format!("{folder}/debug_ref.txt"), format!("{path}\n").into_bytes()));
        }
    }

    /// The files, below a folder named after the time when the run started.
    pub fn finish(mut self, started_at: Option<&str>, about: &About) -> Vec<File> {
        let root = folder_name(started_at);
        let sums: Vec<(String, Aggregate)> = self
            .groups
            .iter()
            .map(|(path, group)| {
                (path.clone(), aggregate(group.suite, &group.case_id, group.variant.as_deref(), &group.runs))
            })
            .collect();
        let (suite_id, slot) = self.first.clone().unwrap_or_default();
        let sum = |part: fn(&Aggregate) -> u64| sums.iter().map(|(_, sum)| part(sum)).sum();
        let metadata = Metadata {
            run_id: root.clone(),
            suite_id: &suite_id,
            slot: &slot,
            started_at,
            tool_version: self.version.as_deref(),
            suite_sha256: about.suite_sha256.clone(),
            seed: about.seed,
            policy: about.policy.as_deref(),
            generator_versions: self.generators.clone(),
            generator_seeds: &about.generator_seeds,
            planned_runs: self.planned,
            total_runs: sum(|sum| sum.total_runs),
            successes: sum(|sum| sum.successes),
            failures: sum(|sum| sum.failures),
            not_assessed: self.not_assessed,
            not_run: self.not_run,
            uninteresting: self
                .variants
                .iter()
                .filter(|(_, any)| !**any)
                .map(|(path, _)| path.clone())
                .collect(),
        };
        self.files.push(("metadata.json".to_owned(), pretty(&metadata)));
        self.files.extend(sums.iter().map(|(path, sum)| (format!("{path}/aggregate.json"), pretty(sum))));
        self.files.sort();
        self.files.into_iter().map(|(path, bytes)| (format!("{root}/{path}"), bytes)).collect()
    }
}

/// Reads what telemetry knows: record → when it started and how long the tool ran.
pub fn timings(telemetry: &[u8]) -> BTreeMap<RecordId, Timing> {
    let line = |line: &[u8]| {
        let TrialTimes { record_id, started_at, latency_ms } = serde_json::from_slice(line).ok()?;
        Some((record_id, Timing { started_at, duration_ms: latency_ms.round() as u64 }))
    };
    telemetry.split(|byte| *byte == b'\n').filter_map(line).collect()
}

/// Where a record's files are.
struct RecordFolder {
    runs: String,
    group: String,
    variant: Option<String>,
}

impl RecordFolder {
    fn of(record: &RobustnessRecord) -> RecordFolder {
        let (mode, case) = (record.suite.as_str(), &record.case_id);
        match record.suite {
            Mode::Baseline => {
                let folder = format!("{mode}/{case}");
                RecordFolder { runs: folder.clone(), group: folder, variant: None }
            }
            Mode::Stress => {
                let level = format!("level_{}", record.level.unwrap_or_default());
                let folder = format!("{mode}/{case}/{level}");
                RecordFolder { runs: folder.clone(), group: folder, variant: Some(level) }
            }
            Mode::Adversarial => {
                let generator = record.generator.clone().unwrap_or_default();
                let number =
                    record.variant_id.as_deref().and_then(|id| id.rsplit('_').next()).unwrap_or_default();
                let group = format!("{mode}/{case}/{generator}");
                RecordFolder { runs: format!("{group}/variant_{number}"), group, variant: Some(generator) }
            }
        }
    }
}

fn summary<'a>(
    record: &'a RobustnessRecord,
    duration_ms: Option<u64>,
    timestamp: Option<String>,
) -> RunSummary<'a> {
    RunSummary {
        run_id: &record.run_name,
        suite: record.suite,
        case_id: &record.case_id,
        variant_id: record.variant_id.as_deref(),
        instruction_hash: &record.instruction_hash,
        instruction_length: record.instruction_length,
        success: record.success,
        failure_stage: record.failure_stage,
        attempts: record.attempts,
        repairs_triggered: record.repairs_triggered,
        duration_ms,
        debug_enabled: record.debug_enabled,
        debug_artifacts_present: record.debug_artifacts_present == Some(true),
        debug_path: record.debug_path.as_deref(),
        timestamp_utc: timestamp.map(|text| to_the_second(&text)),
        tool_version: record.tool_version.as_deref(),
    }
}

/// What the guard refused last, if it refused anything for this variant.
fn generation_failure<'a>(
    record: &'a RobustnessRecord,
    base: &'a str,
    timing: Option<&Timing>,
) -> Option<GenerationFailure<'a>> {
    let Generation { mut rejections } = config::part(&record.generation);
    let Rejection { attempt, ai_output, failure_reasons } = rejections.pop()?;
    Some(GenerationFailure {
        generator: record.generator.as_deref().unwrap_or_default(),
        attempt,
        base_instruction: base,
        ai_output,
        failure_reasons,
        // The record's own times follow from the run's id: they are no clock.
        timestamp_utc: timing.map(|timing| to_the_second(&timing.started_at)),
    })
}

/// `2026-01-10T15:15:33.123Z` without its fraction.
fn to_the_second(text: &str) -> String {
    match text.split_once('.') {
        Some((whole, _)) => format!("{whole}Z"),
        None => text.to_owned(),
    }
}

/// `run_20260110_151533`, from the first 19 characters of the time; without one the folder says so.
fn folder_name(started_at: Option<&str>) -> String {
    let digits: String =
        started_at.unwrap_or_default().chars().take(19).filter(char::is_ascii_digit).collect();
    match digits.len() {
        14 => format!("run_{}_{}", &digits[..8], &digits[8..]),
        _ => "run_unknown".to_owned(),
    }
}

fn pretty(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("plain values serialize");
    bytes.push(b'\n');
    bytes
}
