//! The strict JSON parser: one pass over bytes, an error names the byte and the key path.

use super::{Json, MAX_DEPTH, MAX_SAFE_INTEGER, Object};

/// Whether an integer that a double would round is refused or kept as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// Refuse it.
    Strict,
    /// Keep its digits as a string.
    Lenient,
    /// Accept it where its text is the canonical text of its double: how we read back what we wrote.
    Canonical,
}

/// Why bytes are not canonical-able JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}{}", if path.is_empty() { String::new() } else { format!(" at `{path}`") })]
pub struct ParseError {
    /// The class of what is wrong.
    pub fault: Fault,
    /// What is wrong, a lowercase fragment.
    pub what: String,
    /// RFC 6901 pointer of the value that is wrong.
    pub path: String,
    /// Byte offset in the input.
    pub offset: usize,
}

/// The classes of what can be wrong, for whoever has more to say than the parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The text is not UTF-8.
    NotUtf8,
    /// A key is in its object already.
    DuplicateKey,
    /// Half of a pair of escapes stands alone.
    LoneSurrogate,
    /// A double would round the integer.
    InexactInteger,
    /// No double is so large.
    TooLarge,
    /// `NaN` and `Infinity`.
    NotANumber,
    /// Anything else that is not JSON.
    Syntax,
}

/// Parses one JSON value that fills `bytes` (white space around it is allowed).
pub fn parse(bytes: &[u8], strictness: Strictness) -> Result<Json, ParseError> {
    let text = std::str::from_utf8(bytes).map_err(|error| ParseError {
        fault: Fault::NotUtf8,
        what: "invalid UTF-8".to_owned(),
        path: String::new(),
        offset: error.valid_up_to(),
    })?;
    let mut parser = Parser { text, bytes, at: 0, strictness, path: Vec::new() };
    parser.white();
    let value = parser.value()?;
    parser.white();
    if parser.at != bytes.len() {
        return Err(parser.error("unexpected text after the value"));
    }
    Ok(value)
}

enum Step {
    Key(String),
    Index(usize),
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    strictness: Strictness,
    path: Vec<Step>,
}

impl Parser<'_> {
    fn error(&self, what: impl Into<String>) -> ParseError {
        self.fault(Fault::Syntax, what)
    }

    fn fault(&self, fault: Fault, what: impl Into<String>) -> ParseError {
        let mut path = String::new();
        for step in &self.path {
            path.push('/');
            match step {
                Step::Key(key) => path.push_str(&key.replace('~', "~0").replace('/', "~1")),
                Step::Index(index) => path.push_str(&index.to_string()),
            }
        }
        ParseError { fault, what: what.into(), path, offset: self.at }
    }

    fn white(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn value(&mut self) -> Result<Json, ParseError> {
        if self.path.len() > MAX_DEPTH {
            return Err(self.error(format!("nested deeper than {MAX_DEPTH}")));
        }
        match self.peek() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(b'N' | b'I') => Err(self.fault(Fault::NotANumber, "`NaN` and `Infinity` are not JSON")),
            Some(_) => Err(self.error("expected a JSON value")),
            None => Err(self.error("unexpected end of JSON")),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, ParseError> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        Err(self.error("expected a JSON value"))
    }

    fn object(&mut self) -> Result<Json, ParseError> {
        self.at += 1;
        let mut object = Object::new();
        self.white();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(object));
        }
        loop {
            self.white();
            if self.peek() != Some(b'"') {
                return Err(self.error("expected a key in double quotes"));
            }
            let key = self.string()?;
            self.white();
            if self.peek() != Some(b':') {
                return Err(self.error("expected `:` after the key"));
            }
            self.at += 1;
            self.white();
            self.path.push(Step::Key(key.clone()));
            if object.get(&key).is_some() {
                return Err(self.fault(Fault::DuplicateKey, "duplicate key"));
            }
            let value = self.value()?;
            self.path.pop();
            object.insert(key, value).expect("the key was looked up just above");
            self.white();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Json::Object(object));
                }
                _ => return Err(self.error("expected `,` or `}`")),
            }
        }
    }

    fn array(&mut self) -> Result<Json, ParseError> {
        self.at += 1;
        let mut list = Vec::new();
        self.white();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(list));
        }
        loop {
            self.white();
            self.path.push(Step::Index(list.len()));
            list.push(self.value()?);
            self.path.pop();
            self.white();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Json::Array(list));
                }
                _ => return Err(self.error("expected `,` or `]`")),
            }
        }
    }

    fn string(&mut self) -> Result<String, ParseError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let from = self.at;
            while let Some(byte) = self.peek() {
                if byte == b'"' || byte == b'\\' || byte < 0x20 {
                    break;
                }
                self.at += 1;
            }
            out.push_str(&self.text[from..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => return Err(self.error("control character in a string")),
                None => return Err(self.error("string without an end")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ParseError> {
        self.at += 1;
        let letter = self.peek();
        self.at += 1;
        Ok(match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.error("unknown escape in a string")),
        })
    }

    fn unicode(&mut self) -> Result<char, ParseError> {
        let first = self.hex4()?;
        if let Some(c) = char::from_u32(first) {
            return Ok(c);
        }
        let paired = (0xD800..0xDC00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u");
        if paired {
            self.at += 2;
            let second = self.hex4()?;
            if (0xDC00..0xE000).contains(&second) {
                let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return char::from_u32(code)
                    .ok_or_else(|| self.fault(Fault::LoneSurrogate, "lone surrogate in a string"));
            }
        }
        Err(self.fault(Fault::LoneSurrogate, "lone surrogate in a string"))
    }

    fn hex4(&mut self) -> Result<u32, ParseError> {
        let digits = self.bytes.get(self.at..self.at + 4).filter(|d| d.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else {
            return Err(self.error("`\\u` needs four hexadecimal digits"));
        };
        self.at += 4;
        Ok(digits.iter().fold(0, |code, digit| code * 16 + char::from(*digit).to_digit(16).unwrap_or(0)))
    }

    fn number(&mut self) -> Result<Json, ParseError> {
        let from = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.error("expected a digit")),
        }
        let mut integer = true;
        if self.peek() == Some(b'.') {
            integer = false;
            self.at += 1;
            self.need_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            integer = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.need_digits()?;
        }
        let text = &self.text[from..self.at];
        let number: f64 = text.parse().map_err(|_| self.error("malformed number"))?;
        if !number.is_finite() {
            return Err(self.fault(Fault::TooLarge, format!("number `{text}` is too large")));
        }
        // A literal such as 1e22 says itself that it is a double; one written out as an integer asks to be exact.
        if integer && number.abs() > MAX_SAFE_INTEGER as f64 - 1.0 {
            let exact = text.trim_start_matches('-').parse::<u64>().is_ok_and(|n| n <= MAX_SAFE_INTEGER);
            if !exact {
                let canonical = || ryu_js::Buffer::new().format_finite(number) == text;
                return match self.strictness {
                    Strictness::Lenient => Ok(Json::String(text.to_owned())),
                    Strictness::Canonical if canonical() => Ok(Json::Number(number)),
                    Strictness::Canonical | Strictness::Strict => {
                        let what = format!("integer {text} is beyond 2^53 and would be rounded");
                        Err(self.fault(Fault::InexactInteger, what))
                    }
                };
            }
        }
        Ok(Json::Number(number))
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn need_digits(&mut self) -> Result<(), ParseError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.error("expected a digit"));
        }
        self.digits();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_a_value_is_read() {
        for (text, expected) in [
            (" { \"a\" : [ 1 , 2 ] ,\r\n\t\"b\" : { } } ", r#"{"a":[1,2],"b":{}}"#),
            ("[ ]", "[]"),
            ("[true,false,null]", "[true,false,null]"),
            (r#""\"\\\/\b\f\n\r\t""#, r#""\"\\/\b\f\n\r\t""#),
            (r#""\u00e9\u20AC\ud7ff\ue000""#, "\"é€\u{d7ff}\u{e000}\""),
            (r#""\ud83d\ude00 \ud800\udc00 \uDBFF\uDFFF""#, "\"😀 \u{10000} \u{10ffff}\""),
            ("0", "0"),
            ("-0", "0"),
            ("-12.50e+1", "-125"),
            ("1E5", "100000"),
            ("1e-2", "0.01"),
            ("1e22", "1e+22"),
            ("9007199254740991", "9007199254740991"),
            ("-9007199254740992", "-9007199254740992"),
        ] {
            for strictness in [Strictness::Strict, Strictness::Lenient, Strictness::Canonical] {
                assert_eq!(parse(text.as_bytes(), strictness).unwrap().to_string(), expected, "{text}");
            }
        }
    }

    /// 2^53 + 1 has no double of its own; 2^53 + 2 has one, whose canonical text it is.
    #[test]
    fn an_integer_without_a_double_is_refused_kept_or_canonical() {
        let read = |text: &str, strictness| parse(text.as_bytes(), strictness).map(|value| value.to_string());
        for (text, is_canonical) in
            [("9007199254740993", false), ("9007199254740994", true), ("-9007199254740994", true)]
        {
            let refused = read(text, Strictness::Strict).unwrap_err();
            assert_eq!((refused.fault, refused.offset), (Fault::InexactInteger, text.len()));
            assert_eq!(read(text, Strictness::Lenient), Ok(format!("\"{text}\"")));
            assert_eq!(read(text, Strictness::Canonical).is_ok(), is_canonical, "{text}");
        }
    }

    #[test]
    fn each_fault_has_its_class_its_place_and_its_offset() {
        const SYNTAX: Fault = Fault::Syntax;
        for (text, fault, offset, path, what) in [
            ("", SYNTAX, 0, "", "unexpected end of JSON"),
            (" \t\r\n", SYNTAX, 4, "", "unexpected end of JSON"),
            ("x", SYNTAX, 0, "", "expected a JSON value"),
            ("tru", SYNTAX, 0, "", "expected a JSON value"),
            ("1 2", SYNTAX, 2, "", "unexpected text after the value"),
            ("01", SYNTAX, 1, "", "unexpected text after the value"),
            ("{", SYNTAX, 1, "", "expected a key in double quotes"),
            ("{,", SYNTAX, 1, "", "expected a key in double quotes"),
            (r#"{"a""#, SYNTAX, 4, "", "expected `:` after the key"),
            (r#"{"a":1 "b""#, SYNTAX, 7, "", "expected `,` or `}`"),
            (r#"{"a/b~c":x"#, SYNTAX, 9, "/a~1b~0c", "expected a JSON value"),
            (r#"{"a":[0,{"b":x"#, SYNTAX, 13, "/a/1/b", "expected a JSON value"),
            (r#"{"a":1,"a":2}"#, Fault::DuplicateKey, 11, "/a", "duplicate key"),
            ("[1 2]", SYNTAX, 3, "", "expected `,` or `]`"),
            ("[1,]", SYNTAX, 3, "/1", "expected a JSON value"),
            (r#""a"#, SYNTAX, 2, "", "string without an end"),
            ("\"a\u{1f}\"", SYNTAX, 2, "", "control character in a string"),
            (r#""\x""#, SYNTAX, 3, "", "unknown escape in a string"),
            (r#""\"#, SYNTAX, 3, "", "unknown escape in a string"),
            (r#""\u12"#, SYNTAX, 3, "", "`\\u` needs four hexadecimal digits"),
            (r#""\u12g4""#, SYNTAX, 3, "", "`\\u` needs four hexadecimal digits"),
            (r#""\ud800""#, Fault::LoneSurrogate, 7, "", "lone surrogate in a string"),
            (r#""\udc00\ud800""#, Fault::LoneSurrogate, 7, "", "lone surrogate in a string"),
            (r#""\ud800x""#, Fault::LoneSurrogate, 7, "", "lone surrogate in a string"),
            (r#""\ud800\u0041""#, Fault::LoneSurrogate, 13, "", "lone surrogate in a string"),
            (r#""\ud800\ue000""#, Fault::LoneSurrogate, 13, "", "lone surrogate in a string"),
            (".5", SYNTAX, 0, "", "expected a JSON value"),
            ("-", SYNTAX, 1, "", "expected a digit"),
            ("-Infinity", SYNTAX, 1, "", "expected a digit"),
            ("1.", SYNTAX, 2, "", "expected a digit"),
            ("1e", SYNTAX, 2, "", "expected a digit"),
            ("1e+", SYNTAX, 3, "", "expected a digit"),
            ("[1e999]", Fault::TooLarge, 6, "/0", "number `1e999` is too large"),
            ("NaN", Fault::NotANumber, 0, "", "`NaN` and `Infinity` are not JSON"),
            ("Infinity", Fault::NotANumber, 0, "", "`NaN` and `Infinity` are not JSON"),
        ] {
            let error = parse(text.as_bytes(), Strictness::Strict).expect_err(text);
            let expected = ParseError { fault, what: what.to_owned(), path: path.to_owned(), offset };
            assert_eq!(error, expected, "{text}");
        }
        let error = parse(b"\"\xff\"", Strictness::Strict).unwrap_err();
        assert_eq!((error.fault, error.offset), (Fault::NotUtf8, 1));
    }

    /// The innermost of 129 arrays lies in 128 others.
    #[test]
    fn a_value_lies_in_128_others_at_most() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(nested(129).as_bytes(), Strictness::Strict).is_ok());
        let error = parse(nested(130).as_bytes(), Strictness::Strict).unwrap_err();
        assert_eq!((error.what.as_str(), error.offset), ("nested deeper than 128", 129));
        assert_eq!(error.path, "/0".repeat(129));
    }
}
