//! Lanes 1, 2 and auto: thresholds, what may stand for a fresh lane 1, and exit codes.

use crate::lab::Lab;

/// A suite on a model that answers the protocol probe, unless `settings` says otherwise.
fn lab(settings: &str) -> Lab {
    let lab = Lab::new();
    lab.write("cases.jsonl", super::CASES);
    lab.write(
        "s.yaml",
        format!(
            "kind: containment\nsuite_id: s\ntimeout_ms: 20\ndatasets: [cases.jsonl]\ntargets: {{model: {{scripted: {settings}}}}}\n\
             variants: {{naive: {{}}, calyx_llm: {{}}}}\n"
        ),
    );
    lab
}

const ABLE: &str = "{rules: [{contains: List, tool_calls: [{name: fs_list, args: {path: '{input}'}}]}, \
    {contains: Read, tool_calls: [{name: fs_read, args: {path: '{input}'}}]}, \
    {contains: Search, reply: {tool_calls: [{name: repo_grep, args: {pattern: '{input}'}}]}}], \
    otherwise: {reply: {tool_calls: [], final: ok}}}";

#[test]
fn lane_1_prints_each_threshold_beside_its_value() {
    let able = lab(ABLE);
    able.run("run s.yaml --lane 1 --run-dir one").exits(0).says("Lane 1 passed").says("at least 0.75");
    assert_eq!(able.records("one").len(), 10, "five probe cases, two variants");
    assert_eq!(able.json("one.run.json")["lane"], "1");
    able.run("verify one").exits(0);
    assert!(able.read("one/report.html").contains("Lane 1 passed"));

    let mute = lab("{otherwise: {reply: {tool_calls: []}}}");
    mute.run("run s.yaml --lane 1 --run-dir one").exits(4).says("LANE 1 FAILED").says("attempt_rate");
}

#[test]
fn lane_2_says_that_it_bypassed_the_probe() {
    let lab = lab(ABLE);
    lab.run("run s.yaml --lane 2 --run-dir two").exits(0);
    let envelope = lab.json("two.run.json");
    assert_eq!((&envelope["lane"], &envelope["details"]["lane1_gate"]), (&"2".into(), &"bypassed".into()));
    lab.run("verify two").exits(0);
}

#[test]
fn auto_runs_lane_2_only_behind_a_lane_1_that_passed() {
    let lab = lab(ABLE);
    let gate = |name: &str| lab.json(&format!("{name}.run.json"))["details"]["lane1_gate"].clone();
    lab.run("run s.yaml --lane auto --run-dir run").exits(0).says("Lane 1 passed");
    assert_eq!(lab.json("run.run.json")["lane"], "auto");
    assert_eq!(gate("run")["source"], "fresh");
    assert_eq!(gate("run")["checks"].as_array().unwrap().len(), 8);
    lab.run("verify run run.lane1").exits(0);
    lab.run("run s.yaml --lane auto --run-dir run --overwrite").exits(0).says("passed before");
    assert_eq!(gate("run")["source"], "cached");
    lab.run("run s.yaml --lane auto --run-dir run --overwrite --no-cache").exits(0);
    assert_eq!(gate("run")["source"], "fresh");

    let dead = self::lab("{otherwise: {fault: timeout}}");
    dead.run("run s.yaml --lane auto --run-dir run")
        .exits(9)
        .says("lane 2 was not run")
        .says("LANE 1 FAILED");
    assert!(!dead.path("run").exists());
}

#[test]
fn an_earlier_pass_stands_only_for_the_same_run() {
    let lab = lab(ABLE);
    let source = |args: &str| {
        lab.run(&format!("run s.yaml --lane auto --run-dir run --overwrite {args}")).exits(0);
        lab.json("run.run.json")["details"]["lane1_gate"]["source"].as_str().unwrap().to_owned()
    };
    assert_eq!(source(""), "fresh");
    assert_eq!(source(""), "cached");
    assert_eq!(source("--seed 9"), "fresh", "another seed");
    let suite = lab.read("s.yaml");
    lab.write("s.yaml", suite.replace("final: ok", "final: fine"));
    assert_eq!(source("--seed 9"), "fresh", "another target");
    assert_eq!(source("--seed 9"), "cached");
    lab.write("s.yaml", format!("{}title: changed\n", lab.read("s.yaml")));
    assert_eq!(source("--seed 9"), "fresh", "another suite content");
    let records = lab.read("run.lane1/records.jsonl");
    lab.write("run.lane1/records.jsonl", records.replacen("contained", "contaimed", 1));
    assert_eq!(source("--seed 9"), "fresh", "altered records");
}

#[test]
fn a_lane_belongs_to_containment_suites() {
    let lab = Lab::new();
    lab.small_suite();
    lab.run("run small.yaml --lane 1").exits(2).says("`--lane` is for suites of kind `containment`");
}
