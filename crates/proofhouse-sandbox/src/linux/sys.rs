//! The system calls that no safe library offers. Every other Linux file of the crate goes through here for `unsafe`.

use std::ffi::{c_int, c_long};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// A process seen from its parent.
pub(crate) struct Child {
    pub(crate) pid: i32,
    pub(crate) pidfd: OwnedFd,
}

impl Child {
    /// Ends it, and nothing else that may have its number by now.
    pub(crate) fn kill(&self) {
        kill_by(&self.pidfd);
    }
}

/// Ends the process behind a pidfd. Failing (already gone) is fine.
pub(crate) fn kill_by(pidfd: &OwnedFd) {
    let _ = rustix::process::pidfd_send_signal(pidfd, rustix::process::Signal::KILL);
}

/// Larger than libc's type for it.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// Forks into new namespaces with `clone3`. Returns `None` in the child.
///
/// Only the helper calls this: it has one thread and little memory, so that the copy is cheap and every lock is free in the
/// child.
pub(crate) fn clone_into(flags: u64, cgroup: Option<BorrowedFd<'_>>) -> io::Result<Option<Child>> {
    let mut pidfd: c_int = -1;
    // SAFETY: `clone_args` is plain integers, for which all zeroes is a valid value.
    let mut args: libc::clone_args = unsafe { std::mem::zeroed() };
    args.flags = flags | libc::CLONE_PIDFD as u64;
    args.pidfd = std::ptr::from_mut(&mut pidfd) as u64;
    args.exit_signal = libc::SIGCHLD as u64;
    if let Some(group) = cgroup {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = group.as_raw_fd() as u64;
    }
    // SAFETY: no stack and no CLONE_VM: the child gets a copy of the address space, as after fork(); `args` and `pidfd`
    // outlive the call, and the caller is the helper with its only thread.
    let mut pid = unsafe { libc::syscall(libc::SYS_clone3, &raw const args, size_of::<libc::clone_args>()) };
    if pid == -1 && super::last_errno() == libc::ENOSYS && cgroup.is_none() {
        // Filters that cannot look into the arguments of `clone3` hide it; the older call has the same meaning here.
        let flags = args.flags | args.exit_signal;
        // SAFETY: as above; the third argument is where the older call puts the pidfd on every architecture.
        pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, &raw mut pidfd, 0, 0) };
    }
    finish_clone(pid, || pidfd)
}

/// Forks without namespaces, for hosts whose filter forbids `clone3`. Returns `None` in the child.
pub(crate) fn fork() -> io::Result<Option<Child>> {
    // SAFETY: the callers (helper and init) have one thread, so the child may do anything a process may.
    let pid = unsafe { libc::fork() };
    let open = || {
        // SAFETY: `pidfd_open` takes two integers; the pid is our own unreaped child.
        unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) as c_int }
    };
    finish_clone(c_long::from(pid), open)
}

fn finish_clone(pid: c_long, pidfd: impl FnOnce() -> c_int) -> io::Result<Option<Child>> {
    match pid {
        0 => Ok(None),
        -1 => Err(io::Error::last_os_error()),
        pid => {
            let fd = pidfd();
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: the kernel just made this descriptor for us and nobody else owns it.
            let pidfd = unsafe { OwnedFd::from_raw_fd(fd) };
            Ok(Some(Child { pid: pid as i32, pidfd }))
        }
    }
}

/// Ends the process at once, without running destructors or `atexit`, as a forked child must.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` takes an integer and does not return.
    unsafe { libc::_exit(code) }
}

/// Memory at an address that was drawn at random. It is never given back: its process soon becomes another program or ends.
pub(crate) struct Drawn {
    place: *mut u8,
    length: usize,
}

impl Drawn {
    /// Room for this many bytes.
    pub(crate) fn new(length: usize) -> io::Result<Drawn> {
        const PAGE: usize = 4096;
        const TRIES: usize = 64;
        // What user space has at least: 47 bits, or 39 where page tables may have three levels.
        let mask: u64 = if cfg!(target_arch = "x86_64") { (1 << 46) - 1 } else { (1 << 37) - 1 };
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        for _ in 0..TRIES {
            let mut draw = 0u64;
            // SAFETY: the call writes at most the eight bytes of `draw`.
            if unsafe { libc::getrandom((&raw mut draw).cast(), 8, 0) } != 8 {
                return Err(io::Error::last_os_error());
            }
            let drawn = (draw & mask) as usize & !7;
            let (page, offset) = (drawn & !(PAGE - 1), drawn & (PAGE - 1));
            // SAFETY: the mapping is new and at a place where none was, so that no memory in use changes.
            let got = unsafe { libc::mmap(page as *mut _, offset + length, rights, flags, -1, 0) };
            if got as usize == page {
                return Ok(Drawn { place: drawn as *mut u8, length });
            }
        }
        Err(io::Error::from_raw_os_error(libc::ENOMEM))
    }

    /// The same wherever there is room.
    pub(crate) fn anywhere(length: usize) -> io::Result<Drawn> {
        let place = Box::leak(vec![0u64; length.div_ceil(8)].into_boxed_slice());
        Ok(Drawn { place: place.as_mut_ptr().cast(), length })
    }

    /// Puts these bytes at its beginning, as many as there is room for.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let count = bytes.len().min(self.length);
        // SAFETY: the range was mapped writable by `new`, and nothing but this value refers to it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.place, count) };
    }

    pub(crate) fn address(&self) -> u64 {
        self.place as u64
    }
}

/// Replaces the program; returns only on failure. The path ends with a zero byte, both arrays with a null pointer.
pub(crate) fn execve(path: &Drawn, argv: &Drawn, env: &Drawn) -> io::Error {
    // SAFETY: the caller wrote a C string and two arrays of pointers to C strings, ended as said, which outlive the call.
    unsafe { libc::execve(path.place.cast(), argv.place.cast(), env.place.cast()) };
    io::Error::last_os_error()
}

/// Makes `fd` available under exactly this number, not closed on exec.
pub(crate) fn dup_onto(fd: RawFd, number: RawFd, close_on_exec: bool) -> io::Result<()> {
    if fd == number {
        let flags = if close_on_exec { libc::FD_CLOEXEC } else { 0 };
        // SAFETY: `fcntl` with F_SETFD takes integers only.
        return check(unsafe { libc::fcntl(fd, libc::F_SETFD, flags) });
    }
    let flags = if close_on_exec { libc::O_CLOEXEC } else { 0 };
    // SAFETY: `dup3` takes integers; the caller is a freshly forked child that has given up its other descriptors.
    check(unsafe { libc::dup3(fd, number, flags) })
}

/// A copy of `fd` with a number of at least `least`, closed on exec.
pub(crate) fn dup_above(fd: RawFd, least: RawFd) -> io::Result<RawFd> {
    // SAFETY: `fcntl` with F_DUPFD_CLOEXEC takes integers only.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, least) };
    check(copy).map(|()| copy)
}

/// Closes every descriptor from `first` on.
pub(crate) fn close_from(first: RawFd) -> io::Result<()> {
    // SAFETY: `close_range` takes integers; the caller is a forked child whose owned descriptors are never dropped, because
    // it ends in exec or `_exit`.
    check(unsafe {
        libc::syscall(libc::SYS_close_range, first as libc::c_uint, libc::c_uint::MAX, 0) as c_int
    })
}

/// Gives every signal its default action and unblocks all.
pub(crate) fn reset_signals() {
    for signal in 1..=64 {
        // SAFETY: SIG_DFL installs no code of ours; the calls that fail (SIGKILL, SIGSTOP, libc's own) may fail.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: an all-zero sigset is valid storage that sigemptyset initialises before sigprocmask reads it.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// What one reaped child left behind.
pub(crate) struct Reaped {
    pub(crate) pid: i32,
    pub(crate) status: c_int,
}

/// Reaps one child, waiting for it if `block`. `Ok(None)`: none is ready; `ECHILD` as error: there is none at all.
pub(crate) fn reap(block: bool) -> io::Result<Option<Reaped>> {
    let mut status = 0;
    let options = libc::__WALL | if block { 0 } else { libc::WNOHANG };
    // SAFETY: `status` is valid for writing during the call.
    match unsafe { libc::waitpid(-1, &raw mut status, options) } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        pid => Ok(Some(Reaped { pid, status })),
    }
}

/// A child that has ended and is still to be reaped.
pub(crate) fn ended_child() -> Option<i32> {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: an all-zero siginfo is valid, and what the call writes to it on success has a pid, which is 0 for no child.
    unsafe {
        let mut found: libc::siginfo_t = std::mem::zeroed();
        let done = libc::waitid(libc::P_ALL, 0, &raw mut found, options);
        (done == 0).then(|| found.si_pid()).filter(|pid| *pid != 0)
    }
}

/// CPU time of one process, ended or not but unreaped, as the kernel counts it for `RLIMIT_CPU`. Most kernels count whole clock
/// ticks there, so that a process which often gives way between two ticks has used less than it is charged.
pub(crate) fn charged_cpu_us(pid: i32) -> Option<u64> {
    // A process's clock is its inverted pid above three bits; all three zero: the whole process, user and system time as charged.
    clock_us(!pid << 3)
}

/// A clock of the kernel that counts the CPU time of this process and of everything that it will ever start.
pub(crate) fn task_clock(pid: i32) -> io::Result<OwnedFd> {
    const SOFTWARE: u64 = 1;
    const SIZE: u64 = 64;
    const TASK_CLOCK: u64 = 1;
    // Inherited; of user space only, which everybody may ask for their own processes and makes no difference to this clock.
    const FLAGS: u64 = 1 << 1 | 1 << 5 | 1 << 6;
    const CLOSE_ON_EXEC: u64 = 1 << 3;
    let attributes: [u64; 8] = [SOFTWARE | SIZE << 32, TASK_CLOCK, 0, 0, 0, FLAGS, 0, 0];
    // SAFETY: the attributes are as large as they say and outlive the call; the other arguments are integers.
    let fd = unsafe {
        libc::syscall(libc::SYS_perf_event_open, attributes.as_ptr(), pid, -1, -1, CLOSE_ON_EXEC) as c_int
    };
    check(fd)?;
    // SAFETY: the kernel just made this descriptor for us and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// CPU time of this process alone.
pub(crate) fn own_cpu_us() -> u64 {
    usage_of(libc::RUSAGE_SELF).0
}

/// CPU time of one process with all its threads, ended or not but unreaped, to the microsecond.
pub(crate) fn process_cpu_us(pid: i32) -> Option<u64> {
    clock_us(!pid << 3 | 2)
}

fn clock_us(clock: c_int) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writing during the call.
    check(unsafe { libc::clock_gettime(clock, &raw mut time) }).ok()?;
    Some(time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1000)
}

/// CPU time and largest resident set of all children reaped so far.
pub(crate) fn children_usage() -> (u64, u64) {
    usage_of(libc::RUSAGE_CHILDREN)
}

fn usage_of(whom: c_int) -> (u64, u64) {
    // SAFETY: an all-zero rusage is valid, and the call writes to it only.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(whom, &raw mut usage);
        usage
    };
    let micros = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    (micros(usage.ru_utime) + micros(usage.ru_stime), usage.ru_maxrss as u64 * 1024)
}

/// Whether two processes have one address space; `None` where the kernel does not tell.
pub(crate) fn same_memory(one: i32, other: i32) -> Option<bool> {
    const ADDRESS_SPACE: c_int = 1;
    // SAFETY: all arguments are integers.
    let order = unsafe { libc::syscall(libc::SYS_kcmp, one, other, ADDRESS_SPACE, 0, 0) };
    match order {
        0 => Some(true),
        1.. => Some(false),
        // One of them is gone, and so is the question.
        _ if super::last_errno() == libc::ESRCH => Some(false),
        _ => None,
    }
}

/// Sends a signal; -1 means every process that may be signalled, except the caller and pid 1.
pub(crate) fn kill(pid: i32, signal: i32) {
    // SAFETY: `kill` takes integers. Failing (already gone) is fine.
    unsafe { libc::kill(pid, signal) };
}

/// A `prctl` whose arguments are all integers.
pub(crate) fn prctl(option: c_int, value: u64) -> io::Result<()> {
    // SAFETY: the callers pass options that take integers only (subreaper, dumpable, death signal, securebits, name off).
    check(unsafe { libc::prctl(option, value, 0, 0, 0) })
}

/// Adds mount attributes to a mount and, if asked, to all below it.
pub(crate) fn set_mount_attributes(
    mount: BorrowedFd<'_>,
    attributes: u64,
    recursive: bool,
) -> io::Result<()> {
    let change = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is an empty C string, `change` outlives the call and its size is given.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const change,
            size_of::<libc::mount_attr>(),
        )
    };
    check(done as c_int)
}

/// Installs one system call filter for this process and all it starts.
pub(crate) fn install_filter(filter: &[u64]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).map_err(|_| io::Error::from_raw_os_error(libc::E2BIG))?,
        filter: filter.as_ptr().cast_mut().cast(),
    };
    // SAFETY: a `sock_filter` is eight bytes laid out as packed by `seccomp::pack`, and `u64` is at least as aligned; the
    // kernel copies the program before the call returns.
    check(unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) as c_int
    })
}

/// Turns the -1 convention into a `Result`.
pub(crate) fn check(value: c_int) -> io::Result<()> {
    if value < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Reaps this child, which has ended or is about to, and returns its wait status.
pub(crate) fn reap_one(pid: i32) -> Option<c_int> {
    let mut status = 0;
    // SAFETY: `status` is valid for writing during the call; the pid is an ended or killed child of ours.
    let reaped = unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL) };
    (reaped == pid).then_some(status)
}

/// Closes a descriptor that this forked copy will never use; its owner's destructor does not run here.
pub(crate) fn close_one(fd: &OwnedFd) {
    // SAFETY: the process is a forked child that ends without dropping the helper's own values.
    unsafe { libc::close(fd.as_raw_fd()) };
}

/// Whether a system call filter could be installed: a null program gives EFAULT where filters are known.
pub(crate) fn seccomp_available() -> io::Result<()> {
    // SAFETY: the kernel refuses the null pointer before it reads anything.
    let done =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, std::ptr::null::<u8>()) };
    match check(done as c_int) {
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Ok(()),
        other => other,
    }
}

/// Asks the scheduler for short turns, which come sooner: init looks often and briefly, and a busy machine must not keep it from
/// seeing a limit passed. What it starts does not inherit this. Kernels that do not know it (before 6.12) change nothing.
pub(crate) fn ask_for_short_slices() {
    const RESET_ON_FORK: u64 = 1;
    const SLICE_NS: u64 = 100_000;
    // SAFETY: an all-zero sched_attr is valid; both calls get its true size, and a failing one changes nothing.
    unsafe {
        let mut attr: libc::sched_attr = std::mem::zeroed();
        let size = size_of::<libc::sched_attr>();
        if libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attr, size, 0) == 0 {
            attr.sched_flags |= RESET_ON_FORK;
            attr.sched_runtime = SLICE_NS;
            libc::syscall(libc::SYS_sched_setattr, 0, &raw const attr, 0);
        }
    }
}

/// Brings the loopback of this network namespace up.
pub(crate) fn bring_loopback_up() -> io::Result<()> {
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::DGRAM, None)?;
    // SAFETY: `ifreq` is plain integers and bytes, for which all zeroes is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
    // SAFETY: the request outlives the call, and its name ends with a zero.
    match unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
