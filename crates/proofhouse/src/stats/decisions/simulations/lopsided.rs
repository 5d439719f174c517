//! Runs that a statistician would look at twice: a few cases, very many, and cases of very different sizes.

use super::*;

/// Cases of one, a few or very many repetitions, of a target that is as good in both columns; the large ones are the hard ones.
fn alike(draws: &mut Draws, cases: u64) -> Differences {
    let mut differences = Differences::default();
    for case in 0..cases {
        let (repetitions, chance) = match case % 4 {
            0 => (60, 0.3),
            1 => (7, 0.6),
            _ => (1, 0.95),
        };
        // What a case does today it does in all of its repetitions, more or less.
        let today = |draws: &mut Draws| if draws.unit() < 0.5 { chance } else { (chance + 0.3_f64).min(1.0) };
        let (first, second) = (today(draws), today(draws));
        let first = draws.passes(first, repetitions);
        differences.push(first, draws.passes(second, repetitions));
    }
    differences
}

#[test]
fn lopsided_cases_that_are_alike_are_seldom_told_apart() {
    let runs = runs(150, 2000);
    for cases in [3, 6, 12, 40, 400] {
        let mut draws = Draws(cases << 24);
        let noise = (0..runs)
            .filter(|_| compare("a", "b", &alike(&mut draws, cases)).more_than_noise() == Some(true));
        at_most(&format!("A/A, lopsided, {cases} cases"), noise.count() as u64, runs, 0.05);
    }
}

#[test]
fn a_hundred_thousand_cases_that_are_alike_are_seldom_told_apart() {
    let runs = runs(12, 400);
    let mut draws = Draws(100_001);
    let noise = (0..runs)
        .filter(|_| compare("a", "b", &pair(&mut draws, 100_001, 1, 0.0)).more_than_noise() == Some(true));
    at_most("A/A, 100,001 cases", noise.count() as u64, runs, 0.05);
    // A difference that is real and small is told with its size, and not as none.
    let told = compare("a", "b", &{
        let mut differences = Differences::default();
        (0..99_960).for_each(|_| differences.push((1, 1), (1, 1)));
        (0..40).for_each(|_| differences.push((1, 1), (0, 1)));
        differences
    });
    assert_eq!(told.more_than_noise(), Some(true));
    assert!(told.sentence().contains("worse than a by 0.04 points"), "{}", told.sentence());
}

/// Whatever the verdicts of so few cases are, chance can do it: all of five in one direction has a p-value of 1/16.
#[test]
fn few_cases_never_tell() {
    for cases in 1..=5u64 {
        for repetitions in [1, 100] {
            let mut differences = Differences::default();
            (0..cases).for_each(|_| differences.push((repetitions, repetitions), (0, repetitions)));
            let found = compare("a", "b", &differences);
            assert_eq!(found.more_than_noise(), Some(false), "{cases} × {repetitions}");
            assert_eq!(found.needed, Some(6), "{cases} × {repetitions}");
        }
    }
    let mut alike = Differences::default();
    alike.push((1, 2), (1, 2));
    assert_eq!((compare("a", "b", &alike).p, compare("a", "b", &alike).needed), (Some(1.0), None));
}

/// Targets that are alike have no best that leaves the others out, however many tags and pairs there are: adjusted p-values hold for all.
#[test]
fn many_pairs_of_equal_targets_hold_their_level_together() {
    let runs = runs(60, 1000);
    let mut draws = Draws(77);
    let mut any = 0;
    for _ in 0..runs {
        // Four targets in two of twelve tags of ten cases: 6 pairs × 12 tags.
        let pairs: Vec<_> =
            (0..72).map(|at| (format!("a{at}"), format!("b{at}"), pair(&mut draws, 10, 3, 0.0))).collect();
        any += u64::from(compare_family(&pairs, 72).iter().any(|each| each.more_than_noise() == Some(true)));
    }
    at_most("A/A, 72 comparisons by tag, any", any, runs, 0.05);
}
