//! The one YAML text of a JSON value: what `config.resolved.yaml` is written with.
//!
//! Block style, two spaces, keys in canonical order. Text is always in double quotes, because a quoted scalar means the
//! same to every YAML reader of every version; a key is plain where nothing can mistake it.

use proofhouse_ledger::json::MAX_SAFE_INTEGER;
use proofhouse_ledger::{Json, canonical};

/// The text of a value, with a newline at its end.
pub fn emit(value: &Json) -> String {
    let mut out = String::new();
    match value {
        Json::Object(object) if !object.is_empty() => block(&mut out, value, 0),
        Json::Array(list) if !list.is_empty() => block(&mut out, value, 0),
        scalar => {
            push_scalar(&mut out, scalar);
            out.push('\n');
        }
    }
    out
}

/// A container that has members, each on its own line.
fn block(out: &mut String, value: &Json, indent: usize) {
    match value {
        Json::Object(object) => {
            for (at, (key, member)) in object.iter().enumerate() {
                if at > 0 {
                    push_indent(out, indent);
                }
                push_key(out, key, indent);
                below(out, member, indent);
            }
        }
        Json::Array(list) => {
            for (at, member) in list.iter().enumerate() {
                if at > 0 {
                    push_indent(out, indent);
                }
                out.push_str("- ");
                member_of_list(out, member, indent + 2);
            }
        }
        _ => unreachable!("only called on containers"),
    }
}

fn has_members(value: &Json) -> bool {
    match value {
        Json::Object(object) => !object.is_empty(),
        Json::Array(list) => !list.is_empty(),
        _ => false,
    }
}

/// The value of a key: on the same line, or below it and further in.
fn below(out: &mut String, value: &Json, indent: usize) {
    if has_members(value) {
        out.push('\n');
        push_indent(out, indent + 2);
        block(out, value, indent + 2);
    } else {
        out.push(' ');
        push_scalar(out, value);
        out.push('\n');
    }
}

/// An item of a list begins right behind its dash.
fn member_of_list(out: &mut String, value: &Json, indent: usize) {
    if has_members(value) {
        block(out, value, indent);
    } else {
        push_scalar(out, value);
        out.push('\n');
    }
}

fn push_indent(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn push_key(out: &mut String, key: &str, indent: usize) {
    // Words that some YAML version reads as a boolean or null are quoted; a number cannot begin with a letter.
    const WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    // A longer key has to be marked as one, because readers look ahead no further than 1024 characters.
    const LONGEST_SIMPLE_KEY: usize = 1000;
    let plain = key.len() <= 100
        && key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        && !WORDS.contains(&key.to_ascii_lowercase().as_str());
    if plain {
        out.push_str(key);
    } else {
        let from = out.len();
        push_text(out, key);
        if out[from..].chars().count() > LONGEST_SIMPLE_KEY {
            out.insert_str(from, "? ");
            out.push('\n');
            push_indent(out, indent);
        }
    }
    out.push(':');
}

fn push_scalar(out: &mut String, value: &Json) {
    match value {
        Json::String(text) => push_text(out, text),
        Json::Object(_) => out.push_str("{}"),
        Json::Array(_) => out.push_str("[]"),
        // Written out, it would look like an integer that a reader has to round.
        Json::Number(number) if number.abs() > MAX_SAFE_INTEGER as f64 => {
            out.push_str(&format!("{number:e}"))
        }
        other => out.push_str(&other.to_string()),
    }
}

/// JSON escapes are YAML escapes; what YAML calls not printable, or a line break, is escaped as well.
fn push_text(out: &mut String, text: &str) {
    let mut quoted = Vec::with_capacity(text.len() + 2);
    canonical::push_text(&mut quoted, text);
    let quoted = String::from_utf8(quoted).expect("canonical JSON is UTF-8");
    for c in quoted.chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
}
