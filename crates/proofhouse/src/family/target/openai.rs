//! Endpoints of the OpenAI shape: `POST …/chat/completions`.

use std::collections::BTreeMap;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chat::made_up_id;
use super::endpoint::{
    Dialect, Ended, Remote, Said, arguments, disguised, message as message_of, small_seed, text_at,
    unexpected, with_extra,
};
use super::place::{EndpointSettings, check_extra};
use super::transport::{Answer, Fault, Reading, Transport};
use super::usage::{Places, Usage};
use super::{AnswerFormat, Call, Chat, Member, Message, Opening, Part, Shapes, System};
use crate::text::complaint::Complaint;

/// Any endpoint of the OpenAI shape: OpenAI, vLLM, llama.cpp, LM Studio, OpenRouter, LiteLLM and many more.
///
/// **Purpose.** Asks a chat model over `POST {base_url}/chat/completions`, with tools where a suite has them.
///
/// **Model references.** `model` is what the endpoint calls it. With `base_url` it is sent as it stands. Without it,
/// `gpt-4o-mini` is a model of OpenAI, and `provider/model` one of that provider: its address is `PROVIDER_BASE_URL` in the
/// environment, or the usual one for `openai`, `openrouter`, `groq`, `mistral`, `deepseek`, `together`, `fireworks`, `xai`,
/// and on this machine `vllm`, `llamacpp`, `lmstudio`, `ollama`, `litellm`.
///
/// **Keys.** The key is in the environment: `PROVIDER_API_KEY`, or the variable that `api_key_env` names. A key in a suite is
/// refused; no key reaches a file, a message or a cassette. `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are honoured.
///
/// **Guarantee.** What the endpoint says has a name: `answered`, `empty`, `null`, `length` (cut at `max_tokens`), `refused`,
/// `filtered`; what goes wrong has one too: `connection`, `connection_cut`, `timeout`, `stalled`, `rate_limited`,
/// `unauthorized`, `not_found`, `http_…`, `redirect`, `content_type`, `malformed_json`, `error_body`, `unexpected_shape`,
/// `body_too_large`. Tokens of all attempts are added up; finish reason, model and fingerprint are kept. Each trial's seed is
/// sent, 31 bits of it, unless `send_seed` is false.
///
/// ```yaml
/// small:
///   openai:
///     model: llama-3.2-1b-instruct
///     base_url: http://127.0.0.1:8080/v1
///     system: Answer in one word.
///     temperature: 0
///     max_tokens: 64
///     transport: {max_in_flight: 32, requests_per_minute: 600}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenAi {
    /// The model, as the endpoint calls it; `provider/model` where no `base_url` is given.
    pub model: String,
    /// The address before `/chat/completions`.
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
    /// Further fields of the request, as the endpoint wants them.
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

/// Something that was given and is not taken; nothing of it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused;

impl<'de> Deserialize<'de> for Refused {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Refused)
    }
}

/// The complaint about a key in a suite.
pub(super) fn refuse_key(key: &Option<Refused>, usual: &str) -> Option<Complaint> {
    key.as_ref().map(|Refused| {
        Complaint::new("a suite is no place for a key")
            .hint(format!(
                "`export {usual}=…` in the shell, and here `api_key_env: {usual}` or nothing at all"
            ))
            .key("api_key")
            .secret()
    })
}

pub(super) fn yes() -> bool {
    true
}

pub(super) fn is_null(value: &Json) -> bool {
    matches!(value, Json::Null)
}

/// Where providers of this shape are.
const PROVIDERS: [(&str, &str); 13] = [
    ("openai", "https://api.openai.com/v1"),
    ("openrouter", "https://openrouter.ai/api/v1"),
    ("groq", "https://api.groq.com/openai/v1"),
    ("mistral", "https://api.mistral.ai/v1"),
    ("deepseek", "https://api.deepseek.com/v1"),
    ("together", "https://api.together.xyz/v1"),
    ("fireworks", "https://api.fireworks.ai/inference/v1"),
    ("xai", "https://api.x.ai/v1"),
    ("vllm", "http://127.0.0.1:8000/v1"),
    ("llamacpp", "http://127.0.0.1:8080/v1"),
    ("lmstudio", "http://127.0.0.1:1234/v1"),
    ("ollama", "http://127.0.0.1:11434/v1"),
    ("litellm", "http://127.0.0.1:4000/v1"),
];

const USAGE: Places = &[
    ("cached_tokens", "/usage/prompt_tokens_details/cached_tokens"),
    ("input_tokens", "/usage/prompt_tokens"),
    ("output_tokens", "/usage/completion_tokens"),
    ("reasoning_tokens", "/usage/completion_tokens_details/reasoning_tokens"),
];

impl OpenAi {
    /// The provider and the model's name at that provider.
    fn reference(&self) -> (&str, &str) {
        match self.model.split_once('/') {
            Some((provider, model)) if self.base_url.is_none() => (provider, model),
            _ => ("openai", &self.model),
        }
    }

    fn with_endpoint<T>(&self, use_endpoint: impl FnOnce(&EndpointSettings<'_>) -> T) -> T {
        let (provider, _) = self.reference();
        let maker = provider.to_ascii_uppercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let known = PROVIDERS.iter().find(|(name, _)| *name == provider);
        use_endpoint(&EndpointSettings {
            maker: &maker,
            base_url: self.base_url.as_deref(),
            default_url: known.map(|(_, url)| *url),
            api_key_env: self.api_key_env.as_deref(),
            headers: &self.headers,
            headers_env: &self.headers_env,
            transport: &self.transport,
        })
    }

    /// All settings that cannot work.
    pub(super) fn check(&self) -> Vec<Complaint> {
        let mut complaints = self.with_endpoint(|place| place.check());
        complaints.extend(refuse_key(&self.api_key, "OPENAI_API_KEY"));
        complaints.extend(check_extra(&self.extra, &OWN));
        complaints.extend(check_model(&self.model));
        complaints
    }

    /// Makes the endpoint ready.
    pub(super) fn open(&self, opening: &Opening) -> Result<Remote, Complaint> {
        let (_, model) = self.reference();
        let dialect = Speech { model: model.to_owned(), settings: self.clone() };
        let key_header = ("authorization", "Bearer ");
        self.with_endpoint(|place| {
            Remote::open(place, "/chat/completions", key_header, opening, Box::new(dialect))
        })
        .map(|remote| remote.expecting(self.max_tokens))
    }
}

/// What `extra` may not replace.
const OWN: [&str; 7] = ["messages", "model", "n", "response_format", "seed", "stream", "tools"];

impl Member for OpenAi {
    const SHAPES: Shapes = Shapes { images: true, format: true, tools: true };

    fn system(&self, opening: &Opening) -> Result<System, Complaint> {
        Ok(System::Remote(Box::new(self.open(opening)?)))
    }
}

/// A model has a name.
pub(super) fn check_model(model: &str) -> Option<Complaint> {
    model.trim().is_empty().then(|| {
        Complaint::new("the model has no name").hint("for example `model: gpt-4o-mini`").key("model")
    })
}

#[derive(Debug)]
struct Speech {
    model: String,
    settings: OpenAi,
}

impl Dialect for Speech {
    fn body(&self, chat: &Chat) -> Result<Json, Complaint> {
        let settings = &self.settings;
        let system =
            chat.system_after(settings.system.as_deref())?.map(|text| message("system", text.into()));
        let messages = system.into_iter().chain(chat.messages.iter().map(spoken));
        let mut body = Object::from_iter([
            ("messages", Json::Array(messages.collect())),
            ("model", Json::from(self.model.as_str())),
        ]);
        if !chat.tools.is_empty() {
            body.set("tools", tools(chat));
        }
        let numbers = [("temperature", settings.temperature), ("top_p", settings.top_p)];
        for (key, value) in numbers {
            if let Some(value) = value {
                body.set(key, Json::Number(value));
            }
        }
        if let Some(most) = settings.max_tokens {
            body.set("max_tokens", most);
        }
        if !settings.stop.is_empty() {
            body.set("stop", texts(&settings.stop));
        }
        if settings.send_seed {
            body.set("seed", small_seed(chat.seed));
        }
        if let Some(format) = &chat.format {
            body.set("response_format", response_format(format));
        }
        Ok(with_extra(body, &settings.extra))
    }

    fn read(&self, answer: &Json) -> Reading {
        if let Some(error) = answer.get("error").filter(|error| !is_null(error)) {
            return disguised(error);
        }
        let Some(choice) = answer.pointer("/choices/0") else { return unexpected("`choices`") };
        let Some(said) = choice.get("message").filter(|message| message.as_object().is_some()) else {
            return unexpected("`message` in its first choice");
        };
        let Some(text) = content(said.get("content")) else { return unexpected("text in its `content`") };
        let refusal = text_at(said, "/refusal").filter(|text| !text.is_empty());
        let finish_reason = text_at(choice, "/finish_reason");
        let ended = match (&refusal, finish_reason.as_deref()) {
            (Some(_), _) | (None, Some("refusal")) => Ended::Refused,
            (None, Some("content_filter")) => Ended::Filtered,
            (None, Some("length")) => Ended::Length,
            (None, _) => Ended::Done,
        };
        Said {
            text: refusal.or(text),
            reasoning: text_at(said, "/reasoning_content").or_else(|| text_at(said, "/reasoning")),
            calls: calls(said),
            spoken: Some(own_turn(said)),
            finish_reason,
            model: text_at(answer, "/model"),
            fingerprint: text_at(answer, "/system_fingerprint"),
            ended,
            usage: Usage::read(answer, USAGE),
        }
        .reading()
    }

    /// A prompt that a filter rejected is an error by its status, and an outcome by its meaning.
    fn read_error(&self, answer: &Answer, body: &Json) -> Option<Reading> {
        let code = text_at(body, "/error/code")?;
        if code == "insufficient_quota" {
            let words = message_of(body).unwrap_or("the quota is used up");
            return Some(Reading::Fault(Fault::last("quota", format!("HTTP {}: {words}", answer.status))));
        }
        let filtered =
            answer.status == 400 && matches!(code.as_str(), "content_filter" | "content_policy_violation");
        filtered
            .then(|| Said { ended: Ended::Filtered, finish_reason: Some(code), ..Said::default() }.reading())
    }
}

/// Text, or the text parts of a list of parts; no text for null. Nothing where something else stands in its place, which
/// is neither an empty answer nor none.
pub(super) fn content(content: Option<&Json>) -> Option<Option<String>> {
    let part = |part: &Json| match part {
        Json::String(text) => Some(text.clone()),
        // A picture or a thought is a part without text.
        Json::Object(_) => Some(text_at(part, "/text").unwrap_or_default()),
        _ => None,
    };
    match content {
        None | Some(Json::Null) => Some(None),
        Some(Json::String(text)) => Some(Some(text.clone())),
        Some(Json::Array(parts)) => parts.iter().map(part).collect::<Option<String>>().map(Some),
        Some(_) => None,
    }
}

fn calls(said: &Json) -> Vec<Call> {
    let Some(Json::Array(list)) = said.get("tool_calls") else { return Vec::new() };
    let read = list.iter().enumerate().filter_map(|(place, call)| {
        let name = text_at(call, "/function/name")?;
        let id = text_at(call, "/id").filter(|id| !id.is_empty()).unwrap_or_else(|| made_up_id(place));
        Some(Call { id, name, args: arguments(call.pointer("/function/arguments")) })
    });
    read.collect()
}

/// What a server of this shape wants to see again of its own turn: words, calls and thoughts, whatever it calls them.
fn own_turn(said: &Json) -> Json {
    let kept = ["content", "reasoning", "reasoning_content", "reasoning_details"];
    let kept =
        kept.iter().filter_map(|key| Some((*key, said.get(key).filter(|value| !is_null(value))?.clone())));
    let mut turn: Object = kept.collect();
    turn.set("role", "assistant");
    if let Some(Json::Array(list)) = said.get("tool_calls").filter(|_| !calls(said).is_empty()) {
        let named = list.iter().enumerate().map(|(place, call)| {
            let mut call = call.clone();
            if let Json::Object(call) = &mut call {
                // A result has to refer to something.
                if call.get("id").and_then(Json::as_str).is_none_or(str::is_empty) {
                    call.set("id", made_up_id(place));
                }
                if call.get("type").is_none() {
                    call.set("type", "function");
                }
            }
            call
        });
        turn.set("tool_calls", Json::Array(named.collect()));
    }
    if turn.get("content").is_none() {
        // Null stands beside calls; an answer without both is an empty one.
        let empty = if turn.get("tool_calls").is_some() { Json::Null } else { Json::from("") };
        turn.set("content", empty);
    }
    Json::Object(turn)
}

fn message(role: &str, content: Json) -> Json {
    Json::Object(Object::from_iter([("content", content), ("role", Json::from(role))]))
}

fn spoken(said: &Message) -> Json {
    match said {
        Message::User(text) => message("user", text.as_str().into()),
        Message::Shown(parts) => message("user", Json::Array(parts.iter().map(part).collect())),
        Message::Tool { call_id, content, .. } => Json::Object(Object::from_iter([
            ("content", content.as_str()),
            ("role", "tool"),
            ("tool_call_id", call_id.as_str()),
        ])),
        Message::Assistant { spoken: Some(spoken), .. } => spoken.clone(),
        Message::Assistant { text, calls, spoken: None } => {
            let mut spoken =
                Object::from_iter([("content", Json::from(text.clone())), ("role", Json::from("assistant"))]);
            if !calls.is_empty() {
                let calls = calls.iter().map(|call| {
                    let function =
                        Object::from_iter([("arguments", call.args.to_text()), ("name", call.name.clone())]);
                    Json::Object(Object::from_iter([
                        ("function", Json::Object(function)),
                        ("id", Json::from(call.id.as_str())),
                        ("type", Json::from("function")),
                    ]))
                });
                spoken.set("tool_calls", Json::Array(calls.collect()));
            }
            Json::Object(spoken)
        }
    }
}

fn part(part: &Part) -> Json {
    let entries = match part {
        Part::Text(text) => [("text", Json::from(text.as_str())), ("type", Json::from("text"))],
        Part::Image(image) => {
            let url = format!("data:{};base64,{}", image.media_type, image.base64);
            let url = Json::Object(Object::from_iter([("url", url)]));
            [("image_url", url), ("type", Json::from("image_url"))]
        }
    };
    Json::Object(entries.into_iter().collect())
}

fn response_format(format: &AnswerFormat) -> Json {
    let entries = match format {
        AnswerFormat::Json => vec![("type", Json::from("json_object"))],
        AnswerFormat::Schema(schema) => {
            let named = Object::from_iter([("name", Json::from("answer")), ("schema", schema.clone())]);
            vec![("json_schema", Json::Object(named)), ("type", Json::from("json_schema"))]
        }
    };
    Json::Object(entries.into_iter().collect())
}

/// Tools as this shape, and Ollama's, describe them.
pub(super) fn tools(chat: &Chat) -> Json {
    let tools = chat.tools.iter().map(|tool| {
        let function = Object::from_iter([
            ("description", Json::from(tool.description.as_str())),
            ("name", Json::from(tool.name.as_str())),
            ("parameters", tool.parameters.to_json()),
        ]);
        Json::Object(Object::from_iter([
            ("function", Json::Object(function)),
            ("type", Json::from("function")),
        ]))
    });
    Json::Array(tools.collect())
}

/// A list of texts.
pub(super) fn texts(list: &[String]) -> Json {
    Json::Array(list.iter().map(|text| Json::from(text.as_str())).collect())
}
