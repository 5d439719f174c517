//! Where endpoints are and who may use them: addresses, keys and headers, and what is refused among them.

use std::collections::BTreeMap;

use hyper::Uri;
use hyper::header::{HeaderName, HeaderValue};
use proofhouse_ledger::Json;

use super::Opening;
use super::echo::{has_telling_parameter, is_telling};
use super::secret::{Secret, is_variable_name, looks_like_key};
use super::transport::Transport;
use crate::text::complaint::{At, Complaint};

/// Where an endpoint is and what opens it, as a suite says it.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndpointSettings<'a> {
    /// The maker: `OPENAI` for `OPENAI_API_KEY` and `OPENAI_BASE_URL`.
    pub(super) maker: &'a str,
    pub(super) base_url: Option<&'a str>,
    /// Where the maker's endpoint is when nobody says otherwise.
    pub(super) default_url: Option<&'a str>,
    pub(super) api_key_env: Option<&'a str>,
    pub(super) headers: &'a BTreeMap<String, String>,
    pub(super) headers_env: &'a BTreeMap<String, String>,
    pub(super) transport: &'a Transport,
}

/// Headers that carry keys.
const SECRET_HEADERS: [&str; 7] = [
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "cookie",
    "x-auth-token",
];

impl EndpointSettings<'_> {
    /// All settings that cannot work, keys in the wrong place first among them.
    pub(super) fn check(&self) -> Vec<Complaint> {
        let mut complaints = self.transport.check();
        if let Some(base) = self.base_url
            && let Err(complaint) = check_url(base)
        {
            complaints.push(complaint.key("base_url"));
        }
        if let Some(name) = self.api_key_env.filter(|name| !is_variable_name(name)) {
            complaints.push(not_a_variable(&["api_key_env"], name));
        }
        for (name, value) in self.headers {
            let hint = "put the value into the environment and name the variable below `headers_env`";
            if SECRET_HEADERS.contains(&name.to_ascii_lowercase().as_str()) || looks_like_key(value) {
                let what = format!("the header `{name}` holds a key, and a suite is no place for one");
                complaints.push(complaint(&["headers", name], what, hint).secret());
            } else if HeaderName::try_from(name).is_err() || HeaderValue::try_from(value).is_err() {
                let what = format!("`{name}` is not a header that can be sent");
                complaints.push(complaint(&["headers", name], what, "use ASCII letters, digits and hyphens"));
            }
        }
        for (name, variable) in self.headers_env {
            if !is_variable_name(variable) {
                complaints.push(not_a_variable(&["headers_env", name], variable));
            } else if HeaderName::try_from(name).is_err() {
                let what = format!("`{name}` is not a header that can be sent");
                complaints.push(complaint(
                    &["headers_env", name],
                    what,
                    "use ASCII letters, digits and hyphens",
                ));
            }
        }
        complaints
    }

    /// The base address: the suite's, the environment's, the maker's.
    pub(super) fn base(&self, opening: &Opening) -> Result<String, Complaint> {
        if let Some(base) = self.base_url {
            return Ok(base.to_owned());
        }
        let variable = format!("{}_BASE_URL", self.maker);
        let found = opening.environment.get(&variable);
        let base = match (&found, self.default_url) {
            (Some(base), _) => base.trim(),
            (None, Some(base)) => base,
            (None, None) => {
                let what = format!("nothing says where `{}` is", self.maker.to_lowercase());
                let hint = format!("set `base_url`, or `{variable}` in the environment");
                return Err(complaint(&["model"], what, hint));
            }
        };
        match check_url(base) {
            Ok(_) => Ok(base.to_owned()),
            Err(complaint) => Err(complaint.about(format!("`{variable}`:")).key("base_url")),
        }
    }

    /// The key, if one is set; one that the suite names or the maker needs must be.
    pub(super) fn key(&self, base: &str, opening: &Opening) -> Result<Option<Secret>, Complaint> {
        let usual = format!("{}_API_KEY", self.maker);
        let name = self.api_key_env.unwrap_or(&usual);
        let key = opening.environment.secret(name);
        let needed =
            self.api_key_env.is_some() || (self.default_url == Some(base) && base.starts_with("https:"));
        if key.is_none() && needed {
            let what = format!("`{name}` is not set in the environment");
            let hint = format!("`export {name}=…`, or `--replay DIR` to run without the endpoint");
            return Err(complaint(&["api_key_env"], what, hint));
        }
        Ok(key)
    }
}

/// A complaint about the setting at the end of these keys.
pub(super) fn complaint(at: &[&str], what: impl Into<String>, hint: impl Into<String>) -> Complaint {
    let at = at.iter().map(|key| At::Key((*key).to_owned().into())).collect();
    Complaint { at, ..Complaint::new(what).hint(hint) }
}

fn not_a_variable(at: &[&str], text: &str) -> Complaint {
    let hint = "`export MY_KEY=…` in the shell, and `MY_KEY` here";
    // What looks like a key is not repeated.
    match looks_like_key(text) || text.len() > 24 {
        true => complaint(at, "this looks like a key, and a suite is no place for one", hint).secret(),
        false => complaint(at, format!("`{text}` is not the name of an environment variable"), hint),
    }
}

/// Complains about keys among free settings, and about those that would replace what a target writes itself.
pub(super) fn check_extra(extra: &Json, own: &[&str]) -> Vec<Complaint> {
    /// What is filled in, and what is empty, is no key.
    fn is_literal(value: &Json) -> bool {
        matches!(value, Json::String(text) if !(text.is_empty() || (text.starts_with('{') && text.ends_with('}'))))
    }
    fn holds_key(value: &Json) -> bool {
        match value {
            Json::String(text) => looks_like_key(text),
            Json::Array(list) => list.iter().any(holds_key),
            Json::Object(object) => {
                object.iter().any(|(key, value)| (is_telling(key) && is_literal(value)) || holds_key(value))
            }
            _ => false,
        }
    }
    let mut complaints = Vec::new();
    if holds_key(extra) {
        let what = "there is a key among these settings, and a suite is no place for one";
        let hint = "name a variable with `api_key_env: MY_KEY` or `headers_env: {x-api-key: MY_KEY}`";
        complaints.push(complaint(&["extra"], what, hint).secret());
    }
    match extra {
        Json::Null => {}
        Json::Object(object) => {
            let taken = object.iter().map(|(key, _)| key).find(|key| own.contains(key));
            if let Some(key) = taken {
                let what = format!("`{key}` is what the target writes itself, and `extra` would replace it");
                let hint = "leave it out; what is asked stands in `prompts`, and everything else has a setting of its own";
                complaints.push(complaint(&["extra", key], what, hint));
            }
        }
        _ => complaints.push(complaint(&["extra"], "expected a map", "`extra: {top_k: 40}`")),
    }
    complaints
}

/// Reads an address, and refuses one that cannot be used or holds a key.
pub(super) fn check_url(text: &str) -> Result<Uri, Complaint> {
    let example = "for example `http://127.0.0.1:8080/v1`";
    let uri: Uri = text.parse().map_err(|_| Complaint::new("this is not an address").hint(example))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none_or(str::is_empty) {
        return Err(Complaint::new("the address needs `http://` or `https://` and a host").hint(example));
    }
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@'))
        || uri.query().is_some_and(has_telling_parameter)
        || looks_like_key(text)
    {
        let complaint = Complaint::new("the address holds a key, and a suite is no place for one");
        let hint = "name a variable with `api_key_env: MY_KEY` or `headers_env: {x-api-key: MY_KEY}`";
        return Err(complaint.hint(hint).secret());
    }
    Ok(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked() {
        let wrong = |text: &str| check_url(text).unwrap_err().what;
        assert!(check_url("http://127.0.0.1:1/v1").is_ok());
        assert!(wrong("127.0.0.1:80").contains("address"));
        assert!(wrong("ftp://x/").contains("needs `http://`"));
        assert!(wrong("https://user:pass@x/v1").contains("holds a key"));
        assert!(wrong("https://x/v1?api_key=short").contains("holds a key"));
        assert!(wrong("https://x/v1?a=1&token=t").contains("holds a key"));
        assert!(check_url("https://x/v1?api-version=2024-10-21").is_ok());
        assert!(wrong("https://x/v1?key=AIzaSyA0123456789abcdefghijklmnopqrstuv").contains("holds a key"));
    }
}
