//! The `equals` judge.

use proofhouse_ledger::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{Folding, Texts, excerpt, list};
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The answer is the expected text: the whole answer, not a part of it.
///
/// The expected text is `value` or else the case's `expected`; a list holds alternatives, any of which is right.
/// Numbers and booleans are compared by their JSON text.
///
/// Guarantee: with all settings off, a score of 1 means that the bytes are equal.
///
/// ```yaml
/// equals: {ignore_case: true, ignore_punctuation: true}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Equals {
    /// The expected text, or a list of alternatives; without it the case's `expected` counts.
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Json>,
    /// Upper and lower case count as equal, in any script.
    pub ignore_case: bool,
    /// White space at both ends does not count.
    pub trim: bool,
    /// Any run of white space counts as one space.
    pub collapse_whitespace: bool,
    /// Punctuation and the ASCII symbols do not count.
    pub ignore_punctuation: bool,
}

impl Default for Equals {
    fn default() -> Self {
        Equals {
            value: None,
            ignore_case: false,
            trim: true,
            collapse_whitespace: false,
            ignore_punctuation: false,
        }
    }
}

impl Settings for Equals {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        let folding = Folding {
            ignore_case: self.ignore_case,
            trim: self.trim,
            collapse_whitespace: self.collapse_whitespace,
            ignore_punctuation: self.ignore_punctuation,
        };
        Ok(Box::new(Compiled { texts: Texts::new(self.value.as_ref(), folding)?, folding }))
    }

    fn needs_expected(&self) -> bool {
        self.value.is_none()
    }
}

struct Compiled {
    texts: Texts,
    folding: Folding,
}

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let wanted = match self.texts.of(subject) {
            Ok(wanted) => wanted,
            Err(error) => return Verdict::unjudged(error),
        };
        let text = subject.text();
        let answer = self.folding.fold(&text);
        Verdict::of(wanted.contains(&answer), || {
            format!("expected {}, got {}", list(&wanted), excerpt(&answer))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, unjudged};

    #[test]
    fn right_and_wrong() {
        check("equals: {}", "Paris", "  Paris\n", 1.0);
        check("equals: {trim: false}", "Paris", "Paris\n", 0.0);
        check("equals: {}", "Paris", "paris", 0.0);
        check("equals: {}", "Paris", "Paris is the capital", 0.0);
        check("equals: {ignore_case: true}", "Paris", "PARIS", 1.0);
        check("equals: {ignore_punctuation: true}", "Paris", "**Paris.**", 1.0);
        check("equals: {collapse_whitespace: true}", "a b", "a\n\tb", 1.0);
        check("equals: {value: [up, down]}", "ignored", "down", 1.0);
        check("equals: {}", "[\"NYC\", \"New York\"]", "New York", 1.0);
        check("equals: {}", "[\"NYC\", \"New York\"]", "[\"NYC\",\"New York\"]", 0.0);
    }

    #[test]
    fn scalars_compare_by_their_text_and_structures_are_refused() {
        check("equals: {}", "42", "42", 1.0);
        check("equals: {}", "true", "True", 0.0);
        check("equals: {ignore_case: true}", "true", "True", 1.0);
        unjudged("equals: {}", "{\"a\":1}", "x", "`json-equals`");
        unjudged("equals: {}", "null", "x", "no `expected`");
        unjudged("equals: {}", "[]", "x", "empty list");
    }

    #[test]
    fn empty_answers_are_wrong_unless_expected() {
        check("equals: {}", "Paris", "", 0.0);
        check("equals: {}", "\"\"", "", 1.0);
        check("equals: {value: x}", "null", "null", 0.0);
    }
}
