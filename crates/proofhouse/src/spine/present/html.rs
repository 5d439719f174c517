//! Markup from our source, values from anywhere: the only way in which text reaches the page.
//!
//! A template is `&'static str` and every value that fills one of its `{}` is escaped, so what a model or a dataset
//! said cannot become markup by anybody's oversight.

use std::fmt::{self, Display, Write};

/// A piece of a page.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Html(String);

impl Html {
    /// An empty piece.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Appends markup, each `{}` in it replaced by the escaped text of the next value.
    pub(crate) fn put(&mut self, markup: &'static str, values: &[&dyn Display]) -> &mut Self {
        let mut values = values.iter();
        let mut rest = markup;
        while let Some(at) = rest.find("{}") {
            self.0.push_str(&rest[..at]);
            let value = values.next().expect("a template has as many values as placeholders");
            write!(Escape(&mut self.0), "{value}").expect("writing to a string cannot fail");
            rest = &rest[at + 2..];
        }
        assert!(values.next().is_none(), "a template has as many values as placeholders");
        self.0.push_str(rest);
        self
    }

    /// Appends another piece.
    pub(crate) fn append(&mut self, other: &Html) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// The markup.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

struct Escape<'a>(&'a mut String);

impl Write for Escape<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' | '\t' => self.0.push(c),
                // What cannot be seen is shown by its picture: a name can neither hide nor reorder its neighbours.
                '\0'..='\u{1f}' => self.0.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
                '\u{7f}' => self.0.push('\u{2421}'),
                '\u{80}'..='\u{9f}'
                | '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}' => write!(self.0, "[U+{:04X}]", u32::from(c))?,
                _ => self.0.push(c),
            }
        }
        Ok(())
    }
}

/// The base64 text of a digest, as a Content-Security-Policy wants it.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word =
            group.iter().enumerate().fold(0u32, |word, (at, byte)| word | u32::from(*byte) << (16 - 8 * at));
        for digit in 0..4 {
            let letter = ALPHABET[(word >> (18 - 6 * digit) & 63) as usize];
            out.push(if digit <= group.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// A value for the part of an address behind `#`.
pub(crate) fn fragment(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-') {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_never_becomes_markup() {
        let mut html = Html::new();
        html.put("<b title=\"{}\">{}</b>", &[&"\" onload='x'", &"</b><script>\0\u{1b}[31m\u{202e}&"]);
        assert_eq!(
            html.as_str(),
            "<b title=\"&quot; onload=&#39;x&#39;\">&lt;/b&gt;&lt;script&gt;␀␛[31m[U+202E]&amp;</b>"
        );
    }

    #[test]
    fn a_value_is_not_a_template() {
        let mut html = Html::new();
        html.put("{}-{}", &[&"{}", &1]);
        assert_eq!(html.as_str(), "{}-1");
    }

    #[test]
    fn base64_of_the_rfc() {
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
    }

    #[test]
    fn fragments_are_plain() {
        assert_eq!(fragment("a b&c=#ä"), "a%20b%26c%3D%23%C3%A4");
    }
}
