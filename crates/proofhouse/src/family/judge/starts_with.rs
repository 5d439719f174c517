//! The `starts-with` judge.

use proofhouse_ledger::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{Folding, Texts, excerpt, list};
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The answer begins with the expected text.
///
/// The text is `value` or else the case's `expected`; of a list, any may stand at the beginning. White space before the answer
/// does not count.
///
/// Guarantee: a score of 1 means that the expected text is the first thing that the answer says.
///
/// ```yaml
/// starts-with: {value: ["Yes", "No"], ignore_case: true}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StartsWith {
    /// The text, or a list of texts; without it the case's `expected` counts.
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Json>,
    /// Upper and lower case count as equal, in any script.
    pub ignore_case: bool,
}

const EMPTY: &str = "an expected text is empty, and every answer begins with it";

impl Settings for StartsWith {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        let folding = Folding {
            ignore_case: self.ignore_case,
            trim: false,
            collapse_whitespace: false,
            ignore_punctuation: false,
        };
        let texts = Texts::new(self.value.as_ref(), folding)?;
        if self.value.is_some() && texts.of(&Subject::default())?.iter().any(|text| text.is_empty()) {
            return Err(Complaint::new(EMPTY).hint("remove the empty text from `value`"));
        }
        Ok(Box::new(Compiled { texts, folding }))
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
            Ok(wanted) if wanted.iter().any(|text| text.is_empty()) => return Verdict::unjudged(EMPTY),
            Ok(wanted) => wanted,
            Err(error) => return Verdict::unjudged(error),
        };
        let text = subject.text();
        let answer = self.folding.fold(text.trim_start());
        let begins = wanted.iter().any(|text| answer.starts_with(text.as_ref()));
        Verdict::of(begins, || format!("{} does not begin with {}", excerpt(&text), list(&wanted)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, refused, unjudged};

    #[test]
    fn the_beginning_counts_and_nothing_else() {
        check("starts-with: {}", "Paris", "  Paris, of course", 1.0);
        check("starts-with: {}", "Paris", "It is Paris", 0.0);
        check("starts-with: {ignore_case: true}", "PARIS", "paris", 1.0);
        check("starts-with: {value: ['Yes', 'No']}", "null", "No.", 1.0);
        refused("starts-with: {value: ''}", "every answer begins with it");
        unjudged("starts-with: {}", "null", "x", "no `expected`");
    }
}
