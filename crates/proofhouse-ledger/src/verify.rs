//! Checking a run directory against everything that can be recomputed from it, and naming what does not fit.
//!
//! One pass over the records feeds two threads: one hashes the file as `sha256sum` would, the other looks at each line.
//! Whoever re-derives the summary watches the same pass through `each`.

use std::sync::mpsc;

use crate::digest::Hasher;
use crate::envelope::{Envelope, ExitStatus};
use crate::files::{self, FileError, NAMES};
use crate::manifest::Manifest;
use crate::read::{LineReader, lines};
use crate::record::{Line, Spans, Status};
use crate::totals::Totals;
use crate::{Digest, RunPaths};

mod order;
mod records;
#[cfg(test)]
mod tests;

use records::Records;

/// More findings than this are counted, not listed.
pub const MAX_FINDINGS: usize = 1_000;

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which file.
    pub file: String,
    /// Line from 1, where a line is meant.
    pub line: Option<u64>,
    /// The record, as well as it can be named.
    pub record: Option<String>,
    /// What is wrong.
    pub what: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(record) = &self.record {
            write!(f, ": record {record}")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// Findings, bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// The first of them.
    pub list: Vec<Finding>,
    /// All of them.
    pub total: u64,
}

impl Findings {
    /// Adds one.
    pub fn push(&mut self, finding: Finding) {
        self.total += 1;
        if self.list.len() < MAX_FINDINGS {
            self.list.push(finding);
        }
    }

    /// Adds one about a whole file.
    pub fn file(&mut self, file: &str, what: impl Into<String>) {
        self.push(Finding { file: file.to_owned(), line: None, record: None, what: what.into() });
    }
}

/// What `verify` read and found.
#[derive(Debug)]
pub struct Verified {
    /// What is wrong; empty for a sound run.
    pub findings: Findings,
    /// What the records add up to.
    pub totals: Totals,
    /// The manifest, if it can be read.
    pub manifest: Option<Manifest>,
    /// The envelope, if it can be read.
    pub envelope: Option<Envelope>,
}

/// Verifies a run. `each` sees every line that can be split, in the file's order.
pub fn verify(paths: &RunPaths, mut each: impl FnMut(&Line<'_>)) -> Result<Verified, FileError> {
    let mut findings = Findings::default();
    let ended_early = !paths.manifest().exists() && unfinished(paths).is_some();
    let manifest: Option<Manifest> =
        if ended_early { None } else { parse_file(&paths.manifest(), "manifest.json", &mut findings) };
    let totals = check_records(paths, manifest.as_ref(), &mut findings, &mut each)?;
    if let Some(manifest) = &manifest {
        check_manifest(paths, manifest, &totals, &mut findings);
    }
    check_names(paths, &mut findings)?;
    let envelope = check_envelope(paths, manifest.as_ref(), &totals, &mut findings);
    Ok(Verified { findings, totals, manifest, envelope })
}

/// The envelope of a run that did not get to its end: in progress, stopped, or failed.
pub fn unfinished(paths: &RunPaths) -> Option<Envelope> {
    [paths.envelope_tmp(), paths.envelope()]
        .into_iter()
        .filter_map(|path| serde_json::from_slice::<Envelope>(&files::read(&path).ok()?).ok())
        .find(|envelope| envelope.exit_status != ExitStatus::Normal)
}

/// Reads a canonical JSON file; whatever is wrong with it becomes a finding.
fn parse_file<T: serde::de::DeserializeOwned + serde::Serialize>(
    path: &camino::Utf8Path,
    name: &str,
    findings: &mut Findings,
) -> Option<T> {
    let bytes = match files::read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            findings.file(name, format!("cannot be read: {}", error.source));
            return None;
        }
    };
    let value: T = match serde_json::from_slice(&bytes) {
        Ok(value) => value,
        Err(error) => {
            findings.file(name, format!("is not what the format says: {error}"));
            return None;
        }
    };
    if crate::canonical::to_file(&value).ok().as_deref() != Some(&bytes[..]) {
        findings.file(name, "is not in canonical form");
    }
    Some(value)
}

fn check_records(
    paths: &RunPaths,
    manifest: Option<&Manifest>,
    findings: &mut Findings,
    each: &mut dyn FnMut(&Line<'_>),
) -> Result<Totals, FileError> {
    let path = paths.records();
    let mut reader = LineReader::open(&path)?;
    std::thread::scope(|scope| {
        // Two blocks under way: enough to keep both threads busy, little enough to keep memory flat.
        let (send, receive) = mpsc::sync_channel::<Vec<u8>>(2);
        let (give_back, spare) = mpsc::channel::<Vec<u8>>();
        let hashing = scope.spawn(move || {
            let mut hasher = Hasher::default();
            for block in receive {
                hasher.update(&block);
                let _ = give_back.send(block);
            }
            hasher.finish()
        });
        let mut records = Records::new(manifest);
        let mut spans = Spans::default();
        loop {
            let block = reader.next_lines().map_err(FileError::new("read", &path))?;
            if block.is_empty() {
                break;
            }
            let mut copy = spare.try_recv().unwrap_or_default();
            copy.clear();
            copy.extend_from_slice(block);
            let _ = send.send(copy);
            if !block.ends_with(b"\n") {
                findings.file("records.jsonl", "the last line has no end: it was cut while it was written");
            }
            for bytes in lines(block) {
                match Line::split(bytes, &mut spans) {
                    Ok(line) => {
                        each(&line);
                        records.check(&line, findings);
                    }
                    Err(damage) => records.damaged(&damage, findings),
                }
            }
        }
        drop(send);
        let records_sha256 = hashing.join().expect("hashing does not panic");
        let mut totals = records.finish(findings);
        totals.records_sha256 = records_sha256;
        Ok(totals)
    })
}

fn check_manifest(paths: &RunPaths, manifest: &Manifest, totals: &Totals, findings: &mut Findings) {
    let mut same = |what: &str, stored: String, computed: String| {
        if stored != computed {
            findings.file("manifest.json", format!("`{what}` is {stored}, the files give {computed}"));
        }
    };
    same("record_count", manifest.record_count.to_string(), totals.count.to_string());
    same("counts", format!("{:?}", manifest.counts), format!("{:?}", totals.counts));
    same("records_sha256", manifest.records_sha256.to_string(), totals.records_sha256.to_string());
    same("records_merkle_root", manifest.records_merkle_root.to_string(), totals.merkle_root.to_string());
    same("plan_sha256", manifest.plan_sha256.to_string(), totals.plan_sha256.to_string());
    for (what, stored, path) in [
        ("config_sha256", manifest.config_sha256, paths.config()),
        ("summary_sha256", manifest.summary_sha256, paths.summary()),
    ] {
        match files::read(&path) {
            Ok(bytes) => same(what, stored.to_string(), Digest::of(&bytes).to_string()),
            Err(error) => same(what, stored.to_string(), format!("nothing ({})", error.source)),
        }
    }
    same("schema_version", manifest.schema_version.clone(), crate::manifest::SCHEMA_VERSION.to_owned());
    if manifest.determinism.deterministic_artifacts {
        let spine = crate::spine::Spine::new(&manifest.run_id);
        same("started_at", manifest.started_at.clone(), spine.run_start().to_string());
        same("completed_at", manifest.completed_at.clone(), spine.run_end(manifest.record_count).to_string());
    }
}

fn check_names(paths: &RunPaths, findings: &mut Findings) -> Result<(), FileError> {
    for name in files::sorted_dir(&paths.dir)? {
        if !NAMES.contains(&name.as_str()) {
            findings.file(&name, "does not belong into a run directory");
        }
    }
    Ok(())
}

fn check_envelope(
    paths: &RunPaths,
    manifest: Option<&Manifest>,
    totals: &Totals,
    findings: &mut Findings,
) -> Option<Envelope> {
    if !paths.envelope().exists() {
        return None;
    }
    let name = paths.envelope().file_name().unwrap_or("envelope").to_owned();
    let envelope: Envelope = parse_file(&paths.envelope(), &name, findings)?;
    let mut same = |what: &str, stored: String, computed: String| {
        if stored != computed {
            findings.file(&name, format!("`{what}` is {stored}, the files give {computed}"));
        }
    };
    let or_null = |digest: Option<Digest>| digest.map_or("null".to_owned(), |digest| digest.to_string());
    same("schema_version", envelope.schema_version.clone(), crate::envelope::SCHEMA_VERSION.to_owned());
    same("total_cases_completed", envelope.total_cases_completed.to_string(), totals.count.to_string());
    same("receipt_sha256", or_null(envelope.receipt_sha256), totals.records_sha256.to_string());
    same("determinism_hash", or_null(envelope.determinism_hash), totals.determinism_hash.to_string());
    same("cases_assessed", envelope.cases_assessed.to_string(), totals.assessed.to_string());
    let timed_out = totals.with_status(Status::Timeout);
    same("cases_timed_out", envelope.cases_timed_out.to_string(), timed_out.to_string());
    if let Some(manifest) = manifest {
        same("run_id", envelope.run_id.to_string(), manifest.run_id.to_string());
        same("suite", envelope.suite.clone(), manifest.suite_id.clone());
        same("suite_sha256", or_null(envelope.suite_sha256), manifest.suite_sha256.to_string());
        same("spec_digest", or_null(envelope.spec_digest), manifest.config_sha256.to_string());
    }
    let whole = totals.count == envelope.total_cases_expected && manifest.is_some();
    if whole != (envelope.exit_status == ExitStatus::Normal) {
        let (done, expected) = (totals.count, envelope.total_cases_expected);
        let word = serde_json::to_value(envelope.exit_status).unwrap_or_default();
        let word = word.as_str().unwrap_or_default();
        findings.file(&name, format!("`exit_status` is `{word}` with {done} of {expected} records"));
    }
    Some(envelope)
}
