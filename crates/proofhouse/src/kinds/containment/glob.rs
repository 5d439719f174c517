//! What rules about paths look at: the lexical form of a path.

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
}
