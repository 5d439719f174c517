//! Planted behaviour is found, noise is not.

use proofhouse_ledger::record::FailureStage;

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

fn find(groups: Vec<VariantRuns>, policy: &str) -> Robustness {
    let mut finder = Finder::default();
    for group in groups {
        let key = (group.slot.clone(), group.case_id.clone(), group.variant_id.clone());
        finder.places.insert(key, finder.groups.len());
        finder.groups.push(group);
    }
    finder.finish(policy, 0.5)
}

#[test]
fn a_planted_break_among_many_is_structural_and_the_others_are_not() {
    let mut groups = vec![group(None, Mode::Baseline, vec![outcome(true); 10], Some("cap"))];
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
    let found = find(groups, "evidence");
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
    let shuffle = found.generators.iter().find(|generator| generator.generator == "lexical_shuffle").unwrap();
    assert_eq!((shuffle.structural, shuffle.relative_drop), (1, Some(1.0)));
    assert_eq!(found.cases[0].worst, Some(0.0));
    assert!(found.cases[0].sensitivity.is_some_and(|value| value > 0.0 && value < 0.5));
}

#[test]
fn baselines_are_stable_flaky_or_too_few() {
    let mixed: Vec<Observed> = (0..10).map(|at| outcome(at % 2 == 0)).collect();
    for (seen, verdict) in [
        (vec![outcome(true); 5], BaselineVerdict::Stable),
        (mixed, BaselineVerdict::Flaky),
        (vec![outcome(true); 2], BaselineVerdict::Undetermined),
        (Vec::new(), BaselineVerdict::Unassessed),
    ] {
        let found = find(vec![group(None, Mode::Baseline, seen, Some("cap"))], "evidence");
        assert_eq!(found.baselines[0].verdict, verdict);
    }
}

#[test]
fn a_ladder_has_a_boundary() {
    let level = |level: u32, success: bool, n: usize| VariantRuns {
        level: Some(level),
        ..group(
            Some(&format!("level_{level}")),
            Mode::Stress,
            vec![outcome(success); n],
            Some(if success { rule::SPRT_SUCCESS } else { rule::SPRT_FAILURE }),
        )
    };
    let found = find(vec![level(1, true, 3), level(2, true, 3), level(3, false, 3)], "evidence");
    assert_eq!((found.cases[0].holds_up_to, found.cases[0].boundary), (Some(2), Some(3)));
    assert_eq!(found.levels[2].failure_breakdown["unknown"], 3);
}

#[test]
fn repairs_are_counted_where_the_output_says() {
    let run = |repairs: Option<u32>, success: bool| Observed {
        repairs_triggered: repairs,
        failure_stage: (!success).then_some(FailureStage::Repair),
        ..outcome(success)
    };
    let seen = vec![run(Some(0), true), run(Some(3), false), run(Some(3), false), run(None, true)];
    let found = find(vec![group(None, Mode::Baseline, seen, None)], "fixed");
    let rows: Vec<(u32, u64, u64)> = found
        .repairs
        .iter()
        .map(|row| (row.repairs, row.success.numerator, row.success.denominator))
        .collect();
    assert_eq!(rows, [(0, 1, 1), (3, 0, 2)]);
}
