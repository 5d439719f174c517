//! The frame of `report.html`: head, policy, sections in their order, and the script at the end.

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};
use proofhouse_ledger::Digest;

use super::own::OwnPresentation;
use super::sections::{self, Facts};
use crate::text::doc::{Report, html as back_end, html::Shown};
use crate::text::visible;

const STYLE: &str = include_str!("assets/report.css");

/// What cannot be seen, from the table that Rust uses; how this kind's records are shown; and what all kinds share.
fn script(own: &OwnPresentation) -> String {
    let unseen = visible::script_class();
    let (kind, shared) = (own.script.trim_end(), include_str!("assets/report.js"));
    format!("'use strict';\nconst UNSEEN = /{unseen}/gu;\nconst KIND = {kind};\n{shared}")
}

/// Nothing may be loaded, and nothing may run but the one script and the one style sheet with these digests; strings
/// can never be turned into markup or code (`trusted-types`).
fn policy(own: &OwnPresentation) -> String {
    let hash = |text: &str| base64(&Digest::of(text.as_bytes()).0);
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        hash(&script(own)),
        hash(STYLE)
    )
}

/// Everything before the data blocks.
pub(super) fn write_top(out: &mut dyn Write, facts: &Facts<'_>) -> io::Result<()> {
    let report = sections::report(facts);
    let title = format!("{} · {} · Proofhouse", facts.manifest.suite_id, facts.manifest.run_id);
    let top = html! {
        (DOCTYPE) "\n"
        // The page goes on behind what is written here, so the browser closes `html` and `body`.
        (PreEscaped("<html lang=\"en\">\n"))
        head {
            "\n" meta charset="utf-8"; "\n"
            meta http-equiv="Content-Security-Policy" content=(PreEscaped(policy(facts.own))); "\n"
            meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
            meta name="color-scheme" content="light dark"; "\n"
            meta name="referrer" content="no-referrer"; "\n"
            title { (Shown(&title)) } "\n"
            style { (PreEscaped(STYLE)) } "\n"
        }
        "\n" (PreEscaped("<body>\n")) (body(&report, facts))
    };
    out.write_all(top.into_string().as_bytes())
}

fn body(report: &Report, facts: &Facts<'_>) -> Markup {
    let run_id = facts.manifest.run_id.to_string();
    html! {
        a.skip href="#records" { "Skip to the records" } "\n"
        header.top {
            "\n"
            p.brand { "Proofhouse " span { "report" } }
            button type="button" id="theme" hidden { "Theme" } "\n"
            h1 { bdi { (Shown(&report.title)) } } "\n"
            p.lede { (back_end::line(&report.lede)) } "\n"
            nav.contents aria-label="Contents" {
                @for part in &report.parts { a href={ "#" (part.id) } { (part.title) } " " }
            }
            "\n"
        }
        "\n"
        main { "\n" @for part in &report.parts { (back_end::section(part)) } }
        "\n"
        footer {
            p {
                "Made by Proofhouse from the files of run " code { (run_id) } " alone; \
                 the same files give the same page. It loads nothing and sends nothing."
            }
        }
        "\n"
    }
}

/// Everything behind the data blocks.
pub(super) fn write_end(out: &mut dyn Write, own: &OwnPresentation) -> io::Result<()> {
    write!(out, "<script>{}</script>\n</body>\n</html>\n", script(own))?;
    out.flush()
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
