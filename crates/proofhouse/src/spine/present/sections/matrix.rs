//! Answers side by side: each case on each target, with what differs marked. Its rows come from the data blocks, so here stand its
//! controls.

use super::{Facts, Section};
use crate::text::doc::{Content, Doc};

pub(super) const SECTION: Section = Section { id: "matrix", title: "Answers side by side", body };

fn body(facts: &Facts<'_>) -> Option<Doc> {
    facts.survey.filter(|_| facts.summary.slots.len() > 1 && facts.summary.trials > 0)?;
    let mut doc = Doc::new();
    doc.page(Content::Markup(include_str!("../assets/matrix.html")));
    Some(doc)
}
