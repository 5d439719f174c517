//! The envelope: twenty fields by name, there before the first trial, finished in one step, rebuilt from the run.

use crate::crash::wait_for_records;
use crate::lab::Lab;

const SEED_FIELDS: [&str; 20] = [
    "schema_version",
    "run_id",
    "run_instance_id",
    "suite",
    "model_id",
    "backend",
    "seed",
    "lane",
    "variant",
    "git_commit",
    "suite_sha256",
    "timeout_per_case",
    "total_cases_expected",
    "total_cases_completed",
    "run_start_ts_utc",
    "run_end_ts_utc",
    "exit_status",
    "determinism_hash",
    "receipt_path",
    "receipt_sha256",
];

/// What a run directory does not tell: when, where and by whom it was run.
const NOT_DERIVABLE: [&str; 10] = [
    "run_instance_id",
    "git_commit",
    "git_dirty",
    "run_start_ts_utc",
    "run_end_ts_utc",
    "tool_sha256",
    "host",
    "pid",
    "boot_id",
    "resumed_from",
];

#[test]
fn all_fields_by_name_with_the_right_values() {
    let lab = Lab::new();
    lab.small_suite();
    lab.run("run small.yaml --run-dir run --quiet").exits(0);
    let envelope = lab.json("run.run.json");
    for field in SEED_FIELDS {
        assert!(envelope.as_object().unwrap().contains_key(field), "{field}");
    }
    for field in [
        "suite_content_sha256",
        "spec_digest",
        "git_dirty",
        "tool_sha256",
        "cases_assessed",
        "cases_timed_out",
        "cases_errored",
        "cases_unparsed",
        "sandbox_tier",
        "resumed_from",
        "host",
        "pid",
        "boot_id",
    ] {
        assert!(envelope.as_object().unwrap().contains_key(field), "{field}");
    }
    assert_eq!(envelope["schema_version"], "1.1");
    assert_eq!(envelope["exit_status"], "normal");
    assert_eq!(envelope["total_cases_expected"], 16);
    assert_eq!(envelope["total_cases_completed"], 16);
    assert_eq!(envelope["cases_errored"], 4);
    assert_eq!(envelope["cases_assessed"], 12);
    assert_eq!(envelope["receipt_path"], "run/records.jsonl");
    let records = lab.read("run/records.jsonl");
    assert_eq!(envelope["receipt_sha256"], proofhouse_ledger::Digest::of(records.as_bytes()).to_string());
    let suite = lab.read("small.yaml");
    assert_eq!(envelope["suite_sha256"], proofhouse_ledger::Digest::of(suite.as_bytes()).to_string());
    assert!(envelope["tool_sha256"].is_string());
    assert!(envelope["run_start_ts_utc"].as_str().unwrap() <= envelope["run_end_ts_utc"].as_str().unwrap());
}

#[test]
fn it_is_there_before_the_first_trial_and_final_only_when_whole() {
    let lab = Lab::new();
    lab.busy_suite(200, 50);
    let mut child = lab.start("run busy.yaml --run-dir run --jobs 2 --quiet");
    wait_for_records(&lab, "run", 1);
    let envelope = lab.json("run.run.json.tmp");
    assert_eq!(envelope["exit_status"], "in_progress");
    assert_eq!(envelope["total_cases_expected"], 400);
    assert!(envelope["run_end_ts_utc"].is_null() && envelope["receipt_sha256"].is_null());
    assert!(!lab.path("run.run.json").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    lab.run("recover run").exits(0).says("of 400 trials recorded");
    assert_eq!(lab.json("run.run.json")["exit_status"], "external_kill");
    lab.run("recover run").exits(11).says("nothing to recover");
}

/// Killed before its first record, with and without a directory and a configuration: incomplete, never unsound, also once it
/// was recovered, and completed to the same bytes.
#[test]
fn a_run_killed_before_its_first_record_is_recovered_and_completed() {
    let lab = Lab::new();
    lab.busy_suite(8, 0);
    lab.run("run busy.yaml --run-dir run --quiet").exits(0);
    let whole = lab.run_files("run");
    let mut envelope = lab.json("run.run.json");
    envelope["exit_status"] = "in_progress".into();
    envelope["total_cases_completed"] = 0.into();
    for field in ["receipt_sha256", "determinism_hash", "run_end_ts_utc", "manifest_sha256"] {
        envelope[field] = serde_json::Value::Null;
    }
    let envelope = format!("{}\n", serde_json::to_string(&envelope).unwrap());
    let config = lab.read("run/config.resolved.yaml");
    for (dir, configured) in [(false, false), (true, false), (true, true)] {
        std::fs::remove_dir_all(lab.path("run")).unwrap();
        std::fs::remove_file(lab.path("run.run.json")).unwrap();
        lab.write("run.run.json.tmp", &envelope);
        if dir {
            std::fs::create_dir(lab.path("run")).unwrap();
            lab.run("verify run").exits(8);
        }
        if configured {
            lab.write("run/config.resolved.yaml", &config);
            lab.run("verify run").exits(8);
        }
        lab.run("recover run").exits(0).says("0 of 16 trials recorded");
        if dir {
            lab.run("verify run").exits(8);
        }
        lab.run("run busy.yaml --run-dir run --resume --quiet").exits(0);
        assert_eq!(lab.run_files("run"), whole, "{dir} {configured}");
        lab.run("verify run").exits(0);
    }
}

#[test]
fn a_rebuilt_envelope_is_equal_in_every_derivable_field() {
    let lab = Lab::new();
    lab.small_suite();
    for run in ["plain", "runs"] {
        let flag = if run == "plain" { "--run-dir plain" } else { "" };
        lab.run(&format!("run small.yaml {flag} --quiet")).exits(0);
    }
    let named =
        lab.snapshot().into_keys().find(|path| path.starts_with("runs") && path.ends_with("records.jsonl"));
    let named = named.unwrap().parent().unwrap().to_str().unwrap().to_owned();
    for run in ["plain", &named] {
        let written = lab.json(&format!("{run}.run.json"));
        std::fs::remove_file(lab.path(&format!("{run}.run.json"))).unwrap();
        lab.run(&format!("recover {run} --rebuild")).exits(0);
        let rebuilt = lab.json(&format!("{run}.run.json"));
        for (field, value) in written.as_object().unwrap() {
            let derivable =
                !NOT_DERIVABLE.contains(&field.as_str()) || (run != "plain" && field == "run_instance_id");
            if derivable {
                assert_eq!(&rebuilt[field], value, "{run}: {field}");
            } else {
                assert!(
                    rebuilt[field].is_null() || rebuilt[field] == serde_json::json!([]),
                    "{run}: {field}"
                );
            }
        }
        lab.run(&format!("verify {run}")).exits(0);
    }
}

/// Receipts have always named the file of cases by `suite_sha256`; the suite's own file has a name of its own.
#[test]
fn the_suite_of_receipts_is_its_only_file_of_cases() {
    let lab = crate::golden::golden("v1", "containment");
    let digest = |name: &str| proofhouse_ledger::Digest::of(lab.read(name).as_bytes()).to_string();
    lab.run("run suite.yaml --run-dir one --quiet").exits(0);
    let envelope = lab.json("one.run.json");
    assert_eq!(envelope["suite_sha256"], digest("cases.jsonl"));
    assert_eq!(envelope["suite_file_sha256"], digest("suite.yaml"));
    lab.run("verify one").exits(0);
    lab.run("recover one --rebuild").exits(0);
    let rebuilt = lab.json("one.run.json");
    for field in ["suite_sha256", "suite_file_sha256"] {
        assert_eq!(rebuilt[field], envelope[field], "{field}");
        lab.write(
            "one.run.json",
            lab.read("one.run.json").replace(rebuilt[field].as_str().unwrap(), &digest("one/summary.json")),
        );
        lab.run("verify one").exits(7).says(field);
        lab.run("recover one --rebuild").exits(0);
    }
    // Of several files none is the suite, and other kinds mean their own file.
    let more = lab
        .read("cases.jsonl")
        .replace("\"case_id\": \"", "\"case_id\": \"more-")
        .replace("\"twin_of\": \"", "\"twin_of\": \"more-");
    lab.write("more.jsonl", more);
    lab.write("two.yaml", lab.read("suite.yaml").replace("[cases.jsonl]", "[cases.jsonl, more.jsonl]"));
    lab.run("run two.yaml --run-dir two --quiet").exits(0);
    let envelope = lab.json("two.run.json");
    assert_eq!(envelope["suite_sha256"], digest("two.yaml"));
    assert!(envelope.get("suite_file_sha256").is_none());
}
