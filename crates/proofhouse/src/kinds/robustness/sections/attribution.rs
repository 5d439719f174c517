//! Failure attribution: what was observed, what most likely causes it, and what that means; one row per finding.

use proofhouse_ledger::record::Observed;
use proofhouse_ledger::summary::robustness::{
    BaselineVerdict, LevelVerdict, Robustness, Variant, VariantVerdict,
};

use super::behind;
use super::calibration::outcome;
use crate::spine::present::behind::counted;
use crate::spine::present::{Facts, Section};
use crate::text::doc::{Column, Content, Doc, Line, Table};

pub(super) const SECTION: Section = Section { id: "attribution", title: "Failure attribution", body };

/// What was seen, the likely cause, and what it means.
type Row = (Line, &'static str, String);

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let found = facts.summary.robustness.as_ref()?;
    let mut doc = Doc::new();
    let columns = ["Observation", "Most likely cause", "Interpretation"].map(Column::text);
    let mut table = Table::new("plain attribution", "Failure attribution", columns.into());
    for (observation, cause, meaning) in rows(found) {
        table.row(vec![observation.into(), cause.into(), meaning.into()]);
    }
    if table.is_empty() {
        let text = "Nothing to attribute: no instruction is called flaky, no variant structural, no level a systematic failure.";
        doc.documents(Content::plain(text));
        return Some(doc);
    }
    doc.documents(table);
    doc.documents(Content::note(
        "Causes are rules of thumb over which generator changed what; the observation beside each is measured.",
    ));
    Some(doc)
}

fn rows(found: &Robustness) -> Vec<Row> {
    let mut rows = Vec::new();
    for baseline in found.baselines.iter().filter(|baseline| baseline.verdict == BaselineVerdict::Flaky) {
        rows.push((
            Line::from(format!("{} → ", baseline.case_id))
                .then(counted(baseline.distinct, behind::of_baseline(baseline).by("outcomes")))
                .text(" different outcomes in ")
                .then(counted(baseline.runs, behind::of_baseline(baseline).records()))
                .text(" runs"),
            "Stochastic generation",
            "The same words give different outcomes; a single run of any variant of it says little"
                .to_owned(),
        ));
    }
    let mut seen: Vec<(&str, &str, &str)> = Vec::new();
    for variant in found.variants.iter().filter(|variant| variant.verdict == VariantVerdict::Structural) {
        let group = (variant.slot.as_str(), variant.case_id.as_str(), variant.generator.as_str());
        if seen.contains(&group) {
            continue;
        }
        seen.push(group);
        let own = found
            .variants
            .iter()
            .filter(|other| (other.slot.as_str(), other.case_id.as_str(), other.generator.as_str()) == group);
        let name =
            |other: &Variant| behind::name(&other.slot, &other.case_id, Some(other.variant_id.as_str()));
        let structural = own.clone().filter(|other| other.verdict == VariantVerdict::Structural);
        let structural: Vec<String> = structural.map(name).collect();
        let all: Vec<String> = own.map(name).collect();
        let of = |names: &[String]| counted(names.len() as u64, behind::of_groups(names).by("variants"));
        let base = found
            .baselines
            .iter()
            .find(|baseline| baseline.slot == variant.slot && baseline.case_id == variant.case_id)
            .and_then(|baseline| baseline.modal);
        let (Some(base), Some(now)) = (base, variant.modal) else { continue };
        let (cause, meaning) = cause(&variant.generator, &base, &now);
        rows.push((
            Line::from(format!("{} × {} → {} (", variant.case_id, variant.generator, outcome(&now)))
                .then(of(&structural))
                .text(" of ")
                .then(of(&all))
                .text(format!(" variants; as it stands it {})", outcome(&base))),
            cause,
            meaning,
        ));
    }
    for case in &found.cases {
        let level = found.levels.iter().find(|level| {
            level.slot == case.slot
                && level.case_id == case.case_id
                && level.verdict == LevelVerdict::SystematicFailure
        });
        let Some(level) = level else { continue };
        let usual = level.modal.as_ref().map(outcome).unwrap_or_default();
        rows.push((
            Line::from(format!("{} at level {} ({}) → ", case.case_id, level.level, level.generator))
                .text(usual)
                .records(behind::of_level(level).records()),
            "Capability boundary",
            "More is asked for than the tool can do; not a fault of the wording".to_owned(),
        ));
    }
    rows
}

/// What most likely makes a generator change an outcome in this way.
fn cause(generator: &str, base: &Observed, now: &Observed) -> (&'static str, String) {
    let more_repairs = now.repairs_triggered > base.repairs_triggered;
    let family = match generator {
        "whitespace_noise" | "punctuation_noise" => "surface noise",
        "lexical_shuffle" | "synonym_substitution" => "word order and word choice",
        "ambiguity_injection_light" | "constraint_injection_light" => "an added phrase",
        _ => "another style of writing",
    };
    match (base.success, now.success) {
        (true, false) if family == "surface noise" => {
            ("Brittle parsing logic", "The task is the same character for character but for its layout; the tool's reading of it breaks".to_owned())
        }
        (true, false) if family == "an added phrase" => {
            ("Ambiguity intolerance", "A phrase that leaves the task as it is makes the tool fail".to_owned())
        }
        (true, false) => {
            ("Sensitivity to wording", format!("The tool depends on {family}; the task is the same"))
        }
        (false, true) => ("A wording that helps", format!("The instruction as it stands is the harder one; {family} makes it work")),
        (true, true) if more_repairs => {
            ("Brittle parsing logic", format!("It still succeeds, with more repairs: {family} costs work"))
        }
        (true, true) => ("Another way to the same result", format!("{family} changes how the tool gets there, not whether")),
        (false, false) => ("Another way to fail", format!("{family} moves the failure, it does not cause it")),
    }
}
