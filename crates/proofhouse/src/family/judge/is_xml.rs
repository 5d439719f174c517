//! The `is-xml` judge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::excerpt;
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The answer is well-formed XML.
///
/// White space around it does not count. One root element, tags that match, attributes in quotes and each once, `&` and `<` only where
/// they may stand; comments, CDATA, processing instructions and a document type are skipped. `elements` names elements that have to be
/// there, by their way from the root: `svg.g.path`.
///
/// Guarantee: nothing is fetched and no entity is expanded; time is linear in the length of the answer.
///
/// ```yaml
/// is-xml: {elements: [svg.path]}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IsXml {
    /// Elements that have to be there, by their way from the root.
    pub elements: Vec<String>,
}

/// How deep elements may nest.
const MAX_DEPTH: usize = 10_000;

impl Settings for IsXml {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        if self.elements.iter().any(|element| element.trim().is_empty()) {
            return Err(
                Complaint::new("an element without a name").hint("for example `elements: [svg.path]`")
            );
        }
        Ok(Box::new(Compiled(self.elements.clone())))
    }

    fn needs_expected(&self) -> bool {
        false
    }
}

struct Compiled(Vec<String>);

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let text = subject.text();
        let mut missing: Vec<&str> = self.0.iter().map(String::as_str).collect();
        let mut scanner = Scanner { rest: text.trim(), open: Vec::new() };
        match scanner.document(&mut missing) {
            Err(complaint) => Verdict::wrong(format!("{} in {}", complaint.what, excerpt(text.trim()))),
            Ok(()) => match missing.first() {
                None => Verdict::right(),
                Some(element) => Verdict::wrong(format!("there is no element `{element}`")),
            },
        }
    }
}

struct Scanner<'a> {
    rest: &'a str,
    open: Vec<&'a str>,
}

fn wrong<T>(what: impl Into<String>) -> Result<T, Complaint> {
    Err(Complaint::new(what))
}

impl<'a> Scanner<'a> {
    fn document(&mut self, missing: &mut Vec<&str>) -> Result<(), Complaint> {
        let mut roots = 0;
        while !self.rest.is_empty() {
            let outside = self.open.is_empty();
            if let Some(tag) = self.rest.strip_prefix('<') {
                roots += usize::from(self.markup(tag, missing)? && outside);
                if roots > 1 {
                    return wrong("there is a second root element");
                }
                continue;
            }
            let (text, rest) = self.rest.split_at(self.rest.find('<').unwrap_or(self.rest.len()));
            if outside && !text.trim().is_empty() {
                return wrong("text stands outside of the root element");
            }
            references(text)?;
            self.rest = rest;
        }
        match self.open.last() {
            Some(name) => wrong(format!("`<{name}>` is not closed")),
            None if roots == 0 => wrong("there is no element"),
            None => Ok(()),
        }
    }

    /// What begins with `<`; whether it begins an element.
    fn markup(&mut self, tag: &'a str, missing: &mut Vec<&str>) -> Result<bool, Complaint> {
        let skipped = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>"), ("!DOCTYPE", ">")];
        for (begin, end) in skipped {
            let Some(rest) = tag.strip_prefix(begin) else { continue };
            if begin == "![CDATA[" && self.open.is_empty() {
                return wrong("text stands outside of the root element");
            }
            // A document type may hold declarations of its own in brackets.
            let end = if begin == "!DOCTYPE" && rest.find('[') < rest.find('>') && rest.contains('[') {
                "]>"
            } else {
                end
            };
            let Some(at) = rest.find(end) else { return wrong(format!("`<{begin}` does not end")) };
            self.rest = &rest[at + end.len()..];
            return Ok(false);
        }
        if let Some(rest) = tag.strip_prefix('/') {
            let Some(at) = rest.find('>') else { return wrong("a closing tag does not end") };
            let name = rest[..at].trim_end();
            match self.open.pop() {
                Some(open) if open == name => {}
                Some(open) => return wrong(format!("`</{name}>` closes `<{open}>`")),
                None => return wrong(format!("`</{name}>` closes nothing")),
            }
            self.rest = &rest[at + 1..];
            return Ok(false);
        }
        let (name, rest) = name(tag)?;
        self.open.push(name);
        if self.open.len() > MAX_DEPTH {
            return wrong(format!("elements nest deeper than {MAX_DEPTH}"));
        }
        if !missing.is_empty() {
            missing.retain(|way| !way.split('.').eq(self.open.iter().copied()));
        }
        self.attributes(rest)?;
        Ok(true)
    }

    /// Attributes up to the end of the tag; an element that ends there is closed.
    fn attributes(&mut self, mut rest: &'a str) -> Result<(), Complaint> {
        let mut seen: Vec<&str> = Vec::new();
        loop {
            let trimmed = rest.trim_start();
            if let Some(after) = trimmed.strip_prefix("/>") {
                self.open.pop();
                self.rest = after;
                return Ok(());
            }
            if let Some(after) = trimmed.strip_prefix('>') {
                self.rest = after;
                return Ok(());
            }
            if trimmed.is_empty() {
                return wrong("a tag does not end");
            }
            if trimmed.len() == rest.len() {
                return wrong("no space stands before an attribute");
            }
            let (attribute, after) = name(trimmed)?;
            // Few attributes are usual; many are a hostile answer.
            if seen.len() > 1_000 || seen.contains(&attribute) {
                return wrong(format!("the attribute `{attribute}` appears twice"));
            }
            seen.push(attribute);
            let Some(after) = after.trim_start().strip_prefix('=') else {
                return wrong(format!("the attribute `{attribute}` has no value"));
            };
            let after = after.trim_start();
            let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
                return wrong(format!("the value of `{attribute}` is not in quotes"));
            };
            let Some((value, after)) = after[1..].split_once(quote) else {
                return wrong(format!("the value of `{attribute}` does not end"));
            };
            if value.contains('<') {
                return wrong(format!("`<` stands in the value of `{attribute}`"));
            }
            references(value)?;
            rest = after;
        }
    }
}

/// The name at the start of a text, and what follows it.
fn name(text: &str) -> Result<(&str, &str), Complaint> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '.' | '\u{b7}');
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let first = text.chars().next();
    match first.is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | ':')) {
        true => Ok(text.split_at(end)),
        false => wrong("`<` is not followed by a name"),
    }
}

/// Every `&` begins a reference that ends.
fn references(text: &str) -> Result<(), Complaint> {
    for part in text.split('&').skip(1) {
        let Some((name, _)) = part.split_once(';') else { return wrong("`&` stands alone") };
        let number = name
            .strip_prefix("#x")
            .map(|digits| (digits, 16))
            .or(name.strip_prefix('#').map(|digits| (digits, 10)));
        let fits = match number {
            Some((digits, radix)) => {
                !digits.is_empty() && digits.len() < 9 && digits.chars().all(|c| c.is_digit(radix))
            }
            None => {
                !name.is_empty()
                    && name.len() < 100
                    && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
            }
        };
        if !fits {
            return wrong("`&` stands alone");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, reason, refused};

    #[test]
    fn well_formed_or_not() {
        for right in [
            "<a/>",
            " <?xml version='1.0'?>\n<!DOCTYPE a [<!ELEMENT a ANY>]>\n<!-- c --><a b=\"1\" c = '2'><d>x &amp; &#65; &#x41;</d><![CDATA[<&]]></a>\n",
            "<ns:a><é/></ns:a >",
        ] {
            check("is-xml: {}", "null", right, 1.0);
        }
        for (wrong, why) in [
            ("", "no element"),
            ("text", "outside"),
            ("<a>", "`<a>` is not closed"),
            ("<a></b>", "`</b>` closes `<a>`"),
            ("</a>", "closes nothing"),
            ("<a/><b/>", "second root"),
            ("<a/>x", "outside"),
            ("<a b=1/>", "not in quotes"),
            ("<a b='1' b='2'/>", "twice"),
            ("<a b='1'c='2'/>", "no space"),
            ("<a b/>", "no value"),
            ("<a b='<'/>", "`<` stands"),
            ("<a>x & y</a>", "`&` stands alone"),
            ("<a>&#;</a>", "`&` stands alone"),
            ("<1/>", "not followed by a name"),
            ("<a", "does not end"),
            ("<a><!-- </a>", "does not end"),
            ("Here it is: <a/>", "outside"),
        ] {
            check("is-xml: {}", "null", wrong, 0.0);
            assert!(reason("is-xml: {}", "null", wrong).contains(why), "{wrong}");
        }
    }

    #[test]
    fn elements_are_found_by_their_way() {
        check("is-xml: {elements: [a.b.c, a]}", "null", "<a><b><c/></b></a>", 1.0);
        check("is-xml: {elements: [a.c]}", "null", "<a><b><c/></b></a>", 0.0);
        refused("is-xml: {elements: ['']}", "without a name");
    }
}
