//! A key that comes back in disguise: in base64, in hexadecimal digits, or a part of it; and the names under which people
//! send keys.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem::Finder;

/// So many characters of a key are enough to be taken out.
const PART: usize = 8;

/// Names of fields and parameters that carry keys, in small letters and without hyphens and underscores.
const TELLING: [&str; 18] = [
    "accesskey",
    "accesstoken",
    "apikey",
    "apitoken",
    "auth",
    "authorization",
    "authtoken",
    "bearer",
    "bearertoken",
    "clientsecret",
    "credential",
    "credentials",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "token",
];

/// Whether a field or parameter of this name carries a key.
pub(super) fn is_telling(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let plain = plain.to_ascii_lowercase();
    let plain = plain.strip_prefix('x').unwrap_or(&plain);
    TELLING.contains(&plain)
}

/// Whether an address has a parameter that carries a key.
pub(super) fn has_telling_parameter(query: &str) -> bool {
    query.split('&').any(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        !value.is_empty() && (is_telling(name) || name.eq_ignore_ascii_case("key"))
    })
}

/// What a key looks like in part and in other alphabets, made ready once: every answer is searched for all of it.
#[derive(Clone)]
pub(super) struct Disguises {
    /// Stretches of the key's own characters in small letters, and where each begins in it.
    parts: Vec<(usize, Finder<'static>)>,
    spellings: Vec<Finder<'static>>,
}

impl Disguises {
    pub(super) fn of(key: &[u8]) -> Disguises {
        let finder = |needle: &[u8]| Finder::new(needle).into_owned();
        // A part of signs and digits alone would tear ordinary numbers apart.
        let tells = |(_, part): &(usize, &[u8])| part.iter().any(u8::is_ascii_alphabetic);
        let small = key.to_ascii_lowercase();
        let parts = small.windows(PART).enumerate().filter(tells).map(|(at, part)| (at, finder(part)));
        let spellings = spellings(key);
        Disguises {
            parts: parts.collect(),
            spellings: spellings.iter().map(|spelling| finder(spelling)).collect(),
        }
    }

    /// Where a text holds a part of the key, or the key in another alphabet.
    pub(super) fn places(&self, text: &[u8], key: &[u8]) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        let small = text.to_ascii_lowercase();
        for (at, part) in &self.parts {
            for found in part.find_iter(&small) {
                let behind = text[found + PART..].iter().zip(&key[at + PART..]);
                let same = behind.take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
                places.push(found..found + PART + same);
            }
        }
        for spelling in &self.spellings {
            places.extend(spelling.find_iter(text).map(|at| at..at + spelling.needle().len()));
        }
        places
    }
}

/// The key in hexadecimal digits, and what is left of it in base64 wherever it stands in a longer text.
fn spellings(key: &[u8]) -> Vec<Vec<u8>> {
    let hex = |upper: bool| -> Vec<u8> {
        let digits = key.iter().map(|byte| if upper { format!("{byte:02X}") } else { format!("{byte:02x}") });
        digits.collect::<String>().into_bytes()
    };
    let mut all = vec![hex(false), hex(true)];
    for before in 0..3 {
        // Digits that hold bits of what stands before or behind the key differ from text to text.
        let padded = [&vec![0; before][..], key].concat();
        let (from, to) = ((before * 8).div_ceil(6), padded.len() * 8 / 6);
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let digits = engine.encode(&padded).into_bytes();
            if to.saturating_sub(from) >= PART {
                all.push(digits[from..to].to_vec());
            }
        }
    }
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};

    use super::*;

    const KEY: &[u8] = b"canary/0123+abcdefgh?xyz";

    fn disguised(text: &[u8], key: &[u8]) -> Vec<Range<usize>> {
        Disguises::of(key).places(text, key)
    }

    fn covered(text: &str) -> bool {
        !disguised(text.as_bytes(), KEY).is_empty()
    }

    #[test]
    fn a_key_in_base64_is_found_wherever_it_stands() {
        for before in ["", "B", "Be", "Bearer ", "user:"] {
            for after in ["", "!", "\r\n"] {
                let whole = [before.as_bytes(), KEY, after.as_bytes()].concat();
                for text in [STANDARD.encode(&whole), URL_SAFE.encode(&whole)] {
                    let places = disguised(text.as_bytes(), KEY);
                    assert!(!places.is_empty(), "{before:?} {after:?}: {text}");
                    let mut left = text.clone().into_bytes();
                    for place in places {
                        left[place].fill(b'.');
                    }
                    // Four digits at most are left of each end: three bytes, which are no part of a key.
                    let longest = left.split(|byte| *byte == b'.').map(<[u8]>::len).max();
                    assert!(longest <= Some(before.len().div_ceil(3) * 4 + 4), "{text}: {left:?}");
                }
            }
        }
    }

    #[test]
    fn hexadecimal_digits_and_parts_are_found() {
        let hex: String = KEY.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(covered(&format!("key={hex};")) && covered(&hex.to_uppercase()));
        for text in
            ["canary/0", "…3+abcdef…", "efgh?xyz", "canary/0123+abc and so on", "CANARY/0", "3+ABCdef"]
        {
            assert!(covered(text), "{text}");
        }
        for text in ["canary/", "abcdefg", "a bird", ""] {
            assert!(!covered(text), "{text}");
        }
        assert!(disguised(b"12345678", b"x12345678y").is_empty(), "a number is nobody's key");
    }

    #[test]
    fn names_tell_what_they_carry() {
        for name in ["api_key", "API-Key", "x-api-key", "token", "access_token", "Authorization", "password"]
        {
            assert!(is_telling(name), "{name}");
        }
        for name in ["max_tokens", "tokenizer", "key", "author", "input", "x"] {
            assert!(!is_telling(name), "{name}");
        }
        for query in ["key=1", "a=b&api_key=x", "token=t&x=1"] {
            assert!(has_telling_parameter(query), "{query}");
        }
        for query in ["", "alt=sse", "api-version=2024-01-01", "key=", "tokens=5"] {
            assert!(!has_telling_parameter(query), "{query}");
        }
    }
}
