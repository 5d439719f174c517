//! Google's own API: `POST …/v1beta/models/MODEL:generateContent`.

use std::collections::BTreeMap;
use std::time::Duration;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chat::made_up_id;
use super::endpoint::{Dialect, Ended, Remote, Said, disguised, small_seed, text_at, unexpected, with_extra};
use super::openai::{Refused, check_model, is_null, refuse_key, texts, yes};
use super::place::{EndpointSettings, check_extra};
use super::transport::{Answer, Fault, Reading, Transport};
use super::usage::{Places, Usage};
use super::{AnswerFormat, Call, Chat, Member, Message, Opening, Part, Shapes, System};
use crate::text::complaint::Complaint;

/// Google's own Gemini API, where it differs from the OpenAI shape.
///
/// **Purpose.** Asks a Gemini model over `POST {base_url}/v1beta/models/{model}:generateContent`, with tools where a suite
/// has them.
///
/// **Keys.** The key is in the environment: `GEMINI_API_KEY`, or the variable that `api_key_env` names; `GEMINI_BASE_URL` is
/// honoured. The key travels in a header, never in the address. A key in a suite is refused.
///
/// **Guarantee.** The same named outcomes as `openai`: `SAFETY`, `PROHIBITED_CONTENT`, `BLOCKLIST`, `SPII`, `RECITATION` and
/// a blocked prompt are `filtered`, `MAX_TOKENS` is `length`. The wait that a 429 names in its body is kept.
///
/// ```yaml
/// flash: {gemini: {model: gemini-2.5-flash, temperature: 0, max_tokens: 512}}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gemini {
    /// The model.
    pub model: String,
    /// The address before `/v1beta/models`.
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

const USAGE: Places = &[
    ("cached_tokens", "/usageMetadata/cachedContentTokenCount"),
    ("input_tokens", "/usageMetadata/promptTokenCount"),
    ("output_tokens", "/usageMetadata/candidatesTokenCount"),
    ("reasoning_tokens", "/usageMetadata/thoughtsTokenCount"),
];

impl Gemini {
    fn endpoint(&self) -> EndpointSettings<'_> {
        EndpointSettings {
            maker: "GEMINI",
            base_url: self.base_url.as_deref(),
            default_url: Some("https://generativelanguage.googleapis.com"),
            api_key_env: self.api_key_env.as_deref(),
            headers: &self.headers,
            headers_env: &self.headers_env,
            transport: &self.transport,
        }
    }

    /// All settings that cannot work.
    pub(super) fn check(&self) -> Vec<Complaint> {
        let mut complaints = self.endpoint().check();
        complaints.extend(refuse_key(&self.api_key, "GEMINI_API_KEY"));
        complaints.extend(check_extra(&self.extra, &["contents", "systemInstruction", "tools"]));
        complaints.extend(check_model(&self.model));
        if !self.model.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')) {
            let what = format!("`{}` cannot be part of an address", self.model);
            complaints.push(Complaint::new(what).key("model"));
        }
        complaints
    }

    /// Makes the endpoint ready.
    pub(super) fn open(&self, opening: &Opening) -> Result<Remote, Complaint> {
        let path = format!("/v1beta/models/{}:generateContent", self.model);
        let dialect = Box::new(Speech(self.clone()));
        let remote = Remote::open(&self.endpoint(), &path, ("x-goog-api-key", ""), opening, dialect)?;
        Ok(remote.expecting(self.max_tokens))
    }
}

impl Member for Gemini {
    const SHAPES: Shapes = Shapes { images: true, format: true, tools: true };

    fn system(&self, opening: &Opening) -> Result<System, Complaint> {
        Ok(System::Remote(Box::new(self.open(opening)?)))
    }
}

#[derive(Debug)]
struct Speech(Gemini);

impl Dialect for Speech {
    fn body(&self, chat: &Chat) -> Result<Json, Complaint> {
        let settings = &self.0;
        let mut body = Object::from_iter([("contents", Json::Array(contents(chat)))]);
        if let Some(system) = chat.system_after(settings.system.as_deref())? {
            let parts = Json::Array(vec![entry("text", system.into())]);
            body.set("systemInstruction", entry("parts", parts));
        }
        if !chat.tools.is_empty() {
            let tools = chat.tools.iter().map(|tool| {
                Json::Object(Object::from_iter([
                    ("description", Json::from(tool.description.as_str())),
                    ("name", Json::from(tool.name.as_str())),
                    ("parameters", tool.parameters.to_json()),
                ]))
            });
            let declared = entry("functionDeclarations", Json::Array(tools.collect()));
            body.set("tools", Json::Array(vec![declared]));
        }
        let mut generation = Object::new();
        for (key, value) in [("temperature", settings.temperature), ("topP", settings.top_p)] {
            if let Some(value) = value {
                generation.set(key, Json::Number(value));
            }
        }
        if let Some(most) = settings.max_tokens {
            generation.set("maxOutputTokens", most);
        }
        if !settings.stop.is_empty() {
            generation.set("stopSequences", texts(&settings.stop));
        }
        if settings.send_seed {
            generation.set("seed", small_seed(chat.seed));
        }
        if let Some(format) = &chat.format {
            generation.set("responseMimeType", "application/json");
            if let AnswerFormat::Schema(schema) = format {
                generation.set("responseJsonSchema", schema.clone());
            }
        }
        body.set("generationConfig", Json::Object(generation));
        Ok(with_extra(body, &settings.extra))
    }

    fn read(&self, answer: &Json) -> Reading {
        if let Some(error) = answer.get("error").filter(|error| !is_null(error)) {
            return disguised(error);
        }
        let blocked = text_at(answer, "/promptFeedback/blockReason");
        let candidate = answer.pointer("/candidates/0");
        if candidate.is_none() && blocked.is_none() {
            return unexpected("`candidates`");
        }
        let parts = match candidate.and_then(|candidate| candidate.pointer("/content/parts")) {
            Some(Json::Array(parts)) => parts.as_slice(),
            _ => &[],
        };
        // A thought is not said to anybody.
        let is_thought = |part: &&Json| part.get("thought") == Some(&Json::Bool(true));
        let said = |part: &Json| text_at(part, "/text");
        let texts: Vec<String> = parts.iter().filter(|part| !is_thought(part)).filter_map(said).collect();
        let thoughts: Vec<String> = parts.iter().filter(is_thought).filter_map(said).collect();
        let calls =
            parts.iter().filter_map(|part| part.get("functionCall")).enumerate().filter_map(|(at, call)| {
                let id = text_at(call, "/id").unwrap_or_else(|| made_up_id(at));
                Some(Call {
                    id,
                    name: text_at(call, "/name")?,
                    args: call.get("args").cloned().unwrap_or_else(|| Json::Object(Object::new())),
                })
            });
        let calls: Vec<Call> = calls.collect();
        let finish_reason = blocked.clone().or_else(|| text_at(candidate?, "/finishReason"));
        let ended = match finish_reason.as_deref() {
            _ if blocked.is_some() => Ended::Filtered,
            Some("MAX_TOKENS") => Ended::Length,
            Some("SAFETY" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "SPII" | "RECITATION" | "IMAGE_SAFETY") => {
                Ended::Filtered
            }
            _ => Ended::Done,
        };
        Said {
            text: (!texts.is_empty()).then(|| texts.concat()),
            reasoning: (!thoughts.is_empty()).then(|| thoughts.join("\n")),
            calls,
            spoken: Some(Json::Array(parts.to_vec())),
            finish_reason,
            model: text_at(answer, "/modelVersion"),
            fingerprint: None,
            ended,
            usage: Usage::read(answer, USAGE),
        }
        .reading()
    }

    /// A rate limit says in its body how long to wait.
    fn read_error(&self, answer: &Answer, body: &Json) -> Option<Reading> {
        let Some(Json::Array(details)) = body.pointer("/error/details").filter(|_| answer.status == 429)
        else {
            return None;
        };
        let delay = details.iter().find_map(|detail| text_at(detail, "/retryDelay"))?;
        let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
        let wait = Duration::try_from_secs_f64(seconds).ok()?;
        Some(Reading::Fault(Fault::rate_limited(Some(wait))))
    }
}

fn entry(key: &str, value: Json) -> Json {
    Json::Object(Object::from_iter([(key, value)]))
}

/// Ids that the endpoint itself gave to its calls: answers repeat them.
fn given_ids(chat: &Chat) -> Vec<&str> {
    let parts = chat.messages.iter().filter_map(|message| match message {
        Message::Assistant { spoken: Some(Json::Array(parts)), .. } => Some(parts),
        _ => None,
    });
    parts.flatten().filter_map(|part| part.pointer("/functionCall/id")?.as_str()).collect()
}

fn shown(part: &Part) -> Json {
    match part {
        Part::Text(text) => entry("text", text.as_str().into()),
        Part::Image(image) => {
            let data = Object::from_iter([("data", image.base64.as_str()), ("mimeType", &*image.media_type)]);
            entry("inlineData", Json::Object(data))
        }
    }
}

fn contents(chat: &Chat) -> Vec<Json> {
    let mut contents: Vec<(&str, Vec<Json>)> = Vec::new();
    let given_ids = given_ids(chat);
    for message in &chat.messages {
        let (role, parts) = match message {
            Message::User(text) => ("user", vec![entry("text", text.as_str().into())]),
            Message::Shown(parts) => ("user", parts.iter().map(shown).collect()),
            Message::Tool { name, content, call_id } => {
                let mut response = Object::from_iter([
                    ("name", Json::from(name.as_str())),
                    ("response", entry("result", content.as_str().into())),
                ]);
                if given_ids.contains(&call_id.as_str()) {
                    response.set("id", call_id.as_str());
                }
                ("user", vec![entry("functionResponse", Json::Object(response))])
            }
            // Parts come back as they were, with their thought signatures.
            Message::Assistant { spoken: Some(Json::Array(parts)), .. } => ("model", parts.clone()),
            Message::Assistant { text, calls, .. } => {
                let text = text
                    .iter()
                    .filter(|text| !text.is_empty())
                    .map(|text| entry("text", text.as_str().into()));
                let calls = calls.iter().map(|call| {
                    let function = Object::from_iter([
                        ("args", call.args.clone()),
                        ("name", Json::from(call.name.as_str())),
                    ]);
                    entry("functionCall", Json::Object(function))
                });
                ("model", text.chain(calls).collect())
            }
        };
        match contents.last_mut() {
            // A turn without any part is not one.
            _ if parts.is_empty() => {}
            Some((last, there)) if *last == role => there.extend(parts),
            _ => contents.push((role, parts)),
        }
    }
    let content = |(role, parts): (&str, Vec<Json>)| {
        Json::Object(Object::from_iter([("parts", Json::Array(parts)), ("role", Json::from(role))]))
    };
    contents.into_iter().map(content).collect()
}
