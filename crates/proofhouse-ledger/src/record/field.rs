//! Fields by name and type: a misspelt name, or a type that the field does not have, does not compile.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use super::{Damage, Line, Value};
use crate::json::{self, Strictness, is_canonical};
use crate::{Digest, Json, RecordId, RunId};

/// The name of a field that some record has. Only a declaration makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name(&'static str);

impl Name {
    /// The name in files.
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    /// The bytes of the name.
    pub const fn as_bytes(self) -> &'static [u8] {
        self.0.as_bytes()
    }
}

/// A field of a record: its name and what its value is.
pub struct Field<T> {
    name: Name,
    value: PhantomData<fn() -> T>,
}

impl<T> Field<T> {
    pub(super) const fn new(name: &'static str) -> Self {
        Self { name: Name(name), value: PhantomData }
    }

    /// Its name alone.
    pub const fn name(self) -> Name {
        self.name
    }

    /// The name in files.
    pub const fn as_str(self) -> &'static str {
        self.name.0
    }

    /// The bytes of the name.
    pub const fn as_bytes(self) -> &'static [u8] {
        self.name.as_bytes()
    }

    /// That the field is missing, or not what it should be.
    pub const fn damage(self) -> Damage {
        Damage::Field(self.name.0)
    }
}

impl<T> Clone for Field<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Field<T> {}

impl<T> From<Field<T>> for Name {
    fn from(field: Field<T>) -> Name {
        field.name
    }
}

/// What a field of a record can hold: how it is given to the writer, and how it is seen in a line.
pub trait Stored {
    /// What the writer is given.
    type Given<'a>: Copy + std::fmt::Debug + Into<Value<'a>>;
    /// What a reader of the line sees.
    type Seen<'a>;

    /// Reads the canonical JSON of a field; `None` for what it cannot be.
    fn see(raw: &[u8]) -> Option<Self::Seen<'_>>;

    /// What is seen where the field is not there; `None` for a field that every record of its kind has.
    fn missing<'a>() -> Option<Self::Seen<'a>> {
        None
    }

    /// Whether the canonical JSON of a field is one that it can have.
    fn fits(raw: &[u8]) -> bool {
        Self::see(raw).is_some()
    }

    /// Whether the field may be left away.
    fn may_be_missing() -> bool {
        Self::missing().is_some()
    }
}

/// A field that is absent where there is nothing to say; where it is there, it may be null if `T` is an option itself.
pub struct Maybe<T>(PhantomData<T>);

impl<T: Stored> Stored for Maybe<Option<T>> {
    type Given<'a> = Option<T::Given<'a>>;
    type Seen<'a> = Option<T::Seen<'a>>;

    fn see(raw: &[u8]) -> Option<Self::Seen<'_>> {
        T::see(raw).map(Some)
    }

    fn missing<'a>() -> Option<Self::Seen<'a>> {
        Some(None)
    }

    fn fits(raw: &[u8]) -> bool {
        T::fits(raw)
    }
}

impl<T: Stored> Stored for Option<T> {
    type Given<'a> = Option<T::Given<'a>>;
    type Seen<'a> = Option<T::Seen<'a>>;

    fn see(raw: &[u8]) -> Option<Self::Seen<'_>> {
        if raw == b"null" { Some(None) } else { T::see(raw).map(Some) }
    }

    fn fits(raw: &[u8]) -> bool {
        raw == b"null" || T::fits(raw)
    }
}

/// A list that is absent where it is empty.
impl Stored for Maybe<Vec<String>> {
    type Given<'a> = &'a [String];
    type Seen<'a> = Vec<String>;

    fn see(raw: &[u8]) -> Option<Vec<String>> {
        listed(raw)
    }

    fn missing<'a>() -> Option<Self::Seen<'a>> {
        Some(Vec::new())
    }

    fn fits(raw: &[u8]) -> bool {
        <Vec<String>>::fits(raw)
    }
}

impl Stored for String {
    type Given<'a> = &'a str;
    type Seen<'a> = Cow<'a, str>;

    fn see(raw: &[u8]) -> Option<Cow<'_, str>> {
        let inner = unquoted(raw)?;
        if memchr::memchr(b'\\', inner).is_none() {
            return std::str::from_utf8(inner).ok().map(Cow::Borrowed);
        }
        match parsed(raw)? {
            Json::String(text) => Some(Cow::Owned(text)),
            _ => None,
        }
    }

    fn fits(raw: &[u8]) -> bool {
        raw.first() == Some(&b'"') && is_canonical(raw)
    }
}

impl Stored for Json {
    type Given<'a> = &'a Json;
    type Seen<'a> = Json;

    fn see(raw: &[u8]) -> Option<Json> {
        parsed(raw)
    }

    /// Most outputs and expectations are plain text.
    fn fits(raw: &[u8]) -> bool {
        is_canonical(raw)
    }
}

impl Stored for Vec<String> {
    type Given<'a> = &'a [String];
    type Seen<'a> = Vec<String>;

    fn see(raw: &[u8]) -> Option<Vec<String>> {
        listed(raw)
    }

    fn fits(raw: &[u8]) -> bool {
        raw == b"[]" || (is_canonical(raw) && Self::see(raw).is_some())
    }
}

/// Judge's name → its score. They are few: a list costs less than a map.
impl Stored for BTreeMap<String, Option<f64>> {
    type Given<'a> = &'a [(&'a str, Option<f64>)];
    type Seen<'a> = Vec<(String, Option<f64>)>;

    fn see(raw: &[u8]) -> Option<Vec<(String, Option<f64>)>> {
        if let Some(scores) = plain_scores(raw) {
            return Some(scores);
        }
        let Json::Object(scores) = parsed(raw)? else { return None };
        let score = |(name, score)| match score {
            Json::Number(score) => Some((name, Some(score))),
            Json::Null => Some((name, None)),
            _ => None,
        };
        scores.into_iter().map(score).collect()
    }

    fn fits(raw: &[u8]) -> bool {
        is_canonical(raw) && Self::see(raw).is_some()
    }
}

/// Values that are given as they are seen.
macro_rules! plain {
    ($($name:ty: |$raw:ident| $see:expr;)*) => {
        $(impl $crate::record::Stored for $name {
            type Given<'a> = Self;
            type Seen<'a> = Self;

            fn see($raw: &[u8]) -> Option<Self> {
                $see
            }
        })*
    };
}
pub(super) use plain;

plain! {
    bool: |raw| match raw {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    };
    u64: |raw| integer(raw);
    u32: |raw| integer(raw);
    i32: |raw| integer(raw);
    Digest: |raw| Digest::from_hex(unquoted(raw)?);
    RecordId: |raw| RecordId::from_hex(unquoted(raw)?);
    RunId: |raw| RunId::from_hex(unquoted(raw)?);
}

/// A closed set of words: an enum with `ALL` and `as_str`.
macro_rules! words {
    ($($name:ident),* $(,)?) => {
        $(impl<'a> From<$name> for $crate::record::Value<'a> {
            fn from(value: $name) -> Self {
                $crate::record::Value::Word(value.as_str())
            }
        }
        $crate::record::field::plain! {
            $name: |raw| {
                let word = $crate::record::field::unquoted(raw)?;
                $name::ALL.into_iter().find(|value| value.as_str().as_bytes() == word)
            };
        })*
    };
}
pub(super) use words;

/// Structures: they are given as JSON in canonical form, and seen as what they are.
macro_rules! structures {
    ($($name:ty),* $(,)?) => {
        $(impl $crate::record::field::Stored for $name {
            type Given<'a> = &'a $crate::Json;
            type Seen<'a> = Self;

            fn see(raw: &[u8]) -> Option<Self> {
                $crate::record::field::listed(raw)
            }

            fn fits(raw: &[u8]) -> bool {
                $crate::json::is_canonical(raw) && Self::see(raw).is_some()
            }
        })*
    };
}
pub(super) use structures;

structures!(Vec<Option<String>>);

impl Stored for f64 {
    type Given<'a> = Self;
    type Seen<'a> = Self;

    fn see(raw: &[u8]) -> Option<f64> {
        parsed(raw)?.as_f64()
    }

    fn fits(raw: &[u8]) -> bool {
        is_canonical(raw) && Self::see(raw).is_some()
    }
}

/// Names and texts.
impl Stored for BTreeMap<String, String> {
    type Given<'a> = &'a Json;
    type Seen<'a> = Self;

    fn see(raw: &[u8]) -> Option<Self> {
        listed(raw)
    }

    fn fits(raw: &[u8]) -> bool {
        are_plain_texts(raw) || (is_canonical(raw) && Self::see(raw).is_some())
    }
}

/// A whole number as canonical JSON writes it: without `+`, without zeros before it.
fn integer<T: std::str::FromStr>(raw: &[u8]) -> Option<T> {
    let digits = raw.strip_prefix(b"-").unwrap_or(raw);
    let canonical = raw == b"0" || matches!(digits, [b'1'..=b'9', ..]);
    if canonical { std::str::from_utf8(raw).ok()?.parse().ok() } else { None }
}

pub(super) fn unquoted(raw: &[u8]) -> Option<&[u8]> {
    raw.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// Scores that are 0, 1 or null below names that need no unescaping, as nearly all are; nothing where it takes a parser.
fn plain_scores(raw: &[u8]) -> Option<Vec<(String, Option<f64>)>> {
    let mut scores: Vec<(String, Option<f64>)> = Vec::new();
    each_plain_score(raw, |name, score| scores.push((name.to_owned(), score)))?;
    Some(scores)
}

/// Shows the same scores without keeping them; some of them also where it ends with nothing.
pub(super) fn each_plain_score(raw: &[u8], mut each: impl FnMut(&str, Option<f64>)) -> Option<()> {
    each_plain(raw, |name, behind| {
        let (score, length) = match behind {
            [b'0', b',' | b'}', ..] => (Some(0.0), 1),
            [b'1', b',' | b'}', ..] => (Some(1.0), 1),
            [b'n', b'u', b'l', b'l', b',' | b'}', ..] => (None, 4),
            _ => return None,
        };
        each(name, score);
        Some(&behind[length..])
    })
}

/// Whether these are names and texts of plain characters.
fn are_plain_texts(raw: &[u8]) -> bool {
    each_plain(raw, |_, behind| plain_text(behind).map(|(_, behind)| behind)).is_some()
}

/// Walks an object whose names are plain text in canonical order; `value` gives what is behind a name's value.
fn each_plain<'a>(raw: &'a [u8], mut value: impl FnMut(&'a str, &'a [u8]) -> Option<&'a [u8]>) -> Option<()> {
    let mut rest = raw.strip_prefix(b"{")?;
    let mut last: Option<&str> = None;
    while rest != b"}" {
        if last.is_some() {
            rest = rest.strip_prefix(b",")?;
        }
        let (name, behind) = plain_text(rest)?;
        // A name that comes twice, or too late, is for the parser to complain of.
        if last.is_some_and(|last| last >= name) {
            return None;
        }
        rest = value(name, behind.strip_prefix(b":")?)?;
        last = Some(name);
    }
    Some(())
}

/// A text of visible ASCII at the beginning, without its quotes, and what is behind it.
fn plain_text(raw: &[u8]) -> Option<(&str, &[u8])> {
    let raw = raw.strip_prefix(b"\"")?;
    let end = raw.iter().position(|byte| !matches!(byte, b' '..=b'~') || matches!(byte, b'"' | b'\\'))?;
    let behind = raw[end..].strip_prefix(b"\"")?;
    Some((std::str::from_utf8(&raw[..end]).ok()?, behind))
}

/// Not by serde_json, which may miss the last bit of a number.
pub(super) fn listed<T: DeserializeOwned>(raw: &[u8]) -> Option<T> {
    json::from_json(&parsed(raw)?).ok()
}

fn parsed(raw: &[u8]) -> Option<Json> {
    json::parse(raw, Strictness::Canonical).ok()
}

/// A stored digest of a record's own content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentDigest {
    /// The field that holds the digest.
    pub digest: Name,
    /// The field that it is of.
    pub of: Name,
}

impl ContentDigest {
    pub(super) const fn new<D, T>(digest: Field<D>, of: Field<T>) -> Self {
        Self { digest: digest.name, of: of.name }
    }

    /// The digest computed anew: of text its bytes, of a structure its canonical JSON, of null none. Nothing where the
    /// content is not there or cannot be read.
    pub fn computed(&self, line: &Line<'_>) -> Option<Option<Digest>> {
        match line.raw(self.of)? {
            b"null" => Some(None),
            raw @ [b'"', ..] => String::see(raw).map(|text| Some(Digest::of(text.as_bytes()))),
            raw => parsed(raw).map(|value| output_digest(&value)),
        }
    }

    /// The digest that the line holds, with or without `sha256:`; nothing where it holds something else.
    pub fn stored(&self, line: &Line<'_>) -> Option<Option<Digest>> {
        let raw = line.raw(self.digest)?;
        if raw == b"null" {
            return Some(None);
        }
        let text = unquoted(raw)?;
        Digest::from_hex(text.strip_prefix(b"sha256:").unwrap_or(text)).map(Some)
    }

    /// Whether the line holds what it should.
    pub fn is_right(&self, line: &Line<'_>) -> bool {
        self.computed(line).is_some_and(|computed| self.stored(line) == Some(computed))
    }
}

/// The digest of an output: of text its bytes, of a structure its canonical JSON, of null none.
pub fn output_digest(output: &Json) -> Option<Digest> {
    match output {
        Json::Null => None,
        Json::String(text) => Some(Digest::of(text.as_bytes())),
        other => Some(Digest::of(other.to_string().as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scores_are_what_a_parser_reads() {
        let plain = [r#"{}"#, r#"{"a":0}"#, r#"{"a":1,"b":null,"near ly":0}"#];
        let others = [
            r#"{"a":0.5}"#,
            r#"{"a":10}"#,
            r#"{"b":1,"a":1}"#,
            r#"{"a":1,"a":1}"#,
            r#"{"a\u0001":1}"#,
            r#"{"é":1}"#,
            r#"{"a":1"#,
            r#"{"a":1,}"#,
            r#"{"a":1}}"#,
            r#"{"a":true}"#,
            r#"["a"]"#,
            "null",
            "",
        ];
        for text in plain {
            let Some(Json::Object(slow)) = parsed(text.as_bytes()) else { panic!("{text}") };
            let slow: Vec<(String, Option<f64>)> =
                slow.into_iter().map(|(name, score)| (name, score.as_f64())).collect();
            assert_eq!(plain_scores(text.as_bytes()), Some(slow), "{text}");
        }
        for text in others {
            assert_eq!(plain_scores(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn what_fits_at_a_glance_is_what_a_parser_reads() {
        let texts = [
            (r#"{}"#, true),
            (r#"{"a":"x"}"#, true),
            (r#"{"a":"","b":"got `1`, not `3`"}"#, true),
            (r#"{"a":"\n\u0001"}"#, true),
            (r#"{"a":"\u000a"}"#, false),
            (r#"{"a":"é"}"#, true),
            (r#"{"b":"","a":""}"#, false),
            (r#"{"a":"","a":""}"#, false),
            (r#"{"a":1}"#, false),
            (r#"{"a":null}"#, false),
            (r#"{"a":"x",}"#, false),
            (r#"{"a":"x"}}"#, false),
            (r#"{"a":"x""#, false),
            (r#"{"a" :"x"}"#, false),
            (r#"{"a":"\x"}"#, false),
            ("{\"a\":\"\u{1}\"}", false),
            ("{\"a\":\"\u{7f}\"}", true),
            ("[]", false),
            ("", false),
        ];
        for (text, fits) in texts {
            let raw = text.as_bytes();
            let slow = is_canonical(raw) && <BTreeMap<String, String>>::see(raw).is_some();
            assert_eq!((<BTreeMap<String, String>>::fits(raw), slow), (fits, fits), "{text}");
        }
        for (text, fits) in
            [("[]", true), (r#"["a"]"#, true), ("[ ]", false), ("[1]", false), ("null", false)]
        {
            assert_eq!(<Vec<String>>::fits(text.as_bytes()), fits, "{text}");
        }
    }

    /// What each type takes, and what it leaves to others: numbers have one form, null is none but of an option.
    #[test]
    fn each_type_has_its_values_and_no_others() {
        fn fitting<T: Stored>(table: &[&'static str]) -> Vec<&'static str> {
            table.iter().copied().filter(|text| T::fits(text.as_bytes())).collect()
        }
        let table = [
            "0",
            "-0",
            "7",
            "-7",
            "07",
            "+7",
            "7.0",
            "0.5",
            "4294967296",
            "null",
            "true",
            r#""a""#,
            r#""\u0041""#,
            "[]",
            r#"["a"]"#,
            r#"["a",null]"#,
            r#"[ "a"]"#,
            "{}",
            r#"{"a":1}"#,
            r#"{"a":1.0}"#,
            r#"{"a":null}"#,
            r#"{"a":"b"}"#,
            "",
        ];
        assert_eq!(fitting::<u32>(&table), ["0", "7"]);
        assert_eq!(fitting::<u64>(&table), ["0", "7", "4294967296"]);
        assert_eq!(fitting::<i32>(&table), ["0", "7", "-7"]);
        assert_eq!(fitting::<f64>(&table), ["0", "7", "-7", "0.5", "4294967296"]);
        assert_eq!(fitting::<Option<u32>>(&table), ["0", "7", "null"]);
        assert_eq!(fitting::<Maybe<Option<u32>>>(&table), ["0", "7"]);
        assert_eq!(fitting::<Maybe<Option<Option<u32>>>>(&table), ["0", "7", "null"]);
        assert_eq!(fitting::<bool>(&table), ["true"]);
        assert_eq!(fitting::<String>(&table), [r#""a""#]);
        assert_eq!(fitting::<Vec<String>>(&table), ["[]", r#"["a"]"#]);
        assert_eq!(fitting::<Maybe<Vec<String>>>(&table), ["[]", r#"["a"]"#]);
        assert_eq!(fitting::<Vec<Option<String>>>(&table), ["[]", r#"["a"]"#, r#"["a",null]"#]);
        let scores = fitting::<BTreeMap<String, Option<f64>>>(&table);
        assert_eq!(scores, ["{}", r#"{"a":1}"#, r#"{"a":null}"#]);
        assert_eq!(fitting::<BTreeMap<String, String>>(&table), ["{}", r#"{"a":"b"}"#]);
        let json: Vec<&str> = fitting::<Json>(&table);
        let none = ["-0", "07", "+7", "7.0", r#""\u0041""#, r#"[ "a"]"#, r#"{"a":1.0}"#, ""];
        assert_eq!(json, table.iter().copied().filter(|text| !none.contains(text)).collect::<Vec<_>>());
    }

    #[test]
    fn what_may_be_left_away_is_said_by_its_type() {
        assert!(
            !u32::may_be_missing() && !<Option<u32>>::may_be_missing() && !<Vec<String>>::may_be_missing()
        );
        assert!(<Maybe<Option<u32>>>::may_be_missing() && <Maybe<Vec<String>>>::may_be_missing());
        assert_eq!(<Maybe<Vec<String>>>::missing(), Some(Vec::new()), "a list that is not there is empty");
        assert_eq!(<Maybe<Vec<String>>>::see(br#"["a","b"]"#), Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(<Maybe<Vec<String>>>::see(b"7"), None);
    }
}
