//! A long run against an endpoint that fails in every way at random, while memory and open files are watched: both stay flat.
//!
//! `PROOFHOUSE_SOAK=1800 cargo nextest run -p proofhouse --test it soak` is the half hour; without the variable it is some seconds.

use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::lab::{Lab, variable};
use crate::servers::{Act, Server, completion};

/// What stays below this may come and go: a page of an allocator, a connection that is opened again.
const MEMORY_KB: u64 = 6 << 10;
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

/// Memory in kB and open files of a process; nothing once it has ended.
fn watched(child: &Child) -> Option<(u64, usize)> {
    let process = format!("/proc/{}", child.id());
    let status = std::fs::read_to_string(format!("{process}/status")).ok()?;
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    #[expect(clippy::disallowed_methods, reason = "they are counted, in whatever order")]
    let files = std::fs::read_dir(format!("{process}/fd")).ok()?.count();
    Some((memory.trim().trim_end_matches(" kB").trim().parse().ok()?, files))
}

fn median<T: Ord + Copy>(values: impl Iterator<Item = T>) -> T {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values[values.len() / 2]
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
        seen.extend(watched(&child).filter(|_| lab.path("run/records.jsonl").exists()));
        sleep(pause);
    }
    assert_eq!(child.wait().unwrap().code(), Some(8), "the deadline ends it");
    let records = lab.read("run/records.jsonl").lines().count();
    assert!(records as u64 > seconds * 20, "only {records} trials in {seconds} s");
    // The first quarter warms up, the last samples are of the end.
    let (warm, end) = (seen.len() / 4, seen.len() - seen.len() / 10);
    let watched = &seen[warm..end];
    let (early, late) = watched.split_at(watched.len() / 2);
    let memory = [early, late].map(|half| median(half.iter().map(|(memory, _)| *memory)));
    let files = [early, late].map(|half| median(half.iter().map(|(_, files)| *files)));
    println!(
        "{records} trials in {seconds} s; memory {memory:?} kB, open files {files:?} (medians of both halves)"
    );
    assert!(memory[1] <= memory[0] + MEMORY_KB + memory[0] / 20, "memory grew: {memory:?} kB");
    assert!(files[1] <= files[0] + FILES, "open files grew: {files:?}");
    lab.run("verify run").exits(8).says("what is there is sound");
}
