//! Whether a run is sound: what `verify` says, and what `score`, `export` and `attest` ask before they go on from a run.

use std::borrow::Cow;
use std::collections::BTreeMap;

use proofhouse_ledger::config::{self, Repeated};
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::record::{HEAD, Line};
use proofhouse_ledger::verify::{self, Finding, Verified};
use proofhouse_ledger::{Digest, Json, RunPaths, canonical, files, json};

use super::exit::Exit;
use super::failure::Failure;
use crate::kinds;
use crate::spine::rejudge::{Again, Rejudge};
use crate::spine::tally::Tally;
use crate::spine::{present, run};
use crate::text::yaml;

/// What was found out about a run.
pub(super) struct Inspected {
    /// What the ledger says, and what follows from configuration and report.
    pub(super) verified: Verified,
    /// The run's resolved configuration.
    pub(super) config: Json,
    /// Under which name the run was written, where that is another one.
    pub(super) renamed_from: Option<String>,
    /// What came of judging again, if that was asked for.
    pub(super) rejudged: Option<Rejudged>,
}

/// What came of judging again.
#[derive(Debug, Default)]
pub(super) struct Rejudged {
    /// Verdicts that came out the same.
    pub(super) same: u64,
    /// Verdicts that cannot be repeated from the run alone, by the reason.
    pub(super) impossible: BTreeMap<&'static str, u64>,
}

/// Looks at everything that can be recomputed. `again` judges every answer once more.
pub(super) fn inspect(paths: &RunPaths, again: bool) -> Result<Inspected, Failure> {
    let config = files::read(&paths.config()).unwrap_or_default();
    let (config, unreadable) = match yaml::read_bytes(&config) {
        Ok(config) => (config, None),
        Err(complaint) => (Json::Null, Some(complaint.what)),
    };
    let kind = config::part::<Repeated>(&config).kind;
    let rejudge = kind.map(|kind| (kinds::row(kind).rejudge)(&config));
    let mut judging = Judging { again, ..Judging::default() };
    let mut tally = Some(Tally::new(&config, kinds::own_tally));
    let mut verified = verify::verify(paths, |line| {
        if tally.as_mut().is_some_and(|tally| tally.push(line).is_err()) {
            tally = None;
        }
        if let Some(rejudge) = &rejudge {
            judging.look(line, rejudge.as_ref());
        }
    })
    .map_err(|error| Failure::new(Exit::VerificationFailed, &error))?;
    let rejudged = judging.tell(&mut verified);
    let mut renamed_from = None;
    if let Some(manifest) = verified.manifest.clone() {
        match unreadable {
            // A file that is missing is a finding already.
            Some(why) if paths.config().exists() => {
                verified.findings.file("config.resolved.yaml", format!("cannot be read: {why}"));
            }
            _ => check_config(&config, &manifest, &mut verified),
        }
        check_summary(paths, tally, &mut verified);
        check_report(paths, &mut verified)?;
        renamed_from = check_derivable(paths, &manifest, &mut verified);
        check_receipts(paths, &mut verified)?;
    }
    Ok(Inspected { verified, config, renamed_from, rejudged: again.then_some(rejudged) })
}

/// Refuses to go on from a run that `verify` refuses.
pub(super) fn refuse_unsound(paths: &RunPaths) -> Result<Inspected, Failure> {
    let inspected = inspect(paths, false)?;
    match inspected.verified.findings.list.first() {
        None => Ok(inspected),
        Some(first) => {
            let what = format!("`{}` is not sound: {first}", paths.dir);
            let all = format!("`proofhouse verify {}` names everything that does not fit", paths.dir);
            Err(Failure::say(Exit::VerificationFailed, super::visible(&what)).hint(all))
        }
    }
}

/// Watches the records pass by.
#[derive(Default)]
pub(super) struct Judging {
    again: bool,
    rejudged: Rejudged,
    found: Vec<Finding>,
}

impl Judging {
    fn look(&mut self, line: &Line<'_>, rejudge: &dyn Rejudge) {
        match rejudge.contradiction(line) {
            Some(what) => self.take(line, Again::Other(what)),
            None if self.again => self.take(line, rejudge.again(line)),
            None => {}
        }
    }

    /// Takes what came of judging a record again.
    pub(super) fn take(&mut self, line: &Line<'_>, again: Again) {
        let what = match again {
            Again::Same => return self.rejudged.same += 1,
            Again::Nothing => return,
            Again::Impossible(why) => return *self.rejudged.impossible.entry(why).or_default() += 1,
            Again::Other(what) => what,
        };
        if self.found.len() < verify::MAX_FINDINGS {
            let text =
                |field| line.get(field).map(|text: Cow<'_, str>| text.into_owned()).unwrap_or_default();
            let index = line.index().unwrap_or_default();
            let repetition = line.get(HEAD.repetition).unwrap_or_default();
            let name = format!("(index {index}, {} / {} #{repetition})", text(HEAD.slot), text(HEAD.case_id));
            let id = line.record_id().map(|id| format!("{id} ")).unwrap_or_default();
            let record = Some(format!("{id}{name}"));
            let file = "records.jsonl".to_owned();
            self.found.push(Finding { file, line: Some(index + 1), record, what });
        }
    }

    /// Adds what was found to what is known of the run. A record that is wrong in itself is named for that.
    pub(super) fn tell(self, verified: &mut Verified) -> Rejudged {
        let named: Vec<Option<u64>> = verified.findings.list.iter().map(|finding| finding.line).collect();
        for finding in self.found.into_iter().filter(|finding| !named.contains(&finding.line)) {
            verified.findings.push(finding);
        }
        self.rejudged
    }
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
        ("prices", manifest.prices.as_ref() == config.get("prices")),
    ];
    for (field, _) in same.into_iter().filter(|(_, same)| !same) {
        let what = format!("`{field}` is not what config.resolved.yaml says");
        verified.findings.file("manifest.json", what);
    }
}

/// Every field of the envelope that follows from the run directory. A run that was moved together with its envelope is the
/// same run: gives the name that it had.
fn check_derivable(paths: &RunPaths, manifest: &Manifest, verified: &mut Verified) -> Option<String> {
    let envelope = verified.envelope.as_ref()?;
    let written = envelope.receipt_path.strip_suffix("/records.jsonl");
    let written = written.filter(|name| !name.is_empty() && !name.contains('/') && *name != "..");
    let renamed = written.filter(|name| Some(*name) != paths.dir.file_name()).map(str::to_owned);
    let as_written = match &renamed {
        Some(name) => RunPaths::new(paths.parent().join(name)),
        None => paths.clone(),
    };
    let mut derived = run::derived_envelope(paths, manifest, &verified.totals);
    derived.run_instance_id = run::instance_of(&as_written, manifest.run_id);
    derived.receipt_path = run::receipt_path(&as_written);
    // Older envelopes name the suite's own file alone.
    if envelope.suite_file_sha256.is_none() {
        (derived.suite_sha256, derived.suite_file_sha256) = (Some(manifest.suite_sha256), None);
    }
    let (Ok(stored), Ok(derived)) = (json::to_json(envelope), json::to_json(&derived)) else {
        return renamed;
    };
    let name = paths.envelope().file_name().unwrap_or_default().to_owned();
    for (field, value) in derived.as_object().into_iter().flat_map(json::Object::iter) {
        let unknown =
            run::NOT_DERIVABLE.contains(&field) || (field == "run_instance_id" && *value == Json::Null);
        let said = || {
            let of_field = |finding: &Finding| finding.file == name && finding.what.contains(field);
            verified.findings.list.iter().any(of_field)
        };
        if !unknown && stored.get(field) != Some(value) && !said() {
            verified.findings.file(&name, format!("`{field}` does not follow from the run directory"));
        }
    }
    renamed
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
    let Ok(meta) = std::fs::symlink_metadata(paths.report()) else {
        if paths.report_data().exists() {
            verified.findings.file("report-data", "has no report.html that it is a part of");
        }
        return Ok(());
    };
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
