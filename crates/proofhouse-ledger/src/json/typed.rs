//! Reading a typed value out of a `Json`: numbers stay the doubles that they are.

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::{Json, MAX_SAFE_INTEGER};

/// Why a value is not of the type that was asked for.
pub type NotThat = serde::de::value::Error;

/// The value as a `T`.
pub fn from_json<T: DeserializeOwned>(value: &Json) -> Result<T, NotThat> {
    T::deserialize(Part(value))
}

struct Part<'a>(&'a Json);

impl<'a> IntoDeserializer<'a, NotThat> for Part<'a> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Part<'de> {
    type Error = NotThat;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotThat> {
        match self.0 {
            Json::Null => visitor.visit_unit(),
            Json::Bool(value) => visitor.visit_bool(*value),
            Json::Number(number) if number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER as f64 => {
                visitor.visit_i64(*number as i64)
            }
            Json::Number(number) => visitor.visit_f64(*number),
            Json::String(text) => visitor.visit_borrowed_str(text),
            Json::Array(list) => {
                let mut items = SeqDeserializer::new(list.iter().map(Part));
                let value = visitor.visit_seq(&mut items)?;
                items.end().map(|()| value)
            }
            Json::Object(object) => {
                let mut entries = MapDeserializer::new(object.iter().map(|(key, value)| (key, Part(value))));
                let value = visitor.visit_map(&mut entries)?;
                entries.end().map(|()| value)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotThat> {
        match self.0 {
            Json::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, NotThat> {
        visitor.visit_newtype_struct(self)
    }

    /// An enum is a word, or a map from its word to its value.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NotThat> {
        match self.0 {
            Json::String(word) => visitor.visit_enum(word.as_str().into_deserializer()),
            Json::Object(object) if object.len() == 1 => {
                let entries = MapDeserializer::new(object.iter().map(|(key, value)| (key, Part(value))));
                visitor.visit_enum(MapAccessDeserializer::new(entries))
            }
            other => Err(NotThat::custom(format_args!("a {} is not a word", other.type_name()))),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;
    use crate::json::{Strictness, parse};

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Word {
        Yes,
        No,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Wrapped(u64);

    #[derive(Debug, PartialEq, Deserialize)]
    struct Typed {
        word: Word,
        wrapped: Wrapped,
        real: f64,
        whole: f64,
        texts: Vec<String>,
        map: BTreeMap<String, Option<bool>>,
        any: Json,
        #[serde(default)]
        missing: Option<u32>,
    }

    fn read(text: &str) -> Result<Typed, NotThat> {
        from_json(&parse(text.as_bytes(), Strictness::Strict).unwrap())
    }

    const WHOLE: &str = r#"{"word":"no","wrapped":9007199254740992,"real":0.1,"whole":3,"texts":["a"],
        "map":{"x":null,"y":true},"any":{"k":[1,2.5]},"more":1}"#;

    #[test]
    fn a_value_is_read_as_its_type() {
        let typed = read(WHOLE).unwrap();
        assert_eq!((typed.word, typed.wrapped), (Word::No, Wrapped(MAX_SAFE_INTEGER)));
        assert_eq!((typed.real, typed.whole, typed.missing), (0.1, 3.0, None));
        assert_eq!(typed.texts, ["a"]);
        assert_eq!(typed.map, BTreeMap::from([("x".to_owned(), None), ("y".to_owned(), Some(true))]));
        assert_eq!(typed.any.to_string(), r#"{"k":[1,2.5]}"#);
    }

    #[test]
    fn another_type_is_an_error() {
        for (from, to) in [
            (r#""no""#, r#""maybe""#),
            (r#""no""#, "7"),
            ("9007199254740992", "-1"),
            ("9007199254740992", "1.5"),
            (r#"["a"]"#, r#"["a",1]"#),
            (r#"["a"]"#, r#""a""#),
            ("0.1", "true"),
        ] {
            assert!(read(&WHOLE.replace(from, to)).is_err(), "{from} → {to}");
        }
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Choice {
        Plain,
        New(u64),
        Named { a: bool },
    }

    #[test]
    fn an_enum_is_a_word_or_a_map_of_one_word() {
        let read =
            |text: &str| from_json::<Choice>(&parse(text.as_bytes(), Strictness::Strict).unwrap()).ok();
        for (text, expected) in [
            (r#""plain""#, Some(Choice::Plain)),
            (r#"{"new":7}"#, Some(Choice::New(7))),
            (r#"{"named":{"a":true}}"#, Some(Choice::Named { a: true })),
            (r#"{"new":7,"other":8}"#, None),
            ("{}", None),
            ("7", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
