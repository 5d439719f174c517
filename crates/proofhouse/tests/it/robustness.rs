//! Black-box tools: what reaches them, what they may do, and how they are read.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use camino::Utf8Path;
use proofhouse::family::target::Command;
use proofhouse::family::target::command::{Invocation, Opening, Tool, WorkFile};
use proofhouse::kinds::load;
use proofhouse::spine::suite::Overrides;
use proofhouse_ledger::record::{FailureStage, Termination};
use proofhouse_sandbox::{Helper, Options, Sandbox};

use crate::lab::Lab;

fn sandbox() -> Arc<Sandbox> {
    static SANDBOX: OnceLock<Arc<Sandbox>> = OnceLock::new();
    let open = || {
        let mut options = Options::new(std::env::temp_dir());
        options.helper = Helper::At(env!("CARGO_BIN_EXE_proofhouse").into());
        Arc::new(Sandbox::open(options).expect("a sandbox"))
    };
    SANDBOX.get_or_init(open).clone()
}

fn tool_with(settings: &str, debug_enabled: bool, files: Vec<WorkFile>) -> Tool {
    let command: Command = serde_saphyr::from_str(settings).unwrap();
    assert_eq!(command.check(), []);
    let opening = Opening {
        sandbox: sandbox(),
        scratch: std::env::temp_dir(),
        base: Utf8Path::new("/"),
        files,
        debug_enabled,
        debug_bytes: 1 << 20,
        repair_enabled: true,
        environment: &|name| (name == "TOKEN").then(|| "secret".to_owned()),
    };
    Tool::new(&command, opening).unwrap()
}

fn tool(settings: &str) -> Tool {
    tool_with(settings, false, Vec::new())
}

/// A tool that is a shell script with the instruction as `$1`.
fn script(text: &str) -> Tool {
    let text = serde_json::to_string(text).unwrap();
    tool(&format!(
        "argv: [sh, -c, {text}, tool, '{{instruction}}']\noutcome: [{{stdout: '(?m)^done', success: true}}]\n"
    ))
}

const DEADLINE_MS: u64 = 20_000;

fn run(tool: &Tool, instruction: &str) -> Invocation {
    tool.invoke(instruction, 0, DEADLINE_MS)
}

const INSTRUCTIONS: [&str; 12] = [
    "plain",
    "two\nlines\n",
    "\ttabs\tand  spaces ",
    "emoji 🦀👩‍👩‍👧 and combining é",
    "مرحبا \u{202e}RTL",
    "quotes \" ' ` $HOME $(id) \\n",
    "--help",
    "-",
    "",
    "{instruction} {1} %s",
    "\r\ncarriage\r",
    "* ? [a] ~ ! # ; & | < > ( )",
];

#[test]
fn an_echo_tool_gives_back_every_byte() {
    for via in ["argv", "stdin", "file"] {
        let argv = match via {
            "argv" => "[printf, '%s', '{instruction}']",
            "stdin" => "[cat]",
            _ => "[cat, '{instruction}']",
        };
        let echo = tool(&format!("argv: {argv}\nvia: {via}\noutcome: [{{exit_code: 0, success: true}}]\n"));
        for instruction in INSTRUCTIONS {
            let ran = run(&echo, instruction);
            assert_eq!(ran.stdout.text, instruction, "{via}");
            assert!(ran.observed.is_some_and(|seen| seen.success), "{via} {instruction:?} {ran:?}");
        }
    }
    let embedded =
        tool("argv: [printf, '%s', '--ask={instruction}!']\noutcome: [{exit_code: 0, success: true}]\n");
    assert_eq!(run(&embedded, "a{instruction}b").stdout.text, "--ask=a{instruction}b!");
}

#[test]
fn nothing_but_the_instruction_depends_on_the_case() {
    let look = script("env | sort | grep -v '^_='; pwd; echo $0 $#; ls -A; echo done");
    let (one, other) = (run(&look, "one"), run(&look, "another one"));
    assert_eq!(one.stdout.text, other.stdout.text);
    assert!(!one.stdout.text.contains("CARGO"), "{}", one.stdout.text);
    let seeded = tool(
        "argv: [sh, -c, 'echo $NOISE $TOKEN $PLAIN', x, '{instruction}']\nseed_env: NOISE\npass_env: [TOKEN]\nenv: {PLAIN: p}\noutcome: [{exit_code: 0, success: true}]\n",
    );
    assert_eq!(seeded.invoke("x", 42, DEADLINE_MS).stdout.text, "42 secret p\n");
}

#[track_caller]
fn ends(ran: &Invocation, termination: Termination, trouble: Option<&str>) {
    assert_eq!(ran.termination, Some(termination), "{ran:?}");
    assert_eq!(ran.trouble.as_ref().map(|(code, _)| *code), trouble, "{ran:?}");
    assert!(ran.observed.is_none_or(|seen| !seen.success));
}

#[test]
fn whatever_a_tool_does_is_an_outcome() {
    ends(&run(&script("exit 3"), "x"), Termination::Exited, Some("exit_code"));
    ends(&run(&script("echo done; exit 1"), "x"), Termination::Exited, Some("exit_code"));
    let silent = run(&script("exit 0"), "x");
    ends(&silent, Termination::Exited, None);
    assert_eq!(silent.observed.unwrap().failure_stage, Some(FailureStage::Unknown));
    let crash = run(&script("kill -SEGV $$"), "x");
    ends(&crash, Termination::Signalled, Some("signalled"));
    assert_eq!(crash.signal, Some(11));
    let missing = run(
        &tool("argv: [no-such-tool-here, '{instruction}']\noutcome: [{exit_code: 0, success: true}]\n"),
        "x",
    );
    ends(&missing, Termination::SpawnFailed, Some("spawn_failed"));
    assert_eq!(missing.observed, None, "what was not started is neither a success nor a failure");
    let flood = tool(
        "argv: [sh, -c, 'yes {instruction}']\noutput_bytes: 100000\noutcome: [{exit_code: 0, success: true}]\n",
    );
    ends(&run(&flood, "x"), Termination::Signalled, Some("output_limit"));
}

/// Processes of this machine whose command line holds a text.
fn living(text: &str) -> Vec<String> {
    #[expect(clippy::disallowed_methods, reason = "the order does not matter")]
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(text) && !line.contains("nextest"))
        .collect()
}

#[test]
fn a_deadline_ends_the_whole_tree() {
    let marker = format!("31{}.25", std::process::id());
    let hang = script(&format!(
        "trap '' TERM INT HUP; (setsid sh -c 'trap \"\" TERM; sleep {marker}' &) ; sleep {marker}; sleep {marker}"
    ));
    let ran = hang.invoke("x", 0, 700);
    ends(&ran, Termination::Timeout, Some("timeout"));
    assert!((700..3000).contains(&ran.duration_ms), "{}", ran.duration_ms);
    // The tree is gone when `invoke` returns; a process that is only just being reaped has no command line.
    assert_eq!(living(&format!("sleep {marker}")), Vec::<String>::new());
    let fork = script("sleep 600 & sleep 600 & echo done");
    let ran = run(&fork, "x");
    assert!(ran.duration_ms < DEADLINE_MS / 2, "left-over children do not keep a run open: {ran:?}");
}

#[test]
fn what_a_tool_writes_stays_in_its_own_directory() {
    let before = listing(Path::new("."));
    let write =
        script("echo x > leaked-file; mkdir -p a/b; cat leaked-file; echo y > \"$OLDPWD/out\" ; echo done");
    let first = run(&write, "x");
    assert!(first.stdout.text.contains("done"), "{first:?}");
    let again = run(&script("ls -A; echo done"), "x");
    assert_eq!(again.stdout.text, "done\n", "every trial starts in an empty directory");
    assert_eq!(listing(Path::new(".")), before);
}

fn listing(dir: &Path) -> Vec<String> {
    #[expect(clippy::disallowed_methods, reason = "sorted below")]
    let entries = std::fs::read_dir(dir).unwrap().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn files_that_a_tool_leaves_are_read() {
    let settings = "argv: [sh, run.sh, '{instruction}']\ndebug_dir: build/debug\ndebug_on: {env: {DEBUG: '1'}, args: [--debug]}\noutcome:\n  \
                    - {artefact: 'bricks/*.py', success: true}\n  - {json: /tries, file: result.json, attempts: value}\n  \
                    - {json: /repairs, repairs_triggered: value}\n";
    let text = "mkdir bricks; echo 1 > bricks/$1.py; echo '{\"tries\": 4}' > result.json\n\
                [ \"$DEBUG\" ] && mkdir -p build/debug/run_1 && echo $2 > build/debug/run_1/log; echo '{\"repairs\": 2}'\n";
    let files = || vec![WorkFile { path: "run.sh".to_owned(), bytes: text.into(), executable: false }];
    let quiet = run(&tool_with(settings, false, files()), "name");
    let seen = quiet.observed.unwrap();
    assert_eq!((seen.success, seen.attempts, seen.repairs_triggered), (true, Some(4), Some(2)), "{quiet:?}");
    assert_eq!(quiet.debug, None);
    let debugged = run(&tool_with(settings, true, files()), "name");
    let again = run(&tool_with(settings, true, files()), "name");
    assert_eq!(debugged.debug.as_ref().unwrap().path, "build/debug/run_1");
    assert_eq!(debugged.debug, again.debug, "the digest is of what was there");
    assert!(debugged.observed.unwrap().success);
}

#[test]
fn a_version_is_the_first_line() {
    let versioned = tool(
        "argv: [sh, -c, 'true', x, '{instruction}']\nversion_command: [sh, -c, 'echo; echo 1.2 beta; echo more']\noutcome: [{exit_code: 0, success: true}]\n",
    );
    assert_eq!(versioned.version().as_deref(), Some("1.2 beta"));
    let failing = tool(
        "argv: [sh, -c, 'true', x, '{instruction}']\nversion_command: [sh, -c, 'echo 1; exit 1']\noutcome: [{exit_code: 0, success: true}]\n",
    );
    assert_eq!(failing.version(), None);
}

/// A lab with the shipped example in it.
fn forge() -> Lab {
    let lab = Lab::new();
    lab.run("init robustness .").exits(0);
    lab
}

#[test]
fn the_shipped_example_shows_stable_flaky_brittle_and_beyond() {
    let lab = forge();
    lab.run("check robustness.yaml").exits(0);
    lab.run("plan robustness.yaml")
        .exits(0)
        .says("about 154 if it always succeeds alike")
        .says("0.5      4.8 %               4.8 %  38.2 %        52.1 %       14.2")
        .says("even if every run succeeds, success may differ by 11.9 points")
        .says("false discovery rate");
    // Level 3 is a coin: between a level that always succeeds and one that never does.
    lab.run("run robustness.yaml --run-dir run")
        .exits(0)
        .says("2 stable, 1 flaky")
        .says("between level 2 and 4");
    lab.run("verify run").exits(0);
    let found = &lab.json("run/summary.json")["robustness"];
    let verdicts = |list: &str| -> Vec<String> {
        let list = found[list].as_array().unwrap();
        list.iter().map(|row| row["verdict"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(verdicts("baselines"), ["stable", "flaky", "stable"]);
    let structural: Vec<&str> = found["variants"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|variant| variant["verdict"] == "structural")
        .map(|variant| variant["case_id"].as_str().unwrap())
        .collect();
    assert_eq!(structural, ["simple_cache"; 4]);
    assert_eq!(verdicts("levels"), ["clear", "clear", "flaky", "systematic_failure"]);
    let effects: Vec<(&str, &str)> = found["generators"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["generator"].as_str().unwrap(), row["effect"].as_str().unwrap()))
        .collect();
    assert_eq!(effects[0], ("whitespace_noise", "changes_outcomes"));
    assert!(effects[1..].iter().all(|(_, effect)| *effect == "not_enough_runs"), "{effects:?}");
    let page = lab.read("run/report.html");
    for part in [
        "Five questions",
        "Calibration",
        "What rewording does",
        "Stress ladder",
        "Failure attribution",
        "Brittle parsing logic",
        "Capability boundary",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

/// Terminal, Markdown, page and JSON have every sentence of the summary.
#[test]
fn one_sentence_is_said_everywhere() {
    let lab = forge();
    lab.run("run robustness.yaml --run-dir run --quiet").exits(0);
    let found = lab.json("run/summary.json")["robustness"].clone();
    let plain = |text: &str| {
        let text = text.replace('\u{a0}', " ").replace('\\', "");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let escaped = |text: &str| {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\'', "&#39;")
    };
    let page = plain(&lab.read("run/report.html"));
    let said = |format: &str| plain(&lab.run(&format!("report run --format {format}")).exits(0).stdout);
    let (text, markdown, json) = (said("text"), said("markdown"), said("json"));
    for (list, key) in [("baselines", "sentence"), ("generators", "sentence"), ("components", "sentence")] {
        for row in found[list].as_array().unwrap() {
            let sentence = plain(row[key].as_str().unwrap());
            assert!(text.contains(&sentence), "terminal: {sentence}\n{text}");
            assert!(
                markdown.contains(&sentence) || markdown.contains(&escaped(&sentence)),
                "markdown: {sentence}\n{markdown}"
            );
            assert!(json.contains(&sentence), "json: {sentence}");
            assert!(page.contains(&sentence) || page.contains(&escaped(&sentence)), "page: {sentence}");
        }
    }
}

/// Fixed looks, looks that are not planned, and the rules of thumb: the same words, each with its own bound.
#[test]
fn the_report_says_which_bound_was_used() {
    let suite = |more: &str| {
        format!(
            "suite_id: one\nmode: baseline\n{more}cases: [{{id: a, instruction: Build it.}}]\ntargets: {{echo: {{command: {{argv: [printf, '%s', '{{instruction}}'], outcome: [{{exit_code: 0, success: true}}]}}}}}}\n"
        )
    };
    for (more, runs, verdict, bound) in [
        ("", 14, "stable", "planned_looks"),
        ("runs: 10\n", 10, "consistent_so_far", "planned_looks"),
        ("policy: fixed\nruns: 22\n", 22, "stable", "planned_looks"),
        ("policy: seed\n", 3, "consistent_so_far", "planned_looks"),
        ("looks: open\n", 24, "stable", "any_time"),
        ("agreement: 0.9\nruns: 40\n", 29, "stable", "planned_looks"),
    ] {
        let lab = Lab::new();
        lab.write("suite.yaml", suite(more));
        lab.run("run suite.yaml --run-dir run --quiet").exits(0);
        let found = lab.json("run/summary.json")["robustness"]["baselines"][0].clone();
        assert_eq!(
            (found["runs"].as_u64(), found["verdict"].as_str(), found["bound"].as_str()),
            (Some(runs), Some(verdict), Some(bound)),
            "{more}: {found}"
        );
        let word =
            if bound == "any_time" { "holds at any number of runs" } else { "exact for the planned looks" };
        assert!(found["sentence"].as_str().unwrap().contains(word), "{found}");
    }
    let lab = Lab::new();
    lab.write("suite.yaml", suite("agreement: 1\n"));
    lab.run("check suite.yaml").exits(3).says("no number of runs could show that").says("hint: ");
}

/// Two runs of the same demo with other noise, and one whose tool breaks.
#[test]
fn diff_and_compare_tell_verdicts_drops_and_boundaries() {
    let lab = forge();
    lab.run("run robustness.yaml --run-dir a --quiet").exits(0);
    let suite = lab.read("robustness.yaml");
    lab.write("other.yaml", suite.replace("seed: 2\n", "seed: 1\n"));
    lab.run("run other.yaml --run-dir b --quiet").exits(0);
    let same = lab
        .run("diff a b --limit 0")
        .exits(0)
        .says("verdicts, drops and boundaries differs between A and B by more than noise")
        .says("it cannot be told to have moved");
    assert!(!same.stdout.contains("permutation test"), "runs that stop are not pooled: {}", same.stdout);
    lab.write("forge/forge.sh", lab.read("forge/forge.sh").replace("\"$more\" -ge 4", "\"$more\" -ge 2"));
    lab.run("run robustness.yaml --run-dir broken --quiet").exits(0);
    lab.run("diff a broken --limit 0")
        .exits(0)
        .says("simple_cache, level 2: clear in A, systematic failure in B")
        .says("it moved down by more than noise");
    lab.run("diff a broken --limit 0 --format markdown").exits(0).says("it moved down by more than noise");
    let json = lab.run("diff a broken --limit 0 --format json").exits(0);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["own"][0]["more_than_noise"], true, "{json}");
    lab.run("compare a broken")
        .exits(0)
        .says("between a and broken by more than noise")
        .says("it moved down");
}

#[test]
fn every_planned_run_has_a_record_whatever_the_number_of_jobs() {
    let lab = forge();
    lab.run("run robustness.yaml --run-dir one --jobs 1 --quiet").exits(0);
    lab.run("run robustness.yaml --run-dir many --jobs 7 --quiet").exits(0);
    assert_eq!(lab.run_files("one"), lab.run_files("many"));
    let records = lab.records("one");
    assert_eq!(records.len(), 211);
    for record in &records {
        let not_run = record["status"] == "not_run";
        assert_eq!(record["success"].is_null(), not_run, "{record}");
        assert!(
            !not_run || record["stop_rule"].is_string(),
            "what was not needed says by which rule: {record}"
        );
    }
    lab.run("run robustness.yaml --run-dir seed --policy seed --quiet").exits(0);
    lab.run("run robustness.yaml --run-dir fixed --policy fixed --quiet").exits(0);
    assert!(lab.records("fixed").iter().all(|record| record["status"] != "not_run"));
    assert_eq!(lab.json("seed/summary.json")["robustness"]["policy"], "seed");
}

#[test]
fn an_interrupted_run_completes_to_the_same_bytes() {
    let lab = forge();
    lab.run("run robustness.yaml --run-dir whole --quiet").exits(0);
    let text = lab.read("whole/records.jsonl");
    let lines: Vec<&str> = text.lines().collect();
    for kept in [1, 7, 23, 60, 210] {
        let (run, config) = (format!("cut{kept}"), lab.read("whole/config.resolved.yaml"));
        let mut part = lines[..kept].join("\n");
        part.push_str("\n{\"torn");
        lab.write(&format!("{run}/records.jsonl"), part)
            .write(&format!("{run}/config.resolved.yaml"), config);
        lab.run(&format!("run robustness.yaml --run-dir {run} --resume --quiet")).exits(0);
        assert_eq!(lab.read(&format!("{run}/records.jsonl")), text, "{kept}");
        assert_eq!(lab.run_files(&run), lab.run_files("whole"), "{kept}");
    }
}

#[test]
fn the_plan_is_counted_as_it_streams() {
    let lab = forge();
    let tool = "{command: {argv: [x, '{instruction}'], outcome: [{exit_code: 0, success: true}]}}";
    lab.write("two.yaml", format!("a: {tool}\nb: {tool}\n"));
    let path = camino::Utf8PathBuf::from_path_buf(lab.path("robustness.yaml")).unwrap();
    let target = camino::Utf8PathBuf::from_path_buf(lab.path("two.yaml")).unwrap();
    let overrides = Overrides {
        own: vec![std::sync::Arc::new(proofhouse::kinds::robustness::RobustnessFlags {
            target: Some(target),
            ..Default::default()
        })],
        ..Overrides::default()
    };
    let loaded = load(&path, &overrides).unwrap_or_else(|problems| panic!("{problems}"));
    let trials: Vec<_> = loaded.trials().map(Result::unwrap).collect();
    assert_eq!((trials.len() as u64, trials.len()), (loaded.trial_count, 422));
    let ids: std::collections::BTreeSet<_> = trials.iter().map(|trial| trial.record_id).collect();
    assert_eq!(ids.len(), trials.len());
    assert!(trials.iter().zip(0..).all(|(trial, at)| trial.index == at));
}

#[test]
fn the_tree_has_the_proposed_layout_field_for_field() {
    let lab = forge();
    lab.run("run robustness.yaml --run-dir run --quiet").exits(0);
    let files = lab.run_files("run.tree");
    let root =
        files.keys().next().unwrap().components().next().unwrap().as_os_str().to_str().unwrap().to_owned();
    assert!(root.starts_with("run_2") && root.len() == "run_YYYYMMDD_HHMMSS".len(), "{root}");
    let json = |path: &str| lab.json(&format!("run.tree/{root}/{path}"));
    let keys =
        |value: &serde_json::Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let mut summary = vec![
        "run_id",
        "suite",
        "case_id",
        "variant_id",
        "instruction_hash",
        "instruction_length",
        "success",
        "failure_stage",
        "attempts",
        "repairs_triggered",
        "duration_ms",
        "debug_enabled",
        "debug_artifacts_present",
        "debug_path",
        "timestamp_utc",
        "ironclad_version",
    ];
    summary.sort_unstable();
    let run = json("adversarial/simple_cache/whitespace_noise/variant_0002/run_001/summary.json");
    let mut found = keys(&run);
    found.sort_unstable();
    assert_eq!(found, summary);
    assert_eq!(
        (run["variant_id"].as_str(), run["failure_stage"].as_str()),
        (Some("whitespace_noise_0002"), Some("generation"))
    );
    assert!(run["duration_ms"].is_u64() && run["timestamp_utc"].as_str().unwrap().ends_with('Z'), "{run}");
    let sum = json("adversarial/simple_cache/whitespace_noise/aggregate.json");
    let mut aggregate = vec![
        "suite",
        "case_id",
        "variant",
        "total_runs",
        "successes",
        "failures",
        "success_rate",
        "failure_breakdown",
        "attempts_distribution",
        "avg_duration_ms",
        "p95_duration_ms",
        "debug_coverage",
    ];
    aggregate.sort_unstable();
    let mut found = keys(&sum);
    found.sort_unstable();
    assert_eq!(found, aggregate);
    assert_eq!(
        (
            sum["total_runs"].as_u64(),
            sum["failures"].as_u64(),
            sum["failure_breakdown"]["generation"].as_u64()
        ),
        (Some(20), Some(20), Some(20))
    );
    for path in [
        "metadata.json",
        "baseline/simple_cache/aggregate.json",
        "baseline/simple_cache/run_010/instruction.txt",
        "stress/simple_cache/level_4/aggregate.json",
    ] {
        assert!(files.contains_key(&std::path::Path::new(&root).join(path)), "{path}");
    }
    let text = lab.read(&format!("run.tree/{root}/baseline/simple_cache/run_001/instruction.txt"));
    assert_eq!(text, "Design a simple in-memory cache with get and set operations.");

    std::fs::remove_dir_all(lab.path("run.tree")).unwrap();
    lab.run("report run").exits(0);
    assert_eq!(lab.run_files("run.tree"), files, "rebuilt byte for byte");
    lab.run("export run --format tree --out again").exits(0);
    assert_eq!(lab.run_files("again"), files);
}

#[test]
fn a_suite_without_a_tool_is_checked_and_planned_but_not_run() {
    let lab = Lab::new();
    lab.write("suite.yaml", "suite_id: bare\nmode: baseline\ncases: [{id: a, instruction: Build it.}]\n");
    lab.run("check suite.yaml").exits(0);
    lab.run("plan suite.yaml").exits(0).says("22 (1 cases");
    let before = lab.snapshot();
    lab.run("run suite.yaml --run-dir run").exits(3).says("the suite names no tool to test").says("--target");
    assert_eq!(lab.snapshot(), before);
    lab.write("tools.yaml", "echo: {command: {argv: [printf, '%s', '{instruction}'], outcome: [{exit_code: 0, success: true}]}}\n");
    lab.run("run suite.yaml --run-dir run --target tools.yaml").exits(0);
    let records = lab.records("run");
    assert_eq!(records[0]["stdout"], "Build it.");
    assert_eq!(
        (records[13]["stop_rule"].as_str(), records[14]["status"].as_str()),
        (Some("agreement"), Some("not_run"))
    );
}

#[test]
fn a_missing_tool_is_neither_a_pass_nor_a_failure() {
    let lab = Lab::new();
    lab.write("suite.yaml", "suite_id: gone\nmode: baseline\ncases: [{id: a, instruction: Build it.}]\ntargets: {tool: {command: {argv: [no-such-tool, '{instruction}'], outcome: [{exit_code: 0, success: true}]}}}\n");
    lab.run("run suite.yaml --run-dir run").exits(9);
    let records = lab.records("run");
    assert_eq!(
        (records[0]["status"].as_str(), records[0]["termination"].as_str()),
        (Some("error"), Some("spawn_failed"))
    );
    assert!(records[0]["passed"].is_null() && records[0]["success"].is_null());
    assert_eq!(
        (records[2]["stop_rule"].as_str(), records[3]["status"].as_str()),
        (Some("unassessed"), Some("not_run"))
    );
}

/// A rewriter whose answers are rules over the prompt.
fn rewriting(rules: &str) -> String {
    format!(
        "suite_id: rewritten\nmode: adversarial\nruns: 3\nruns_per_variant: 1\npolicy: fixed\n\
         rewriter: {{target: {{scripted: {{rules: [{rules}]}}}}}}\n\
         cases:\n  - id: list\n    base_instruction: Convert a list of dictionaries into a dictionary keyed by id.\n    \
         variants: [{{generator: ai_semantic_restatement, count: 2, seed: 1}}]\n\
         targets: {{echo: {{command: {{argv: [printf, '%s', '{{instruction}}'], outcome: [{{exit_code: 0, success: true}}]}}}}}}\n"
    )
}

const GOOD_ONE: &str = "Turn a list of dictionaries into one dictionary keyed by id.";
const GOOD_TWO: &str = "Make a list of dictionaries into a single dictionary keyed by id.";

#[test]
fn rewritten_variants_are_replayed_without_a_model() {
    let lab = Lab::new();
    lab.write(
        "suite.yaml",
        rewriting(&format!(
            "{{contains: number 1, reply: '{GOOD_ONE}'}}, {{contains: number 2, reply: '{GOOD_TWO}'}}"
        )),
    );
    lab.run("plan suite.yaml").exits(0).says("2 more are written by the rewriter");
    lab.run("run suite.yaml --run-dir one").exits(0).says("the rewriter was asked for 2 variants");
    let told: Vec<String> = lab
        .records("one")
        .iter()
        .map(|record| record["stdout"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(told[3..], [GOOD_ONE, GOOD_TWO]);
    assert!(
        lab.records("one")[3]["generation"]["prompt"]
            .as_str()
            .unwrap()
            .contains("Preserve the task exactly. Change wording only.")
    );
    let recorded = lab.read("suite.variants.jsonl");
    let again = lab.run("run suite.yaml --run-dir two").exits(0);
    assert!(!again.stderr.contains("written by the rewriter"), "{}", again.stderr);
    assert_eq!(lab.run_files("one"), lab.run_files("two"));
    assert_eq!(lab.read("suite.variants.jsonl"), recorded);
}

#[test]
fn what_the_guard_refuses_is_recorded_and_never_run() {
    for (answer, reason) in [
        ("", "empty"),
        ("Convert a list of dictionaries into a dictionary keyed by id.", "unchanged"),
        (
            "Convert a list of dictionaries into a dictionary keyed by id and test them thoroughly.",
            "forbidden_token:test",
        ),
        ("Convert a list of dictionaries into a dictionary keyed by id. Also deploy it.", "extra_sentence"),
        (
            "Here is the rewritten instruction: convert a list of dictionaries into a dictionary keyed by id.",
            "meta_commentary",
        ),
        (
            "Write Python code that turns a list of dictionaries into a dictionary keyed by id.",
            "new_language:python",
        ),
    ] {
        let lab = Lab::new();
        lab.write(
            "suite.yaml",
            rewriting(&format!(
                "{{contains: number 1, reply: {answer:?}}}, {{contains: number 2, reply: '{GOOD_TWO}'}}"
            )),
        );
        lab.run("run suite.yaml --run-dir run --quiet").exits(0);
        let record = &lab.records("run")[3];
        assert_eq!(
            (record["status"].as_str(), record["error_type"].as_str()),
            (Some("skipped"), Some("ai_generation_failure")),
            "{answer}"
        );
        let rejections = record["generation"]["rejections"].as_array().unwrap();
        assert_eq!(rejections.len(), 3, "{answer}");
        let reasons: Vec<&str> = rejections[0]["failure_reasons"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|reason| reason.as_str())
            .collect();
        assert!(reasons.contains(&reason), "{answer}: {reasons:?}");
        let tree = lab.run_files("run.tree");
        let path = tree
            .keys()
            .find(|path| {
                path.ends_with("ai_semantic_restatement/variant_0001/run_001/ai_generation_failure.json")
            })
            .expect("the note");
        let note: serde_json::Value = serde_json::from_slice(&tree[path]).unwrap();
        let mut keys: Vec<&String> = note.as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(
            keys,
            ["ai_output", "attempt", "base_instruction", "failure_reasons", "generator", "timestamp_utc"]
        );
        let (told, run) = (note["timestamp_utc"].as_str().unwrap(), lab.json("run.run.json"));
        let times = [&run["run_start_ts_utc"], &run["run_end_ts_utc"]].map(|time| time.as_str().unwrap());
        assert!(times[0][..19] <= told[..19] && told[..19] <= times[1][..19], "{told} is within {times:?}");
        assert!(!tree.keys().any(|path| path.ends_with("variant_0001/run_001/instruction.txt")), "never run");
        assert!(lab.json("run/summary.json")["robustness"]["shortfalls"][0]["reason"] == "rejected_by_guard");
    }
}

#[test]
fn a_rewriter_that_fails_is_a_recorded_rejection() {
    let lab = Lab::new();
    lab.write(
        "suite.yaml",
        rewriting("{contains: number 1, fault: error, reply: boom}, {contains: number 2, fault: timeout}"),
    );
    lab.run("run suite.yaml --run-dir run --quiet").exits(0);
    let errors: Vec<String> = lab.records("run")[3..]
        .iter()
        .map(|record| record["generation"]["rejections"][0]["error"].as_str().unwrap().to_owned())
        .collect();
    assert!(errors[0].contains("boom") && errors[1] == "no answer in time", "{errors:?}");
}

/// Tools of every bad habit in one suite: it completes, each is an outcome, and the user's files are untouched.
#[test]
fn a_suite_of_misbehaving_tools_completes() {
    let lab = Lab::new();
    let tool = |name: &str, script: &str| {
        let script = serde_json::to_string(script).unwrap();
        format!(
            "  {name}: {{command: {{argv: [sh, -c, {script}, x, '{{instruction}}'], output_bytes: 100000, outcome: [{{stdout: ok, success: true}}]}}}}\n"
        )
    };
    let targets = [
        tool("good", "echo ok"),
        tool("hangs", "sleep 60"),
        tool("deaf", "trap '' TERM; sleep 60"),
        tool("forks", "(setsid sleep 60 &); sleep 60 & echo ok"),
        tool("floods", "yes"),
        tool("crashes", "kill -SEGV $$"),
        tool("litters", "echo x > suite.yaml; rm -rf ../suite* 2>/dev/null; echo ok"),
        tool("lies", "exit 0"),
    ];
    lab.write("suite.yaml", format!("suite_id: bad\nmode: baseline\npolicy: fixed\nruns: 1\ntimeout_seconds: 1\ncases: [{{id: a, instruction: Build it.}}]\ntargets:\n{}", targets.concat()));
    let suite = lab.read("suite.yaml");
    lab.run("run suite.yaml --run-dir run").exits(0);
    let seen: Vec<(String, String, String)> = lab
        .records("run")
        .iter()
        .map(|record| {
            let word = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
            (word("slot"), word("termination"), record["success"].to_string())
        })
        .collect();
    let expected = [
        ("good", "exited", "true"),
        ("hangs", "timeout", "false"),
        ("deaf", "timeout", "false"),
        ("forks", "exited", "true"),
        ("floods", "signalled", "false"),
        ("crashes", "signalled", "false"),
        ("litters", "exited", "true"),
        ("lies", "exited", "false"),
    ];
    let expected: Vec<(String, String, String)> =
        expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())).into();
    assert_eq!(seen, expected);
    assert_eq!(lab.read("suite.yaml"), suite);
    lab.run("verify run").exits(0);
}

#[test]
fn probe_suites_vary_their_cases_too() {
    let lab = Lab::new();
    lab.write("suite.yaml", concat!(
        "kind: probe\nsuite_id: varied\nseed: 3\nrepetitions: 2\njudges: {same: {equals: {}}}\nprompt: 'What is the capital of {input}?'\n",
        "cases: [{id: f, input: France, expected: Paris}, {id: i, input: Italy, expected: Rome}]\n",
        "vary:\n  - {generator: whitespace_noise, count: 2, intensity_min: 0.05, intensity_max: 0.2}\n",
        "  - {generator: synonym_substitution, params: {count: 3}}\n",
        "targets:\n  steady: {scripted: {rules: [{contains: France, reply: Paris}, {contains: Italy, reply: Rome}]}}\n",
        "  brittle: {scripted: {answers: {'What is the capital of France?': Paris, 'What is the capital of Italy?': Rome}}}\n",
    ));
    lab.run("plan suite.yaml").exits(0).says("48 (2 cases x 6 wordings x 2 targets x 2 repetitions)");
    lab.run("run suite.yaml --run-dir run --quiet").exits(0);
    lab.run("verify run").exits(0);
    let records = lab.records("run");
    assert_eq!(records.len(), 48);
    assert!(
        records[..4].iter().all(|record| record["variant_id"].is_null()),
        "a case comes first as it stands"
    );
    assert_eq!(records[4]["variant_id"], "whitespace_noise_0001");
    assert_ne!(records[4]["input"], records[0]["input"]);
    let missing: Vec<_> =
        records.iter().filter(|record| record["error_type"] == "variant_shortfall").collect();
    assert!(
        !missing.is_empty()
            && missing.iter().all(|record| record["status"] == "skipped" && record["passed"].is_null())
    );
    let rows = lab.json("run/summary.json")["wordings"].as_array().unwrap().clone();
    let of = |slot: &str| {
        rows.iter().find(|row| row["slot"] == slot && row["generator"] == "whitespace_noise").unwrap()
    };
    assert_eq!(
        (of("steady")["relative_drop"].as_f64(), of("brittle")["relative_drop"].as_f64()),
        (Some(0.0), Some(1.0))
    );
    assert_eq!(of("brittle")["robust_cases"]["numerator"], 0);
    assert!(lab.read("run/report.html").contains("Other wordings"));
    lab.write(
        "bad.yaml",
        lab.read("suite.yaml")
            .replace("whitespace_noise", "ai_rewrite")
            .replace(", intensity_min: 0.05, intensity_max: 0.2", ""),
    );
    lab.run("check bad.yaml").exits(3).says("bad.yaml:9:17: `ai_rewrite` needs a model");
}

#[test]
fn a_tool_starts_with_files_of_the_suite_and_no_others() {
    let lab = Lab::new();
    let suite = |workdir: &str| {
        format!(
            "kind: robustness\nsuite_id: s\ntargets:\n  tool: {{command: {{argv: [cat, '{{instruction}}'], workdir: '{workdir}', outcome: [{{exit_code: 0, success: true}}]}}}}\n\
             cases:\n  - {{id: a, instruction: Sort a list of names.}}\n"
        )
    };
    for outside in ["/etc/ssl", "../x", "in/../../x"] {
        lab.write("s.yaml", suite(outside));
        lab.run("check s.yaml").exits(3).says("it leaves the suite's directory");
    }
    lab.write("in/file", "text").write("s.yaml", suite("in"));
    lab.run("check s.yaml").exits(0);
    std::os::unix::fs::symlink("/etc/passwd", lab.path("in/link")).unwrap();
    lab.run("check s.yaml").exits(3).says("links are not followed");
}

#[test]
fn a_key_that_a_tool_was_given_and_prints_is_kept_nowhere() {
    let lab = Lab::new();
    lab.write(
        "suite.yaml",
        "kind: robustness\nsuite_id: r\ntargets:\n  t:\n    command:\n      argv: [sh, -c, 'echo \"out $MY_TOKEN\"; echo \"err $MY_TOKEN\" >&2', x, '{instruction}']\n      \
         pass_env: [MY_TOKEN]\n      outcome: [{stdout: 'out canary', success: true}]\ncases: [{id: a, instruction: build it}]\n",
    );
    let args = ["run", "suite.yaml", "--run-dir", "live"];
    lab.finish(lab.command(&args).env("MY_TOKEN", "canary-token-0123")).exits(0);
    let record = &lab.records("live")[0];
    assert_eq!(record["passed"], true, "the tool had its token: {record}");
    assert_eq!(record["stdout"], "out [redacted]\n");
    assert_eq!(record["stderr"], "err [redacted]\n");
    for (path, bytes) in lab.snapshot() {
        assert!(!String::from_utf8_lossy(&bytes).contains("canary-token"), "it is in {}", path.display());
    }
}

/// What one needs to make the same instructions again stands in the tree's own file about the run.
#[test]
fn the_metadata_of_a_tree_says_what_its_runs_were_made_of() {
    let lab = crate::golden::golden("v1", "robustness");
    lab.run("export run --format tree --out tree").exits(0);
    let tree = lab.run_files("tree");
    let metadata = tree.iter().find(|(path, _)| path.ends_with("metadata.json")).unwrap().1;
    let metadata: serde_json::Value = serde_json::from_slice(metadata).unwrap();
    let suite = proofhouse_ledger::Digest::of(lab.read("suite.yaml").as_bytes()).to_string();
    assert_eq!(
        (metadata["suite_sha256"].as_str(), metadata["seed"].as_u64()),
        (Some(suite.as_str()), Some(11))
    );
    assert_eq!(metadata["policy"], "evidence");
    assert_eq!(
        metadata["generator_versions"],
        serde_json::json!({"add_ambiguity": 2, "add_scope_detail": 2, "whitespace_noise": 2})
    );
    assert_eq!(
        metadata["generator_seeds"],
        serde_json::json!({"add_ambiguity": [11], "add_scope_detail": [11], "whitespace_noise": [1]})
    );
}
