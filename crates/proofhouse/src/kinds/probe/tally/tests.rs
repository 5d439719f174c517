//! What labelled answers and the advice of models add up to, counted by hand.

use proofhouse_ledger::json::{Strictness, parse};
use proofhouse_ledger::record::{Head, Kind, Probe, Spans, output_digest};
use proofhouse_ledger::spine::Spine;
use proofhouse_ledger::{Digest, RecordId, RunId};

use super::*;
use crate::spine::tally::Tally;

fn json(text: &str) -> Json {
    parse(text.as_bytes(), Strictness::Strict).unwrap()
}

/// What a record says of its trial: `label` and `advice` as they stand in it.
#[derive(Clone, Copy, Default)]
struct Row<'a> {
    case: &'a str,
    slot: &'a str,
    passed: Option<bool>,
    scores: &'a [(&'a str, Option<f64>)],
    label: Option<&'a str>,
    advice: Option<&'a str>,
}

fn line(index: u64, row: &Row<'_>) -> Vec<u8> {
    let run_id = RunId::of_identity(b"run");
    let spine = Spine::new(&run_id);
    let output = Json::from("x");
    let head = Head {
        kind: Kind::Probe,
        run_id,
        record_id: RecordId::of_trial(row.slot, row.case, None, 0),
        index,
        suite_id: "suite",
        case_id: row.case,
        slot: row.slot,
        variant_id: None,
        repetition: 0,
        input_fingerprint: Digest::of(b"x"),
        status: Status::Success,
        error_type: None,
        error: None,
        output_sha256: output_digest(&output),
        scores: row.scores,
        primary_metric: None,
        passed: row.passed,
        started_at: spine.started(index),
        completed_at: spine.completed(index),
        latency_ms: None,
        usage: None,
    };
    let (advice, label) = (row.advice.map(json), row.label.map(json));
    let body = Probe {
        input: &output,
        output: &output,
        expected: &output,
        judge: &Json::Object(Default::default()),
        advice: advice.as_ref(),
        calibration: label.as_ref(),
        reasoning: None,
        response: None,
        tags: &[],
        turns: None,
    };
    let mut out = Vec::new();
    body.push(&mut out, &head);
    out
}

fn summary(config: &str, rows: &[Row<'_>]) -> Summary {
    let mut tally = Tally::new(&json(config), |_, config| Box::new(ProbeTally::new(config)));
    let mut spans = Spans::default();
    for (index, row) in rows.iter().enumerate() {
        let bytes = line(index as u64, row);
        tally.push(&Line::split(bytes.trim_ascii_end(), &mut spans).unwrap()).unwrap();
    }
    tally.finish().unwrap()
}

const CONFIG: &str = r#"{"calibration":{},"scoring":{"threshold":0.5}}"#;

fn labelled<'a>(label: &'a str, scores: &'a [(&'a str, Option<f64>)]) -> Row<'a> {
    Row { case: "labelled", slot: "s", label: Some(label), scores, ..Row::default() }
}

fn trial<'a>(case: &'a str, slot: &'a str, passed: Option<bool>) -> Row<'a> {
    Row { case, slot, passed, ..Row::default() }
}

const RIGHT: &str = r#"{"right":true,"said":true}"#;
const MISSED: &str = r#"{"right":true,"said":false}"#;
const WRONG: &str = r#"{"right":false,"said":false}"#;
const OPEN: &str = r#"{"right":false,"said":null}"#;

#[test]
fn every_judge_has_its_own_errors_and_half_the_threshold_is_not_enough() {
    let rows = [
        labelled(RIGHT, &[("a", Some(1.0)), ("b", Some(0.25))]),
        labelled(MISSED, &[("a", Some(0.5)), ("b", None)]),
        labelled(RIGHT, &[("a", Some(0.75)), ("b", Some(0.5))]),
        labelled(WRONG, &[("a", Some(0.25)), ("b", Some(1.0))]),
        labelled(OPEN, &[("a", None), ("b", Some(0.0))]),
    ];
    let found = summary(CONFIG, &rows).calibration.expect("there are labelled answers");
    assert_eq!(found.trials, 5);
    let counts = |judge: &JudgeErrors| {
        let [right, wrong] = [&judge.sensitivity, &judge.specificity].map(|r| (r.numerator, r.denominator));
        (judge.judge.clone(), right, wrong, judge.unjudged)
    };
    let judges: Vec<_> = found.judges.iter().map(counts).collect();
    let row = |name: &str, right, wrong, unjudged| (name.to_owned(), right, wrong, unjudged);
    let expected =
        [row("verdict", (2, 3), (1, 1), 1), row("a", (3, 3), (1, 1), 1), row("b", (1, 2), (1, 2), 1)];
    assert_eq!(judges, expected);
    let records = |judge: usize| found.judges[judge].sensitivity.records.as_str();
    assert!(records(0).starts_with("calibration.said = true of"), "{}", records(0));
    assert!(records(1).starts_with("verdict of \"a\" = true of"), "{}", records(1));
}

#[test]
fn a_single_judge_is_the_verdict_and_stands_once() {
    let rows = [labelled(RIGHT, &[("a", Some(1.0))]), labelled(WRONG, &[("a", Some(0.0))])];
    let found = summary(CONFIG, &rows).calibration.expect("there are labelled answers");
    assert_eq!(found.judges.iter().map(|judge| judge.judge.as_str()).collect::<Vec<_>>(), ["a"]);
}

/// The verdict finds 2 of 3 right answers and the one wrong one, so that a rate is divided by 2/3 + 1 - 1. Target s passes
/// 1 of 4 assessed trials, t 1 of 2.
#[test]
fn rates_are_corrected_by_the_errors_of_the_verdict_target_by_target() {
    let (yes, no) = (Some(true), Some(false));
    let rows = [
        trial("one", "s", yes),
        trial("one", "s", no),
        trial("one", "s", None),
        trial("one", "t", yes),
        trial("two", "s", no),
        trial("two", "s", no),
        trial("two", "t", no),
        labelled(RIGHT, &[]),
        labelled(MISSED, &[]),
        labelled(RIGHT, &[]),
        labelled(WRONG, &[]),
    ];
    let found = summary(CONFIG, &rows).calibration.expect("there are labelled answers");
    let values: Vec<_> =
        found.corrected.iter().map(|each| (each.slot.as_str(), each.judged, each.value)).collect();
    assert_eq!(values, [("s", Some(0.25), Some(0.375)), ("t", Some(0.5), Some(0.75))]);
    for each in &found.corrected {
        assert!(each.low < each.value && each.value < each.high, "{each:?}");
    }
}

#[test]
fn without_labelled_answers_there_is_no_calibration() {
    let summary = summary(CONFIG, &[trial("one", "s", Some(true))]);
    assert_eq!((summary.calibration, summary.agreement), (None, Vec::new()));
}

/// Three answers of two cases: both say 1, both say 0, they differ. Observed disagreement 2 of 6, expected 18 of 30, so that
/// Krippendorff's alpha is 1 - (1/3) / (3/5) = 4/9. The third judge is alone with what it judges by.
#[test]
fn judges_of_one_criterion_are_compared_and_a_lone_one_is_not() {
    let config =
        r#"{"judges":[{"name":"a","ask":{"criterion":"kind"}},{"name":"b","ask":{"criterion":"kind"}}]}"#;
    let advice = [("1", "1"), ("0", "0"), ("1", "0")].map(|(a, b)| {
        format!(r#"{{"a":{{"m":{{"score":{a}}}}},"b":{{"m":{{"score":{b}}}}},"c":{{"m":{{"score":1}}}}}}"#)
    });
    let row = |case, at: usize| Row { case, slot: "s", advice: Some(&advice[at]), ..Row::default() };
    let found = summary(config, &[row("one", 0), row("one", 1), row("two", 2)]).agreement;
    let [agreement] = &found[..] else { panic!("one criterion: {found:?}") };
    assert_eq!((agreement.criterion.as_str(), agreement.answers, agreement.cases), ("kind", 3, 2));
    assert_eq!(agreement.raters, ["a/m", "b/m"]);
    assert_eq!(agreement.alpha, Some(round(4.0 / 9.0)));
}

#[test]
fn a_gate_can_ask_for_what_a_probe_measures() {
    let mut summary = Summary::empty(Kind::Probe, RunId::of_identity(b"run"), "suite");
    let terms = OwnTally::finish(Box::new(ProbeTally::new(&json(CONFIG))), &mut summary);
    assert_eq!(terms.metrics.len(), METRICS.len());
}
