//! The last steps before hostile code runs, in the forked child of init: own session, three descriptors, limits, no privileges,
//! Landlock, seccomp, exec. Everything that can fail is told to init over a pipe that exec closes.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

use super::landlock::{Reach, restrict};
use super::root::DEVICES;
use super::seccomp::settle;
use super::start::Start;
use super::wire::Job;
use super::{At, Step, sys};
use crate::guards::Guards;
use crate::spec::Limits;

/// Everything the child needs, prepared by init.
pub(crate) struct Payload<'a> {
    pub(crate) job: &'a Job,
    pub(crate) limits: &'a Limits,
    /// Standard input, output and error.
    pub(crate) stdio: [&'a OwnedFd; 3],
    /// Where a failure is told.
    pub(crate) failures: &'a OwnedFd,
    /// The work directory as this process sees it.
    pub(crate) work: &'a Path,
    /// The user to become, when init is root.
    pub(crate) user: Option<User>,
    /// Processes of the same user that are not the box's and count against its limit.
    pub(crate) others: u64,
}

/// The user of a box whose caller is root.
#[derive(Clone, Copy)]
pub(crate) struct User {
    pub(crate) id: u32,
    /// May pass directories and read files that are not open to it.
    pub(crate) read_all: bool,
}

/// A failure of the child: a step of the setup, or the program itself.
pub(crate) struct Failure {
    pub(crate) step: Step,
    pub(crate) exec: bool,
}

impl From<Step> for Failure {
    fn from(step: Step) -> Failure {
        Failure { step, exec: false }
    }
}

/// What a program without a private root may read of `/proc`: itself, and nothing of mounts, sockets or others.
const OWN_PROC: [&str; 9] = [
    "/proc/self/status",
    "/proc/self/stat",
    "/proc/self/statm",
    "/proc/self/cmdline",
    "/proc/self/maps",
    "/proc/self/comm",
    "/proc/self/limits",
    "/proc/self/auxv",
    "/proc/self/fd",
];

/// Number of the failure pipe while the child sets itself up.
const FAILURES: RawFd = 3;

impl Payload<'_> {
    /// Runs in the forked child and never returns.
    pub(crate) fn become_it(&self) -> ! {
        let Err(failure) = self.start();
        let mut text = failure.step.errno.to_ne_bytes().to_vec();
        text.push(u8::from(failure.exec));
        text.extend_from_slice(failure.step.step.as_bytes());
        // SAFETY: the number was made in `descriptors`, or is not open, in which case the write fails and init sees a death
        // without a word, which it reports as such.
        let pipe = unsafe { std::os::fd::BorrowedFd::borrow_raw(FAILURES) };
        let _ = rustix::io::write(pipe, &text);
        sys::exit_now(127)
    }

    fn start(&self) -> Result<std::convert::Infallible, Failure> {
        rustix::process::setsid().at("start a session")?;
        sys::reset_signals();
        sys::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as u64).at("bind to init")?;
        self.descriptors().at("set up descriptors")?;
        let start = self.work.join(OsStr::from_bytes(&self.job.cwd));
        rustix::process::chdir(&start).at("enter the work directory")?;
        if !self.without(Guards::RLIMITS) {
            self.rlimits()?;
        }
        self.privileges()?;
        self.landlock()?;
        if !self.job.builtin.is_empty() {
            // Exec would have undone this as well: the copy of init's memory is the payload's own now.
            let _ = sys::prctl(libc::PR_SET_DUMPABLE, 1);
            self.seccomp([0; 3])?;
            self.builtin();
        }
        let exec = |step| Failure { step, exec: true };
        let mut start = Start::new(&self.job.argv, &self.job.env, !self.job.exec).map_err(exec)?;
        self.seccomp(start.addresses())?;
        Err(exec(start.exec()))
    }

    fn without(&self, guard: Guards) -> bool {
        Guards(self.job.without).has(guard)
    }

    fn descriptors(&self) -> io::Result<()> {
        let above = |fd: &OwnedFd| sys::dup_above(fd.as_raw_fd(), 10);
        let stdio = [above(self.stdio[0])?, above(self.stdio[1])?, above(self.stdio[2])?];
        let failures = above(self.failures)?;
        for (number, fd) in stdio.into_iter().enumerate() {
            sys::dup_onto(fd, number as RawFd, false)?;
        }
        sys::dup_onto(failures, FAILURES, true)?;
        if self.without(Guards::FDS) { Ok(()) } else { sys::close_from(FAILURES + 1) }
    }

    fn rlimits(&self) -> Result<(), Step> {
        let limits = self.limits;
        let rows = [
            // One byte: no core file is so small, and unlike 0 it also keeps the host's crash handler from being started.
            (Resource::Core, Some(1)),
            (Resource::Cpu, Some(kernel_cpu_seconds(limits))),
            (Resource::As, limits.address_bytes),
            (Resource::Nproc, Some(limits.processes + 1 + self.others)),
            (Resource::Nofile, Some(limits.open_files)),
            (Resource::Fsize, Some(limits.file_bytes)),
            (Resource::Memlock, Some(64 * 1024)),
            (Resource::Msgqueue, Some(0)),
            (Resource::Rtprio, Some(0)),
            (Resource::Nice, Some(0)),
        ];
        for (resource, value) in rows {
            let Some(value) = value else { continue };
            let value = within_host(resource, value);
            let limit = Rlimit { current: Some(value), maximum: Some(value) };
            setrlimit(resource, limit).at(format!("set the limit {resource:?}"))?;
        }
        Ok(())
    }

    fn privileges(&self) -> Result<(), Step> {
        if let Some(User { id, .. }) = self.user {
            let (user, group) = (rustix::fs::Uid::from_raw(id), rustix::fs::Gid::from_raw(id));
            match rustix::thread::set_thread_groups(&[]) {
                Ok(()) | Err(rustix::io::Errno::PERM) => {}
                Err(error) => return Err(error).at("leave all groups"),
            }
            rustix::thread::set_keep_capabilities(true).at("keep capabilities for a moment")?;
            rustix::thread::set_thread_res_gid(group, group, group).at("become the box's group")?;
            rustix::thread::set_thread_res_uid(user, user, user).at("become the box's user")?;
            rustix::thread::set_keep_capabilities(false).at("keep capabilities no more")?;
        }
        if self.without(Guards::PRIVILEGES) {
            // Becoming another user has put them to sleep.
            let mut sets = rustix::thread::capabilities(None).at("read capabilities")?;
            sets.effective = sets.permitted;
            return rustix::thread::set_capabilities(None, sets).at("keep capabilities");
        }
        let kept = match self.user {
            Some(User { read_all: true, .. }) => CapabilitySet::DAC_READ_SEARCH,
            _ => CapabilitySet::empty(),
        };
        drop_capabilities(kept).at("drop capabilities")?;
        rustix::thread::set_no_new_privs(true).at("refuse new privileges")
    }

    fn landlock(&self) -> Result<(), Step> {
        if !self.job.landlock || self.without(Guards::LANDLOCK) {
            return Ok(());
        }
        let devices = DEVICES.map(Path::new);
        let host = |bytes: &'_ [u8]| Path::new(OsStr::from_bytes(bytes)).to_owned();
        let binds: Vec<_> = self.job.binds.iter().map(|(path, _)| host(path)).collect();
        let mut read: Vec<&Path> =
            if self.job.strong { vec![Path::new("/")] } else { binds.iter().map(AsRef::as_ref).collect() };
        // Of the host's `/proc` only what is about this process, which keeps its number when it becomes the program.
        if self.job.proc && !self.job.strong {
            read.extend(OWN_PROC.iter().map(Path::new));
        }
        let reach =
            Reach { read, write: vec![self.work], devices: devices.to_vec(), network: self.job.network };
        match restrict(&reach) {
            Ok(true) => Ok(()),
            // In a private root Landlock is the second lock; a kernel without it still has the first.
            Ok(false) if self.job.strong => Ok(()),
            Ok(false) => Err(Step { step: "restrict with Landlock".into(), errno: libc::EOPNOTSUPP }),
            Err(why) => Err(Step { step: format!("restrict with Landlock: {why}"), errno: libc::EINVAL }),
        }
    }

    /// Installs the filters. `start` is where the program's path, arguments and environment are.
    fn seccomp(&self, start: [u64; 3]) -> Result<(), Step> {
        if self.without(Guards::SECCOMP) {
            return Ok(());
        }
        for filter in &self.job.filters {
            let mut filter = filter.clone();
            settle(&mut filter, start);
            sys::install_filter(&filter).at("install the system call filter")?;
        }
        Ok(())
    }

    /// Runs one of our own functions; the failure pipe is closed first, as exec would.
    fn builtin(&self) -> ! {
        // SAFETY: the number was made in `descriptors` and is owned by nothing else in this process.
        drop(unsafe { <OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(FAILURES) });
        let words: Vec<String> =
            self.job.builtin.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        sys::exit_now(crate::builtin::run(&words))
    }
}

/// A user may lower a limit but not raise it: what the host has already set lower stays.
fn within_host(resource: Resource, value: u64) -> u64 {
    rustix::process::getrlimit(resource).maximum.map_or(value, |hard| hard.min(value))
}

/// Where the kernel ends a process that init did not. It charges whole clock ticks, which on a busy machine may be more than was
/// used, so its limit stands far behind the one that init keeps: a program within its budget never meets it by bad luck.
pub(crate) fn kernel_cpu_seconds(limits: &Limits) -> u64 {
    within_host(Resource::Cpu, limits.cpu_ms.saturating_mul(2).div_ceil(1000) + 1)
}

/// Takes away every capability but `kept` and every way to gain one. What fails without privileges is fine: there is nothing to
/// take away then.
fn drop_capabilities(kept: CapabilitySet) -> rustix::io::Result<()> {
    let locked = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    let _ = rustix::thread::clear_ambient_capability_set();
    for number in (0..64).filter(|number| kept.bits() & (1u64 << number) == 0) {
        // Beyond its last capability the kernel says EINVAL.
        if sys::prctl(libc::PR_CAPBSET_DROP, number)
            .is_err_and(|error| error.raw_os_error() == Some(libc::EINVAL))
        {
            break;
        }
    }
    let setup = kept | CapabilitySet::SETPCAP;
    let has_any = !rustix::thread::capabilities(None)?.permitted.is_empty();
    if has_any {
        let sets = CapabilitySets { effective: setup, permitted: setup, inheritable: kept };
        let _ = rustix::thread::set_capabilities(None, sets);
        if !kept.is_empty() {
            rustix::thread::configure_capability_in_ambient_set(kept, true)?;
        }
        let _ = rustix::thread::set_capabilities_secure_bits(locked);
    }
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: kept };
    rustix::thread::set_capabilities(None, sets)
}
