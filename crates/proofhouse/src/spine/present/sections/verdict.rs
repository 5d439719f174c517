//! The verdict and its uncertainty: the gate, each target's pass rate with its interval, and what was not assessed.

use proofhouse_ledger::summary::{Rate, Slot, Summary};

use super::{Facts, Section};
use crate::spine::present::behind::{Behind, counted, counted_as, drawn, parts_of};
use crate::spine::present::words;
use crate::text::doc::figure::Scale;
use crate::text::doc::{Cell, Column, Content, Doc, Line, Table, Tone};
use crate::text::numbers::{interval, plural};

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
        let line = counted(spared, Behind::all().with("spared", ["true"]).records()).text(" of ");
        let line = line.then(counted(facts.summary.trials, Behind::all().records()));
        doc.everywhere(Content::plain(
            line.text(" planned runs were left out: the policy stopped before them."),
        ));
    }
    if facts.unassessed() > 0 && !facts.own.explains {
        let missing = Behind::all().filter("verdict", "unassessed").records();
        let line = counted(facts.unassessed(), missing).text(" of ");
        let trials = counted_as(facts.summary.trials, ("trial", "trials"), Behind::all().records());
        let line = line.then(trials).text(" could not be assessed: ").then(reasons(facts)).text(".");
        doc.everywhere(Content::finding(Tone::Open, line));
    }
    Some(doc)
}

fn headline(facts: &Facts<'_>) -> Content {
    let summary = facts.summary;
    let nothing = (facts.own.nothing)(summary);
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
        _ if nothing.is_some() => (Tone::Open, "Nothing could be assessed", nothing.unwrap_or_default()),
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

/// Without those that a policy made unnecessary, which nobody misses.
fn not_spared(facts: &Facts<'_>, behind: Behind) -> Behind {
    if facts.spared() == 0 {
        return behind;
    }
    behind.with("spared", ["false"])
}

/// What kept trials from being assessed, by type of error where those say it, most frequent first.
fn reasons(facts: &Facts<'_>) -> Line {
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
    let mut why: Vec<Line> = match explained > 0 && fits {
        true => types
            .iter()
            .map(|(name, number)| {
                counted(**number, Behind::all().filter("error", name).records())
                    .text(" × ")
                    .name(name.as_str())
            })
            .collect(),
        false => {
            let statuses = summary.counts.iter().filter(broke);
            let of = |(status, number): (&String, &u64)| {
                counted(*number, Behind::all().filter("status", status).records()).text(format!(" {status}"))
            };
            statuses.map(of).collect()
        }
    };
    if why.is_empty() {
        return "judges could not judge".into();
    }
    if explained > 0 && fits && explained < unassessed {
        let named = types.iter().map(|(name, _)| name.as_str());
        let others = Behind::all().filter("verdict", "unassessed").without("error", named);
        why.push(counted(unassessed - explained, others.records()).text(" × judges could not judge"));
    }
    let joined = |line: Line, part: Line| if line.is_empty() { part } else { line.text(", ").then(part) };
    why.into_iter().fold(Line::default(), joined)
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
                _ => words::flaky_cases(slot).into(),
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
        drawn(words::gated_figure(rate, clustered, gate), behind(slot, "assessed")),
        range,
        parts_of(rate, behind(slot, "passed"), behind(slot, "assessed")).into(),
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
        let records = Behind::slot(&slot.slot).with("spared", ["true"]).records();
        return if spared > 0 { cell.small(counted(spared, records).text(" not needed")) } else { cell };
    }
    let missing = Behind::slot(&slot.slot).filter("verdict", "unassessed");
    let all = Behind::slot(&slot.slot).with("aside", ["false"]).records();
    let line = counted(unassessed, missing.records()).text(" of ").then(counted(slot.trials, all));
    Cell::from(line).class("unassessed")
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
    let columns = ["Target", "Rate", "Counts", "Records behind them"].map(Column::text);
    let mut table = Table::new("plain", "Which records are behind the rates", columns.into());
    for slot in &facts.summary.slots {
        let planned = not_spared(facts, Behind::slot(&slot.slot).with("aside", ["false"])).records();
        let (passed, assessed) = (behind(slot, "passed"), behind(slot, "assessed"));
        let rates = [
            ("passed of assessed", &slot.pass_rate, parts_of(&slot.pass_rate, passed.clone(), assessed)),
            ("passed of all", &slot.pass_rate_all, parts_of(&slot.pass_rate_all, passed, planned)),
            ("flaky cases", &slot.flaky_cases, words::flaky_cases(slot)),
        ];
        for (name, rate, counts) in rates {
            table.row(vec![
                Line::default().name(slot.slot.as_str()).into(),
                name.into(),
                counts.into(),
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
