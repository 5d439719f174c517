//! `proofhouse` without a command: what one can do next, here and now.

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::summary::Summary;
use proofhouse_ledger::{RunPaths, files};

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;

/// Things of one sort that are named.
const MOST: usize = 3;

/// Says what fits this folder.
pub(super) fn say(terminal: &Terminal) -> Result<Exit, Failure> {
    let mut lines: Vec<[String; 2]> = Vec::new();
    let suites = suites(Utf8Path::new("."));
    for suite in suites.iter().take(MOST) {
        lines.push([format!("proofhouse run {suite}"), "a suite in this folder".to_owned()]);
    }
    for (run, what) in runs(Utf8Path::new("runs")).into_iter().take(MOST) {
        lines.push(match what {
            What::Interrupted => [
                format!("proofhouse run SUITE --run-dir {} --resume", run.dir),
                "an interrupted run".to_owned(),
            ],
            What::Missed => [
                format!("proofhouse report {} --format text", run.dir),
                "a run that missed its gate".to_owned(),
            ],
        });
    }
    if lines.is_empty() {
        lines.push([
            "proofhouse demo".to_owned(),
            "four suites and their reports, in half a minute".to_owned(),
        ]);
        lines.push([
            "proofhouse init probe my-suite".to_owned(),
            "a commented suite to start from".to_owned(),
        ]);
    }
    lines.push(["proofhouse --help".to_owned(), "every command".to_owned()]);
    terminal.data("Proofhouse puts AI systems through planned trials. Here you could:\n\n")?;
    let widest = lines.iter().map(|[command, _]| command.len()).max().unwrap_or(0);
    for [command, about] in lines {
        terminal.data(&super::visible(&format!("  {command:widest$}  {about}\n")))?;
    }
    Ok(Exit::Ok)
}

/// Files that look like suites.
fn suites(dir: &Utf8Path) -> Vec<Utf8PathBuf> {
    let is_suite = |path: &Utf8PathBuf| {
        let named = matches!(path.extension(), Some("yaml" | "yml")) && path.is_file();
        named
            && files::read(path).is_ok_and(|text| {
                String::from_utf8_lossy(&text).lines().any(|line| line.starts_with("suite_id:"))
            })
    };
    let names = files::sorted_dir(dir).unwrap_or_default();
    names.into_iter().map(Utf8PathBuf::from).filter(is_suite).collect()
}

enum What {
    Interrupted,
    Missed,
}

/// Runs that ask for attention, by suite, the last of each first.
fn runs(root: &Utf8Path) -> Vec<(RunPaths, What)> {
    let below = |dir: &Utf8Path| -> Vec<Utf8PathBuf> {
        let names = files::sorted_dir(dir).unwrap_or_default();
        names.into_iter().map(|name| dir.join(name)).filter(|path| path.is_dir()).collect()
    };
    let mut found = Vec::new();
    for suite in below(root) {
        let mut runs = below(&suite);
        // `RUN_ID__TIME`: the last is the newest.
        runs.sort_by_key(|run| run.file_name().and_then(|name| Some(name.split_once("__")?.1.to_owned())));
        let Some(run) = runs.pop().map(RunPaths::new) else { continue };
        if !run.manifest().exists() && run.records().exists() {
            found.push((run, What::Interrupted));
        } else if missed(&run) {
            found.push((run, What::Missed));
        }
    }
    found
}

fn missed(run: &RunPaths) -> bool {
    let summary =
        files::read(&run.summary()).ok().and_then(|bytes| serde_json::from_slice::<Summary>(&bytes).ok());
    summary.and_then(|summary| summary.gate?.held) == Some(false)
}
