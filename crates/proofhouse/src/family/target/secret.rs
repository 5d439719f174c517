//! Keys: where they come from, how they are kept out of everything that is written, and what a literal one looks like.

use std::fmt;
use std::sync::Arc;

use hyper::header::HeaderValue;

type Look = dyn Fn(&str) -> Option<String> + Send + Sync;

/// The environment as targets may see it: a name in, a value out.
#[derive(Clone)]
pub struct Environment {
    look: Arc<Look>,
    names: Arc<[String]>,
}

impl Environment {
    /// An environment that asks `look`.
    pub fn new(look: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Environment { look: Arc::new(look), names: Arc::default() }
    }

    /// The same, and these are the names of what is set.
    pub fn with_names(self, names: Vec<String>) -> Self {
        Environment { names: names.into(), ..self }
    }

    /// What is set, as far as that is known.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The value of a variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.look)(name).filter(|value| !value.trim().is_empty())
    }

    /// The first of several variables that is set.
    pub(super) fn first(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.get(name))
    }

    /// A variable that holds a key.
    pub fn secret(&self, name: &str) -> Option<Secret> {
        self.get(name).map(|value| Secret(value.trim().to_owned()))
    }
}

impl Default for Environment {
    /// An environment in which nothing is set.
    fn default() -> Self {
        Environment::new(|_| None)
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}

/// A key. It can be sent, and looked for so that it is taken out; nothing prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The key as the value of a header, behind a prefix such as `Bearer `.
    pub(super) fn header(&self, prefix: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::try_from(format!("{prefix}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The key itself, to look for it.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// How keys of known makers begin, and how long the shortest of them are.
const PREFIXES: [(&str, usize); 12] = [
    ("sk-", 20),
    ("sk_", 20),
    ("gsk_", 20),
    ("AIza", 30),
    ("hf_", 20),
    ("xai-", 20),
    ("key-", 20),
    ("ghp_", 20),
    ("github_pat_", 20),
    ("glpat-", 20),
    ("AKIA", 20),
    ("Bearer ", 16),
];

/// Whether a text holds something that looks like a key.
pub fn looks_like_key(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    PREFIXES.iter().any(|(prefix, shortest)| {
        text.match_indices(prefix).any(|(at, _)| {
            let starts_a_word = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let word = &text[at + prefix.len()..];
            let length = word.find(|c: char| !is_part(c) || c == ' ').unwrap_or(word.len());
            starts_a_word
                && prefix.len() + length >= *shortest
                && word[..length].contains(|c: char| c.is_ascii_digit())
        })
    })
}

/// Whether a text can be the name of an environment variable and is not a key itself.
pub(super) fn is_variable_name(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let fits = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // Names are short and mostly in capitals; a long mixed word is a key that was put in the wrong place.
    let mixed = text.len() > 24
        && text.contains(|c: char| c.is_ascii_lowercase())
        && text.contains(|c: char| c.is_ascii_uppercase());
    starts && fits && text.len() <= 100 && !mixed && !looks_like_key(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_text() {
        for text in [
            "sk-proj-abcdefghijkl0123456789",
            "use sk-ant-api03-0123456789abcdef please",
            "AIzaSyA0123456789abcdefghijklmnopqrstuv",
            "Bearer abcdef0123456789",
            "gsk_0123456789abcdefghij",
        ] {
            assert!(looks_like_key(text), "{text}");
        }
        for text in
            ["", "ask-me-anything-you-like-about-2024", "sk-", "risk-0123456789abcdefghij", "Bearer of news"]
        {
            assert!(!looks_like_key(text), "{text}");
        }
        assert!(is_variable_name("OPENAI_API_KEY") && is_variable_name("my_key"));
        for text in [
            "sk-abc",
            "",
            "1A",
            "AIzaSyA0123456789abcdefghijklmnopqrstuv",
            "A B",
            "aB3dE6gH9jK2mN5pQ8sT1vW4y",
        ] {
            assert!(!is_variable_name(text), "{text}");
        }
    }

    #[test]
    fn a_key_shows_nowhere() {
        let environment = Environment::new(|name| (name == "K").then(|| " canary-0123 \n".to_owned()));
        let secret = environment.secret("K").unwrap();
        assert_eq!(format!("{secret:?} {environment:?}"), "[secret] Environment");
        let header = secret.header("Bearer ").unwrap();
        assert_eq!(header, "Bearer canary-0123");
        assert_eq!(format!("{header:?}"), "Sensitive");
        assert_eq!(environment.secret("L"), None);
    }
}
