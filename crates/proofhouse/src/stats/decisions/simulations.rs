//! The decisions on simulated runs whose truth is known. A small version runs always; `PROOFHOUSE_SIMULATIONS=full` makes the
//! figures of docs/statistics.md and prints them.

mod forms;
mod judges;
mod lopsided;
mod needed;
mod robustness;

use super::*;

/// Draws that are the same everywhere: splitmix64.
struct Draws(u64);

impl Draws {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// How many of `of` trials pass that each pass with this chance.
    fn passes(&mut self, chance: f64, of: u64) -> (u64, u64) {
        ((0..of).filter(|_| self.unit() < chance).count() as u64, of)
    }
}

/// How many runs are simulated: few in every test run, many where the rates are to be told.
fn runs(few: u64, many: u64) -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a simulation's size is no input of the program")]
    match std::env::var("PROOFHOUSE_SIMULATIONS") {
        Ok(size) if size == "full" => many,
        _ => few,
    }
}

/// The rate is what was promised, apart from what chance does in so many runs (2.6 standard errors: 1 of 200 by chance).
fn at_most(what: &str, hits: u64, runs: u64, promised: f64) {
    let rate = hits as f64 / runs as f64;
    println!("{what}: {hits} of {runs} = {:.1} %", 100.0 * rate);
    let chance = 2.6 * (promised * (1.0 - promised) / runs as f64).sqrt();
    assert!(rate <= promised + chance, "{what}: {hits} of {runs}");
}

/// The chance to pass a case, from easy to hard: a third is always solved, a third is a coin, the rest lies between.
fn difficulty(draws: &mut Draws) -> f64 {
    match draws.unit() {
        u if u < 0.33 => 0.98,
        u if u < 0.66 => 0.5,
        u => u,
    }
}

/// Two columns on new cases, the second worse by `drop` on each.
fn pair(draws: &mut Draws, cases: u64, repetitions: u64, drop: f64) -> Differences {
    let mut differences = Differences::default();
    for _ in 0..cases {
        let chance = difficulty(draws);
        let first = draws.passes(chance, repetitions);
        differences.push(first, draws.passes(chance - drop, repetitions));
    }
    differences
}

/// Two columns whose chances differ by case, up or down alike: on cases like these neither is better.
fn null_by_case(draws: &mut Draws, cases: u64, repetitions: u64) -> Differences {
    let mut differences = Differences::default();
    for _ in 0..cases {
        let (first, second) = if draws.unit() < 0.5 { (0.9, 0.4) } else { (0.4, 0.9) };
        let first = draws.passes(first, repetitions);
        differences.push(first, draws.passes(second, repetitions));
    }
    differences
}

#[test]
fn identical_systems_are_seldom_told_apart() {
    let runs = runs(150, 1000);
    for (cases, repetitions) in [(30, 1), (200, 1), (40, 5), (200, 5)] {
        let mut draws = Draws(cases << 8 | repetitions);
        let (mut noise, mut covered, mut null) = (0, 0, 0);
        for _ in 0..runs {
            let alike = compare("a", "b", &pair(&mut draws, cases, repetitions, 0.0));
            noise += u64::from(alike.more_than_noise() == Some(true));
            covered += u64::from(!alike.interval.unwrap().contains(0.0));
            let by_case = compare("a", "b", &null_by_case(&mut draws, cases, repetitions));
            null += u64::from(by_case.more_than_noise() == Some(true));
        }
        let name = format!("{cases} cases × {repetitions}");
        at_most(&format!("A/A, more than noise, {name}"), noise, runs, 0.05);
        at_most(&format!("A/A, interval misses 0, {name}"), covered, runs, 0.06);
        at_most(&format!("null by case, more than noise, {name}"), null, runs, 0.05);
    }
}

#[test]
fn identical_systems_are_seldom_called_worse() {
    let runs = runs(150, 1000);
    for (cases, repetitions) in [(30, 1), (200, 1), (200, 5)] {
        let mut draws = Draws(cases << 16 | repetitions);
        let (mut worse, mut passed, mut at_margin) = (0, 0, 0);
        for _ in 0..runs {
            let seen = pair(&mut draws, cases, repetitions, 0.0);
            let views = Views { against: seen.clone(), favour: seen.clone(), seen, unassessed: 0 };
            let verdict = NotWorse::decide(("a", "b"), &views, 0.03, 1).verdict;
            worse += u64::from(verdict == Verdict::Worse);
            passed += u64::from(verdict == Verdict::NotWorse);
            let seen = pair(&mut draws, cases, repetitions, 0.1);
            let views = Views { against: seen.clone(), favour: seen.clone(), seen, unassessed: 0 };
            at_margin += u64::from(NotWorse::decide(("a", "b"), &views, 0.1, 1).verdict == Verdict::NotWorse);
        }
        let name = format!("{cases} cases × {repetitions}");
        at_most(&format!("A/A, called worse (margin 3 points), {name}"), worse, runs, 0.05);
        at_most(&format!("10 points worse, called not worse by 10, {name}"), at_margin, runs, 0.05);
        println!("A/A, called not worse, {name}: {passed} of {runs}");
    }
}

/// The second column fails one case in ten altogether and is as good on the others: few cases, however often they are repeated, do
/// not show that it is not worse, because often none of those is among them.
#[test]
fn a_system_that_fails_whole_cases_is_seldom_called_not_worse() {
    let runs = runs(300, 3000);
    for (cases, repetitions) in [(5, 20), (20, 10), (40, 5), (200, 5)] {
        let mut draws = Draws(cases << 24 | repetitions);
        let mut passed = 0;
        for _ in 0..runs {
            let mut seen = Differences::default();
            for _ in 0..cases {
                let chance = if draws.unit() < 0.1 { 0.0 } else { 0.99 };
                let first = draws.passes(0.99, repetitions);
                seen.push(first, draws.passes(chance, repetitions));
            }
            let views = Views { against: seen.clone(), favour: seen.clone(), seen, unassessed: 0 };
            passed += u64::from(NotWorse::decide(("a", "b"), &views, 0.03, 1).verdict == Verdict::NotWorse);
        }
        let name =
            format!("one case in ten fails, called not worse by 3 points, {cases} cases × {repetitions}");
        at_most(&name, passed, runs, 0.025);
    }
}

/// Ten targets on the same 50 cases × 3, of which one may be better than the others.
fn ten(draws: &mut Draws, better: Option<usize>, gain: f64) -> Vec<Vec<(u64, u64)>> {
    let chances: Vec<f64> = (0..50).map(|_| 0.9 * difficulty(draws)).collect();
    let mut column = |gain: f64| chances.iter().map(|chance| draws.passes(chance + gain, 3)).collect();
    (0..10).map(|at| column(if better == Some(at) { gain } else { 0.0 })).collect()
}

fn between(first: &[(u64, u64)], second: &[(u64, u64)]) -> Differences {
    let mut differences = Differences::default();
    first.iter().zip(second).for_each(|(first, second)| differences.push(*first, *second));
    differences
}

/// All pairs of ten identical targets: any "more than noise" is a false alarm.
#[test]
fn ten_identical_targets_are_seldom_told_apart() {
    let runs = runs(60, 1000);
    let mut draws = Draws(10);
    let mut alarms = 0;
    for _ in 0..runs {
        let columns = ten(&mut draws, None, 0.0);
        let pairs: Vec<_> = (0..10)
            .flat_map(|b| (0..b).map(move |a| (a, b)))
            .map(|(a, b)| (a.to_string(), b.to_string(), between(&columns[a], &columns[b])))
            .collect();
        let compared = compare_family(&pairs, 45);
        alarms += u64::from(compared.iter().any(|each| each.more_than_noise() == Some(true)));
    }
    at_most("ten identical targets, any more than noise", alarms, runs, 0.05);
}

/// One of ten is better by 5 points: it is the one named or a rival, and not further away than said.
#[test]
fn the_best_of_ten_is_within_what_is_said() {
    let runs = runs(60, 1000);
    let mut draws = Draws(11);
    let mut wrong = 0;
    for _ in 0..runs {
        let columns = ten(&mut draws, Some(3), 0.05);
        let passed = |at: usize| columns[at].iter().map(|(passed, _)| passed).sum::<u64>();
        let top = (0..10).max_by_key(|at| (passed(*at), 10 - at)).unwrap();
        let others: Vec<Candidate> = (0..10)
            .filter(|at| *at != top)
            .map(|at| Candidate { name: at.to_string(), against_best: between(&columns[top], &columns[at]) })
            .collect();
        let found = best(&top.to_string(), &others).unwrap();
        let missed = !found.rivals.contains(&"3".to_owned()) || found.within < 0.05;
        wrong += u64::from(top != 3 && missed);
    }
    at_most("the best of ten is another than said, or further away", wrong, runs, 0.05);
}

/// A planted drop is seen as often as was predicted before the run.
#[test]
fn a_planted_drop_is_seen_as_often_as_predicted() {
    let runs = runs(100, 1000);
    for (cases, repetitions, drop) in [(200, 5, 0.1), (200, 1, 0.1), (60, 5, 0.06)] {
        planted(runs, cases, repetitions, drop);
    }
}

/// Mean and variance over cases of the difference of two columns of single trials, the second worse by `drop`, and the share of cases on
/// which they differ: integrated over the difficulties.
fn truth(drop: f64, repetitions: u64) -> (f64, f64) {
    let mut draws = Draws(5);
    let count = 200_000;
    let clip = |chance: f64| chance.clamp(0.0, 1.0);
    let (mut noise, mut sum, mut squares, mut apart) = (0.0, 0.0, 0.0, 0.0);
    for _ in 0..count {
        let first = clip(difficulty(&mut draws));
        let second = clip(first - drop);
        noise += (first * (1.0 - first) + second * (1.0 - second)) / repetitions as f64;
        sum += second - first;
        squares += (second - first).powi(2);
        apart += first * (1.0 - second) + second * (1.0 - first);
    }
    let size = f64::from(count);
    let variance = noise / size + squares / size - (sum / size).powi(2);
    if repetitions == 1 { (apart / size, sum / size) } else { (variance, sum / size) }
}

fn planted(runs: u64, cases: u64, repetitions: u64, drop: f64) {
    let mut draws = Draws(77);
    let (spread, mean) = truth(drop, repetitions);
    let predicted = match repetitions {
        1 => crate::stats::power_paired(cases, spread, -mean, LEVEL),
        _ => crate::stats::power_of_mean(cases, spread, -mean, LEVEL),
    };
    let mut seen = 0;
    for _ in 0..runs {
        let found = compare("a", "b", &pair(&mut draws, cases, repetitions, drop));
        seen += u64::from(found.more_than_noise() == Some(true) && found.difference.unwrap() < 0.0);
    }
    let rate = seen as f64 / runs as f64;
    println!(
        "planted drop of {:.0} points, {cases} × {repetitions}: seen in {:.1} %, predicted {:.1} %",
        100.0 * drop,
        100.0 * rate,
        100.0 * predicted
    );
    let chance = 2.6 * (predicted * (1.0 - predicted) / runs as f64).sqrt();
    assert!((rate - predicted).abs() <= chance + 0.015, "{rate} {predicted}");
}

/// A gate with a confidence of 95 % on systems whose true rate is just at the gate: held in at most 5 %.
#[test]
fn gates_with_a_confidence_keep_it() {
    let runs = runs(200, 2000);
    for (cases, repetitions) in [(100, 1), (60, 5)] {
        let mut draws = Draws(cases + repetitions);
        let (mut held, mut missed) = (0, 0);
        for _ in 0..runs {
            let mut trials = Trials::default();
            for _ in 0..cases {
                // 0.8 on average.
                let chance = if draws.unit() < 0.5 { 0.65 } else { 0.95 };
                let (passed, of) = draws.passes(chance, repetitions);
                trials.passed += passed;
                trials.assessed += of;
                trials.planned += of;
                trials.if_failed.push(passed as f64, of);
                trials.if_passed.push(passed as f64, of);
            }
            let check = GateCheck::of_trials("a", Demand { rate: 0.8, confidence: Some(0.95) }, &trials);
            held += u64::from(check.outcome == Outcome::Held);
            missed += u64::from(check.outcome == Outcome::Missed);
        }
        let name = format!("{cases} cases × {repetitions}");
        // Wilson's limits are off by up to a point on either side.
        at_most(&format!("gate at the true rate held with 95 %, {name}"), held, runs, 0.06);
        at_most(&format!("gate at the true rate missed with 95 %, {name}"), missed, runs, 0.06);
    }
}
