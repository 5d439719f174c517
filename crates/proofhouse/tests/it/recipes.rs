//! Suites over benchmarks as they are published: `init NAME DIR --data FILE`.

use crate::conformance::data;
use crate::lab::Lab;

const GSM8K: &str = concat!(
    "{\"question\": \"Ann has 3 nuts and finds 1,001 more. How many?\", \"answer\": \"3 + 1,001 = <<3+1001=1004>>1,004\\n#### 1,004\"}\n",
    "{\"question\": \"Ben had 7 nuts and lost 9?\", \"answer\": \"#### -2\"}\n",
);

const BBH: &str = r#"{"canary": "c", "examples": [{"input": "not True is", "target": "False"}, {"input": "Pick.\n(A) x\n(B) y", "target": "(B)"}]}"#;

const HUMANEVAL: &str = concat!(
    r#"{"task_id": "T/0", "prompt": "def twice(n):\n    \"\"\"Double it.\"\"\"\n", "entry_point": "twice", "canonical_solution": "    return 2 * n\n", "#,
    r#""test": "def check(candidate):\n    assert candidate(2) == 4\n"}"#,
    "\n",
);

const PLUS: &str = concat!(
    r#"{"task_id": "T/0", "prompt": "def twice(n):\n    \"\"\"Double it.\"\"\"\n", "entry_point": "twice", "canonical_solution": "    return 2 * n\n", "#,
    r#""base_input": [[2]], "plus_input": [[5], [-1]], "atol": 0, "contract": ""}"#,
    "\n",
);

const MBPP: &str = concat!(
    r#"{"text": "Write a function to double a number.", "code": "def twice(n):\r\n  return 2 * n", "task_id": 1, "test_setup_code": "", "#,
    r#""test_list": ["assert twice(2) == 4", "assert twice(0) == 0", "assert twice(-1) == -2"], "challenge_test_list": []}"#,
    "\n",
);

/// A lab with the suite of a recipe, which passes `check`.
fn made(recipe: &str, file: &str, content: &str) -> Lab {
    let lab = Lab::new();
    lab.write(file, content);
    let out = lab.run(&format!("init {recipe} d --data {file}")).exits(0);
    assert_eq!(out.stdout, format!("d/{recipe}.yaml\nd/{file}\n"));
    lab.run(&format!("check d/{recipe}.yaml")).exits(0).says("ok");
    lab
}

/// The suite with another answer of its rehearsal.
fn answering(lab: &Lab, suite: &str, reply: &str) {
    let text = lab.read(suite);
    let (front, rest) = text.split_once("reply: \"").unwrap();
    let (_, back) = rest.split_once("\"}}}").unwrap();
    lab.write(suite, format!("{front}reply: \"{reply}\"}}}}}}{back}"));
}

#[test]
fn gsm8k_is_scored_by_its_result() {
    let lab = made("gsm8k", "test.jsonl", GSM8K);
    lab.run("run d/gsm8k.yaml --run-dir none --quiet").exits(0);
    assert!(lab.records("none").iter().all(|record| record["passed"] == false));
    answering(&lab, "d/gsm8k.yaml", "It is $1,004.00 in all.");
    lab.run("run d/gsm8k.yaml --run-dir some --quiet").exits(0);
    let records = lab.records("some");
    assert_eq!(records[0]["scores"], serde_json::json!({"flexible": 1, "strict": 0}));
    assert_eq!(records[1]["passed"], false);
    lab.run("verify some").exits(0);
}

#[test]
fn a_task_of_bbh_is_read_as_it_is_published() {
    let lab = made("bbh", "boolean_expressions.json", BBH);
    answering(&lab, "d/bbh.yaml", "Not so fast: the answer is False? No. So the answer is **(B)**.");
    lab.run("run d/bbh.yaml --run-dir some --quiet").exits(0);
    let passed: Vec<bool> =
        lab.records("some").iter().map(|record| record["passed"].as_bool().unwrap()).collect();
    assert_eq!(passed, [false, true]);
}

#[test]
fn tasks_of_code_run_over_the_file_as_it_is_published() {
    for (recipe, file, content) in [
        ("humaneval", "HumanEval.jsonl", HUMANEVAL),
        ("humaneval-plus", "HumanEvalPlus.jsonl", PLUS),
        ("mbpp", "mbpp.jsonl", MBPP),
    ] {
        let lab = made(recipe, file, content);
        answering(&lab, &format!("d/{recipe}.yaml"), "```python\\ndef twice(n):\\n    return n + n\\n```");
        lab.tools(&format!("run d/{recipe}.yaml --run-dir some --quiet")).exits(0);
        let records = lab.records("some");
        assert!(records.len() == 1 && records[0]["passed"] == true, "{recipe}: {records:#?}");
    }
}

#[test]
fn a_recipe_says_what_it_needs() {
    let lab = Lab::new();
    lab.write("x.jsonl", "{\"q\": 1}\n").write("gsm.jsonl", GSM8K);
    lab.run("init gsm8k d").exits(2).says("`proofhouse init gsm8k DIR --data FILE`; nothing is downloaded");
    lab.run("init probe d --data gsm.jsonl").exits(2).says("`--data` says nothing to `probe`");
    lab.run("init gsm8k d --data x.jsonl")
        .exits(3)
        .says("its first row has `q`")
        .says("`question`, `answer`");
    lab.run("init bbh d --data gsm.jsonl").exits(3).says("`input`, `target`");
    lab.run("init gsm8k d --data gsm.jsonl").exits(0);
    // The data stays, the suite is somebody's own by now.
    lab.run("init gsm8k d --data gsm.jsonl").exits(11).says("`d/gsm8k.yaml` is there already");
    lab.run("init gsm8k . --data gsm.jsonl").exits(0);
    assert!(!lab.read("gsm8k.yaml").contains('@'), "{}", lab.read("gsm8k.yaml"));
}

/// Every recipe over the real file: it passes `check`, and the rehearsal runs.
#[test]
fn conformance_of_recipes_over_published_files() {
    let Some(root) = data("") else { return };
    for (recipe, file, tasks) in [
        ("gsm8k", "probe/gsm8k_dev.jsonl", 660),
        ("bbh", "probe/bbh_boolean_expressions.json", 250),
        ("bbh", "probe/bbh_date_understanding.json", 250),
        ("bbh", "probe/bbh_object_counting.json", 250),
        ("mbpp", "probe/mbpp_dev.jsonl", 487),
        ("humaneval", "code/humaneval_python_dev.jsonl", 82),
        ("humaneval-plus", "code/humaneval_plus_dev.jsonl.gz", 82),
        ("humaneval-plus", "code/humaneval_plus_originfmt_dev.jsonl.gz", 82),
    ] {
        let lab = Lab::new();
        lab.run(&format!("init {recipe} d --data {}", root.join(file).display())).exits(0);
        let out = lab.run(&format!("check d/{recipe}.yaml")).exits(0);
        assert!(out.stdout.contains(&format!("ok, {tasks} cases")), "{recipe}: {}", out.stdout);
        lab.tools(&format!("run d/{recipe}.yaml --run-dir run --limit 5 --quiet")).exits(0);
        assert_eq!(lab.records("run").len(), 5, "{file}");
        assert!(lab.records("run").iter().all(|record| record["passed"] == false), "{file}");
        lab.run("verify run").exits(0);
    }
}
