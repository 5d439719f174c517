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
    let suite = if let [only] = &suites[..] { only.as_str() } else { "SUITE" };
    let mut found = runs(Utf8Path::new("runs"));
    found.extend(below(Utf8Path::new("")).into_iter().map(RunPaths::new).filter_map(wanting));
    for (run, what) in found.into_iter().take(MOST) {
        lines.push(match what {
            What::Interrupted => [
                format!("proofhouse run {suite} --run-dir {} --resume", run.dir),
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
            "a suite of every kind and its report, in half a minute".to_owned(),
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
        terminal.facts(&super::visible(&format!("  {command:widest$}  {about}\n")), widest + 4)?;
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

/// Folders in a folder.
fn below(dir: &Utf8Path) -> Vec<Utf8PathBuf> {
    let place = if dir.as_str().is_empty() { Utf8Path::new(".") } else { dir };
    let names = files::sorted_dir(place).unwrap_or_default();
    names.into_iter().map(|name| dir.join(name)).filter(|path| path.is_dir()).collect()
}

/// Runs that ask for attention: of a suite's own folder the newest, and whatever lies there by a name of its own.
fn runs(root: &Utf8Path) -> Vec<(RunPaths, What)> {
    let mut found = Vec::new();
    for dir in below(root) {
        if RunPaths::new(dir.clone()).records().exists() {
            found.extend(wanting(RunPaths::new(dir)));
            continue;
        }
        let mut runs = below(&dir);
        // `RUN_ID__TIME`: the last is the newest.
        runs.sort_by_key(|run| run.file_name().and_then(|name| Some(name.split_once("__")?.1.to_owned())));
        found.extend(runs.pop().map(RunPaths::new).and_then(wanting));
    }
    found
}

/// A run, if it asks for attention.
fn wanting(run: RunPaths) -> Option<(RunPaths, What)> {
    if !run.manifest().exists() && run.records().exists() {
        Some((run, What::Interrupted))
    } else if missed(&run) {
        Some((run, What::Missed))
    } else {
        None
    }
}

fn missed(run: &RunPaths) -> bool {
    let summary =
        files::read(&run.summary()).ok().and_then(|bytes| serde_json::from_slice::<Summary>(&bytes).ok());
    summary.and_then(|summary| summary.gate?.held) == Some(false)
}
