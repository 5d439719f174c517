//! The two lists against the kernel's table, and compiled filters against the lists.

use super::*;

fn every_rules() -> impl Iterator<Item = Rules> {
    (0..128).map(|bits| {
        let set = |bit: u32| bits & bit != 0;
        Rules {
            namespaces: set(1),
            network: set(2),
            cgroup: set(4),
            program: set(8),
            exec: set(16),
            zygote: set(32),
            agent: set(64),
        }
    })
}

/// What a filter says to a call with these arguments, and after how many instructions.
fn asked(filter: &[u64], arch: u32, call: u32, args: [u64; 6]) -> (u32, usize) {
    let mut seen = vec![call, arch, 0, 0];
    seen.extend(args.iter().flat_map(|arg| [*arg as u32, (*arg >> 32) as u32]));
    let (mut at, mut accumulator) = (0, 0);
    for steps in 1.. {
        let [c0, c1, jt, jf, k @ ..] = filter[at].to_ne_bytes();
        let (code, k) = (u32::from(u16::from_ne_bytes([c0, c1])), u32::from_ne_bytes(k));
        let jump = |holds: bool| usize::from(if holds { jt } else { jf });
        at += 1 + match code & 0xf7 {
            0x20 => {
                accumulator = seen[k as usize / 4];
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

fn number(name: &str) -> u32 {
    numbers::all().find(|(each, _)| *each == name).map(|(_, number)| number).expect("a call of the kernel")
}

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const EPERM: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
const ENOSYS: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

/// The header of the machine's own kernel, where its developers' files are installed.
fn header() -> Vec<(String, u32)> {
    let text = std::fs::read_to_string("/usr/include/x86_64-linux-gnu/asm/unistd_64.h").unwrap_or_default();
    let row = |line: &str| {
        let (name, number) = line.strip_prefix("#define __NR_")?.split_once(' ')?;
        Some((name.to_owned(), number.trim().parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}

#[test]
fn every_call_of_the_kernel_has_a_place_in_the_list_or_a_reason_to_be_closed() {
    let open = [program::OPEN, program::LOOKED_AT];
    for (call, _) in numbers::all() {
        let is_open = open.iter().any(|list| named(list, call));
        let reasons = program::CLOSED.iter().filter(|(_, list)| named(list, call)).count();
        assert!(is_open || reasons == 1, "`{call}` is neither open nor closed for one reason");
        assert!(!is_open || reasons == 0, "`{call}` is open and closed");
    }
    for list in
        program::CLOSED.iter().map(|(_, list)| *list).chain(open).chain([compiler::DENIED, ABSENT_CALLS])
    {
        let mut words: Vec<&str> = list.split(' ').collect();
        if cfg!(target_arch = "x86_64") {
            words.iter().for_each(|word| assert!(numbers::all().any(|(call, _)| call == *word), "`{word}`"));
        }
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count, "a call is listed twice in {list}");
    }
    if cfg!(target_arch = "x86_64") {
        for (name, expected) in header() {
            assert!(
                numbers::all().any(|(call, number)| call == name && number == expected),
                "`{name}` ({expected}) is not in the table: give it a place or a reason"
            );
        }
    }
}

/// Calls that are newer than the headers of most machines, and places where one table differs from the other. Numbers above 423 are
/// the same on all architectures.
#[test]
fn calls_have_the_numbers_that_the_kernel_gave_them() {
    const NEWER: &str = "cachestat fchmodat2 map_shadow_stack futex_wake futex_wait futex_requeue statmount listmount \
         lsm_get_self_attr lsm_set_self_attr lsm_list_modules mseal setxattrat getxattrat listxattrat removexattrat open_tree_attr \
         file_getattr file_setattr listns rseq_slice_yield";
    let newer: Vec<(&str, u32)> = NEWER.split(' ').zip(451..).collect();
    let x86 = [
        ("execve", 59),
        ("statx", 332),
        ("rseq", 334),
        ("uretprobe", 335),
        ("uprobe", 336),
        ("futex_waitv", 449),
    ];
    let common = [
        ("io_setup", 0),
        ("exit_group", 94),
        ("clone", 220),
        ("execve", 221),
        ("wait4", 260),
        ("name_to_handle_at", 264),
        ("open_by_handle_at", 265),
        ("clock_adjtime", 266),
        ("kexec_file_load", 294),
        ("futex_waitv", 449),
    ];
    for (table, own) in [(numbers::X86_64, &x86[..]), (numbers::COMMON, &common[..])] {
        let calls: BTreeMap<&str, u32> = numbers::of(table).collect();
        assert_eq!(calls.len(), numbers::of(table).count(), "a name stands twice");
        for (name, number) in own.iter().chain(&newer) {
            assert_eq!(calls.get(name), Some(number), "{name}");
        }
        assert_eq!(calls.values().max(), Some(&471));
    }
    // Where this crate and the C library know the same name, they know the same number.
    let known = [("openat2", libc::SYS_openat2), ("mseal", libc::SYS_mseal), ("clone3", libc::SYS_clone3)];
    known.into_iter().for_each(|(name, expected)| assert_eq!(i64::from(number(name)), expected));
}

#[test]
fn a_program_has_few_calls_and_a_zygote_four_more() {
    let open = |rules: Rules| {
        decisions(rules).iter().filter(|(.., action)| matches!(action, Action::Allow | Action::Look)).count()
    };
    let program = Rules {
        namespaces: true,
        network: false,
        cgroup: false,
        program: true,
        exec: false,
        zygote: false,
        agent: false,
    };
    let count = open(program);
    assert!((90..=122).contains(&count), "{count}");
    assert_eq!(open(Rules { zygote: true, ..program }), count + 4);
    assert!(open(Rules { namespaces: false, ..program }) < count);
}

#[test]
fn a_filter_says_what_the_lists_say_and_soon() {
    for rules in every_rules() {
        let filter = &filters(rules)[0];
        assert!(filter.len() <= 4096, "{rules:?}");
        let known: BTreeMap<u32, Action> =
            decisions(rules).into_iter().map(|(_, call, action)| (call, action)).collect();
        for call in (0..1024).chain([0x3fff_ffff]) {
            let (said, steps) = asked(filter, bpf::ARCH, call, [0; 6]);
            let expected = match known.get(&call) {
                Some(Action::Allow) => ALLOW,
                Some(Action::Errno(errno)) => libc::SECCOMP_RET_ERRNO | u32::from(*errno),
                Some(Action::Look) => continue,
                Some(Action::Kill) | None => ENOSYS,
            };
            assert_eq!(said, expected, "{call} with {rules:?}");
            assert!(steps < 20, "{call} takes {steps} instructions");
        }
        for call in [0x4000_0000, 0x4000_0001, u32::MAX] {
            assert_eq!(asked(filter, bpf::ARCH, call, [0; 6]).0, libc::SECCOMP_RET_KILL_PROCESS);
        }
        assert_eq!(asked(filter, 0x4000_0003, 1, [0; 6]).0, libc::SECCOMP_RET_KILL_PROCESS);
        assert!(describe(rules).contains("io_uring_setup"));
    }
}

#[test]
fn only_the_addresses_that_were_drawn_start_a_program() {
    let drawn = [0x1234_5678_9ab8, 0x7f00_0000_1000, 0x10_0000_0008];
    for rules in every_rules() {
        let mut filter = filters(rules).remove(0);
        settle(&mut filter, drawn);
        let exec = |args: [u64; 3]| {
            asked(&filter, bpf::ARCH, number("execve"), [args[0], args[1], args[2], 0, 0, 0]).0
        };
        assert_eq!(exec(drawn), ALLOW, "{rules:?}");
        for index in 0..3 {
            for change in [1, 1 << 32, 1 << 63] {
                let mut other = drawn;
                other[index] ^= change;
                assert_eq!(exec(other), if rules.exec { ALLOW } else { EPERM }, "{rules:?} {other:x?}");
            }
        }
    }
}

#[test]
fn arguments_decide_where_they_must() {
    let strong = Rules {
        namespaces: true,
        network: false,
        cgroup: false,
        program: true,
        exec: false,
        zygote: false,
        agent: false,
    };
    let says = |rules: Rules, call: &str, args: &[u64]| {
        let mut all = [0; 6];
        all[..args.len()].copy_from_slice(args);
        asked(&filters(rules)[0], bpf::ARCH, number(call), all).0
    };
    let tool = Rules { program: false, exec: true, ..strong };
    let (shared, private) = (libc::MAP_SHARED as u64, libc::MAP_PRIVATE as u64);
    let anonymous = libc::MAP_ANONYMOUS as u64;
    for rules in [strong, tool] {
        assert_eq!(says(rules, "mmap", &[0, 1, 3, shared | anonymous]), EPERM);
        assert_eq!(says(Rules { cgroup: true, ..rules }, "mmap", &[0, 1, 3, shared | anonymous]), ALLOW);
        assert_eq!(says(rules, "mmap", &[0, 1, 3, shared]), ALLOW);
        assert_eq!(says(rules, "mmap", &[0, 1, 3, private | anonymous]), ALLOW);
        assert_eq!(says(rules, "madvise", &[0, 1, libc::MADV_DONTNEED as u64]), ALLOW);
        assert_eq!(says(rules, "madvise", &[0, 1, libc::MADV_PAGEOUT as u64]), EPERM);
        assert_eq!(says(rules, "flock", &[0, 2]), ENOSYS);
        assert_eq!(says(Rules { cgroup: true, ..rules }, "prctl", &[78, 1, 16]), EPERM);
        assert_eq!(says(rules, "personality", &[0xffff_ffff]), if rules.program { EPERM } else { ALLOW });
    }
    let spawn = (libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD) as u64;
    let thread = (libc::CLONE_VM | libc::CLONE_THREAD | libc::CLONE_SIGHAND) as u64;
    assert_eq!(says(tool, "clone", &[spawn]), ALLOW);
    assert_eq!(says(strong, "clone", &[spawn]), EPERM);
    assert_eq!(says(Rules { exec: true, ..strong }, "clone", &[spawn]), ALLOW);
    for rules in [strong, tool] {
        assert_eq!(says(rules, "clone", &[thread]), ALLOW);
        assert_eq!(says(rules, "clone", &[libc::CLONE_VM as u64]), EPERM);
    }
    let child = libc::SIGCHLD as u64;
    assert_eq!(says(strong, "rt_sigaction", &[child, 0]), ALLOW, "asking is not changing");
    assert_eq!(says(strong, "rt_sigaction", &[child, 1 << 32]), EPERM);
    assert_eq!(says(strong, "rt_sigaction", &[libc::SIGTERM as u64, 8]), ALLOW);
    assert_eq!(says(tool, "rt_sigaction", &[child, 8]), ALLOW);
    let confined = Rules { namespaces: false, ..tool };
    assert_eq!(says(confined, "fchmod", &[0, 0o777]), libc::SECCOMP_RET_ERRNO, "pretended");
    for call in ["fchown", "utimensat", "chmod", "fchownat", "file_setattr"] {
        assert_eq!(says(confined, call, &[0, 0]), EPERM, "{call}");
    }
    assert_eq!(says(confined, "fgetxattr", &[]), libc::SECCOMP_RET_ERRNO | libc::ENOTSUP as u32);
}
