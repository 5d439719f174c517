//! The docstring of the function that a Python prompt asks for, found without an interpreter.

use std::ops::Range;

/// A string literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::kinds::code) struct Literal {
    /// Where it begins, with its prefix.
    pub(in crate::kinds::code) from: usize,
    /// What stands between its quotes.
    pub(in crate::kinds::code) inner: Range<usize>,
}

impl Literal {
    /// The literal that begins at this place, if one does and it ends.
    fn at(text: &str, from: usize) -> Option<Literal> {
        let prefix = text[from..].bytes().take_while(u8::is_ascii_alphabetic).count();
        let known = ["", "r", "u", "b", "f", "br", "rb", "fr", "rf"];
        if !known.contains(&text[from..from + prefix].to_ascii_lowercase().as_str()) {
            return None;
        }
        let body = &text[from + prefix..];
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| body.starts_with(quote))?;
        let start = from + prefix + quote.len();
        let length = end(&text[start..], quote)?;
        Some(Literal { from, inner: start..start + length })
    }

    /// Where it ends, with its quotes.
    fn to(&self, text: &str) -> usize {
        let quotes = text[self.from..self.inner.start].trim_start_matches(|c: char| c.is_ascii_alphabetic());
        self.inner.end + quotes.len()
    }

    /// Whether it is one that documents: neither bytes nor a template.
    fn documents(&self, text: &str) -> bool {
        !text[self.from..self.inner.start].to_ascii_lowercase().contains(['b', 'f'])
    }

    /// Whether, in a text that differs only between its quotes, it ends before the same rest.
    pub(in crate::kinds::code) fn ends_as_before(&self, before: &str, after: &str) -> bool {
        let rest = before.len() - self.inner.end;
        !after.contains('\0')
            && Literal::at(after, self.from).is_some_and(|literal| after.len() - literal.inner.end == rest)
    }
}

/// How long the content of a literal is; `None` if it is never closed.
fn end(content: &str, quote: &str) -> Option<usize> {
    let mut at = 0;
    while at < content.len() {
        let rest = &content[at..];
        if rest.starts_with(quote) {
            return Some(at);
        }
        let mut signs = rest.chars();
        match signs.next() {
            Some('\\') => at += 1 + signs.next().map_or(0, char::len_utf8),
            Some('\n') if quote.len() == 1 => return None,
            sign => at += sign.map_or(1, char::len_utf8),
        }
    }
    None
}

/// The docstring of this function, or of the last one if none has the name; that of the file if it has none.
pub(in crate::kinds::code) fn of_function(prompt: &str, entry: Option<&str>) -> Option<Literal> {
    let mut functions: Vec<(&str, Option<Literal>)> = Vec::new();
    let mut file = None;
    let mut at = 0;
    let mut first = true;
    while at < prompt.len() {
        let next = skip(prompt, at);
        if next >= prompt.len() {
            break;
        }
        at = next;
        if let Some(literal) = Literal::at(prompt, at) {
            at = literal.to(prompt);
            if first {
                file = Some(literal);
            }
        } else if let Some(rest) = prompt[at..].strip_prefix("def ") {
            let name = rest.trim_start_matches([' ', '\t']);
            let length = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
            at = signature_end(prompt, prompt.len() - name.len() + length);
            let literal = Literal::at(prompt, skip(prompt, at));
            functions.push((&name[..length], literal.filter(|literal| literal.documents(prompt))));
        } else {
            at += word_length(&prompt[at..]);
        }
        first = false;
    }
    let named = functions.iter().rposition(|(name, _)| Some(*name) == entry);
    let at = named.or(functions.len().checked_sub(1))?;
    functions.swap_remove(at).1.or(file.filter(|literal| literal.documents(prompt)))
}

/// Behind white space and comments.
fn skip(text: &str, mut at: usize) -> usize {
    loop {
        let rest = text[at..].trim_start();
        at = text.len() - rest.len();
        if !rest.starts_with('#') {
            return at;
        }
        at += rest.find('\n').unwrap_or(rest.len());
    }
}

/// A whole name, or one sign.
fn word_length(text: &str) -> usize {
    let length = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    if length > 0 { length } else { text.chars().next().map_or(1, char::len_utf8) }
}

/// Behind the colon that ends a signature; the end of the text if there is none.
fn signature_end(text: &str, mut at: usize) -> usize {
    let mut depth = 0usize;
    while at < text.len() {
        if let Some(literal) = Literal::at(text, at) {
            at = literal.to(text);
            continue;
        }
        match text.as_bytes()[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => return at + 1,
            b'#' => {
                at = skip(text, at);
                continue;
            }
            _ => {}
        }
        at += word_length(&text[at..]);
    }
    at
}
