//! What a merged run says of itself as a whole: its manifest, and an envelope that lists its parts.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use proofhouse_ledger::envelope::{self, Envelope};
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::json::{Object, to_json};
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::spine::Spine;
use proofhouse_ledger::totals::Totals;
use proofhouse_ledger::{Digest, Json, Part, canonical, write};

use super::super::recover::derived_envelope;
use super::super::{clock, host};
use super::{Kept, MergeError, Merging};

/// The manifest of the whole, but for what is derived later.
pub(super) fn manifest(first: &Manifest, parts: &[Kept], totals: &Totals) -> Manifest {
    let mut toolchains = BTreeMap::new();
    for part in parts {
        toolchains.extend(part.toolchains.clone());
    }
    let spine = Spine::new(&first.run_id);
    Manifest {
        plan_sha256: totals.plan_sha256,
        record_count: totals.count,
        counts: totals.counts.clone(),
        records_sha256: totals.records_sha256,
        records_merkle_root: totals.merkle_root,
        toolchains,
        completed_at: match first.determinism.deterministic_artifacts {
            true => spine.run_end(totals.count).to_string(),
            false => parts.iter().map(|part| part.completed_at.clone()).max().unwrap_or_default(),
        },
        started_at: match first.determinism.deterministic_artifacts {
            true => spine.run_start().to_string(),
            false => parts.iter().map(|part| part.started_at.clone()).min().unwrap_or_default(),
        },
        shard: None,
        ..first.clone()
    }
}

impl Merging {
    /// Writes the manifest of a run whose summary is written.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write_manifest(&self, summary: &[u8]) -> Result<(), FileError> {
        let manifest = Manifest { summary_sha256: Digest::of(summary), ..self.manifest.clone() };
        let bytes = canonical::to_file(&manifest).expect("a manifest is plain data");
        files::write_atomic(&self.work.manifest(), &bytes)
    }

    /// Puts the whole run in its place, with an envelope that lists its parts.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn seal(self) -> Result<Envelope, MergeError> {
        let Merging { lock, paths, work, missing, broken: _, manifest, totals, first, parts } = self;
        let mut envelope = derived_envelope(&paths, &manifest, &totals);
        envelope.spec_digest = Some(manifest.config_sha256);
        envelope.timeout_per_case = first.timeout_per_case;
        envelope.run_instance_id.get_or_insert_with(|| clock::now().compact());
        envelope.lane.clone_from(&first.lane);
        envelope.sandbox_tier.clone_from(&first.sandbox_tier);
        envelope.run_start_ts_utc = parts.iter().filter_map(|part| part.run_start_ts_utc.clone()).min();
        envelope.run_end_ts_utc = Some(clock::now().to_string());
        let same = |fits: &dyn Fn(&Kept) -> bool| parts.iter().all(fits);
        let same_commit = same(&|part| part.git.0 == first.git_commit);
        envelope.git_commit = first.git_commit.clone().filter(|_| same_commit);
        let same_tree = same(&|part| part.git.1 == first.git_dirty);
        envelope.git_dirty = first.git_dirty.filter(|_| same_tree);
        let same_tool = same(&|part| part.tool_sha256 == first.tool_sha256);
        envelope.tool_sha256 = first.tool_sha256.filter(|_| same_tool);
        envelope.host = host::name();
        envelope.pid = Some(std::process::id());
        envelope.boot_id = host::boot_id();
        envelope.details = details(&first, &parts, &missing);
        envelope.manifest_sha256 = Digest::of_file(&work.manifest()).ok();
        let bytes = canonical::to_file(&envelope).expect("an envelope of a run of ours holds safe integers");
        write::end(&work, &paths, &bytes, true)?;
        // Records name what is in there, so that it goes where theirs is; it is of no other use.
        std::fs::remove_dir_all(paths.debug()).ok();
        for from in parts.iter().map(|part| part.paths.debug()).filter(|copies| copies.is_dir()) {
            copy_folder(&from, &paths.debug())?;
        }
        drop(lock);
        Ok(envelope)
    }
}

/// Everything below a folder, into another one. Parts have different trials, so that nothing meets its namesake.
fn copy_folder(from: &Utf8Path, to: &Utf8Path) -> Result<(), FileError> {
    std::fs::create_dir_all(to).map_err(FileError::new("create", to))?;
    for name in files::sorted_dir(from)? {
        let (source, target) = (from.join(&name), to.join(&name));
        if source.is_dir() {
            copy_folder(&source, &target)?;
        } else {
            std::fs::copy(&source, &target).map_err(FileError::new("copy", &source))?;
        }
    }
    Ok(())
}

/// What the first part says of its kind, and every part by its name, host and digest.
fn details(first: &Envelope, parts: &[Kept], missing: &BTreeSet<Part>) -> Json {
    let mut details: Object = first.details.as_object().cloned().unwrap_or_default();
    details.remove(envelope::SHARD);
    let listed = parts.iter().map(|part| {
        let text = |value: &Option<String>| value.as_deref().map_or(Json::Null, Json::from);
        Json::Object(
            [
                ("host", text(&part.host)),
                ("run_end_ts_utc", text(&part.run_end_ts_utc)),
                ("run_start_ts_utc", text(&part.run_start_ts_utc)),
                ("records_sha256", text(&part.records_sha256.map(|digest| digest.to_string()))),
                ("shard", Json::from(part.part.to_string())),
                ("trials", to_json(&part.trials).unwrap_or(Json::Null)),
            ]
            .into_iter()
            .collect(),
        )
    });
    details.set(envelope::SHARDS, Json::Array(listed.collect()));
    if !missing.is_empty() {
        let names = missing.iter().map(|part| Json::from(part.to_string())).collect();
        details.set(envelope::MISSING_SHARDS, Json::Array(names));
    }
    Json::Object(details)
}
