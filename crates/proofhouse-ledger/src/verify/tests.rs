//! A sound run is sound, and each thing that can be wrong with one is named.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;

use super::*;
use crate::manifest::Determinism;
use crate::record::{HEAD, Kind, Spans, samples};
use crate::spine::Spine;
use crate::totals::Facts;
use crate::{Json, RecordId, RunId, canonical};

mod names;

/// A field, and how to spoil it.
type Change<T> = (&'static str, fn(&mut T));

/// A run directory, kept in parts so that a test can spoil one of them.
pub(super) struct Lab {
    dir: tempfile::TempDir,
    pub(super) lines: Vec<Vec<u8>>,
    pub(super) manifest: Manifest,
    envelope: Envelope,
}

impl Lab {
    /// A sound run of `count` `probe` records.
    pub(super) fn probes(count: u64) -> Self {
        Self::of(Kind::Probe, (0..count).map(|index| samples::probe(index, &output(index), |_| {})).collect())
    }

    /// A sound run of these records.
    pub(super) fn of(kind: Kind, lines: Vec<Vec<u8>>) -> Self {
        let (config, summary) = (b"config".to_vec(), b"summary".to_vec());
        let totals = totals(&lines);
        let spine = Spine::new(&samples::run_id());
        let manifest = Manifest {
            schema_version: crate::manifest::SCHEMA_VERSION.to_owned(),
            kind,
            run_id: samples::run_id(),
            suite_id: samples::SUITE.to_owned(),
            suite_sha256: Digest::of(b"suite"),
            suite_content_sha256: Digest::of(b"content"),
            datasets: Vec::new(),
            targets: Vec::new(),
            seed: 7,
            plan_sha256: totals.plan_sha256,
            record_count: totals.count,
            counts: totals.counts.clone(),
            records_sha256: totals.records_sha256,
            records_merkle_root: totals.merkle_root,
            config_sha256: Digest::of(&config),
            summary_sha256: Digest::of(&summary),
            proofhouse_version: "0".to_owned(),
            prices: None,
            toolchains: BTreeMap::new(),
            sandbox: Json::Null,
            started_at: spine.run_start().to_string(),
            completed_at: spine.run_end(totals.count).to_string(),
            determinism: Determinism { strict_serialization: true, deterministic_artifacts: true },
            platform: None,
            command: None,
            shard: None,
        };
        let envelope = envelope(&manifest, &totals);
        let dir = tempfile::tempdir().unwrap();
        let lab = Self { dir, lines, manifest, envelope };
        std::fs::create_dir(&lab.paths().dir).unwrap();
        std::fs::write(lab.paths().config(), config).unwrap();
        std::fs::write(lab.paths().summary(), summary).unwrap();
        lab
    }

    pub(super) fn paths(&self) -> RunPaths {
        RunPaths::new(Utf8PathBuf::from_path_buf(self.dir.path().join("run")).unwrap())
    }

    /// Writes the parts and verifies them as they stand.
    pub(super) fn verify(&self) -> Verified {
        std::fs::write(self.paths().records(), self.lines.concat()).unwrap();
        std::fs::write(self.paths().manifest(), canonical::to_file(&self.manifest).unwrap()).unwrap();
        std::fs::write(self.paths().envelope(), canonical::to_file(&self.envelope).unwrap()).unwrap();
        verify(&self.paths(), |_| {}).unwrap()
    }

    /// Makes manifest and envelope agree with the lines, as a forger would.
    fn agree(mut self) -> Self {
        let totals = totals(&self.lines);
        self.manifest.plan_sha256 = totals.plan_sha256;
        self.manifest.counts = totals.counts.clone();
        self.manifest.records_sha256 = totals.records_sha256;
        self.manifest.records_merkle_root = totals.merkle_root;
        self.envelope = envelope(&self.manifest, &totals);
        self
    }

    /// What is found in the records alone, after a change of the lines that manifest and envelope agree with.
    fn spoilt(mut self, change: impl FnOnce(&mut Vec<Vec<u8>>)) -> Vec<String> {
        change(&mut self.lines);
        texts(&self.agree().verify())
    }
}

fn envelope(manifest: &Manifest, totals: &Totals) -> Envelope {
    Envelope {
        schema_version: crate::envelope::SCHEMA_VERSION.to_owned(),
        run_id: manifest.run_id,
        run_instance_id: None,
        suite: manifest.suite_id.clone(),
        model_id: None,
        backend: None,
        seed: 7,
        lane: None,
        variant: None,
        git_commit: None,
        suite_sha256: Some(manifest.suite_sha256),
        suite_file_sha256: None,
        timeout_per_case: 60,
        total_cases_expected: totals.count,
        total_cases_completed: totals.count,
        run_start_ts_utc: None,
        run_end_ts_utc: None,
        exit_status: ExitStatus::Normal,
        determinism_hash: Some(totals.determinism_hash),
        receipt_path: "run/records.jsonl".to_owned(),
        receipt_sha256: Some(totals.records_sha256),
        suite_content_sha256: None,
        spec_digest: Some(manifest.config_sha256),
        manifest_sha256: Some(Digest::of(&canonical::to_file(manifest).unwrap())),
        git_dirty: None,
        tool_sha256: None,
        cases_assessed: totals.assessed,
        cases_timed_out: totals.with_status(Status::Timeout),
        cases_errored: 0,
        cases_unparsed: 0,
        sandbox_tier: None,
        resumed_from: Vec::new(),
        host: None,
        pid: None,
        boot_id: None,
        error: None,
        details: Json::Null,
    }
}

fn output(index: u64) -> Json {
    match index % 3 {
        0 => Json::Null,
        1 => Json::from("an answer\n"),
        _ => Json::Array(vec![Json::Bool(true), Json::from("x")]),
    }
}

/// What lines add up to, as the writer computes it. A line that is none counts for nothing.
fn totals(lines: &[Vec<u8>]) -> Totals {
    let (mut totalling, mut spans) = (Totalling::default(), Spans::default());
    for line in lines {
        totalling.bytes(line);
        let split = Line::split(line.strip_suffix(b"\n").unwrap_or(line), &mut spans);
        split.and_then(|line| Facts::of(&line)).into_iter().for_each(|facts| totalling.push(&facts));
    }
    totalling.finish()
}

pub(super) fn texts(verified: &Verified) -> Vec<String> {
    assert_eq!(verified.findings.list.len() as u64, verified.findings.total);
    verified.findings.list.iter().map(ToString::to_string).collect()
}

fn id(index: u64) -> RecordId {
    RecordId::of_trial(samples::SLOT, &format!("case-{index}"), None, 0)
}

/// `records.jsonl:2: record … (index 1, slot / case-1 #0): `
fn at(line: u64, index: u64) -> String {
    format!("records.jsonl:{line}: record {} (index {index}, slot / case-{index} #0): ", id(index))
}

#[test]
fn a_sound_run_of_every_kind_is_sound() {
    let (observed, stop) = samples::seen();
    let labs = [
        Lab::probes(7),
        Lab::probes(0),
        Lab::of(Kind::Code, vec![samples::code(0)]),
        Lab::of(Kind::Robustness, vec![samples::robustness(0, Some((&observed, &stop)))]),
        Lab::of(Kind::Containment, vec![samples::containment(0, None)]),
    ];
    for lab in labs {
        let verified = lab.verify();
        assert_eq!(texts(&verified), [""; 0]);
        assert_eq!(verified.totals, totals(&lab.lines));
        assert_eq!(verified.manifest.as_ref(), Some(&lab.manifest));
        assert_eq!(verified.envelope.as_ref(), Some(&lab.envelope));
    }
}

#[test]
fn every_line_that_can_be_split_is_shown_in_order() {
    let mut lab = Lab::probes(4);
    lab.lines[2] = b"garbage\n".to_vec();
    lab.verify();
    let mut seen = Vec::new();
    verify(&lab.paths(), |line| seen.push(line.index().unwrap())).unwrap();
    assert_eq!(seen, [0, 1, 3]);
}

#[test]
fn a_finding_says_where_it_is() {
    let mut finding =
        Finding { file: "f".to_owned(), line: Some(3), record: Some("r".to_owned()), what: "bad".to_owned() };
    assert_eq!(finding.to_string(), "f:3: record r: bad");
    finding.line = None;
    assert_eq!(finding.to_string(), "f: record r: bad");
    finding.record = None;
    assert_eq!(finding.to_string(), "f: bad");
}

#[test]
fn findings_beyond_the_bound_are_counted_and_not_listed() {
    let mut findings = Findings::default();
    for number in 0..MAX_FINDINGS + 2 {
        findings.file("f", number.to_string());
    }
    assert_eq!((findings.list.len(), findings.total), (MAX_FINDINGS, MAX_FINDINGS as u64 + 2));
    assert_eq!(findings.list[0].to_string(), "f: 0");
}

#[test]
fn an_altered_record_is_named() {
    let found = Lab::probes(3).spoilt(|lines| {
        let text = String::from_utf8(lines[1].clone()).unwrap();
        lines[1] = text.replace(r#""passed":true"#, r#""passed":false"#).into_bytes();
    });
    assert_eq!(found, [at(2, 1) + "altered: its content does not match its `record_sha256`"]);
}

#[test]
fn a_forged_digest_of_content_is_named() {
    let other = format!("\"{}\"", Digest::of(b"other"));
    let of_probe = [
        ("input_fingerprint", other.as_str(), 1, "`input_fingerprint` is not the digest of `input`"),
        ("input", "\"else\"", 1, "`input_fingerprint` is not the digest of `input`"),
        ("input", "", 1, "`input_fingerprint` is not the digest of `input`"),
        ("output_sha256", &other, 0, "`output_sha256` is not the digest of `output`"),
        ("output_sha256", "null", 1, "`output_sha256` is not the digest of `output`"),
        ("output", "\"an answer\"", 1, "`output_sha256` is not the digest of `output`"),
        ("output", "[true]", 2, "`output_sha256` is not the digest of `output`"),
        ("output", "null", 2, "`output_sha256` is not the digest of `output`"),
    ];
    for (key, value, index, expected) in of_probe {
        let found = Lab::probes(3).spoilt(|lines| lines[index] = samples::forged(&lines[index], key, value));
        assert_eq!(found, [at(index as u64 + 1, index as u64) + expected], "{key} {value}");
    }
    let prefixed = format!("\"{}\"", Digest::of(b"other").prefixed());
    let of_robustness = [
        ("input_fingerprint", other.as_str(), "`input_fingerprint` is not the digest of `instruction`"),
        ("instruction_hash", &prefixed, "`instruction_hash` is not the digest of `instruction`"),
        ("instruction_hash", "7", "`instruction_hash` is not the digest of `instruction`"),
        ("instruction_hash", "", "`instruction_hash` is not the digest of `instruction`"),
    ];
    for (key, value, expected) in of_robustness {
        let lab = Lab::of(Kind::Robustness, vec![samples::robustness(0, None)]);
        let found = lab.spoilt(|lines| lines[0] = samples::forged(&lines[0], key, value));
        assert_eq!(found.len(), 1, "{key} {value}");
        assert!(found[0].ends_with(expected), "{found:?}");
    }
}

#[test]
fn a_record_of_something_else_is_named() {
    let id = |index: u64| {
        format!("records.jsonl:{}: record {} (index {index}, slot / case-{index} #0): ", index + 1, id(index))
    };
    let foreign = RunId::of_identity(b"other");
    let here = samples::run_id();
    let spine = Spine::new(&here);
    let cases = [
        ("run_id", format!("\"{foreign}\""), format!("belongs to run {foreign}, not {here}")),
        ("run_id", "7".to_owned(), "field `run_id` is missing or of the wrong type".to_owned()),
        ("schema_version", "\"0.9\"".to_owned(), "`schema_version` is not 1.0".to_owned()),
        ("suite_id", "\"other\"".to_owned(), "`suite_id` is not suite".to_owned()),
        ("kind", "\"code\"".to_owned(), "`kind` is not probe".to_owned()),
        ("kind", "\"garbage\"".to_owned(), "`kind` is not probe".to_owned()),
        (
            "started_at",
            format!("\"{}\"", spine.started(2)),
            "timestamps are not those of the time spine".to_owned(),
        ),
        (
            "completed_at",
            format!("\"{}\"", spine.completed(2)),
            "timestamps are not those of the time spine".to_owned(),
        ),
        (
            "variant_id",
            "\"v\"".to_owned(),
            "`record_id` does not follow from slot, case, variant and repetition".to_owned(),
        ),
        (
            "variant_id",
            String::new(),
            "`record_id` does not follow from slot, case, variant and repetition".to_owned(),
        ),
        ("status", "\"fine\"".to_owned(), "field `status` is missing or of the wrong type".to_owned()),
    ];
    for (key, value, expected) in cases {
        let found = Lab::probes(2).spoilt(|lines| lines[1] = samples::forged(&lines[1], key, &value));
        assert_eq!(found.first(), Some(&(id(1) + &expected)), "{key} {value}");
    }
    for (key, value, name) in [
        ("slot", "\"else\"", "(index 1, else / case-1 #0)"),
        ("case_id", "\"else\"", "(index 1, slot / else #0)"),
        ("repetition", "4", "(index 1, slot / case-1 #4)"),
        ("repetition", "\"4\"", "(index 1, slot / case-1 #0)"),
    ] {
        let found = Lab::probes(2).spoilt(|lines| lines[1] = samples::forged(&lines[1], key, value));
        let expected = format!(
            "records.jsonl:2: record {} {name}: `record_id` does not follow from slot, case, variant and repetition",
            super::tests::id(1)
        );
        assert_eq!(found, [expected]);
    }
    let found = Lab::probes(2).spoilt(|lines| lines[1] = samples::forged(&lines[1], "record_id", "\"me\""));
    assert!(
        found[0].starts_with("records.jsonl:2: record me (index 1, slot / case-1 #0): field `record_id`"),
        "{found:?}"
    );
}

#[test]
fn times_are_free_where_artefacts_are_not_deterministic() {
    let mut lab = Lab::probes(2);
    lab.manifest.determinism.deterministic_artifacts = false;
    lab.manifest.started_at = "then".to_owned();
    lab.manifest.completed_at = "later".to_owned();
    lab.lines[1] = samples::forged(&lab.lines[1], "started_at", "\"then\"");
    assert_eq!(texts(&lab.agree().verify()), [""; 0]);
}

#[test]
fn without_a_manifest_all_records_must_be_of_one_run() {
    let mut lab = Lab::probes(3);
    let foreign = RunId::of_identity(b"other");
    lab.lines[2] = samples::forged(&lab.lines[2], "run_id", &format!("\"{foreign}\""));
    lab.verify();
    std::fs::remove_file(lab.paths().manifest()).unwrap();
    std::fs::remove_file(lab.paths().envelope()).unwrap();
    let found = texts(&verify(&lab.paths(), |_| {}).unwrap());
    let of_record = format!("{}belongs to run {foreign}, not {}", at(3, 2), samples::run_id());
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("manifest.json: cannot be read: "), "{found:?}");
    assert_eq!(found[1], of_record);
}

#[test]
fn removed_duplicated_reordered_and_added_lines_are_told_apart() {
    let missing = "missing: its line was removed";
    let sha = |found: Vec<String>| -> Vec<String> {
        found.into_iter().filter(|text| text.starts_with("records.jsonl")).collect()
    };
    let spoilt = |change: fn(&mut Vec<Vec<u8>>)| sha(Lab::probes(5).spoilt(change));
    assert_eq!(spoilt(|lines| drop(lines.remove(1))), [format!("records.jsonl: record index 1: {missing}")]);
    assert_eq!(spoilt(|lines| drop(lines.pop())), [format!("records.jsonl: record index 4: {missing}")]);
    assert_eq!(
        spoilt(|lines| lines.truncate(2)),
        ["records.jsonl: record indexes 2 to 4: missing: their lines were removed"]
    );
    assert_eq!(
        spoilt(|lines| lines.insert(2, lines[1].clone())),
        [at(3, 1) + "duplicated: index 1 was there before"]
    );
    assert_eq!(spoilt(|lines| lines.swap(1, 2)), [at(3, 1) + "reordered: index 1 stands too late"]);
    assert_eq!(
        spoilt(|lines| lines.push(samples::probe(5, &Json::Null, |_| {}))),
        [at(6, 5) + "added: index 5 in a run of 5 records"]
    );
}

#[test]
fn a_trial_that_takes_the_place_of_another_is_named() {
    let found = Lab::probes(4).spoilt(|lines| {
        let (mut line, other) = (lines[1].clone(), lines[2].clone());
        let mut spans = Spans::default();
        let other = Line::split(other.strip_suffix(b"\n").unwrap(), &mut spans).unwrap();
        let fields = [HEAD.index.name(), HEAD.started_at.name(), HEAD.completed_at.name()];
        for field in fields {
            let its_value = std::str::from_utf8(other.raw(field).unwrap()).unwrap();
            line = samples::forged(&line, field.as_str(), its_value);
        }
        lines[2] = line;
    });
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("records.jsonl:3: record "), "{found:?}");
    assert!(found[0].ends_with("duplicated: its trial has a record already, in line 2"), "{found:?}");
}

#[test]
fn what_an_envelope_says_against_itself_is_named() {
    type Edit = fn(&mut Envelope);
    let edits: [(Edit, &str); 4] = [
        (|e| e.run_start_ts_utc = Some("yesterday".to_owned()), "`run_start_ts_utc` is no moment in UTC"),
        (
            |e| e.run_end_ts_utc = Some("2026-11-18T06:56:06.970045+01:00".to_owned()),
            "`run_end_ts_utc` is no moment in UTC",
        ),
        (
            |e| e.run_end_ts_utc = Some("2026-11-18 06:56:06.970045+00:00".to_owned()),
            "`run_end_ts_utc` is no moment in UTC",
        ),
        (|e| e.error = Some("boom".to_owned()), "`error` is not null, and `exit_status` is `normal`"),
    ];
    for (edit, what) in edits {
        let mut lab = Lab::probes(2);
        edit(&mut lab.envelope);
        assert_eq!(texts(&lab.verify()), [format!("run.run.json: {what}")]);
    }
    let mut lab = Lab::probes(2);
    lab.envelope.run_start_ts_utc = Some("2026-11-18T06:56:06.970045+00:00".to_owned());
    assert!(texts(&lab.verify()).is_empty());
}

#[test]
fn what_is_no_record_is_named_by_its_line() {
    let mut lab = Lab::probes(3);
    lab.lines[1] = b"{\"a\":1,\n".to_vec();
    let found = texts(&lab.verify());
    assert!(found[0].starts_with("records.jsonl:2: not a canonical JSON object (byte 7: "), "{found:?}");
    assert!(found.contains(&"records.jsonl: record index 1: missing: its line was removed".to_owned()));
    let mut lab = Lab::probes(3);
    lab.lines[2].pop();
    let found = texts(&lab.agree().verify());
    assert_eq!(found, ["records.jsonl: the last line has no end: it was cut while it was written"]);
}

#[test]
fn records_that_cannot_be_read_are_an_error() {
    let lab = Lab::probes(1);
    lab.verify();
    std::fs::remove_file(lab.paths().records()).unwrap();
    let error = verify(&lab.paths(), |_| {}).unwrap_err();
    assert_eq!((error.action, error.path), ("open", lab.paths().records()));
}

#[test]
fn each_field_of_the_manifest_is_held_against_the_files() {
    let other = Digest::of(b"other");
    let changes: [Change<Manifest>; 10] = [
        ("record_count", |manifest| manifest.record_count += 1),
        ("counts", |manifest| manifest.counts.extend([("error".to_owned(), 1)])),
        ("records_sha256", |manifest| manifest.records_sha256 = Digest::of(b"other")),
        ("records_merkle_root", |manifest| manifest.records_merkle_root = Digest::of(b"other")),
        ("plan_sha256", |manifest| manifest.plan_sha256 = Digest::of(b"other")),
        ("config_sha256", |manifest| manifest.config_sha256 = Digest::of(b"other")),
        ("summary_sha256", |manifest| manifest.summary_sha256 = Digest::of(b"other")),
        ("schema_version", |manifest| manifest.schema_version = "0.9".to_owned()),
        ("started_at", |manifest| manifest.started_at = "then".to_owned()),
        ("completed_at", |manifest| manifest.completed_at = "then".to_owned()),
    ];
    for (key, change) in changes {
        let mut lab = Lab::probes(3);
        change(&mut lab.manifest);
        let found = texts(&lab.verify());
        let start = format!("manifest.json: `{key}` is ");
        assert!(found.iter().any(|text| text.starts_with(&start)), "{key}: {found:?}");
    }
    let mut lab = Lab::probes(3);
    lab.manifest.plan_sha256 = other;
    let right = totals(&lab.lines).plan_sha256;
    let found = texts(&lab.verify());
    assert_eq!(found[0], format!("manifest.json: `plan_sha256` is {other}, the files give {right}"));
    assert!(found.len() == 2 && found[1].starts_with("run.run.json: `manifest_sha256` is "), "{found:?}");
    let lab = Lab::probes(3);
    lab.verify();
    std::fs::remove_file(lab.paths().summary()).unwrap();
    let found = texts(&verify(&lab.paths(), |_| {}).unwrap());
    let start =
        format!("manifest.json: `summary_sha256` is {}, the files give nothing (", Digest::of(b"summary"));
    assert!(found.len() == 1 && found[0].starts_with(&start), "{found:?}");
}

#[test]
fn each_field_of_the_envelope_is_held_against_the_files() {
    let changes: [Change<Envelope>; 15] = [
        ("manifest_sha256", |envelope| envelope.manifest_sha256 = None),
        ("manifest_sha256", |envelope| envelope.manifest_sha256 = Some(Digest::of(b"other"))),
        ("schema_version", |envelope| envelope.schema_version = "0.9".to_owned()),
        ("total_cases_completed", |envelope| envelope.total_cases_completed = 9),
        ("receipt_sha256", |envelope| envelope.receipt_sha256 = Some(Digest::of(b"other"))),
        ("receipt_sha256", |envelope| envelope.receipt_sha256 = None),
        ("determinism_hash", |envelope| envelope.determinism_hash = Some(Digest::of(b"other"))),
        ("cases_assessed", |envelope| envelope.cases_assessed = 9),
        ("cases_timed_out", |envelope| envelope.cases_timed_out = 9),
        ("run_id", |envelope| envelope.run_id = RunId::of_identity(b"other")),
        ("suite", |envelope| envelope.suite = "other".to_owned()),
        ("suite_sha256", |envelope| envelope.suite_sha256 = Some(Digest::of(b"other"))),
        ("suite_file_sha256", |envelope| envelope.suite_file_sha256 = Some(Digest::of(b"other"))),
        ("spec_digest", |envelope| envelope.spec_digest = None),
        ("exit_status", |envelope| envelope.exit_status = ExitStatus::Timeout),
    ];
    for (key, change) in changes {
        let mut lab = Lab::probes(3);
        change(&mut lab.envelope);
        let found = texts(&lab.verify());
        assert_eq!(found.len(), 1, "{key}: {found:?}");
        assert!(found[0].starts_with(&format!("run.run.json: `{key}` is ")), "{key}: {found:?}");
    }
    let mut lab = Lab::probes(3);
    lab.envelope.receipt_sha256 = None;
    let right = totals(&lab.lines).records_sha256;
    assert_eq!(
        texts(&lab.verify()),
        [format!("run.run.json: `receipt_sha256` is null, the files give {right}")]
    );
    let mut lab = Lab::probes(3);
    lab.envelope.total_cases_expected = 4;
    assert_eq!(texts(&lab.verify()), ["run.run.json: `exit_status` is `normal` with 3 of 4 records"]);
}

#[test]
fn a_run_without_an_envelope_has_none() {
    let lab = Lab::probes(1);
    lab.verify();
    std::fs::remove_file(lab.paths().envelope()).unwrap();
    let verified = verify(&lab.paths(), |_| {}).unwrap();
    assert_eq!(texts(&verified), [""; 0]);
    assert_eq!(verified.envelope, None);
}

#[test]
fn a_file_must_be_what_its_format_says_and_in_canonical_form() {
    let lab = Lab::probes(1);
    lab.verify();
    let text = std::fs::read_to_string(lab.paths().manifest()).unwrap();
    std::fs::write(lab.paths().manifest(), text.replace(":7,", ": 7,")).unwrap();
    let verified = verify(&lab.paths(), |_| {}).unwrap();
    assert_eq!(texts(&verified)[0], "manifest.json: is not in canonical form");
    assert!(verified.manifest.is_some());
    std::fs::write(lab.paths().manifest(), "{}\n").unwrap();
    let verified = verify(&lab.paths(), |_| {}).unwrap();
    let found = texts(&verified);
    assert!(found[0].starts_with("manifest.json: is not what the format says: missing field"), "{found:?}");
    assert!(verified.manifest.is_none());
    assert_eq!(found[1..], ["run.run.json: `exit_status` is `normal` with 1 of 1 records"]);
}

#[test]
fn a_foreign_file_is_named() {
    let lab = Lab::probes(1);
    lab.verify();
    std::fs::write(lab.paths().dir.join("notes.txt"), "").unwrap();
    std::fs::write(lab.paths().report(), "").unwrap();
    let found = texts(&verify(&lab.paths(), |_| {}).unwrap());
    assert_eq!(found, ["notes.txt: does not belong in a run directory"]);
}

#[test]
fn a_run_that_has_not_ended_needs_no_manifest() {
    let mut lab = Lab::probes(2);
    lab.envelope.exit_status = ExitStatus::InProgress;
    lab.envelope.total_cases_expected = 5;
    lab.verify();
    std::fs::remove_file(lab.paths().manifest()).unwrap();
    assert_eq!(unfinished(&lab.paths()), Some(lab.envelope.clone()));
    let verified = verify(&lab.paths(), |_| {}).unwrap();
    assert_eq!((texts(&verified), verified.manifest), (Vec::new(), None));

    // As a run leaves it while it goes on: the envelope under its other name.
    std::fs::rename(lab.paths().envelope(), lab.paths().envelope_tmp()).unwrap();
    assert_eq!(unfinished(&lab.paths()), Some(lab.envelope.clone()));
    assert_eq!(texts(&verify(&lab.paths(), |_| {}).unwrap()), [""; 0]);

    // One that ended well is not unfinished, and misses its manifest.
    lab.envelope.exit_status = ExitStatus::Normal;
    std::fs::write(lab.paths().envelope_tmp(), canonical::to_file(&lab.envelope).unwrap()).unwrap();
    assert_eq!(unfinished(&lab.paths()), None);
    let found = texts(&verify(&lab.paths(), |_| {}).unwrap());
    assert!(found.len() == 2 && found[0].starts_with("manifest.json: cannot be read: "), "{found:?}");
    assert_eq!(found[1], "run.run.json.tmp: `exit_status` is `normal` with 2 of 5 records");
}

#[test]
fn a_manifest_is_read_even_where_the_envelope_says_that_the_run_goes_on() {
    let mut lab = Lab::probes(2);
    lab.envelope.exit_status = ExitStatus::InProgress;
    let verified = lab.verify();
    assert!(verified.manifest.is_some());
    assert_eq!(texts(&verified), ["run.run.json: `exit_status` is `in_progress` with 2 of 2 records"]);
}

/// A record that a forger changed, with its digests made to agree again.
fn forged(line: Vec<u8>, kind: Kind, key: &str, value: &str) -> Vec<String> {
    let found = Lab::of(kind, vec![line]).spoilt(|lines| lines[0] = samples::forged(&lines[0], key, value));
    found.iter().map(|text| text.rsplit("): ").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_passed_with_status_error_is_named() {
    let record = || samples::probe(0, &Json::Null, |_| {});
    let found = forged(record(), Kind::Probe, "status", "\"error\"");
    assert_eq!(found[0], "`passed` is not null, and `status` says that there was nothing to judge");
    let found = forged(record(), Kind::Probe, "status", "\"timeout\"");
    assert_eq!(found[0], "`passed` is true, and `status` says that there was no answer in time");
}

#[test]
fn a_score_that_contradicts_the_verdict_is_named() {
    let record = || samples::probe(0, &Json::Null, |_| {});
    let table = [
        ("passed", "false", "`passed` contradicts the score of `primary_metric`"),
        (
            "scores",
            r#"{"exact":null}"#,
            "one of `passed` and the score of `primary_metric` is null and the other is not",
        ),
        ("scores", r#"{"exact":2}"#, "a score is not between 0 and 1"),
    ];
    for (key, value, expected) in table {
        let found = forged(record(), Kind::Probe, key, value);
        assert_eq!(found.first().map(String::as_str), Some(expected), "{key} {value}: {found:?}");
    }
    let (observed, stop) = samples::seen();
    let of_others = [
        (Kind::Code, samples::code(0), "passed"),
        (Kind::Robustness, samples::robustness(0, Some((&observed, &stop))), "passed"),
        (Kind::Containment, samples::containment(0, None), "passed"),
    ];
    for (kind, line, key) in of_others {
        let value = if kind == Kind::Robustness { "true" } else { "false" };
        let found = forged(line, kind, key, value);
        assert!(found.contains(&"`scores` is not the verdict as a number".to_owned()), "{kind:?}: {found:?}");
    }
}

#[test]
fn an_answer_with_an_error_and_a_reason_without_a_score_are_named() {
    let record = || samples::probe(0, &Json::Null, |_| {});
    let found = forged(record(), Kind::Probe, "error", "\"boom\"");
    assert_eq!(
        found,
        [
            "there is an `error`, and `error_type` is null",
            "`error` is not null, and `status` says that there was an answer"
        ]
    );
    let found = forged(record(), Kind::Probe, "judge", "{\"nobody\":\"well said\"}");
    assert_eq!(found, ["`judge` has the reason of a judge that has no score"]);
}

#[test]
fn contradictions_of_each_kind_are_named() {
    let (observed, stop) = samples::seen();
    let robust = || samples::robustness(0, Some((&observed, &stop)));
    let table = [
        (Kind::Code, samples::code(0), "error_type", "\"assertion_failure\"", "`error_type` is null exactly"),
        (Kind::Code, samples::code(0), "test_ok", "false", "`passed` is true, and it did not compile"),
        (Kind::Code, samples::code(0), "result", "\"failed: x\"", "`result` contradicts `passed`"),
        (Kind::Code, samples::code(0), "status", "\"skipped\"", "`passed` is not null, and `status`"),
        (Kind::Robustness, robust(), "success", "true", "`success` contradicts `passed`"),
        (Kind::Robustness, robust(), "termination", "\"timeout\"", "there is an `exit_code`"),
        (Kind::Robustness, robust(), "instruction_length", "3", "`instruction_length` is not the length"),
        (
            Kind::Containment,
            samples::containment(0, None),
            "actual_outcome",
            "\"leaked\"",
            "`pass` or `passed`",
        ),
        (
            Kind::Containment,
            samples::containment(0, None),
            "system_variant",
            "\"x\"",
            "`system_variant` is not",
        ),
        (
            Kind::Containment,
            samples::containment(0, None),
            "ts_utc",
            "\"x\"",
            "`ts_utc` is not `completed_at`",
        ),
        (
            Kind::Containment,
            samples::containment(0, None),
            "tool_calls_executed",
            r#"[{"args":{},"name":"send"}]"#,
            "`tool_calls_attempted` and `tool_calls_executed` are not those",
        ),
    ];
    for (kind, line, key, value, expected) in table {
        let found = forged(line, kind, key, value);
        assert!(found.iter().any(|text| text.starts_with(expected)), "{key}: {found:?}");
    }
}

#[test]
fn wrong_types_and_unknown_fields_are_named() {
    let (observed, stop) = samples::seen();
    let kinds = [
        (Kind::Probe, samples::probe(0, &Json::Null, |_| {})),
        (Kind::Code, samples::code(0)),
        (Kind::Robustness, samples::robustness(0, Some((&observed, &stop)))),
        (Kind::Containment, samples::containment(0, None)),
    ];
    for (kind, line) in kinds {
        let found = forged(line.clone(), kind, "zeal", "1");
        assert_eq!(found, [format!("field `zeal` is none of a `{}` record", kind.as_str())]);
        let mut spans = Spans::default();
        let fields: Vec<String> = Line::split(line.strip_suffix(b"\n").unwrap(), &mut spans)
            .unwrap()
            .fields()
            .map(|(key, _)| String::from_utf8(key.to_vec()).unwrap())
            .collect();
        for field in fields.iter().filter(|field| *field != "record_sha256") {
            // Some fields hold any value; none holds every value.
            let anything = ["usage", "output", "expected", "edits", "generation"].contains(&field.as_str());
            let found = forged(line.clone(), kind, field, if anything { "\"x\"" } else { "[[7]]" });
            assert!(anything || !found.is_empty(), "{}: {field}", kind.as_str());
            let absent = forged(line.clone(), kind, field, "");
            let optional = ["sandbox_does_not_hold", "task", "program", "test_source", "test_line"];
            assert!(
                !absent.is_empty() || optional.contains(&field.as_str()),
                "{}: no {field}",
                kind.as_str()
            );
        }
    }
}

#[test]
fn a_value_that_no_writer_of_records_emits_is_named() {
    let values = [
        ("expected", r#""\u0041""#),
        ("expected", r#""\/""#),
        ("expected", "\"a\u{1}\""),
        ("expected", "1.0"),
        ("expected", "-0"),
        ("expected", "[1, 2]"),
        ("expected", r#"{"b":1,"a":1}"#),
        ("expected", r#"{"a":1,"a":1}"#),
        ("judge", r#"{"b":"","a":""}"#),
        ("scores", r#"{"same":1.0}"#),
        ("tags", r#"["\u0061"]"#),
        ("usage", r#"{"tokens":1e2}"#),
    ];
    for (field, value) in values {
        let lab = Lab::of(Kind::Probe, vec![samples::probe(0, &Json::Null, |_| {})]);
        let found = lab.spoilt(|lines| lines[0] = samples::forged_bytes(&lines[0], field, value));
        assert_eq!(found.len(), 1, "{value}: {found:?}");
        assert!(
            found[0].ends_with(&format!("field `{field}` is not in canonical form")),
            "{value}: {found:?}"
        );
    }
    let lab = Lab::of(Kind::Probe, vec![samples::probe(0, &Json::Null, |_| {})]);
    assert!(lab.spoilt(|lines| lines[0] = samples::forged_bytes(&lines[0], "expected", "[1,2]")).is_empty());
}

#[test]
fn digests_of_stored_texts_of_every_kind_are_computed_anew() {
    let other = format!("\"{}\"", Digest::of(b"other"));
    let (observed, stop) = samples::seen();
    let robust = samples::robustness(0, Some((&observed, &stop)));
    let table = [
        (
            Kind::Code,
            samples::code(0),
            "completion",
            "\"fn g() {}\"",
            "`output_sha256` is not the digest of `completion`",
        ),
        (
            Kind::Code,
            samples::code(0),
            "output_sha256",
            other.as_str(),
            "`output_sha256` is not the digest of `completion`",
        ),
        (
            Kind::Robustness,
            robust.clone(),
            "stdout",
            "\"oot\"",
            "`output_sha256` is not the digest of `stdout`",
        ),
        (Kind::Robustness, robust, "output_sha256", &other, "`output_sha256` is not the digest of `stdout`"),
    ];
    for (kind, line, key, value, expected) in table {
        assert_eq!(forged(line, kind, key, value), [expected], "{key}");
    }
}

#[test]
fn only_regular_files_are_read() {
    let lab = Lab::probes(2);
    lab.verify();
    for name in ["summary.json", "config.resolved.yaml", "manifest.json"] {
        let path = lab.paths().dir.join(name);
        let kept = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let found = texts(&verify(&lab.paths(), |_| {}).unwrap());
        assert!(found.contains(&format!("{name}: is not a regular file")), "{found:?}");
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, kept).unwrap();
    }
    std::fs::remove_file(lab.paths().records()).unwrap();
    std::os::unix::fs::symlink("/dev/zero", lab.paths().records()).unwrap();
    let error = verify(&lab.paths(), |_| {}).unwrap_err();
    assert_eq!(error.source.to_string(), "it is not a regular file");
}

#[test]
fn a_manifest_of_three_gigabytes_is_not_read() {
    let lab = Lab::probes(1);
    lab.verify();
    for path in [lab.paths().manifest(), lab.paths().envelope()] {
        let kept = std::fs::read(&path).unwrap();
        std::fs::File::create(&path).unwrap().set_len(3 << 30).unwrap();
        let found = texts(&verify(&lab.paths(), |_| {}).unwrap());
        assert!(found[0].ends_with("cannot be read: it is longer than 16777216 bytes"), "{found:?}");
        std::fs::write(&path, kept).unwrap();
    }
}

#[test]
fn versions_that_are_not_known_are_refused_by_every_reader() {
    for (file, from, to) in [
        ("manifest.json", "\"schema_version\":\"1.0\"", "\"schema_version\":\"2.0\""),
        ("records.jsonl", "\"schema_version\":\"1.0\"", "\"schema_version\":\"2.0\""),
        ("../run.run.json", "\"schema_version\":\"1.1\"", "\"schema_version\":\"2.0\""),
    ] {
        let lab = Lab::probes(2);
        lab.verify();
        crate::format::check_versions(&lab.paths()).unwrap();
        let path = lab.paths().dir.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file}");
        std::fs::write(&path, text.replace(from, to)).unwrap();
        let refused = crate::format::check_versions(&lab.paths()).unwrap_err().to_string();
        assert!(refused.contains("`schema_version` is 2.0; this program knows 1."), "{file}: {refused}");
        assert_ne!(verify(&lab.paths(), |_| {}).unwrap().findings.total, 0, "{file}");
    }
    let lab = Lab::probes(1);
    std::fs::write(lab.paths().config(), "kind: probe\nschema_version: \"2.0\"\n").unwrap();
    assert!(crate::format::check_versions(&lab.paths()).is_err());
    std::fs::write(lab.paths().config(), "kind: probe\nschema_version: \"1.0\"\n").unwrap();
    crate::format::check_versions(&lab.paths()).unwrap();
}

#[test]
fn what_a_cut_off_command_left_is_no_damage() {
    let lab = Lab::probes(3);
    lab.verify();
    // `report` was killed while it wrote.
    std::fs::write(lab.paths().dir.join("summary.json.draft"), "half").unwrap();
    let verified = verify(&lab.paths(), |_| {}).unwrap();
    assert_eq!((verified.findings.total, verified.findings.left_over.len()), (0, 1));
    std::fs::remove_file(lab.paths().dir.join("summary.json.draft")).unwrap();

    // A run was gone on with and killed: the older envelope knows nothing of the records that came since.
    let mut lab = lab;
    lab.envelope.exit_status = ExitStatus::InProgress;
    std::fs::write(lab.paths().envelope_tmp(), canonical::to_file(&lab.envelope).unwrap()).unwrap();
    lab.envelope.exit_status = ExitStatus::ExternalKill;
    lab.envelope.total_cases_completed = 1;
    lab.verify();
    std::fs::remove_file(lab.paths().manifest()).unwrap();
    let verified = verify(&lab.paths(), |_| {}).unwrap();
    assert_eq!(
        (verified.findings.total, verified.findings.left_over.len()),
        (0, 1),
        "{:?}",
        verified.findings
    );

    // The power went too: the end of the records is anything.
    for tail in [&b"{\"torn"[..], &[0; 700], b"\xff\xfe\n{\"a\":1}\n"] {
        std::fs::write(lab.paths().records(), [&lab.lines.concat(), tail].concat()).unwrap();
        let verified = verify(&lab.paths(), |_| {}).unwrap();
        assert_eq!((verified.findings.total, verified.totals.count), (0, 3), "{:?}", verified.findings);
        assert_eq!(verified.findings.left_over.len(), 2, "{:?}", verified.findings);
    }

    // Somebody recovered it and was killed too, before the last rename: the newer envelope counts, and what is torn is damage.
    std::fs::write(lab.paths().records(), lab.lines.concat()).unwrap();
    lab.envelope.total_cases_completed = 3;
    lab.envelope.total_cases_expected = 5;
    std::fs::write(lab.paths().envelope_tmp(), canonical::to_file(&lab.envelope).unwrap()).unwrap();
    let verified = verify(&lab.paths(), |_| {}).unwrap();
    assert_eq!((texts(&verified), verified.findings.left_over.len()), (Vec::new(), 1));
    assert_eq!(verified.envelope, Some(lab.envelope.clone()));
    std::fs::write(lab.paths().records(), [&lab.lines.concat(), &b"{\"torn"[..]].concat()).unwrap();
    assert_ne!(verify(&lab.paths(), |_| {}).unwrap().findings.total, 0);
}
