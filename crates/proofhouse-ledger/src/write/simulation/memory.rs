//! What a disk holds in its cache and what on its plates, and what is left of both when the power goes.

use std::collections::BTreeMap;

/// Bytes that reach the disk together or not at all.
const SECTOR: usize = 512;

/// A fixed sequence of numbers: one seed reproduces a history.
#[derive(Clone)]
pub(super) struct Luck(u64);

impl Luck {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % bound.max(1) as u64) as usize
    }
}

#[derive(Clone)]
pub(super) enum FileOp {
    Write(usize, Vec<u8>),
    Cut(usize),
}

impl FileOp {
    pub(super) fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            FileOp::Write(at, written) => {
                bytes.resize(bytes.len().max(at + written.len()), 0);
                bytes[*at..at + written.len()].copy_from_slice(written);
            }
            FileOp::Cut(length) => bytes.resize(*length, 0),
        }
    }
}

#[derive(Clone, Default)]
pub(super) struct File {
    pub(super) durable: Vec<u8>,
    pub(super) now: Vec<u8>,
    pub(super) since: Vec<FileOp>,
}

#[derive(Clone)]
pub(super) enum NameOp {
    Add(String, usize),
    Remove(String),
    Rename(String, String),
}

pub(super) type Names = BTreeMap<String, usize>;

impl NameOp {
    pub(super) fn apply(&self, names: &mut Names) {
        match self {
            NameOp::Add(name, id) => drop(names.insert(name.clone(), *id)),
            NameOp::Remove(name) => drop(names.remove(name)),
            NameOp::Rename(from, to) => {
                if let Some(id) = names.remove(from) {
                    names.insert(to.clone(), id);
                }
            }
        }
    }
}

#[derive(Clone, Default)]
pub(super) struct Dir {
    pub(super) durable: Names,
    pub(super) now: Names,
    pub(super) since: Vec<NameOp>,
}

impl Dir {
    pub(super) fn change(&mut self, op: NameOp) {
        op.apply(&mut self.now);
        self.since.push(op);
    }
}

#[derive(Clone)]
pub(super) enum Inode {
    File(File),
    Dir(Dir),
}

/// Names that were not synced: all, none, those up to a moment, or any.
pub(super) fn resolved_names(dir: &Dir, luck: &mut Luck) -> Names {
    if dir.since.is_empty() {
        return dir.now.clone();
    }
    let mut names = dir.durable.clone();
    let (way, upto) = (luck.below(4), luck.below(dir.since.len() + 1));
    for (at, op) in dir.since.iter().enumerate() {
        let kept = match way {
            0 => true,
            1 => false,
            2 => at < upto,
            _ => luck.below(2) == 0,
        };
        if kept {
            op.apply(&mut names);
        }
    }
    names
}

/// Sectors that were not synced: each is as it was after any of the operations since, or, where the disk never had one in
/// that place, anything at all.
pub(super) fn resolved_bytes(file: &File, luck: &mut Luck) -> Vec<u8> {
    if file.since.is_empty() {
        return file.now.clone();
    }
    let mut versions = vec![file.durable.clone()];
    for op in &file.since {
        let mut next = versions[versions.len() - 1].clone();
        op.apply(&mut next);
        versions.push(next);
    }
    let way = luck.below(4);
    let pick = |luck: &mut Luck| match way {
        0 => versions.len() - 1,
        1 => 0,
        _ => luck.below(versions.len()),
    };
    let mut length = versions[pick(luck)].len();
    let fresh = file.durable.len().next_multiple_of(SECTOR);
    if way == 3 && length > fresh && luck.below(2) == 0 {
        length = fresh + luck.below((length - fresh) / SECTOR + 1) * SECTOR;
    }
    let mut bytes = vec![0; length];
    for from in (0..length).step_by(SECTOR) {
        let to = (from + SECTOR).min(length);
        let version = &versions[pick(luck)];
        let have = version.len().min(to);
        if from < have {
            bytes[from..have].copy_from_slice(&version[from..have]);
        }
        if way == 3 && from >= fresh {
            match luck.below(6) {
                0 => bytes[from..to].fill(0),
                1 => bytes[from..to].fill(0xff),
                2 => bytes[from..to].iter_mut().for_each(|byte| *byte = luck.below(256) as u8),
                _ => {}
            }
        }
    }
    bytes
}
