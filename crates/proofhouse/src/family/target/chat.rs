//! What a target is asked: a conversation so far, the tools it may call, and the trial's seed.

use std::sync::Arc;

use proofhouse_ledger::json::Object;
use proofhouse_ledger::{Digest, Json, RecordId};

use crate::text::complaint::Complaint;
use crate::text::template::{Form, Template, is_jinja};

use super::schema::Schema;

/// One question to a target, as a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chat {
    /// Instructions that stand above the conversation; a target's own `system` setting comes before them.
    pub system: Option<String>,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// Tools that the target may call.
    pub tools: Vec<Tool>,
    /// The form that the answer is to have; none for text.
    pub format: Option<AnswerFormat>,
    /// The fields of the case, where settings of the target are filled from them.
    pub fields: Option<Arc<Object>>,
    /// The seed of this trial.
    pub seed: u64,
    /// Which repetition of the case this is, from 0.
    pub repetition: u32,
    /// The trial that asks, where others may ask the very same: a cassette tells them apart, whatever order they run in.
    pub asker: Option<RecordId>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// What the user says.
    User(String),
    /// What the user says and shows.
    Shown(Vec<Part>),
    /// What the target said before.
    Assistant {
        /// Its words.
        text: Option<String>,
        /// The tools that it called.
        calls: Vec<Call>,
        /// The turn as its endpoint gave it, where it did: that is what goes back.
        spoken: Option<Json>,
    },
    /// What a tool gave back.
    Tool {
        /// The call that this answers.
        call_id: String,
        /// The tool.
        name: String,
        /// What it said.
        content: String,
    },
}

/// A part of what a user says.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Words.
    Text(String),
    /// A picture.
    Image(Arc<Image>),
}

/// A picture, as endpoints take it.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// `image/png` and the like.
    pub media_type: String,
    /// Its bytes in base64.
    pub base64: String,
    /// The digest of its bytes: what records and keys of cassettes hold in their place.
    pub sha256: Digest,
}

/// The form that an answer is to have.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerFormat {
    /// Any JSON object.
    Json,
    /// JSON that satisfies a schema.
    Schema(Json),
}

impl AnswerFormat {
    /// For records and keys.
    pub fn to_json(&self) -> Json {
        match self {
            AnswerFormat::Json => Json::from("json"),
            AnswerFormat::Schema(schema) => Json::Object(Object::from_iter([("schema", schema.clone())])),
        }
    }
}

/// A tool that a target may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Schema,
}

/// A call of a tool that a target asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What the tool's answer has to refer to; made up where the endpoint gives none.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is called with: a structure, or the text itself where the model wrote no JSON.
    pub args: Json,
}

impl Chat {
    /// A single question without tools.
    pub fn ask(input: impl Into<String>, seed: u64, repetition: u32) -> Self {
        Chat { messages: vec![Message::User(input.into())], seed, repetition, ..Chat::default() }
    }

    /// What was said last by somebody other than the target: what a target without memory answers to.
    pub fn last(&self) -> &str {
        let last = self.messages.iter().rev().find_map(|message| match message {
            Message::User(text) | Message::Tool { content: text, .. } => Some(text.as_str()),
            Message::Shown(parts) => Some(parts.iter().rev().find_map(Part::text).unwrap_or_default()),
            Message::Assistant { .. } => None,
        });
        last.unwrap_or_default()
    }

    /// The target's own instructions, filled from the case where they have holes, then those of the conversation.
    ///
    /// # Errors
    /// Where a hole cannot be filled.
    pub(super) fn system_after(&self, own: Option<&str>) -> Result<Option<String>, Complaint> {
        let own = own.map(|own| self.filled(own)).transpose()?;
        Ok(match (own, self.system.as_deref()) {
            (Some(own), Some(more)) => Some(format!("{own}\n\n{more}")),
            (own, more) => own.or(more.map(str::to_owned)),
        })
    }

    /// A setting of a target with its holes filled from the case; text of the older form is not a template there.
    fn filled(&self, text: &str) -> Result<String, Complaint> {
        let Some(fields) = self.fields.as_ref().filter(|_| is_jinja(text)) else {
            return Ok(text.to_owned());
        };
        let template = Template::parse_as(text, Some(Form::Jinja)).map_err(Complaint::of)?;
        let mut out = String::new();
        template.render(&mut out, &|name| fields.get(name)).map_err(Complaint::of)?;
        Ok(out)
    }

    /// Everything in it as one value: what plugins are sent and what cassettes are keyed by.
    pub fn to_json(&self) -> Json {
        let tools = self.tools.iter().map(|tool| {
            Json::Object(Object::from_iter([
                ("description", Json::from(tool.description.as_str())),
                ("name", Json::from(tool.name.as_str())),
                ("parameters", tool.parameters.to_json()),
            ]))
        });
        let mut whole = Object::from_iter([
            ("messages", Json::Array(self.messages.iter().map(Message::to_json).collect())),
            ("repetition", Json::from(self.repetition)),
            // Sixty-four bits are more than a JSON number holds.
            ("seed", Json::from(self.seed.to_string())),
            ("system", Json::from(self.system.clone())),
            ("tools", Json::Array(tools.collect())),
        ]);
        if let Some(format) = &self.format {
            whole.set("format", format.to_json());
        }
        if let Some(fields) = &self.fields {
            whole.set("fields", Json::Object(Object::clone(fields)));
        }
        Json::Object(whole)
    }
}

impl Part {
    fn text(&self) -> Option<&str> {
        match self {
            Part::Text(text) => Some(text),
            Part::Image(_) => None,
        }
    }

    fn to_json(&self) -> Json {
        let entry = match self {
            Part::Text(text) => ("text", Json::from(text.as_str())),
            Part::Image(image) => {
                let about = [
                    ("media_type", Json::from(image.media_type.as_str())),
                    ("sha256", Json::from(image.sha256.prefixed())),
                ];
                ("image", Json::Object(about.into_iter().collect()))
            }
        };
        Json::Object(Object::from_iter([entry]))
    }
}

impl Message {
    /// The message for records and keys: pictures by their digest.
    pub fn to_json(&self) -> Json {
        let entries: Vec<(&str, Json)> = match self {
            Message::Shown(parts) => vec![
                ("content", Json::Array(parts.iter().map(Part::to_json).collect())),
                ("role", "user".into()),
            ],
            Message::User(text) => vec![("content", text.as_str().into()), ("role", "user".into())],
            Message::Assistant { text, calls, spoken } => {
                let mut said = vec![
                    ("content", text.clone().into()),
                    ("role", "assistant".into()),
                    ("tool_calls", Json::Array(calls.iter().map(Call::to_json).collect())),
                ];
                said.extend(spoken.clone().map(|spoken| ("spoken", spoken)));
                said
            }
            Message::Tool { call_id, name, content } => vec![
                ("content", content.as_str().into()),
                ("name", name.as_str().into()),
                ("role", "tool".into()),
                ("tool_call_id", call_id.as_str().into()),
            ],
        };
        Json::Object(entries.into_iter().collect())
    }
}

impl Call {
    /// The call with its id.
    pub fn to_json(&self) -> Json {
        let mut call = self.as_output();
        call.set("id", self.id.as_str());
        Json::Object(call)
    }

    /// The call as a judge sees it; ids are chance and stay out of records.
    pub(super) fn as_output(&self) -> Object {
        Object::from_iter([("args", self.args.clone()), ("name", Json::from(self.name.as_str()))])
    }

    /// Reads a call back from [`Call::to_json`]; a call without an id is named after its place.
    pub(super) fn from_json(value: &Json, place: usize) -> Option<Call> {
        let name = value.get("name")?.as_str()?.to_owned();
        let id = value.get("id").and_then(Json::as_str).map_or_else(|| made_up_id(place), str::to_owned);
        Some(Call { id, name, args: value.get("args").cloned().unwrap_or_default() })
    }
}

/// The id of a call to which the endpoint gave none.
pub(super) fn made_up_id(place: usize) -> String {
    format!("call_{place}")
}
