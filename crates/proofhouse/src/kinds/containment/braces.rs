//! Finding JSON objects inside text: the first balanced one, with strings and escapes respected.

/// The first balanced object at or after `from`: its range in bytes.
///
/// A brace that never closes is passed over, so that text like `{ see below: {"a":1}` still gives its inner object.
/// The work is bounded: a text with more than [`MAX_RESTARTS`] such braces is given up.
pub(super) fn first_object(text: &str, from: usize) -> Option<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let mut start = from;
    for _ in 0..MAX_RESTARTS {
        let open = start + memchr::memchr(b'{', bytes.get(start..)?)?;
        if let Some(end) = balanced(bytes, open) {
            return Some(open..end);
        }
        start = open + 1;
    }
    None
}

/// The balanced object that begins at `open`: its range in bytes.
pub(super) fn object_at(text: &str, open: usize) -> Option<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    (bytes.get(open) == Some(&b'{')).then(|| balanced(bytes, open)).flatten().map(|end| open..end)
}

/// How many braces that never close are passed over before a text is given up: a hostile answer costs linear time.
const MAX_RESTARTS: usize = 64;

fn balanced(bytes: &[u8], open: usize) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    for (at, byte) in bytes.iter().enumerate().skip(open) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_in_text() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(first_object(text, 0).map(|range| &text[range]), expected, "{text}");
        };
        check(r#"so: {"a":{"b":"}"}} and {"c":1}"#, Some(r#"{"a":{"b":"}"}}"#));
        check(r#"{"a":"\"}"}"#, Some(r#"{"a":"\"}"}"#));
        check("{ never {\"a\":1}", Some("{\"a\":1}"));
        check("no object", None);
        check(&"{".repeat(100_000), None);
        check("é{}", Some("{}"));
    }
}
