//! What suites cost that are large in other ways than cases: judges, wordings, targets, cases in the suite file itself.
//!
//! `cargo bench -p proofhouse --bench growth`: each at two sizes, and what twice as much costs. Without `--bench` (as `cargo test`
//! starts it) the sizes are small.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fmt::Write as _;
use std::path::Path;

mod measure;

/// What grows, how large it is, and its suite.
type Growth = (&'static str, usize, fn(&Path, usize) -> String);

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("growth");
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(&root).expect("the bench has a directory");
    let growths: [Growth; 4] = [
        ("judges (x 200 cases)", 200, judges),
        ("wordings of one case", 10_000, wordings),
        ("targets (x 4 cases)", 1_000, targets),
        ("cases in the suite", 16_000, inline),
    ];
    println!(
        "CPU and peak memory of `run` with its report, and by what factor CPU grows when it is twice as large"
    );
    for (what, largest, suite) in growths {
        let largest = if measured { largest } else { largest / 100 };
        let costs = [largest / 2, largest].map(|size| {
            std::fs::write(root.join("suite.yaml"), suite(&root, size))
                .expect("the disk has room for the bench");
            let repeats = if measured { 3 } else { 1 };
            let runs: Vec<measure::Cost> = (0..repeats)
                .map(|_| measure::proofhouse(&root, "run suite.yaml --run-dir run --overwrite --quiet"))
                .collect();
            let wall = measure::median(runs.iter().map(|cost| cost.wall).collect());
            let cpu = measure::median(runs.iter().map(|cost| cost.cpu).collect());
            let rss_mb = measure::median(runs.iter().map(|cost| cost.rss_mb).collect());
            println!(
                "{size:>6} {what}: {cpu:.3} s CPU, {wall:.3} s wall, {rss_mb:.0} MB, {:.1} us each",
                cpu * 1e6 / size as f64
            );
            cpu
        });
        println!("       twice as many: x {:.2}", costs[1] / costs[0]);
    }
    std::fs::remove_dir_all(&root).expect("the bench wrote it");
}

const ECHO: &str = "{scripted: {otherwise: {reply: '{input}'}}}";

fn rows(root: &Path, count: usize) {
    let mut rows = String::new();
    for n in 0..count {
        let _ = writeln!(
            rows,
            r#"{{"id":"c{n:06}","input":"question number {n}","expected":"question number {n}"}}"#
        );
    }
    std::fs::write(root.join("rows.jsonl"), rows).expect("the disk has room for the bench");
}

fn judges(root: &Path, count: usize) -> String {
    rows(root, 200);
    let mut suite =
        format!("kind: probe\nsuite_id: judges\ndatasets: [rows.jsonl]\ntargets: {{m: {ECHO}}}\njudges:\n");
    for n in 0..count {
        let _ = writeln!(suite, "  j{n:04}: {{contains: {{value: 'question number'}}}}");
    }
    suite
}

fn wordings(_: &Path, count: usize) -> String {
    let question = "Please tell me, in a short sentence of plain English, what the capital of France is and which large river it lies on";
    format!(
        "kind: probe\nsuite_id: wordings\nseed: 7\ncases: [{{id: a, input: '{question}', expected: x}}]\n\
         targets: {{m: {ECHO}}}\njudges: {{same: {{equals: {{}}}}}}\nvary: [{{generator: whitespace_noise, count: {count}}}]\n"
    )
}

fn targets(root: &Path, count: usize) -> String {
    rows(root, 4);
    let mut suite = String::from(
        "kind: probe\nsuite_id: targets\ndatasets: [rows.jsonl]\njudges: {same: {equals: {}}}\ntargets:\n",
    );
    for n in 0..count {
        let _ = writeln!(suite, "  t{n:04}: {ECHO}");
    }
    suite
}

fn inline(_: &Path, count: usize) -> String {
    let mut suite = format!(
        "kind: probe\nsuite_id: inline\ntargets: {{m: {ECHO}}}\njudges: {{same: {{equals: {{}}}}}}\ncases:\n"
    );
    for n in 0..count {
        let _ =
            writeln!(suite, "  - {{id: c{n:06}, input: question number {n}, expected: question number {n}}}");
    }
    suite
}
