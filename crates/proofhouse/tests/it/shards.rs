//! Parts of a plan, run anywhere in any order, killed and resumed, become the run that one machine would have made.

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

/// Runs every shard of a suite in some order, some of them stopped half-way and resumed, and merges them.
fn in_parts(lab: &Lab, suite: &str, flags: &str, count: u32) -> String {
    let mut state = u64::from(count);
    let whole = format!("parts{count}");
    for shard in shuffled(count, &mut state) {
        let words = format!("run {suite} --run-dir {whole} --shard {shard}/{count} --quiet {flags}");
        if next(&mut state).is_multiple_of(3) {
            // A deadline of nothing at all ends it before its first trial, or in the middle of the first ones.
            let ended = lab.tools(&format!("{words} --deadline 0.01"));
            assert!(matches!(ended.code, Some(0 | 8)), "{}", ended.stderr);
            lab.tools(&format!("{words} --resume")).exits(0);
        } else {
            lab.tools(&words).exits(0);
        }
        lab.tools(&format!("verify {whole}.shard-{shard:04}-of-{count:04}")).exits(0).says("sound");
    }
    let merged = lab.tools(&format!("merge {whole} --quiet"));
    assert!(matches!(merged.code, Some(0 | 4 | 9)), "{}{}", merged.stdout, merged.stderr);
    lab.tools(&format!("verify {whole}")).exits(0).says("sound");
    whole
}

/// All four kinds' starter suites, and one with several targets and latency.
fn merged_is_whole(kind: &str, flags: &str, counts: &[u32]) {
    let lab = Lab::new();
    lab.run(&format!("init {kind} s")).exits(0);
    let suite = format!("s/{kind}.yaml");
    let whole = lab.tools(&format!("run {suite} --run-dir whole --quiet {flags}"));
    assert!(matches!(whole.code, Some(0 | 4 | 9)), "{}", whole.stderr);
    let expected = lab.run_files("whole");
    for count in counts {
        let merged = in_parts(&lab, &suite, flags, *count);
        let found = lab.run_files(&merged);
        for (name, bytes) in &expected {
            assert!(found.get(name) == Some(bytes), "{kind} in {count} parts: {} differs", name.display());
        }
        assert_eq!(found.len(), expected.len(), "{kind} in {count} parts");
    }
}

#[test]
fn a_merged_probe_is_the_whole_run() {
    merged_is_whole("probe", "", &[1, 2, 7, 100]);
}

#[test]
fn a_merged_containment_suite_is_the_whole_run() {
    merged_is_whole("containment", "", &[1, 2, 7, 100]);
}

#[test]
fn a_merged_robustness_suite_is_the_whole_run() {
    merged_is_whole("robustness", "", &[1, 2, 7]);
}

#[test]
fn a_merged_code_suite_is_the_whole_run() {
    merged_is_whole("code", "", &[1, 2, 7]);
}

#[test]
fn a_hundred_parts_of_thousands_of_trials_killed_by_signals() {
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
        .says("1 shards of `busy")
        .says("missing: 1/3");
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
    lab.write(&records, &sound);
    let manifest = format!("{}/manifest.json", name(1));
    let version = lab.read(&manifest);
    let other = version.replace(
        &format!("\"proofhouse_version\":\"{}\"", env!("CARGO_PKG_VERSION")),
        "\"proofhouse_version\":\"9.9.9\"",
    );
    assert_ne!(version, other);
    lab.write(&manifest, &other);
    let refused = lab.run(&format!("merge m {three}")).exits(7);
    assert!(refused.stderr.contains(&name(1)), "{}", refused.stderr);
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
