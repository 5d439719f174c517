//! Finds out what the machine can do by doing it: each mechanism in a throwaway process, then a whole box of each tier whose payload
//! checks from the inside that it is held.

use std::collections::BTreeMap;
use std::io;

use rustix::fs::{Mode, OFlags};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::cgroup::Groups;
use super::{Launcher, landlock, sys};
use crate::outcome::{Infra, Outcome, Status};
use crate::probe::{COMPARE, Failure, GROUP_CLOCK, Mechanism, Memory, Probe, TASK_CLOCK};
use crate::sandbox::Around;
use crate::spec::Spec;
use crate::tier::Tier;

/// Names of mechanisms whose absence has a hint of its own.
const PIDFD: &str = "pidfd";
const TREE: &str = "process tree in /proc";
const FILTER: &str = "seccomp filter";
const LANDLOCK: &str = "landlock";

/// Probes everything. A usable cgroup stays with the launcher.
pub(crate) fn probe(launcher: &mut Launcher, want_cgroup: bool) -> Probe {
    let found = match launcher.helper_pid() {
        Some(helper) if want_cgroup => Groups::find_or_ask(helper),
        _ => Groups::find(),
    };
    let cgroup = match &found {
        Ok(groups) if groups.holds_memory() => Ok(()),
        Ok(_) => Err(libc::ENOENT),
        Err(error) => Err(error.raw_os_error().unwrap_or(libc::EIO)),
    };
    let mut counts_time = false;
    let memory = match found {
        Ok(groups) if want_cgroup => {
            let kind = groups.holds_memory().then(|| groups.describe().to_owned());
            counts_time = kind.is_none();
            launcher.count_with(groups);
            kind.map_or(Memory::Watchdog, Memory::Cgroup)
        }
        _ => Memory::Watchdog,
    };
    let mut mechanisms = mechanisms(launcher);
    if counts_time {
        mechanisms.push(Mechanism { name: GROUP_CLOCK.into(), result: Ok(()) });
    }
    mechanisms.push(Mechanism { name: "cgroup with memory".into(), result: cgroup });
    let uname = rustix::system::uname();
    Probe {
        system: format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy()),
        root: rustix::process::geteuid().is_root(),
        landlock_abi: landlock::abi().unwrap_or(0),
        memory,
        strong: held(launcher, Tier::Strong, &mechanisms),
        confined: held(launcher, Tier::Confined, &mechanisms),
        mechanisms,
    }
}

/// Spawns a box of this tier and lets its payload look around.
fn held(launcher: &Launcher, tier: Tier, mechanisms: &[Mechanism]) -> Result<(), Failure> {
    let outcome = launcher.run(&Spec::builtin(&["probe", tier.word()]), tier, Around::default());
    let (step, errno) = match outcome.status {
        Status::Ok if outcome.stdout.head == b"held\n" => return Ok(()),
        Status::InfraError(Infra::Setup { step, errno } | Infra::Exec { program: step, errno }) => {
            (step, errno)
        }
        _ => (format!("hold the probe: {}", outcome_text(&outcome)), libc::EINVAL),
    };
    let fix = fix(tier, &step, errno, mechanisms);
    Err(Failure { step, errno, fix })
}

fn outcome_text(outcome: &Outcome) -> String {
    let text = outcome.stdout.text();
    let said = text.trim().replace('\n', ", ");
    if said.is_empty() { outcome.status.word().to_owned() } else { said }
}

/// What would help, by the step that failed and the kernel's word for it.
fn fix(tier: Tier, step: &str, errno: i32, mechanisms: &[Mechanism]) -> String {
    let result = |name: &str| mechanisms.iter().find(|each| each.name == name).map(|each| each.result);
    let failed = |name: &str| matches!(result(name), Some(Err(_)));
    let user_namespace = result("user namespace");
    let text = match (tier, step, errno) {
        _ if failed(PIDFD) => {
            "allow `pidfd_open` (Linux 5.3 or later): boxes are ended by pidfd only, and old container runtimes filter it away"
        }
        (_, step, _) if failed(FILTER) || step.contains("system call filter") => {
            "allow `seccomp` with a filter of its own: this kernel or container refuses a filter within its own \
             (`CONFIG_SECCOMP_FILTER`, or `--security-opt seccomp=unconfined`)"
        }
        _ if failed(TREE) => {
            "use a kernel that lists children in /proc (`CONFIG_PROC_CHILDREN`), by which processes are found"
        }
        (Tier::Confined, step, _) if step.contains("Landlock") || failed(LANDLOCK) => {
            "use a kernel with Landlock enabled (5.13 or later, with `landlock` in its `lsm=` list)"
        }
        (Tier::Confined, ..) => "see the mechanisms that `proofhouse doctor` lists",
        (_, "make namespaces", libc::ENOSPC) => {
            "raise the limit of user namespaces, which is used up or 0: `sysctl -w user.max_user_namespaces=15000`"
        }
        (_, "make namespaces", libc::EPERM | libc::ENOSYS) if user_namespace == Some(Err(libc::EPERM)) => {
            "allow user namespaces: in a container start it with `--security-opt seccomp=unconfined`, on the host set \
             `sysctl -w kernel.unprivileged_userns_clone=1`"
        }
        (_, "make namespaces", libc::EPERM | libc::ENOSYS) => {
            "allow `clone3` with namespaces: in a container start it with `--security-opt seccomp=unconfined`"
        }
        (_, "write uid_map" | "write setgroups" | "write gid_map", _) => {
            "allow unprivileged user namespaces: `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, or give the \
             program an AppArmor profile with `userns`"
        }
        (_, "mount proc", _) => {
            "start the container with `--security-opt systempaths=unconfined`, so that /proc is not masked"
        }
        (_, "mount the root" | "change the root" | "make mounts private", _) => {
            "allow mounts in user namespaces: `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, or in a container \
             `--security-opt apparmor=unconfined`"
        }
        _ => "see the mechanisms that `proofhouse doctor` lists",
    };
    text.to_owned()
}

/// Tries the mechanisms in a throwaway process of the helper.
fn mechanisms(launcher: &Launcher) -> Vec<Mechanism> {
    let mut spec = Spec::builtin(&["probe", "mechanisms"]);
    spec.without = crate::guards::Guards::USER.and(crate::guards::Guards::PRIVILEGES);
    let outcome = launcher.run(&spec, Tier::Limited, Around::default());
    let row = |line: &str| {
        let (name, errno) = line.rsplit_once(' ')?;
        let result = match errno.parse().ok()? {
            0 => Ok(()),
            errno => Err(errno),
        };
        Some(Mechanism { name: name.to_owned(), result })
    };
    let mut rows: Vec<Mechanism> = outcome.stdout.text().lines().filter_map(row).collect();
    if rows.is_empty() {
        // Not even a process without a box could be started as boxes are; what it takes can be asked here as well.
        let here = harmless().into_iter().map(|(name, errno)| Mechanism {
            name: name.to_owned(),
            result: if errno == 0 { Ok(()) } else { Err(errno) },
        });
        rows.extend(here);
    }
    rows.push(Mechanism { name: LANDLOCK.into(), result: landlock::abi().map(|_| ()) });
    rows
}

/// The payload of probes.
#[expect(clippy::print_stdout, reason = "a payload's standard output is what the harness reads")]
pub(crate) fn payload(words: &[&str]) -> i32 {
    match words {
        ["mechanisms"] => {
            for (name, errno) in try_mechanisms() {
                println!("{name} {errno}");
            }
            0
        }
        [tier] => {
            let open = escapes(*tier == "strong");
            if open.is_empty() {
                println!("held");
                return 0;
            }
            println!("{}", open.join("\n"));
            1
        }
        _ => 2,
    }
}

fn code<T>(result: io::Result<T>) -> i32 {
    result.map_or_else(|error| error.raw_os_error().unwrap_or(libc::EIO), |_| 0)
}

/// Mechanisms that can be tried without a trace.
fn harmless() -> Vec<(&'static str, i32)> {
    let own = rustix::process::getpid();
    let pidfd =
        rustix::process::pidfd_open(own, rustix::process::PidfdFlags::empty()).map_err(io::Error::from);
    let own = own.as_raw_nonzero().get();
    vec![
        (PIDFD, code(pidfd)),
        ("openat2", code(super::files::try_openat2())),
        (TREE, code(std::fs::read("/proc/thread-self/children"))),
        (FILTER, code(sys::seccomp_available())),
        (TASK_CLOCK, code(sys::task_clock(own))),
        (COMPARE, code(sys::same_memory(own, own).ok_or_else(io::Error::last_os_error))),
    ]
}

fn try_mechanisms() -> Vec<(&'static str, i32)> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let unshare = |flags| {
        // SAFETY: this process has one thread and shares no memory or descriptors with another.
        code(unsafe { unshare_unsafe(flags) }.map_err(io::Error::from))
    };
    let mut rows = harmless();
    rows.push(("user namespace", unshare(UnshareFlags::NEWUSER)));
    let write = |file: &str, text: String| code(std::fs::write(format!("/proc/self/{file}"), text));
    rows.push(("id maps", write("uid_map", format!("0 {user} 1\n"))));
    let _ = write("setgroups", "deny".into());
    let _ = write("gid_map", format!("0 {group} 1\n"));
    for (name, flag) in [
        ("mount namespace", UnshareFlags::NEWNS),
        ("network namespace", UnshareFlags::NEWNET),
        ("ipc namespace", UnshareFlags::NEWIPC),
        ("uts namespace", UnshareFlags::NEWUTS),
        ("cgroup namespace", UnshareFlags::NEWCGROUP),
        ("pid namespace", UnshareFlags::NEWPID),
    ] {
        rows.push((name, unshare(flag)));
    }
    rows.push(("mounts", code(super::root::try_tmpfs())));
    rows
}

/// What is open that should be closed.
fn escapes(strong: bool) -> Vec<String> {
    let mut tries: BTreeMap<&str, bool> = BTreeMap::new();
    let opens = |path: &str| rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).is_ok();
    tries.insert("/etc can be read", opens("/etc"));
    tries.insert("/proc/self/status can be read", opens("/proc/self/status"));
    // SAFETY: `socket` takes integers and returns a descriptor or an error.
    let socket = unsafe { libc::socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0) };
    tries.insert("a vsock socket can be made", socket >= 0);
    // SAFETY: this process has one thread.
    tries.insert("a namespace can be made", unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }.is_ok());
    tries.insert("new privileges are possible", !rustix::thread::no_new_privs().unwrap_or(false));
    tries.insert("the user is root", strong && rustix::process::geteuid().is_root());
    tries.insert(
        "the process is not in its own pid namespace",
        strong && rustix::process::getpid().as_raw_nonzero().get() > 99,
    );
    tries.into_iter().filter(|(_, open)| *open).map(|(name, _)| name.to_owned()).collect()
}
