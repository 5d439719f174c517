//! Code suites as a stranger meets them: one rule for what is left out, one headline everywhere, and a word for every wrong
//! input.

use serde_json::{Value, json};

use crate::lab::{Lab, on_one_line};

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

fn task(task_id: &str, wanted: i32) -> Value {
    json!({
        "task_id": task_id,
        "prompt": "def f(x):",
        "entry_point": "f",
        "canonical_solution": "    return x + 1\n",
        "test": format!("def check(candidate):\n    assert candidate(1) == {wanted}\n"),
    })
}

fn answer(task_id: &str, text: &str) -> Value {
    json!({"task_id": task_id, "completion": text})
}

const GOOD: &str = "    return x + 1\n";
const BAD: &str = "    return x\n";

fn slot(lab: &Lab, run: &str) -> Value {
    lab.json(&format!("{run}/summary.json"))["code"]["slots"][0].clone()
}

/// A broken task that somebody passes: its test wants 7, and one answer gives it.
fn with_a_pass_on_a_broken_task() -> Lab {
    let lab = Lab::new();
    lab.write("p.jsonl", lines(&[task("a", 2), task("b", 2), task("broken", 7)]));
    let samples = [
        answer("a", GOOD),
        answer("a", BAD),
        answer("b", GOOD),
        answer("broken", "    return 7\n"),
        answer("broken", GOOD),
        answer("elsewhere", GOOD),
    ];
    lab.write("s.jsonl", lines(&samples));
    lab
}

#[test]
fn every_face_of_a_run_has_the_same_figures() {
    let lab = with_a_pass_on_a_broken_task();
    let said = lab.tools("code p.jsonl s.jsonl --k 1 --no-cache --run-dir r").exits(0).said();
    let summary = lab.json("r/summary.json");
    let slot = slot(&lab, "r");
    assert_eq!(slot["pass_at_k"][0]["value"], 0.75);
    // A pass on a task that is left out counts nowhere.
    let rate = &summary["slots"][0]["pass_rate"];
    assert_eq!((&rate["numerator"], &rate["denominator"]), (&json!(2), &json!(3)));
    assert_eq!(summary["assessed"], 3);
    assert_eq!((&slot["scored"], &slot["excluded"], &slot["unknown"]), (&json!(3), &json!(2), &json!(1)));
    assert_eq!(slot["compile_rate"]["denominator"], 3);
    assert_eq!(slot["tasks_solved"]["numerator"], 2);
    let broken = "1\u{a0}task is broken and left out, with 2\u{a0}completions: `broken`";
    let interval = "pass@1 75.0\u{a0}%";
    for part in [broken, interval, "2 of 3"] {
        assert!(said.contains(&on_one_line(part)), "terminal: {part}\n{said}");
    }
    let markdown = lab.tools("report r --markdown").exits(0).stdout.replace('\\', "");
    let markdown = markdown.replace("<code>", "`").replace("</code>", "`");
    for part in [broken, interval, "| 2 of 2 | 2 of 3 | 0 |"] {
        assert!(markdown.contains(part), "markdown: {part}\n{markdown}");
    }
    let page = lab.read("r/report.html");
    for part in ["1\u{a0}task is broken and left out", "75.0\u{a0}%", "broken task, left out", ">3</a></td>"]
    {
        assert!(page.contains(part), "page: {part}");
    }
    assert!(!page.contains("flaky: repetitions"), "two completions are two answers");
    lab.tools("verify r").exits(0);
    lab.tools("export r --format humaneval").exits(0);
    let rows = |name: &str| -> Vec<Value> {
        lab.read(&format!("r.humaneval/{name}"))
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let passed: Vec<Value> = rows("s.jsonl_results.jsonl").iter().map(|row| row["passed"].clone()).collect();
    assert_eq!(passed, [json!(true), json!(false), json!(true)]);
    let unscored = rows("s.jsonl_unscored.jsonl");
    assert_eq!(unscored.len(), 3);
    assert!(
        unscored.iter().all(|row| row["passed"].is_null() && row["result"] == "not scored"),
        "{unscored:?}"
    );
    let headline = lab.read("r.humaneval/s.jsonl_headline.txt");
    assert!(headline.contains(broken) && headline.contains(interval), "{headline}");
}

#[test]
fn exports_overwrite_nothing() {
    let lab = with_a_pass_on_a_broken_task();
    lab.tools("code p.jsonl s.jsonl --k 1 --cache known --run-dir one").exits(0);
    lab.tools("code p.jsonl s.jsonl --k 1 --task a --cache known --run-dir two").exits(0);
    lab.run("export one --format humaneval").exits(0);
    lab.run("export two --format humaneval").exits(0);
    let first = lab.read("one.humaneval/s.jsonl_results.jsonl");
    assert_ne!(first, lab.read("two.humaneval/s.jsonl_results.jsonl"));
    lab.run("export one --format humaneval").exits(0);
    lab.run("export two --format humaneval --out one.humaneval")
        .exits(11)
        .says("already exists with other content")
        .says("hint: `--out DIR`");
    assert_eq!(first, lab.read("one.humaneval/s.jsonl_results.jsonl"));
    // Another k is another summary: the configuration says so, and it does not resume.
    lab.tools("code p.jsonl s.jsonl --k 1,2 --cache known --run-dir three").exits(0);
    let config = |run: &str| lab.json(&format!("{run}/manifest.json"))["config_sha256"].clone();
    assert_ne!(config("one"), config("three"));
    lab.tools("code p.jsonl s.jsonl --k 1,2 --cache known --run-dir one --resume").exits(11);
}

#[test]
fn what_is_cut_off_answers_its_task_and_nothing_is_left_out_silently() {
    let lab = with_a_pass_on_a_broken_task();
    let cut = "{\"task_id\": \"b\", \"completion\": \"    retu\n{\"completion\": \"x\"\n";
    lab.write("s.jsonl", lab.read("s.jsonl") + cut);
    lab.tools("code p.jsonl s.jsonl --k 1 --cache known --run-dir r")
        .exits(0)
        .says("1\u{a0}answer cannot be read (no text, too long, cut off,")
        .says("1\u{a0}line names no task that can be read and counts for nothing");
    assert_eq!(slot(&lab, "r")["scored"], 4);
    assert_eq!(slot(&lab, "r")["pass_at_k"][0]["value"], 0.5);
    lab.tools("code p.jsonl s.jsonl --k 1 --limit 2 --cache known --run-dir few")
        .exits(0)
        .says("warning: `")
        .says("s.jsonl`: 1 line names no task that can be read; left out, as only some tasks are chosen");
    assert_eq!(slot(&lab, "few")["scored"], 4);
}

#[test]
fn check_takes_the_tasks_that_were_chosen() {
    let lab = with_a_pass_on_a_broken_task();
    assert_eq!(
        lab.tools("check p.jsonl --limit 2").exits(0).stdout,
        "p.jsonl: ok, the solutions of 2 of 2 tasks hold\n"
    );
    assert_eq!(
        lab.tools("check p.jsonl --task b").exits(0).stdout,
        "p.jsonl: ok, the solutions of 1 of 1 task hold\n"
    );
    let said = lab.tools("check p.jsonl --task broken").exits(3).stderr;
    assert!(said.contains("assertion_failure (AssertionError)"), "{said}");
    lab.run("check p.jsonl --task brken").exits(3).says("did you mean `broken`?");
    lab.run("check p.jsonl --k 1").exits(2).says("`--k` means nothing for a problem file");
    lab.run("check p.jsonl --policy seed").exits(2);
    let untried = |id: &str| json!({"task_id": id, "prompt": "def f(x):\n", "entry_point": "f", "test": "def check(f):\n    assert f(1) == 2\n"});
    lab.write(
        "u.jsonl",
        lines(&[task("a", 2), untried("b"), untried("c"), untried("d"), untried("e"), untried("f")]),
    );
    let said = lab.tools("check u.jsonl").exits(0).stderr;
    assert_eq!(
        said.trim(),
        "note: u.jsonl: 5 tasks: there is no canonical solution to try: `b`, `c`, `d` and 2 more"
    );
}

#[test]
fn a_run_is_infrastructure_only_if_nothing_could_be_run() {
    let lab = with_a_pass_on_a_broken_task();
    let needs = json!({
        "task_id": "needs", "prompt": "import no_such_module_here\n\ndef f(x):\n", "entry_point": "f",
        "test": "def check(candidate):\n    assert candidate(1) == 2\n",
    });
    lab.write("p.jsonl", lines(&[task("a", 2), needs]));
    lab.write("s.jsonl", lines(&[answer("a", GOOD), answer("needs", GOOD)]));
    lab.tools("code p.jsonl s.jsonl --k 1 --no-cache --run-dir some")
        .exits(0)
        .says("1\u{a0}completion could not be assessed, among them all of 1\u{a0}task (`needs`)");
    lab.tools("code p.jsonl s.jsonl --k 1 --no-cache --task needs --run-dir none").exits(9);
    // A gate that only the unassessed could save or break is not decided.
    let suite = "kind: code\nsuite_id: s\nproblems: p.jsonl\nsamples: {s: s.jsonl}\nk: [1]\n";
    lab.write("g.yaml", format!("{suite}gate: {{pass_rate: 0.6}}\n"));
    lab.tools("run g.yaml --no-cache --run-dir g")
        .exits(9)
        .says("s passes between 50.0 % and 100 %, as some were not assessed");
    lab.write("h.yaml", format!("{suite}gate: {{pass_rate: 0.5}}\n"));
    lab.tools("run h.yaml --no-cache --run-dir h").exits(0).says("gate held");
}

#[test]
fn wrong_inputs_are_answered_with_what_would_be_right() {
    let lab = with_a_pass_on_a_broken_task();
    lab.write("empty.jsonl", "").write("blank.jsonl", "\n\n");
    lab.run("code s.jsonl p.jsonl")
        .exits(3)
        .says("`s.jsonl` holds completions, not problems")
        .says("the problem file comes first");
    lab.run("code p.jsonl p.jsonl").exits(3).says("`p.jsonl` holds problems, not completions");
    for empty in ["empty.jsonl", "blank.jsonl"] {
        lab.run(&format!("code {empty} s.jsonl"))
            .exits(3)
            .says(&format!("`{empty}` is empty: it has no problems"));
        lab.run(&format!("code p.jsonl {empty}"))
            .exits(3)
            .says(&format!("`{empty}` is empty: it has no completions"));
        lab.run(&format!("check {empty}")).exits(3).says("it has no problems");
    }
    for flag in ["--clippy off", "--crate rand=0.4", "--no-crates"] {
        let word = flag.split(' ').next().unwrap();
        lab.run(&format!("code p.jsonl s.jsonl {flag}"))
            .exits(2)
            .says(&format!("`{word}` is for Rust"))
            .says("hint: leave");
    }
    lab.write("far/t.jsonl", lines(&[answer("b", GOOD)]));
    let full = lab.path("far/t.jsonl").to_string_lossy().into_owned();
    let said = lab.run(&format!("code p.jsonl {full} --task a")).exits(3).stderr;
    assert!(
        said.contains(&format!("command line: no line of `{full}` answers one of the chosen tasks")),
        "{said}"
    );
    assert!(!said.contains("the suite of this command"), "{said}");
}

#[test]
fn an_all_zero_result_says_why() {
    let lab = with_a_pass_on_a_broken_task();
    let why = |samples: &str, parts: &[&str]| {
        lab.write("z.jsonl", samples);
        let said = lab
            .tools("code p.jsonl z.jsonl --k 1 --cache known --run-dir z --overwrite --skip-report")
            .said();
        for part in parts {
            assert!(said.contains(part), "{part}\n{said}");
        }
    };
    let null = json!({"task_id": "a", "completion": null});
    why(
        &lines(&[null]),
        &["not one completion passed: 1 invalid_sample", "most lines have no completion that can be read"],
    );
    why(&lines(&[answer("HumanEval/0", GOOD)]), &["lines name tasks such as `HumanEval/0`"]);
    why("{\"completion\": \"x\"}\n", &["for example a line that names no task"]);
    why(
        &lines(&[answer("a", "fn f(x: i32) -> i32 {\n    x + 1\n}\n")]),
        &["most completions look like Rust"],
    );
    why(
        &lines(&[answer("broken", "    return 7\n"), answer("broken", GOOD), answer("a", BAD)]),
        &["not one completion passed: 1 assertion_failure"],
    );
}

/// Rows in the layout of McEval: prompts without a last newline, bodies without one, and every way to call the tests.
#[test]
fn rows_of_mceval_are_judged_as_python_judges_them() {
    let prompt = "def twice(x: int) -> int:\n    \"\"\"\n    Doubles.\n    >>> twice(2)\n    4\n    \"\"\"";
    let prompts = [
        prompt.to_owned(),
        format!("from typing import List\n \n{prompt}\n"),
        "def twice(x: int) -> int:".to_owned(),
    ];
    let solutions = [
        "    return x * 2",
        "def twice(x: int) -> int:\n    return x * 2",
        "    y = x\n    \n    return y * 2\n\n",
    ];
    let tests = [
        "def check(twice):\n    assert twice(2) == 4\n    assert twice(-1) == -2\n \ncheck(twice)",
        "# Test cases:\nassert twice(2) == 4\n\nprint(\"All test cases passed.\")",
        "def check_twice():\n    assert twice(2) == 4\n    print('ok')\n\n# Run\ncheck_twice()",
        "def test_twice():\n    assert twice(2) == 4\n",
        "def test():\n    assert twice(2) == 4\n\nif __name__ == '__main__':\n    test()",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(twice(2), 4)\n\nif __name__ == '__main__':\n    unittest.main()",
    ];
    let (mut rows, mut right, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    for test in tests {
        for (prompt, solution) in prompts.iter().zip(solutions) {
            let id = format!("Python/{}", rows.len() + 1);
            right.push(answer(&id, solution));
            wrong.push(answer(&id, &solution.replace("* 2", "* 3")));
            rows.push(json!({
                "task_id": id, "prompt": prompt, "canonical_solution": solution, "test": test, "entry_point": "twice",
                "signature": "def twice(x: int) -> int:", "docstring": "\n    Doubles.\n", "instruction": "Write it.", "level": "easy",
            }));
        }
    }
    let lab = Lab::new();
    lab.write("p.jsonl", lines(&rows))
        .write("right.jsonl", lines(&right))
        .write("wrong.jsonl", lines(&wrong));
    lab.tools("check p.jsonl").exits(0);
    lab.tools("code p.jsonl right.jsonl wrong.jsonl --k 1 --no-cache --run-dir r --skip-report")
        .exits(0)
        .says("18 tasks in McEval format, judged as python (detected)");
    for record in lab.records("r") {
        assert_eq!(record["passed"], json!(record["slot"] == "right"), "{record}");
    }
}
