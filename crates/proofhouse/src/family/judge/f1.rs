//! The `f1` judge.

use std::collections::BTreeMap;

use proofhouse_ledger::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{NOTHING_EXPECTED, alternatives, excerpt};
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The answer shares its words with the expected text, as SQuAD scores it.
///
/// Both texts are in lower case, without punctuation and the articles `a`, `an`, `the`; then F1 is the harmonic mean of the share of
/// the answer's words that are expected and the share of the expected words that are there. Of several expected texts the best
/// counts. With `min_score` the score is 1 from there on, and 0 below.
///
/// Guarantee: the score is that of SQuAD's own `evaluate-v1.1.py`, which is 1 exactly where the normalised words are the same.
///
/// ```yaml
/// f1: {min_score: 0.6}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct F1 {
    /// The text, or a list of alternatives; without it the case's `expected` counts.
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Json>,
    /// From which F1 on the answer is right; without it F1 is the score.
    pub min_score: Option<f64>,
}

impl Settings for F1 {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        if let Some(least) = self.min_score.filter(|least| !(0.0..=1.0).contains(least)) {
            return Err(Complaint::new(format!("`min_score` is {least}")).hint("it is from 0 to 1"));
        }
        Ok(Box::new(Compiled(self.clone())))
    }

    fn needs_expected(&self) -> bool {
        self.value.is_none()
    }
}

struct Compiled(F1);

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let wanted = match (&self.0.value, subject.expected) {
            (Some(value), _) => alternatives(value),
            (None, Json::Null) => return Verdict::unjudged(NOTHING_EXPECTED),
            (None, expected) => alternatives(expected),
        };
        let text = subject.text();
        let answer = words(&text);
        let best = wanted.iter().map(|wanted| f1(&answer, &words(&wanted.to_text()))).fold(0.0, f64::max);
        match self.0.min_score {
            Some(least) => {
                Verdict::of(best >= least, || format!("F1 of {} is {best:.3}, below {least}", excerpt(&text)))
            }
            None => Verdict::graded(best, || format!("F1 of {} is {best:.3}", excerpt(&text))),
        }
    }
}

/// As SQuAD normalises: lower case, no ASCII punctuation, no articles.
fn words(text: &str) -> Vec<String> {
    let plain: String = text.to_lowercase().chars().filter(|c| !c.is_ascii_punctuation()).collect();
    let words = plain.split_whitespace().filter(|word| !matches!(*word, "a" | "an" | "the"));
    words.map(str::to_owned).collect()
}

fn f1(answer: &[String], wanted: &[String]) -> f64 {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for word in wanted {
        *left.entry(word).or_default() += 1;
    }
    let mut same = 0usize;
    for word in answer {
        if let Some(count) = left.get_mut(word.as_str()).filter(|count| **count > 0) {
            *count -= 1;
            same += 1;
        }
    }
    if same == 0 {
        return 0.0;
    }
    let (precision, recall) = (same as f64 / answer.len() as f64, same as f64 / wanted.len() as f64);
    2.0 * precision * recall / (precision + recall)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, refused, unjudged};

    #[test]
    fn shared_words_are_scored_as_squad_does() {
        check("f1: {}", "the Norman conquest", "Norman Conquest!", 1.0);
        check("f1: {}", "Denver Broncos", "the Broncos", 2.0 / 3.0);
        check("f1: {}", "[\"x y\", \"Paris\"]", "It is Paris", 0.5);
        check("f1: {min_score: 0.5}", "Paris", "It is Paris", 1.0);
        check("f1: {min_score: 0.6}", "Paris", "It is Paris", 0.0);
        check("f1: {}", "Paris", "", 0.0);
        refused("f1: {min_score: 2}", "`min_score` is 2");
        unjudged("f1: {}", "null", "x", "no `expected`");
    }
}
