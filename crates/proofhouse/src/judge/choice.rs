//! The `choice` judge.

use std::sync::OnceLock;

use proofhouse_ledger::Json;
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{NOTHING_EXPECTED, alternatives, excerpt};
use super::{Judge, Settings, Subject, Verdict};

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
/// `ANSWER: (C)`, `I choose C`); a label with its text at the start (`C) Paris`); a last line that is a label; a label
/// that is the only one mentioned. The article `A` and the pronoun `I` are not mentions. An answer that names
/// several choices where one is asked for (`A or B`) is wrong. Labels are `labels`, A to D unless set; they may be
/// words. The expected label is `value` or else the case's `expected`; a list holds alternatives.
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
    fn compile(&self) -> Result<Box<dyn Judge>, String> {
        if self.labels.len() < 2 || self.labels.len() > MAX_LABELS {
            return Err(format!(
                "`labels` has {} of them\n\nhint: give 2 to {MAX_LABELS}",
                self.labels.len()
            ));
        }
        for (at, label) in self.labels.iter().enumerate() {
            let is_plain = label.trim() == label && label.chars().any(char::is_alphanumeric);
            if !is_plain || label.chars().count() > MAX_LABEL_CHARS {
                return Err(format!(
                    "{} cannot be a label\n\nhint: use a letter, a number or a word",
                    excerpt(label)
                ));
            }
            if self.labels[..at].iter().any(|other| same(other, label)) {
                return Err(format!(
                    "the label {} is there twice, upper and lower case being one",
                    excerpt(label)
                ));
            }
        }
        let own = match &self.value {
            None => None,
            Some(value) => Some(self.wanted(value).map_err(|what| format!("`value` {what}"))?),
        };
        Ok(Box::new(Compiled { settings: self.clone(), own, rules: OnceLock::new() }))
    }

    fn needs_expected(&self) -> bool {
        self.value.is_none()
    }
}

fn same(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

impl Choice {
    fn place(&self, label: &str) -> Option<usize> {
        self.labels
            .iter()
            .position(|known| known == label)
            .or_else(|| self.labels.iter().position(|known| same(known, label)))
    }

    /// The places of the expected labels, at least one.
    fn wanted(&self, value: &Json) -> Result<Vec<usize>, String> {
        let list = alternatives(value);
        if list.is_empty() {
            return Err("is an empty list; no answer could be right".to_owned());
        }
        list.iter().map(|item| self.wanted_place(item)).collect()
    }

    fn wanted_place(&self, item: &Json) -> Result<usize, String> {
        let text = item.to_text();
        let first = match self.expected_as {
            ExpectedAs::Label => {
                return self.place(text.trim()).ok_or_else(|| {
                    format!(
                        "holds {}, which is no label\n\nhint: for places instead of labels set `expected_as`",
                        excerpt(&text)
                    )
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
                format!("holds {}, which is no place among {} choices", excerpt(&text), self.labels.len())
            })
    }
}

struct Compiled {
    settings: Choice,
    own: Option<Vec<usize>>,
    /// Compiled when the first answer comes: a suite that is only checked or planned need not wait for it.
    rules: OnceLock<Rules>,
}

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let from_case;
        let wanted = match (&self.own, subject.expected) {
            (Some(own), _) => own,
            (None, Json::Null) => return Verdict::unjudged(NOTHING_EXPECTED),
            (None, value) => match self.settings.wanted(value) {
                Ok(wanted) => {
                    from_case = wanted;
                    &from_case
                }
                Err(what) => return Verdict::unjudged(format!("the case's `expected` {what}")),
            },
        };
        let text = subject.text();
        let rules = self.rules.get_or_init(|| Rules::new(&self.settings));
        let labels = &self.settings.labels;
        match rules.find(&text) {
            Found::One(place) => Verdict::of(wanted.contains(&place), || {
                format!("expected {}, got {}", excerpt(&labels[wanted[0]]), excerpt(&labels[place]))
            }),
            Found::Several => Verdict::wrong(format!("several choices are named in {}", excerpt(&text))),
            Found::Nothing => Verdict::wrong(format!("no choice is named in {}", excerpt(&text))),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Found {
    One(usize),
    Several,
    Nothing,
}

/// The patterns of one set of labels. Every repetition in them is short, so that a match never reads far ahead.
struct Rules {
    settings: Choice,
    whole: Regex,
    stated: Regex,
    leading: Regex,
    mention: Regex,
    another: Regex,
}

/// What may stand around a label: quotes, brackets, emphasis, TeX.
const OPEN: &str =
    r#"[\s"'“‘«`*_(\[{<:$]{0,12}(?:\\boxed\{|\\text\{|\\mathrm\{|\\mathbf\{){0,2}[\s"'“‘«`*_(\[{<]{0,4}"#;
const CLOSE: &str = r#"[\s"'”’»`*_)\]}>.,:;!$]{0,12}"#;

impl Rules {
    fn new(settings: &Choice) -> Self {
        let mut labels: Vec<String> = settings.labels.iter().map(|label| regex::escape(label)).collect();
        labels.sort_by_key(|label| std::cmp::Reverse(label.len()));
        let label = format!("(?<label>{})", labels.join("|"));
        let build = |pattern: &str| {
            RegexBuilder::new(pattern)
                .case_insensitive(true)
                .build()
                .expect("labels are short, few and escaped, and all else is constant")
        };
        let noun = "(?:answer|option|choice|response|solution|letter)";
        Rules {
            settings: settings.clone(),
            whole: build(&format!(r"\A{OPEN}(?:{noun}\s{{0,4}})?{OPEN}{label}{CLOSE}\z")),
            stated: build(&format!(
                r"(?:\b{noun}(?:\s{{1,4}}(?:choice|option|letter))?[\s*_]{{0,4}}(?::|=|：|\bis\b|\bwas\b|\b(?:would|should|must|will)\s{{1,4}}be\b)|\bi(?:'d|\s{{1,4}}would|'ll|\s{{1,4}}will)?\s{{1,4}}(?:choose|pick|select|chose|go\s{{1,4}}with|went\s{{1,4}}with)\b|\\boxed\b)[\s:=*_]{{0,8}}(?:the\s{{1,4}})?(?:correct\s{{1,4}})?(?:{noun}\b)?(?:\s{{1,4}}is\b)?{OPEN}\b{label}\b"
            )),
            leading: build(&format!(r"\A{OPEN}{label}[*_\s]{{0,3}}(?:[.):\]]|\s[-–—]\s)[*_]{{0,3}}\s")),
            mention: build(&format!(r"\b{label}\b")),
            another: build(&format!(r"\A{CLOSE}(?:\bor\b|\band\b|\bnor\b|/|&|\+|\||,)?{OPEN}\b{label}\b")),
        }
    }

    fn find(&self, text: &str) -> Found {
        let text = text.trim();
        if let Some(found) = self.whole.captures(text) {
            return self.one(&found["label"]);
        }
        let stated = self.last_stated(text);
        if stated != Found::Nothing {
            return stated;
        }
        if let Some(found) = self.leading.captures(text) {
            return self.one(&found["label"]);
        }
        let last_line = text.lines().next_back().unwrap_or_default();
        if let Some(found) = self.whole.captures(last_line) {
            return self.one(&found["label"]);
        }
        self.only_mentioned(text)
    }

    fn one(&self, label: &str) -> Found {
        self.settings.place(label).map_or(Found::Nothing, Found::One)
    }

    fn last_stated(&self, text: &str) -> Found {
        let mut last = Found::Nothing;
        for found in self.stated.captures_iter(text) {
            let label = found.name("label").expect("the label is no optional part");
            if is_small_word(label.as_str()) && reads_on(&text[label.end()..]) {
                continue;
            }
            last = self.one(label.as_str());
            if let Some(other) = self.another.captures(&text[label.end()..])
                && self.one(&other["label"]) != last
                && !(is_small_word(&other["label"]))
            {
                last = Found::Several;
            }
        }
        last
    }

    fn only_mentioned(&self, text: &str) -> Found {
        let mut only = Found::Nothing;
        for found in self.mention.captures_iter(text) {
            let label = found.name("label").expect("the label is no optional part");
            let is_word = matches!(label.as_str(), "A" | "I") && reads_on(&text[label.end()..]);
            if is_word || self.is_other_case(label.as_str()) {
                continue;
            }
            let found = self.one(label.as_str());
            if only != Found::Nothing && only != found {
                return Found::Several;
            }
            only = found;
        }
        only
    }

    /// In running text a single letter counts only as its label spells it: `a`, `b` and `c` are all over prose.
    fn is_other_case(&self, label: &str) -> bool {
        label.chars().count() == 1 && !self.settings.labels.iter().any(|known| known == label)
    }
}

/// `a` and `i` in lower case are words more often than labels.
fn is_small_word(label: &str) -> bool {
    matches!(label, "a" | "i")
}

/// Whether a word follows after a space, as after an article.
fn reads_on(rest: &str) -> bool {
    let mut chars = rest.chars();
    chars.next().is_some_and(char::is_whitespace) && chars.next().is_some_and(char::is_alphabetic)
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
        check("choice: {labels: ['1', '2', '3']}", "2", "The answer is 2", 1.0);
        check("choice: {labels: ['1', '2', '10']}", "10", "10", 1.0);
        check("choice: {expected_as: zero-based}", "2", "C", 1.0);
        check("choice: {expected_as: one-based}", "3", "C", 1.0);
        check("choice: {expected_as: one-based}", "\"3\"", "C", 1.0);
        check("choice: {value: [A, C]}", "null", "C", 1.0);
        check("choice: {}", "[\"A\", \"C\"]", "C", 1.0);
        unjudged("choice: {}", "2", "C", "set `expected_as`");
        unjudged("choice: {expected_as: zero-based}", "4", "C", "no place among 4");
        unjudged("choice: {expected_as: one-based}", "0", "C", "no place among 4");
        unjudged("choice: {}", "E", "C", "no label");
        unjudged("choice: {}", "null", "C", "no `expected`");
        refused("choice: {labels: [A]}", "give 2 to 64");
        refused("choice: {labels: [A, a]}", "twice");
        refused("choice: {labels: [A, '?']}", "cannot be a label");
        refused("choice: {value: Z}", "no label");
    }
}
