//! Any JSON endpoint: a request that the suite spells out, and a pointer to the answer.

use std::collections::BTreeMap;

use proofhouse_ledger::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::endpoint::{Dialect, Remote, apart, disguised, text_at};
use super::openai::is_null;
use super::place::{EndpointSettings, check_extra};
use super::reply::{Outcome, Reply};
use super::shape::Shape;
use super::transport::{Fault, Reading, Transport};
use super::usage::{Places, Usage};
use super::{Chat, Member, Opening, Shapes, System};
use crate::text;
use crate::text::complaint::{At, Complaint};
use crate::text::template::Unfilled;

/// Any JSON endpoint: what is sent is written in the suite, and a JSON pointer says where the answer is.
///
/// **Purpose.** Systems that are not a bare model: an agent behind a service, a retrieval pipeline, a gateway of your own.
///
/// **Request.** `request` is any structure, sent by `POST`. `{input}`, `{system}`, `{seed}` and `{repetition}` are filled in
/// wherever text stands in it; `{{` and `}}` are braces. Text with `{{ … }}` is a template instead, as prompts are, and knows the
/// fields of the case, too. A text that is nothing but `{messages}`, `{tools}`, `{seed}` or `{repetition}` becomes that list or
/// number itself.
///
/// **Answer.** `answer` is an RFC 6901 pointer into the response. Text is an answer, any other value a structured one; null is
/// the outcome `null`, and a response without that place is the error `unexpected_shape`. Where `error` points to something
/// other than null, the trial is an error with its text. `input_tokens` and `output_tokens` point to counts.
///
/// **Guarantee.** The same transport, outcomes and care for keys as `openai`; headers with keys come from the environment by
/// `headers_env`.
///
/// ```yaml
/// service:
///   http:
///     url: http://127.0.0.1:9000/answer
///     request: {question: "{input}", options: {seed: "{seed}", lang: en}}
///     answer: /result/text
///     error: /error
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Http {
    /// The whole address.
    pub url: String,
    /// The body of the request, with holes.
    #[schemars(with = "serde_json::Value")]
    pub request: Json,
    /// Where the answer is in the response, as a JSON pointer.
    pub answer: String,
    /// Where an error is, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where the count of tokens read is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<String>,
    /// Where the count of tokens written is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<String>,
    /// The environment variable that holds a key, sent as `Authorization: Bearer …`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
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

impl Http {
    fn endpoint(&self) -> EndpointSettings<'_> {
        EndpointSettings {
            maker: "HTTP",
            base_url: Some(&self.url),
            default_url: None,
            api_key_env: self.api_key_env.as_deref(),
            headers: &self.headers,
            headers_env: &self.headers_env,
            transport: &self.transport,
        }
    }

    /// All settings that cannot work.
    pub(super) fn check(&self) -> Vec<Complaint> {
        let mut complaints = self.endpoint().check();
        for complaint in &mut complaints {
            if complaint.at == [At::Key("base_url".into())] {
                complaint.at = vec![At::Key("url".into())];
            }
        }
        complaints.extend(Body::new(&self.request).err());
        for mut complaint in check_extra(&self.request, &[]) {
            complaint.at = vec![At::Key("request".into())];
            complaints.push(complaint);
        }
        let pointers = [
            ("answer", Some(&self.answer)),
            ("error", self.error.as_ref()),
            ("input_tokens", self.input_tokens.as_ref()),
            ("output_tokens", self.output_tokens.as_ref()),
        ];
        for (key, pointer) in pointers {
            if let Some(pointer) = pointer.filter(|pointer| !pointer.is_empty() && !pointer.starts_with('/'))
            {
                complaints.push(
                    Complaint::new(format!("`{pointer}` is not a JSON pointer"))
                        .hint(format!("for example `/{pointer}`"))
                        .key(key),
                );
            }
        }
        complaints
    }

    /// Makes the endpoint ready.
    pub(super) fn open(&self, opening: &Opening) -> Result<Remote, Complaint> {
        let dialect = Speech { body: Body::new(&self.request)?, settings: self.clone() };
        Remote::open(&self.endpoint(), "", ("authorization", "Bearer "), opening, Box::new(dialect))
    }
}

/// Whether a text is nothing but this hole, in either form.
fn is_hole(text: &str, name: &str) -> bool {
    let inside = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let inside =
        inside.map(|inside| inside.strip_prefix('{').and_then(|i| i.strip_suffix('}')).unwrap_or(inside));
    inside.is_some_and(|inside| inside.trim() == name)
}

impl Member for Http {
    const SHAPES: Shapes = Shapes { images: false, format: false, tools: true };

    fn system(&self, opening: &Opening) -> Result<System, Complaint> {
        Ok(System::Remote(Box::new(self.open(opening)?)))
    }
}

/// The request with its holes: text holes by template, whole values by name.
#[derive(Debug)]
enum Body {
    Messages,
    Tools,
    Seed,
    Repetition,
    Text(Shape),
    Array(Vec<Body>),
    Object(Vec<(String, Body)>),
}

impl Body {
    fn new(request: &Json) -> Result<Self, Complaint> {
        Body::at(request, &mut vec![At::Key("request".into())])
    }

    fn at(value: &Json, path: &mut Vec<At>) -> Result<Self, Complaint> {
        Ok(match value {
            Json::String(text) if is_hole(text, "messages") => Body::Messages,
            Json::String(text) if is_hole(text, "tools") => Body::Tools,
            Json::String(text) if is_hole(text, "seed") => Body::Seed,
            Json::String(text) if is_hole(text, "repetition") => Body::Repetition,
            Json::Array(list) => {
                let items = list.iter().enumerate().map(|(place, item)| {
                    path.push(At::Index(place));
                    let body = Body::at(item, path)?;
                    path.pop();
                    Ok(body)
                });
                Body::Array(items.collect::<Result<_, _>>()?)
            }
            Json::Object(object) => {
                let items = object.iter().map(|(key, item)| {
                    path.push(At::Key(key.to_owned().into()));
                    let body = Body::at(item, path)?;
                    path.pop();
                    Ok((key.to_owned(), body))
                });
                Body::Object(items.collect::<Result<_, _>>()?)
            }
            other => {
                let known = |name: &str| matches!(name, "input" | "system" | "seed" | "repetition");
                // Holes of the newer form are filled from the case, too; loading has looked whether they can be.
                let jinja = |text: &str| text::template::is_jinja(text);
                let known = |name: &str| known(name) || other.as_str().is_some_and(jinja);
                Body::Text(Shape::new(other, &known, None).map_err(|complaint| {
                    let hint =
                        "use `{input}`, `{system}`, `{seed}`, `{repetition}`; `{{` and `}}` are braces";
                    complaint.hint(hint).below(path.iter().cloned())
                })?)
            }
        })
    }

    fn fill(&self, chat: &Chat) -> Result<Json, Unfilled> {
        Ok(match self {
            Body::Messages => chat.to_json().get("messages").cloned().unwrap_or_default(),
            Body::Tools => chat.to_json().get("tools").cloned().unwrap_or_default(),
            Body::Seed => super::endpoint::small_seed(chat.seed),
            Body::Repetition => Json::from(chat.repetition),
            Body::Text(shape) => shape.fill(&|name, out| {
                match name {
                    "input" => out.push_str(chat.last()),
                    "system" => out.push_str(chat.system.as_deref().unwrap_or_default()),
                    "seed" => out.push_str(&super::endpoint::small_seed(chat.seed).to_text()),
                    "repetition" => out.push_str(&chat.repetition.to_string()),
                    other => match chat.fields.as_ref().and_then(|fields| fields.get(other)) {
                        None | Some(Json::Null) => return false,
                        Some(value) => out.push_str(&value.to_text()),
                    },
                }
                true
            })?,
            Body::Array(list) => {
                Json::Array(list.iter().map(|item| item.fill(chat)).collect::<Result<_, _>>()?)
            }
            Body::Object(entries) => {
                let filled = entries.iter().map(|(key, item)| Ok((key.as_str(), item.fill(chat)?)));
                Json::Object(filled.collect::<Result<_, Unfilled>>()?)
            }
        })
    }
}

#[derive(Debug)]
struct Speech {
    body: Body,
    settings: Http,
}

impl Dialect for Speech {
    fn body(&self, chat: &Chat) -> Result<Json, Complaint> {
        self.body.fill(chat).map_err(Complaint::of)
    }

    fn read(&self, answer: &Json) -> Reading {
        let settings = &self.settings;
        let error = settings.error.as_ref().and_then(|at| answer.pointer(at));
        if let Some(error) = error.filter(|error| !is_null(error)) {
            return disguised(error);
        }
        let Some(output) = answer.pointer(&settings.answer) else {
            let error = format!("the answer has nothing at `{}`", settings.answer);
            return Reading::Fault(Fault::last("unexpected_shape", error));
        };
        let thought = output.as_str().and_then(apart);
        let (reasoning, output) = match thought {
            Some((thought, answer)) => (Some(thought), Json::from(answer)),
            None => (None, output.clone()),
        };
        let outcome = match &output {
            Json::Null => Outcome::Null,
            Json::String(text) if text.is_empty() => Outcome::Empty,
            _ => Outcome::Answered,
        };
        let mut counts = proofhouse_ledger::json::Object::new();
        for (name, at) in
            [("input_tokens", &settings.input_tokens), ("output_tokens", &settings.output_tokens)]
        {
            if let Some(count) = at.as_ref().and_then(|at| answer.pointer(at)) {
                counts.set(name, count.clone());
            }
        }
        const USAGE: Places = &[("input_tokens", "/input_tokens"), ("output_tokens", "/output_tokens")];
        let usage = Usage::read(&Json::Object(counts), USAGE);
        let reply =
            Reply { reasoning, model: text_at(answer, "/model"), ..Reply::new(outcome, Some(output)) };
        Reading::Said(Box::new(reply), usage)
    }

    fn takes_any_type(&self) -> bool {
        true
    }
}
