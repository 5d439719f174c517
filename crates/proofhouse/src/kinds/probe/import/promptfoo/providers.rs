//! Providers: those that speak a dialect of ours become targets, the rest a target that answers from here.

use serde_json::{Map, Value, json};

use super::source::{Doc, Part, Reader};
use crate::family::target::TargetConfig;
use crate::kinds::probe::import::{name_of, unique};
use crate::spine::suite::tree::NodeId;
use crate::text::complaint::Complaint;

/// A target of a suite.
#[derive(Debug, Clone)]
pub(super) struct Provider {
    pub(super) name: String,
    /// What tests may call it.
    pub(super) known_as: Vec<String>,
    pub(super) config: Value,
}

/// Who stands in for a system that cannot be reached: it says what it was asked.
pub(super) fn stand_in() -> Value {
    json!({"scripted": {"otherwise": {"reply": "{input}"}}})
}

/// Who stands in for a model that judges: it never does.
pub(super) fn silent_grader() -> Value {
    json!({"scripted": {"otherwise": {"reply": "VERDICT: CANNOT JUDGE"}}})
}

/// Services of the OpenAI shape, by promptfoo's name and ours.
const LIKE_OPENAI: [(&str, &str); 9] = [
    ("openrouter", "openrouter"),
    ("groq", "groq"),
    ("mistral", "mistral"),
    ("deepseek", "deepseek"),
    ("togetherai", "together"),
    ("fireworks", "fireworks"),
    ("xai", "xai"),
    ("vllm", "vllm"),
    ("litellm", "litellm"),
];

/// What `openai:` and the like have beside chat models.
const NO_CHAT: [&str; 22] = [
    "embedding",
    "embeddings",
    "image",
    "video",
    "realtime",
    "live",
    "agents",
    "assistant",
    "completion",
    "moderation",
    "transcription",
    "speech",
    "tts",
    "codex-sdk",
    "codex-app-server",
    "codex",
    "claude-agent-sdk",
    "audio",
    "file",
    "chatkit",
    "claude-code",
    "video-generation",
];

/// Reads all providers.
pub(super) fn read(reader: &mut Reader) -> Vec<Provider> {
    let doc = reader.doc.clone();
    let id = doc.get(doc.root(), "providers").or_else(|| doc.get(doc.root(), "targets"));
    let mut providers: Vec<Provider> = Vec::new();
    for item in id.map(|id| doc.items(id)).unwrap_or_default() {
        reader.see(Part::Provider);
        let (id, label, config) = named(&doc, item);
        let line = doc.line(item);
        let config = match target(&id, &config) {
            _ if reader.scripted => stand_in(),
            Ok((target, unknown)) => {
                if !unknown.is_empty() {
                    let what = format!("`{}` of provider `{id}`", unknown.join("`, `"));
                    reader.leave(
                        Part::Setting,
                        (&doc, line),
                        what,
                        "the target has no such setting; `extra` sends further fields",
                    );
                }
                target
            }
            Err(complaint) => {
                reader.leave(Part::Provider, (&doc, line), format!("`{id}`"), complaint.what);
                stand_in()
            }
        };
        let taken: Vec<String> = providers.iter().map(|provider| provider.name.clone()).collect();
        let nth = format!("target-{}", providers.len() + 1);
        let name = unique(name_of(label.as_deref().unwrap_or_else(|| tail(&id)), &nth), &taken);
        let known_as = label.into_iter().chain([id]).collect();
        providers.push(Provider { name, known_as, config });
    }
    providers
}

/// The last part of a provider's id that says which model it is.
fn tail(id: &str) -> &str {
    tail_of(id.split_once(':').map_or(id, |(_, rest)| rest))
}

/// What a provider is called, and its settings.
fn named(doc: &Doc, item: NodeId) -> (String, Option<String>, Value) {
    if let Some(id) = doc.text(item) {
        return (id.to_owned(), None, Value::Null);
    }
    let value = doc.value(item);
    match value["id"].as_str() {
        Some(id) => (id.to_owned(), value["label"].as_str().map(str::to_owned), value["config"].clone()),
        // The name as the only key, its settings below.
        None => match value.as_object().and_then(|map| map.iter().next()) {
            Some((id, settings)) => {
                (id.clone(), settings["label"].as_str().map(str::to_owned), settings["config"].clone())
            }
            None => (value.to_string(), None, Value::Null),
        },
    }
}

/// The target of a model that judges, with what it is called; promptfoo writes it in several ways.
pub(super) fn grader(options: &Value) -> Option<(String, Result<Value, Complaint>)> {
    let provider = match options {
        Value::Null => return None,
        Value::Object(map) if map.contains_key("text") => &map["text"],
        Value::Object(map) if map.contains_key("id") => options,
        Value::Object(_) => return None,
        other => other,
    };
    let (id, config) = match provider {
        Value::String(id) => (id.clone(), Value::Null),
        other => (other["id"].as_str()?.to_owned(), other["config"].clone()),
    };
    let target = target(&id, &config).map(|(target, _)| target);
    Some((id, target))
}

/// A target that speaks as the provider does, and the settings that it does not have.
fn target(id: &str, config: &Value) -> Result<(Value, Vec<String>), Complaint> {
    let (service, rest) = id.split_once(':').unwrap_or((id, ""));
    let (family, model) = match (service, rest) {
        ("echo", _) => return Ok((stand_in(), Vec::new())),
        ("http" | "https", _) => return http(id, config).map(|target| (target, Vec::new())),
        (_, "") => ("", String::new()),
        ("openai" | "anthropic" | "google" | "vertex", rest) if !is_chat(rest) => ("", String::new()),
        ("openai", rest) => ("openai", tail_of(rest).to_owned()),
        ("anthropic", rest) => ("anthropic", tail_of(rest).to_owned()),
        ("google" | "vertex", rest) => ("gemini", tail_of(rest).to_owned()),
        ("ollama", rest) => (
            "ollama",
            rest.strip_prefix("chat:").or(rest.strip_prefix("completion:")).unwrap_or(rest).to_owned(),
        ),
        (service, rest) => match LIKE_OPENAI.iter().find(|(theirs, _)| *theirs == service) {
            Some((_, ours)) => ("openai", format!("{ours}/{}", tail_of(rest))),
            None => ("", String::new()),
        },
    };
    if family.is_empty() {
        return Err(Complaint::new(
            "no target here speaks to it; one that says what it was asked stands in its place (`http` or `plugin` may reach it)",
        ));
    }
    let mut settings = Map::from_iter([("model".to_owned(), Value::from(model))]);
    let unknown = settings_of(config, &mut settings);
    checked(json!({ family: settings })).map(|target| (target, unknown))
}

fn is_chat(rest: &str) -> bool {
    let first = rest.split(':').next().unwrap_or_default();
    // What names a model that draws.
    !NO_CHAT.contains(&first) && !rest.ends_with("-image") && !rest.contains("-image-")
}

fn tail_of(rest: &str) -> &str {
    ["chat:", "messages:", "responses:"].iter().find_map(|front| rest.strip_prefix(front)).unwrap_or(rest)
}

/// Takes the settings that every target of ours has, and names the others.
fn settings_of(config: &Value, settings: &mut Map<String, Value>) -> Vec<String> {
    let mut unknown = Vec::new();
    for (key, value) in config.as_object().into_iter().flatten() {
        let ours = match key.as_str() {
            "temperature" => "temperature",
            "top_p" | "topP" => "top_p",
            "max_tokens"
            | "maxTokens"
            | "max_completion_tokens"
            | "max_output_tokens"
            | "maxOutputTokens" => "max_tokens",
            "stop" if value.is_array() => "stop",
            "apiBaseUrl" => "base_url",
            "apiKeyEnvar" => "api_key_env",
            "systemInstruction" | "instructions" if value.is_string() => "system",
            // A key is never written down, and what is left out so is no loss.
            "apiKey" => continue,
            _ => {
                unknown.push(key.clone());
                continue;
            }
        };
        settings.insert(ours.to_owned(), value.clone());
    }
    unknown
}

/// The settings, if a target takes them.
fn checked(target: Value) -> Result<Value, Complaint> {
    let config: TargetConfig = serde_json::from_value(target.clone()).map_err(Complaint::of)?;
    match config.check().into_iter().next() {
        None => Ok(target),
        Some(complaint) => Err(complaint),
    }
}

/// An address of somebody's own.
fn http(id: &str, config: &Value) -> Result<Value, Complaint> {
    let url = if id.contains("//") { id } else { config["url"].as_str().unwrap_or_default() };
    let no = |why: &str| {
        Err(Complaint::new(format!("{why}; one that says what it was asked stands in its place")))
    };
    if config["method"].as_str().is_some_and(|method| method != "POST") || !config["body"].is_object() {
        return no("a target sends JSON by `POST`");
    }
    if config.get("signatureAuth").is_some() {
        return no("requests are not signed here");
    }
    let transform = ["transformResponse", "responseParser"].iter().find_map(|key| config[*key].as_str());
    let Some(answer) = transform.and_then(pointer) else {
        return no(
            "where the answer stands is said by a program (`transformResponse`), and by a JSON pointer here",
        );
    };
    let mut settings = json!({"url": url, "request": asked(&config["body"]), "answer": answer});
    if let Some(headers) = config["headers"].as_object() {
        let own = |name: &&String| !name.eq_ignore_ascii_case("content-type");
        let headers: Map<String, Value> = headers
            .iter()
            .filter(|(name, _)| own(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        settings["headers"] = Value::Object(headers);
    }
    checked(json!({ "http": settings }))
}

/// A body with the prompt where promptfoo puts it.
fn asked(body: &Value) -> Value {
    match body {
        Value::String(text) => {
            let tight = text.replace("{{ ", "{{").replace(" }}", "}}");
            Value::from(if tight == "{{prompt}}" {
                "{input}".to_owned()
            } else {
                tight.replace("{{prompt}}", "{{ input }}")
            })
        }
        Value::Array(list) => Value::Array(list.iter().map(asked).collect()),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), asked(value))).collect())
        }
        other => other.clone(),
    }
}

/// `json.choices[0].message.content` as a JSON pointer.
fn pointer(path: &str) -> Option<String> {
    let rest = path.trim().strip_prefix("json")?;
    let mut pointer = String::new();
    for part in rest.replace('[', ".").replace([']', '?'], "").split('.').skip(1) {
        if part.is_empty() || !part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
            return None;
        }
        pointer.push('/');
        pointer.push_str(part);
    }
    Some(pointer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_that_speak_a_dialect_of_ours_are_targets() {
        for (id, config, expected) in [
            (
                "openai:chat:gpt-4o",
                json!({"temperature": 0, "apiKey": "sk-x"}),
                Some(json!({"openai": {"model": "gpt-4o", "temperature": 0}})),
            ),
            ("openai:gpt-4o", Value::Null, Some(json!({"openai": {"model": "gpt-4o"}}))),
            (
                "anthropic:messages:claude-x",
                json!({"max_tokens": 9}),
                Some(json!({"anthropic": {"model": "claude-x", "max_tokens": 9}})),
            ),
            ("google:gemini-2.5-flash", Value::Null, Some(json!({"gemini": {"model": "gemini-2.5-flash"}}))),
            (
                "openrouter:meta/llama",
                Value::Null,
                Some(json!({"openai": {"model": "openrouter/meta/llama"}})),
            ),
            ("ollama:chat:llama3", Value::Null, Some(json!({"ollama": {"model": "llama3"}}))),
            ("openai:embedding:x", Value::Null, None),
            ("openai:video:sora-2", Value::Null, None),
            ("google:gemini-2.5-flash-image", Value::Null, None),
            ("anthropic:claude-agent-sdk", Value::Null, None),
            ("bedrock:x", Value::Null, None),
            ("file://p.py", Value::Null, None),
            (
                "http://127.0.0.1:9/x",
                json!({"method": "POST", "body": {"q": "{{prompt}}"}, "transformResponse": "json.a[0].b"}),
                Some(
                    json!({"http": {"url": "http://127.0.0.1:9/x", "request": {"q": "{input}"}, "answer": "/a/0/b"}}),
                ),
            ),
            (
                "http://127.0.0.1:9/x",
                json!({"method": "POST", "body": {"q": "x"}, "transformResponse": "file://p.js"}),
                None,
            ),
        ] {
            assert_eq!(target(id, &config).ok().map(|(target, _)| target), expected, "{id}");
        }
        assert!(checked(silent_grader()).is_ok() && checked(stand_in()).is_ok());
    }
}
