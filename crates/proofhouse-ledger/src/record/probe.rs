//! The record of a `probe` trial: what was asked, what came back, what was expected, what the judges said.

use std::collections::BTreeMap;

use super::declare::record;
use super::field::each_plain_score;
use super::{Damage, HEAD, Line, Status};
use crate::Json;
use crate::json::Object;

record! {
    fields PROBE: ProbeFields;
    /// A `probe` record as it is read; also what its JSON Schema is generated from.
    reads ProbeRecord;
    /// The fields that a `probe` record has beside the head.
    writes Probe;
    own {
        /// What the target received: text, or a conversation with its `messages`, `tools` and `response_format`. Pictures are
        /// there by their digest.
        input: Json,
        /// What the target gave: text, a structure, or null.
        output: Json,
        /// What the case expects.
        expected: Json,
        /// Judge's name → what each model that it asked said: `{model: {score, text}}`, in full; absent where none was asked.
        advice [absent if "Option::is_none"]: Option<Json>,
        /// For an answer of the suite's `calibration`: whether it is `right`, and what the judges `said`; absent elsewhere.
        calibration [absent if "Option::is_none"]: Option<Json>,
        /// Judge's name → what it says for its score; always where that is not 1.
        judge: BTreeMap<String, String>,
        /// What the endpoint said about itself: `finish_reason`, `model`, `system_fingerprint`; beside it `latency_ms` where a judge
        /// weighs how long the answer took, as the tape keeps it; absent where there is nothing of it.
        response [absent if "Option::is_none"]: Option<Json>,
        /// What the target thought before it answered, where that could be told apart; absent where it could not. Judges do not
        /// see it.
        reasoning [absent if "Option::is_none"]: Option<String>,
        /// The case's tags.
        tags: Vec<String>,
        /// What the target said before its last answer, in a conversation with several turns; absent elsewhere.
        turns [absent if "Option::is_none"]: Option<Json>,
    }
    given {}
    derived {}
    means {
        input_fingerprint: "SHA-256 of `input`: of text its bytes, of a structure its canonical JSON.",
        kind: "Always `probe`.",
        output_sha256: "SHA-256 of `output`: of text its bytes, of a structure its canonical JSON.",
        passed: "Whether it was right; null where that could not be said.",
        scores: "Each judge's score, 0 to 1; null where it could not judge.",
    }
    digests {
        HEAD.input_fingerprint => PROBE.input,
        HEAD.output_sha256 => PROBE.output,
    }
}

/// Fields of a `probe` record that say different things.
pub(super) fn contradictions(line: &Line<'_>) -> Result<Vec<&'static str>, Damage> {
    let mut wrong = Vec::new();
    let (status, passed) = (line.status()?, line.get(HEAD.passed)?);
    if status != Status::Success && (passed.is_some() || line.require(HEAD.scores)? != b"{}") {
        wrong.push("there are scores or a verdict, and `status` says that there was no answer");
    }
    if status == Status::Success && line.require(HEAD.error)? != b"null" {
        wrong.push("`error` is not null, and `status` says that there was an answer");
    }
    if matches!(status, Status::NotRun | Status::Skipped) && line.require(PROBE.output)? != b"null" {
        wrong.push("there is an `output`, and `status` says that nothing was asked");
    }
    if line.raw(PROBE.calibration).is_some() && passed.is_some() {
        wrong.push("`passed` is not null, and a labelled answer tells nothing of a target");
    }
    reasons(line, &mut wrong)?;
    Ok(wrong)
}

/// A judge that gives less than 1, or nothing, says why; who has no score has said nothing.
fn reasons(line: &Line<'_>, wrong: &mut Vec<&'static str>) -> Result<(), Damage> {
    let (raw_scores, raw_reasons) = (line.require(HEAD.scores)?, line.require(PROBE.judge)?);
    let is_right = each_plain_score(raw_scores, |_, _| ()).is_some() && !raw_scores.contains(&b'0');
    let is_right = is_right && !raw_scores.windows(4).any(|part| part == b"null");
    if is_right && raw_reasons == b"{}" && line.raw(PROBE.advice).is_none() {
        return Ok(());
    }
    let (scores, reasons) = (line.get(HEAD.scores)?, line.get(PROBE.judge)?);
    let has_score = |judge: &str| scores.iter().any(|(name, _)| name == judge);
    if !reasons.keys().all(|judge| has_score(judge)) {
        wrong.push("`judge` has the reason of a judge that has no score");
    }
    if scores.iter().any(|(name, score)| *score != Some(1.0) && !reasons.contains_key(&**name)) {
        wrong.push("a judge gave less than 1, and `judge` does not say why");
    }
    let advice = line.get(PROBE.advice)?;
    let advised = advice.as_ref().and_then(Json::as_object);
    if !advised.into_iter().flat_map(Object::iter).all(|(judge, _)| has_score(judge)) {
        wrong.push("`advice` is of a judge that has no score");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::{Strictness, parse};
    use crate::record::{Head, Kind, Line, Spans, Status, output_digest};
    use crate::spine::Spine;
    use crate::{Digest, RecordId, RunId, canonical};

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
        let body = Probe {
            input: &Json::from("question"),
            output,
            expected: &Json::Null,
            advice: None,
            calibration: None,
            judge: &judge,
            reasoning: None,
            response,
            tags: &tags,
            turns: None,
        };
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
        assert_eq!(split.get(HEAD.case_id).unwrap(), "case \"1\"\n");
        assert_eq!(split.get(PROBE.output).unwrap(), output);
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
                Ok(split) => match (split.recompute_digest(), split.get(HEAD.record_sha256)) {
                    (Ok(computed), Ok(stored)) => computed != stored,
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
