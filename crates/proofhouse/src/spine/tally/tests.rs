//! What records add up to, counted by hand.

use proofhouse_ledger::json::{Strictness, parse};
use proofhouse_ledger::record::{HEAD, Head, Kind, Probe, Status, output_digest};
use proofhouse_ledger::spine::Spine;
use proofhouse_ledger::summary::{Gate, Rate};
use proofhouse_ledger::{Digest, RecordId, RunId};

use super::stats::decisions::Measured;
use super::*;

fn json(text: &str) -> Json {
    parse(text.as_bytes(), Strictness::Strict).unwrap()
}

/// What a record says of its trial.
#[derive(Clone, Copy)]
struct Row<'a> {
    case: &'a str,
    slot: &'a str,
    variant: Option<&'a str>,
    repetition: u32,
    status: Status,
    error_type: Option<&'a str>,
    score: Option<f64>,
    passed: Option<bool>,
    tags: &'a [String],
}

fn row<'a>(case: &'a str, slot: &'a str, passed: Option<bool>) -> Row<'a> {
    let status = if passed.is_some() { Status::Success } else { Status::Error };
    let score = passed.map(|passed| if passed { 1.0 } else { 0.25 });
    Row { case, slot, variant: None, repetition: 0, status, error_type: None, score, passed, tags: &[] }
}

fn line(index: u64, row: &Row<'_>) -> Vec<u8> {
    let run_id = RunId::of_identity(b"run");
    let spine = Spine::new(&run_id);
    let output = Json::from("x");
    let head = Head {
        kind: Kind::Probe,
        run_id,
        record_id: RecordId::of_trial(row.slot, row.case, row.variant, row.repetition),
        index,
        suite_id: "suite",
        case_id: row.case,
        slot: row.slot,
        variant_id: row.variant,
        repetition: row.repetition,
        input_fingerprint: Digest::of(b"x"),
        status: row.status,
        error_type: row.error_type,
        error: None,
        output_sha256: output_digest(&output),
        scores: &[("same", row.score)],
        primary_metric: Some("same"),
        passed: row.passed,
        started_at: spine.started(index),
        completed_at: spine.completed(index),
        latency_ms: None,
        usage: None,
    };
    let nothing = Json::Object(Default::default());
    let body = Probe {
        input: &Json::from("x"),
        output: &output,
        expected: &output,
        judge: &nothing,
        advice: None,
        calibration: None,
        reasoning: None,
        response: None,
        tags: row.tags,
        turns: None,
    };
    let mut out = Vec::new();
    body.push(&mut out, &head);
    out
}

/// A kind that scatters, spares, leaves out `broken` and puts `aside` aside, as its configuration says.
struct Own {
    scattered: bool,
    spares: bool,
    terms: fn() -> GateTerms,
}

impl OwnTally for Own {
    fn has_neighbours(&self) -> bool {
        !self.scattered
    }

    fn excludes(&self, case: &str) -> bool {
        case == "broken"
    }

    fn is_aside(&self, line: &Line<'_>) -> bool {
        line.get(HEAD.case_id).is_ok_and(|case| case == "aside")
    }

    fn spares(&self) -> bool {
        self.spares
    }

    fn finish(self: Box<Self>, _: &mut Summary) -> GateTerms {
        (self.terms)()
    }
}

/// A metric that is a half, and one that is a quarter of one thing and three quarters of another.
const HALVES: &[Metric] = &[
    Metric { name: "half", of: |_, _| vec![Measured { of: None, bounds: Some([0.5, 0.5]), open: 0 }] },
    Metric {
        name: "several",
        of: |_, _| {
            let of =
                |name: &str, value| Measured { of: Some(name.to_owned()), bounds: Some([value; 2]), open: 0 };
            vec![of("one", 0.25), of("other", 0.75)]
        },
    },
];

fn own(_: Kind, config: &Json) -> Box<dyn OwnTally> {
    let says = |key: &str| config.get(key).is_some();
    let terms: fn() -> GateTerms = match (says("untried"), says("exempt"), says("bounds")) {
        (true, ..) => || GateTerms {
            untried: Some("no attack does anything without a gate either"),
            ..GateTerms::default()
        },
        (_, true, _) => || GateTerms { exempt: vec!["a".to_owned()], ..GateTerms::default() },
        (_, _, true) => || GateTerms { bounds: vec![Some([0.2, 0.9])], ..GateTerms::default() },
        _ => || GateTerms { metrics: HALVES, ..GateTerms::default() },
    };
    Box::new(Own { scattered: says("scattered"), spares: says("spares"), terms })
}

fn summary(config: &str, rows: &[Row<'_>]) -> Summary {
    let mut tally = Tally::new(&json(config), own);
    let mut spans = Spans::default();
    for (index, row) in rows.iter().enumerate() {
        let bytes = line(index as u64, row);
        tally.push(&Line::split(bytes.trim_ascii_end(), &mut spans).unwrap()).unwrap();
    }
    tally.finish().unwrap()
}

fn counts(rate: &Rate) -> (u64, u64) {
    (rate.numerator, rate.denominator)
}

const YES: Option<bool> = Some(true);
const NO: Option<bool> = Some(false);

#[test]
fn trials_verdicts_and_errors_are_counted_in_all_and_by_slot() {
    let rows = [
        row("one", "a", YES),
        row("one", "b", NO),
        Row { status: Status::Timeout, error_type: Some("timeout"), ..row("two", "a", None) },
        row("two", "b", YES),
        Row { status: Status::NotRun, ..row("three", "a", None) },
        Row { status: Status::Error, error_type: Some("timeout"), ..row("three", "b", None) },
    ];
    let summary = summary("{}", &rows);
    assert_eq!((summary.trials, summary.assessed, summary.suite_id.as_str()), (6, 3, "suite"));
    let count = |status: Status| summary.counts[status.as_str()];
    assert_eq!([Status::Success, Status::Timeout, Status::Error, Status::NotRun].map(count), [3, 1, 1, 1]);
    assert_eq!(summary.error_types, [("timeout".to_owned(), 2)].into());
    let [a, b] = &summary.slots[..] else { panic!("two slots") };
    assert_eq!((a.slot.as_str(), a.trials, b.slot.as_str(), b.trials), ("a", 3, "b", 3));
    assert_eq!((counts(&a.pass_rate), counts(&a.pass_rate_all)), ((1, 1), (1, 3)));
    assert_eq!((counts(&b.pass_rate), counts(&b.pass_rate_all)), ((1, 2), (1, 3)));
    assert_eq!((b.pass_rate.value, a.counts[Status::NotRun.as_str()]), (Some(0.5), 1));
    assert_eq!(a.pass_rate.records, "passed = true of passed is not null where slot = \"a\"");
}

#[test]
fn what_nobody_needed_is_no_part_of_the_bound() {
    let rows = [row("one", "a", YES), Row { status: Status::NotRun, ..row("two", "a", None) }];
    assert_eq!(counts(&summary("{}", &rows).slots[0].pass_rate_all), (1, 2));
    assert_eq!(counts(&summary(r#"{"spares":1}"#, &rows).slots[0].pass_rate_all), (1, 1));
    let nothing = [row("one", "a", None)];
    let rate = &summary("{}", &nothing).slots[0].pass_rate_all;
    assert_eq!((counts(rate), rate.value, rate.low, rate.high), ((0, 0), None, None, None));
}

#[test]
fn tags_and_scores_are_those_of_assessed_trials() {
    let (red, both) = (["red".to_owned()], ["blue".to_owned(), "red".to_owned()]);
    let rows = [
        Row { tags: &red, ..row("one", "a", YES) },
        Row { tags: &both, ..row("two", "a", NO) },
        Row { tags: &red, ..row("three", "a", None) },
        row("four", "a", NO),
    ];
    let slot = &summary("{}", &rows).slots[0];
    let tags: Vec<_> = slot.tags.iter().map(|(tag, rate)| (tag.as_str(), counts(rate))).collect();
    assert_eq!(tags, [("blue", (0, 1)), ("red", (1, 2))]);
    assert!(slot.tags["red"].records.ends_with("where slot = \"a\" and tags has \"red\""));
    assert_eq!(slot.scores["same"].value, Some(0.5), "(1 + 0.25 + 0.25) / 3");
}

#[test]
fn a_case_is_flaky_where_repetitions_of_one_wording_differ() {
    let at = |case, variant, repetition, passed| Row { variant, repetition, ..row(case, "a", passed) };
    let rows = [
        at("steady", None, 0, YES),
        at("steady", None, 1, YES),
        at("flaky", None, 0, YES),
        at("flaky", None, 1, NO),
        // Two wordings may well differ.
        at("reworded", None, 0, YES),
        at("reworded", Some("v"), 0, NO),
        at("once", None, 0, NO),
    ];
    assert_eq!(counts(&summary("{}", &rows).slots[0].flaky_cases), (1, 2));
    let mixed: Vec<Row<'_>> = [2, 0, 3, 1].map(|at| rows[at]).into();
    let scattered = summary(r#"{"scattered":1}"#, &mixed);
    assert_eq!(counts(&scattered.slots[0].flaky_cases), (1, 2), "in any order");
}

#[test]
fn cases_that_nobody_is_scored_against_are_taken_back() {
    let rows = [
        row("good", "a", YES),
        row("broken", "a", NO),
        row("broken", "a", YES),
        Row { repetition: 1, ..row("good", "a", NO) },
        row("broken", "a", None),
    ];
    let gate = r#"{"scattered":1,"gate":{"pass_rate":0.5}}"#;
    let summary = summary(gate, &rows);
    assert_eq!((summary.trials, summary.assessed), (5, 2));
    assert_eq!(counts(&summary.slots[0].pass_rate), (1, 2));
    assert!(summary.slots[0].pass_rate_clustered.is_none(), "one case is no sample of cases");
    assert_eq!(summary.gate.unwrap().held, Some(true), "one of two reaches a half");
}

#[test]
fn what_stands_aside_is_a_trial_and_counts_in_no_slot() {
    let aside = Row { error_type: Some("odd"), ..row("aside", "a", YES) };
    let summary = summary("{}", &[row("one", "a", NO), aside]);
    assert_eq!((summary.trials, summary.assessed), (2, 2));
    assert!(summary.error_types.is_empty());
    assert_eq!((summary.slots[0].trials, counts(&summary.slots[0].pass_rate)), (1, (0, 1)));
}

#[test]
fn targets_are_compared_over_cases_that_several_have() {
    let mut rows = Vec::new();
    let names: Vec<String> = (0..12).map(|n| format!("c{n}")).collect();
    for (n, name) in names.iter().enumerate() {
        rows.extend([row(name, "a", Some(n % 4 != 0)), row(name, "b", NO)]);
    }
    rows.push(row("alone", "a", YES));
    let summary = summary("{}", &rows);
    let [pair] = &summary.comparisons[..] else { panic!("one pair: {:?}", summary.comparisons) };
    assert_eq!(pair.cases, 12);
    let clustered = summary.slots[0].pass_rate_clustered.as_ref().unwrap();
    assert_eq!(clustered.value.map(|rate| (rate * 13.0).round()), Some(10.0));
}

/// The gate of a run of one target with these verdicts, each of a case of its own.
fn gate(config: &str, verdicts: &[Option<bool>]) -> Gate {
    let names: Vec<String> = (0..verdicts.len()).map(|n| format!("c{n}")).collect();
    let rows: Vec<Row<'_>> =
        names.iter().zip(verdicts).map(|(name, passed)| row(name, "a", *passed)).collect();
    summary(config, &rows).gate.unwrap()
}

#[test]
fn a_gate_holds_misses_or_cannot_tell() {
    let half = r#"{"gate":{"pass_rate":0.5}}"#;
    assert_eq!(gate(half, &[YES, NO]).held, Some(true));
    assert_eq!(gate(half, &[YES, NO, NO]).held, Some(false));
    // What could not be assessed may pass or not.
    assert_eq!(gate(half, &[YES, None]).held, Some(true), "even if it failed");
    assert_eq!(gate(half, &[NO, None, None]).held, None);
    assert_eq!(gate(half, &[NO, NO, None]).held, Some(false), "even if it passed");
    let missed = gate(half, &[NO]);
    assert_eq!((missed.failed_slots, missed.undecided_slots), (vec!["a".to_owned()], vec![]));
    let open = gate(half, &[None]);
    assert_eq!((open.failed_slots, open.undecided_slots), (vec![], vec!["a".to_owned()]));
    assert!(summary("{}", &[row("one", "a", YES)]).gate.is_none(), "nobody asked");
}

#[test]
fn a_kind_says_whom_a_gate_asks() {
    let gate_of = |more: &str, verdicts: &[Option<bool>]| {
        gate(&format!(r#"{{"gate":{{"pass_rate":0.5}},"{more}":1}}"#), verdicts)
    };
    assert_eq!(gate_of("exempt", &[NO]).held, None, "nobody is left to be asked");
    let rows = [row("one", "a", NO), row("one", "b", YES)];
    let gate =
        |more: &str| summary(&format!(r#"{{"gate":{{"pass_rate":0.5}},"{more}":1}}"#), &rows).gate.unwrap();
    assert_eq!((gate("none").held, gate("exempt").held), (Some(false), Some(true)), "`a` is held to nothing");
    let untried = gate_of("untried", &[NO]);
    assert_eq!(untried.held, None);
    assert!(untried.sentence.contains("cannot be judged"), "{}", untried.sentence);
    assert_eq!(gate_of("bounds", &[YES]).held, None, "0.2 to 0.9 is on both sides of a half");
}

#[test]
fn a_gate_asks_each_tag_by_itself() {
    let red = ["red".to_owned()];
    let ask = |passed: Option<bool>| {
        let rows =
            [row("one", "a", YES), row("two", "a", YES), Row { tags: &red, ..row("three", "a", passed) }];
        summary(r#"{"gate":{"pass_rate":0.5,"per_tag":{"red":1}}}"#, &rows).gate.unwrap()
    };
    assert_eq!((ask(YES).held, ask(NO).held, ask(None).held), (Some(true), Some(false), None));
    assert!(ask(NO).sentence.contains("tag red"), "{}", ask(NO).sentence);
    // By its own rate, not by that of all.
    let half = [Row { tags: &red, ..row("one", "a", YES) }, Row { tags: &red, ..row("two", "a", NO) }];
    let asked = |rate: &str| {
        let config = format!(r#"{{"gate":{{"pass_rate":0.5,"per_tag":{{"red":{rate}}}}}}}"#);
        summary(&config, &half).gate.unwrap().held
    };
    assert_eq!((asked("0.5"), asked("0.75")), (Some(true), Some(false)));
}

/// A kind that adds nothing: all trials of a case are neighbours, nothing is spared, aside or told by itself.
#[test]
fn a_kind_that_says_nothing_of_itself_is_added_up_as_it_is() {
    struct Plain;
    impl OwnTally for Plain {
        fn finish(self: Box<Self>, _: &mut Summary) -> GateTerms {
            GateTerms::default()
        }
    }
    let mut tally = Tally::new(&json("{}"), |_, _| Box::new(Plain));
    let mut spans = Spans::default();
    let reworded = |variant, passed| Row { variant, ..row("one", "a", passed) };
    let not_run = Row { status: Status::NotRun, ..row("two", "a", None) };
    let rows = [reworded(None, YES), reworded(Some("noise_0000"), NO), not_run];
    for (index, row) in rows.iter().enumerate() {
        let bytes = line(index as u64, row);
        tally.push(&Line::split(bytes.trim_ascii_end(), &mut spans).unwrap()).unwrap();
    }
    let summary = tally.finish().unwrap();
    let slot = &summary.slots[0];
    assert_eq!((slot.trials, counts(&slot.pass_rate_all)), (3, (1, 3)), "what was not run was needed");
    assert_eq!(slot.scores["same"].count, 2, "cases are neighbours");
    assert!(!summary.wordings.is_empty(), "other wordings are told");
}

#[test]
fn a_gate_asks_each_case_for_its_share() {
    let ask = |cases: &[&[Option<bool>]]| {
        let names: Vec<String> = (0..cases.len()).map(|n| format!("c{n}")).collect();
        let mut rows = Vec::new();
        for (name, verdicts) in names.iter().zip(cases) {
            let repeated = verdicts.iter().enumerate();
            rows.extend(repeated.map(|(n, passed)| Row { repetition: n as u32, ..row(name, "a", *passed) }));
        }
        summary(r#"{"gate":{"pass_rate":0.1,"per_case":"2 of 3"}}"#, &rows).gate.unwrap().held
    };
    assert_eq!(ask(&[&[YES, YES, NO], &[YES, YES, YES]]), Some(true));
    assert_eq!(ask(&[&[YES, YES, YES], &[YES, NO, NO]]), Some(false), "each case by itself");
    assert_eq!(ask(&[&[YES, None, NO]]), None, "the open one decides");
    assert_eq!(ask(&[&[NO, None, NO]]), Some(false));
    // Twice the trials, twice the share.
    assert_eq!(ask(&[&[YES, YES, YES, YES, NO, NO]]), Some(true));
    assert_eq!(ask(&[&[YES, YES, YES, NO, NO, NO]]), Some(false));
}

#[test]
fn an_empty_run_adds_up_to_nothing() {
    assert!(Tally::new(&json("{}"), own).finish().is_none());
}

/// One flaky case of three with two verdicts each; the other two may still turn out flaky, a case with a single verdict not.
#[test]
fn a_gate_on_flaky_cases_leaves_room_for_what_was_not_assessed() {
    let again = |case, repetition, passed| Row { repetition, ..row(case, "a", passed) };
    let mut rows = vec![again("one", 0, YES), again("one", 1, NO)];
    for case in ["two", "three"] {
        rows.extend([again(case, 0, YES), again(case, 1, YES)]);
        rows.extend([again(case, 2, None), again(case, 3, None)]);
    }
    rows.extend([again("four", 0, YES), again("four", 1, None)]);
    let summary = summary("{}", &rows);
    assert_eq!(counts(&summary.slots[0].flaky_cases), (1, 3));
    let [found] = &(FLAKY_CASES.of)(&summary, "a")[..] else { panic!("one value for a slot") };
    assert_eq!((found.open, found.bounds), (2, Some([1.0 / 3.0, 1.0])));
    assert!((FLAKY_CASES.of)(&summary, "b").is_empty());
}

#[test]
fn a_gate_holds_metrics_to_their_limits() {
    let asked = |gate_of: &str| gate(&format!(r#"{{"gate":{{{gate_of}}}}}"#), &[NO]).held;
    for (limits, expected) in [
        (r#""half":{"at_most":0.5}"#, YES),
        (r#""half":{"at_most":0.4}"#, NO),
        (r#""half":{"at_least":0.5}"#, YES),
        (r#""half":{"at_least":0.6}"#, NO),
        (r#""half":{"at_least":0.5,"at_most":0.5}"#, YES),
        (r#""half":{"at_least":0.5},"several":{"at_most":0.75}"#, YES),
        (r#""half":{"at_least":0.5},"several":{"at_most":0.5}"#, NO),
        (r#""half":{"at_most":0.5},"unheard":{"at_most":1}"#, None),
        (r#""latency_mean_ms":{"at_most":1}"#, None),
    ] {
        assert_eq!(asked(&format!(r#""metrics":{{{limits}}}"#)), expected, "{limits}: any pass rate will do");
    }
    let half = r#""metrics":{"half":{"at_most":0.5}}"#;
    assert_eq!(asked(&format!(r#""pass_rate":0.5,{half}"#)), NO, "the pass rate is asked for as well");
    assert_eq!(asked(&format!(r#""pass_rate":0,{half}"#)), YES);
    assert_eq!(asked(r#""pass_rate":0"#), YES, "any pass rate is one");
}

#[test]
fn a_gate_counts_what_was_needed_and_possible() {
    let gate = |more: &str, second: Row<'_>| {
        let rows = [row("one", "a", YES), second];
        summary(&format!(r#"{{"gate":{{"pass_rate":0.75}}{more}}}"#), &rows).gate.unwrap().held
    };
    let second = |status, variant| Row { status, variant, ..row("two", "a", None) };
    assert_eq!(gate("", second(Status::Skipped, Some("noise_0000"))), YES, "there is no such wording");
    assert_eq!(gate("", second(Status::Skipped, None)), None, "the case itself was asked for");
    assert_eq!(gate("", second(Status::Error, Some("noise_0000"))), None);
    assert_eq!(gate("", second(Status::NotRun, None)), None);
    assert_eq!(gate(r#","spares":1"#, second(Status::NotRun, None)), YES, "enough had been seen");
    assert_eq!(gate(r#","spares":1"#, second(Status::Error, None)), None);
    let missing = Row { error_type: Some("shard_missing"), ..second(Status::NotRun, None) };
    assert_eq!(gate(r#","spares":1"#, missing), None, "nobody knows what it would have been");
    let rows = [row("one", "a", YES), missing];
    assert_eq!(counts(&summary(r#"{"spares":1}"#, &rows).slots[0].pass_rate_all), (1, 2));
}

/// Of the broken case one trial failed, one passed and one is open: with any of them the gate would say something else.
#[test]
fn a_gate_forgets_all_of_a_case_that_is_taken_back() {
    let asked = |rate: &str, good: &[Option<bool>]| {
        let mut rows: Vec<Row<'_>> = [NO, YES, None].map(|passed| row("broken", "a", passed)).into();
        let repeated = good.iter().enumerate();
        rows.extend(repeated.map(|(n, passed)| Row { repetition: n as u32, ..row("good", "a", *passed) }));
        let config = format!(r#"{{"scattered":1,"gate":{{"pass_rate":{rate}}}}}"#);
        summary(&config, &rows).gate.unwrap().held
    };
    assert_eq!(asked("1", &[YES, YES]), YES);
    assert_eq!(asked("0.1", &[NO, NO]), NO);
    assert_eq!(asked("1", &[YES, None]), None);
    assert_eq!(asked("0.5", &[YES, None]), YES);
    assert_eq!(asked("0.6", &[NO, None]), NO);
}

/// Two wordings of one case, each asked twice: each agrees with itself, and they do not agree with each other.
#[test]
fn scattered_verdicts_find_their_case_and_wording_again() {
    let at = |variant, repetition, passed| Row { variant, repetition, ..row("one", "a", passed) };
    let of_two = |case| row(case, "b", YES);
    let rows = [
        at(None, 0, YES),
        of_two("one"),
        at(None, 1, YES),
        at(Some("noise_0000"), 0, NO),
        row("two", "a", NO),
        at(Some("noise_0000"), 1, NO),
        of_two("two"),
    ];
    let summary = summary(r#"{"scattered":1}"#, &rows);
    let slot = &summary.slots[0];
    assert_eq!((counts(&slot.flaky_cases), counts(&slot.pass_rate)), ((0, 1), (2, 5)));
    let [wording] = &summary.wordings[..] else { panic!("one generator") };
    assert_eq!((counts(&wording.pass_rate), counts(&wording.base_pass_rate)), ((0, 2), (2, 2)));
    assert_eq!((wording.generator.as_str(), wording.relative_drop), ("noise", Some(1.0)));
    let [pair] = &summary.comparisons[..] else { panic!("one pair") };
    assert_eq!((pair.pairs, pair.both_passed, pair.only_b, pair.cases), (2, 1, 1, 2));
}

/// Targets take turns or come in any other order; a name that comes back is the same target.
#[test]
fn records_find_their_target_in_any_order() {
    let order = ["a", "b", "c", "c", "a", "c", "b", "b", "a"];
    let rows: Vec<Row<'_>> = order.iter().map(|slot| row("one", slot, Some(*slot == "b"))).collect();
    let summary = summary("{}", &rows);
    let slots: Vec<_> = summary
        .slots
        .iter()
        .map(|slot| (slot.slot.as_str(), slot.trials, slot.pass_rate.numerator))
        .collect();
    assert_eq!(slots, [("a", 3, 0), ("b", 3, 3), ("c", 3, 0)]);
    assert_eq!(summary.best.unwrap().slot, "b");
}

#[test]
fn a_run_without_records_is_what_its_configuration_says() {
    let config = json(r#"{"kind":"probe","suite_id":"empty","seed":7}"#);
    let found = Tally::new(&config, own).finish().unwrap();
    assert_eq!((found.kind, found.suite_id.as_str(), found.trials), (Kind::Probe, "empty", 0));
    assert_eq!(found.run_id, proofhouse_ledger::config::run_id(&config));
    assert!(found.slots.is_empty());
    for part in [r#"{"kind":"probe"}"#, r#"{"suite_id":"empty"}"#] {
        assert!(Tally::new(&json(part), own).finish().is_none(), "{part}");
    }
}

/// Thirty cases that all pass are 95 % sure of a half, thirty that all fail as well; four are not.
#[test]
fn a_gate_that_has_to_be_sure_counts_cases() {
    let sure = r#"{"gate":{"pass_rate":0.5,"confidence":0.95}}"#;
    assert_eq!((gate(sure, &[YES; 30]).held, gate(sure, &[NO; 30]).held), (YES, NO));
    assert_eq!(gate(sure, &[YES, YES, NO, NO]).held, None);
    // A target that was not asked a case has none to miss.
    let asked = r#"{"gate":{"pass_rate":0.1,"per_case":"1 of 1"}}"#;
    let rows = [row("one", "a", YES), row("one", "b", NO), row("two", "a", YES)];
    let found = summary(asked, &rows).gate.unwrap();
    assert_eq!(found.failed_slots, ["b"]);
    assert!(found.sentence.contains("1 of 1 case"), "{}", found.sentence);
}

/// Wilson's interval of ten of ten begins at 10 / (10 + 1.96²) = 72.25 %.
#[test]
fn a_clustered_rate_has_an_interval_of_rates() {
    let names: Vec<String> = (0..10).map(|n| format!("c{n}")).collect();
    let rows: Vec<Row<'_>> = names.iter().map(|name| row(name, "a", YES)).collect();
    let slot = &summary("{}", &rows).slots[0];
    let clustered = slot.pass_rate_clustered.as_ref().unwrap();
    assert!((clustered.low.unwrap() - 0.7225).abs() < 1e-3 && clustered.high == Some(1.0), "{clustered:?}");
    let rows: Vec<Row<'_>> = names.iter().map(|name| row(name, "a", NO)).collect();
    let slot = &summary("{}", &rows).slots[0];
    let clustered = slot.pass_rate_clustered.as_ref().unwrap();
    assert!(clustered.low == Some(0.0) && (clustered.high.unwrap() - 0.2775).abs() < 1e-3, "{clustered:?}");
}

/// Of the two cases that all have, `a` passes one; what `b` alone was asked makes it no better.
#[test]
fn the_best_is_found_on_cases_that_several_have() {
    let shared = |case| [row(case, "a", Some(case == "one")), row(case, "b", NO), row(case, "c", NO)];
    let alone = ["three", "four", "five"].map(|case| row(case, "b", YES));
    let rows: Vec<Row<'_>> = [shared("one"), shared("two"), alone].concat();
    assert_eq!(summary("{}", &rows).best.unwrap().slot, "a");
}

#[test]
fn a_run_directory_is_added_up_and_a_damaged_line_named() {
    let dir = tempfile::tempdir().unwrap();
    let paths = RunPaths::new(camino::Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap());
    let lines = [line(0, &row("one", "a", YES)), line(1, &row("two", "a", NO))];
    std::fs::write(paths.config(), "{}\n").unwrap();
    std::fs::write(paths.records(), lines.concat()).unwrap();
    let summary = tally(&paths, own).unwrap();
    let bytes = write(&paths, &summary).unwrap();
    assert_eq!((summary.trials, counts(&summary.slots[0].pass_rate)), (2, (1, 2)));
    assert_eq!(std::fs::read(paths.summary()).unwrap(), bytes);
    // Whoever has seen the first records reads only the others.
    let mut spans = Spans::default();
    let mut sum = Sum::new(&Json::Object(Default::default()), own);
    sum.push(&Line::split(lines[0].trim_ascii_end(), &mut spans).unwrap()).unwrap();
    std::fs::write(paths.records(), [&vec![b'?'; lines[0].len()][..], &lines[1]].concat()).unwrap();
    assert_eq!(sum.finish(&paths).unwrap(), summary);
    let mut sum = Sum::new(&Json::Object(Default::default()), own);
    sum.push(&Line::split(lines[0].trim_ascii_end(), &mut spans).unwrap()).unwrap();
    std::fs::write(paths.records(), [&lines[0][..], b"{}\n"].concat()).unwrap();
    assert!(matches!(sum.finish(&paths).unwrap_err(), TallyError::Damaged { line: 2, .. }));
    std::fs::write(paths.records(), [&lines[0][..], b"{}\n"].concat()).unwrap();
    let damaged = tally(&paths, own).unwrap_err();
    assert!(matches!(damaged, TallyError::Damaged { line: 2, .. }), "{damaged}");
    std::fs::write(paths.records(), "").unwrap();
    assert!(matches!(tally(&paths, own).unwrap_err(), TallyError::Empty));
    std::fs::write(paths.config(), "[").unwrap();
    assert!(matches!(tally(&paths, own).unwrap_err(), TallyError::Config(_)));
}
