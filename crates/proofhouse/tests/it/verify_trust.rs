//! What a careful forger does, what a broken machine does, and what other commands make of a run that is not sound.

use serde_json::Value;

use crate::lab::Lab;

fn run() -> Lab {
    let lab = Lab::new();
    lab.small_suite();
    lab.run("run small.yaml --run-dir run --quiet").exits(0);
    lab
}

/// Changes one record and makes every digest agree again: records, manifest, summary, report and envelope.
pub fn reseal(lab: &Lab, index: usize, change: impl FnOnce(&mut Value)) {
    use proofhouse_ledger::{Digest, canonical};
    let mut records = lab.records("run");
    change(&mut records[index]);
    records[index].as_object_mut().unwrap().remove("record_sha256");
    let bare = canonical::to_vec(&records[index]).unwrap();
    records[index]["record_sha256"] = Digest::of(&bare).to_string().into();
    let lines: Vec<u8> = records.iter().flat_map(|record| canonical::to_file(record).unwrap()).collect();
    lab.write("run/records.jsonl", &lines);

    let mut merkle = proofhouse_ledger::digest::Merkle::default();
    records.iter().for_each(|r| merkle.push(r["record_sha256"].as_str().unwrap().parse().unwrap()));
    let mut manifest = lab.json("run/manifest.json");
    manifest["records_sha256"] = Digest::of(&lines).to_string().into();
    manifest["records_merkle_root"] = merkle.root().to_string().into();
    for (status, count) in manifest["counts"].as_object_mut().unwrap() {
        *count = records.iter().filter(|record| record["status"] == status.as_str()).count().into();
    }
    lab.write("run/manifest.json", canonical::to_file(&manifest).unwrap());
    lab.run("report run --quiet");
    manifest["summary_sha256"] = Digest::of(lab.read("run/summary.json").as_bytes()).to_string().into();
    lab.write("run/manifest.json", canonical::to_file(&manifest).unwrap());
    lab.run("report run --quiet").exits(0);
    lab.run("recover run --rebuild").exits(0);
}

#[test]
fn rejudging_finds_a_forged_verdict_without_any_key() {
    let lab = run();
    lab.run("verify run --rejudge").exits(0).says("judged again: 12 verdicts the same");
    // Case `b` was answered `beta` where `gamma` was expected.
    reseal(&lab, 4, |record| {
        assert_eq!(record["case_id"], "b");
        record["passed"] = true.into();
        record["scores"]["same"] = 1.into();
        record["judge"].as_object_mut().unwrap().remove("same");
    });
    lab.run("verify run").exits(0);
    let found = lab.run("verify run --rejudge").exits(7).stdout;
    assert!(found.contains("records.jsonl:5"), "{found}");
    assert!(found.contains("`same` scored 1, judged again it scores 0"), "{found}");
    assert!(found.contains("NOT SOUND, 1 finding"), "{found}");
}

#[test]
fn a_verdict_that_does_not_follow_from_the_scores_is_found_without_judging_again() {
    let lab = run();
    reseal(&lab, 4, |record| record["passed"] = true.into());
    lab.run("verify run").exits(7).says("`passed` does not follow from `scores`");
}

#[test]
fn rejudging_reads_the_output_of_a_tool_again() {
    let lab = crate::golden::golden("v1", "robustness");
    let said = lab.run("verify run --rejudge").exits(0).stdout;
    assert!(said.contains("judged again: ") && !said.contains("judged again: 0 "), "{said}");
    let index = lab.records("run").iter().position(|record| record["success"] == true).unwrap();
    reseal(&lab, index, |record| {
        record["stdout"] = "nothing\n".into();
        record["stdout_bytes"] = 8.into();
        record["output_sha256"] = proofhouse_ledger::Digest::of(b"nothing\n").to_string().into();
    });
    lab.run("verify run --rejudge").exits(7).says("read again it is false");
}

#[test]
fn a_suite_makes_run_id_and_plan_anew() {
    let lab = run();
    lab.run("verify run --suite small.yaml").exits(0);
    let data = lab.read("small.jsonl");
    lab.write("small.jsonl", data.replacen("\"alpha\",\"expected\"", "\"omega\",\"expected\"", 1));
    let found = lab.run("verify run --suite small.yaml").exits(7).stdout;
    assert!(found.contains("`small.yaml` with the same seed and limit makes run"), "{found}");
    assert!(found.contains("line 1 is not what `small.yaml` plans there: case `a`"), "{found}");
    lab.write("small.jsonl", data);
    lab.run("run small.yaml --run-dir limited --limit 2 --seed 9 --quiet").exits(0);
    lab.run("verify limited --suite small.yaml").exits(0);
}

/// Neither gate nor counts are part of a run's id: only the suite knows what they were.
#[test]
fn a_suite_knows_its_gate_and_its_cases() {
    let lab = Lab::new();
    lab.small_suite();
    let suite = lab.read("small.yaml");
    lab.write("small.yaml", format!("{suite}gate: {{pass_rate: 0.9}}\n"));
    lab.run("run small.yaml --run-dir run --quiet").exits(4);
    let config = lab.read("run/config.resolved.yaml");
    for (from, to, named) in [
        ("  pass_rate: 0.9", "  pass_rate: 0.1", "`gate` is not what `small.yaml` says"),
        ("case_count: 4", "case_count: 3", "`case_count` is not what `small.yaml` says"),
        ("    rows: 4", "    rows: 3", "`datasets[0].rows` is not what `small.yaml` says"),
    ] {
        lab.run("verify run --suite small.yaml").exits(0);
        let forged = config.replace(from, to);
        assert_ne!(forged, config, "{from}");
        reconfigured(&lab, &forged);
        lab.run("verify run").exits(0);
        lab.run("verify run --suite small.yaml").exits(7).says(named);
        reconfigured(&lab, &config);
    }
}

/// Gives a run another configuration and makes every digest agree again.
fn reconfigured(lab: &Lab, config: &str) {
    use proofhouse_ledger::{Digest, canonical};
    lab.write("run/config.resolved.yaml", config);
    let mut manifest = lab.json("run/manifest.json");
    let rows: u64 =
        config.split("rows: ").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    manifest["config_sha256"] = Digest::of(config.as_bytes()).to_string().into();
    manifest["datasets"][0]["rows"] = rows.into();
    lab.write("run/manifest.json", canonical::to_file(&manifest).unwrap());
    lab.run("report run --quiet");
    manifest["summary_sha256"] = Digest::of(lab.read("run/summary.json").as_bytes()).to_string().into();
    lab.write("run/manifest.json", canonical::to_file(&manifest).unwrap());
    lab.run("report run --quiet");
    lab.run("recover run --rebuild").exits(0);
}

#[test]
fn a_suite_knows_what_was_expected() {
    let lab = run();
    // The answer is made the right one, with all that follows: judging again finds nothing.
    reseal(&lab, 4, |record| {
        record["expected"] = record["output"].clone();
        record["passed"] = true.into();
        record["scores"] = serde_json::json!({"near": 1, "same": 1});
        record["judge"] = serde_json::json!({});
    });
    lab.run("verify run --rejudge").exits(0);
    lab.run("verify run --suite small.yaml")
        .exits(7)
        .says("line 5 is not what `small.yaml` plans there: case `b`, another `expected`");
    for kind in ["probe", "code", "robustness", "containment"] {
        crate::golden::golden("v1", kind).run("verify run --suite suite.yaml").exits(0);
    }
}

/// A pipe would make a reader wait for ever, a device would never end.
#[cfg(unix)]
#[test]
fn only_regular_files_are_read() {
    let lab = run();
    for name in ["manifest.json", "records.jsonl", "summary.json", "config.resolved.yaml", "report.html"] {
        let kept = lab.run_files("run");
        std::fs::remove_file(lab.path(&format!("run/{name}"))).unwrap();
        #[expect(clippy::disallowed_methods, reason = "the standard library makes no pipes with names")]
        let made = std::process::Command::new("mkfifo").arg(lab.path(&format!("run/{name}"))).status();
        assert!(made.unwrap().success());
        for command in
            ["verify run", "export run --format junit", "score run small.yaml", "diff run run", "report run"]
        {
            // Whoever does not need the file may go on; nobody may wait for it.
            let outcome = lab.run(command);
            let refused = outcome.code != Some(0);
            assert!(refused || !command.starts_with("verify"), "{name}: {}", outcome.stdout);
        }
        std::fs::remove_dir_all(lab.path("run")).unwrap();
        for (path, bytes) in kept {
            lab.write(&format!("run/{}", path.display()), bytes);
        }
        let _ = std::fs::remove_dir_all(lab.path("runs"));
        let _ = std::fs::remove_dir_all(lab.path("run.junit"));
    }
    lab.run("verify run").exits(0);
}

#[test]
fn a_manifest_of_three_gigabytes_costs_nothing() {
    let lab = run();
    std::fs::File::create(lab.path("run/manifest.json")).unwrap().set_len(3 << 30).unwrap();
    lab.run("verify run").exits(7).says("it is longer than 16777216 bytes");
    for command in ["export run --format junit", "score run small.yaml --run-dir again", "report run"] {
        assert_ne!(lab.run(command).code, Some(0), "{command}");
    }
}

#[test]
fn versions_that_are_not_known_are_refused_by_every_command() {
    for (name, from) in [
        ("run/manifest.json", "\"schema_version\":\"1.0\""),
        ("run/records.jsonl", "\"schema_version\":\"1.0\""),
        ("run/summary.json", "\"schema_version\":\"1.1\""),
        ("run.run.json", "\"schema_version\":\"1.1\""),
        ("run/config.resolved.yaml", "schema_version: \"1.0\""),
    ] {
        let lab = run();
        let text = lab.read(name);
        assert!(text.contains(from), "{name} has no {from}");
        let later = from.replace("1.0", "2.0").replace("1.1", "2.0");
        lab.write(name, text.replacen(from, &later, 1));
        for command in [
            "diff run run",
            "report run",
            "score run small.yaml --run-dir again",
            "recover run --rebuild",
            "export run --format junit",
            "run small.yaml --run-dir run --resume",
        ] {
            let before = lab.snapshot();
            let outcome = lab.run(command);
            assert_eq!(outcome.code, Some(7), "{command} with {name}: {}{}", outcome.stdout, outcome.stderr);
            assert!(outcome.stderr.contains("2.0"), "{command} with {name}: {}", outcome.stderr);
            assert_eq!(lab.snapshot(), before, "{command} with {name}");
        }
        lab.run("verify run").exits(7);
    }
}

#[test]
fn an_interrupted_report_is_incomplete_and_not_unsound() {
    for draft in ["summary.json.draft", "report.html.draft"] {
        let lab = run();
        lab.write(&format!("run/{draft}"), "{\"half");
        lab.run("verify run").exits(8).says("was being written when its writer ended");
        lab.run("report run --quiet").exits(0);
        lab.run("verify run").exits(0);
    }
}

#[test]
fn an_interrupted_resume_is_incomplete_and_not_unsound() {
    let lab = Lab::new();
    lab.busy_suite(60, 40);
    lab.run("run busy.yaml --run-dir run --jobs 1 --deadline 0.3 --quiet").exits(8);
    let recorded = lab.records("run").len();
    let mut child = lab.start("run busy.yaml --run-dir run --jobs 1 --resume --quiet");
    crate::crash::wait_for_records(&lab, "run", recorded + 3);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(lab.path("run.run.json").exists() && lab.path("run.run.json.tmp").exists());
    lab.run("verify run").exits(8).says("what is there is sound");
    let torn = [lab.read("run/records.jsonl").as_bytes(), b"{\"torn"].concat();
    lab.write("run/records.jsonl", torn);
    lab.run("verify run").exits(8).says("what is there is sound");
    lab.run("run busy.yaml --run-dir run --jobs 200 --resume --quiet").exits(0);
    lab.run("verify run").exits(0);
}

/// All trials are there, the manifest too, and the process died before its envelope got its name.
#[test]
fn a_run_killed_before_its_seal_is_incomplete() {
    let lab = run();
    let envelope = lab.read("run.run.json").replace("\"normal\"", "\"in_progress\"");
    lab.write("run.run.json.tmp", envelope);
    std::fs::remove_file(lab.path("run.run.json")).unwrap();
    lab.run("verify run").exits(8).says("cut off");
    lab.run("recover run").exits(0);
    lab.run("verify run").exits(0);
}

#[test]
fn a_run_survives_a_rename_with_its_envelope() {
    let lab = Lab::new();
    lab.small_suite();
    lab.run("run small.yaml --quiet").exits(0);
    let below = camino::Utf8PathBuf::from_path_buf(lab.path("runs/small")).unwrap();
    let names = proofhouse_ledger::files::sorted_dir(&below).unwrap();
    let name = names.iter().find(|name| !name.contains('.')).unwrap();
    for suffix in ["", ".run.json", ".telemetry.jsonl"] {
        std::fs::rename(below.join(format!("{name}{suffix}")), lab.path(&format!("kept{suffix}"))).unwrap();
    }
    lab.run("verify kept").exits(0).says(&format!("was written as `{name}`"));
    for (from, to) in
        [("/records.jsonl", "/other.jsonl"), (name.as_str(), "../elsewhere"), (name.as_str(), "a/b")]
    {
        let text = lab.read("kept.run.json");
        let receipt = format!("\"receipt_path\":\"{name}/records.jsonl\"");
        assert!(text.contains(&receipt));
        lab.write("kept.run.json", text.replacen(&receipt, &receipt.replacen(from, to, 1), 1));
        lab.run("verify kept").exits(7).says("receipt_path");
        lab.write("kept.run.json", text);
    }
}

/// The origin of a verdict cannot be edited apart: the envelope knows the manifest.
#[test]
fn edited_provenance_is_noticed() {
    let lab = run();
    for (from, to) in [
        ("\"toolchains\":{}", "\"toolchains\":{\"rustc\":\"9\"}"),
        ("\"sandbox\":null", "\"sandbox\":{\"network\":\"none\"}"),
        ("\"platform\":null", "\"platform\":\"linux\""),
        ("\"proofhouse_version\":\"0.", "\"proofhouse_version\":\"9."),
        ("\"suite_sha256\":\"", "\"suite_sha256\":\"0"),
    ] {
        let text = lab.read("run/manifest.json");
        assert!(text.contains(from), "{from}");
        let mut forged = text.replacen(from, to, 1);
        if from.starts_with("\"suite_sha256") {
            let at = forged.find("\"suite_sha256\":\"0").unwrap() + 16 + 64;
            forged.remove(at);
        }
        lab.write("run/manifest.json", forged);
        lab.run("report run --quiet");
        lab.run("verify run").exits(7).says("manifest_sha256");
        lab.write("run/manifest.json", text);
        lab.run("report run --quiet").exits(0);
    }
    lab.run("verify run").exits(0);
}

#[test]
fn what_verify_refuses_is_not_laundered_by_score_or_export() {
    let lab = run();
    reseal(&lab, 4, |record| record["passed"] = true.into());
    for command in ["score run small.yaml --run-dir again", "export run --format junit"] {
        lab.run(command).exits(7).says("is not sound");
    }
    assert!(!lab.path("again").exists() && !lab.path("run.junit").exists());
}

/// Killed while it writes, an export leaves what was there before under its name, or nothing.
#[test]
fn an_export_is_written_beside_and_renamed() {
    let lab = run();
    lab.run("export run --format junit --out out").exits(0);
    let names: Vec<_> = lab.run_files("out").into_keys().collect();
    assert!(
        !names.is_empty() && names.iter().all(|name| !name.to_string_lossy().ends_with(".partial")),
        "{names:?}"
    );
    for name in &names {
        let partial = lab.path("out").join(format!("{}.partial", name.display()));
        std::fs::write(&partial, "half").unwrap();
    }
    lab.run("export run --format junit --out out").exits(0);
    assert_eq!(lab.run_files("out").into_keys().collect::<Vec<_>>(), names);
}

#[cfg(unix)]
#[test]
fn a_place_that_cannot_be_written_has_a_message_of_its_own() {
    use std::os::unix::fs::PermissionsExt as _;
    let lab = Lab::new();
    lab.small_suite();
    lab.write("proc", "");
    // Root may write anywhere but here.
    let outcome = lab.run("run small.yaml --run-dir /proc/run");
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("cannot open `/proc/run.lock`"), "{}", outcome.stderr);
    std::fs::create_dir(lab.path("closed")).unwrap();
    std::fs::set_permissions(lab.path("closed"), std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(lab.path("closed/try"), "").is_err() {
        lab.run("run small.yaml --run-dir closed/run").exits(1).says("choose another with `--run-dir`");
    }
}

/// A user of its own for the process, so that its limit counts nobody else; root is not held to any.
#[cfg(target_os = "linux")]
#[test]
fn a_thread_limit_has_a_message_of_its_own() {
    let lab = Lab::new();
    lab.busy_suite(3, 0);
    let script = "chmod 777 . || exit 99
        command -v prlimit >/dev/null || exit 99
        as= && if [ $(id -u) = 0 ]; then as='setpriv --reuid=61234 --regid=61234 --clear-groups'; fi
        $as \"$PROOFHOUSE\" --version >/dev/null || exit 99
        $as prlimit --nproc=$1 \"$PROOFHOUSE\" run busy.yaml --run-dir run$1 --quiet --skip-report";
    let mut refused = 0;
    for limit in 1..=6 {
        #[expect(clippy::disallowed_methods, reason = "a limit is set for another process")]
        let output = std::process::Command::new("sh")
            .args(["-c", script, "sh", &limit.to_string()])
            .current_dir(lab.path(""))
            .env("PROOFHOUSE", env!("CARGO_BIN_EXE_proofhouse"))
            .output()
            .unwrap();
        let (code, said) = (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned());
        if code == Some(99) {
            return eprintln!("NOT TRIED: this machine does not let another user run the program: {said}");
        }
        assert!(!said.contains("panicked"), "limit {limit}: {said}");
        assert!(code == Some(0) || said.contains("thread"), "limit {limit}: {code:?} {said}");
        refused += u32::from(code != Some(0));
    }
    assert!(refused > 0, "no limit was low enough to be felt");
}
