//! Checking a run directory against everything that can be recomputed from it, and naming what does not fit.
//!
//! One pass over the records feeds a crew: some threads look at each line by itself, one adds up what they say in order.
//! Whoever re-derives the summary watches the same pass through `each`.

use crate::crew::Crew;
use crate::disk::{Disk as _, Node, Real};
use crate::envelope::{Envelope, ExitStatus};
use crate::files::{self, FileError, NAMES, REPORT_DATA};
use crate::format::{self, Format};
use crate::manifest::Manifest;
use crate::part::Part;
use crate::read::LineReader;
use crate::record::{Line, Spans, Status};
use crate::totals::{Totalling, Totals};
use crate::{Digest, RunPaths, spine};

mod order;
mod records;
#[cfg(test)]
mod tamper;
#[cfg(test)]
mod tests;
mod twice;

use records::{ByItself, Records, Terms, spine_of};

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
    /// What a command that was cut off left behind: the run is not whole, and nothing in it was touched.
    pub left_over: Vec<Finding>,
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

    /// Notes what a command that was cut off left in a file.
    pub fn left_over(&mut self, file: &str, what: impl Into<String>) {
        self.left_over.push(Finding { file: file.to_owned(), line: None, record: None, what: what.into() });
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
    check_names(paths, &mut findings)?;
    let pending = pending(paths);
    let cut_off = pending == Some(ExitStatus::InProgress);
    if let Some(status) = pending {
        let what = match status {
            ExitStatus::InProgress => "the run was cut off before its end, or is still going on",
            _ => "the run was cut off before its envelope got its name",
        };
        findings.left_over(paths.envelope_tmp().file_name().unwrap_or_default(), what);
    }
    let ended_early = !paths.manifest().exists() && unfinished(paths).is_some();
    let read = match ended_early {
        true => None,
        false => parse_file::<Manifest>(&paths.manifest(), "manifest.json", &mut findings),
    };
    let (manifest, manifest_sha256) = read.unzip();
    let part = match &manifest {
        Some(manifest) => manifest.shard.map(|shard| shard.part),
        None => unfinished(paths).and_then(|envelope| envelope.part()),
    };
    let stated = Stated { manifest: manifest.as_ref(), part, cut_off };
    let totals = check_records(paths, &stated, &mut findings, &mut each)?;
    if let Some(manifest) = &manifest {
        check_manifest(paths, manifest, &totals, &mut findings);
    }
    // While a run goes on, the envelope under its final name is that of an earlier instance.
    let path = match pending {
        Some(ExitStatus::InProgress) => None,
        Some(_) => Some(paths.envelope_tmp()),
        None => Some(paths.envelope()),
    };
    let sealed = manifest.as_ref().zip(manifest_sha256);
    let envelope = path.and_then(|path| check_envelope(&path, sealed, &totals, &mut findings));
    Ok(Verified { findings, totals, manifest, envelope })
}

/// The envelope of a run that did not get to its end: in progress, stopped, or failed.
pub fn unfinished(paths: &RunPaths) -> Option<Envelope> {
    [paths.envelope_tmp(), paths.envelope()]
        .into_iter()
        .filter_map(|path| format::read_envelope(&path).ok())
        .find(|envelope| envelope.exit_status != ExitStatus::Normal)
}

/// How far a run came that is going on, or whose process is gone: its envelope has not got its name.
fn pending(paths: &RunPaths) -> Option<ExitStatus> {
    format::read_envelope(&paths.envelope_tmp()).ok().map(|envelope| envelope.exit_status)
}

/// Reads a canonical JSON file; whatever is wrong with it becomes a finding.
fn parse_file<T: Format>(
    path: &camino::Utf8Path,
    name: &str,
    findings: &mut Findings,
) -> Option<(T, Digest)> {
    let bytes = match files::read_facts(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            findings.file(name, format!("cannot be read: {}", error.source));
            return None;
        }
    };
    let value: T = match format::parse(&bytes) {
        Ok(value) => value,
        Err(error) => {
            findings.file(name, error.to_string());
            return None;
        }
    };
    if crate::canonical::to_file(&value).ok().as_deref() != Some(&bytes[..]) {
        findings.file(name, "is not in canonical form");
    }
    Some((value, Digest::of(&bytes)))
}

/// What is known of the records before they are read.
struct Stated<'a> {
    manifest: Option<&'a Manifest>,
    part: Option<Part>,
    /// The run did not get to its end, so that its last line may be torn.
    cut_off: bool,
}

fn check_records(
    paths: &RunPaths,
    &Stated { manifest, part, cut_off }: &Stated<'_>,
    findings: &mut Findings,
    each: &mut dyn FnMut(&Line<'_>),
) -> Result<Totals, FileError> {
    let path = paths.records();
    // A run that came to no trial, or was recovered after such an end, may have no records at all.
    let none = || unfinished(paths).is_some_and(|envelope| envelope.total_cases_completed == 0);
    if !path.exists() && none() {
        return Ok(Totalling::default().finish());
    }
    let mut reader = LineReader::open(&path)?;
    let spine = spine_of(manifest);
    let terms = Terms::new(manifest, spine.as_ref(), part);
    std::thread::scope(|scope| {
        let mut crew = Crew::new(scope, ByItself::new(terms));
        let mut records = Records::new(manifest, part, cut_off);
        let spans = Spans::default();
        let mut ended = false;
        loop {
            while !ended && crew.has_room() {
                let block = reader.take_lines(crew.memory()).map_err(FileError::new("read", &path))?;
                ended = block.is_empty();
                if !ended {
                    crew.give(block);
                }
            }
            let Some((block, mut looked)) = crew.next() else { break };
            if !block.ends_with(b"\n") && !records.may_be_torn() {
                findings.file("records.jsonl", "the last line has no end: it was cut while it was written");
            }
            let mut facts = crew.facts();
            for (bytes, found) in looked.each(&block, &spans) {
                match found {
                    Ok((line, alone)) if !records.is_torn(bytes, &block) => {
                        each(&line);
                        facts.extend(records.check(&line, alone, findings));
                    }
                    Ok(_) => records.torn(findings),
                    Err(damage) => records.damaged(&damage, findings),
                }
            }
            crew.total(&block, block.len(), facts);
            crew.take_back(block, looked);
        }
        records.finish(findings).check(&path, findings)?;
        Ok(crew.finish().finish())
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
        match Digest::of_file(&path) {
            Ok(digest) => same(what, stored.to_string(), digest.to_string()),
            Err(error) => same(what, stored.to_string(), format!("nothing ({})", error.source)),
        }
    }
    if manifest.determinism.deterministic_artifacts {
        let spine = crate::spine::Spine::new(&manifest.run_id);
        same("started_at", manifest.started_at.clone(), spine.run_start().to_string());
        same("completed_at", manifest.completed_at.clone(), spine.run_end(manifest.record_count).to_string());
    }
}

/// A run directory holds regular files under known names. What is left of a file that was being written is no damage.
fn check_names(paths: &RunPaths, findings: &mut Findings) -> Result<(), FileError> {
    for name in files::sorted_dir(&paths.dir)? {
        let draft = name.strip_suffix(".draft").is_some_and(|name| NAMES.contains(&name));
        let regular = matches!(Real.look(&paths.dir.join(&name)), Ok(Node::File(_)));
        let folder = matches!(Real.look(&paths.dir.join(&name)), Ok(Node::Dir));
        match NAMES.contains(&name.as_str()) {
            // What is in it is held against the report that the ledger gives, as the page itself is.
            _ if folder && name == REPORT_DATA => {}
            _ if folder && name.strip_suffix(".draft") == Some(REPORT_DATA) => {
                findings.left_over(&name, "was being written when its writer ended");
            }
            _ if draft && regular => findings.left_over(&name, "was being written when its writer ended"),
            true if !regular => findings.file(&name, "is not a regular file"),
            true => {}
            false => findings.file(&name, "does not belong in a run directory"),
        }
    }
    Ok(())
}

fn check_envelope(
    path: &camino::Utf8Path,
    manifest: Option<(&Manifest, Digest)>,
    totals: &Totals,
    findings: &mut Findings,
) -> Option<Envelope> {
    if !path.exists() {
        return None;
    }
    let name = path.file_name().unwrap_or("envelope").to_owned();
    let (envelope, _): (Envelope, Digest) = parse_file(path, &name, findings)?;
    let mut same = |what: &str, stored: String, computed: String| {
        if stored != computed {
            findings.file(&name, format!("`{what}` is {stored}, the files give {computed}"));
        }
    };
    let or_null = |digest: Option<Digest>| digest.map_or("null".to_owned(), |digest| digest.to_string());
    same("total_cases_completed", envelope.total_cases_completed.to_string(), totals.count.to_string());
    same("receipt_sha256", or_null(envelope.receipt_sha256), totals.records_sha256.to_string());
    same("determinism_hash", or_null(envelope.determinism_hash), totals.determinism_hash.to_string());
    same("cases_assessed", envelope.cases_assessed.to_string(), totals.assessed.to_string());
    let timed_out = totals.with_status(Status::Timeout);
    same("cases_timed_out", envelope.cases_timed_out.to_string(), timed_out.to_string());
    if let Some((manifest, digest)) = manifest {
        same("manifest_sha256", or_null(envelope.manifest_sha256), digest.to_string());
        same("run_id", envelope.run_id.to_string(), manifest.run_id.to_string());
        same("suite", envelope.suite.clone(), manifest.suite_id.clone());
        // Envelopes that do not have the one always mean the suite's file by the other.
        let (suite, file) = match envelope.suite_file_sha256 {
            Some(_) => manifest.suite_digests(),
            None => (manifest.suite_sha256, None),
        };
        same("suite_sha256", or_null(envelope.suite_sha256), suite.to_string());
        same("suite_file_sha256", or_null(envelope.suite_file_sha256), or_null(file));
        same("spec_digest", or_null(envelope.spec_digest), manifest.config_sha256.to_string());
        let word = |part: Option<Part>| part.map_or("none".to_owned(), |part| part.to_string());
        same("shard", word(envelope.part()), word(manifest.shard.map(|shard| shard.part)));
    }
    check_moments(&name, &envelope, findings);
    let whole = totals.count == envelope.total_cases_expected && manifest.is_some();
    if whole != (envelope.exit_status == ExitStatus::Normal) {
        let (done, expected) = (totals.count, envelope.total_cases_expected);
        let word = serde_json::to_value(envelope.exit_status).unwrap_or_default();
        let word = word.as_str().unwrap_or_default();
        findings.file(&name, format!("`exit_status` is `{word}` with {done} of {expected} records"));
    }
    Some(envelope)
}

/// What an envelope says against itself: when the run was, and that it ended well in spite of an error.
fn check_moments(name: &str, envelope: &Envelope, findings: &mut Findings) {
    // Which of them is later proves nothing: a machine's clock may have been set while the run went on.
    let moments =
        [("run_start_ts_utc", &envelope.run_start_ts_utc), ("run_end_ts_utc", &envelope.run_end_ts_utc)];
    for (field, moment) in moments {
        if moment.as_ref().is_some_and(|moment| !spine::is_moment(moment)) {
            findings.file(name, format!("`{field}` is no moment in UTC"));
        }
    }
    if envelope.exit_status == ExitStatus::Normal && envelope.error.is_some() {
        findings.file(name, "`error` is not null, and `exit_status` is `normal`");
    }
}
