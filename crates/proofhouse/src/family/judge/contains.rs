//! The `contains` judge.

use memchr::memmem;
use proofhouse_ledger::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{Folding, Texts, excerpt, list};
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// How many of several texts an answer must contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Require {
    /// At least one of them.
    #[default]
    Any,
    /// Every one of them.
    All,
}

/// The answer contains the expected text.
///
/// The text is `value` or else the case's `expected`; of a list, `require` says whether any or all must be there.
/// An expected text that is empty is not judged, because every answer would contain it.
///
/// Guarantee: with all settings off, a score of 1 means that the expected bytes stand in the answer.
///
/// ```yaml
/// contains: {value: [sorry, cannot], require: any, ignore_case: true, whole_words: true}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Contains {
    /// The text, or a list of texts; without it the case's `expected` counts.
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Json>,
    /// Whether any or all texts of a list must be there.
    pub require: Require,
    /// Upper and lower case count as equal, in any script.
    pub ignore_case: bool,
    /// Any run of white space counts as one space.
    pub collapse_whitespace: bool,
    /// Punctuation and the ASCII symbols do not count.
    pub ignore_punctuation: bool,
    /// No letter, digit or underscore may touch the text: `cat` is not in `concatenate`.
    pub whole_words: bool,
}

/// A long text that overlaps itself could be compared once per byte of a long answer; this is where that ends.
const MAX_COMPARED_BYTES: usize = 1 << 28;

const EMPTY: &str = "an expected text is empty, and every answer contains it";

impl Settings for Contains {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        let folding = Folding {
            ignore_case: self.ignore_case,
            trim: false,
            collapse_whitespace: self.collapse_whitespace,
            ignore_punctuation: self.ignore_punctuation,
        };
        let texts = Texts::new(self.value.as_ref(), folding)?;
        let empty = Json::Null;
        let nothing = Subject { input: "", output: &empty, expected: &empty, ..Subject::default() };
        if self.value.is_some() && texts.of(&nothing)?.iter().any(|text| text.is_empty()) {
            return Err(Complaint::new(EMPTY).hint("remove the empty text from `value`"));
        }
        Ok(Box::new(Compiled { texts, folding, require: self.require, whole_words: self.whole_words }))
    }

    fn needs_expected(&self) -> bool {
        self.value.is_none()
    }
}

struct Compiled {
    texts: Texts,
    folding: Folding,
    require: Require,
    whole_words: bool,
}

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let wanted = match self.texts.of(subject) {
            Ok(wanted) if wanted.iter().any(|text| text.is_empty()) => return Verdict::unjudged(EMPTY),
            Ok(wanted) => wanted,
            Err(error) => return Verdict::unjudged(error),
        };
        let text = subject.text();
        let answer = self.folding.fold(&text);
        let mut found = Vec::with_capacity(wanted.len());
        for needle in &wanted {
            match self.stands_in(needle, &answer) {
                Some(stands) => found.push(stands),
                None => {
                    return Verdict::unjudged(
                        "the answer repeats the expected text too often to look at each place",
                    );
                }
            }
        }
        let missing = match self.require {
            Require::Any if found.contains(&true) => None,
            Require::Any => Some(list(&wanted)),
            Require::All => found.iter().position(|stands| !stands).map(|at| excerpt(&wanted[at])),
        };
        match missing {
            None => Verdict::right(),
            Some(missing) => Verdict::wrong(format!("{} does not contain {missing}", excerpt(&answer))),
        }
    }
}

impl Compiled {
    /// Whether the needle stands in the answer; none when finding out would take too long.
    fn stands_in(&self, needle: &str, answer: &str) -> Option<bool> {
        let finder = memmem::Finder::new(needle.as_bytes());
        let mut from = 0;
        let mut budget = MAX_COMPARED_BYTES;
        while let Some(found) = finder.find(&answer.as_bytes()[from..]) {
            let at = from + found;
            if !self.whole_words || stands_alone(answer, at, at + needle.len()) {
                return Some(true);
            }
            budget = budget.checked_sub(needle.len())?;
            // Places may overlap: `a b a` stands alone in `xa b a b a` only at the second one.
            from = at + needle.chars().next().map_or(1, char::len_utf8);
        }
        Some(false)
    }
}

fn stands_alone(answer: &str, start: usize, end: usize) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    !answer[..start].chars().next_back().is_some_and(is_word)
        && !answer[end..].chars().next().is_some_and(is_word)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, refused, unjudged};

    #[test]
    fn right_and_wrong() {
        check("contains: {}", "Paris", "It is Paris, I think.", 1.0);
        check("contains: {}", "Paris", "It is London.", 0.0);
        check("contains: {ignore_case: true}", "ÉCOLE", "une école", 1.0);
        check("contains: {collapse_whitespace: true}", "New York", "in New\n  York", 1.0);
        check("contains: {ignore_punctuation: true}", "dont", "I don't.", 1.0);
        check("contains: {}", "[\"a1\", \"b2\"]", "has b2 only", 1.0);
        check("contains: {require: all}", "[\"a1\", \"b2\"]", "has b2 only", 0.0);
        check("contains: {require: all, value: [a1, b2]}", "x", "b2 a1", 1.0);
        check("contains: {}", "42", "it is 42.", 1.0);
    }

    #[test]
    fn whole_words_look_at_both_neighbours() {
        check("contains: {whole_words: true}", "cat", "concatenate cat_s", 0.0);
        check("contains: {whole_words: true}", "cat", "concatenate a cat.", 1.0);
        check("contains: {whole_words: true}", "cat", "cat", 1.0);
        check("contains: {whole_words: true}", "是", "答案是", 0.0);
        check("contains: {whole_words: true}", "aa", "aaa aa", 1.0);
        check("contains: {whole_words: true}", "a b a", "xa b a b a", 1.0);
    }

    #[test]
    fn a_text_that_overlaps_itself_cannot_hang_the_judge() {
        let answer = "a".repeat(1_000_000);
        unjudged("contains: {whole_words: true}", &answer[..500_000], &answer, "too often");
    }

    #[test]
    fn nothing_is_never_found() {
        check("contains: {}", "Paris", "", 0.0);
        unjudged("contains: {}", "\"\"", "anything", "empty");
        unjudged("contains: {ignore_punctuation: true}", "\"?!\"", "anything", "empty");
        refused("contains: {value: ['']}", "empty");
        refused("contains: {value: []}", "empty list");
    }
}
