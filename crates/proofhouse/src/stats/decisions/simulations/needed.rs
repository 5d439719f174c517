//! The number of cases that "would tell": with so many the decision is made in about four of five runs.

use super::*;

/// What a case is drawn from: both columns' chances to pass, and how often each is asked.
type Cases = &'static [(f64, f64)];

fn drawn(draws: &mut Draws, chances: Cases, cases: u64, repetitions: u64) -> Differences {
    let mut differences = Differences::default();
    for _ in 0..cases {
        let (first, second) = chances[(draws.unit() * chances.len() as f64) as usize];
        let first = draws.passes(first, repetitions);
        differences.push(first, draws.passes(second, repetitions));
    }
    differences
}

/// Columns of so many cases, nearly as the chances say: what was seen, from which the number follows.
fn seen(chances: Cases, cases: u64, repetitions: u64) -> Differences {
    let wanted = chances.iter().map(|(a, b)| b - a).sum::<f64>() / chances.len() as f64;
    let mut draws = Draws(cases << 32 | repetitions);
    let all = (0..400).map(|_| drawn(&mut draws, chances, cases, repetitions));
    let spread = {
        let many = drawn(&mut Draws(1), chances, 100_000, repetitions);
        many.deviation().unwrap()
    };
    let off = |found: &Differences| {
        let deviation = found.deviation().unwrap_or(0.0);
        (found.mean().unwrap() - wanted).abs() / wanted.abs() + (deviation - spread).abs() / spread
    };
    all.min_by(|a, b| off(a).total_cmp(&off(b))).unwrap()
}

const EVEN: Cases = &[(0.9, 0.8), (0.5, 0.4), (0.3, 0.2)];
const WIDE: Cases = &[(0.5, 0.1), (0.5, 0.5), (0.9, 0.9)];
/// Nine of ten cases never differ.
const RARE: Cases = &[
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (0.0, 0.0),
    (0.0, 0.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (0.0, 0.0),
    (1.0, 0.2),
];

#[test]
fn as_many_cases_as_would_tell_tell_in_four_of_five_runs() {
    let runs = runs(120, 1000);
    for (name, chances, cases, repetitions, family) in [
        ("even", EVEN, 40, 1, 1),
        ("even", EVEN, 60, 5, 1),
        ("wide", WIDE, 30, 1, 1),
        ("wide", WIDE, 12, 5, 1),
        ("wide", WIDE, 8, 20, 1),
        ("rare", RARE, 20, 1, 1),
        ("rare", RARE, 30, 5, 1),
        ("even", EVEN, 40, 1, 6),
        ("even", EVEN, 20, 5, 6),
    ] {
        let seen = seen(chances, cases, repetitions);
        let needed = seen.cases_to_tell(LEVEL / family as f64).unwrap();
        assert!(needed > cases, "{name}: {needed} of {cases}");
        let mut draws = Draws(cases << 16 | repetitions << 8 | family);
        let told = (0..runs).filter(|_| {
            let pair = ("a".to_owned(), "b".to_owned(), drawn(&mut draws, chances, needed, repetitions));
            compare_family(&[pair], family)[0].more_than_noise() == Some(true)
        });
        let told = told.count() as f64 / runs as f64;
        println!(
            "{name}, {cases} × {repetitions}, {family} comparisons: {needed} cases tell in {:.1} %",
            100.0 * told
        );
        // What was seen is near what is true, and not the same.
        let chance = 2.6 * (0.8f64 * 0.2 / runs as f64).sqrt() + 0.07;
        assert!((told - 0.8).abs() < chance.min(0.2) || told > 0.8, "{name}: {told}");
        assert!(told < 0.95, "far more cases are asked for than it takes: {name}, {needed}: {told}");
    }
}

#[test]
fn as_many_cases_as_would_tell_that_it_is_not_worse_do_so_in_four_of_five_runs() {
    const ALIKE: Cases = &[(0.9, 0.9), (0.5, 0.5), (0.7, 0.7)];
    const WORSE: Cases = &[(0.9, 0.7), (0.5, 0.3), (0.6, 0.3)];
    let runs = runs(120, 1000);
    for (chances, cases, repetitions, wanted) in
        [(WORSE, 40, 1, Verdict::Worse), (WORSE, 15, 5, Verdict::Worse), (ALIKE, 60, 5, Verdict::NotWorse)]
    {
        let margin = 0.1;
        // Alike: a mean of exactly nothing.
        let seen = match wanted {
            Verdict::NotWorse => {
                let mut draws = Draws(cases);
                let all = (0..400).map(|_| drawn(&mut draws, chances, cases, repetitions));
                all.min_by(|a, b| a.mean().unwrap().abs().total_cmp(&b.mean().unwrap().abs())).unwrap()
            }
            _ => seen(chances, cases, repetitions),
        };
        let views =
            |seen: Differences| Views { against: seen.clone(), favour: seen.clone(), seen, unassessed: 0 };
        let found = NotWorse::decide(("a", "b"), &views(seen), margin, 1);
        let needed = found.needed.unwrap();
        assert!(found.verdict != Verdict::CannotTell || needed > cases, "{needed} of {cases}");
        let mut draws = Draws(cases << 8 | repetitions);
        let told = (0..runs).filter(|_| {
            let views = views(drawn(&mut draws, chances, needed, repetitions));
            NotWorse::decide(("a", "b"), &views, margin, 1).verdict == wanted
        });
        let told = told.count() as f64 / runs as f64;
        println!("{wanted:?}, {cases} × {repetitions}: {needed} cases tell in {:.1} %", 100.0 * told);
        assert!(told > 0.6 && told < 0.97, "{wanted:?}, {cases} × {repetitions}, {needed}: {told}");
    }
}

#[test]
fn as_many_cases_as_would_decide_a_gate_do_so_in_four_of_five_runs() {
    const HIGH: &[f64] = &[0.99, 0.95, 0.91];
    const LOW: &[f64] = &[0.9, 0.8, 0.7];
    let runs = runs(120, 1000);
    for (chances, cases, repetitions, wanted) in [
        (HIGH, 20, 1, Outcome::Held),
        (HIGH, 10, 5, Outcome::Held),
        (LOW, 10, 1, Outcome::Missed),
        (LOW, 8, 4, Outcome::Missed),
    ] {
        let demand = Demand { rate: 0.88, confidence: Some(0.95) };
        let drawn = |draws: &mut Draws, cases: u64| {
            let mut moments = crate::stats::ClusterMoments::default();
            let mut passed = 0;
            for _ in 0..cases {
                let chance = chances[(draws.unit() * chances.len() as f64) as usize];
                let (good, of) = draws.passes(chance, repetitions);
                moments.push(good as f64, of);
                passed += good;
            }
            let planned = cases * repetitions;
            Trials { passed, assessed: planned, planned, if_failed: moments, if_passed: moments }
        };
        let truth = chances.iter().sum::<f64>() / chances.len() as f64;
        let mut draws = Draws(repetitions);
        let off = |trials: &Trials| (trials.passed as f64 / trials.planned as f64 - truth).abs();
        let seen =
            (0..400).map(|_| drawn(&mut draws, cases)).min_by(|a, b| off(a).total_cmp(&off(b))).unwrap();
        let said = GateCheck::of_trials("a", demand, &seen).more;
        let needed = said.split("about ").nth(1).unwrap().split(' ').next().unwrap().replace(',', "");
        let needed: u64 = needed.parse().unwrap();
        assert!(needed > cases, "{said}");
        let told = (0..runs)
            .filter(|_| GateCheck::of_trials("a", demand, &drawn(&mut draws, needed)).outcome == wanted);
        let told = told.count() as f64 / runs as f64;
        println!("{wanted:?} × {repetitions}: {needed} cases decide in {:.1} %", 100.0 * told);
        assert!(told > 0.6 && told < 0.97, "{wanted:?} × {repetitions}, {needed}: {told}");
    }
}
