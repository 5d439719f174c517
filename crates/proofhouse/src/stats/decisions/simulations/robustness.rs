//! Words, boundaries, pooled tests, sensitivity and variance components on simulated tools whose truth is known.

use super::*;
use crate::stats::{Rule, Series, Stratum, disagreement, variance_components};

/// Runs that end by a rule: each is the usual outcome with this chance, and otherwise one of so many others alike.
fn series(draws: &mut Draws, rule: &Rule, cap: u64, (share, others): (f64, u64)) -> Vec<u64> {
    let mut counts = vec![0; others as usize + 1];
    for runs in 1..=cap {
        let kind = match draws.unit() {
            at if at < share => 0,
            at => 1 + ((at - share) / (1.0 - share) * others as f64) as usize,
        };
        counts[kind.min(others as usize)] += 1;
        let usual = counts.iter().copied().max().unwrap_or(0);
        if rule.ends(runs, runs - usual).is_some() {
            break;
        }
    }
    counts
}

/// A tool at the level is called stable, and one at or above it flaky, in at most 5 % of runs, whatever its other outcomes are.
#[test]
fn stable_and_flaky_are_said_rightly() {
    let runs = runs(400, 10_000);
    let rule = stability_design(0.8, 22).rule();
    for others in [1, 3] {
        for share in [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0] {
            let mut draws = Draws((share * 1000.0) as u64 + others);
            let mut words = [0u64; 4];
            let mut total = 0;
            for _ in 0..runs {
                let counts = series(&mut draws, &rule, 22, (share, others));
                let (n, usual) = (counts.iter().sum(), counts.iter().copied().max().unwrap_or(0));
                let kinds = counts.iter().filter(|count| **count > 0).count() as u64;
                let planned = Series::by_rule(&rule, n);
                let said = Stability::of(usual, n, kinds, 0.8, Some(&planned)).unwrap();
                words[Alike::ALL.iter().position(|word| *word == said.alike).unwrap()] += 1;
                total += n;
            }
            let name = format!("share {share}, {others} other outcomes");
            let rates = words.map(|count| format!("{:.1} %", 100.0 * count as f64 / runs as f64));
            println!(
                "{name}: stable, consistent, mostly, flaky {rates:?}, {:.1} runs",
                total as f64 / runs as f64
            );
            if share <= 0.8 {
                at_most(&format!("called stable, {name}"), words[0], runs, 0.05);
            }
            if share >= 0.8 {
                at_most(&format!("called flaky, {name}"), words[3], runs, 0.05);
            }
        }
    }
}

/// Whoever looks after every run and stops when it suits, up to 200 runs.
#[test]
fn runs_without_a_plan_are_called_stable_as_seldom() {
    let runs = runs(200, 4_000);
    for share in [0.7, 0.8] {
        let mut draws = Draws((share * 7000.0) as u64);
        let mut ever = 0;
        for _ in 0..runs {
            let (mut hits, mut called) = (0, false);
            for n in 1..=200u64 {
                hits += u64::from(draws.unit() < share);
                let usual = hits.max(n - hits);
                let kinds = 1 + u64::from(usual < n);
                called |= Stability::of(usual, n, kinds, 0.8, None).unwrap().alike == Alike::Stable;
            }
            ever += u64::from(called);
        }
        at_most(&format!("ever called stable in 200 looks without a plan, share {share}"), ever, runs, 0.05);
    }
}

/// Successes and runs of a stress level.
fn level(draws: &mut Draws, rule: &Rule, cap: u64, chance: f64) -> (u64, u64) {
    let mut successes = 0;
    for runs in 1..=cap {
        successes += u64::from(draws.unit() < chance);
        if rule.ends(runs, runs - successes).is_some() {
            return (successes, runs);
        }
    }
    (successes, cap)
}

#[test]
fn stress_levels_are_called_rightly() {
    let runs = runs(400, 10_000);
    let rule = rung_design(15).rule();
    for chance in [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0] {
        let mut draws = Draws((chance * 100.0) as u64 + 3);
        let (mut words, mut total) = ([0u64; 4], 0);
        for _ in 0..runs {
            let (successes, n) = level(&mut draws, &rule, 15, chance);
            let said = Stressed::of(successes, n, Some(&Series::by_rule(&rule, n))).unwrap();
            words[Rung::ALL.iter().position(|word| *word == said.rung).unwrap()] += 1;
            total += n;
        }
        let rates = words.map(|count| format!("{:.1} %", 100.0 * count as f64 / runs as f64));
        println!(
            "chance {chance}: clear, systematic, flaky, undetermined {rates:?}, {:.1} runs",
            total as f64 / runs as f64
        );
        if chance <= 0.5 {
            at_most(&format!("called clear, chance {chance}"), words[0], runs, 0.05);
        }
        if chance >= 0.5 {
            at_most(&format!("called a systematic failure, chance {chance}"), words[1], runs, 0.05);
        }
        if !(0.2..=0.8).contains(&chance) || chance == 0.2 || chance == 0.8 {
            at_most(&format!("called flaky, chance {chance}"), words[2], runs, 0.05);
        }
    }
}

/// A ladder with these chances, each level with its word.
fn rated(draws: &mut Draws, rule: &Rule, chances: &[f64]) -> Vec<Rated> {
    let one = |(chance, at): (&f64, u32)| {
        let (successes, runs) = level(draws, rule, 15, *chance);
        let said = Stressed::of(successes, runs, Some(&Series::by_rule(rule, runs)));
        Rated { level: at, successes, runs, rung: said.map(|said| said.rung) }
    };
    chances.iter().zip(1..).map(one).collect()
}

#[test]
fn the_boundary_lies_where_it_is_said() {
    let runs = runs(20, 2000);
    let rule = rung_design(15).rule();
    let ladders: [(&str, &[f64]); 6] = [
        ("a cliff", &[1.0, 1.0, 0.0, 0.0]),
        ("a coin between", &[1.0, 1.0, 0.499, 0.0]),
        ("a slope", &[0.95, 0.8, 0.65, 0.45, 0.3, 0.1]),
        ("a flat slope", &[0.7, 0.6, 0.55, 0.45, 0.4, 0.3]),
        ("never below", &[1.0, 0.9, 0.7]),
        ("never above", &[0.3, 0.1]),
    ];
    for (name, ladder) in ladders {
        let mut draws = Draws(ladder.len() as u64 * 17 + (ladder[0] * 100.0) as u64);
        let truth = ladder.iter().position(|chance| *chance < 0.5).unwrap_or(ladder.len()) as u32 + 1;
        let (mut missed, mut width) = (0, 0);
        for _ in 0..runs {
            let seen = rated(&mut draws, &rule, ladder);
            let found = boundary(&seen).unwrap();
            let (low, high) = (found.above.unwrap_or(0) + 1, found.below.unwrap_or(ladder.len() as u32 + 1));
            missed += u64::from(truth < low || truth > high);
            width += u64::from(high + 1 - low);
        }
        println!("boundary, {name}: {:.1} levels wide on average", width as f64 / runs as f64);
        at_most(&format!("boundary outside its interval, {name}"), missed, runs, 0.05);
    }
}

/// Wordings that change nothing, on cases that are easy, hard or coins: the pooled test, and any of four generators.
#[test]
fn rewording_that_does_nothing_is_seldom_said_to_change_anything() {
    let runs = runs(150, 2000);
    for (name, base, each, stops) in [
        ("22 runs, 4 × 5", 22, 5, false),
        ("10 runs, 4 × 3", 10, 3, false),
        ("22 runs, 4 × up to 5", 22, 5, true),
    ] {
        let mut draws = Draws(base * 31 + each);
        let (mut single, mut any, mut equivalent) = (0, 0, 0);
        for _ in 0..runs {
            let chances: Vec<f64> = (0..3).map(|_| difficulty(&mut draws)).collect();
            let bases: Vec<(u64, u64)> = chances.iter().map(|chance| draws.passes(*chance, base)).collect();
            let generators: Vec<Pooled> = (0..4)
                .map(|_| {
                    let strata: Vec<Stratum> = chances
                        .iter()
                        .zip(&bases)
                        .map(|(chance, first)| Stratum {
                            first: *first,
                            second: reworded_runs(&mut draws, *chance, each, stops),
                        })
                        .collect();
                    Pooled { usual: strata.clone(), success: strata }
                })
                .collect();
            let found = reworded(&generators);
            single += u64::from(found[0].p.is_some_and(|p| p <= 0.05));
            any += u64::from(found.iter().any(|each| each.effect == Effect::Changes));
            equivalent += u64::from(found[0].effect == Effect::Equivalent);
        }
        at_most(&format!("pooled test at 5 % rejects, {name}"), single, runs, 0.05);
        at_most(&format!("any of four generators changes outcomes, {name}"), any, runs, 0.05);
        println!("within 10 points, {name}: {:.1} %", 100.0 * equivalent as f64 / runs as f64);
    }
}

/// Four wordings; one whose first four runs are alike may have ended there.
fn reworded_runs(draws: &mut Draws, chance: f64, each: u64, stops: bool) -> (u64, u64) {
    let (mut hits, mut all) = (0, 0);
    for _ in 0..4 {
        let (first, rest) = (draws.passes(chance, each - 1).0, draws.unit() < chance);
        hits += first;
        all += each - 1;
        if !(stops && (first == 0 || first == each - 1)) {
            hits += u64::from(rest);
            all += 1;
        }
    }
    (hits, all)
}

/// A drop of ten points exactly is called equivalent in at most 5 %, and a large one is seen.
#[test]
fn equivalence_is_not_said_of_a_drop_of_ten_points() {
    let runs = runs(200, 4000);
    let mut draws = Draws(97);
    let (mut equivalent, mut seen) = (0, 0);
    for _ in 0..runs {
        let mut strata = |drop: f64| {
            let of = |chance: f64, draws: &mut Draws| Stratum {
                first: draws.passes(chance, 22),
                second: draws.passes(chance - drop, 20),
            };
            let strata: Vec<Stratum> =
                [0.95, 0.9, 0.9, 0.8, 1.0].iter().map(|chance| of(*chance, &mut draws)).collect();
            Pooled { usual: strata.clone(), success: strata }
        };
        equivalent += u64::from(reworded(&[strata(0.1)])[0].effect == Effect::Equivalent);
        seen += u64::from(reworded(&[strata(0.3)])[0].effect == Effect::Changes);
    }
    at_most("10 points worse, said to be within 10 points, 5 cases × (22, 20)", equivalent, runs, 0.05);
    println!("30 points worse, seen: {:.1} %", 100.0 * seen as f64 / runs as f64);
    assert!(seen * 10 >= runs * 9, "{seen}");
}

/// Wordings with the same noise have a sensitivity of 0 on average, and the interval holds it.
#[test]
fn noise_is_no_sensitivity() {
    let runs = runs(150, 2000);
    for (name, chance, stops) in [
        ("a coin", 0.5, false),
        ("9 of 10", 0.9, false),
        ("9 of 10, stopped", 0.9, true),
        ("7 of 10, stopped", 0.7, true),
    ] {
        let mut draws = Draws((chance * 500.0) as u64 + u64::from(stops));
        let (mut missed, mut sum) = (0, 0.0);
        for _ in 0..runs {
            let wordings: Vec<Vec<bool>> = (0..9)
                .map(|at| {
                    let mut seen: Vec<bool> =
                        (0..if at == 0 { 22 } else { 5 }).map(|_| draws.unit() < chance).collect();
                    if stops && at > 0 && seen[..4].iter().all(|hit| *hit == seen[0]) {
                        seen.truncate(4);
                    }
                    seen
                })
                .collect();
            let wordings: Vec<&[bool]> = wordings.iter().map(Vec::as_slice).collect();
            let found = disagreement(&wordings).unwrap();
            missed += u64::from(!found.interval.contains(0.0));
            sum += found.sensitivity();
        }
        let mean = sum / runs as f64;
        println!("sensitivity of {name}: {:+.2} points on average", 100.0 * mean);
        assert!(mean.abs() < 0.03, "{name}: {mean}");
        at_most(&format!("sensitivity of {name}: interval misses 0"), missed, runs, 0.05);
    }
}

/// Estimates are right on average, and what to buy follows the largest part.
#[test]
fn variance_components_are_those_of_the_tool() {
    let runs = runs(100, 1000);
    // Chance = 0.5 ± case ± wording: variances 0.04 and 0.01, and 0.25 − 0.05 for single runs.
    for (case, wording) in [(0.2, 0.1), (0.0, 0.3), (0.3, 0.0), (0.0, 0.0)] {
        let mut draws = Draws((case * 10.0 + wording * 1000.0) as u64 + 5);
        let mut sums = [0.0; 3];
        for _ in 0..runs {
            let sign = |draws: &mut Draws| if draws.unit() < 0.5 { -1.0 } else { 1.0 };
            let cases: Vec<Vec<Vec<bool>>> = (0..20)
                .map(|_| {
                    let of_case = 0.5 + case * sign(&mut draws);
                    (0..6)
                        .map(|_| {
                            let chance = of_case + wording * sign(&mut draws);
                            (0..5).map(|_| draws.unit() < chance).collect()
                        })
                        .collect()
                })
                .collect();
            let found = variance_components(&cases).unwrap();
            for (sum, part) in sums.iter_mut().zip([found.case.unwrap(), found.wording, found.repetition]) {
                *sum += part / runs as f64;
            }
        }
        let truth = [case * case, wording * wording, 0.25 - case * case - wording * wording];
        println!("variance components {truth:.3?}: on average {sums:.3?}");
        // Estimates below 0 are 0, which lifts the mean of small ones.
        for (mean, truth) in sums.iter().zip(truth) {
            assert!((mean - truth).abs() < 0.01, "{sums:?} {truth}");
        }
    }
}

/// Two runs of the same tool, three instructions, four levels, both stopped by what they see: any finding that moved by more than noise.
#[test]
fn two_runs_of_the_same_tool_seldom_move() {
    let runs = runs(100, 1000);
    let (stable, clear) = (stability_design(0.8, 22).rule(), rung_design(15).rule());
    let mut draws = Draws(1234);
    let mut any = 0;
    for _ in 0..runs {
        let mut findings = Vec::new();
        for share in [0.6, 0.8, 0.95] {
            let mut once = || {
                let counts = series(&mut draws, &stable, 22, (share, 1));
                Said::Word { word: "x", successes: (counts[0], counts.iter().sum()), usual: None }
            };
            findings.push(Finding { about: String::new(), said: (once(), once()) });
        }
        let chances = [0.95, 0.7, 0.5, 0.2];
        let (a, b) = (rated(&mut draws, &clear, &chances), rated(&mut draws, &clear, &chances));
        for (a, b) in a.iter().zip(&b) {
            let said = |of: &Rated| Said::Word { word: "x", successes: (of.successes, of.runs), usual: None };
            findings.push(Finding { about: String::new(), said: (said(a), said(b)) });
        }
        let said = (Said::Boundary(boundary(&a).unwrap()), Said::Boundary(boundary(&b).unwrap()));
        findings.push(Finding { about: String::new(), said });
        any += u64::from(moved(("A", "B"), &findings).iter().any(|each| each.more_than_noise));
    }
    at_most("two runs of the same tool: any of eight findings moved", any, runs, 0.05);
}
