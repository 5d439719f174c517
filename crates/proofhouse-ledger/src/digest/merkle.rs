//! The Merkle tree over records.

use super::Digest;

/// The root of a binary Merkle tree, computed as its leaves arrive, in memory that grows with the logarithm.
///
/// A leaf is a record's `record_sha256`. A node is SHA-256 of the byte 1, its left and its right child; a last child
/// without a sibling moves up unchanged. A leaf's preimage starts with `{`, a node's with 1, so neither can pass for the
/// other. The root of no leaves is the digest of nothing.
#[derive(Clone, Default)]
pub struct Merkle {
    /// `peaks[i]` is the root of a full subtree of 2^i bundles that still waits for its right sibling.
    peaks: Vec<Option<Digest>>,
    /// The leaves behind them, fewer than a bundle: many nodes are computed at once in a fraction of the time.
    leaves: Vec<Digest>,
}

/// Leaves of a bundle: a power of two.
const BUNDLE: usize = 256;

impl Merkle {
    /// Adds the next leaf.
    pub fn push(&mut self, leaf: Digest) {
        self.leaves.push(leaf);
        if self.leaves.len() < BUNDLE {
            return;
        }
        let mut carry = root_by_levels(std::mem::take(&mut self.leaves));
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
        let rest = (!self.leaves.is_empty()).then(|| root_by_levels(self.leaves.clone()));
        let mut from_the_right = rest.into_iter().chain(self.peaks.iter().flatten().copied());
        let Some(smallest) = from_the_right.next() else {
            return Digest::of(b"");
        };
        from_the_right.fold(smallest, |right, left| node(&left, &right))
    }
}

/// The root over some leaves, level by level.
fn root_by_levels(mut level: Vec<Digest>) -> Digest {
    while level.len() > 1 {
        let nodes: Vec<[u8; 65]> = level.chunks_exact(2).map(|pair| preimage(&pair[0], &pair[1])).collect();
        let mut above = Digest::of_many(nodes.iter().map(|node| [&node[..], &[]]));
        above.extend(level.chunks_exact(2).remainder());
        level = above;
    }
    level[0]
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
    Digest::of(&preimage(left, right))
}

/// What a node is the digest of.
fn preimage(left: &Digest, right: &Digest) -> [u8; 65] {
    let mut bytes = [1; 65];
    bytes[1..33].copy_from_slice(&left.0);
    bytes[33..].copy_from_slice(&right.0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, written the other way round: level by level over all leaves at once.
    fn defined_root(mut level: Vec<Digest>) -> Digest {
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
        let around_bundles = (1..6).flat_map(|bundles| BUNDLE * bundles - 1..=BUNDLE * bundles + 2);
        for count in (0..70).chain(around_bundles) {
            let leaves: Vec<Digest> = (0..count).map(|i| Digest::of(&i.to_le_bytes())).collect();
            let mut merkle = Merkle::default();
            leaves.iter().for_each(|leaf| merkle.push(*leaf));
            assert_eq!(merkle.root(), defined_root(leaves), "{count} leaves");
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
    fn a_node_is_no_leaf() {
        let (a, b) = (Digest::of(b"{a"), Digest::of(b"{b"));
        let mut merkle = Merkle::default();
        merkle.push(a);
        assert_eq!(merkle.root(), a);
        merkle.push(b);
        assert_eq!(merkle.root(), Digest::of(&[&[1u8], &a.0[..], &b.0[..]].concat()));
    }
}
