//! The first failures by name: what was expected, what came, and why that is wrong.

use super::{Facts, Section};
use crate::spine::present::failures::{self, Failure};
use crate::text::doc::{Content, Doc, Line, Tone};
use crate::text::numbers::{count, plural};

pub(super) const SECTION: Section = Section { id: "failures", title: "What failed", body };

/// Characters of a text that are told.
const MAX_CHARS: usize = 160;

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let first = facts.failures;
    if first.is_empty() {
        return None;
    }
    let failed = failures::count(facts.summary);
    let all = Line::from(plural(failed, "trial", "trials")).records(vec![("verdict", "failed".to_owned())]);
    let mut line = all.text(format!(" of {} assessed failed. ", count(facts.summary.assessed)));
    if failed > first.len() as u64 {
        line = line.text("All are in ").code("report.html#verdict=failed").text(", the first by name here:");
    } else {
        line = line.text("By name:");
    }
    let mut doc = Doc::new();
    doc.everywhere(Content::finding(Tone::Bad, line));
    doc.everywhere(Content::list(first.iter().map(told)));
    Some(doc)
}

fn told(failure: &Failure) -> Line {
    let mut line = Line::default()
        .name(failure.case.as_str())
        .records(vec![("case", failure.case.clone()), ("slot", failure.slot.clone())])
        .text(" on ")
        .name(failure.slot.as_str());
    let pieces = [("expected ", &failure.told.expected), ("answered ", &failure.told.answer)];
    let mut before = ": ";
    for (word, text) in pieces {
        if let Some(text) = text {
            line = line.text(format!("{before}{word}")).code(clipped(text));
            before = ", ";
        }
    }
    match &failure.told.why {
        Some(why) => line.text(if before == ", " { "; " } else { before }).then(Line::ticked(&clipped(why))),
        None => line,
    }
}

/// The first line or so.
fn clipped(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &words[..at]),
        None => words,
    }
}
