//! Anthropic's own API: `POST …/v1/messages`.

use std::collections::BTreeMap;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::endpoint::{Dialect, Ended, Remote, Said, disguised, text_at, unexpected, with_extra};
use super::openai::{Refused, check_model, is_null, refuse_key, texts};
use super::place::{EndpointSettings, check_extra};
use super::transport::{Reading, Transport};
use super::usage::{Places, Usage};
use super::{Call, Chat, Member, Message, Opening, Part, Shapes, System};
use crate::text::complaint::Complaint;

/// Anthropic's own API, where it differs from the OpenAI shape.
///
/// **Purpose.** Asks a Claude model over `POST {base_url}/v1/messages`, with tools where a suite has them.
///
/// **Keys.** The key is in the environment: `ANTHROPIC_API_KEY`, or the variable that `api_key_env` names;
/// `ANTHROPIC_BASE_URL` is honoured. A key in a suite is refused.
///
/// **Guarantee.** The same named outcomes as `openai`. The API takes no seed: repetitions differ only by the model's own
/// chance. An overloaded endpoint (529) is asked again like any other server error.
///
/// ```yaml
/// claude: {anthropic: {model: claude-sonnet-4-5, max_tokens: 512, temperature: 0}}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Anthropic {
    /// The model.
    pub model: String,
    /// The address before `/v1/messages`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Never set: a key does not belong in a suite, and this place says so.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub api_key: Option<Refused>,
    /// Instructions that stand above the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The most tokens that an answer may have; the API requires it.
    #[serde(default = "max_tokens")]
    pub max_tokens: u32,
    /// How freely the model chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The share of the likeliest words that the model chooses from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Texts at which an answer ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Further fields of the request.
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

fn max_tokens() -> u32 {
    1_024
}

const USAGE: Places = &[
    ("cache_creation_tokens", "/usage/cache_creation_input_tokens"),
    ("cached_tokens", "/usage/cache_read_input_tokens"),
    ("input_tokens", "/usage/input_tokens"),
    ("output_tokens", "/usage/output_tokens"),
];

impl Anthropic {
    fn endpoint(&self) -> EndpointSettings<'_> {
        EndpointSettings {
            maker: "ANTHROPIC",
            base_url: self.base_url.as_deref(),
            default_url: Some("https://api.anthropic.com"),
            api_key_env: self.api_key_env.as_deref(),
            headers: &self.headers,
            headers_env: &self.headers_env,
            transport: &self.transport,
        }
    }

    /// All settings that cannot work.
    pub(super) fn check(&self) -> Vec<Complaint> {
        let mut complaints = self.endpoint().check();
        complaints.extend(refuse_key(&self.api_key, "ANTHROPIC_API_KEY"));
        complaints.extend(check_extra(
            &self.extra,
            &["max_tokens", "messages", "model", "stream", "system", "tools"],
        ));
        complaints.extend(check_model(&self.model));
        complaints
    }

    /// Makes the endpoint ready.
    pub(super) fn open(&self, opening: &Opening) -> Result<Remote, Complaint> {
        let dialect = Box::new(Speech(self.clone()));
        let remote = Remote::open(&self.endpoint(), "/v1/messages", ("x-api-key", ""), opening, dialect)?;
        Ok(remote.expecting(Some(self.max_tokens)).with_header("anthropic-version", "2023-06-01"))
    }
}

impl Member for Anthropic {
    const COUNTS_CACHED_APART: bool = true;

    // The API has no word for a form of the answer that all of its models know.
    const SHAPES: Shapes = Shapes { images: true, format: false, tools: true };

    fn system(&self, opening: &Opening) -> Result<System, Complaint> {
        Ok(System::Remote(Box::new(self.open(opening)?)))
    }
}

#[derive(Debug)]
struct Speech(Anthropic);

impl Dialect for Speech {
    fn body(&self, chat: &Chat) -> Result<Json, Complaint> {
        let settings = &self.0;
        let mut body = Object::from_iter([
            ("max_tokens", Json::from(settings.max_tokens)),
            ("messages", Json::Array(messages(chat))),
            ("model", Json::from(settings.model.as_str())),
        ]);
        if let Some(system) = chat.system_after(settings.system.as_deref())? {
            body.set("system", system);
        }
        if !chat.tools.is_empty() {
            let tools = chat.tools.iter().map(|tool| {
                Json::Object(Object::from_iter([
                    ("description", Json::from(tool.description.as_str())),
                    ("input_schema", tool.parameters.to_json()),
                    ("name", Json::from(tool.name.as_str())),
                ]))
            });
            body.set("tools", Json::Array(tools.collect()));
        }
        for (key, value) in [("temperature", settings.temperature), ("top_p", settings.top_p)] {
            if let Some(value) = value {
                body.set(key, Json::Number(value));
            }
        }
        if !settings.stop.is_empty() {
            body.set("stop_sequences", texts(&settings.stop));
        }
        Ok(with_extra(body, &settings.extra))
    }

    fn read(&self, answer: &Json) -> Reading {
        if let Some(error) = answer.get("error").filter(|error| !is_null(error)) {
            return disguised(error);
        }
        let Some(Json::Array(parts)) = answer.get("content") else { return unexpected("`content`") };
        let kind = |part: &Json| text_at(part, "/type").unwrap_or_default();
        let texts =
            parts.iter().filter(|part| kind(part) == "text").filter_map(|part| text_at(part, "/text"));
        let calls = parts.iter().filter(|part| kind(part) == "tool_use").filter_map(|part| {
            let (id, name) = (text_at(part, "/id")?, text_at(part, "/name")?);
            let args = part.get("input").cloned().unwrap_or_else(|| Json::Object(Object::new()));
            Some(Call { id, name, args })
        });
        let thoughts = parts.iter().filter(|part| kind(part) == "thinking");
        let thoughts: Vec<String> = thoughts.filter_map(|part| text_at(part, "/thinking")).collect();
        let (texts, calls): (Vec<String>, Vec<Call>) = (texts.collect(), calls.collect());
        let finish_reason = text_at(answer, "/stop_reason");
        let ended = match finish_reason.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => Ended::Length,
            Some("refusal") => Ended::Refused,
            _ => Ended::Done,
        };
        Said {
            // No text beside a tool call is the API's way to say null; no part at all is an empty answer.
            text: (!texts.is_empty() || calls.is_empty()).then(|| texts.concat()),
            reasoning: (!thoughts.is_empty()).then(|| thoughts.join("\n")),
            calls,
            spoken: Some(Json::Array(parts.clone())),
            finish_reason,
            model: text_at(answer, "/model"),
            fingerprint: None,
            ended,
            usage: Usage::read(answer, USAGE),
        }
        .reading()
    }
}

/// The conversation; what tools gave back in a row goes into one message, as the API wants it.
fn messages(chat: &Chat) -> Vec<Json> {
    let mut messages: Vec<(&str, Vec<Json>)> = Vec::new();
    for message in &chat.messages {
        let (role, parts) = match message {
            Message::User(text) => ("user", vec![part("text", [("text", text.as_str().into())])]),
            Message::Shown(parts) => ("user", parts.iter().map(shown).collect()),
            Message::Tool { call_id, content, .. } => {
                let entries =
                    [("content", Json::from(content.as_str())), ("tool_use_id", call_id.as_str().into())];
                ("user", vec![part("tool_result", entries)])
            }
            // Thoughts come back as they were, signatures included; the API takes no empty text.
            Message::Assistant { spoken: Some(Json::Array(parts)), .. } => {
                let says_something = |part: &&Json| {
                    text_at(part, "/type").as_deref() != Some("text")
                        || text_at(part, "/text").is_some_and(|text| !text.trim().is_empty())
                };
                ("assistant", parts.iter().filter(says_something).cloned().collect())
            }
            Message::Assistant { text, calls, .. } => {
                let text = text.iter().filter(|text| !text.is_empty());
                let text = text.map(|text| part("text", [("text", text.as_str().into())]));
                let calls = calls.iter().map(|call| {
                    let id = [("id", Json::from(call.id.as_str())), ("input", call.args.clone())];
                    part("tool_use", id.into_iter().chain([("name", Json::from(call.name.as_str()))]))
                });
                ("assistant", text.chain(calls).collect())
            }
        };
        match messages.last_mut() {
            // A turn without any part is not one.
            _ if parts.is_empty() => {}
            Some((last, there)) if *last == role => there.extend(parts),
            _ => messages.push((role, parts)),
        }
    }
    let message = |(role, parts): (&str, Vec<Json>)| {
        Json::Object(Object::from_iter([("content", Json::Array(parts)), ("role", Json::from(role))]))
    };
    messages.into_iter().map(message).collect()
}

fn shown(shown: &Part) -> Json {
    match shown {
        Part::Text(text) => part("text", [("text", text.as_str().into())]),
        Part::Image(image) => {
            let source = Object::from_iter([
                ("data", image.base64.as_str()),
                ("media_type", image.media_type.as_str()),
                ("type", "base64"),
            ]);
            part("image", [("source", Json::Object(source))])
        }
    }
}

fn part<'a>(kind: &str, entries: impl IntoIterator<Item = (&'a str, Json)>) -> Json {
    let mut part: Object = entries.into_iter().collect();
    part.set("type", kind);
    Json::Object(part)
}
