//! Each instruction by itself: stable or not, what usually happens, how far rewording moves it, and where it ends. The
//! table by which findings about single variants are read.

use proofhouse_ledger::record::Observed;
use proofhouse_ledger::summary::robustness::{Baseline, BaselineVerdict, Case};

use super::{behind, words};
use crate::spine::present::behind::{counted, drawn, parts_of};
use crate::spine::present::words::figure;
use crate::spine::present::{Facts, Section};
use crate::text::doc::figure::Scale;
use crate::text::doc::{Cell, Column, Content, Doc, Line, Table, Tone};
use crate::text::numbers::{interval, percent, plural, points};

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
        "The success rate has its Wilson 95 % interval. The verdict's bounds are of the usual outcome's share, 95 % each, and hold \
         although runs were looked at one by one; each says which bound it is. Under rewording: success of the worst and the best \
         variant, and the disagreement of two runs that wording adds to noise.",
    ));
    Some(doc)
}

fn row(baseline: &Baseline, case: Option<&Case>, several: bool) -> Vec<Cell> {
    let name =
        Line::default().name(baseline.case_id.as_str()).records(vec![("case", baseline.case_id.clone())]);
    let name = Cell::from(name);
    let tone = match baseline.verdict {
        BaselineVerdict::Stable => Tone::Good,
        BaselineVerdict::Flaky => Tone::Bad,
        BaselineVerdict::ConsistentSoFar | BaselineVerdict::MostlyTheSame | BaselineVerdict::Unassessed => {
            Tone::Open
        }
    };
    let share = interval(baseline.agreement_low, baseline.agreement_high).unwrap_or_else(|| "–".to_owned());
    vec![
        if several { name.small(Line::default().name(baseline.slot.as_str())) } else { name },
        Cell::from(words::baseline(baseline.verdict))
            .tone(tone)
            .small(baseline.sentence.as_str())
            .class("verdict"),
        baseline.modal.as_ref().map_or_else(Cell::dash, |seen| outcome(seen).into()),
        Cell::from(alike(baseline)).small(share),
        drawn(figure(&baseline.success), behind::of_baseline(baseline).records()),
        parts_of(
            &baseline.success,
            behind::succeeded(behind::of_baseline(baseline)).records(),
            behind::of_baseline(baseline).records(),
        )
        .into(),
        rewording(case).into(),
        ladder(case).into(),
    ]
}

/// `22 of 22`: runs with the usual outcome.
fn alike(baseline: &Baseline) -> Line {
    let usual = baseline.modal.as_ref().map(behind::observed).unwrap_or_default();
    let alike = behind::of_baseline(baseline).with("observed", [usual.as_str()]).records();
    let all = behind::of_baseline(baseline).records();
    counted(baseline.modal_runs, alike).text(" of ").then(counted(baseline.runs, all))
}

/// `0 % to 100 %; +44.0 points by wording (+12.0 to +70.0)`: the worst and the best variant, and the sensitivity.
fn rewording(case: Option<&Case>) -> String {
    let Some((worst, best)) = case.and_then(|case| Some((case.worst?, case.best?))) else {
        return "–".to_owned();
    };
    let rates = match worst == best {
        true => format!("{} always", percent(worst)),
        false => format!("{} to {}", percent(worst), percent(best)),
    };
    let adds = |case: &Case| {
        let (low, high) = (points(case.sensitivity_low?), points(case.sensitivity_high?));
        Some(format!("; {} points by wording ({low} to {high})", points(case.sensitivity?)))
    };
    rates + &case.and_then(adds).unwrap_or_default()
}

/// `between 2 and 4`
fn ladder(case: Option<&Case>) -> String {
    match case.and_then(|case| case.boundary.as_ref()).map(|boundary| (boundary.above, boundary.below)) {
        Some((Some(above), Some(below))) => format!("boundary between {above} and {below}"),
        Some((Some(above), None)) => format!("boundary above {above}"),
        Some((None, Some(below))) => format!("boundary at or below {below}"),
        Some((None, None)) => "boundary anywhere".to_owned(),
        None => "–".to_owned(),
    }
}

/// `succeeds, 1 attempt, 0 repairs`
pub(in crate::kinds::robustness) fn outcome(seen: &Observed) -> String {
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
