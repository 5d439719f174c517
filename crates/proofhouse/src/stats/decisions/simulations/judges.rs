//! Judges whose errors are known: rates without them, and agreement, on simulated runs.

use super::{Draws, at_most, runs};
use crate::stats::decisions::Calibrated;
use crate::stats::{ClusterMoments, Confidence, Ratings};

/// What a judge says of an answer.
fn judged(draws: &mut Draws, right: bool, (sensitivity, specificity): (f64, f64)) -> bool {
    let chance = if right { sensitivity } else { 1.0 - specificity };
    draws.unit() < chance
}

/// Sensitivity and specificity of the judge, the true rate, labels of each kind, cases and repetitions.
type Setting = ((f64, f64), f64, u64, (u64, u64));

const SETTINGS: [Setting; 6] = [
    ((0.9, 0.8), 0.6, 50, (200, 1)),
    ((0.9, 0.8), 0.6, 50, (60, 5)),
    ((0.95, 0.7), 0.8, 20, (100, 1)),
    ((0.8, 0.95), 0.95, 50, (200, 1)),
    ((0.7, 0.7), 0.3, 100, (200, 1)),
    ((0.98, 0.98), 0.5, 30, (1000, 1)),
];

#[test]
fn rates_without_the_judges_errors_cover_the_truth() {
    let runs = runs(200, 2000);
    for ((errors, truth, labels, (cases, repetitions)), seed) in SETTINGS.into_iter().zip(0..) {
        let mut draws = Draws(seed << 20 | 7);
        let (mut corrected, mut raw, mut without) = (0, 0, 0);
        for _ in 0..runs {
            let mut judge = Calibrated::default();
            for right in [true, false] {
                (0..labels).for_each(|_| judge.push(right, Some(judged(&mut draws, right, errors))));
            }
            let mut passed = ClusterMoments::default();
            for _ in 0..cases {
                // A case is solved nearly always or nearly never, so that its repetitions are alike.
                let chance = if draws.unit() < (truth - 0.05) / 0.9 { 0.95 } else { 0.05 };
                let trials = (0..repetitions).map(|_| {
                    let right = draws.unit() < chance;
                    judged(&mut draws, right, errors)
                });
                passed.push(trials.filter(|passed| *passed).count() as f64, repetitions);
            }
            raw += u64::from(!passed.rate_interval(Confidence::P95).unwrap().contains(truth));
            match judge.correct(&passed).made() {
                Some(made) => corrected += u64::from(!made.interval.contains(truth)),
                None => without += 1,
            }
        }
        let ((right, wrong), size) =
            (errors, format!("{cases} × {repetitions}, {labels} labels of each kind"));
        let name = format!("sensitivity {right}, specificity {wrong}, {truth} right, {size}");
        assert_eq!(without, 0, "{name}");
        at_most(&format!("corrected interval misses the truth: {name}"), corrected, runs, 0.05);
        println!("uncorrected interval misses the truth: {name}: {:.1} %", 100.0 * raw as f64 / runs as f64);
    }
}

/// Three raters who take an answer for what it is in four of five, over cases of one answer each and of three.
#[test]
fn the_interval_of_agreement_covers_it() {
    let runs = runs(200, 2000);
    for (cases, answers) in [(30, 1), (200, 1), (40, 3)] {
        let mut draws = Draws(cases << 8 | answers);
        let mut missed = 0;
        for _ in 0..runs {
            let mut ratings = Ratings::default();
            for _ in 0..cases {
                for _ in 0..answers {
                    let right = draws.unit() < 0.5;
                    let said = [(); 3].map(|()| f64::from(u8::from(judged(&mut draws, right, (0.8, 0.8)))));
                    ratings.push(&said);
                }
                ratings.close_case();
            }
            // Two raters agree in 0.8² + 0.2² = 0.68, by chance in 0.5.
            let truth = 1.0 - 0.32 / 0.5;
            let interval = ratings.alpha(Confidence::P95).unwrap().interval.unwrap();
            missed += u64::from(!interval.contains(truth));
        }
        at_most(&format!("interval of alpha misses it: {cases} cases × {answers}"), missed, runs, 0.06);
    }
}
