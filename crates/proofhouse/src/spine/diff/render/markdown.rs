//! The comparison as a pull-request comment. Nothing that a target printed leaves its code span or mentions anybody.

use std::fmt::Write;

use super::text::{FLIPS, counts_line, flaw_line, mixed_plain, remarks, whereabouts};
use super::words::visible;
use crate::spine::diff::report::{Change, Class, Report};
use crate::text::numbers::count as grouped;

/// A comment of more than 65,536 characters is refused; what does not fit is counted.
const MAX_CHARS: usize = 60_000;

/// The report as GitHub-flavoured Markdown.
pub fn render_markdown(report: &Report) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "### proofhouse diff: {}\n", headline(report));
    let _ = writeln!(out, "{} → {}\n", code(&report.a.dir), code(&report.b.dir));
    if report.counts_flips {
        let _ = writeln!(out, "{FLIPS}\n");
    }
    for remark in remarks(report) {
        let _ = writeln!(out, "- {}", code(&remark));
    }
    out.push('\n');
    for sentence in report.sentences() {
        // Names of targets are somebody else's text.
        let _ = writeln!(out, "- {}", code(sentence));
    }
    out.push('\n');
    table(&mut out, report);
    let mut room = MAX_CHARS.saturating_sub(out.chars().count());
    for class in Class::ALL {
        let text = group(report, class, &mut room);
        out.push_str(&text);
    }
    unreadable(&mut out, report);
    let _ = writeln!(out, "{}", counts_line(report));
    out
}

fn headline(report: &Report) -> String {
    let worst = Class::ALL.into_iter().find(|class| report.count(*class) > 0);
    match worst {
        Some(class) => format!("{} {}", grouped(report.count(class)), class.noun(report.count(class))),
        None if report.differs() => "the runs differ".to_owned(),
        None => "no changes".to_owned(),
    }
}

fn table(out: &mut String, report: &Report) {
    if report.changed() == 0 {
        return;
    }
    out.push_str("| change | records |\n|---|---:|\n");
    for class in Class::ALL {
        let count = report.count(class);
        if count > 0 {
            let _ = writeln!(out, "| {} | {} |", class.noun(count), grouped(count));
        }
    }
    out.push('\n');
}

fn group(report: &Report, class: Class, room: &mut usize) -> String {
    let count = report.count(class);
    let mut out = String::new();
    if count == 0 {
        return out;
    }
    let open = if class == Class::Regression { " open" } else { "" };
    let title = format!("{} {}", grouped(count), class.noun(count));
    let _ = writeln!(out, "<details{open}><summary>{title}</summary>\n");
    let mut shown = 0;
    for change in report.changes.iter().filter(|change| change.class == class) {
        let text = record(change);
        let size = text.chars().count();
        if size > *room {
            break;
        }
        *room -= size;
        out.push_str(&text);
        shown += 1;
    }
    if shown < count {
        let _ = writeln!(out, "- … {} more", grouped(count - shown));
    }
    out.push_str("\n</details>\n\n");
    out
}

fn record(change: &Change) -> String {
    let mut lines: Vec<String> = change
        .fields
        .iter()
        .map(|field| format!("{}  {}", visible(&field.pointer), mixed_plain(field)))
        .collect();
    lines.extend((change.more_fields > 0).then(|| format!("… {} more fields differ", change.more_fields)));
    lines.extend(change.flaws.iter().map(flaw_line));
    let mut out = format!("- {} {}\n", code(&change.trial.case_id), code(&whereabouts(change)));
    if !lines.is_empty() {
        let fence = "`".repeat(longest_run(&lines.join("\n")).max(2) + 1);
        let _ = writeln!(out, "  {fence}text");
        for line in &lines {
            let _ = writeln!(out, "  {line}");
        }
        let _ = writeln!(out, "  {fence}");
    }
    out
}

fn unreadable(out: &mut String, report: &Report) {
    for line in &report.unreadable {
        let _ = writeln!(out, "- line {} of {}: {}", line.line, line.side.letter(), code(&line.what));
    }
    let more = report.unreadable_count - report.unreadable.len() as u64;
    if more > 0 {
        let _ = writeln!(out, "- … {} more unreadable lines", grouped(more));
    }
    if report.unreadable_count > 0 {
        out.push('\n');
    }
}

/// A code span that its content cannot end: one backtick more than its longest run of them.
fn code(text: &str) -> String {
    let text = visible(text);
    if text.trim().is_empty() {
        return "(empty)".to_owned();
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_span_cannot_be_left() {
        assert_eq!(code("plain"), "`plain`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`x`"), "`` `x` ``");
        assert_eq!(code("@all\n# x"), "`@all⏎# x`");
        assert_eq!(code(""), "(empty)");
    }
}
