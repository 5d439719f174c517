//! Pass rates by tag, for each target, with the interval that small groups deserve.

use std::collections::BTreeSet;

use super::{Facts, Section};
use crate::spine::present::html::{Html, fragment};
use crate::spine::present::table::{self, Column};
use crate::spine::present::{svg, words};

pub(super) const SECTION: Section = Section { id: "tags", title: "By tag", body };

/// Tags beyond these are in `summary.json` only.
const MAX_TAGS: usize = 60;

fn body(facts: &Facts<'_>) -> Option<Html> {
    let slots = &facts.summary.slots;
    let tags: BTreeSet<&str> = slots.iter().flat_map(|slot| slot.tags.keys()).map(String::as_str).collect();
    if tags.is_empty() {
        return None;
    }
    let mut html = Html::new();
    let columns = [
        Column::Text("Tag"),
        Column::Text("Target"),
        Column::Number("Passed"),
        Column::Scale(svg::share_scale),
        Column::Number("95 % interval"),
        Column::Number("Passed of assessed"),
    ];
    table::open(&mut html, "rates tags", "Pass rate of each target by tag", &columns);
    for tag in tags.iter().take(MAX_TAGS) {
        html.put("<tbody>", &[]);
        let rows: Vec<_> = slots.iter().filter_map(|slot| Some((slot, slot.tags.get(*tag)?))).collect();
        for (at, (slot, rate)) in rows.iter().enumerate() {
            html.put("<tr>", &[]);
            if at == 0 {
                html.put(
                    r##"<th scope="rowgroup" rowspan="{}"><a href="#tag={}"><bdi>{}</bdi></a></th>"##,
                    &[&rows.len(), &fragment(tag), tag],
                );
            }
            let class = if rate.value.is_some() { "num" } else { "num missing" };
            html.put(
                r#"<td class="slot"><bdi>{}</bdi></td><td class="{}">{}</td>"#,
                &[&slot.slot, &class, &words::rate(rate)],
            );
            html.put(r#"<td class="chart">"#, &[]);
            svg::interval(&mut html, rate, None, None);
            let interval = words::interval(rate.low, rate.high).unwrap_or_else(|| "–".to_owned());
            html.put(r#"</td><td class="num" data-label="95 % interval">{}</td>"#, &[&interval]);
            html.put(
                r#"<td class="num" data-label="Passed of assessed">{} of {}</td></tr>"#,
                &[&words::count(rate.numerator), &words::count(rate.denominator)],
            );
        }
        html.put("</tbody>", &[]);
    }
    table::close(&mut html);
    if tags.len() > MAX_TAGS {
        html.put(
            r#"<p class="note">The first {} of {} tags; all are in <code>summary.json</code>.</p>"#,
            &[&MAX_TAGS, &tags.len()],
        );
    }
    html.put(r#"<p class="note">A case with several tags counts under each. "#, &[]);
    html.put("Of many small groups, some look bad by chance.</p>", &[]);
    Some(html)
}
