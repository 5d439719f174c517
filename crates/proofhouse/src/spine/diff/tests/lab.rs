//! Two run directories in a temporary place, built from rows and spoilt line by line.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use proofhouse_ledger::canonical;
use proofhouse_ledger::digest::root_of;
use proofhouse_ledger::json::{Strictness, parse};
use proofhouse_ledger::manifest::{Determinism, Manifest};
use proofhouse_ledger::record::{Head, Kind, Line, Probe, Spans, Status, output_digest};
use proofhouse_ledger::spine::Spine;
use proofhouse_ledger::{Digest, Json, RecordId, RunId, RunPaths};

use crate::spine::diff::fields::Rules;
use crate::spine::diff::findings::Findings;
use crate::spine::diff::run::{Pairing, Run};
use crate::spine::diff::{Options, Report, Side, compare, index, join};

/// What a record says, apart from its place and its run.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) case: String,
    pub(super) slot: &'static str,
    pub(super) variant: Option<&'static str>,
    pub(super) repetition: u32,
    pub(super) status: Status,
    pub(super) error: Option<String>,
    pub(super) input: String,
    pub(super) output: Json,
    pub(super) expected: Json,
    pub(super) scores: (f64, f64),
    pub(super) passed: Option<bool>,
    pub(super) usage: Json,
}

/// A row that passed.
pub(super) fn row(case: &str, slot: &'static str) -> Row {
    Row {
        case: case.to_owned(),
        slot,
        variant: None,
        repetition: 0,
        status: Status::Success,
        error: None,
        input: format!("What is {case}?"),
        output: Json::from(format!("The answer to {case} is 42.")),
        expected: Json::from("42"),
        scores: (1.0, 0.5),
        passed: Some(true),
        usage: json(r#"{"output_tokens":7}"#),
    }
}

pub(super) fn json(text: &str) -> Json {
    parse(text.as_bytes(), Strictness::Strict).unwrap()
}

/// Six rows: three cases on two slots of the same model.
pub(super) fn six() -> Vec<Row> {
    ["one", "two", "three"].iter().flat_map(|case| [row(case, "left"), row(case, "right")]).collect()
}

/// A run's lines, without newlines.
pub(super) type Lines = Vec<String>;

/// The lines of a run in which row n stands at place n.
pub(super) fn lines(run: &str, rows: &[Row]) -> Lines {
    rows.iter().enumerate().map(|(index, row)| line(run, index as u64, row)).collect()
}

pub(super) fn line(run: &str, index: u64, row: &Row) -> String {
    let run_id = RunId::of_identity(run.as_bytes());
    let spine = Spine::new(&run_id);
    let head = Head {
        kind: Kind::Probe,
        run_id,
        record_id: RecordId::of_trial(row.slot, &row.case, row.variant, row.repetition),
        index,
        suite_id: "suite",
        case_id: &row.case,
        slot: row.slot,
        variant_id: row.variant,
        repetition: row.repetition,
        input_fingerprint: Digest::of(row.input.as_bytes()),
        status: row.status,
        error_type: None,
        error: row.error.as_deref(),
        output_sha256: output_digest(&row.output),
        scores: &[("exact", Some(row.scores.0)), ("style", Some(row.scores.1))],
        primary_metric: Some("exact"),
        passed: row.passed,
        started_at: spine.started(index),
        completed_at: spine.completed(index),
        latency_ms: None,
        usage: Some(&row.usage),
    };
    let judge = Json::Object(Default::default());
    let body = Probe {
        input: &Json::from(row.input.as_str()),
        output: &row.output,
        expected: &row.expected,
        judge: &judge,
        advice: None,
        calibration: None,
        reasoning: None,
        response: None,
        tags: &[],
        turns: None,
    };
    let mut out = Vec::new();
    body.push(&mut out, &head);
    out.pop();
    String::from_utf8(out).unwrap()
}

/// The same for every run of the lab.
pub(super) const CONFIG: &str = "timeout_ms: 1000\n";

/// Two directories.
pub(super) struct Lab {
    _temp: tempfile::TempDir,
    pub(super) a: RunPaths,
    pub(super) b: RunPaths,
    pub(super) options: Options,
}

impl Lab {
    pub(super) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(temp.path().to_owned()).unwrap();
        let (a, b) = (RunPaths::new(root.join("a")), RunPaths::new(root.join("b")));
        [&a, &b].iter().for_each(|paths| std::fs::create_dir(&paths.dir).unwrap());
        Self { _temp: temp, a, b, options: Options::default() }
    }

    /// Both runs whole, each with a manifest.
    pub(super) fn with(a: (&str, &Lines), b: (&str, &Lines)) -> Self {
        let lab = Self::new();
        for (paths, (run, lines)) in [(&lab.a, a), (&lab.b, b)] {
            lab.write(paths, &whole(lines));
            std::fs::write(paths.config(), CONFIG).unwrap();
            let mut manifest = manifest(run, lines.len() as u64);
            manifest.records_merkle_root = root_of(&lines.iter().filter_map(own_digest).collect::<Vec<_>>());
            std::fs::write(paths.manifest(), canonical::to_file(&manifest).unwrap()).unwrap();
        }
        lab
    }

    pub(super) fn write(&self, paths: &RunPaths, records: &str) {
        std::fs::write(paths.records(), records).unwrap();
    }

    pub(super) fn ignoring(mut self, pointer: &str) -> Self {
        self.options.ignore.push(pointer.to_owned());
        self
    }

    pub(super) fn pairing(&self) -> Pairing {
        let (a, b) = (Run::open(Side::A, &self.a).unwrap(), Run::open(Side::B, &self.b).unwrap());
        Pairing::new(a, b, Rules::new(&self.options).unwrap())
    }

    /// Compares, in plan order and by index.
    pub(super) fn report(&self) -> Report {
        let report = compare(&self.a, &self.b, &self.options).unwrap();
        let pairing = self.pairing();
        let findings = index::by_id(&pairing, Findings::new(self.options.limit)).unwrap();
        assert_eq!(Report::new(&pairing, findings, &self.options), report, "both ways find the same");
        report
    }

    /// Whether a walk in plan order is not enough.
    pub(super) fn needs_index(&self) -> bool {
        join::in_order(&self.pairing(), self.options.limit).unwrap().is_none()
    }
}

/// The digest that a line should have, whatever it says.
fn own_digest(line: &String) -> Option<Digest> {
    Line::split(line.as_bytes(), &mut Spans::default()).ok()?.recompute_digest().ok()
}

pub(super) fn whole(lines: &Lines) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Compares two whole runs and checks what classes of change there are; those not named have none.
pub(super) fn check(a: (&str, &Lines), b: (&str, &Lines), expected: &[(&str, u64)]) -> Report {
    let report = Lab::with(a, b).report();
    assert_counts(&report, expected);
    report
}

pub(super) fn assert_counts(report: &Report, expected: &[(&str, u64)]) {
    let expected: BTreeMap<&str, u64> = expected.iter().copied().collect();
    let found: BTreeMap<&str, u64> = report
        .counts_any
        .iter()
        .map(|(class, count)| (class.as_str(), *count))
        .filter(|(_, count)| *count > 0)
        .collect();
    assert_eq!(found, expected, "{report:#?}");
}

pub(super) fn manifest(run: &str, record_count: u64) -> Manifest {
    let digest = Digest::of(CONFIG.as_bytes());
    let run_id = RunId::of_identity(run.as_bytes());
    let spine = Spine::new(&run_id);
    Manifest {
        schema_version: "1.0".to_owned(),
        kind: Kind::Probe,
        run_id,
        suite_id: "suite".to_owned(),
        suite_sha256: digest,
        suite_content_sha256: digest,
        datasets: Vec::new(),
        targets: Vec::new(),
        seed: 1,
        plan_sha256: digest,
        record_count,
        counts: BTreeMap::new(),
        records_sha256: digest,
        records_merkle_root: digest,
        config_sha256: digest,
        summary_sha256: digest,
        proofhouse_version: "0.1.0".to_owned(),
        prices: None,
        toolchains: BTreeMap::new(),
        sandbox: Json::Null,
        started_at: spine.run_start().to_string(),
        completed_at: spine.run_end(record_count).to_string(),
        determinism: Determinism { strict_serialization: true, deterministic_artifacts: true },
        platform: None,
        command: None,
        shard: None,
    }
}
