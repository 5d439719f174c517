//! Workflow commands that GitHub turns into annotations, one line each.

use std::fmt::Write;

use super::text::{FLIPS, counts_line, flaw_line, mixed_plain, remarks, whereabouts};
use super::words::visible;
use crate::spine::diff::report::{Change, Class, Report};

/// The report as `::error`, `::warning` and `::notice` lines.
pub fn render_github(report: &Report) -> String {
    let mut out = String::new();
    if report.counts_flips {
        annotate(&mut out, "notice", "proofhouse diff", FLIPS);
    }
    for remark in remarks(report) {
        let level = if remark.starts_with("different runs") { "notice" } else { "warning" };
        annotate(&mut out, level, "proofhouse diff", &visible(&remark));
    }
    for change in &report.changes {
        let title = format!("{}: {}", change.class.noun(1), change.trial.case_id);
        annotate(&mut out, level(change.class), &title, &message(change));
    }
    for line in &report.unreadable {
        let text = format!("line {} of {}: {}", line.line, line.side.letter(), visible(&line.what));
        annotate(&mut out, "error", "unreadable line", &text);
    }
    let sentences: Vec<String> = report.sentences().map(visible).collect();
    let summary = format!("{}. {}", counts_line(report), sentences.join(". "));
    annotate(&mut out, "notice", "proofhouse diff", &summary);
    out
}

fn level(class: Class) -> &'static str {
    match class {
        Class::Forbidden
        | Class::Regression
        | Class::Lost
        | Class::Dropped
        | Class::Removed
        | Class::Duplicate
        | Class::Reordered => "error",
        Class::Improvement | Class::Added => "notice",
        Class::Status
        | Class::Verdict
        | Class::Decision
        | Class::Accepted
        | Class::Reason
        | Class::Score
        | Class::Output
        | Class::Expected
        | Class::Input
        | Class::Metadata => "warning",
    }
}

fn message(change: &Change) -> String {
    let mut lines = vec![whereabouts(change)];
    lines.extend(
        change.fields.iter().map(|field| format!("{}  {}", visible(&field.pointer), mixed_plain(field))),
    );
    lines.extend(change.flaws.iter().map(flaw_line));
    lines.join("\n")
}

fn annotate(out: &mut String, level: &str, title: &str, message: &str) {
    let _ = writeln!(out, "::{level} title={}::{}", property(title), data(message));
}

/// The runner reads a command up to the line end, and `%` begins an escape.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(&visible(text)).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_cannot_begin_a_command_of_its_own() {
        let mut out = String::new();
        annotate(&mut out, "error", "a,b::c\n::x", "50 %\n::set-output name=x::y\r");
        insta::assert_snapshot!(out, @"::error title=a%2Cb%3A%3Ac⏎%3A%3Ax::50 %25%0A::set-output name=x::y%0D");
        assert_eq!(out.lines().count(), 1);
    }
}
