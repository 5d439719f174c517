//! What each target's answers used and cost: tokens as the target counts them, and the price list of the run.

use proofhouse_ledger::summary::Slot;

use super::{Facts, Section};
use crate::text::doc::{Cell, Column, Content, Doc, Line, Table};
use crate::text::numbers::{count, dollars};

pub(super) const SECTION: Section = Section { id: "costs", title: "Tokens and cost", body };

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let slots = &facts.summary.slots;
    if slots.iter().all(|slot| slot.usage.is_none()) {
        return None;
    }
    let priced = slots.iter().any(|slot| cost(slot).is_some());
    let mut columns = vec![
        Column::names("Target"),
        Column::number("Input tokens"),
        Column::number("Output tokens"),
        Column::number("Tokens a trial"),
    ];
    if priced {
        columns.push(Column::number("Cost"));
        columns.push(Column::number("Cost of 1,000 trials"));
    }
    let mut table = Table::new("plain", "Tokens and cost of each target", columns);
    for slot in slots {
        let shown = |tokens: Option<u64>| tokens.map_or_else(Cell::dash, |tokens| count(tokens).into());
        let usage = slot.usage.as_ref();
        let (read, written) = (usage.map(|usage| usage.input_tokens), usage.map(|usage| usage.output_tokens));
        let all = read.unwrap_or(0) + written.unwrap_or(0);
        let each = (slot.trials > 0 && all > 0).then(|| (all as f64 / slot.trials as f64).round() as u64);
        let mut cells =
            vec![Line::default().name(slot.slot.as_str()).into(), shown(read), shown(written), shown(each)];
        if priced {
            let thousand = |cost: f64| cost / slot.trials.max(1) as f64 * 1_000.0;
            let cell = |cost: Option<f64>| cost.map_or_else(Cell::dash, |cost| dollars(cost).into());
            cells.push(cell(cost(slot)));
            cells.push(cell(cost(slot).map(thousand)));
        }
        table.row(cells);
    }
    let mut doc = Doc::new();
    doc.everywhere(table);
    if priced {
        doc.documents(Content::note(
            "Tokens are those that the targets report, all attempts together; the cost is theirs at the prices in the manifest, \
             whether or not an answer came from a cache.",
        ));
    }
    Some(doc)
}

fn cost(slot: &Slot) -> Option<f64> {
    slot.usage.as_ref()?.cost_usd
}
