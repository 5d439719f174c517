//! Run directories that are named on the command line.

use camino::Utf8Path;
use proofhouse_ledger::{RunPaths, write};

use super::exit::Exit;
use super::failure::Failure;

/// A run directory, whether there is one or not.
pub(super) fn named(dir: &Utf8Path) -> RunPaths {
    RunPaths::new(dir.as_str().trim_end_matches('/'))
}

/// A run directory of which something is there: its files, its envelope, or a run that was to take its place.
pub(super) fn present(dir: &Utf8Path) -> Result<RunPaths, Failure> {
    let paths = named(dir);
    let traces = [&paths.dir, &paths.envelope(), &paths.envelope_tmp(), &paths.journal()];
    if traces.iter().any(|trace| trace.exists()) || write::is_exchanging(&paths) {
        return Ok(paths);
    }
    Err(Failure::say(Exit::Usage, format!("there is no run directory `{}`", paths.dir))
        .hint("give the directory that `proofhouse run` printed at its end"))
}

/// A run directory that can be read: nobody has only begun it, or was stopped while putting another run in its place.
pub(super) fn readable(dir: &Utf8Path) -> Result<RunPaths, Failure> {
    let paths = present(dir)?;
    if write::is_exchanging(&paths) {
        let what = format!("`{}` is being replaced by another run, or was when its process ended", paths.dir);
        let hint =
            format!("wait for that process; if it is gone, `proofhouse recover {}` completes it", paths.dir);
        return Err(Failure::say(Exit::Incomplete, what).hint(hint));
    }
    if !paths.dir.exists() && paths.envelope_tmp().exists() {
        let what = format!("`{}` was begun and has no record yet", paths.dir);
        let hint = "the command that began it, with `--resume`, completes it";
        return Err(Failure::say(Exit::Incomplete, what).hint(hint));
    }
    Ok(paths)
}
