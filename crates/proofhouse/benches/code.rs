//! What judging one completion costs, beside `cargo test` in a fresh project and beside `rustc --test` alone.
//!
//! `cargo bench -p proofhouse --bench code`, or only its Python part with `-- python`. CPU time of whole process trees, sandbox on in all of ours, rounds
//! interleaved. Without `--bench` (as `cargo test` starts it) the runs are small.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "code/python.rs"]
mod python;

/// Starts a program, waits for it and for everything that it left behind, and prints wall seconds, CPU seconds of the
/// whole tree, peak RSS of the program itself in KiB, and the exit code.
const MEASURE: &str = "import ctypes, os, resource, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
start = time.perf_counter()
null = os.open(os.devnull, os.O_WRONLY)
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
_, status, own = os.wait4(pid, 0)
wall = time.perf_counter() - start
while True:
    try: os.wait()
    except ChildProcessError: break
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(wall, usage.ru_utime + usage.ru_stime, own.ru_maxrss, os.waitstatus_to_exitcode(status))";

/// Signature, body and test of a task; `NAME` becomes the name of its function.
const TASKS: [[&str; 3]; 8] = [
    [
        "(values: &[f64], threshold: f64) -> bool",
        "    for (at, a) in values.iter().enumerate() {\n        for b in &values[at + 1..] {\n            if (a - b).abs() < threshold {\n                return true;\n            }\n        }\n    }\n    false\n}\n",
        "assert!(NAME(&[1.0, 2.0, 2.1], 0.3)); assert!(!NAME(&[1.0, 2.0, 4.1], 0.3));",
    ],
    [
        "(text: &str) -> Vec<String>",
        "    let (mut depth, mut group, mut groups) = (0, String::new(), Vec::new());\n    for c in text.chars().filter(|c| !c.is_whitespace()) {\n        group.push(c);\n        depth += if c == '(' { 1 } else { -1 };\n        if depth == 0 {\n            groups.push(std::mem::take(&mut group));\n        }\n    }\n    groups\n}\n",
        "assert_eq!(NAME(\"( ) (( ))\"), [\"()\", \"(())\"]); assert!(NAME(\"\").is_empty());",
    ],
    [
        "(numbers: &[i64]) -> (i64, i64)",
        "    (numbers.iter().sum(), numbers.iter().product())\n}\n",
        "assert_eq!(NAME(&[]), (0, 1)); assert_eq!(NAME(&[2, 3, 4]), (9, 24));",
    ],
    [
        "(text: &str) -> String",
        "    let mut out: Vec<char> = text.chars().collect();\n    for tail in 0..out.len() {\n        if out[tail..].iter().eq(out[tail..].iter().rev()) {\n            let head: Vec<char> = out[..tail].iter().rev().copied().collect();\n            out.extend(head);\n            break;\n        }\n    }\n    out.into_iter().collect()\n}\n",
        "assert_eq!(NAME(\"cat\"), \"catac\"); assert_eq!(NAME(\"\"), \"\"); assert_eq!(NAME(\"xyx\"), \"xyx\");",
    ],
    [
        "(n: u64) -> Vec<u64>",
        "    let (mut n, mut divisor, mut factors) = (n, 2, Vec::new());\n    while n > 1 {\n        while n % divisor == 0 {\n            factors.push(divisor);\n            n /= divisor;\n        }\n        divisor += 1;\n    }\n    factors\n}\n",
        "assert_eq!(NAME(360), [2, 2, 2, 3, 3, 5]); assert_eq!(NAME(97), [97]);",
    ],
    [
        "(words: &[&str]) -> Option<String>",
        "    words.iter().fold(None, |longest: Option<&str>, word| match longest {\n        Some(longest) if longest.len() >= word.len() => Some(longest),\n        _ => Some(word),\n    }).map(str::to_owned)\n}\n",
        "assert_eq!(NAME(&[\"a\", \"bbb\", \"ccc\"]).as_deref(), Some(\"bbb\")); assert_eq!(NAME(&[]), None);",
    ],
    [
        "(text: &str) -> std::collections::BTreeMap<char, usize>",
        "    let mut counts = std::collections::BTreeMap::new();\n    for c in text.chars().filter(|c| c.is_alphabetic()) {\n        *counts.entry(c.to_ascii_lowercase()).or_insert(0) += 1;\n    }\n    counts\n}\n",
        "let counts = NAME(\"Abba!\"); assert_eq!(counts[&'a'], 2); assert_eq!(counts.len(), 2);",
    ],
    [
        "(numbers: &[i64]) -> Vec<i64>",
        "    let mut sorted: Vec<i64> = numbers.iter().step_by(3).copied().collect();\n    sorted.sort_unstable();\n    let mut out = numbers.to_vec();\n    for (place, value) in out.iter_mut().step_by(3).zip(sorted) {\n        *place = value;\n    }\n    out\n}\n",
        "assert_eq!(NAME(&[5, 1, 1, 2]), [2, 1, 1, 5]); assert_eq!(NAME(&[]), []);",
    ],
];

struct Figures {
    /// Milliseconds of CPU per completion, by round.
    rounds: Vec<f64>,
    title: String,
    /// Which of the two baselines has the same tasks.
    baseline: usize,
}

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("code");
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(&root).expect("the target directory can be written");
    let (rounds, many) = if measured { (3, 200) } else { (1, 4) };
    python::python(&root, rounds, many);
    // `-- python` measures only this part.
    if !std::env::args().any(|argument| argument == "python") {
        per_completion(&root, rounds, many);
        jobs(&root, 2 * many);
        cached(&root, if measured { 100_000 } else { 100 });
    }
    std::fs::remove_dir_all(&root).expect("the bench wrote it");
}

/// CPU per completion of everything that is compared.
fn per_completion(root: &Path, rounds: usize, many: usize) {
    // Two sizes of each, so that what a run costs once (the sandbox's probes, finding the toolchain, compiling the runner
    // of the tests) is not counted as a completion's.
    let two = |name: &str, [few, many]: [usize; 2], tasks: usize, broken: usize, clippy: &str| {
        [few, many].map(|count| suite(root, &format!("{name}-{count}"), count, tasks, broken, clippy))
    };
    let batches = [(many / 5).max(2), many];
    let singles = [8, 8 + (many / 10).next_multiple_of(8)];
    let mixed = 8 * 40;
    let ours = [
        ("mixed", two("mixed", batches, mixed, 0, "advisory")),
        ("mixed, 10 % do not compile", two("mixed-10", batches, mixed, 10, "advisory")),
        ("mixed, 30 % do not compile", two("mixed-30", batches, mixed, 30, "advisory")),
        ("mixed, 50 % do not compile", two("mixed-50", batches, mixed, 50, "advisory")),
        ("same task, no clippy", two("same", batches, 1, 0, "off")),
        ("single, no clippy", two("single", singles, 8, 0, "off")),
        ("single, clippy", two("single-clippy", singles, 8, 0, "advisory")),
    ];
    let peers =
        ["cargo test, the eight tasks", "cargo test, the first task", "rustc --test and run, the eight"];
    let mut figures: Vec<Figures> = peers
        .into_iter()
        .chain(ours.iter().map(|(title, _)| *title))
        .map(|title| Figures {
            rounds: Vec::new(),
            title: title.to_owned(),
            baseline: usize::from(title.starts_with("same") || title.ends_with("first task")),
        })
        .collect();
    for _ in 0..rounds {
        let cargo: Vec<f64> = (0..TASKS.len()).map(|task| cargo_test(root, task)).collect();
        let rustc: Vec<f64> = (0..TASKS.len()).map(|task| rustc_test(root, task)).collect();
        let peers = [mean(&cargo), cargo[0], mean(&rustc)];
        for (figure, value) in figures.iter_mut().zip(peers) {
            figure.rounds.push(value);
        }
        for (figure, (title, sizes)) in figures[peers.len()..].iter_mut().zip(&ours) {
            let alone = if title.starts_with("single") { " --measure" } else { "" };
            let [few, many] = sizes.each_ref().map(|(suite, _)| {
                let flags = "--no-cache --skip-report --quiet --jobs 1 --overwrite";
                proofhouse(root, &format!("run {suite} {flags} --run-dir run{alone}")).cpu * 1000.0
            });
            figure.rounds.push((many - few) / (sizes[1].1 - sizes[0].1) as f64);
        }
    }
    let baselines = [0, 1].map(|at: usize| median(figures[at].rounds.clone()));
    println!(
        "CPU of one more completion, sandbox on, median of {rounds} interleaved rounds up to {many} completions"
    );
    for Figures { rounds, title, baseline } in figures {
        let value = median(rounds);
        println!("  {title:32} {value:8.1} ms   {:6.1} x", baselines[baseline] / value);
    }
}

/// Wall clock with one and with two jobs.
fn jobs(root: &Path, many: usize) {
    let (suite, _) = suite(root, "jobs", many, 8 * 40, 0, "advisory");
    let wall = |jobs: usize| {
        proofhouse(
            root,
            &format!("run {suite} --no-cache --skip-report --quiet --jobs {jobs} --root jobs-{jobs}"),
        )
        .wall
    };
    let (one, two) = (wall(1), wall(2));
    println!("\n{many} completions: {one:.2} s with one job, {two:.2} s with two ({:.2} x)", one / two);
}

/// What a known verdict costs, and how much memory many of them take.
fn cached(root: &Path, many: usize) {
    let (suite, count) = suite(root, "cached", many, 8, 0, "off");
    let run = |place: &str| {
        proofhouse(root, &format!("run {suite} --cache cache --skip-report --quiet --root {place}"))
    };
    run("cached-1");
    let again = run("cached-2");
    println!(
        "\n{count} known completions: {:.1} us of CPU each (limit 1000), {:.0} MB RSS (limit 60), {:.1} s",
        again.cpu * 1e6 / count as f64,
        again.rss_mb,
        again.wall
    );
}

/// Writes a suite of `many` completions over `tasks` tasks, so many percent of which do not compile.
fn suite(root: &Path, name: &str, many: usize, tasks: usize, broken: usize, clippy: &str) -> (String, usize) {
    let (mut problems, mut samples) = (String::new(), String::new());
    let tasks = tasks.min(many);
    for task in 0..tasks {
        let [signature, _, test] = TASKS[task % TASKS.len()];
        let function = format!("task_{task}");
        let prompt = format!("/// Task {task}.\nfn {function}{signature} {{\n");
        let test = test.replace("NAME", &function);
        let test = format!(
            "\n#[cfg(test)]\nmod tests {{\n    use super::*;\n\n    #[test]\n    fn works() {{\n        {test}\n    }}\n}}\n"
        );
        let row =
            serde_json::json!({"task_id": function, "prompt": prompt, "entry_point": function, "test": test});
        writeln!(problems, "{row}").expect("a string takes everything");
    }
    for sample in 0..many {
        // All samples of a task are neighbours, as files of samples have them.
        let task = sample * tasks / many;
        let mut body = TASKS[task % TASKS.len()][1].to_owned();
        if sample * broken / 100 != (sample + 1) * broken / 100 {
            body = body.replacen(';', " + nothing;", 1).replacen("\n}\n", "\n    + nothing\n}\n", 1);
        }
        // No two of some hundred completions are the same text.
        let body = format!("    // {}\n{body}", sample % 200);
        let row = serde_json::json!({"task_id": format!("task_{task}"), "completion": body});
        writeln!(samples, "{row}").expect("a string takes everything");
    }
    let write = |file: String, text: &str| std::fs::write(root.join(file), text).expect("it can be written");
    write(format!("{name}.problems.jsonl"), &problems);
    write(format!("{name}.samples.jsonl"), &samples);
    let text = format!(
        "kind: code\nsuite_id: {name}\nproblems: {name}.problems.jsonl\nsamples: {{model: {name}.samples.jsonl}}\nclippy: {clippy}\n"
    );
    write(format!("{name}.yaml"), &text);
    (format!("{name}.yaml"), many)
}

/// A task with its answer and its tests, as people would put them into a file.
fn program(task: usize) -> String {
    let [signature, body, test] = TASKS[task];
    let function = format!("task_{task}");
    let test = test.replace("NAME", &function);
    format!(
        "fn {function}{signature} {{\n{body}\n#[cfg(test)]\nmod tests {{\n    use super::*;\n\n    #[test]\n    fn works() {{\n        {test}\n    }}\n}}\n"
    )
}

/// `cargo test` as people run a completion: a project of its own.
fn cargo_test(root: &Path, task: usize) -> f64 {
    let project = root.join("project");
    let _ = std::fs::remove_dir_all(&project);
    std::fs::create_dir_all(project.join("src")).expect("it can be written");
    let manifest = "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    std::fs::write(project.join("Cargo.toml"), manifest).expect("it can be written");
    std::fs::write(project.join("src/lib.rs"), program(task)).expect("it can be written");
    cost(&project, &["cargo", "test", "--quiet", "--offline", "--target-dir", "target"]).cpu * 1000.0
}

fn rustc_test(root: &Path, task: usize) -> f64 {
    std::fs::write(root.join("one.rs"), program(task)).expect("it can be written");
    let compile = cost(root, &["rustc", "--edition=2021", "--test", "one.rs", "-o", "one"]);
    let run = cost(root, &["./one", "--quiet"]);
    (compile.cpu + run.cpu) * 1000.0
}

/// What a tree of processes cost.
#[derive(Debug, Clone, Copy)]
struct Cost {
    wall: f64,
    cpu: f64,
    rss_mb: f64,
}

fn proofhouse(root: &Path, arguments: &str) -> Cost {
    let mut words = vec![env!("CARGO_BIN_EXE_proofhouse")];
    words.extend(arguments.split_whitespace());
    cost(root, &words)
}

fn cost(root: &Path, words: &[&str]) -> Cost {
    #[expect(clippy::disallowed_methods, reason = "a bench starts what it measures")]
    let output = Command::new("python3").arg("-c").arg(MEASURE).args(words).current_dir(root).output();
    let output = output.expect("python3 measures processes");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [wall, cpu, rss, code] = numbers[..] else {
        panic!("{words:?}: {text}{}", String::from_utf8_lossy(&output.stderr))
    };
    assert_eq!(code, 0.0, "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    Cost { wall, cpu, rss_mb: rss * 1024.0 / 1e6 }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
