//! Code suites as a user runs them: every line a record, the same bytes however they are judged, infrastructure apart.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::lab::{Lab, Outcome};

/// The scaffold of `init code` in a lab.
fn scaffold() -> Lab {
    let lab = Lab::new();
    lab.run("init code .").exits(0);
    lab
}

fn types(lab: &Lab, run: &str) -> Vec<String> {
    let word = |record: &Value| record["error_type"].as_str().unwrap_or("passed").to_owned();
    lab.records(run).iter().map(word).collect()
}

#[test]
fn the_scaffold_shows_a_few_of_each_failure() {
    let lab = scaffold();
    lab.tools("check problems.jsonl").exits(0).says("the solutions of 3 of 3 tasks hold");
    lab.tools("run code.yaml --no-cache --run-dir r")
        .exits(0)
        .says("pass@3")
        .says("left out")
        .says("of other types");
    let all = types(&lab, "r");
    assert_eq!(all.len(), 30);
    for wanted in [
        "passed",
        "assertion_failure",
        "compile_error",
        "runtime_error",
        "extraction_failed",
        "invalid_sample",
        "test_timeout",
        "memory_limit",
        "output_limit",
    ] {
        assert!(all.iter().any(|word| word == wanted), "{wanted}: {all:?}");
    }
    lab.tools("verify r").exits(0).says("sound, 30 records");
    let summary = lab.json("r/summary.json");
    for slot in summary["code"]["slots"].as_array().unwrap() {
        let count = |key: &str| slot[key].as_u64().unwrap();
        assert_eq!(count("total"), count("scored") + count("infra") + count("invalid"));
    }
    let page = lab.read("r/report.html");
    for part in ["pass@3", "Compiler errors", "pass@10 left out", "Clean for clippy"] {
        assert!(page.contains(part), "{part}");
    }
    lab.tools("export r --format humaneval --out x").exits(0);
    let results = lab.read("x/hasty.jsonl_results.jsonl");
    let results: Vec<Value> = results.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(results.len(), 15);
    for result in results {
        let keys = result.as_object().unwrap().len();
        let word = result["result"].as_str().unwrap();
        let passed = result["passed"].as_bool().unwrap();
        assert_eq!((keys, passed), (13, word == "passed"));
        assert!(passed || word == "timed out" || word.starts_with("failed: "), "{word}");
    }
}

#[test]
fn every_line_is_a_record_in_its_place() {
    let lab = scaffold();
    let mut lines: Vec<Vec<u8>> = vec![
        br#"{"task_id":"demo/clamp","completion":"    value.clamp(low, high)\n}\n"}"#.to_vec(),
        br#"{"task_id":"demo/clamp","completion":null}"#.to_vec(),
        br#"{"task_id":"nobody/knows","completion":"    1\n}\n"}"#.to_vec(),
        b"{not json".to_vec(),
        Vec::new(),
        br#"{"task_id":"demo/clamp","completion":["x"]}"#.to_vec(),
        br#"{"task_id":"demo/clamp","solution":"    value.clamp(low, high)\n}\n"}"#.to_vec(),
        br#"{"task_id":"demo/clamp","generation":"    value.clamp(low, high)\n}\n"}"#.to_vec(),
        br#"{"task_id":"demo/clamp","completion":""}"#.to_vec(),
        br#"{"task_id":"demo/clamp","completion":"a\u0000b"}"#.to_vec(),
        b"{\"task_id\":\"demo/clamp\",\"completion\":\"\xff\"}".to_vec(),
        br#"{"completion":"x"}"#.to_vec(),
        br#"{"task_id":[7],"completion":"x"}"#.to_vec(),
        br#"{"task_id":"demo/clamp","completion":"    value.clamp(low, high)\n}\n"}"#.to_vec(),
    ];
    let long = format!("    // {}\n    value.clamp(low, high)\n}}\n", "\u{1}\u{e9}".repeat(40_000));
    lines.push(serde_json::json!({"task_id": "demo/clamp", "completion": long}).to_string().into_bytes());
    let name = "n".repeat(200_000);
    lines.push(serde_json::json!({"task_id": name, "completion": "x"}).to_string().into_bytes());
    lab.write("bad.jsonl", lines.join(&b'\n'));
    lab.write("bad.yaml", "kind: code\nsuite_id: bad\nproblems: problems.jsonl\nsamples: {m: bad.jsonl}\n");
    lab.tools("run bad.yaml --no-cache --run-dir r").exits(0);
    let expected = [
        "passed",
        "invalid_sample",
        "unknown_task",
        "invalid_sample",
        "invalid_sample",
        "invalid_sample",
        "passed",
        "passed",
        "compile_error",
        "invalid_sample",
        "invalid_sample",
        "invalid_sample",
        "invalid_sample",
        "passed",
        "passed",
        "invalid_sample",
    ];
    assert_eq!(types(&lab, "r"), expected);
    let ids: Vec<u64> =
        lab.records("r").iter().map(|record| record["completion_id"].as_u64().unwrap()).collect();
    assert_eq!(
        ids,
        [0, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 2, 3, 8, 9, 4],
        "from 0 for each task, in the file's order"
    );
    assert!(lab.read("r/records.jsonl").lines().all(|line| line.len() < 100_000));
    lab.run("verify r").exits(0);
}

#[test]
fn the_same_bytes_for_any_number_of_workers_and_from_the_cache() {
    let lab = scaffold();
    lab.tools("run code.yaml --no-cache --run-dir one --quiet --jobs 1").exits(0);
    lab.tools("run code.yaml --cache known --run-dir many --quiet --jobs 24").exits(0);
    lab.tools("run code.yaml --cache known --run-dir again --quiet --jobs 2").exits(0);
    assert_eq!(lab.run_files("one"), lab.run_files("many"));
    assert_eq!(lab.run_files("one"), lab.run_files("again"));
    let cached = |run: &str| lab.read(&format!("{run}.telemetry.jsonl")).matches("\"cached\":true").count();
    assert_eq!(cached("many"), 0);
    assert!(cached("again") > 20, "hits are told beside the run: {}", cached("again"));
}

#[test]
fn a_killed_run_is_completed_to_the_same_bytes() {
    let lab = scaffold();
    lab.tools("run code.yaml --no-cache --run-dir whole --quiet").exits(0);
    let mut interrupted = 0;
    for milliseconds in [400, 1_500, 3_500] {
        let run = format!("killed-{milliseconds}");
        let mut child = start(&lab, &format!("run code.yaml --no-cache --run-dir {run} --quiet"));
        sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        interrupted += usize::from(!child.wait().unwrap().success());
        lab.tools(&format!("run code.yaml --no-cache --run-dir {run} --quiet --resume")).exits(0);
        assert_eq!(lab.run_files(&run), lab.run_files("whole"), "killed after {milliseconds} ms");
    }
    assert!(interrupted > 0);
}

fn start(lab: &Lab, args: &str) -> Child {
    let args: Vec<&str> = args.split_whitespace().collect();
    let mut command = lab.command_with_tools(&args);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn what_the_machine_lacks_is_no_failure_of_a_completion() {
    let lab = scaffold();
    // No environment, so no compiler.
    let missing = lab.run("run code.yaml --no-cache --run-dir missing").exits(9);
    let all = types(&lab, "missing");
    assert_eq!(
        all.iter().filter(|word| *word == "infra_missing_toolchain").count(),
        29,
        "{}",
        missing.stderr
    );
    assert_eq!(all.iter().filter(|word| *word == "invalid_sample").count(), 1);
    for record in lab.records("missing") {
        // What cannot be read is the model's failure on any machine.
        let expected =
            if record["error_type"] == "invalid_sample" { Value::Bool(false) } else { Value::Null };
        assert_eq!(record["passed"], expected, "{record}");
    }
    lab.run("verify missing").exits(0);

    // A compiler that is killed for its memory, whatever it compiles.
    let suite = lab.read("code.yaml") + "  compile: {memory_mib: 16}\n";
    lab.write("starved.yaml", suite);
    lab.tools("run starved.yaml --no-cache --run-dir starved --limit 1").exits(9);
    for record in lab.records("starved") {
        let word = record["error_type"].as_str().unwrap();
        assert!(word.starts_with("infra_") || word == "extraction_failed", "{record}");
    }
    lab.run("verify starved").exits(0);
}

#[test]
fn a_problem_file_is_tried_before_anybody_is_scored_against_it() {
    let lab = scaffold();
    let mut problems: Vec<Value> =
        lab.read("problems.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    problems[0]["canonical_solution"] = "    low\n}\n".into();
    problems[1]["test"] = "\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn t() { no_such_function(); }\n}\n".into();
    problems[2]["buggy_solution"] = problems[2]["canonical_solution"].clone();
    let text: String = problems.iter().map(|problem| format!("{problem}\n")).collect();
    lab.write("broken.jsonl", text);
    let said = lab.tools("check broken.jsonl").exits(3).stderr;
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("broken.jsonl")).collect();
    assert_eq!(lines.len(), 3, "{said}");
    assert!(
        lines[0].contains("demo/clamp: the canonical solution does not pass: assertion_failure"),
        "{said}"
    );
    assert!(lines[1].contains("demo/vowels: the canonical solution does not pass: compile_error"), "{said}");
    assert!(lines[2].contains("demo/collatz: the buggy solution passes"), "{said}");
}

#[test]
fn tasks_and_ks_are_chosen_on_the_command_line() {
    let lab = scaffold();
    lab.write("careful.yaml", lab.read("code.yaml").replace("  hasty: hasty.jsonl\n", ""));
    let k = |args: &str| {
        let said = lab
            .tools(&format!("run careful.yaml --cache known --run-dir r --overwrite --skip-report {args}"));
        said.exits(0);
        let summary = lab.json("r/summary.json");
        let slot = &summary["code"]["slots"][0];
        let list = |key: &str| -> Vec<u64> {
            slot[key].as_array().unwrap().iter().map(|entry| entry["k"].as_u64().unwrap()).collect()
        };
        (summary["trials"].as_u64().unwrap(), list("pass_at_k"), list("omitted_k"))
    };
    assert_eq!(k("--k 1"), (15, vec![1], vec![]));
    assert_eq!(k("--k 1,5,10"), (15, vec![1, 5], vec![10]));
    assert_eq!(k("--task demo/vowels"), (5, vec![1, 3], vec![10]));
    assert_eq!(k("--limit 2").0, 10);
    assert_eq!(k("--sample 1 --seed 3").0, 5);
    lab.tools("run code.yaml --policy seed").exits(2).says("`--policy` is for suites of kind `robustness`");
    lab.tools("run code.yaml --task demo/nothing").exits(3).says("no problem has the task id `demo/nothing`");
}

#[test]
fn what_is_measured_is_in_the_record_only_when_asked_for() {
    let lab = scaffold();
    lab.tools("run code.yaml --no-cache --task demo/clamp --run-dir plain --quiet").exits(0);
    lab.tools("run code.yaml --no-cache --task demo/clamp --run-dir measured --measure --quiet").exits(0);
    assert!(lab.records("plain").iter().all(|record| record["binary_size_bytes"].is_null()));
    let first = &lab.records("measured")[0];
    let size = |key: &str| first[key].as_u64().unwrap();
    assert!(size("binary_size_bytes") > size("baseline_size_bytes") && size("baseline_size_bytes") > 10_000);
    assert!(size("compile_time_ms") > 0, "who measures wants to see it");
    assert!(lab.records("plain").iter().all(|record| record["compile_time_ms"].is_null()));
    assert!(lab.read("measured.telemetry.jsonl").contains("\"compile_time_ms\":"));
    let slot = &lab.json("measured/summary.json")["code"]["slots"][0];
    assert!(slot["mean_binary_size_over_baseline_bytes"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_task_may_use_the_crates_that_the_suite_names() {
    let lab = Lab::new();
    let problem = serde_json::json!({
        "task_id": "find",
        "prompt": "use memchr::memchr;\n\n/// Where the byte is.\nfn find(byte: u8, text: &str) -> Option<usize> {\n",
        "test": "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn finds() { assert_eq!(find(b'c', \"abc\"), Some(2)); }\n}\n",
    });
    lab.write("p.jsonl", format!("{problem}\n"));
    lab.write(
        "s.jsonl",
        "{\"task_id\":\"find\",\"completion\":\"    memchr(byte, text.as_bytes())\\n}\\n\"}\n".repeat(2),
    );
    let suite = "kind: code\nsuite_id: find\nproblems: p.jsonl\nsamples: {m: s.jsonl}\n";
    lab.write("without.yaml", suite);
    lab.write("with.yaml", format!("{suite}crates: {{memchr: \"2\"}}\n"));
    lab.write("wrong.yaml", format!("{suite}crates: {{memchr: \"999\"}}\n"));
    lab.tools("run without.yaml --no-cache --run-dir without").exits(9).says("need crate `memchr`");
    assert_eq!(types(&lab, "without"), ["infra_missing_crate"; 2]);
    lab.tools("run with.yaml --no-cache --run-dir with").exits(0);
    assert_eq!(types(&lab, "with"), ["passed"; 2]);
    let named = |name: &str| {
        lab.write("named.yaml", format!("{suite}crates: {{{name}: \"*\"}}\n"));
        lab.tools("check named.yaml").exits(3).says("is not the name of a crate");
    };
    named("\"evil.path\"");
    named("\"../x\"");
    lab.tools("run wrong.yaml --no-cache --run-dir wrong")
        .exits(3)
        .says("the suite's crates could not be built")
        .says("hint: `crates:` in the suite");
    assert!(!lab.path("wrong").exists(), "nothing is written before everything that could refuse is checked");
}

#[test]
fn no_answer_takes_its_task_from_the_others() {
    let lab = Lab::new();
    let problem = serde_json::json!({
        "task_id": "add",
        "prompt": "use rand::Rng;\nfn add(a: i32, b: i32) -> i32 {\n",
        "test": "fn main() { assert_eq!(add(1, 2), 3); }\n",
        "canonical_solution": "    a + b\n}\n",
    });
    let sample = |body: &str| format!("{}\n", serde_json::json!({"task_id": "add", "completion": body}));
    lab.write("p.jsonl", format!("{problem}\n"));
    lab.write("named.jsonl", sample("    let rand = 0; rand\n}\n"));
    lab.write("used.jsonl", sample("    rand::random::<i32>() + a + b\n}\n"));
    lab.write("right.jsonl", sample("    b + a\n}\n"));
    let suite = "kind: code\nsuite_id: add\nproblems: p.jsonl\nsamples: {named: named.jsonl, right: right.jsonl, used: used.jsonl}\n";
    lab.write("suite.yaml", suite);
    lab.tools("run suite.yaml --no-cache --run-dir r --quiet");
    assert_eq!(types(&lab, "r"), ["assertion_failure", "passed", "compile_error"]);
    for slot in lab.json("r/summary.json")["code"]["slots"].as_array().unwrap() {
        assert_eq!(slot["broken"].as_array().unwrap().len(), 0, "{slot}");
    }
    // Without a solution nobody knows what the task needs; still it is only the answer's own affair.
    let mut unsolved = problem;
    unsolved.as_object_mut().unwrap().remove("canonical_solution");
    lab.write("p.jsonl", format!("{unsolved}\n"));
    lab.tools("run suite.yaml --no-cache --run-dir unsolved --quiet");
    assert_eq!(types(&lab, "unsolved"), ["assertion_failure", "passed", "infra_missing_crate"]);
    for slot in lab.json("unsolved/summary.json")["code"]["slots"].as_array().unwrap() {
        assert_eq!(slot["broken"].as_array().unwrap().len(), 0, "{slot}");
    }
}

#[test]
fn a_model_is_asked_as_often_as_the_suite_says() {
    let lab = scaffold();
    lab.write(
        "model.yaml",
        "kind: code\nsuite_id: model\nproblems: problems.jsonl\nsamples_per_task: 4\nk: [1, 2, 4]\ntargets:\n  small:\n    scripted:\n      rules:\n        \
         - {contains: clamp, chance: 0.5, reply: \"    value.clamp(low, high)\\n}}\\n\"}\n        \
         - {contains: vowels, fault: error, reply: broken}\n      otherwise: {reply: \"    0\\n}}\\n\"}\n",
    );
    lab.tools("run model.yaml --no-cache --run-dir r")
        .exits(0)
        .says("4\u{a0}completions could not be assessed");
    let all = types(&lab, "r");
    assert_eq!(all.len(), 12);
    assert!(
        all[..4].contains(&"passed".to_owned()) && all[..4].contains(&"assertion_failure".to_owned()),
        "{all:?}"
    );
    assert!(
        lab.records("r")[4..8].iter().all(|record| record["passed"].is_null() && record["status"] == "error")
    );
    lab.run("verify r").exits(0);
}

#[test]
fn python_suites_run_too() {
    let lab = Lab::new();
    lab.write("p.jsonl", "{\"task_id\":\"one\",\"prompt\":\"def one(x):\\n    \\\"\\\"\\\" Adds one. \\\"\\\"\\\"\\n\",\"entry_point\":\"one\",\"test\":\"\\ndef check(candidate):\\n    assert candidate(1) == 2\\n\"}\n");
    lab.write("s.jsonl", "{\"task_id\":\"one\",\"completion\":\"    return x + 1\\n\"}\n{\"task_id\":\"one\",\"completion\":\"    return x\\n\"}\n");
    lab.write(
        "p.yaml",
        "kind: code\nsuite_id: py\nlanguage: python\nproblems: p.jsonl\nsamples: {m: s.jsonl}\n",
    );
    lab.tools("run p.yaml --no-cache --run-dir r").exits(0);
    assert_eq!(types(&lab, "r"), ["passed", "assertion_failure"]);
    assert!(lab.json("r/manifest.json")["toolchains"]["python"].is_string());
}

/// Programs that keep both cores busy; they end with the test.
struct Load(Vec<Child>);

impl Load {
    fn of(count: usize) -> Load {
        #[expect(clippy::disallowed_methods, reason = "a loaded machine is what is tested")]
        let busy = || std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        Load((0..count).map(|_| busy()).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn conformance_all_data_gives_the_same_bytes_on_a_loaded_machine() {
    #[expect(clippy::disallowed_methods, reason = "where the data is differs from machine to machine")]
    let Ok(data) = std::env::var("PROOFHOUSE_CONFORMANCE_DATA") else { return };
    let lab = Lab::new();
    for name in ["gpt4_rust_completions_dev", "injected_dev_problems", "injected_dev_samples"] {
        lab.write(&format!("{name}.jsonl"), std::fs::read(format!("{data}/code/{name}.jsonl")).unwrap());
    }
    for (name, problems, samples) in [
        ("gpt4", "gpt4_rust_completions_dev", "gpt4_rust_completions_dev"),
        ("injected", "injected_dev_problems", "injected_dev_samples"),
    ] {
        lab.write(
            &format!("{name}.yaml"),
            format!(
                "kind: code\nsuite_id: {name}\nproblems: {problems}.jsonl\nsamples: {{m: {samples}.jsonl}}\n"
            ),
        );
        let run = |place: &str, jobs: usize| -> Outcome {
            lab.tools(&format!(
                "run {name}.yaml --no-cache --skip-report --quiet --jobs {jobs} --run-dir {name}-{place}"
            ))
        };
        run("one", 1).exits(0);
        run("two", 2).exits(0);
        {
            let _load = Load::of(20);
            run("loaded", 24).exits(0);
        }
        let one = lab.run_files(&format!("{name}-one"));
        assert_eq!(one, lab.run_files(&format!("{name}-two")), "{name} with two workers");
        assert_eq!(one, lab.run_files(&format!("{name}-loaded")), "{name} with 24 workers at load 20");
    }
}
