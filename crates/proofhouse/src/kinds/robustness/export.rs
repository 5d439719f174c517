//! `tree`: a robustness run as the folders of small files that people know from benchmark harnesses, with real durations.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::record::{Damage, Kind, RobustnessRecord};

use super::{Tree, timings};
use crate::spine::export::{ExportError, Format, Source};

pub(super) const FORMAT: Format = Format {
    name: "tree",
    about: "one folder per run of a tool: summary.json, instruction.txt, debug_ref.txt, aggregate.json",
    kinds: &[Kind::Robustness],
    folder: Some("tree"),
    beside: true,
    write,
};

/// Writes the tree of each target; with several targets each has a folder of its own.
fn write(source: &Source<'_>, out: &Utf8Path) -> Result<Vec<Utf8PathBuf>, ExportError> {
    let telemetry = source.paths.telemetry();
    let telemetry = if telemetry.exists() { files::read(&telemetry)? } else { Vec::new() };
    let timings = timings(&telemetry);
    let started_at = timings.values().map(|timing| timing.started_at.as_str()).min();
    let mut trees: BTreeMap<String, Tree> = BTreeMap::new();
    let mut number = 0;
    source.each(|line| {
        number += 1;
        let damage = |_| ExportError::Damaged { line: number, damage: Damage::Field("a robustness record") };
        let record: RobustnessRecord = serde_json::from_slice(line.bytes()).map_err(damage)?;
        let timing = timings.get(&record.record_id);
        trees.entry(record.slot.clone()).or_default().push(&record, timing);
        Ok(())
    })?;
    let several = trees.len() > 1;
    let mut written = Vec::new();
    for (slot, tree) in trees {
        let folder = if several { out.join(slot) } else { out.to_owned() };
        for (path, bytes) in tree.finish(started_at) {
            let path = folder.join(path);
            let parent = path.parent().unwrap_or(&folder);
            std::fs::create_dir_all(parent).map_err(FileError::new("create", parent))?;
            std::fs::write(&path, bytes).map_err(FileError::new("write", &path))?;
            if path.file_name() == Some("metadata.json") {
                written.push(path);
            }
        }
    }
    Ok(written)
}
