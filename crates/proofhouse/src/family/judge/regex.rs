//! The `regex` judge.

use std::borrow::Cow;

use proofhouse_ledger::Json;
use regex::{Captures, Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::latest::Latest;
use super::text::{Folding, NOTHING_EXPECTED, Texts, Which, excerpt, list};
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// How large a compiled pattern may be.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Each further match may read the answer to its end, so matches times length is what must be bounded.
const MAX_SCANNED_BYTES: usize = 1 << 28;

/// The answer matches a regular expression, or what the expression captures is the expected text.
///
/// Without `group` the answer is right when `pattern` (or else the case's `expected`, a pattern) matches anywhere in it;
/// `full` asks for a match of the whole answer. With `group`, a number or a name, the captured text is compared with
/// `value` or else the case's `expected`, of which a list holds alternatives; no match is a wrong answer.
/// The syntax is that of the Rust crate `regex`: no look-around, no back-references.
///
/// Guarantee: time is linear in the length of the answer, so that no answer can hang the judge.
///
/// ```yaml
/// regex: {pattern: 'final answer:\s*(\w+)', group: '1', which: last, ignore_case: true}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RegexJudge {
    /// The pattern; without it the case's `expected` is the pattern.
    pub pattern: Option<String>,
    /// The pattern must match the whole answer, white space at both ends apart.
    pub full: bool,
    /// The number or name of the group whose text is compared; `0` is the whole match.
    pub group: Option<String>,
    /// Which match counts when a group is compared.
    pub which: Which,
    /// The text that the group must capture, or a list of alternatives; without it the case's `expected` counts.
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Json>,
    /// Upper and lower case count as equal, in the pattern and in what a group captured.
    pub ignore_case: bool,
}

impl Default for RegexJudge {
    fn default() -> Self {
        RegexJudge {
            pattern: None,
            full: false,
            group: None,
            which: Which::Last,
            value: None,
            ignore_case: false,
        }
    }
}

impl Settings for RegexJudge {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        let builder = Builder { full: self.full, ignore_case: self.ignore_case };
        match (&self.pattern, &self.group) {
            (Some(pattern), Some(group)) => {
                let regex = builder.build(pattern)?;
                let group = group_number(&regex, group)?;
                let folding = Folding { ignore_case: self.ignore_case, trim: true, ..Folding::default() };
                let texts = Texts::new(self.value.as_ref(), folding)?;
                Ok(Box::new(Capture { regex, group, which: self.which, texts, folding }))
            }
            (None, Some(_)) => Err(Complaint::new("`group` needs a `pattern` of the judge").hint(
                "add `pattern`, or remove \
                                    `group` to use each case's `expected` as a pattern",
            )),
            (_, None) if self.value.is_some() => {
                Err(Complaint::new("`value` is compared with a captured group")
                    .hint("add `group: '0'` for the whole match"))
            }
            (Some(pattern), None) => Ok(Box::new(Matches {
                fixed: Some(builder.build(pattern)?),
                builder,
                of_case: Latest::default(),
            })),
            (None, None) => Ok(Box::new(Matches { fixed: None, builder, of_case: Latest::default() })),
        }
    }

    fn needs_expected(&self) -> bool {
        match self.group {
            Some(_) => self.value.is_none(),
            None => self.pattern.is_none(),
        }
    }
}

#[derive(Clone, Copy)]
struct Builder {
    full: bool,
    ignore_case: bool,
}

impl Builder {
    fn build(self, pattern: &str) -> Result<Regex, Complaint> {
        let pattern =
            if self.full { Cow::Owned(format!(r"\A\s*(?:{pattern})\s*\z")) } else { Cow::Borrowed(pattern) };
        RegexBuilder::new(&pattern)
            .case_insensitive(self.ignore_case)
            .size_limit(MAX_PATTERN_BYTES)
            .build()
            .map_err(|error| {
                Complaint::new(format!(
                    "pattern {} is not valid: {}",
                    excerpt(&pattern),
                    last_line(&error.to_string())
                ))
            })
    }
}

/// The crate's message draws the pattern and a caret over several lines; the last one says what is wrong.
fn last_line(message: &str) -> &str {
    message.lines().next_back().unwrap_or(message).trim_start_matches("error: ")
}

fn group_number(regex: &Regex, group: &str) -> Result<usize, Complaint> {
    let number = match group.parse::<usize>() {
        Ok(number) => (number < regex.captures_len()).then_some(number),
        Err(_) => regex.capture_names().position(|name| name == Some(group)),
    };
    number.ok_or_else(|| {
        Complaint::new(format!("the pattern has no group `{group}`")).hint(format!(
            "it has the groups 0 to {}; a name is written `(?<name>…)`",
            regex.captures_len() - 1
        ))
    })
}

/// A pattern that must match.
struct Matches {
    fixed: Option<Regex>,
    builder: Builder,
    of_case: Latest<String, Result<Regex, Complaint>>,
}

impl Judge for Matches {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let text = subject.text();
        if let Some(regex) = &self.fixed {
            return matches(regex, &text);
        }
        match subject.expected {
            Json::Null => Verdict::unjudged(NOTHING_EXPECTED.replace("`value`", "`pattern`")),
            Json::String(pattern) => {
                match &*self.of_case.get(pattern.as_str(), |pattern| self.builder.build(pattern)) {
                    Ok(regex) => matches(regex, &text),
                    Err(error) => Verdict::unjudged(error.clone()),
                }
            }
            other => Verdict::unjudged(format!(
                "the case's `expected` is of type {}, not a pattern",
                other.type_name()
            )),
        }
    }
}

fn matches(regex: &Regex, text: &str) -> Verdict {
    Verdict::of(regex.is_match(text), || {
        format!("{} does not match {}", excerpt(text), excerpt(regex.as_str()))
    })
}

/// A pattern whose group must capture the expected text.
struct Capture {
    regex: Regex,
    group: usize,
    which: Which,
    texts: Texts,
    folding: Folding,
}

impl Judge for Capture {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let wanted = match self.texts.of(subject) {
            Ok(wanted) => wanted,
            Err(error) => return Verdict::unjudged(error),
        };
        let text = subject.text();
        let found = match self.find(&text) {
            Ok(Some(found)) => found,
            Ok(None) => {
                return Verdict::wrong(format!(
                    "{} does not match {}",
                    excerpt(&text),
                    excerpt(self.regex.as_str())
                ));
            }
            Err(verdict) => return verdict,
        };
        let Some(captured) = found.get(self.group) else {
            return Verdict::wrong(format!("group {} took no part in the match", self.group));
        };
        let answer = self.folding.fold(captured.as_str());
        Verdict::of(wanted.contains(&answer), || {
            format!("expected {}, captured {}", list(&wanted), excerpt(&answer))
        })
    }
}

impl Capture {
    fn find<'t>(&self, text: &'t str) -> Result<Option<Captures<'t>>, Verdict> {
        if self.which == Which::First {
            return Ok(self.regex.captures(text));
        }
        let mut last = None;
        for (at, found) in self.regex.find_iter(text).enumerate() {
            if at > 0 && self.which == Which::Only {
                return Err(Verdict::wrong("the pattern matches more than once"));
            }
            if at.saturating_mul(text.len()) > MAX_SCANNED_BYTES {
                return Err(Verdict::unjudged("the pattern matches too often to find the last match"));
            }
            last = Some(found.start());
        }
        // Only the place is kept while searching: captures cost more than finds.
        Ok(last.and_then(|start| self.regex.captures_at(text, start)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, refused, unjudged};

    #[test]
    fn a_match_anywhere_or_of_the_whole() {
        check(r"regex: {pattern: '\d{4}'}", "null", "born in 1912.", 1.0);
        check(r"regex: {pattern: '\d{4}'}", "null", "born long ago", 0.0);
        check(r"regex: {pattern: '\d{4}', full: true}", "null", "1912\n", 1.0);
        check(r"regex: {pattern: '19|1912', full: true}", "null", "1912", 1.0);
        check(r"regex: {pattern: '\d{4}', full: true}", "null", "in 1912", 0.0);
        check("regex: {pattern: yes, ignore_case: true}", "null", "YES", 1.0);
        check("regex: {}", r#""^(Paris|Lutetia)\\b""#, "Paris!", 1.0);
        check("regex: {}", r#""^(Paris|Lutetia)\\b""#, "In Paris", 0.0);
        check("regex: {pattern: x}", "null", "", 0.0);
    }

    #[test]
    fn a_captured_group_is_compared() {
        let rule = r"regex: {pattern: 'answer:\s*(\w+)', group: '1', ignore_case: true}";
        check(rule, "Paris", "Answer: London\nno, answer:  PARIS.", 1.0);
        check(rule, "London", "Answer: London\nno, answer:  PARIS.", 0.0);
        check(rule, "Paris", "Paris", 0.0);
        check(r"regex: {pattern: '#(?<id>\d+)', group: id, which: first}", "7", "#7 #8", 1.0);
        check(r"regex: {pattern: '#(?<id>\d+)', group: id, which: only}", "7", "#7 #8", 0.0);
        check(r"regex: {pattern: '#(?<id>\d+)', group: id, which: only}", "7", "it is #7", 1.0);
        check(r"regex: {pattern: '(a)|b', group: 1}", "a", "b", 0.0);
        check(r"regex: {pattern: '\bc', group: 0, value: c}", "null", "abc c", 1.0);
    }

    #[test]
    fn faulty_settings_are_named() {
        refused("regex: {pattern: '('}", "unclosed group");
        refused("regex: {pattern: '(?=x)'}", "look-around");
        refused("regex: {pattern: '(a)', group: 2}", "groups 0 to 1");
        refused("regex: {group: 1}", "add `pattern`");
        refused("regex: {pattern: a, value: a}", "group: '0'");
        refused(r"regex: {pattern: '(\w{500}){500}'}", "size limit");
        unjudged("regex: {}", "\"(\"", "x", "unclosed group");
        unjudged("regex: {}", "5", "x", "not a pattern");
        unjudged("regex: {}", "null", "x", "no `pattern`");
    }

    #[test]
    fn a_pattern_that_reads_to_the_end_for_every_match_is_stopped() {
        let answer = "y".repeat(1_000_000);
        unjudged("regex: {pattern: '[^x]*x|y', group: 0}", "y", &answer, "too often");
    }
}
