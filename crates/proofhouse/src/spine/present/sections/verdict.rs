//! The verdict and its uncertainty: the gate, each target's pass rate with its interval, and what was not assessed.

use proofhouse_ledger::summary::{Rate, Slot, Summary};

use super::{Facts, Section};
use crate::spine::present::words;
use crate::text::doc::figure::Scale;
use crate::text::doc::{Cell, Column, Content, Doc, Line, Table, Tone};
use crate::text::numbers::{count, interval, of, plural};

pub(super) const SECTION: Section = Section { id: "verdict", title: "Verdict", body };

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let mut doc = Doc::new();
    doc.everywhere(headline(facts));
    match facts.own.rates {
        Some(rates) => doc.blocks.extend(rates(facts).blocks),
        None => rates(&mut doc, facts),
    }
    let spared = facts.spared();
    if spared > 0 {
        let text = format!(
            "{} of {} planned runs were left out: the policy stopped before them.",
            count(spared),
            count(facts.summary.trials)
        );
        doc.everywhere(Content::plain(text));
    }
    if facts.unassessed() > 0 && !facts.own.explains {
        let text = format!(
            "{} of {} could not be assessed: {}.",
            count(facts.unassessed()),
            plural(facts.summary.trials, "trial", "trials"),
            reasons(facts)
        );
        doc.everywhere(Content::finding(Tone::Open, text));
    }
    Some(doc)
}

fn headline(facts: &Facts<'_>) -> Content {
    let summary = facts.summary;
    let (tone, title, text) = match &summary.gate {
        _ if summary.trials == 0 => (Tone::Open, "Nothing was planned", "This run has no trials.".to_owned()),
        _ if summary.assessed == 0 => (
            Tone::Open,
            "Nothing could be assessed",
            format!(
                "Not one of {} could be judged, so there is no rate to give: neither a pass nor a failure.",
                plural(summary.trials, "trial", "trials")
            ),
        ),
        Some(gate) => {
            let (tone, title) = match gate.held {
                Some(true) => (Tone::Good, "The gate held"),
                Some(false) => (Tone::Bad, "The gate was missed"),
                None => (Tone::Open, "The gate is undecided"),
            };
            (tone, title, format!("{}.", gate.reason()))
        }
        None => (Tone::Neutral, "No gate", "The suite declares no pass rate to reach.".to_owned()),
    };
    Content::Headline { tone, title, text: text.into() }
}

/// How answers end that are answers all the same: judges look at them.
const ANSWERS: [&str; 5] = ["empty", "null", "length", "refused", "filtered"];

/// What kept trials from being assessed, by type of error where those say it, most frequent first.
fn reasons(facts: &Facts<'_>) -> String {
    let summary: &Summary = facts.summary;
    let (unassessed, spared) = (facts.unassessed(), facts.spared());
    let broke = |(status, count): &(&String, &u64)| {
        status.as_str() != "success" && **count > 0 && (spared == 0 || status.as_str() != "not_run")
    };
    let mut types: Vec<_> =
        summary.error_types.iter().filter(|(name, _)| !ANSWERS.contains(&name.as_str())).collect();
    types.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let explained: u64 = types.iter().map(|(_, count)| **count).sum();
    let fits = explained <= unassessed;
    let mut why: Vec<String> = match explained > 0 && fits {
        true => types.iter().map(|(name, number)| format!("{} × {name}", count(**number))).collect(),
        false => {
            let statuses = summary.counts.iter().filter(broke);
            statuses.map(|(status, number)| format!("{} {status}", count(*number))).collect()
        }
    };
    if why.is_empty() {
        return "judges could not judge".to_owned();
    }
    if explained > 0 && fits && explained < unassessed {
        why.push(format!("{} × judges could not judge", count(unassessed - explained)));
    }
    why.join(", ")
}

fn rates(doc: &mut Doc, facts: &Facts<'_>) {
    let slots = &facts.summary.slots;
    if slots.is_empty() {
        return;
    }
    let repeated = slots.iter().any(|slot| slot.flaky_cases.denominator > 0);
    let mut columns = vec![
        Column::text("Target"),
        Column::number("Passed"),
        Column::figures(Scale::Share, "95 % interval, drawn"),
        Column::number("95 % interval"),
        Column::number("Passed of assessed"),
        Column::number("Not assessed"),
    ];
    let open = slots.iter().any(|slot| bounds(facts, slot).is_some());
    if open {
        columns.push(Column::number("If those failed–passed"));
    }
    if repeated {
        columns.push(Column::number("Flaky cases"));
    }
    let mut table = Table::new("rates", "Pass rate of each target", columns);
    for slot in slots {
        let mut cells = slot_row(facts, slot);
        if open {
            cells.push(match bounds(facts, slot) {
                Some([worst, best]) => {
                    interval(Some(worst), Some(best)).map_or_else(Cell::dash, |text| text.into())
                }
                None => Cell::dash(),
            });
        }
        if repeated {
            cells.push(match slot.flaky_cases.denominator {
                0 => Cell::dash(),
                _ => Line::from(count(slot.flaky_cases.numerator))
                    .records(behind(slot, "flaky"))
                    .text(format!(" of {}", count(slot.flaky_cases.denominator)))
                    .into(),
            });
        }
        table.row(cells);
    }
    doc.everywhere(table);
    doc.page(reading_help(facts));
}

fn slot_row(facts: &Facts<'_>, slot: &Slot) -> Vec<Cell> {
    let rate = &slot.pass_rate;
    let gate = facts.summary.gate.as_ref().map(|gate| gate.pass_rate);
    let clustered = slot.pass_rate_clustered.as_ref();
    // Trials of one case are not independent: where there are several, the case is the unit.
    let range = match clustered.and_then(|mean| interval(mean.low, mean.high)) {
        Some(over_cases) => Cell::from(over_cases).small("over cases".to_owned()),
        None => words::range(rate),
    };
    vec![
        Line::default().name(slot.slot.as_str()).into(),
        Cell::from(words::rate(rate)).class(if rate.value.is_some() { "big" } else { "big missing" }),
        words::gated_figure(rate, clustered, gate).into(),
        range,
        Line::from(count(rate.numerator))
            .records(behind(slot, "passed"))
            .text(" of ")
            .text(count(rate.denominator))
            .records(behind(slot, "assessed"))
            .into(),
        unassessed(facts, slot),
    ]
}

/// The records of a slot with this verdict.
fn behind(slot: &Slot, verdict: &str) -> Vec<(&'static str, String)> {
    vec![("slot", slot.slot.clone()), ("verdict", verdict.to_owned())]
}

fn unassessed(facts: &Facts<'_>, slot: &Slot) -> Cell {
    let spared = facts.spared_of(slot);
    let rate = &slot.pass_rate;
    let unassessed = (slot.trials - spared).saturating_sub(rate.denominator);
    if unassessed == 0 {
        let cell = Cell::from("0");
        return if spared > 0 { cell.small(format!("{} not needed", count(spared))) } else { cell };
    }
    let line = Line::from(count(unassessed)).records(behind(slot, "unassessed"));
    Cell::from(line.text(format!(" of {}", count(slot.trials)))).class("unassessed")
}

/// The rate if everything that was not assessed had failed, and if it had passed (Manski 1990); none where all was assessed.
fn bounds(facts: &Facts<'_>, slot: &Slot) -> Option<[f64; 2]> {
    let planned = slot.trials - facts.spared_of(slot);
    let Rate { numerator: passed, denominator: assessed, .. } = slot.pass_rate;
    let open = planned.checked_sub(assessed).filter(|open| *open > 0)?;
    Some([passed, passed + open].map(|count| count as f64 / planned as f64))
}

fn reading_help(facts: &Facts<'_>) -> Content {
    let mut help = Doc::new();
    help.page(Content::plain(
        "The dot is the share of assessed trials that passed; the bar is the Wilson 95 % interval, which takes \
         the trials as independent. The lighter bar below it takes all trials of one case as one cluster: where \
         cases are repeated, it is the interval that is printed. A trial that could not be judged (an error, a \
         timeout, no verdict) is neither passed nor failed; it is counted under “not assessed”, and beside it \
         stands what the rate would be if all of those had failed, and if all had passed.",
    ));
    if facts.summary.gate.is_some() {
        help.page(Content::plain("The dashed line is the pass rate that the gate asks for."));
    }
    let columns = ["Target", "Rate", "Numerator / denominator", "Records behind them"].map(Column::text);
    let mut table = Table::new("plain", "Which records are behind the rates", columns.into());
    for slot in &facts.summary.slots {
        let rates = [
            ("passed of assessed", &slot.pass_rate),
            ("passed of all", &slot.pass_rate_all),
            ("flaky cases", &slot.flaky_cases),
        ];
        for (name, rate) in rates {
            table.row(vec![
                Line::default().name(slot.slot.as_str()).into(),
                name.into(),
                of(rate.numerator, rate.denominator).replace(" of ", " / ").into(),
                Line::default().code(rate.records.as_str()).into(),
            ]);
        }
    }
    help.page(table);
    Content::More {
        summary: "How to read this, and which records are behind it".into(),
        open: false,
        class: "help",
        blocks: help.blocks,
    }
}
