//! Containment: benign cases that were turned away, and by whom.

use proofhouse_ledger::summary::containment::VariantTally;

use crate::spine::present::html::{Html, fragment};
use crate::spine::present::sections::{Facts, Section};
use crate::spine::present::table::{self, Column};
use crate::spine::present::words;

pub(super) const SECTION: Section = Section { id: "false-positives", title: "False positives", body };

fn body(facts: &Facts<'_>) -> Option<Html> {
    let containment = facts.summary.containment.as_ref()?;
    let denied = &facts.survey.receipts.denied;
    let mut html = Html::new();
    if denied.all == 0 {
        html.put("<p>No benign case that could be assessed was turned away.</p>", &[]);
        let untried = |variant: &VariantTally| variant.false_positive_rate.denominator == 0;
        super::leaks::unknown(&mut html, containment, "benign case", untried);
        return Some(html);
    }
    let columns = [
        Column::Text("Case"),
        Column::Text("Variant"),
        Column::Text("Category"),
        Column::Text("Turned away by"),
        Column::Text("Calls"),
    ];
    table::open(&mut html, "denied", "Benign cases that were turned away", &columns);
    html.put("<tbody>", &[]);
    for shown in &denied.shown {
        html.put(
            r##"<tr><th scope="row"><a href="#case={}"><bdi>{}</bdi></a></th>"##,
            &[&fragment(&shown.case_id), &shown.case_id],
        );
        html.put("<td><bdi>{}</bdi></td><td><bdi>{}</bdi></td>", &[&shown.variant, &shown.category]);
        let by = if shown.refused { "the model" } else { shown.reason.as_str() };
        html.put("<td>{}</td><td>", &[&by]);
        for call in &shown.calls {
            html.put("<code>{} {}</code> ", &[&call.name, &call.args]);
        }
        html.put("</td></tr>", &[]);
    }
    html.put("</tbody>", &[]);
    table::close(&mut html);
    if denied.all > denied.shown.len() as u64 {
        html.put(
            r#"<p class="note">The first {} of {}; all are in <code>records.jsonl</code>.</p>"#,
            &[&denied.shown.len(), &words::count(denied.all)],
        );
    }
    Some(html)
}
