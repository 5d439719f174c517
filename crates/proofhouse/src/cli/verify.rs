//! `verify`: everything that can be recomputed, recomputed.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use proofhouse_ledger::attest::{self, Proof};
use proofhouse_ledger::config::{self, Repeated};
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::part::Part;
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{HEAD, Kind, Line, Name, Spans};
use proofhouse_ledger::verify::{self, Verified};
use proofhouse_ledger::{Json, RunPaths, files, format};
use serde::Deserialize;

use super::exit::Exit;
use super::failure::Failure;
use super::key::PublicKey;
use super::machine::{self, Form, VerifiedRun};
use super::sound::{self, Inspected, Rejudged};
use super::{Terminal, env, plural, visible};
use crate::kinds;
use crate::spine::suite::Overrides;

/// Check a run directory against every digest and count in it, and name what does not fit.
///
/// What was changed together with all its digests is found by `--rejudge` where a judge can be asked again, by `--suite`
/// where the plan or what was expected was touched, and by `--key` in any case.
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// The run directories.
    #[arg(required_unless_present = "proof")]
    run_dirs: Vec<Utf8PathBuf>,

    /// Also fail where the origin is unknown or not committed: no envelope, no commit, or a dirty tree.
    #[arg(long)]
    strict: bool,

    /// Judge every stored answer again with the run's own judges, and name the verdicts that come out differently.
    #[arg(long)]
    rejudge: bool,

    /// Make run id, plan and expectations anew from this suite, with the run's seed and limit, and name the first trial that differs.
    #[arg(long, value_name = "FILE")]
    suite: Option<Utf8PathBuf>,

    /// The public key (PEM) of whoever signed the run with `attest`: a file, or `env:NAME`.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// Check that the record in this file, made by `attest --prove`, is in its run; with `--key`, that the run is signed.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["strict", "rejudge", "suite", "run_dirs"])]
    proof: Option<Utf8PathBuf>,

    /// Who reads it.
    #[arg(long, value_enum, default_value_t, conflicts_with = "proof")]
    format: Form,
}

impl Verify {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let key = self.key.as_deref().map(PublicKey::read).transpose()?;
        if let Some(proof) = &self.proof {
            return check_proof(proof, key.as_ref(), terminal);
        }
        let mut worst = Exit::Ok;
        let mut runs = Vec::new();
        for dir in &self.run_dirs {
            let paths = RunPaths::new(dir.as_str().trim_end_matches('/'));
            let (text, run, exit) = self.check(&paths, key.as_ref(), terminal)?;
            match self.format {
                Form::Text => terminal.data(&visible(&text))?,
                Form::Json => runs.push(run),
            }
            if worst != Exit::VerificationFailed && exit != Exit::Ok {
                worst = exit;
            }
        }
        if self.format == Form::Json {
            machine::print(terminal, &machine::Verified { schema_version: machine::VERSION, runs })?;
        }
        Ok(worst)
    }

    fn check(&self, paths: &RunPaths, key: Option<&PublicKey>, terminal: &Terminal) -> Result<Told, Failure> {
        if !paths.dir.is_dir() {
            let what = "it is not a directory";
            let text = format!("{}: NOT SOUND, {what}\n", paths.dir);
            let run = VerifiedRun::new(paths.dir.as_str(), "not_sound", vec![what.to_owned()]);
            return Ok((text, run, Exit::VerificationFailed));
        }
        let mut inspected = sound::inspect(paths, self.rejudge)?;
        if let Some(suite) = &self.suite {
            check_suite(paths, suite, &mut inspected)?;
        }
        let verified = &mut inspected.verified;
        if self.strict {
            check_origin(paths, verified);
        }
        if let Some(key) = key {
            attest::check(paths, |signed, signature| key.fits(signed, signature), &mut verified.findings);
        }
        if let Some(name) = &inspected.renamed_from {
            terminal.say(&visible(&format!("note: `{}` was written as `{name}`", paths.dir)));
        }
        Ok(tell(paths, &inspected, key))
    }
}

/// What is said of a run, to people and to programs, and what the command exits with for it.
type Told = (String, VerifiedRun, Exit);

fn tell(paths: &RunPaths, Inspected { verified, rejudged, .. }: &Inspected, key: Option<&PublicKey>) -> Told {
    let (findings, totals) = (&verified.findings, &verified.totals);
    let dir = &paths.dir;
    let mut text = String::new();
    for finding in findings.list.iter().chain(&findings.left_over) {
        text.push_str(&format!("{dir}: {finding}\n"));
    }
    let more = findings.total - findings.list.len() as u64;
    if more > 0 {
        text.push_str(&format!("{dir}: and {more} more\n"));
    }
    text.push_str(&rejudged.as_ref().map(|rejudged| said_of(dir, rejudged)).unwrap_or_default());
    let exit = match findings.total {
        0 => match verify::unfinished(paths).filter(|_| verified.manifest.is_none()) {
            Some(envelope) => {
                let expected = envelope.total_cases_expected;
                let count = totals.count;
                text.push_str(&format!(
                    "{dir}: incomplete, {count} of {expected} trials; what is there is sound\n"
                ));
                Exit::Incomplete
            }
            None if !findings.left_over.is_empty() => {
                text.push_str(&format!(
                    "{dir}: incomplete, a command was cut off; what is there is sound, and the same command again completes it\n"
                ));
                Exit::Incomplete
            }
            None => {
                let envelope = if verified.envelope.is_some() { "" } else { ", no envelope" };
                let signed = key.map(|key| format!(", signed by {}", key.id())).unwrap_or_default();
                text.push_str(&format!(
                    "{dir}: sound, {}, sha256 {}{envelope}{signed}\n",
                    plural(totals.count, "record", "records"),
                    totals.records_sha256
                ));
                Exit::Ok
            }
        },
        count => {
            text.push_str(&format!("{dir}: NOT SOUND, {}\n", plural(count, "finding", "findings")));
            Exit::VerificationFailed
        }
    };
    let verdict = match exit {
        Exit::Ok => "sound",
        Exit::Incomplete => "incomplete",
        _ => "not_sound",
    };
    let said = findings.list.iter().chain(&findings.left_over).map(|finding| finding.to_string()).collect();
    let impossible = rejudged.iter().flat_map(|rejudged| &rejudged.impossible);
    let run = VerifiedRun {
        exit_code: exit as u8,
        records: totals.count,
        records_sha256: Some(totals.records_sha256.to_string()),
        findings_total: findings.total,
        rejudged_same: rejudged.as_ref().map(|rejudged| rejudged.same),
        not_rejudged: impossible.map(|(why, count)| ((*why).to_owned(), *count)).collect(),
        signed_by: key.filter(|_| exit == Exit::Ok).map(|key| key.id().to_string()),
        ..VerifiedRun::new(dir.as_str(), verdict, said)
    };
    (text, run, exit)
}

fn said_of(dir: &Utf8Path, rejudged: &Rejudged) -> String {
    let mut text =
        format!("{dir}: judged again: {} the same\n", plural(rejudged.same, "verdict", "verdicts"));
    for (why, count) in &rejudged.impossible {
        let records = plural(*count, "verdict", "verdicts");
        text.push_str(&format!("{dir}: not judged again: {records}, for {why}\n"));
    }
    text
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Given {
    limit: Option<u64>,
    derived_from: Option<Json>,
}

/// Makes run id and plan anew from the suite, as the run's own configuration says that it was run, and what records hold that follows
/// from it: what was expected cannot be changed with the verdict.
fn check_suite(paths: &RunPaths, suite: &Utf8Path, inspected: &mut Inspected) -> Result<(), Failure> {
    let repeated = config::part::<Repeated>(&inspected.config);
    let given: Given = config::part(&inspected.config);
    let overrides = Overrides {
        seed: repeated.seed,
        limit: given.limit,
        derived_from: given.derived_from,
        strict_serialization: repeated.determinism.map(|how| how.strict_serialization),
        deterministic_artifacts: repeated.determinism.map(|how| how.deterministic_artifacts),
        environment: env::for_targets(),
        ..Overrides::default()
    };
    let job = kinds::load(suite, &overrides)?;
    let (derived, stored) = (job.run_id(), config::run_id(&inspected.config));
    let findings = &mut inspected.verified.findings;
    if derived != stored {
        let what = format!("is of run {stored}; `{suite}` with the same seed and limit makes run {derived}");
        findings.file("config.resolved.yaml", what);
    }
    let path = paths.records();
    let mut stored = Stored { reader: LineReader::open(&path)?, block: Vec::new(), at: 0 };
    let fields = followed(job.suite.kind);
    let (mut number, mut wrong) = (0, None);
    let everything = BTreeSet::from([Part::WHOLE]);
    job.not_run(&everything, &mut |planned| {
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

/// The stored lines, one after the other.
struct Stored {
    reader: LineReader<std::fs::File>,
    block: Vec<u8>,
    at: usize,
}

impl Stored {
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

fn check_proof(path: &Utf8Path, key: Option<&PublicKey>, terminal: &Terminal) -> Result<Exit, Failure> {
    let proof: Proof = format::parse(&files::read(path)?)
        .map_err(|error| Failure::say(Exit::VerificationFailed, format!("`{path}` {error}")))?;
    let fits = |signed: &[u8], signature: &[u8]| key.is_some_and(|key| key.fits(signed, signature));
    let wrong = proof.check(key.is_some().then_some(&fits as &dyn Fn(&[u8], &[u8]) -> bool));
    let mut text: String = wrong.iter().map(|what| format!("{path}: {what}\n")).collect();
    let exit = match wrong.len() {
        0 => {
            let signed = key.map(|key| format!(", signed by {}", key.id())).unwrap_or_default();
            let (index, count) = (proof.index, proof.record_count);
            text.push_str(&format!("{path}: sound, record {index} of {count} is in its run{signed}\n"));
            Exit::Ok
        }
        _ => {
            text.push_str(&format!("{path}: NOT SOUND\n"));
            Exit::VerificationFailed
        }
    };
    terminal.data(&visible(&text))?;
    Ok(exit)
}

fn check_origin(paths: &RunPaths, verified: &mut Verified) {
    let name = paths.envelope().file_name().unwrap_or_default().to_owned();
    let findings = &mut verified.findings;
    let Some(envelope) = &verified.envelope else {
        return findings.file(&name, "is missing: the origin of the run is unknown");
    };
    if envelope.git_commit.is_none() {
        findings.file(&name, "`git_commit` is null: the origin of the suite is unknown");
    }
    match envelope.git_dirty {
        Some(false) => {}
        Some(true) => findings.file(&name, "`git_dirty`: the suite was run with uncommitted changes"),
        None => {
            findings.file(&name, "`git_dirty` is null: whether there were uncommitted changes is unknown")
        }
    }
    if envelope.tool_sha256.is_none() {
        findings.file(&name, "`tool_sha256` is null: the program that ran it is unknown");
    }
}
