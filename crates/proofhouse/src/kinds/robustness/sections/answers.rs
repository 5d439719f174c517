//! The five questions that a robustness suite is run for, each answered from the data in sentences.

use proofhouse_ledger::record::Mode;
use proofhouse_ledger::summary::Rate;
use proofhouse_ledger::summary::robustness::{
    Baseline, BaselineVerdict, Generator, GeneratorEffect, LevelVerdict, Robustness, Variant, VariantVerdict,
};

use super::{behind, words};
use crate::spine::present::behind::{Behind, counted, counted_as, parts_of};
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
    let answers: [(Reach, &str, Line); 5] = [
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
    ];
    answers.map(|(reach, question, value)| Pair { reach, name: question.into(), value })
}

/// How many instructions have each word, then every one that is not stable with its sentence.
fn convergence(found: &Robustness) -> Line {
    let run: Vec<&Baseline> = found.baselines.iter().filter(|baseline| baseline.runs > 0).collect();
    if run.is_empty() {
        return "Not asked: no instruction was run repeatedly as it stands.".into();
    }
    let names = |verdict: Option<BaselineVerdict>| -> Vec<String> {
        let of = run.iter().filter(|baseline| verdict.is_none_or(|verdict| baseline.verdict == verdict));
        of.map(|baseline| behind::name(&baseline.slot, &baseline.case_id, None)).collect()
    };
    let counts = |names: &[String]| counted(names.len() as u64, behind::of_groups(names).by("cases"));
    let words = [
        BaselineVerdict::Stable,
        BaselineVerdict::ConsistentSoFar,
        BaselineVerdict::MostlyTheSame,
        BaselineVerdict::Flaky,
    ];
    let words = words.into_iter().map(|verdict| (names(Some(verdict)), words::baseline(verdict)));
    let words = words.filter(|(names, _)| !names.is_empty());
    let words = words.map(|(names, word)| counts(&names).text(format!(" {word}")));
    let words = words.reduce(|line, part| line.text(", ").then(part)).unwrap_or_default();
    let several = several_slots(found.baselines.iter().map(|baseline| baseline.slot.as_str()));
    let sentence = |baseline: &&Baseline| {
        format!("{}: {}", named(several, &baseline.slot, &baseline.case_id), baseline.sentence).into()
    };
    let each: Vec<Line> = run.iter().map(sentence).collect();
    let all = names(None);
    let instructions = if all.len() == 1 { "instruction" } else { "instructions" };
    let line = Line::from("Of ").then(counts(&all)).text(format!("\u{a0}{instructions}, ")).then(words);
    line.text(". ").then(sentences(each))
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
fn sentences(mut all: Vec<Line>) -> Line {
    let more = all.len().saturating_sub(MAX_NAMED);
    all.truncate(MAX_NAMED);
    let said = all.into_iter().reduce(|line, sentence| line.text(". ").then(sentence)).unwrap_or_default();
    let said = if more > 0 { said.text(format!(". {more} more are below")) } else { said };
    said.text(".")
}

fn sensitivity(found: &Robustness) -> Line {
    let assessed = found.variants.iter().filter(|variant| variant.verdict != VariantVerdict::Unassessed);
    if assessed.count() == 0 {
        return "Not asked: no variant was run beside a baseline.".into();
    }
    let several = several_slots(found.generators.iter().map(|generator| generator.slot.as_str()));
    let of_slot = |slot: &str| Line::from(if several { format!("{slot}: ") } else { String::new() });
    // What changes outcomes first, then what is equivalent, then what nobody can say.
    let order =
        [GeneratorEffect::ChangesOutcomes, GeneratorEffect::Equivalent, GeneratorEffect::NotEnoughRuns];
    let mut each: Vec<Line> = Vec::new();
    for effect in order {
        for generator in found.generators.iter().filter(|generator| generator.effect == effect) {
            let line = of_slot(&generator.slot).text(generator.sentence.as_str());
            each.push(line.then(by_themselves(found, generator)));
        }
    }
    each.extend(
        found
            .components
            .iter()
            .map(|part| of_slot(&part.slot).text(format!("Where success varies: {}", part.sentence))),
    );
    sentences(each)
}

/// `; 4 of its 8 variants differ by themselves`
fn by_themselves(found: &Robustness, generator: &Generator) -> Line {
    if generator.structural == 0 {
        return Line::default();
    }
    let own = found.variants.iter().filter(|variant| {
        (&variant.slot, &variant.generator) == (&generator.slot, &generator.generator)
            && variant.verdict == VariantVerdict::Structural
    });
    let name =
        |variant: &Variant| behind::name(&variant.slot, &variant.case_id, Some(variant.variant_id.as_str()));
    let structural = behind::of_groups(&own.map(name).collect::<Vec<_>>()).by("variants");
    let all = Behind::slot(&generator.slot).with("suite", [Mode::Adversarial.as_str()]);
    let all = all.with("generator", [generator.generator.as_str()]).by("variants");
    let line = Line::from("; ").then(counted(generator.structural, structural)).text(" of its ");
    line.then(counted(generator.variants, all)).text(" variants differ by themselves")
}

fn repair(found: &Robustness) -> Line {
    let rows: Vec<_> = found.repairs.iter().filter(|row| row.repairs > 0).collect();
    if rows.is_empty() {
        return "No run says that it repaired anything.".into();
    }
    let each = rows.iter().map(|row| {
        let repaired = || {
            let runs = Behind::slot(&row.slot).with("repairs_triggered", [row.repairs.to_string().as_str()]);
            behind::assessed(runs)
        };
        let counts = parts_of(&row.success, behind::succeeded(repaired()).records(), repaired().records());
        counts.text(format!(" with {}", row.repairs))
    });
    let each = each.reduce(|line, part| line.text(", ").then(part)).unwrap_or_default();
    let last_help = rows.iter().rposition(|row| row.success.numerator > 0);
    let verdict = match last_help {
        None => "Repair never helped".to_owned(),
        Some(at) if at + 1 == rows.len() => "Repair helped as often as it was seen".to_owned(),
        Some(at) => format!(
            "Repair helped up to {}; beyond that no run succeeded",
            plural(rows[at].repairs.into(), "repair", "repairs")
        ),
    };
    Line::from(format!("{verdict}. Runs that succeeded, by repairs: ")).then(each).text(".")
}

fn complexity(found: &Robustness) -> Line {
    if found.levels.is_empty() {
        return "Not asked: the suite has no stress ladder.".into();
    }
    let several = several_slots(found.levels.iter().map(|level| level.slot.as_str()));
    let each: Vec<Line> = found
        .cases
        .iter()
        .filter_map(|case| {
            let boundary = case.boundary.as_ref()?;
            let own =
                found.levels.iter().filter(|level| level.slot == case.slot && level.case_id == case.case_id);
            let words: Vec<String> =
                own.map(|level| format!("level {} {}", level.level, words::level(level.verdict))).collect();
            let name = named(several, &case.slot, &case.case_id);
            Some(format!("{name}: {}; {}", boundary.sentence, words.join(", ")).into())
        })
        .collect();
    match each.is_empty() {
        true => "No run of a level could be assessed.".into(),
        false => sentences(each),
    }
}

/// Failed runs of some groups: how many, and the names of the groups.
#[derive(Default)]
struct Failed {
    runs: u64,
    groups: Vec<String>,
}

impl Failed {
    fn add(&mut self, success: &Rate, name: String) {
        self.runs += success.denominator - success.numerator;
        self.groups.push(name);
    }

    fn counted(&self) -> Line {
        counted(self.runs, behind::failed(behind::of_groups(&self.groups)).records())
    }
}

fn kind_of_failure(found: &Robustness) -> Line {
    let (mut structural, mut beyond, mut constant) =
        (Failed::default(), Failed::default(), Failed::default());
    let mut others = Failed::default();
    for variant in &found.variants {
        let name = behind::name(&variant.slot, &variant.case_id, Some(variant.variant_id.as_str()));
        let systematic = variant.verdict == VariantVerdict::Structural;
        if systematic { &mut structural } else { &mut others }.add(&variant.success, name);
    }
    for level in &found.levels {
        let name = behind::name(&level.slot, &level.case_id, Some(level.variant_id.as_str()));
        let systematic = level.verdict == LevelVerdict::SystematicFailure;
        if systematic { &mut beyond } else { &mut others }.add(&level.success, name);
    }
    for baseline in &found.baselines {
        let name = behind::name(&baseline.slot, &baseline.case_id, None);
        let fails = baseline.modal.is_some_and(|usual| !usual.success);
        let systematic = baseline.verdict == BaselineVerdict::Stable && fails;
        if systematic { &mut constant } else { &mut others }.add(&baseline.success, name);
    }
    let systematic = structural.runs + beyond.runs + constant.runs;
    let total = systematic + others.runs;
    if total == 0 {
        return "No run failed.".into();
    }
    let lead = match 2 * systematic {
        twice if twice > total => "Mostly systematic",
        twice if twice < total => "Mostly stochastic",
        _ => "Half and half",
    };
    let all = counted_as(total, ("failed run", "failed runs"), behind::failed(Behind::all()).records());
    let line = Line::from(format!("{lead}: of ")).then(all).text(", ").then(structural.counted());
    let line = line.text(" are of variants that differ structurally, ").then(beyond.counted());
    let line = line.text(" of levels that fail systematically, ").then(constant.counted());
    let line = line.text(" of instructions that are stable in failing; the other ").then(others.counted());
    line.text(" come and go.")
}
