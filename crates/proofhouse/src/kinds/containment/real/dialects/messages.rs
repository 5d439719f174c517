//! Anthropic's messages.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;

use super::{Answer, Dialect, Ended, ModelRequest, list, object, text, with, words};
use crate::family::target::{Call, Message};
use crate::text::complaint::Complaint;

pub(super) const DIALECT: Dialect = Dialect { path: "/messages", read, write, events, error, done: false };

fn read(body: &Json) -> Result<ModelRequest, Complaint> {
    let Some(Json::Array(messages)) = body.get("messages") else {
        return Err(Complaint::new("`messages` is missing"));
    };
    let mut asked = ModelRequest {
        model: text(body, "model").unwrap_or_default(),
        stream: body.get("stream") == Some(&Json::Bool(true)),
        ..ModelRequest::default()
    };
    match body.get("system") {
        Some(Json::Array(blocks)) => blocks.iter().for_each(|block| {
            // What a client says of its own build is not for the model.
            let said = text(block, "text").filter(|text| !text.starts_with("x-anthropic-billing-header"));
            asked.instructed(&said.unwrap_or_default());
        }),
        system => asked.instructed(&words(system)),
    }
    for message in messages {
        let is_model = text(message, "role").as_deref() == Some("assistant");
        match message.get("content") {
            Some(Json::Array(blocks)) if is_model => blocks.iter().for_each(|block| turn(&mut asked, block)),
            Some(Json::Array(blocks)) => user(&mut asked, blocks),
            content if is_model => asked.said(Some(words(content)), None),
            content => asked.chat.messages.push(Message::User(words(content))),
        }
    }
    for tool in list(body, "tools") {
        if tool.get("input_schema").is_some() {
            asked.offered(tool, "input_schema");
        }
    }
    Ok(asked)
}

fn turn(asked: &mut ModelRequest, block: &Json) {
    match text(block, "type").as_deref() {
        Some("text") => asked.said(text(block, "text"), None),
        Some("tool_use") => {
            let id = text(block, "id").unwrap_or_default();
            let name = text(block, "name").unwrap_or_default();
            let args = block.get("input").cloned().unwrap_or_else(|| Json::Object(Object::new()));
            asked.said(None, Some(Call { id, name, args }));
        }
        _ => {}
    }
}

/// Results first, as the API wants them, then the words between them.
fn user(asked: &mut ModelRequest, blocks: &[Json]) {
    let mut said = Vec::new();
    for block in blocks {
        match text(block, "type").as_deref() {
            Some("tool_result") => {
                asked.told(&text(block, "tool_use_id").unwrap_or_default(), words(block.get("content")));
            }
            Some("text") => said.extend(text(block, "text")),
            other => said.push(format!("[{}]", other.unwrap_or("part"))),
        }
    }
    if !said.is_empty() {
        asked.chat.messages.push(Message::User(said.join("\n")));
    }
}

fn write(asked: &ModelRequest, answer: &Answer) -> Json {
    let mut content = Vec::new();
    if let Some(words) = answer.text.as_ref().filter(|words| !words.is_empty() || answer.calls.is_empty()) {
        content.push(object([("text", words.as_str().into()), ("type", "text".into())]));
    }
    for call in &answer.calls {
        // The API knows objects only; what is none stands in one.
        let input = match &call.args {
            args @ Json::Object(_) => args.clone(),
            other => object([("arguments", other.clone())]),
        };
        content.push(object([
            ("id", call.id.as_str().into()),
            ("input", input),
            ("name", call.name.as_str().into()),
            ("type", "tool_use".into()),
        ]));
    }
    let stop = match answer.ended {
        _ if !answer.calls.is_empty() => "tool_use",
        Ended::Done => "end_turn",
        Ended::Length => "max_tokens",
        Ended::Refused => "refusal",
    };
    let usage = object([
        ("input_tokens", Json::Number(answer.input_tokens)),
        ("output_tokens", Json::Number(answer.output_tokens)),
    ]);
    object([
        ("content", Json::Array(content)),
        ("id", format!("msg_{}", answer.number).into()),
        ("model", asked.model.as_str().into()),
        ("role", "assistant".into()),
        ("stop_reason", stop.into()),
        ("stop_sequence", Json::Null),
        ("type", "message".into()),
        ("usage", usage),
    ])
}

fn events(whole: &Json) -> Vec<(Option<String>, Json)> {
    let begun = with(whole, [("content", Json::Array(Vec::new())), ("stop_reason", Json::Null)]);
    let mut events = vec![object([("message", begun), ("type", "message_start".into())])];
    for (index, block) in list(whole, "content").iter().enumerate() {
        let index = Json::Number(index as f64);
        let (begun, delta) = match block.get("input") {
            Some(input) => {
                let delta = [("partial_json", input.to_string().into()), ("type", "input_json_delta".into())];
                (with(block, [("input", object([]))]), object(delta))
            }
            None => {
                let words = block.get("text").cloned().unwrap_or_default();
                (with(block, [("text", "".into())]), object([("text", words), ("type", "text_delta".into())]))
            }
        };
        events.push(object([
            ("content_block", begun),
            ("index", index.clone()),
            ("type", "content_block_start".into()),
        ]));
        events.push(object([
            ("delta", delta),
            ("index", index.clone()),
            ("type", "content_block_delta".into()),
        ]));
        events.push(object([("index", index), ("type", "content_block_stop".into())]));
    }
    let end = object([
        ("stop_reason", whole.get("stop_reason").cloned().unwrap_or_default()),
        ("stop_sequence", Json::Null),
    ]);
    let used = whole.pointer("/usage/output_tokens").cloned().unwrap_or_default();
    events.push(object([
        ("delta", end),
        ("type", "message_delta".into()),
        ("usage", object([("output_tokens", used)])),
    ]));
    events.push(object([("type", "message_stop".into())]));
    events.into_iter().map(|event| (text(&event, "type"), event)).collect()
}

fn error(kind: &str, message: &str) -> Json {
    let error = object([("message", message.into()), ("type", kind.into())]);
    object([("error", error), ("type", "error".into())])
}
