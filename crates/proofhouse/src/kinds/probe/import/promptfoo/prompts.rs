//! Prompts: text, files of text, and conversations as JSON or YAML.

use serde_json::{Value, json};

use super::source::{Doc, Part, Reader, extension, file_name, is_program};
use crate::kinds::probe::import::{name_of, short, unique};
use crate::spine::suite::tree::NodeId;
use crate::text::complaint::Complaint;

/// A prompt of a suite.
#[derive(Debug, Clone)]
pub(super) struct Prompt {
    pub(super) name: String,
    /// What tests may call it.
    pub(super) known_as: Vec<String>,
    /// A text, or a map with `messages`.
    pub(super) body: Value,
    pub(super) at: (Doc, u64),
}

impl Prompt {
    /// Every text of it that is filled from a case.
    pub(super) fn texts(&self) -> Vec<&str> {
        match &self.body {
            Value::String(text) => vec![text],
            body => {
                let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
                messages.iter().filter_map(|message| message["content"].as_str()).collect()
            }
        }
    }
}

/// Reads all prompts.
pub(super) fn read(reader: &mut Reader) -> Vec<Prompt> {
    let doc = reader.doc.clone();
    let Some(id) = doc.get(doc.root(), "prompts") else { return Vec::new() };
    let mut prompts = Vec::new();
    if doc.is_map(id) {
        // Names of files, and what their prompts are called.
        for (file, label, line) in doc.entries(id) {
            let label = doc.text(label).map(str::to_owned);
            reader.see(Part::Prompt);
            let found = of_file(reader, file.strip_prefix("file://").unwrap_or(file));
            take(reader, &mut prompts, (file, label.into_iter().collect(), (&doc, line)), found);
        }
        return prompts;
    }
    for item in doc.items(id) {
        reader.see(Part::Prompt);
        one(reader, &doc, item, &mut prompts);
    }
    prompts
}

fn one(reader: &mut Reader, doc: &Doc, item: NodeId, prompts: &mut Vec<Prompt>) {
    let line = doc.line(item);
    if let Some(text) = doc.text(item) {
        let found = of_text(reader, text);
        return take(reader, prompts, (text, Vec::new(), (doc, line)), found);
    }
    let word = |key: &str| doc.get(item, key).and_then(|id| doc.text(id)).map(str::to_owned);
    let known: Vec<String> = ["label", "id"].iter().filter_map(|key| word(key)).collect();
    let text =
        word("raw").or_else(|| word("content")).or_else(|| word("id").filter(|id| id.starts_with("file://")));
    for (key, _, line) in doc.entries(item) {
        if !matches!(key, "label" | "id" | "raw" | "content" | "display") {
            let why = "settings of a prompt for its provider are `response_format` and `tools` of the prompt, or of the target";
            reader.leave(Part::Setting, (doc, line), format!("`{key}` of a prompt"), why);
        }
    }
    match text {
        Some(text) => {
            let found = of_text(reader, &text);
            take(reader, prompts, (&text, known, (doc, line)), found);
        }
        None => {
            let why = "it has no `raw` text";
            reader.leave(
                Part::Prompt,
                (doc, line),
                format!("`{}`", short(&doc.value(item).to_string())),
                why,
            );
        }
    }
}

/// Takes what a prompt became, or lists it.
fn take(
    reader: &mut Reader,
    prompts: &mut Vec<Prompt>,
    (text, known_as, (doc, line)): (&str, Vec<String>, (&Doc, u64)),
    found: Result<Vec<Value>, Complaint>,
) {
    match found {
        Err(complaint) => {
            reader.leave(Part::Prompt, (doc, line), format!("`{}`", short(text)), complaint.what)
        }
        Ok(bodies) => {
            for body in bodies {
                let taken: Vec<String> = prompts.iter().map(|prompt: &Prompt| prompt.name.clone()).collect();
                let nth = format!("prompt-{}", prompts.len() + 1);
                let name = known_as.first().map_or(nth.clone(), |known| name_of(known, &nth));
                let (known_as, at) = (known_as.clone(), (doc.clone(), line));
                prompts.push(Prompt { name: unique(name, &taken), known_as, body, at });
            }
        }
    }
}

/// What a text stands for: itself, or the file that it names.
fn of_text(reader: &Reader, text: &str) -> Result<Vec<Value>, Complaint> {
    if let Some(name) = file_name(text.trim()) {
        return of_file(reader, name);
    }
    // A bare path is one where there is such a file.
    let is_path = !text.contains(['\n', ' ', '{']) && !extension(text).is_empty();
    match is_path && reader.file(text).is_ok() {
        true => of_file(reader, text),
        false => Ok(vec![conversation(text).unwrap_or_else(|| Value::from(text))]),
    }
}

fn of_file(reader: &Reader, pattern: &str) -> Result<Vec<Value>, Complaint> {
    if is_program(pattern) {
        return Err(Complaint::new("a program writes it, and prompts are text here"));
    }
    let mut bodies = Vec::new();
    for name in reader.files(pattern)? {
        let text = reader.text_file(&name)?;
        match extension(&name) {
            "json" | "yaml" | "yml" => bodies.push(conversation(&text).ok_or_else(|| {
                Complaint::new(format!("`{name}` is not a list of messages with `role` and `content`"))
            })?),
            "csv" | "jsonl" => {
                return Err(Complaint::new(
                    "several prompts in a table have no place here: write each below `prompts`",
                ));
            }
            // Several prompts in one file stand between lines of dashes.
            "txt" => {
                let parts = text.split("\n---").map(|part| part.trim_matches('\n').trim_end());
                bodies.extend(parts.filter(|part| !part.trim().is_empty()).map(Value::from));
            }
            _ => bodies.push(Value::from(text.trim_end())),
        }
    }
    match bodies.is_empty() {
        true => Err(Complaint::new("the file is empty")),
        false => Ok(bodies),
    }
}

/// A conversation written as a list of messages; none where the text is something else.
fn conversation(text: &str) -> Option<Value> {
    if !text.contains("role") || !text.contains("content") {
        return None;
    }
    let doc = Doc::parse("", text.as_bytes().to_vec()).ok()?;
    if !doc.is_list(doc.root()) {
        return None;
    }
    let mut messages = Vec::new();
    for item in doc.items(doc.root()) {
        let value = doc.value(item);
        let role = match value["role"].as_str()? {
            "developer" => "system",
            role @ ("system" | "user" | "assistant") => role,
            _ => return None,
        };
        let content = match &value["content"] {
            Value::String(text) => Value::from(text.as_str()),
            Value::Array(parts) => Value::Array(parts.iter().map(part).collect::<Option<_>>()?),
            _ => return None,
        };
        messages.push(json!({"role": role, "content": content}));
    }
    messages.iter().any(|message| message["role"] == "user").then(|| json!({ "messages": messages }))
}

/// A part of a message; pictures by their address stay what they are, and `check` says whether they can be sent.
fn part(part: &Value) -> Option<Value> {
    match part["type"].as_str()? {
        "text" => Some(json!({"text": part["text"].as_str()?})),
        "image_url" => Some(json!({"image": part["image_url"]["url"].as_str()?})),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_messages_is_a_conversation() {
        let chat = conversation(
            r#"[{"role": "system", "content": "Be {{ how }}."}, {"role": "user", "content": "{{ q }}"}]"#,
        );
        assert_eq!(chat.unwrap()["messages"][0], json!({"role": "system", "content": "Be {{ how }}."}));
        assert!(conversation("- role: user\n  content: x\n").is_some());
        assert_eq!(conversation("What is the role of content?"), None);
        assert_eq!(conversation(r#"[{"role": "tool", "content": "x"}]"#), None);
    }
}
