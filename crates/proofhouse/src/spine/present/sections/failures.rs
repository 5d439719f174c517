//! What to look at: how many trials ended in which way, and the first failures by name with question, expected, answer and why.

use proofhouse_ledger::summary::Slot;

use super::{Facts, Section};
use crate::spine::present::behind::{Behind, counted, counted_as};
use crate::spine::present::failures::{self, Failure, MAX_TOLD};
use crate::text::doc::card::{Card, Text};
use crate::text::doc::{Content, Doc, Line, Reach, Tone};
use crate::text::numbers::count;

pub(super) const SECTION: Section = Section { id: "failures", title: "What to look at", body };

/// Characters of a text that a card shows; the record has the rest.
const MAX_CHARS: usize = 600;
/// Types of error with a chip of their own.
const MAX_TYPES: usize = 5;

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let first = facts.failures;
    let failed = failures::count(facts.summary);
    let chips = chips(facts, failed);
    let mut doc = Doc::new();
    if first.is_empty() {
        // What passed alone is nothing to look at.
        let others = failed > 0 || facts.unassessed() > 0 || flaky(facts) > 0;
        if facts.survey.is_none() || !others {
            return None;
        }
        doc.page(Content::Chips(chips));
        doc.page(Content::Cards(Vec::new()));
        return Some(doc);
    }
    doc.page(Content::Chips(chips));
    let failed = failures::news(facts.summary, facts.own);
    let tested: Vec<&Slot> = failures::tested(facts.summary, facts.own).collect();
    let assessed = tested.iter().map(|slot| slot.pass_rate.denominator).sum();
    let of = |verdict: &str| {
        let behind = Behind::all().filter("verdict", verdict);
        match tested.len() == facts.summary.slots.len() {
            true => behind.records(),
            false => behind.with("slot", tested.iter().map(|slot| slot.slot.as_str())).records(),
        }
    };
    let all = counted_as(failed, ("trial", "trials"), of("failed"));
    let mut line = all.text(" of ").then(counted(assessed, of("assessed"))).text(" assessed failed. ");
    if failed > first.len().min(MAX_TOLD) as u64 {
        line = line.text("All are in ").code("report.html#verdict=failed").text(", the first by name here:");
    } else {
        line = line.text("By name:");
    }
    doc.everywhere(Content::finding(Tone::Bad, line));
    doc.everywhere(Content::Cards(first.iter().enumerate().map(card).collect()));
    Some(doc)
}

fn flaky(facts: &Facts<'_>) -> u64 {
    facts.summary.slots.iter().map(|slot| slot.flaky_cases.numerator).sum()
}

/// How many trials ended in which way; each count leads to them.
fn chips(facts: &Facts<'_>, failed: u64) -> Vec<(Tone, Line)> {
    let summary = facts.summary;
    let shows = |number: u64, words: &str, outcome: &str| {
        Line::from(format!("{} {words}", count(number))).records(vec![("show", outcome.to_owned())])
    };
    let outcomes = [
        (Tone::Bad, failed, "failed", "failed"),
        (Tone::Open, flaky(facts), "flaky", "flaky"),
        (Tone::Open, facts.unassessed(), "not assessed", "unassessed"),
        (Tone::Good, summary.assessed.saturating_sub(failed), "passed", "passed"),
    ];
    let shown = outcomes.into_iter().filter(|(_, number, ..)| *number > 0);
    let mut chips: Vec<(Tone, Line)> =
        shown.map(|(tone, number, words, outcome)| (tone, shows(number, words, outcome))).collect();
    let mut types: Vec<(&String, &u64)> = summary.error_types.iter().collect();
    types.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    for (name, number) in types.into_iter().take(MAX_TYPES) {
        let line = Line::default().name(format!("{} × {name}", count(*number)));
        chips.push((Tone::Neutral, line.records(vec![("error", name.clone())])));
    }
    chips
}

fn card((at, failure): (usize, &Failure)) -> Card {
    let told = &failure.told;
    let asked = told.asked.as_ref().map(|(title, text)| (*title, None, text));
    let expected = told.expected.as_ref().map(|text| ("Expected", Some("expected"), text));
    let answer = told.answer.as_ref().map(|text| ("Answer", Some("answered"), text));
    let texts = [asked, expected, answer].into_iter().flatten();
    Card {
        reach: if at < MAX_TOLD { Reach::Everywhere } else { Reach::Page },
        title: Line::default()
            .name(failure.case.as_str())
            .records(vec![("r", failure.record_id.clone())])
            .text(" on ")
            .name(failure.slot.as_str()),
        texts: texts.map(|(title, told_as, text)| Text { title, told_as, text: clipped(text) }).collect(),
        why: told.why.as_deref().map(clipped),
    }
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
