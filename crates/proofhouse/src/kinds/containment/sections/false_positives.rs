//! Containment: benign cases that were turned away, and by whom.

use proofhouse_ledger::summary::containment::VariantTally;

use crate::kinds::containment::receipts::Receipts;
use crate::spine::present::{Facts, Section};
use crate::text::doc::{Column, Content, Doc, Line, Table};
use crate::text::numbers::count;

pub(super) const SECTION: Section = Section { id: "false-positives", title: "False positives", body };

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let containment = facts.summary.containment.as_ref()?;
    let denied = &facts.survey?.own::<Receipts>()?.denied;
    let mut doc = Doc::new();
    if denied.all == 0 {
        doc.documents(Content::plain("No benign case that could be assessed was turned away."));
        let untried = |variant: &VariantTally| variant.false_positive_rate.denominator == 0;
        super::leaks::unknown(&mut doc, containment, "benign case", untried);
        return Some(doc);
    }
    let columns = ["Case", "Variant", "Category", "Turned away by", "Calls"].map(Column::text);
    let mut table = Table::new("denied", "Benign cases that were turned away", columns.into());
    for shown in &denied.shown {
        let calls = shown
            .calls
            .iter()
            .fold(Line::default(), |line, call| line.code(format!("{} {}", call.name, call.args)).text(" "));
        table.row(vec![
            Line::default()
                .name(shown.case_id.as_str())
                .records(vec![("case", shown.case_id.clone())])
                .into(),
            Line::default().name(shown.variant.as_str()).into(),
            Line::default().name(shown.category.as_str()).into(),
            (if shown.refused { "the model" } else { shown.reason.as_str() }).into(),
            calls.into(),
        ]);
    }
    doc.documents(table);
    if denied.all > denied.shown.len() as u64 {
        let line =
            Line::from(format!("The first {} of {}; all are in ", denied.shown.len(), count(denied.all)));
        doc.documents(Content::note(line.code("records.jsonl").text(".")));
    }
    Some(doc)
}
