//! Copies of debug artefacts in a folder beside the run directory.
//!
//! What is kept of one run of a tool depends on the suite alone, never on how many others were there before it: records name the
//! copies, and records do not depend on the order in which trials end.

use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::RunPaths;

use super::suite::KeepDebug;
use crate::family::target::Keys;
use crate::family::target::command::Debug;

/// What all copies of a run may take together.
const RUN_BYTES: u64 = 64 << 20;
/// What those of one trial may take.
const TRIAL_BYTES: u64 = 1 << 20;

/// The folder of a run's copies.
pub(super) fn folder(paths: &RunPaths) -> Utf8PathBuf {
    paths.debug()
}

/// Who copies.
pub(super) struct Keeper {
    which: KeepDebug,
    folder: OnceLock<Utf8PathBuf>,
}

impl Keeper {
    pub(super) fn new(which: KeepDebug) -> Keeper {
        Keeper { which, folder: OnceLock::new() }
    }

    /// The bytes that a trial's copies may take in a run of so many trials.
    pub(super) fn bytes_per_trial(trials: u64) -> u64 {
        (RUN_BYTES / trials.max(1)).min(TRIAL_BYTES)
    }

    /// Says where the run is; copies of an earlier run of that name go when this one begins anew.
    pub(super) fn begin(&self, paths: &RunPaths, anew: bool) {
        let folder = folder(paths);
        if anew && let Err(error) = std::fs::remove_dir_all(&folder) {
            tracing::debug!(%folder, %error, "no earlier copies");
        }
        let _ = self.folder.set(folder);
    }

    /// Copies what a trial left to `place` of the folder; gives the place if the copy is there.
    pub(super) fn keep(&self, debug: &Debug, place: String, success: bool, keys: &Keys) -> Option<String> {
        let wanted = match self.which {
            KeepDebug::Always => true,
            KeepDebug::OnFailure => !success,
            KeepDebug::Never => false,
        };
        let folder = self.folder.get().filter(|_| wanted)?.join(&place);
        write(&folder, debug, keys).ok()?;
        Some(place)
    }
}

/// Writes the files; what may not be kept of a text is blanked, and other files that hold such a thing are left out.
fn write(folder: &Utf8Path, debug: &Debug, keys: &Keys) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut left_out = debug.left_out;
    for (path, bytes) in &debug.files {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap_or(folder))?;
        match std::str::from_utf8(bytes) {
            Ok(text) => std::fs::write(&file, keys.redact(text).as_bytes())?,
            Err(_) => {
                let shown = String::from_utf8_lossy(bytes);
                match keys.redact(&shown) == shown {
                    true => std::fs::write(&file, bytes)?,
                    false => left_out += 1,
                }
            }
        }
    }
    if left_out > 0 {
        let note = format!(
            "{left_out} files are not here: the space for one trial was used up, or they hold a key\n"
        );
        std::fs::write(folder.join("LEFT_OUT.txt"), note)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_gives_each_trial_less() {
        assert_eq!(Keeper::bytes_per_trial(0), TRIAL_BYTES);
        assert_eq!(Keeper::bytes_per_trial(64), TRIAL_BYTES);
        assert_eq!(Keeper::bytes_per_trial(1 << 20), 64);
    }
}
