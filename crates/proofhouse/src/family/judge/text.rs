//! How judges read text: normalisation, the alternatives that a case may expect, and excerpts for their reasons.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

use proofhouse_ledger::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Subject;
use crate::text::complaint::Complaint;
use crate::text::visible::is_unseen;

/// How many characters of a text a reason shows.
const EXCERPT_CHARS: usize = 80;

/// Which of several finds in an answer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    /// The first one.
    First,
    /// The last one: models reason first and answer at the end.
    #[default]
    Last,
    /// There must be exactly one.
    Only,
}

/// What makes two texts count as equal.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Folding {
    pub(super) ignore_case: bool,
    pub(super) trim: bool,
    pub(super) collapse_whitespace: bool,
    pub(super) ignore_punctuation: bool,
}

/// Unicode punctuation, and the ASCII symbols that most scripts' normalisers count as such.
static PUNCTUATION: LazyLock<::regex::Regex> =
    LazyLock::new(|| ::regex::Regex::new(r"[\p{P}$+<=>^`|~]+").expect("a constant pattern compiles"));

impl Folding {
    /// The text that stands for all texts that count as equal to it. Borrows when nothing but the ends changes.
    pub(super) fn fold<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut folded = Cow::Borrowed(text);
        if self.ignore_case {
            folded = Cow::Owned(fold_case(&folded));
        }
        if self.ignore_punctuation {
            folded = Cow::Owned(PUNCTUATION.replace_all(&folded, "").into_owned());
        }
        if self.collapse_whitespace {
            folded = Cow::Owned(collapse(&folded));
        }
        match folded {
            Cow::Borrowed(whole) if self.trim => Cow::Borrowed(whole.trim()),
            Cow::Owned(whole) if self.trim && whole.trim().len() < whole.len() => {
                Cow::Owned(whole.trim().to_owned())
            }
            done => done,
        }
    }
}

/// Upper case, then lower case: this joins `ß` with `ss` and both small sigmas, as Unicode case folding does.
fn fold_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// The alternatives that a value stands for: the items of a list, or the value alone.
pub(super) fn alternatives(value: &Json) -> &[Json] {
    match value {
        Json::Array(list) => list,
        single => std::slice::from_ref(single),
    }
}

/// The expected texts: the judge's own, folded once, or else the case's.
#[derive(Debug)]
pub(super) struct Texts {
    own: Option<Vec<String>>,
    folding: Folding,
}

impl Texts {
    pub(super) fn new(own: Option<&Json>, folding: Folding) -> Result<Self, Complaint> {
        let own = match own {
            None => None,
            Some(value) => {
                let texts = folded(value, &folding).map_err(|complaint| complaint.about("`value`"))?;
                Some(texts.into_iter().map(Cow::into_owned).collect())
            }
        };
        Ok(Texts { own, folding })
    }

    /// At least one text, or why there is none.
    pub(super) fn of<'t>(&'t self, subject: &Subject<'t>) -> Result<Vec<Cow<'t, str>>, Complaint> {
        match &self.own {
            Some(own) => Ok(own.iter().map(|text| Cow::Borrowed(text.as_str())).collect()),
            None => expected_texts(subject, &self.folding),
        }
    }

    /// The answer and the expected texts, where none is longer than what can be compared in bounded time.
    pub(super) fn comparable<'t>(
        &'t self,
        subject: &Subject<'t>,
        max_bytes: usize,
    ) -> Result<(Cow<'t, str>, Vec<Cow<'t, str>>), Complaint> {
        let (wanted, text) = (self.of(subject)?, subject.text());
        if text.len() > max_bytes || wanted.iter().any(|reference| reference.len() > max_bytes) {
            return Err(Complaint::new(format!(
                "texts of more than {max_bytes} bytes are too long to compare"
            )));
        }
        Ok((text, wanted))
    }
}

/// What a judge has of its own, or else what it reads from the case's `expected`.
pub(super) fn own_or_expected<'a, T: Clone>(
    own: Option<&'a [T]>,
    subject: &Subject<'_>,
    read: impl FnOnce(&Json) -> Result<Vec<T>, Complaint>,
) -> Result<Cow<'a, [T]>, Complaint> {
    match (own, subject.expected) {
        (Some(own), _) => Ok(Cow::Borrowed(own)),
        (None, Json::Null) => Err(Complaint::new(NOTHING_EXPECTED)),
        (None, value) => {
            read(value).map(Cow::Owned).map_err(|complaint| complaint.about("the case's `expected`"))
        }
    }
}

fn expected_texts<'t>(subject: &Subject<'t>, folding: &Folding) -> Result<Vec<Cow<'t, str>>, Complaint> {
    if *subject.expected == Json::Null {
        return Err(Complaint::new(NOTHING_EXPECTED));
    }
    folded(subject.expected, folding).map_err(|complaint| complaint.about("the case's `expected`"))
}

/// The error of a judge that has no value of its own and whose case expects nothing.
pub(super) const NOTHING_EXPECTED: &str = "the case has no `expected` and the judge no `value` of its own";

fn folded<'t>(value: &'t Json, folding: &Folding) -> Result<Vec<Cow<'t, str>>, Complaint> {
    let list = alternatives(value);
    if list.is_empty() {
        return Err(Complaint::new("is an empty list; no answer could be right"));
    }
    list.iter().map(|item| fold_scalar(item, folding)).collect()
}

fn fold_scalar<'t>(item: &'t Json, folding: &Folding) -> Result<Cow<'t, str>, Complaint> {
    match item {
        Json::String(text) => Ok(folding.fold(text)),
        Json::Number(_) | Json::Bool(_) => Ok(Cow::Owned(folding.fold(&item.to_string()).into_owned())),
        other => Err(Complaint::new(format!("holds a value of type {}, not text", other.type_name()))
            .hint("structures are compared by `json-equals`")),
    }
}

/// A short, one-line view of a text in backticks, for a reason that a person reads.
pub(super) fn excerpt(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(EXCERPT_CHARS) + 5);
    out.push('`');
    let mut chars = text.chars();
    for c in chars.by_ref().take(EXCERPT_CHARS) {
        let whole = if c.is_whitespace() { ' ' } else { c };
        out.push(if is_unseen(whole) { '\u{fffd}' } else { whole });
    }
    if chars.next().is_some() {
        out.push('…');
    }
    out.push('`');
    out
}

/// `a`, or `one of a, b, c`: the expected texts in a reason.
pub(super) fn list<T: AsRef<str>>(texts: &[T]) -> String {
    const SHOWN: usize = 3;
    if let [single] = texts {
        return excerpt(single.as_ref());
    }
    let mut out = String::from("one of ");
    for (at, text) in texts.iter().take(SHOWN).enumerate() {
        let separator = if at == 0 { "" } else { ", " };
        let short: String = text.as_ref().chars().take(20).collect();
        let _ = write!(out, "{separator}{}", excerpt(&short));
    }
    if texts.len() > SHOWN {
        let _ = write!(out, " and {} more", texts.len() - SHOWN);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(folding: Folding, text: &str, expected: &str) {
        assert_eq!(folding.fold(text), expected, "{folding:?}");
    }

    #[test]
    fn each_setting_folds_what_it_says() {
        let plain = Folding::default();
        check(plain, " A\tb ", " A\tb ");
        check(Folding { trim: true, ..plain }, "\u{a0} A\tb \r\n", "A\tb");
        check(
            Folding { ignore_case: true, ..plain },
            "Straße ΟΔΥΣΣΕΥΣ ὀδυσσεύς",
            "strasse οδυσσευσ ὀδυσσεύσ",
        );
        check(Folding { collapse_whitespace: true, ..plain }, " a\n\n b\u{3000}c ", "a b c");
        check(Folding { ignore_punctuation: true, ..plain }, "«a»-b, $c¡", "ab c");
        let all =
            Folding { ignore_case: true, trim: true, collapse_whitespace: true, ignore_punctuation: true };
        check(all, " The  answer —\n *is*: 42! ", "the answer is 42");
        check(all, "", "");
        check(all, "!?", "");
    }

    #[test]
    fn folding_borrows_when_only_the_ends_change() {
        let folding = Folding { trim: true, ..Folding::default() };
        assert!(matches!(folding.fold(" a "), Cow::Borrowed("a")));
    }

    #[test]
    fn an_excerpt_is_short_and_harmless() {
        assert_eq!(excerpt("a\nb\u{1b}[31mc\u{202e}d"), "`a b\u{fffd}[31mc\u{fffd}d`");
        assert_eq!(excerpt(&"x".repeat(1_000_000)).chars().count(), EXCERPT_CHARS + 3);
        assert_eq!(list(&["a", "b", "c", "d"]), "one of `a`, `b`, `c` and 1 more");
    }
}
