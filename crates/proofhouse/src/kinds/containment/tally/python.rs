//! Calyx's hash of a run: SHA-256 over what Python's `json.dumps(list, sort_keys=True)` writes.

use proofhouse_ledger::digest::Hasher;
use proofhouse_ledger::{Digest, Json};

/// The list under way.
#[derive(Default)]
pub(super) struct Listed {
    hasher: Hasher,
    count: u64,
    text: String,
}

impl Listed {
    /// Takes the next receipt.
    pub(super) fn push(&mut self, case_id: &str, pass: Option<bool>, executed: &Json) {
        let text = &mut self.text;
        text.clear();
        text.push_str(if self.count == 0 { "[" } else { ", " });
        text.push_str("{\"case_id\": ");
        push_text(text, case_id);
        text.push_str(", \"executed\": ");
        push(text, executed);
        text.push_str(", \"pass\": ");
        push(text, &Json::from(pass));
        text.push('}');
        self.hasher.update(text.as_bytes());
        self.count += 1;
    }

    /// The hash.
    pub(super) fn finish(mut self) -> Digest {
        self.hasher.update(if self.count == 0 { b"[]" } else { b"]" });
        self.hasher.finish()
    }
}

fn push(out: &mut String, value: &Json) {
    match value {
        Json::String(text) => push_text(out, text),
        Json::Array(list) => {
            out.push('[');
            for (at, item) in list.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                push(out, item);
            }
            out.push(']');
        }
        Json::Object(object) => {
            // Python sorts keys by code point, canonical JSON by UTF-16 code unit.
            let mut pairs: Vec<_> = object.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (at, (key, item)) in pairs.into_iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                push_text(out, key);
                out.push_str(": ");
                push(out, item);
            }
            out.push('}');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

/// Text as Python writes it: everything beyond ASCII as `\uXXXX`.
fn push_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proofhouse_ledger::json::{Strictness, parse};

    use super::*;

    #[test]
    fn texts_and_lists_are_written_as_python_writes_them() {
        let mut out = String::new();
        let value =
            parse("{\"b\":[1,2.5,true,null],\"a\":\"é\\n\\\"😀\\u007f\"}".as_bytes(), Strictness::Strict);
        push(&mut out, &value.unwrap());
        assert_eq!(out, r#"{"a": "\u00e9\n\"\ud83d\ude00\u007f", "b": [1, 2.5, true, null]}"#);
        assert_eq!(Listed::default().finish(), Digest::of(b"[]"));
    }

    #[test]
    fn a_list_of_receipts_is_written_as_python_writes_it() {
        let mut listed = Listed::default();
        listed.push("a1", Some(false), &Json::Array(Vec::new()));
        listed.push("b1", None, &Json::Array(vec![Json::from("x")]));
        let text = br#"[{"case_id": "a1", "executed": [], "pass": false}, {"case_id": "b1", "executed": ["x"], "pass": null}]"#;
        assert_eq!(listed.finish(), Digest::of(text));
    }
}
