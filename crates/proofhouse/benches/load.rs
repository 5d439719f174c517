//! Loading a suite with a large dataset, beside what any loader has to pay: hashing and parsing the same rows.
//!
//! `cargo bench -p proofhouse --bench load [-- COUNT]`; each case runs in a process of its own, so that its memory is its
//! own. Without `--bench` (as `cargo test` starts it) the dataset is small.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::process::Command;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse::family::target::Request;
use proofhouse::kinds::load;
use proofhouse::kinds::probe::Probe;
use proofhouse::spine::suite::Overrides;
use proofhouse_ledger::Digest;
use proofhouse_ledger::json::{Strictness, parse};

const FORMATS: [&str; 5] = ["jsonl", "jsonl.gz", "csv", "json", "yaml"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [only, case, root, count] = arguments.as_slice()
        && only == "--only"
    {
        return one(case, Utf8Path::new(root), count.parse().expect("a count"));
    }
    let measured = arguments.iter().any(|argument| argument == "--bench");
    let given = arguments.iter().find_map(|argument| argument.parse().ok());
    let count: u64 = given.unwrap_or(if measured { 1_000_000 } else { 1_000 });
    let root = Utf8PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("load-{count}"));
    write_suites(&root, count).expect("the disk has room for the bench");

    println!("{count} rows; CPU per row, peak memory");
    let loads = FORMATS.map(|format| [format!("load {format}"), format!("cases {format}")]);
    for case in ["hash jsonl", "parse jsonl"]
        .map(str::to_owned)
        .iter()
        .chain(loads.as_flattened())
        .chain(["scripted".to_owned()].iter())
    {
        run(case, &root, count);
    }
    std::fs::remove_dir_all(&root).expect("the bench wrote it");
}

#[expect(clippy::disallowed_methods, reason = "a process of its own has a peak of its own")]
fn run(case: &str, root: &Utf8Path, count: u64) {
    let own = std::env::current_exe().expect("a bench knows its own file");
    let status = Command::new(own).args(["--only", case, root.as_str(), &count.to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()), "{case}");
}

fn one(case: &str, root: &Utf8Path, count: u64) {
    let (what, format) = case.split_once(' ').unwrap_or((case, ""));
    let before = cpu();
    let mut start = before;
    match what {
        "hash" => {
            let bytes = std::fs::read(root.join("d.jsonl")).expect("the bench wrote it");
            start = cpu();
            assert_ne!(Digest::of(&bytes), Digest::of(b""));
        }
        "parse" => {
            let file = std::fs::File::open(root.join("d.jsonl")).expect("the bench wrote it");
            for line in BufReader::with_capacity(128 << 10, file).split(b'\n') {
                let row = parse(&line.expect("readable"), Strictness::Strict).expect("the bench wrote JSON");
                assert!(row.get("id").is_some());
            }
        }
        "scripted" => {
            let loaded = load(&root.join("jsonl.yaml"), &Overrides::default()).expect("a good suite");
            let target = loaded.suite.targets[0]
                .1
                .open("slot", &proofhouse::family::target::Opening::default())
                .expect("a good script");
            start = cpu();
            for seed in 0..count {
                let request =
                    Request { input: "What is 17 + 25? Give the number only.", seed, repetition: 0 };
                assert!(target.at_once(&request).is_some_and(|reply| reply.output.is_some()));
            }
        }
        _ => {
            let loaded =
                load(&root.join(format!("{format}.yaml")), &Overrides::default()).expect("a good suite");
            assert_eq!(loaded.case_count, count);
            if what == "cases" {
                start = cpu();
                assert_eq!(
                    loaded.body_as::<Probe>().expect("a probe suite").cases().filter(Result::is_ok).count()
                        as u64,
                    count
                );
            }
        }
    }
    let spent = cpu() - start;
    println!("{case:16} {:7.2} µs {:6.1} MB", spent.as_secs_f64() * 1e6 / count as f64, peak_megabytes());
}

fn write_suites(root: &Utf8Path, count: u64) -> std::io::Result<()> {
    std::fs::create_dir_all(root)?;
    for format in FORMATS {
        let suite = format!(
            "kind: probe\nsuite_id: bench\nprompt: \"Q: {{input}}\"\njudges: {{exact: {{equals: {{}}}}}}\n\
             targets:\n  a:\n    scripted:\n      rules:\n        - {{contains: capital, reply: Paris}}\n        \
             - {{regex: '(\\d+) \\+ (\\d+)', chance: 0.5, reply: \"{{1}}{{2}}\"}}\n      otherwise: {{reply: \"I am not sure.\"}}\n\
             datasets: [{{path: d.{format}}}]\n"
        );
        std::fs::write(root.join(format!("{format}.yaml")), suite)?;
        let file = BufWriter::new(std::fs::File::create(root.join(format!("d.{format}")))?);
        match format {
            "jsonl.gz" => {
                let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
                write_rows(&mut packed, "jsonl", count)?;
                packed.finish()?.flush()?;
            }
            _ => {
                let mut file = file;
                write_rows(&mut file, format, count)?;
                file.flush()?;
            }
        }
    }
    Ok(())
}

fn write_rows(out: &mut dyn Write, format: &str, count: u64) -> std::io::Result<()> {
    match format {
        "csv" => writeln!(out, "id,input,expected,tags")?,
        "json" => writeln!(out, "[")?,
        _ => {}
    }
    for row in 0..count {
        let (id, question, answer) =
            (format!("arith-{row:07}"), format!("What is {row} + 25? Give the number only."), row + 25);
        let object =
            format!(r#"{{"id":"{id}","input":"{question}","expected":"{answer}","tags":["arith","easy"]}}"#);
        match format {
            "csv" => writeln!(out, "{id},{question},{answer},arith;easy")?,
            "json" => writeln!(out, "{object}{}", if row + 1 < count { "," } else { "]" })?,
            "yaml" => writeln!(
                out,
                "- {{id: {id}, input: \"{question}\", expected: \"{answer}\", tags: [arith, easy]}}"
            )?,
            _ => writeln!(out, "{object}")?,
        }
    }
    Ok(())
}

/// CPU time of this process.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    peak.unwrap_or(f64::NAN) / 1024.0
}
