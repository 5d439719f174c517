//! The record of a `probe` trial: what was asked, what came back, what was expected, what the judges said.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Field, Head, Kind, Status, push_record};
use crate::{Digest, Json, RecordId, RunId};

/// The fields that a `probe` record has beside the head.
#[derive(Debug, Clone, Copy)]
pub struct Probe<'a> {
    /// What the target received.
    pub input: &'a str,
    /// What it gave: text, a structure, or null.
    pub output: &'a Json,
    /// What the case expects.
    pub expected: &'a Json,
    /// Judge's name → why its score is not 1.
    pub judge: &'a Json,
    /// What the endpoint said about itself, where it did: finish reason, model, fingerprint.
    pub response: Option<&'a Json>,
    /// The case's tags.
    pub tags: &'a [String],
}

impl Probe<'_> {
    /// Appends the line and gives its digest.
    pub fn push(&self, out: &mut Vec<u8>, head: &Head<'_>) -> Digest {
        let mut tags = Vec::with_capacity(32);
        tags.push(b'[');
        for (at, tag) in self.tags.iter().enumerate() {
            if at > 0 {
                tags.push(b',');
            }
            crate::canonical::push_text(&mut tags, tag);
        }
        tags.push(b']');
        let [expected, input, judge, output, tags] = [
            ("expected", Field::Json(self.expected)),
            ("input", Field::Text(self.input)),
            ("judge", Field::Json(self.judge)),
            ("output", Field::Json(self.output)),
            ("tags", Field::Raw(&tags)),
        ];
        match self.response {
            None => push_record(out, head, &[expected, input, judge, output, tags]),
            Some(about) => {
                let response = ("response", Field::Json(about));
                push_record(out, head, &[expected, input, judge, output, response, tags])
            }
        }
    }
}

/// The digest of an output: of text its bytes, of a structure its canonical JSON, of null none.
pub fn output_digest(output: &Json) -> Option<Digest> {
    match output {
        Json::Null => None,
        Json::String(text) => Some(Digest::of(text.as_bytes())),
        other => Some(Digest::of(other.to_string().as_bytes())),
    }
}

/// A `probe` record as it is read; also what its JSON Schema is generated from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeRecord {
    /// The case.
    pub case_id: String,
    /// On the time spine in deterministic mode.
    pub completed_at: String,
    /// What went wrong, in words.
    pub error: Option<String>,
    /// A stable code for what went wrong.
    pub error_type: Option<String>,
    /// What the case expects.
    #[schemars(with = "serde_json::Value")]
    pub expected: Json,
    /// The place in the plan.
    pub index: u64,
    /// What the target received.
    pub input: String,
    /// SHA-256 of `input`.
    pub input_fingerprint: Digest,
    /// Judge's name → why its score is not 1.
    pub judge: BTreeMap<String, String>,
    /// Always `probe`.
    pub kind: Kind,
    /// Null in deterministic mode.
    pub latency_ms: Option<f64>,
    /// What the target gave: text, a structure, or null.
    #[schemars(with = "serde_json::Value")]
    pub output: Json,
    /// SHA-256 of `output`: of text its bytes, of a structure its canonical JSON.
    pub output_sha256: Option<Digest>,
    /// Whether it was right; null where that could not be said.
    pub passed: Option<bool>,
    /// Which score decides.
    pub primary_metric: Option<String>,
    /// The trial within the plan.
    pub record_id: RecordId,
    /// SHA-256 of this line without this field.
    pub record_sha256: Digest,
    /// Which repetition, from 0.
    pub repetition: u32,
    /// What the endpoint said about itself: `finish_reason`, `model`, `system_fingerprint`; absent where it said nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub response: Option<Json>,
    /// The run.
    pub run_id: RunId,
    /// The version of this format.
    pub schema_version: String,
    /// Each judge's score, 0 to 1; null where it could not judge.
    pub scores: BTreeMap<String, Option<f64>>,
    /// The target's name in the suite.
    pub slot: String,
    /// On the time spine in deterministic mode.
    pub started_at: String,
    /// What became of the trial.
    pub status: Status,
    /// The suite.
    pub suite_id: String,
    /// The case's tags.
    pub tags: Vec<String>,
    /// Tokens and the like, as the target reported them.
    #[schemars(with = "serde_json::Value")]
    pub usage: Json,
    /// The variant of the case, if a generator made one.
    pub variant_id: Option<String>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::canonical;
    use crate::json::{Strictness, parse};
    use crate::record::{Line, Spans};
    use crate::spine::Spine;

    fn write(case_id: &str, output: &Json, error: Option<&str>, scores: &[(&str, Option<f64>)]) -> Vec<u8> {
        let run_id = RunId::of_identity(b"run");
        let spine = Spine::new(&run_id);
        let head = Head {
            kind: Kind::Probe,
            run_id,
            record_id: RecordId::of_trial("slot", case_id, None, 0),
            index: 7,
            suite_id: "suite",
            case_id,
            slot: "slot",
            variant_id: None,
            repetition: 0,
            input_fingerprint: Digest::of(b"question"),
            status: Status::Success,
            error_type: None,
            error,
            output_sha256: output_digest(output),
            scores,
            primary_metric: Some("b"),
            passed: Some(false),
            started_at: spine.started(7),
            completed_at: spine.completed(7),
            latency_ms: Some(1.25),
            usage: None,
        };
        let tags = ["x".to_owned(), "y\"".to_owned()];
        let judge = parse(br#"{"b":"no"}"#, Strictness::Strict).unwrap();
        let response = None;
        let body =
            Probe { input: "question", output, expected: &Json::Null, judge: &judge, response, tags: &tags };
        let mut out = Vec::new();
        body.push(&mut out, &head);
        out
    }

    #[test]
    fn a_line_is_canonical_and_digests_itself() {
        let output = parse(br#"{"z":[1,2.5],"a":{"q":"}\"{"}}"#, Strictness::Strict).unwrap();
        let bytes = write("case \"1\"\n", &output, Some("tab\t"), &[("b", Some(0.5)), ("a", None)]);
        let line = bytes.strip_suffix(b"\n").unwrap();
        let record: ProbeRecord = serde_json::from_slice(line).unwrap();
        assert_eq!(canonical::to_vec(&record).unwrap(), line, "typed round trip");
        assert_eq!(parse(line, Strictness::Canonical).unwrap().to_string().as_bytes(), line);

        let mut spans = Spans::default();
        let split = Line::split(line, &mut spans).unwrap();
        assert_eq!(split.recompute_digest().unwrap(), record.record_sha256);
        assert_eq!(split.text("case_id").unwrap(), "case \"1\"\n");
        assert_eq!(split.json("output").unwrap(), output);
        assert_eq!(split.fields().len(), 28);

        let mut without = parse(line, Strictness::Canonical).unwrap();
        if let Json::Object(object) = &mut without {
            object.remove("record_sha256");
        }
        assert_eq!(
            Digest::of(without.to_string().as_bytes()),
            record.record_sha256,
            "as jq would compute it"
        );
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let bytes = write("c", &Json::from("out"), None, &[("b", Some(1.0))]);
        let line = bytes.strip_suffix(b"\n").unwrap().to_vec();
        for at in 0..line.len() * 8 {
            let mut bad = line.clone();
            bad[at / 8] ^= 1 << (at % 8);
            let mut spans = Spans::default();
            let noticed = match Line::split(&bad, &mut spans) {
                Err(_) => true,
                Ok(split) => match (split.recompute_digest(), split.digest("record_sha256")) {
                    (Ok(computed), Ok(Some(stored))) => computed != stored,
                    _ => true,
                },
            };
            assert!(noticed, "bit {at}");
        }
    }

    proptest! {
        #[test]
        fn splitting_garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut spans = Spans::default();
            let _ = Line::split(&bytes, &mut spans);
        }

        #[test]
        fn any_text_survives(case in any::<String>(), out in any::<String>(), error in any::<Option<String>>()) {
            let bytes = write(&case, &Json::from(out.as_str()), error.as_deref(), &[]);
            let record: ProbeRecord = serde_json::from_slice(&bytes).unwrap();
            prop_assert_eq!(record.case_id, case);
            prop_assert_eq!(record.output.as_str(), Some(out.as_str()));
            prop_assert_eq!(record.error, error);
        }
    }
}
