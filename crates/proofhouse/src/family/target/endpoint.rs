//! What all model endpoints over HTTP have in common: how they are opened, asked, and how their JSON is read.
//!
//! A dialect says how a conversation becomes a request and how an answer is read; everything between is here, in
//! `place` and in `transport`.

use std::fmt::Debug;

use hyper::body::Bytes;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Uri};
use proofhouse_ledger::Json;
use proofhouse_ledger::json::{self, Object, Strictness};

use super::place::{EndpointSettings, check_url, complaint};
use super::reply::{Outcome, Reply, output_of};
use super::schema::spelt;
use super::transport::{Answer, Ask, ENCODINGS, Fault, Line, Reading, excerpt, judge_status};
use super::usage::Usage;
use super::{Call, Chat, Keys, Opening};
use crate::text::complaint::Complaint;

/// How one maker's endpoint is spoken to.
pub(super) trait Dialect: Debug + Send + Sync {
    /// The request's body.
    ///
    /// # Errors
    /// Where a setting cannot be filled from the case.
    fn body(&self, chat: &Chat) -> Result<Json, Complaint>;

    /// What an answer says; a success by its status line.
    fn read(&self, answer: &Json) -> Reading;

    /// What an error's body says beyond its status line, where that matters.
    fn read_error(&self, _answer: &Answer, _body: &Json) -> Option<Reading> {
        None
    }

    /// Whether a body counts whatever its content type says.
    fn takes_any_type(&self) -> bool {
        false
    }
}

/// A model endpoint that is ready for requests.
#[derive(Debug)]
pub(super) struct Remote {
    line: Line,
    uri: Uri,
    headers: HeaderMap,
    dialect: Box<dyn Dialect>,
    max_tokens: u64,
}

/// How the key is sent: the header and what stands before it.
pub(super) type KeyHeader = (&'static str, &'static str);

impl Remote {
    /// Opens an endpoint: `path` follows the base address.
    pub(super) fn open(
        place: &EndpointSettings<'_>,
        path: &str,
        key_header: KeyHeader,
        opening: &Opening,
        dialect: Box<dyn Dialect>,
    ) -> Result<Self, Complaint> {
        let base = place.base(opening)?;
        // What follows a `?` belongs to the whole address: Azure wants `?api-version=…` there.
        let (front, query) =
            base.split_once('?').map_or((base.as_str(), ""), |(front, query)| (front, query));
        let mut whole =
            if path.is_empty() { front.to_owned() } else { format!("{}{path}", front.trim_end_matches('/')) };
        if !query.is_empty() {
            whole.push('?');
            whole.push_str(query);
        }
        let uri = check_url(&whole).map_err(|complaint| complaint.key("base_url"))?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(ENCODINGS));
        headers.insert(
            "user-agent",
            HeaderValue::from_static(concat!("proofhouse/", env!("CARGO_PKG_VERSION"))),
        );
        let unusable =
            |at: &[&str]| complaint(at, "the value cannot be sent as a header", "look for line ends in it");
        for (name, value) in place.headers {
            let pair = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
            let (name, value) = pair.ok_or_else(|| unusable(&["headers", name]))?;
            headers.insert(name, value);
        }
        let mut keys = Keys::live(&opening.environment, "");
        for (name, variable) in place.headers_env {
            let secret = opening.environment.secret(variable).ok_or_else(|| {
                let what = format!("`{variable}` is not set in the environment");
                complaint(&["headers_env", name], what, format!("`export {variable}=…`"))
            })?;
            let pair = HeaderName::try_from(name).ok().zip(secret.header(""));
            let (header, value) = pair.ok_or_else(|| unusable(&["headers_env", name]))?;
            headers.insert(header, value);
            keys.add(variable, Some(secret));
        }
        let key = place.key(&base, opening)?;
        if let Some(key) = &key {
            let (header, prefix) = key_header;
            headers.insert(header, key.header(prefix).ok_or_else(|| unusable(&["api_key_env"]))?);
            keys.add("the key", Some(key.clone()));
        }
        let line = Line::new(place.transport, &uri, key.as_ref(), keys, opening)
            .map_err(|complaint| complaint.key("base_url"))?;
        Ok(Remote { line, uri, headers, dialect, max_tokens: 0 })
    }

    /// How many tokens an answer may have, for allowances.
    pub(super) fn expecting(mut self, max_tokens: Option<u32>) -> Self {
        self.max_tokens = max_tokens.map_or(256, u64::from);
        self
    }

    /// One more header that is no secret.
    pub(super) fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        if !self.headers.contains_key(name) {
            self.headers.insert(name, HeaderValue::from_static(value));
        }
        self
    }

    /// The host that it talks to, for people.
    pub(super) fn host(&self) -> String {
        let scheme = self.uri.scheme_str().unwrap_or("http");
        format!("{scheme}://{}", self.uri.authority().map_or("", |authority| authority.as_str()))
    }

    /// Asks, as often as the transport's settings allow.
    pub(super) async fn chat(&self, chat: &Chat) -> Reply {
        let body = match self.dialect.body(chat) {
            Ok(body) => spelt(&body, chat.tools.iter().map(|tool| &tool.parameters)),
            Err(complaint) => return Reply::failed("template", complaint.what),
        };
        let ask = Ask {
            method: Method::POST,
            uri: self.uri.clone(),
            headers: self.headers.clone(),
            // Four characters a token is what text in English comes to.
            tokens: body.len() as u64 / 4 + self.max_tokens,
            body: Bytes::from(body),
            seed: chat.seed,
        };
        self.line.exchange(&ask, |answer| self.read(answer)).await
    }

    /// Reads a body with this status.
    pub(super) fn read_body(&self, status: u16, body: &[u8]) {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let _ = self.read(&Answer { status, headers, body: body.to_vec() });
    }

    fn read(&self, answer: &Answer) -> Reading {
        if let Some(fault) = judge_status(answer) {
            let Ok(body) = parse(&answer.body) else { return Reading::Fault(fault) };
            let reading = self.dialect.read_error(answer, &body);
            return reading.unwrap_or_else(|| Reading::Fault(in_words(fault, answer.status, &body)));
        }
        let kind = answer.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if let Some(kind) = kind.filter(|kind| !self.dialect.takes_any_type() && !is_json(kind)) {
            let error = format!("expected JSON, found `{kind}`: {}", excerpt(&answer.body));
            return Reading::Fault(Fault::last("content_type", error));
        }
        match parse(&answer.body) {
            Ok(body) => self.dialect.read(&body),
            Err(error) => {
                let error = format!("the answer is not JSON: {error}; it begins {}", excerpt(&answer.body));
                Reading::Fault(Fault::last("malformed_json", error))
            }
        }
    }
}

fn is_json(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.ends_with("+json")
}

/// Reads a body. Half a surrogate pair, which some servers pass on, is kept as the text of its escape.
fn parse(body: &[u8]) -> Result<Json, json::ParseError> {
    json::parse(body, Strictness::Lenient).or_else(|error| match spell_out_surrogates(body) {
        spelt if spelt != body => json::parse(&spelt, Strictness::Lenient).map_err(|_| error),
        _ => Err(error),
    })
}

/// Doubles the backslash before every escape of half a surrogate pair that has no other half.
fn spell_out_surrogates(body: &[u8]) -> Vec<u8> {
    let unit = |at: usize| -> Option<u16> {
        let digits = body.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut out = Vec::with_capacity(body.len() + 8);
    let mut at = 0;
    while at < body.len() {
        let whole = match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => 12,
            Some(0xd800..=0xdfff) => {
                out.push(b'\\');
                6
            }
            Some(_) => 6,
            None if body[at] == b'\\' => 2,
            None => 1,
        };
        let end = (at + whole).min(body.len());
        out.extend_from_slice(&body[at..end]);
        at = end;
    }
    out
}

/// The message of an error's body in place of the body itself.
fn in_words(fault: Fault, status: u16, body: &Json) -> Fault {
    let Outcome::Failed { error_type, .. } = &fault.outcome else { return fault };
    let Some(message) = message(body) else { return fault };
    let error = format!("HTTP {status}: {}", excerpt(message.as_bytes()));
    let outcome = Outcome::Failed { error_type: error_type.clone(), error };
    Fault { outcome, ..fault }
}

/// What an error's body says, in the places where makers put it.
pub(super) fn message(body: &Json) -> Option<&str> {
    let body = match body {
        Json::Array(list) => list.first()?,
        other => other,
    };
    ["/error/message", "/message", "/error", "/detail"].iter().find_map(|at| body.pointer(at)?.as_str())
}

/// An error inside an answer that calls itself a success.
pub(super) fn disguised(error: &Json) -> Reading {
    let code = error.get("code").or(error.get("status")).or(error.get("type"));
    let code = code.map(|code| code.to_text().to_lowercase()).unwrap_or_default();
    let words = match error {
        Json::String(text) => text.clone(),
        other => other.get("message").unwrap_or(other).to_text(),
    };
    let words = format!("an error inside a success: {}", excerpt(words.as_bytes()));
    Reading::Fault(match code.as_str() {
        "429" | "rate_limit_exceeded" | "rate_limit_error" | "resource_exhausted" => {
            Fault::rate_limited(None)
        }
        "500" | "502" | "503" | "504" | "529" | "overloaded_error" | "server_error" => {
            Fault::passing("error_body", words)
        }
        _ => Fault::last("error_body", words),
    })
}

/// An answer in which the expected place is missing.
pub(super) fn unexpected(what: &str) -> Reading {
    Reading::Fault(Fault::last("unexpected_shape", format!("the answer has no {what}")))
}

/// What was read from an answer, before it is an outcome.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The words; none where the answer says null.
    pub(super) text: Option<String>,
    /// What it thought before, where the endpoint tells that apart.
    pub(super) reasoning: Option<String>,
    pub(super) calls: Vec<Call>,
    /// The turn in the dialect's own shape, ready to go back.
    pub(super) spoken: Option<Json>,
    pub(super) finish_reason: Option<String>,
    pub(super) model: Option<String>,
    pub(super) fingerprint: Option<String>,
    /// Why the answer ended, where that is more than "it was done".
    pub(super) ended: Ended,
    pub(super) usage: Usage,
}

/// Ends of an answer that have a name.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    #[default]
    Done,
    Length,
    Refused,
    Filtered,
}

impl Said {
    /// The reply.
    pub(super) fn reading(mut self) -> Reading {
        if let Some((thought, answer)) = self.text.as_deref().and_then(apart) {
            let told = self.reasoning.take().filter(|told| !told.is_empty());
            self.reasoning = Some(told.map_or_else(|| thought.clone(), |told| format!("{told}\n{thought}")));
            self.text = Some(answer);
        }
        let outcome = match (self.ended, self.text.as_deref()) {
            (Ended::Refused, _) => Outcome::Refused,
            (Ended::Filtered, _) => Outcome::Filtered,
            (Ended::Length, _) => Outcome::Length,
            (Ended::Done, _) if !self.calls.is_empty() => Outcome::Answered,
            (Ended::Done, None) => Outcome::Null,
            (Ended::Done, Some("")) => Outcome::Empty,
            (Ended::Done, Some(_)) => Outcome::Answered,
        };
        let output = output_of(self.text.as_deref(), &self.calls);
        let reply = Reply {
            calls: self.calls,
            reasoning: self.reasoning.filter(|told| !told.is_empty()),
            spoken: self.spoken,
            finish_reason: self.finish_reason,
            model: self.model,
            fingerprint: self.fingerprint,
            ..Reply::new(outcome, Some(output))
        };
        Reading::Said(Box::new(reply), self.usage)
    }
}

/// Thoughts and answer of a text that begins with `<think>`, or that closes such a part which its template opened. An
/// answer that was cut while it thought says nothing yet.
pub(super) fn apart(text: &str) -> Option<(String, String)> {
    const OPEN: &str = "<think>";
    const CLOSE: &str = "</think>";
    let trimmed = text.trim_start();
    let thought = match trimmed.strip_prefix(OPEN) {
        Some(thought) => thought,
        None if !trimmed.contains(OPEN) && trimmed.contains(CLOSE) => trimmed,
        None => return None,
    };
    let (thought, answer) = thought.split_once(CLOSE).unwrap_or((thought, ""));
    Some((thought.trim().to_owned(), answer.trim_start().to_owned()))
}

/// Text at a pointer.
pub(super) fn text_at(value: &Json, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}

/// Arguments of a call as a model wrote them: JSON where it is JSON, else the text itself.
pub(super) fn arguments(value: Option<&Json>) -> Json {
    match value {
        Some(Json::String(text)) if text.trim().is_empty() => Json::Object(Object::new()),
        Some(Json::String(text)) => {
            json::parse(text.as_bytes(), Strictness::Lenient).unwrap_or_else(|_| Json::from(text.as_str()))
        }
        Some(other) => other.clone(),
        None => Json::Object(Object::new()),
    }
}

/// The entries of `extra` on top of a body: `check_extra` has refused those that the body has itself.
pub(super) fn with_extra(mut body: Object, extra: &Json) -> Json {
    if let Json::Object(extra) = extra {
        for (key, value) in extra.iter() {
            // A group of settings is added to, not replaced.
            let value = match (body.get(key), value) {
                (Some(Json::Object(there)), Json::Object(_)) => with_extra(there.clone(), value),
                _ => value.clone(),
            };
            body.set(key, value);
        }
    }
    Json::Object(body)
}

/// A seed that every endpoint can take: the upper 31 bits.
pub(super) fn small_seed(seed: u64) -> Json {
    Json::Number((seed >> 33) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_told_apart_from_the_answer() {
        let shown = |text: &str| apart(text).map(|(thought, answer)| format!("{thought}|{answer}"));
        assert_eq!(shown("<think>\n2+2\n</think>\n\n4"), Some("2+2|4".to_owned()));
        assert_eq!(shown("hm</think>4"), Some("hm|4".to_owned()), "the template had opened it");
        assert_eq!(shown("<think>cut in the mid"), Some("cut in the mid|".to_owned()));
        assert_eq!(shown("<think></think>4"), Some("|4".to_owned()));
        assert_eq!(shown("the tag `<think>` opens it and `</think>` closes it"), None);
        assert_eq!(shown("4"), None);
    }

    #[test]
    fn half_a_surrogate_pair_is_kept_as_text() {
        let shown = |body: &str| parse(body.as_bytes()).map(|value| value.to_string());
        assert_eq!(shown(r#"{"a":"x\ud83d!"}"#), Ok(r#"{"a":"x\\ud83d!"}"#.to_owned()));
        assert_eq!(
            shown(r#"["\ud83d\ude00 \udE00 \\ud83d"]"#),
            Ok("[\"😀 \\\\udE00 \\\\ud83d\"]".to_owned())
        );
        assert_eq!(shown(r#"["\\\ud83d"]"#), Ok(r#"["\\\\ud83d"]"#.to_owned()));
        assert!(shown(r#"["\ud83d"#).is_err());
    }
}
