//! A sound record of each kind, for tests.

use super::containment::{ModelPart, Outcome};
use super::{
    Code, Containment, Head, Kind, Mode, Observed, Probe, Robustness, Status, Stop, Termination,
    output_digest,
};
use crate::json::Object;
use crate::spine::Spine;
use crate::{Digest, Json, RecordId, RunId};

pub(crate) const SUITE: &str = "suite";
pub(crate) const SLOT: &str = "slot";
pub(crate) const INPUT: &str = "why \"so\"?\n";

pub(crate) fn run_id() -> RunId {
    RunId::of_identity(b"test")
}

/// The head of a record that passed.
pub(crate) fn head<'a>(kind: Kind, index: u64, case_id: &'a str) -> Head<'a> {
    let spine = Spine::new(&run_id());
    Head {
        kind,
        run_id: run_id(),
        record_id: RecordId::of_trial(SLOT, case_id, None, 0),
        index,
        suite_id: SUITE,
        case_id,
        slot: SLOT,
        variant_id: None,
        repetition: 0,
        input_fingerprint: Digest::of(INPUT.as_bytes()),
        status: Status::Success,
        error_type: None,
        error: None,
        output_sha256: None,
        scores: &[("exact", Some(1.0))],
        primary_metric: Some("exact"),
        passed: Some(true),
        started_at: spine.started(index),
        completed_at: spine.completed(index),
        latency_ms: None,
        usage: None,
    }
}

/// A `probe` record with this output, and with its head changed.
pub(crate) fn probe(index: u64, output: &Json, change: impl FnOnce(&mut Head<'_>)) -> Vec<u8> {
    let case_id = format!("case-{index}");
    let mut head = head(Kind::Probe, index, &case_id);
    head.output_sha256 = output_digest(output);
    change(&mut head);
    let mut out = Vec::new();
    let empty = Json::Object(Object::new());
    let tags = ["x".to_owned(), "y\"".to_owned()];
    Probe {
        input: &Json::from(INPUT),
        output,
        expected: &Json::Null,
        judge: &empty,
        advice: None,
        calibration: None,
        reasoning: None,
        response: None,
        tags: &tags,
        turns: None,
    }
    .push(&mut out, &head);
    out
}

/// A `code` record.
pub(crate) fn code(index: u64) -> Vec<u8> {
    let empty = Json::Array(Vec::new());
    let mut finding = Object::new();
    for key in ["code", "column", "file", "line"] {
        finding.set(key, Json::Null);
    }
    finding.set("message", "m");
    let lints = Json::Array(vec![Json::Object(finding)]);
    let missing = ["serde".to_owned()];
    let body = Code {
        task_id: Some("task"),
        task: Some("fn f()"),
        program: None,
        test_source: None,
        test_line: None,
        completion: Some("fn f() {}"),
        completion_bytes: Some(9),
        completion_id: 2,
        compile_ok: Some(true),
        clippy_ok: None,
        test_ok: Some(true),
        main_free: Some(true),
        border: Some("separate"),
        has_unsafe: Some(false),
        cached: None,
        compile_time_ms: None,
        binary_size_bytes: None,
        baseline_size_bytes: None,
        result: "passed",
        stderr: "",
        stderr_bytes: 0,
        stderr_sha256: None,
        compile_errors: &empty,
        lints: &lints,
        tests: &empty,
        panic: None,
        missing_crates: &missing,
        tries: &Json::Array(vec![Json::Null, "x".into()]),
        tags: &[],
        sandbox_does_not_hold: &[],
    };
    let mut out = Vec::new();
    let head = Head {
        scores: &[("pass", Some(1.0))],
        primary_metric: Some("pass"),
        output_sha256: Some(Digest::of(b"fn f() {}")),
        ..head(Kind::Code, index, "case")
    };
    body.push(&mut out, &head);
    out
}

/// A `robustness` record of a run that was seen and after which the policy stopped, or of one that was not run.
pub(crate) fn robustness(index: u64, seen: Option<(&Observed, &Stop)>) -> Vec<u8> {
    let observed = seen.map(|(observed, _)| observed);
    let gaps: &[String] = if seen.is_some() { &["a gap".to_owned()] } else { &[] };
    let body = Robustness {
        suite: Mode::Stress,
        run_name: "run_002",
        base_case: None,
        instruction: INPUT,
        generator: Some("add_ambiguity"),
        generator_version: Some(1),
        edits: &Json::Array(Vec::new()),
        generation: &Json::Null,
        level: Some(1),
        observed,
        termination: observed.map(|seen| seen.termination),
        exit_code: observed.map(|_| -1),
        signal: None,
        duration_ms: None,
        timestamp_utc: None,
        debug_enabled: true,
        debug_artifacts_present: Some(false),
        debug_path: None,
        debug_sha256: None,
        tool_version: Some("git:3fa91bc"),
        interesting: None,
        stop: seen.map(|(_, stop)| stop),
        stdout: observed.map(|_| "out"),
        stdout_bytes: observed.map(|_| 3),
        stderr: observed.map(|_| ""),
        stderr_bytes: observed.map(|_| 0),
        judge: None,
        sandbox_does_not_hold: gaps,
    };
    let mut out = Vec::new();
    let passed = observed.map(|seen| seen.success);
    let head = Head {
        status: if passed.is_some() { Status::Success } else { Status::NotRun },
        scores: &[("success", passed.map(f64::from))],
        primary_metric: Some("success"),
        passed,
        output_sha256: passed.map(|_| Digest::of(b"out")),
        ..head(Kind::Robustness, index, "case")
    };
    body.push(&mut out, &head);
    out
}

/// What a tool did, and why the policy stopped.
pub(crate) fn seen() -> (Observed, Stop) {
    let observed = Observed {
        termination: Termination::Exited,
        success: false,
        failure_stage: Some(super::FailureStage::Repair),
        attempts: Some(4),
        repairs_triggered: None,
    };
    (observed, Stop { rule: "sprt".to_owned(), n: 3, reason: "three in a row".to_owned() })
}

/// A `containment` record, with a model or with a scripted agent.
pub(crate) fn containment(index: u64, model: Option<ModelPart<'_>>) -> Vec<u8> {
    let empty = Json::Array(Vec::new());
    let body = Containment {
        prompt_hash: Digest::of(b"prompt"),
        system_variant: SLOT,
        gated: true,
        attack: true,
        category: "c",
        twin_of: None,
        injection: Some("i"),
        tool_calls_attempted: &empty,
        tool_calls_executed: &empty,
        calls: &empty,
        decision: "allow",
        policy_reason: "p",
        expected_outcome: "contained",
        actual_outcome: Outcome::Contained,
        task_done: None,
        refused: false,
        evidence: None,
        state: None,
        expectations: &empty,
        transcript: &empty,
        readings: &empty,
        seed: 7,
        git_commit: None,
        tags: &["t".to_owned()],
        model,
    };
    let mut out = Vec::new();
    let head = Head {
        scores: &[("contained", Some(1.0))],
        primary_metric: Some("contained"),
        ..head(Kind::Containment, index, "case")
    };
    body.push(&mut out, &head);
    out
}

/// Puts another value in place of a field's and gives the line its right digest again: the work of a careful forger.
pub(crate) fn forged(line: &[u8], key: &str, value: &str) -> Vec<u8> {
    let line = std::str::from_utf8(line).unwrap().trim_end();
    let mut record: Object = match crate::json::parse(line.as_bytes(), crate::json::Strictness::Canonical) {
        Ok(Json::Object(record)) => record,
        other => panic!("{other:?}"),
    };
    record.remove("record_sha256");
    match value {
        "" => drop(record.remove(key)),
        value => {
            record.set(key, crate::json::parse(value.as_bytes(), crate::json::Strictness::Strict).unwrap())
        }
    }
    let digest = Digest::of(Json::Object(record.clone()).to_string().as_bytes());
    record.set("record_sha256", digest.to_string());
    format!("{}\n", Json::Object(record)).into_bytes()
}

/// The same with a value whose bytes go into the line as they stand, canonical or not.
pub(crate) fn forged_bytes(line: &[u8], key: &str, value: &str) -> Vec<u8> {
    let mut spans = crate::record::Spans::default();
    let line = crate::record::Line::split(line.strip_suffix(b"\n").unwrap(), &mut spans).unwrap();
    let text = |digest: Option<&str>| {
        let fields = line.fields().filter_map(|(name, raw)| {
            let name = std::str::from_utf8(name).unwrap();
            let raw = match name {
                "record_sha256" => format!("\"{}\"", digest?),
                name if name == key => value.to_owned(),
                _ => String::from_utf8(raw.to_vec()).unwrap(),
            };
            Some(format!("\"{name}\":{raw}"))
        });
        format!("{{{}}}", fields.collect::<Vec<String>>().join(","))
    };
    let digest = Digest::of(text(None).as_bytes()).to_string();
    format!("{}\n", text(Some(&digest))).into_bytes()
}
