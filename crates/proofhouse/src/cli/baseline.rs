//! Baselines: runs that were blessed, by suite and branch, the newest last; and a run that is held against the newest.
//!
//! `STORE/SUITE/BRANCH/0001-RUN_ID/` is a run directory as it was. Nothing in it is ever changed, so a store can be a folder of a
//! repository or a cache of a CI system.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::{RunPaths, format};

use super::exit::Exit;
use super::failure::Failure;
use super::{Terminal, env, run_dir};
use crate::kinds;
use crate::spine::diff::{self, Decision, Demand, Options, Style};

/// Where baselines are kept if nobody says.
pub(super) const STORE: &str = "baselines";
/// The branch that others are held against if nobody says.
pub(super) const MAIN: &str = "main";

/// Which baseline a run is held against.
#[derive(Debug, Args)]
pub(super) struct BaselineArgs {
    /// Compare the run with a baseline when it is done: a run directory, or a folder that `bless` keeps them in. Exit with 6 if a
    /// target is worse by more than the margin on cases like these, with 12 if that cannot be told [default folder: baselines].
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = STORE, require_equals = true)]
    baseline: Option<Utf8PathBuf>,

    /// The branch whose baseline counts.
    #[arg(long, value_name = "BRANCH", default_value = MAIN, requires = "baseline")]
    baseline_branch: String,

    /// By how much the run may be worse than its baseline, as a share.
    #[arg(long, value_name = "X", default_value_t = 0.03, requires = "baseline")]
    baseline_margin: f64,
}

impl BaselineArgs {
    /// Holds a whole run against its baseline; what the run itself came to counts for more.
    pub(super) fn check(
        &self,
        exit: Exit,
        run: &RunPaths,
        json: bool,
        terminal: &Terminal,
    ) -> Result<Exit, Failure> {
        let Some(store) = &self.baseline else { return Ok(exit) };
        let manifest = format::read_manifest(run).map_err(|error| Failure::new(Exit::Internal, &error))?;
        let baseline = match run_dir::named(store) {
            paths if paths.records().exists() => Some(paths),
            _ => newest(store, &manifest.suite_id, &self.baseline_branch)?,
        };
        let Some(baseline) = baseline else {
            terminal.say(&format!(
                "note: there is no baseline of `{}` on `{}` in `{store}` yet; `proofhouse bless {} --store {store}` keeps this run as one",
                manifest.suite_id, self.baseline_branch, run.dir
            ));
            return Ok(exit);
        };
        let options = Options { margin: Some(self.baseline_margin), limit: 5, ..Options::default() };
        let mut report =
            diff::compare(&baseline, run, &options).map_err(|error| Failure::new(Exit::Usage, &error))?;
        report.tell_own(kinds::closing_changes(("A", &baseline), ("B", run)));
        let style = if terminal.surroundings.colour_out { Style::Colour } else { Style::Plain };
        let text = format!("\nagainst the baseline:\n{}", diff::render_text(&report, style));
        if json {
            terminal.say(&text)
        } else {
            terminal.show(&text)
        }
        let found = match diff::decide(&report, Demand { not_worse: true, ..Demand::default() }) {
            Decision::Met | Decision::Changes => Exit::Ok,
            Decision::Regressions => Exit::RegressionsFound,
            Decision::Incomplete => Exit::Incomplete,
            Decision::CannotTell => Exit::CannotTell,
        };
        Ok(if exit == Exit::Ok { found } else { exit })
    }
}

/// The branch that this checkout is on: what the CI system says, or the repository, or nothing.
pub(super) fn branch_here() -> Option<String> {
    env::branch().or_else(|| {
        let head = files::read(Utf8Path::new(".git/HEAD")).ok()?;
        let head = String::from_utf8(head).ok()?;
        Some(head.trim().strip_prefix("ref: refs/heads/")?.to_owned())
    })
}

/// A name of somebody else as the name of one folder.
fn folder(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let name: String = name.chars().map(safe).collect();
    if name.trim_matches('.').is_empty() { format!("_{name}") } else { name }
}

/// Where the baselines of a suite on a branch are.
pub(super) fn place(store: &Utf8Path, suite_id: &str, branch: &str) -> Utf8PathBuf {
    store.join(folder(suite_id)).join(folder(branch))
}

/// The blessed runs below a folder, oldest first.
pub(super) fn blessed(dir: &Utf8Path) -> Result<Vec<RunPaths>, FileError> {
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let names = files::sorted_dir(dir)?;
    let runs = names.into_iter().map(|name| RunPaths::new(dir.join(name)));
    Ok(runs.filter(|run| run.manifest().exists() && run.records().exists()).collect())
}

fn newest(store: &Utf8Path, suite_id: &str, branch: &str) -> Result<Option<RunPaths>, FileError> {
    Ok(blessed(&place(store, suite_id, branch))?.pop())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_one_folder_wherever_it_would_lead() {
        for (name, expected) in [
            ("main", "main"),
            ("feature/x", "feature_x"),
            ("..", "_.."),
            ("../../etc", ".._.._etc"),
            ("", "_"),
        ] {
            assert_eq!(folder(name), expected);
        }
    }
}
