//! What only a `code` run has: pass@k, how far completions got, and what compiler and linter complained of.

use std::collections::BTreeMap;

use proofhouse_ledger::summary::{CodeSlot, PassAtK, Rate};

use crate::kinds::code::{account, behind, words};
use crate::spine::present::behind::{counted, counted_as, drawn, parts_of};
use crate::spine::present::words::{figure, range, rate};
use crate::spine::present::{Facts, Section};
use crate::text::doc::figure::Scale;
use crate::text::doc::{Cell, Column, Content, Doc, Figure, Line, Table, Tone};
use crate::text::numbers::{count, interval, percent, signed_percent};

pub(super) const SECTION: Section = Section { id: "code", title: "Completions", body };

/// Codes of compiler and linter that are listed for each slot.
const MAX_CODES: usize = 10;
/// Error types that a sentence names.
const MAX_TYPES: usize = 4;

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let code = facts.summary.code.as_ref()?;
    let mut doc = Doc::new();
    for slot in &code.slots {
        doc.documents(Content::Heading(Line::default().name(slot.slot.as_str())));
        headline(&mut doc, slot);
        pass_at_k(&mut doc, slot);
        robust(&mut doc, slot);
        phases(&mut doc, slot);
        measured(&mut doc, slot);
        codes(&mut doc, "Compiler errors", (slot, "compile_errors"), &slot.compile_error_codes);
        codes(&mut doc, "Lints", (slot, "lints"), &slot.lint_names);
    }
    Some(doc)
}

/// The sentences that everybody is told: the figures, who is counted in them, and what went wrong.
fn headline(doc: &mut Doc, slot: &CodeSlot) {
    let of_slot = |text: &str| Line::default().name(slot.slot.as_str()).then(Line::ticked(text));
    doc.everywhere(Content::finding(Tone::Neutral, of_slot(&format!(": {}", words::pass_at_k(slot)))));
    let sentences = account::account(slot);
    if !sentences.is_empty() {
        doc.everywhere(Content::list(sentences));
    }
    for row in words::robust(slot) {
        doc.everywhere(Content::finding(Tone::Neutral, Line::ticked(&row)));
    }
    if let Some(types) = most_frequent(slot) {
        doc.everywhere(Content::plain(of_slot(", by error type: ").then(types)));
    }
    for (name, number) in &slot.missing_crates {
        let records = behind::completions(slot).holding("missing_crates", name).records();
        let completions = counted_as(*number, ("completion needs", "completions need"), records);
        let line = of_slot(": ").then(completions).text(" crate ").code(name.as_str());
        let line = line.text(", which the suite does not have: ").code("crates:").text(" adds it");
        doc.everywhere(Content::finding(Tone::Open, line));
    }
    doc.documents(Content::plain(everywhere(slot)));
}

/// Every completion is somewhere, and every task.
fn everywhere(slot: &CodeSlot) -> Line {
    let scored = behind::counting(slot).filter("verdict", "assessed").records();
    let as_they_stand = if slot.robust.is_empty() { "" } else { " of the tasks as they stand" };
    let total = counted_as(slot.total, ("completion", "completions"), behind::completions(slot).records());
    let mut line =
        total.text(format!("{as_they_stand}: ")).then(counted(slot.scored, scored)).text(" scored, ");
    line = line.then(counted(slot.infra, behind::unassessed(slot).records()));
    line = line.text(" without a verdict because of machine, toolchain or model");
    let left_out = [
        (slot.excluded, " of broken tasks", behind::of_broken(slot)),
        (slot.unknown, " of tasks that nobody planned", behind::of_unknown(slot)),
    ];
    for (number, whose, records) in left_out.into_iter().filter(|(number, ..)| *number > 0) {
        line = line.text(", ").then(counted(number, records.records())).text(whose);
    }
    line.text(". Tasks: ").then(tasks_solved(slot)).text(" solved by at least one completion.")
}

/// `2 of 3`: tasks that at least one completion solved, of those that count.
pub(super) fn tasks_solved(slot: &CodeSlot) -> Line {
    let solved = behind::counting(slot).filter("verdict", "passed").by("cases");
    let all = slot.pass_at_k.first().map_or(slot.tasks, |point| point.tasks);
    counted(slot.tasks_solved.numerator, solved).text(" of ").then(tasks(slot, all))
}

/// The tasks that a figure is of. One that nobody answered has no record to show, and one that nothing but an answer of an
/// unsupported shape was given to has no verdict.
fn tasks(slot: &CodeSlot, number: u64) -> Line {
    if number != slot.tasks {
        return count(number).into();
    }
    counted(number, behind::counting(slot).filter("verdict", "assessed").by("cases"))
}

/// Why completions of a slot did not pass, most frequent first.
fn most_frequent(slot: &CodeSlot) -> Option<Line> {
    let mut types: Vec<_> = slot.error_types.iter().collect();
    types.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let (most, others) = types.split_at(types.len().min(MAX_TYPES));
    let mut parts: Vec<Line> = Vec::new();
    for (name, number) in most {
        let records = behind::completions(slot).filter("error", name).records();
        parts.push(counted(**number, records).text(format!(" {name}")));
    }
    if !others.is_empty() {
        let names = others.iter().map(|(name, _)| name.as_str());
        let number = others.iter().map(|(_, count)| **count).sum();
        let records = behind::completions(slot).with("error", names).records();
        parts.push(counted(number, records).text(" of other types"));
    }
    let joined = |line: Line, part: Line| line.text(", ").then(part);
    parts.into_iter().reduce(joined)
}

fn pass_at_k(doc: &mut Doc, slot: &CodeSlot) {
    let title = |point: &PassAtK| format!("pass@{}", point.k);
    if slot.pass_at_k.len() > 1 {
        let points = slot.pass_at_k.iter().map(|point| (title(point), [point.low, point.value, point.high]));
        let spoken = "pass@k with 95 % intervals; the numbers are in the table below".to_owned();
        doc.documents(Content::Figure(Figure::Curve(points.collect()), spoken));
    }
    let columns = vec![
        Column::text("Measure"),
        Column::number("Estimate"),
        Column::number("95 % interval"),
        Column::number("Tasks"),
        Column::number("Of what was scored"),
        Column::number("If all unassessed had failed / passed"),
    ];
    let mut table = Table::new("rates", "pass@k, unbiased, mean over tasks", columns);
    for point in &slot.pass_at_k {
        let scored = slot.scored_pass_at_k.iter().find(|scored| scored.k == point.k);
        let bounds = point.worst.zip(point.best).filter(|_| slot.infra > 0);
        table.row(vec![
            title(point).into(),
            percent(point.value).into(),
            interval(Some(point.low), Some(point.high)).unwrap_or_default().into(),
            tasks(slot, point.tasks).into(),
            scored.map_or_else(Cell::dash, |scored| percent(scored.value).into()),
            bounds.map_or_else(Cell::dash, |(worst, best)| {
                format!("{} / {}", percent(worst), percent(best)).into()
            }),
        ]);
    }
    if !table.is_empty() {
        doc.documents(table);
    }
}

fn robust(doc: &mut Doc, slot: &CodeSlot) {
    if slot.robust.is_empty() {
        return;
    }
    let columns = vec![
        Column::text("Right in every one of"),
        Column::text("Measure"),
        Column::number("As it stands"),
        Column::number("Robust"),
        Column::number("95 % interval"),
        Column::number("Lost"),
        Column::number("Tasks"),
    ];
    let mut table = Table::new("rates robust", "Robust pass@k, unbiased, mean over tasks", columns);
    for row in &slot.robust {
        for at in &row.at_k {
            table.row(vec![
                words::wordings(row).into(),
                format!("robust\u{a0}pass@{}", at.k).into(),
                percent(at.pass_at_k).into(),
                percent(at.value).into(),
                interval(Some(at.low), Some(at.high)).unwrap_or_default().into(),
                at.drop.map_or_else(Cell::dash, |drop| signed_percent(drop).into()),
                count(row.tasks).into(),
            ]);
        }
    }
    doc.documents(table);
    doc.documents(Content::note(
        "A completion is robustly right if it passes in the worst of the wordings, that is in all of them; \
         “all” has the task's own among them. “Lost” is the share of pass@k, on the same tasks as they stand, that is \
         lost so. Everything else here is of the tasks as they stand.",
    ));
    for row in &slot.robust {
        let left_out = words::robust_left_out(slot, row);
        if left_out.is_some() || row.tasks_without_wording + row.tasks_without_verdict > 0 {
            let mut text = format!("{}: {}", words::wordings(row), words::tasks(row));
            left_out.iter().for_each(|reason| text.push_str(&format!("; {reason}")));
            doc.page(Content::note(Line::ticked(&(text + "."))));
        }
    }
}

fn phases(doc: &mut Doc, slot: &CodeSlot) {
    let columns = vec![
        Column::text("Phase"),
        Column::number("Share"),
        Column::figures(Scale::Share, "Share, drawn"),
        Column::number("95 % interval"),
        Column::number("Of those asked"),
    ];
    let mut table = Table::new("rates", "How far completions got", columns);
    let phases: [(&str, &str, &Rate); 3] = [
        ("Compiled", "compile_ok", &slot.compile_rate),
        ("Clean for clippy", "clippy_ok", &slot.clippy_rate),
        ("No main of its own", "main_free", &slot.main_free_rate),
    ];
    for (title, field, share) in phases.into_iter().filter(|(.., share)| share.denominator > 0) {
        let asked = || behind::counting(slot).with(field, ["true", "false"]).records();
        table.row(vec![
            title.into(),
            rate(share).into(),
            drawn(figure(share), asked()),
            range(share),
            parts_of(share, behind::counting(slot).with(field, ["true"]).records(), asked()).into(),
        ]);
    }
    if !table.is_empty() {
        doc.documents(table);
    }
}

fn measured(doc: &mut Doc, slot: &CodeSlot) {
    let whole = |value: f64| count(value.round().max(0.0) as u64);
    if let Some(time) = slot.mean_compile_time_ms {
        doc.documents(Content::note(format!("Mean CPU time of the compiler: {} ms.", whole(time))));
    }
    if let Some(size) = slot.mean_binary_size_bytes {
        let mut text = format!("Mean size of the test program: {} bytes", whole(size));
        if let Some(over) = slot.mean_binary_size_over_baseline_bytes {
            text.push_str(&format!(", {} more than one without completion and tests", whole(over)));
        }
        doc.documents(Content::note(text + "."));
    }
}

/// How many completions of a slot each code of compiler or linter was said of, in a list of the record.
fn codes(
    doc: &mut Doc,
    title: &'static str,
    (slot, list): (&CodeSlot, &str),
    counts: &BTreeMap<String, u64>,
) {
    let mut counts: Vec<_> = counts.iter().collect();
    if counts.is_empty() {
        return;
    }
    counts.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let most = (*counts[0].1).max(1);
    let columns = vec![
        Column::text(title),
        Column::number("Completions"),
        Column::figures(Scale::Title, "Beside the most frequent"),
    ];
    let mut table = Table::new("rates errors", title, columns);
    for (code, number) in counts.iter().take(MAX_CODES) {
        let records = behind::completions(slot).holding(list, code).records();
        table.row(vec![
            Line::default().name(code.as_str()).records(records.clone()).into(),
            counted(**number, records.clone()).into(),
            drawn(Figure::Bar(**number as f64 / most as f64), records),
        ]);
    }
    doc.documents(table);
    if counts.len() > MAX_CODES {
        let line = Line::from(format!("{} more are in ", counts.len() - MAX_CODES));
        doc.documents(Content::note(line.code("summary.json").text(".")));
    }
}
