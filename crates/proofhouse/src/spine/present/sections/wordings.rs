//! Other wordings of the same cases: what each generator costs a target.

use super::{Facts, Section};
use crate::spine::present::html::Html;
use crate::spine::present::table::{self, Column};
use crate::spine::present::{svg, words};

pub(super) const SECTION: Section = Section { id: "wordings", title: "Other wordings", body };

fn body(facts: &Facts<'_>) -> Option<Html> {
    if facts.summary.wordings.is_empty() {
        return None;
    }
    let mut html = Html::new();
    let columns = [
        Column::Text("Generator"),
        Column::Text("Target"),
        Column::Number("As it stands"),
        Column::Number("Reworded"),
        Column::Scale(svg::share_scale),
        Column::Number("Lost"),
        Column::Number("Cases right in every wording"),
    ];
    table::open(&mut html, "rates wordings", "Pass rate by generator", &columns);
    html.put("<tbody>", &[]);
    for row in &facts.summary.wordings {
        html.put(
            r#"<tr><th scope="row"><code>{}</code></th><td class="slot"><bdi>{}</bdi></td>"#,
            &[&row.generator, &row.slot],
        );
        html.put(
            r#"<td class="num" data-label="As it stands">{}</td><td class="num" data-label="Reworded">{}</td>"#,
            &[&words::rate(&row.base_pass_rate), &words::rate(&row.pass_rate)],
        );
        html.put(r#"<td class="chart">"#, &[]);
        svg::interval(&mut html, &row.pass_rate, None, row.base_pass_rate.value);
        let lost =
            row.relative_drop.map_or_else(|| "–".to_owned(), |drop| format!("{:.1}\u{a0}%", 100.0 * drop));
        html.put(r#"</td><td class="num" data-label="Lost">{}</td>"#, &[&lost]);
        html.put(
            r#"<td class="num" data-label="Cases right in every wording">{} of {}</td></tr>"#,
            &[&words::count(row.robust_cases.numerator), &words::count(row.robust_cases.denominator)],
        );
    }
    html.put("</tbody>", &[]);
    table::close(&mut html);
    html.put(
        r#"<p class="note">The dashed line is the pass rate of the same cases as they stand. “Lost” is the share of that rate which rewording takes away.</p>"#,
        &[],
    );
    Some(html)
}
