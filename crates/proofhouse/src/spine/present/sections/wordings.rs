//! Other wordings of the same cases: what each generator costs a target.

use super::{Facts, Section};
use crate::spine::present::behind::{Behind, drawn, parts_of};
use crate::spine::present::words;
use crate::text::doc::figure::Scale;
use crate::text::doc::{Cell, Column, Content, Doc, Line, Table};
use crate::text::numbers::signed_percent;

pub(super) const SECTION: Section = Section { id: "wordings", title: "Other wordings", body };

fn body(facts: &Facts<'_>) -> Option<Doc> {
    if facts.summary.wordings.is_empty() {
        return None;
    }
    let columns = vec![
        Column::text("Generator"),
        Column::names("Target"),
        Column::number("As it stands"),
        Column::number("Reworded"),
        Column::figures(Scale::Share, "Reworded, drawn"),
        Column::number("Lost"),
        Column::number("Cases right in every wording"),
    ];
    let mut table = Table::new("rates wordings", "Pass rate by generator", columns);
    for row in &facts.summary.wordings {
        let whole = |said: &[&str]| {
            let wording = format!("wording:{}", row.generator);
            Behind::slot(&row.slot).with(&wording, said.iter().copied()).by("cases")
        };
        let reworded =
            Behind::slot(&row.slot).filter("verdict", "assessed").with("generator", [row.generator.as_str()]);
        table.row(vec![
            Line::default().code(row.generator.as_str()).into(),
            Line::default().name(row.slot.as_str()).into(),
            words::rate(&row.base_pass_rate).into(),
            words::rate(&row.pass_rate).into(),
            drawn(words::figure(&row.pass_rate).against(row.base_pass_rate.value), reworded.records()),
            row.relative_drop.map_or_else(Cell::dash, |drop| signed_percent(drop).into()),
            parts_of(&row.robust_cases, whole(&["right"]), whole(&["right", "wrong"])).into(),
        ]);
    }
    let mut doc = Doc::new();
    doc.everywhere(table);
    doc.page(Content::note(
        "The dashed line is the pass rate of the same cases as they stand. “Lost” is the share of that rate which \
         rewording takes away.",
    ));
    Some(doc)
}
