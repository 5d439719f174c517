//! The older form: `{name}` is filled from outside, `{{` and `}}` are braces.

use super::{TemplateError, Unfilled};

/// Text and fields in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Field(String),
}

/// How braces that stand for themselves are written.
const HINT: &str = "write `{{` and `}}` for braces that stand for themselves";

impl Parts {
    /// Parses a template.
    pub(super) fn parse(text: &str) -> Result<Self, TemplateError> {
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
                return Err(error("`}` closes nothing".to_owned(), offset));
            }
            let end = rest.find(['{', '}']).filter(|end| rest[*end..].starts_with('}'));
            let Some(end) = end else {
                let shown: String = text[offset..].chars().take(24).collect();
                return Err(error(format!("`{shown}` opens a brace that nothing closes"), offset));
            };
            let name = &rest[..end];
            if name.trim().is_empty() || name.contains(['\n', '"', ':']) {
                return Err(error(format!("`{{{name}}}` is not the name of a field"), offset));
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
        Ok(Parts(parts))
    }

    /// The fields that it asks for, in their order; one that is used twice comes twice.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Field(name) => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// Appends the filled template to `out`; `fill` appends the value of a field.
    pub(super) fn render(
        &self,
        out: &mut String,
        mut fill: impl FnMut(&str, &mut String) -> Result<(), Unfilled>,
    ) -> Result<(), Unfilled> {
        for part in &self.0 {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Field(name) => fill(name, out)?,
            }
        }
        Ok(())
    }
}

fn error(what: String, offset: usize) -> TemplateError {
    TemplateError { what, hint: HINT.to_owned(), offset }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> String {
        let mut out = String::new();
        let parts = match Parts::parse(text) {
            Ok(parts) => parts,
            Err(error) => return format!("{}: {error}", error.offset),
        };
        let known = |name: &str, out: &mut String| {
            out.push_str(&name.to_uppercase());
            if name == "gone" { Err(Unfilled::Missing(name.to_owned())) } else { Ok(()) }
        };
        match parts.render(&mut out, known) {
            Ok(()) => out,
            Err(unfilled) => unfilled.to_string(),
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
            ("x {gone}", "nothing fills `gone`"),
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
