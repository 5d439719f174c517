//! SHA-256 digests as values, and the Merkle tree over records.

use std::fmt;
use std::str::FromStr;

use ring::digest::{Context, SHA256, digest};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

mod many;
mod merkle;

pub use merkle::{Merkle, audit_path, root_by_path, root_of};

/// A SHA-256 digest; its text is 64 lowercase hexadecimal digits, as `sha256sum` prints.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Digest::from_ring(digest(&SHA256, bytes))
    }

    fn from_ring(digest: ring::digest::Digest) -> Self {
        Digest(digest.as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }

    /// The digest of several pieces, one after the other.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Hasher::default();
        for part in parts {
            hasher.update(part);
        }
        hasher.finish()
    }

    /// The digest of a regular file, read in pieces.
    pub fn of_file(path: &camino::Utf8Path) -> Result<Self, crate::files::FileError> {
        let mut file = crate::disk::open_regular(path).map_err(crate::files::FileError::new("open", path))?;
        let mut hasher = Hasher::default();
        // `io::copy` would read 8 KiB at a time, and take a fifth longer.
        let mut block = vec![0; 1 << 18];
        loop {
            match std::io::Read::read(&mut file, &mut block) {
                Ok(0) => return Ok(hasher.finish()),
                Ok(length) => hasher.update(&block[..length]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(crate::files::FileError::new("read", path)(error)),
            }
        }
    }

    /// The text, without an allocation.
    pub fn hex(&self) -> [u8; 64] {
        let mut out = [0u8; 64];
        for (pair, byte) in out.chunks_exact_mut(2).zip(self.0) {
            pair[0] = HEX[usize::from(byte >> 4)];
            pair[1] = HEX[usize::from(byte & 15)];
        }
        out
    }

    /// Reads 64 lowercase hexadecimal digits.
    pub fn from_hex(text: &[u8]) -> Option<Self> {
        let mut out = [0u8; 32];
        if text.len() != 64 {
            return None;
        }
        let mut wrong = 0;
        for (byte, pair) in out.iter_mut().zip(text.chunks_exact(2)) {
            let (high, low) = (NIBBLES[usize::from(pair[0])], NIBBLES[usize::from(pair[1])]);
            wrong |= high | low;
            *byte = (high << 4) | (low & 15);
        }
        (wrong < 16).then_some(Digest(out))
    }

    /// `sha256:` and the digits: the form of dataset and instruction hashes.
    pub fn prefixed(&self) -> String {
        format!("sha256:{self}")
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// The value of each lowercase hexadecimal digit, and 255 for every other byte.
const NIBBLES: [u8; 256] = {
    let mut table = [255; 256];
    let mut value = 0;
    while value < 16 {
        table[HEX[value] as usize] = value as u8;
        value += 1;
    }
    table
};

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = self.hex();
        f.write_str(std::str::from_utf8(&hex).expect("hexadecimal digits are ASCII"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not a SHA-256 digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a SHA-256 digest (64 lowercase hexadecimal digits, `sha256:` before them is allowed)")]
pub struct NotADigest(String);

impl FromStr for Digest {
    type Err = NotADigest;
    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let digits = text.strip_prefix("sha256:").unwrap_or(text);
        Digest::from_hex(digits.as_bytes()).ok_or_else(|| NotADigest(text.to_owned()))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for Digest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Digest".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^(sha256:)?[0-9a-f]{64}$" })
    }
}

/// A SHA-256 computation under way.
#[derive(Clone)]
pub struct Hasher(Context);

impl Default for Hasher {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl Hasher {
    /// Takes more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of everything taken.
    pub fn finish(self) -> Digest {
        Digest::from_ring(self.0.finish())
    }
}

impl std::io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trip() {
        let digest = Digest::of(b"abc");
        assert_eq!(digest.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(digest.prefixed().parse::<Digest>(), Ok(digest));
        assert!("ABC".parse::<Digest>().is_err());
        assert!(digest.to_string().to_uppercase().parse::<Digest>().is_err());
    }

    #[test]
    fn only_64_lowercase_digits_are_a_digest() {
        let hex = Digest::of(b"abc").to_string();
        assert_eq!(Digest::from_hex(hex.as_bytes()), Some(Digest::of(b"abc")));
        assert_eq!(format!("{:?}", Digest::of(b"abc")), hex);
        for at in 0..64 {
            for byte in [b'g', b'A', b' ', 0, 255, b'/', b':', b'`'] {
                let mut bad = hex.clone().into_bytes();
                bad[at] = byte;
                assert_eq!(Digest::from_hex(&bad), None, "{byte} at {at}");
            }
        }
        assert_eq!(Digest::from_hex(&hex.as_bytes()[..62]), None);
        assert_eq!(Digest::from_hex(format!("{hex}00").as_bytes()), None);
        assert_eq!("x".parse::<Digest>().unwrap_err().to_string().split('`').nth(1), Some("x"));
        assert_eq!(serde_json::to_string(&Digest::of(b"abc")).unwrap(), format!("\"{hex}\""));
        assert_eq!(serde_json::from_str::<Digest>(&format!("\"sha256:{hex}\"")).unwrap(), Digest::of(b"abc"));
        assert!(serde_json::from_str::<Digest>("\"x\"").is_err());
    }

    #[test]
    fn pieces_files_and_streams_have_the_digest_of_the_whole() {
        let whole = Digest::of(b"abc");
        assert_eq!(Digest::of_parts(&[b"a", b"", b"bc"]), whole);
        let mut hasher = Hasher::default();
        assert_eq!(std::io::Write::write(&mut hasher, b"abc").unwrap(), 3);
        std::io::Write::flush(&mut hasher).unwrap();
        assert_eq!(hasher.finish(), whole);
        let dir = tempfile::tempdir().unwrap();
        let path = camino::Utf8PathBuf::from_path_buf(dir.path().join("file")).unwrap();
        assert_eq!(Digest::of_file(&path).unwrap_err().action, "open");
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(Digest::of_file(&path).unwrap(), whole);
    }
}
