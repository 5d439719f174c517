//! OpenAI's chat completions.

use proofhouse_ledger::Json;

use super::{Answer, Dialect, Ended, ModelRequest, arguments, list, object, plain_error, text, with, words};
use crate::family::target::{Call, Message};
use crate::text::complaint::Complaint;

pub(super) const DIALECT: Dialect =
    Dialect { path: "/chat/completions", read, write, events, error: plain_error, done: true };

fn read(body: &Json) -> Result<ModelRequest, Complaint> {
    let Some(Json::Array(messages)) = body.get("messages") else {
        return Err(Complaint::new("`messages` is missing"));
    };
    let mut asked = ModelRequest {
        model: text(body, "model").unwrap_or_default(),
        stream: body.get("stream") == Some(&Json::Bool(true)),
        ..ModelRequest::default()
    };
    for message in messages {
        let said = || words(message.get("content"));
        match text(message, "role").as_deref() {
            Some("system" | "developer") => asked.instructed(&said()),
            Some("user") => asked.chat.messages.push(Message::User(said())),
            Some("assistant") => {
                let content = message.get("content").filter(|content| **content != Json::Null);
                asked.said(content.map(|_| said()), None);
                for call in list(message, "tool_calls") {
                    let id = text(call, "id").unwrap_or_default();
                    let function = call.get("function").cloned().unwrap_or_default();
                    let name = text(&function, "name").unwrap_or_default();
                    let args = arguments(function.get("arguments"));
                    asked.said(None, Some(Call { id, name, args }));
                }
            }
            Some("tool") => asked.told(&text(message, "tool_call_id").unwrap_or_default(), said()),
            _ => return Err(Complaint::new("a message has no role that is known")),
        }
    }
    for tool in list(body, "tools") {
        if let Some(function) = tool.get("function") {
            asked.offered(function, "parameters");
        }
    }
    Ok(asked)
}

fn write(asked: &ModelRequest, answer: &Answer) -> Json {
    let mut message = object([("content", answer.text.clone().into()), ("role", "assistant".into())]);
    let mut finish = match answer.ended {
        Ended::Done => "stop",
        Ended::Length => "length",
        Ended::Refused => "content_filter",
    };
    if !answer.calls.is_empty() {
        finish = "tool_calls";
        let calls = answer.calls.iter().enumerate().map(|(index, call)| {
            let function =
                object([("arguments", call.args.to_text().into()), ("name", call.name.as_str().into())]);
            object([
                ("function", function),
                ("id", call.id.as_str().into()),
                ("index", Json::Number(index as f64)),
                ("type", "function".into()),
            ])
        });
        message = with(&message, [("tool_calls", Json::Array(calls.collect()))]);
    }
    let choice = object([
        ("finish_reason", finish.into()),
        ("index", Json::Number(0.0)),
        ("logprobs", Json::Null),
        ("message", message),
    ]);
    let usage = object([
        ("completion_tokens", Json::Number(answer.output_tokens)),
        ("prompt_tokens", Json::Number(answer.input_tokens)),
        ("total_tokens", Json::Number(answer.input_tokens + answer.output_tokens)),
    ]);
    object([
        ("choices", Json::Array(vec![choice])),
        ("created", Json::Number(1.0)),
        ("id", format!("chatcmpl-{}", answer.number).into()),
        ("model", asked.model.as_str().into()),
        ("object", "chat.completion".into()),
        ("usage", usage),
    ])
}

fn events(whole: &Json) -> Vec<(Option<String>, Json)> {
    let choice = whole.pointer("/choices/0").cloned().unwrap_or_default();
    let finish = choice.get("finish_reason").cloned().unwrap_or_default();
    let message = choice.get("message").cloned().unwrap_or_default();
    let usage = whole.get("usage").cloned().unwrap_or_default();
    let chunk = |choices: Vec<Json>, usage: Json| {
        let fields = [
            ("choices", Json::Array(choices)),
            ("object", Json::from("chat.completion.chunk")),
            ("usage", usage),
        ];
        (None, with(whole, fields))
    };
    let part = |delta: Json, finish: Json| {
        vec![object([("delta", delta), ("finish_reason", finish), ("index", Json::Number(0.0))])]
    };
    vec![
        chunk(part(message, Json::Null), Json::Null),
        chunk(part(object([]), finish), Json::Null),
        chunk(Vec::new(), usage),
    ]
}
