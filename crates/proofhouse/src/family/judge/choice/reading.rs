//! Reading a choice out of an answer: the spellings that models use, and the ones that look like them.

use regex::{Captures, Regex, RegexBuilder};

use super::place;

/// What an answer says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ChoiceFound {
    /// The choice at this place.
    One(usize),
    /// More than one.
    Several,
    /// None.
    Nothing,
}

/// The patterns of one set of labels. Every repetition in them is short, so that a match never reads far ahead.
pub(super) struct LabelPatterns {
    labels: Vec<String>,
    whole: Regex,
    stated: Regex,
    declared: Regex,
    leading: Regex,
    mention: Regex,
    joined: Regex,
    clause: Regex,
}

/// What may stand before a label: quotes, brackets, emphasis, TeX.
const OPEN: &str =
    r#"[\s"'“‘«`*_(\[{<:$]{0,12}(?:\\(?:boxed|text|mathrm|mathbf)\{){0,2}[\s"'“‘«`*_(\[{<]{0,4}"#;
/// What may stand after it.
const CLOSE: &str = r#"[\s"'”’»`*_)\]}>.,:;!$]{0,12}"#;
/// What may stand after it within the same part of a sentence.
const CLOSE_BRACKET: &str = r#"[\s"'”’»`*_)\]}>$]{0,8}"#;

const NOUN: &str = "(?:answer|option|choice|response|solution|letter|pick)";
const COPULA: &str = r"(?::|=|：|\bis\b|\bwas\b|\b(?:would|should|must|will)\s{1,4}be\b)";
const CHOOSE: &str = r"\bi(?:'d|'ll|\s{1,4}would|\s{1,4}will)?\s{1,4}(?:choose|chose|pick|select|say|(?:go|went)\s{1,4}with)\b";

impl LabelPatterns {
    pub(super) fn new(labels: &[String]) -> Self {
        let mut longest_first: Vec<&str> = labels.iter().map(String::as_str).collect();
        longest_first.sort_by_key(|label| std::cmp::Reverse(label.len()));
        let any = |pattern: fn(&str) -> String| {
            let patterns: Vec<String> = longest_first.iter().map(|label| pattern(label)).collect();
            format!("(?<label>{})", patterns.join("|"))
        };
        // Between the marks of a whole answer, an underscore may touch the label: `__C__`.
        let (label, marked) = (any(bounded), any(regex::escape));
        let build = |pattern: String| {
            RegexBuilder::new(&pattern)
                .case_insensitive(true)
                .build()
                .expect("labels are short, few and escaped, and all else is constant")
        };
        let statement = format!(r"\b{NOUN}(?:\s{{1,4}}(?:choice|option|letter))?[\s*_]{{0,4}}{COPULA}");
        let repeated = format!(r"(?:the\s{{1,4}})?(?:correct\s{{1,4}})?(?:{NOUN}\b)?(?:\s{{1,4}}is\b)?");
        LabelPatterns {
            labels: labels.to_vec(),
            whole: build(format!(r"\A{OPEN}(?:{NOUN}\s{{0,4}})?{OPEN}{marked}{CLOSE}\z")),
            stated: build(format!(
                r"(?:{statement}|{CHOOSE}|\\boxed\b)[\s:=*_]{{0,8}}{repeated}{OPEN}{label}"
            )),
            declared: build(format!(
                r"{label}{CLOSE_BRACKET}is\s{{1,4}}(?:the\s{{1,4}})?(?:correct|right|best)\b"
            )),
            leading: build(format!(r"\A{OPEN}{label}[*_\s]{{0,3}}(?:[.):\]]|\s[-–—]\s)[*_]{{0,3}}(?:\s|\z)")),
            mention: build(label.clone()),
            joined: build(format!(r"\A{CLOSE_BRACKET}(?:\bor\b|\band\b|\bnor\b|[/&+|,]){OPEN}{label}")),
            clause: build(format!(
                r"\A{CLOSE_BRACKET}(?:is|isn|was|wasn|would|does|doesn|has|seems|can|cannot)\b"
            )),
        }
    }

    pub(super) fn find(&self, text: &str) -> ChoiceFound {
        let text = text.trim();
        let last_line = text.lines().next_back().unwrap_or_default();
        self.whole(text)
            .or_else(|| self.last_stated(text))
            .or_else(|| self.last_declared(text))
            .or_else(|| self.whole(last_line))
            .or_else(|| self.leading(text))
            .unwrap_or_else(|| self.only_mentioned(text))
    }

    fn place_of(&self, found: &Captures<'_>) -> Option<usize> {
        place(&self.labels, &found["label"])
    }

    fn whole(&self, text: &str) -> Option<ChoiceFound> {
        self.whole.captures(text).and_then(|found| self.place_of(&found)).map(ChoiceFound::One)
    }

    fn last_stated(&self, text: &str) -> Option<ChoiceFound> {
        let mut last = None;
        for found in self.stated.captures_iter(text) {
            let label = found.name("label").expect("the label is no optional part");
            let rest = &text[label.end()..];
            if is_small_word(label.as_str()) && reads_on(rest) {
                continue;
            }
            let place = self.place_of(&found);
            let several = self.is_joined(rest, place);
            last = if several { Some(ChoiceFound::Several) } else { place.map(ChoiceFound::One) };
        }
        last
    }

    /// Whether another choice follows on equal terms, as in `A or B`; in `C, and A is wrong` it does not.
    fn is_joined(&self, rest: &str, place: Option<usize>) -> bool {
        let Some(other) = self.joined.captures(rest) else { return false };
        let label = other.name("label").expect("the label is no optional part");
        let is_clause = self.clause.is_match(&rest[label.end()..]);
        !is_small_word(label.as_str()) && !is_clause && self.place_of(&other) != place
    }

    fn last_declared(&self, text: &str) -> Option<ChoiceFound> {
        let last =
            self.declared.captures_iter(text).filter(|found| !is_small_word(&found["label"])).last()?;
        self.place_of(&last).map(ChoiceFound::One)
    }

    /// The label that starts a line, if it is the only one or the first word of an answer that goes on to discuss the
    /// others. Lines that start with the labels in their order are the list of choices, said again.
    fn leading(&self, text: &str) -> Option<ChoiceFound> {
        let leads = |line: &str| self.leading.captures(line).and_then(|found| self.place_of(&found));
        let mut places = text.lines().filter_map(leads);
        let first = places.next()?;
        let Some(second) = places.find(|place| *place != first) else { return Some(ChoiceFound::One(first)) };
        let opens = text.lines().next().and_then(leads).is_some();
        (opens && second != first + 1).then_some(ChoiceFound::One(first))
    }

    fn only_mentioned(&self, text: &str) -> ChoiceFound {
        let mut only = ChoiceFound::Nothing;
        for label in self.mention.find_iter(text) {
            let is_word = matches!(label.as_str(), "A" | "I") && reads_on(&text[label.end()..]);
            if is_word || self.is_other_case(label.as_str()) {
                continue;
            }
            let found = place(&self.labels, label.as_str()).map_or(ChoiceFound::Nothing, ChoiceFound::One);
            if only != ChoiceFound::Nothing && only != found {
                return ChoiceFound::Several;
            }
            only = found;
        }
        only
    }

    /// In running text a single letter counts only as its label spells it: `a`, `b` and `c` are all over prose.
    fn is_other_case(&self, label: &str) -> bool {
        label.chars().count() == 1 && !self.labels.iter().any(|known| known == label)
    }
}

/// The label as a pattern that no letter or digit may touch, where it ends in one itself.
fn bounded(label: &str) -> String {
    let edge = |c: Option<char>| if c.is_some_and(|c| c.is_alphanumeric() || c == '_') { r"\b" } else { "" };
    format!("{}{}{}", edge(label.chars().next()), regex::escape(label), edge(label.chars().next_back()))
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
