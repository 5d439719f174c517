//! Asserts: each that a judge of ours can say the same of becomes that judge.

use serde_json::{Map, Value, json};

use super::javascript;
use super::providers::{self, silent_grader};
use super::source::{Doc, Part, Reader, file_name, is_program};
use super::sql;
use crate::family::judge::JudgeConfig;
use crate::kinds::probe::import::{name_of, short, text_of};
use crate::spine::suite::tree::NodeId;
use crate::text::complaint::Complaint;

/// An assert that a judge stands for.
#[derive(Debug, Clone)]
pub(super) struct Assert {
    /// What the judge may be called.
    pub(super) name: String,
    pub(super) judge: Value,
    pub(super) weight: Option<f64>,
    pub(super) at: (Doc, u64),
    /// Its type and value, for lists.
    pub(super) shown: String,
}

/// What an assert says, whatever file it stands in.
struct Written<'a> {
    kind: &'a str,
    value: Value,
    threshold: Option<f64>,
    /// The model that judges, as promptfoo writes it.
    provider: &'a Value,
    /// Whether models are replaced by what answers from here.
    scripted: bool,
}

/// The model that judges where a configuration names none.
const USUAL_GRADER: &str = "gpt-4.1";

/// Reads the asserts of a test; `options` are those of the test or of all tests.
pub(super) fn read(reader: &mut Reader, doc: &Doc, list: NodeId, options: &Value) -> Vec<Assert> {
    let mut asserts = Vec::new();
    for item in doc.items(list) {
        one(reader, doc, item, options, &mut asserts);
    }
    asserts
}

fn one(reader: &mut Reader, doc: &Doc, item: NodeId, options: &Value, asserts: &mut Vec<Assert>) {
    reader.see(Part::Assert);
    let spec = doc.value(item);
    let line = doc.line(item);
    let kind = spec["type"].as_str().unwrap_or_default().to_owned();
    let shown = shown(&kind, &spec["value"]);
    if kind == "assert-set" {
        return set(reader, doc, item, options, asserts);
    }
    let provider = match &spec["provider"] {
        Value::Null => &options["provider"],
        own => own,
    };
    let threshold = spec["threshold"].as_f64();
    let (value, scripted) = (spec["value"].clone(), reader.scripted);
    let written = Written { kind: &kind, value, threshold, provider, scripted };
    let unknown = ["transform", "contextTransform"].into_iter().find(|key| !spec[*key].is_null());
    let found = match unknown {
        Some(key) => Err(Complaint::new(format!(
            "`{key}` is a program, and what it leaves of the answer is judged by nobody here"
        ))),
        None => judge(reader, &written, (doc, line)),
    };
    match found {
        Err(complaint) => reader.leave(Part::Assert, (doc, line), shown, complaint.what),
        Ok(judge) => {
            for key in ["config", "rubricPrompt"].into_iter().filter(|key| !spec[*key].is_null()) {
                let what = format!("`{key}` of assert {shown}");
                reader.leave(Part::Setting, (doc, line), what, "the judge has no such setting");
            }
            let own = spec["metric"].as_str().unwrap_or(&kind);
            let name = name_of(own, "assert");
            let weight = spec["weight"].as_f64();
            asserts.push(Assert { name, judge, weight, at: (doc.clone(), line), shown });
        }
    }
}

fn shown(kind: &str, value: &Value) -> String {
    match value {
        Value::Null => format!("`{kind}`"),
        value => format!("`{kind}: {}`", short(&text_of(value))),
    }
}

/// Several asserts as one: all of them, unless a share is enough.
fn set(reader: &mut Reader, doc: &Doc, item: NodeId, options: &Value, asserts: &mut Vec<Assert>) {
    let line = doc.line(item);
    let inner = doc.get(item, "assert").map(|list| doc.items(list)).unwrap_or_default();
    if doc.get(item, "threshold").is_none() {
        return inner.into_iter().for_each(|item| one(reader, doc, item, options, asserts));
    }
    let why = "a share of several asserts is said for a whole test (`scoring.threshold`), not for some of its judges";
    reader.leave(Part::Assert, (doc, line), "`assert-set`".to_owned(), why);
    for item in inner {
        reader.see(Part::Assert);
        let spec = doc.value(item);
        let shown = shown(spec["type"].as_str().unwrap_or_default(), &spec["value"]);
        reader.leave(
            Part::Assert,
            (doc, doc.line(item)),
            shown,
            "it stands in an `assert-set` with a threshold",
        );
    }
}

/// An assert in a cell of a table: `contains: x`, `similar(0.8): x`, or the text that the answer is to be.
pub(super) fn of_cell(reader: &mut Reader, cell: &str, options: &Value, at: (&Doc, u64)) -> Option<Assert> {
    reader.see(Part::Assert);
    let (front, rest) = cell.split_once(':').unwrap_or((cell, ""));
    let (kind, threshold) = match front.split_once('(') {
        Some((kind, number)) => (kind, number.trim_end_matches(')').parse().ok()),
        None => (front, None),
    };
    let kind = match kind.trim() {
        "grade" => "llm-rubric",
        "fn" | "eval" => "javascript",
        kind => kind,
    };
    let is_kind =
        kind.chars().all(|c| c.is_ascii_lowercase() || c == '-') && (is_known(kind) || rest.starts_with(' '));
    let (kind, value) = if is_kind && !kind.is_empty() { (kind, rest.trim()) } else { ("equals", cell) };
    let value = match kind {
        _ if value.is_empty() => Value::Null,
        "contains-any" | "contains-all" | "icontains-any" | "icontains-all" => {
            Value::Array(value.split(',').map(|part| Value::from(part.trim())).collect())
        }
        _ => Value::from(value),
    };
    let shown = shown(kind, &value);
    let (provider, scripted) = (&options["provider"], reader.scripted);
    match judge(reader, &Written { kind, value, threshold, provider, scripted }, at) {
        Ok(judge) => Some(Assert {
            name: name_of(kind, "assert"),
            judge,
            weight: None,
            at: (at.0.clone(), at.1),
            shown,
        }),
        Err(complaint) => {
            reader.leave(Part::Assert, at, shown, complaint.what);
            None
        }
    }
}

fn is_known(kind: &str) -> bool {
    let kind = kind.strip_prefix("not-").unwrap_or(kind);
    [
        "is-json",
        "contains-json",
        "is-refusal",
        "is-xml",
        "is-sql",
        "contains-sql",
        "latency",
        "cost",
        "factuality",
        "context-recall",
        "context-faithfulness",
        "is-html",
        "equals",
        "contains",
        "icontains",
        "regex",
        "starts-with",
    ]
    .contains(&kind)
}

/// The judge of an assert.
fn judge(reader: &mut Reader, written: &Written<'_>, at: (&Doc, u64)) -> Result<Value, Complaint> {
    let (kind, turned) = match written.kind.strip_prefix("not-") {
        Some(kind) => (kind, true),
        None => (written.kind, false),
    };
    let value = from_file(reader, kind, &written.value)?;
    let written = Written { kind, value, ..*written };
    let judge = match (graded(&written), asking(&written)) {
        (Some(criterion), _) => rubric(reader, &written, criterion?, at)?,
        (None, Some(asking)) => {
            let (name, mut settings) = asking?;
            settings["models"] = json!({"grader": grader(reader, &written)});
            json!({ name: settings })
        }
        (None, None) => plain(&written)?,
    };
    let judge = if turned { json!({ "not": judge }) } else { judge };
    let config: JudgeConfig = serde_json::from_value(judge.clone()).map_err(Complaint::of)?;
    config.check()?;
    Ok(judge)
}

/// The value, read from the file that it names.
fn from_file(reader: &Reader, kind: &str, value: &Value) -> Result<Value, Complaint> {
    let Some(name) = value.as_str().and_then(file_name) else { return Ok(value.clone()) };
    if is_program(name) {
        return Err(Complaint::new(
            "a program judges: `plugin` and `command` judges start one, and it is to be written for them",
        ));
    }
    let text = reader.text_file(name)?;
    Ok(match kind {
        "is-json" | "contains-json" | "contains-any" | "contains-all" | "icontains-any" | "icontains-all" => {
            let doc = Doc::parse(name, text.into_bytes())?;
            doc.value(doc.root())
        }
        _ => Value::from(text.trim_end()),
    })
}

/// The judges that ask nobody.
fn plain(written: &Written<'_>) -> Result<Value, Complaint> {
    let Written { kind, value, threshold, .. } = written;
    let text = || match value {
        Value::Null => Err(Complaint::new("it has no `value`")),
        Value::Array(_) | Value::Object(_) => Err(Complaint::new("its `value` is not text")),
        other => Ok(Value::from(text_of(other))),
    };
    let limit = || threshold.ok_or_else(|| Complaint::new("it has no `threshold`"));
    let some = |require: &str, ignore_case: bool| {
        let texts = texts(value)?;
        Ok(json!({"contains": with(json!({"value": texts, "require": require}), ignore_case)}))
    };
    match *kind {
        "equals" if value.is_object() || value.is_array() => Ok(json!({"json-equals": {"value": value, "extract": "whole"}})),
        "equals" => Ok(json!({"equals": {"value": text()?, "trim": false}})),
        "contains" => Ok(json!({"contains": {"value": text()?}})),
        "icontains" => Ok(json!({"contains": with(json!({"value": text()?}), true)})),
        "contains-any" => some("any", false),
        "contains-all" => some("all", false),
        "icontains-any" => some("any", true),
        "icontains-all" => some("all", true),
        "starts-with" => Ok(json!({"starts-with": {"value": text()?}})),
        "regex" => Ok(json!({"regex": {"pattern": text()?}})),
        "is-json" => schema(value, "whole"),
        "contains-json" => schema(value, "auto"),
        "is-xml" => Ok(json!({"is-xml": {}})),
        "is-refusal" => Ok(json!({"refusal": {"expected": true}})),
        "finish-reason" => Ok(json!({"finish-reason": {"any_of": [text()?]}})),
        "word-count" => counted(value, "words"),
        "min-length" => counted(&json!({"min": value}), "characters"),
        "max-length" => counted(&json!({"max": value}), "characters"),
        "trajectory:tool-used" => tools(value),
        "trajectory:tool-args-match" => tools(&json!([{"name": value["name"], "args": value["args"]}])),
        "trajectory:tool-sequence" => Ok(json!({"tool-calls": {"calls": value["steps"], "order": "same"}})),
        "javascript" => javascript::judge(&text_of(value)).ok_or_else(|| {
            Complaint::new("JavaScript is understood where it asks for lengths and texts only; a `plugin` or `command` judge starts a program")
        }),
        "python" | "ruby" | "webhook" => {
            Err(Complaint::new("a program judges: `plugin` and `command` judges start one, and it is to be written for them"))
        }
        "similar" | "similar:cosine" => {
            let least = threshold.unwrap_or(0.75);
            Ok(json!({"similar": {"value": text()?, "min_similarity": least, "model": embedding(written)?}}))
        }
        "latency" => Ok(json!({"latency": {"max_ms": limit()?}})),
        "cost" => Ok(json!({"cost": {"max_usd": limit()?}})),
        "is-sql" => sql::judge(value, "whole"),
        "contains-sql" => sql::judge(value, "auto"),
        "moderation" | "classifier" => Err(Complaint::new("no classifier is asked here; a `rubric` with a model that classifies, or a `plugin`, can be")),
        "select-best" | "max-score" => Err(Complaint::new("a trial is judged by itself; `compare` says which target or prompt is better, and how sure that is; `select-best` chooses between an answer and one that is there")),
        _ => Err(Complaint::new("no judge here says the same")),
    }
}

fn with(mut settings: Value, ignore_case: bool) -> Value {
    if ignore_case {
        settings["ignore_case"] = Value::Bool(true);
    }
    settings
}

/// A list of texts; one text holds several with commas between them.
fn texts(value: &Value) -> Result<Vec<Value>, Complaint> {
    match value {
        Value::Array(list) => Ok(list.iter().map(|item| Value::from(text_of(item))).collect()),
        Value::String(text) => Ok(text.split(',').map(|part| Value::from(part.trim())).collect()),
        _ => Err(Complaint::new("its `value` is not a list of texts")),
    }
}

fn schema(value: &Value, extract: &str) -> Result<Value, Complaint> {
    let schema = match value {
        Value::Null => Value::Object(Map::new()),
        Value::String(text) => {
            let doc = Doc::parse("schema", text.clone().into_bytes())?;
            doc.value(doc.root())
        }
        other => other.clone(),
    };
    Ok(json!({"json-schema": {"schema": schema, "extract": extract}}))
}

fn counted(value: &Value, unit: &str) -> Result<Value, Complaint> {
    let settings = match value {
        Value::Object(map) => {
            let limits =
                map.iter().filter(|(key, value)| matches!(key.as_str(), "min" | "max") && value.is_u64());
            limits.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>()
        }
        Value::Number(_) => {
            Map::from_iter([("min".to_owned(), value.clone()), ("max".to_owned(), value.clone())])
        }
        _ => return Err(Complaint::new("its `value` is not a number")),
    };
    let mut judge = Value::Object(settings);
    judge["unit"] = Value::from(unit);
    Ok(json!({ "length": judge }))
}

/// The calls that an answer has to hold.
fn tools(value: &Value) -> Result<Value, Complaint> {
    let calls: Option<Vec<Value>> = match value {
        Value::String(name) => Some(vec![json!(name)]),
        Value::Array(list) => list
            .iter()
            .map(|item| match item {
                Value::Object(map) if map.contains_key("args") => Some(item.clone()),
                Value::Object(map) => map.get("name").cloned(),
                Value::String(_) => Some(item.clone()),
                _ => None,
            })
            .collect(),
        Value::Object(map) if map.keys().all(|key| key == "name") => {
            map.get("name").cloned().map(|name| vec![name])
        }
        _ => None,
    };
    match calls {
        Some(calls) => Ok(json!({"tool-calls": {"calls": calls}})),
        None => Err(Complaint::new(
            "how often a tool is called, or its name by a pattern, is judged by nobody here",
        )),
    }
}

/// Where promptfoo has embeddings made.
fn embedding(written: &Written<'_>) -> Result<Value, Complaint> {
    if written.scripted {
        return Ok(json!({"scripted": {"otherwise": {"reply": "no embedding"}}}));
    }
    let id = match &written.provider["embedding"] {
        Value::String(id) => id.as_str(),
        other => other["id"].as_str().unwrap_or("openai:embedding:text-embedding-3-large"),
    };
    let Some(model) =
        ["openai:embedding:", "openai:embeddings:"].iter().find_map(|front| id.strip_prefix(front))
    else {
        return Err(Complaint::new(format!(
            "no target here has embeddings of `{id}`; `similar` takes any `http` endpoint"
        )));
    };
    Ok(json!({"http": {
        "url": "https://api.openai.com/v1/embeddings",
        "api_key_env": "OPENAI_API_KEY",
        "request": {"model": model, "input": "{input}"},
        "answer": "/data/0/embedding",
    }}))
}

/// The criterion of an assert that a model decides by it; none where it is no matter of a rubric.
fn graded(written: &Written<'_>) -> Option<Result<String, Complaint>> {
    let value = match &written.value {
        Value::Array(list) => list.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        other => text_of(other),
    };
    let criterion = match written.kind {
        "llm-rubric" | "g-eval" => value.clone(),
        "model-graded-closedqa" => format!("The answer meets this requirement: {value}"),
        "answer-relevance" => {
            return Some(Ok("The answer is relevant to the question, and answers it.".to_owned()));
        }
        _ => return None,
    };
    Some(if value.trim().is_empty() { Err(Complaint::new("it has no `value`")) } else { Ok(criterion) })
}

/// The judges beside `rubric` that ask a model, without it; none where it is another assert.
fn asking(written: &Written<'_>) -> Option<Result<(&'static str, Value), Complaint>> {
    let value = || match text_of(&written.value) {
        text if text.trim().is_empty() => Err(Complaint::new("it has no `value`")),
        text => Ok(text),
    };
    // Without a threshold any share passes there, and so it does here.
    let least = written.threshold.unwrap_or(0.0);
    let judge = match written.kind {
        "factuality" | "model-graded-factuality" => {
            ("factuality", value().map(|value| json!({"value": value})))
        }
        "context-recall" => {
            ("context-recall", value().map(|value| json!({"value": value, "min_share": least})))
        }
        "context-faithfulness" => ("faithfulness", Ok(json!({"min_share": least}))),
        _ => return None,
    };
    Some(judge.1.map(|settings| (judge.0, settings)))
}

fn rubric(
    reader: &mut Reader,
    written: &Written<'_>,
    criterion: String,
    at: (&Doc, u64),
) -> Result<Value, Complaint> {
    if written.threshold.is_some() {
        let why =
            "a rubric says right or wrong; `decide: mean` and a `prompt` that asks for numbers give shares";
        reader.leave(Part::Setting, at, format!("`threshold` of assert `{}`", written.kind), why);
    }
    let model = grader(reader, written);
    Ok(json!({"rubric": {"criterion": criterion, "models": {"grader": model}}}))
}

/// The model that judges.
fn grader(reader: &mut Reader, written: &Written<'_>) -> Value {
    let (model, note) = match providers::grader(written.provider) {
        _ if reader.scripted => return silent_grader(),
        Some((_, Ok(model))) => return model,
        None => (
            json!({"openai": {"model": USUAL_GRADER, "temperature": 0}}),
            format!("models that judge are OpenAI's {USUAL_GRADER} where the file names none"),
        ),
        Some((id, Err(_))) => (
            silent_grader(),
            format!(
                "no target here speaks to `{id}`: a stand-in that never judges takes its place in rubrics"
            ),
        ),
    };
    if !reader.notes.contains(&note) {
        reader.notes.push(note);
    }
    model
}
