//! Code suites with `vary`: robust pass@k of models that know a task only as it stands.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::crash::wait_for_records;
use crate::lab::Lab;

/// Two tasks with prose, one without, and three models: one that reads, one that knows prompts by heart, one that breaks
/// down on anything new. Each is asked twice, in five wordings.
fn lab() -> Lab {
    let lab = Lab::new();
    let problem = |name: &str, comment: &str| {
        json!({
            "task_id": format!("demo/{name}"),
            "prompt": format!("{comment}fn {name}(a: i32, b: i32) -> i32 {{\n"),
            "entry_point": name,
            "test": format!("\n#[cfg(test)]\nmod tests {{\n    use super::*;\n    #[test]\n    fn t() {{ assert_eq!({name}(2, 3), 6); }}\n}}\n"),
        })
    };
    let times = problem(
        "times",
        "/// Multiply two numbers.\n///\n/// times(1, 2) == 2\n///\n/// Return the product of both.\n",
    );
    let double = problem("double", "/*\n  Add the numbers,\n  then add one more.\n*/\n");
    let bare = problem("bare", "");
    lab.write("p.jsonl", format!("{times}\n{double}\n{bare}\n"));
    let answers = |problems: &[&Value]| -> Value {
        let each = problems.iter().map(|problem| {
            let body =
                if problem["entry_point"] == "times" { "    a * b\n}}\n" } else { "    a + b + 1\n}}\n" };
            (problem["prompt"].as_str().unwrap().to_owned(), body.into())
        });
        Value::Object(each.collect())
    };
    let wrong = json!({"reply": "    0\n}}\n"});
    let suite = json!({
        "kind": "code",
        "suite_id": "worded",
        "seed": 5,
        "problems": "p.jsonl",
        "samples_per_task": 2,
        "k": [1, 2, 5],
        "clippy": "off",
        "vary": [
            {"generator": "whitespace_noise", "count": 2},
            {"generator": "constraint_injection_light", "count": 2},
        ],
        "targets": {
            "reads": {"scripted": {"rules": [
                {"contains": "times", "reply": "    a * b\n}}\n"},
            ], "otherwise": {"reply": "    a + b + 1\n}}\n"}}},
            "by_heart": {"scripted": {"answers": answers(&[&times, &double, &bare]), "otherwise": wrong}},
            "breaks": {"scripted": {"answers": answers(&[&times, &double, &bare]), "otherwise": {"fault": "error", "reply": "down"}}},
        },
    });
    lab.write("suite.yaml", suite.to_string());
    lab
}

fn slot<'a>(summary: &'a Value, name: &str) -> &'a Value {
    summary["code"]["slots"].as_array().unwrap().iter().find(|slot| slot["slot"] == name).unwrap()
}

fn row<'a>(slot: &'a Value, generator: Option<&str>) -> &'a Value {
    slot["robust"].as_array().unwrap().iter().find(|row| row["generator"].as_str() == generator).unwrap()
}

#[test]
fn robust_pass_at_k_falls_where_only_the_own_wording_is_known() {
    let lab = lab();
    lab.tools("plan suite.yaml")
        .exits(0)
        .says("90 (3 tasks x 5 wordings x 3 models x 2 samples)")
        .says("left out:    24 trials");
    let run = lab.tools("run suite.yaml --no-cache --run-dir r");
    let said = run.exits(0).says("by_heart, all 5\u{a0}wordings: robust pass@1 0\u{a0}%").said();
    assert!(said.contains("100 % lost"), "{said}");
    lab.run("verify r").exits(0).says("sound, 90 records");
    let summary = lab.json("r/summary.json");
    for name in ["reads", "by_heart", "breaks"] {
        let slot = slot(&summary, name);
        assert_eq!(
            (&slot["total"], &slot["scored"], &slot["tasks"]),
            (&json!(6), &json!(6), &json!(3)),
            "{name}: as they stand"
        );
        assert_eq!(slot["pass_at_k"][0]["value"], 1, "{name}");
        assert_eq!(slot["omitted_k"][0]["k"], 5);
        assert_eq!(slot["robust"].as_array().unwrap().len(), 3);
        for row in slot["robust"].as_array().unwrap() {
            assert_eq!(row["tasks_without_wording"], 1, "{name}: the task without prose");
        }
    }
    let whole = row(slot(&summary, "reads"), None);
    assert_eq!((&whole["wordings"], &whole["tasks"]), (&json!(5), &json!(2)));
    assert_eq!((&whole["at_k"][0]["value"], &whole["at_k"][0]["drop"]), (&json!(1), &json!(0)));
    assert_eq!(whole["omitted_k"][0]["k"], 5);
    for generator in [None, Some("whitespace_noise"), Some("constraint_injection_light")] {
        let row = row(slot(&summary, "by_heart"), generator);
        let at = &row["at_k"][1];
        assert_eq!(
            (&at["k"], &at["value"], &at["pass_at_k"], &at["drop"]),
            (&json!(2), &json!(0), &json!(1), &json!(1))
        );
    }
    let broken = row(slot(&summary, "breaks"), Some("whitespace_noise"));
    assert_eq!(
        (&broken["tasks"], &broken["tasks_without_verdict"], &broken["at_k"]),
        (&json!(0), &json!(2), &json!([]))
    );
    let rates: Vec<_> = summary["wordings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["slot"].as_str().unwrap(), &row["relative_drop"]))
        .collect();
    let (kept, lost) = (json!(0), json!(1));
    assert_eq!(rates, [("by_heart", &lost), ("by_heart", &lost), ("reads", &kept), ("reads", &kept)]);
    let page = lab.read("r/report.html");
    for part in [
        "robust\u{a0}pass@1",
        ">6</a>\u{a0}completions of the tasks as they stand",
        "Other wordings",
        "over 2\u{a0}tasks, 1 without a wording left out",
    ] {
        assert!(page.contains(part), "{part}");
    }
    lab.run("report r --markdown").exits(0).says("robust pass\\@1 0\u{a0}%");
    lab.run("export r --format humaneval --out x").exits(0);
    assert_eq!(
        lab.read("x/reads_results.jsonl").lines().count(),
        6,
        "completions of the tasks as they stand"
    );
}

#[test]
fn every_wording_has_its_record_whatever_the_workers_and_interruptions() {
    let lab = lab();
    lab.tools("run suite.yaml --no-cache --run-dir one --quiet --jobs 1").exits(0);
    lab.tools("run suite.yaml --cache known --run-dir many --quiet --jobs 8").exits(0);
    assert_eq!(lab.run_files("one"), lab.run_files("many"));
    let records = lab.records("one");
    let missing: Vec<&Value> =
        records.iter().filter(|record| record["error_type"] == "variant_shortfall").collect();
    assert_eq!(missing.len(), 24);
    for record in missing {
        assert_eq!(
            (&record["status"], &record["passed"], &record["task_id"]),
            (&json!("skipped"), &Value::Null, &json!("demo/bare"))
        );
        assert!(record["error"].as_str().unwrap().contains("no_prose"), "{record}");
        assert_eq!(
            (&record["completion"], &record["result"]),
            (&Value::Null, &json!("failed: variant_shortfall"))
        );
    }
    let ids: std::collections::BTreeSet<&str> =
        records.iter().map(|record| record["record_id"].as_str().unwrap()).collect();
    let asks: std::collections::BTreeSet<&str> =
        records.iter().map(|record| record["input_fingerprint"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), asks.len()), (90, 3 + 2 * 4 + 1));
    assert!(records.iter().all(|record| record["completion_id"] == record["repetition"]));

    // Killed anywhere, a run is completed to the same bytes.
    let mut interrupted = 0;
    for kept in [1, 20, 50] {
        let run = format!("killed-{kept}");
        let line = format!("run suite.yaml --no-cache --run-dir {run} --quiet --jobs 1");
        let mut command = lab.command_with_tools(&line.split(' ').collect::<Vec<_>>());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for_records(&lab, &run, kept);
        child.kill().unwrap();
        interrupted += usize::from(child.wait().unwrap().code().is_none());
        lab.tools(&format!("{line} --resume")).exits(0);
        assert_eq!(lab.run_files(&run), lab.run_files("one"), "after {kept} records");
    }
    assert!(interrupted > 0);
    lab.run("diff one many --fail-on-changes").exits(0);

    // A chosen task brings all of its wordings.
    lab.tools("run suite.yaml --cache known --run-dir chosen --quiet --task demo/double --k 2").exits(0);
    let chosen = lab.json("chosen/summary.json");
    assert_eq!(
        (&chosen["trials"], &row(slot(&chosen, "reads"), None)["at_k"][0]["k"]),
        (&json!(30), &json!(2))
    );
}

/// Lines of samples files have no wording but the one that they were written for.
#[test]
fn samples_beside_models_stay_as_they_are() {
    let lab = lab();
    lab.write("s.jsonl", "{\"task_id\":\"demo/times\",\"completion\":\"    a * b\\n}\\n\"}\n".repeat(2));
    let mut suite: Value = serde_json::from_str(&lab.read("suite.yaml")).unwrap();
    suite["samples"] = json!({"file": "s.jsonl"});
    suite["targets"].as_object_mut().unwrap().retain(|name, _| name == "reads");
    lab.write("suite.yaml", suite.to_string());
    lab.tools("plan suite.yaml")
        .exits(0)
        .says("32 (2 lines of samples + 3 tasks x 5 wordings x 1 model x 2 samples)");
    lab.tools("run suite.yaml --no-cache --run-dir r --quiet").exits(0);
    let summary = lab.json("r/summary.json");
    assert!(slot(&summary, "file").get("robust").is_none());
    assert_eq!(slot(&summary, "file")["total"], 2);
    assert_eq!(summary["comparisons"][0]["pairs"], 2, "compared where both have the same wording");
    assert!(summary["wordings"].as_array().unwrap().iter().all(|row| row["slot"] == "reads"));
}
