//! Reading a prompt: from the suite or a file of its own, checked, with the settings that are the run's identity.

use std::sync::Arc;

use proofhouse_ledger::json::Object;
use proofhouse_ledger::{Json, files};

use super::examples::Examples;
use super::file::{ContentFile, FormatFile, MessageFile, PromptFile, PromptMap, Role};
use super::{Body, Line, Piece, Prompt};
use crate::family::target::{AnswerFormat, Tool};
use crate::spine::suite::check::Checker;
use crate::spine::suite::de;
use crate::spine::suite::keys;
use crate::spine::suite::kind::Loading;
use crate::spine::suite::paths;
use crate::spine::suite::problem::{Code, Place, Problem, quoted};
use crate::spine::suite::tree::{Kind as Node, Source, Step, Tree};
use crate::text::template::{Form, Template};

/// The largest file of a prompt, in bytes.
const MAX_PROMPT_BYTES: usize = 16 << 20;

/// Where a prompt stands and how it is read.
pub(crate) struct PromptPlace<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) steps: &'a [Step<'a>],
    /// The form that the suite says its texts have.
    pub(crate) form: Option<Form>,
    pub(crate) seed: u64,
}

/// Reads a prompt; its problems are noted.
pub(crate) fn read(
    checker: &mut Checker<'_>,
    loading: &Loading<'_>,
    asked: &PromptPlace<'_>,
    file: &PromptFile,
) -> Option<Prompt> {
    let map = match file {
        PromptFile::Text(text) => PromptMap { text: Some(text.clone()), ..PromptMap::default() },
        PromptFile::Whole(map) => opened(checker, loading, asked, map)?,
    };
    let whole = |checker: &mut Checker<'_>, what: &str, hint: &str| {
        checker.complain(Code::BadValue, asked.steps, what).hint = Some(hint.to_owned());
    };
    if map.text.is_some() != map.messages.is_empty() {
        let hint = "for example `{messages: [{role: user, content: \"{{ question }}\"}]}`";
        whole(checker, "a prompt is a text, a file or a list of messages: one of them", hint);
        return None;
    }
    let before = checker.problems.len();
    let mut examples = match &map.examples {
        None => None,
        Some(file) => {
            let steps = [asked.steps, &[Step::Key("examples")]].concat();
            Some(Examples::read(checker, loading, &steps, file, asked.seed)?)
        }
    };
    let each = map.messages.iter().any(|message| message.each.is_some());
    if each && examples.is_none() {
        whole(
            checker,
            "`each: examples` without examples",
            "add `examples: {dataset: train.jsonl, count: 5}`",
        );
    }
    let body = body(checker, asked, &map)?;
    if checker.problems.len() > before {
        return None;
    }
    let settings = settings(&map, examples.as_ref());
    let base = loading.base().to_owned();
    let name = asked.name.map(str::to_owned);
    let mut prompt = Prompt { name, body, examples: None, base, settings };
    if let Some(examples) = &mut examples {
        let told = prompt.templates().into_iter().filter(|(_, each)| !each);
        let told = told.flat_map(|(template, _)| template.fields().map(str::to_owned));
        examples.told = told.filter(|name| name != "examples").collect();
        if !each
            && !prompt
                .templates()
                .iter()
                .any(|(template, _)| template.fields().any(|name| name == "examples"))
        {
            whole(
                checker,
                "nothing shows the examples",
                "`{each: examples, role: user, content: …}`, or `{% for e in examples %}`",
            );
            return None;
        }
    }
    prompt.examples = examples;
    if prompt.has_turns()
        && matches!(&prompt.body, Body::Talk { lines, .. } if lines.last().is_some_and(|last| last.content.is_none()))
    {
        whole(
            checker,
            "nothing follows the last place where the target answers",
            "leave it out: the last answer is judged",
        );
        return None;
    }
    Some(prompt)
}

fn body(checker: &mut Checker<'_>, asked: &PromptPlace<'_>, map: &PromptMap) -> Option<Body> {
    let format = map.response_format.as_ref().map(|format| match format {
        FormatFile::Json => AnswerFormat::Json,
        FormatFile::Schema(schema) => AnswerFormat::Schema(schema.clone()),
    });
    let tools = map.tools.iter().map(|tool| Tool {
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: tool.parameters.clone(),
    });
    let tools: Arc<Vec<Tool>> = Arc::new(tools.collect());
    if let Some(text) = &map.text {
        let template = template(checker, asked, asked.steps, text)?;
        if tools.is_empty() && format.is_none() {
            return Some(Body::Text(template));
        }
        let line = Line { role: Role::User, content: Some(vec![Piece::Text(template)]), each: false };
        return Some(Body::Talk { lines: vec![line], tools, format });
    }
    let mut lines = Vec::new();
    for (nth, message) in map.messages.iter().enumerate() {
        let steps = [asked.steps, &[Step::Key("messages"), Step::Index(nth)]].concat();
        lines.push(line(checker, asked, &steps, message));
    }
    let lines: Option<Vec<Line>> = lines.into_iter().collect();
    let lines = lines?;
    if !lines.iter().any(|line| line.role == Role::User) {
        checker.complain(Code::BadValue, asked.steps, "nobody asks anything in this conversation").hint =
            Some("add `{role: user, content: …}`".to_owned());
        return None;
    }
    Some(Body::Talk { lines, tools, format })
}

fn line(
    checker: &mut Checker<'_>,
    asked: &PromptPlace<'_>,
    steps: &[Step<'_>],
    message: &MessageFile,
) -> Option<Line> {
    let each = message.each.is_some();
    let pieces = match &message.content {
        None if message.role == Role::Assistant && !each => None,
        None => {
            checker.complain(Code::MissingKey, steps, "the message says nothing").hint = Some(
                "add `content`; only an assistant's message may do without, where the target answers"
                    .to_owned(),
            );
            return None;
        }
        Some(ContentFile::Text(text)) => Some(vec![Piece::Text(template(checker, asked, steps, text)?)]),
        Some(ContentFile::Parts(parts)) => {
            let mut pieces = Vec::new();
            for part in parts {
                pieces.push(match (&part.text, &part.image) {
                    (Some(text), None) => Piece::Text(template(checker, asked, steps, text)?),
                    (None, Some(image)) if message.role == Role::User => {
                        Piece::Image(template(checker, asked, steps, image)?)
                    }
                    (None, Some(_)) => {
                        checker.complain(Code::BadValue, steps, "only a user shows pictures");
                        return None;
                    }
                    _ => {
                        checker.complain(Code::BadValue, steps, "a part is `text` or `image`").hint =
                            Some("for example `[{text: \"What is this?\"}, {image: cat.png}]`".to_owned());
                        return None;
                    }
                });
            }
            Some(pieces)
        }
    };
    Some(Line { role: message.role, content: pieces, each })
}

fn template(
    checker: &mut Checker<'_>,
    asked: &PromptPlace<'_>,
    steps: &[Step<'_>],
    text: &str,
) -> Option<Template> {
    match Template::parse_as(text, asked.form) {
        Ok(template) => Some(template),
        Err(error) => {
            checker.complain(Code::Template, steps, error.what).hint = Some(error.hint);
            None
        }
    }
}

/// The prompt with what its file says in place of the file.
fn opened(
    checker: &mut Checker<'_>,
    loading: &Loading<'_>,
    asked: &PromptPlace<'_>,
    map: &PromptMap,
) -> Option<PromptMap> {
    let Some(name) = &map.file else { return Some(map.clone()) };
    let steps = [asked.steps, &[Step::Key("file")]].concat();
    let path = match paths::resolve(loading.base(), name) {
        Ok(path) => path,
        Err(fault) => {
            checker.complain(fault.code, &steps, fault.what).hint = Some(fault.hint);
            return None;
        }
    };
    let bytes = match files::read(&path) {
        Ok(bytes) if bytes.len() <= MAX_PROMPT_BYTES => bytes,
        Ok(_) => {
            let what = format!("{} is larger than {} MiB", quoted(name), MAX_PROMPT_BYTES >> 20);
            checker.complain(Code::TooLarge, &steps, what);
            return None;
        }
        Err(error) => {
            let what = format!("{} cannot be read: {}", quoted(name), error.source);
            checker.complain(Code::Unreadable, &steps, what);
            return None;
        }
    };
    let is_chat = [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
    let read = if is_chat { chat_file(loading, name, bytes) } else { text_file(loading, name, bytes) };
    match read {
        Err(problems) => {
            checker.problems.extend(problems);
            None
        }
        Ok(read) => Some(PromptMap {
            file: None,
            text: map.text.clone().or(read.text),
            messages: if map.messages.is_empty() { read.messages } else { map.messages.clone() },
            examples: map.examples.clone().or(read.examples),
            tools: if map.tools.is_empty() { read.tools } else { map.tools.clone() },
            response_format: map.response_format.clone().or(read.response_format),
        }),
    }
}

fn text_file(loading: &Loading<'_>, name: &str, bytes: Vec<u8>) -> Result<PromptMap, Vec<Problem>> {
    let wrong = |code, what: &str| vec![Problem::new(code, Place::whole(name), what)];
    if let Some(variable) = loading.keys.find(&bytes) {
        return Err(wrong(Code::BadValue, &format!("the value of `{variable}` stands in this file")));
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong(Code::Syntax, "the file is not UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    // Editors end a file with a line end that nobody means to send.
    let text = text.strip_suffix("\r\n").or(text.strip_suffix('\n')).unwrap_or(text);
    Ok(PromptMap { text: Some(text.to_owned()), ..PromptMap::default() })
}

fn chat_file(loading: &Loading<'_>, name: &str, bytes: Vec<u8>) -> Result<PromptMap, Vec<Problem>> {
    let source = Source::new(name.to_owned(), bytes).map_err(|problem| vec![problem])?;
    let tree = Tree::parse(Arc::new(source))?;
    let found = keys::in_tree(&tree, loading.keys);
    if !found.is_empty() {
        return Err(found);
    }
    if matches!(tree.node(tree.root).kind, Node::List(_)) {
        let reading = de::read::<Vec<MessageFile>>(&tree, loading.lenient);
        return match reading.value.filter(|_| reading.problems.is_empty()) {
            Some(messages) => Ok(PromptMap { messages, ..PromptMap::default() }),
            None => Err(reading.problems),
        };
    }
    let reading = de::read::<PromptMap>(&tree, loading.lenient);
    let map = reading.value.filter(|_| reading.problems.is_empty()).ok_or(reading.problems)?;
    if map.file.is_some() {
        let place = tree.place(tree.root, &[Step::Key("file")]);
        return Err(vec![Problem::new(Code::BadValue, place, "a file of a prompt names no other file")]);
    }
    Ok(map)
}

/// Everything that shapes what is asked: files by their content, examples by their digest.
fn settings(map: &PromptMap, examples: Option<&Examples>) -> Json {
    let mut settings = Object::new();
    if let Some(text) = &map.text {
        settings.set("text", text.as_str());
    }
    if !map.messages.is_empty() {
        settings.set("messages", Json::Array(map.messages.iter().map(message_settings).collect()));
    }
    if let Some(examples) = examples {
        settings.set("examples", examples.settings());
    }
    if !map.tools.is_empty() {
        let tools = map.tools.iter().map(|tool| {
            Json::Object(Object::from_iter([
                ("description", Json::from(tool.description.as_str())),
                ("name", Json::from(tool.name.as_str())),
                ("parameters", tool.parameters.to_json()),
            ]))
        });
        settings.set("tools", Json::Array(tools.collect()));
    }
    match &map.response_format {
        None => {}
        Some(FormatFile::Json) => settings.set("response_format", "json"),
        Some(FormatFile::Schema(schema)) => {
            settings.set("response_format", Object::from_iter([("schema", schema.clone())]));
        }
    }
    Json::Object(settings)
}

fn message_settings(message: &MessageFile) -> Json {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let mut settings = Object::from_iter([("role", Json::from(role))]);
    if message.each.is_some() {
        settings.set("each", "examples");
    }
    match &message.content {
        None => {}
        Some(ContentFile::Text(text)) => settings.set("content", text.as_str()),
        Some(ContentFile::Parts(parts)) => {
            let parts = parts.iter().map(|part| {
                let entries = [("image", &part.image), ("text", &part.text)];
                let given = entries.into_iter().filter_map(|(key, value)| Some((key, value.clone()?)));
                Json::Object(given.collect())
            });
            settings.set("content", Json::Array(parts.collect()));
        }
    }
    Json::Object(settings)
}
