//! The `choice` judge.

use std::sync::OnceLock;

use proofhouse_ledger::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::reading::{ChoiceFound, LabelPatterns};
use super::text::{alternatives, excerpt, own_or_expected};
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

mod reading;

/// How a case's `expected` names a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectedAs {
    /// By its label: `C`.
    #[default]
    Label,
    /// By its place, counted from 0, as Hugging Face datasets do.
    ZeroBased,
    /// By its place, counted from 1.
    OneBased,
}

/// The answer names the expected choice, in any of the usual spellings.
///
/// The choice is looked for in this order, and the first rule that finds one decides:
/// the whole answer is a label (`C`, `(c)`, `**C.**`, `\boxed{C}`); the last statement of an answer (`The answer is C`,
/// `ANSWER: (C)`, `I choose C`); the last `C is correct`; a last line that is a label; a line that starts with a label
/// (`C) Paris`) unless it belongs to a list of the choices; a label that is the only one mentioned. The article `A` and
/// the pronoun `I` are not mentions. An answer that names several choices where one is asked for (`A or B`) is wrong.
/// Labels are `labels`, A to D unless set; they may be words. The expected label is `value` or else the case's
/// `expected`; a list holds alternatives.
///
/// Guarantee: an answer in which no choice can be found is wrong, never a guess.
///
/// ```yaml
/// choice: {labels: [A, B, C, D, E], expected_as: zero-based}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Choice {
    /// The labels of the choices, in their order.
    pub labels: Vec<String>,
    /// The expected label, or a list of alternatives; without it the case's `expected` counts.
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Json>,
    /// How the expected choice is named.
    pub expected_as: ExpectedAs,
}

impl Default for Choice {
    fn default() -> Self {
        let labels = ["A", "B", "C", "D"].map(str::to_owned).to_vec();
        Choice { labels, value: None, expected_as: ExpectedAs::Label }
    }
}

/// How many labels a judge may have, and how long each may be.
const MAX_LABELS: usize = 64;
const MAX_LABEL_CHARS: usize = 64;

impl Settings for Choice {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        if self.labels.len() < 2 || self.labels.len() > MAX_LABELS {
            return Err(Complaint::new(format!("`labels` has {} of them", self.labels.len()))
                .hint(format!("give 2 to {MAX_LABELS}")));
        }
        for (at, label) in self.labels.iter().enumerate() {
            let is_plain = label.trim() == label && label.chars().any(char::is_alphanumeric);
            if !is_plain || label.chars().count() > MAX_LABEL_CHARS {
                return Err(Complaint::new(format!("{} cannot be a label", excerpt(label)))
                    .hint("use a letter, a number or a word"));
            }
            if self.labels[..at].iter().any(|other| same(other, label)) {
                return Err(Complaint::new(format!(
                    "the label {} appears twice, upper and lower case being one",
                    excerpt(label)
                )));
            }
        }
        let own = match &self.value {
            None => None,
            Some(value) => Some(self.wanted(value).map_err(|complaint| complaint.about("`value`"))?),
        };
        Ok(Box::new(Compiled { settings: self.clone(), own, reading: OnceLock::new() }))
    }

    fn needs_expected(&self) -> bool {
        self.value.is_none()
    }
}

/// Which label this is: as it is spelt, or else in the other case.
fn place(labels: &[String], label: &str) -> Option<usize> {
    let spelt = labels.iter().position(|known| known == label);
    spelt.or_else(|| labels.iter().position(|known| same(known, label)))
}

fn same(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

impl Choice {
    /// The places of the expected labels, at least one.
    fn wanted(&self, value: &Json) -> Result<Vec<usize>, Complaint> {
        let list = alternatives(value);
        if list.is_empty() {
            return Err(Complaint::new("is an empty list; no answer could be right"));
        }
        list.iter().map(|item| self.wanted_place(item)).collect()
    }

    fn wanted_place(&self, item: &Json) -> Result<usize, Complaint> {
        let text = item.to_text();
        let first = match self.expected_as {
            ExpectedAs::Label => {
                return place(&self.labels, text.trim()).ok_or_else(|| {
                    Complaint::new(format!("holds {}, which is not a label", excerpt(&text)))
                        .hint("for places instead of labels set `expected_as`")
                });
            }
            ExpectedAs::ZeroBased => 0,
            ExpectedAs::OneBased => 1,
        };
        text.trim()
            .parse::<usize>()
            .ok()
            .and_then(|place| place.checked_sub(first))
            .filter(|place| *place < self.labels.len())
            .ok_or_else(|| {
                Complaint::new(format!(
                    "holds {}, which is not a place among {} choices",
                    excerpt(&text),
                    self.labels.len()
                ))
            })
    }
}

struct Compiled {
    settings: Choice,
    own: Option<Vec<usize>>,
    /// Compiled when the first answer comes: a suite that is only checked or planned need not wait for it.
    reading: OnceLock<LabelPatterns>,
}

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let wanted = match own_or_expected(self.own.as_deref(), subject, |value| self.settings.wanted(value))
        {
            Ok(wanted) => wanted,
            Err(complaint) => return Verdict::unjudged(complaint),
        };
        let text = subject.text();
        let reading = self.reading.get_or_init(|| LabelPatterns::new(&self.settings.labels));
        let labels = &self.settings.labels;
        match reading.find(&text) {
            ChoiceFound::One(place) => Verdict::of(wanted.contains(&place), || {
                format!("expected {}, got {}", excerpt(&labels[wanted[0]]), excerpt(&labels[place]))
            }),
            ChoiceFound::Several => {
                Verdict::wrong(format!("several choices are named in {}", excerpt(&text)))
            }
            ChoiceFound::Nothing => Verdict::wrong(format!("no choice is named in {}", excerpt(&text))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, reason, refused, unjudged};

    /// The answer is read as this label; an empty one means that no single choice is found.
    #[track_caller]
    fn reads(answer: &str, label: &str) {
        for candidate in ["A", "B", "C", "D"] {
            let score = if candidate == label { 1.0 } else { 0.0 };
            check("choice: {}", &format!("\"{candidate}\""), answer, score);
        }
    }

    #[test]
    fn the_whole_answer_is_a_label() {
        for answer in [
            "C",
            "c",
            " C\n",
            "C.",
            "(C)",
            "(c)",
            "[C]",
            "C)",
            "**C**",
            "**C.**",
            "`C`",
            "\"C\"",
            "'C'.",
            "{C}",
            "$C$",
            "\\boxed{C}",
            "$\\boxed{\\text{C}}$",
            "\\boxed{\\text{(C)}}",
            "<C>",
            "Option C",
            "Answer: C",
            "answer C",
            "__C__",
        ] {
            reads(answer, "C");
        }
        reads("A", "A");
        reads("a", "A");
    }

    #[test]
    fn the_last_statement_counts() {
        for answer in [
            "The answer is C",
            "The correct answer is (C) Paris, since it is the capital.",
            "Answer: C. Paris",
            "ANSWER: C\n\nBecause A and B are wrong.",
            "First I thought the answer is A, but the answer is C.",
            "Final answer: **C**",
            "**Answer:** C",
            "The correct option is C because A is a trap.",
            "The best choice would be option C.",
            "I choose C",
            "I'd go with C, not B.",
            "So the answer is $\\boxed{C}$.",
            "A is wrong. B is wrong. Thus \\boxed{C}",
            "答案 Answer：C",
            "the answer is c.",
            "My answer is: C",
            "The answer = C",
            "The correct answer choice is C",
            "The answer is C. A is wrong because it is small, and B is not a city.",
            "The answer is C, and A is wrong.",
            "The answer is C, a capital city.",
            "The answer is C, not B or D.",
            "A is tempting and B is close, but C is correct.",
            "Option A is incorrect. Option C is the right one. B is not correct.",
            "I'd say C",
        ] {
            reads(answer, "C");
        }
        reads("The answer is A because it is so.", "A");
        reads("The answer is A", "A");
    }

    #[test]
    fn a_leading_label_a_last_line_or_a_sole_mention_counts() {
        for answer in [
            "C. Paris",
            "C) Paris\n\nA) London is in England.\nB) Berlin is in Germany.",
            "London (A) is in England.\n\nC) Paris",
            "C) Paris",
            "(C) Paris",
            "C: Paris",
            "C - Paris",
            "**C)** Paris",
            "Let me think about A and B.\nHmm.\nC",
            "Let me think about A and B.\n\n**(C)**",
            "It must be C, a capital.",
            "A capital in Europe is meant, so C fits.",
            "I think C",
        ] {
            reads(answer, "C");
        }
    }

    #[test]
    fn no_choice_or_several_are_wrong() {
        for answer in [
            "",
            "Paris",
            "I do not know.",
            "A city in France",
            "a good question, b",
            "The answer is A or B.",
            "The answer is A and C",
            "Answer: A, B, C, D",
            "Answer: A/B",
            "A) London\nB) Berlin\nC) Paris\nD) Rome",
            "Which one?\nA. London\nB. Berlin\nC. Paris\nD. Rome\nHm.",
            "The answer is A, B or C",
            "The answer is A and C, both are right",
            "The answer is (A) or (C).",
            "It is either B or D",
            "The answer is not A; the answer is not B",
            "ABCD",
            "Cat",
            "The answer is Cat",
        ] {
            reads(answer, "");
        }
        assert_eq!(reason("choice: {}", "A", "B"), "expected `A`, got `B`");
        assert_eq!(reason("choice: {}", "A", "B or C"), "several choices are named in `B or C`");
        assert_eq!(reason("choice: {}", "A", "hm"), "no choice is named in `hm`");
    }

    #[test]
    fn labels_and_expected_places() {
        check("choice: {labels: [positive, negative, neutral]}", "negative", "Sentiment: Negative.", 1.0);
        check("choice: {labels: [positive, negative]}", "negative", "positive and negative", 0.0);
        check("choice: {labels: [C, C++, N/A]}", "C++", "The answer is C++.", 1.0);
        check("choice: {labels: [C, C++, N/A]}", "N/A", "n/a", 1.0);
        check("choice: {labels: ['1', '2', '3']}", "2", "The answer is 2", 1.0);
        check("choice: {labels: ['1', '2', '10']}", "10", "10", 1.0);
        check("choice: {expected_as: zero-based}", "2", "C", 1.0);
        check("choice: {expected_as: one-based}", "3", "C", 1.0);
        check("choice: {expected_as: one-based}", "\"3\"", "C", 1.0);
        check("choice: {value: [A, C]}", "null", "C", 1.0);
        check("choice: {}", "[\"A\", \"C\"]", "C", 1.0);
        unjudged("choice: {}", "2", "C", "set `expected_as`");
        unjudged("choice: {expected_as: zero-based}", "4", "C", "not a place among 4");
        unjudged("choice: {expected_as: one-based}", "0", "C", "not a place among 4");
        unjudged("choice: {}", "E", "C", "not a label");
        unjudged("choice: {}", "null", "C", "no `expected`");
        refused("choice: {labels: [A]}", "give 2 to 64");
        refused("choice: {labels: [A, a]}", "twice");
        refused("choice: {labels: [A, '?']}", "cannot be a label");
        refused("choice: {value: Z}", "not a label");
    }
}
