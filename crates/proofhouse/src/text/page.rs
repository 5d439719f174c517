//! The documentation page of a family member, taken from its settings' doc comments so that it cannot drift from them.

use schemars::{JsonSchema, schema_for};
use serde_json::Value;

/// What `proofhouse list` prints about one member of a family.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The member's name as a suite spells it.
    pub name: &'static str,
    /// The first sentence.
    pub summary: String,
    /// The whole text, Markdown, with an example at its end.
    pub text: String,
    /// The settings in alphabetical order.
    pub parameters: Vec<Parameter>,
}

/// One setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The key as a suite spells it.
    pub name: String,
    /// What it does.
    pub text: String,
    /// Its value when it is not set, as JSON; none for a setting that must be given.
    pub default: Option<String>,
}

impl Page {
    /// Reads the page out of the schema of `S`, which carries the doc comments.
    pub fn of<S: JsonSchema>(name: &'static str) -> Page {
        let schema = schema_for!(S);
        let text = description(schema.as_value());
        let first = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
        let summary = first.split_once(": ").map_or(first.as_str(), |(head, _)| head);
        let mut parameters: Vec<Parameter> = schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(key, property)| Parameter {
                name: key.clone(),
                text: description(property),
                default: property.get("default").map(Value::to_string),
            })
            .collect();
        parameters.sort_by(|a, b| a.name.cmp(&b.name));
        Page { name, summary: summary.trim_end_matches('.').to_owned(), text, parameters }
    }

    /// The whole page for a terminal: the text, then the settings with their defaults.
    pub fn render(&self) -> String {
        let mut page = format!("{}\n\n{}\n", self.name, self.text.trim_end());
        if !self.parameters.is_empty() {
            page.push_str("\nSettings:\n");
        }
        for parameter in &self.parameters {
            let text = parameter.text.replace('\n', " ");
            let default = match &parameter.default {
                Some(default) if default != "null" => format!(" [default: {default}]"),
                _ => String::new(),
            };
            page.push_str(&format!("  {}: {text}{default}\n", parameter.name));
        }
        page
    }

    /// The example: the first YAML block of the page.
    pub fn example(&self) -> Option<&str> {
        let (_, after) = self.text.split_once("```yaml\n")?;
        Some(after.split_once("```")?.0)
    }
}

fn description(schema: &Value) -> String {
    schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
}
