//! The `json-schema` judge.

use jsonschema::{PatternOptions, Validator};
use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Strictness, parse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::extract::{Extract, json_text};
use super::latest::Latest;
use super::text::NOTHING_EXPECTED;
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The answer is JSON that satisfies a JSON Schema.
///
/// The schema is `schema` or else the case's `expected`, an object. Drafts 4 to 2020-12 are known by their `$schema`;
/// without one it is 2020-12. References lead only within the schema: nothing is fetched or read. Patterns use the
/// syntax of the Rust crate `regex`.
///
/// Guarantee: an answer without a JSON value is wrong, not unjudged.
///
/// ```yaml
/// json-schema: {schema: {type: object, required: [name], properties: {name: {type: string}}}}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JsonSchemaJudge {
    /// The schema; without it the case's `expected` is the schema.
    #[schemars(with = "Option<serde_json::Value>")]
    pub schema: Option<Json>,
    /// Where in the answer its JSON value is looked for.
    pub extract: Extract,
    /// `format` is checked too, not only noted.
    pub check_formats: bool,
}

impl Settings for JsonSchemaJudge {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        let fixed = match &self.schema {
            None => None,
            Some(schema) => Some(validator(schema, self.check_formats)?),
        };
        let settings = JsonSchemaJudge { schema: None, ..self.clone() };
        Ok(Box::new(Compiled { fixed, settings, of_case: Latest::default() }))
    }

    fn needs_expected(&self) -> bool {
        self.schema.is_none()
    }
}

fn validator(schema: &Json, check_formats: bool) -> Result<Validator, Complaint> {
    jsonschema::options()
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(check_formats)
        .build(&to_value(schema))
        .map_err(|error| {
            Complaint::new(format!("the schema is not valid at `{}`: {error}", error.instance_path()))
        })
}

/// Whole numbers become integers, which is what a schema's `integer` and a person reading the reason expect.
fn to_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) if number.fract() == 0.0 && number.abs() <= MAX_INTEGER => {
            Value::from(*number as i64)
        }
        Json::Number(number) => Value::from(*number),
        Json::String(text) => Value::String(text.clone()),
        Json::Array(list) => list.iter().map(to_value).collect(),
        Json::Object(object) => object.iter().map(|(key, item)| (key.to_owned(), to_value(item))).collect(),
    }
}

const MAX_INTEGER: f64 = proofhouse_ledger::json::MAX_SAFE_INTEGER as f64;

struct Compiled {
    fixed: Option<Validator>,
    settings: JsonSchemaJudge,
    of_case: Latest<Json, Result<Validator, Complaint>>,
}

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        if let Some(validator) = &self.fixed {
            return self.validate(validator, subject);
        }
        match subject.expected {
            Json::Null => Verdict::unjudged(NOTHING_EXPECTED.replace("`value`", "`schema`")),
            Json::Object(_) | Json::Bool(_) => match &*self
                .of_case
                .get(subject.expected, |schema| validator(schema, self.settings.check_formats))
            {
                Ok(validator) => self.validate(validator, subject),
                Err(error) => Verdict::unjudged(error.clone()),
            },
            other => Verdict::unjudged(format!(
                "the case's `expected` is of type {}, not a schema",
                other.type_name()
            )),
        }
    }
}

impl Compiled {
    fn validate(&self, validator: &Validator, subject: &Subject<'_>) -> Verdict {
        let value = match instance(subject.output, self.settings.extract) {
            Ok(value) => value,
            Err(reason) => return Verdict::wrong(reason),
        };
        match validator.validate(&value) {
            Ok(()) => Verdict::right(),
            // The value is masked because it may be huge.
            Err(error) => Verdict::wrong(format!("{} at `{}`", error.masked(), error.instance_path())),
        }
    }
}

/// The answer's value with all its digits: a schema may well ask for integers beyond 2^53.
fn instance(output: &Json, extract: Extract) -> Result<Value, Complaint> {
    let Json::String(answer) = output else {
        return Ok(to_value(output));
    };
    let text = json_text(answer, extract)?;
    parse(text.as_bytes(), Strictness::Lenient)
        .map_err(|error| Complaint::new(format!("the answer is not JSON: {error}")))?;
    serde_json::from_str(text).map_err(|error| Complaint::new(format!("the answer is not JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, reason, refused, unjudged};

    const PERSON: &str = "json-schema: {schema: {type: object, required: [name, age], properties: \
                          {name: {type: string, pattern: '^[A-Z]'}, age: {type: integer, minimum: 0}}}}";

    #[test]
    fn right_and_wrong() {
        check(PERSON, "null", r#"{"name":"Ada","age":36}"#, 1.0);
        check(PERSON, "null", "Here you are:\n```json\n{\"name\":\"Ada\",\"age\":36.0}\n```", 1.0);
        check(PERSON, "null", r#"{"name":"Ada","age":18446744073709551615}"#, 1.0);
        check(PERSON, "null", r#"{"name":"ada","age":36}"#, 0.0);
        check(PERSON, "null", r#"{"name":"Ada","age":36,"name":"ada"}"#, 0.0);
        check(PERSON, "null", "Ada, 36", 0.0);
        check(PERSON, "null", "", 0.0);
        check("json-schema: {}", r#"{"type":"array","maxItems":2}"#, "[1,2]", 1.0);
        check("json-schema: {}", r#"{"type":"array","maxItems":2}"#, "[1,2,3]", 0.0);
        check("json-schema: {schema: {format: date}}", "null", "\"soon\"", 1.0);
        check("json-schema: {schema: {format: date}, check_formats: true}", "null", "\"soon\"", 0.0);
        check("json-schema: {schema: {}, extract: whole}", "null", "it is {}", 0.0);
    }

    #[test]
    fn reasons_name_the_place_and_hide_the_value() {
        assert_eq!(reason(PERSON, "null", r#"{"name":"Ada"}"#), "\"age\" is a required property at ``");
        let long = format!(r#"{{"name":"{}","age":1}}"#, "a".repeat(1_000_000));
        assert_eq!(reason(PERSON, "null", &long), "value does not match \"^[A-Z]\" at `/name`");
    }

    #[test]
    fn faulty_schemas_are_named_and_nothing_is_fetched() {
        refused("json-schema: {schema: {type: objekt}}", "at `/type`");
        refused("json-schema: {schema: {$ref: 'http://127.0.0.1:9/x'}}", "127.0.0.1");
        refused("json-schema: {schema: {$ref: 'file:///etc/passwd'}}", "file");
        refused("json-schema: {schema: {pattern: '(?=x)'}}", "not valid");
        unjudged("json-schema: {}", "5", "{}", "not a schema");
        unjudged("json-schema: {}", "null", "{}", "no `schema`");
        unjudged("json-schema: {}", r#"{"type":"objekt"}"#, "{}", "not valid");
    }
}
