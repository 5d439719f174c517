//! SHA-256 digests as values, and the Merkle tree over records.

use std::fmt;
use std::str::FromStr;

use ring::digest::{Context, SHA256, digest};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

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

/// The root of a binary Merkle tree, computed as its leaves arrive, in memory that grows with the logarithm.
///
/// A leaf is a record's `record_sha256`. A node is SHA-256 of the byte 1, its left and its right child; a last child
/// without a sibling moves up unchanged. A leaf's preimage starts with `{`, a node's with 1, so neither can pass for the
/// other. The root of no leaves is the digest of nothing.
#[derive(Clone, Default)]
pub struct Merkle {
    /// `peaks[i]` is the root of a full subtree of 2^i leaves that still waits for its right sibling.
    peaks: Vec<Option<Digest>>,
}

impl Merkle {
    /// Adds the next leaf.
    pub fn push(&mut self, leaf: Digest) {
        let mut carry = leaf;
        for peak in &mut self.peaks {
            match peak.take() {
                Some(left) => carry = node(&left, &carry),
                None => {
                    *peak = Some(carry);
                    return;
                }
            }
        }
        self.peaks.push(Some(carry));
    }

    /// The root over all leaves so far.
    pub fn root(&self) -> Digest {
        let mut peaks = self.peaks.iter().flatten();
        let Some(smallest) = peaks.next() else {
            return Digest::of(b"");
        };
        peaks.fold(*smallest, |right, left| node(left, &right))
    }
}

/// The neighbours on the way from a leaf to the root, the leaf's own first: what RFC 6962 calls an audit path.
pub fn audit_path(leaves: &[Digest], index: usize) -> Vec<Digest> {
    if leaves.len() <= 1 || index >= leaves.len() {
        return Vec::new();
    }
    let left = leaves.len().next_power_of_two() / 2;
    let (mut path, other) = match index < left {
        true => (audit_path(&leaves[..left], index), &leaves[left..]),
        false => (audit_path(&leaves[left..], index - left), &leaves[..left]),
    };
    path.push(root_of(other));
    path
}

/// The root over these leaves.
pub fn root_of(leaves: &[Digest]) -> Digest {
    let mut merkle = Merkle::default();
    leaves.iter().for_each(|leaf| merkle.push(*leaf));
    merkle.root()
}

/// The root that follows from a leaf, its place, the number of leaves and an audit path; nothing where the path has
/// another length than such a leaf's.
pub fn root_by_path(leaf: Digest, index: u64, count: u64, path: &[Digest]) -> Option<Digest> {
    let (mut at, mut last, mut root) = (index, count.checked_sub(1)?, leaf);
    if index >= count {
        return None;
    }
    for neighbour in path {
        if last == 0 {
            return None;
        }
        if at % 2 == 1 || at == last {
            root = node(neighbour, &root);
            while at.is_multiple_of(2) && at != 0 {
                (at, last) = (at / 2, last / 2);
            }
        } else {
            root = node(&root, neighbour);
        }
        (at, last) = (at / 2, last / 2);
    }
    (last == 0).then_some(root)
}

fn node(left: &Digest, right: &Digest) -> Digest {
    Digest::of_parts(&[&[1], &left.0, &right.0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, written the other way round: level by level over all leaves at once.
    fn root_by_levels(mut level: Vec<Digest>) -> Digest {
        if level.is_empty() {
            return Digest::of(b"");
        }
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|pair| if pair.len() == 2 { node(&pair[0], &pair[1]) } else { pair[0] })
                .collect();
        }
        level[0]
    }

    #[test]
    fn streaming_root_is_the_root() {
        for count in 0..70u8 {
            let leaves: Vec<Digest> = (0..count).map(|i| Digest::of(&[b'{', i])).collect();
            let mut merkle = Merkle::default();
            leaves.iter().for_each(|leaf| merkle.push(*leaf));
            assert_eq!(merkle.root(), root_by_levels(leaves), "{count} leaves");
        }
    }

    fn hex(text: &str) -> Digest {
        text.parse().unwrap()
    }

    /// The leaves of the reference implementation of certificate transparency. A leaf's digest there is SHA-256 of the byte 0
    /// and its content; the tree above the leaves is the same as ours.
    fn rfc_6962() -> Vec<Digest> {
        let inputs: [&[u8]; 8] =
            [b"", b"\x00", b"\x10", b" !", b"01", b"@ABC", b"PQRSTUVW", b"`abcdefghijklmno"];
        inputs.iter().map(|input| Digest::of_parts(&[&[0], input])).collect()
    }

    #[test]
    fn the_roots_of_rfc_6962() {
        let roots = [
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ];
        for (count, root) in roots.iter().enumerate() {
            assert_eq!(root_of(&rfc_6962()[..=count]), hex(root), "{} leaves", count + 1);
        }
    }

    #[test]
    fn the_audit_paths_of_rfc_6962() {
        let first_of_eight = [
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ];
        let sixth_of_eight = [
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ];
        let third_of_three = ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"];
        let table: [(usize, usize, &[&str]); 4] =
            [(0, 1, &[]), (0, 8, &first_of_eight), (5, 8, &sixth_of_eight), (2, 3, &third_of_three)];
        for (index, count, expected) in table {
            let leaves = &rfc_6962()[..count];
            let path = audit_path(leaves, index);
            assert_eq!(path, expected.iter().map(|text| hex(text)).collect::<Vec<_>>(), "{index} of {count}");
            let root = root_by_path(leaves[index], index as u64, count as u64, &path);
            assert_eq!(root, Some(root_of(leaves)));
        }
    }

    #[test]
    fn a_path_proves_its_leaf_and_no_other() {
        for count in 1..40usize {
            let leaves: Vec<Digest> = (0..count).map(|i| Digest::of(&[b'{', i as u8])).collect();
            let root = Some(root_of(&leaves));
            for index in 0..count {
                let path = audit_path(&leaves, index);
                let prove = |leaf, index, path: &[Digest]| root_by_path(leaf, index, count as u64, path);
                assert_eq!(prove(leaves[index], index as u64, &path), root, "{index} of {count}");
                assert_ne!(prove(Digest::of(b"other"), index as u64, &path), root);
                for other in (0..=count as u64).filter(|other| *other != index as u64) {
                    assert_ne!(prove(leaves[index], other, &path), root, "{index} as {other} of {count}");
                }
                assert_eq!(prove(leaves[index], index as u64, &[&path[..], &[leaves[0]]].concat()), None);
                if let Some((_, shorter)) = path.split_last() {
                    assert_eq!(prove(leaves[index], index as u64, shorter), None);
                }
            }
        }
        assert_eq!(root_by_path(Digest::of(b""), 0, 0, &[]), None);
    }

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
        assert_eq!(Digest::from_hex(&[b'g'; 64]), None, "two wrong digits do not make a right one");
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

    #[test]
    fn a_node_is_no_leaf() {
        let (a, b) = (Digest::of(b"{a"), Digest::of(b"{b"));
        let mut merkle = Merkle::default();
        merkle.push(a);
        assert_eq!(merkle.root(), a);
        merkle.push(b);
        assert_eq!(merkle.root(), Digest::of(&[&[1u8], &a.0[..], &b.0[..]].concat()));
    }
}
