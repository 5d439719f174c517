//! `diff` on two large runs, beside `cmp` on files of the same size, which is the least that a comparison can cost.
//!
//! `cargo bench -p proofhouse --bench diff [-- COUNT]`; each comparison runs in a process of its own, so that its
//! memory and processor time are its own. Without `--bench` (as `cargo test` starts it) the runs are small.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::io::Write;
use std::process::Command;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse::spine::diff::{Options, compare};
use proofhouse_ledger::RunPaths;

mod synthetic;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [only, a, b] = arguments.as_slice()
        && only == "--only"
    {
        return one(Utf8Path::new(a), Utf8Path::new(b));
    }
    let measured = arguments.iter().any(|argument| argument == "--bench");
    let given = arguments.iter().find_map(|argument| argument.parse().ok());
    let count = given.unwrap_or(if measured { 1_000_000 } else { 1_000 });
    let root = Utf8PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("diff-{count}"));

    let runs = Runs::write(&root, count);
    let megabytes = std::fs::metadata(runs.records("base")).map_or(0, |meta| meta.len() / 1_000_000);
    println!("{count} records and {megabytes} MB a side");
    let limit = cmp(&runs);
    println!("{:36}{:6.2} s, {:5.2} s of processor", "cmp of two equal files", limit.wall, limit.cpu);
    for case in CASES {
        measure(&runs, case, &limit);
    }
    peer("sort both, diff", SORT_AND_DIFF, &runs);
    peer("Python, a dict by record_id", PYTHON_DICT, &runs);
    std::fs::remove_dir_all(&root).expect("the bench wrote it");
}

/// What is held against the base run, and how it is called.
const CASES: [(&str, &str); 6] = [
    ("equal", "equal run_id"),
    ("other", "different run_id"),
    ("removed", "one line removed"),
    ("swapped", "two lines swapped"),
    ("reversed", "all lines in reverse order"),
    ("voice", "every output differs"),
];

const SORT_AND_DIFF: &str = r#"LC_ALL=C sort -o "$1.s" "$1"; LC_ALL=C sort -o "$2.s" "$2"
diff "$1.s" "$2.s" >/dev/null; rm "$1.s" "$2.s""#;

const PYTHON_DICT: &str = r#"python3 -c '
import json, sys
old = {r["record_id"]: r for r in map(json.loads, open(sys.argv[1]))}
same = sum(old.get(r["record_id"], {}).get("output") == r["output"] for r in map(json.loads, open(sys.argv[2])))
' "$1" "$2""#;

struct Runs(Utf8PathBuf);

impl Runs {
    fn write(root: &Utf8Path, count: u64) -> Self {
        let runs = Self(root.to_owned());
        let written = [("base", "base", "makes"), ("equal", "base", "makes"), ("other", "other", "makes")];
        for (name, identity, voice) in written.into_iter().chain([("voice", "voice", "is, I think,")]) {
            synthetic::write_run(&runs.dir(name), identity, count, voice).expect("the disk has room");
        }
        runs.edit("removed", |lines| {
            lines.remove(lines.len() / 2);
        });
        runs.edit("swapped", |lines| lines.swap(count as usize / 3, count as usize - 1));
        runs.edit("reversed", |lines| lines.reverse());
        runs
    }

    fn dir(&self, name: &str) -> Utf8PathBuf {
        self.0.join(name)
    }

    fn records(&self, name: &str) -> Utf8PathBuf {
        self.dir(name).join("records.jsonl")
    }

    /// A copy of the base run with its lines edited.
    fn edit(&self, name: &str, change: impl FnOnce(&mut Vec<&[u8]>)) {
        let bytes = std::fs::read(self.records("base")).expect("the bench wrote it");
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        change(&mut lines);
        std::fs::create_dir_all(self.dir(name)).expect("the bench may write there");
        let file = std::fs::File::create(self.records(name)).expect("the bench may write there");
        let mut file = std::io::BufWriter::with_capacity(1 << 20, file);
        lines.iter().for_each(|line| file.write_all(line).expect("the disk has room"));
        file.flush().expect("the disk has room");
    }
}

/// One comparison, in its own process.
fn one(a: &Utf8Path, b: &Utf8Path) {
    let report = compare(&RunPaths::new(a), &RunPaths::new(b), &Options::default()).expect("both are runs");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("?").trim();
    println!("peak {peak}, {} common, {} changed", report.common, report.changed());
}

struct Timed {
    wall: f64,
    /// User and system time.
    cpu: f64,
    output: String,
}

fn measure(runs: &Runs, (name, title): (&str, &str), limit: &Timed) {
    let exe = std::env::current_exe().expect("a running program has a path");
    let exe = exe.to_str().expect("cargo's paths are UTF-8");
    let (a, b) = (runs.dir("base"), runs.dir(name));
    let best = best_of(3, &[exe, "--only", a.as_str(), b.as_str()]);
    println!(
        "{title:36}{:6.2} s, {:5.2} s of processor, {:4.1} × cmp; {}",
        best.wall,
        best.cpu,
        best.cpu / limit.cpu,
        best.output.trim()
    );
}

fn cmp(runs: &Runs) -> Timed {
    best_of(5, &["cmp", runs.records("base").as_str(), runs.records("equal").as_str()])
}

fn peer(title: &str, script: &str, runs: &Runs) {
    let timed =
        timed(&["sh", "-c", script, "sh", runs.records("base").as_str(), runs.records("other").as_str()]);
    println!("{title:36}{:6.2} s, {:5.2} s of processor", timed.wall, timed.cpu);
}

fn best_of(tries: usize, command: &[&str]) -> Timed {
    (0..tries).map(|_| timed(command)).min_by(|a, b| a.cpu.total_cmp(&b.cpu)).expect("at least one try")
}

/// Runs a command under a shell that reports its processor time.
#[expect(clippy::disallowed_methods, reason = "a bench measures, and starts its peers")]
fn timed(command: &[&str]) -> Timed {
    let start = Instant::now();
    let output = Command::new("sh").args(["-c", r#""$@"; times >&2"#, "sh"]).args(command).output();
    let wall = start.elapsed().as_secs_f64();
    let output = output.expect("a shell is installed");
    let times = String::from_utf8_lossy(&output.stderr);
    // The last line is the children's `0m1.23s 0m0.45s`.
    let seconds = |text: &str| -> Option<f64> {
        let (minutes, seconds) = text.trim_end_matches('s').split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    let cpu = times.lines().last().unwrap_or("").split_whitespace().filter_map(seconds).sum();
    Timed { wall, cpu, output: String::from_utf8_lossy(&output.stdout).into_owned() }
}
