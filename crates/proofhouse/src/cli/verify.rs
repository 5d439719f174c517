//! `verify`: everything that can be recomputed, recomputed.

use camino::Utf8PathBuf;
use clap::Args;
use proofhouse_ledger::config::{self, Repeated};
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::verify::Verified;
use proofhouse_ledger::{Digest, Json, RunPaths, canonical, files, json, verify};

use super::exit::Exit;
use super::failure::Failure;
use super::{Terminal, plural, visible};
use crate::kinds;
use crate::spine::tally::Tally;
use crate::spine::{present, run};

/// Check a run directory against every digest and count in it, and name what does not fit.
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// The run directories.
    #[arg(required = true)]
    run_dirs: Vec<Utf8PathBuf>,

    /// Fail also where the origin is unknown or not committed: no envelope, no commit, or a dirty tree.
    #[arg(long)]
    strict: bool,
}

impl Verify {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let mut worst = Exit::Ok;
        for dir in &self.run_dirs {
            let paths = RunPaths::new(dir.as_str().trim_end_matches('/'));
            let exit = self.check(&paths, terminal)?;
            if worst != Exit::VerificationFailed && exit != Exit::Ok {
                worst = exit;
            }
        }
        Ok(worst)
    }

    fn check(&self, paths: &RunPaths, terminal: &Terminal) -> Result<Exit, Failure> {
        if !paths.dir.is_dir() {
            terminal.data(&visible(&format!("{}: NOT SOUND, it is not a directory\n", paths.dir)))?;
            return Ok(Exit::VerificationFailed);
        }
        let config = files::read(&paths.config()).unwrap_or_default();
        let config: Json = serde_saphyr::from_str(&String::from_utf8_lossy(&config)).unwrap_or(Json::Null);
        let mut tally = Some(Tally::new(&config, kinds::own_tally));
        let mut verified = verify::verify(paths, |line| {
            if tally.as_mut().is_some_and(|tally| tally.push(line).is_err()) {
                tally = None;
            }
        })
        .map_err(|error| Failure::new(Exit::VerificationFailed, &error))?;
        if let Some(manifest) = verified.manifest.clone() {
            check_config(&config, &manifest, &mut verified);
            check_summary(paths, tally, &mut verified);
            check_report(paths, &mut verified)?;
            check_derivable(paths, &manifest, &mut verified);
            check_receipts(paths, &mut verified)?;
        }
        if self.strict {
            check_origin(paths, &mut verified);
        }
        tell(paths, &verified, terminal)
    }
}

fn tell(paths: &RunPaths, verified: &Verified, terminal: &Terminal) -> Result<Exit, Failure> {
    let (findings, totals) = (&verified.findings, &verified.totals);
    let dir = &paths.dir;
    let mut text = String::new();
    for finding in &findings.list {
        text.push_str(&format!("{dir}: {finding}\n"));
    }
    let more = findings.total - findings.list.len() as u64;
    if more > 0 {
        text.push_str(&format!("{dir}: and {more} more\n"));
    }
    let unfinished = verify::unfinished(paths).filter(|_| verified.manifest.is_none());
    let exit = match (findings.total, unfinished) {
        (0, None) => {
            let envelope = if verified.envelope.is_some() { "" } else { ", no envelope" };
            text.push_str(&format!(
                "{dir}: sound, {}, sha256 {}{envelope}\n",
                plural(totals.count, "record", "records"),
                totals.records_sha256
            ));
            Exit::Ok
        }
        (0, Some(envelope)) => {
            let expected = envelope.total_cases_expected;
            text.push_str(&format!(
                "{dir}: incomplete, {} of {expected} trials; what is there is sound\n",
                totals.count
            ));
            Exit::Incomplete
        }
        (1, _) => {
            text.push_str(&format!("{dir}: NOT SOUND, 1 finding\n"));
            Exit::VerificationFailed
        }
        (count, _) => {
            text.push_str(&format!("{dir}: NOT SOUND, {count} findings\n"));
            Exit::VerificationFailed
        }
    };
    terminal.data(&visible(&text))?;
    Ok(exit)
}

/// What the manifest repeats of the configuration must be what the configuration says, the run's id included.
fn check_config(config: &Json, manifest: &Manifest, verified: &mut Verified) {
    let (stored, derived) = (Repeated::of(manifest), config::part::<Repeated>(config));
    let same = [
        ("run_id", manifest.run_id == config::run_id(config)),
        ("suite_id", stored.suite_id == derived.suite_id),
        ("seed", stored.seed == derived.seed),
        ("kind", stored.kind == derived.kind),
        ("determinism", stored.determinism == derived.determinism),
        ("datasets", stored.datasets == derived.datasets),
        ("targets", stored.targets == derived.targets),
    ];
    for (field, _) in same.into_iter().filter(|(_, same)| !same) {
        let what = format!("`{field}` is not what config.resolved.yaml says");
        verified.findings.file("manifest.json", what);
    }
}

/// Every field of the envelope that follows from the run directory.
fn check_derivable(paths: &RunPaths, manifest: &Manifest, verified: &mut Verified) {
    let Some(envelope) = &verified.envelope else { return };
    let derived = run::derived_envelope(paths, manifest, &verified.totals);
    let (Ok(stored), Ok(derived)) = (json::to_json(envelope), json::to_json(&derived)) else { return };
    let name = paths.envelope().file_name().unwrap_or_default().to_owned();
    for (field, value) in derived.as_object().into_iter().flat_map(json::Object::iter) {
        let unknown =
            run::NOT_DERIVABLE.contains(&field) || (field == "run_instance_id" && *value == Json::Null);
        if !unknown && stored.get(field) != Some(value) {
            let what = format!("`{field}` does not follow from the run directory");
            if !verified
                .findings
                .list
                .iter()
                .any(|finding| finding.file == name && finding.what.contains(field))
            {
                verified.findings.file(&name, what);
            }
        }
    }
}

fn check_summary(paths: &RunPaths, tally: Option<Tally>, verified: &mut Verified) {
    let derived = tally.and_then(Tally::finish).and_then(|summary| canonical::to_file(&summary).ok());
    match (derived, files::read(&paths.summary())) {
        (Some(derived), Ok(stored)) if derived == stored => {}
        (None, _) => verified.findings.file("summary.json", "cannot be derived: the records cannot be read"),
        (Some(_), Ok(_)) => verified.findings.file("summary.json", "is not what the records add up to"),
        (Some(_), Err(error)) => {
            verified.findings.file("summary.json", format!("cannot be read: {}", error.source))
        }
    }
}

/// The report is optional; where it is, it must be the one that the ledger gives.
fn check_report(paths: &RunPaths, verified: &mut Verified) -> Result<(), Failure> {
    let Ok(meta) = std::fs::symlink_metadata(paths.report()) else { return Ok(()) };
    if !meta.is_file() {
        verified.findings.file("report.html", "is not a regular file");
        return Ok(());
    }
    match present::matches(paths, kinds::own_presentation) {
        Ok(true) => {}
        Ok(false) => verified.findings.file("report.html", "is not the report that the ledger gives"),
        Err(error) => {
            let failure = Failure::new(Exit::VerificationFailed, &error);
            verified.findings.file("report.html", format!("cannot be derived: {}", failure.message));
        }
    }
    Ok(())
}

/// Receipts that were exported beside the envelope are the records, byte for byte.
fn check_receipts(paths: &RunPaths, verified: &mut Verified) -> Result<(), Failure> {
    let path = paths.receipts();
    if path.exists() && Digest::of_file(&path)? != verified.totals.records_sha256 {
        let name = path.file_name().unwrap_or_default();
        verified.findings.file(name, "is not what the records are: its SHA-256 is not `receipt_sha256`");
    }
    Ok(())
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
