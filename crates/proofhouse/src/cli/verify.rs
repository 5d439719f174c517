//! `verify`: everything that can be recomputed, recomputed.

use camino::Utf8PathBuf;
use clap::Args;
use proofhouse_ledger::verify::Verified;
use proofhouse_ledger::{Json, RunPaths, canonical, files, verify};

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use crate::report;
use crate::tally::Tally;

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
        let mut sound = true;
        for dir in &self.run_dirs {
            let paths = RunPaths::new(dir.as_str().trim_end_matches('/'));
            sound &= self.check(&paths, terminal)?;
        }
        Ok(if sound { Exit::Ok } else { Exit::VerificationFailed })
    }

    fn check(&self, paths: &RunPaths, terminal: &Terminal) -> Result<bool, Failure> {
        if !paths.dir.is_dir() {
            return Err(Failure::say(Exit::Usage, format!("`{}` is not a directory", paths.dir)));
        }
        let config = files::read(&paths.config()).unwrap_or_default();
        let config: Json = serde_saphyr::from_str(&String::from_utf8_lossy(&config)).unwrap_or(Json::Null);
        let mut tally = Some(Tally::new(&config));
        let mut verified = verify::verify(paths, |line| {
            if tally.as_mut().is_some_and(|tally| tally.push(line).is_err()) {
                tally = None;
            }
        })
        .map_err(|error| Failure::new(Exit::VerificationFailed, &error))?;
        if verified.manifest.is_some() {
            check_summary(paths, tally, &mut verified);
            check_report(paths, &mut verified)?;
        }
        if self.strict {
            check_origin(paths, &mut verified);
        }
        self.tell(paths, &verified, terminal)
    }

    fn tell(&self, paths: &RunPaths, verified: &Verified, terminal: &Terminal) -> Result<bool, Failure> {
        let findings = &verified.findings;
        let totals = &verified.totals;
        if findings.total == 0 {
            let digest = totals.records_sha256;
            terminal.data(&format!("{}: sound, {} records, sha256 {digest}\n", paths.dir, totals.count))?;
            return Ok(true);
        }
        let mut text = String::new();
        for finding in &findings.list {
            text.push_str(&format!("{}: {finding}\n", paths.dir));
        }
        let more = findings.total - findings.list.len() as u64;
        if more > 0 {
            text.push_str(&format!("{}: and {more} more\n", paths.dir));
        }
        text.push_str(&format!("{}: NOT SOUND, {} findings\n", paths.dir, findings.total));
        terminal.data(&text)?;
        Ok(false)
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
    if !paths.report().exists() {
        return Ok(());
    }
    match report::matches(paths) {
        Ok(true) => {}
        Ok(false) => verified.findings.file("report.html", "is not the report that the ledger gives"),
        Err(error) => {
            let failure = Failure::new(Exit::VerificationFailed, &error);
            verified.findings.file("report.html", format!("cannot be derived: {}", failure.message));
        }
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
