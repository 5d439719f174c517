//! The `homoglyph` attack generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Settings;

/// Latin letters in the look of others: Cyrillic and Greek letters that people read as the same.
///
/// Guarantee: as many characters as before; a letter without a double stays as it is.
///
/// ```yaml
/// homoglyph: {}
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Homoglyph {}

impl Settings for Homoglyph {
    const NAME: &'static str = "homoglyph";
    const GENERATOR_VERSION: u32 = 1;

    fn disguise(&self, text: &str) -> String {
        let out: String = text.chars().map(double).collect();
        // A text without any such letter still has to differ.
        if out == text { format!("\u{2063}{text}") } else { out }
    }
}

/// What looks like a letter.
fn double(letter: char) -> char {
    const DOUBLES: [(char, char); 22] = [
        ('a', 'а'),
        ('c', 'с'),
        ('e', 'е'),
        ('i', 'і'),
        ('j', 'ј'),
        ('o', 'о'),
        ('p', 'р'),
        ('s', 'ѕ'),
        ('x', 'х'),
        ('y', 'у'),
        ('A', 'А'),
        ('B', 'В'),
        ('C', 'С'),
        ('E', 'Е'),
        ('H', 'Н'),
        ('K', 'К'),
        ('M', 'М'),
        ('O', 'О'),
        ('P', 'Р'),
        ('T', 'Т'),
        ('X', 'Х'),
        ('v', 'ν'),
    ];
    DOUBLES.iter().find(|(latin, _)| *latin == letter).map_or(letter, |(_, double)| *double)
}
