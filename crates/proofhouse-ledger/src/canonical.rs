//! RFC 8785 (JCS): the one text of a JSON value. Sorted keys, no spaces, ES6 numbers, UTF-8.
//!
//! The `push_*` functions append to a buffer, so that the hot path of a run allocates nothing per field.

use serde::Serialize;

use crate::json::{Json, SerError, to_json};

/// The canonical text of any serialisable value.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, SerError> {
    let mut out = Vec::new();
    push_json(&mut out, &to_json(value)?);
    Ok(out)
}

/// The canonical text with one newline at its end: a whole file, or a line of one.
pub fn to_file<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, SerError> {
    let mut out = to_vec(value)?;
    out.push(b'\n');
    Ok(out)
}

/// Appends a value.
pub fn push_json(out: &mut Vec<u8>, value: &Json) {
    match value {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(true) => out.extend_from_slice(b"true"),
        Json::Bool(false) => out.extend_from_slice(b"false"),
        Json::Number(number) => push_number(out, *number),
        Json::String(text) => push_text(out, text),
        Json::Array(list) => {
            out.push(b'[');
            for (at, item) in list.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                push_json(out, item);
            }
            out.push(b']');
        }
        Json::Object(object) => {
            out.push(b'{');
            for (at, (key, item)) in object.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                push_text(out, key);
                out.push(b':');
                push_json(out, item);
            }
            out.push(b'}');
        }
    }
}

/// Appends a number as ECMAScript prints it.
///
/// # Panics
/// When the number is not finite: `Json` cannot hold such a one.
pub fn push_number(out: &mut Vec<u8>, number: f64) {
    assert!(number.is_finite(), "a canonical number is finite");
    if number.fract() == 0.0 && number.abs() < 1e15 {
        let integer = number as i64;
        if integer < 0 {
            out.push(b'-');
        }
        push_integer(out, integer.unsigned_abs());
        return;
    }
    out.extend_from_slice(ryu_js::Buffer::new().format_finite(number).as_bytes());
}

/// Appends a whole number.
pub fn push_integer(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends text in quotes: only what JSON must escape is escaped.
pub fn push_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x09 => out.extend_from_slice(b"\\t"),
            0x0a => out.extend_from_slice(b"\\n"),
            0x0c => out.extend_from_slice(b"\\f"),
            0x0d => out.extend_from_slice(b"\\r"),
            _ => {
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
            }
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

const HEX: &[u8; 16] = b"0123456789abcdef";

#[cfg(test)]
mod published;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::{Object, Strictness, parse};

    fn text(input: &str) -> String {
        parse(input.as_bytes(), Strictness::Strict).expect(input).to_string()
    }

    /// The table of RFC 8785, appendix B: IEEE 754 bits and the text that ECMAScript gives them.
    #[test]
    fn numbers_of_the_rfc() {
        let table: [(u64, &str); 24] = [
            (0x0000000000000000, "0"),
            (0x8000000000000000, "0"),
            (0x0000000000000001, "5e-324"),
            (0x8000000000000001, "-5e-324"),
            (0x7fefffffffffffff, "1.7976931348623157e+308"),
            (0xffefffffffffffff, "-1.7976931348623157e+308"),
            (0x4340000000000000, "9007199254740992"),
            (0xc340000000000000, "-9007199254740992"),
            (0x4430000000000000, "295147905179352830000"),
            (0x44b52d02c7e14af5, "9.999999999999997e+22"),
            (0x44b52d02c7e14af6, "1e+23"),
            (0x44b52d02c7e14af7, "1.0000000000000001e+23"),
            (0x444b1ae4d6e2ef4e, "999999999999999700000"),
            (0x444b1ae4d6e2ef4f, "999999999999999900000"),
            (0x444b1ae4d6e2ef50, "1e+21"),
            (0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"),
            (0x3eb0c6f7a0b5ed8d, "0.000001"),
            (0x41b3de4355555553, "333333333.3333332"),
            (0x41b3de4355555554, "333333333.33333325"),
            (0x41b3de4355555555, "333333333.3333333"),
            (0x41b3de4355555556, "333333333.3333334"),
            (0x41b3de4355555557, "333333333.33333343"),
            (0xbecbf647612f3696, "-0.0000033333333333333333"),
            (0x43143ff3c1cb0959, "1424953923781206.2"),
        ];
        for (bits, expected) in table {
            let mut out = Vec::new();
            push_number(&mut out, f64::from_bits(bits));
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{bits:016x}");
        }
    }

    #[test]
    fn every_character_that_needs_an_escape_has_the_shortest() {
        let all: String = (0..0x22).map(char::from).chain("\\\u{7f}é".chars()).collect();
        let escaped = "\"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f\
                       \\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001c\\u001d\\u001e\\u001f\
                       \x20!\\\\\u{7f}é\"";
        let mut out = Vec::new();
        push_text(&mut out, &all);
        assert_eq!(String::from_utf8(out).unwrap(), escaped);
    }

    #[test]
    fn whole_numbers_have_no_point_up_to_where_exponents_begin() {
        for (number, expected) in [
            (999_999_999_999_999.0, "999999999999999"),
            (1e15, "1000000000000000"),
            (-1e15, "-1000000000000000"),
            (-3.0, "-3"),
            (-0.0, "0"),
            (1e21, "1e+21"),
            (0.5, "0.5"),
        ] {
            let mut out = Vec::new();
            push_number(&mut out, number);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
        let mut out = Vec::new();
        push_integer(&mut out, u64::MAX);
        assert_eq!(out, u64::MAX.to_string().as_bytes());
    }

    #[test]
    fn a_file_ends_with_one_newline() {
        assert_eq!(to_file(&1).unwrap(), b"1\n");
    }

    #[test]
    fn keys_sort_by_utf16_units() {
        let sorted = text(r#"{"€":1,"\r":2,"\ufb33":3,"1":4,"😀":5,"\u0080":6,"ö":7}"#);
        assert_eq!(sorted, "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}");
    }

    #[test]
    fn strict_parsing_names_the_place() {
        let cases = [
            (r#"{"a":{"b":[1,NaN]}}"#, "`NaN` and `Infinity` are not JSON at `/a/b/1`"),
            (
                r#"{"a":9007199254740993}"#,
                "integer 9007199254740993 is beyond 2^53 and would be rounded at `/a`",
            ),
            (r#"{"a":1,"a":2}"#, "duplicate key at `/a`"),
            (r#"["\ud800"]"#, "lone surrogate in a string at `/0`"),
            (r#"{"a":1e999}"#, "number `1e999` is too large at `/a`"),
            (r#"{"a":01}"#, "expected `,` or `}`"),
            ("[1,]", "expected a JSON value at `/1`"),
            ("{1:2}", "expected a key in double quotes"),
            ("1 2", "unexpected text after the value"),
        ];
        for (input, expected) in cases {
            let error = parse(input.as_bytes(), Strictness::Strict).expect_err(input);
            assert_eq!(error.to_string(), expected, "{input}");
        }
        let deep = "[".repeat(200);
        assert!(parse(deep.as_bytes(), Strictness::Strict).expect_err("deep").what.contains("nested deeper"));
    }

    #[test]
    fn lenient_parsing_keeps_the_digits_as_text() {
        let value = parse(b"[9007199254740993,-9007199254740992]", Strictness::Lenient).unwrap();
        assert_eq!(value.to_string(), r#"["9007199254740993",-9007199254740992]"#);
    }

    #[test]
    fn canonical_text_of_a_large_double_is_read_back() {
        assert_eq!(text("1e20"), "100000000000000000000");
        assert!(parse(b"100000000000000000000", Strictness::Strict).is_err());
        assert!(parse(b"100000000000000000000", Strictness::Canonical).is_ok());
        assert!(parse(b"100000000000000000001", Strictness::Canonical).is_err());
    }

    #[test]
    fn no_number_becomes_null_in_silence() {
        assert!(to_vec(&f64::NAN).is_err());
        assert!(to_vec(&vec![1.0, f64::INFINITY]).is_err());
        assert!(to_vec(&(MAX + 1)).is_err());
        assert!(to_vec(&MAX).is_ok());
    }
    const MAX: u64 = crate::json::MAX_SAFE_INTEGER;

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| Json::Number(n + 0.0)),
            (-1_000_000i32..1_000_000).prop_map(|n| Json::Number(f64::from(n))),
            any::<String>().prop_map(Json::String),
        ];
        leaf.prop_recursive(4, 48, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|pairs| Json::Object(pairs.into_iter().collect::<Object>())),
            ]
        })
    }

    proptest! {
        #[test]
        fn emits_what_a_second_implementation_emits(value in any_json()) {
            let ours = value.to_string();
            let theirs = serde_json_canonicalizer::to_string(&value).unwrap();
            prop_assert_eq!(&ours, &theirs);
        }

        #[test]
        fn parse_and_emit_is_the_identity(value in any_json()) {
            let bytes = value.to_string().into_bytes();
            let again = parse(&bytes, Strictness::Canonical).unwrap();
            prop_assert_eq!(again.to_string().into_bytes(), bytes);
        }

        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = parse(&bytes, Strictness::Strict);
        }
    }
}
