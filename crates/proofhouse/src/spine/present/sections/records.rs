//! The table of records. Its rows come from the data blocks at the end of the page, so here stand its controls, and
//! what a reader must know: how many records are embedded, and where the rest is.

use super::{Facts, Section};
use crate::spine::present::embed::CLIP_BYTES;
use crate::spine::present::html::Html;
use crate::spine::present::words;

pub(super) const SECTION: Section = Section { id: "records", title: "Every record", body };

fn body(facts: &Facts<'_>) -> Option<Html> {
    let survey = facts.survey;
    let mut html = Html::new();
    let (embedded, all) = (survey.chosen.len() as u64, survey.records);
    html.put(
        r#"<p class="note">{} of {} embedded in this page"#,
        &[&words::count(embedded), &words::plural(all, "record", "records")],
    );
    if embedded < all {
        html.put(
            ": those that did not pass first, in plan order, then passed ones. \
             <strong>The other {} are only in <code>records.jsonl</code>.</strong>",
            &[&words::count(all - embedded)],
        );
    } else {
        html.put(".", &[]);
    }
    html.put(" A text is kept up to {} bytes of its JSON form", &[&words::count(survey.clip_bytes as u64)]);
    if survey.clip_bytes < CLIP_BYTES[0] {
        html.put(
            " (less than the usual {}, because this run’s texts are long)",
            &[&words::count(CLIP_BYTES[0] as u64)],
        );
    }
    html.put("; where more was cut, the record says so.</p>", &[]);
    html.put(CONTROLS, &[]);
    Some(html)
}

/// Shown by the script, which also fills the choices and the rows.
const CONTROLS: &str = include_str!("../assets/controls.html");
