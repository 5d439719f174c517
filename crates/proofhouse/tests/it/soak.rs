//! A long run against an endpoint that fails in every way at random, while memory and open files are watched: both stay flat.
//!
//! `PROOFHOUSE_SOAK=1800 cargo nextest run -p proofhouse --test it soak` is the half hour; without the variable it is some seconds.

use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::lab::{Lab, variable};
use crate::servers::{Act, Server, completion};

/// What memory and open files may differ by without growing: the free end of a heap, a page table, a connection that is opened again.
const MEMORY_BYTES: u64 = 3 << 20;
const FILES: usize = 24;

/// What the endpoint does with its n-th request: mostly it answers, else it fails in some way.
fn fault(request: u64, seed: u64) -> Act {
    let mut state = (request ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let text = "x".repeat(1 + (state >> 20) as usize % 3_000);
    let answer = Act::Json(200, completion(&text));
    match (state >> 40) % 40 {
        0 => Act::Json(500, json!({"error": {"message": "broken"}})),
        1 => Act::Whole(429, vec![("retry-after", "0".to_owned())], "{}".to_owned()),
        2 => Act::Raw("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"cut\":".to_owned()),
        3 => Act::Cut,
        4 => Act::Hang,
        5 => Act::HangAfterHeaders,
        6 => Act::Json(200, json!({"choices": []})),
        7 => Act::Whole(200, vec![("content-type", "application/json".to_owned())], "{\"a\":".repeat(5_000)),
        8 => Act::Json(200, completion(&text.repeat(60))),
        9 => Act::Packed("gzip", b"\x1f\x8b no gzip".to_vec()),
        10 => Act::Endless,
        11..=14 => Act::After((state >> 50) % 40, Box::new(answer)),
        _ => answer,
    }
}

/// What was seen of the process at one moment.
#[derive(Clone, Copy)]
struct Sample {
    /// Memory of its own: pages of the program itself come in as they are needed, and say nothing.
    memory_bytes: u64,
    open_files: usize,
    /// How much was written: what tells how many trials there had been.
    written_bytes: u64,
}

/// Nothing once the process has ended, or before there are records.
fn watched(child: &Child, records: &std::path::Path) -> Option<Sample> {
    let process = format!("/proc/{}", child.id());
    let status = std::fs::read_to_string(format!("{process}/status")).ok()?;
    let memory = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    #[expect(clippy::disallowed_methods, reason = "they are counted, in whatever order")]
    let open_files = std::fs::read_dir(format!("{process}/fd")).ok()?.count();
    let kilobytes: u64 = memory.trim().trim_end_matches(" kB").trim().parse().ok()?;
    let written_bytes = std::fs::metadata(records).ok()?.len();
    Some(Sample { memory_bytes: kilobytes << 10, open_files, written_bytes })
}

/// What a run's samples say.
struct Course {
    /// In the first half and in the second: the least but for a tenth, as answers of megabytes come and go.
    memory_bytes: [u64; 2],
    open_files: [usize; 2],
    /// From the middle of the one to the middle of the other.
    trials_between: u64,
}

impl Course {
    fn of(seen: &[Sample], records: u64) -> Self {
        // The first quarter warms up, and the last samples are of the end.
        let steady = &seen[seen.len() / 4..seen.len() - seen.len() / 10];
        let (early, late) = steady.split_at(steady.len() / 2);
        let middle = |half: &[Sample]| half[half.len() / 2].written_bytes;
        let written = seen.last().map_or(1, |last| last.written_bytes.max(1));
        let between = u128::from(middle(late) - middle(early)) * u128::from(records) / u128::from(written);
        Self {
            memory_bytes: [early, late].map(|half| ranked(half.iter().map(|sample| sample.memory_bytes), 10)),
            open_files: [early, late].map(|half| ranked(half.iter().map(|sample| sample.open_files), 2)),
            trials_between: between as u64,
        }
    }

    fn memory_grew(&self) -> bool {
        self.memory_bytes[1] > self.memory_bytes[0] + MEMORY_BYTES
    }

    /// The least leak that would have been found, in bytes a trial.
    fn finds_bytes(&self) -> u64 {
        MEMORY_BYTES / self.trials_between.max(1) + 1
    }
}

/// The value below which one in `parts` lies.
fn ranked<T: Ord + Copy>(values: impl Iterator<Item = T>, parts: usize) -> T {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values[values.len() / parts]
}

/// Ten minutes of 250 trials a second, as the half hour sees them, with a leak.
fn ten_minutes(leak_bytes: u64) -> Course {
    let seen: Vec<Sample> = (0..600u64)
        .map(|second| {
            // Answers without an end, at most eight megabytes of each, come and go.
            let answers = (second.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61) * (8 << 20);
            Sample {
                memory_bytes: (9 << 20) + answers + second * 250 * leak_bytes,
                open_files: 20 + (second % 9) as usize,
                written_bytes: second * 250 * 1_000,
            }
        })
        .collect();
    Course::of(&seen, 150_000)
}

#[test]
fn a_leak_of_a_hundred_bytes_a_trial_is_found_in_ten_minutes_and_none_where_there_is_none() {
    assert!(ten_minutes(100).memory_grew());
    assert!(!ten_minutes(0).memory_grew());
    let finds = ten_minutes(0).finds_bytes();
    assert!(finds <= 100, "{finds}");
    assert!(ten_minutes(finds + 5).memory_grew());
}

#[cfg(target_os = "linux")]
#[test]
fn memory_and_open_files_stay_flat_under_random_faults() {
    let seconds: u64 = variable("PROOFHOUSE_SOAK").map_or(16, |text| text.parse().expect("seconds"));
    let server = Server::forgetful(move |_, before| fault(before as u64, 19));
    let lab = Lab::new();
    // More than an endpoint that answers at once could be asked in this time.
    let rows: String =
        (0..20_000).map(|n| format!("{{\"id\":\"c{n}\",\"input\":\"question {n}\"}}\n")).collect();
    lab.write("rows.jsonl", rows);
    lab.write(
        "suite.yaml",
        format!(
            "kind: probe\nsuite_id: soak\ndatasets: [rows.jsonl]\nrepetitions: 1000\ntimeout_ms: 1500\n\
             judges: {{some: {{contains: {{value: x}}}}}}\n\
             targets: {{t: {{openai: {{model: m, base_url: '{}', transport: {{max_attempts: 2, attempt_timeout_ms: 300, backoff_ms: 1}}}}}}}}\n",
            server.base()
        ),
    );
    let mut child =
        lab.start(&format!("run suite.yaml --run-dir run --jobs 32 --quiet --deadline {seconds}"));
    let pause = Duration::from_millis((seconds * 1_000 / 600).clamp(50, 3_000));
    let mut seen = Vec::new();
    while child.try_wait().unwrap().is_none() {
        // What is written at the very end, when all trials are over, is no part of going on.
        seen.extend(watched(&child, &lab.path("run/records.jsonl")));
        sleep(pause);
    }
    assert_eq!(child.wait().unwrap().code(), Some(8), "the deadline ends it");
    let records = lab.read("run/records.jsonl").lines().count() as u64;
    assert!(records > seconds * 20, "only {records} trials in {seconds} s");
    let course = Course::of(&seen, records);
    let Course { memory_bytes, open_files, .. } = course;
    println!(
        "{records} trials in {seconds} s; memory {memory_bytes:?} bytes, open files {open_files:?} in both halves; \
         a leak of {} bytes a trial would have been found",
        course.finds_bytes()
    );
    assert!(!course.memory_grew(), "memory grew: {memory_bytes:?} bytes");
    assert!(open_files[1] <= open_files[0] + FILES, "open files grew: {open_files:?}");
    lab.run("verify run").exits(8).says("what is there is sound");
}
