//! Writing Python that holds somebody else's text.

/// A Python literal of the text.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8 + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c if (c as u32) < 0x20 || c == '\x7f' => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// Whether it can be the name of a function.
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_one_line_and_ends_where_it_should() {
        assert_eq!(literal("a'b\\n\n\r\0é"), r"'a\'b\\n\n\r\x00é'");
        assert!(is_name("_f1") && !is_name("1f") && !is_name("") && !is_name("a.b"));
    }
}
