//! What users of other tools bring along: one file for each format, and its row here.

use serde_json::Value;

use crate::spine::import::Import;
use crate::text::visible::visible;

mod inspect;
mod lm_eval;
mod promptfoo;

mod results;
mod write;

/// Every format.
pub(super) const IMPORTS: &[Import] = &[promptfoo::IMPORT, lm_eval::IMPORT, inspect::IMPORT];

/// A name that a suite can have for something, made of a text.
fn name_of(text: &str, otherwise: &str) -> String {
    let mut name = String::new();
    for c in text.trim().chars() {
        match c {
            c if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') => name.push(c),
            _ if name.is_empty() || name.ends_with('-') => {}
            _ => name.push('-'),
        }
        if name.len() >= 60 {
            break;
        }
    }
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() { otherwise.to_owned() } else { name.to_owned() }
}

/// The name, with a number behind it where others have it already.
fn unique(name: String, taken: &[String]) -> String {
    if !taken.contains(&name) {
        return name;
    }
    let numbered = (2u32..).map(|nth| format!("{name}-{nth}"));
    numbered.into_iter().find(|name| !taken.contains(name)).expect("there are more numbers than names")
}

/// A text in one short line, as lists show it.
fn short(text: &str) -> String {
    const LONGEST: usize = 120;
    let line = visible(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(LONGEST) {
        None => line.to_string(),
        Some((at, _)) => format!("{}…", &line[..at]),
    }
}

/// A value as text: what is text already as it is, the rest as JSON, nothing as no text.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_stand_in_a_suite() {
        for (text, name) in [
            ("GPT-5 via TrueFoundry", "GPT-5-via-TrueFoundry"),
            ("openai:chat:gpt-4o", "openai-chat-gpt-4o"),
            ("../x", "x"),
            ("日本", "otherwise"),
            ("", "otherwise"),
        ] {
            assert_eq!(name_of(text, "otherwise"), name);
        }
        assert!(proofhouse_ledger::id::check_name(&name_of(&"long name ".repeat(50), "x")).is_ok());
        assert_eq!(unique("a".to_owned(), &["a".to_owned(), "a-2".to_owned()]), "a-3");
    }
}
