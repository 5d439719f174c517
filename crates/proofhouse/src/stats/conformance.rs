//! Every estimator against SciPy, statsmodels or exact fractions, to 1e-9: `tools/scipy` computes the other side.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::binomial::{lower_tail, pmf, upper_tail};
use super::decisions::Differences;
use super::decisions::sign_flip;
use super::*;

/// A question to the other side, and what we say.
struct Asked {
    question: Value,
    ours: Vec<f64>,
}

/// Numbers that look arbitrary and are the same in every run.
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn share(&mut self) -> f64 {
        self.below(1 << 20) as f64 / f64::from(1 << 20)
    }

    fn level(&mut self) -> f64 {
        [0.8, 0.9, 0.95, 0.99][self.below(4) as usize]
    }

    fn trials(&mut self) -> u64 {
        [5, 12, 40, 164, 1_000, 20_000][self.below(6) as usize] + self.below(7)
    }
}

fn confidence(level: f64) -> Confidence {
    Confidence::new(level).unwrap()
}

fn ends(interval: Interval) -> Vec<f64> {
    vec![interval.low, interval.high]
}

fn rates(draws: &mut Draws) -> Vec<Asked> {
    let (n, level, p) = (draws.trials(), draws.level(), 0.01 + 0.98 * draws.share());
    let k = draws.below(n + 1);
    let degrees = 1 + draws.below(3_000);
    let c = confidence(level);
    let few = 1 + n.min(200);
    let (passed, of) = (draws.below(few + 1), 1 + draws.below(few));
    vec![
        Asked { question: json!(["wilson", k, n, level]), ours: ends(wilson(k, n, c).unwrap()) },
        Asked {
            question: json!(["clopper_pearson", k, n, level]),
            ours: ends(clopper_pearson(k, n, c).unwrap()),
        },
        Asked {
            question: json!(["binomial", k, n, p]),
            ours: vec![
                pmf(k, n, p),
                lower_tail(k, n, p),
                upper_tail(k, n, p),
                binomial_test(k, n, p).unwrap(),
            ],
        },
        Asked { question: json!(["quantiles", level, degrees]), ours: vec![c.z(), c.t(degrees)] },
        Asked {
            question: json!(["pass_at_k", few, passed, of]),
            ours: vec![pass_at_k(few, passed, of).unwrap()],
        },
    ]
}

fn tables(draws: &mut Draws) -> Vec<Asked> {
    let level = draws.level();
    let c = confidence(level);
    let most = [3, 12, 60, 400][draws.below(4) as usize];
    let [both, first, second, neither] = [(); 4].map(|()| draws.below(most));
    let both = both + 1;
    let table = PairedCounts { both, only_first: first, only_second: second, neither };
    let test = table.mcnemar().unwrap();
    let newcombe = table.difference(c).unwrap();
    let mut single = Differences::default();
    for (count, a, b) in [(both, 1, 1), (first, 1, 0), (second, 0, 1), (neither, 0, 0)] {
        (0..count).for_each(|_| single.push((a, 1), (b, 1)));
    }
    let p_values: Vec<f64> = (0..1 + draws.below(12)).map(|_| draws.share().powi(3)).collect();
    let adjusted = [holm(&p_values), benjamini_hochberg(&p_values)].concat();
    let mut question = vec![json!("adjusted")];
    question.extend(p_values.iter().map(|p| json!(p)));
    vec![
        Asked {
            question: json!(["mcnemar", both, first, second, neither]),
            ours: vec![test.p_value, test.mid_p],
        },
        Asked {
            question: json!(["newcombe", both, first, second, neither, level]),
            ours: vec![newcombe.value, newcombe.interval.low, newcombe.interval.high],
        },
        Asked {
            question: json!(["tango", both, first, second, neither, level]),
            ours: ends(single.interval(c).unwrap()),
        },
        Asked { question: Value::Array(question), ours: adjusted },
    ]
}

fn cases(draws: &mut Draws) -> Vec<Asked> {
    let level = draws.level();
    let c = confidence(level);
    let repetitions = 2 + draws.below(4);
    let count = 4 + draws.below(9);
    let mut differences = Differences::default();
    let mut student = vec![json!("student"), json!(level)];
    let mut flips = vec![json!("sign_flip")];
    let mut moments = ClusterMoments::default();
    let mut clustered = vec![json!("clustered"), json!(level)];
    let mut sample = BoundedSample::default();
    let mut gaffke = vec![json!("gaffke"), json!(level)];
    for at in 0..count {
        let (a, b) = (draws.below(repetitions + 1), draws.below(repetitions + 1));
        // The first two differ, so that there is something to estimate.
        let (a, b) = if at < 2 { (at, 1) } else { (a, b) };
        differences.push((a, repetitions), (b, repetitions));
        let difference = b as f64 / repetitions as f64 - a as f64 / repetitions as f64;
        student.push(json!(difference));
        flips.push(json!(difference));
        let size = 1 + draws.below(repetitions) + u64::from(at == 0);
        let passed = if at < 2 { at.min(size) } else { draws.below(size + 1) };
        moments.push(passed as f64, size);
        clustered.push(json!([passed, size]));
        let value = (at as f64 + 0.1 + 0.8 * draws.share()) / count as f64;
        sample.push(value, 1);
        gaffke.push(json!(value));
    }
    let interval = differences.interval(c).unwrap();
    let mean = moments.mean_estimate(c).unwrap();
    let rate = moments.rate_interval(c).unwrap();
    vec![
        Asked {
            question: Value::Array(student),
            ours: vec![
                differences.mean().unwrap(),
                differences.deviation().unwrap(),
                interval.low,
                interval.high,
            ],
        },
        Asked { question: Value::Array(flips), ours: vec![sign_flip(&differences).unwrap()] },
        Asked {
            question: Value::Array(clustered),
            ours: vec![
                mean.mean,
                mean.standard_error.unwrap(),
                mean.interval.low,
                mean.interval.high,
                rate.low,
                rate.high,
            ],
        },
        Asked { question: Value::Array(gaffke), ours: ends(sample.interval(c).unwrap()) },
    ]
}

/// What is found with a power of 80 % has, on the other side, that power.
fn powers(draws: &mut Draws) -> Vec<Asked> {
    let (n, level, base) = (30 + draws.trials(), draws.level(), 0.1 + 0.8 * draws.share());
    let discordance = 0.05 + 0.5 * draws.share();
    let mut asked = Vec::new();
    let found = detectable_unpaired(n, base, confidence(level), 0.8).unwrap();
    for other in
        [found.rise.map(|rise| base + rise), found.drop.map(|drop| base - drop)].into_iter().flatten()
    {
        asked.push(Asked { question: json!(["unpaired_power", n, base, other, level]), ours: vec![0.8] });
    }
    if let Some(effect) = detectable_paired(n, discordance, confidence(level), 0.8) {
        asked.push(Asked {
            question: json!(["paired_power", n, discordance, effect, level]),
            ours: vec![0.8],
        });
    }
    asked
}

/// What robustness verdicts are made of.
fn repeated(draws: &mut Draws) -> Vec<Asked> {
    let runs = 2 + draws.below(60);
    let hits = draws.below(runs + 1);
    let error = [0.01, 0.05, 0.1][draws.below(3) as usize];
    let levels = 2 + draws.below(6);
    let (values, weights): (Vec<f64>, Vec<f64>) =
        (0..levels).map(|_| (draws.share(), 1.0 + draws.below(9) as f64)).unzip();
    let (cases, wordings, each) = (2 + draws.below(4), 2 + draws.below(3), 2 + draws.below(4));
    let design: Vec<Vec<Vec<bool>>> = (0..cases)
        .map(|_| (0..wordings).map(|_| (0..each).map(|_| draws.below(3) > 0).collect()).collect())
        .collect();
    let found = variance_components(&design).unwrap();
    let of_case: Vec<&[bool]> = design[0].iter().map(Vec::as_slice).collect();
    let apart = disagreement(&of_case).unwrap();
    let named = |name: &str, parts: Vec<Value>| Value::Array([vec![json!(name)], parts].concat());
    vec![
        Asked {
            question: json!(["confidence_sequence", hits, runs, error]),
            ours: ends(confidence_sequence(hits, runs, error).unwrap()),
        },
        Asked { question: json!(["falling_fit", values, weights]), ours: falling_fit(&values, &weights) },
        Asked {
            question: named("components", design.iter().map(|case| json!(case)).collect()),
            ours: vec![found.case.unwrap(), found.wording, found.repetition],
        },
        Asked {
            question: named("disagreement", of_case.iter().map(|runs| json!(runs)).collect()),
            ours: vec![apart.between, apart.within],
        },
    ]
}

fn strata(draws: &mut Draws) -> Vec<Asked> {
    let level = draws.level();
    let of_size = |draws: &mut Draws, size: u64| -> Vec<Stratum> {
        let group = |draws: &mut Draws| {
            let runs = size + draws.below(size);
            // Neither all nor none, so that every stratum can say something.
            (1 + draws.below(runs - 1), runs)
        };
        (0..1 + draws.below(4)).map(|_| Stratum { first: group(draws), second: group(draws) }).collect()
    };
    let plain = |strata: &[Stratum]| -> Vec<Value> {
        strata.iter().map(|each| json!([each.first.0, each.first.1, each.second.0, each.second.1])).collect()
    };
    let (few, many) = (of_size(draws, 3), of_size(draws, 60_000));
    let (difference, interval) = stratified_difference(&few, confidence(level)).unwrap();
    vec![
        Asked {
            question: Value::Array([vec![json!("exact_strata")], plain(&few)].concat()),
            ours: vec![cochran_mantel_haenszel(&few).unwrap()],
        },
        Asked {
            question: Value::Array([vec![json!("large_strata")], plain(&many)].concat()),
            ours: vec![cochran_mantel_haenszel(&many).unwrap()],
        },
        Asked {
            question: Value::Array(
                [vec![json!("stratified_difference"), json!(level)], plain(&few)].concat(),
            ),
            ours: vec![difference, interval.low, interval.high],
        },
    ]
}

/// What is known of judges.
fn judges(draws: &mut Draws) -> Vec<Asked> {
    let level = draws.level();
    let of = [4, 20, 150][draws.below(3) as usize] + draws.below(9);
    // Better than chance, as others correct nothing.
    let hits = |draws: &mut Draws| Hits { right: of - draws.below(of / 2), of };
    let (sensitivity, specificity) = (hits(draws), hits(draws));
    let (seen, trials) = (draws.share(), 5.0 + 300.0 * draws.share());
    let question = json!(["rogan_gladen", seen, trials, sensitivity.right, of, specificity.right, of, level]);
    let mut asked = Vec::new();
    if let Some(found) = rogan_gladen(seen, trials, (sensitivity, specificity), confidence(level)) {
        asked.push(Asked { question, ours: vec![found.rate, found.interval.low, found.interval.high] });
    }
    let mut ratings = Ratings::default();
    let mut question = vec![json!("krippendorff"), json!(level)];
    let raters = 2 + draws.below(3);
    for at in 0..6 + draws.below(20) {
        let units: Vec<Vec<f64>> = (0..1 + draws.below(3))
            .map(|_| (0..raters - draws.below(2)).map(|_| [0.0, 0.5, 1.0][draws.below(3) as usize]).collect())
            .collect();
        // Two cases that differ for certain, so that there is something to agree on.
        let units = if at < 2 { vec![vec![f64::from(u8::from(at == 0)); 2]] } else { units };
        units.iter().for_each(|unit| ratings.push(unit));
        ratings.close_case();
        let kept: Vec<Vec<f64>> = units.into_iter().filter(|unit| unit.len() > 1).collect();
        if !kept.is_empty() {
            question.push(json!(kept));
        }
    }
    let found = ratings.alpha(confidence(level)).unwrap();
    let interval = found.interval.unwrap();
    asked.push(Asked {
        question: Value::Array(question),
        ours: vec![found.value, interval.low, interval.high],
    });
    let (pairs, discordance) = (10 + draws.below(120), 0.1 + 0.6 * draws.share());
    let effect = discordance * draws.share();
    asked.push(Asked {
        question: json!(["exact_power", pairs, discordance, effect, 1.0 - level]),
        ours: vec![power_paired(pairs, discordance, effect, 1.0 - level)],
    });
    asked
}

#[expect(clippy::disallowed_methods, reason = "the other side is a program of its own")]
fn theirs(asked: &[Asked]) -> Vec<Vec<f64>> {
    let tool = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/scipy");
    let mut child =
        Command::new(tool).arg("values").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let questions: Vec<&Value> = asked.iter().map(|each| &each.question).collect();
    child.stdin.take().unwrap().write_all(&serde_json::to_vec(&questions).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "`tools/scipy values` says what is missing");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "only the tests know whether conformance is asked for")]
fn conformance_estimators_of_scipy_and_statsmodels() {
    if std::env::var_os("PROOFHOUSE_CONFORMANCE_DATA").is_none() {
        return;
    }
    let mut draws = Draws(2_024);
    let asked: Vec<Asked> = (0..150)
        .flat_map(|_| {
            [
                rates(&mut draws),
                tables(&mut draws),
                cases(&mut draws),
                powers(&mut draws),
                repeated(&mut draws),
                strata(&mut draws),
                judges(&mut draws),
            ]
        })
        .flatten()
        .collect();
    let theirs = theirs(&asked);
    assert_eq!(theirs.len(), asked.len());
    let mut worst = 0.0_f64;
    for (Asked { question, ours }, theirs) in asked.iter().zip(&theirs) {
        assert_eq!(ours.len(), theirs.len(), "{question}");
        for (our, their) in ours.iter().zip(theirs) {
            let off = (our - their).abs();
            assert!(off <= 1e-9, "{question}: {ours:?} is not {theirs:?}");
            worst = worst.max(off);
        }
    }
    println!("{} values, worst error {worst:e}", theirs.iter().map(Vec::len).sum::<usize>());
}
