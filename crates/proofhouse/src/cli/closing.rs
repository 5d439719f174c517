//! The end of a run on a terminal: what was found to standard output, then where it is and what to do next.

use camino::Utf8Path;
use proofhouse_ledger::record::Kind;
use proofhouse_ledger::summary::Summary;
use proofhouse_ledger::{RunPaths, files};

use super::Terminal;
use crate::family::target::{Answers, MAX_CACHE_BYTES, Used};
use crate::kinds;
use crate::spine::export::{self, ExportError};
use crate::spine::present::{self, ReportError};
use crate::spine::run::Executed;
use crate::text::numbers::{count, plural};

/// Says what a whole run came to.
pub(super) fn found(terminal: &Terminal, paths: &RunPaths) -> Result<(), ReportError> {
    terminal.show(&present::terminal(paths, kinds::own_presentation, terminal.look())?);
    Ok(())
}

/// Writes what runs of a kind have beside them, and says where.
pub(super) fn exports(terminal: &Terminal, paths: &RunPaths, kind: Kind) -> Result<(), ExportError> {
    for (name, path) in export::beside(paths, kinds::row(kind).exports, kinds::own_presentation)? {
        terminal.say(&format!("{:8} {path}", format!("{name}:")));
    }
    Ok(())
}

/// Says what the answer cache did, and keeps it within its size.
pub(super) fn cache(answers: &Answers) -> String {
    let Used { hits, asked, pruned, bytes } = answers.close(MAX_CACHE_BYTES);
    let megabytes = bytes as f64 / 1e6;
    let mut line = format!(
        "cache:   {} came from `{}` ({megabytes:.1} MB)",
        match hits + asked {
            0 => "no answer".to_owned(),
            all => format!("{} of {}", count(hits), plural(all, "answer", "answers")),
        },
        answers.dir()
    );
    if pruned > 0 {
        line.push_str(&format!("; the oldest {} were taken out", count(pruned)));
    }
    line
}

/// Says where a whole run is.
pub(super) fn place(paths: &RunPaths, skip_report: bool, executed: &Executed) -> String {
    let mut lines = vec![String::new()];
    if executed.reused > 0 {
        lines.push(format!("{} executed now, {} kept", executed.executed, executed.reused));
    }
    if let Some(tier) = executed.provenance.sandbox_tier.as_deref() {
        let open = if tier == "none" { ": what was run could do whatever you can" } else { "" };
        lines.push(format!("sandbox: {tier}{open}"));
    }
    lines.push(match skip_report {
        true => format!("run:     {}", paths.dir),
        false => format!("report:  {}", paths.report()),
    });
    lines.join("\n")
}

/// Says what fits next.
pub(super) fn next(summary: &Summary, suite: &Utf8Path, paths: &RunPaths, skip_report: bool) -> String {
    // Who failed wants to see where, beside earlier runs; who passed has something to show.
    let failed = summary.slots.iter().any(|slot| slot.pass_rate.numerator < slot.pass_rate.denominator);
    let next = match (skip_report, failed) {
        (true, _) => format!("proofhouse report {}", paths.dir),
        (false, true) => format!("proofhouse view {}", files::dir_of(&paths.dir)),
        (false, false) => format!("proofhouse verify {}", paths.dir),
    };
    let mut text = format!("next:    {next}");
    text.extend(remedy(summary, suite).map(|remedy| format!("\n\nhint: {remedy}")));
    text
}

/// What to do where nothing at all could be assessed; a tape that lacks answers is not the endpoint's fault.
fn remedy(summary: &Summary, suite: &Utf8Path) -> Option<String> {
    let asks = kinds::own_presentation(summary.kind).asks_endpoints;
    let by_tape =
        ["replay_miss", "cassette_damaged"].iter().any(|name| summary.error_types.contains_key(*name));
    match (asks && summary.assessed == 0 && !summary.error_types.is_empty(), by_tape) {
        (false, _) => None,
        (true, true) => Some("`--record DIR` asks the endpoints and keeps what they say".to_owned()),
        (true, false) => Some(format!(
            "`proofhouse doctor {suite}` asks each target one short question and says what comes of it"
        )),
    }
}
