//! A JSON value whose every instance has exactly one canonical text, and the strict parser that refuses the rest.
//!
//! RFC 8785 defines bytes only for I-JSON: no duplicate keys, no lone surrogates, no numbers that a double cannot hold.
//! `Json` cannot express those, so whatever is parsed here can be emitted again to the same bytes.

use std::cmp::Ordering;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

mod canonical;
mod parse;
mod ser;
mod typed;

pub(crate) use canonical::is_canonical;
pub use parse::{Fault, ParseError, Strictness, parse};
pub use ser::{SerError, to_json};
pub use typed::{NotThat, from_json};

/// The largest integer that a double holds together with all its smaller neighbours: 2^53.
pub const MAX_SAFE_INTEGER: u64 = 1 << 53;

/// How deep arrays and objects may nest.
pub const MAX_DEPTH: usize = 128;

/// A JSON value in canonical form: objects are sorted, numbers are finite doubles.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Json {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A finite double; integers up to 2^53 are exact.
    Number(f64),
    /// Text, valid UTF-8 by construction.
    String(String),
    /// A list.
    Array(Vec<Json>),
    /// A map, sorted by UTF-16 code units.
    Object(Object),
}

/// A map from text to value, sorted as RFC 8785 sorts: by UTF-16 code units, not by bytes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object(Vec<(String, Json)>);

/// Compares two keys by their UTF-16 code units, the order of RFC 8785 and of ECMAScript.
///
/// It differs from byte order only where a character beyond U+FFFF meets one of U+E000..=U+FFFF.
pub fn key_order(a: &str, b: &str) -> Ordering {
    match a.bytes().zip(b.bytes()).find(|(a, b)| a != b) {
        None => a.len().cmp(&b.len()),
        // The first bytes of characters beyond U+FFFF, whose surrogates come before U+E000, are 0xf0 and more.
        Some((a, b)) if a.min(b) >= 0xee && (a >= 0xf0) != (b >= 0xf0) => b.cmp(&a),
        Some((a, b)) => a.cmp(&b),
    }
}

/// A key that an object has already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedKey(pub String);

impl Object {
    /// An empty object.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Inserts at its place; a key that is there already is left alone and given back as the error.
    pub fn insert(&mut self, key: String, value: Json) -> Result<(), RepeatedKey> {
        // Most producers are sorted already, so the end is the likely place.
        let at = match self.0.last() {
            Some((last, _)) if key_order(last, &key) == Ordering::Less => self.0.len(),
            None => 0,
            Some(_) => match self.0.binary_search_by(|(k, _)| key_order(k, &key)) {
                Ok(_) => return Err(RepeatedKey(key)),
                Err(at) => at,
            },
        };
        self.0.insert(at, (key, value));
        Ok(())
    }

    /// Inserts or replaces.
    pub fn set(&mut self, key: &str, value: impl Into<Json>) {
        match self.0.binary_search_by(|(k, _)| key_order(k, key)) {
            Ok(at) => self.0[at].1 = value.into(),
            Err(at) => self.0.insert(at, (key.to_owned(), value.into())),
        }
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.binary_search_by(|(k, _)| key_order(k, key)).ok().map(|at| &self.0[at].1)
    }

    /// Takes `key` out.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let at = self.0.binary_search_by(|(k, _)| key_order(k, key)).ok()?;
        Some(self.0.remove(at).1)
    }

    /// Keys and values in canonical order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Json)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v))
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl IntoIterator for Object {
    type Item = (String, Json);
    type IntoIter = std::vec::IntoIter<(String, Json)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<K: Into<String>, V: Into<Json>> FromIterator<(K, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut object = Object::new();
        for (key, value) in pairs {
            object.set(&key.into(), value);
        }
        object
    }
}

impl Json {
    /// The text, if this is text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if this is a number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Json::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The object, if this is one.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The value of `key`, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.get(key)
    }

    /// The value that an RFC 6901 pointer names.
    pub fn pointer(&self, pointer: &str) -> Option<&Json> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |at, raw| {
            let token = raw.replace("~1", "/").replace("~0", "~");
            match at {
                Json::Object(object) => object.get(&token),
                Json::Array(list) => list.get(token.parse::<usize>().ok()?),
                _ => None,
            }
        })
    }

    /// The word for this value's type, for messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// Text as it is, anything else as canonical JSON: how a value reads inside a prompt.
    pub fn to_text(&self) -> String {
        match self {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::new();
        crate::canonical::push_json(&mut bytes, self);
        f.write_str(&String::from_utf8_lossy(&bytes))
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::String(text.to_owned())
    }
}
impl From<String> for Json {
    fn from(text: String) -> Self {
        Json::String(text)
    }
}
impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Json::Bool(value)
    }
}
impl From<u32> for Json {
    fn from(value: u32) -> Self {
        Json::Number(f64::from(value))
    }
}
impl From<Vec<Json>> for Json {
    fn from(list: Vec<Json>) -> Self {
        Json::Array(list)
    }
}
impl From<Object> for Json {
    fn from(object: Object) -> Self {
        Json::Object(object)
    }
}
impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Json::Null, Into::into)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(number) if number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER as f64 => {
                serializer.serialize_i64(*number as i64)
            }
            Json::Number(number) => serializer.serialize_f64(*number),
            Json::String(text) => serializer.serialize_str(text),
            Json::Array(list) => {
                let mut seq = serializer.serialize_seq(Some(list.len()))?;
                for item in list {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Json::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                for (key, value) in object.iter() {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

/// Any format's values, held to the same rules: the errors carry the position that the format's own reader adds.
impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

/// Any value fits.
impl schemars::JsonSchema for Json {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Json".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }
    fn visit_none<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        Json::deserialize(deserializer)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Json, E> {
        integer(value.unsigned_abs(), value < 0)
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Json, E> {
        integer(value, false)
    }
    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Json, E> {
        integer(u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX), value < 0)
    }
    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Json, E> {
        integer(u64::try_from(value).unwrap_or(u64::MAX), false)
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Json, E> {
        if !value.is_finite() {
            return Err(E::custom(format_args!("`{value}` is not a number that JSON can hold")));
        }
        Ok(Json::Number(value))
    }
    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::String(text.to_owned()))
    }
    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::String(text))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = seq.next_element()? {
            list.push(item);
        }
        Ok(Json::Array(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut object = Object::new();
        while let Some((key, value)) = map.next_entry::<String, Json>()? {
            object
                .insert(key, value)
                .map_err(|RepeatedKey(key)| de::Error::custom(format_args!("duplicate key `{key}`")))?;
        }
        Ok(Json::Object(object))
    }
}

fn integer<E: de::Error>(magnitude: u64, negative: bool) -> Result<Json, E> {
    if magnitude > MAX_SAFE_INTEGER {
        let sign = if negative { "-" } else { "" };
        return Err(E::custom(format_args!(
            "integer {sign}{magnitude} is beyond 2^53 and would be rounded; write it as a string"
        )));
    }
    let value = magnitude as f64;
    Ok(Json::Number(if negative { -value } else { value }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Json {
        parse(text.as_bytes(), Strictness::Strict).expect(text)
    }

    #[test]
    fn an_object_keeps_its_keys_in_order_and_each_once() {
        let mut object = Object::new();
        assert!(object.is_empty());
        for key in ["m", "z", "a", "n"] {
            object.insert(key.to_owned(), Json::from(key)).unwrap();
        }
        for key in ["a", "n", "z"] {
            let again = object.insert(key.to_owned(), Json::Null);
            assert_eq!(again, Err(RepeatedKey(key.to_owned())), "the value that is there stays");
        }
        object.set("n", true);
        object.set("b", 7u32);
        let keys: Vec<&str> = object.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["a", "b", "m", "n", "z"]);
        assert_eq!((object.len(), object.is_empty()), (5, false));
        assert_eq!((object.get("n"), object.get("o")), (Some(&Json::Bool(true)), None));
        assert_eq!((object.remove("m"), object.remove("m")), (Some(Json::from("m")), None));
        assert_eq!(Json::from(object).to_string(), r#"{"a":"a","b":7,"n":true,"z":"z"}"#);
    }

    #[test]
    fn a_value_says_what_it_is() {
        for (text, name, as_str, as_f64, to_text) in [
            ("null", "null", None, None, "null"),
            ("true", "boolean", None, None, "true"),
            ("-2.5", "number", None, Some(-2.5), "-2.5"),
            (r#""a\"b""#, "string", Some("a\"b"), None, "a\"b"),
            ("[1]", "array", None, None, "[1]"),
            (r#"{"k":1}"#, "object", None, None, r#"{"k":1}"#),
        ] {
            let value = read(text);
            assert_eq!((value.type_name(), value.as_str(), value.as_f64()), (name, as_str, as_f64));
            assert_eq!(value.to_text(), to_text);
            assert_eq!(value.as_object().is_some(), name == "object");
            assert_eq!(value.get("k").and_then(Json::as_f64), (name == "object").then_some(1.0));
        }
    }

    /// The examples of RFC 6901, section 5, and what no value has.
    #[test]
    fn a_pointer_names_one_value() {
        let document = read(
            r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8,"~1":9}"#,
        );
        for (pointer, expected) in [
            ("/foo", Some(r#"["bar","baz"]"#)),
            ("/foo/0", Some(r#""bar""#)),
            ("/foo/1", Some(r#""baz""#)),
            ("/", Some("0")),
            ("/a~1b", Some("1")),
            ("/c%d", Some("2")),
            ("/e^f", Some("3")),
            ("/g|h", Some("4")),
            ("/i\\j", Some("5")),
            ("/k\"l", Some("6")),
            ("/ ", Some("7")),
            ("/m~0n", Some("8")),
            ("/~01", Some("9")),
            ("/foo/2", None),
            ("/foo/bar", None),
            ("/foo/0/x", None),
            ("/bar", None),
            ("foo", None),
        ] {
            let found = document.pointer(pointer).map(Json::to_string);
            assert_eq!(found.as_deref(), expected, "{pointer}");
        }
        assert_eq!(document.pointer(""), Some(&document));
    }

    #[test]
    fn what_is_known_becomes_a_value() {
        assert_eq!(Json::from("a"), Json::String("a".to_owned()));
        assert_eq!(Json::from("a".to_owned()), Json::String("a".to_owned()));
        assert_eq!((Json::from(true), Json::from(false)), (Json::Bool(true), Json::Bool(false)));
        assert_eq!(Json::from(u32::MAX), Json::Number(4_294_967_295.0));
        assert_eq!(Json::from(vec![Json::Null]), Json::Array(vec![Json::Null]));
        assert_eq!((Json::from(Some(3u32)), Json::from(None::<u32>)), (Json::Number(3.0), Json::Null));
        let object: Object = [("b", 1u32), ("a", 2), ("b", 3)].into_iter().collect();
        assert_eq!(Json::from(object.clone()).to_string(), r#"{"a":2,"b":3}"#, "the last one holds");
        let pairs: Vec<(String, Json)> = object.into_iter().collect();
        assert_eq!(pairs, [("a", 2.0), ("b", 3.0)].map(|(key, value)| (key.to_owned(), Json::Number(value))));
    }

    /// 2^53 is the last number that is handed over as an integer; the next whole one is a double.
    #[test]
    fn other_writers_are_given_integers_as_integers() {
        for text in [
            "null",
            "true",
            "0",
            "-3",
            "0.5",
            "9007199254740992",
            "-9007199254740992",
            r#""a""#,
            "[1,[],{}]",
            r#"{"a":1,"b":[null]}"#,
        ] {
            assert_eq!(serde_json::to_string(&read(text)).unwrap(), text);
        }
        let beyond = Json::Number(9_007_199_254_740_994.0);
        assert_eq!(serde_json::to_string(&beyond).unwrap(), "9007199254740994.0");
    }

    #[test]
    fn other_readers_values_are_held_to_the_same_rules() {
        for text in ["null", "false", "7", "-7", "0.25", r#""a""#, "[1,null]", r#"{"a":{"b":1}}"#] {
            assert_eq!(serde_json::from_str::<Json>(text).unwrap(), read(text));
        }
        let repeated = serde_json::from_str::<Json>(r#"{"a":1,"a":1}"#).unwrap_err().to_string();
        assert!(repeated.contains("duplicate key `a`"), "{repeated}");
    }

    /// Readers of other formats may hand over more than JSON has.
    #[test]
    fn every_kind_of_number_is_taken_up_to_the_last_exact_one() {
        use serde::de::value::{BoolDeserializer, Error};
        const EDGE: u64 = 9_007_199_254_740_992;
        let visit = || JsonVisitor;
        let said = |found: Result<Json, Error>| found.map_err(|error| error.to_string());
        for (found, expected) in [
            (visit().visit_none(), Json::Null),
            (visit().visit_unit(), Json::Null),
            (visit().visit_some(BoolDeserializer::new(true)), Json::Bool(true)),
            (visit().visit_i64(-(EDGE as i64)), Json::Number(-9_007_199_254_740_992.0)),
            (visit().visit_u64(EDGE), Json::Number(9_007_199_254_740_992.0)),
            (visit().visit_i128(-5), Json::Number(-5.0)),
            (visit().visit_i128(5), Json::Number(5.0)),
            (visit().visit_u128(5), Json::Number(5.0)),
            (visit().visit_f64(f64::MAX), Json::Number(f64::MAX)),
            (visit().visit_str("a"), Json::from("a")),
            (visit().visit_string("a".to_owned()), Json::from("a")),
        ] {
            assert_eq!(said(found), Ok(expected));
        }
        for (found, expected) in [
            (visit().visit_u64(EDGE + 1), "integer 9007199254740993 is beyond 2^53"),
            (visit().visit_i64(-(EDGE as i64) - 1), "integer -9007199254740993 is beyond 2^53"),
            (visit().visit_i128(i128::MIN), "integer -18446744073709551615 is beyond 2^53"),
            (visit().visit_u128(u128::MAX), "integer 18446744073709551615 is beyond 2^53"),
            (visit().visit_f64(f64::INFINITY), "`inf` is not a number that JSON can hold"),
            (visit().visit_f64(f64::NAN), "`NaN` is not a number that JSON can hold"),
            (visit().visit_bytes(b"a"), "expected a JSON value"),
        ] {
            let found = said(found).unwrap_err();
            assert!(found.contains(expected), "{found}");
        }
        // Zero is read without a sign, which the integers have not.
        let zeros = [visit().visit_i64::<Error>(0), visit().visit_i128(0), visit().visit_u64(0)];
        assert!(zeros.into_iter().all(|zero| zero.unwrap().as_f64().unwrap().is_sign_positive()));
    }

    #[test]
    fn its_schema_says_where_it_stands_that_any_value_fits() {
        #[derive(schemars::JsonSchema)]
        struct Holder {
            #[expect(dead_code, reason = "only its schema is looked at")]
            any: Json,
        }
        let schema = serde_json::to_value(schemars::schema_for!(Holder)).unwrap();
        assert_eq!(schema["properties"]["any"], true);
        assert_eq!(schema.get("$defs"), None);
        assert_eq!(<Json as schemars::JsonSchema>::schema_name(), "Json");
    }

    proptest! {
        #[test]
        fn keys_are_in_the_order_of_their_utf16(a in "[a-c\u{e9}\u{d7ff}\u{e000}\u{ff5e}\u{ffff}\u{10000}\u{1f600}\u{10ffff}]{0,6}", b in "[a-c\u{e9}\u{d7ff}\u{e000}\u{ff5e}\u{ffff}\u{10000}\u{1f600}\u{10ffff}]{0,6}") {
            prop_assert_eq!(key_order(&a, &b), a.encode_utf16().cmp(b.encode_utf16()));
        }

        #[test]
        fn any_keys_are_in_the_order_of_their_utf16(a in any::<String>(), b in any::<String>()) {
            prop_assert_eq!(key_order(&a, &b), a.encode_utf16().cmp(b.encode_utf16()));
        }
    }
}
