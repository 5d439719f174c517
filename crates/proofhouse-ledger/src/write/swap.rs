//! Replacing one run by another: the old one stays until the new one is whole.

use std::io::Read as _;

use camino::Utf8Path;

use crate::RunPaths;
use crate::disk::{Disk, Node, Real};
use crate::envelope::ExitStatus;
use crate::files::{FileError, MAX_FACTS_BYTES, NAMES, REPORT_DATA};
use crate::read::lines;

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
/// (written before anything else), the parts of a large report, and records that look like ours. One that was killed before its first file was
/// whole holds drafts only.
pub fn is_run_dir(dir: &Utf8Path) -> bool {
    is_run_dir_on(&Real, dir)
}

/// The same on any disk.
pub fn is_run_dir_on(disk: &dyn Disk, dir: &Utf8Path) -> bool {
    let Ok(names) = disk.sorted(dir) else { return false };
    let draft = |name: &str| name.strip_suffix(".draft").is_some_and(|name| NAMES.contains(&name));
    let regular = |name: &str| matches!(disk.look(&dir.join(name)), Ok(Node::File(_)));
    let report = |name: &str| name.strip_suffix(".draft").unwrap_or(name) == REPORT_DATA;
    let known = names.iter().all(|name| match name.as_str() {
        name if NAMES.contains(&name) || draft(name) => regular(name),
        name => report(name) && holds_parts(disk, &dir.join(name)),
    });
    let begun =
        names.iter().any(|name| name == "config.resolved.yaml") || names.iter().all(|name| draft(name));
    known && !names.is_empty() && begun && looks_like_records(disk, dir)
}

/// Whether a folder has nothing but the numbered parts of a report.
fn holds_parts(disk: &dyn Disk, folder: &Utf8Path) -> bool {
    let numbered = |name: &str| {
        name.strip_suffix(".js").is_some_and(|stem| stem.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let part = |name: &String| numbered(name) && matches!(disk.look(&folder.join(name)), Ok(Node::File(_)));
    matches!(disk.look(folder), Ok(Node::Dir))
        && disk.sorted(folder).is_ok_and(|names| names.iter().all(part))
}

/// Whether the first line is a record of any kind; one that is torn, or longer than a look, has its beginning only. Where the
/// power went before the first sync, it may be anything that is not text.
fn looks_like_records(disk: &dyn Disk, dir: &Utf8Path) -> bool {
    const LOOK_BYTES: u64 = 1 << 20;
    let mut start = Vec::new();
    match disk.read(&RunPaths::new(dir).records()).map(|file| file.take(LOOK_BYTES).read_to_end(&mut start)) {
        Ok(Ok(_)) if super::is_noise(lines(&start).next().unwrap_or_default()) => {
            disk.exists(&RunPaths::new(dir).envelope_tmp())
        }
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
    swap_in_on(&Real, paths)
}

/// The same on any disk.
pub(super) fn swap_in_on(disk: &dyn Disk, paths: &RunPaths) -> Result<(), SwapError> {
    let (next, prev) = (paths.next(), paths.prev());
    if disk.exists(&paths.dir) {
        remove_own(disk, &prev)?;
        disk.rename_synced(&paths.dir, &prev.dir)?;
    }
    disk.rename_synced(&next.dir, &paths.dir)?;
    adopt_sidecars(disk, paths)?;
    remove_own(disk, &prev)
}

/// The envelope comes last but one: as long as it has not moved, `finish_swap` finds that something is left to do. What was
/// signed is the run that is gone.
fn adopt_sidecars(disk: &dyn Disk, paths: &RunPaths) -> Result<(), SwapError> {
    let next = paths.next();
    if disk.exists(&next.telemetry()) {
        disk.rename_synced(&next.telemetry(), &paths.telemetry())?;
    }
    let stale = [next.journal(), next.envelope(), paths.journal(), paths.envelope_tmp(), paths.attestation()];
    for stale in stale {
        disk.remove_if_there(&stale)?;
    }
    if disk.exists(&next.envelope_tmp()) {
        disk.rename_synced(&next.envelope_tmp(), &paths.envelope())?;
    }
    Ok(())
}

/// Removes a directory of ours, whatever is left of it, and its sidecars.
fn remove_own(disk: &dyn Disk, paths: &RunPaths) -> Result<(), SwapError> {
    debug_assert!(paths.is_own());
    disk.remove_tree(&paths.dir)?;
    for sidecar in paths.sidecars() {
        disk.remove_if_there(&sidecar)?;
    }
    Ok(())
}

/// Whether the envelope of the next run says that it is whole: only such a run takes the place of another. One that has only
/// begun has an envelope before it has a directory, as one has that was moved into its place already.
fn is_sealed(disk: &dyn Disk, paths: &RunPaths) -> bool {
    #[derive(serde::Deserialize)]
    struct Ended {
        exit_status: ExitStatus,
    }
    let bytes = disk.read_all(&paths.next().envelope_tmp(), MAX_FACTS_BYTES).unwrap_or_default();
    serde_json::from_slice::<Ended>(&bytes).is_ok_and(|ended| ended.exit_status == ExitStatus::Normal)
}

/// Whether one run is being put in the place of another, or was when its process ended: what stands there now may be of both.
pub fn is_exchanging(paths: &RunPaths) -> bool {
    is_exchanging_on(&Real, paths)
}

fn is_exchanging_on(disk: &dyn Disk, paths: &RunPaths) -> bool {
    disk.exists(&paths.prev().dir) || was_moved(disk, paths)
}

/// Whether the next run stands in its place already, and its envelope does not.
fn was_moved(disk: &dyn Disk, paths: &RunPaths) -> bool {
    !disk.exists(&paths.next().dir) && disk.exists(&paths.dir) && is_sealed(disk, paths)
}

/// Completes an exchange that was cut off half-way; true if there was one.
pub fn finish_swap(paths: &RunPaths) -> Result<bool, SwapError> {
    finish_swap_on(&Real, paths)
}

/// The same on any disk.
pub(super) fn finish_swap_on(disk: &dyn Disk, paths: &RunPaths) -> Result<bool, SwapError> {
    let (next, prev) = (paths.next(), paths.prev());
    if !is_exchanging_on(disk, paths) {
        return Ok(false);
    }
    if disk.exists(&paths.dir) {
        if was_moved(disk, paths) {
            adopt_sidecars(disk, paths)?;
        }
        remove_own(disk, &prev)?;
    } else if disk.exists(&next.manifest()) {
        swap_in_on(disk, paths)?;
    } else {
        disk.rename_synced(&prev.dir, &paths.dir)?;
    }
    Ok(true)
}

/// Removes what is left of a next run that will not be gone on with.
pub fn discard_next(paths: &RunPaths) -> Result<(), SwapError> {
    remove_own(&Real, &paths.next())
}
