//! The system call policy, as a table that is both compiled into filters and printed into the policy digest.
//!
//! It is a deny list: programs of every language run unchanged, and what is denied is what reaches the kernel's rarely used
//! corners or makes a new world. Denied calls give EPERM, absent ones ENOSYS (so that a C library falls back), and foreign
//! architectures end the process. It is one filter, because the kernel takes long to install each.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// What decides which calls are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rules {
    /// Namespaces hold what the filter need not: sockets lead nowhere and IPC objects are the box's own.
    pub(crate) namespaces: bool,
    /// The host's network is granted.
    pub(crate) network: bool,
    /// A cgroup counts all memory, so that memory outside any process is not a way around the watchdog.
    pub(crate) cgroup: bool,
    /// The work directory is the box's own. Then nothing but the box's own files needs its mode or times changed by path,
    /// which Landlock does not hold.
    pub(crate) private: bool,
}

macro_rules! calls {
    ($($name:ident)*) => { &[$((stringify!($name), libc::$name)),*] };
}

/// Denied with EPERM in every box.
const DENIED: &[(&str, libc::c_long)] = calls! {
    SYS_unshare SYS_setns SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_move_mount SYS_open_tree SYS_fsopen
    SYS_fsconfig SYS_fsmount SYS_fspick SYS_mount_setattr
    SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_process_madvise SYS_kcmp SYS_pidfd_getfd
    SYS_add_key SYS_request_key SYS_keyctl SYS_bpf SYS_perf_event_open SYS_userfaultfd
    SYS_init_module SYS_finit_module SYS_delete_module SYS_kexec_load SYS_reboot SYS_swapon SYS_swapoff
    SYS_clock_settime SYS_clock_adjtime SYS_adjtimex SYS_settimeofday SYS_sethostname SYS_setdomainname
    SYS_syslog SYS_acct SYS_quotactl SYS_vhangup SYS_open_by_handle_at SYS_name_to_handle_at
    SYS_fanotify_init SYS_fanotify_mark SYS_mbind SYS_move_pages SYS_migrate_pages SYS_set_mempolicy
    SYS_memfd_secret SYS_setpriority SYS_ioprio_set SYS_msgget SYS_semget SYS_mq_open
};

/// Denied with EPERM on x86-64, where they exist.
#[cfg(target_arch = "x86_64")]
const DENIED_ARCH: &[(&str, libc::c_long)] = calls! { SYS_iopl SYS_ioperm SYS_modify_ldt SYS_kexec_file_load SYS_uselib SYS_nfsservctl SYS_lookup_dcookie };
#[cfg(not(target_arch = "x86_64"))]
const DENIED_ARCH: &[(&str, libc::c_long)] = &[];

/// Memory that no process shows as its own: denied where only the watchdog counts.
const HIDDEN_MEMORY: &[(&str, libc::c_long)] = calls! {
    SYS_memfd_create SYS_shmget SYS_shmat SYS_shmctl
};

/// Changes of modes, owners and attributes by path, and watching directories by path.
const METADATA: &[(&str, libc::c_long)] = calls! {
    SYS_fchmodat SYS_fchownat SYS_setxattr SYS_lsetxattr SYS_removexattr SYS_lremovexattr SYS_inotify_init1
};
#[cfg(target_arch = "x86_64")]
const METADATA_ARCH: &[(&str, libc::c_long)] = &[
    ("SYS_inotify_init", libc::SYS_inotify_init),
    ("SYS_chmod", libc::SYS_chmod),
    ("SYS_chown", libc::SYS_chown),
    ("SYS_lchown", libc::SYS_lchown),
    ("SYS_utime", libc::SYS_utime),
    ("SYS_utimes", libc::SYS_utimes),
    ("SYS_futimesat", libc::SYS_futimesat),
    ("SYS_fchmodat2", SYS_FCHMODAT2),
    ("SYS_setxattrat", 463),
    ("SYS_removexattrat", 466),
    ("SYS_file_setattr", 469),
];
#[cfg(not(target_arch = "x86_64"))]
const METADATA_ARCH: &[(&str, libc::c_long)] = &[
    ("SYS_fchmodat2", SYS_FCHMODAT2),
    ("SYS_setxattrat", 463),
    ("SYS_removexattrat", 466),
    ("SYS_file_setattr", 469),
];

/// Absent: ENOSYS makes callers fall back to calls whose arguments a filter can see.
const ABSENT: &[(&str, libc::c_long)] = calls! {
    SYS_clone3 SYS_openat2 SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register
};

const NEW_NAMESPACES: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u64;

/// Bits that make a file run as its owner or group.
const SET_ID: u64 = 0o6000;

/// One condition on one argument.
enum When {
    /// On its low 32 bits, which is all that the kernel looks at for flags, modes and numbers of processes.
    Low(u8, Op, u64),
    /// On whether a pointer is given. It is compared whole: one whose low half is zero is still a pointer.
    Given(u8),
}

impl When {
    fn condition(self) -> Result<SeccompCondition, seccompiler::BackendError> {
        match self {
            When::Low(index, op, value) => SeccompCondition::new(index, Len::Dword, op, value),
            When::Given(index) => SeccompCondition::new(index, Len::Qword, Op::Ne, 0),
        }
    }

    fn text(&self) -> String {
        match self {
            When::Low(index, op, value) => format!("arg{index} {op:?} {value:#x}"),
            When::Given(index) => format!("arg{index} given"),
        }
    }
}

/// Denied with EPERM when the conditions hold. Rows of one call are alternatives.
fn conditional(rules: Rules) -> Vec<(&'static str, libc::c_long, Vec<When>)> {
    let mut rows = vec![
        ("SYS_ioctl", libc::SYS_ioctl, vec![When::Low(1, Op::Eq, libc::TIOCSTI)]),
        ("SYS_ioctl", libc::SYS_ioctl, vec![When::Low(1, Op::Eq, libc::TIOCLINUX)]),
        (
            "SYS_personality",
            libc::SYS_personality,
            vec![When::Low(0, Op::Ne, 0), When::Low(0, Op::Ne, 0xffff_ffff)],
        ),
        ("SYS_prlimit64", libc::SYS_prlimit64, vec![When::Low(0, Op::Ne, 0)]),
        ("SYS_socketpair", libc::SYS_socketpair, vec![When::Low(0, Op::Ne, libc::AF_UNIX as u64)]),
    ];
    for bit in (0..32).map(|bit| 1u64 << bit).filter(|bit| NEW_NAMESPACES & bit != 0) {
        rows.push(("SYS_clone", libc::SYS_clone, vec![When::Low(0, Op::MaskedEq(bit), bit)]));
    }
    for bit in [0o4000, 0o2000].into_iter().filter(|bit| SET_ID & bit != 0) {
        rows.push(("SYS_fchmod", libc::SYS_fchmod, vec![When::Low(1, Op::MaskedEq(bit), bit)]));
        rows.push(("SYS_fchmodat", libc::SYS_fchmodat, vec![When::Low(2, Op::MaskedEq(bit), bit)]));
        rows.push(("SYS_fchmodat2", SYS_FCHMODAT2, vec![When::Low(2, Op::MaskedEq(bit), bit)]));
        for creates in [libc::O_CREAT, O_TMPFILE] {
            let creates = |argument| When::Low(argument, Op::MaskedEq(creates as u64), creates as u64);
            rows.push((
                "SYS_openat",
                libc::SYS_openat,
                vec![creates(2), When::Low(3, Op::MaskedEq(bit), bit)],
            ));
            #[cfg(target_arch = "x86_64")]
            rows.push(("SYS_open", libc::SYS_open, vec![creates(1), When::Low(2, Op::MaskedEq(bit), bit)]));
        }
        rows.push(("SYS_mknodat", libc::SYS_mknodat, vec![When::Low(2, Op::MaskedEq(bit), bit)]));
        rows.push(("SYS_mkdirat", libc::SYS_mkdirat, vec![When::Low(2, Op::MaskedEq(bit), bit)]));
        #[cfg(target_arch = "x86_64")]
        {
            rows.push(("SYS_chmod", libc::SYS_chmod, vec![When::Low(1, Op::MaskedEq(bit), bit)]));
            rows.push(("SYS_creat", libc::SYS_creat, vec![When::Low(1, Op::MaskedEq(bit), bit)]));
            rows.push(("SYS_mknod", libc::SYS_mknod, vec![When::Low(1, Op::MaskedEq(bit), bit)]));
            rows.push(("SYS_mkdir", libc::SYS_mkdir, vec![When::Low(1, Op::MaskedEq(bit), bit)]));
        }
    }
    if !rules.namespaces {
        rows.extend(of_others());
    }
    if !rules.namespaces && rules.private {
        rows.push(("SYS_utimensat", libc::SYS_utimensat, vec![When::Given(1)]));
    }
    if let Some(families) = socket_families(rules) {
        let others = families.iter().map(|family| When::Low(0, Op::Ne, *family)).collect();
        rows.push(("SYS_socket", libc::SYS_socket, others));
    }
    rows
}

/// Scheduling of other processes, which are in sight without a pid namespace.
fn of_others() -> Vec<(&'static str, libc::c_long, Vec<When>)> {
    const CALLS: &[(&str, libc::c_long)] = calls! {
        SYS_sched_setaffinity SYS_sched_setscheduler SYS_sched_setparam SYS_sched_setattr
    };
    CALLS.iter().map(|(name, call)| (*name, *call, vec![When::Low(0, Op::Ne, 0)])).collect()
}

/// `fchmodat2` has the same number on every architecture that we build for.
const SYS_FCHMODAT2: libc::c_long = 452;
/// As has `open_tree_attr`.
const SYS_OPEN_TREE_ATTR: libc::c_long = 467;

/// The bit of its own in `O_TMPFILE`, which libc gives together with that for directories.
const O_TMPFILE: i32 = libc::O_TMPFILE & !libc::O_DIRECTORY;

/// Families that `socket` may open; none at all where no namespace stands behind it.
///
/// With the host's network, unix sockets are left out: the abstract ones of the host would be in reach.
fn socket_families(rules: Rules) -> Option<Vec<u64>> {
    let inet = [libc::AF_INET as u64, libc::AF_INET6 as u64];
    match (rules.network, rules.namespaces) {
        (true, _) => Some(inet.to_vec()),
        (false, true) => Some(vec![libc::AF_UNIX as u64, inet[0], inet[1]]),
        (false, false) => None,
    }
}

/// Calls denied whatever their arguments.
fn unconditional(rules: Rules) -> Vec<(&'static str, libc::c_long)> {
    let mut calls = [DENIED, DENIED_ARCH].concat();
    calls.push(("SYS_open_tree_attr", SYS_OPEN_TREE_ATTR));
    if !rules.cgroup || !rules.namespaces {
        calls.extend_from_slice(HIDDEN_MEMORY);
    }
    if !rules.namespaces && rules.private {
        calls.extend_from_slice(METADATA);
        calls.extend_from_slice(METADATA_ARCH);
    }
    if socket_families(rules).is_none() {
        calls.push(("SYS_socket", libc::SYS_socket));
    }
    calls
}

/// The filters as packed instructions, in the order of installing.
pub(crate) fn filters(rules: Rules) -> Result<Vec<Vec<u64>>, seccompiler::BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let mut actions: BTreeMap<i64, Action> = BTreeMap::new();
    let mut looked_at: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for (_, call, conditions) in conditional(rules) {
        let conditions = conditions.into_iter().map(When::condition).collect::<Result<Vec<_>, _>>()?;
        looked_at.entry(call).or_default().push(SeccompRule::new(conditions)?);
        actions.insert(call, Action::Look);
    }
    for (_, call) in unconditional(rules) {
        looked_at.remove(&call);
        actions.insert(call, Action::Deny);
    }
    actions.extend(ABSENT.iter().map(|(_, call)| (*call, Action::Absent)));
    let errno = SeccompAction::Errno(libc::EPERM as u32);
    let list: BpfProgram = SeccompFilter::new(looked_at, SeccompAction::Allow, errno, arch)?.try_into()?;
    Ok(vec![pack(&[first_look(&actions), list].concat())])
}

/// What is done about a call, by its number alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Allow,
    Deny,
    Absent,
    /// Its arguments decide: go on to the list.
    Look,
    Kill,
}

/// What stands before the list of calls whose arguments decide: a search by halves for the call's number, because the kernel
/// tries a filter on every number there is when it installs one. Foreign architectures pass on to the list, which begins by
/// ending them.
fn first_look(actions: &BTreeMap<i64, Action>) -> BpfProgram {
    let mut spans = vec![(0, Action::Allow)];
    for (call, action) in actions {
        let call = *call as u32;
        spans.extend([(call, *action), (call + 1, Action::Allow)]);
    }
    // x32 numbers have the same architecture word as x86-64, and other meanings.
    const X32_BIT: u32 = 0x4000_0000;
    spans.push((X32_BIT, Action::Kill));
    // Of two that begin at one number the later counts, and neighbours that say the same are one.
    let mut merged: Vec<(u32, Action)> = Vec::new();
    for span in spans {
        merged.pop_if(|last| last.0 == span.0);
        if merged.last().is_none_or(|last| last.1 != span.1) {
            merged.push(span);
        }
    }
    let search = search(&merged);
    let length = search.len();
    let mut program = vec![
        load(ARCH_OFFSET),
        instruction(JUMP_IF_EQUAL, (1, 0), ARCH),
        // Over everything up to the list.
        instruction(JUMP, (0, 0), length as u32 + 1),
        load(0),
    ];
    program.extend(search.into_iter().enumerate().map(|(at, step)| match step {
        Some(instruction) => instruction,
        None => instruction(JUMP, (0, 0), (length - at - 1) as u32),
    }));
    program
}

/// Finds the span that a number is in, by halves. `None` is a jump behind the search.
fn search(spans: &[(u32, Action)]) -> Vec<Option<seccompiler::sock_filter>> {
    let ends = |action| vec![Some(instruction(libc::BPF_RET | libc::BPF_K, (0, 0), action))];
    match spans {
        [] | [(_, Action::Allow)] => ends(libc::SECCOMP_RET_ALLOW),
        [(_, Action::Deny)] => ends(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        [(_, Action::Absent)] => ends(libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        [(_, Action::Kill)] => ends(libc::SECCOMP_RET_KILL_PROCESS),
        [(_, Action::Look)] => vec![None],
        _ => {
            let (below, above) = spans.split_at(spans.len() / 2);
            let below = search(below);
            let over = u8::try_from(below.len()).expect("half of the spans take fewer than 256 instructions");
            let mut steps = vec![Some(instruction(JUMP_IF_AT_LEAST, (over, 0), above[0].0))];
            steps.extend(below);
            steps.extend(search(above));
            steps
        }
    }
}

const JUMP: u32 = libc::BPF_JMP | libc::BPF_JA;
const JUMP_IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const JUMP_IF_AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;

fn instruction(code: u32, (jt, jf): (u8, u8), k: u32) -> seccompiler::sock_filter {
    seccompiler::sock_filter { code: code as u16, jt, jf, k }
}

fn load(offset: u32) -> seccompiler::sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, (0, 0), offset)
}

/// Where the kernel puts the architecture in what a filter sees.
const ARCH_OFFSET: u32 = 4;

/// The architecture's word: machine number, 64 bits, little-endian.
#[cfg(target_arch = "x86_64")]
const ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCH: u32 = 0xc000_00b7;
#[cfg(target_arch = "riscv64")]
const ARCH: u32 = 0xc000_00f3;

/// Eight bytes an instruction, as the kernel lays them out.
fn pack(program: &BpfProgram) -> Vec<u64> {
    let word = |ins: &seccompiler::sock_filter| {
        let [c0, c1] = ins.code.to_ne_bytes();
        let [k0, k1, k2, k3] = ins.k.to_ne_bytes();
        u64::from_ne_bytes([c0, c1, ins.jt, ins.jf, k0, k1, k2, k3])
    };
    program.iter().map(word).collect()
}

/// The policy as text, one line a rule, for the digest.
pub(crate) fn describe(rules: Rules) -> String {
    let mut lines = vec![format!("rules {rules:?}")];
    lines.extend(unconditional(rules).iter().map(|(name, _)| format!("deny {name} EPERM")));
    lines.extend(ABSENT.iter().map(|(name, _)| format!("absent {name} ENOSYS")));
    for (name, _, conditions) in conditional(rules) {
        let text: Vec<String> = conditions.iter().map(When::text).collect();
        lines.push(format!("deny {name} EPERM when {}", text.join(" and ")));
    }
    lines.push("kill foreign architectures and x32".to_owned());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a filter says to a call without arguments, and after how many instructions.
    fn asked(filter: &[u64], arch: u32, call: u32) -> (u32, usize) {
        let (mut at, mut accumulator) = (0, 0);
        for steps in 1.. {
            let [c0, c1, jt, jf, k @ ..] = filter[at].to_ne_bytes();
            let (code, k) = (u32::from(u16::from_ne_bytes([c0, c1])), u32::from_ne_bytes(k));
            let jump = |holds: bool| usize::from(if holds { jt } else { jf });
            at += 1 + match code & 0xf7 {
                0x20 => {
                    accumulator = [call, arch].get(k as usize / 4).copied().unwrap_or_default();
                    0
                }
                0x05 => k as usize,
                0x15 => jump(accumulator == k),
                0x25 => jump(accumulator > k),
                0x35 => jump(accumulator >= k),
                0x45 => jump(accumulator & k != 0),
                0x54 => {
                    accumulator &= k;
                    0
                }
                0x06 => return (k, steps),
                other => panic!("an instruction that no filter of ours has: {other:#x}"),
            };
        }
        unreachable!("filters only jump forward")
    }

    #[test]
    fn a_filter_says_what_the_table_says_and_soon() {
        const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
        const DENY: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
        const ABSENCE: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
        for bits in 0..16 {
            let set = |bit: u32| bits & bit != 0;
            let rules = Rules { namespaces: set(1), network: set(2), cgroup: set(4), private: set(8) };
            let filter = &filters(rules).expect("compiles")[0];
            let named = |calls: &[(&str, libc::c_long)], call: u32| {
                calls.iter().any(|(_, number)| *number == libc::c_long::from(call))
            };
            for call in (0..1024).chain([0x3fff_ffff]) {
                let (said, steps) = asked(filter, ARCH, call);
                if named(ABSENT, call) {
                    assert_eq!(said, ABSENCE, "{call} with {rules:?}");
                } else if named(&unconditional(rules), call) {
                    assert_eq!(said, DENY, "{call} with {rules:?}");
                } else if !conditional(rules).iter().any(|(_, number, _)| *number == libc::c_long::from(call))
                {
                    assert_eq!(said, ALLOW, "{call} with {rules:?}");
                    assert!(steps < 16, "{call} takes {steps} instructions");
                }
            }
            for call in [0x4000_0000, 0x4000_0001, u32::MAX] {
                assert_eq!(asked(filter, ARCH, call).0, libc::SECCOMP_RET_KILL_PROCESS);
            }
            assert_eq!(asked(filter, 0x4000_0003, 1).0, libc::SECCOMP_RET_KILL_PROCESS);
            assert_eq!(asked(filter, ARCH, libc::SYS_personality as u32).0, ALLOW);
        }
    }

    #[test]
    fn every_combination_compiles_within_the_kernels_size() {
        for bits in 0..16 {
            let set = |bit: u32| bits & bit != 0;
            let rules = Rules { namespaces: set(1), network: set(2), cgroup: set(4), private: set(8) };
            let filters = filters(rules).expect("compiles");
            assert!(filters.iter().all(|filter| !filter.is_empty() && filter.len() <= 4096), "{rules:?}");
            assert!(describe(rules).contains("SYS_io_uring_setup"));
        }
    }
}
