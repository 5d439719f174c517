//! The `length` judge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The answer is neither too short nor too long.
///
/// Words are runs of text between white space, characters are Unicode characters, and a sentence ends with `.`, `!`, `?` or `…`
/// before white space or the end; text behind the last of those is one more sentence.
///
/// Guarantee: a score of 1 means that the count lies within `min` and `max`, both included.
///
/// ```yaml
/// length: {unit: words, min: 1, max: 50}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Length {
    /// What is counted.
    pub unit: Unit,
    /// The least.
    pub min: Option<u32>,
    /// The most.
    pub max: Option<u32>,
}

/// What an answer's length is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Runs of text between white space.
    #[default]
    Words,
    /// Unicode characters.
    Characters,
    /// What ends with a full stop and the like.
    Sentences,
}

impl Unit {
    fn count(self, text: &str) -> usize {
        match self {
            Unit::Words => text.split_whitespace().count(),
            Unit::Characters => text.chars().count(),
            Unit::Sentences => sentences(text),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Unit::Words => "words",
            Unit::Characters => "characters",
            Unit::Sentences => "sentences",
        }
    }
}

fn sentences(text: &str) -> usize {
    let ends =
        |word: &&str| word.trim_end_matches(['"', '\'', ')', '”', '’', '»']).ends_with(['.', '!', '?', '…']);
    let words: Vec<&str> = text.split_whitespace().collect();
    let ended = words.iter().filter(|word| ends(word)).count();
    ended + usize::from(words.last().is_some_and(|last| !ends(last)))
}

impl Settings for Length {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        match (self.min, self.max) {
            (None, None) => {
                Err(Complaint::new("nothing is asked of the length").hint("give `min`, `max` or both"))
            }
            (Some(min), Some(max)) if min > max => {
                Err(Complaint::new(format!("`min` is {min} and `max` is {max}"))
                    .hint("no answer can be that long"))
            }
            _ => Ok(Box::new(Compiled(self.clone()))),
        }
    }

    fn needs_expected(&self) -> bool {
        false
    }
}

struct Compiled(Length);

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let Length { unit, min, max } = &self.0;
        let count = unit.count(&subject.text());
        let short = min.filter(|min| count < *min as usize);
        let long = max.filter(|max| count > *max as usize);
        let word = unit.word();
        match (short, long) {
            (Some(min), _) => Verdict::wrong(format!("{count} {word} are fewer than {min}")),
            (None, Some(max)) => Verdict::wrong(format!("{count} {word} are more than {max}")),
            (None, None) => Verdict::right(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, refused};

    #[test]
    fn words_characters_and_sentences_are_counted() {
        check("length: {max: 3}", "null", "one two  three\n", 1.0);
        check("length: {max: 3}", "null", "one two three four", 0.0);
        check("length: {min: 1}", "null", "", 0.0);
        check("length: {unit: characters, min: 3, max: 3}", "null", "äöü", 1.0);
        check("length: {unit: sentences, min: 2, max: 2}", "null", "It is 3.5 m. \"Is it?\"", 1.0);
        check("length: {unit: sentences, max: 1}", "null", "One. And more", 0.0);
        refused("length: {}", "nothing is asked");
        refused("length: {min: 3, max: 2}", "`min` is 3 and `max` is 2");
    }
}
