//! A field's value on its way into a line: borrowed or copied, never allocated.

use crate::canonical::{push_integer, push_json, push_number, push_text};
use crate::spine::Stamp;
use crate::{Digest, Json, RecordId, RunId};

/// A field's value on its way into a line.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// The field is not there at all.
    Absent,
    /// The line's own digest: known only when the rest is written.
    OwnDigest,
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number.
    Integer(u64),
    /// A finite number.
    Number(f64),
    /// Text.
    Text(&'a str),
    /// A word of ours: it needs no escape.
    Word(&'static str),
    /// Texts.
    Texts(&'a [String]),
    /// Any value.
    Json(&'a Json),
    /// Names and numbers.
    Scores(&'a [(&'a str, Option<f64>)]),
    /// 64 hexadecimal digits.
    Digest(Digest),
    /// `sha256:` and 64 hexadecimal digits.
    Prefixed(Digest),
    /// A moment.
    Stamp(Stamp),
    /// A run.
    RunId(RunId),
    /// A trial.
    RecordId(RecordId),
}

impl Value<'_> {
    /// Appends the value; one that is absent, or known only later, has no text.
    pub(super) fn push(self, out: &mut Vec<u8>) {
        match self {
            Value::Absent | Value::OwnDigest => {}
            Value::Null => out.extend_from_slice(b"null"),
            Value::Bool(true) => out.extend_from_slice(b"true"),
            Value::Bool(false) => out.extend_from_slice(b"false"),
            Value::Integer(number) => push_integer(out, number),
            Value::Number(number) => push_number(out, number),
            Value::Text(text) => push_text(out, text),
            Value::Word(word) => push_plain(out, word.as_bytes()),
            Value::Texts(texts) => push_texts(out, texts),
            Value::Json(value) => push_json(out, value),
            Value::Scores(scores) => push_scores(out, scores),
            Value::Digest(digest) => push_plain(out, &digest.hex()),
            Value::Prefixed(digest) => {
                out.extend_from_slice(b"\"sha256:");
                out.extend_from_slice(&digest.hex());
                out.push(b'"');
            }
            Value::Stamp(stamp) => push_plain(out, &stamp.text()),
            Value::RunId(id) => push_plain(out, &id.hex()),
            Value::RecordId(id) => push_plain(out, &id.hex()),
        }
    }
}

/// What is not there has no field, instead of one that is null or empty.
pub trait OrAbsent<'a> {
    /// The value, or that it is absent.
    fn or_absent(self) -> Value<'a>;
}

impl<'a, T: Into<Value<'a>>> OrAbsent<'a> for Option<T> {
    fn or_absent(self) -> Value<'a> {
        self.map_or(Value::Absent, Into::into)
    }
}

impl<'a> OrAbsent<'a> for &'a [String] {
    fn or_absent(self) -> Value<'a> {
        if self.is_empty() { Value::Absent } else { self.into() }
    }
}

fn push_plain(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    out.extend_from_slice(bytes);
    out.push(b'"');
}

fn push_texts(out: &mut Vec<u8>, texts: &[String]) {
    out.push(b'[');
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        push_text(out, text);
    }
    out.push(b']');
}

/// Scores are few and in the suite's order; the file wants them sorted.
fn push_scores(out: &mut Vec<u8>, scores: &[(&str, Option<f64>)]) {
    out.push(b'{');
    let mut last: Option<&str> = None;
    loop {
        let next = scores
            .iter()
            .filter(|(name, _)| last.is_none_or(|last| crate::json::key_order(last, name).is_lt()))
            .min_by(|a, b| crate::json::key_order(a.0, b.0));
        let Some((name, score)) = next else { break };
        if last.is_some() {
            out.push(b',');
        }
        push_text(out, name);
        out.push(b':');
        Value::from(*score).push(out);
        last = Some(name);
    }
    out.push(b'}');
}

macro_rules! from {
    ($($variant:ident $from:ty),* $(,)?) => {
        $(impl<'a> From<$from> for Value<'a> {
            fn from(value: $from) -> Self {
                Value::$variant(value.into())
            }
        })*
    };
}

from! {
    Bool bool,
    Integer u64,
    Integer u32,
    Number i32,
    Number f64,
    Text &'a str,
    Texts &'a [String],
    Json &'a Json,
    Scores &'a [(&'a str, Option<f64>)],
    Digest Digest,
    Stamp Stamp,
    RunId RunId,
    RecordId RecordId,
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: Value<'_>) -> String {
        let mut out = Vec::new();
        value.push(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_value_has_its_text() {
        let digest = Digest::of(b"abc");
        let texts = ["a\"".to_owned(), "b".to_owned()];
        let table = [
            (Value::Absent, String::new()),
            (Value::OwnDigest, String::new()),
            (Value::Null, "null".to_owned()),
            (true.into(), "true".to_owned()),
            (false.into(), "false".to_owned()),
            (7u64.into(), "7".to_owned()),
            ((-7i32).into(), "-7".to_owned()),
            (0.5.into(), "0.5".to_owned()),
            ("a\n".into(), "\"a\\n\"".to_owned()),
            (Value::Word("probe"), "\"probe\"".to_owned()),
            ((&texts[..]).into(), "[\"a\\\"\",\"b\"]".to_owned()),
            ((&texts[..0]).into(), "[]".to_owned()),
            ((&Json::Bool(true)).into(), "true".to_owned()),
            (digest.into(), format!("\"{digest}\"")),
            (Value::Prefixed(digest), format!("\"sha256:{digest}\"")),
            (Stamp(0).into(), "\"1970-01-01T00:00:00.000000+00:00\"".to_owned()),
            (Some(1u32).into(), "1".to_owned()),
            (None::<u32>.into(), "null".to_owned()),
            (Some("x").or_absent(), "\"x\"".to_owned()),
            (None::<&str>.or_absent(), String::new()),
            ((&texts[1..]).or_absent(), "[\"b\"]".to_owned()),
            ((&texts[..0]).or_absent(), String::new()),
        ];
        for (value, expected) in table {
            assert_eq!(text(value), expected, "{value:?}");
        }
        let (run, record) = (RunId::of_identity(b"x"), RecordId::of_trial("s", "c", None, 0));
        assert_eq!(text(run.into()), format!("\"{run}\""));
        assert_eq!(text(record.into()), format!("\"{record}\""));
    }

    #[test]
    fn scores_are_sorted_and_said_once() {
        let scores: &[(&str, Option<f64>)] =
            &[("b", Some(1.0)), ("a", None), ("b", Some(1.0)), ("c", Some(0.25))];
        assert_eq!(text(scores.into()), r#"{"a":null,"b":1,"c":0.25}"#);
        assert_eq!(text(Value::Scores(&[])), "{}");
    }
}
