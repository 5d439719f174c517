//! A JSON Schema as its author wrote it. Models see the order of its keys, so it is kept all the way to the endpoint.

use std::fmt;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::MAX_DEPTH;
use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// The JSON Schema of a tool's arguments, in the order in which it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema(Node);

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Schema {
    /// Its JSON text, keys in their own order.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.0.write(&mut text);
        text
    }

    /// The same as a value whose keys are sorted.
    pub fn to_json(&self) -> Json {
        self.0.to_json()
    }

    /// Whether it describes an object, as a tool's arguments are one.
    pub fn is_of_object(&self) -> bool {
        match &self.0 {
            Node::Map(entries) => entries
                .iter()
                .find(|(key, _)| key == "type")
                .is_none_or(|(_, kind)| *kind == Node::Text("object".to_owned())),
            _ => false,
        }
    }
}

/// A value whose keys are sorted already.
impl From<Json> for Schema {
    fn from(value: Json) -> Self {
        Schema(Node::of(value))
    }
}

impl Node {
    fn of(value: Json) -> Self {
        match value {
            Json::Null => Node::Null,
            Json::Bool(value) => Node::Bool(value),
            Json::Number(number) => Node::Number(number),
            Json::String(text) => Node::Text(text),
            Json::Array(list) => Node::List(list.into_iter().map(Node::of).collect()),
            Json::Object(object) => {
                Node::Map(object.into_iter().map(|(key, value)| (key, Node::of(value))).collect())
            }
        }
    }

    fn to_json(&self) -> Json {
        match self {
            Node::Null => Json::Null,
            Node::Bool(value) => Json::Bool(*value),
            Node::Number(number) => Json::Number(*number),
            Node::Text(text) => Json::String(text.clone()),
            Node::List(list) => Json::Array(list.iter().map(Node::to_json).collect()),
            Node::Map(entries) => {
                Json::Object(entries.iter().map(|(key, value)| (key.as_str(), value.to_json())).collect())
            }
        }
    }

    fn write(&self, text: &mut String) {
        match self {
            Node::List(list) => {
                text.push('[');
                for (at, item) in list.iter().enumerate() {
                    text.push_str(if at > 0 { "," } else { "" });
                    item.write(text);
                }
                text.push(']');
            }
            Node::Map(entries) => {
                text.push('{');
                for (at, (key, value)) in entries.iter().enumerate() {
                    text.push_str(if at > 0 { "," } else { "" });
                    text.push_str(&Json::from(key.as_str()).to_string());
                    text.push(':');
                    value.write(text);
                }
                text.push('}');
            }
            scalar => text.push_str(&scalar.to_json().to_string()),
        }
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::List(list) => {
                let mut seq = serializer.serialize_seq(Some(list.len()))?;
                for item in list {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Node::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
            scalar => scalar.to_json().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor { depth: 0 }).map(Schema)
    }
}

/// Any object fits: what makes a schema valid is checked where it is used.
impl JsonSchema for Schema {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Schema".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        json_schema!({ "type": "object" })
    }
}

#[derive(Clone, Copy)]
struct NodeVisitor {
    depth: usize,
}

impl<'de> de::DeserializeSeed<'de> for NodeVisitor {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl NodeVisitor {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        match self.depth < MAX_DEPTH {
            true => Ok(NodeVisitor { depth: self.depth + 1 }),
            false => Err(E::custom("a schema nests too deeply")),
        }
    }
}

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON Schema")
    }
    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }
    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Node, E> {
        self.visit_f64(value as f64)
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Node, E> {
        // A bound such as 2^64 - 1 is one that a double cannot hold exactly; the nearest one says the same to a model.
        self.visit_f64(value as f64)
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Node, E> {
        match value.is_finite() {
            true => Ok(Node::Number(value)),
            false => Err(E::custom(format_args!("`{value}` is not a number that JSON can hold"))),
        }
    }
    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }
    fn visit_string<E>(self, text: String) -> Result<Node, E> {
        Ok(Node::Text(text))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let deeper = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = seq.next_element_seed(deeper)? {
            list.push(item);
        }
        Ok(Node::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let deeper = self.deeper()?;
        let mut entries: Vec<(String, Node)> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if entries.iter().any(|(known, _)| *known == key) {
                return Err(de::Error::custom(format_args!("the key `{key}` appears twice")));
            }
            entries.push((key, map.next_value_seed(deeper)?));
        }
        Ok(Node::Map(entries))
    }
}

/// A request's JSON text in which the schemas of tools have the order that their authors gave them; the rest is sorted.
///
/// A dialect puts a tool's schema below one of `SCHEMA_KEYS`; the n-th of them below `tools` is that of the n-th tool.
pub(super) fn spelt<'a>(body: &Json, mut schemas: impl Iterator<Item = &'a Schema>) -> String {
    let Json::Object(object) = body else { return body.to_string() };
    let mut text = String::from("{");
    for (at, (key, value)) in object.iter().enumerate() {
        text.push_str(if at > 0 { "," } else { "" });
        text.push_str(&Json::from(key).to_string());
        text.push(':');
        match key {
            "tools" => write_tools(value, &mut schemas, &mut text),
            _ => text.push_str(&value.to_string()),
        }
    }
    text.push('}');
    text
}

/// The keys of a tool's schema in the dialects.
const SCHEMA_KEYS: [&str; 2] = ["parameters", "input_schema"];

fn write_tools<'a>(value: &Json, schemas: &mut impl Iterator<Item = &'a Schema>, text: &mut String) {
    match value {
        Json::Array(list) => {
            text.push('[');
            for (at, item) in list.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                write_tools(item, schemas, text);
            }
            text.push(']');
        }
        Json::Object(object) => {
            text.push('{');
            for (at, (key, value)) in object.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                text.push_str(&Json::from(key).to_string());
                text.push(':');
                if !SCHEMA_KEYS.contains(&key) {
                    write_tools(value, schemas, text);
                    continue;
                }
                // A suite's `extra` may have put tools of its own in their place: those are not ours.
                match schemas.next().filter(|schema| schema.to_json() == *value) {
                    Some(schema) => text.push_str(&schema.text()),
                    None => text.push_str(&value.to_string()),
                }
            }
            text.push('}');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_is_kept() {
        let text = r#"{"type":"object","properties":{"zeta":{"type":"integer","minimum":1},"alpha":{"enum":["b","a",null,true,1.5]}},"required":["zeta"]}"#;
        let schema: Schema = serde_json::from_str(text).unwrap();
        assert_eq!(schema.text(), text);
        assert_eq!(serde_json::to_string(&schema).unwrap(), text);
        assert!(schema.is_of_object());
        assert_eq!(schema.to_json().to_string().find("alpha"), Some(16), "the value for keys is sorted");
        assert_eq!(Schema::from(schema.to_json()).to_json(), schema.to_json());
    }

    #[test]
    fn a_request_has_each_schema_in_its_place() {
        let schemas: Vec<Schema> = [r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#]
            .iter()
            .map(|text| serde_json::from_str(text).unwrap())
            .collect();
        let body: Json = serde_json::from_str(
            r#"{"tools":[{"function":{"parameters":{"a":2,"b":1},"name":"x"}},{"input_schema":{"a":2,"b":1}}],"messages":["\"parameters\":{\"a\":2,\"b\":1}"]}"#,
        )
        .unwrap();
        assert_eq!(
            spelt(&body, schemas.iter()),
            r#"{"messages":["\"parameters\":{\"a\":2,\"b\":1}"],"tools":[{"function":{"name":"x","parameters":{"b":1,"a":2}}},{"input_schema":{"a":2,"b":1}}]}"#
        );
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        let read =
            |text: &str| serde_json::from_str::<Schema>(text).map(drop).map_err(|error| error.to_string());
        assert!(read(r#"{"a":1,"a":2}"#).unwrap_err().contains("appears twice"));
        let deep = format!("{}1{}", "[".repeat(120), "]".repeat(120));
        assert!(read(&deep).is_ok());
        assert!(read(&format!("{}1{}", "[".repeat(200), "]".repeat(200))).is_err());
    }
}
