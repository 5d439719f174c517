//! OpenAI's responses.

use proofhouse_ledger::Json;

use super::{Answer, Dialect, Ended, ModelRequest, arguments, list, object, plain_error, text, with, words};
use crate::family::target::{Call, Message};
use crate::text::complaint::Complaint;

pub(super) const DIALECT: Dialect =
    Dialect { path: "/responses", read, write, events, error: plain_error, done: false };

fn read(body: &Json) -> Result<ModelRequest, Complaint> {
    let mut asked = ModelRequest {
        model: text(body, "model").unwrap_or_default(),
        stream: body.get("stream") == Some(&Json::Bool(true)),
        ..ModelRequest::default()
    };
    asked.instructed(&words(body.get("instructions")));
    match body.get("input") {
        Some(Json::String(prompt)) => asked.chat.messages.push(Message::User(prompt.clone())),
        Some(Json::Array(items)) => items.iter().for_each(|each| item(&mut asked, each)),
        _ => return Err(Complaint::new("`input` is missing")),
    }
    for tool in list(body, "tools") {
        match text(tool, "type").as_deref() {
            Some("function") => asked.offered(tool, "parameters"),
            Some("namespace") => {
                let space = text(tool, "name").unwrap_or_default();
                for inner in list(tool, "tools") {
                    let Some(own) = text(inner, "name") else { continue };
                    let whole = spaced(&space, &own);
                    asked.offered(&with(inner, [("name", Json::from(whole.as_str()))]), "parameters");
                    asked.spaces.push((whole, own, space.clone()));
                }
            }
            // What the provider itself would carry out.
            _ => {}
        }
    }
    Ok(asked)
}

/// The name of a tool in a namespace.
fn spaced(space: &str, name: &str) -> String {
    let between = if space.is_empty() || space.ends_with(|c: char| !c.is_alphanumeric()) { "" } else { "__" };
    format!("{space}{between}{name}")
}

fn item(asked: &mut ModelRequest, item: &Json) {
    let call_id = || text(item, "call_id").unwrap_or_default();
    match text(item, "type").as_deref() {
        Some("function_call" | "custom_tool_call") => {
            let name = text(item, "name").unwrap_or_default();
            let name = text(item, "namespace").map_or(name.clone(), |space| spaced(&space, &name));
            let args = arguments(item.get("arguments").or(item.get("input")));
            asked.said(None, Some(Call { id: call_id(), name, args }));
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            asked.told(&call_id(), words(item.get("output")));
        }
        Some("message") | None => {
            let said = words(item.get("content"));
            match text(item, "role").as_deref() {
                Some("assistant") => asked.said(Some(said), None),
                Some("system" | "developer") => asked.instructed(&said),
                _ => asked.chat.messages.push(Message::User(said)),
            }
        }
        // Thoughts, and records of what the provider did.
        Some(_) => {}
    }
}

fn write(asked: &ModelRequest, answer: &Answer) -> Json {
    let number = answer.number;
    let mut output = Vec::new();
    if let Some(words) = answer.text.as_ref().filter(|words| !words.is_empty() || answer.calls.is_empty()) {
        let part = object([
            ("annotations", Json::Array(Vec::new())),
            ("text", words.as_str().into()),
            ("type", "output_text".into()),
        ]);
        output.push(object([
            ("content", Json::Array(vec![part])),
            ("id", format!("msg_{number}").into()),
            ("role", "assistant".into()),
            ("status", "completed".into()),
            ("type", "message".into()),
        ]));
    }
    for (place, call) in answer.calls.iter().enumerate() {
        let space = asked.spaces.iter().find(|(whole, ..)| *whole == call.name);
        let own = space.map_or(call.name.as_str(), |(_, own, _)| own);
        let mut item = object([
            ("arguments", call.args.to_text().into()),
            ("call_id", call.id.as_str().into()),
            ("id", format!("fc_{number}_{place}").into()),
            ("name", own.into()),
            ("status", "completed".into()),
            ("type", "function_call".into()),
        ]);
        if let Some((.., space)) = space {
            item = with(&item, [("namespace", Json::from(space.as_str()))]);
        }
        output.push(item);
    }
    let cut = answer.ended == Ended::Length;
    let why = if cut { object([("reason", "max_output_tokens".into())]) } else { Json::Null };
    let details = |key: &str| object([(key, Json::Number(0.0))]);
    let usage = object([
        ("input_tokens", Json::Number(answer.input_tokens)),
        ("input_tokens_details", details("cached_tokens")),
        ("output_tokens", Json::Number(answer.output_tokens)),
        ("output_tokens_details", details("reasoning_tokens")),
        ("total_tokens", Json::Number(answer.input_tokens + answer.output_tokens)),
    ]);
    object([
        ("created_at", Json::Number(1.0)),
        ("error", Json::Null),
        ("id", format!("resp_{number}").into()),
        ("incomplete_details", why),
        ("instructions", Json::Null),
        ("metadata", object([])),
        ("model", asked.model.as_str().into()),
        ("object", "response".into()),
        ("output", Json::Array(output)),
        ("parallel_tool_calls", true.into()),
        ("status", if cut { "incomplete" } else { "completed" }.into()),
        ("temperature", Json::Number(1.0)),
        ("tool_choice", "auto".into()),
        ("tools", Json::Array(Vec::new())),
        ("top_p", Json::Number(1.0)),
        ("usage", usage),
    ])
}

fn events(whole: &Json) -> Vec<(Option<String>, Json)> {
    let begun = with(whole, [("output", Json::Array(Vec::new())), ("status", "in_progress".into())]);
    let mut events = vec![
        object([("response", begun.clone()), ("type", "response.created".into())]),
        object([("response", begun), ("type", "response.in_progress".into())]),
    ];
    for (index, item) in list(whole, "output").iter().enumerate() {
        let at = |kind: &str, fields: Vec<(&str, Json)>| {
            let place = [("output_index", Json::Number(index as f64)), ("type", kind.into())];
            Json::Object(place.into_iter().chain(fields).collect())
        };
        let id = item.get("id").cloned().unwrap_or_default();
        if let Some(part) = item.pointer("/content/0") {
            let words = part.get("text").cloned().unwrap_or_default();
            let begun = with(item, [("content", Json::Array(Vec::new())), ("status", "in_progress".into())]);
            let inner = |fields: Vec<(&'static str, Json)>| {
                let place = vec![("content_index", Json::Number(0.0)), ("item_id", id.clone())];
                [place, fields].concat()
            };
            let empty = with(part, [("text", "".into())]);
            events.push(at("response.output_item.added", vec![("item", begun)]));
            events.push(at("response.content_part.added", inner(vec![("part", empty)])));
            let logprobs = || ("logprobs", Json::Array(Vec::new()));
            let delta = inner(vec![("delta", words.clone()), logprobs()]);
            events.push(at("response.output_text.delta", delta));
            events.push(at("response.output_text.done", inner(vec![("text", words), logprobs()])));
            events.push(at("response.content_part.done", inner(vec![("part", part.clone())])));
        } else {
            let written = item.get("arguments").cloned().unwrap_or_default();
            let begun = with(item, [("arguments", "".into()), ("status", "in_progress".into())]);
            let of = |key: &'static str| vec![("item_id", id.clone()), (key, written.clone())];
            events.push(at("response.output_item.added", vec![("item", begun)]));
            events.push(at("response.function_call_arguments.delta", of("delta")));
            let name = ("name", item.get("name").cloned().unwrap_or_default());
            events.push(at("response.function_call_arguments.done", [of("arguments"), vec![name]].concat()));
        }
        events.push(at("response.output_item.done", vec![("item", item.clone())]));
    }
    let last = match whole.get("status").and_then(Json::as_str) {
        Some("incomplete") => "response.incomplete",
        _ => "response.completed",
    };
    events.push(object([("response", whole.clone()), ("type", last.into())]));
    let named = |(number, event): (usize, Json)| {
        (text(&event, "type"), with(&event, [("sequence_number", Json::Number(number as f64))]))
    };
    events.into_iter().enumerate().map(named).collect()
}
