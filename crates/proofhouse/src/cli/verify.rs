//! `verify`: everything that can be recomputed, recomputed.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use proofhouse_ledger::attest::{self, Proof};
use proofhouse_ledger::config::{self, Repeated};
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{Line, Spans};
use proofhouse_ledger::verify::{self, Findings, Verified};
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
/// where the plan was touched, and by `--key` in any case.
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

    /// Make run id and plan anew from this suite, with the run's seed and limit, and name the first trial that differs.
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

/// Makes run id and plan anew from the suite, as the run's own configuration says that it was run.
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
    let mut reader = LineReader::open(&path)?;
    let (mut planned, mut spans, mut number) = (job.trials(), Spans::default(), 0);
    loop {
        let block = reader.next_lines().map_err(files::FileError::new("read", &path))?;
        if block.is_empty() {
            break;
        }
        for bytes in lines(block) {
            number += 1;
            let line = Line::split(bytes, &mut spans).ok();
            let trial = planned.next().transpose()?;
            let same = line.zip(trial.as_ref()).is_some_and(|(line, trial)| {
                let fingerprint = line.get(proofhouse_ledger::record::HEAD.input_fingerprint);
                line.record_id() == Ok(trial.record_id) && fingerprint == Ok(trial.input_fingerprint)
            });
            if !same {
                return of_plan(findings, suite, number, trial.map(|trial| trial.case_id.to_string()));
            }
        }
    }
    match planned.next().transpose()? {
        Some(trial) if inspected.verified.manifest.is_some() => {
            of_plan(findings, suite, number + 1, Some(trial.case_id.to_string()))
        }
        _ => Ok(()),
    }
}

fn of_plan(
    findings: &mut Findings,
    suite: &Utf8Path,
    line: u64,
    case: Option<String>,
) -> Result<(), Failure> {
    let what = match case {
        Some(case) => format!("line {line} is not what `{suite}` plans there: case `{case}`"),
        None => format!("line {line} is more than `{suite}` plans"),
    };
    findings.file("records.jsonl", what);
    Ok(())
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
