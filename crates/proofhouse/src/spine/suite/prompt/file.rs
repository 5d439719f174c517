//! Prompts as a suite writes them: text, a file, or a conversation with tools, examples and pictures.

use std::fmt;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize as DeriveDeserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserialize, Deserializer, Visitor};

use crate::family::target::Schema as ArgumentSchema;
use crate::spine::suite::bounds::Whole;
use crate::spine::suite::file::{Fields, Format};

/// What a target is asked: a template over the case's fields, or more than text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PromptFile {
    Text(String),
    Whole(Box<PromptMap>),
}

impl PromptFile {
    /// As it is where a suite has none.
    pub(crate) fn input() -> Self {
        PromptFile::Text("{input}".to_owned())
    }
}

/// A prompt with everything that it can have.
#[derive(Debug, Clone, Default, PartialEq, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromptMap {
    /// The file that holds the text, or as `.yaml`, `.yml` or `.json` a list of messages or a prompt like this one.
    #[serde(default)]
    pub(crate) file: Option<String>,
    /// What the user says: a template.
    #[serde(default)]
    pub(crate) text: Option<String>,
    /// The conversation, oldest message first.
    #[serde(default)]
    pub(crate) messages: Vec<MessageFile>,
    /// Examples for `each: examples` and for `examples` in templates; never the case that is being asked.
    #[serde(default)]
    pub(crate) examples: Option<ExamplesFile>,
    /// Tools that the target is offered.
    #[serde(default)]
    pub(crate) tools: Vec<ToolFile>,
    /// The form that the answer is to have: `json`, or `{schema: …}`.
    #[serde(default)]
    pub(crate) response_format: Option<FormatFile>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessageFile {
    /// Who speaks.
    pub(crate) role: Role,
    /// What is said: a template, or a list of `text` and `image` parts. An assistant's message without it is the place where
    /// the target answers before the conversation goes on.
    #[serde(default)]
    pub(crate) content: Option<ContentFile>,
    /// `examples`: the message comes once for each example, together with its neighbours that say the same.
    #[serde(default)]
    pub(crate) each: Option<Each>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, DeriveDeserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// Instructions above the conversation.
    System,
    /// The one who asks.
    User,
    /// The one who answers.
    Assistant,
}

/// What a message is repeated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, DeriveDeserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Each {
    /// Every example.
    Examples,
}

/// What a message says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ContentFile {
    Text(String),
    Parts(Vec<PartFile>),
}

/// A part of a message: one of its keys is given.
#[derive(Debug, Clone, PartialEq, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartFile {
    /// Words: a template.
    #[serde(default)]
    pub(crate) text: Option<String>,
    /// A picture: its path below the suite's directory, or `data:image/png;base64,…`; a template.
    #[serde(default)]
    pub(crate) image: Option<String>,
}

/// Where examples come from, and how many of them.
#[derive(Debug, Clone, PartialEq, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExamplesFile {
    /// The file, relative to the suite and below its directory.
    pub(crate) dataset: String,
    /// How it is written; default by the extension.
    #[serde(default)]
    pub(crate) format: Option<Format>,
    /// How many of its rows.
    pub(crate) count: Whole<1, 1_000>,
    /// Which of them.
    #[serde(default)]
    pub(crate) pick: Pick,
    /// Which of the file's fields play a part, where they are not named so already.
    #[serde(default)]
    pub(crate) fields: Fields,
}

/// Which rows are examples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, DeriveDeserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Pick {
    /// Others for each case, by the suite's seed.
    #[default]
    Seeded,
    /// The first ones, the same for each case.
    First,
}

/// A tool that a target is offered.
#[derive(Debug, Clone, PartialEq, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolFile {
    /// Its name.
    pub(crate) name: String,
    /// What it does, for the model.
    #[serde(default)]
    pub(crate) description: String,
    /// The JSON Schema of its arguments.
    #[serde(default = "any_object")]
    pub(crate) parameters: ArgumentSchema,
}

fn any_object() -> ArgumentSchema {
    let empty = Json::Object(Object::new());
    let any = Object::from_iter([("properties", empty), ("type", Json::from("object"))]);
    ArgumentSchema::from(Json::Object(any))
}

/// The form that an answer is to have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FormatFile {
    Json,
    Schema(Json),
}

#[derive(DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FormatMap {
    /// The JSON Schema that the answer is to satisfy.
    #[schemars(with = "serde_json::Value")]
    schema: Json,
}

/// The keys of a prompt's map: it is read as a struct, so that an unknown key is noted at its place.
const PROMPT_KEYS: &[&str] = &["file", "text", "messages", "examples", "tools", "response_format"];

impl<'de> Deserialize<'de> for PromptFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = PromptFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text, or a map with `file`, `text` or `messages`")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<PromptFile, E> {
                Ok(PromptFile::Text(text.to_owned()))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<PromptFile, A::Error> {
                let map = PromptMap::deserialize(MapAccessDeserializer::new(map))?;
                Ok(PromptFile::Whole(Box::new(map)))
            }
        }
        deserializer.deserialize_struct("PromptFile", PROMPT_KEYS, Either)
    }
}

impl JsonSchema for PromptFile {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PromptFile".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let map = generator.subschema_for::<PromptMap>();
        json_schema!({ "anyOf": [{ "type": "string" }, map] })
    }
}

impl<'de> Deserialize<'de> for ContentFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = ContentFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text, or a list of parts")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<ContentFile, E> {
                Ok(ContentFile::Text(text.to_owned()))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<ContentFile, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(ContentFile::Parts)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for ContentFile {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ContentFile".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let part = generator.subschema_for::<PartFile>();
        json_schema!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": part }] })
    }
}

impl<'de> Deserialize<'de> for FormatFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = FormatFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`json`, or a map with `schema`")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<FormatFile, E> {
                match text {
                    "json" => Ok(FormatFile::Json),
                    other => Err(E::invalid_value(de::Unexpected::Str(other), &self)),
                }
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<FormatFile, A::Error> {
                let map = FormatMap::deserialize(MapAccessDeserializer::new(map))?;
                Ok(FormatFile::Schema(map.schema))
            }
        }
        deserializer.deserialize_struct("FormatFile", &["schema"], Either)
    }
}

impl JsonSchema for FormatFile {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FormatFile".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let map = generator.subschema_for::<FormatMap>();
        json_schema!({ "anyOf": [{ "const": "json" }, map] })
    }
}
