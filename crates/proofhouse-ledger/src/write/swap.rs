//! Replacing one run by another: the old one stays until the new one is whole.

use std::fs;

use camino::Utf8Path;

use crate::RunPaths;
use crate::files::{self, FileError};

/// Why a directory cannot be replaced.
#[derive(Debug, thiserror::Error)]
pub enum SwapError {
    /// It is somebody's directory, but not a run.
    #[error("`{0}` is not a run directory")]
    NotARun(String),
    /// A file could not be moved.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The only names that a run directory has.
const NAMES: [&str; 5] =
    ["config.resolved.yaml", "manifest.json", "records.jsonl", "report.html", "summary.json"];

/// Whether a directory is a run: it has records or a resolved configuration, and nothing that a run does not have.
pub fn is_run_dir(dir: &Utf8Path) -> bool {
    let Ok(names) = files::sorted_dir(dir) else { return false };
    let drafts = |name: &str| name.strip_suffix(".draft").is_some_and(|name| NAMES.contains(&name));
    names.iter().all(|name| NAMES.contains(&name.as_str()) || drafts(name))
        && names.iter().any(|name| name == "records.jsonl" || name == "config.resolved.yaml")
}

/// Puts the finished `D.next` in the place of `D`. The envelope is written by the caller afterwards.
pub fn swap_in(paths: &RunPaths) -> Result<(), SwapError> {
    let (next, prev) = (paths.next(), paths.prev());
    if paths.dir.exists() {
        discard(&prev)?;
        files::rename(&paths.dir, &prev.dir)?;
    }
    files::rename(&next.dir, &paths.dir)?;
    adopt_sidecars(paths)?;
    discard(&prev)
}

fn adopt_sidecars(paths: &RunPaths) -> Result<(), SwapError> {
    let next = paths.next();
    if next.telemetry().exists() {
        files::rename(&next.telemetry(), &paths.telemetry())?;
    }
    files::remove_if_there(&next.journal())?;
    files::remove_if_there(&paths.journal())?;
    Ok(())
}

/// Completes an exchange that was cut off half-way; true if there was one.
pub fn finish_swap(paths: &RunPaths) -> Result<bool, SwapError> {
    let (next, prev) = (paths.next(), paths.prev());
    if !prev.dir.exists() {
        return Ok(false);
    }
    if paths.dir.exists() {
        if !next.dir.exists() {
            adopt_sidecars(paths)?;
        }
        discard(&prev)?;
    } else if next.manifest().exists() {
        swap_in(paths)?;
    } else {
        files::rename(&prev.dir, &paths.dir)?;
    }
    Ok(true)
}

/// Removes a run and its sidecars; refuses anything that is not a run.
pub fn discard(paths: &RunPaths) -> Result<(), SwapError> {
    if paths.dir.exists() {
        let empty = files::sorted_dir(&paths.dir)?.is_empty();
        if !empty && !is_run_dir(&paths.dir) {
            return Err(SwapError::NotARun(paths.dir.to_string()));
        }
        fs::remove_dir_all(&paths.dir).map_err(FileError::new("remove", &paths.dir))?;
    }
    for sidecar in paths.sidecars() {
        files::remove_if_there(&sidecar)?;
    }
    Ok(())
}
