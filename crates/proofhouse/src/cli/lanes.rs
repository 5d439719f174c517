//! Lanes of containment suites: the protocol probe (1), the whole suite (2), and the whole suite behind the probe (auto).

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::envelope::ExitStatus;
use proofhouse_ledger::json::to_json;
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::summary::containment::Lane1;
use proofhouse_ledger::{Digest, Json, RunPaths, files};

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use super::run::{Destination, Run};
use crate::kinds;
use crate::kinds::containment::{self, ContainmentFlags, Lane};
use crate::spine::suite::{Loaded, Overrides};
use crate::spine::{run, tally};
use crate::text::doc::terminal::blocks;

/// The lane of a run that is not `auto`, as its envelope tells it.
pub(super) fn alone(lane: Option<Lane>) -> run::Lane {
    let gate = match lane {
        Some(Lane::One) => Json::from("fresh"),
        Some(Lane::Two) => Json::from("bypassed"),
        Some(Lane::Auto) | None => Json::Null,
    };
    run::Lane { name: lane.map(Lane::as_str), gate }
}

/// Runs lane 2 only if lane 1 passes, now or before.
pub(super) fn auto(run: &Run, terminal: &Terminal) -> Result<Exit, Failure> {
    let overrides = run.inputs.overrides();
    let first =
        Overrides { own: vec![Arc::new(ContainmentFlags { lane: Some(Lane::One) })], ..overrides.clone() };
    let loaded = kinds::load(&run.suite, &first)?.loaded;
    run.inputs.fit(loaded.suite.kind)?;
    let dir = run.run_dir.as_ref().map(|dir| Utf8PathBuf::from(format!("{dir}.lane1")));
    let cached = if run.no_cache { None } else { earlier_pass(&loaded, &run.root, dir.as_deref()) };
    let (source, lane1) = match cached {
        Some((destination, lane1)) => {
            terminal.say(&format!(
                "lane 1: passed before, in {destination}\n{}",
                blocks(&containment::lane1(&lane1), terminal.look())
            ));
            ("cached", lane1)
        }
        None => {
            let lane = run::Lane { name: Some(Lane::Auto.as_str()), gate: Json::from("fresh") };
            // What did not pass stays until the new one is whole.
            let destination =
                Destination { overwrite: !run.resume && dir.as_deref().is_some_and(Utf8Path::exists), dir };
            let done = run.once(terminal, &first, lane, destination)?;
            let lane1 = containment::lane1_of(&done.summary).cloned();
            match lane1 {
                Some(lane1) if lane1.passed && done.exit == Exit::Ok => ("fresh", lane1),
                _ => {
                    terminal.say("\nlane 1 did not pass; lane 2 was not run");
                    return Ok(if done.exit == Exit::Ok { Exit::GateFailed } else { done.exit });
                }
            }
        }
    };
    terminal.say("");
    let gate = Json::Object(
        [
            ("checks", to_json(&lane1.checks).unwrap_or(Json::Null)),
            ("passed", Json::from(lane1.passed)),
            ("run_id", Json::from(run::run_id(&loaded).to_string())),
            ("source", Json::from(source)),
        ]
        .into_iter()
        .collect(),
    );
    let lane = run::Lane { name: Some(Lane::Auto.as_str()), gate };
    Ok(run.once(terminal, &overrides, lane, run.destination())?.exit)
}

/// An earlier lane 1 that passed and stands for this one: the same run (targets, generation settings, seed, probe, policy and
/// thresholds are all in its id), of the same suite content, by the same version, whole, and with its records unaltered.
fn earlier_pass(loaded: &Loaded, root: &Utf8Path, dir: Option<&Utf8Path>) -> Option<(Utf8PathBuf, Lane1)> {
    let places = match dir {
        Some(dir) => vec![dir.to_owned()],
        None => {
            let prefix = format!("{}__", run::run_id(loaded));
            let below = root.join(&loaded.suite.suite_id);
            let mut found: Vec<Utf8PathBuf> =
                files::sorted_dir(&below).ok()?.into_iter().map(|name| below.join(name)).collect();
            found.retain(|path| {
                path.is_dir() && path.file_name().is_some_and(|name| name.starts_with(&prefix))
            });
            found.reverse();
            found
        }
    };
    places.into_iter().find_map(|destination| {
        Some((destination.clone(), passed_before(loaded, &RunPaths::new(destination))?))
    })
}

fn passed_before(loaded: &Loaded, paths: &RunPaths) -> Option<Lane1> {
    let manifest: Manifest = serde_json::from_slice(&files::read(&paths.manifest()).ok()?).ok()?;
    let envelope = run::read_envelope(&paths.envelope())?;
    let same = manifest.run_id == run::run_id(loaded)
        && manifest.suite_content_sha256 == loaded.suite_content_sha256
        && manifest.proofhouse_version == env!("CARGO_PKG_VERSION")
        && envelope.exit_status == ExitStatus::Normal
        && Digest::of_file(&paths.records()).ok()? == manifest.records_sha256;
    // The verdict is added up anew: a stored one is not believed.
    let summary = same.then(|| tally::tally(paths, kinds::own_tally).ok()).flatten()?;
    containment::lane1_of(&summary).filter(|lane1| lane1.passed).cloned()
}
