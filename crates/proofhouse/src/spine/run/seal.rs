//! Ending a run: the manifest of a whole one, and the envelope of any.

use proofhouse_ledger::envelope::{Envelope, ExitStatus};
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::manifest::{self, Dataset, Determinism, Manifest, Target};
use proofhouse_ledger::record::Status;
use proofhouse_ledger::spine::Spine;
use proofhouse_ledger::telemetry::{self, RunTelemetry};
use proofhouse_ledger::totals::Totals;
use proofhouse_ledger::write::{self, SwapError};
use proofhouse_ledger::{Digest, RunPaths, canonical};

use super::execute::{Ending, Executed};
use super::open::Open;
use super::{Options, clock, host};
use crate::spine::suite::Loaded;

/// Why a run could not be ended in order.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The exchange with the older run.
    #[error(transparent)]
    Swap(#[from] SwapError),
}

/// Writes `manifest.json` of a run whose summary is written.
pub fn write_manifest(
    loaded: &Loaded,
    open: &Open,
    options: &Options,
    executed: &Executed,
    summary: &[u8],
) -> Result<Manifest, FileError> {
    let totals = &executed.written.totals;
    let suite = &loaded.suite;
    let run_id = open.envelope.run_id;
    let spine = Spine::new(&run_id);
    let deterministic = suite.determinism.deterministic_artifacts;
    let targets = suite.slots.iter().map(|slot| Target {
        slot: slot.name.clone(),
        kind: slot.kind.clone(),
        config: slot.config.clone(),
    });
    let datasets = loaded.datasets.iter().map(|facts| Dataset {
        path: facts.path.to_string(),
        format: facts.format.name().to_owned(),
        dataset_hash: facts.sha256.prefixed(),
        rows: facts.rows,
    });
    let manifest = Manifest {
        schema_version: manifest::SCHEMA_VERSION.to_owned(),
        kind: suite.kind,
        run_id,
        suite_id: suite.suite_id.clone(),
        suite_sha256: loaded.suite_sha256,
        suite_content_sha256: loaded.suite_content_sha256,
        datasets: datasets.collect(),
        targets: targets.collect(),
        seed: suite.seed,
        plan_sha256: totals.plan_sha256,
        record_count: totals.count,
        counts: totals.counts.clone(),
        records_sha256: totals.records_sha256,
        records_merkle_root: totals.merkle_root,
        config_sha256: open.config_sha256,
        summary_sha256: Digest::of(summary),
        proofhouse_version: env!("CARGO_PKG_VERSION").to_owned(),
        prices: loaded.prices.clone(),
        toolchains: executed.provenance.toolchains.clone(),
        // A verdict rests on what its sandbox held, so that this is said even where results must not depend on the host: the same
        // suite under the same sandbox has the same bytes.
        sandbox: executed.provenance.with_gaps(executed.provenance.sandbox.clone()),
        started_at: match &open.envelope.run_start_ts_utc {
            Some(started) if !deterministic => started.clone(),
            _ => spine.run_start().to_string(),
        },
        completed_at: if deterministic { spine.run_end(totals.count) } else { clock::now() }.to_string(),
        determinism: Determinism {
            strict_serialization: suite.determinism.strict_serialization,
            deterministic_artifacts: deterministic,
        },
        platform: (!deterministic).then(host::platform),
        command: (!deterministic).then(|| options.command.clone()),
        shard: open.shard,
    };
    let bytes = canonical::to_file(&manifest).expect("a manifest is plain data");
    files::write_atomic(&open.work.manifest(), &bytes)?;
    Ok(manifest)
}

/// Ends a run: telemetry, exchange with an older run, envelope. Gives the envelope and the paths of the result.
pub fn seal(open: Open, executed: &Executed) -> Result<(Envelope, RunPaths), SealError> {
    let Open { lock, paths, work, mut envelope, origin, .. } = open;
    let (tool_sha256, git) = origin.join().unwrap_or_default();
    envelope.tool_sha256 = tool_sha256;
    envelope.git_commit = git.commit;
    envelope.git_dirty = git.dirty;
    envelope.sandbox_tier.clone_from(&executed.provenance.sandbox_tier);
    envelope.details = executed.provenance.with_gaps(envelope.details.clone());
    envelope.manifest_sha256 = Digest::of_file(&work.manifest()).ok();
    fill(&mut envelope, executed);
    append_run_telemetry(&work, &envelope, executed);
    let complete = envelope.exit_status == ExitStatus::Normal;
    let bytes = canonical::to_file(&envelope).expect("an envelope of a run of ours holds safe integers");
    write::end(&work, &paths, &bytes, complete)?;
    drop(lock);
    Ok((envelope, if complete { paths } else { work }))
}

fn fill(envelope: &mut Envelope, executed: &Executed) {
    let totals = &executed.written.totals;
    let (status, error) = match &executed.ending {
        Ending::Failed(why) => (ExitStatus::Exception, Some(why.clone())),
        _ if totals.count == envelope.total_cases_expected => (ExitStatus::Normal, None),
        Ending::Complete => (ExitStatus::Exception, Some("trials are missing".to_owned())),
        Ending::Signal(signal) => (ExitStatus::ExternalKill, Some(format!("signal {signal}"))),
        Ending::Budget(spent) => {
            (ExitStatus::Timeout, Some(format!("the budget is used up: {spent:.4} US dollars are spent")))
        }
        Ending::Halted(why) => (ExitStatus::Exception, Some(why.clone())),
        Ending::Deadline => (ExitStatus::Timeout, Some("the run's deadline passed".to_owned())),
        Ending::TooManyTimeouts => (ExitStatus::Timeout, Some("too many trials timed out".to_owned())),
        Ending::Disk(error) => (ExitStatus::Exception, Some(chain(error))),
        Ending::File(error) => (ExitStatus::Exception, Some(chain(error))),
        Ending::Suite(problems) => (ExitStatus::Exception, Some(problems.to_string())),
    };
    envelope.exit_status = status;
    envelope.error = error;
    envelope.run_end_ts_utc = Some(clock::now().to_string());
    fill_totals(envelope, totals);
}

/// The fields that follow from the records alone.
pub(super) fn fill_totals(envelope: &mut Envelope, totals: &Totals) {
    envelope.total_cases_completed = totals.count;
    envelope.determinism_hash = Some(totals.determinism_hash);
    envelope.receipt_sha256 = Some(totals.records_sha256);
    envelope.cases_assessed = totals.assessed;
    envelope.cases_unparsed = totals.unparsed;
    envelope.cases_timed_out = totals.with_status(Status::Timeout);
    envelope.cases_errored = totals.with_status(Status::Error) + totals.with_status(Status::RateLimited);
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// One line about the run itself. Telemetry is nobody's proof, so a disk that refuses it does not fail the run.
fn append_run_telemetry(work: &RunPaths, envelope: &Envelope, executed: &Executed) {
    let line = RunTelemetry {
        event: "run".to_owned(),
        schema_version: telemetry::SCHEMA_VERSION.to_owned(),
        run_instance_id: envelope.run_instance_id.clone().unwrap_or_default(),
        started_at: envelope.run_start_ts_utc.clone().unwrap_or_default(),
        completed_at: envelope.run_end_ts_utc.clone().unwrap_or_default(),
        executed: executed.executed,
        reused: executed.reused,
        jobs: executed.jobs as u64,
        host: envelope.host.clone(),
        platform: host::platform(),
        cpu_ms: host::cpu_ms().round(),
        syncs: executed.written.syncs,
    };
    if let Ok(bytes) = canonical::to_file(&line) {
        let _ = files::append(&work.telemetry(), &bytes);
    }
}
