//! How far judges can be trusted, through the real program: errors on labelled answers, corrected rates, agreement, texts in full.

use crate::lab::Lab;

/// Models that judge: `kind` calls nearly everything right, `strict` looks for a word.
const MODELS: &str = "{kind: {scripted: {rules: [{contains: awful, reply: \"No.\\nVERDICT: WRONG\"}], otherwise: {reply: \"Fine as it is, I think.\\nVERDICT: RIGHT\"}}}, \
     strict: {scripted: {rules: [{regex: \"(good|decent)\", reply: \"It says so.\\nVERDICT: RIGHT\"}], otherwise: {reply: \"VERDICT: WRONG\"}}}}";

/// Ten cases whose answers are `good`, twenty labelled answers.
fn suite(lab: &Lab, models: &str, labels: &str, rest: &str) {
    let cases: String = (0..10).map(|at| format!("  - {{id: c{at}, input: q{at}}}\n")).collect();
    lab.write(
        "s.yaml",
        format!(
            "kind: probe\nsuite_id: s\ncases:\n{cases}judges:\n  polite: {{rubric: {{criterion: It is polite., models: {models}}}}}\n\
             targets:\n  m: {{scripted: {{rules: [{{regex: \"q[0-6]\", reply: good}}], otherwise: {{reply: awful}}}}}}\n{labels}{rest}"
        ),
    );
}

/// Right answers that the judge of one model takes for right in 9 of 10, and wrong ones that it takes for wrong in 8 of 10.
fn labels(lab: &Lab) -> &'static str {
    let row = |at: usize, output: &str, right: bool| {
        format!("{{\"id\":\"l{at}\",\"input\":\"q\",\"output\":\"{output}\",\"right\":{right}}}\n")
    };
    let right = (0..10).map(|at| row(at, if at == 0 { "awful" } else { "good" }, true));
    let wrong = (10..20).map(|at| row(at, if at < 12 { "good" } else { "awful" }, false));
    lab.write("labels.jsonl", right.chain(wrong).collect::<String>());
    "calibration: {datasets: [{path: labels.jsonl}]}\n"
}

fn one(which: &str) -> &'static str {
    match which {
        "strict" => {
            "{strict: {scripted: {rules: [{regex: \"(good|decent)\", reply: \"It says so.\\nVERDICT: RIGHT\"}], otherwise: {reply: \"VERDICT: WRONG\"}}}}"
        }
        _ => "{coin: {scripted: {otherwise: {reply: \"VERDICT: RIGHT\"}}}}",
    }
}

#[test]
fn a_rate_is_corrected_for_the_judges_errors_in_every_output() {
    let lab = Lab::new();
    let labels = labels(&lab);
    suite(&lab, one("strict"), labels, "gate: {pass_rate: 0.7}");
    let errors = "on answers like the labelled ones, polite calls 9 of 10 right answers right (sensitivity 90.0 %, 95 % interval \
                  59.6 % to 98.2 %) and calls 8 of 10 wrong answers wrong (specificity 80.0 %, 95 % interval 49.0 % to 94.3 %)";
    // (0.7 + 0.8 − 1) / (0.9 + 0.8 − 1)
    let rate = "m: 70.0 % as judged; without the judge's errors 71.4 % (95 % interval";
    lab.run("run s.yaml --run-dir r")
        .exits(0)
        .says("30 trials, 10 assessed, 20 to try the judges; 1 target")
        .says(errors)
        .says(rate);
    let summary = lab.json("r/summary.json");
    let found = &summary["calibration"];
    assert_eq!((found["trials"].as_u64(), found["judges"].as_array().unwrap().len()), (Some(20), 1));
    assert_eq!(found["judges"][0]["sensitivity"]["numerator"], 9);
    assert_eq!(found["corrected"][0]["value"].as_f64(), Some(0.714_285_714_286));
    assert!(found["corrected"][0]["low"].as_f64().unwrap() < 0.4);
    assert_eq!(
        (summary["slots"][0]["trials"].as_u64(), summary["gate"]["held"].as_bool()),
        (Some(10), Some(true))
    );
    let html = lab.read("r/report.html").replace("&#39;", "'");
    let markdown = lab.run("report r --markdown").exits(0).stdout;
    let json = lab.run("report r --format json").exits(0).stdout;
    for text in [&html, &markdown, &json] {
        assert!(text.contains(errors) && text.contains(rate), "{text}");
    }
    lab.run("verify r").exits(0);
    // The same bytes, whatever the order.
    lab.run("run s.yaml --run-dir again --jobs 1 --quiet").exits(0);
    assert_eq!(lab.run_files("r"), lab.run_files("again"));
}

#[test]
fn what_models_said_is_kept_in_full_also_where_they_said_right() {
    let lab = Lab::new();
    suite(&lab, MODELS, "", "");
    lab.run("run s.yaml --run-dir r")
        .exits(0)
        .says("polite/kind, polite/strict agree with Krippendorff's α =");
    let first = &lab.records("r")[0];
    assert_eq!(first["passed"], true);
    assert_eq!(first["advice"]["polite"]["kind"]["text"], "Fine as it is, I think.\nVERDICT: RIGHT");
    assert_eq!(first["advice"]["polite"]["strict"]["score"], 1);
    let found = &lab.json("r/summary.json")["agreement"][0];
    assert_eq!(found["raters"], serde_json::json!(["polite/kind", "polite/strict"]));
    assert_eq!((found["answers"].as_u64(), found["criterion"].as_str()), (Some(10), Some("It is polite.")));
    assert_eq!(found["alpha"], 1);
    lab.run("verify r").exits(0);
}

/// Judges of one criterion are raters of one kind, whether they are models of one judge or judges of their own.
#[test]
fn judges_with_the_same_criterion_are_compared() {
    let lab = Lab::new();
    let judge = |name: &str, word: &str, criterion: &str| {
        format!(
            "  {name}: {{rubric: {{criterion: {criterion}, models: {{m: {{scripted: {{rules: [{{regex: \"{word}\", reply: \"VERDICT: RIGHT\"}}], \
             otherwise: {{reply: \"VERDICT: WRONG\"}}}}}}}}}}}}\n"
        )
    };
    let judges = [
        judge("a", "answer-[0-4]", "It is right."),
        judge("b", "answer-[0-5]", "It is right."),
        judge("c", "answer", "It is short."),
    ];
    let cases: String = (0..10).map(|at| format!("  - {{id: c{at}, input: answer-{at}}}\n")).collect();
    lab.write(
        "s.yaml",
        format!(
            "kind: probe\nsuite_id: s\ncases:\n{cases}judges:\n{}targets: {{m: {{scripted: {{otherwise: {{reply: '{{input}}'}}}}}}}}\n",
            judges.concat()
        ),
    );
    lab.run("run s.yaml --run-dir r").exits(0);
    let found = lab.json("r/summary.json")["agreement"].clone();
    assert_eq!(found.as_array().unwrap().len(), 1, "a judge alone agrees with nobody: {found}");
    assert_eq!(found[0]["raters"], serde_json::json!(["a/m", "b/m"]));
    // 9 of 10 agree: 1 − (2/20) / (2 · 11 · 9 / (20 · 19)).
    let alpha = 1.0 - 0.1 / (2.0 * 11.0 * 9.0 / (20.0 * 19.0));
    assert!((found[0]["alpha"].as_f64().unwrap() - alpha).abs() < 1e-9, "{found}");
}

#[test]
fn judges_that_are_no_better_than_chance_correct_nothing() {
    let lab = Lab::new();
    let labels = labels(&lab);
    suite(&lab, one("coin"), labels, "gate: {metrics: {corrected_pass_rate: {at_least: 0.5}}}");
    lab.run("run s.yaml --run-dir r")
        .exits(9)
        .says("it cannot be corrected, as the judge is no better than chance")
        .says("m has no corrected_pass_rate");
    let one_kind = "calibration: {cases: [{id: a, input: q, output: good, right: true}]}\n";
    suite(&lab, one("strict"), one_kind, "");
    lab.run("run s.yaml --run-dir r --overwrite")
        .exits(0)
        .says("warning: no labelled answer of `calibration` is wrong")
        .says("it cannot be corrected without labelled answers that are right and others that are wrong");
    let judged = "gate: {metrics: {sensitivity: {at_least: 0.8}, specificity: {at_least: 0.9}}}";
    suite(&lab, one("strict"), labels, judged);
    lab.run("run s.yaml --run-dir r --overwrite")
        .exits(4)
        .says("m, judge polite, has specificity 0.8 (at least 0.9 is asked for)");
}

/// A calibration says nothing of targets: it is in no comparison, no regression and no failure of an export.
#[test]
fn labelled_answers_are_nobodys_trials() {
    let lab = Lab::new();
    let with = labels(&lab);
    suite(&lab, one("strict"), with, "");
    lab.run("run s.yaml --run-dir a --quiet").exits(0);
    suite(&lab, one("strict"), "", "");
    lab.run("run s.yaml --run-dir b --quiet").exits(0);
    lab.run("diff a b --fail-on-regressions").exits(0);
    let compared = lab.run("compare a b").exits(0).stdout;
    assert!(compared.starts_with("a and b fare alike on all 10 cases"), "{compared}");
    lab.run("export a --format junit --out x").exits(0);
    assert!(lab.read("x/junit.xml").contains("tests=\"30\" failures=\"3\" errors=\"0\" skipped=\"20\""));
}

#[test]
fn wrong_labels_are_refused_with_their_place() {
    let lab = Lab::new();
    for (labels, says) in [
        ("calibration: {}\n", "`calibration` has no labelled answers"),
        ("calibration: {cases: [{id: a, input: q, output: x}]}\n", "the labelled answer has no `right`"),
        ("calibration: {cases: [{id: a, input: q, right: true}]}\n", "the labelled answer has no `output`"),
        ("calibration: {cases: [{id: a, input: q, output: x, right: 1}]}\n", "calibration.cases[0].right"),
        ("calibration: {cases: [{id: a, output: x, right: true}]}\n", "the prompt needs `{input}`"),
        (
            "calibration: {cases: [{id: a, input: q, output: x, right: true}, {id: a, input: q, output: y, right: false}]}\n",
            "duplicate case id",
        ),
        ("calibration: {datasets: [{path: none.jsonl}]}\n", "none.jsonl"),
        ("calibration: {case: []}\n", "did you mean `cases`?"),
    ] {
        suite(&lab, one("strict"), labels, "");
        lab.run("check s.yaml").exits(3).says(says);
    }
    suite(&lab, one("strict"), "", "");
    let reserved = lab.read("s.yaml").replace("{id: c0,", "{id: proofhouse-calibration-x,");
    lab.write("s.yaml", reserved);
    lab.run("check s.yaml").exits(3).says("the id begins with `proofhouse-calibration-`");
}

#[test]
fn a_plan_says_what_the_labels_can_tell() {
    let lab = Lab::new();
    let labels = labels(&lab);
    suite(&lab, one("strict"), labels, "");
    lab.run("plan s.yaml")
        .exits(0)
        .says("trials: 30 (10 cases x 1 target x 1 repetition, and 20 labelled answers)")
        .says("calibration: 10 right and 10 wrong labelled answers: a sensitivity of 90 % would be known as 59.6 % to 98.2 %");
}

/// Answers are judged again without being asked for; the labelled ones with them.
#[test]
fn stored_answers_are_judged_with_the_labels_of_the_new_suite() {
    let lab = Lab::new();
    suite(&lab, one("strict"), "", "");
    lab.run("run s.yaml --run-dir a --quiet").exits(0);
    let labels = labels(&lab);
    suite(&lab, one("strict"), labels, "");
    lab.run("score a s.yaml --run-dir b").exits(0).says("without the judge's errors 71.4 %");
}
