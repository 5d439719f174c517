//! The mean score of each judge, for each target, with an interval over cases.

use super::{Facts, Section};
use crate::spine::present::html::Html;
use crate::spine::present::table::{self, Column};
use crate::spine::present::words;

pub(super) const SECTION: Section = Section { id: "scores", title: "Judges", body };

fn body(facts: &Facts<'_>) -> Option<Html> {
    let slots = &facts.summary.slots;
    if slots.iter().all(|slot| slot.scores.is_empty()) {
        return None;
    }
    let mut html = Html::new();
    let columns = [
        Column::Text("Judge"),
        Column::Text("Target"),
        Column::Number("Mean score"),
        Column::Number("95 % interval"),
        Column::Number("Scores"),
        Column::Number("Cases"),
    ];
    table::open(&mut html, "plain", "Mean score of each judge", &columns);
    html.put("<tbody>", &[]);
    let judges: std::collections::BTreeSet<&String> =
        slots.iter().flat_map(|slot| slot.scores.keys()).collect();
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    for judge in judges {
        for slot in slots {
            let Some(mean) = slot.scores.get(judge) else { continue };
            html.put(r#"<tr><th scope="row"><bdi>{}</bdi></th><td><bdi>{}</bdi></td>"#, &[judge, &slot.slot]);
            html.put(r#"<td class="num">{}</td>"#, &[&number(mean.value)]);
            html.put(r#"<td class="num">{}–{}</td>"#, &[&number(mean.low), &number(mean.high)]);
            html.put(
                r#"<td class="num">{}</td><td class="num">{}</td></tr>"#,
                &[&words::count(mean.count), &words::count(mean.clusters)],
            );
        }
    }
    html.put("</tbody>", &[]);
    table::close(&mut html);
    Some(html)
}
