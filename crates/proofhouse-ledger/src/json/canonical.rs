//! Whether bytes are the canonical text of a value, found out without making the value.

use super::{MAX_DEPTH, Strictness, parse};

/// Whether these bytes are what [`Json`](super::Json) would emit for the value that they are.
pub(crate) fn is_canonical(bytes: &[u8]) -> bool {
    let seen = Scan { bytes }.value(0, 0);
    seen == Some(bytes.len()) || is_emitted(bytes)
}

/// What the scan is not sure of, told by making the value.
fn is_emitted(bytes: &[u8]) -> bool {
    parse(bytes, Strictness::Canonical).is_ok_and(|value| value.to_string().as_bytes() == bytes)
}

/// Each step gives where it ended, or nothing where it takes a parser to tell.
struct Scan<'a> {
    bytes: &'a [u8],
}

impl Scan<'_> {
    fn value(&self, at: usize, depth: usize) -> Option<usize> {
        match self.bytes.get(at)? {
            b'"' => self.text(at),
            b'{' if depth < MAX_DEPTH => self.object(at, depth),
            b'[' if depth < MAX_DEPTH => self.array(at, depth),
            b'-' | b'0'..=b'9' => self.integer(at),
            b't' => self.word(at, b"true"),
            b'f' => self.word(at, b"false"),
            b'n' => self.word(at, b"null"),
            _ => None,
        }
    }

    fn word(&self, at: usize, word: &[u8]) -> Option<usize> {
        self.bytes[at..].starts_with(word).then_some(at + word.len())
    }

    /// A whole number of few digits: its text is the only one.
    fn integer(&self, at: usize) -> Option<usize> {
        let from = at + usize::from(self.bytes[at] == b'-');
        let rest = &self.bytes[from..];
        let length = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        let fraction = matches!(rest.get(length), Some(b'.' | b'e' | b'E'));
        let padded = rest.first() == Some(&b'0') && (length > 1 || from > at);
        (!fraction && !padded && (1..=15).contains(&length)).then_some(from + length)
    }

    fn text(&self, at: usize) -> Option<usize> {
        let from = at + 1;
        let mut to = from;
        loop {
            to += plain_bytes(&self.bytes[to..]);
            match self.bytes.get(to)? {
                b'"' => return Some(to + 1),
                b'\\' => to += escape(&self.bytes[to + 1..])? + 1,
                0x80.. => to += beyond_ascii(&self.bytes[to..])?,
                _ => return None,
            }
        }
    }

    fn array(&self, at: usize, depth: usize) -> Option<usize> {
        let mut at = at + 1;
        if self.bytes.get(at) == Some(&b']') {
            return Some(at + 1);
        }
        loop {
            at = self.value(at, depth + 1)?;
            match self.bytes.get(at)? {
                b',' => at += 1,
                b']' => return Some(at + 1),
                _ => return None,
            }
        }
    }

    fn object(&self, at: usize, depth: usize) -> Option<usize> {
        let mut at = at + 1;
        if self.bytes.get(at) == Some(&b'}') {
            return Some(at + 1);
        }
        let mut last: Option<&[u8]> = None;
        loop {
            let key_to = self.text_at(at)?;
            let key = &self.bytes[at + 1..key_to - 1];
            // Bytes are in the order of keys where neither has an escape or a character beyond ASCII.
            let is_plain = key.is_ascii() && memchr::memchr(b'\\', key).is_none();
            if !is_plain || last.is_some_and(|last| last >= key) || self.bytes.get(key_to) != Some(&b':') {
                return None;
            }
            last = Some(key);
            at = self.value(key_to + 1, depth + 1)?;
            match self.bytes.get(at)? {
                b',' => at += 1,
                b'}' => return Some(at + 1),
                _ => return None,
            }
        }
    }

    fn text_at(&self, at: usize) -> Option<usize> {
        if self.bytes.get(at) == Some(&b'"') { self.text(at) } else { None }
    }
}

/// How many bytes stand for themselves in a text and need no second look: printable ASCII but the quote and the backslash.
fn plain_bytes(bytes: &[u8]) -> usize {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = LOW << 7;
    let has = |word: u64, byte: u8| {
        let other = word ^ (LOW * u64::from(byte));
        other.wrapping_sub(LOW) & !other
    };
    let mut at = 0;
    while let Some((word, _)) = bytes[at..].split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        let control = word.wrapping_sub(LOW * 0x20) & !word;
        let special = (word | control | has(word, b'"') | has(word, b'\\')) & HIGH;
        if special != 0 {
            // The lowest mark is always right; those above it may be carried over from it.
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let plain = |byte: &u8| matches!(byte, 0x20..0x80) && !matches!(byte, b'"' | b'\\');
    at + bytes[at..].iter().take_while(|byte| plain(byte)).count()
}

/// How long an escape is behind its backslash, if it is the one that its character has.
fn escape(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'"' | b'\\' | b'b' | b't' | b'n' | b'f' | b'r', ..] => Some(1),
        [b'u', b'0', b'0', b'0', b'0'..=b'7' | b'b' | b'e' | b'f', ..] => Some(5),
        [b'u', b'0', b'0', b'1', b'0'..=b'9' | b'a'..=b'f', ..] => Some(5),
        _ => None,
    }
}

/// How many bytes characters beyond ASCII take here, if they are characters.
fn beyond_ascii(bytes: &[u8]) -> Option<usize> {
    let length = bytes.iter().position(u8::is_ascii).unwrap_or(bytes.len());
    std::str::from_utf8(&bytes[..length]).ok().map(|text| text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Json;

    #[test]
    fn each_way_not_to_be_canonical() {
        let canonical = [
            "null",
            "true",
            "0",
            "-1",
            "0.5",
            "1e+21",
            "1e-7",
            "9007199254740993000",
            "[]",
            "{}",
            "\"\"",
            r#""é\"\\\b\t\n\f\r\u0000\u0007\u000b\u001f""#,
            "\"\u{7f}\u{1f600}\u{ffff}\"",
            r#"{"a":[1,{"b":null}],"b":"x"}"#,
            "{\"\u{1f600}\":1,\"\u{fffd}\":2}",
            r#"{"\n":1,"a":2}"#,
            "[[],{}]",
        ];
        let others = [
            "",
            " null",
            "null ",
            "nul",
            "truE",
            "-0",
            "01",
            "1.0",
            "1e2",
            "1E+21",
            "0.10",
            "+1",
            "-",
            "1.",
            "10000000000000000000000",
            "9007199254740993",
            r#""\u0041""#,
            r#""\/""#,
            r#""\u000B""#,
            r#""\u000a""#,
            r#""\u0008""#,
            r#""\u001F""#,
            r#""\u0020""#,
            r#""\ud83d\ude00""#,
            "\"\u{1}\"",
            "\"\u{1f}aaaaaaaaaaaaaaaa\"",
            "\"aaaaaaaaaaaaaaaa\n\"",
            "\"",
            "\"a",
            "\"\\\"",
            "[1, 2]",
            "[1,]",
            "[1",
            "[",
            "]",
            r#"{"b":1,"a":2}"#,
            r#"{"a":1,"a":1}"#,
            r#"{"a" :1}"#,
            r#"{"a":1,}"#,
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{a:1}"#,
            r#"{"\u0061":1}"#,
            "{\"\u{fffd}\":2,\"\u{1f600}\":1}",
            r#"{"a":2,"\n":1}"#,
        ];
        for text in canonical {
            assert!(is_canonical(text.as_bytes()) && is_emitted(text.as_bytes()), "{text}");
        }
        for text in others {
            assert!(!is_canonical(text.as_bytes()) && !is_emitted(text.as_bytes()), "{text}");
        }
        assert!(!is_canonical(b"\"\xff\""));
        assert!(!is_canonical(b"\"\xc3\""));
        for depth in [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, MAX_DEPTH + 2] {
            let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(is_canonical(text.as_bytes()), is_emitted(text.as_bytes()), "{depth}");
        }
    }

    /// Most lines are made of nothing else: if the scan left these to the parser, only the time it takes would tell.
    #[test]
    fn the_scan_knows_by_itself_what_records_are_made_of() {
        let sure = |text: &str| Scan { bytes: text.as_bytes() }.value(0, 0) == Some(text.len());
        for text in [
            "null",
            "true",
            "false",
            "0",
            "-1",
            "-90",
            "123456789012345",
            "-123456789012345",
            r#""""#,
            r#""a""#,
            r#""sixteen letters.""#,
            r#""\"\\\b\t\n\f\r""#,
            r#""\u0000\u0007\u000b\u000e\u000f\u0010\u0019\u001a\u001f""#,
            "\"é\"",
            "\"é, \u{1f600} and eight more\"",
            "[]",
            "[1]",
            r#"[[],{},"a",null,-7]"#,
            "{}",
            r#"{"":0}"#,
            r#"{"a":0,"a!":0}"#,
            r#"{"a":[1,{"b":null}],"aa":"x","b":{"a":true,"b":false}}"#,
        ] {
            assert!(sure(text), "{text}");
        }
        for text in ["0.5", "1e+21", "-0.5", "1234567890123456", r#"{"é":1}"#, r#"{"\n":1}"#] {
            assert!(!sure(text) && is_canonical(text.as_bytes()), "{text} takes the parser");
        }
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
            assert!(sure(&nested(MAX_DEPTH)));
            assert!(!is_canonical(nested(MAX_DEPTH + 1).as_bytes()), "too deep for the parser");
        }
    }

    #[test]
    fn a_value_that_does_not_end_is_none() {
        for text in [
            "",
            "-",
            "t",
            "[",
            "[1",
            "[1,",
            "{",
            r#"{""#,
            r#"{"a"#,
            r#"{"a""#,
            r#"{"a":"#,
            r#"{"a":1"#,
            r#"{"a":1,"#,
            r#"""#,
            r#""a"#,
            r#""\"#,
            r#""\u00"#,
        ] {
            assert_eq!(Scan { bytes: text.as_bytes() }.value(0, 0), None, "{text}");
        }
    }

    /// Each byte at each place of two words and a rest, among neighbours whose differences borrow or do not.
    #[test]
    fn plain_bytes_end_where_one_needs_a_second_look() {
        for filler in [b' ', b'!', b'#', b'a', b'[', b']', b'~', 0x7f] {
            for byte in 0..=u8::MAX {
                let is_plain = (0x20..0x80).contains(&byte) && byte != b'"' && byte != b'\\';
                for length in [1, 7, 8, 9, 16, 20] {
                    for at in 0..length {
                        let mut bytes = vec![filler; length];
                        bytes[at] = byte;
                        let expected = if is_plain { length } else { at };
                        assert_eq!(plain_bytes(&bytes), expected, "{byte:#x} at {at} among {filler:#x}");
                    }
                }
            }
        }
        assert_eq!(plain_bytes(b""), 0);
    }

    /// Of the first 32 characters five have a letter; the others have four digits, in lower case.
    #[test]
    fn an_escape_is_the_only_one_for_its_character() {
        for code in 0..0x30u8 {
            let has_digits = code < 0x20 && ![0x08, 0x09, 0x0a, 0x0c, 0x0d].contains(&code);
            let lower = format!("u{code:04x}");
            assert_eq!(escape(lower.as_bytes()), has_digits.then_some(5), "{lower}");
            let upper = format!("u{code:04X}");
            assert_eq!(escape(upper.as_bytes()), (has_digits && upper == lower).then_some(5), "{upper}");
        }
        for letter in ['"', '\\', 'b', 't', 'n', 'f', 'r'] {
            assert_eq!(escape(format!("{letter}x").as_bytes()), Some(1));
        }
        for wrong in ["", "/", "x", "u", "u0", "u000", "u1000", "u0100", "u00f0"] {
            assert_eq!(escape(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn bytes_beyond_ascii_are_taken_together_if_they_are_characters() {
        for (bytes, expected) in [
            (&b"\xc3\xa9"[..], Some(2)),
            (b"\xc3\xa9\xf0\x9f\x98\x80\"", Some(6)),
            (b"\xc3\xa9a\xc3\xa9", Some(2)),
            (b"\xc3a", None),
            (b"\xff", None),
        ] {
            assert_eq!(beyond_ascii(bytes), expected, "{bytes:x?}");
        }
    }

    fn json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            any::<i32>().prop_map(|number| Json::Number(f64::from(number))),
            (-1e30f64..1e30).prop_map(Json::Number),
            "[ -~]{0,20}".prop_map(Json::String),
            any::<String>().prop_map(Json::String),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| Json::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_scan_says_what_parsing_and_emitting_says(
            value in json(),
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3)
        ) {
            let mut bytes = value.to_string().into_bytes();
            prop_assert!(is_canonical(&bytes));
            for (place, byte) in edits {
                let at = place.index(bytes.len());
                bytes[at] = byte;
                prop_assert_eq!(is_canonical(&bytes), is_emitted(&bytes));
            }
        }
    }
}
