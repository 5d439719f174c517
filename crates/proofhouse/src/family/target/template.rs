//! Text with holes: `{name}` is filled from outside, `{{` and `}}` are braces.

/// A template, parsed once and filled often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Field(String),
}

/// Why text is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct TemplateError {
    /// What is wrong, a lowercase fragment.
    pub what: String,
    /// Where in the text, in bytes.
    pub offset: usize,
}

impl Template {
    /// Parses a template.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let (offset, brace) = (text.len() - rest.len() + at, &rest[at..at + 1]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                literal.push_str(brace);
                rest = after;
                continue;
            }
            if brace == "}" {
                return Err(TemplateError { what: "`}` closes nothing".to_owned(), offset });
            }
            let end = rest.find(['{', '}']).filter(|end| rest[*end..].starts_with('}'));
            let Some(end) = end else {
                let shown: String = text[offset..].chars().take(24).collect();
                return Err(TemplateError {
                    what: format!("`{shown}` opens a brace that nothing closes"),
                    offset,
                });
            };
            let name = &rest[..end];
            if name.trim().is_empty() || name.contains(['\n', '"', ':']) {
                return Err(TemplateError {
                    what: format!("`{{{name}}}` is not the name of a field"),
                    offset,
                });
            }
            if !literal.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut literal)));
            }
            parts.push(Part::Field(name.trim().to_owned()));
            rest = &rest[end + 1..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        Ok(Template { parts })
    }

    /// The fields that it asks for, in their order; one that is used twice comes twice.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Field(name) => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// Appends the filled template to `out`; `fill` appends the value of a field, or says that it has none.
    ///
    /// # Errors
    /// The name of the first field that has no value.
    pub fn render<'t>(
        &'t self,
        out: &mut String,
        mut fill: impl FnMut(&str, &mut String) -> bool,
    ) -> Result<(), &'t str> {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Field(name) if fill(name, out) => {}
                Part::Field(name) => return Err(name),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> String {
        let mut out = String::new();
        let template = match Template::parse(text) {
            Ok(template) => template,
            Err(error) => return format!("{}: {error}", error.offset),
        };
        let known = |name: &str, out: &mut String| {
            out.push_str(&name.to_uppercase());
            name != "gone"
        };
        match template.render(&mut out, known) {
            Ok(()) => out,
            Err(name) => format!("no {name}"),
        }
    }

    #[test]
    fn braces() {
        for (text, expected) in [
            ("", ""),
            ("a {b} c", "a B c"),
            ("{b}{b}", "BB"),
            ("{{b}}", "{b}"),
            ("{{{b}}}", "{B}"),
            ("{ b }", "B"),
            ("ä{ö}ü", "äÖü"),
            ("x {gone}", "no gone"),
            ("x {b", "2: `{b` opens a brace that nothing closes"),
            ("{a{b}", "0: `{a{b}` opens a brace that nothing closes"),
            ("b}", "1: `}` closes nothing"),
            ("{}", "0: `{}` is not the name of a field"),
            ("{\"a\": 1}", "0: `{\"a\": 1}` is not the name of a field"),
        ] {
            assert_eq!(fill(text), expected, "{text}");
        }
    }
}
