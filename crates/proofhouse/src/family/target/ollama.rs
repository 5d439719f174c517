//! Ollama's own API: `POST …/api/chat`.

use std::collections::BTreeMap;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chat::made_up_id;
use super::endpoint::{
    Dialect, Ended, Remote, Said, arguments, disguised, small_seed, text_at, unexpected, with_extra,
};
use super::openai::{check_model, content, is_null, texts, tools, yes};
use super::place::{EndpointSettings, check_extra};
use super::transport::{Reading, Transport};
use super::usage::{Places, Usage};
use super::{AnswerFormat, Call, Chat, Member, Message, Opening, Part, Shapes, System};
use crate::text::complaint::{At, Complaint};

/// Ollama's own API, where it differs from the OpenAI shape.
///
/// **Purpose.** Asks a model that Ollama serves over `POST {base_url}/api/chat`, with tools where a suite has them. What only
/// this API can set, such as the size of the context, goes below `options`.
///
/// **Keys.** None is needed. `OLLAMA_BASE_URL` is honoured; the address is `http://127.0.0.1:11434` otherwise.
///
/// **Guarantee.** The same named outcomes as `openai`.
///
/// ```yaml
/// local: {ollama: {model: "llama3.2:1b", temperature: 0, options: {num_ctx: 4096}}}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ollama {
    /// The model, with its tag.
    pub model: String,
    /// The address before `/api/chat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Instructions that stand above the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// How freely the model chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The share of the likeliest words that the model chooses from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The most tokens that an answer may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Texts at which an answer ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Whether each trial's seed is sent.
    #[serde(default = "yes")]
    pub send_seed: bool,
    /// Further model options, such as `num_ctx`.
    #[serde(default, skip_serializing_if = "is_null")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub options: Json,
    /// Further fields of the request, such as `keep_alive`.
    #[serde(default, skip_serializing_if = "is_null")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub extra: Json,
    /// Further headers; none that holds a key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Further headers whose values are in the environment: the header and the variable.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers_env: BTreeMap<String, String>,
    /// Attempts, deadlines and allowances.
    #[serde(default)]
    pub transport: Transport,
}

const USAGE: Places = &[("input_tokens", "/prompt_eval_count"), ("output_tokens", "/eval_count")];

impl Ollama {
    fn endpoint(&self) -> EndpointSettings<'_> {
        EndpointSettings {
            maker: "OLLAMA",
            base_url: self.base_url.as_deref(),
            default_url: Some("http://127.0.0.1:11434"),
            api_key_env: None,
            headers: &self.headers,
            headers_env: &self.headers_env,
            transport: &self.transport,
        }
    }

    /// All settings that cannot work.
    pub(super) fn check(&self) -> Vec<Complaint> {
        let mut complaints = self.endpoint().check();
        complaints
            .extend(check_extra(&self.extra, &["format", "messages", "model", "options", "stream", "tools"]));
        complaints.extend(check_extra(&self.options, &[]).into_iter().map(in_options));
        complaints.extend(check_model(&self.model));
        complaints
    }

    /// Makes the endpoint ready.
    pub(super) fn open(&self, opening: &Opening) -> Result<Remote, Complaint> {
        let dialect = Box::new(Speech(self.clone()));
        let remote =
            Remote::open(&self.endpoint(), "/api/chat", ("authorization", "Bearer "), opening, dialect)?;
        Ok(remote.expecting(self.max_tokens))
    }
}

/// A complaint that `check_extra` made about `options`.
fn in_options(complaint: Complaint) -> Complaint {
    Complaint { at: vec![At::Key("options".into())], ..complaint }
}

impl Member for Ollama {
    const SHAPES: Shapes = Shapes { images: true, format: true, tools: true };

    fn system(&self, opening: &Opening) -> Result<System, Complaint> {
        Ok(System::Remote(Box::new(self.open(opening)?)))
    }
}

#[derive(Debug)]
struct Speech(Ollama);

impl Dialect for Speech {
    fn body(&self, chat: &Chat) -> Result<Json, Complaint> {
        let settings = &self.0;
        let mut options = Object::new();
        for (key, value) in [("temperature", settings.temperature), ("top_p", settings.top_p)] {
            if let Some(value) = value {
                options.set(key, Json::Number(value));
            }
        }
        if let Some(most) = settings.max_tokens {
            options.set("num_predict", most);
        }
        if !settings.stop.is_empty() {
            options.set("stop", texts(&settings.stop));
        }
        if settings.send_seed {
            options.set("seed", small_seed(chat.seed));
        }
        let system = chat.system_after(settings.system.as_deref())?;
        let system = system.map(|text| Object::from_iter([("content", text), ("role", "system".to_owned())]));
        let messages = system.into_iter().chain(chat.messages.iter().map(spoken)).map(Json::Object);
        let mut body = Object::from_iter([
            ("messages", Json::Array(messages.collect())),
            ("model", Json::from(settings.model.as_str())),
            ("options", with_extra(options, &settings.options)),
            ("stream", Json::from(false)),
        ]);
        if !chat.tools.is_empty() {
            body.set("tools", tools(chat));
        }
        match &chat.format {
            None => {}
            Some(AnswerFormat::Json) => body.set("format", "json"),
            Some(AnswerFormat::Schema(schema)) => body.set("format", schema.clone()),
        }
        Ok(with_extra(body, &settings.extra))
    }

    fn read(&self, answer: &Json) -> Reading {
        if let Some(error) = answer.get("error").filter(|error| !is_null(error)) {
            return disguised(error);
        }
        let Some(said) = answer.get("message").filter(|message| message.as_object().is_some()) else {
            return unexpected("`message`");
        };
        let Some(text) = content(said.get("content")) else { return unexpected("text in its `content`") };
        let calls = match said.get("tool_calls") {
            Some(Json::Array(list)) => list.as_slice(),
            _ => &[],
        };
        let calls = calls.iter().enumerate().filter_map(|(place, call)| {
            let args = arguments(call.pointer("/function/arguments"));
            let id = text_at(call, "/id").filter(|id| !id.is_empty()).unwrap_or_else(|| made_up_id(place));
            Some(Call { id, name: text_at(call, "/function/name")?, args })
        });
        let finish_reason = text_at(answer, "/done_reason");
        Said {
            text,
            reasoning: text_at(said, "/thinking"),
            calls: calls.collect(),
            spoken: Some(own_turn(said)),
            ended: if finish_reason.as_deref() == Some("length") { Ended::Length } else { Ended::Done },
            finish_reason,
            model: text_at(answer, "/model"),
            fingerprint: None,
            usage: Usage::read(answer, USAGE),
        }
        .reading()
    }
}

/// What the server wants to see again of its own turn: words, thoughts and calls.
fn own_turn(said: &Json) -> Json {
    let kept = ["content", "thinking", "tool_calls"];
    let kept =
        kept.iter().filter_map(|key| Some((*key, said.get(key).filter(|value| !is_null(value))?.clone())));
    let mut turn: Object = kept.collect();
    turn.set("role", "assistant");
    if turn.get("content").is_none() {
        turn.set("content", "");
    }
    Json::Object(turn)
}

fn spoken(message: &Message) -> Object {
    match message {
        Message::User(text) => Object::from_iter([("content", text.as_str()), ("role", "user")]),
        Message::Shown(parts) => {
            let (mut words, mut images) = (Vec::new(), Vec::new());
            for part in parts {
                match part {
                    Part::Text(text) => words.push(text.as_str()),
                    Part::Image(image) => images.push(Json::from(image.base64.as_str())),
                }
            }
            Object::from_iter([
                ("content", Json::from(words.join("\n"))),
                ("images", Json::Array(images)),
                ("role", Json::from("user")),
            ])
        }
        Message::Tool { name, content, .. } => {
            Object::from_iter([("content", content.as_str()), ("role", "tool"), ("tool_name", name.as_str())])
        }
        Message::Assistant { spoken: Some(Json::Object(spoken)), .. } => spoken.clone(),
        Message::Assistant { text, calls, .. } => {
            let calls = calls.iter().map(|call| {
                let function = Object::from_iter([
                    ("arguments", call.args.clone()),
                    ("name", Json::from(call.name.as_str())),
                ]);
                Json::Object(Object::from_iter([("function", Json::Object(function))]))
            });
            Object::from_iter([
                ("content", Json::from(text.clone().unwrap_or_default())),
                ("role", Json::from("assistant")),
                ("tool_calls", Json::Array(calls.collect())),
            ])
        }
    }
}
