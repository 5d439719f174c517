//! Parts of a plan, run anywhere in any order, killed and resumed, become the run that one machine would have made.

use std::process::Stdio;
use std::time::Duration;

use crate::lab::Lab;

/// The next number of a fixed sequence.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// The numbers below `count` in some order.
fn shuffled(count: u32, state: &mut u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, next(state) as usize % (place + 1));
    }
    order
}

/// Starts the program where compilers are found, and kills it a little later.
fn killed(lab: &Lab, words: &str, after_ms: u64) {
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut command = lab.command_with_tools(&words);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(after_ms));
    let _ = child.kill();
    child.wait().unwrap();
}

/// Runs every shard of a suite in some order, some of them stopped half-way or killed and then resumed, and merges them.
fn in_parts(lab: &Lab, suite: &str, count: u32) -> String {
    let mut state = u64::from(count);
    let whole = format!("parts{count}");
    for shard in shuffled(count, &mut state) {
        let words = format!("run {suite} --run-dir {whole} --shard {shard}/{count} --quiet");
        match next(&mut state) % 5 {
            0 => {
                // A deadline of nothing at all ends it before its first trial, or in the middle of the first ones.
                let ended = lab.tools(&format!("{words} --deadline 0.01"));
                assert!(matches!(ended.code, Some(0 | 8)), "{}", ended.stderr);
            }
            1 => killed(lab, &words, next(&mut state) % 120),
            _ => {}
        }
        lab.tools(&format!("{words} --resume")).exits(0);
        // `merge` verifies every one; here it is that each can be verified alone.
        if count < 10 || shard % 20 == 0 {
            lab.tools(&format!("verify {whole}.shard-{shard:04}-of-{count:04}")).exits(0).says("sound");
        }
    }
    let merged = lab.tools(&format!("merge {whole} --quiet"));
    assert!(matches!(merged.code, Some(0 | 4 | 9)), "{}{}", merged.stdout, merged.stderr);
    lab.tools(&format!("verify {whole}")).exits(0).says("sound");
    lab.tools(&format!("status {whole}")).exits(0).says(&format!("{whole}: merged"));
    whole
}

/// The starter suite of a kind in 1, 2, 7 and 100 parts, and in 7 of which one is missing.
fn merged_is_whole(kind: &str) {
    let lab = Lab::new();
    lab.run(&format!("init {kind} s")).exits(0);
    let suite = format!("s/{kind}.yaml");
    let whole = lab.tools(&format!("run {suite} --run-dir whole --quiet"));
    assert!(matches!(whole.code, Some(0 | 4 | 9)), "{}", whole.stderr);
    let expected = lab.run_files("whole");
    for count in [1, 2, 7, 100] {
        let merged = in_parts(&lab, &suite, count);
        let found = lab.run_files(&merged);
        for (name, bytes) in &expected {
            assert!(found.get(name) == Some(bytes), "{kind} in {count} parts: {} differs", name.display());
        }
        assert_eq!(found.len(), expected.len(), "{kind} in {count} parts");
        // Copies of what tools left, and files for other programs, are where those of one machine are.
        for beside in
            ["debug", "jsonl"].map(|ending| (format!("whole.{ending}"), format!("{merged}.{ending}")))
        {
            assert_eq!(lab.path(&beside.0).exists(), lab.path(&beside.1).exists(), "{kind}: {}", beside.1);
            if lab.path(&beside.0).is_dir() {
                assert_eq!(lab.run_files(&beside.0), lab.run_files(&beside.1), "{kind} in {count} parts");
            }
        }
    }
    without_one(&lab, &suite);
}

/// Seven parts that are there, of which one is not given: its trials are recorded as not run, all others as they are.
fn without_one(lab: &Lab, suite: &str) {
    let part = |index: u32| format!("parts7.shard-{index:04}-of-0007");
    let lines = |index: u32| lab.read(&format!("{}/records.jsonl", part(index)));
    let gone = (0..7).find(|index| lines(*index).lines().count() > 0).unwrap();
    let others: Vec<String> = (0..7).filter(|index| *index != gone).map(part).collect();
    let others = others.join(" ");
    lab.tools(&format!("merge gap {others}"))
        .exits(8)
        .says(&format!("is missing: {gone}/7"))
        .says("--allow-missing");
    lab.tools(&format!("merge gap {others} --allow-missing")).exits(2).says("--suite");
    lab.tools(&format!("merge gap {others} --allow-missing --suite {suite} -- --seed 77"))
        .exits(11)
        .says("the suite and its data now make run");
    assert!(!lab.path("gap").exists(), "nothing is written where something is refused");
    let merged = lab.tools(&format!("merge gap {others} --allow-missing --suite {suite}"));
    assert!(matches!(merged.code, Some(4 | 8 | 9)), "{}{}", merged.stdout, merged.stderr);
    merged.says(&format!("recorded as `not_run`: {gone}/7"));
    lab.tools("verify gap").exits(0).says("sound");
    lab.tools("status gap").exits(8).says(&format!("merged from 6 shards without {gone}/7"));
    let (whole, missing) = (lab.read("whole/records.jsonl"), lines(gone));
    let gap = lab.read("gap/records.jsonl");
    assert_eq!(gap.lines().count(), whole.lines().count());
    for (line, as_run) in gap.lines().zip(whole.lines()) {
        if !missing.lines().any(|missing| missing == as_run) {
            assert_eq!(line, as_run);
            continue;
        }
        let [record, as_run]: [serde_json::Value; 2] =
            [line, as_run].map(|line| serde_json::from_str(line).unwrap());
        assert_eq!((&record["status"], &record["error_type"]), (&"not_run".into(), &"missing_shard".into()));
        for same in ["record_id", "input_fingerprint", "index", "case_id", "slot", "repetition"] {
            assert_eq!(record[same], as_run[same]);
        }
        assert!(record["passed"].is_null());
    }
    // What nobody ran was needed all the same: it is missed in the bounds, unlike what a policy spared.
    let summary = lab.json("gap/summary.json");
    let not_needed =
        |record: &serde_json::Value| record["status"] == "not_run" && record["error_type"].is_null();
    for slot in summary["slots"].as_array().unwrap() {
        let of_slot = lab.records("gap").into_iter().filter(|record| record["slot"] == slot["slot"]);
        let needed = of_slot.filter(|record| !not_needed(record)).count() as u64;
        let said = slot["pass_rate_all"]["denominator"].as_u64().unwrap();
        assert!(said == needed || said == 0, "{}: {said}, not {needed}", slot["slot"]);
    }
    // The shard turns up: now it is the whole run after all.
    let all = format!("{others} {}", part(gone));
    let merged = lab.tools(&format!("merge gap {all} --overwrite --quiet"));
    assert!(matches!(merged.code, Some(0 | 4 | 9)), "{}", merged.stderr);
    assert_eq!(lab.run_files("gap"), lab.run_files("whole"));
}

#[test]
fn a_merged_probe_is_the_whole_run() {
    merged_is_whole("probe");
}

#[test]
fn a_merged_containment_suite_is_the_whole_run() {
    merged_is_whole("containment");
}

#[test]
fn a_merged_robustness_suite_is_the_whole_run() {
    merged_is_whole("robustness");
}

#[test]
fn a_merged_code_suite_is_the_whole_run() {
    merged_is_whole("code");
}

#[test]
fn twenty_parts_of_thousands_of_trials_killed_by_signals() {
    let lab = Lab::new();
    lab.busy_suite(1500, 2);
    lab.run("run busy.yaml --run-dir whole --quiet --jobs 200").exits(0);
    let mut state = 7;
    for shard in shuffled(20, &mut state) {
        let words = format!("run busy.yaml --run-dir parts --shard {shard}/20 --quiet --jobs 20");
        let mut child = lab.start(&words);
        std::thread::sleep(std::time::Duration::from_micros(next(&mut state) % 60_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let name = format!("parts.shard-{shard:04}-of-0020");
        if lab.path(&name).exists() {
            let verified = lab.run(&format!("verify {name}"));
            assert!(matches!(verified.code, Some(0 | 7 | 8)), "{}", verified.stdout);
        }
        lab.run(&format!("{words} --resume")).exits(0);
    }
    lab.run("merge parts --quiet").exits(0);
    assert_eq!(lab.run_files("parts"), lab.run_files("whole"));
    let envelope = lab.json("parts.run.json");
    let shards = envelope["details"]["shards"].as_array().unwrap();
    assert_eq!(shards.len(), 20);
    let trials: u64 = shards.iter().map(|shard| shard["trials"].as_u64().unwrap()).sum();
    assert_eq!(trials, 3000);
}

#[test]
fn what_is_no_part_of_the_run_is_refused_by_name() {
    let lab = Lab::new();
    lab.busy_suite(40, 0);
    for shard in 0..3 {
        lab.run(&format!("run busy.yaml --run-dir p --shard {shard}/3 --quiet")).exits(0);
    }
    let name = |shard: u32| format!("p.shard-{shard:04}-of-0003");
    let before = lab.snapshot();
    let three = format!("{} {} {}", name(0), name(1), name(2));

    lab.run(&format!("merge m {} {}", name(0), name(2)))
        .exits(8)
        .says("1 shard of `busy")
        .says("is missing: 1/3");
    lab.run(&format!("merge m {three} {}", name(1))).exits(7).says("is shard 1/3 too");
    lab.run("run busy.yaml --run-dir q --seed 9 --shard 1/3 --quiet").exits(0);
    lab.run(&format!("merge m {} q.shard-0001-of-0003 {}", name(0), name(2)))
        .exits(7)
        .says("`q.shard-0001-of-0003` cannot be merged: its run id is not that of");
    lab.run("run busy.yaml --run-dir w --quiet").exits(0);
    lab.run(&format!("merge m {} w {}", name(0), name(2))).exits(7).says("it is a whole run, not a shard");
    lab.run("run busy.yaml --run-dir r --shard 1/4 --quiet").exits(0);
    lab.run(&format!("merge m {} r.shard-0001-of-0004 {}", name(0), name(2)))
        .exits(7)
        .says("its number of shards is not that of");
    lab.run(&format!("merge m {} nothing", name(0))).exits(7).says("there is no such directory");
    lab.run("merge nowhere").exits(2).says("there are no shards of `nowhere`");

    let records = format!("{}/records.jsonl", name(1));
    let sound = lab.read(&records);
    let line = sound.lines().next().unwrap();
    for (what, tampered) in [
        ("altered", sound.replacen("question", "Question", 1)),
        ("a line less", sound.replacen(&format!("{line}\n"), "", 1)),
        ("a line twice", format!("{line}\n{sound}")),
        ("a line of another shard", lab.read(&format!("{}/records.jsonl", name(2)))),
    ] {
        lab.write(&records, &tampered);
        let refused = lab.run(&format!("merge m {three}")).exits(7);
        assert!(
            refused.stderr.contains(&format!("`{}` cannot be merged", name(1))),
            "{what}: {}",
            refused.stderr
        );
    }
    // Those who may go on without it are told, and its trials were not run.
    lab.run(&format!("merge broken {three} --allow-missing --suite busy.yaml"))
        .exits(8)
        .says(&format!("`{}` is left out: it is not sound", name(1)))
        .says("recorded as `not_run`: 1/3");
    lab.run("verify broken").exits(0);
    lab.write(&records, &sound);
    let manifest = format!("{}/manifest.json", name(1));
    let version = lab.read(&manifest);
    let other = version.replace(
        &format!("\"proofhouse_version\":\"{}\"", env!("CARGO_PKG_VERSION")),
        "\"proofhouse_version\":\"9.9.9\"",
    );
    assert_ne!(version, other);
    lab.write(&manifest, &other);
    lab.run(&format!("merge m {three}"))
        .exits(7)
        .says(&format!("`{}` cannot be merged: proofhouse 9.9.9 made it", name(1)));
    // What somebody else made is refused even by those who may go on without.
    lab.run(&format!("merge m {three} --allow-missing --suite busy.yaml"))
        .exits(7)
        .says("proofhouse 9.9.9 made it");
    lab.run(&format!("merge m {} w {} --allow-missing --suite busy.yaml", name(0), name(2)))
        .exits(7)
        .says("it is a whole run, not a shard");
    lab.write(&manifest, &version);

    let after = lab.snapshot();
    for (path, bytes) in &before {
        assert_eq!(after.get(path), Some(bytes), "{}", path.display());
    }
    assert!(!lab.path("m").exists() && !lab.path("m.run.json").exists());
    lab.run(&format!("merge m {three} --quiet")).exits(0);
    assert_eq!(lab.run_files("m"), lab.run_files("w"));
    lab.run(&format!("merge m {three}")).exits(11).says("is there already");
    lab.run(&format!("merge m {three} --overwrite --quiet")).exits(0);
}

#[test]
fn status_says_what_is_there() {
    let lab = Lab::new();
    lab.busy_suite(40, 0);
    let shard = |index: u32, more: &str| {
        lab.run(&format!("run busy.yaml --run-dir p --shard {index}/4 --quiet {more}"))
    };
    lab.run("status p").exits(2).says("there are no shards of `p`").says("--shards N");
    lab.run("status p --shards 4")
        .exits(8)
        .says("not started: 0 to 3")
        .says("p: 4 shards: 4 not started; 0 trials");
    shard(1, "").exits(0);
    assert_eq!(shard(2, "--deadline 0").code, Some(8));
    lab.run("status p")
        .exits(8)
        .says("shard 2/4: stopped,")
        .says("not started: 0, 3")
        .says("1 complete, 1 stopped, 2 not started");
    lab.run("status p --shards 5").exits(11).says("shards of different counts: 4, 5");
    lab.run("status p --wait --timeout 0").exits(8);
    for index in [0, 2, 3] {
        shard(index, "--resume").exits(0);
    }
    // A shard that is whole already is left as it is: tasks are started again for reasons of their own.
    let before = lab.snapshot();
    shard(3, "--resume").exits(0);
    let name = "p.shard-0003-of-0004";
    for (path, bytes) in before.iter().filter(|(path, _)| path.starts_with(name)) {
        assert_eq!(&std::fs::read(lab.path(path.to_str().unwrap())).unwrap(), bytes, "{}", path.display());
    }
    lab.run("status p --wait")
        .exits(0)
        .says("4 shards: 4 complete; 80 trials recorded")
        .says("next: proofhouse merge p");
    lab.run("merge p --quiet").exits(0);
    lab.run("status p").exits(0).says("p: merged");
    // Shards of another plan under the same name are not those that were merged.
    lab.run("run busy.yaml --run-dir q --seed 9 --shard 0/1 --quiet").exits(0);
    lab.run("run busy.yaml --run-dir q --quiet").exits(0);
    lab.run("status q").exits(0).says("1 shard: 1 complete").says("next: proofhouse merge q --overwrite");
    lab.run("run busy.yaml --run-dir alone --quiet").exits(0);
    lab.run("status alone").exits(0).says("alone: a run that was not made of shards");
}

#[test]
fn shards_are_named_by_schedulers() {
    let lab = Lab::new();
    lab.busy_suite(10, 0);
    let mut command = lab.command(&["run", "busy.yaml", "--run-dir", "p", "--shard", "auto", "--quiet"]);
    command.envs([
        ("SLURM_ARRAY_TASK_ID", "2"),
        ("SLURM_ARRAY_TASK_COUNT", "2"),
        ("SLURM_ARRAY_TASK_MIN", "1"),
    ]);
    lab.finish(&mut command).exits(0);
    assert!(lab.path("p.shard-0001-of-0002/manifest.json").exists());
    lab.run("run busy.yaml --shard auto")
        .exits(2)
        .says("no scheduler says which shard this is")
        .says("PROOFHOUSE_SHARD");
    lab.run("run busy.yaml --shard 2/2").exits(2).says("a shard is I/N");
}
