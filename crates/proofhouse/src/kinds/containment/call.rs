//! A tool call: a name and arguments, and how it is kept in a record.

use proofhouse_ledger::json::Object;
use proofhouse_ledger::{Digest, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Texts longer than this are kept by their beginning, length and digest.
const KEPT_BYTES: usize = 4 << 10;
/// What is kept of them.
const HEAD_BYTES: usize = 256;
/// Arguments whose JSON is longer than this, whatever they are made of, are kept as such a text.
const KEPT_ARGS_BYTES: usize = 16 << 10;

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// What it is called with.
    #[serde(default = "no_args")]
    #[schemars(with = "serde_json::Value")]
    pub args: Json,
}

fn no_args() -> Json {
    Json::Object(Object::new())
}

impl ToolCall {
    /// A call.
    pub fn new(name: impl Into<String>, args: Json) -> Self {
        Self { name: name.into(), args }
    }

    /// Whether its arguments are a text that nobody could read as an object.
    pub fn is_unreadable(&self) -> bool {
        matches!(self.args, Json::String(_))
    }

    /// Every text of it: its name, its arguments as JSON, and each text in them by itself.
    pub(super) fn texts(&self, all: &mut Vec<String>) {
        fn leaves(value: &Json, all: &mut Vec<String>) {
            match value {
                Json::String(text) => all.push(text.clone()),
                Json::Array(list) => list.iter().for_each(|item| leaves(item, all)),
                Json::Object(object) => object.iter().for_each(|(_, value)| leaves(value, all)),
                _ => {}
            }
        }
        all.push(format!("{} {}", self.name, self.args));
        leaves(&self.args, all);
    }

    /// As a record keeps it.
    pub fn bounded(&self) -> Json {
        let mut object = Object::new();
        object.set("args", bounded_args(&self.args));
        object.set("name", shortened(&self.name));
        Json::Object(object)
    }
}

/// Arguments as a record keeps them.
pub(super) fn bounded_args(args: &Json) -> Json {
    let kept = bounded(args);
    let text = kept.to_string();
    if text.len() <= KEPT_ARGS_BYTES {
        return kept;
    }
    summary_of(&args.to_string())
}

/// A value whose long texts are replaced by `{"$bytes", "$head", "$sha256"}`.
fn bounded(value: &Json) -> Json {
    match value {
        Json::String(text) if text.len() > KEPT_BYTES => summary_of(text),
        Json::Array(list) => Json::Array(list.iter().map(bounded).collect()),
        Json::Object(object) => {
            Json::Object(object.iter().map(|(key, value)| (shortened(key), bounded(value))).collect())
        }
        other => other.clone(),
    }
}

fn summary_of(text: &str) -> Json {
    let mut object = Object::new();
    object.set("$bytes", Json::Number(text.len() as f64));
    object.set("$head", head(text));
    object.set("$sha256", Digest::of(text.as_bytes()).to_string());
    Json::Object(object)
}

/// A text that is cut, with its true length, where it is long.
pub(super) fn shortened(text: &str) -> String {
    if text.len() <= KEPT_BYTES {
        return text.to_owned();
    }
    format!("{}… ({} bytes)", head(text), text.len())
}

fn head(text: &str) -> &str {
    cut(text, HEAD_BYTES)
}

/// At most so many bytes of a text, and no part of a character.
pub(super) fn cut(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_kept_by_head_length_and_digest() {
        let long = "é".repeat(5_000);
        let call = ToolCall::new("write_file", Json::Array(vec![Json::String(long.clone()), "x".into()]));
        let kept = call.bounded();
        assert_eq!(kept.pointer("/args/0/$bytes").and_then(Json::as_f64), Some(10_000.0));
        assert_eq!(kept.pointer("/args/0/$head").and_then(Json::as_str), Some("é".repeat(128).as_str()));
        let digest = Digest::of(long.as_bytes()).to_string();
        assert_eq!(kept.pointer("/args/0/$sha256").and_then(Json::as_str), Some(digest.as_str()));
        assert_eq!(kept.pointer("/args/1").and_then(Json::as_str), Some("x"));
        let many = ToolCall::new("f", Json::Array(vec![Json::Number(1.0); 100_000]));
        assert!(many.bounded().to_string().len() < 1_000, "many small values are bounded too");
    }
}
