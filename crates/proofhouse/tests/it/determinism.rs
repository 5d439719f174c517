//! The same inputs give the same bytes, whatever surrounds them.

use proofhouse_ledger::json::{Strictness, parse};

use crate::lab::Lab;

/// The shipped quickstart, copied into the lab.
fn quickstart(lab: &Lab) {
    let suites = concat!(env!("CARGO_MANIFEST_DIR"), "/../../suites");
    for name in ["quickstart.yaml", "quickstart-next.yaml", "quickstart/questions.jsonl"] {
        lab.write(name, std::fs::read(format!("{suites}/{name}")).unwrap());
    }
}

#[test]
fn runs_are_byte_identical_for_any_jobs_directory_locale_and_time_zone() {
    let lab = Lab::new();
    quickstart(&lab);
    lab.busy_suite(60, 3);
    for suite in ["quickstart", "busy"] {
        lab.run(&format!("run {suite}.yaml --run-dir {suite}-a --quiet")).exits(0);
        let first = lab.run_files(&format!("{suite}-a"));
        assert_eq!(first.len(), 5, "{:?}", first.keys());
        for (at, flags) in ["--jobs 1", "--jobs 16", "--jobs 64 --durability trial"].into_iter().enumerate() {
            let run = format!("{suite}-{at}");
            lab.run(&format!("run {suite}.yaml --run-dir {run} --quiet {flags}")).exits(0);
            assert_eq!(lab.run_files(&run), first, "{suite} {flags}");
        }
        let elsewhere = tempfile::tempdir().unwrap();
        let suite_path = lab.path(&format!("{suite}.yaml"));
        let dir = elsewhere.path().join("other place");
        let output = lab
            .command(&["run", suite_path.to_str().unwrap(), "--run-dir", dir.to_str().unwrap(), "--quiet"])
            .current_dir(elsewhere.path())
            .envs([("TZ", "Asia/Kathmandu"), ("LC_ALL", "de_DE.UTF-8"), ("LANG", "tr_TR.UTF-8")])
            .output()
            .unwrap();
        assert!(output.status.success());
        for (name, bytes) in &first {
            assert_eq!(&std::fs::read(dir.join(name)).unwrap(), bytes, "{suite} {name:?}");
        }
    }
}

#[test]
fn report_rewrites_identical_bytes() {
    let lab = Lab::new();
    quickstart(&lab);
    lab.run("run quickstart.yaml --run-dir run --quiet").exits(0);
    let before = lab.run_files("run");
    std::fs::remove_file(lab.path("run/report.html")).unwrap();
    std::fs::remove_file(lab.path("run/summary.json")).unwrap();
    lab.run("report run").exits(0);
    assert_eq!(lab.run_files("run"), before);
    lab.run("run quickstart.yaml --run-dir bare --skip-report --quiet").exits(0);
    assert!(!lab.path("bare/report.html").exists());
    lab.run("report bare").exits(0);
    assert_eq!(lab.run_files("bare"), before);
}

#[test]
fn every_canonical_file_parses_and_re_emits_to_the_same_bytes() {
    let lab = Lab::new();
    quickstart(&lab);
    lab.run("run quickstart.yaml --run-dir run --quiet").exits(0);
    for name in
        ["run/manifest.json", "run/summary.json", "run/records.jsonl", "run.run.json", "run.telemetry.jsonl"]
    {
        for line in lab.read(name).split_terminator('\n') {
            let value = parse(line.as_bytes(), Strictness::Canonical).unwrap();
            assert_eq!(value.to_string(), line, "{name}");
        }
        assert!(lab.read(name).ends_with('\n'), "{name}");
    }
    let config = lab.read("run/config.resolved.yaml");
    let value: proofhouse_ledger::Json = serde_saphyr::from_str(&config).unwrap();
    assert_eq!(proofhouse::spine::suite::yaml::emit(&value), config);
}

#[test]
fn wall_clock_enters_only_when_asked_for() {
    let lab = Lab::new();
    lab.small_suite();
    lab.run("run small.yaml --run-dir strict -q").exits(0);
    lab.run("run small.yaml --run-dir loose -q --no-deterministic-artifacts").exits(0);
    let (strict, loose) = (&lab.records("strict")[0], &lab.records("loose")[0]);
    assert!(strict["latency_ms"].is_null() && loose["latency_ms"].is_number());
    assert!(lab.json("strict/manifest.json")["command"].is_null());
    assert!(lab.json("loose/manifest.json")["command"][1] == "run");
    assert!(lab.json("loose/manifest.json")["platform"].is_string());
    lab.run("verify strict loose").exits(0);
}

#[test]
fn identity_is_content_and_nothing_else() {
    let lab = Lab::new();
    lab.small_suite();
    let id = |lab: &Lab, name: &str| {
        let text = lab.run(&format!("plan {name}")).exits(0).stdout;
        text.lines().find_map(|line| line.strip_prefix("run id:")).unwrap().trim().to_owned()
    };
    let base = id(&lab, "small.yaml");
    let suite = lab.read("small.yaml");
    let variants = [
        (
            true,
            suite.replace("kind: probe\n", "# a comment\r\nkind: probe\ntitle: Other\ndescription: words\n"),
        ),
        (true, suite.replace("suite_id: small\n", "suite_id: small\ngate: {pass_rate: 0.1}\n")),
        (true, suite.replace('\n', "\r\n")),
        (false, suite.replace("repetitions: 2", "repetitions: 3")),
        (false, suite.replace("kind: probe\n", "kind: probe\nseed: 1\n")),
        (false, suite.replace("kind: probe\n", "kind: probe\nprompt: '{input}!'\n")),
        (false, suite.replace("min_similarity: 0.1", "min_similarity: 0.2")),
        (false, suite.replace("reply: boom", "reply: bang")),
        (false, suite.replace("  one:", "  uno:")),
    ];
    for (at, (same, text)) in variants.into_iter().enumerate() {
        assert_ne!(text, suite, "variant {at}");
        lab.write("variant.yaml", text);
        assert_eq!(id(&lab, "variant.yaml") == base, same, "variant {at}");
    }
    std::fs::rename(lab.path("small.jsonl"), lab.path("renamed.jsonl")).unwrap();
    lab.write("variant.yaml", suite.replace("small.jsonl", "renamed.jsonl"));
    assert_eq!(id(&lab, "variant.yaml"), base, "a path is no content");
    lab.write("renamed.jsonl", lab.read("renamed.jsonl").replace("alpha", "aleph"));
    assert_ne!(id(&lab, "variant.yaml"), base, "a dataset's byte is");
}
