//! The contract of an instruction: it says what to build and nothing about how the result is examined.
//!
//! `findings` names every word that breaks it. A suite turns a finding into an error with file and line.

use std::ops::Range;

/// A word that an instruction must not mention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The term that is banned, in its basic form: `test` for `Testing`. `allow_terms` takes it.
    pub term: &'static str,
    /// Where the word stands, in bytes.
    pub range: Range<usize>,
}

/// Each banned term with its other forms.
const TERMS: &[(&str, &[&str])] = &[
    ("test", &["tests", "tested", "testing", "tester", "testers", "unittest", "unittests"]),
    ("pytest", &[]),
    ("coverage", &[]),
    (
        "validation",
        &["validations", "validate", "validates", "validated", "validating", "validator", "validators"],
    ),
    ("performance", &["performances", "performant"]),
    (
        "optimization",
        &[
            "optimizations",
            "optimize",
            "optimizes",
            "optimized",
            "optimizing",
            "optimizer",
            "optimizers",
            "optimisation",
            "optimisations",
            "optimise",
            "optimises",
            "optimised",
            "optimising",
        ],
    ),
    ("tooling", &["toolings"]),
    ("harness", &["harnesses", "harnessed", "harnessing"]),
    ("benchmark", &["benchmarks", "benchmarked", "benchmarking"]),
    ("logging", &["log", "logs", "logged", "logger", "loggers"]),
];

/// Every word of the text that is a banned term in any form, in order.
///
/// Only whole words count: `contest` and `invalidation` are none. Letters, digits and `_` belong to a word. A word that
/// `allow_terms` names, itself or by its term, is left out.
pub fn findings(text: &str, allow_terms: &[String]) -> Vec<Finding> {
    let allowed = |word: &str| allow_terms.iter().any(|allow| allow.to_lowercase() == word);
    words(text)
        .filter_map(|range| {
            let word = text[range.clone()].to_lowercase();
            let term = term_of(&word)?;
            (!allowed(&word) && !allowed(term)).then_some(Finding { term, range })
        })
        .collect()
}

/// The term that a word in small letters is a form of.
fn term_of(word: &str) -> Option<&'static str> {
    TERMS.iter().find(|(term, forms)| *term == word || forms.contains(&word)).map(|(term, _)| *term)
}

/// Runs of letters, digits and `_`.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let start = rest + text[rest..].find(is_word)?;
        let end = text[start..].find(|c| !is_word(c)).map_or(text.len(), |length| start + length);
        rest = end;
        Some(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, allow: &[&str]) -> Vec<(&'static str, &'static str)> {
        let allow: Vec<String> = allow.iter().map(|term| (*term).to_owned()).collect();
        let text: &'static str = text.to_owned().leak();
        findings(text, &allow).into_iter().map(|finding| (finding.term, &text[finding.range])).collect()
    }

    #[test]
    fn words_and_inflections_are_found_where_they_stand() {
        assert_eq!(found("Write tests, then TESTING.", &[]), [("test", "tests"), ("test", "TESTING")]);
        assert_eq!(
            found("Use pytest-style code coverage", &[]),
            [("pytest", "pytest"), ("coverage", "coverage")]
        );
        assert_eq!(found("Prefer performance of reads.", &[]), [("performance", "performance")]);
        assert_eq!(found("Validates and logs; optimised", &[]).len(), 3);
        assert_eq!(found("文字 tooling 文字", &[]), [("tooling", "tooling")]);
        for (term, forms) in TERMS {
            for word in forms.iter().chain([term]) {
                assert_eq!(found(&format!("Say {word}."), &[]), [(*term, *word)]);
            }
        }
    }

    #[test]
    fn parts_of_words_are_not_found() {
        let innocent =
            "Contest the latest invalidation; perform a catalog, tools, a logo, test_id, greatest, prüftest.";
        assert_eq!(found(innocent, &[]), []);
        assert_eq!(found("Handle edge cases without overfitting, keyed by id.", &[]), []);
        assert_eq!(found("", &[]), []);
    }

    #[test]
    fn allowed_terms_are_left_out_by_word_or_by_term() {
        assert_eq!(found("Parse the Logs and tests", &["logs"]), [("test", "tests")]);
        assert_eq!(found("Parse the logs and tests", &["LOGGING", "test"]), []);
        assert_eq!(found("logs and loggers", &["logs"]), [("logging", "loggers")]);
    }
}
