//! Workflow commands that GitHub turns into annotations, one line each.

use std::fmt::Write;

use super::text::{FLIPS, counts_line, flaw_line, mixed_plain, remarks, whereabouts};
use super::words::visible;
use crate::spine::diff::report::{Change, Report};
use crate::text::doc::Tone;

/// Regressions that get an annotation: GitHub shows ten of a step, and nobody reads more.
const MAX_ANNOTATIONS: usize = 10;

/// The first regressions as `::error` lines, and everything in short as one `::notice`. What got better or only changed is no reason to
/// stop anybody.
pub fn render_github(report: &Report) -> String {
    let mut out = String::new();
    let mut room = MAX_ANNOTATIONS;
    for line in report.unreadable.iter().take(room) {
        let text = format!("line {} of {}: {}", line.line, line.side.letter(), visible(&line.what));
        annotate(&mut out, "error", "unreadable line", &text);
        room -= 1;
    }
    let worse = |change: &&Change| change.class.tone() == Tone::Bad;
    for change in report.changes.iter().filter(worse).take(room) {
        let title = format!("{}: {}", change.class.noun(1), change.trial.case_id);
        annotate(&mut out, "error", &title, &message(change));
    }
    let mut said = vec![counts_line(report)];
    said.extend(report.sentences().map(visible));
    said.extend(remarks(report).iter().map(|remark| visible(remark)));
    said.extend(report.counts_flips.then(|| FLIPS.to_owned()));
    annotate(&mut out, "notice", "proofhouse diff", &said.join(". "));
    out
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
