//! Builds the private root: a tmpfs with the declared paths read-only, four devices and the work directory. Nothing of the host
//! is reachable afterwards.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
    UnmountFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount, open_tree,
    unmount,
};

use super::wire::Job;
use super::{At, Step, sys};
use crate::guards::Guards;
use crate::spec::Limits;

/// Devices that are there; `/dev/zero` is not, because a compiler would include it for ever.
pub(crate) const DEVICES: [&str; 4] = ["/dev/null", "/dev/urandom", "/dev/random", "/dev/full"];

/// The user that the payload is, inside.
pub(crate) const INSIDE_ID: u32 = 1000;

/// Where the work directory is, inside.
pub(crate) const WORK: &str = "/work";

/// A mount waiting for its place.
struct Tree {
    fd: OwnedFd,
    inside: Vec<u8>,
    directory: bool,
}

impl Tree {
    fn inside(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.inside))
    }
}

/// Makes the root and moves into it. Returns the box's own `/proc`, which init reads and the payload sees only if asked.
pub(crate) fn build(job: &Job, limits: &Limits, owner: u32) -> Result<OwnedFd, Step> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .at("make mounts private")?;
    let trees = take_trees(job)?;
    // The kernel gives a fresh `/proc` only to who can see one already.
    let proc = own_proc()?;
    let root = tmpfs("root", &[("size", "1m".into()), ("nr_inodes", "1k".into()), ("mode", "755".into())])?;
    enter(&root)?;
    // What the host keeps below a folder of the same name would be hidden by the work directory, so it comes after it.
    let (below, beside): (Vec<Tree>, Vec<Tree>) =
        trees.into_iter().partition(|tree| tree.inside().starts_with(WORK));
    for tree in &beside {
        attach(&tree.fd, tree.inside(), tree.directory)?;
    }
    let places = below.iter().map(|tree| tree.inside().components().count() as u64).sum();
    attach(&work(job, limits, owner, places)?, Path::new(WORK), true)?;
    for tree in &below {
        attach(&tree.fd, tree.inside(), tree.directory)?;
    }
    if job.proc {
        attach(&proc, Path::new("/proc"), true)?;
    }
    if !Guards(job.without).has(Guards::IPC) {
        rustix::system::sethostname(b"box").at("set the host name")?;
    }
    sys::set_mount_attributes(root.as_fd(), libc::MOUNT_ATTR_RDONLY, false).at("make the root read-only")?;
    Ok(proc)
}

/// Copies of the host's mounts, taken while the host is still in sight.
fn take_trees(job: &Job) -> Result<Vec<Tree>, Step> {
    let safe = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    let mut trees = Vec::new();
    for device in DEVICES {
        trees.push(take(
            device.as_bytes(),
            device.as_bytes(),
            libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC,
        )?);
    }
    for (host, inside) in &job.binds {
        trees.push(take(host, inside, safe | libc::MOUNT_ATTR_RDONLY)?);
    }
    Ok(trees)
}

fn take(host: &[u8], inside: &[u8], attributes: u64) -> Result<Tree, Step> {
    let name = || format!("bind `{}`", String::from_utf8_lossy(host));
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let fd = open_tree(CWD, host, flags).at(name())?;
    sys::set_mount_attributes(fd.as_fd(), attributes, true).at(name())?;
    let kind = rustix::fs::fstat(&fd).at(name())?;
    let directory = rustix::fs::FileType::from_raw_mode(kind.st_mode) == rustix::fs::FileType::Directory;
    Ok(Tree { fd, inside: inside.to_vec(), directory })
}

fn tmpfs(what: &str, options: &[(&str, String)]) -> Result<OwnedFd, Step> {
    let step = || format!("mount {what} tmpfs");
    let fs = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC).at(step())?;
    for (key, value) in options {
        fsconfig_set_string(fs.as_fd(), *key, value.as_str()).at(step())?;
    }
    fsconfig_create(fs.as_fd()).at(step())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(fs.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes).at(step())
}

/// The work directory; `places` are the inodes that mounts below it need, which are not the payload's.
fn work(job: &Job, limits: &Limits, owner: u32, places: u64) -> Result<OwnedFd, Step> {
    let id = owner.to_string();
    let mut options = vec![("mode", "755".to_owned()), ("uid", id.clone()), ("gid", id)];
    if !Guards(job.without).has(Guards::DISK) {
        options.push(("size", limits.disk_bytes.max(4096).to_string()));
        options.push(("nr_inodes", (limits.disk_inodes + 1 + places).to_string()));
    }
    tmpfs("work", &options)
}

/// A `/proc` of this pid namespace with nothing but processes in it.
fn own_proc() -> Result<OwnedFd, Step> {
    let fs = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC).at("mount proc")?;
    fsconfig_set_string(fs.as_fd(), "subset", "pid").at("mount proc")?;
    fsconfig_create(fs.as_fd()).at("mount proc")?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(fs.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes).at("mount proc")
}

/// Mounts the new root over the old, steps in, and lets go of the old.
fn enter(root: &OwnedFd) -> Result<(), Step> {
    let empty = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(root, "", CWD, "/", empty).at("mount the root")?;
    rustix::process::fchdir(root).at("enter the root")?;
    rustix::process::pivot_root(".", ".").at("change the root")?;
    unmount(".", UnmountFlags::DETACH).at("let go of the host")?;
    rustix::process::chdir("/").at("enter the root")
}

/// Attaches a mount at its place inside, making directories and an empty file as needed.
fn attach(mount: &OwnedFd, inside: &Path, directory: bool) -> Result<(), Step> {
    let step = || format!("place `{}`", inside.display());
    make_place(inside, directory).at(step())?;
    move_mount(mount, "", CWD, inside, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).at(step())
}

fn make_place(inside: &Path, directory: bool) -> std::io::Result<()> {
    if directory {
        return std::fs::create_dir_all(inside);
    }
    if let Some(parent) = inside.parent() {
        std::fs::create_dir_all(parent)?;
    }
    if !inside.exists() {
        rustix::fs::open(
            inside,
            OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC,
            Mode::from_raw_mode(0o444),
        )?;
    }
    Ok(())
}

/// Whether a tmpfs can be made here.
pub(crate) fn try_tmpfs() -> std::io::Result<()> {
    tmpfs("probe", &[]).map(drop).map_err(|step| std::io::Error::from_raw_os_error(step.errno))
}
