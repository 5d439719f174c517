//! `diff` on two large runs, beside `cmp` on the same files, which is the least that a comparison can cost.
//!
//! `cargo bench -p proofhouse --bench diff [-- COUNT]`; each case runs in a process of its own, so that its memory is
//! its own. Without `--bench` (as `cargo test` starts it) the runs are small.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse::diff::{Options, compare};
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

    println!("{count} records a side, {} MB a side", runs.megabytes());
    println!("`cmp` of two equal files of that size: {:.3} s", cmp(&runs).as_secs_f64());
    for (name, b) in runs.cases() {
        measure(name, &runs.base, b);
    }
    if std::env::args().all(|a| a != "--keep") {
        std::fs::remove_dir_all(&root).expect("the bench wrote it");
    }
}

struct Runs {
    base: Utf8PathBuf,
    equal: Utf8PathBuf,
    other: Utf8PathBuf,
    removed: Utf8PathBuf,
    swapped: Utf8PathBuf,
}

impl Runs {
    fn write(root: &Utf8Path, count: u64) -> Self {
        let dir = |name: &str| root.join(name);
        let runs = Self {
            base: dir("base"),
            equal: dir("equal"),
            other: dir("other"),
            removed: dir("removed"),
            swapped: dir("swapped"),
        };
        for (dir, identity) in [(&runs.base, "base"), (&runs.equal, "base"), (&runs.other, "other")] {
            synthetic::write_run(dir, identity, count).expect("the disk has room for the bench");
        }
        edit(&runs.base, &runs.removed, |lines| {
            lines.remove(lines.len() / 2);
        });
        edit(&runs.base, &runs.swapped, |lines| {
            let last = lines.len() - 1;
            lines.swap(last / 3, last);
        });
        runs
    }

    fn cases(&self) -> [(&'static str, &Utf8Path); 4] {
        [
            ("equal run_id", &self.equal),
            ("different run_id", &self.other),
            ("one line removed", &self.removed),
            ("two lines swapped", &self.swapped),
        ]
    }

    fn megabytes(&self) -> u64 {
        std::fs::metadata(self.base.join("records.jsonl")).map_or(0, |meta| meta.len() / 1_000_000)
    }
}

/// The best of five: what it takes to read and compare as many bytes.
fn cmp(runs: &Runs) -> Duration {
    let files = [runs.base.join("records.jsonl"), runs.equal.join("records.jsonl")];
    let time = |_| {
        let start = now();
        run("cmp", &[files[0].as_str(), files[1].as_str()]);
        start.elapsed()
    };
    (0..5).map(time).min().unwrap_or_default()
}

/// Copies a run with its lines edited.
fn edit(from: &Utf8Path, to: &Utf8Path, change: impl FnOnce(&mut Vec<&[u8]>)) {
    let bytes = std::fs::read(from.join("records.jsonl")).expect("the bench wrote it");
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    change(&mut lines);
    std::fs::create_dir_all(to).expect("the bench may write there");
    let file = std::fs::File::create(to.join("records.jsonl")).expect("the bench may write there");
    let mut file = std::io::BufWriter::with_capacity(1 << 20, file);
    lines.iter().for_each(|line| file.write_all(line).expect("the disk has room for the bench"));
    file.flush().expect("the disk has room for the bench");
}

/// One comparison, with its figures on a line.
fn one(a: &Utf8Path, b: &Utf8Path) {
    let start = now();
    let report = compare(&RunPaths::new(a), &RunPaths::new(b), &Options::default()).expect("both are runs");
    let wall = start.elapsed();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("?").trim();
    println!(
        "{:.3} s, peak memory {peak}, {} common, {} changed",
        wall.as_secs_f64(),
        report.common,
        report.changed()
    );
}

fn measure(name: &str, a: &Utf8Path, b: &Utf8Path) {
    let exe = std::env::current_exe().expect("a running program has a path");
    println!("{name}");
    let (file_a, file_b) = (a.join("records.jsonl"), b.join("records.jsonl"));
    for _ in 0..3 {
        let output = run(exe.to_str().expect("cargo's paths are UTF-8"), &["--only", a.as_str(), b.as_str()]);
        println!("  proofhouse diff     {}", String::from_utf8_lossy(&output).trim());
    }
    let start = now();
    let script = r#"LC_ALL=C sort -o "$1.s" "$1"; LC_ALL=C sort -o "$2.s" "$2"; diff "$1.s" "$2.s" >/dev/null; rm "$1.s" "$2.s""#;
    run("sh", &["-c", script, "sh", file_a.as_str(), file_b.as_str()]);
    println!("  sort both, diff     {:.3} s", start.elapsed().as_secs_f64());
}

#[expect(clippy::disallowed_methods, reason = "a bench measures")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "a bench starts its peers")]
fn run(program: &str, arguments: &[&str]) -> Vec<u8> {
    Command::new(program).args(arguments).output().expect("the peer is installed").stdout
}
