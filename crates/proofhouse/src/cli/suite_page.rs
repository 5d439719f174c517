//! `docs/suite.md`: every key of every kind of suite, drawn from the schema that editors use.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::kinds::{self, KINDS};

/// How deep keys are followed into the structures that hold them.
const DEPTH: usize = 6;

/// The page.
pub(super) fn page() -> String {
    let schema = kinds::suite_schema();
    let mut text = "# Suites\n\nEvery key of every kind of suite, generated from the schema (`proofhouse schema suite`). A key that is not here is \
                    refused, with the nearest right one. `a[]` is an entry of a list, `a.NAME` the value of a name that you choose.\n\n\
                    For completion in an editor, put this line on top of a suite:\n\n\
                    ```yaml\n# yaml-language-server: $schema=./suite.schema.json\n```\n\n\
                    and write the schema beside it: `proofhouse schema suite > suite.schema.json`. Targets, judges and generators have pages of \
                    their own: [targets](reference/targets.md), [judges](reference/judges.md), [generators](reference/generators.md), \
                    [attacks](reference/attacks.md).\n\n"
        .to_owned();
    text.push_str(VERDICTS);
    for (row, kind) in KINDS.iter().zip(schema["anyOf"].as_array().into_iter().flatten()) {
        let _ =
            write!(text, "\n## kind: {}\n\n{}\n\n", row.kind.as_str(), sentence(described(&schema, kind)));
        text.push_str("| key | what it means | default | place |\n|---|---|---|---|\n");
        let mut rows = Rows { schema: &schema, text: &mut text, open: BTreeSet::new() };
        rows.keys("", kind, 0);
        let (name, starter) = row.starter[0];
        let _ = write!(
            text,
            "\nA whole one, `{name}` as `proofhouse init {} DIR` writes it, beside the files that it names:\n\n```yaml\n{}\n```\n",
            row.kind.as_str(),
            starter.trim_end()
        );
    }
    text
}

const VERDICTS: &str = "## How verdicts combine\n\n\
    Each judge gives a score from 0 to 1, or none where it cannot judge. A trial passes where the score that decides (`scoring.primary`: a judge's \
    name or `weighted_mean`; by default the only judge, else the weighted mean of all) reaches `scoring.threshold` (by default 1: every judge has to \
    give 1). A trial without an answer, or without that score, is not assessed: neither passed nor failed, and counted as such. A target's pass rate \
    is passed over assessed, and a `gate` holds only where it would hold even if everything that was not assessed had failed.\n";

/// A schema behind its reference.
fn resolved<'a>(schema: &'a Value, part: &'a Value) -> &'a Value {
    let name = part["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
    name.map_or(part, |name| &schema["$defs"][name])
}

fn described<'a>(schema: &'a Value, part: &'a Value) -> &'a str {
    let own = part["description"].as_str();
    own.or_else(|| resolved(schema, part)["description"].as_str()).unwrap_or_default()
}

/// On one line of a table.
fn sentence(text: &str) -> String {
    // What follows an empty line is a member's own page.
    let first = text.split("\n\n").next().unwrap_or_default();
    first.replace('\n', " ").replace('|', "\\|")
}

struct Rows<'a> {
    schema: &'a Value,
    text: &'a mut String,
    /// Structures that are being told, so that one that holds itself ends.
    open: BTreeSet<String>,
}

impl Rows<'_> {
    fn keys(&mut self, path: &str, part: &Value, depth: usize) {
        let schema = self.schema;
        let part = resolved(schema, part);
        let required: Vec<&str> =
            part["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (key, value) in part["properties"].as_object().into_iter().flatten() {
            let name = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let default = match (&value["default"], required.contains(&key.as_str())) {
                (_, true) => "required".to_owned(),
                (Value::Null, false) => String::new(),
                (default, false) => format!("`{}`", default.to_string().replace('|', "\\|")),
            };
            let _ = writeln!(
                self.text,
                "| `{name}` | {} {} | {default} | {} |",
                sentence(described(schema, value)),
                kind_of(schema, value),
                if path.is_empty() { "top".to_owned() } else { format!("`{path}`") }
            );
            self.within(&name, value, depth + 1);
        }
    }

    /// The keys of what a key holds.
    fn within(&mut self, path: &str, value: &Value, depth: usize) {
        if depth > DEPTH {
            return;
        }
        let schema = self.schema;
        let choices = [&value["anyOf"], &value["oneOf"]];
        for choice in choices.into_iter().filter_map(Value::as_array).flatten() {
            self.within(path, choice, depth);
        }
        let name = value["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
        let Some(name) = name else {
            if value["items"].is_object() {
                self.within(&format!("{path}[]"), &value["items"], depth);
            }
            if value["additionalProperties"].is_object() {
                self.within(&format!("{path}.NAME"), &value["additionalProperties"], depth);
            }
            return;
        };
        // Members of families have pages of their own.
        let is_family = ["TargetConfig", "JudgeConfig", "GeneratorConfig", "AttackConfig"].contains(&name);
        if is_family || !self.open.insert(name.to_owned()) {
            return;
        }
        let part = resolved(schema, value);
        if part["properties"].is_object() {
            self.keys(path, part, depth);
        } else {
            self.within(path, part, depth);
        }
        self.open.remove(name);
    }
}

/// What a value is, in parentheses: `(text)`, `(1 to 100000)`, `(one of a, b)`.
fn kind_of(schema: &Value, value: &Value) -> String {
    let part = resolved(schema, value);
    let words = part["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let constants = part["oneOf"].as_array().into_iter().flatten().filter_map(|each| each["const"].as_str());
    let choices: Vec<String> = words.chain(constants).map(|word| format!("`{word}`")).collect();
    if !choices.is_empty() {
        return format!("(one of {})", choices.join(", "));
    }
    match (part["minimum"].as_f64(), part["maximum"].as_f64()) {
        (Some(low), Some(high)) => format!("({low} to {high})"),
        _ => match &part["type"] {
            Value::String(name) => format!("({})", named(name)),
            Value::Array(names) => {
                let names: Vec<&str> = names
                    .iter()
                    .filter_map(Value::as_str)
                    .filter(|name| *name != "null")
                    .map(named)
                    .collect();
                format!("({})", names.join(" or "))
            }
            _ => String::new(),
        },
    }
}

fn named(name: &str) -> &str {
    match name {
        "string" => "text",
        "boolean" => "true or false",
        "integer" => "whole number",
        "array" => "list",
        "object" => "names and values",
        other => other,
    }
}
