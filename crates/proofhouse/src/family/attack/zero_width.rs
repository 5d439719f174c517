//! The `zero_width` attack generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Settings;

/// A zero-width space between the characters of every word.
///
/// People see the text as it was; what compares words does not find them.
///
/// Guarantee: the text comes back when U+200B is taken out.
///
/// ```yaml
/// zero_width: {}
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ZeroWidth {}

impl Settings for ZeroWidth {
    const NAME: &'static str = "zero_width";
    const GENERATOR_VERSION: u32 = 1;

    fn disguise(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() * 2);
        let mut before: Option<char> = None;
        for c in text.chars() {
            if c.is_alphanumeric() && before.is_some_and(char::is_alphanumeric) {
                out.push('\u{200b}');
            }
            out.push(c);
            before = Some(c);
        }
        // A text without a word of two letters still has to differ.
        if out == text { format!("{text}\u{200b}") } else { out }
    }
}
