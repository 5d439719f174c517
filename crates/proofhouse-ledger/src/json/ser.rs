//! From any `Serialize` to `Json`, refusing what has no canonical form instead of turning it into `null`.

use std::fmt;

use serde::ser::{self, Serialize};

use super::{Json, MAX_SAFE_INTEGER, Object, RepeatedKey};

/// Why a value has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SerError(String);

impl ser::Error for SerError {
    fn custom<T: fmt::Display>(what: T) -> Self {
        SerError(what.to_string())
    }
}

/// Turns a value into canonical JSON: NaN, infinities, integers beyond 2^53, duplicate and non-text keys are errors.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<Json, SerError> {
    value.serialize(ToJson)
}

struct ToJson;

fn number(value: f64) -> Result<Json, SerError> {
    if !value.is_finite() {
        return Err(SerError(format!("`{value}` has no JSON form")));
    }
    Ok(Json::Number(value))
}

impl ser::Serializer for ToJson {
    type Ok = Json;
    type Error = SerError;
    type SerializeSeq = Seq;
    type SerializeTuple = Seq;
    type SerializeTupleStruct = Seq;
    type SerializeTupleVariant = Tagged<Seq>;
    type SerializeMap = Map;
    type SerializeStruct = Map;
    type SerializeStructVariant = Tagged<Map>;

    fn serialize_bool(self, v: bool) -> Result<Json, SerError> {
        Ok(Json::Bool(v))
    }
    fn serialize_i8(self, v: i8) -> Result<Json, SerError> {
        self.serialize_i64(v.into())
    }
    fn serialize_i16(self, v: i16) -> Result<Json, SerError> {
        self.serialize_i64(v.into())
    }
    fn serialize_i32(self, v: i32) -> Result<Json, SerError> {
        self.serialize_i64(v.into())
    }
    fn serialize_i64(self, v: i64) -> Result<Json, SerError> {
        if v.unsigned_abs() > MAX_SAFE_INTEGER {
            return Err(SerError(format!("integer {v} is beyond 2^53")));
        }
        Ok(Json::Number(v as f64))
    }
    fn serialize_u8(self, v: u8) -> Result<Json, SerError> {
        self.serialize_u64(v.into())
    }
    fn serialize_u16(self, v: u16) -> Result<Json, SerError> {
        self.serialize_u64(v.into())
    }
    fn serialize_u32(self, v: u32) -> Result<Json, SerError> {
        self.serialize_u64(v.into())
    }
    fn serialize_u64(self, v: u64) -> Result<Json, SerError> {
        if v > MAX_SAFE_INTEGER {
            return Err(SerError(format!("integer {v} is beyond 2^53")));
        }
        Ok(Json::Number(v as f64))
    }
    fn serialize_f32(self, v: f32) -> Result<Json, SerError> {
        number(v.into())
    }
    fn serialize_f64(self, v: f64) -> Result<Json, SerError> {
        number(v)
    }
    fn serialize_char(self, v: char) -> Result<Json, SerError> {
        Ok(Json::String(v.to_string()))
    }
    fn serialize_str(self, v: &str) -> Result<Json, SerError> {
        Ok(Json::String(v.to_owned()))
    }
    fn serialize_bytes(self, _: &[u8]) -> Result<Json, SerError> {
        Err(SerError("raw bytes have no JSON form".to_owned()))
    }
    fn serialize_none(self) -> Result<Json, SerError> {
        Ok(Json::Null)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Json, SerError> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<Json, SerError> {
        Ok(Json::Null)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Json, SerError> {
        Ok(Json::Null)
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Json, SerError> {
        Ok(Json::String(variant.to_owned()))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        v: &T,
    ) -> Result<Json, SerError> {
        v.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Json, SerError> {
        tagged(variant, value.serialize(self)?)
    }
    fn serialize_seq(self, len: Option<usize>) -> Result<Seq, SerError> {
        Ok(Seq(Vec::with_capacity(len.unwrap_or(0))))
    }
    fn serialize_tuple(self, len: usize) -> Result<Seq, SerError> {
        self.serialize_seq(Some(len))
    }
    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Seq, SerError> {
        self.serialize_seq(Some(len))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Tagged<Seq>, SerError> {
        Ok(Tagged(variant, Seq(Vec::with_capacity(len))))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Map, SerError> {
        Ok(Map { object: Object::new(), key: None })
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Map, SerError> {
        self.serialize_map(None)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Tagged<Map>, SerError> {
        Ok(Tagged(variant, Map { object: Object::new(), key: None }))
    }
}

fn tagged(variant: &str, value: Json) -> Result<Json, SerError> {
    Ok(Json::Object([(variant, value)].into_iter().collect()))
}

/// An array being filled.
pub(super) struct Seq(Vec<Json>);
/// An object being filled.
pub(super) struct Map {
    object: Object,
    key: Option<String>,
}
/// An enum variant's payload being filled.
pub(super) struct Tagged<T>(&'static str, T);

impl Map {
    fn put(&mut self, key: String, value: Json) -> Result<(), SerError> {
        self.object.insert(key, value).map_err(|RepeatedKey(key)| SerError(format!("duplicate key `{key}`")))
    }
}

impl ser::SerializeSeq for Seq {
    type Ok = Json;
    type Error = SerError;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerError> {
        self.0.push(to_json(value)?);
        Ok(())
    }
    fn end(self) -> Result<Json, SerError> {
        Ok(Json::Array(self.0))
    }
}
impl ser::SerializeTuple for Seq {
    type Ok = Json;
    type Error = SerError;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerError> {
        ser::SerializeSeq::serialize_element(self, value)
    }
    fn end(self) -> Result<Json, SerError> {
        ser::SerializeSeq::end(self)
    }
}
impl ser::SerializeTupleStruct for Seq {
    type Ok = Json;
    type Error = SerError;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerError> {
        ser::SerializeSeq::serialize_element(self, value)
    }
    fn end(self) -> Result<Json, SerError> {
        ser::SerializeSeq::end(self)
    }
}
impl ser::SerializeTupleVariant for Tagged<Seq> {
    type Ok = Json;
    type Error = SerError;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerError> {
        ser::SerializeSeq::serialize_element(&mut self.1, value)
    }
    fn end(self) -> Result<Json, SerError> {
        tagged(self.0, ser::SerializeSeq::end(self.1)?)
    }
}
impl ser::SerializeMap for Map {
    type Ok = Json;
    type Error = SerError;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), SerError> {
        match to_json(key)? {
            Json::String(key) => self.key = Some(key),
            other => return Err(SerError(format!("key of type {} is not text", other.type_name()))),
        }
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerError> {
        let key = self.key.take().ok_or_else(|| SerError("a value without a key".to_owned()))?;
        self.put(key, to_json(value)?)
    }
    fn end(self) -> Result<Json, SerError> {
        Ok(Json::Object(self.object))
    }
}
impl ser::SerializeStruct for Map {
    type Ok = Json;
    type Error = SerError;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), SerError> {
        self.put(key.to_owned(), to_json(value)?)
    }
    fn end(self) -> Result<Json, SerError> {
        Ok(Json::Object(self.object))
    }
}
impl ser::SerializeStructVariant for Tagged<Map> {
    type Ok = Json;
    type Error = SerError;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), SerError> {
        ser::SerializeStruct::serialize_field(&mut self.1, key, value)
    }
    fn end(self) -> Result<Json, SerError> {
        tagged(self.0, ser::SerializeStruct::end(self.1)?)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serializer as _;
    use serde::ser::SerializeMap as _;

    use super::*;

    #[derive(serde::Serialize)]
    struct Unit;
    #[derive(serde::Serialize)]
    struct New(u8);
    #[derive(serde::Serialize)]
    struct Pair(u8, bool);
    #[derive(serde::Serialize)]
    struct Named {
        b: u8,
        a: Option<u8>,
    }
    #[derive(serde::Serialize)]
    enum Choice {
        Plain,
        New(u8),
        Pair(u8, u8),
        Named { b: u8, a: u8 },
    }
    struct Bytes;
    impl Serialize for Bytes {
        fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(b"ab")
        }
    }

    fn text(value: impl Serialize) -> String {
        match to_json(&value) {
            Ok(value) => value.to_string(),
            Err(error) => format!("error: {error}"),
        }
    }

    /// Enums as serde tags them unless told otherwise: by a key.
    #[test]
    fn every_shape_has_its_text() {
        for (found, expected) in [
            (text(()), "null"),
            (text(None::<u8>), "null"),
            (text(Some(3)), "3"),
            (text(true), "true"),
            (text(false), "false"),
            (text('é'), "\"é\""),
            (text("a\"b"), r#""a\"b""#),
            (text([1u8, 2]), "[1,2]"),
            (text(vec![1u8, 2, 3]), "[1,2,3]"),
            (text((1u8, "a")), r#"[1,"a"]"#),
            (text(BTreeMap::from([("b", 1u8), ("a", 2)])), r#"{"a":2,"b":1}"#),
            (text(BTreeMap::from([('c', 1u8)])), r#"{"c":1}"#),
            (text(Unit), "null"),
            (text(New(4)), "4"),
            (text(Pair(4, true)), "[4,true]"),
            (text(Named { b: 1, a: None }), r#"{"a":null,"b":1}"#),
            (text(Choice::Plain), r#""Plain""#),
            (text(Choice::New(1)), r#"{"New":1}"#),
            (text(Choice::Pair(1, 2)), r#"{"Pair":[1,2]}"#),
            (text(Choice::Named { b: 1, a: 2 }), r#"{"Named":{"a":2,"b":1}}"#),
        ] {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn every_width_of_number_is_kept() {
        for (found, expected) in [
            (text(i8::MIN), "-128"),
            (text(i16::MIN), "-32768"),
            (text(i32::MIN), "-2147483648"),
            (text(u8::MAX), "255"),
            (text(u16::MAX), "65535"),
            (text(u32::MAX), "4294967295"),
            (text(9_007_199_254_740_992_u64), "9007199254740992"),
            (text(9_007_199_254_740_992_i64), "9007199254740992"),
            (text(-9_007_199_254_740_992_i64), "-9007199254740992"),
            (text(0.5f32), "0.5"),
            (text(0.1f64), "0.1"),
        ] {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn what_has_no_canonical_form_is_refused_and_named() {
        for (found, expected) in [
            (text(9_007_199_254_740_993_u64), "error: integer 9007199254740993 is beyond 2^53"),
            (text(-9_007_199_254_740_993_i64), "error: integer -9007199254740993 is beyond 2^53"),
            (text(f32::NAN), "error: `NaN` has no JSON form"),
            (text(f64::NEG_INFINITY), "error: `-inf` has no JSON form"),
            (text(Bytes), "error: raw bytes have no JSON form"),
            (text(BTreeMap::from([(1u8, 1u8)])), "error: key of type number is not text"),
            (text(vec![Some(f64::NAN)]), "error: `NaN` has no JSON form"),
        ] {
            assert_eq!(found, expected);
        }
        let mut map = ToJson.serialize_map(None).unwrap();
        assert_eq!(map.serialize_value(&1u8).unwrap_err().to_string(), "a value without a key");
        map.serialize_entry("a", &1u8).unwrap();
        assert_eq!(map.serialize_entry("a", &2u8).unwrap_err().to_string(), "duplicate key `a`");
    }
}
