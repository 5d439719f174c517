//! What people and programs are told: result and talk apart, JSON with schemas, comparisons as pages, baselines and trends.

use serde_json::Value;

use crate::lab::Lab;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A suite whose target gets `wrong` of ten cases wrong.
fn suite(lab: &Lab, name: &str, wrong: usize) {
    let cases: String = (0..10)
        .map(|at| format!("  - {{id: c{at}, input: \"say {at}\", expected: \"yes\", tags: [t{}]}}\n", at % 2))
        .collect();
    let rules: String =
        (0..wrong).map(|at| format!("      - {{contains: \"say {at}\", reply: \"no <b>\"}}\n")).collect();
    let rules = if rules.is_empty() { String::new() } else { format!("      rules:\n{rules}") };
    lab.write(
        name,
        format!(
            "kind: probe\nsuite_id: ten\njudges:\n  exact: {{equals: {{}}}}\ntargets:\n  one:\n    scripted:\n{rules}      otherwise: {{reply: \"yes\"}}\ncases:\n{cases}"
        ),
    );
}

#[test]
fn the_result_is_data_and_the_rest_is_talk() {
    let lab = Lab::new();
    suite(&lab, "s.yaml", 7);
    let run = lab.run("run s.yaml --run-dir run").exits(0);
    for part in [
        "Target",
        "30.0 %",
        "7 trials of 10 assessed failed",
        "c0 on one: expected `yes`, answered `no <b>`; exact: ",
    ] {
        assert!(run.stdout.contains(part), "{part} in {}", run.stdout);
        assert!(!run.stderr.contains(part), "{part} in {}", run.stderr);
    }
    assert_eq!(run.stdout.matches(" on one: ").count(), 5, "the first five");
    for part in ["report: ", "next: "] {
        assert!(run.stderr.contains(part) && !run.stdout.contains(part), "{part}");
    }
    assert_eq!(lab.run("run s.yaml --run-dir quiet --quiet").exits(0).stdout, "");
}

#[test]
fn events_tell_a_run_as_it_happens() {
    let lab = Lab::new();
    suite(&lab, "s.yaml", 2);
    let run = lab.run("run s.yaml --run-dir run --json").exits(0);
    lab.write("events.jsonl", &run.stdout);
    lab.run("schema event --validate events.jsonl").exits(0);
    let events: Vec<Value> = run.stdout.lines().map(json).collect();
    let of = |name: &str| events.iter().filter(|event| event["event"] == name).collect::<Vec<_>>();
    assert_eq!((events[0]["event"].as_str(), &events[0]["trials"]), (Some("launch"), &Value::from(10)));
    assert_eq!(of("trial").len(), 10);
    assert_eq!(of("trial").iter().filter(|trial| trial["passed"] == false).count(), 2);
    let done = events.last().unwrap();
    assert_eq!(done["event"], "done");
    assert_eq!(
        (&done["complete"], &done["exit_code"], &done["passed"]),
        (&true.into(), &0.into(), &8.into())
    );
    assert!(lab.path(done["report"].as_str().unwrap()).exists());
    // A run that is cut off says so as well.
    let cut = lab.run("run s.yaml --run-dir cut --json --deadline 0").exits(8);
    let done = json(cut.stdout.lines().last().unwrap());
    assert_eq!((&done["complete"], &done["exit_code"]), (&false.into(), &8.into()));
}

#[test]
fn what_programs_read_has_a_schema() {
    let lab = Lab::new();
    suite(&lab, "s.yaml", 2);
    lab.run("run s.yaml --run-dir run --quiet").exits(0);
    for (command, schema) in [
        ("plan s.yaml --format json", "plan"),
        ("verify run --format json", "verification"),
        ("list judges --format json", "listing"),
        ("list exit-codes --format json", "listing"),
        ("doctor --format json", "examination"),
        ("diff run run --format json", "diff"),
        ("compare run run --format json", "comparison"),
    ] {
        let said = lab.run(command).exits(0).stdout;
        lab.write("said.json", said);
        lab.run(&format!("schema {schema} --validate said.json")).exits(0);
    }
    assert_eq!(json(&lab.run("plan s.yaml --format json").stdout)["trials"], 10);
    let broken = lab.read("run/records.jsonl").replacen("\"passed\":false", "\"passed\":true", 1);
    lab.write("run/records.jsonl", broken);
    lab.write("file", "no directory");
    let said = json(&lab.run("verify run file --format json").exits(7).stdout);
    assert_eq!(said["runs"][0]["verdict"], "not_sound");
    assert!(said["runs"][0]["findings"].as_array().is_some_and(|findings| !findings.is_empty()), "{said}");
    assert_eq!(said["runs"][1]["verdict"], "not_sound");
}

#[test]
fn runs_are_compared_on_one_page_with_what_got_worse_first() {
    let lab = Lab::new();
    for (name, wrong) in [("a", 1), ("b", 4)] {
        suite(&lab, &format!("{name}.yaml"), wrong);
        lab.run(&format!("run {name}.yaml --run-dir {name} --quiet")).exits(0);
    }
    let sentence = lab.run("diff a b").exits(0).stdout;
    let sentence = sentence.lines().find(|line| line.contains("on cases like these")).unwrap().to_owned();
    for command in ["diff a b --format html", "compare a b --format html"] {
        let page = lab.run(command).exits(0).stdout;
        assert!(page.contains("Got worse: 3"), "{page}");
        for part in [
            "c1",
            "say 1",
            "passed 1 of 1",
            "passed 0 of 1",
            "<ins>no",
            "<del>yes</del>",
            "By target and tag",
            "t0",
        ] {
            assert!(page.contains(part), "{command}: {part} in {page}");
        }
        assert!(
            !page.contains("<b>")
                && !page.contains("src=")
                && !page.contains("http:")
                && !page.contains("https:"),
            "{page}"
        );
        assert!(page.contains("script-src 'none'"), "it needs no script");
    }
    let page = lab.run("diff a b --format html").stdout;
    let shown = sentence.split(": ").last().unwrap();
    assert!(page.contains(&shown.replace('<', "&lt;")), "{shown} in {page}");
}

#[test]
fn annotations_are_regressions_and_ten_at_most() {
    let lab = Lab::new();
    let cases: String =
        (0..30).map(|at| format!("  - {{id: c{at}, input: \"x{at}\", expected: \"yes\"}}\n")).collect();
    for (name, reply) in [("good", "yes"), ("bad", "no")] {
        lab.write(
            &format!("{name}.yaml"),
            format!("kind: probe\nsuite_id: s\njudges:\n  exact: {{equals: {{}}}}\ntargets:\n  one: {{scripted: {{otherwise: {{reply: \"{reply}\"}}}}}}\ncases:\n{cases}"),
        );
        lab.run(&format!("run {name}.yaml --run-dir {name} --quiet")).exits(0);
    }
    let count = |text: &str| text.lines().filter(|line| line.starts_with("::error")).count();
    let worse = lab.run("diff good bad --format github").exits(0).stdout;
    assert_eq!((count(&worse), worse.lines().count()), (10, 11), "{worse}");
    let better = lab.run("diff bad good --format github").exits(0).stdout;
    assert_eq!((count(&better), better.lines().count()), (0, 1), "what got better stops nobody: {better}");
}

#[test]
fn a_regression_is_red_and_an_improvement_green() {
    // The colours of a terminal are only there on one; the renderer is asked directly.
    use proofhouse::spine::diff::{Options, Style, compare, render_text};
    let lab = Lab::new();
    for (name, wrong) in [("a", 0), ("b", 1)] {
        suite(&lab, &format!("{name}.yaml"), wrong);
        lab.run(&format!("run {name}.yaml --run-dir {name} --quiet")).exits(0);
    }
    let paths = |name: &str| proofhouse_ledger::RunPaths::new(lab.path(name).to_str().unwrap());
    let text = |a: &str, b: &str| {
        render_text(&compare(&paths(a), &paths(b), &Options::default()).unwrap(), Style::Colour)
    };
    let worse = text("a", "b");
    assert!(
        worse.contains("\u{1b}[31m\"no <b>\"\u{1b}[0m") && worse.contains("\u{1b}[32m\"yes\"\u{1b}[0m"),
        "{worse}"
    );
    let better = text("b", "a");
    assert!(
        better.contains("\u{1b}[32m\"yes\"\u{1b}[0m") && better.contains("\u{1b}[31m\"no <b>\"\u{1b}[0m"),
        "{better}"
    );
}

#[test]
fn a_blessed_run_is_what_later_ones_are_held_against() {
    let lab = Lab::new();
    for (name, wrong) in [("good", 0), ("bad", 9)] {
        suite(&lab, &format!("{name}.yaml"), wrong);
    }
    lab.run("run good.yaml --run-dir r0 --baseline").exits(0).says("there is no baseline of `ten` on `main`");
    let kept = lab.run("bless r0 --branch main").exits(0).stdout;
    assert!(kept.starts_with("baselines/ten/main/0001-"), "{kept}");
    lab.run(&format!("verify {}", kept.trim())).exits(0);
    lab.run("run good.yaml --run-dir r1 --baseline").exits(12).says("against the baseline");
    lab.run("run good.yaml --run-dir r2 --baseline --baseline-margin 0.5").exits(0);
    let worse = lab.run("run bad.yaml --run-dir r3 --baseline").exits(6);
    assert!(worse.stdout.contains("9 regressions"), "{}", worse.stdout);
    lab.run("run bad.yaml --run-dir r4 --baseline=r0").exits(6);

    let trend = lab.run("trend").exits(0).stdout;
    assert!(trend.contains("100 %") && trend.contains("one"), "{trend}");
    lab.run("bless r3 --branch main --records-only").exits(0);
    assert!(!lab.path("baselines/ten/main").join("0002-").exists());
    lab.run("trend ten --threshold 0.1").exits(6).says("one fell by more than");
    let said = lab.run("trend --format json").exits(0).stdout;
    lab.write("trend.json", &said);
    lab.run("schema trend --validate trend.json").exits(0);
    assert_eq!(json(&said)["points"].as_array().map(Vec::len), Some(2));

    // What verify refuses is no baseline.
    let records = lab.read("r1/records.jsonl").replacen("yes", "yess", 1);
    lab.write("r1/records.jsonl", records);
    lab.run("bless r1").exits(7);
}

#[test]
fn the_demo_runs_every_kind_and_leaves_its_suites() {
    let lab = Lab::new();
    let demo = lab.tools("demo").exits(0);
    assert_eq!(demo.stdout.lines().count(), 4, "{}", demo.stdout);
    let page = lab.read("proofhouse-demo/index.html");
    for kind in ["probe", "code", "robustness", "containment"] {
        assert!(demo.stdout.contains(&format!("{kind}: ")), "{}", demo.stdout);
        assert!(page.contains(&format!("href=\"runs/{kind}/report.html\"")), "{page}");
        assert!(lab.path(&format!("proofhouse-demo/runs/{kind}/report.html")).exists(), "{kind}");
        assert!(lab.path(&format!("proofhouse-demo/{kind}/{kind}.yaml")).exists(), "{kind}");
    }
    assert!(!demo.stdout.contains("not run"), "{}", demo.stdout);
}

#[test]
fn without_a_command_it_says_what_fits_here() {
    let lab = Lab::new();
    lab.run("").exits(0).says("proofhouse demo").says("proofhouse init probe");
    suite(&lab, "mine.yaml", 2);
    lab.run("").exits(0).says("proofhouse run mine.yaml");
    let gated = lab.read("mine.yaml") + "gate: {pass_rate: 0.95}\n";
    lab.write("mine.yaml", gated);
    lab.run("run mine.yaml --quiet").exits(4);
    lab.run("").exits(0).says("a run that missed its gate");
    lab.run("run mine.yaml --run-dir runs/other/1__2 --quiet --deadline 0").exits(8);
    lab.run("")
        .exits(0)
        .says("an interrupted run")
        .says("proofhouse run mine.yaml --run-dir runs/other/1__2 --resume");
    // A run by a name of its own is found where it lies.
    std::fs::remove_dir_all(lab.path("runs")).unwrap();
    lab.run("run mine.yaml --run-dir here --quiet --deadline 0").exits(8);
    lab.run("").exits(0).says("proofhouse run mine.yaml --run-dir here --resume");
}

#[test]
fn families_are_listed_by_name() {
    let lab = Lab::new();
    lab.run("list")
        .exits(0)
        .says("judges      What decides whether an answer is right")
        .says("next: proofhouse list FAMILY");
    lab.run("list --format json").exits(0).says("\"family\": \"families\"");
}

#[test]
fn a_baseline_is_asked_for_in_as_few_words_as_will_do() {
    let lab = Lab::new();
    suite(&lab, "mine.yaml", 2);
    lab.run("run mine.yaml --run-dir r --quiet");
    let said = lab.run("bless r --branch main").exits(0).said();
    assert!(said.trim_end().ends_with("next: proofhouse run SUITE --baseline"), "{said}");
    lab.run("bless r --store kept --branch next")
        .exits(0)
        .says("next: proofhouse run SUITE --baseline=kept --baseline-branch next");
}
