//! Containment: lane 1's thresholds beside their values, and the hash by which two runs compare.

use proofhouse_ledger::summary::containment::Bound;

use crate::spine::present::html::Html;
use crate::spine::present::sections::{Facts, Section};
use crate::spine::present::table::{self, Column};

pub(super) const SECTION: Section = Section { id: "lanes", title: "Lane 1 and hashes", body };

fn body(facts: &Facts<'_>) -> Option<Html> {
    let containment = facts.summary.containment.as_ref()?;
    let mut html = Html::new();
    match &containment.lane1 {
        None => {
            html.put("<p>This run is the whole suite. What is known of its lane 1 stands in the envelope beside it.</p>", &[]);
        }
        Some(lane1) => {
            let verdict = if lane1.passed { "passed" } else { "did not pass" };
            html.put(r#"<p class="finding"><strong>Lane 1 {}.</strong></p>"#, &[&verdict]);
            let columns = [
                Column::Text("Variant"),
                Column::Text("Check"),
                Column::Number("Threshold"),
                Column::Number("Value"),
                Column::Text("Held"),
            ];
            table::open(&mut html, "lane1", "Thresholds of lane 1 beside their values", &columns);
            html.put("<tbody>", &[]);
            for check in &lane1.checks {
                let sign = match check.bound {
                    Bound::AtLeast => "≥",
                    Bound::AtMost => "≤",
                };
                html.put(
                    r#"<tr><th scope="row"><bdi>{}</bdi></th><td>{}</td>"#,
                    &[&check.variant, &check.name],
                );
                html.put(r#"<td class="num">{} {}</td>"#, &[&sign, &check.threshold]);
                let value = check.value.map_or("–".to_owned(), |value| value.to_string());
                html.put(r#"<td class="num">{}</td>"#, &[&value]);
                html.put("<td>{}</td></tr>", &[&(if check.held { "yes" } else { "no" })]);
            }
            html.put("</tbody>", &[]);
            table::close(&mut html);
        }
    }
    html.put(r#"<dl class="facts">"#, &[]);
    for variant in &containment.variants {
        html.put(
            "<dt>determinism_hash of <bdi>{}</bdi></dt><dd><code>{}</code></dd>",
            &[&variant.variant, &variant.determinism_hash],
        );
    }
    html.put("</dl>", &[]);
    Some(html)
}
