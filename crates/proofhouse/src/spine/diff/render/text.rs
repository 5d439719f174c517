//! The comparison for a terminal: runs, warnings, groups worst first, the statistics, and the counts as the last line.

use std::fmt::Write;

use super::Style;
use super::words::{Piece, ShownChange, reading, visible};
use crate::spine::diff::report::{Change, Class, FieldChange, Flaw, RecordPlace, Report, RunFacts, Side};
use crate::text::doc::Tone;
use crate::text::doc::terminal::{padded, width};
use crate::text::numbers::count as grouped;

/// The report as text. Without colour, changed words are marked as `[-old-]{+new+}`.
pub fn render_text(report: &Report, style: Style) -> String {
    let paint = Paint(style);
    let mut out = String::new();
    header(&mut out, report, paint);
    for class in Class::ALL {
        group(&mut out, report, class, paint);
    }
    unreadable(&mut out, report, paint);
    for sentence in report.sentences() {
        let _ = writeln!(out, "{}", visible(sentence));
    }
    let _ = writeln!(out, "{}", paint.bold(&counts_line(report)));
    out
}

#[derive(Clone, Copy)]
struct Paint(Style);

impl Paint {
    fn wrap(self, code: &str, text: &str) -> String {
        match self.0 {
            Style::Plain => text.to_owned(),
            Style::Colour => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }

    fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn warning(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// What went. Colours say what is good and what is bad: what went in a regression was right.
    fn gone(self, text: &str, tone: Tone) -> String {
        match (self.0, tone) {
            (Style::Plain, _) => format!("[-{text}-]"),
            (Style::Colour, Tone::Bad) => self.seen("32", text),
            (Style::Colour, Tone::Good) => self.seen("31", text),
            (Style::Colour, _) => self.seen("2", text),
        }
    }

    /// What came.
    fn come(self, text: &str, tone: Tone) -> String {
        match (self.0, tone) {
            (Style::Plain, _) => format!("{{+{text}+}}"),
            (Style::Colour, Tone::Bad) => self.seen("31", text),
            (Style::Colour, Tone::Good) => self.seen("32", text),
            (Style::Colour, _) => self.seen("1", text),
        }
    }

    /// White space alone is seen only if it is turned around.
    fn seen(self, code: &str, text: &str) -> String {
        if text.trim().is_empty() { self.wrap(&format!("7;{code}"), text) } else { self.wrap(code, text) }
    }

    fn class(self, class: Class, text: &str) -> String {
        let code = match class {
            Class::Forbidden
            | Class::Regression
            | Class::Lost
            | Class::Dropped
            | Class::Removed
            | Class::Duplicate => "1;31",
            Class::Improvement | Class::Added => "1;32",
            _ => "1;33",
        };
        self.wrap(code, text)
    }
}

/// What `--fail-on-regressions` counts, said before anything else.
pub(super) const FLIPS: &str = "single flips are counted: one trial that no longer passes fails, also by chance (--fail-on-worse asks whether B is worse on cases like these)";

fn header(out: &mut String, report: &Report, paint: Paint) {
    if report.counts_flips {
        let _ = writeln!(out, "{FLIPS}");
    }
    for (side, run) in [(Side::A, &report.a), (Side::B, &report.b)] {
        let lines = grouped(run.lines);
        let records = if run.lines == 1 { "record" } else { "records" };
        let id = run.run_id.map_or_else(|| "without a run_id".to_owned(), |id| format!("run {id}"));
        let _ =
            writeln!(out, "{}  {}  {id}, {lines} {records}", paint.bold(side.letter()), visible(&run.dir));
    }
    for line in remarks(report) {
        let _ = writeln!(out, "{}", paint.warning(&visible(&line)));
    }
    out.push('\n');
}

/// What is to be known of the runs as a whole, a line each.
pub fn remarks(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    if report.different_runs {
        let id = |run: &RunFacts| run.run_id.map_or_else(|| "none".to_owned(), |id| id.to_string());
        lines.push(format!("different runs: run_id {} → {}", id(&report.a), id(&report.b)));
    }
    for (side, run) in [(Side::A, &report.a), (Side::B, &report.b)] {
        for reason in &run.incomplete {
            lines.push(format!("{} is incomplete: {reason}", side.letter()));
        }
        if let Some(first) = run.first_misplaced_line {
            let (count, verb) =
                (grouped(run.misplaced), if run.misplaced == 1 { "record does" } else { "records do" });
            lines.push(format!(
                "{}: {count} {verb} not stand where the index says, first on line {first}",
                side.letter()
            ));
        }
    }
    lines.extend(report.warnings.iter().map(|warning| format!("compared, but {warning}")));
    lines
}

fn group(out: &mut String, report: &Report, class: Class, paint: Paint) {
    let count = report.count(class);
    if count == 0 {
        return;
    }
    let title = format!("{} {}", grouped(count), class.noun(count));
    let _ = writeln!(out, "{}", paint.class(class, &title));
    let mut shown = 0;
    for change in report.changes.iter().filter(|change| change.class == class) {
        record(out, change, paint);
        shown += 1;
    }
    if shown < count {
        let more = if shown == 0 { "not shown" } else { "more" };
        let _ = writeln!(
            out,
            "  {}",
            paint.dim(&format!("… {} {more} (`--limit N` shows more)", grouped(count - shown)))
        );
    }
    out.push('\n');
}

fn record(out: &mut String, change: &Change, paint: Paint) {
    let _ = writeln!(
        out,
        "  {}  {}",
        paint.bold(&visible(&change.trial.case_id)),
        paint.dim(&whereabouts(change))
    );
    let widest = change.fields.iter().map(|field| width(&visible(&field.pointer))).max().unwrap_or(0).min(24);
    for field in &change.fields {
        let pointer = padded(&visible(&field.pointer), widest);
        let _ = writeln!(out, "    {pointer}  {}", mixed(field, paint, change.class.tone()));
    }
    if change.more_fields > 0 {
        let _ = writeln!(out, "    {}", paint.dim(&format!("… {} more fields differ", change.more_fields)));
    }
    for flaw in &change.flaws {
        let _ = writeln!(out, "    {}", paint.warning(&flaw_line(flaw)));
    }
}

/// Slot, variant, repetition and lines of a record.
pub(super) fn whereabouts(change: &Change) -> String {
    let trial = &change.trial;
    let mut out = format!("slot {}", visible(&trial.slot));
    if let Some(variant) = &trial.variant_id {
        let _ = write!(out, ", variant {}", visible(variant));
    }
    let _ = write!(out, ", repetition {}", trial.repetition);
    let said = |place: &RecordPlace| {
        let passed = match place.passed {
            Some(true) => "passed",
            Some(false) => "failed",
            None => "not assessed",
        };
        format!("{}, {passed}", visible(place.status.as_deref().unwrap_or("no status")))
    };
    let _ = match (&change.a, &change.b) {
        (Some(a), Some(b)) if a.line == b.line => write!(out, ", line {}", a.line),
        (Some(a), Some(b)) => write!(out, ", line {} → {}", a.line, b.line),
        (Some(a), None) => write!(out, ", line {} of A: {}", a.line, said(a)),
        (None, Some(b)) => write!(out, ", line {} of B: {}", b.line, said(b)),
        (None, None) => Ok(()),
    };
    out
}

/// What is wrong within one side.
pub(super) fn flaw_line(flaw: &Flaw) -> String {
    // Enough of a digest to tell it from another one.
    let clip = |text: &str| match text.char_indices().nth(32) {
        Some(_) => format!("{}…", visible(&text.chars().take(16).collect::<String>())),
        None => visible(text),
    };
    let right = flaw.right.as_ref().map(|right| format!(", right is {}", clip(right))).unwrap_or_default();
    let (side, pointer) = (flaw.side.letter(), visible(&flaw.pointer));
    format!("{pointer} of {side}: {} (stored {}{right})", flaw.what, clip(&flaw.stored))
}

fn mixed(field: &FieldChange, paint: Paint, tone: Tone) -> String {
    match reading(field) {
        ShownChange::Apart(old, new) => match paint.0 {
            Style::Plain => format!("{old} → {new}"),
            Style::Colour => format!("{} → {}", paint.gone(&old, tone), paint.come(&new, tone)),
        },
        ShownChange::Mixed(pieces) => pieces
            .iter()
            .map(|piece| match piece {
                Piece::Same(text) => text.clone(),
                Piece::Old(text) => paint.gone(text, tone),
                Piece::New(text) => paint.come(text, tone),
            })
            .collect(),
    }
}

/// The change of a field on one line, without colour.
pub(super) fn mixed_plain(field: &FieldChange) -> String {
    mixed(field, Paint(Style::Plain), Tone::Neutral)
}

fn unreadable(out: &mut String, report: &Report, paint: Paint) {
    let count = report.unreadable_count;
    if count == 0 {
        return;
    }
    let title = format!("{} unreadable {}", grouped(count), if count == 1 { "line" } else { "lines" });
    let _ = writeln!(out, "{}", paint.wrap("1;31", &title));
    for line in &report.unreadable {
        let _ = writeln!(out, "  line {} of {}: {}", line.line, line.side.letter(), visible(&line.what));
    }
    let more = count - report.unreadable.len() as u64;
    if more > 0 {
        let _ =
            writeln!(out, "  {}", paint.dim(&format!("… {} more (`--limit N` shows more)", grouped(more))));
    }
    out.push('\n');
}

/// The counts in one line: how every text output ends.
pub fn counts_line(report: &Report) -> String {
    let mut parts: Vec<String> = Class::ALL
        .iter()
        .map(|class| (*class, report.count(*class)))
        .filter(|(_, count)| *count > 0)
        .map(|(class, count)| format!("{} {}", grouped(count), class.noun(count)))
        .collect();
    if report.unreadable_count > 0 {
        parts.push(format!("{} unreadable", grouped(report.unreadable_count)));
    }
    if parts.is_empty() {
        let verdict = if report.differs() { "no record changed, but see above" } else { "no changes" };
        return format!("{} common, {verdict}", grouped(report.common));
    }
    format!(
        "{} common, {} unchanged: {}",
        grouped(report.common),
        grouped(report.unchanged),
        parts.join(", ")
    )
}
