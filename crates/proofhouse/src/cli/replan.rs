//! A run held against its suite: whether that makes the same run, and whether its verdicts come out the same.

use std::collections::BTreeSet;

use camino::Utf8Path;
use proofhouse_ledger::config::{self, Repeated};
use proofhouse_ledger::envelope::Envelope;
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::part::Part;
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{HEAD, Kind, Line, Name, Spans};
use proofhouse_ledger::{Json, RunPaths};
use proofhouse_sandbox::Sandbox;
use serde::Deserialize;

use super::env;
use super::exit::Exit;
use super::failure::Failure;
use super::sound::{Inspected, Judging};
use crate::kinds;
use crate::spine::run::again::AgainError;
use crate::spine::run::{Job, Means};
use crate::spine::suite::Overrides;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Given {
    limit: Option<u64>,
    derived_from: Option<Json>,
}

/// Reads a suite as a run's configuration says that it was run, and as flags say that beat it.
pub(super) fn load(suite: &Utf8Path, flags: Overrides, config: &Json) -> Result<Job, Failure> {
    let repeated = config::part::<Repeated>(config);
    let given: Given = config::part(config);
    let determinism = repeated.determinism;
    let overrides = Overrides {
        seed: flags.seed.or(repeated.seed),
        limit: flags.limit.or(given.limit),
        derived_from: given.derived_from,
        strict_serialization: determinism.map(|how| how.strict_serialization).or(flags.strict_serialization),
        deterministic_artifacts: determinism
            .map(|how| how.deterministic_artifacts)
            .or(flags.deterministic_artifacts),
        ..flags
    };
    Ok(kinds::load(suite, &overrides)?)
}

/// Makes run id and plan anew, and what records hold that follows from the suite: what was expected cannot be changed with the verdict.
pub(super) fn compare(
    paths: &RunPaths,
    (suite, job): (&Utf8Path, &Job),
    inspected: &mut Inspected,
) -> Result<(), Failure> {
    let (derived, stored) = (job.run_id(), config::run_id(&inspected.config));
    let part = inspected.verified.envelope.as_ref().and_then(Envelope::part).unwrap_or(Part::WHOLE);
    let findings = &mut inspected.verified.findings;
    if derived != stored {
        let what = format!(
            "is of run {stored}; `{suite}` with the same seed and limit makes run {derived} (flags that shaped the run are given again)"
        );
        findings.file("config.resolved.yaml", what);
    }
    for what in said_otherwise(&inspected.config, &job.resolved()) {
        findings.file("config.resolved.yaml", format!("`{what}` is not what `{suite}` says"));
    }
    let path = paths.records();
    let mut stored = StoredLines::open(&path)?;
    let fields = followed(job.suite.kind);
    let (mut number, mut wrong) = (0, None);
    job.not_run(&BTreeSet::from([part]), &mut |planned| {
        number += 1;
        if wrong.is_none() {
            let line = stored.next().map_err(FileError::new("read", &path))?;
            wrong = differs(planned, line, &fields).map(|what| (number, what));
        }
        Ok(())
    })
    .map_err(|error| Failure::new(Exit::InvalidSuite, &error))?;
    let missing = |what: &Differs| matches!(what, Differs::Missing(_));
    match wrong {
        // What was not run yet is not missing.
        Some((_, what)) if missing(&what) && inspected.verified.manifest.is_none() => {}
        Some((line, what)) => findings.file("records.jsonl", what.told(line, suite)),
        None if stored.next().map_err(FileError::new("read", &path))?.is_some() => {
            findings.file("records.jsonl", format!("line {} is more than `{suite}` plans", number + 1));
        }
        None => {}
    }
    Ok(())
}

/// Settings that change no record, so that no run id covers them, and that change what is said of a run: whether it passed, and of how much.
const SAID_OF_RUNS: [&str; 3] = ["gate", "case_count", "k"];

/// Which of them differ between a run's configuration and the one that its suite makes.
fn said_otherwise(stored: &Json, derived: &Json) -> Vec<String> {
    let mut other: Vec<String> = SAID_OF_RUNS
        .into_iter()
        .filter(|key| said(stored.get(key)) != said(derived.get(key)))
        .map(str::to_owned)
        .collect();
    let rows = |config: &Json| -> Vec<Option<Json>> {
        let Some(Json::Array(datasets)) = config.get("datasets") else { return Vec::new() };
        datasets.iter().map(|dataset| dataset.get("rows").cloned()).collect()
    };
    let (stored, derived) = (rows(stored), rows(derived));
    // Other files are another run id.
    let differs = stored.iter().zip(&derived).position(|(stored, derived)| stored != derived);
    other.extend(differs.map(|at| format!("datasets[{at}].rows")));
    other
}

/// A setting without what is null: an older version wrote fewer of those.
fn said(value: Option<&Json>) -> Option<Json> {
    match value? {
        Json::Null => None,
        Json::Object(object) => {
            let members = object.iter().filter_map(|(key, member)| Some((key, said(Some(member))?)));
            Some(Json::Object(members.collect()))
        }
        other => Some(other.clone()),
    }
}

/// Judges the stored records again with the suite at hand. Gives what is to be said about it.
pub(super) fn judge_again(
    paths: &RunPaths,
    job: &Job,
    sandbox: Option<Sandbox>,
    inspected: &mut Inspected,
) -> Result<Option<String>, Failure> {
    let crates = env::cache_folder().map(|folder| folder.join("crates"));
    // No verdict is taken from a cache: whoever can write a run could have written that.
    let means = Means { sandbox, crates, ..Means::default() };
    let path = paths.records();
    let mut stored = StoredLines::open(&path)?;
    let mut next = || Ok(stored.next().map_err(FileError::new("read", &path))?.map(<[u8]>::to_vec));
    let mut judging = Judging::default();
    let judged = job.judge_again(means, &mut next, &mut |line, again| judging.take(line, again));
    let toolchains = judged.map_err(|error| match error {
        AgainError::Suite(problems) => Failure::from(problems),
        AgainError::File(error) => error.into(),
        AgainError::Means(error) => error.into(),
    })?;
    // A kind whose configuration is enough has been asked already.
    let Some(toolchains) = toolchains else { return Ok(None) };
    inspected.rejudged = Some(judging.tell(&mut inspected.verified));
    let others: Vec<&str> = match &inspected.verified.manifest {
        Some(manifest) => toolchains
            .iter()
            .filter(|(name, version)| manifest.toolchains.get(*name) != Some(version))
            .map(|(name, _)| name.as_str())
            .collect(),
        None => Vec::new(),
    };
    Ok((!others.is_empty()).then(|| {
        format!(
            "note: judged again with another {} than then, which may explain differences",
            others.join(", ")
        )
    }))
}

/// The stored lines, one after the other.
struct StoredLines {
    reader: LineReader<std::fs::File>,
    block: Vec<u8>,
    at: usize,
}

impl StoredLines {
    fn open(path: &Utf8Path) -> Result<StoredLines, FileError> {
        Ok(StoredLines { reader: LineReader::open(path)?, block: Vec::new(), at: 0 })
    }

    fn next(&mut self) -> std::io::Result<Option<&[u8]>> {
        if self.at == self.block.len() {
            self.block.clear();
            self.block.extend_from_slice(self.reader.next_lines()?);
            self.at = 0;
        }
        let line = lines(&self.block[self.at..]).next();
        self.at = self.block.len().min(self.at + line.map_or(0, |line| line.len() + 1));
        Ok(line)
    }
}

/// What of a record follows from the suite alone.
fn followed(kind: Kind) -> Vec<Name> {
    let head = [HEAD.record_id.into(), HEAD.input_fingerprint.into(), HEAD.case_id.into()];
    [&head[..], &(kinds::row(kind).planned)()].concat()
}

/// How a line is not what a suite plans, with the case that it plans there.
enum Differs {
    Missing(String),
    Other(String, &'static str),
}

impl Differs {
    fn told(&self, line: u64, suite: &Utf8Path) -> String {
        match self {
            Differs::Missing(case) => format!("line {line} is not what `{suite}` plans there: case `{case}`"),
            Differs::Other(case, field) => {
                format!("line {line} is not what `{suite}` plans there: case `{case}`, another `{field}`")
            }
        }
    }
}

/// The first of these fields in which the stored line is not as the suite has it.
fn differs(planned: &[u8], stored: Option<&[u8]>, fields: &[Name]) -> Option<Differs> {
    let (mut of_suite, mut of_run) = (Spans::default(), Spans::default());
    let planned = Line::split(planned.trim_ascii_end(), &mut of_suite).ok();
    let case = planned.and_then(|line| Some(line.get(HEAD.case_id).ok()?.to_string())).unwrap_or_default();
    let stored = stored.and_then(|line| Line::split(line, &mut of_run).ok());
    let (Some(planned), Some(stored)) = (planned, stored) else { return Some(Differs::Missing(case)) };
    let other = fields.iter().find(|field| planned.raw(**field) != stored.raw(**field))?;
    Some(Differs::Other(case, other.as_str()))
}
