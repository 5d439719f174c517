//! The deny list of compilers and tools: programs of every language run unchanged, and what is denied is what reaches the
//! kernel's rarely used corners, makes a new world, or is shared with programs outside.

use super::bpf::When;
use super::{Row, Rules};

/// Denied with EPERM in every box of this kind.
pub(super) const DENIED: &str = "unshare setns mount umount2 pivot_root chroot move_mount open_tree open_tree_attr fsopen fsconfig \
     fsmount fspick mount_setattr statmount listmount listns ptrace process_vm_readv process_vm_writev process_madvise \
     process_mrelease kcmp pidfd_getfd add_key request_key keyctl bpf perf_event_open userfaultfd init_module finit_module \
     delete_module kexec_load kexec_file_load reboot swapon swapoff clock_settime clock_adjtime adjtimex settimeofday sethostname \
     setdomainname syslog acct quotactl quotactl_fd vhangup open_by_handle_at name_to_handle_at fanotify_init fanotify_mark mbind \
     move_pages migrate_pages set_mempolicy set_mempolicy_home_node memfd_secret setpriority ioprio_set iopl ioperm modify_ldt \
     uselib nfsservctl lookup_dcookie io_setup io_submit io_getevents io_pgetevents io_cancel io_destroy vmsplice \
     inotify_init inotify_init1 inotify_add_watch inotify_rm_watch lsm_set_self_attr remap_file_pages \
     msgget msgsnd msgrcv msgctl semget semop semtimedop semctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify \
     mq_getsetattr shmget shmat shmctl shmdt";

/// Memory that no process shows as its own: denied where only the watchdog counts.
pub(super) const HIDDEN_MEMORY: &str = "memfd_create";

/// Changes of modes, owners and times, and attributes in either direction: denied where the root is the host's, because Landlock
/// does not hold them and a descriptor that was opened for reading is enough for most.
pub(super) const METADATA: &str = "chmod fchmodat fchmodat2 chown lchown fchown fchownat utime utimes utimensat futimesat \
     file_setattr file_getattr";
pub(super) const ATTRIBUTES: &str = "setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat \
     getxattr lgetxattr fgetxattr getxattrat listxattr llistxattr flistxattr listxattrat";

/// Denied with EPERM when the conditions hold. Rows of one call are alternatives.
pub(super) fn conditional(rules: Rules) -> Vec<Row> {
    let mut rows = vec![
        ("ioctl", vec![When::is(1, libc::TIOCSTI)]),
        ("ioctl", vec![When::is(1, libc::TIOCLINUX)]),
        ("personality", vec![When::NoneOf(0, vec![0, 0xffff_ffff])]),
        // Memory in common without waiting for the other, as no library starts a process.
        ("clone", vec![When::Bits(0, VM | (libc::CLONE_THREAD | libc::CLONE_VFORK) as u32, VM)]),
    ];
    for command in FLAGS {
        rows.push(("ioctl", vec![When::is(1, *command)]));
    }
    if !rules.cgroup {
        rows.push(("prctl", vec![When::is(0, libc::PR_SET_DUMPABLE as u64), When::not(1, 1)]));
    }
    if !rules.namespaces {
        for call in ["sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"] {
            rows.push((call, vec![When::not(0, 0)]));
        }
        for command in [libc::F_SETOWN, super::F_SETOWN_EX, super::F_SETSIG] {
            rows.push(("fcntl", vec![When::is(1, command as u64)]));
        }
    }
    rows
}

const VM: u32 = libc::CLONE_VM as u32;

/// Flags and attributes of files by descriptor, and signals about descriptors.
const FLAGS: &[u64] = &[
    // FS_IOC_SETFLAGS for 64 and 32 bits, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION, FS_IOC_ENABLE_VERITY
    0x4008_6602,
    0x4004_6602,
    0x401c_5820,
    0x4008_7602,
    0x4080_6685, // FIOSETOWN, SIOCSPGRP
    0x8901,
    0x8902,
];
