//! Run directories of any size for the benches: plausible `probe` records of about 900 bytes a line.

use std::fs::{self, File};
use std::io::{BufWriter, Write};

use camino::Utf8Path;
use proofhouse_ledger::record::{Head, Kind, Probe, Status, output_digest};
use proofhouse_ledger::spine::Spine;
use proofhouse_ledger::{Digest, Json, RecordId, RunId};

/// Writes `records.jsonl` of a run of `identity` with `count` records into `dir`; its targets speak in `voice`.
pub(crate) fn write_run(dir: &Utf8Path, identity: &str, count: u64, voice: &str) -> std::io::Result<()> {
    fs::create_dir_all(dir)?;
    let mut file = BufWriter::with_capacity(1 << 20, File::create(dir.join("records.jsonl"))?);
    let run_id = RunId::of_identity(identity.as_bytes());
    let mut line = Vec::with_capacity(2_048);
    for index in 0..count {
        line.clear();
        push_record(&mut line, run_id, index, voice);
        file.write_all(&line)?;
    }
    file.flush()
}

/// Appends the record of trial `index`: two slots, a fifth of the answers wrong, one in a hundred timed out.
pub(crate) fn push_record(out: &mut Vec<u8>, run_id: RunId, index: u64, voice: &str) {
    push_record_of(out, run_id, trial(index, 2), voice);
}

/// Which case and slot a trial is of, in a run of so many slots.
pub(crate) fn trial(index: u64, slots: u64) -> Trial {
    let slot = if index.is_multiple_of(slots) { "model-small" } else { "model-large" };
    Trial { index, case_id: format!("arithmetic/{:07}", index / slots), slot }
}

/// A trial of a synthetic run.
pub(crate) struct Trial {
    pub(crate) index: u64,
    pub(crate) case_id: String,
    pub(crate) slot: &'static str,
}

/// Appends the record of a trial.
pub(crate) fn push_record_of(out: &mut Vec<u8>, run_id: RunId, trial: Trial, voice: &str) {
    let Trial { index, case_id, slot } = trial;
    let spine = Spine::new(&run_id);
    let (left, right) = (index * 7_919 % 100_003, index * 104_729 % 99_991);
    let input = format!(
        "You are a careful assistant. Work out the sum below and answer with the number alone, without a unit, \
         without a sentence around it.\n\nWhat is {left} + {right}?"
    );
    let (timed_out, right_answer) = (index % 100 == 99, !index.is_multiple_of(5));
    let answer = left + right + u64::from(!right_answer);
    let output =
        if timed_out { Json::Null } else { Json::from(format!("{left} + {right} {voice} {answer}.")) };
    let expected = Json::from((left + right).to_string());
    let judge: proofhouse_ledger::json::Object = if right_answer || timed_out {
        std::iter::empty::<(String, Json)>().collect()
    } else {
        [("exact", Json::from("the number differs from the expected one"))].into_iter().collect()
    };
    let score = f64::from(u8::from(right_answer));
    let scores = [("exact", Some(score)), ("length", Some(score / 2.0 + 0.25))];
    let usage = Json::Object([("input_tokens", 58u32), ("output_tokens", 9)].into_iter().collect());
    let head = Head {
        kind: Kind::Probe,
        run_id,
        record_id: RecordId::of_trial(slot, &case_id, None, 0),
        index,
        suite_id: "synthetic",
        case_id: &case_id,
        slot,
        variant_id: None,
        repetition: 0,
        input_fingerprint: Digest::of(input.as_bytes()),
        status: if timed_out { Status::Timeout } else { Status::Success },
        error_type: timed_out.then_some("deadline"),
        error: timed_out.then_some("no answer within 30 s"),
        output_sha256: output_digest(&output),
        // Without an answer there is nothing to score.
        scores: if timed_out { &[] } else { &scores },
        primary_metric: Some("exact"),
        passed: (!timed_out).then_some(right_answer),
        started_at: spine.started(index),
        completed_at: spine.completed(index),
        latency_ms: None,
        usage: Some(&usage),
    };
    let tags = ["arithmetic".to_owned(), "addition".to_owned()];
    let judge = Json::Object(judge);
    Probe {
        input: &Json::from(input.as_str()),
        output: &output,
        expected: &expected,
        judge: &judge,
        advice: None,
        calibration: None,
        reasoning: None,
        response: None,
        tags: &tags,
        turns: None,
    }
    .push(out, &head);
}
