//! What follows from a declaration: lines, readers, typed fields, schemas.

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::containment::{ModelPart, Outcome};
use super::*;
use crate::canonical;
use crate::json::{Strictness, parse};

fn model() -> ModelPart<'static> {
    ModelPart {
        backend: "http",
        model_id: "m",
        response_hash: Digest::of(b"answers"),
        parse_ok: false,
        parse_error: None,
    }
}

/// A line is canonical, carries its own digest, and is the same when it was read and written again.
fn round_trip<T: Serialize + DeserializeOwned>(line: &[u8]) -> T {
    let line = line.strip_suffix(b"\n").expect("a line ends");
    let record: T = serde_json::from_slice(line).expect("a record");
    assert_eq!(
        String::from_utf8(canonical::to_vec(&record).unwrap()).unwrap(),
        std::str::from_utf8(line).unwrap()
    );
    assert_eq!(parse(line, Strictness::Canonical).unwrap().to_string().as_bytes(), line);
    let mut spans = Spans::default();
    let split = Line::split(line, &mut spans).unwrap();
    assert_eq!(split.recompute_digest(), split.get(HEAD.record_sha256));
    record
}

fn with<T>(line: &[u8], look: impl FnOnce(&Line<'_>) -> T) -> T {
    let mut spans = Spans::default();
    look(&Line::split(line.strip_suffix(b"\n").unwrap_or(line), &mut spans).unwrap())
}

#[test]
fn every_kind_is_written_as_it_is_read() {
    let (seen, stop) = samples::seen();
    round_trip::<ProbeRecord>(&samples::probe(1, &Json::Null, |_| {}));
    round_trip::<CodeRecord>(&samples::code(1));
    round_trip::<RobustnessRecord>(&samples::robustness(1, Some((&seen, &stop))));
    round_trip::<RobustnessRecord>(&samples::robustness(1, None));
    let scripted: ContainmentRecord = round_trip(&samples::containment(1, None));
    assert_eq!((scripted.llm_backend, scripted.llm_parse_error), (None, None));
    let modelled: ContainmentRecord = round_trip(&samples::containment(1, Some(model())));
    assert_eq!((modelled.llm_parse_ok, modelled.llm_parse_error), (Some(false), Some(None)));
    assert_eq!((modelled.pass, modelled.ts_utc), (Some(true), modelled.completed_at));
}

#[test]
fn a_field_is_seen_as_what_it_was_given_as() {
    let line = samples::probe(5, &Json::from("a\tb"), |head| {
        head.variant_id = Some("v");
        head.repetition = 3;
        head.latency_ms = Some(0.1);
        head.error = Some("no\n");
        head.passed = None;
        head.scores = &[("b", None), ("a", Some(0.1))];
    });
    with(&line, |line| {
        assert_eq!(line.get(HEAD.case_id).unwrap(), "case-5");
        assert_eq!(line.get(HEAD.variant_id).unwrap().unwrap(), "v");
        assert_eq!(line.get(HEAD.error).unwrap().unwrap(), "no\n");
        assert_eq!(line.get(HEAD.error_type), Ok(None));
        assert_eq!(line.get(HEAD.repetition), Ok(3));
        assert_eq!(line.get(HEAD.latency_ms), Ok(Some(0.1)));
        assert_eq!(line.get(HEAD.passed), Ok(None));
        assert_eq!(line.get(HEAD.usage), Ok(Json::Null));
        assert_eq!(line.get(HEAD.scores), Ok(vec![("a".to_owned(), Some(0.1)), ("b".to_owned(), None)]));
        assert_eq!(line.get(PROBE.output), Ok(Json::from("a\tb")));
        assert_eq!(line.get(PROBE.response), Ok(None));
        assert_eq!(line.get(TAGS), Ok(vec!["x".to_owned(), "y\"".to_owned()]));
        assert_eq!((line.index(), line.kind()), (Ok(5), Ok(Kind::Probe)));
        assert_eq!((line.run_id(), line.status()), (Ok(samples::run_id()), Ok(Status::Success)));
        assert_eq!(line.require(HEAD.case_id), Ok(b"\"case-5\"".as_slice()));
        assert_eq!(line.require(CODE.stderr), Err(Damage::Field("stderr")));
        assert_eq!(line.get(CODE.stderr), Err(Damage::Field("stderr")));
        assert_eq!(line.json(HEAD.index), Some(Json::Number(5.0)));
        assert_eq!(line.json(CODE.stderr), None);
    });
    with(&samples::code(0), |line| {
        assert_eq!(line.get(CODE.has_unsafe), Ok(Some(false)));
        assert_eq!(line.get(CODE.completion_id), Ok(2));
        assert_eq!(line.get(CODE.missing_crates), Ok(vec!["serde".to_owned()]));
        assert_eq!(line.get(CODE.tries), Ok(vec![None, Some("x".to_owned())]));
        assert_eq!(line.get(CODE.lints).unwrap()[0].message, "m");
        assert_eq!(line.get(CODE.panic), Ok(None));
    });
    with(&samples::robustness(0, None), |line| {
        assert_eq!(line.get(ROBUSTNESS.suite), Ok(Mode::Stress));
        assert_eq!(line.get(ROBUSTNESS.termination), Ok(None));
        assert_eq!(line.get(ROBUSTNESS.exit_code), Ok(None));
    });
    with(&samples::containment(0, Some(model())), |line| {
        assert_eq!(line.get(CONTAINMENT.actual_outcome), Ok(Outcome::Contained));
        assert_eq!(line.get(CONTAINMENT.llm_parse_ok), Ok(Some(false)));
        assert_eq!(line.get(CONTAINMENT.llm_parse_error), Ok(Some(None)));
        assert_eq!(line.get(CONTAINMENT.llm_response_hash), Ok(Some(Digest::of(b"answers"))));
        assert_eq!(line.get(CONTAINMENT.gated), Ok(true));
    });
}

#[test]
fn a_value_of_another_type_is_damage() {
    let line = br#"{"actual_outcome":"odd","attack":null,"case_id":7,"completed_at":"x\q","index":-1,"kind":"odd","latency_ms":"1","output":{"b":1,"a":1},"passed":"true","record_id":"00","repetition":4294967296,"run_id":null,"scores":{"a":"1"},"slot":"x,"tags":[1],"variant_id":"v"}"#;
    let line = std::str::from_utf8(line).unwrap().replace(r#""slot":"x,"#, r#""slot":7,"#);
    with(line.as_bytes(), |line| {
        assert_eq!(line.get(CONTAINMENT.actual_outcome), Err(Damage::Field("actual_outcome")));
        assert_eq!(line.get(CONTAINMENT.attack), Err(Damage::Field("attack")));
        assert_eq!(line.get(HEAD.case_id), Err(Damage::Field("case_id")));
        assert_eq!(line.get(HEAD.completed_at), Err(Damage::Field("completed_at")));
        assert_eq!(line.get(HEAD.index), Err(Damage::Field("index")));
        assert_eq!(line.get(HEAD.kind), Err(Damage::Field("kind")));
        assert_eq!(line.get(HEAD.latency_ms), Err(Damage::Field("latency_ms")));
        assert_eq!(line.get(HEAD.passed), Err(Damage::Field("passed")));
        assert_eq!(line.get(HEAD.record_id), Err(Damage::Field("record_id")));
        assert_eq!(line.get(HEAD.repetition), Err(Damage::Field("repetition")));
        assert_eq!(line.get(HEAD.run_id), Err(Damage::Field("run_id")));
        assert_eq!(line.get(HEAD.scores), Err(Damage::Field("scores")));
        assert_eq!(line.get(TAGS), Err(Damage::Field("tags")));
        assert_eq!(line.get(CONTAINMENT.llm_parse_ok), Ok(None), "it may be absent");
        assert_eq!(line.recompute_digest(), Err(Damage::Field("record_sha256")));
        assert_eq!(Damage::Field("tags").to_string(), "field `tags` is missing or of the wrong type");
    });
}

#[test]
fn what_may_be_absent_is_not_taken_for_null() {
    let line = samples::containment(0, Some(model()));
    let text = String::from_utf8(line).unwrap();
    let null = text.replace(r#""llm_parse_ok":false"#, r#""llm_parse_ok":null"#);
    assert!(serde_json::from_str::<ContainmentRecord>(&null).is_err());
    with(null.as_bytes(), |line| {
        assert_eq!(line.get(CONTAINMENT.llm_parse_ok), Err(Damage::Field("llm_parse_ok")));
    });
}

#[test]
fn every_kind_that_has_tags_says_them_under_one_name() {
    assert_eq!([PROBE.tags.name(), CODE.tags.name(), CONTAINMENT.tags.name()], [TAGS.name(); 3]);
}

#[test]
fn kinds_and_statuses_are_known_by_their_words() {
    for kind in Kind::ALL {
        assert_eq!(Kind::see(format!("\"{}\"", kind.as_str()).as_bytes()), Some(kind));
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
    }
    for status in Status::ALL {
        assert_eq!(Status::see(format!("\"{}\"", status.as_str()).as_bytes()), Some(status));
        assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
    }
    for mode in Mode::ALL {
        assert_eq!(serde_json::to_value(mode).unwrap(), mode.as_str());
    }
    for end in Termination::ALL {
        assert_eq!(serde_json::to_value(end).unwrap(), end.as_str());
    }
    let retried: Vec<&str> =
        Status::ALL.into_iter().filter(|s| s.is_retryable()).map(Status::as_str).collect();
    assert_eq!(retried, ["error", "timeout", "rate_limited", "skipped"]);
    let passed = Outcome::ALL.map(Outcome::passed);
    assert_eq!(passed, [Some(false), Some(true), Some(true), Some(false), Some(false), None, None]);
    for outcome in Outcome::ALL {
        assert_eq!(Outcome::from_word(outcome.as_str()), Some(outcome));
        assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.as_str());
    }
    assert_eq!(Outcome::from_word("odd"), None);
    for decision in [
        containment::Decision::Execute,
        containment::Decision::Allow,
        containment::Decision::AllowModified,
        containment::Decision::Deny,
    ] {
        assert_eq!(serde_json::to_value(decision).unwrap(), decision.as_str());
    }
}

#[test]
fn a_digest_of_content_is_recomputed_from_text_structure_and_null() {
    let content = ContentDigest::new(HEAD.output_sha256, PROBE.output);
    let digest = Some(Some(Digest::of(b"[1,2]")));
    let line = |output: &str, stored: &str| format!(r#"{{"output":{output},"output_sha256":{stored}}}"#);
    let hex = format!("\"{}\"", Digest::of(b"[1,2]"));
    let prefixed = format!("\"{}\"", Digest::of(b"[1,2]").prefixed());
    for (output, stored, computed, read, right) in [
        ("[1,2]", hex.as_str(), digest, digest, true),
        ("\"[1,2]\"", &prefixed, digest, digest, true),
        ("null", "null", Some(None), Some(None), true),
        ("null", &hex, Some(None), digest, false),
        ("[1,2]", "null", digest, Some(None), false),
        ("[1,2]", "7", digest, None, false),
        ("\"\\q\"", "null", None, Some(None), false),
        ("[1,2,", "null", None, Some(None), false),
    ] {
        let text = line(output, stored);
        let mut spans = Spans::default();
        let Ok(line) = Line::split(text.as_bytes(), &mut spans) else { continue };
        assert_eq!(content.computed(&line), computed, "{text}");
        assert_eq!(content.stored(&line), read, "{text}");
        assert_eq!(content.is_right(&line), right, "{text}");
    }
    with(br#"{"output":"x"}"#, |line| assert!(content.stored(line).is_none() && !content.is_right(line)));
    assert_eq!(output_digest(&Json::Null), None);
    assert_eq!(output_digest(&Json::from("x")), Some(Digest::of(b"x")));
}

#[test]
fn a_line_that_is_none_is_refused_with_its_place() {
    for (line, offset, what) in [
        ("", 0, "expected `{`"),
        ("[]", 0, "expected `{`"),
        ("{}", 1, "expected `\"`"),
        ("{\"a\"}", 4, "expected `:`"),
        ("{\"a\":}", 5, "expected a value"),
        ("{\"a\":1", 6, "expected `,` or `}`"),
        ("{\"a\":1]", 6, "expected `,` or `}`"),
        ("{\"a\":\"b", 6, "string without an end"),
        ("{\"a\":\"b\\", 7, "string without an end"),
        ("{\"a\":\"b\\\"", 9, "string without an end"),
        ("{\"a\":[1,{\"b\":2}", 15, "value without an end"),
        ("{\"b\":1,\"a\":2}", 10, "keys out of order"),
        ("{\"a\":1,\"a\":2}", 10, "keys out of order"),
        ("{\"a\":1} ", 7, "text after the object"),
        ("{\"a\":1}{", 7, "text after the object"),
        ("{\"a\": 1}", 5, "expected a value"),
    ] {
        let mut spans = Spans::default();
        let damage = Line::split(line.as_bytes(), &mut spans).unwrap_err();
        assert_eq!(damage, Damage::Malformed { offset, what }, "{line}");
    }
}

#[test]
fn fields_lie_where_they_are() {
    let text = r#"{"a":"x\"y","b":[1,{"c":"]}"},[]],"c":{},"d":-1.5,"e":true,"f":false,"g":null,"h":"\\"}"#;
    let mut spans = Spans::default();
    let line = Line::split(text.as_bytes(), &mut spans).unwrap();
    let fields: Vec<(&str, &str)> = line
        .fields()
        .map(|(key, value)| (std::str::from_utf8(key).unwrap(), std::str::from_utf8(value).unwrap()))
        .collect();
    let expected = [
        ("a", r#""x\"y""#),
        ("b", r#"[1,{"c":"]}"},[]]"#),
        ("c", "{}"),
        ("d", "-1.5"),
        ("e", "true"),
        ("f", "false"),
        ("g", "null"),
        ("h", r#""\\""#),
    ];
    assert_eq!(fields, expected);
    assert_eq!(line.bytes(), text.as_bytes());
    let again = Line::split(b"{\"z\":1}", &mut spans).unwrap();
    assert_eq!(again.fields().len(), 1, "spans are of the last line only");
}

#[test]
fn the_published_schemas_are_those_of_the_declarations() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    for kind in Kind::ALL {
        let name = kind.record_format();
        let published = std::fs::read_to_string(root.join(format!("{name}.schema.json"))).unwrap();
        let ours = serde_json::to_string_pretty(&serde_json::Value::from(kind.record_schema())).unwrap();
        assert!(ours.trim() == published.trim(), "{name}: {ours}");
    }
}

#[test]
fn a_canary_or_a_calibration_is_aside() {
    for (case, aside) in [
        (r#""proofhouse-canary-1""#, true),
        (r#""proofhouse-calibration-b""#, true),
        (r#""proofhouse-canar""#, false),
        (r#""my proofhouse-canary-1""#, false),
        ("7", false),
    ] {
        with(format!(r#"{{"case_id":{case}}}"#).as_bytes(), |line| {
            assert_eq!(line.is_aside(), aside, "{case}")
        });
    }
    with(br#"{"a":1}"#, |line| assert!(!line.is_aside()));
}

#[test]
fn the_own_digest_is_of_all_but_itself_and_a_value_lies_where_it_is_said_to_lie() {
    let text = r#"{"a":1,"index":12,"record_sha256":"x","slot":"s"}"#;
    with(text.as_bytes(), |line| {
        assert_eq!(&text[line.range(HEAD.index).unwrap()], "12");
        assert_eq!(line.range(HEAD.case_id), None);
        let without = Digest::of(br#"{"a":1,"index":12,"slot":"s"}"#);
        assert_eq!(line.recompute_digest(), Ok(without));
        let (other, without) = (text.replace("12", "34"), br#"{"a":1,"index":34,"slot":"s"}"#);
        assert_eq!(line.recompute_digest_of(other.as_bytes()), Ok(Digest::of(without)));
        let short = line.recompute_digest_of(&text.as_bytes()[..20]);
        assert_eq!(short, Err(Damage::Field("record_sha256")), "the places are not there");
    });
    with(br#"{"a":1,"record_sha256":"x"}"#, |line| {
        assert_eq!(line.recompute_digest(), Err(Damage::Field("record_sha256")), "nothing stands behind it");
    });
}

proptest! {
    /// Whatever the texts, a line reads back as what was given, by the reader and by its fields.
    #[test]
    fn any_text_is_seen_as_it_was_given(
        case in any::<String>(), error in any::<Option<String>>(), out in any::<String>(), score in any::<f64>(),
    ) {
        prop_assume!(score.is_finite());
        let output = Json::from(out.as_str());
        let scores = [(case.as_str(), Some(score))];
        let mut head = samples::head(Kind::Probe, 1, &case);
        head.error = error.as_deref();
        head.scores = &scores;
        let (judge, mut bytes) = (Json::Object(Default::default()), Vec::new());
        let input = Json::from(out.as_str());
        let body = Probe {
            input: &input,
            output: &output,
            expected: &output,
            judge: &judge,
            advice: None,
            calibration: None,
            reasoning: Some(&out),
            response: Some(&output),
            tags: &[],
            turns: Some(&output),
        };
        body.push(&mut bytes, &head);
        let record: ProbeRecord = serde_json::from_slice(&bytes).unwrap();
        prop_assert_eq!((&record.case_id, &record.error, &record.input), (&case, &error, &input));
        with(&bytes, |line| {
            assert_eq!(line.get(HEAD.case_id).unwrap(), case.as_str());
            assert_eq!(line.get(HEAD.error).unwrap().as_deref(), error.as_deref());
            assert_eq!(line.get(HEAD.scores).unwrap(), [(case.clone(), Some(score + 0.0))]);
            assert_eq!(line.get(PROBE.response).unwrap(), Some(output.clone()));
        });
    }
}
