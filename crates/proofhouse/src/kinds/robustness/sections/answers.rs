//! The five questions that a robustness suite is run for, each answered from the data in sentences.

use proofhouse_ledger::summary::robustness::{
    Baseline, BaselineVerdict, LevelVerdict, Robustness, VariantVerdict,
};

use crate::spine::present::{Facts, Section};
use crate::text::doc::{Content, Doc, Line, Pair, Pairing, Reach};
use crate::text::numbers::{percent, plural};

pub(super) const SECTION: Section = Section { id: "answers", title: "Five questions", body };

/// Names that a sentence lists before it only counts.
const MAX_NAMED: usize = 6;

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let found = facts.summary.robustness.as_ref()?;
    let mut doc = Doc::new();
    doc.everywhere(Content::Pairs(Pairing::Answers, answers(found).into()));
    doc.documents(Content::note(Line::from("Stopping policy: ").code(found.policy.as_str()).text(format!(
        ". A variant is structural when the exact test against its baseline, adjusted for all variants \
             (Benjamini–Hochberg), stays at or below {}.",
        found.alpha
    ))));
    Some(doc)
}

/// Each question with its answer. A terminal shows convergence, sensitivity and boundary, where they were asked.
fn answers(found: &Robustness) -> [Pair; 5] {
    let asked = |asked: bool| if asked { Reach::Everywhere } else { Reach::Documents };
    let complexity_asked = "At what complexity does failure become structural rather than stochastic?";
    [
        (
            asked(!found.baselines.is_empty()),
            "Does the same prompt converge consistently?",
            convergence(found),
        ),
        (
            asked(!found.variants.is_empty()),
            "How sensitive is the system to small changes?",
            sensitivity(found),
        ),
        (Reach::Documents, "Where does repair stop helping?", repair(found)),
        (asked(!found.levels.is_empty()), complexity_asked, complexity(found)),
        (Reach::Documents, "Is failure stochastic or systematic?", kind_of_failure(found)),
    ]
    .map(|(reach, question, answer)| Pair { reach, name: question.into(), value: answer.into() })
}

/// `a, b and 3 more`
fn listed(names: &[String]) -> String {
    match names.len() {
        0 => String::new(),
        1 => names[0].clone(),
        n if n <= MAX_NAMED => format!("{} and {}", names[..n - 1].join(", "), names[n - 1]),
        n => format!("{} and {} more", names[..MAX_NAMED].join(", "), n - MAX_NAMED),
    }
}

fn convergence(found: &Robustness) -> String {
    let with = |verdict| found.baselines.iter().filter(move |baseline| baseline.verdict == verdict);
    let total = found.baselines.iter().filter(|baseline| baseline.runs > 0).count();
    if total == 0 {
        return "Not asked: no instruction was run repeatedly as it stands.".to_owned();
    }
    let stable = with(BaselineVerdict::Stable).count();
    let mut text =
        format!("{stable} of {} stable", plural(total as u64, "instruction is", "instructions are"));
    let flaky: Vec<String> = with(BaselineVerdict::Flaky).map(spread).collect();
    if !flaky.is_empty() {
        text.push_str(&format!("; flaky: {}", listed(&flaky)));
    }
    let open: Vec<String> = with(BaselineVerdict::Undetermined).map(spread).collect();
    if !open.is_empty() {
        text.push_str(&format!("; too few runs to say: {}", listed(&open)));
    }
    if let Some(weakest) =
        with(BaselineVerdict::Stable).filter_map(|baseline| baseline.agreement_low).reduce(f64::min)
    {
        text.push_str(&format!(
            ". Of those that are stable, the usual outcome has a share of at least {} each (95 % confidence)",
            percent(weakest)
        ));
    }
    text + "."
}

/// `regex (7 of 10 alike, at least 39 %)`
fn spread(baseline: &Baseline) -> String {
    let low = baseline.agreement_low.map(percent).unwrap_or_default();
    format!(
        "{} ({} of {} runs alike, a share of at least {low})",
        baseline.case_id, baseline.modal_runs, baseline.runs
    )
}

fn sensitivity(found: &Robustness) -> String {
    let assessed =
        found.variants.iter().filter(|variant| variant.verdict != VariantVerdict::Unassessed).count() as u64;
    if assessed == 0 {
        return "Not asked: no variant was run beside a baseline.".to_owned();
    }
    let with = |verdict| found.variants.iter().filter(|variant| variant.verdict == verdict).count() as u64;
    let structural = with(VariantVerdict::Structural);
    let mut text = format!(
        "{structural} of {} behave differently from their baseline; {} deviate no more than chance explains",
        plural(assessed, "variant", "variants"),
        with(VariantVerdict::Stochastic)
    );
    let hurt: Vec<String> = found
        .generators
        .iter()
        .filter(|generator| generator.structural > 0)
        .map(|generator| {
            format!("{} ({} of {})", generator.generator, generator.structural, generator.variants)
        })
        .collect();
    if !hurt.is_empty() {
        text.push_str(&format!(". What matters: {}", listed(&hurt)));
    }
    let calm: Vec<String> = found
        .generators
        .iter()
        .filter(|generator| generator.structural == 0)
        .map(|generator| generator.generator.clone())
        .collect();
    if !calm.is_empty() {
        text.push_str(&format!(". No effect was seen of {}", listed(&calm)));
    }
    text + "."
}

fn repair(found: &Robustness) -> String {
    let rows: Vec<_> = found.repairs.iter().filter(|row| row.repairs > 0).collect();
    if rows.is_empty() {
        return "No run says that it repaired anything.".to_owned();
    }
    let each: Vec<String> = rows
        .iter()
        .map(|row| format!("{} of {} with {}", row.success.numerator, row.success.denominator, row.repairs))
        .collect();
    let last_help = rows.iter().rposition(|row| row.success.numerator > 0);
    let verdict = match last_help {
        None => "Repair never helped".to_owned(),
        Some(at) if at + 1 == rows.len() => "Repair helped as often as it was seen".to_owned(),
        Some(at) => format!(
            "Repair helped up to {}; beyond that no run succeeded",
            plural(rows[at].repairs.into(), "repair", "repairs")
        ),
    };
    format!("{verdict}. Runs that succeeded, by repairs: {}.", each.join(", "))
}

fn complexity(found: &Robustness) -> String {
    if found.levels.is_empty() {
        return "Not asked: the suite has no stress ladder.".to_owned();
    }
    let stressed = found.cases.iter().filter(|case| {
        found.levels.iter().any(|level| level.slot == case.slot && level.case_id == case.case_id)
    });
    let each: Vec<String> = stressed
        .map(|case| match (case.holds_up_to, case.boundary) {
            (Some(holds), Some(boundary)) => format!(
                "{} holds up to level {holds} and fails systematically from level {boundary} on",
                case.case_id
            ),
            (None, Some(boundary)) => {
                format!("{} fails systematically from level {boundary} on", case.case_id)
            }
            (Some(holds), None) => format!(
                "{} holds up to level {holds}; no level of its ladder fails systematically",
                case.case_id
            ),
            (None, None) => format!("{}: no level is a clear success or a clear failure", case.case_id),
        })
        .collect();
    format!("{}.", each.join("; "))
}

fn kind_of_failure(found: &Robustness) -> String {
    let failed = |rate: &proofhouse_ledger::summary::Rate| rate.denominator - rate.numerator;
    let variants: u64 = found.variants.iter().map(|variant| failed(&variant.success)).sum();
    let structural: u64 = found
        .variants
        .iter()
        .filter(|variant| variant.verdict == VariantVerdict::Structural)
        .map(|variant| failed(&variant.success))
        .sum();
    let levels: u64 = found.levels.iter().map(|level| failed(&level.success)).sum();
    let beyond: u64 = found
        .levels
        .iter()
        .filter(|level| level.verdict == LevelVerdict::SystematicFailure)
        .map(|level| failed(&level.success))
        .sum();
    let base: u64 = found.baselines.iter().map(|baseline| failed(&baseline.success)).sum();
    let constant: u64 = found
        .baselines
        .iter()
        .filter(|baseline| {
            baseline.verdict == BaselineVerdict::Stable && baseline.modal.is_some_and(|usual| !usual.success)
        })
        .map(|baseline| failed(&baseline.success))
        .sum();
    let total = variants + levels + base;
    if total == 0 {
        return "No run failed.".to_owned();
    }
    let systematic = structural + beyond + constant;
    let lead = match 2 * systematic {
        twice if twice > total => "Mostly systematic",
        twice if twice < total => "Mostly stochastic",
        _ => "Half and half",
    };
    format!(
        "{lead}: of {}, {structural} are of variants that differ structurally, {beyond} of levels beyond the boundary, \
         {constant} of instructions that fail every time alike; the other {} come and go.",
        plural(total, "failed run", "failed runs"),
        total - systematic
    )
}
