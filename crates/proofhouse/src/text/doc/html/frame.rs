//! The frame of every page: its head, the one style sheet, and a policy under which nothing is loaded and nothing runs but the page's own
//! script.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use proofhouse_ledger::Digest;

use super::Shown;

/// What a page may load beside itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loads {
    /// Nothing.
    Nothing,
    /// Parts of its data, which lie beside it.
    Parts,
    /// What the server that it came from says: its forms and events.
    Site,
}

const STYLE: &str = include_str!("style.css");

/// Nothing may be loaded, and nothing may run but the one script and the one style sheet with these digests; strings
/// can never be turned into markup or code (`trusted-types`).
pub(crate) fn policy(script: &str, loads: Loads) -> String {
    let hash = |text: &str| base64(&Digest::of(text.as_bytes()).0);
    let script = if script.is_empty() { "'none'".to_owned() } else { format!("'sha256-{}'", hash(script)) };
    // Parts of the data are scripts that lie beside the page.
    let (from, types) =
        if loads == Loads::Parts { (" 'self' file:", "proofhouse-parts") } else { ("", "'none'") };
    let own =
        if loads == Loads::Site { "connect-src 'self'; form-action 'self'" } else { "form-action 'none'" };
    format!(
        "default-src 'none'; script-src {script}{from}; style-src 'sha256-{}'; base-uri 'none'; {own}; \
         require-trusted-types-for 'script'; trusted-types {types}",
        hash(STYLE)
    )
}

/// Everything up to the page's body, which goes on behind it: whoever writes the rest, or the browser, closes `html` and `body`.
pub fn top(title: &str, script: &str, loads: Loads) -> Markup {
    html! {
        (DOCTYPE) "\n"
        (PreEscaped("<html lang=\"en\">\n"))
        head {
            "\n" meta charset="utf-8"; "\n"
            meta http-equiv="Content-Security-Policy" content=(PreEscaped(policy(script, loads))); "\n"
            meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
            meta name="color-scheme" content="light dark"; "\n"
            meta name="referrer" content="no-referrer"; "\n"
            title { (Shown(title)) } "\n"
            style { (PreEscaped(STYLE)) } "\n"
        }
        "\n" (PreEscaped("<body>\n"))
    }
}

/// The base64 text of a digest, as a Content-Security-Policy wants it.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word =
            group.iter().enumerate().fold(0u32, |word, (at, byte)| word | u32::from(*byte) << (16 - 8 * at));
        for digit in 0..4 {
            let letter = ALPHABET[(word >> (18 - 6 * digit) & 63) as usize];
            out.push(if digit <= group.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_rfc() {
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
    }
}
