//! The table of records. Its rows come from the data blocks at the end of the page, so here stand its controls, and
//! what a reader must know: how many records are embedded, and where the rest is.

use super::{Facts, Section};
use crate::report::embed::CLIP_BYTES;
use crate::report::html::Html;
use crate::report::words;

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
            ": those that did not pass first, in plan order, then passed ones. <strong>The other {} are only in <code>records.jsonl</code>.</strong>",
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
const CONTROLS: &str = r#"<noscript><p class="note">The table needs JavaScript. Without it, every record is a line of <code>records.jsonl</code> in the run directory.</p></noscript>
<div id="browser" hidden>
<form id="filters" role="search" aria-label="Filter the records">
<label class="wide">Search <input id="f-q" type="search" placeholder="any text of a record" autocomplete="off" spellcheck="false"></label>
<label>Target <select id="f-slot"></select></label>
<label>Verdict <select id="f-verdict"></select></label>
<label>Status <select id="f-status"></select></label>
<label>Error type <select id="f-error"></select></label>
<label>Tag <select id="f-tag"></select></label>
<label>Case <input id="f-case" type="text" list="case-list" placeholder="exact case id" autocomplete="off" spellcheck="false"></label>
<datalist id="case-list"></datalist>
<button type="reset" id="f-clear">Clear</button>
</form>
<p id="count" class="count" role="status" aria-live="polite"></p>
<div class="scroll">
<table id="table" class="records"><caption class="quiet">Records</caption><thead><tr></tr></thead><tbody></tbody></table>
</div>
<nav id="pager" class="pager" aria-label="Pages of the table"><button type="button" id="p-first">First</button><button type="button" id="p-prev">Previous</button><span id="p-where"></span><button type="button" id="p-next">Next</button><button type="button" id="p-last">Last</button></nav>
<p class="note keys">Keys: <kbd>/</kbd> search, <kbd>Enter</kbd> on a case opens its record, there <kbd>j</kbd> next, <kbd>k</kbd> previous, <kbd>Esc</kbd> close.</p>
</div>
<dialog id="detail" aria-labelledby="d-title"><div id="d-body"></div></dialog>"#;
