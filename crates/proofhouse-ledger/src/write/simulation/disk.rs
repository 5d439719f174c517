//! A disk in memory that knows what it has promised: what was synced is kept, everything else is as luck would have it.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard};

use camino::Utf8Path;

use super::memory::{Dir, File, FileOp, Inode, Luck, NameOp, resolved_bytes, resolved_names};
use crate::disk::{Disk, DiskFile, Node};

/// What goes wrong at one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// EIO.
    Broken,
    /// ENOSPC, for this operation and for all that need room after it.
    Full,
    /// A write takes a part only; nothing else can.
    Short,
    /// EINTR.
    Interrupted,
}

/// A mistake that an implementation could make, made by the disk in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mistake {
    None,
    /// Files of this ending are not synced.
    NoSync(&'static str),
    /// The run directory's names are not synced.
    NoSyncOfNames,
    /// The names beside the run directory are not synced.
    NoSyncOfNeighbours,
    /// A sync that failed is taken for one that did not.
    SyncErrorsIgnored,
    /// A write that failed is taken for one that did not.
    WriteErrorsIgnored,
    /// A short write is taken for a whole one.
    ShortWritesIgnored,
    /// An interrupted write is taken for a whole one.
    InterruptionsIgnored,
    /// Files are not cut.
    NoCut,
    /// Opening a file for appending empties it.
    OpenEmpties,
    /// A sync keeps the content and forgets the length.
    LengthNotSynced,
    /// Drafts are written where the file will be.
    NoDrafts,
    /// The old file is removed before the new one gets its name, and the removal is durable first.
    RemoveThenRename,
    /// Reading back gives what the disk held before.
    StaleReads,
    /// Appends go where the file ended when it was opened.
    AppendsOverwrite,
}

#[derive(Clone)]
struct State {
    /// The root is the first.
    inodes: Vec<Inode>,
    operations: usize,
    /// The power goes before this operation.
    ends_at: usize,
    fault: Option<(usize, Fault)>,
    full: bool,
    mistake: Mistake,
}

/// The disk; clones share it.
#[derive(Clone)]
pub(super) struct Simulated(Arc<Mutex<State>>);

impl Simulated {
    pub(super) fn new(mistake: Mistake) -> Self {
        Self::of(State {
            inodes: vec![Inode::Dir(Dir::default())],
            operations: 0,
            ends_at: usize::MAX,
            fault: None,
            full: false,
            mistake,
        })
    }

    fn of(state: State) -> Self {
        Self(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// A disk of its own with the same content, which loses power before this operation or has this fault.
    pub(super) fn copy(&self, ends_at: usize, fault: Option<(usize, Fault)>) -> Self {
        let state = self.state().clone();
        Self::of(State { operations: 0, ends_at, fault, full: false, ..state })
    }

    pub(super) fn operations(&self) -> usize {
        self.state().operations
    }

    pub(super) fn has_ended(&self) -> bool {
        let state = self.state();
        state.operations > state.ends_at
    }

    /// What the disk holds when the power comes back.
    pub(super) fn after_power_loss(&self, luck: &mut Luck) -> Self {
        let state = self.state();
        let inodes = state.inodes.iter().map(|inode| match inode {
            Inode::Dir(dir) => {
                let names = resolved_names(dir, luck);
                Inode::Dir(Dir { durable: names.clone(), now: names, since: Vec::new() })
            }
            Inode::File(file) => {
                let bytes = resolved_bytes(file, luck);
                Inode::File(File { durable: bytes.clone(), now: bytes, since: Vec::new() })
            }
        });
        Self::of(State {
            inodes: inodes.collect(),
            operations: 0,
            ends_at: usize::MAX,
            fault: None,
            full: false,
            mistake: state.mistake,
        })
    }

    pub(super) fn exists(&self, path: &Utf8Path) -> bool {
        self.look(path).is_ok()
    }

    /// The whole content of a file.
    pub(super) fn content(&self, path: &Utf8Path) -> Option<Vec<u8>> {
        let state = self.state();
        match &state.inodes[state.find(path).ok()?] {
            Inode::File(file) => Some(file.now.clone()),
            Inode::Dir(_) => None,
        }
    }
}

fn not_found() -> io::Error {
    io::ErrorKind::NotFound.into()
}

fn split(path: &Utf8Path) -> (&Utf8Path, String) {
    (path.parent().unwrap_or(Utf8Path::new("")), path.file_name().unwrap_or_default().to_owned())
}

impl State {
    /// Counts an operation that changes something; it may be the last one, or the one that fails.
    fn step(&mut self, needs_room: bool) -> io::Result<Option<Fault>> {
        let number = self.operations;
        self.operations += 1;
        if number >= self.ends_at {
            self.operations = self.ends_at + 1;
            return Err(io::Error::other("the power is gone"));
        }
        let fault = self.fault.filter(|(at, _)| *at == number).map(|(_, fault)| fault);
        self.full |= fault == Some(Fault::Full);
        match fault {
            _ if self.full && needs_room => Ok(Some(Fault::Full)),
            Some(Fault::Broken) => Ok(Some(Fault::Broken)),
            Some(Fault::Interrupted) => Ok(Some(Fault::Interrupted)),
            Some(Fault::Short) => Ok(Some(Fault::Short)),
            _ => Ok(None),
        }
    }

    /// The same for what can fail, but not be done in part.
    fn whole_step(&mut self, needs_room: bool) -> io::Result<()> {
        match self.step(needs_room)? {
            None | Some(Fault::Short) => Ok(()),
            Some(fault) => Err(error(fault)),
        }
    }

    fn find(&self, path: &Utf8Path) -> io::Result<usize> {
        let mut id = 0;
        for name in path.as_str().split('/').filter(|name| !name.is_empty() && *name != ".") {
            match &self.inodes[id] {
                Inode::Dir(dir) => id = *dir.now.get(name).ok_or_else(not_found)?,
                Inode::File(_) => return Err(not_found()),
            }
        }
        Ok(id)
    }

    fn dir(&mut self, path: &Utf8Path) -> io::Result<&mut Dir> {
        let id = self.find(path)?;
        match &mut self.inodes[id] {
            Inode::Dir(dir) => Ok(dir),
            Inode::File(_) => Err(not_found()),
        }
    }

    fn file(&mut self, id: usize) -> &mut File {
        match &mut self.inodes[id] {
            Inode::File(file) => file,
            Inode::Dir(_) => panic!("a directory is no file"),
        }
    }
}

fn error(fault: Fault) -> io::Error {
    match fault {
        Fault::Broken | Fault::Short => io::Error::from_raw_os_error(5),
        Fault::Full => io::Error::from_raw_os_error(28),
        Fault::Interrupted => io::ErrorKind::Interrupted.into(),
    }
}

struct Open {
    disk: Simulated,
    id: usize,
    path: String,
    at: usize,
    start: usize,
}

impl DiskFile for Open {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.disk.state();
        let mistake = state.mistake;
        let fault = state.step(true)?;
        let (takes, says) = match fault {
            None => (bytes.len(), Ok(bytes.len())),
            Some(Fault::Short) if bytes.len() > 1 => {
                let half = bytes.len() / 2;
                (half, Ok(if mistake == Mistake::ShortWritesIgnored { bytes.len() } else { half }))
            }
            Some(Fault::Short) => (bytes.len(), Ok(bytes.len())),
            Some(Fault::Interrupted) if mistake == Mistake::InterruptionsIgnored => (0, Ok(bytes.len())),
            Some(fault) if mistake == Mistake::WriteErrorsIgnored && fault != Fault::Interrupted => {
                (0, Ok(bytes.len()))
            }
            // A full or broken disk may have taken a part.
            Some(Fault::Full | Fault::Broken) => (bytes.len() / 3, Err(error(fault.unwrap()))),
            Some(fault) => (0, Err(error(fault))),
        };
        let at = if mistake == Mistake::AppendsOverwrite { self.start } else { self.at };
        let op = FileOp::Write(at, bytes[..takes].to_vec());
        let file = state.file(self.id);
        op.apply(&mut file.now);
        file.since.push(op);
        self.at += takes;
        says
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let mut state = self.disk.state();
        let mistake = state.mistake;
        let file = state.file(self.id);
        let bytes = if mistake == Mistake::StaleReads { &file.durable } else { &file.now };
        let from = offset as usize;
        let part = bytes.get(from..from + into.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        into.copy_from_slice(part);
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        state.whole_step(false)?;
        let mistake = state.mistake;
        let length = match mistake {
            Mistake::NoCut => state.file(self.id).now.len(),
            Mistake::OpenEmpties => 0,
            _ => length as usize,
        };
        let file = state.file(self.id);
        if file.now.len() != length {
            let op = FileOp::Cut(length);
            op.apply(&mut file.now);
            file.since.push(op);
        }
        (self.at, self.start) = (length, length);
        Ok(())
    }

    fn seek(&mut self, offset: u64) -> io::Result<()> {
        self.at = offset as usize;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.state();
        let mistake = state.mistake;
        match state.whole_step(false) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(_) if mistake == Mistake::SyncErrorsIgnored && state.operations <= state.ends_at => {
                return Ok(());
            }
            outcome => outcome?,
        }
        if matches!(mistake, Mistake::NoSync(ending) if self.path.ends_with(ending)) {
            return Ok(());
        }
        let file = state.file(self.id);
        let length = file.durable.len();
        file.durable.clone_from(&file.now);
        file.since.clear();
        if mistake == Mistake::LengthNotSynced && file.now.len() > length {
            file.durable.truncate(length);
            file.since.push(FileOp::Write(length, file.now[length..].to_vec()));
        }
        Ok(())
    }
}

impl Disk for Simulated {
    fn look(&self, path: &Utf8Path) -> io::Result<Node> {
        let state = self.state();
        Ok(match &state.inodes[state.find(path)?] {
            Inode::File(file) => Node::File(file.now.len() as u64),
            Inode::Dir(_) => Node::Dir,
        })
    }

    fn read(&self, path: &Utf8Path) -> io::Result<Box<dyn Read + Send>> {
        let bytes = self.content(path).ok_or_else(not_found)?;
        Ok(Box::new(io::Cursor::new(bytes)))
    }

    fn open(&self, path: &Utf8Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        let place = match path.as_str().strip_suffix(".draft") {
            Some(place) if state.mistake == Mistake::NoDrafts => Utf8Path::new(place),
            _ => path,
        };
        let id = match state.find(place) {
            Ok(id) => id,
            Err(_) => {
                state.whole_step(true)?;
                let id = state.inodes.len();
                let (dir, name) = split(place);
                state.dir(dir)?.change(NameOp::Add(name, id));
                state.inodes.push(Inode::File(File::default()));
                id
            }
        };
        Ok(Box::new(Open { disk: self.clone(), id, path: path.to_string(), at: 0, start: 0 }))
    }

    fn list(&self, dir: &Utf8Path) -> io::Result<Vec<String>> {
        Ok(self.state().dir(dir)?.now.keys().cloned().collect())
    }

    fn make_dir(&self, dir: &Utf8Path) -> io::Result<()> {
        let mut state = self.state();
        if state.find(dir).is_ok() {
            return Ok(());
        }
        state.whole_step(true)?;
        let id = state.inodes.len();
        let (above, name) = split(dir);
        state.dir(above)?.change(NameOp::Add(name, id));
        state.inodes.push(Inode::Dir(Dir::default()));
        Ok(())
    }

    fn rename(&self, from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
        let mut state = self.state();
        if state.mistake == Mistake::NoDrafts && from.as_str().ends_with(".draft") {
            return Ok(());
        }
        state.whole_step(false)?;
        let ((above, old), (_, new)) = (split(from), split(to));
        let remove_first = state.mistake == Mistake::RemoveThenRename;
        let dir = state.dir(above)?;
        if !dir.now.contains_key(&old) {
            return Err(not_found());
        }
        if remove_first && dir.now.contains_key(&new) {
            dir.change(NameOp::Remove(new.clone()));
            dir.durable.remove(&new);
        }
        dir.change(NameOp::Rename(old, new));
        Ok(())
    }

    fn remove_file(&self, path: &Utf8Path) -> io::Result<()> {
        let mut state = self.state();
        state.find(path)?;
        state.whole_step(false)?;
        let (above, name) = split(path);
        state.dir(above)?.change(NameOp::Remove(name));
        Ok(())
    }

    fn remove_dir(&self, dir: &Utf8Path) -> io::Result<()> {
        let mut state = self.state();
        if !state.dir(dir)?.now.is_empty() {
            return Err(io::Error::from_raw_os_error(39));
        }
        state.whole_step(false)?;
        let (above, name) = split(dir);
        state.dir(above)?.change(NameOp::Remove(name));
        Ok(())
    }

    fn sync_dir(&self, path: &Utf8Path) -> io::Result<()> {
        let mut state = self.state();
        let mistake = state.mistake;
        match state.whole_step(false) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(_) if mistake == Mistake::SyncErrorsIgnored && state.operations <= state.ends_at => {
                return Ok(());
            }
            outcome => outcome?,
        }
        let is_root = path.as_str().trim_matches(['.', '/']).is_empty();
        if mistake == if is_root { Mistake::NoSyncOfNeighbours } else { Mistake::NoSyncOfNames } {
            return Ok(());
        }
        let dir = state.dir(path)?;
        dir.durable.clone_from(&dir.now);
        dir.since.clear();
        Ok(())
    }
}
