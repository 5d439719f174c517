//! The table of records. Its rows come from the data blocks at the end of the page, so here stand its controls, and
//! what a reader must know: how many records are embedded, and where the rest is.

use super::{Facts, Section};
use crate::spine::present::embed::CLIP_BYTES;
use crate::text::doc::{Content, Doc, Line};
use crate::text::numbers::{count, plural};

pub(super) const SECTION: Section = Section { id: "records", title: "Every record", body };

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let survey = facts.survey?;
    let (embedded, all) = (survey.chosen.len() as u64, survey.records);
    let mut line = Line::from(format!(
        "{} of {} embedded in this page",
        count(embedded),
        plural(all, "record", "records")
    ));
    line = if embedded < all {
        line.text(": those that did not pass first, in plan order, then passed ones. All are in ")
            .code("report-data")
            .text(", beside this page, in parts that can be chosen below.")
    } else {
        line.text(".")
    };
    let mut text =
        format!(" A text is kept up to {} bytes of its JSON form", count(survey.clip_bytes as u64));
    if survey.clip_bytes < CLIP_BYTES[0] {
        text.push_str(&format!(
            " (less than the usual {}, because this run’s texts are long)",
            count(CLIP_BYTES[0] as u64)
        ));
    }
    let mut doc = Doc::new();
    doc.page(Content::note(line.text(text + "; where more was cut, the record says so.")));
    doc.page(Content::Markup(CONTROLS));
    Some(doc)
}

/// Shown by the script, which also fills the choices and the rows.
const CONTROLS: &str = include_str!("../assets/controls.html");
