//! Any structure with templates where its text stands.

use proofhouse_ledger::Json;

use crate::text::complaint::{At, Complaint};
use crate::text::template::{Form, Template, Unfilled};

/// A reply with its text parsed as templates.
#[derive(Debug)]
pub(super) enum Shape {
    Fixed(Json),
    Text(Template),
    Array(Vec<Shape>),
    Object(Vec<(String, Shape)>),
}

impl Shape {
    /// Parses all text in a value; `known` says whether something will fill a field, `form` how holes are written.
    pub(super) fn new(
        value: &Json,
        known: &dyn Fn(&str) -> bool,
        form: Option<Form>,
    ) -> Result<Self, Complaint> {
        Ok(match value {
            Json::String(text) => {
                let template = Template::parse_as(text, form)
                    .map_err(|error| Complaint::new(error.what).hint(error.hint))?;
                if let Some(name) = template.fields().find(|name| !known(name)) {
                    let what = format!("nothing fills `{{{name}}}`");
                    let hint = "use `{input}`, `{repetition}` or a group of this rule's `regex`; `{{` and `}}` are braces";
                    return Err(Complaint::new(what).hint(hint));
                }
                if template.has_holes() {
                    Shape::Text(template)
                } else {
                    let mut fixed = String::new();
                    let filled = template.render_text(&mut fixed, &|_, _| false);
                    filled.expect("a template without holes needs nothing");
                    Shape::Fixed(Json::String(fixed))
                }
            }
            Json::Array(list) => {
                let items = list.iter().enumerate();
                let shapes = items
                    .map(|(at, item)| Shape::new(item, known, form).map_err(|e| e.below([At::Index(at)])));
                Shape::Array(shapes.collect::<Result<_, _>>()?)
            }
            Json::Object(object) => {
                let shapes = object.iter().map(|(key, item)| {
                    let shape = Shape::new(item, known, form)
                        .map_err(|e| e.below([At::Key(key.to_owned().into())]))?;
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
    ///
    /// # Errors
    /// Where a template does something that cannot be done with this value.
    pub(super) fn fill(&self, fill: &dyn Fn(&str, &mut String) -> bool) -> Result<Json, Unfilled> {
        Ok(match self {
            Shape::Fixed(value) => value.clone(),
            Shape::Text(template) => {
                let mut out = String::new();
                template.render_text(&mut out, fill)?;
                Json::String(out)
            }
            Shape::Array(list) => {
                Json::Array(list.iter().map(|shape| shape.fill(fill)).collect::<Result<_, _>>()?)
            }
            Shape::Object(entries) => {
                let filled = entries.iter().map(|(key, shape)| Ok((key.as_str(), shape.fill(fill)?)));
                Json::Object(filled.collect::<Result<_, Unfilled>>()?)
            }
        })
    }
}
