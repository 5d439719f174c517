//! What rules about paths and hosts look at: the lexical form of a path, the host of an address.

/// A path as the gate looks at it: `\` is `/`, `.` and empty parts are gone, `..` takes back the part before it.
///
/// `..` that leads above the start stays in front, so that `../x` is never taken for `x`. A `file://` scheme is left out and
/// percent escapes are read, as a tool behind the gate may do both.
pub(super) fn lexical(path: &str) -> String {
    let decoded = percent_decoded(path.trim());
    let plain = decoded.strip_prefix("file://").unwrap_or(&decoded).replace('\\', "/");
    let absolute = plain.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in plain.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            other => parts.push(other),
        }
    }
    let joined = parts.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// A lexical path that leads above its start, taken from the root: with enough `..` it gets there.
pub(super) fn climbed(path: &str) -> String {
    let mut rest = path;
    while let Some(shorter) = rest.strip_prefix("../") {
        rest = shorter;
    }
    if rest.len() == path.len() { path.to_owned() } else { format!("/{rest}") }
}

fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let hex = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape =
            (bytes[at] == b'%').then(|| Some(hex(*bytes.get(at + 1)?)? << 4 | hex(*bytes.get(at + 2)?)?));
        match escape.flatten() {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The host of an address, in small letters: of `https://user@Host:8080/x`, of `user@host`, of `host/x`.
pub(super) fn host_of(address: &str) -> Option<String> {
    let rest = address.trim().split_once("://").map_or(address.trim(), |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(six) => six.split(']').next()?,
        None => host.split(':').next()?,
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let plausible =
        host.contains('.') || host.contains(':') || host == "localhost" || address.contains("://");
    (plausible && !host.is_empty() && !host.contains(char::is_whitespace)).then_some(host)
}

/// Whether a host is the one named, or one below `*.name`.
pub(super) fn host_matches(pattern: &str, host: &str) -> bool {
    let pattern = pattern.to_ascii_lowercase();
    match pattern.strip_prefix("*.") {
        Some(domain) => {
            host.strip_suffix(domain).is_some_and(|front| front.is_empty() || front.ends_with('.'))
        }
        None => pattern == "*" || pattern == host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_as_they_are_meant() {
        let table = [
            ("/etc/./passwd", "/etc/passwd"),
            ("docs/../../etc/passwd", "../etc/passwd"),
            ("/var/../../etc//shadow", "/etc/shadow"),
            ("..\\secret", "../secret"),
            ("file:///etc/shadow", "/etc/shadow"),
            ("%2e%2e/x", "../x"),
            ("./", "."),
            ("100%", "100%"),
        ];
        for (path, expected) in table {
            assert_eq!(lexical(path), expected);
        }
    }

    #[test]
    fn hosts() {
        let table = [
            ("https://me@Evil.example:8080/x?y", Some("evil.example")),
            ("attacker@evil.com", Some("evil.com")),
            ("evil.com/path", Some("evil.com")),
            ("http://[::1]:80/", Some("::1")),
            ("http://intranet/x", Some("intranet")),
            ("hello world", None),
            ("x", None),
        ];
        for (address, expected) in table {
            assert_eq!(host_of(address).as_deref(), expected, "{address}");
        }
        assert!(host_matches("*.example.com", "a.example.com"));
        assert!(host_matches("*.example.com", "example.com"));
        assert!(!host_matches("*.example.com", "badexample.com"));
        assert!(!host_matches("example.com", "a.example.com"));
    }
}
