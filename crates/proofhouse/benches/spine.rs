//! What the harness itself costs: start-up, a scripted trial end to end, `verify` beside `openssl` and
//! `sha256sum`, and a resume.
//!
//! `cargo bench -p proofhouse --bench spine`. Each figure stands beside its limit or its peer, measured in the same run.
//! Without `--bench` (as `cargo test` starts it) the runs are small.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use measure::{Cost, cost, median, proofhouse};

mod measure;

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("spine");
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(&root).expect("the target directory can be written");
    start_up(&root, if measured { 50 } else { 2 });
    let sizes: &[u64] = if measured { &[10_000, 100_000, 1_000_000] } else { &[500] };
    for size in sizes {
        trials(&root, *size);
    }
    verify(&root, *sizes.last().expect("there is a size"), if measured { 3 } else { 1 });
    std::fs::remove_dir_all(&root).expect("the bench wrote it");
}

/// Start-up beside `true`, interleaved: what is left is ours.
fn start_up(root: &Path, rounds: usize) {
    write_suite(root, 1);
    let (mut ours, mut check, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        theirs.push(cost(root, &["true"]).wall * 1e3);
        ours.push(proofhouse(root, "list exit-codes").wall * 1e3);
        check.push(proofhouse(root, "check suite-1.yaml").wall * 1e3);
    }
    let (ours, check, theirs) = (median(ours), median(check), median(theirs));
    println!(
        "start-up: {:.1} ms, `check` of a small suite {:.1} ms (limit 10 ms; `true` {theirs:.1} ms)",
        ours, check
    );
}

/// A suite of `count` trials, one per row of a dataset.
fn write_suite(root: &Path, count: u64) {
    let mut rows = String::new();
    for n in 0..count {
        let _ = writeln!(
            rows,
            "{{\"id\":\"case-{n:07}\",\"input\":\"What is the remainder of {n} by seven?\",\"expected\":\"{}\",\"tags\":[\"t{}\"]}}",
            n % 7,
            n % 5
        );
    }
    let suite = format!(
        "kind: probe\nsuite_id: bench\ndatasets: [{{path: rows-{count}.jsonl}}]\njudges: {{same: {{equals: {{}}}}}}\n\
         targets: {{t: {{scripted: {{rules: [{{contains: '5 by', reply: '3'}}], otherwise: {{reply: '1'}}}}}}}}\n"
    );
    std::fs::write(root.join(format!("rows-{count}.jsonl")), rows)
        .expect("the bench's directory can be written");
    std::fs::write(root.join(format!("suite-{count}.yaml")), suite)
        .expect("the bench's directory can be written");
}

fn trials(root: &Path, count: u64) {
    write_suite(root, count);
    let flags = "--quiet --skip-report";
    // What a run costs before its first trial (provenance, directories, syncs) is told by the start-up line.
    let base = proofhouse(root, &format!("run suite-1.yaml --run-dir one-{count} {flags}")).cpu;
    let cost = proofhouse(root, &format!("run suite-{count}.yaml --run-dir run-{count} {flags}"));
    let micros = (cost.cpu - base) / count as f64 * 1e6;
    let copy = cost_of_copy(root, count);
    println!(
        "{count:>9} trials: {micros:5.2} µs CPU each (limit 15; `cp` of the records {:.2}), {:.0}/s of wall (limit 60,000), \
         {:.1} MB RSS (limit 60)",
        copy.cpu / count as f64 * 1e6,
        count as f64 / cost.wall,
        cost.rss_mb
    );
}

/// The least that writing the records could cost: `cp` of the same bytes.
fn cost_of_copy(root: &Path, count: u64) -> Cost {
    let records = format!("run-{count}/records.jsonl");
    cost(root, &["cp", &records, "copy.jsonl"])
}

/// `verify` beside `openssl dgst -sha256` and `sha256sum` of the same records, and a resume of what lacks its last thousandth,
/// interleaved.
fn verify(root: &Path, count: u64, rounds: usize) {
    let records = format!("run-{count}/records.jsonl");
    let bytes = std::fs::metadata(root.join(&records)).expect("the run is there").len() as f64;
    let (mut ours, mut cpu, mut rss) = (Vec::new(), Vec::new(), 0.0f64);
    let (mut openssl, mut sha256sum) = (Vec::new(), Vec::new());
    let mut resumed = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        sha256sum.push(cost(root, &["sha256sum", &records]).wall);
        openssl.push(cost(root, &["openssl", "dgst", "-sha256", &records]).wall);
        let cost = proofhouse(root, &format!("verify run-{count}"));
        ours.push(cost.wall);
        cpu.push(cost.cpu);
        rss = rss.max(cost.rss_mb);
        let resume = resume(root, count);
        resumed[0].push(resume.wall);
        resumed[1].push(resume.cpu);
    }
    let (ours, cpu, openssl, sha256sum) = (median(ours), median(cpu), median(openssl), median(sha256sum));
    println!(
        "verify of {count} records: {:.0} MB/s of wall, {cpu:.2} s CPU, {rss:.1} MB RSS; openssl {:.0} MB/s, {:.0} % of it (limit 60 %); \
         sha256sum {:.0} MB/s, {:.0} % of it",
        bytes / ours / 1e6,
        bytes / openssl / 1e6,
        openssl / ours * 100.0,
        bytes / sha256sum / 1e6,
        sha256sum / ours * 100.0
    );
    let [wall, resume_cpu] = resumed.map(median);
    println!(
        "resume of {count} records with 0.1 % left: {wall:.2} s, {resume_cpu:.2} s CPU; {:.2} x the wall and {:.2} x the CPU of verify (limit 1)",
        wall / ours,
        resume_cpu / cpu
    );
}

/// Cuts the last thousandth of a run off, as a kill would, and goes on.
fn resume(root: &Path, count: u64) -> Cost {
    let (from, to) = (root.join(format!("run-{count}")), root.join("resumed"));
    let _ = std::fs::remove_dir_all(&to);
    let _ = std::fs::remove_file(root.join("resumed.run.json"));
    std::fs::create_dir_all(&to).expect("the bench's directory can be written");
    let records = std::fs::read(from.join("records.jsonl")).expect("the run is there");
    let keep = (count - count.div_ceil(1_000)) as usize;
    let ends = records.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let end = ends.take(keep).last().unwrap_or(0);
    std::fs::write(to.join("records.jsonl"), &records[..end]).expect("the bench's directory can be written");
    std::fs::copy(from.join("config.resolved.yaml"), to.join("config.resolved.yaml"))
        .expect("the run is there");
    let envelope =
        std::fs::read_to_string(root.join(format!("run-{count}.run.json"))).expect("the run is there");
    let envelope = envelope
        .replace("\"exit_status\":\"normal\"", "\"exit_status\":\"in_progress\"")
        .replace(&format!("run-{count}/records"), "resumed/records");
    std::fs::write(root.join("resumed.run.json.tmp"), envelope)
        .expect("the bench's directory can be written");
    proofhouse(root, &format!("run suite-{count}.yaml --run-dir resumed --resume --quiet --skip-report"))
}
