//! `verify`: everything that can be recomputed, recomputed.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use proofhouse_ledger::attest::{self, Proof};
use proofhouse_ledger::verify::{self, Verified};
use proofhouse_ledger::{RunPaths, files, format};

use super::doctor::SandboxArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::inputs::Inputs;
use super::key::PublicKey;
use super::machine::{self, Form, VerifiedRun};
use super::sound::{self, Inspected, Rejudged};
use super::{Terminal, plural, replan, run_dir, visible};

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

    /// Judge every stored answer again with the run's own judges, and name the verdicts that come out differently. With `--suite`
    /// completions of code suites are compiled and tested again, in the sandbox, and trials of containment suites are played again.
    #[arg(long)]
    rejudge: bool,

    /// Recompute run id, plan, expectations, gate and counts from this suite, with the run's seed and limit, and name what differs.
    /// Other flags that shaped the run, such as `--lane 1`, are given again.
    #[arg(long, value_name = "FILE")]
    suite: Option<Utf8PathBuf>,

    /// The public key (PEM) of whoever signed the run with `attest`: a file, or `env:NAME`.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// Check that the record in this file, made by `attest --prove`, is in its run; with `--key`, that the run is signed.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["strict", "rejudge", "suite", "run_dirs"])]
    proof: Option<Utf8PathBuf>,

    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    sandbox: SandboxArgs,

    /// How to print.
    #[arg(long, value_enum, default_value_t, conflicts_with = "proof")]
    format: Form,
}

impl Verify {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        if let (None, Some(flag)) = (&self.suite, self.inputs.given()) {
            let what = format!("`{flag}` says how a suite was run, and no suite is given");
            return Err(Failure::say(Exit::Usage, what).hint("name the suite with `--suite FILE`"));
        }
        let key = self.key.as_deref().map(PublicKey::read).transpose()?;
        if let Some(proof) = &self.proof {
            return check_proof(proof, key.as_ref(), terminal);
        }
        let mut worst = Exit::Ok;
        let mut runs = Vec::new();
        self.run_dirs.iter().try_for_each(|dir| run_dir::present(dir).map(drop))?;
        for dir in &self.run_dirs {
            let (text, run, exit) = match run_dir::readable(dir) {
                Ok(paths) => self.check(&paths, key.as_ref(), terminal)?,
                Err(unfinished) => told(dir, unfinished),
            };
            match self.format {
                Form::Text => terminal.prose(&visible(&text))?,
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

    fn check(
        &self,
        paths: &RunPaths,
        key: Option<&PublicKey>,
        terminal: &Terminal,
    ) -> Result<RunVerdict, Failure> {
        let is_there = |name: &str| paths.dir.join(name).exists();
        let is_no_run = || {
            let begun = paths.envelope().exists() || paths.envelope_tmp().exists();
            !begun && !files::NAMES.into_iter().any(is_there)
        };
        let wrong = match paths.dir.is_dir() {
            false => Some("it is not a directory"),
            true => is_no_run().then_some("it is not a run directory"),
        };
        if let Some(what) = wrong {
            let text = format!("{}: NOT SOUND, {what}\n", paths.dir);
            let run = VerifiedRun::new(paths.dir.as_str(), "not_sound", vec![what.to_owned()]);
            return Ok((text, run, Exit::VerificationFailed));
        }
        let mut inspected = sound::inspect(paths, self.rejudge)?;
        if let Some(suite) = &self.suite {
            let job = replan::load(suite, self.inputs.overrides(), &inspected.config)?;
            self.inputs.fit(job.suite.kind)?;
            replan::compare(paths, (suite, &job), &mut inspected)?;
            if self.rejudge {
                let sandbox = job.body.judges_again_in_sandbox().then(|| self.sandbox.open()).transpose()?;
                replan::judge_again(paths, &job, sandbox, &mut inspected)?
                    .into_iter()
                    .for_each(|note| terminal.say(&visible(&note)));
            }
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
type RunVerdict = (String, VerifiedRun, Exit);

/// What is said of a run that cannot be looked at as it stands.
fn told(dir: &Utf8Path, unfinished: Failure) -> RunVerdict {
    let hint = unfinished.hint.unwrap_or_default();
    let text = format!("{dir}: incomplete, {}; {hint}\n", unfinished.message);
    let run = VerifiedRun {
        exit_code: unfinished.exit as u8,
        findings_total: 0,
        ..VerifiedRun::new(dir.as_str(), "incomplete", vec![unfinished.message])
    };
    (text, run, unfinished.exit)
}

fn tell(
    paths: &RunPaths,
    Inspected { verified, rejudged, .. }: &Inspected,
    key: Option<&PublicKey>,
) -> RunVerdict {
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
    terminal.prose(&visible(&text))?;
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
