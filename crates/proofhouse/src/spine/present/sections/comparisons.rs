//! Each pair of targets on the trials that both were assessed on, in words and in numbers.

use proofhouse_ledger::summary::Comparison;

use super::{Facts, Section};
use crate::spine::present::behind::drawn;
use crate::spine::present::words;
use crate::text::doc::figure::Scale;
use crate::text::doc::{Cell, Column, Content, Doc, Figure, Line, Table, Tone};
use crate::text::numbers::{count, p_number, points};

pub(super) const SECTION: Section = Section { id: "comparisons", title: "Targets compared", body };

/// Sentences are written for at most this many pairs; the table has all of them.
const MAX_SENTENCES: usize = 6;

/// Left and right are those of the difference: `left − right`.
const NUMBERS: [&str; 7] = ["95 % interval", "p", "Only left", "Only right", "Both", "Neither", "Pairs"];

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let all = &facts.summary.comparisons;
    let asked = |pair: &&Comparison| (facts.own.compares)(facts.manifest, pair);
    let chosen: Vec<&Comparison> = all.iter().filter(asked).collect();
    let pairs = if chosen.is_empty() { all.iter().collect() } else { chosen };
    let width = |pair: &Comparison| pair.difference.unwrap_or(0.0).abs();
    // A terminal has room for one: the largest difference.
    let widest = (0..pairs.len()).max_by(|a, b| width(pairs[*a]).total_cmp(&width(pairs[*b])))?;
    let mut doc = Doc::new();
    for (at, pair) in pairs.iter().enumerate() {
        let sentence = Content::finding(Tone::Neutral, words::comparison(pair));
        if at == widest {
            doc.everywhere(sentence);
        } else if at < MAX_SENTENCES {
            doc.documents(sentence);
        }
    }
    if let Some(best) = &facts.summary.best {
        doc.everywhere(Content::finding(Tone::Neutral, format!("{}.", best.sentence)));
    }
    let mut columns = vec![
        Column::text("Difference"),
        Column::number("Points"),
        Column::figures(Scale::Difference, "Points, drawn"),
    ];
    columns.extend(NUMBERS.map(Column::number));
    let mut table = Table::new("rates", "Pairs of targets", columns);
    for pair in &pairs {
        table.row(row(pair));
    }
    doc.documents(table);
    doc.documents(Content::note(caveats(facts)));
    Some(doc)
}

fn row(pair: &Comparison) -> Vec<Cell> {
    let interval = pair.low.zip(pair.high);
    let range = interval.map(|(low, high)| format!("{} to {}", points(low), points(high)));
    let behind = |slot: &str, verdict: &str, other: &str, beside: &str| {
        let beside = format!("{beside}:{other}");
        vec![("slot", slot.to_owned()), ("verdict", verdict.to_owned()), ("beside", beside)]
    };
    let (a, b) = (pair.a.as_str(), pair.b.as_str());
    let counts = [
        (pair.only_b, behind(b, "passed", a, "failed")),
        (pair.only_a, behind(a, "passed", b, "failed")),
        (pair.both_passed, behind(b, "passed", a, "passed")),
        (pair.neither, behind(b, "failed", a, "failed")),
        (pair.pairs, behind(b, "assessed", a, "assessed")),
    ];
    let mut cells = vec![
        Line::default().name(pair.b.as_str()).text(" − ").name(pair.a.as_str()).into(),
        pair.difference.map_or_else(Cell::dash, |value| points(value).into()).class("big"),
        drawn(
            Figure::Difference { interval: interval.map(|(low, high)| [low, high]), value: pair.difference },
            behind(b, "assessed", a, "assessed"),
        ),
        range.map_or_else(Cell::dash, Cell::from),
        pair.adjusted_p.map_or_else(Cell::dash, |p| p_number(p).into()),
    ];
    cells.extend(counts.map(|(number, records)| Cell::from(Line::from(count(number)).records(records))));
    cells
}

fn caveats(facts: &Facts<'_>) -> String {
    let summary = facts.summary;
    let mut text =
        "p is the permutation test over cases, which is McNemar’s exact test where no case is repeated, adjusted (Holm) \
         for all pairs of targets."
            .to_owned();
    if summary.slots.iter().any(|slot| slot.flaky_cases.denominator > 0) {
        text.push_str(
            " Cases were repeated; repetitions of one case are not independent, so each case counts once, \
             and the interval takes cases as clusters.",
        );
    }
    text
}
