//! Keys: where they come from, how they are kept out of everything that is written, and what a literal one looks like.

use std::fmt;
use std::sync::Arc;

use hyper::header::HeaderValue;

use super::echo::is_telling;
use super::keys::{PLACEHOLDERS, SHORTEST};
use crate::text::complaint::Complaint;

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

/// The last words of names under which people hand keys to programs.
const TELLING_ENDS: [&str; 10] = [
    "APIKEY",
    "AUTHORIZATION",
    "CREDENTIAL",
    "CREDENTIALS",
    "KEY",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "SECRET",
    "TOKEN",
];

/// Whether what stands under a telling name can be a key: not what merely fills the place, a number, a file, or a placeholder.
fn can_be_key(value: &str) -> bool {
    let value = value.trim();
    let is_elsewhere = value.starts_with(['/', '.', '~', '$', '{']) || value.contains("{instruction}");
    value.chars().count() >= SHORTEST
        && !is_elsewhere
        && !PLACEHOLDERS.contains(&value)
        && !value.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a variable or an option of this name holds a key: `FORGE_TOKEN`, `--api-key`.
fn ends_telling(name: &str) -> bool {
    let last = name.rsplit(['_', '-']).next().unwrap_or_default().to_ascii_uppercase();
    TELLING_ENDS.contains(&last.as_str()) || is_telling(name)
}

/// Whether a variable of a program holds a key.
fn is_key_variable(name: &str, value: &str) -> bool {
    looks_like_key(value) || (ends_telling(name) && can_be_key(value))
}

/// The place of the first argument of a program that holds a key: behind `--api-key`, as `--token=…`, in a script as `NAME_KEY=…`, or
/// by its looks.
fn key_argument(args: &[String]) -> Option<usize> {
    let names_one = |option: &str| option.starts_with('-') && ends_telling(option.trim_start_matches('-'));
    let assigned = |word: &str| {
        let word = word.trim_matches(['"', '\'']);
        word.split_once('=').is_some_and(|(name, value)| {
            let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
            is_name && ends_telling(name) && can_be_key(value.trim_matches(['"', '\'']))
        })
    };
    args.iter().enumerate().position(|(at, arg)| {
        let behind_option = at > 0 && names_one(&args[at - 1]) && !arg.starts_with('-') && can_be_key(arg);
        behind_option
            || looks_like_key(arg)
            || arg.split(|c: char| c.is_whitespace() || c == ';').any(assigned)
    })
}

/// The keys that stand in the command and in the variables of a program, each with its place. Both are recorded.
pub fn keys_of_program<'a>(
    (command_key, command): (&'static str, &[String]),
    env: impl IntoIterator<Item = (&'a String, &'a String)>,
    hint: &str,
) -> Vec<Complaint> {
    let complaint = || {
        Complaint::new("this looks like a key, and a suite is no place for one")
            .hint(hint.to_owned())
            .secret()
    };
    let argument = key_argument(command).map(|at| {
        let complaint = complaint().key(command_key);
        complaint.index(at)
    });
    let variables = env.into_iter().filter(|(name, value)| is_key_variable(name, value));
    argument.into_iter().chain(variables.map(|(name, _)| complaint().key("env").key(name.clone()))).collect()
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
    fn keys_of_programs_are_told_from_other_settings() {
        let found = |args: &[&str], env: &[(&str, &str)]| {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            let env: Vec<_> =
                env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            keys_of_program(("argv", &args), env.iter().map(|(name, value)| (name, value)), "export it").len()
        };
        let canary = "canary/Key+0123456789";
        for args in [
            &["tool", "--api-key", canary][..],
            &["tool", "--api-key=canary/Key+0123456789"],
            &["tool", "--token", canary, "{instruction}"],
            &["tool", "-password", canary],
            &["sh", "-c", "FORGE_TOKEN='canary/Key+0123456789' tool"],
            &["env", "OPENAI_API_KEY=canary/Key+0123456789", "tool"],
            &["curl", "-H", "Authorization: Bearer abcdef0123456789"],
            &["tool", "AKIAIOSFODNN7EXAMPLE"],
            &["tool", "-k", "ghp_0123456789abcdefghij0123456789abcdef"],
        ] {
            assert_eq!(found(args, &[]), 1, "{args:?}");
        }
        for (name, value) in [
            ("FORGE_KEY", canary),
            ("forge_token", canary),
            ("DB_PASSWORD", "correct horse"),
            ("APIKEY", canary),
            ("MODE", "sk-proj-abcdefghijkl0123456789"),
        ] {
            assert_eq!(found(&["tool"], &[(name, value)]), 1, "{name}");
        }
        for args in [
            &["tool", "--token", "{instruction}"][..],
            &["tool", "--max-tokens", "100000000"],
            &["tool", "--api-key", "--verbose-mode"],
            &["tool", "--key", "name"],
            &["tool", "--key-file", "secrets/of/nobody"],
            &["tool", "--password", "/run/secrets/password"],
            &["sh", "-c", "FORGE_TOKEN=$OTHER_TOKEN_OF_MINE tool"],
            &["tool", "monkey=banana-and-more"],
        ] {
            assert_eq!(found(args, &[]), 0, "{args:?}");
        }
        for (name, value) in [
            ("OPENAI_API_KEY", "not-needed"),
            ("SSH_KEY", "/etc/keys/mine"),
            ("MAX_TOKEN", "1000000000"),
            ("TOKENIZER", "byte-pair-encoding"),
            ("MONKEY", "banana-and-more"),
        ] {
            assert_eq!(found(&["tool"], &[(name, value)]), 0, "{name}");
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
