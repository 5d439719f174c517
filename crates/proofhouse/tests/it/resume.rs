//! Going on with a run: only with the same inputs, never by two at once, never running again what is good.

use crate::crash::wait_for_records;
use crate::lab::Lab;

/// A run that was interrupted half-way.
fn interrupted(lab: &Lab) {
    lab.busy_suite(300, 30);
    let mut child = lab.start("run busy.yaml --run-dir run --jobs 4 --quiet");
    wait_for_records(lab, "run", 20);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn changed_inputs_are_refused_and_not_one_byte_changes() {
    let lab = Lab::new();
    interrupted(&lab);
    let (suite, data) = (lab.read("busy.yaml"), lab.read("busy.jsonl"));
    let changes: [(&str, String); 6] = [
        ("busy.jsonl", data.replacen("question 3\"", "question 4\"", 1)),
        ("busy.jsonl", data.replacen("\"expected\":\"0\"", "\"expected\":\"9\"", 1)),
        ("busy.yaml", suite.replace("seed: 3", "seed: 4")),
        ("busy.yaml", suite.replace("reply: '1'", "reply: '3'")),
        ("busy.yaml", suite.replace("equals: {}", "equals: {ignore_case: true}")),
        ("busy.yaml", format!("{suite}title: another title\n")),
    ];
    for (name, changed) in changes {
        lab.write("busy.yaml", &suite).write("busy.jsonl", &data);
        assert_ne!(lab.read(name), changed);
        lab.write(name, changed);
        let before = lab.snapshot();
        lab.run("run busy.yaml --run-dir run --resume").exits(11).says("cannot be resumed");
        assert_eq!(lab.snapshot(), before, "a refused resume of a changed {name} changed something");
    }
    lab.write("busy.yaml", &suite).write("busy.jsonl", &data);
    lab.run("run busy.yaml --run-dir run --resume --quiet --jobs 300").exits(0);
}

#[test]
fn a_second_process_is_refused_by_name() {
    let lab = Lab::new();
    lab.busy_suite(300, 30);
    let mut child = lab.start("run busy.yaml --run-dir run --jobs 2 --quiet");
    wait_for_records(&lab, "run", 5);
    let pid = format!("is being written by process {}", child.id());
    for flags in ["--resume", "--overwrite", ""] {
        lab.run(&format!("run busy.yaml --run-dir run {flags}")).exits(11).says(&pid);
    }
    lab.run("recover run").exits(11).says(&pid);
    child.kill().unwrap();
    child.wait().unwrap();
    lab.run("run busy.yaml --run-dir run --resume --quiet --jobs 300").exits(0);
}

#[test]
fn good_records_are_never_run_again_and_errors_only_when_asked() {
    let lab = Lab::new();
    lab.write("flaky.yaml", concat!(
        "kind: probe\nsuite_id: flaky\ncases: [{id: a, input: a, expected: a}, {id: b, input: b, expected: b}]\n",
        "judges: {same: {equals: {}}}\nrepetitions: 4\n",
        "targets: {t: {scripted: {rules: [{contains: b, chance: 0.5, fault: error, reply: broken}], otherwise: {reply: '{input}'}}}}\n",
    ));
    lab.run("run flaky.yaml --run-dir run --quiet").exits(0);
    let errors = |lab: &Lab| lab.records("run").iter().filter(|record| record["status"] == "error").count();
    assert!(errors(&lab) > 0);
    let before = lab.run_files("run");
    lab.run("run flaky.yaml --run-dir run --resume").exits(0).says("0 executed now, 8 kept");
    assert_eq!(lab.run_files("run"), before);
    let again = format!("{} executed now, {} kept", errors(&lab), 8 - errors(&lab));
    lab.run("run flaky.yaml --run-dir run --resume --retry-errors").exits(0).says(&again);
    assert_eq!(lab.run_files("run"), before, "a scripted target fails the same way again");
    assert!(!lab.path(".run.proofhouse-next").exists() && !lab.path(".run.proofhouse-prev").exists());
    lab.run("verify run").exits(0);
}

#[test]
fn overwrite_keeps_the_old_run_until_the_new_one_is_whole() {
    let lab = Lab::new();
    lab.small_suite().busy_suite(300, 30);
    lab.run("run small.yaml --run-dir run --quiet").exits(0);
    let old = lab.run_files("run");
    let old_envelope = lab.read("run.run.json");
    lab.run("run busy.yaml --run-dir run").exits(11).says("--overwrite");

    let mut child = lab.start("run busy.yaml --run-dir run --overwrite --jobs 2 --quiet");
    wait_for_records(&lab, ".run.proofhouse-next", 5);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(lab.run_files("run"), old, "killed half-way, the old run is whole");
    assert_eq!(lab.read("run.run.json"), old_envelope);
    lab.run("verify run").exits(0);

    lab.run("run busy.yaml --run-dir run --overwrite --resume --jobs 300 --quiet").exits(0);
    assert_eq!(lab.records("run").len(), 600);
    assert_eq!(lab.json("run.run.json")["suite"], "busy");
    lab.run("verify run").exits(0);
    let names: Vec<_> =
        lab.snapshot().into_keys().filter(|path| path.to_string_lossy().contains("proofhouse-")).collect();
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn nothing_but_a_run_is_ever_overwritten_or_moved() {
    let lab = Lab::new();
    lab.small_suite().write("thesis/chapter.tex", "years of work").write("thesis/records.jsonl", "mine");
    lab.write("data/records.jsonl", "my data").write("tree/records.jsonl/precious", "x").write("file", "x");
    for (dir, words) in
        [("data", "is not a run directory"), ("tree", "is not a run directory"), ("file", "it is a file")]
    {
        let before = lab.snapshot();
        lab.run(&format!("run small.yaml --run-dir {dir} --overwrite")).exits(11).says(words);
        assert_eq!(lab.snapshot(), before, "{dir}");
    }
    lab.write("base.prev/notes", "x").write("base.next/notes", "x").write(".base.proofhouse-x", "x");
    lab.run("run small.yaml --run-dir base -q").exits(0);
    lab.run("run small.yaml --run-dir base --overwrite -q").exits(0);
    assert!(lab.path("base.prev/notes").exists() && lab.path("base.next/notes").exists());
    for odd in [".", "..", ".base.proofhouse-next", "/"] {
        lab.run(&format!("run small.yaml --run-dir {odd}")).exits(11).says("cannot be a run directory");
    }
    let before = lab.snapshot();
    lab.run("run small.yaml --run-dir thesis --overwrite").exits(11).says("is not a run directory");
    lab.run("run small.yaml --run-dir thesis --resume").exits(11);
    lab.run("run small.yaml --run-dir thesis").exits(11);
    assert_eq!(lab.snapshot(), before);
}

#[test]
fn the_default_directory_is_found_again() {
    let lab = Lab::new();
    lab.busy_suite(100, 60);
    lab.run("run busy.yaml --resume").exits(11).says("no unfinished run");
    let mut child = lab.start("run busy.yaml --jobs 2 --quiet");
    let dir = lab.path("runs/busy");
    let mut name = None;
    for _ in 0..1000 {
        let names = proofhouse_ledger::files::sorted_dir(camino::Utf8Path::from_path(&dir).unwrap())
            .unwrap_or_default();
        name = names.into_iter().find(|name| !name.contains('.'));
        if name.is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let run = format!("runs/busy/{}", name.unwrap());
    wait_for_records(&lab, &run, 5);
    child.kill().unwrap();
    child.wait().unwrap();
    lab.run("run busy.yaml --resume --jobs 200 --quiet").exits(0);
    lab.run(&format!("verify {run}")).exits(0);
    let instance = run.rsplit("__").next().unwrap().to_owned();
    assert_eq!(lab.json(&format!("{run}.run.json"))["run_instance_id"], instance);
    lab.run("run busy.yaml --resume").exits(11).says("no unfinished run");
}

#[cfg(unix)]
#[test]
fn a_link_to_a_run_is_no_way_around_its_lock() {
    let lab = Lab::new();
    lab.small_suite();
    lab.run("run small.yaml --run-dir real -q").exits(0);
    std::os::unix::fs::symlink(lab.path("real"), lab.path("link")).unwrap();
    for flag in ["--resume", "--overwrite"] {
        lab.run(&format!("run small.yaml --run-dir link {flag}")).exits(11).says("symbolic link");
    }
}

/// Killed while the old run is exchanged for the new one: whatever comes next finds a whole run with its envelope.
#[test]
fn a_replacement_killed_during_the_exchange_is_completed() {
    for step in 0..4 {
        let lab = Lab::new();
        lab.small_suite().busy_suite(20, 0);
        lab.run("run small.yaml --run-dir run -q").exits(0);
        lab.run("run busy.yaml --run-dir other -q").exits(0);
        let rename = |from: &str, to: &str| std::fs::rename(lab.path(from), lab.path(to)).unwrap();
        let envelope = lab.read("other.run.json").replace("other/records.jsonl", "run/records.jsonl");
        lab.write(".run.proofhouse-next.run.json.tmp", envelope);
        rename("other.telemetry.jsonl", ".run.proofhouse-next.telemetry.jsonl");
        rename("other", ".run.proofhouse-next");
        if step >= 1 {
            rename("run", ".run.proofhouse-prev");
        }
        if step >= 2 {
            rename(".run.proofhouse-next", "run");
        }
        if step >= 3 {
            rename(".run.proofhouse-next.telemetry.jsonl", "run.telemetry.jsonl");
            std::fs::remove_file(lab.path(".run.proofhouse-prev/summary.json")).unwrap();
        }
        // What stands there may be of both runs: nobody reads it before the exchange is complete.
        let cut_off = step > 0;
        let reads =
            ["verify run", "report run", "export run --format jsonl", "diff run run", "compare run run"];
        for command in reads.iter().filter(|_| cut_off) {
            lab.run(command).exits(8).says("is being replaced by another run");
        }
        lab.run("recover run").exits(if cut_off { 0 } else { 11 });
        lab.run("verify run").exits(0);
        let suite = if step == 0 { "small" } else { "busy" };
        assert_eq!(lab.json("run.run.json")["suite"], suite, "step {step}");
        assert!(!lab.path(".run.proofhouse-prev").exists());
    }
}

#[test]
fn a_run_killed_before_its_first_file_was_whole_can_be_resumed() {
    let lab = Lab::new();
    lab.small_suite();
    lab.write("run/config.resolved.yaml.draft", "half");
    lab.run("run small.yaml --run-dir run --resume -q").exits(0);
    std::fs::remove_file(lab.path("run/config.resolved.yaml.draft")).ok();
    lab.run("verify run").exits(0);
}
