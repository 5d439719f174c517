//! The `rouge` judge.

use std::collections::BTreeMap;

use proofhouse_ledger::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{Folding, Texts, excerpt};
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The longest text that is compared, in bytes.
const MAX_BYTES: usize = 200_000;

/// The most that is compared for the longest common sequence: the product of both lengths in words.
const MAX_CELLS: usize = 10_000 * 10_000;

/// The answer shares its words with the expected text, by ROUGE.
///
/// `rouge-1` and `rouge-2` compare words and pairs of words, `rouge-l` the longest common sequence of words. The score is the
/// F-measure, or the recall or precision by `measure`, and 0 where it does not reach `min_score`. The expected text is `value`
/// or else the case's `expected`; of a list the best alternative counts.
///
/// Guarantee: for text in ASCII the number is that of Google's `rouge-score` without stemming; letters and digits of all
/// scripts make words. Texts of more than 200,000 bytes are not judged, nor, for `rouge-l`,
/// of more than 10,000 × 10,000 words.
///
/// ```yaml
/// rouge: {variant: rouge-l, min_score: 0.3}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rouge {
    /// The expected text, or a list of alternatives; without it the case's `expected` counts.
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Json>,
    /// What is compared.
    pub variant: Variant,
    /// Which number counts.
    pub measure: Measure,
    /// The score, from 0 to 1, below which an answer is wrong.
    pub min_score: f64,
}

/// What ROUGE compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// Words.
    #[serde(rename = "rouge-1")]
    One,
    /// Pairs of words.
    #[serde(rename = "rouge-2")]
    Two,
    /// The longest common sequence of words.
    #[default]
    #[serde(rename = "rouge-l")]
    Longest,
}

/// Which number of ROUGE counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The harmonic mean of precision and recall.
    #[default]
    F,
    /// How much of the answer is in the expected text.
    Precision,
    /// How much of the expected text is in the answer.
    Recall,
}

impl Settings for Rouge {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        if !(0.0..=1.0).contains(&self.min_score) {
            return Err(
                Complaint::new(format!("`min_score` is {}", self.min_score)).hint("it is from 0 to 1")
            );
        }
        let texts = Texts::new(self.value.as_ref(), Folding::default())?;
        Ok(Box::new(Compiled { texts, settings: self.clone() }))
    }

    fn needs_expected(&self) -> bool {
        self.value.is_none()
    }
}

struct Compiled {
    texts: Texts,
    settings: Rouge,
}

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let (text, wanted) = match self.texts.comparable(subject, MAX_BYTES) {
            Ok(both) => both,
            Err(complaint) => return Verdict::unjudged(complaint),
        };
        let text = text.to_lowercase();
        let answer = words(&text);
        let mut best: Option<(f64, &str)> = None;
        for text in &wanted {
            let folded = text.to_lowercase();
            let Some(score) = self.score(&answer, &words(&folded)) else {
                return Verdict::unjudged("the texts are too long to compare");
            };
            if best.is_none_or(|(known, _)| score > known) {
                best = Some((score, text));
            }
        }
        let (rouge, closest) = best.expect("there is at least one expected text");
        let score = if rouge >= self.settings.min_score { rouge } else { 0.0 };
        Verdict::graded(score, || format!("ROUGE {rouge:.3} against {}", excerpt(closest)))
    }
}

impl Compiled {
    fn score(&self, answer: &[&str], expected: &[&str]) -> Option<f64> {
        let length = match self.settings.variant {
            Variant::One => 1,
            Variant::Two => 2,
            Variant::Longest => 0,
        };
        let (shared, ours, theirs) = if length == 0 {
            (common(answer, expected)?, answer.len(), expected.len())
        } else {
            let (ours, theirs) = (grams(answer, length), grams(expected, length));
            let shared =
                ours.iter().map(|(gram, count)| theirs.get(gram).map_or(0, |other| *count.min(other)));
            (shared.sum(), ours.values().sum(), theirs.values().sum())
        };
        let share = |of: usize| if of == 0 { 0.0 } else { shared as f64 / of as f64 };
        let (precision, recall) = (share(ours), share(theirs));
        let both = precision + recall;
        Some(match self.settings.measure {
            Measure::Precision => precision,
            Measure::Recall => recall,
            Measure::F if both == 0.0 => 0.0,
            Measure::F => (2.0 * precision * recall / both).min(1.0),
        })
    }
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

fn grams<'w, 't>(words: &'w [&'t str], length: usize) -> BTreeMap<&'w [&'t str], usize> {
    let mut counts = BTreeMap::new();
    for gram in words.windows(length) {
        *counts.entry(gram).or_default() += 1;
    }
    counts
}

/// The length of the longest common sequence; none when it would take too long.
fn common(a: &[&str], b: &[&str]) -> Option<usize> {
    if a.len().checked_mul(b.len())? > MAX_CELLS {
        return None;
    }
    let mut row = vec![0u32; b.len() + 1];
    for left in a {
        let mut diagonal = 0;
        for (at, right) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if left == right { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row.last().map(|length| *length as usize)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, refused, unjudged};
    use super::*;

    /// The example of rouge-score's own documentation, and values made with it.
    #[test]
    fn the_numbers_are_those_of_rouge_score() {
        let expected = "The quick brown fox jumps over the lazy dog";
        let answer = "The quick brown dog jumps on the log.";
        let near = |settings: &str, number: f64| {
            let config: Rouge = serde_saphyr::from_str(settings).unwrap();
            let judge = Compiled { texts: Texts::new(None, Folding::default()).unwrap(), settings: config };
            let (answer, expected) = (answer.to_lowercase(), expected.to_lowercase());
            let found = judge.score(&words(&answer), &words(&expected)).unwrap();
            assert!((found - number).abs() < 1e-12, "{settings}: {found}");
        };
        near("{variant: rouge-1, measure: precision}", 0.75);
        near("{variant: rouge-1, measure: recall}", 6.0 / 9.0);
        near("{variant: rouge-1}", 0.705_882_352_941_176_5);
        near("{variant: rouge-l, measure: precision}", 0.625);
        near("{variant: rouge-l, measure: recall}", 5.0 / 9.0);
        near("{variant: rouge-l}", 0.588_235_294_117_647_1);
        near("{variant: rouge-2, measure: precision}", 2.0 / 7.0);
    }

    #[test]
    fn right_wrong_and_empty() {
        check("rouge: {}", "the cat", "The cat!", 1.0);
        check("rouge: {}", "the cat", "", 0.0);
        check("rouge: {}", "the cat", "dog", 0.0);
        check("rouge: {variant: rouge-2}", "[\"a b\", \"c d\"]", "c d", 1.0);
        check("rouge: {min_score: 0.9}", "the cat", "the dog", 0.0);
        check("rouge: {}", "Москва река", "москва, река", 1.0);
        unjudged("rouge: {}", "null", "x", "no `expected`");
        refused("rouge: {min_score: -1}", "from 0 to 1");
    }
}
