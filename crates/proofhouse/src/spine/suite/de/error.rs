//! What can be wrong with a value, in the words of a suite's author.

use std::fmt;

use proofhouse_ledger::json::MAX_SAFE_INTEGER;
use serde::de::{self, Unexpected};

use super::Slot;
use crate::spine::suite::problem::{Code, Place, Problem, did_you_mean, quoted};
use crate::spine::suite::tree::{NodeId, Tree};

/// What went wrong while reading; it gets its place on the way out of the innermost value.
#[derive(Debug)]
pub(crate) struct Error {
    pub(super) code: Code,
    pub(super) what: String,
    pub(super) hint: Option<String>,
    pub(super) place: Option<Place>,
    pub(super) path: String,
    pub(super) slot: Option<Slot>,
    pub(super) missing: Option<(NodeId, &'static str)>,
    pub(super) missing_field: Option<&'static str>,
}

impl Error {
    pub(super) fn boxed(code: Code, what: impl Into<String>) -> Box<Self> {
        Box::new(Error {
            code,
            what: what.into(),
            hint: None,
            place: None,
            path: String::new(),
            slot: None,
            missing: None,
            missing_field: None,
        })
    }

    pub(super) fn hint(mut self: Box<Self>, hint: impl Into<String>) -> Box<Self> {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn into_problem(self, tree: &Tree) -> Problem {
        let place = Box::new(self.place.unwrap_or_else(|| tree.place(tree.root, &[])));
        Problem {
            code: self.code,
            place,
            what: self.what,
            path: self.path,
            hint: self.hint,
            notes: Vec::new(),
            also: None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}
impl std::error::Error for Error {}

/// What serde says of a type, in the words of a suite's author.
fn in_plain_words(expected: &str) -> String {
    let whole = |from: i128, to: i128| format!("a whole number from {from} to {to}");
    match expected {
        "u8" => whole(0, u8::MAX.into()),
        "u16" => whole(0, u16::MAX.into()),
        "u32" => whole(0, u32::MAX.into()),
        "u64" | "usize" => whole(0, MAX_SAFE_INTEGER.into()),
        "i32" => whole(i32::MIN.into(), i32::MAX.into()),
        "i64" => whole(-i128::from(MAX_SAFE_INTEGER), MAX_SAFE_INTEGER.into()),
        "f64" | "f32" => "a number".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a string" | "str" => "text".to_owned(),
        "a sequence" => "a list".to_owned(),
        _ if expected.starts_with("struct ") => "a map of settings".to_owned(),
        _ => expected.to_owned(),
    }
}

fn found(unexpected: Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("`{value}`"),
        Unexpected::Signed(value) => format!("`{value}`"),
        Unexpected::Float(value) => format!("`{value:?}`"),
        Unexpected::Str("") => "empty text".to_owned(),
        Unexpected::Str(text) => format!("the text {}", quoted(text)),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a map".to_owned(),
        other => other.to_string(),
    }
}

/// What a wrong type most often means.
fn type_hint(unexpected: Unexpected<'_>, expected: &str) -> Option<String> {
    match (expected, unexpected) {
        ("`true` or `false`", Unexpected::Str(text)) => match text.to_ascii_lowercase().as_str() {
            "true" | "false" => Some(format!("remove the quotes: {}", text.to_ascii_lowercase())),
            "yes" | "on" | "y" => Some("write `true`".to_owned()),
            "no" | "off" | "n" => Some("write `false`".to_owned()),
            _ => None,
        },
        ("text", Unexpected::Bool(value)) => Some(format!("put it in quotes: \"{value}\"")),
        ("text", Unexpected::Unsigned(value)) => Some(format!("put it in quotes: \"{value}\"")),
        ("text", Unexpected::Signed(value)) => Some(format!("put it in quotes: \"{value}\"")),
        ("text", Unexpected::Float(value)) => Some(format!("put it in quotes: \"{value}\"")),
        ("a map of settings", Unexpected::Unit) => Some("write `{}` for no settings".to_owned()),
        (expected, Unexpected::Str(text))
            if expected.contains("number") && text.trim().parse::<f64>().is_ok() =>
        {
            Some(format!("remove the quotes: {}", text.trim()))
        }
        _ => None,
    }
}

impl de::Error for Box<Error> {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Error::boxed(Code::BadValue, what.to_string())
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let expected = in_plain_words(&expected.to_string());
        let mut error =
            Error::boxed(Code::WrongType, format!("expected {expected}, found {}", found(unexpected)));
        error.hint = type_hint(unexpected, &expected);
        error
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let expected = in_plain_words(&expected.to_string());
        Error::boxed(Code::OutOfRange, format!("expected {expected}, found {}", found(unexpected)))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Error::boxed(Code::BadValue, format!("unknown value {}", quoted(variant)))
            .hint(did_you_mean(variant, expected, "choices"))
    }

    fn missing_field(field: &'static str) -> Self {
        let mut error = Error::boxed(Code::MissingKey, format!("missing key `{field}`"))
            .hint(format!("add `{field}: …`"));
        error.missing_field = Some(field);
        error
    }
}
