//! Each instruction by itself: stable or not, what usually happens, how far rewording moves it, and where it ends. The
//! table by which findings about single variants are read.

use proofhouse_ledger::record::Observed;
use proofhouse_ledger::summary::robustness::{Baseline, BaselineVerdict, Case};

use crate::spine::present::words::{figure, parts};
use crate::spine::present::{Facts, Section};
use crate::text::doc::figure::Scale;
use crate::text::doc::{Cell, Column, Content, Doc, Line, Table, Tone};
use crate::text::numbers::{of, percent, plural};

pub(super) const SECTION: Section =
    Section { id: "calibration", title: "Calibration: each instruction as it stands", body };

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let found = facts.summary.robustness.as_ref()?;
    if found.baselines.is_empty() {
        return None;
    }
    let columns = vec![
        Column::text("Case"),
        Column::text("Verdict"),
        Column::text("Usual outcome"),
        Column::number("Runs alike"),
        Column::figures(Scale::Share, "Success, drawn"),
        Column::number("Succeeded"),
        Column::text("Under rewording"),
        Column::text("Ladder"),
    ];
    let mut table = Table::new("rates calibration", "Each instruction by itself", columns);
    let several = facts.summary.slots.len() > 1;
    for baseline in &found.baselines {
        let own = |case: &&Case| case.slot == baseline.slot && case.case_id == baseline.case_id;
        table.row(row(baseline, found.cases.iter().find(own), several));
    }
    let mut doc = Doc::new();
    doc.documents(table);
    doc.documents(Content::note(
        "The success rate has its Wilson 95 % interval. “At least” is the exact one-sided 95 % bound of the usual \
         outcome's share. Under rewording: success of the worst and the best variant, and how often two runs with \
         different wordings disagree.",
    ));
    Some(doc)
}

fn row(baseline: &Baseline, case: Option<&Case>, several: bool) -> Vec<Cell> {
    let name =
        Line::default().name(baseline.case_id.as_str()).records(vec![("case", baseline.case_id.clone())]);
    let name = Cell::from(name);
    let (tone, word) = match baseline.verdict {
        BaselineVerdict::Stable => (Tone::Good, "stable"),
        BaselineVerdict::Flaky => (Tone::Bad, "flaky"),
        BaselineVerdict::Undetermined => (Tone::Open, "too few runs"),
        BaselineVerdict::Unassessed => (Tone::Open, "not assessed"),
    };
    let low = baseline.agreement_low.map_or_else(|| "–".to_owned(), percent);
    vec![
        if several { name.small(Line::default().name(baseline.slot.as_str())) } else { name },
        Cell::from(word).tone(tone),
        baseline.modal.as_ref().map_or_else(Cell::dash, |seen| outcome(seen).into()),
        Cell::from(of(baseline.modal_runs, baseline.runs)).small(format!("at least {low}")),
        figure(&baseline.success).into(),
        parts(&baseline.success).into(),
        rewording(case).into(),
        ladder(case).into(),
    ]
}

/// `0 % to 100 %, 55.6 % disagree`: the worst and the best variant, and how often two wordings disagree.
fn rewording(case: Option<&Case>) -> String {
    let Some((worst, best)) = case.and_then(|case| Some((case.worst?, case.best?))) else {
        return "–".to_owned();
    };
    let disagree = case.and_then(|case| case.sensitivity).map(percent).unwrap_or_default();
    match worst == best {
        true => format!("{} always; {disagree} disagree", percent(worst)),
        false => format!("{} to {}; {disagree} disagree", percent(worst), percent(best)),
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
    parts.extend(seen.attempts.map(|attempts| plural(attempts.into(), "attempt", "attempts")));
    parts.extend(seen.repairs_triggered.map(|repairs| plural(repairs.into(), "repair", "repairs")));
    parts.join(", ")
}
