//! What shards have in common: tapes, answers and verdicts in one folder, and what an endpoint and a purse allow all of them.

use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::lab::Lab;
use crate::servers::{Act, Server, completion};

fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "a server says when it was asked")]
    Instant::now()
}

/// A server that answers what it is asked, and when it was asked.
fn echoing() -> (Server, Arc<Mutex<Vec<Instant>>>) {
    let times = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&times);
    let server = Server::start(move |seen, _| {
        log.lock().unwrap().push(now());
        let text = seen.body["messages"][0]["content"].as_str().unwrap();
        Act::After(5, Box::new(Act::Json(200, completion(text))))
    });
    (server, times)
}

/// A suite of `cases` questions to a server, with these settings of its transport.
fn suite(server: &Server, cases: usize, transport: &str) -> Lab {
    let lab = Lab::new();
    let rows: String = (0..cases)
        .map(|n| format!("{{\"id\":\"c{n}\",\"input\":\"q {n}\",\"expected\":\"q {n}\"}}\n"))
        .collect();
    lab.write("cases.jsonl", rows);
    lab.write(
        "net.yaml",
        format!(
            "kind: probe\nsuite_id: net\ndatasets: [{{path: cases.jsonl}}]\njudges: {{same: {{equals: {{}}}}}}\n\
             targets: {{model: {{openai: {{model: m, base_url: '{}', transport: {{{transport}}}}}}}}}\n",
            server.base()
        ),
    );
    lab
}

fn start(lab: &Lab, words: &str) -> Child {
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut command = lab.command_with_tools(&words);
    command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap()
}

/// Runs these at the same time; gives how each ended.
fn at_once(lab: &Lab, all: &[String]) -> Vec<Option<i32>> {
    let children: Vec<Child> = all.iter().map(|words| start(lab, words)).collect();
    children.into_iter().map(|mut child| child.wait().unwrap().code()).collect()
}

/// Both shards of two runs: each trial is asked for by two processes at the same time, as when a task is requeued while its
/// predecessor still lives.
fn twice_two_shards(flags: &str) -> Vec<String> {
    let each = [("a", 0), ("a", 1), ("b", 0), ("b", 1)];
    each.map(|(run, index)| format!("{flags} --run-dir {run} --shard {index}/2 --quiet")).to_vec()
}

#[test]
fn shards_share_a_folder_of_answers() {
    let (server, _) = echoing();
    let lab = suite(&server, 60, "");
    let ended = at_once(&lab, &twice_two_shards("run net.yaml --cache answers --jobs 8"));
    assert_eq!(ended, [Some(0); 4]);
    let asked = server.seen().len();
    assert!((60..=120).contains(&asked), "{asked}: twice at most, where two asked at the same time");
    for run in ["a", "b"] {
        lab.run(&format!("merge {run} --quiet")).exits(0);
    }
    lab.run("run net.yaml --run-dir later --shard 1/3 --cache answers --quiet").exits(0);
    lab.run("run net.yaml --run-dir whole --cache answers").exits(0).says("60 of 60 answers came from");
    assert_eq!(server.seen().len(), asked, "no entry is torn or missing");
    assert_eq!(lab.run_files("a"), lab.run_files("whole"));
    assert_eq!(lab.run_files("b"), lab.run_files("whole"));
    assert!(!lab.run_files("answers").keys().any(|path| path.extension().is_some_and(|end| end == "draft")));
}

#[test]
fn shards_share_a_tape() {
    let (server, _) = echoing();
    let lab = suite(&server, 60, "");
    let ended = at_once(&lab, &twice_two_shards("run net.yaml --record tape --jobs 8"));
    assert_eq!(ended, [Some(0); 4], "two that keep the same reply do not get into each other's way");
    let asked = server.seen().len();
    lab.run("merge a --quiet").exits(0);
    lab.run("merge b --quiet").exits(0);
    lab.run("run net.yaml --run-dir whole --replay tape --quiet").exits(0);
    for index in 0..3 {
        lab.run(&format!("run net.yaml --run-dir c --shard {index}/3 --replay tape --quiet")).exits(0);
    }
    lab.run("merge c --quiet").exits(0);
    assert_eq!(server.seen().len(), asked);
    for run in ["a", "b", "c"] {
        assert_eq!(lab.run_files(run), lab.run_files("whole"), "{run}");
    }
    assert_eq!(lab.run_files("tape").len(), 60, "one cassette for each question, and nothing else");
}

#[test]
fn shards_share_a_folder_of_verdicts() {
    let lab = Lab::new();
    super::scale::code_suite(&lab, 0);
    let ended = at_once(&lab, &twice_two_shards("run s/code.yaml --cache verdicts"));
    assert_eq!(ended, [Some(0); 4]);
    for run in ["a", "b"] {
        lab.tools(&format!("merge {run} --quiet")).exits(0);
    }
    lab.tools("run s/code.yaml --run-dir whole --cache verdicts --quiet").exits(0);
    let found = |run: &str| lab.read(&format!("{run}.telemetry.jsonl")).matches("\"cached\":true").count();
    assert_eq!(found("whole"), 40, "every verdict was there, and whole");
    assert!(found("a") + found("b") <= 40, "somebody judged them");
    assert_eq!(lab.run_files("a"), lab.run_files("whole"));
    assert_eq!(lab.run_files("b"), lab.run_files("whole"));
    lab.tools("run s/code.yaml --run-dir fresh --no-cache --quiet").exits(0);
    assert_eq!(lab.run_files("fresh"), lab.run_files("whole"));
}

#[test]
fn what_an_endpoint_allows_holds_for_all_shards_together() {
    let (server, times) = echoing();
    // Three shards, 40 a minute each: one in a second and a half.
    let lab = suite(&server, 24, "requests_per_minute: 120, max_in_flight: 6");
    let three: Vec<String> =
        (0..3).map(|index| format!("run net.yaml --run-dir p --shard {index}/3 --quiet")).collect();
    let begun = now();
    assert_eq!(at_once(&lab, &three), [Some(0); 3]);
    let times: Vec<f64> =
        times.lock().unwrap().iter().map(|at| at.duration_since(begun).as_secs_f64()).collect();
    assert_eq!(times.len(), 24);
    // Machines are late at times: what came late makes the next look early. Without a limit all would take a fraction of a second.
    let late = 1.0;
    for (first, from) in times.iter().enumerate() {
        for (last, to) in times.iter().enumerate().skip(first) {
            let (count, least) = ((last - first + 1) as f64, to - from + late);
            assert!(
                count <= 3.0 + least * 120.0 / 60.0,
                "{count} requests within {} s: {times:?}",
                to - from
            );
        }
    }
    assert!(server.peak() <= 6, "{}", server.peak());
    lab.run("merge p --quiet").exits(0);

    lab.run("run net.yaml --run-dir many --shard 0/200")
        .says("`requests_per_minute: 120` cannot be divided among 200 shards")
        .says("--shards-at-once 120");
    // Of many shards no more than four run at a time: each has a quarter, and not one of two hundred parts.
    lab.run("run net.yaml --run-dir many --shard 0/200 --shards-at-once 4 --quiet").exits(0);
    lab.run("run net.yaml --run-dir many --shards-at-once 4").exits(2).says("--shard");
}

#[test]
fn a_budget_holds_for_all_shards_together() {
    let (server, _) = echoing();
    let lab = suite(&server, 90, "");
    // An answer costs 11 + 3 × 3 = 20 millionths of a dollar: thirty for all, ten for each of three shards.
    lab.write("prices.yaml", "m: {input: 1, output: 3}\n");
    let words = |index: u32| {
        format!(
            "run net.yaml --run-dir p --shard {index}/3 --jobs 1 --prices prices.yaml --budget 0.0006 --quiet"
        )
    };
    assert_eq!(at_once(&lab, &(0..3).map(words).collect::<Vec<_>>()), [Some(8); 3]);
    let asked = server.seen().len();
    assert!((27..=33).contains(&asked), "{asked}: what is under way is paid for, and no more");
    lab.run("status p").exits(8).says("3 stopped").says(&format!("{asked} trials recorded"));
}
