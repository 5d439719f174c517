//! The `numeric` judge.

use proofhouse_ledger::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{Which, alternatives, excerpt, own_or_expected};
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The answer is the expected number, within a tolerance.
///
/// The number is read out of the answer's text: `1,234.5`, `1_234.5`, `1 234.5` (with the narrow or no-break space
/// that typesetters use), `-3`, `−3`, `+3`, `.5`, `1e-3`, with any sign of currency or unit around it. Digits that
/// follow a Latin letter (`GPT4`) and dotted runs (`1.2.3`) are not numbers. The expected number is `value` or else the
/// case's `expected`, a number or a text that holds exactly one; a list holds alternatives.
/// An answer is right when it is off by at most `abs_tolerance`, or by at most `rel_tolerance` times the expected number.
///
/// Guarantee: an answer without a number is wrong.
///
/// ```yaml
/// numeric: {rel_tolerance: 0.01, which: last, after: '####'}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Numeric {
    /// The expected number, or a list of alternatives; without it the case's `expected` counts.
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Json>,
    /// How far the answer may be off.
    pub abs_tolerance: f64,
    /// How far the answer may be off as a share of the expected number.
    pub rel_tolerance: f64,
    /// Which number of the answer counts.
    pub which: Which,
    /// Only what follows the last occurrence of this mark is read; an answer without the mark is wrong.
    pub after: Option<String>,
    /// The comma divides the whole from its parts and the point groups digits: `1.234,5`.
    pub decimal_comma: bool,
    /// `50%` is 0.5, in the answer and in an expected text; otherwise the sign does not count.
    pub percent: bool,
}

impl Settings for Numeric {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        for (key, tolerance) in [("abs_tolerance", self.abs_tolerance), ("rel_tolerance", self.rel_tolerance)]
        {
            if !tolerance.is_finite() || tolerance < 0.0 {
                return Err(Complaint::new(format!("`{key}` is {tolerance}")).hint("it is 0 or more"));
            }
        }
        if self.after.as_deref() == Some("") {
            return Err(Complaint::new("`after` is empty").hint("remove it to read the whole answer"));
        }
        let own = match &self.value {
            None => None,
            Some(value) => Some(self.wanted(value).map_err(|complaint| complaint.about("`value`"))?),
        };
        Ok(Box::new(Compiled { settings: self.clone(), own }))
    }

    fn needs_expected(&self) -> bool {
        self.value.is_none()
    }
}

impl Numeric {
    fn scanner<'t>(&self, text: &'t str) -> Scanner<'t> {
        Scanner { text, at: 0, decimal: if self.decimal_comma { b',' } else { b'.' }, percent: self.percent }
    }

    /// The expected numbers, at least one.
    fn wanted(&self, value: &Json) -> Result<Vec<f64>, Complaint> {
        let list = alternatives(value);
        if list.is_empty() {
            return Err(Complaint::new("is an empty list; no answer could be right"));
        }
        list.iter()
            .map(|item| match item {
                Json::Number(number) => Ok(*number),
                Json::String(text) => {
                    let text = self.after.as_deref().and_then(|mark| after_last(text, mark)).unwrap_or(text);
                    let mut numbers = self.scanner(text);
                    match (numbers.next(), numbers.next()) {
                        (Some(number), None) => Ok(number),
                        _ => Err(Complaint::new(format!("holds {}, which is not one number", excerpt(text)))),
                    }
                }
                other => {
                    Err(Complaint::new(format!("holds a value of type {}, not a number", other.type_name())))
                }
            })
            .collect()
    }

    /// The answer's number, or why it has none.
    fn found(&self, subject: &Subject<'_>) -> Result<f64, Complaint> {
        if let Json::Number(number) = subject.output {
            return Ok(*number);
        }
        let text = subject.text();
        let read = match &self.after {
            None => &*text,
            Some(mark) => after_last(&text, mark).ok_or_else(|| {
                Complaint::new(format!("{} does not contain the mark {}", excerpt(&text), excerpt(mark)))
            })?,
        };
        let mut numbers = self.scanner(read);
        let found = match self.which {
            Which::First => numbers.next(),
            Which::Last => numbers.last(),
            Which::Only => {
                let first = numbers.next();
                if numbers.next().is_some() {
                    return Err(Complaint::new(format!(
                        "there is more than one number in {}",
                        excerpt(read)
                    )));
                }
                first
            }
        };
        found.ok_or_else(|| Complaint::new(format!("there is no number in {}", excerpt(read))))
    }
}

fn after_last<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    text.rfind(mark).map(|at| &text[at + mark.len()..])
}

struct Compiled {
    settings: Numeric,
    own: Option<Vec<f64>>,
}

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let wanted = match own_or_expected(self.own.as_deref(), subject, |value| self.settings.wanted(value))
        {
            Ok(wanted) => wanted,
            Err(complaint) => return Verdict::unjudged(complaint),
        };
        let answer = match self.settings.found(subject) {
            Ok(answer) => answer,
            Err(reason) => return Verdict::wrong(reason),
        };
        let close = |wanted: &f64| {
            let tolerance = self.settings.abs_tolerance.max(self.settings.rel_tolerance * wanted.abs());
            (answer - wanted).abs() <= tolerance
        };
        Verdict::of(wanted.iter().any(close), || match &*wanted {
            [single] => format!("expected {single}, got {answer}"),
            several => format!("expected one of {} numbers, got {answer}", several.len()),
        })
    }
}

/// A number of a text: where it starts, its sign apart, and its digits as Rust reads them.
struct Token {
    start: usize,
    digits: String,
}

/// Walks over the numbers of a text.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
    decimal: u8,
    percent: bool,
}

impl Iterator for Scanner<'_> {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let digit = self.at + rest.iter().position(u8::is_ascii_digit)?;
            let (end, token) = self.token(digit);
            self.at = end;
            if let Some(number) = token.and_then(|token| self.value(&token)) {
                return Some(number);
            }
        }
    }
}

impl Scanner<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn is_digit(&self, at: usize) -> bool {
        self.byte(at).is_some_and(|byte| byte.is_ascii_digit())
    }

    fn skip_digits(&self, mut at: usize) -> usize {
        while self.is_digit(at) {
            at += 1;
        }
        at
    }

    /// Where the token that starts with this digit ends, and its number if it is one.
    fn token(&self, first: usize) -> (usize, Option<Token>) {
        let mut start = first;
        let mut end = self.grouped(first).unwrap_or_else(|| self.skip_digits(first));
        let mut digits: String = self.text[first..end].chars().filter(char::is_ascii_digit).collect();
        if first > 0 && self.byte(first - 1) == Some(self.decimal) && !self.joins(first - 1) {
            start = first - 1;
            digits.insert_str(0, "0.");
        } else if self.byte(end) == Some(self.decimal) && self.is_digit(end + 1) {
            let fraction = self.skip_digits(end + 1);
            digits.push('.');
            digits.push_str(&self.text[end + 1..fraction]);
            end = fraction;
        }
        // Versions, addresses and dates with points are not numbers.
        if self.byte(end) == Some(b'.') && self.is_digit(end + 1) {
            while self.byte(end).is_some_and(|byte| byte.is_ascii_digit() || byte == b'.') {
                end += 1;
            }
            return (end, None);
        }
        if matches!(self.byte(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.byte(end + 1), Some(b'+' | b'-')));
            if self.is_digit(end + 1 + sign) {
                let exponent = self.skip_digits(end + 1 + sign);
                digits.push_str(&self.text[end..exponent]);
                end = exponent;
            }
        }
        let before = first.checked_sub(1).and_then(|at| self.byte(at));
        let follows_letter = before.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        (end, (!follows_letter).then_some(Token { start, digits }))
    }

    /// The end of digits in groups of three, if they are grouped: `1,234,567`.
    fn grouped(&self, start: usize) -> Option<usize> {
        let head = self.skip_digits(start);
        if head - start > 3 {
            return None;
        }
        let separator = self.text[head..].chars().next().filter(|c| self.separates(*c))?;
        let mut end = head;
        loop {
            let group = end + separator.len_utf8();
            let is_group = self.text[end..].starts_with(separator) && self.skip_digits(group) == group + 3;
            if !is_group {
                return (end > head).then_some(end);
            }
            end = group + 3;
        }
    }

    fn separates(&self, c: char) -> bool {
        let point = if self.decimal == b'.' { ',' } else { '.' };
        c == point || matches!(c, '_' | '\'' | '’' | '\u{a0}' | '\u{2009}' | '\u{202f}')
    }

    /// Whether what stands before `at` belongs to the same word, so that a sign or point there is not the number's own.
    fn joins(&self, at: usize) -> bool {
        let before = self.text[..at].chars().next_back();
        before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ')' | ']' | '.'))
    }

    fn value(&self, token: &Token) -> Option<f64> {
        let mut number: f64 = token.digits.parse().ok()?;
        if !number.is_finite() {
            return None;
        }
        if self.is_negative(token.start) {
            number = -number;
        }
        let rest = self.text[self.at..].trim_start_matches([' ', '\u{a0}', '\u{202f}', '\\']);
        if self.percent && rest.starts_with('%') {
            number /= 100.0;
        }
        Some(number)
    }

    /// A minus directly before the number, or before its sign of currency, unless it joins two words: `3-5`.
    fn is_negative(&self, start: usize) -> bool {
        let before = self.text[..start].trim_end_matches(['$', '€', '£', '¥', '₹']);
        ['-', '−', '–'].into_iter().any(|sign| {
            before.strip_suffix(sign).is_some_and(|_| !self.joins(before.len() - sign.len_utf8()))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{check, reason, refused, unjudged};
    use super::*;

    fn numbers(text: &str) -> Vec<f64> {
        Numeric::default().scanner(text).collect()
    }

    #[test]
    fn reads_numbers_as_people_write_them() {
        for (text, expected) in [
            ("42", vec![42.0]),
            ("It costs $1,234.50.", vec![1234.5]),
            ("-$5 and $-6 and −7 and +8", vec![-5.0, -6.0, -7.0, 8.0]),
            ("1_000 1'000 1’000 1\u{a0}000 1\u{202f}000\u{202f}000", vec![1e3, 1e3, 1e3, 1e3, 1e6]),
            ("12 345", vec![12.0, 345.0]),
            ("1,2,3", vec![1.0, 2.0, 3.0]),
            ("12,3456", vec![12.0, 3456.0]),
            (".5 and -.25 and 0.75", vec![0.5, -0.25, 0.75]),
            ("1.5e3, 2E-2, 3e", vec![1500.0, 0.02, 3.0]),
            ("3-5 pages, range 7–9", vec![3.0, 5.0, 7.0, 9.0]),
            ("GPT4 and GPT-4 and x_2", vec![4.0]),
            ("答案是42。", vec![42.0]),
            ("5kg, 20%, \\boxed{18}", vec![5.0, 20.0, 18.0]),
            ("v1.2.3 at 127.0.0.1 on 2024-01-02", vec![2024.0, 1.0, 2.0]),
            ("1e999", vec![]),
            ("one", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(numbers(text), expected, "{text}");
        }
    }

    #[test]
    fn right_and_wrong() {
        check("numeric: {}", "42", "The answer is 42.", 1.0);
        check("numeric: {}", "42", "6 x 7 = 42", 1.0);
        check("numeric: {which: first}", "42", "6 x 7 = 42", 0.0);
        check("numeric: {which: only}", "42", "6 x 7 = 42", 0.0);
        check("numeric: {which: only}", "42", "is 42", 1.0);
        check("numeric: {abs_tolerance: 0.5}", "42", "42.5", 1.0);
        check("numeric: {abs_tolerance: 0.5}", "42", "42.6", 0.0);
        check("numeric: {rel_tolerance: 0.01}", "-200", "-202", 1.0);
        check("numeric: {rel_tolerance: 0.01}", "-200", "-203", 0.0);
        check("numeric: {}", "\"1,234\"", "1234", 1.0);
        check("numeric: {}", "[1, 2]", "2", 1.0);
        check("numeric: {value: 7}", "null", "7.0", 1.0);
        check("numeric: {decimal_comma: true}", "1234.5", "1.234,5 €", 1.0);
        check("numeric: {percent: true}", "0.5", "50 %", 1.0);
        check("numeric: {percent: true}", "\"50%\"", "0.5", 1.0);
        check("numeric: {after: '####'}", "\"3 + 4 = 7\\n#### 7\"", "3 + 4\n#### 7", 1.0);
        check("numeric: {after: '####'}", "7", "it is 7", 0.0);
        check("numeric: {}", "42", "", 0.0);
        check("numeric: {}", "0", "nothing", 0.0);
    }

    #[test]
    fn reasons_and_refusals() {
        assert_eq!(reason("numeric: {}", "42", "41"), "expected 42, got 41");
        assert_eq!(reason("numeric: {}", "42", "dunno"), "there is no number in `dunno`");
        unjudged("numeric: {}", "many", "1", "not one number");
        unjudged("numeric: {}", "{}", "1", "type object");
        unjudged("numeric: {}", "null", "1", "no `expected`");
        refused("numeric: {abs_tolerance: -1}", "0 or more");
        refused("numeric: {rel_tolerance: .inf}", "0 or more");
        refused("numeric: {value: many}", "not one number");
        refused("numeric: {after: ''}", "remove it");
    }

    proptest! {
        #[test]
        fn any_plain_number_is_read_back(number in -1e15f64..1e15) {
            prop_assert_eq!(numbers(&format!("so {number} it is")), vec![number]);
            prop_assert_eq!(numbers(&format!("so {number:e} it is")), vec![number]);
        }

        #[test]
        fn any_text_is_read_without_panic(text in any::<String>(), comma in any::<bool>(), percent in any::<bool>()) {
            let settings = Numeric { decimal_comma: comma, percent, ..Numeric::default() };
            prop_assert!(settings.scanner(&text).all(f64::is_finite));
        }

        #[test]
        fn number_like_text_is_read_without_panic(text in "[-−0-9.,eE%$_ \u{202f}é]{0,24}", comma in any::<bool>()) {
            let settings = Numeric { decimal_comma: comma, percent: true, ..Numeric::default() };
            prop_assert!(settings.scanner(&text).all(f64::is_finite));
        }
    }
}
