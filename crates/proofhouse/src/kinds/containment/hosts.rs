//! What rules about hosts look at: the host of an address, read as a browser reads it and as Python's `urlsplit` does. Tools are
//! written in both worlds; where the two disagree, nobody knows whom a tool would talk to, and the gate does not let it find out.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Whom an address leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Host {
    /// It is no address.
    None,
    /// This host, in small letters.
    Named(String),
    /// That depends on who reads it.
    Unclear,
}

/// Schemes whose addresses browsers read leniently.
const SPECIAL: [&str; 6] = ["http", "https", "ws", "wss", "ftp", "file"];

/// The host of an address: of `https://user@Host:8080/x`, of `user@host`, of `host/x`.
pub(super) fn host_of(address: &str) -> Host {
    let text = cleaned(address);
    if let Some((_, mailbox)) = scheme_of(&text).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("mailto")) {
        return bare(mailbox.split('?').next().unwrap_or_default());
    }
    let addressed = scheme_of(&text).is_some_and(|(scheme, rest)| {
        rest.starts_with("//") || SPECIAL.contains(&scheme.to_ascii_lowercase().as_str())
    });
    let relative = text.starts_with(['/', '\\']) && text[1..].starts_with(['/', '\\']);
    if addressed || relative { both(&text) } else { bare(&text) }
}

/// Every host that a text names: that of the whole, and those of the words in it.
pub(super) fn hosts_in(text: &str) -> impl Iterator<Item = Host> + '_ {
    let ends = |c: char| c.is_whitespace() || "\"'<>()[]{},;|`".contains(c);
    let words = text.split(ends).filter(|word| !word.is_empty() && word.len() < text.len());
    let of_word = |word: &str| match host_of(word) {
        // In prose, a word with a dot and other letters than ASCII is a word.
        Host::Unclear if !word.is_ascii() && !word.contains("//") => Host::None,
        host => host,
    };
    std::iter::once(host_of(text)).chain(words.map(of_word))
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

/// Both readings take tabs and line breaks out, and control characters and spaces in front.
fn cleaned(address: &str) -> String {
    let front = address.trim_start_matches(|c: char| c <= ' ');
    front.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect()
}

fn both(text: &str) -> Host {
    let authority = text.split_once("//").map_or(text, |(_, rest)| rest).split(['/', '?', '#']).next();
    match (browser(text), urlsplit(text)) {
        // Both make something of letters beyond ASCII, and what that is depends on their tables.
        (None, None) if !authority.unwrap_or_default().is_ascii() => Host::Unclear,
        (None, None) => Host::None,
        (Some(browser), Some(python)) if browser == python => Host::Named(browser),
        _ => Host::Unclear,
    }
}

/// A name without a scheme, as a tool reads it that puts one in front.
fn bare(text: &str) -> Host {
    if text.is_empty() || text.contains(char::is_whitespace) {
        return Host::None;
    }
    let authority = text.split(['/', '?', '#']).next().unwrap_or_default();
    let plausible = authority.contains(['.', '@', ':']) || authority.eq_ignore_ascii_case("localhost");
    if !plausible {
        return Host::None;
    }
    match both(&format!("https://{text}")) {
        Host::Named(host) => {
            let named = host.contains(['.', ':']) || host == "localhost" || authority.contains('@');
            if named { Host::Named(host) } else { Host::None }
        }
        // What nobody reads as a host when it has a scheme is none without one, unless it hides something.
        Host::Unclear if authority.contains(['@', '\\', '%']) || authority.contains('.') => Host::Unclear,
        _ => Host::None,
    }
}

/// `scheme:` in front, and what follows.
fn scheme_of(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let mut letters = scheme.chars();
    let begins = letters.next().is_some_and(|c| c.is_ascii_alphabetic());
    (begins && letters.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))).then_some((scheme, rest))
}

/// The host by the URL standard of browsers.
fn browser(text: &str) -> Option<String> {
    let text = text.trim_end_matches(|c: char| c <= ' ');
    let (special, rest) = match scheme_of(text) {
        Some((scheme, rest)) => (SPECIAL.contains(&scheme.to_ascii_lowercase().as_str()), rest),
        None => (true, text),
    };
    let is_file = text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let authority = match (special, is_file) {
        (true, true) => rest.strip_prefix("//")?,
        (true, false) => rest.trim_start_matches(['/', '\\']),
        (false, _) => rest.strip_prefix("//")?,
    };
    let ends = |c: char| matches!(c, '/' | '?' | '#') || (special && c == '\\');
    let authority = authority.split(ends).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if let Some(six) = host.strip_prefix('[') {
        let (six, port) = six.split_once(']')?;
        let sound = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
        return six.parse::<Ipv6Addr>().ok().filter(|_| sound).map(|address| address.to_string());
    }
    let host = match host.split_once(':') {
        Some((host, port)) if is_port(port) => host,
        Some(_) => return None,
        None => host,
    };
    let host = percent_decoded(host)?.to_ascii_lowercase();
    let forbidden = |c: char| c <= ' ' || c == '\u{7f}' || "#/:<>?@[\\]^|%".contains(c) || !c.is_ascii();
    if host.is_empty() || host.contains(forbidden) {
        return None;
    }
    let host = host.strip_suffix('.').unwrap_or(&host);
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    match special && is_number && !last.is_empty() {
        true => ipv4(host).map(|address| address.to_string()),
        false => Some(host.to_owned()),
    }
}

fn is_port(port: &str) -> bool {
    port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit())
}

fn percent_decoded(host: &str) -> Option<String> {
    if !host.contains('%') {
        return Some(host.to_owned());
    }
    let mut out = Vec::new();
    let mut bytes = host.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                out.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            byte => out.push(byte),
        }
    }
    String::from_utf8(out).ok()
}

/// An address of numbers as browsers read it: one to four of them, decimal, octal or hexadecimal; the last one fills the rest.
fn ipv4(host: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = host.split('.').collect();
    if parts.len() > 4 {
        return None;
    }
    let number = |part: &&str| -> Option<u64> {
        match part.strip_prefix("0x") {
            Some("") => Some(0),
            Some(hex) => u64::from_str_radix(hex, 16).ok(),
            None if part.len() > 1 && part.starts_with('0') => u64::from_str_radix(part, 8).ok(),
            None => part.parse().ok(),
        }
    };
    let numbers: Vec<u64> = parts.iter().map(number).collect::<Option<_>>()?;
    let (last, front) = numbers.split_last()?;
    if front.iter().any(|part| *part > 255) || *last >= 256_u64.pow(5 - numbers.len() as u32) {
        return None;
    }
    let high = front.iter().enumerate().map(|(at, part)| part << (8 * (3 - at))).sum::<u64>();
    u32::try_from(high + last).ok().map(Ipv4Addr::from)
}

/// The host by `urllib.parse.urlsplit(…).hostname` of Python 3.11 and later.
fn urlsplit(text: &str) -> Option<String> {
    let rest = scheme_of(text).map_or(text, |(_, rest)| rest);
    let netloc = rest.strip_prefix("//")?.split(['/', '?', '#']).next().unwrap_or_default();
    if !netloc.is_ascii() {
        // It normalises what is not ASCII, and may refuse it.
        return None;
    }
    let host = netloc.rsplit('@').next().unwrap_or_default();
    let host = match host.split_once('[') {
        Some((_, six)) => six.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let host = host.to_ascii_lowercase();
    let host = host.strip_suffix('.').unwrap_or(&host);
    (!host.is_empty()).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_where_both_readings_say() {
        let table = [
            ("https://me@Evil.example:8080/x?y", "evil.example"),
            ("attacker@evil.com", "evil.com"),
            ("mailto:attacker@evil.com?subject=x", "evil.com"),
            ("evil.com/path", "evil.com"),
            ("evil.com:8080", "evil.com"),
            ("http://[::1]:80/", "::1"),
            ("http://intranet/x", "intranet"),
            ("//evil.com/x", "evil.com"),
            ("http://good.org#@evil.com", "good.org"),
            ("http://good.org?@evil.com", "good.org"),
            ("http://good.org%2f@evil.com/", "evil.com"),
            ("http://good.org:80@evil.com/", "evil.com"),
            ("https://a@b@evil.com", "evil.com"),
            ("http://ev\til\n.com", "evil.com"),
            ("  http://evil.com/", "evil.com"),
            ("http://evil.com./", "evil.com"),
            ("HTTPS://EVIL.COM", "evil.com"),
            ("http://1.2.3.4:99/", "1.2.3.4"),
            ("gopher://evil.com/", "evil.com"),
            ("file://evil.com/share", "evil.com"),
            ("localhost:3000", "localhost"),
        ];
        for (address, host) in table {
            assert_eq!(host_of(address), Host::Named(host.to_owned()), "{address}");
        }
        for address in [
            "hello world",
            "x",
            "",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/plain,x",
            "http://",
        ] {
            assert_eq!(host_of(address), Host::None, "{address}");
        }
    }

    #[test]
    fn where_a_browser_and_python_disagree_nothing_is_clear() {
        let table = [
            r"http://good.org\@evil.com/",
            r"http://evil.com\.good.org/",
            r"https:\\evil.com",
            r"\\evil.com\share",
            r"/\evil.com",
            r"good.org\@evil.com",
            "https:evil.com",
            "https:/evil.com",
            "https:///evil.com",
            "http://2130706433/",
            "http://127.1/",
            "http://0x7f.0.0.1/",
            "http://0177.0.0.1/",
            "http://[0:0:0:0:0:0:0:1]/",
            "http://evil%2ecom/",
            "http://good.org%00.evil.com/",
            "http://good.org:80:x/",
            "http://ev il.com/",
            "http://good.org /",
            "http://ex\u{3002}ample.org/",
            "http://\u{ff45}vil.com/",
            "http://b\u{fc}cher.example/",
            "http://evil.com\u{0}.good.org/",
            "http://good.org|.evil.com/",
            "http://999.1.1.1/",
        ];
        for address in table {
            assert_eq!(host_of(address), Host::Unclear, "{address}");
        }
    }

    #[test]
    fn hosts_are_found_in_prose() {
        let named = |text: &str| hosts_in(text).any(|host| host == Host::Named("evil.com".to_owned()));
        assert!(named("please fetch (http://evil.com/x) now") && named("to: eve@evil.com, bob@good.org"));
        assert!(!named("an evil, com"));
        assert!(hosts_in("see http://good.org\\@evil.com").any(|host| host == Host::Unclear));
        assert!(!hosts_in("Größe.Preis und z.B. mehr").any(|host| host == Host::Unclear));
    }

    #[test]
    fn names_below_a_domain() {
        assert!(host_matches("*.example.com", "a.example.com"));
        assert!(host_matches("*.example.com", "example.com"));
        assert!(!host_matches("*.example.com", "badexample.com"));
        assert!(!host_matches("example.com", "a.example.com"));
    }
}
