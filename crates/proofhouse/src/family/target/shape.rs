//! Any structure with templates where its text stands.

use proofhouse_ledger::Json;

use super::Template;
use crate::text::complaint::{At, Complaint};

/// A reply with its text parsed as templates.
#[derive(Debug)]
pub(super) enum Shape {
    Fixed(Json),
    Text(Template),
    Array(Vec<Shape>),
    Object(Vec<(String, Shape)>),
}

impl Shape {
    /// Parses all text in a value; `known` says whether something will fill a field.
    pub(super) fn new(value: &Json, known: &dyn Fn(&str) -> bool) -> Result<Self, Complaint> {
        Ok(match value {
            Json::String(text) => {
                let template = Template::parse(text)
                    .map_err(|error| Complaint::new(error.what).hint("write `{{` and `}}` for braces"))?;
                if let Some(name) = template.fields().find(|name| !known(name)) {
                    let what = format!("nothing fills `{{{name}}}`");
                    let hint = "use `{input}`, `{repetition}` or a group of this rule's `regex`; `{{` and `}}` are braces";
                    return Err(Complaint::new(what).hint(hint));
                }
                if template.fields().next().is_some() {
                    Shape::Text(template)
                } else {
                    let mut fixed = String::new();
                    template.render(&mut fixed, |_, _| false).expect("a template without fields needs none");
                    Shape::Fixed(Json::String(fixed))
                }
            }
            Json::Array(list) => {
                let items = list.iter().enumerate();
                let shapes =
                    items.map(|(at, item)| Shape::new(item, known).map_err(|e| e.below([At::Index(at)])));
                Shape::Array(shapes.collect::<Result<_, _>>()?)
            }
            Json::Object(object) => {
                let shapes = object.iter().map(|(key, item)| {
                    let shape =
                        Shape::new(item, known).map_err(|e| e.below([At::Key(key.to_owned().into())]))?;
                    Ok((key.to_owned(), shape))
                });
                Shape::Object(shapes.collect::<Result<_, _>>()?)
            }
            other => Shape::Fixed(other.clone()),
        })
    }

    /// Whether a field of this kind has to be filled.
    pub(super) fn uses(&self, name: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Shape::Fixed(_) => false,
            Shape::Text(template) => template.fields().any(name),
            Shape::Array(list) => list.iter().any(|shape| shape.uses(name)),
            Shape::Object(entries) => entries.iter().any(|(_, shape)| shape.uses(name)),
        }
    }

    /// The structure with its holes filled: `fill` appends the value of a field, as it does for a [`Template`].
    pub(super) fn fill(&self, fill: &dyn Fn(&str, &mut String) -> bool) -> Json {
        match self {
            Shape::Fixed(value) => value.clone(),
            Shape::Text(template) => {
                let mut out = String::new();
                template.render(&mut out, fill).expect("every field was known when the shape was made");
                Json::String(out)
            }
            Shape::Array(list) => Json::Array(list.iter().map(|shape| shape.fill(fill)).collect()),
            Shape::Object(entries) => {
                Json::Object(entries.iter().map(|(key, shape)| (key.as_str(), shape.fill(fill))).collect())
            }
        }
    }
}
