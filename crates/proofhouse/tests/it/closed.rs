//! The denominator is closed: every task and every answer counts, and what cannot count is left out by name. Problems and
//! samples are judged as people have them, with a suite or without one.

use serde_json::{Value, json};

use crate::lab::Lab;

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

fn python(task_id: &str, wanted: i32) -> Value {
    json!({
        "task_id": task_id,
        "prompt": "def f(x):",
        "entry_point": "f",
        "canonical_solution": "    return x + 1\n",
        "test": format!("def check(candidate):\n    assert candidate(1) == {wanted}\n"),
    })
}

/// Two sound tasks, one without tests, one whose own solution fails, and one that nobody answers.
fn lab() -> Lab {
    let lab = Lab::new();
    let untested = json!({"task_id": "untested", "prompt": "def f(x):\n", "entry_point": "f", "test": ""});
    let tasks = [python("a", 2), python("b", 2), untested, python("wrong", 7), python("nobody", 2)];
    let answer = |task: &str, text: Value| json!({"task_id": task, "completion": text});
    let good = json!("    return x + 1\n");
    let samples = [
        answer("a", good.clone()),
        answer("a", json!("a\u{0}b")),
        answer("a", Value::Null),
        answer("a", json!("x".repeat(2 << 20))),
        answer("b", good.clone()),
        answer("b", good.clone()),
        answer("b", good.clone()),
        answer("b", json!("    return x\n")),
        answer("untested", good.clone()),
        answer("wrong", good),
        answer("elsewhere", json!("1")),
    ];
    lab.write("p.jsonl", lines(&tasks)).write("s.jsonl", lines(&samples));
    lab.write("suite.yaml", "kind: code\nsuite_id: s\nproblems: p.jsonl\nsamples: {s: s.jsonl}\nk: [1]\n");
    lab
}

fn slot(lab: &Lab, run: &str) -> Value {
    lab.json(&format!("{run}/summary.json"))["code"]["slots"][0].clone()
}

#[test]
fn every_task_and_every_answer_counts() {
    let lab = lab();
    lab.tools("run suite.yaml --no-cache --run-dir r")
        .exits(0)
        .says("pass@1 33.3")
        .says("1\u{a0}task of 5 has no completion and counts as a failure: `nobody`; over what was scored, pass@1 50.0")
        .says("2\u{a0}tasks are broken and left out, with 2\u{a0}completions: `untested` (the task has no test")
        .says("`wrong` (its own solution does not pass: assertion_failure")
        .says("3\u{a0}answers cannot be read")
        .says("1\u{a0}line answers no task of the problem file and counts for nothing: `elsewhere` (1)");
    let slot = slot(&lab, "r");
    let count = |key: &str| slot[key].as_u64().unwrap();
    assert_eq!((count("total"), count("scored"), count("infra"), count("invalid")), (11, 8, 0, 3));
    assert_eq!((count("unknown"), count("excluded"), count("unreadable")), (1, 2, 3));
    assert_eq!(slot["pass_at_k"][0]["tasks"], 3);
    assert_eq!(slot["unanswered"], json!(["nobody"]));
    let types: Vec<Value> = lab.records("r").iter().map(|record| record["passed"].clone()).collect();
    assert_eq!(types[..4], [json!(true), json!(false), json!(false), json!(false)]);
    assert_eq!(types[8..], [Value::Null, Value::Null, Value::Null], "broken and unknown tasks blame nobody");
    lab.tools("verify r").exits(0);
    let page = lab.read("r/report.html");
    lab.tools("export r --format humaneval --out x").exits(0);
    let headline = lab.read("x/s.jsonl_headline.txt");
    let markdown = lab.tools("report r --markdown").exits(0).stdout;
    for part in [
        "1\u{a0}task of 5 has no completion and counts as a failure",
        "2\u{a0}tasks are broken",
        "33.3\u{a0}%",
    ] {
        assert!(page.contains(part), "page: {part}");
        assert!(headline.contains(part), "export: {part}");
        assert!(markdown.contains(part), "markdown: {part}\n{markdown}");
    }
}

#[test]
fn a_pass_on_a_broken_task_is_none() {
    let lab = Lab::new();
    let answer = |task: &str, text: &str| json!({"task_id": task, "completion": text});
    let samples = [
        answer("a", "    return x + 1\n"),
        answer("wrong", "    return 7\n"),
        answer("wrong", "    return x\n"),
    ];
    lab.write("p.jsonl", lines(&[python("a", 2), python("wrong", 7)])).write("s.jsonl", lines(&samples));
    lab.tools("code p.jsonl s.jsonl --k 1 --no-cache --skip-report --run-dir r").exits(0).says("pass@1 100");
    assert_eq!(lab.records("r")[1]["passed"], true, "it was judged before its task was known to be broken");
    assert_eq!(lab.json("r/summary.json")["slots"][0]["pass_rate"]["denominator"], 1);
    lab.tools("export r --format junit --out x").exits(0);
    assert!(lab.read("x/junit.xml").contains("tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"2\""));
}

#[test]
fn no_answer_leaves_itself_out_of_the_headline() {
    let lab = Lab::new();
    let task = |task_id: &str| {
        json!({
            "task_id": task_id,
            "prompt": "fn f<T: Ord + Copy>(v: &[T]) -> T {\n",
            "entry_point": "f",
            "test": "fn main() { assert_eq!(f(&[1, 2]), 2); }",
        })
    };
    let answer = |task: &str, text: &str| json!({"task_id": task, "completion": text});
    let samples = [
        answer("a", "    v[1]\n}\n"),
        answer("a", "    unsafe { *v.get_unchecked(1) }\n}\n"),
        answer("b", "    unsafe { *v.get_unchecked(1) }\n}\n"),
        answer("b", "    unsafe { *v.get_unchecked(0) }\n}\n"),
    ];
    lab.write("p.jsonl", lines(&[task("a"), task("b")])).write("s.jsonl", lines(&samples));
    let suite = "kind: code\nsuite_id: s\nproblems: p.jsonl\nsamples: {s: s.jsonl}\nk: [1]\nclippy: off\n";
    lab.write("suite.yaml", suite).write("open.yaml", format!("{suite}unsafe: allow\n"));
    let told = "2\u{a0}answers pass only where an answer shares a process with its tests, in a way that cannot be believed \
                there (`unsupported`), and count as not passed; over what was scored, pass@1 50.0";
    lab.tools("run suite.yaml --no-cache --run-dir r").exits(0).says("pass@1 25.0").says(told);
    let types: Vec<Value> = lab.records("r").iter().map(|record| record["error_type"].clone()).collect();
    assert_eq!(types, [json!(null), json!("unsupported"), json!("unsupported"), json!("assertion_failure")]);
    let slot = slot(&lab, "r");
    assert_eq!((slot["unsupported"].clone(), slot["infra"].clone()), (json!(2), json!(2)));
    let point = &slot["pass_at_k"][0];
    assert_eq!([&point["tasks"], &point["worst"], &point["best"]], [&json!(2), &json!(0.25), &json!(0.75)]);
    assert_eq!(slot["unassessed_tasks"], json!([]));
    let markdown = lab.tools("report r --markdown").exits(0).stdout;
    for text in [lab.read("r/report.html"), markdown] {
        assert!(text.contains("count as not passed") && text.contains("25.0\u{a0}%"), "{text}");
    }
    lab.tools("run open.yaml --no-cache --run-dir o").exits(0).says("pass@1 75.0");
}

#[test]
fn tasks_that_nobody_answers_are_left_out_on_request() {
    let lab = lab();
    lab.write(
        "suite.yaml",
        "kind: code\nsuite_id: s\nproblems: p.jsonl\nsamples: {s: s.jsonl}\nk: [1]\ntasks: answered\n",
    );
    lab.tools("run suite.yaml --no-cache --run-dir r")
        .exits(0)
        .says("pass@1 50.0")
        .says("is left out (`tasks: answered`): `nobody`");
    lab.write(
        "bad.yaml",
        "kind: code\nsuite_id: s\nproblems: p.jsonl\nsamples: {s: s.jsonl}\ntasks: answred\n",
    );
    lab.run("check bad.yaml").exits(3).says("`all`, `answered`, or a list of task ids");
}

#[test]
fn without_a_suite_everything_is_found_out_and_the_run_is_a_run() {
    let lab = lab();
    lab.tools("code p.jsonl s.jsonl --k 1 --no-cache --run-dir r")
        .exits(0)
        .says("problems: 5 tasks in HumanEval format, judged as python (detected)")
        .says("samples:  `s.jsonl` is slot `s`");
    lab.tools("verify r").exits(0);
    lab.tools("code p.jsonl s.jsonl --k 1 --no-cache --run-dir r --resume").exits(0).says("11 kept");
    lab.tools("code p.jsonl s.jsonl --k 1 --write-suite own.yaml --no-cache --run-dir w").exits(0);
    assert!(lab.read("own.yaml").contains("language: python\n"), "{}", lab.read("own.yaml"));
    lab.tools("run own.yaml --no-cache --run-dir v").exits(0);
    lab.tools("diff w v --fail-on-changes").exits(0);
    assert_eq!(lab.read("r/records.jsonl"), lab.read("w/records.jsonl"), "with a suite or without");
}

#[test]
fn what_cannot_be_told_is_refused() {
    let lab = Lab::new();
    lab.write("p.jsonl", "{\"task_id\":\"x\",\"prompt\":\"p\",\"test\":\"t\"}\n");
    lab.write("s.jsonl", "{\"task_id\":\"x\",\"completion\":\"c\"}\n");
    lab.write("suite.yaml", "kind: code\nsuite_id: s\nproblems: p.jsonl\nsamples: {s: s.jsonl}\n");
    lab.run("check suite.yaml")
        .exits(3)
        .says("the language of the problems is not clear")
        .says("say `language: rust`");
    lab.run("code p.jsonl s.jsonl").exits(3).says("say it: `--language rust` or `--language python`");
    lab.write("go.jsonl", "{\"task_id\":\"x\",\"language\":\"go\",\"prompt\":\"p\",\"test\":\"t\"}\n");
    lab.run("code go.jsonl s.jsonl").exits(3).says("they are in `go`");
}

#[test]
fn a_run_of_zeros_says_why() {
    let lab = lab();
    let rust = "fn f(x: i32) -> i32 {\n    let y = x;\n    y\n}\n";
    let samples = [json!({"task_id": "a", "completion": rust}), json!({"task_id": "b", "completion": rust})];
    lab.write("s.jsonl", lines(&samples));
    lab.tools("run suite.yaml --no-cache --run-dir r")
        .says("not one completion passed: 2 compile_error, for example `a` #0: ")
        .says("most completions look like Rust, and the suite judges them as python");
    let other = [json!({"task_id": "HumanEval/0", "completion": "    return x\n"})];
    lab.write("s.jsonl", lines(&other));
    lab.tools("run suite.yaml --no-cache --run-dir z")
        .exits(9)
        .says("lines name tasks such as `HumanEval/0`, and the problem file has tasks such as `a`");
}

#[test]
fn formats_are_judged_by_their_own_tests() {
    let lab = Lab::new();
    let plus = json!({
        "task_id": "HumanEval/900", "prompt": "def half(x: float) -> float:\n", "entry_point": "half",
        "canonical_solution": "    return x / 2\n", "test": "def check(candidate):\n    assert candidate(2) == 1\n",
        "contract": "", "base_input": [[2.0]], "plus_input": [[3.0], [1e300]], "atol": 0,
    });
    let mbpp = json!({
        "task_id": 7, "text": "Write a function to add.", "code": "def add(a, b):\r\n  return a + b",
        "test_setup_code": "", "test_list": ["assert add(1, 2) == 3"], "challenge_test_list": [],
    });
    let program = json!({
        "problem_id": 8, "question": "Add two numbers.",
        "input_output": "{\"inputs\": [\"1 2\\n\", \"3 4\"], \"outputs\": [\"3\\n\", \"7\"]}",
    });
    lab.write("p.jsonl", lines(&[plus, mbpp, program]));
    let answer = |task: Value, text: &str| json!({"task_id": task, "completion": text});
    let samples = [
        answer(json!("HumanEval/900"), "    return x * 0.5000000001\n"),
        // Right on the base input, wrong on the plus inputs.
        answer(json!("HumanEval/900"), "    return x // 2\n"),
        answer(json!(7), "def add(a, b):\n    return b + a\n"),
        answer(json!("7"), "def add(a, b):\n    return a\n"),
        answer(
            json!(8),
            "Sure:\n```python\nimport sys\na, b = map(int, open(0).read().split())\nprint(a + b, end=' \\n')\nsys.exit()\n```\n",
        ),
        answer(json!(8), "print(sum(map(int, input().split())))\n"),
        answer(json!(8), "print(3)\n"),
    ];
    lab.write("s.jsonl", lines(&samples));
    lab.tools("code p.jsonl s.jsonl --k 1 --no-cache --run-dir r")
        .exits(0)
        .says("problems: 3 tasks in HumanEval+ and MBPP and standard input and output format");
    let passed: Vec<bool> =
        lab.records("r").iter().map(|record| record["passed"].as_bool().unwrap()).collect();
    assert_eq!(passed, [true, false, true, false, true, true, false]);
}

#[test]
fn crates_are_named_with_their_versions() {
    let lab = Lab::new();
    let task = |id: &str, test: &str| json!({"task_id": id, "prompt": "use rand::Rng;\nuse md5;\nfn f() -> i32 {\n", "test": test});
    lab.write(
        "p.jsonl",
        lines(&[task("a", "#[test] fn t() { rand::thread_rng(); }"), task("b", "#[test] fn t() { f(); }")]),
    );
    let said = lab.run("check --crates p.jsonl").exits(0).stdout;
    assert_eq!(said, "# p.jsonl\ncrates:\n  rand: \"0.4\" # 1 of 2 tasks: a\n");
}

#[test]
fn measured_compile_times_reach_records_summary_and_export() {
    let lab = Lab::new();
    let task = json!({"task_id": "one", "prompt": "fn one() -> i32 {\n", "test": "#[test]\nfn t() { assert_eq!(one(), 1); }\n"});
    lab.write("p.jsonl", lines(&[task]));
    lab.write("s.jsonl", lines(&[json!({"task_id": "one", "completion": "    1\n}\n"})]));
    lab.tools("code p.jsonl s.jsonl --k 1 --measure --no-cache --run-dir r").exits(0);
    let record = &lab.records("r")[0];
    assert!(record["compile_time_ms"].as_u64().is_some_and(|ms| ms > 0), "{record}");
    assert_eq!(record["cached"], Value::Null);
    assert!(slot(&lab, "r")["mean_compile_time_ms"].as_f64().is_some_and(|ms| ms > 0.0));
    lab.tools("export r --format humaneval --out x").exits(0);
    let line: Value = serde_json::from_str(lab.read("x/s.jsonl_results.jsonl").trim()).unwrap();
    assert_eq!(line["compile_time_ms"], record["compile_time_ms"]);
    lab.tools("code p.jsonl s.jsonl --k 1 --no-deterministic-artifacts --run-dir d").exits(0);
    assert_eq!(lab.records("d")[0]["cached"], json!(false));
    assert_eq!(lab.records("d")[0]["compile_time_ms"], Value::Null, "not measured");
}

#[test]
fn a_gate_does_not_hold_by_leaving_tasks_out() {
    let lab = lab();
    let suite = lab.read("suite.yaml");
    // Half of the completions pass, and a third of the tasks' answers with the one that nobody gave.
    lab.write("strict.yaml", format!("{suite}gate: {{pass_rate: 0.4}}\n"));
    lab.tools("run strict.yaml --cache known --run-dir strict")
        .exits(4)
        .says("The gate was missed: on these cases, at least 40.0 % is asked for, and s passes");
    lab.write("loose.yaml", format!("{suite}tasks: answered\ngate: {{pass_rate: 0.4}}\n"));
    lab.tools("run loose.yaml --cache known --run-dir loose").exits(0).says("The gate held");
}
