//! The newer form: minijinja, strict, without other templates, files or an environment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::ValueKind;
use minijinja::{AutoEscape, Environment, ErrorKind, Output, State, UndefinedBehavior, Value};
use proofhouse_ledger::Json;
use proofhouse_ledger::json::{MAX_SAFE_INTEGER, Object, to_json};

use super::{TemplateError, Unfilled};

/// Instructions of one rendering at most.
const FUEL: u64 = 5_000_000;

/// The name of the only template of an environment.
const NAME: &str = "text";

/// A template with the environment that it is rendered in.
#[derive(Debug)]
pub(super) struct Compiled {
    environment: Environment<'static>,
    fields: BTreeSet<String>,
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let syntax = SyntaxConfig::builder().keep_trailing_newline(true).build();
    environment.set_syntax(syntax.expect("the usual marks do not clash"));
    environment.set_formatter(write);
    environment.set_fuel(Some(FUEL));
    environment
}

/// Text as it is, structures as JSON. Null is no text: whoever means it says `default`.
fn write(out: &mut Output, _: &mut State, value: &Value) -> Result<(), minijinja::Error> {
    match value.kind() {
        ValueKind::Undefined => Err(minijinja::Error::from(ErrorKind::UndefinedError)),
        ValueKind::Bool => {
            out.write_str(if value.is_true() { "true" } else { "false" }).map_err(minijinja::Error::from)
        }
        ValueKind::None => Err(minijinja::Error::new(ErrorKind::BadSerialization, NULL)),
        ValueKind::Map | ValueKind::Seq | ValueKind::Iterable => {
            let value = to_json(value)
                .map_err(|error| minijinja::Error::new(ErrorKind::BadSerialization, error.to_string()))?;
            out.write_str(&value.to_string()).map_err(minijinja::Error::from)
        }
        _ => write!(out, "{value}").map_err(minijinja::Error::from),
    }
}

/// How the formatter says that it met null.
const NULL: &str = "a value is null";

impl Compiled {
    pub(super) fn new(text: &str) -> Result<Self, TemplateError> {
        let mut environment = environment();
        environment.add_template_owned(NAME, text.to_owned()).map_err(|error| {
            let line = error.line().filter(|line| *line > 1).map_or_else(String::new, |line| format!(" (line {line} of it)"));
            TemplateError {
                what: format!("the template cannot be read: {}{line}", words(&error)),
                hint: "a hole is `{{ field }}`; `{{ '{{' }}` writes two braces, and `template: simple` knows `{field}` only".to_owned(),
                offset: 0,
            }
        })?;
        let template = environment.get_template(NAME).expect("it was added just above");
        let globals = ["range", "dict", "namespace", "debug"];
        let fields = template.undeclared_variables(false).into_iter();
        let fields = fields.filter(|name| !globals.contains(&name.as_str())).collect();
        Ok(Compiled { environment, fields })
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(String::as_str)
    }

    pub(super) fn render(
        &self,
        out: &mut String,
        value: &dyn Fn(&str) -> Option<Value>,
    ) -> Result<(), Unfilled> {
        let known: BTreeMap<&str, Value> =
            self.fields().filter_map(|name| Some((name, value(name)?))).collect();
        let template = self.environment.get_template(NAME).expect("it was added when this was made");
        let rendered =
            template.render(Value::from_pairs(known.iter().map(|(name, value)| (*name, value.clone()))));
        match rendered {
            Ok(text) => {
                out.push_str(&text);
                Ok(())
            }
            Err(error) => Err(self.unfilled(&error, &known)),
        }
    }

    /// What was missing, as far as that can be told.
    fn unfilled(&self, error: &minijinja::Error, known: &BTreeMap<&str, Value>) -> Unfilled {
        let names = |wanted: &dyn Fn(&str) -> bool| {
            let names: Vec<&str> = self.fields().filter(|name| wanted(name)).collect();
            names.join("`, `")
        };
        let is_null = |name: &str| known.get(name).is_some_and(Value::is_none);
        match error.kind() {
            ErrorKind::UndefinedError => {
                let missing = names(&|name| !known.contains_key(name));
                let nested = || {
                    let template = self.environment.get_template(NAME).ok()?;
                    let paths: BTreeSet<String> = template.undeclared_variables(true).into_iter().collect();
                    paths.into_iter().find(|path| path.contains('.'))
                };
                Unfilled::Missing(if missing.is_empty() {
                    nested().unwrap_or_else(|| words(error))
                } else {
                    missing
                })
            }
            ErrorKind::BadSerialization if error.detail() == Some(NULL) => {
                let nulls = names(&is_null);
                Unfilled::Null(if nulls.is_empty() { "a value in it".to_owned() } else { nulls })
            }
            _ => Unfilled::Failed(words(error)),
        }
    }
}

/// What minijinja says, without the name of the template.
fn words(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

/// A value as templates see it: whole numbers are whole.
pub(super) fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(value) => Value::from(*value),
        Json::Number(number) if number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER as f64 => {
            Value::from(*number as i64)
        }
        Json::Number(number) => Value::from(*number),
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(list) => list.iter().map(value_of).collect(),
        Json::Object(object) => fields_of(object),
    }
}

fn fields_of(object: &Object) -> Value {
    Value::from_pairs(object.iter().map(|(key, value)| (key, value_of(value))))
}

/// A condition over the fields of a row: an expression of the same language.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    source: String,
}

static CONDITIONS: LazyLock<Environment<'static>> = LazyLock::new(environment);

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(source: &str) -> Result<Self, TemplateError> {
        match CONDITIONS.compile_expression_owned(source.to_owned()) {
            Ok(_) => Ok(Condition { source: source.to_owned() }),
            Err(error) => Err(TemplateError {
                what: format!("the condition cannot be read: {}", words(&error)),
                hint: "for example `where: \"level == 'hard' and year > 2020\"`".to_owned(),
                offset: 0,
            }),
        }
    }

    /// The condition, ready for many rows.
    pub(crate) fn ready(&self) -> Ready {
        let expression = CONDITIONS.compile_expression_owned(self.source.clone());
        Ready(expression.expect("the condition was read before"))
    }

    /// The fields that it may ask for.
    pub(crate) fn fields(&self) -> Vec<String> {
        let names: BTreeSet<String> = self.ready().0.undeclared_variables(false).into_iter().collect();
        names.into_iter().collect()
    }
}

/// A condition that rows can be held against.
pub(crate) struct Ready(minijinja::Expression<'static, 'static>);

impl Ready {
    /// Whether a row meets it.
    ///
    /// # Errors
    /// What cannot be said of this row.
    pub(crate) fn holds(&self, row: &Object) -> Result<bool, Unfilled> {
        match self.0.eval(fields_of(row)) {
            Ok(value) => Ok(value.is_true()),
            Err(error) if error.kind() == ErrorKind::UndefinedError => {
                let names: BTreeSet<String> = self.0.undeclared_variables(false).into_iter().collect();
                let missing = names.into_iter().find(|name| row.get(name).is_none());
                Err(Unfilled::Missing(missing.unwrap_or_else(|| words(&error))))
            }
            Err(error) => Err(Unfilled::Failed(words(&error))),
        }
    }
}
