//! What shards cost: a small part of a large plan, and `merge` of many records in few and in many parts.
//!
//! `cargo bench -p proofhouse --bench shards [-- RECORDS [SHARDS]]`. Records of a merge are synthetic, some 900 bytes each; ten
//! million of them take 20 GB of disk while it lasts. Without `--bench` (as `cargo test` starts it) the runs are small.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use camino::{Utf8Path, Utf8PathBuf};
use measure::{Cost, proofhouse};
use proofhouse_ledger::canonical::to_file;
use proofhouse_ledger::envelope::{self, Envelope, ExitStatus};
use proofhouse_ledger::json::Object;
use proofhouse_ledger::manifest::{self, Determinism, Manifest, Shard};
use proofhouse_ledger::record::{Kind, Line, Spans, Status};
use proofhouse_ledger::spine::Spine;
use proofhouse_ledger::summary::Summary;
use proofhouse_ledger::totals::{Facts, PlanHasher, Totalling, Totals};
use proofhouse_ledger::{Digest, Json, Part, RunId, RunPaths, config};

#[expect(dead_code, reason = "single figures have no median")]
mod measure;
#[expect(dead_code, reason = "shards are written record by record")]
mod synthetic;

const CONFIG: &str = "kind: probe\nsuite_id: synthetic\n";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let measured = arguments.iter().any(|argument| argument == "--bench");
    let given: Vec<u64> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let root = Utf8PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("shards");
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).expect("the target directory can be written");
    match given[..] {
        [count] => merge(&root, count, (100, 1)),
        [count, shards, ..] => merge(&root, count, (shards as u32, 1)),
        [] if measured => {
            part_of_a_plan(&root, 1_000_000, 1_000);
            for (count, shards) in
                [(250_000, (10, 1)), (1_000_000, (10, 1)), (1_000_000, (1_000, 1)), (1_000_000, (10, 2))]
            {
                merge(&root, count, shards);
            }
        }
        [] => {
            part_of_a_plan(&root, 500, 10);
            merge(&root, 500, (3, 1));
            merge(&root, 500, (3, 2));
        }
    }
    fs::remove_dir_all(&root).expect("the bench wrote it");
}

/// One shard of many: what it costs to find its few trials among all of the plan's.
fn part_of_a_plan(root: &Utf8Path, count: u64, shards: u32) {
    let mut rows = String::new();
    for n in 0..count {
        let _ = writeln!(
            rows,
            "{{\"id\":\"case-{n:07}\",\"input\":\"What is the remainder of {n} by seven?\",\"expected\":\"{}\"}}",
            n % 7
        );
    }
    fs::write(root.join("rows.jsonl"), rows).expect("the bench's directory can be written");
    let suite = "kind: probe\nsuite_id: plan\ndatasets: [{path: rows.jsonl}]\njudges: {same: {equals: {}}}\n\
                 targets: {t: {scripted: {rules: [{contains: '5 by', reply: '3'}], otherwise: {reply: '1'}}}}\n";
    fs::write(root.join("suite.yaml"), suite).expect("the bench's directory can be written");
    let at = Path::new(root.as_str());
    let first = proofhouse(at, &format!("run suite.yaml --run-dir p --shard 0/{shards} --quiet"));
    let again = proofhouse(at, &format!("run suite.yaml --run-dir p --shard 0/{shards} --resume --quiet"));
    let name = Part::new(0, shards).expect("there is a first part").suffix();
    let trials = fs::read_to_string(root.join(format!("p.{name}/records.jsonl")))
        .map_or(0, |text| text.lines().count());
    let files = ["p.", ".p."].map(|prefix| files_below(root, prefix)).iter().sum::<usize>();
    println!(
        "shard 0/{shards} of a plan of {count} trials: {trials} trials, {:.2} s wall, {:.2} s CPU ({:.2} µs for each trial of the \
         plan), {:.1} MB RSS, {files} files; started again when it is whole: {:.2} s",
        first.wall,
        first.cpu,
        first.cpu / count as f64 * 1e6,
        first.rss_mb,
        again.wall
    );
}

/// Files below everything in a directory whose name begins so.
fn files_below(root: &Utf8Path, prefix: &str) -> usize {
    let names = proofhouse_ledger::files::sorted_dir(root).expect("the bench's directory can be read");
    let each = names.iter().filter(|name| name.starts_with(prefix)).map(|name| {
        let path = root.join(name);
        if path.is_dir() {
            proofhouse_ledger::files::sorted_dir(&path).map_or(0, |names| names.len())
        } else {
            1
        }
    });
    each.sum()
}

/// Many records in parts become one run.
fn merge(root: &Utf8Path, count: u64, (shards, slots): (u32, u64)) {
    let whole = root.join("whole");
    let bytes = write_shards(&whole, count, (shards, slots));
    let Cost { wall, cpu, rss_mb } =
        proofhouse(Path::new(root.as_str()), "merge whole --quiet --skip-report");
    let micros = |seconds: f64| seconds / count as f64 * 1e6;
    println!(
        "merge of {count} records ({:.2} GB) of {slots} target{} in {shards} shards: {wall:.1} s wall, {:.2} µs a record, {:.2} µs CPU, \
         {rss_mb:.1} MB RSS (limit 60)",
        bytes as f64 / 1e9,
        if slots == 1 { "" } else { "s" },
        micros(wall),
        micros(cpu)
    );
    for name in proofhouse_ledger::files::sorted_dir(root).expect("the bench's directory can be read") {
        if name.starts_with("whole") {
            let path = root.join(name);
            let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
}

/// A part while its records are written.
struct Open {
    paths: RunPaths,
    out: BufWriter<File>,
    totals: Totalling,
}

/// Writes the parts of a run; gives the bytes of all records.
fn write_shards(whole: &Utf8Path, count: u64, (shards, slots): (u32, u64)) -> u64 {
    let settings = [("kind", Json::from("probe")), ("suite_id", Json::from("synthetic"))];
    let run_id = config::run_id(&Json::Object(Object::from_iter(settings)));
    let parts = (0..shards).map(|index| Part::new(index, shards).expect("a part"));
    let mut open: Vec<Open> = parts
        .map(|part| {
            let paths = RunPaths::new(format!("{whole}.{}", part.suffix()));
            fs::create_dir_all(&paths.dir).expect("the bench's directory can be written");
            fs::write(paths.config(), CONFIG).expect("the bench's directory can be written");
            let file = File::create(paths.records()).expect("the bench's directory can be written");
            Open { paths, out: BufWriter::with_capacity(1 << 14, file), totals: Totalling::default() }
        })
        .collect();
    let (mut plan, mut line, mut spans, mut bytes) = (PlanHasher::default(), Vec::new(), Spans::default(), 0);
    for index in 0..count {
        let trial = synthetic::trial(index, slots);
        let part = Part::of(&trial.case_id, trial.slot, shards);
        line.clear();
        synthetic::push_record_of(&mut line, run_id, trial, "make");
        let split = Line::split(&line[..line.len() - 1], &mut spans).expect("a record of ours");
        let facts = Facts::of(&split).expect("a record of ours");
        plan.push(&facts.record_id, &facts.input_fingerprint);
        let to = &mut open[part.index as usize];
        to.totals.push(&facts);
        to.totals.bytes(&line);
        to.out.write_all(&line).expect("the disk has room");
        bytes += line.len() as u64;
    }
    let plan_sha256 = plan.finish();
    for (index, Open { paths, mut out, totals }) in (0..shards).zip(open) {
        out.flush().expect("the disk has room");
        let part = Part::new(index, shards).expect("a part");
        seal(&paths, run_id, Shard { plan_count: count, plan_sha256, part }, &totals.finish());
    }
    bytes
}

/// Summary, manifest and envelope of a part.
fn seal(paths: &RunPaths, run_id: RunId, shard: Shard, totals: &Totals) {
    let summary = to_file(&Summary::empty(Kind::Probe, run_id, "synthetic")).expect("plain data");
    let spine = Spine::new(&run_id);
    let manifest = Manifest {
        schema_version: manifest::SCHEMA_VERSION.to_owned(),
        kind: Kind::Probe,
        run_id,
        suite_id: "synthetic".to_owned(),
        suite_sha256: Digest::of(b"suite"),
        suite_content_sha256: Digest::of(b"content"),
        datasets: Vec::new(),
        targets: Vec::new(),
        seed: 0,
        plan_sha256: totals.plan_sha256,
        record_count: totals.count,
        counts: totals.counts.clone(),
        records_sha256: totals.records_sha256,
        records_merkle_root: totals.merkle_root,
        config_sha256: Digest::of(CONFIG.as_bytes()),
        summary_sha256: Digest::of(&summary),
        proofhouse_version: env!("CARGO_PKG_VERSION").to_owned(),
        prices: None,
        toolchains: BTreeMap::new(),
        sandbox: Json::Null,
        started_at: spine.run_start().to_string(),
        completed_at: spine.run_end(totals.count).to_string(),
        determinism: Determinism { strict_serialization: true, deterministic_artifacts: true },
        platform: None,
        command: None,
        shard: Some(shard),
    };
    let manifest = to_file(&manifest).expect("plain data");
    let envelope = to_file(&envelope_of(paths, run_id, (shard, totals), &manifest)).expect("plain data");
    for (path, bytes) in
        [(paths.summary(), &summary), (paths.manifest(), &manifest), (paths.envelope(), &envelope)]
    {
        fs::write(path, bytes).expect("the bench's directory can be written");
    }
}

fn envelope_of(
    paths: &RunPaths,
    run_id: RunId,
    (shard, totals): (Shard, &Totals),
    manifest: &[u8],
) -> Envelope {
    let name = paths.dir.file_name().unwrap_or_default();
    let part = Json::from(shard.part.to_string());
    Envelope {
        schema_version: envelope::SCHEMA_VERSION.to_owned(),
        run_id,
        run_instance_id: None,
        suite: "synthetic".to_owned(),
        model_id: None,
        backend: None,
        seed: 0,
        lane: None,
        variant: None,
        git_commit: None,
        suite_sha256: Some(Digest::of(b"suite")),
        timeout_per_case: 0,
        total_cases_expected: totals.count,
        total_cases_completed: totals.count,
        run_start_ts_utc: None,
        run_end_ts_utc: None,
        exit_status: ExitStatus::Normal,
        determinism_hash: Some(totals.determinism_hash),
        receipt_path: format!("{name}/records.jsonl"),
        receipt_sha256: Some(totals.records_sha256),
        suite_content_sha256: Some(Digest::of(b"content")),
        spec_digest: Some(Digest::of(CONFIG.as_bytes())),
        manifest_sha256: Some(Digest::of(manifest)),
        git_dirty: None,
        tool_sha256: None,
        cases_assessed: totals.assessed,
        cases_timed_out: totals.with_status(Status::Timeout),
        cases_errored: 0,
        cases_unparsed: totals.unparsed,
        suite_file_sha256: None,
        sandbox_tier: None,
        resumed_from: Vec::new(),
        host: None,
        pid: None,
        boot_id: None,
        error: None,
        details: Json::Object(Object::from_iter([(envelope::SHARD, part)])),
    }
}
