//! The `math` judge.

use std::sync::LazyLock;

use proofhouse_ledger::Json;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{NOTHING_EXPECTED, alternatives, excerpt};
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The answer's final result is the expected one, however it is written.
///
/// The final result is what follows the last `after` mark where one is given; otherwise the last `\boxed{…}`, what follows the last
/// `####` or `answer is`, or the whole of a short answer, or else the last number. Both sides are then compared as numbers where both
/// are (`1/2`, `\frac{1}{2}`, `0.5`, `1 1/2`, `1,234`, `3e2`), exactly and not rounded, and otherwise as text without LaTeX's spacing,
/// units, `$`, `%`, degrees and a leading `x =`.
///
/// Guarantee: numbers are equal only where they are the same number; an answer without a result is wrong.
///
/// ```yaml
/// math: {after: 'A:'}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Math {
    /// The result, or a list of alternatives; without it the case's `expected` counts.
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Json>,
    /// Only what follows the last occurrence of this mark is the result; an answer without the mark is wrong.
    pub after: Option<String>,
}

impl Settings for Math {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        if self.after.as_deref() == Some("") {
            return Err(Complaint::new("`after` is empty").hint("remove it to look for the result"));
        }
        Ok(Box::new(Compiled(self.clone())))
    }

    fn needs_expected(&self) -> bool {
        self.value.is_none()
    }
}

struct Compiled(Math);

/// Longer answers are not taken as results themselves.
const SHORT_CHARS: usize = 60;
/// How much of an answer is read, from its end.
const MAX_READ_BYTES: usize = 1 << 20;

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let wanted = match (&self.0.value, subject.expected) {
            (Some(value), _) => alternatives(value),
            (None, Json::Null) => return Verdict::unjudged(NOTHING_EXPECTED),
            (None, expected) => alternatives(expected),
        };
        let text = subject.text();
        let mut from = text.len().saturating_sub(MAX_READ_BYTES);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let Some(found) = result(&text[from..], self.0.after.as_deref()) else {
            return Verdict::wrong(format!("{} has no result", excerpt(&text)));
        };
        let texts: Vec<String> = wanted.iter().map(Json::to_text).collect();
        if texts.iter().any(|wanted| plain(wanted).is_empty()) {
            return Verdict::unjudged("the expected result is empty");
        }
        let right = texts.iter().any(|wanted| same(&found, &result(wanted, None).unwrap_or_default()));
        Verdict::of(right, || format!("the result is {}, not {}", excerpt(&found), super::text::list(&texts)))
    }
}

static ANSWER_IS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:####|\banswer\s*(?:is|:|=)|\bresult\s*(?:is|:|=))\s*:?\s*([^\n]+)")
        .expect("a pattern of our own")
});
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[-−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?:\s*/\s*\d+)?")
        .expect("a pattern of our own")
});

/// The final result that a text gives.
fn result(text: &str, after: Option<&str>) -> Option<String> {
    if let Some(mark) = after {
        let rest = text.rsplit_once(mark)?.1.trim();
        let line = rest.lines().next().unwrap_or_default().trim();
        return (!line.is_empty()).then(|| line.to_owned());
    }
    if let Some(boxed) = last_boxed(text) {
        return Some(boxed.to_owned());
    }
    if let Some(said) = ANSWER_IS.captures_iter(text).last() {
        return Some(said[1].trim().to_owned());
    }
    let trimmed = text.trim();
    if !trimmed.is_empty() && trimmed.chars().nth(SHORT_CHARS).is_none() && !trimmed.contains('\n') {
        return Some(trimmed.to_owned());
    }
    NUMBER.find_iter(text).last().map(|number| number.as_str().to_owned())
}

fn last_boxed(text: &str) -> Option<&str> {
    let at = text.rfind("\\boxed{").or_else(|| text.rfind("\\fbox{"))?;
    let from = at + text[at..].find('{')? + 1;
    let mut depth = 1usize;
    for (offset, c) in text[from..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[from..from + offset]);
        }
    }
    None
}

/// Whether two results are the same.
fn same(a: &str, b: &str) -> bool {
    let (a, b) = (plain(a), plain(b));
    if a.is_empty() || b.is_empty() {
        return false;
    }
    match (number(&a), number(&b)) {
        (Some(a), Some(b)) => a.equals(&b),
        // A sentence around a number is no other result than the number: `18 dollars`.
        (Some(known), None) => alone(&b).is_some_and(|found| found.equals(&known)),
        (None, Some(known)) => alone(&a).is_some_and(|found| found.equals(&known)),
        (None, None) => a.eq_ignore_ascii_case(&b),
    }
}

/// The only number of a text that is otherwise words.
fn alone(text: &str) -> Option<Fraction> {
    let mut found = NUMBER.find_iter(text);
    let (first, more) = (found.next()?, found.next());
    let around = format!("{}{}", &text[..first.start()], &text[first.end()..]);
    let is_words = around
        .chars()
        .all(|c| c.is_alphabetic() || c.is_whitespace() || matches!(c, '.' | ',' | '\'' | '-' | '(' | ')'));
    if more.is_none() && is_words { number(&first.as_str().replace(' ', "")) } else { None }
}

static UNITS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\\(?:text|mbox|mathrm|textbf|mathbf)\{([^{}]*)\}").expect("a pattern of our own")
});
static FRACTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\\[dtc]?frac\s*(?:\{([^{}]*)\}\s*\{([^{}]*)\}|(\d)(\d))").expect("a pattern of our own")
});
static PREFIX: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[A-Za-z]\w*\s*=\s*").expect("a pattern of our own"));

/// A result without what does not change it.
fn plain(text: &str) -> String {
    let mut text = text.trim().replace('−', "-");
    for (from, to) in [
        ("\\left", ""),
        ("\\right", ""),
        ("\\!", ""),
        ("\\,", ""),
        ("\\;", ""),
        ("\\:", ""),
        ("\\ ", " "),
        ("~", " "),
        ("\\$", ""),
        ("$", ""),
        ("\\%", ""),
        ("%", ""),
        ("^{\\circ}", ""),
        ("^\\circ", ""),
        ("°", ""),
        ("\\(", ""),
        ("\\)", ""),
        ("\\[", ""),
        ("\\]", ""),
        ("€", ""),
        ("£", ""),
        ("**", ""),
        ("\\cdot", "*"),
        ("\\times", "*"),
        ("\u{a0}", " "),
        ("\u{202f}", ""),
    ] {
        text = text.replace(from, to);
    }
    // `5 \text{ cm}` is 5; a result that is nothing but words is those words.
    let without = UNITS.replace_all(&text, "").trim().to_owned();
    text = if without.is_empty() { UNITS.replace_all(&text, "$1").trim().to_owned() } else { without };
    text = FRACTION
        .replace_all(&text, |found: &regex::Captures<'_>| {
            let part =
                |a: usize, b: usize| found.get(a).or(found.get(b)).map_or("", |part| part.as_str().trim());
            let (over, under) = (part(1, 3), part(2, 4));
            let wrap = |part: &str| {
                if part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')) {
                    part.to_owned()
                } else {
                    format!("({part})")
                }
            };
            format!(" {}/{}", wrap(over), wrap(under))
        })
        .into_owned();
    let text = PREFIX.replace(text.trim(), "");
    let text = text.trim().trim_end_matches(['.', ',', ';', '!']).trim();
    text.to_owned()
}

/// A number as a fraction: exact for everything that people write.
#[derive(Debug, Clone, Copy)]
struct Fraction {
    over: i128,
    under: i128,
}

impl Fraction {
    fn equals(&self, other: &Fraction) -> bool {
        match (self.over.checked_mul(other.under), other.over.checked_mul(self.under)) {
            (Some(a), Some(b)) => a == b,
            // Beyond 38 digits the nearest double decides.
            _ => self.over as f64 / self.under as f64 == other.over as f64 / other.under as f64,
        }
    }

    fn plus(self, other: Fraction) -> Option<Fraction> {
        let over = self.over.checked_mul(other.under)?.checked_add(other.over.checked_mul(self.under)?)?;
        Some(Fraction { over, under: self.under.checked_mul(other.under)? })
    }
}

/// A whole text as a number.
fn number(text: &str) -> Option<Fraction> {
    let text = text.trim();
    if let Some(whole) = decimal(text) {
        return Some(whole);
    }
    let (front, under) = text.rsplit_once('/')?;
    let under = decimal(under.trim())?;
    // `1 1/2` is a whole number and a part of one.
    let (whole, over) = match front.trim().rsplit_once(' ') {
        Some((whole, over)) => (Some(decimal(whole.trim())?), decimal(over)?),
        None => (None, decimal(front.trim())?),
    };
    if under.over == 0 {
        return None;
    }
    let part =
        Fraction { over: over.over.checked_mul(under.under)?, under: over.under.checked_mul(under.over)? };
    match whole {
        None => Some(part),
        Some(whole) if whole.over < 0 => whole.plus(Fraction { over: part.over.checked_neg()?, ..part }),
        Some(whole) => whole.plus(part),
    }
}

/// `1,234.50` or `3e2`; no sign but one before it.
fn decimal(text: &str) -> Option<Fraction> {
    let (negative, digits) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest.trim_start()),
        None => (false, text),
    };
    let (digits, exponent) = match digits.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    if digits.is_empty() || digits.len() > 60 || !(-30..=30).contains(&exponent) {
        return None;
    }
    let (whole, parts) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.contains(',') && !grouped(whole) {
        return None;
    }
    let all: String = whole.chars().filter(|c| *c != ',').chain(parts.chars()).collect();
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let all = all.trim_start_matches('0');
    let mut over: i128 = if all.is_empty() { 0 } else { all.parse().ok()? };
    let mut under: i128 = 10i128.checked_pow(u32::try_from(parts.len()).ok()?)?;
    let power = 10i128.checked_pow(exponent.unsigned_abs())?;
    match exponent < 0 {
        true => under = under.checked_mul(power)?,
        false => over = over.checked_mul(power)?,
    }
    Some(Fraction { over: if negative { -over } else { over }, under })
}

/// Commas that group digits by three.
fn grouped(whole: &str) -> bool {
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, refused, unjudged};

    #[test]
    fn results_are_the_same_however_they_are_written() {
        for (expected, answer) in [
            ("18", "She sells 9.\nA: 18"),
            ("1/2", "\\boxed{\\frac{1}{2}}"),
            ("0.5", "The answer is $\\dfrac12$."),
            ("1,234", "#### 1234"),
            ("1.5", "1 1/2"),
            ("-3", "x = −3"),
            ("300", "The answer is 3e2"),
            ("18", "The answer is 18 dollars."),
            ("5", "So \\boxed{5 \\text{ cm}}"),
            ("90", "$90^\\circ$"),
            ("50", "50\\%"),
            ("\\text{Yes}", "\\boxed{yes}"),
            ("(1,2)", "\\boxed{\\left(1,2\\right)}"),
            ("x+1", "\\boxed{x+1}"),
            ("7", "First 3 and then 4 were added to it, so that in the end there were altogether 7"),
        ] {
            check("math: {}", &format!("\"{}\"", expected.replace('\\', "\\\\")), answer, 1.0);
        }
    }

    #[test]
    fn other_results_are_wrong() {
        for (expected, answer) in [
            ("18", "The answer is 18.01"),
            ("18", "The answer is 180"),
            ("1/2", "\\boxed{\\frac{1}{3}}"),
            ("18", "no idea at all, there is nothing that could be said about such a question"),
            ("18", ""),
            ("18", "1/0"),
            ("0.3333", "1/3"),
            ("x+1", "\\boxed{x+2}"),
        ] {
            check("math: {}", &format!("\"{expected}\""), answer, 0.0);
        }
        check("math: {after: 'A:'}", "\"26\"", "26 is my number", 0.0);
        check("math: {after: 'A:'}", "\"26\"", "no A: 25\nA: 26", 1.0);
        check("math: {value: [1, 2]}", "null", "2", 1.0);
        refused("math: {after: ''}", "`after` is empty");
        unjudged("math: {}", "null", "1", "no `expected`");
        unjudged("math: {}", "\"\"", "1", "empty");
    }
}
