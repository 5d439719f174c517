//! What the exit code and the rates say when there is little to say.

use crate::lab::Lab;

fn dead_suite(lab: &Lab, rule: &str) {
    lab.write("dead.yaml", format!(
        "kind: probe\nsuite_id: dead\ncases: [{{id: a, input: a, expected: a}}, {{id: b, input: b, expected: b}}]\n\
         judges: {{same: {{equals: {{}}}}}}\ntargets: {{t: {{scripted: {{rules: [{rule}]}}}}}}\n"
    ));
}

#[test]
fn a_run_without_an_assessed_trial_never_exits_0_and_its_rates_are_null() {
    for (fault, status) in [("error", "error"), ("timeout", "timeout"), ("rate_limited", "rate_limited")] {
        let lab = Lab::new();
        dead_suite(&lab, &format!("{{fault: {fault}}}"));
        lab.run("run dead.yaml --run-dir run").exits(9).says("not assessed");
        let summary = lab.json("run/summary.json");
        assert_eq!(summary["assessed"], 0);
        assert_eq!(summary["counts"][status], 2);
        let rate = &summary["slots"][0]["pass_rate"];
        assert!(rate["value"].is_null() && rate["low"].is_null() && rate["high"].is_null());
        assert!(summary["slots"][0]["pass_rate_all"]["value"].is_null());
        for record in lab.records("run") {
            assert!(record["passed"].is_null());
            assert_eq!(record["status"], status);
        }
        lab.run("verify run").exits(0);
    }
}

#[test]
fn a_slow_target_times_out_and_is_recorded() {
    let lab = Lab::new();
    dead_suite(&lab, "{latency_ms: 60000, reply: late}");
    lab.write("dead.yaml", lab.read("dead.yaml") + "timeout_ms: 20\n");
    lab.run("run dead.yaml --run-dir run").exits(9);
    assert!(lab.records("run").iter().all(|record| record["status"] == "timeout"));
}

#[test]
fn gates_decide_the_exit_code() {
    let lab = Lab::new();
    dead_suite(&lab, "{contains: a, reply: a}");
    let suite = lab.read("dead.yaml");
    for (gate, code) in [("0.5", 0), ("0.51", 4)] {
        lab.write("dead.yaml", format!("{suite}gate: {{pass_rate: {gate}}}\n"));
        lab.run(&format!("run dead.yaml --run-dir run{code}")).exits(code).says("gate");
    }
}

#[test]
fn a_deadline_or_too_many_timeouts_end_a_run_that_can_be_resumed() {
    let lab = Lab::new();
    lab.busy_suite(100, 40);
    lab.run("run busy.yaml --run-dir run --jobs 1 --deadline 0.3 --quiet").exits(8).says("deadline");
    assert_eq!(lab.json("run.run.json")["exit_status"], "timeout");
    lab.run("run busy.yaml --run-dir run --resume --jobs 200 --quiet").exits(0);
    dead_suite(&lab, "{fault: timeout}");
    lab.run("run dead.yaml --run-dir late --max-timeouts 0 --jobs 1").exits(8);
    assert_eq!(lab.json("late.run.json")["exit_status"], "timeout");
    assert_eq!(lab.records("late").len(), 1);
}

#[test]
fn wrong_command_lines_and_suites_have_their_codes() {
    let lab = Lab::new();
    lab.small_suite();
    lab.run("run").exits(2);
    lab.run("run small.yaml --jobs 0").exits(2);
    lab.run("run small.yaml --overwrite").exits(2);
    lab.run("nonsense").exits(2);
    lab.run("run missing.yaml").exits(3);
    lab.write("bad.yaml", "kind: probe\nsuite_idd: x\n");
    lab.run("check bad.yaml small.yaml").exits(3).says("small.yaml: ok");
    lab.run("check small.yaml").exits(0).says("4 cases, 16 trials");
    lab.run("verify nowhere").exits(2).says("there is no run directory");
    assert!(!lab.path("runs").exists(), "nothing was started");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let lab = Lab::new();
    lab.busy_suite(3000, 0);
    let mut child =
        lab.command(&["plan", "busy.yaml", "--trials"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_init_writes_runs_at_once() {
    let lab = Lab::new();
    lab.run("init probe suite").exits(0).says("suite/probe.yaml");
    lab.run("check suite/probe.yaml").exits(0);
    lab.run("run suite/probe.yaml --run-dir run").exits(0).says("report.html");
    lab.run("verify run").exits(0);
    lab.run("init probe suite").exits(11).says("is there already");
}

#[test]
fn a_csv_quote_without_its_other_half_is_refused() {
    let lab = Lab::new();
    for (rows, line) in [("a,y\nb,\"open\nc,y\nd,y\n", 3), ("a,\"y\"x\n", 2)] {
        lab.write("rows.csv", format!("id,input\n{rows}"));
        lab.write("csv.yaml", concat!(
            "kind: probe\nsuite_id: csv\ndatasets: [{path: rows.csv}]\njudges: {any: {regex: {pattern: y}}}\n",
            "targets: {t: {scripted: {otherwise: {reply: y}}}}\n",
        ));
        lab.run("check csv.yaml").exits(3).says(&format!("rows.csv:{line}:")).says("double quote");
    }
    lab.write("rows.csv", "id,input\r\na,\"say \"\"y\"\"\nand more\"\r\nb,y\r\n");
    lab.run("check csv.yaml").exits(0).says("2 cases");
}

#[test]
fn provenance_is_known_inside_a_repository() {
    let lab = Lab::new();
    lab.small_suite();
    let git = |words: &[&str]| {
        #[expect(clippy::disallowed_methods, reason = "the test makes a repository")]
        let status = std::process::Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"])
            .args(words)
            .current_dir(lab.path(""))
            .output();
        assert!(status.unwrap().status.success(), "{words:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "suite"]);
    lab.run("run small.yaml --run-dir clean -q").exits(0);
    assert_eq!(lab.json("clean.run.json")["git_dirty"], false);
    assert!(lab.json("clean.run.json")["git_commit"].is_string());
    lab.run("verify clean --strict").exits(0);
    lab.write("small.yaml", lab.read("small.yaml") + "title: changed\n");
    lab.run("run small.yaml --run-dir dirty -q").exits(0);
    assert_eq!(lab.json("dirty.run.json")["git_dirty"], true);
    lab.run("verify dirty --strict").exits(7).says("uncommitted changes");
}
