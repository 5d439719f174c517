//! Pictures of prompts: read from below the suite's directory, or given as data; never fetched.

use std::sync::Arc;

use camino::Utf8Path;
use proofhouse_ledger::{Digest, files};

use crate::family::target::Image;
use crate::spine::suite::paths;
use crate::text::complaint::Complaint;

/// The largest picture, in bytes.
const MAX_IMAGE_BYTES: usize = 20 << 20;

/// Kinds of pictures by their first bytes.
const KINDS: [(&[u8], &str); 5] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"RIFF", "image/webp"),
];

/// The picture that a filled text names.
pub(super) fn load(base: &Utf8Path, named: &str) -> Result<Arc<Image>, Complaint> {
    if let Some(data) = named.strip_prefix("data:") {
        return given(data);
    }
    if named.contains("://") {
        return Err(Complaint::new(format!("`{named}` is an address, and pictures are not fetched"))
            .hint("save the picture below the suite's directory and name its path"));
    }
    let path = paths::resolve(base, named).map_err(|fault| Complaint::new(fault.what).hint(fault.hint))?;
    let bytes = files::read(&path)
        .map_err(|error| Complaint::new(format!("the picture `{named}` cannot be read: {}", error.source)))?;
    let kind = KINDS.iter().find(|(first, _)| bytes.starts_with(first)).map(|(_, kind)| *kind);
    let kind = kind.ok_or_else(|| {
        Complaint::new(format!("`{named}` is not a picture")).hint("PNG, JPEG, GIF and WebP can be sent")
    })?;
    picture(kind.to_owned(), &bytes, named)
}

fn given(data: &str) -> Result<Arc<Image>, Complaint> {
    let wrong = || {
        Complaint::new("this is not the data of a picture")
            .hint("`data:image/png;base64,…`, with base64 after the comma")
    };
    let (kind, text) = data.split_once(";base64,").ok_or_else(wrong)?;
    let bytes = decoded(text).filter(|_| kind.starts_with("image/")).ok_or_else(wrong)?;
    picture(kind.to_owned(), &bytes, "the picture")
}

fn picture(media_type: String, bytes: &[u8], named: &str) -> Result<Arc<Image>, Complaint> {
    if bytes.len() > MAX_IMAGE_BYTES {
        return Err(Complaint::new(format!("`{named}` is larger than {} MiB", MAX_IMAGE_BYTES >> 20)));
    }
    Ok(Arc::new(Image { media_type, base64: encoded(bytes), sha256: Digest::of(bytes) }))
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn encoded(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let symbol = ALPHABET[(bits >> (18 - 6 * place)) as usize & 63];
            out.push(if place <= group.len() { char::from(symbol) } else { '=' });
        }
    }
    out
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let symbols: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let symbols = symbols.as_slice();
    let symbols = symbols.strip_suffix(b"==").or(symbols.strip_suffix(b"=")).unwrap_or(symbols);
    let mut out = Vec::with_capacity(symbols.len() * 3 / 4);
    for group in symbols.chunks(4) {
        let mut bits = 0u32;
        for symbol in group {
            bits = bits << 6 | ALPHABET.iter().position(|known| known == symbol)? as u32;
        }
        match group.len() {
            4 => out.extend_from_slice(&bits.to_be_bytes()[1..]),
            3 => out.extend_from_slice(&(bits << 6).to_be_bytes()[1..3]),
            2 => out.extend_from_slice(&(bits << 12).to_be_bytes()[1..2]),
            _ => return None,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_rfc_both_ways() {
        for (plain, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encoded(plain.as_bytes()), text);
            assert_eq!(decoded(text).unwrap(), plain.as_bytes());
        }
        assert_eq!(decoded("Zm9v!"), None);
        let every: Vec<u8> = (0..=255).collect();
        assert_eq!(decoded(&encoded(&every)).unwrap(), every);
    }
}
