//! The allow list of candidates and checkers: what a Rust or Python program that computes, reads and writes its own files, starts
//! threads and forks needs. Everything else is closed, each call for a reason that is written here, and so are calls of kernels to
//! come.

use super::bpf::When;
use super::{ABSENT, NOT_SUPPORTED, Row, Rules};

/// Open in every program's box.
pub(super) const OPEN: &str = "read write close fstat lseek pread64 pwrite64 readv writev \
     open openat stat lstat newfstatat statx access faccessat faccessat2 getcwd chdir getdents64 \
     rename renameat renameat2 mkdir mkdirat rmdir unlink unlinkat symlinkat ftruncate fsync fdatasync \
     copy_file_range sendfile fchmod brk munmap mprotect mremap \
     poll ppoll select pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2 \
     dup dup2 dup3 pipe pipe2 close_range sendto recvfrom sendmsg recvmsg shutdown getsockname getsockopt \
     rt_sigprocmask rt_sigreturn rt_sigtimedwait sigaltstack pause restart_syscall \
     kill tgkill fork exit exit_group wait4 waitid \
     getpid gettid getppid setsid getuid geteuid getgid getegid \
     futex set_robust_list set_tid_address rseq arch_prctl sched_yield sched_getaffinity \
     gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep setitimer alarm \
     getrusage sysinfo uname getrandom";

/// Open when their arguments are harmless; [`conditional`] says which are.
pub(super) const LOOKED_AT: &str =
    "mmap madvise clone rt_sigaction ioctl fcntl prctl prlimit64 socketpair setsockopt execve";

/// Open only to a program that boxes what it forks.
pub(super) const ZYGOTE: &str = "seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self";

/// Open only to a program that may reach the host's network.
pub(super) const NETWORK: &str = "connect bind listen accept accept4 sendmmsg recvmmsg";

/// Open only to a program that may start others.
pub(super) const EXEC: &str = "vfork";

/// Open where the root is the box's own.
pub(super) const PRIVATE_ROOT: &str =
    "chmod fchmodat fchmodat2 readlink readlinkat utimensat symlink link linkat";

/// Why a call is closed that is not open above, or only to some.
#[cfg(test)]
pub(super) const CLOSED: &[(&str, &str)] = &[
    (
        "makes, enters or changes a world",
        "unshare setns mount umount2 pivot_root chroot move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick \
         mount_setattr statmount listmount listns sethostname setdomainname",
    ),
    (
        "reads or changes another process",
        "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_getfd rt_sigqueueinfo \
         rt_tgsigqueueinfo ioprio_get ioprio_set setpriority sched_setaffinity sched_setattr sched_setparam sched_setscheduler \
         sched_getattr sched_rr_get_interval",
    ),
    (
        "is a rarely used door into the kernel",
        "add_key request_key keyctl bpf perf_event_open userfaultfd io_setup io_destroy io_getevents io_pgetevents io_submit \
         io_cancel personality modify_ldt set_thread_area get_thread_area iopl ioperm lsm_get_self_attr lsm_set_self_attr \
         lsm_list_modules uprobe uretprobe rseq_slice_yield cachestat remap_file_pages",
    ),
    (
        "is for who runs the machine",
        "init_module finit_module delete_module create_module query_module get_kernel_syms kexec_load kexec_file_load reboot swapon \
         swapoff acct quotactl quotactl_fd syslog vhangup settimeofday clock_settime clock_adjtime adjtimex sync syncfs ustat sysfs \
         _sysctl lookup_dcookie nfsservctl uselib afs_syscall tuxcall vserver security getpmsg putpmsg capset capget",
    ),
    (
        "changes who the program is",
        "setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid",
    ),
    (
        "holds memory that no process shows",
        "memfd_create memfd_secret shmget shmat shmdt shmctl vmsplice splice tee mlock mlock2 mlockall munlock munlockall",
    ),
    (
        "moves memory between nodes",
        "mbind get_mempolicy set_mempolicy set_mempolicy_home_node move_pages migrate_pages",
    ),
    (
        "is shared by name or number with other programs",
        "msgget msgsnd msgrcv msgctl semget semop semtimedop semctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify \
         mq_getsetattr",
    ),
    ("leads to the network", "socket connect bind listen accept accept4 sendmmsg recvmmsg"),
    ("starts another program", "vfork execveat"),
    ("boxes again what is boxed", "seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self"),
    (
        "watches files of others",
        "inotify_init inotify_init1 inotify_add_watch inotify_rm_watch fanotify_init fanotify_mark",
    ),
    (
        "reads or changes what files are, not what is in them",
        "chmod fchmodat fchmodat2 chown lchown fchown fchownat setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat \
         getxattr lgetxattr fgetxattr getxattrat listxattr llistxattr flistxattr listxattrat file_getattr file_setattr mknod mknodat \
         name_to_handle_at open_by_handle_at readahead sync_file_range readlink readlinkat link linkat utime utimes utimensat \
         futimesat",
    ),
    (
        "has a newer call in its place, or nothing that needs it",
        "creat getdents symlink truncate fallocate preadv pwritev getrlimit setrlimit times fadvise64 fchdir umask getpeername preadv2 pwritev2 mincore msync membarrier pkey_alloc pkey_free pkey_mprotect \
         epoll_create epoll_pwait2 eventfd rt_sigpending rt_sigsuspend tkill getresuid getresgid get_robust_list getcpu time getitimer \
         getpriority sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min",
    ),
    ("tells of the host's disks", "statfs fstatfs"),
    (
        "is about groups of processes or users, of which a program here has one",
        "getpgrp getpgid getsid setpgid getgroups",
    ),
    ("names another process for good, which one's own children need not", "pidfd_open pidfd_send_signal"),
    (
        "is a clock or signal source that nothing here needs",
        "timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime \
         signalfd signalfd4",
    ),
    (
        "is absent, so that the C library falls back",
        "clone3 openat2 io_uring_setup io_uring_enter io_uring_register flock futex_waitv futex_wait futex_wake futex_requeue \
         map_shadow_stack mseal epoll_ctl_old epoll_wait_old",
    ),
];

/// Open with these conditions: a call is denied when one of its rows holds.
pub(super) fn conditional(rules: Rules) -> Vec<Row> {
    let mut rows = vec![
        ("clone", vec![When::Bits(0, VM | THREAD | if rules.exec { VFORK } else { 0 }, VM)]),
        // Who ignores its children takes their time out of every count.
        ("rt_sigaction", vec![When::is(0, libc::SIGCHLD as u64), When::Given(1)]),
        ("ioctl", vec![When::NoneOf(1, IOCTLS.to_vec())]),
        ("prctl", vec![When::NoneOf(0, prctls(rules).iter().map(|allowed| *allowed as u32).collect())]),
    ];
    for command in FCNTLS {
        rows.push(("fcntl", vec![When::is(1, *command as u64)]));
    }
    rows
}

const VM: u32 = libc::CLONE_VM as u32;
const THREAD: u32 = libc::CLONE_THREAD as u32;
const VFORK: u32 = libc::CLONE_VFORK as u32;

/// Asking about terminals and pipes, and how descriptors behave.
const IOCTLS: &[u32] = &[
    libc::TCGETS as u32,
    libc::TIOCGWINSZ as u32,
    libc::FIONREAD as u32,
    libc::FIONBIO as u32,
    libc::FIOCLEX as u32,
    libc::FIONCLEX as u32,
];

/// Locks, leases, and signals about descriptors, which reach whoever has the same file open.
const FCNTLS: &[i32] = &[
    libc::F_SETLK,
    libc::F_SETLKW,
    libc::F_OFD_SETLK,
    libc::F_OFD_SETLKW,
    libc::F_SETOWN,
    super::F_SETOWN_EX,
    super::F_SETSIG,
];

fn prctls(rules: Rules) -> Vec<i32> {
    const PR_SET_VMA: i32 = 0x5356_4d41;
    let mut allowed = vec![
        libc::PR_SET_NAME,
        libc::PR_GET_NAME,
        libc::PR_SET_PDEATHSIG,
        libc::PR_GET_PDEATHSIG,
        libc::PR_SET_NO_NEW_PRIVS,
        libc::PR_GET_NO_NEW_PRIVS,
        libc::PR_GET_DUMPABLE,
        libc::PR_SET_CHILD_SUBREAPER,
        libc::PR_CAPBSET_READ,
        libc::PR_GET_SECCOMP,
        PR_SET_VMA,
    ];
    if rules.zygote {
        allowed.extend([libc::PR_SET_SECCOMP, libc::PR_SET_DUMPABLE]);
    }
    allowed
}

/// The error that a closed call gives.
pub(super) fn errno_of(call: &str) -> u16 {
    let is_in = |list: &str| list.split(' ').any(|each| each == call);
    match () {
        () if is_in(super::ABSENT_CALLS) => ABSENT,
        // What a file system without attributes says, and a path without links.
        () if call.contains("xattr") => NOT_SUPPORTED,
        () if call.starts_with("readlink") => libc::EINVAL as u16,
        () => libc::EPERM as u16,
    }
}
