//! Planted behaviour is found, noise is not.

use proofhouse_ledger::record::FailureStage;
use proofhouse_ledger::summary::robustness::GeneratorEffect;

use super::super::characteristics::outcome;
use super::*;

fn group(variant: Option<&str>, mode: Mode, seen: Vec<Observed>, stop: Option<&str>) -> VariantRuns {
    let n = seen.len() as u32;
    VariantRuns {
        slot: "tool".to_owned(),
        case_id: "case".to_owned(),
        variant_id: variant.map(str::to_owned),
        mode,
        generator: variant
            .map(|variant| variant.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_').to_owned()),
        level: (mode == Mode::Stress).then_some(1),
        seen,
        unassessed: 0,
        stop: stop.map(|rule| Stop { rule: rule.to_owned(), n, reason: String::new() }),
    }
}

fn find(groups: Vec<VariantRuns>, policy: PolicyName) -> Robustness {
    let mut finder = Finder::default();
    for group in groups {
        let key = (group.slot.clone(), group.case_id.clone(), group.variant_id.clone());
        finder.places.insert(key, finder.groups.len());
        finder.groups.push(group);
    }
    let base_runs = BTreeMap::from([("case".to_owned(), 22)]);
    finder.finish(&Terms { policy, level: 0.8, open: false, level_runs: 15, base_runs })
}

#[test]
fn a_planted_break_among_many_is_structural_and_the_others_are_not() {
    let mut groups = vec![group(None, Mode::Baseline, vec![outcome(true); 22], Some("cap"))];
    for index in 0..45 {
        let name = format!("whitespace_noise_{index:04}");
        let seen = if index % 9 == 0 {
            vec![outcome(false), outcome(true), outcome(true)]
        } else {
            vec![outcome(true); 3]
        };
        groups.push(group(Some(&name), Mode::Adversarial, seen, Some(rule::FUTILITY)));
    }
    groups.push(group(Some("lexical_shuffle_0000"), Mode::Adversarial, vec![outcome(false); 5], Some("cap")));
    let found = find(groups, PolicyName::Evidence);
    let structural: Vec<&str> = found
        .variants
        .iter()
        .filter(|variant| variant.verdict == VariantVerdict::Structural)
        .map(|variant| variant.variant_id.as_str())
        .collect();
    assert_eq!(structural, ["lexical_shuffle_0000"]);
    let stochastic =
        found.variants.iter().filter(|variant| variant.verdict == VariantVerdict::Stochastic).count();
    assert_eq!(stochastic, 5);
    let of = |name: &str| found.generators.iter().find(|generator| generator.generator == name).unwrap();
    let shuffle = of("lexical_shuffle");
    assert_eq!((shuffle.structural, shuffle.relative_drop), (1, Some(1.0)));
    assert_eq!(shuffle.effect, GeneratorEffect::ChangesOutcomes);
    assert_ne!(of("whitespace_noise").effect, GeneratorEffect::ChangesOutcomes);
    assert!(!found.generators.iter().any(|generator| generator.sentence.contains("no effect")));
    assert_eq!(found.cases[0].worst, Some(0.0));
    let case = &found.cases[0];
    assert!(case.sensitivity < case.disagreement_between, "noise is taken off: {case:?}");
    assert!(case.sensitivity_low <= case.sensitivity && case.sensitivity <= case.sensitivity_high);
}

#[test]
fn baselines_have_four_words() {
    let mixed = |bad: usize| (0..22).map(|at| outcome(at >= bad)).collect::<Vec<_>>();
    for (seen, verdict) in [
        (vec![outcome(true); 14], BaselineVerdict::Stable),
        (vec![outcome(true); 10], BaselineVerdict::ConsistentSoFar),
        (mixed(1), BaselineVerdict::MostlyTheSame),
        // As the plan of looks ends it: 8 deviations in 18 runs.
        ((0..18).map(|at| outcome(at >= 8)).collect(), BaselineVerdict::Flaky),
        (Vec::new(), BaselineVerdict::Unassessed),
    ] {
        let found = find(vec![group(None, Mode::Baseline, seen, Some("cap"))], PolicyName::Evidence);
        assert_eq!(found.baselines[0].verdict, verdict);
    }
    // Planned as one look at the end, one deviation of 22 is stable; more runs than were planned take another bound.
    let one = group(None, Mode::Baseline, mixed(1), Some("cap"));
    let found = find(vec![one], PolicyName::Fixed);
    assert_eq!(
        (found.baselines[0].verdict, found.baselines[0].bound.as_deref()),
        (BaselineVerdict::Stable, Some("planned_looks"))
    );
    let added = group(None, Mode::Baseline, vec![outcome(true); 23], None);
    let found = find(vec![added], PolicyName::Evidence);
    assert_eq!(
        (found.baselines[0].verdict, found.baselines[0].bound.as_deref()),
        (BaselineVerdict::ConsistentSoFar, Some("any_time"))
    );
}

#[test]
fn a_ladder_has_a_boundary() {
    let level = |level: u32, good: usize, n: usize| VariantRuns {
        level: Some(level),
        ..group(
            Some(&format!("level_{level}")),
            Mode::Stress,
            (0..n).map(|at| outcome(at < good)).collect(),
            Some(rule::CAP),
        )
    };
    let found =
        find(vec![level(1, 5, 5), level(2, 5, 5), level(3, 8, 15), level(4, 0, 5)], PolicyName::Evidence);
    let boundary = found.cases[0].boundary.as_ref().unwrap();
    assert_eq!((boundary.above, boundary.below), (Some(2), Some(4)));
    let words: Vec<LevelVerdict> = found.levels.iter().map(|level| level.verdict).collect();
    assert_eq!(
        words,
        [LevelVerdict::Clear, LevelVerdict::Clear, LevelVerdict::Flaky, LevelVerdict::SystematicFailure]
    );
    assert_eq!(found.levels[3].failure_breakdown["unknown"], 5);
    // Three of three are all that the rules of thumb ask for, and they say little.
    let thumb = find(vec![level(1, 3, 3)], PolicyName::Seed);
    assert_eq!(thumb.levels[0].verdict, LevelVerdict::Undetermined);
}

#[test]
fn repairs_are_counted_where_the_output_says() {
    let run = |repairs: Option<u32>, success: bool| Observed {
        repairs_triggered: repairs,
        failure_stage: (!success).then_some(FailureStage::Repair),
        ..outcome(success)
    };
    let seen = vec![run(Some(0), true), run(Some(3), false), run(Some(3), false), run(None, true)];
    let found = find(vec![group(None, Mode::Baseline, seen, None)], PolicyName::Fixed);
    let rows: Vec<(u32, u64, u64)> = found
        .repairs
        .iter()
        .map(|row| (row.repairs, row.success.numerator, row.success.denominator))
        .collect();
    assert_eq!(rows, [(0, 1, 1), (3, 0, 2)]);
}
