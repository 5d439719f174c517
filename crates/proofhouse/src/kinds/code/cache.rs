//! Verdicts kept by content: an unchanged completion under unchanged conditions is not judged again.
//!
//! The key covers everything that a verdict depends on. Verdicts in which time or the machine had a part are not kept.
//! A file that does not have its own digest, or cannot be read, is as good as absent.

use std::io;

use camino::Utf8PathBuf;
use proofhouse_ledger::{Digest, canonical, files};

use super::verdict::Judged;

/// Changes whenever the same conditions could give another verdict than before.
const VERSION: &str = "proofhouse verdict 4";

/// A folder of verdicts.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: Utf8PathBuf,
}

impl Cache {
    /// Takes a folder into use; it is made when there is something to keep.
    pub fn new(folder: impl Into<Utf8PathBuf>) -> Cache {
        Cache { folder: folder.into() }
    }

    /// The key of these conditions.
    pub(super) fn key(conditions: &[&[u8]]) -> Digest {
        let lengths: Vec<[u8; 8]> = conditions.iter().map(|part| (part.len() as u64).to_le_bytes()).collect();
        let mut parts: Vec<&[u8]> = vec![VERSION.as_bytes()];
        for (length, part) in lengths.iter().zip(conditions) {
            parts.extend([length.as_slice(), part]);
        }
        Digest::of_parts(&parts)
    }

    /// What is known under this key.
    pub(super) fn get(&self, key: &Digest) -> Option<Judged> {
        let bytes = std::fs::read(self.path(key)).ok()?;
        let (digest, text) = bytes.split_at_checked(64)?;
        let intact = Digest::from_hex(digest)? == Digest::of_parts(&[&key.0, text]);
        let mut judged: Judged = serde_json::from_slice(text).ok().filter(|_| intact)?;
        judged.from_cache = true;
        tracing::debug!(path = %self.path(key), "verdict kept from before");
        Some(judged)
    }

    /// Keeps a verdict. A failure to do so costs time later and nothing else.
    pub(super) fn put(&self, key: &Digest, judged: &Judged) {
        let certain = judged.error_type.is_none_or(|each| !each.is_infra() && !each.is_timeout());
        if certain {
            let _ = self.write(key, judged);
        }
    }

    fn write(&self, key: &Digest, judged: &Judged) -> io::Result<()> {
        let text = canonical::to_vec(judged).map_err(io::Error::other)?;
        let mut bytes = Digest::of_parts(&[&key.0, &text]).hex().to_vec();
        bytes.extend_from_slice(&text);
        // Two workers that judge the same write the same bytes, wherever they are.
        files::write_shared(&self.path(key), &bytes)
    }

    fn path(&self, key: &Digest) -> Utf8PathBuf {
        let hex = key.hex();
        let text = String::from_utf8_lossy(&hex);
        self.folder.join(&text[..2]).join(&text[2..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::code::verdict::{Bounded, ErrorType};

    #[test]
    fn a_verdict_comes_back_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap());
        let key = Cache::key(&[b"a", b"b"]);
        let judged = Judged {
            error_type: Some(ErrorType::CompileError),
            compile_ok: Some(false),
            stderr: Bounded { text: "é\n".into(), bytes: 3, sha256: None },
            ..Judged::default()
        };
        assert_eq!(cache.get(&key), None);
        cache.put(&key, &judged);
        assert_eq!(cache.get(&key), Some(Judged { from_cache: true, ..judged.clone() }));

        let path = cache.path(&key);
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 3;
        bytes[last] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(cache.get(&key), None, "an altered verdict is none");
        std::fs::write(&path, &bytes[..10]).unwrap();
        assert_eq!(cache.get(&key), None, "a torn verdict is none");

        let late = Cache::key(&[b"late"]);
        cache.put(&late, &Judged::refused(ErrorType::TestTimeout, "x"));
        assert_eq!(cache.get(&late), None, "time had a part in it");
    }

    #[test]
    fn keys_do_not_run_together() {
        assert_ne!(Cache::key(&[b"ab", b""]), Cache::key(&[b"a", b"b"]));
    }
}
