//! Keys that are in use: the values that no file, message or record may hold, found and taken out in every spelling.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use proofhouse_ledger::Json;

use super::Call;
use super::echo::Disguises;
use super::reply::{Outcome, Reply};
use super::secret::{Environment, Secret};

/// What stands in the place of a key.
pub(super) const REDACTED: &str = "[redacted]";

/// Shorter values are no keys: taking them out would tear ordinary text apart.
pub(super) const SHORTEST: usize = 8;

/// Variables in which people keep keys, beside all that end in `API_KEY`.
const USUAL: [&str; 16] = [
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "AZURE_OPENAI_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "HF_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
    "HUGGINGFACEHUB_API_TOKEN",
    "REPLICATE_API_TOKEN",
    "CLOUDFLARE_API_TOKEN",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITLAB_TOKEN",
];

/// What people put into a key's variable for servers that want none.
pub(super) const PLACEHOLDERS: [&str; 8] = [
    "lm-studio",
    "no-key-needed",
    "no-key-required",
    "not-needed",
    "not-required",
    "placeholder",
    "sk-no-key-required",
    "test-key",
];

/// Parts of the names of variables that hold keys.
const TELLING: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CREDENTIAL"];

/// Keys that are set in the environment now.
#[derive(Clone, Default)]
pub struct Keys(Vec<Key>);

#[derive(Clone)]
struct Key {
    variable: String,
    value: Secret,
    disguises: Disguises,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|key| &key.variable)).finish()
    }
}

impl Keys {
    /// The keys of an environment: the usual variables, all that end in `API_KEY`, and those that settings name: behind
    /// `api_key_env`, and wherever the name of a variable tells that it holds a key.
    pub fn live(environment: &Environment, settings: &str) -> Self {
        let set: BTreeSet<&str> = environment.names().iter().map(String::as_str).collect();
        let is_key = |name: &&str| name.to_ascii_uppercase().ends_with("API_KEY");
        let mut variables: BTreeSet<&str> = USUAL.into_iter().collect();
        variables.extend(named(settings, |word| set.is_empty() || set.contains(word)));
        variables.extend(set.into_iter().filter(is_key));
        let mut keys = Keys::default();
        for variable in variables {
            keys.add(variable, environment.secret(variable));
        }
        keys
    }

    /// One more, where it is long enough to be one.
    pub(super) fn add(&mut self, variable: &str, value: Option<Secret>) {
        let known = |value: &Secret| self.0.iter().any(|key| key.value == *value);
        let is_key = |value: &Secret| {
            let text = value.reveal();
            text.chars().count() >= SHORTEST && !PLACEHOLDERS.contains(&text) && !known(value)
        };
        if let Some(value) = value.filter(is_key) {
            let disguises = Disguises::of(value.reveal().as_bytes());
            self.0.push(Key { variable: variable.to_owned(), value, disguises });
        }
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The variable whose value a text holds, in whatever spelling.
    pub fn find(&self, text: &[u8]) -> Option<&str> {
        let holds = |key: &&Key| next(text, 0, key.value.reveal().as_bytes()).is_some();
        self.0.iter().find(holds).map(|key| key.variable.as_str())
    }

    /// The variable whose value a structure holds, in a text or in the name of a field.
    pub fn find_in(&self, value: &Json) -> Option<&str> {
        match value {
            Json::String(text) => self.find(text.as_bytes()),
            Json::Array(list) => list.iter().find_map(|item| self.find_in(item)),
            Json::Object(fields) => {
                fields.iter().find_map(|(name, value)| self.find(name.as_bytes()).or(self.find_in(value)))
            }
            Json::Number(_) | Json::Bool(_) | Json::Null => None,
        }
    }

    /// Where keys stand, in order and apart from each other.
    fn places(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        // No key, nor what is taken out of one, is shorter.
        if text.len() < SHORTEST {
            return places;
        }
        for key in &self.0 {
            let mut from = 0;
            while let Some(place) = next(text, from, key.value.reveal().as_bytes()) {
                from = place.end;
                places.push(place);
            }
            places.extend(key.disguises.places(text, key.value.reveal().as_bytes()));
        }
        places.sort_by_key(|place| place.start);
        places.dedup_by(|later, earlier| {
            let overlaps = later.start < earlier.end;
            if overlaps {
                earlier.end = earlier.end.max(later.end);
            }
            overlaps
        });
        places
    }

    fn replaced<'t>(&self, text: &'t [u8], with: impl Fn(&[u8]) -> Vec<u8>) -> Cow<'t, [u8]> {
        let places = self.places(text);
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = Vec::with_capacity(text.len());
        let mut from = 0;
        for place in places {
            out.extend_from_slice(&text[from..place.start]);
            out.extend(with(&text[place.clone()]));
            from = place.end;
        }
        out.extend_from_slice(&text[from..]);
        Cow::Owned(out)
    }

    /// Bytes without keys.
    pub(super) fn redact_bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        self.replaced(bytes, |_| REDACTED.as_bytes().to_vec())
    }

    /// Text without keys.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.redact_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Text in which every character of a key is a dot, so that columns stay what they are.
    pub fn dot<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let dots = |key: &[u8]| "•".repeat(String::from_utf8_lossy(key).chars().count()).into_bytes();
        match self.replaced(text.as_bytes(), dots) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// A structure without keys.
    pub(super) fn redact_json(&self, value: Json) -> Json {
        match value {
            Json::String(text) => Json::from(self.redact(&text).into_owned()),
            Json::Array(list) => Json::Array(list.into_iter().map(|item| self.redact_json(item)).collect()),
            Json::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, value)| (self.redact(name).into_owned(), self.redact_json(value.clone())));
                Json::Object(fields.collect())
            }
            other => other,
        }
    }

    /// A reply without keys: whatever an endpoint echoes, nothing of a key is kept.
    pub(super) fn redact_reply(&self, reply: Reply) -> Reply {
        if self.is_empty() {
            return reply;
        }
        let text = |text: String| match self.redact(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(without) => without,
        };
        let call =
            |call: Call| Call { id: text(call.id), name: text(call.name), args: self.redact_json(call.args) };
        Reply {
            outcome: match reply.outcome {
                Outcome::Failed { error_type, error } => {
                    Outcome::Failed { error_type: text(error_type), error: text(error) }
                }
                other => other,
            },
            output: reply.output.map(|output| self.redact_json(output)),
            reasoning: reply.reasoning.map(text),
            calls: reply.calls.into_iter().map(call).collect(),
            spoken: reply.spoken.map(|spoken| self.redact_json(spoken)),
            usage: reply.usage.map(|usage| self.redact_json(usage)),
            finish_reason: reply.finish_reason.map(text),
            model: reply.model.map(text),
            fingerprint: reply.fingerprint.map(text),
            ..reply
        }
    }
}

/// Names of variables in the text of settings that hold keys: what follows `api_key_env`, and telling names.
fn named(settings: &str, is_set: impl Fn(&str) -> bool) -> BTreeSet<&str> {
    let words =
        settings.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let mut before = "";
    let names = words.filter(move |word| {
        let follows = std::mem::replace(&mut before, word) == "api_key_env";
        let telling = |word: &str| {
            let upper = word.to_ascii_uppercase();
            TELLING.iter().any(|part| upper.contains(part))
        };
        word.len() <= 100 && is_set(word) && (follows || telling(word))
    });
    names.collect()
}

/// The next place at which a key stands, in whatever capitals, plain or with some of its characters escaped as JSON and addresses do it.
fn next(text: &[u8], from: usize, key: &[u8]) -> Option<Range<usize>> {
    let (first, rest) = (*key.first()?, text.get(from..)?);
    let (small, capital) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    if memchr::memchr3(b'\\', b'%', b'&', rest).is_none() {
        let is_key =
            |at: &usize| rest.get(*at..*at + key.len()).is_some_and(|found| found.eq_ignore_ascii_case(key));
        let at = from + memchr::memchr2_iter(small, capital, rest).find(is_key)?;
        return Some(at..at + key.len());
    }
    let starts = [small, capital, b'\\', b'%', b'&'];
    let begins = rest.iter().enumerate().filter(|(_, byte)| starts.contains(byte));
    begins.map(|(at, _)| from + at).find_map(|at| Some(at..at + spelled(&text[at..], key)?))
}

/// How many bytes at the beginning of a text spell the key.
fn spelled(text: &[u8], key: &[u8]) -> Option<usize> {
    let mut at = 0;
    for &byte in key {
        at += one(&text[at..], byte)?;
    }
    Some(at)
}

/// How many bytes at the beginning of a text spell one byte: `/`, `\/`, `\u002f` behind any number of backslashes, `%2F`, `&#47;`,
/// `&#x2f;`, `&amp;`.
fn one(text: &[u8], byte: u8) -> Option<usize> {
    let number = |digits: Option<&[u8]>| u32::from_str_radix(std::str::from_utf8(digits?).ok()?, 16).ok();
    let is = |found: Option<u32>| {
        found
            .and_then(|found| u8::try_from(found).ok())
            .is_some_and(|found| found.eq_ignore_ascii_case(&byte))
    };
    match *text.first()? {
        found if found.eq_ignore_ascii_case(&byte) => Some(1),
        b'%' => is(number(text.get(1..3))).then_some(3),
        b'&' => {
            let end = text.iter().take(10).position(|byte| *byte == b';')?;
            let found = match &text[1..end] {
                [b'#', b'x' | b'X', digits @ ..] => number(Some(digits)),
                [b'#', digits @ ..] => std::str::from_utf8(digits).ok()?.parse().ok(),
                b"amp" => Some(u32::from(b'&')),
                b"lt" => Some(u32::from(b'<')),
                b"gt" => Some(u32::from(b'>')),
                b"quot" => Some(u32::from(b'"')),
                b"apos" => Some(u32::from(b'\'')),
                b"sol" => Some(u32::from(b'/')),
                b"plus" => Some(u32::from(b'+')),
                b"equals" => Some(u32::from(b'=')),
                _ => None,
            };
            is(found).then_some(end + 1)
        }
        b'\\' => {
            let slashes = text.iter().take_while(|byte| **byte == b'\\').count();
            match *text.get(slashes)? {
                b'u' if is(number(text.get(slashes + 1..slashes + 5))) => Some(slashes + 5),
                found @ (b'/' | b'"') if found == byte => Some(slashes + 1),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proofhouse_ledger::json::{Strictness, parse};

    use super::*;

    fn keys(pairs: &'static [(&'static str, &'static str)], settings: &str) -> Keys {
        let look =
            |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
        let names = pairs.iter().map(|(name, _)| (*name).to_owned()).collect();
        Keys::live(&Environment::new(look).with_names(names), settings)
    }

    #[test]
    fn keys_are_those_that_are_set_and_long_enough() {
        let set: &[(&str, &str)] = &[
            ("ACME_API_KEY", "acme-1234"),
            ("OPENAI_API_KEY", "short"),
            ("LMSTUDIO_API_KEY", "lm-studio"),
            ("HF_TOKEN", "hf_abcdefgh"),
            ("mine", "named-by-the-suite"),
            ("VAULT_PASSWORD", "correct horse"),
            ("HOME", "/home/somebody"),
        ];
        assert_eq!(format!("{:?}", keys(set, "")), r#"["ACME_API_KEY", "HF_TOKEN"]"#);
        let named = keys(set, "{openai: {api_key_env: \"mine\", headers_env: {x: VAULT_PASSWORD}, y: HOME}}");
        assert_eq!(format!("{named:?}"), r#"["ACME_API_KEY", "HF_TOKEN", "VAULT_PASSWORD", "mine"]"#);
        assert_eq!(keys(set, "api_key_env: mine").find(b"x named-by-the-suite y"), Some("mine"));
        assert!(keys(&[("OPENAI_API_KEY", "       ")], "").is_empty());
    }

    #[test]
    fn every_spelling_is_found_and_nothing_else() {
        let set: &[(&str, &str)] = &[("A_API_KEY", "ab/c+d=\"9"), ("B_API_KEY", "c+d=\"9xyz")];
        let keys = keys(set, "");
        for (text, expected) in [
            ("x ab/c+d=\"9 y", "x [redacted] y"),
            (r#"x ab\/c\u002bd\u003D\"9 y"#, "x [redacted] y"),
            (r#"x ab\\\/c\\u002Bd=\\\"9 y"#, "x [redacted] y"),
            ("x %61b%2fc%2Bd%3d%229 y", "x [redacted] y"),
            (r"\u0061b/c+d=%229", "[redacted]"),
            ("x ab&#47;c&#x2B;d=&quot;9 y", "x [redacted] y"),
            ("&#97;b&sol;c&plus;d&equals;&#34;9", "[redacted]"),
            // Keys that overlap leave no part of either.
            ("ab/c+d=\"9xyz.", "[redacted]."),
            ("ab/c+d=\"9 and ab/c+d=\"9", "[redacted] and [redacted]"),
            // A server that changes capitals tells as much.
            ("x AB/C+D=\"9 y aB/c+D=\"9", "x [redacted] y [redacted]"),
            (r#"x \u0041B\/C+D=\"9 %41b/c+d=%229"#, "x [redacted] [redacted]"),
            ("ab/c+d= 9", "ab/c+d= 9"),
            (r"100% of ab\", r"100% of ab\"),
            ("", ""),
        ] {
            assert_eq!(keys.redact(text), expected, "{text}");
            assert_eq!(keys.find(text.as_bytes()).is_some(), text != expected, "{text}");
        }
        assert_eq!(keys.dot("é ab/c+d=\"9 é"), "é ••••••••• é");
    }

    #[test]
    fn a_reply_keeps_nothing_of_a_key() {
        let keys = keys(&[("A_API_KEY", "canary/0123")], "");
        let json = |text: &str| parse(text.as_bytes(), Strictness::Lenient).unwrap();
        let reply = Reply {
            calls: vec![Call {
                id: "canary/0123".into(),
                name: "f".into(),
                args: json(r#"{"k":["canary\/0123"]}"#),
            }],
            spoken: Some(json(r#"{"content":"canary/0123"}"#)),
            usage: Some(json(r#"{"canary/0123":1}"#)),
            finish_reason: Some("canary/0123".into()),
            model: Some("canary/0123".into()),
            fingerprint: Some("canary/0123".into()),
            ..Reply::new(Outcome::Answered, Some(json(r#"{"a":{"canary/0123":"x canary/0123"}}"#)))
        };
        let kept = keys.redact_reply(reply);
        assert!(!format!("{kept:?}").contains("canary"), "{kept:?}");
        assert_eq!(kept.output.unwrap().to_string(), r#"{"a":{"[redacted]":"x [redacted]"}}"#);
        let failed = keys.redact_reply(Reply::failed("http_400", r"no canary\/0123 here"));
        assert_eq!(failed.outcome.explained().1, Some("no [redacted] here"));
    }
}
