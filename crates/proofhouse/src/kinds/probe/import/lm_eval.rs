//! Samples of EleutherAI's lm-evaluation-harness: `samples_TASK_DATE.jsonl`, as `--log_samples` writes it.
//!
//! A line is one document under one filter: what was asked (`arguments`), said (`resps`), left by the filter (`filtered_resps`), and a
//! score for each of `metrics`. A document under several filters is one case with a measure for each.

use std::collections::BTreeMap;

use proofhouse_ledger::files;
use serde_json::Value;

use super::results::{Answer, Answered, Results};
use super::text_of;
use crate::spine::import::{Import, Imported, Importing, LeftOut};
use crate::text::complaint::Complaint;

pub(super) const IMPORT: Import = Import {
    name: "lm-eval-samples",
    about: "Samples of lm-evaluation-harness (`--log_samples`): answers and scores become a run.",
    read,
};

/// Fields of a line that are no measures.
const FIELDS: [&str; 11] = [
    "doc_id",
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
    "doc_hash",
    "prompt_hash",
    "target_hash",
];

fn read(importing: &Importing<'_>) -> Result<Imported, Complaint> {
    let path = importing.path;
    let bytes = files::read(path)
        .map_err(|error| Complaint::new(format!("cannot read `{path}`: {}", error.source)))?;
    let text = String::from_utf8(bytes).map_err(|_| Complaint::new(format!("`{path}` is not UTF-8")))?;
    let file = path.file_name().unwrap_or(path.as_str()).to_owned();
    let mut lines = Vec::new();
    let mut results =
        Results { tool: "lm-eval", task: task(&file), model: model(path), file, ..Results::default() };
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = at as u64 + 1;
        match serde_json::from_str::<Value>(line) {
            Ok(row) if row.get("resps").is_some() && row.get("arguments").is_some() => {
                lines.push((number, row))
            }
            Ok(_) => return Err(not_samples(&results.file, number, "it has no `resps` or no `arguments`")),
            Err(error) => return Err(not_samples(&results.file, number, &error.to_string())),
        }
    }
    let mut filters: Vec<&str> = lines.iter().filter_map(|(_, row)| row["filter"].as_str()).collect();
    filters.sort_unstable();
    filters.dedup();
    let several = filters.len() > 1;
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (number, row) in &lines {
        let id = text_of(&row["doc_id"]);
        let scores = scores(row, several);
        if let Some(at) = places.get(&id) {
            results.answered[*at].answers[0].scores.extend(scores);
            continue;
        }
        let Some(input) = input(&row["arguments"]) else {
            let (file, line) = (results.file.clone(), *number);
            let why = "what was asked is in no form that is known".to_owned();
            results.left_out.push(LeftOut { file, line, what: format!("document {id}"), why });
            continue;
        };
        let answer = Answer { output: output(row), error: None, scores };
        places.insert(id.clone(), results.answered.len());
        let expected = row["target"].clone();
        results.answered.push(Answered {
            id,
            input,
            expected,
            tags: Vec::new(),
            answers: vec![answer],
            line: *number,
        });
    }
    if lines
        .iter()
        .any(|(_, row)| row["resps"][0].as_array().is_some_and(|list| list.len() > 1 && list[0].is_string()))
    {
        results
            .notes
            .push("of several answers to one document the first is kept; the scores are of all".to_owned());
    }
    results.suite()
}

fn not_samples(file: &str, number: u64, why: &str) -> Complaint {
    Complaint::new(format!("`{file}`, line {number}: {why}"))
        .hint("`lm_eval --log_samples --output_path DIR` writes `samples_TASK_….jsonl`")
}

/// `samples_gsm8k_2025-01-01T00-00-00.000000.jsonl` is about `gsm8k`.
fn task(file: &str) -> String {
    let name = file.strip_prefix("samples_").unwrap_or(file);
    let name = name.strip_suffix(".jsonl").unwrap_or(name);
    let dated = |tail: &str| tail.len() >= 10 && tail.starts_with("20") && tail.as_bytes()[4] == b'-';
    match name.rsplit_once('_') {
        Some((task, tail)) if dated(tail) => task.to_owned(),
        _ => name.to_owned(),
    }
}

/// The folder of the samples is named after the model.
fn model(path: &camino::Utf8Path) -> String {
    path.parent().and_then(camino::Utf8Path::file_name).unwrap_or("model").replace("__", "-")
}

/// What was asked: the first argument of the first request.
fn input(arguments: &Value) -> Option<String> {
    let first = match arguments {
        Value::Array(list) => list.first()?,
        Value::Object(map) => map.get("gen_args_0")?,
        _ => return None,
    };
    match first {
        Value::Array(parts) => parts.first().map(text_of),
        Value::Object(parts) => parts.get("arg_0").map(text_of),
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// What was said. Where choices were weighed, it is the one that weighs most.
fn output(row: &Value) -> Value {
    let weighed: Option<Vec<f64>> = row["filtered_resps"]
        .as_array()
        .and_then(|list| list.iter().map(|choice| log_likelihood(choice.get(0)?)).collect());
    match weighed.filter(|weights| !weights.is_empty()) {
        Some(weights) => {
            let best = weights.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(at, _)| at);
            continuation(&row["arguments"], best).unwrap_or_else(|| Value::from(best as u64))
        }
        None => match &row["resps"][0] {
            Value::Array(list) => list.first().cloned().unwrap_or_default(),
            other => other.clone(),
        },
    }
}

/// A log-likelihood: a number, which newer versions write as text.
fn log_likelihood(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// The text of a choice: the second argument of its request.
fn continuation(arguments: &Value, nth: usize) -> Option<Value> {
    let request = match arguments {
        Value::Array(list) => list.get(nth)?,
        Value::Object(map) => map.get(&format!("gen_args_{nth}"))?,
        _ => return None,
    };
    let text = request.get(1).or_else(|| request.get("arg_1"))?.as_str()?;
    Some(Value::from(text.trim()))
}

/// Each measure and its score; with the filter's name where there are several.
fn scores(row: &Value, several: bool) -> Vec<(String, Option<f64>)> {
    let named: Vec<String> = match row["metrics"].as_array() {
        Some(list) => list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect(),
        // Older versions do not say which fields are measures.
        None => row
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key.clone())
            .filter(|key| !FIELDS.contains(&key.as_str()))
            .collect(),
    };
    let filter = row["filter"].as_str().filter(|_| several);
    named
        .into_iter()
        .map(|name| {
            let score = match &row[&name] {
                Value::Bool(right) => Some(f64::from(u8::from(*right))),
                other => other.as_f64(),
            };
            (filter.map_or(name.clone(), |filter| format!("{name}.{filter}")), score)
        })
        .collect()
}
