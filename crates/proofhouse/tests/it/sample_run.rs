//! Run directories to look at: written with the ledger's own writers, from a list of trials.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::canonical::to_file;
use proofhouse_ledger::digest::{Hasher, Merkle};
use proofhouse_ledger::json::Object;
use proofhouse_ledger::manifest::{self, Dataset, Determinism, Manifest, Target};
use proofhouse_ledger::record::{Head, Kind, Probe, Status, output_digest};
use proofhouse_ledger::spine::Spine;
use proofhouse_ledger::summary::{self, Comparison, Gate, Mean, Rate, Slot, Summary};
use proofhouse_ledger::{Digest, Json, RecordId, RunId, RunPaths};

/// One trial to write.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    pub(crate) slot: &'static str,
    pub(crate) case_id: String,
    pub(crate) repetition: u32,
    pub(crate) input: String,
    pub(crate) expected: Json,
    pub(crate) output: Json,
    pub(crate) status: Status,
    pub(crate) error: Option<(&'static str, String)>,
    pub(crate) passed: Option<bool>,
    pub(crate) tags: Vec<String>,
}

impl Trial {
    /// A trial that was answered and judged by equality.
    pub(crate) fn answered(slot: &'static str, case_id: &str, expected: &str, output: &str) -> Self {
        Self {
            slot,
            case_id: case_id.to_owned(),
            repetition: 0,
            input: format!("Question of {case_id}"),
            expected: expected.into(),
            output: output.into(),
            status: Status::Success,
            error: None,
            passed: Some(expected == output),
            tags: vec!["plain".to_owned()],
        }
    }

    /// The same trial, without an answer.
    pub(crate) fn unanswered(self, status: Status, error_type: &'static str, error: &str) -> Self {
        Self { output: Json::Null, status, error: Some((error_type, error.to_owned())), passed: None, ..self }
    }

    /// The same trial with other tags.
    pub(crate) fn tagged(self, tags: &[&str]) -> Self {
        Self { tags: tags.iter().map(|tag| (*tag).to_owned()).collect(), ..self }
    }

    fn record_id(&self) -> RecordId {
        RecordId::of_trial(self.slot, &self.case_id, None, self.repetition)
    }
}

/// A run directory in a directory that goes away with it.
pub(crate) struct SampleRun {
    pub(crate) paths: RunPaths,
    _keep: tempfile::TempDir,
}

impl SampleRun {
    /// Writes records, summary and manifest.
    pub(crate) fn new(
        slots: &[&'static str],
        gate: Option<f64>,
        trials: impl IntoIterator<Item = Trial>,
    ) -> Self {
        let keep = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(keep.path().join("run")).unwrap();
        write_run(&dir, slots, gate, trials);
        Self { paths: RunPaths::new(dir), _keep: keep }
    }

    /// Renders the report to memory.
    pub(crate) fn html(&self) -> String {
        let mut out = Vec::new();
        proofhouse::spine::present::render(&self.paths, proofhouse::kinds::own_presentation, &mut out)
            .unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Renders the report to its place and gives it.
    pub(crate) fn write_html(&self) -> Utf8PathBuf {
        let path = self.paths.report();
        let mut out = std::io::BufWriter::new(fs::File::create(&path).unwrap());
        proofhouse::spine::present::render(&self.paths, proofhouse::kinds::own_presentation, &mut out)
            .unwrap();
        path
    }

    pub(crate) fn summary(&self) -> Summary {
        serde_json::from_slice(&fs::read(self.paths.summary()).unwrap()).unwrap()
    }

    pub(crate) fn manifest(&self) -> Manifest {
        serde_json::from_slice(&fs::read(self.paths.manifest()).unwrap()).unwrap()
    }
}

/// What a hostile model or dataset would say.
pub(crate) const HOSTILE: [(&str, &str); 10] = [
    ("script", "<script>alert(1)</script><img src=x onerror=\"document.title='owned'\">"),
    ("end-of-block", "</script><script>document.title='owned'</script>"),
    ("comment", "<!--<script> ]]> <![CDATA[ --> \u{2028}\u{2029} </style>"),
    ("quotes", "\" onmouseover=\"document.title='owned'\" ' ` ${document.title='owned'} {{7*7}}"),
    ("entities", "&lt;b&gt; &#x3c;script&#x3e; &amp;amp;"),
    ("rtl", "\u{202e}gnp.exe\u{202c} مرحبا بالعالم שלום \u{2066}isolated\u{2069}"),
    ("emoji", "👩🏽‍🚀 family 👨‍👩‍👧‍👦 flag 🇪🇺 zalgo Z̷̨̛a̴l̶g̵o̸"),
    ("ansi", "\u{1b}[31mred\u{1b}[0m \u{7}bell \u{8}back\rreturn"),
    ("nul", "before\0after \u{7f}\u{85}\u{200b}zero\u{feff}width"),
    ("link", "javascript:alert(1) [click](javascript:alert(1)) data:text/html,<script>alert(1)</script>"),
];

/// A few dozen cases, two targets, three repetitions, with everything that can become of a trial.
pub(crate) fn sample_trials() -> Vec<Trial> {
    let capitals = [
        ("france", "Paris"),
        ("japan", "Tokyo"),
        ("australia", "Canberra"),
        ("brazil", "Brasília"),
        ("canada", "Ottawa"),
        ("turkey", "Ankara"),
        ("nigeria", "Abuja"),
        ("switzerland", "Bern"),
        ("kazakhstan", "Astana"),
        ("myanmar", "Naypyidaw"),
        ("new-zealand", "Wellington"),
        ("south-africa", "Pretoria, Cape Town and Bloemfontein"),
    ];
    let mut trials = Vec::new();
    for slot in ["careful", "hasty"] {
        for (at, (name, capital)) in capitals.iter().enumerate() {
            for repetition in 0..3 {
                let roll = (at * 7 + repetition as usize * 3 + usize::from(slot == "hasty") * 5) % 11;
                trials.push(capital_trial(slot, name, capital, repetition, roll));
            }
        }
        for number in 0..12u32 {
            for repetition in 0..3 {
                let right = (17 + number) * (3 + number);
                let wrong = slot == "hasty" && number % 3 == 0 && repetition != 1;
                let given = if wrong { right + 10 } else { right };
                let case = format!("arithmetic/{number:02}");
                let mut trial = Trial::answered(slot, &case, &right.to_string(), &given.to_string());
                trial.repetition = repetition;
                trial.input =
                    format!("What is {} times {}? Answer with the number only.", 17 + number, 3 + number);
                if slot == "hasty" && number == 7 {
                    trial = trial.unanswered(Status::Timeout, "timeout", "no answer within 30000 ms");
                }
                trials.push(trial.tagged(&["arithmetic"]));
            }
        }
        for (name, text) in HOSTILE {
            let mut trial = Trial::answered(slot, &format!("hostile/{name}"), "I cannot do that.", text);
            trial.input = format!("Repeat: {text}");
            trial.passed = Some(slot == "careful");
            trials.push(trial.tagged(&["hostile", "<b>tag</b>"]));
        }
        let mut long = Trial::answered(slot, "long-output", "short", &"lorem ipsum dolor ".repeat(1 << 16));
        long.passed = Some(false);
        trials.push(long.tagged(&["limits"]));
        let mut structure = Trial::answered(slot, "structured", "", "");
        structure.expected =
            serde_json::from_str(r#"{"city":"Bern","population":134000,"tags":["capital","old"]}"#).unwrap();
        structure.output =
            serde_json::from_str(r#"{"city":"Bern","population":133000,"tags":["capital"]}"#).unwrap();
        structure.passed = Some(false);
        trials.push(structure.tagged(&["json"]));
    }
    trials
}

fn capital_trial(slot: &'static str, name: &str, capital: &str, repetition: u32, roll: usize) -> Trial {
    let sentence = format!("The capital of {name} is {capital}, which lies in the middle of the country.");
    let right = Trial {
        expected: sentence.as_str().into(),
        ..Trial::answered(slot, &format!("capital/{name}"), &sentence, &sentence)
    };
    let trial = Trial {
        repetition,
        input: format!("What is the capital of {name}? Answer in one sentence."),
        ..right
    };
    let trial = trial.tagged(&["capital", "geography"]);
    match (slot, roll) {
        ("hasty", 0..4) => Trial {
            output: format!("The largest city of {name} is somewhere near {capital}, which lies in the north of the country!").into(),
            passed: Some(false),
            ..trial
        },
        ("hasty", 4) => trial.unanswered(Status::Error, "connection_refused", "connection refused (os error 111)\nafter 3 attempts"),
        ("hasty", 5) => trial.unanswered(Status::RateLimited, "http_429", "429 Too Many Requests, retry after 20 s"),
        ("careful", 0) => Trial { output: "I am not sure.".into(), passed: Some(false), ..trial },
        ("careful", 1) if name == "myanmar" || name == "canada" => Trial { passed: None, error: Some(("judge_failed", "the judge gave no verdict".to_owned())), ..trial },
        _ => trial,
    }
}

/// Passed, assessed and planned trials of something.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    passed: u64,
    assessed: u64,
    trials: u64,
}

impl Tally {
    fn add(&mut self, passed: Option<bool>) {
        self.trials += 1;
        self.assessed += u64::from(passed.is_some());
        self.passed += u64::from(passed == Some(true));
    }
}

fn rate(numerator: u64, denominator: u64, records: &str) -> Rate {
    let interval = (denominator > 0).then(|| {
        let (n, p, z) = (denominator as f64, numerator as f64 / denominator as f64, 1.959963984540054_f64);
        let middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        (p, (middle - half).max(0.0), (middle + half).min(1.0))
    });
    Rate {
        numerator,
        denominator,
        value: interval.map(|at| at.0),
        low: interval.map(|at| at.1),
        high: interval.map(|at| at.2),
        records: records.to_owned(),
    }
}

fn counts() -> BTreeMap<String, u64> {
    Status::ALL.iter().map(|status| (status.as_str().to_owned(), 0)).collect()
}

#[derive(Default)]
struct Tallies {
    slots: BTreeMap<&'static str, (Tally, BTreeMap<String, u64>)>,
    tags: BTreeMap<(&'static str, String), Tally>,
    cases: BTreeMap<(&'static str, String), Tally>,
    verdicts: BTreeMap<(String, u32), BTreeMap<&'static str, bool>>,
    error_types: BTreeMap<String, u64>,
}

impl Tallies {
    fn add(&mut self, trial: &Trial) {
        let (tally, by_status) = self.slots.entry(trial.slot).or_insert_with(|| (Tally::default(), counts()));
        tally.add(trial.passed);
        *by_status.get_mut(trial.status.as_str()).unwrap() += 1;
        for tag in &trial.tags {
            self.tags.entry((trial.slot, tag.clone())).or_default().add(trial.passed);
        }
        self.cases.entry((trial.slot, trial.case_id.clone())).or_default().add(trial.passed);
        if let Some(passed) = trial.passed {
            self.verdicts
                .entry((trial.case_id.clone(), trial.repetition))
                .or_default()
                .insert(trial.slot, passed);
        }
        if let Some((error_type, _)) = &trial.error {
            *self.error_types.entry((*error_type).to_owned()).or_default() += 1;
        }
    }

    fn slot(&self, slot: &'static str) -> Slot {
        let (tally, by_status) =
            self.slots.get(slot).cloned().unwrap_or_else(|| (Tally::default(), counts()));
        let cases: Vec<&Tally> =
            self.cases.iter().filter(|(key, _)| key.0 == slot).map(|(_, tally)| tally).collect();
        let repeated = cases.iter().filter(|case| case.assessed > 1).count() as u64;
        let flaky = cases.iter().filter(|case| case.passed > 0 && case.passed < case.assessed).count() as u64;
        let tags = self.tags.iter().filter(|(key, _)| key.0 == slot);
        let pass_rate = rate(
            tally.passed,
            tally.assessed,
            &format!("slot = {slot} and passed = true over passed is not null"),
        );
        let mean = mean_over_cases(&cases);
        Slot {
            slot: slot.to_owned(),
            trials: tally.trials,
            counts: by_status,
            pass_rate_all: rate(
                tally.passed,
                tally.trials,
                &format!("slot = {slot} and passed = true over all"),
            ),
            pass_rate,
            scores: BTreeMap::from([("equals".to_owned(), mean.clone())]),
            pass_rate_clustered: Some(mean),
            tags: tags
                .map(|(key, tally)| (key.1.clone(), rate(tally.passed, tally.assessed, "tag")))
                .collect(),
            flaky_cases: rate(flaky, repeated, &format!("slot = {slot}, cases whose repetitions disagree")),
            latency_ms: None,
            usage: None,
            silent: false,
        }
    }

    fn compare(&self, a: &'static str, b: &'static str) -> Comparison {
        let mut table = [[0u64; 2]; 2];
        for verdicts in self.verdicts.values() {
            if let (Some(a), Some(b)) = (verdicts.get(a), verdicts.get(b)) {
                table[usize::from(*a)][usize::from(*b)] += 1;
            }
        }
        let [[neither, only_b], [only_a, both_passed]] = table;
        let pairs = neither + only_a + only_b + both_passed;
        let (n, split) = (pairs as f64, (only_a + only_b) as f64);
        let difference = (only_b as f64 - only_a as f64) / n;
        let half = 1.96 * (split - n * difference * difference).max(0.0).sqrt() / n;
        let some = |value: f64| (pairs > 0).then_some(value);
        Comparison {
            a: a.to_owned(),
            b: b.to_owned(),
            pairs,
            both_passed,
            only_a,
            only_b,
            neither,
            cases: pairs,
            cases_a: only_a,
            cases_b: only_b,
            difference: some(difference),
            low: some(difference - half),
            high: some(difference + half),
            p_value: some(mcnemar(only_a, only_b)),
            adjusted_p: some(mcnemar(only_a, only_b)),
            sentence: format!("{b} against {a}: {only_b} against {only_a} cases"),
        }
    }
}

fn mcnemar(a: u64, b: u64) -> f64 {
    let n = a + b;
    let (mut term, mut sum) = (0.5f64.powi(n as i32), 0.0);
    for k in 0..=a.min(b) {
        sum += term;
        term *= (n - k) as f64 / (k + 1) as f64;
    }
    (2.0 * sum).min(1.0)
}

fn mean_over_cases(cases: &[&Tally]) -> Mean {
    let shares: Vec<f64> =
        cases.iter().filter(|c| c.assessed > 0).map(|c| c.passed as f64 / c.assessed as f64).collect();
    let n = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / n;
    let error = (shares.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt();
    let some = |value: f64| (shares.len() > 1).then_some(value);
    Mean {
        count: cases.iter().map(|case| case.assessed).sum(),
        clusters: shares.len() as u64,
        value: some(mean),
        standard_error: some(error),
        low: some((mean - 1.96 * error).max(0.0)),
        high: some((mean + 1.96 * error).min(1.0)),
    }
}

/// Writes the three files; records stream, so that many are no matter.
pub(crate) fn write_run(
    dir: &Utf8Path,
    slots: &[&'static str],
    gate: Option<f64>,
    trials: impl IntoIterator<Item = Trial>,
) {
    fs::create_dir_all(dir).unwrap();
    let run = RunPaths::new(dir);
    let run_id = RunId::of_identity(b"sample");
    let spine = Spine::new(&run_id);
    let (mut hasher, mut merkle, mut plan, mut count) =
        (Hasher::default(), Merkle::default(), Hasher::default(), 0u64);
    let mut tallies = Tallies::default();
    let mut file = std::io::BufWriter::new(fs::File::create(run.records()).unwrap());
    let mut line = Vec::new();
    for trial in trials {
        line.clear();
        merkle.push(push_trial(&mut line, &trial, (run_id, spine, count)));
        hasher.update(&line);
        file.write_all(&line).unwrap();
        plan.update(format!("{} {}\n", trial.record_id(), Digest::of(trial.input.as_bytes())).as_bytes());
        tallies.add(&trial);
        count += 1;
    }
    file.flush().unwrap();
    fs::write(run.config(), "suite: sample\n").unwrap();
    let summary = summarise(&tallies, slots, gate, (run_id, count));
    let summary_bytes = to_file(&summary).unwrap();
    fs::write(run.summary(), &summary_bytes).unwrap();
    let manifest = Manifest {
        schema_version: manifest::SCHEMA_VERSION.to_owned(),
        kind: Kind::Probe,
        run_id,
        suite_id: summary.suite_id.clone(),
        suite_sha256: Digest::of(b"suite"),
        suite_content_sha256: Digest::of(b"content"),
        datasets: vec![Dataset {
            path: "data/questions.jsonl".to_owned(),
            format: "jsonl".to_owned(),
            dataset_hash: Digest::of(b"dataset").prefixed(),
            rows: 36,
        }],
        targets: slots.iter().map(|slot| target(slot)).collect(),
        seed: 42,
        plan_sha256: plan.finish(),
        record_count: count,
        counts: summary.counts.clone(),
        records_sha256: hasher.finish(),
        records_merkle_root: merkle.root(),
        config_sha256: Digest::of(b"suite: sample\n"),
        summary_sha256: Digest::of(&summary_bytes),
        proofhouse_version: "0.1.0".to_owned(),
        prices: None,
        toolchains: BTreeMap::new(),
        sandbox: Json::Null,
        started_at: spine.run_start().to_string(),
        completed_at: spine.run_end(count).to_string(),
        determinism: Determinism { strict_serialization: true, deterministic_artifacts: true },
        platform: None,
        command: None,
        shard: None,
    };
    fs::write(run.manifest(), to_file(&manifest).unwrap()).unwrap();
}

fn target(slot: &str) -> Target {
    let config =
        Object::from_iter([("temperature", Json::from(0u32)), ("model", Json::from("scripted/<sample>"))]);
    Target { slot: slot.to_owned(), kind: "scripted".to_owned(), config: config.into() }
}

fn push_trial(out: &mut Vec<u8>, trial: &Trial, (run_id, spine, index): (RunId, Spine, u64)) -> Digest {
    let score = trial.passed.map(f64::from);
    let head = Head {
        kind: Kind::Probe,
        run_id,
        record_id: trial.record_id(),
        index,
        suite_id: "sample-suite",
        case_id: &trial.case_id,
        slot: trial.slot,
        variant_id: None,
        repetition: trial.repetition,
        input_fingerprint: Digest::of(trial.input.as_bytes()),
        status: trial.status,
        error_type: trial.error.as_ref().map(|(error_type, _)| *error_type),
        error: trial.error.as_ref().map(|(_, error)| error.as_str()),
        output_sha256: output_digest(&trial.output),
        scores: &[("equals", score), ("length", score.map(|score| 0.5 + score / 4.0))],
        primary_metric: Some("equals"),
        passed: trial.passed,
        started_at: spine.started(index),
        completed_at: spine.completed(index),
        latency_ms: None,
        usage: None,
    };
    let mut judge = Object::new();
    if trial.passed == Some(false) {
        judge.set("equals", "the output is not the expected text <b>at all</b>");
    }
    let judge = Json::from(judge);
    Probe {
        input: &Json::from(trial.input.as_str()),
        output: &trial.output,
        expected: &trial.expected,
        judge: &judge,
        advice: None,
        calibration: None,
        reasoning: None,
        response: None,
        tags: &trial.tags,
        turns: None,
    }
    .push(out, &head)
}

fn summarise(
    tallies: &Tallies,
    slots: &[&'static str],
    gate: Option<f64>,
    (run_id, trials): (RunId, u64),
) -> Summary {
    let rows: Vec<Slot> = slots.iter().map(|slot| tallies.slot(slot)).collect();
    let mut all = counts();
    for (name, count) in rows.iter().flat_map(|slot| &slot.counts) {
        *all.get_mut(name).unwrap() += count;
    }
    let mut comparisons = Vec::new();
    for (at, a) in slots.iter().enumerate() {
        comparisons.extend(slots[at + 1..].iter().map(|b| tallies.compare(a, b)));
    }
    let gate = gate.map(|pass_rate| {
        let failed = |slot: &&Slot| slot.pass_rate.value.is_some_and(|value| value < pass_rate);
        let failed_slots: Vec<String> = rows.iter().filter(failed).map(|slot| slot.slot.clone()).collect();
        let decided = rows.iter().all(|slot| slot.pass_rate.value.is_some());
        let held = decided.then_some(failed_slots.is_empty());
        let sentence = format!("gate of {pass_rate}: {held:?}");
        Gate { pass_rate, confidence: None, held, failed_slots, undecided_slots: Vec::new(), sentence }
    });
    Summary {
        schema_version: summary::SCHEMA_VERSION.to_owned(),
        kind: Kind::Probe,
        run_id,
        suite_id: "sample-suite".to_owned(),
        trials,
        assessed: rows.iter().map(|slot| slot.pass_rate.denominator).sum(),
        counts: all,
        error_types: tallies.error_types.clone(),
        slots: rows,
        comparisons,
        best: None,
        code: None,
        robustness: None,
        wordings: Vec::new(),
        gate,
        containment: None,
        calibration: None,
        agreement: Vec::new(),
    }
}
