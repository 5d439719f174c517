//! Each instruction by itself: stable or not, what usually happens, how far rewording moves it, and where it ends. The
//! table by which findings about single variants are read.

use proofhouse_ledger::record::Observed;
use proofhouse_ledger::summary::robustness::{Baseline, BaselineVerdict, Case};

use crate::spine::present::html::{Html, fragment};
use crate::spine::present::sections::{Facts, Section};
use crate::spine::present::table::{self, Column};
use crate::spine::present::{svg, words};

pub(super) const SECTION: Section =
    Section { id: "calibration", title: "Calibration: each instruction as it stands", body };

fn body(facts: &Facts<'_>) -> Option<Html> {
    let found = facts.summary.robustness.as_ref()?;
    if found.baselines.is_empty() {
        return None;
    }
    let mut html = Html::new();
    let columns = [
        Column::Text("Case"),
        Column::Text("Verdict"),
        Column::Text("Usual outcome"),
        Column::Number("Runs alike"),
        Column::Scale(svg::share_scale),
        Column::Number("Succeeded"),
        Column::Text("Under rewording"),
        Column::Text("Ladder"),
    ];
    table::open(&mut html, "rates calibration", "Each instruction by itself", &columns);
    html.put("<tbody>", &[]);
    let several = facts.summary.slots.len() > 1;
    for baseline in &found.baselines {
        let own = |case: &&Case| case.slot == baseline.slot && case.case_id == baseline.case_id;
        row(&mut html, baseline, found.cases.iter().find(own), several);
    }
    html.put("</tbody>", &[]);
    table::close(&mut html);
    html.put(
        r#"<p class="note">The bar is the success rate with its Wilson 95 % interval. “At least” is the exact one-sided 95 % bound of the usual outcome's share. Under rewording: success of the worst and the best variant, and how often two runs with different wordings disagree.</p>"#,
        &[],
    );
    Some(html)
}

fn row(html: &mut Html, baseline: &Baseline, case: Option<&Case>, several: bool) {
    html.put(
        r##"<tr><th scope="row"><a href="#case={}"><bdi>{}</bdi></a>"##,
        &[&fragment(&baseline.case_id), &baseline.case_id],
    );
    if several {
        html.put("<br><small><bdi>{}</bdi></small>", &[&baseline.slot]);
    }
    let (class, word) = match baseline.verdict {
        BaselineVerdict::Stable => ("verdict-good", "stable"),
        BaselineVerdict::Flaky => ("verdict-bad", "flaky"),
        BaselineVerdict::Undetermined => ("verdict-open", "too few runs"),
        BaselineVerdict::Unassessed => ("verdict-open", "not assessed"),
    };
    html.put(r#"</th><td class="{}">{}</td>"#, &[&class, &word]);
    html.put("<td>{}</td>", &[&baseline.modal.as_ref().map_or_else(|| "–".to_owned(), outcome)]);
    let low = baseline.agreement_low.map_or_else(|| "–".to_owned(), words::percent);
    html.put(
        r#"<td class="num" data-label="Runs alike">{} of {}<br><small>at least {}</small></td><td class="chart">"#,
        &[&baseline.modal_runs, &baseline.runs, &low],
    );
    svg::interval(html, &baseline.success, None, None);
    html.put(
        r#"</td><td class="num" data-label="Succeeded">{} of {}</td>"#,
        &[&baseline.success.numerator, &baseline.success.denominator],
    );
    html.put(r#"<td data-label="Under rewording">{}</td>"#, &[&rewording(case)]);
    html.put(r#"<td data-label="Ladder">{}</td></tr>"#, &[&ladder(case)]);
}

/// `0 % to 100 %, 55.6 % disagree`: the worst and the best variant, and how often two wordings disagree.
fn rewording(case: Option<&Case>) -> String {
    let Some((worst, best)) = case.and_then(|case| Some((case.worst?, case.best?))) else {
        return "–".to_owned();
    };
    let disagree = case.and_then(|case| case.sensitivity).map(words::percent).unwrap_or_default();
    match worst == best {
        true => format!("{} always; {disagree} disagree", words::percent(worst)),
        false => format!("{} to {}; {disagree} disagree", words::percent(worst), words::percent(best)),
    }
}

/// `up to 2, not from 3`
fn ladder(case: Option<&Case>) -> String {
    match case.map(|case| (case.holds_up_to, case.boundary)) {
        Some((Some(holds), Some(boundary))) => format!("holds up to {holds}, fails from {boundary}"),
        Some((Some(holds), None)) => format!("holds up to {holds}"),
        Some((None, Some(boundary))) => format!("fails from {boundary}"),
        _ => "–".to_owned(),
    }
}

/// `succeeds, 1 attempt, 0 repairs`
pub(super) fn outcome(seen: &Observed) -> String {
    let mut parts = vec![match (seen.success, seen.failure_stage) {
        (true, _) => "succeeds".to_owned(),
        (false, Some(stage)) => format!("fails ({})", stage.as_str()),
        (false, None) => "fails".to_owned(),
    }];
    if seen.termination != proofhouse_ledger::record::Termination::Exited {
        parts.push(seen.termination.as_str().to_owned());
    }
    parts.extend(seen.attempts.map(|attempts| words::plural(attempts.into(), "attempt", "attempts")));
    parts.extend(seen.repairs_triggered.map(|repairs| words::plural(repairs.into(), "repair", "repairs")));
    parts.join(", ")
}
