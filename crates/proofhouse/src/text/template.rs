//! Text with holes, in two forms: minijinja (`{{ field }}`, filters, `if`, `for`) and the older `{field}`.
//!
//! Which of them is meant is read off the text, and a text that could be both is refused. Both are strict: a field
//! that is not there is an error and never an empty place. Rendering reads no file, no environment and no clock, and its
//! work is bounded.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use proofhouse_ledger::Json;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod jinja;
mod simple;

pub(crate) use jinja::{Condition, Ready};

/// How the holes of a text are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// `{field}`, with `{{` and `}}` for braces.
    Simple,
    /// minijinja: `{{ field }}`, filters, `{% if %}`, `{% for %}`.
    Jinja,
}

/// A template, parsed once and filled often.
#[derive(Debug, Clone)]
pub struct Template {
    source: Arc<str>,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    Simple(simple::Parts),
    Jinja(Arc<jinja::Compiled>),
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.form() == other.form()
    }
}

/// Why text is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct TemplateError {
    /// What is wrong, a lowercase fragment.
    pub what: String,
    /// How to fix it.
    pub hint: String,
    /// Where in the text, in bytes.
    pub offset: usize,
}

/// Why a template could not be filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfilled {
    /// A field that is not there.
    #[error("nothing fills `{0}`")]
    Missing(String),
    /// A field that is null.
    #[error("`{0}` is null")]
    Null(String),
    /// The template does something that cannot be done.
    #[error("{0}")]
    Failed(String),
}

/// `{{ name … }}` that is no `{{{name}}}`.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[^{])\{\{[-+]?\s*[A-Za-z_][^{}]*\}\}(?:$|[^}])").expect("a pattern of our own")
});

/// `{% … %}` or `{# … #}`.
static STATEMENT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)\{%.*?%\}|\{#.*?#\}").expect("a pattern of our own"));

/// Whether a text has holes of the newer form.
pub fn is_jinja(text: &str) -> bool {
    text.contains('{') && (VARIABLE.is_match(text) || STATEMENT.is_match(text))
}

/// A name that a field of a case usually has.
fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

impl Template {
    /// Parses a template in the form that it is written in.
    ///
    /// # Errors
    /// What is wrong with it; also where it could be either form.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let older = simple::Parts::parse(text);
        if !is_jinja(text) {
            // `{{ 1 + 1 }}` names nothing, and is an expression all the same.
            let plain = older.as_ref().is_ok_and(|parts| parts.fields().next().is_none());
            if plain && text.contains("{{") && Template::jinja(text).is_ok() {
                return Template::jinja(text);
            }
            return older.map(|parts| Template { source: text.into(), body: Body::Simple(parts) });
        }
        // `${NAME}` is what a shell would fill in.
        let is_hole = |name: &str| {
            let hole = format!("{{{name}}}");
            is_identifier(name) && text.matches(&hole).count() > text.matches(&format!("${hole}")).count()
        };
        let single = older.as_ref().ok().and_then(|parts| parts.fields().find(|name| is_hole(name)));
        match single {
            None => Template::jinja(text),
            Some(name) => Err(TemplateError {
                what: format!("this has both `{{{name}}}` and `{{{{ … }}}}`: which of them is meant?"),
                hint: format!(
                    "write `{{{{ {name} }}}}` like the others, or say `template: simple` (`{{{{` is a brace then) or \
                     `template: jinja` (`{{{name}}}` is text then)"
                ),
                offset: text.find(&format!("{{{name}}}")).unwrap_or(0),
            }),
        }
    }

    /// Parses a template in this form, or in the one that it is written in.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse_as(text: &str, form: Option<Form>) -> Result<Self, TemplateError> {
        match form {
            None => Template::parse(text),
            Some(Form::Jinja) => Template::jinja(text),
            Some(Form::Simple) => simple::Parts::parse(text)
                .map(|parts| Template { source: text.into(), body: Body::Simple(parts) }),
        }
    }

    fn jinja(text: &str) -> Result<Self, TemplateError> {
        let compiled = jinja::Compiled::new(text)?;
        Ok(Template { source: text.into(), body: Body::Jinja(Arc::new(compiled)) })
    }

    /// The text as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// How its holes are written; a text without any counts as the older form.
    pub fn form(&self) -> Form {
        match &self.body {
            Body::Simple(_) => Form::Simple,
            Body::Jinja(_) => Form::Jinja,
        }
    }

    /// Whether it has any hole at all.
    pub fn has_holes(&self) -> bool {
        match &self.body {
            Body::Simple(parts) => parts.fields().next().is_some(),
            Body::Jinja(_) => true,
        }
    }

    /// The fields that it may ask for, each once.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let names: BTreeSet<&str> = match &self.body {
            Body::Simple(parts) => parts.fields().collect(),
            Body::Jinja(compiled) => compiled.fields().collect(),
        };
        names.into_iter()
    }

    /// Appends the filled template to `out`; `value` looks a field up.
    ///
    /// # Errors
    /// What is missing, or what the template does that cannot be done.
    pub fn render<'v>(
        &self,
        out: &mut String,
        value: &dyn Fn(&str) -> Option<&'v Json>,
    ) -> Result<(), Unfilled> {
        match &self.body {
            Body::Simple(parts) => parts.render(out, |name, out| match value(name) {
                None => Err(Unfilled::Missing(name.to_owned())),
                Some(Json::Null) => Err(Unfilled::Null(name.to_owned())),
                Some(Json::String(text)) => {
                    out.push_str(text);
                    Ok(())
                }
                Some(other) => {
                    out.push_str(&other.to_string());
                    Ok(())
                }
            }),
            Body::Jinja(compiled) => compiled.render(out, &|name| value(name).map(jinja::value_of)),
        }
    }

    /// As [`Template::render`], where every field is text: `fill` appends it, or says that there is none.
    ///
    /// # Errors
    /// As [`Template::render`].
    pub fn render_text(
        &self,
        out: &mut String,
        fill: &dyn Fn(&str, &mut String) -> bool,
    ) -> Result<(), Unfilled> {
        match &self.body {
            Body::Simple(parts) => parts.render(out, |name, out| match fill(name, out) {
                true => Ok(()),
                false => Err(Unfilled::Missing(name.to_owned())),
            }),
            Body::Jinja(compiled) => compiled.render(out, &|name| {
                let mut text = String::new();
                fill(name, &mut text).then(|| text.into())
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proofhouse_ledger::json::{Object, Strictness, parse};

    use super::*;

    fn row() -> Object {
        let row = br#"{"n":3,"half":0.5,"who":"Ada","gone":null,"list":["a",1],"yes":true,"map":{"k":"v"}}"#;
        parse(row, Strictness::Strict).unwrap().as_object().unwrap().clone()
    }

    fn fill(text: &str) -> String {
        let row = row();
        let template = match Template::parse(text) {
            Ok(template) => template,
            Err(error) => return format!("refused: {error}"),
        };
        let mut out = String::new();
        match template.render(&mut out, &|name| row.get(name)) {
            Ok(()) => format!("{}: {out}", if template.form() == Form::Jinja { "jinja" } else { "simple" }),
            Err(unfilled) => format!("unfilled: {unfilled}"),
        }
    }

    #[test]
    fn the_form_is_read_off_the_text() {
        for (text, expected) in [
            ("plain", "simple: plain"),
            ("{who}", "simple: Ada"),
            ("{{\"a\": {n}}}", "simple: {\"a\": 3}"),
            ("{{{who}}}", "simple: {Ada}"),
            ("{{\"a\": 1}}", "simple: {\"a\": 1}"),
            ("{{ who }}", "jinja: Ada"),
            ("{{who}}", "jinja: Ada"),
            ("{{ 1 + 1 }}", "jinja: 2"),
            ("{{ who }} {\"a\": 1}", "jinja: Ada {\"a\": 1}"),
            ("{% if yes %}y{% endif %}", "jinja: y"),
            ("{# nothing #}x", "jinja: x"),
            ("{{ who }} and {n}", "refused: this has both `{n}` and `{{ … }}`: which of them is meant?"),
            ("{{ who", "simple: { who"),
            ("{{ who }} ${HOME}", "jinja: Ada ${HOME}"),
        ] {
            assert_eq!(fill(text), expected, "{text}");
        }
        let both = Template::parse_as("{{ who }} {n}", Some(Form::Jinja)).unwrap();
        let mut out = String::new();
        both.render(&mut out, &|name| row().get(name).map(|_| &Json::Bool(true))).unwrap();
        assert_eq!(out, "true {n}");
    }

    #[test]
    fn values_are_written_as_people_expect_and_nothing_is_made_up() {
        for (text, expected) in [
            ("{{ n }} {{ half }} {{ yes }}", "jinja: 3 0.5 true"),
            ("{{ list }} {{ map }}", "jinja: [\"a\",1] {\"k\":\"v\"}"),
            ("{{ list | join('-') }} {{ map.k }} {{ who | upper }}", "jinja: a-1 v ADA"),
            ("{{ company | default('ACME') }}", "jinja: ACME"),
            ("{% for x in list %}{{ loop.index }}{{ x }}{% endfor %}\n", "jinja: 1a21\n"),
            ("{{ nobody }}", "unfilled: nothing fills `nobody`"),
            ("{{ map.nokey }}", "unfilled: nothing fills `map.nokey`"),
            ("{{ gone }}", "unfilled: `gone` is null"),
            ("{% if gone %}x{% endif %}.", "jinja: ."),
            ("{nobody}", "unfilled: nothing fills `nobody`"),
            ("{gone}", "unfilled: `gone` is null"),
        ] {
            assert_eq!(fill(text), expected, "{text}");
        }
        assert!(fill("{{ who | nofilter }}").contains("unknown filter"), "{}", fill("{{ who | nofilter }}"));
        assert!(fill("{% include 'x' %}{{ who }}").starts_with("unfilled"), "no other template is read");
        assert!(fill("{{ who }").starts_with("refused"), "nothing half-written is sent as it stands");
        let endless = "{% for a in range(90000) %}{% for b in range(90000) %}{{ a }}{% endfor %}{% endfor %}";
        assert!(fill(endless).starts_with("unfilled"), "work is bounded");
    }

    #[test]
    fn fields_are_those_that_the_text_may_ask_for() {
        let fields = |text: &str| Template::parse(text).unwrap().fields().collect::<Vec<_>>().join(",");
        assert_eq!(fields("{b} {a} {b}"), "a,b");
        assert_eq!(
            fields("{% set x = a %}{{ x }}{{ b.c | default(d) }}{% for i in l %}{{ i }}{% endfor %}"),
            "a,b,d,l"
        );
    }
}
