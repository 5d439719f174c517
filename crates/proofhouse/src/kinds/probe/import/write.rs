//! A suite as somebody would have written it: its keys in the usual order, long texts as blocks, and on top what did not come along.

use std::fmt::Write as _;

use serde_json::Value;

use super::short;
use crate::spine::import::LeftOut;

/// A suite before it is text.
#[derive(Debug, Default)]
pub(super) struct SuiteText {
    /// What the head says, line by line.
    pub(super) about: Vec<String>,
    /// Keys and values of the suite, in the order in which they are written.
    pub(super) entries: Vec<(&'static str, Entry)>,
}

/// What stands behind a key of a suite.
#[derive(Debug)]
pub(super) enum Entry {
    /// Any value.
    Value(Value),
    /// Named values in their own order.
    Named(Vec<(String, Value)>),
}

impl SuiteText {
    /// Adds a key.
    pub(super) fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        self.entries.push((key, Entry::Value(value.into())));
    }

    /// Adds a key with named values.
    pub(super) fn named(&mut self, key: &'static str, values: Vec<(String, Value)>) {
        self.entries.push((key, Entry::Named(values)));
    }

    /// Says what did not come along.
    pub(super) fn left_out(&mut self, left: &[LeftOut]) {
        if left.is_empty() {
            return;
        }
        self.about.push("Left out:".to_owned());
        self.about.extend(left.iter().map(|left| format!("  {left}")));
    }

    /// The text of the suite.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for line in &self.about {
            let indent = line.len() - line.trim_start().len();
            let _ = writeln!(out, "# {}{}", " ".repeat(indent), long(line.trim_start()));
        }
        for (key, entry) in &self.entries {
            match entry {
                Entry::Value(value) => pair(&mut out, key, value, 0),
                Entry::Named(values) => {
                    let _ = writeln!(out, "{key}:");
                    values.iter().for_each(|(name, value)| pair(&mut out, name, value, 2));
                }
            }
        }
        out
    }
}

/// A line of the head: longer than what is shown in passing, but one line.
fn long(line: &str) -> String {
    match line.len() {
        0..=400 => crate::text::visible::visible(&line.replace(['\n', '\r'], " ")).to_string(),
        _ => short(line),
    }
}

fn pair(out: &mut String, key: &str, value: &Value, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
    out.push_str(&key_text(key));
    out.push(':');
    behind(out, value, indent);
}

/// What follows a key or a dash.
fn behind(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            map.iter().for_each(|(key, value)| pair(out, key, value, indent + 2));
        }
        Value::Array(list) if !list.is_empty() => {
            if let Some(line) = flow(list) {
                let _ = writeln!(out, " {line}");
                return;
            }
            out.push('\n');
            for item in list {
                out.extend(std::iter::repeat_n(' ', indent + 2));
                out.push('-');
                item_behind(out, item, indent + 2);
            }
        }
        Value::String(text) => match block(text, indent + 2) {
            Some(block) => out.push_str(&block),
            None => {
                let _ = writeln!(out, " {}", quoted(text));
            }
        },
        other => {
            let _ = writeln!(out, " {other}");
        }
    }
}

/// An item of a list: the first key of a map stands behind its dash.
fn item_behind(out: &mut String, item: &Value, indent: usize) {
    match item {
        Value::Object(map) if !map.is_empty() => {
            let mut inner = String::new();
            map.iter().for_each(|(key, value)| pair(&mut inner, key, value, indent + 2));
            out.push(' ');
            out.push_str(inner.trim_start_matches(' '));
        }
        other => behind(out, other, indent),
    }
}

/// A short list of plain values on one line.
fn flow(list: &[Value]) -> Option<String> {
    let items: Option<Vec<String>> = list
        .iter()
        .map(|item| match item {
            Value::String(text) => (!text.contains('\n')).then(|| quoted(text)),
            Value::Array(_) | Value::Object(_) => None,
            other => Some(other.to_string()),
        })
        .collect();
    let line = format!("[{}]", items?.join(", "));
    (line.len() <= 120).then_some(line)
}

/// A text of several lines as a literal block; none where only quotes keep it as it is.
fn block(text: &str, indent: usize) -> Option<String> {
    let plain = |c: char| {
        c == '\n' || (!c.is_control() && !matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}'))
    };
    let body = text.strip_suffix('\n').unwrap_or(text);
    // Lines that end in a space, and line ends at the end, are better seen in quotes.
    let fits =
        body.contains('\n') && body.chars().all(plain) && !body.ends_with('\n') && !body.starts_with('\n');
    if !fits || body.lines().any(|line| line.ends_with(' ') || line.trim().is_empty() && !line.is_empty()) {
        return None;
    }
    let keep = if body.len() == text.len() { "-" } else { "" };
    let sign = if body.starts_with(' ') { "2" } else { "" };
    let mut out = format!(" |{sign}{keep}\n");
    for line in body.split('\n') {
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', indent));
            out.push_str(line);
        }
        out.push('\n');
    }
    Some(out)
}

/// A word that every YAML reader takes for text.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 10] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan"];
    text.len() <= 60
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}

fn key_text(key: &str) -> String {
    if is_plain(key) { key.to_owned() } else { quoted(key) }
}

/// JSON's quotes are YAML's; what YAML does not print is escaped as well.
fn quoted(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in Value::from(text).to_string().chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Value {
        serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{text}\n{error}"))
    }

    #[test]
    fn a_suite_reads_as_it_would_be_written() {
        let mut suite = SuiteText { about: vec!["From x.".to_owned()], ..SuiteText::default() };
        suite.set("kind", "probe");
        suite.set("prompt", "Answer:\n  {{ q }}\n");
        suite.named(
            "judges",
            vec![
                ("z".to_owned(), json!({"equals": {}})),
                ("a".to_owned(), json!({"not": {"contains": {"value": ["x", "yes"]}}})),
            ],
        );
        suite.set("cases", json!([{"q": "1 + 1", "n": [{"a": 1}, [1.5, null]]}, {}]));
        let text = suite.text();
        insta::assert_snapshot!(text, @r#"
        # From x.
        kind: probe
        prompt: |
          Answer:
            {{ q }}
        judges:
          z:
            equals: {}
          a:
            not:
              contains:
                value: [x, "yes"]
        cases:
          - "n":
              - a: 1
              - [1.5, null]
            q: "1 + 1"
          - {}
        "#);
        let back = read(&text);
        assert_eq!(back["prompt"], "Answer:\n  {{ q }}\n");
        assert_eq!(back["cases"][0]["n"], json!([{"a": 1}, [1.5, null]]));
    }

    proptest! {
        #[test]
        fn every_text_is_read_as_it_was(text in "[ -~äß\n\t:#'\"{}|>-]{0,40}", other in "\\PC{0,20}") {
            let mut suite = SuiteText::default();
            suite.set("value", text.as_str());
            suite.set("list", json!([text, {"deep": {"er": text, "b": other}}]));
            suite.named("names", vec![(format!("k{other}"), json!(text))]);
            let back = read(&suite.text());
            prop_assert_eq!(&back["value"], &text);
            prop_assert_eq!(&back["list"][0], &text);
            prop_assert_eq!(&back["list"][1]["deep"]["er"], &text);
            prop_assert_eq!(&back["list"][1]["deep"]["b"], &other);
            prop_assert_eq!(&back["names"][format!("k{other}")], &text);
        }
    }
}
