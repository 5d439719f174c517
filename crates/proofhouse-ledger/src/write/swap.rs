//! Replacing one run by another: the old one stays until the new one is whole.

use std::fs;

use camino::Utf8Path;

use crate::RunPaths;
use crate::files::{self, FileError, NAMES};

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

/// Whether a directory is a run: nothing but the regular files that a run has, its resolved configuration among them
/// (written before anything else), and records that look like ours. One that was killed before its first file was
/// whole holds drafts only.
pub fn is_run_dir(dir: &Utf8Path) -> bool {
    let Ok(names) = files::sorted_dir(dir) else { return false };
    let draft = |name: &str| name.strip_suffix(".draft").is_some_and(|name| NAMES.contains(&name));
    let regular = |name: &str| fs::symlink_metadata(dir.join(name)).is_ok_and(|meta| meta.is_file());
    let known = names.iter().all(|name| (NAMES.contains(&name.as_str()) || draft(name)) && regular(name));
    let begun =
        names.iter().any(|name| name == "config.resolved.yaml") || names.iter().all(|name| draft(name));
    known && !names.is_empty() && begun && looks_like_records(&dir.join("records.jsonl"))
}

/// Whether the first line is a record of any kind; one that is torn, or longer than a look, has its beginning only.
fn looks_like_records(path: &Utf8Path) -> bool {
    use std::io::Read as _;
    const LOOK_BYTES: u64 = 1 << 20;
    let mut start = Vec::new();
    match fs::File::open(path).map(|file| file.take(LOOK_BYTES).read_to_end(&mut start)) {
        Ok(Ok(_)) => match memchr::memchr(b'\n', &start) {
            Some(end) => {
                start.starts_with(b"{\"") && memchr::memmem::find(&start[..end], b"\"record_id\":").is_some()
            }
            None => b"{\"".starts_with(&start[..start.len().min(2)]),
        },
        Ok(Err(_)) => false,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Puts the finished next run, whose envelope is written as `.tmp`, in the place of `D`.
pub fn swap_in(paths: &RunPaths) -> Result<(), SwapError> {
    let (next, prev) = (paths.next(), paths.prev());
    if paths.dir.exists() {
        remove_own(&prev)?;
        files::rename(&paths.dir, &prev.dir)?;
    }
    files::rename(&next.dir, &paths.dir)?;
    adopt_sidecars(paths)?;
    remove_own(&prev)
}

/// The envelope comes last but one: as long as it has not moved, `finish_swap` finds that something is left to do.
fn adopt_sidecars(paths: &RunPaths) -> Result<(), SwapError> {
    let next = paths.next();
    if next.telemetry().exists() {
        files::rename(&next.telemetry(), &paths.telemetry())?;
    }
    for stale in [next.journal(), next.envelope(), paths.journal(), paths.envelope_tmp()] {
        files::remove_if_there(&stale)?;
    }
    if next.envelope_tmp().exists() {
        files::rename(&next.envelope_tmp(), &paths.envelope())?;
    }
    Ok(())
}

/// Removes a directory of ours, whatever is left of it, and its sidecars.
fn remove_own(paths: &RunPaths) -> Result<(), SwapError> {
    debug_assert!(paths.is_own());
    if paths.dir.exists() {
        fs::remove_dir_all(&paths.dir).map_err(FileError::new("remove", &paths.dir))?;
    }
    for sidecar in paths.sidecars() {
        files::remove_if_there(&sidecar)?;
    }
    Ok(())
}

/// Completes an exchange that was cut off half-way; true if there was one.
pub fn finish_swap(paths: &RunPaths) -> Result<bool, SwapError> {
    let (next, prev) = (paths.next(), paths.prev());
    let moved = !next.dir.exists() && next.envelope_tmp().exists() && paths.dir.exists();
    if !prev.dir.exists() && !moved {
        return Ok(false);
    }
    if paths.dir.exists() {
        if !next.dir.exists() {
            adopt_sidecars(paths)?;
        }
        remove_own(&prev)?;
    } else if next.manifest().exists() {
        swap_in(paths)?;
    } else {
        files::rename(&prev.dir, &paths.dir)?;
    }
    Ok(true)
}

/// Removes what is left of a next run that will not be gone on with.
pub fn discard_next(paths: &RunPaths) -> Result<(), SwapError> {
    remove_own(&paths.next())
}
