//! The `bleu` judge.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ::regex::Regex;
use proofhouse_ledger::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{Folding, Texts, excerpt};
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The longest n-gram that counts.
const ORDER: usize = 4;
/// The longest text that is compared, in bytes.
const MAX_BYTES: usize = 200_000;

/// The answer shares its words and phrases with the expected text, by BLEU.
///
/// The score is BLEU of up to four-word phrases with a penalty for short answers, from 0 to 1, and 0 where it does not reach
/// `min_score`. The expected text is `value` or else the case's `expected`; all texts of a list are references together.
///
/// Guarantee: the number is that of sacreBLEU's `sentence_bleu` with its defaults (tokenizer 13a, exponential smoothing,
/// effective order), divided by 100. Texts of more than 200,000 bytes are not judged.
///
/// ```yaml
/// bleu: {min_score: 0.2, ignore_case: true}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bleu {
    /// The expected text, or a list of references; without it the case's `expected` counts.
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Json>,
    /// The score, from 0 to 1, below which an answer is wrong.
    pub min_score: f64,
    /// Upper and lower case count as equal.
    pub ignore_case: bool,
}

impl Settings for Bleu {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        if !(0.0..=1.0).contains(&self.min_score) {
            return Err(
                Complaint::new(format!("`min_score` is {}", self.min_score)).hint("it is from 0 to 1")
            );
        }
        let folding = Folding { ignore_case: self.ignore_case, trim: true, ..Folding::default() };
        let texts = Texts::new(self.value.as_ref(), folding)?;
        Ok(Box::new(Compiled { texts, folding, min_score: self.min_score }))
    }

    fn needs_expected(&self) -> bool {
        self.value.is_none()
    }
}

struct Compiled {
    texts: Texts,
    folding: Folding,
    min_score: f64,
}

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let (text, wanted) = match self.texts.comparable(subject, MAX_BYTES) {
            Ok(both) => both,
            Err(complaint) => return Verdict::unjudged(complaint),
        };
        let answer = tokens(&self.folding.fold(&text));
        let references: Vec<Vec<String>> = wanted.iter().map(|text| tokens(text)).collect();
        let bleu = bleu(&answer, &references);
        let score = if bleu >= self.min_score { bleu } else { 0.0 };
        Verdict::graded(score, || match wanted.first() {
            Some(first) => format!("BLEU {bleu:.3} against {}", excerpt(first)),
            None => format!("BLEU {bleu:.3}"),
        })
    }
}

/// Tokenizer 13a of mteval, which sacreBLEU uses.
fn tokens(text: &str) -> Vec<String> {
    static RULES: LazyLock<[(Regex, &str); 4]> = LazyLock::new(|| {
        let rule = |pattern, by| (Regex::new(pattern).expect("a constant pattern compiles"), by);
        [
            rule(r"([\{-\~\[-\x60 -\&\(-\+\:-\@/])", " $1 "),
            rule(r"([^0-9])([\.,])", "$1 $2 "),
            rule(r"([\.,])([^0-9])", " $1 $2"),
            rule(r"([0-9])(-)", "$1 $2 "),
        ]
    });
    let mut text = text.replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    for (entity, plain) in [("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] {
        text = text.replace(entity, plain);
    }
    text = format!(" {text} ");
    for (rule, by) in RULES.iter() {
        text = rule.replace_all(&text, *by).into_owned();
    }
    text.split_whitespace().map(str::to_owned).collect()
}

fn counts(tokens: &[String], length: usize) -> BTreeMap<&[String], usize> {
    let mut counts = BTreeMap::new();
    for gram in tokens.windows(length) {
        *counts.entry(gram).or_default() += 1;
    }
    counts
}

fn bleu(answer: &[String], references: &[Vec<String>]) -> f64 {
    let (mut logs, mut order, mut smooth, mut any) = (0.0, 0, 1.0, false);
    for length in 1..=ORDER {
        let total = answer.len().saturating_sub(length - 1);
        if total == 0 {
            break;
        }
        let mut most: BTreeMap<&[String], usize> = BTreeMap::new();
        for reference in references {
            for (gram, count) in counts(reference, length) {
                let known = most.entry(gram).or_default();
                *known = count.max(*known);
            }
        }
        let shared = |(gram, count): (&[String], usize)| most.get(gram).map_or(0, |most| count.min(*most));
        let correct: usize = counts(answer, length).into_iter().map(shared).sum();
        any |= correct > 0;
        order = length;
        let precision = if correct == 0 {
            smooth *= 2.0;
            1.0 / (smooth * total as f64)
        } else {
            correct as f64 / total as f64
        };
        logs += precision.ln();
    }
    if !any {
        return 0.0;
    }
    // Of the references the one that is closest in length counts, of two the shorter.
    let closest =
        references.iter().map(Vec::len).min_by_key(|length| (length.abs_diff(answer.len()), *length));
    let (ours, theirs) = (answer.len() as f64, closest.unwrap_or(0) as f64);
    let penalty = if ours < theirs { (1.0 - theirs / ours).exp() } else { 1.0 };
    (penalty * (logs / order as f64).exp()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, refused, unjudged};
    use super::*;

    /// The numbers of sacreBLEU 2: `sentence_bleu(answer, references).score / 100`.
    #[test]
    fn the_numbers_are_those_of_sacrebleu() {
        for (answer, references, expected) in PINNED {
            let references: Vec<Vec<String>> = references.iter().map(|text| tokens(text)).collect();
            let found = bleu(&tokens(answer), &references);
            assert!((found - expected).abs() < 1e-9, "{answer}: {found}, expected {expected}");
        }
    }

    const PINNED: &[(&str, &[&str], f64)] = &[
        ("the cat sat on the mat", &["the cat sat on the mat"], 1.0),
        ("the cat sat on a mat", &["the cat sat on the mat"], 0.537_284_965_911_771),
        ("The dog bit the man.", &["The dog bit the man.", "The dog had bit the man."], 1.0),
        ("It wasn't surprising.", &["It was not unexpected."], 0.147_940_156_747_764_5),
        ("cat", &["the cat sat"], 0.135_335_283_236_612_76),
        (
            "the the the the the the the",
            &["the cat is on the mat", "there is a cat on the mat"],
            0.078_098_498_423_006_37,
        ),
        (
            "He paid $1,000.50 for 3-4 items, \"really\"?",
            &["He paid $1,000 for 3 items."],
            0.139_123_116_441_765_64,
        ),
        ("a b", &["a b c d e f"], 0.135_335_283_236_612_76),
        ("Hello &amp; goodbye", &["Hello & goodbye world"], 0.716_531_310_573_789_6),
        ("Заяц бежит по полю.", &["Заяц быстро бежит по полю."], 0.578_930_067_467_41),
    ];

    #[test]
    fn right_wrong_and_empty() {
        check("bleu: {}", "the cat sat on the mat", "the cat sat on the mat", 1.0);
        check("bleu: {}", "the cat sat on the mat", "", 0.0);
        check("bleu: {}", "the cat sat on the mat", "nothing shared here", 0.0);
        check("bleu: {min_score: 0.9}", "the cat sat on the mat", "the cat sat on a mat", 0.0);
        check("bleu: {ignore_case: true}", "The Cat sat on it", "the cat SAT on it", 1.0);
        unjudged("bleu: {}", "null", "x", "no `expected`");
        refused("bleu: {min_score: 2}", "from 0 to 1");
    }
}
