//! The harness's side of the helper: starts it, hands it jobs, starts it again should it have died.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use super::cgroup::{Group, Groups};
use super::helper::{GroupFd, Request};
use super::job::{job, rules};
use super::seccomp::{self, Rules};
use super::supervise::{Ends, Watched};
use super::{At, Step, channel};
use crate::guards::Guards;
use crate::outcome::{Infra, Outcome};
use crate::sandbox::{Around, Helper};
use crate::scratch::Scratch;
use crate::spec::{Network, Source, Spec, Stdin, Work};
use crate::tier::Tier;

/// Starts boxes.
#[derive(Debug)]
pub(crate) struct Launcher {
    helper: Helper,
    scratch: PathBuf,
    link: Mutex<Option<Link>>,
    filters: Mutex<BTreeMap<Rules, Vec<Vec<u64>>>>,
    /// Where boxes are counted. Groups in a scope go with the helper, and come again with the next.
    groups: Mutex<Option<Arc<Groups>>>,
}

/// A helper and the way to it.
#[derive(Debug)]
struct Link {
    socket: Arc<OwnedFd>,
    child: std::process::Child,
}

impl Drop for Link {
    fn drop(&mut self) {
        // Closing our end is what tells the helper to end; the socket is the only reference once no run is under way.
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
        let _ = self.child.wait();
    }
}

impl Launcher {
    /// Starts the helper. `scratch` is where tiers without a private root make their work directories.
    pub(crate) fn new(helper: Helper, scratch: PathBuf) -> io::Result<Launcher> {
        let launcher = Launcher {
            helper,
            scratch,
            link: Mutex::default(),
            filters: Mutex::default(),
            groups: Mutex::default(),
        };
        launcher.connect(None)?;
        Ok(launcher)
    }

    /// The socket to a living helper; `dead` is one that has just failed.
    fn connect(&self, dead: Option<&Arc<OwnedFd>>) -> io::Result<Arc<OwnedFd>> {
        let mut link = self.link.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let living = |link: &&Link| dead.is_none_or(|dead| !Arc::ptr_eq(&link.socket, dead));
        if let Some(known) = link.as_ref().filter(living) {
            return Ok(Arc::clone(&known.socket));
        }
        let (ours, theirs) = channel::pair()?;
        let child = self.helper.start(theirs)?;
        let socket = Arc::new(ours);
        let helper = child.id();
        // The old helper goes before the new one is counted anywhere.
        *link = None;
        let new = Link { socket: Arc::clone(&socket), child };
        let mut groups = self.groups.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if groups.as_ref().is_some_and(|groups| groups.in_scope()) {
            *groups = Some(Arc::new(Groups::ask(helper)?));
        }
        *link = Some(new);
        Ok(socket)
    }

    /// Has boxes counted here from now on.
    pub(crate) fn count_with(&self, groups: Groups) {
        *self.groups.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(Arc::new(groups));
    }

    fn groups(&self) -> Option<Arc<Groups>> {
        self.groups.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// The helper's process.
    pub(crate) fn helper_pid(&self) -> Option<u32> {
        let link = self.link.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        link.as_ref().map(|link| link.child.id())
    }

    fn filters(&self, rules: Rules) -> Vec<Vec<u64>> {
        let mut known = self.filters.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        known.entry(rules).or_insert_with(|| seccomp::filters(rules)).clone()
    }

    /// Runs one box from start to end.
    pub(crate) fn run(&self, spec: &Spec, tier: Tier, around: Around<'_>) -> Outcome {
        match self.start(spec, tier, around.end) {
            Ok(watched) => watched.watch(spec, tier, around.cancel, around.opened),
            Err(step) => Outcome::failed(tier, spec, Infra::Setup { step: step.step, errno: step.errno }),
        }
    }

    fn start(&self, spec: &Spec, tier: Tier, end: Option<OwnedFd>) -> Result<Watched, Step> {
        let scratch = match (&spec.work, tier) {
            (Work::Private, Tier::Strong) | (Work::Host(_), _) => None,
            (Work::Private, _) => Some(Scratch::new(&self.scratch).at("make a work directory")?),
        };
        let work: Option<&Path> = match &spec.work {
            Work::Host(path) => Some(path),
            Work::Private => scratch.as_ref().map(Scratch::path),
        };
        let counted = self.groups().is_some_and(|groups| groups.holds_memory());
        let filters =
            if tier >= Tier::Confined { self.filters(rules(spec, tier, counted)) } else { Vec::new() };
        let job = memory_file("job", &job(spec, tier, work, filters, counted).encode())?;
        let stdin = match (end, &spec.stdin) {
            (Some(end), _) => end,
            (None, Stdin::Null) => {
                rustix::fs::open("/dev/null", rustix::fs::OFlags::CLOEXEC, rustix::fs::Mode::empty())
                    .at("open /dev/null")?
            }
            (None, Stdin::Bytes(bytes)) if bytes.len() <= PIPED => filled_pipe(bytes)?,
            (None, Stdin::Bytes(bytes)) => memory_file("stdin", bytes)?,
        };
        let (ends, theirs) = Ends::new().at("make pipes")?;
        let mut fds: Vec<BorrowedFd<'_>> = vec![job.as_fd(), theirs.control.as_fd(), stdin.as_fd()];
        fds.extend([theirs.stdout.as_fd(), theirs.stderr.as_fd()]);
        let socket = self.connect(None).at("start the helper")?;
        let asked = match self.ask(&socket, spec, tier, &fds) {
            // Started again once if it is gone, with groups of its own if the old ones were gone with it.
            Err(_) if channel::is_closed(&socket) => {
                let socket = self.connect(Some(&socket)).at("start the helper again")?;
                self.ask(&socket, spec, tier, &fds)
            }
            asked => asked,
        };
        Ok(Watched { ends, scratch, group: asked? })
    }

    /// Makes the box's group and hands everything over.
    fn ask(
        &self,
        socket: &OwnedFd,
        spec: &Spec,
        tier: Tier,
        first: &[BorrowedFd<'_>],
    ) -> Result<Option<Group>, Step> {
        let groups = self.groups().filter(|_| tier != Tier::None);
        let group = groups.map(|groups| groups.make(&spec.limits, tier).at("make a cgroup")).transpose()?;
        let mut fds = first.to_vec();
        fds.extend(group.as_ref().map(Group::fd));
        fds.extend(group.as_ref().and_then(Group::cpu));
        fds.extend(spec.files.iter().filter_map(|place| match &place.source {
            Source::Fd(fd) => Some(fd.as_fd()),
            Source::Bytes(_) => None,
        }));
        let request = Request {
            namespaces: namespaces(spec, tier),
            group: group.as_ref().map_or(GroupFd::None, Group::kind),
            clock: !spec.without.has(Guards::CLOCK),
            counts_cpu: group.as_ref().is_some_and(|group| group.cpu().is_some()),
        };
        if fds.len() > channel::MAX_FDS {
            return Err(Step { step: "ask the helper".into(), errno: libc::E2BIG });
        }
        channel::send(socket, &request.encode(), &fds).at("ask the helper")?;
        Ok(group)
    }
}

/// A sealed file in memory, read from its beginning.
/// What every pipe holds without a reader.
const PIPED: usize = 4096;

/// A little standard input: what was read from it once is gone, and cannot be read again.
fn filled_pipe(bytes: &[u8]) -> Result<OwnedFd, Step> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).at("make a pipe")?;
    io::Write::write_all(&mut std::fs::File::from(writer), bytes).at("fill a pipe")?;
    Ok(reader)
}

fn memory_file(name: &str, bytes: &[u8]) -> Result<OwnedFd, Step> {
    let fd = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).at("make a memory file")?;
    let mut file = std::fs::File::from(fd);
    io::Write::write_all(&mut file, bytes).at("fill a memory file")?;
    io::Seek::rewind(&mut file).at("fill a memory file")?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals).at("seal a memory file")?;
    Ok(file.into())
}

fn namespaces(spec: &Spec, tier: Tier) -> u64 {
    if tier != Tier::Strong {
        return 0;
    }
    let mut flags = libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWCGROUP | libc::CLONE_NEWPID;
    for (guard, flag) in
        [(Guards::NET, libc::CLONE_NEWNET), (Guards::IPC, libc::CLONE_NEWIPC | libc::CLONE_NEWUTS)]
    {
        if !spec.without.has(guard) {
            flags |= flag;
        }
    }
    if spec.network == Network::Host {
        flags &= !libc::CLONE_NEWNET;
    }
    flags as u64
}
