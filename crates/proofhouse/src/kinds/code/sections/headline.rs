//! The headline of a `code` run: pass@k of each target, over tasks, in the place of pass rates over trials.

use super::completions::tasks_solved;
use crate::kinds::code::{behind, words};
use crate::spine::present::Facts;
use crate::spine::present::behind::{counted, drawn};
use crate::spine::present::words::{gated_figure, range};
use crate::text::doc::figure::Scale;
use crate::text::doc::{Cell, Column, Content, Doc, Line, Table};
use crate::text::numbers::percent;

pub(super) fn rates(facts: &Facts<'_>) -> Doc {
    let columns = vec![
        Column::text("Target"),
        Column::number("pass@k"),
        Column::figures(Scale::Share, "95 % interval, drawn"),
        Column::number("95 % interval"),
        Column::number("Tasks solved"),
        Column::number("Completions passed"),
        Column::number("Not assessed"),
    ];
    let mut table = Table::new("rates", "pass@k of each target", columns);
    let gate = facts.summary.gate.as_ref().map(|gate| gate.pass_rate);
    for slot in super::slots(facts.summary) {
        let rate = words::headline_rate(slot);
        let value = match slot.pass_at_k.first() {
            Some(point) => {
                let line = Line::default().soft(format!("pass@{} ", point.k)).text(percent(point.value));
                Cell::from(line).class("big")
            }
            None => Cell::from("not assessed").class("big missing"),
        };
        let scored = || behind::counting(slot).filter("verdict", "assessed").records();
        let passed = behind::counting(slot).filter("verdict", "passed").records();
        let passed = counted(slot.worst.numerator, passed).text(" of ").then(counted(slot.scored, scored()));
        table.row(vec![
            Line::default().name(slot.slot.as_str()).into(),
            value,
            drawn(gated_figure(&rate, None, gate), scored()),
            range(&rate),
            tasks_solved(slot).into(),
            passed.into(),
            counted(slot.infra, behind::unassessed(slot).records()).into(),
        ]);
    }
    let mut doc = Doc::new();
    doc.everywhere(table);
    let mut help = Doc::new();
    help.page(Content::plain(
        Line::from(
            "pass@k is the chance that at least one of k completions solves a task, estimated without bias and \
             averaged over tasks; a task that nobody answered counts as failed, a broken task is left out. The bar is \
             its 95 % interval for tasks like these. What is behind each figure is told below, and in ",
        )
        .code("summary.json")
        .text("."),
    ));
    let summary = "How to read this".into();
    doc.page(Content::More { summary, open: false, class: "help", blocks: help.blocks });
    doc
}
