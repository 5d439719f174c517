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
