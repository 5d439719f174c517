//! How a run begins and ends on the disk: the envelope stands before the first trial, and nothing is final before it is
//! durable.

use super::FileLog;
use super::log::Log as _;
use super::state::ResumePoint;
use super::swap::{self, SwapError};
use crate::RunPaths;
use crate::disk::{Disk, Real, sync, uninterrupted};
use crate::files::FileError;

/// Writes the envelope of a run that begins, makes its directory and, unless it is there, its configuration.
pub fn begin(work: &RunPaths, envelope: &[u8], config: &[u8], going_on: bool) -> Result<(), FileError> {
    begin_on(&Real, work, (envelope, config), going_on)
}

/// The same on any disk.
pub(super) fn begin_on(
    disk: &dyn Disk,
    work: &RunPaths,
    (envelope, config): (&[u8], &[u8]),
    going_on: bool,
) -> Result<(), FileError> {
    disk.write_atomic(&work.envelope_tmp(), envelope)?;
    uninterrupted(|| disk.make_dir(&work.dir)).map_err(FileError::new("create", &work.dir))?;
    if !going_on || !disk.exists(&work.config()) {
        disk.write_atomic(&work.config(), config)?;
    }
    Ok(())
}

/// Writes the last envelope of a run and gives it its final name. A whole run that was written beside `paths` takes their
/// place.
pub fn end(work: &RunPaths, paths: &RunPaths, envelope: &[u8], complete: bool) -> Result<(), SwapError> {
    end_on(&Real, (work, paths), envelope, complete)
}

/// The same on any disk.
pub(super) fn end_on(
    disk: &dyn Disk,
    (work, paths): (&RunPaths, &RunPaths),
    envelope: &[u8],
    complete: bool,
) -> Result<(), SwapError> {
    if complete {
        disk.remove_if_there(&work.journal())?;
    } else {
        settle_files(disk, work)?;
    }
    write_last(disk, work, envelope)?;
    if complete && work != paths {
        return swap::swap_in_on(disk, paths);
    }
    Ok(disk.rename_synced(&work.envelope_tmp(), &work.envelope())?)
}

/// Waits for what was written after the last trial that was acknowledged: a group that failed may have left a part. As long
/// as that may still be lost or garbled, the run has not ended in order.
fn settle_files(disk: &dyn Disk, work: &RunPaths) -> Result<(), FileError> {
    for path in [work.records(), work.journal(), work.telemetry()] {
        if disk.exists(&path) {
            let mut file = uninterrupted(|| disk.open(&path)).map_err(FileError::new("open", &path))?;
            sync(&mut *file).map_err(FileError::new("sync", &path))?;
        }
    }
    Ok(())
}

/// Ends a run whose process is gone: what was torn is cut off, and the envelope gets its final name.
pub fn settle(paths: &RunPaths, found: &ResumePoint, envelope: &[u8]) -> Result<(), FileError> {
    settle_on(&Real, paths, found, envelope)
}

/// The same on any disk. The cut is durable before the envelope says that the run has ended: after that, what is torn is
/// damage.
pub(super) fn settle_on(
    disk: &dyn Disk,
    paths: &RunPaths,
    found: &ResumePoint,
    envelope: &[u8],
) -> Result<(), FileError> {
    for (path, length) in [
        (paths.records(), found.totals.byte_count()),
        (paths.journal(), found.journal_bytes),
        (paths.telemetry(), found.telemetry_bytes),
    ] {
        if disk.exists(&path) {
            let mut log = FileLog::open_on(disk, &path, length)?;
            log.sync().map_err(FileError::new("sync", &path))?;
        }
    }
    write_last(disk, paths, envelope)?;
    disk.rename_synced(&paths.envelope_tmp(), &paths.envelope())
}

/// Replaces the `.tmp` in one step; on a disk without room for a second copy, in place.
fn write_last(disk: &dyn Disk, work: &RunPaths, bytes: &[u8]) -> Result<(), FileError> {
    let path = work.envelope_tmp();
    disk.write_atomic(&path, bytes).or_else(|_| disk.write_synced_in_place(&path, bytes))
}

#[cfg(test)]
mod tests;
