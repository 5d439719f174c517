//! The five questions that a robustness suite is run for, each answered from the data in sentences.

use proofhouse_ledger::summary::robustness::{
    BaselineVerdict, GeneratorEffect, LevelVerdict, Robustness, VariantVerdict,
};

use super::words;
use crate::spine::present::{Facts, Section};
use crate::text::doc::{Content, Doc, Line, Pair, Pairing, Reach};
use crate::text::numbers::plural;

pub(super) const SECTION: Section = Section { id: "answers", title: "Five questions", body };

/// Names that a sentence lists before it only counts.
const MAX_NAMED: usize = 6;

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let found = facts.summary.robustness.as_ref()?;
    let mut doc = Doc::new();
    doc.everywhere(Content::Pairs(Pairing::Answers, answers(found).into()));
    doc.documents(Content::note(Line::from("Stopping policy: ").code(found.policy.as_str()).text(format!(
        ". A generator is tested first over all its cases (Cochran–Mantel–Haenszel, adjusted by Benjamini–Hochberg); where it \
             changes outcomes, a variant is structural when the exact test against its baseline, adjusted within the \
             generator, stays at or below {}. Bounds hold although runs were looked at one by one.",
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

/// How many instructions have each word, then every one that is not stable with its sentence.
fn convergence(found: &Robustness) -> String {
    let total = found.baselines.iter().filter(|baseline| baseline.runs > 0).count();
    if total == 0 {
        return "Not asked: no instruction was run repeatedly as it stands.".to_owned();
    }
    let with = |verdict| found.baselines.iter().filter(move |baseline| baseline.verdict == verdict).count();
    let counted: Vec<String> = [
        (with(BaselineVerdict::Stable), "stable"),
        (with(BaselineVerdict::ConsistentSoFar), "consistent so far"),
        (with(BaselineVerdict::MostlyTheSame), "mostly the same"),
        (with(BaselineVerdict::Flaky), "flaky"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{count} {word}"))
    .collect();
    let several = several_slots(found.baselines.iter().map(|baseline| baseline.slot.as_str()));
    let each: Vec<String> = found
        .baselines
        .iter()
        .filter(|baseline| baseline.runs > 0)
        .map(|baseline| {
            format!("{}: {}", named(several, &baseline.slot, &baseline.case_id), baseline.sentence)
        })
        .collect();
    let instructions = plural(total as u64, "instruction", "instructions");
    format!("Of {instructions}, {}. {}.", counted.join(", "), sentences(&each))
}

/// Whether a name needs its target.
fn several_slots<'a>(mut slots: impl Iterator<Item = &'a str>) -> bool {
    let first = slots.next();
    slots.any(|slot| Some(slot) != first)
}

fn named(several: bool, slot: &str, name: &str) -> String {
    if several { format!("{slot}, {name}") } else { name.to_owned() }
}

/// Several sentences; beyond some, how many more there are.
fn sentences(all: &[String]) -> String {
    match all.len() {
        n if n <= MAX_NAMED => all.join(". "),
        n => format!("{}. {} more are below", all[..MAX_NAMED].join(". "), n - MAX_NAMED),
    }
}

fn sensitivity(found: &Robustness) -> String {
    let assessed =
        found.variants.iter().filter(|variant| variant.verdict != VariantVerdict::Unassessed).count() as u64;
    if assessed == 0 {
        return "Not asked: no variant was run beside a baseline.".to_owned();
    }
    let several = several_slots(found.generators.iter().map(|generator| generator.slot.as_str()));
    // What changes outcomes first, then what is equivalent, then what nobody can say.
    let order =
        [GeneratorEffect::ChangesOutcomes, GeneratorEffect::Equivalent, GeneratorEffect::NotEnoughRuns];
    let mut each: Vec<String> = Vec::new();
    for effect in order {
        for generator in found.generators.iter().filter(|generator| generator.effect == effect) {
            let slot = if several { format!("{}: ", generator.slot) } else { String::new() };
            let structural = match generator.structural {
                0 => String::new(),
                count => format!("; {count} of its {} variants differ by themselves", generator.variants),
            };
            each.push(format!("{slot}{}{structural}", generator.sentence));
        }
    }
    each.extend(found.components.iter().map(|part| {
        let slot = if several { format!("{}: ", part.slot) } else { String::new() };
        format!("{slot}Where success varies: {}", part.sentence)
    }));
    format!("{}.", sentences(&each))
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
    let several = several_slots(found.levels.iter().map(|level| level.slot.as_str()));
    let each: Vec<String> = found
        .cases
        .iter()
        .filter_map(|case| {
            let boundary = case.boundary.as_ref()?;
            let own =
                found.levels.iter().filter(|level| level.slot == case.slot && level.case_id == case.case_id);
            let words: Vec<String> =
                own.map(|level| format!("level {} {}", level.level, words::level(level.verdict))).collect();
            let name = named(several, &case.slot, &case.case_id);
            Some(format!("{name}: {}; {}", boundary.sentence, words.join(", ")))
        })
        .collect();
    match each.is_empty() {
        true => "No run of a level could be assessed.".to_owned(),
        false => format!("{}.", sentences(&each)),
    }
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
        "{lead}: of {}, {structural} are of variants that differ structurally, {beyond} of levels that fail systematically, \
         {constant} of instructions that are stable in failing; the other {} come and go.",
        plural(total, "failed run", "failed runs"),
        total - systematic
    )
}
