//! `tree`: a robustness run as the folders of small files that people know from benchmark harnesses, with real durations.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::Json;
use proofhouse_ledger::config;
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::record::{Damage, Kind, RobustnessRecord};
use serde::Deserialize;

use super::{About, Tree, keep, timings};
use crate::spine::export::{ExportError, Format, Source, replace};
use crate::text::yaml;

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
    let resolved = files::read(&source.paths.config())?;
    let config: Json = yaml::read_bytes(&resolved).unwrap_or(Json::Null);
    let about = About {
        suite_sha256: Some(source.manifest.suite_sha256.to_string()),
        seed: Some(source.manifest.seed),
        policy: config.get("policy").and_then(Json::as_str).map(str::to_owned),
        generator_seeds: generator_seeds(&config),
    };
    let several = trees.len() > 1;
    let mut written = Vec::new();
    for (slot, tree) in trees {
        let folder = if several { out.join(slot) } else { out.to_owned() };
        for (path, bytes) in tree.finish(started_at, &about) {
            let path = folder.join(path);
            let bytes = if path.file_name() == Some("debug_ref.txt") {
                reference(source, &path, out, &bytes)
            } else {
                bytes
            };
            let parent = path.parent().unwrap_or(&folder);
            std::fs::create_dir_all(parent).map_err(FileError::new("create", parent))?;
            replace(&path, &bytes)?;
            if path.file_name() == Some("metadata.json") {
                written.push(path);
            }
        }
    }
    Ok(written)
}

/// The part of a configuration that says what generators drew with.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Seeded {
    cases: Vec<SeededCase>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SeededCase {
    generators: Vec<SeededGenerator>,
}

#[derive(Deserialize)]
struct SeededGenerator {
    /// Its settings below its name.
    generator: BTreeMap<String, Json>,
    seed: u64,
}

fn generator_seeds(config: &Json) -> BTreeMap<String, BTreeSet<u64>> {
    let mut seeds: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    let Seeded { cases } = config::part(config);
    for SeededGenerator { generator, seed } in cases.into_iter().flat_map(|case| case.generators) {
        for name in generator.into_keys() {
            seeds.entry(name).or_default().insert(seed);
        }
    }
    seeds
}

/// Where a copy of debug artefacts is, as seen from the file that names it: relative where the tree stands beside the run.
fn reference(source: &Source<'_>, file: &Utf8Path, out: &Utf8Path, place: &[u8]) -> Vec<u8> {
    let folder = keep::folder(source.paths);
    let beside = out.parent() == folder.parent();
    let up = file.strip_prefix(out).map_or(0, |inside| inside.components().count());
    let mut text = match folder.file_name().filter(|_| beside) {
        Some(name) => format!("{}{name}/", "../".repeat(up)),
        None => format!("{}/", std::path::absolute(&folder).unwrap_or_default().display()),
    };
    text.push_str(&String::from_utf8_lossy(place));
    text.into_bytes()
}
