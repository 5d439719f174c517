//! The lab: sandboxes for tests in this process, and the crate's own program run as somebody else or on a host that forbids things.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use proofhouse_sandbox::recipes::Toolchain;
use proofhouse_sandbox::{Helper, Options, Request, Sandbox, Tier};
use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};

const BOX: &str = env!("CARGO_BIN_EXE_proofhouse-box");

/// An unprivileged user that every system has.
const NOBODY: u32 = 65_534;

/// A sandbox of exactly this tier, without a cgroup, with a scratch directory that is gone with it.
pub(crate) struct Lab {
    pub(crate) sandbox: Sandbox,
    pub(crate) dir: tempfile::TempDir,
}

impl std::ops::Deref for Lab {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

pub(crate) fn lab(tier: Tier) -> Lab {
    lab_with(tier, false)
}

pub(crate) fn lab_with(tier: Tier, cgroup: bool) -> Lab {
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut options = Options::new(dir.path());
    options.helper = Helper::At(BOX.into());
    options.request = Request::exactly(tier);
    options.cgroup = cgroup;
    Lab { sandbox: Sandbox::open(options).expect("this machine has the tier"), dir }
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The Rust toolchain that the tests themselves are built with.
pub(crate) fn toolchain() -> Toolchain {
    Toolchain::rust("rustc".as_ref()).expect("a toolchain")
}

/// A run of the crate's own program.
#[derive(Default)]
pub(crate) struct Stage {
    user: bool,
    filters: Vec<BpfProgram>,
    no_user_namespaces: bool,
    sysroot: Option<(PathBuf, tempfile::TempDir)>,
    other_pids: bool,
    scratch: Option<String>,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        Stage::default()
    }

    /// As an unprivileged user; a caller that is one already stays itself.
    pub(crate) fn user(mut self) -> Stage {
        self.user = true;
        self
    }

    /// Under Docker's default profile, as far as it concerns sandboxes.
    pub(crate) fn docker(mut self) -> Stage {
        self.filters = filters(DOCKER);
        self
    }

    /// On a kernel with neither namespaces nor Landlock.
    pub(crate) fn bare_kernel(mut self) -> Stage {
        let landlock: &[libc::c_long] = &[libc::SYS_landlock_create_ruleset];
        self.filters = filters(&[DOCKER, landlock].concat());
        self
    }

    /// In a pid namespace of its own, with the same files.
    pub(crate) fn other_pids(mut self) -> Stage {
        self.other_pids = true;
        self
    }

    /// With work directories in this one.
    pub(crate) fn scratch(mut self, path: &str) -> Stage {
        self.scratch = Some(path.to_owned());
        self
    }

    /// On a kernel that does not know this call.
    pub(crate) fn without(mut self, call: libc::c_long) -> Stage {
        self.filters = vec![program(BTreeMap::from([(call, vec![])]), libc::ENOSYS)];
        self
    }

    /// With the limit of user namespaces at zero, for this run alone.
    pub(crate) fn exhausted(mut self) -> Stage {
        self.no_user_namespaces = true;
        self
    }

    /// Makes the toolchain visible to an unprivileged user, in a mount namespace of its own.
    pub(crate) fn with_toolchain(mut self) -> Stage {
        self.sysroot = Some((toolchain().sysroot, tempfile::tempdir_in("/tmp").unwrap()));
        self
    }

    /// The compiler as the run will see it.
    pub(crate) fn rustc(&self) -> String {
        let (sysroot, seen) = self.sysroot.as_ref().expect("asked for a toolchain");
        let base = if self.user && is_root() { seen.path() } else { sysroot.as_path() };
        base.join("bin/rustc").display().to_string()
    }

    /// Runs the program and returns its lines of name and value.
    pub(crate) fn run(self, words: &[&str]) -> BTreeMap<String, String> {
        let output = self.command(words).stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "{words:?} ended with {}", output.status);
        let text = String::from_utf8(output.stdout).unwrap();
        let row = |line: &str| line.split_once('\t').map(|(name, value)| (name.to_owned(), value.to_owned()));
        text.lines().filter_map(row).collect()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the tests of the crate that is the home of process starting"
    )]
    pub(crate) fn command(self, words: &[&str]) -> Command {
        let mut command = Command::new(BOX);
        command.args(words).current_dir("/");
        command.envs(self.scratch.as_ref().map(|path| ("TMPDIR", path)));
        let other_pids = self.other_pids;
        let change_user = self.user && is_root();
        let mut mount = None;
        if let Some((sysroot, seen)) = self.sysroot.filter(|_| change_user) {
            std::fs::set_permissions(seen.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .unwrap();
            // The directory stays until the test process ends; it is empty outside of the run's own namespace.
            mount = Some((sysroot, seen));
        }
        let (filters, exhausted) = (self.filters, self.no_user_namespaces);
        let prepare = move || {
            if let Some((sysroot, seen)) = &mount {
                show_toolchain(sysroot, seen.path())?;
            }
            if other_pids {
                enter_other_pids()?;
            }
            if change_user {
                become_nobody()?;
            }
            if exhausted {
                exhaust()?;
            }
            filters.iter().try_for_each(|filter| seccompiler::apply_filter(filter).map_err(io::Error::other))
        };
        // SAFETY: the closure runs in the forked child and makes system calls; the little it allocates is safe because no other
        // thread of the test allocates while it holds a lock that glibc's own fork handlers do not take care of.
        unsafe { command.pre_exec(prepare) };
        command
    }
}

fn show_toolchain(sysroot: &std::path::Path, seen: &std::path::Path) -> io::Result<()> {
    // SAFETY: the forked child has one thread.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS)? };
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    mount_bind(sysroot, seen)?;
    Ok(())
}

/// Moves the program that follows into a pid namespace with a `/proc` of its own: this process stays as its parent and ends with it.
fn enter_other_pids() -> io::Result<()> {
    // SAFETY: the forked child has one thread, and so has its own.
    unsafe {
        unshare_unsafe(UnshareFlags::NEWPID | UnshareFlags::NEWNS)?;
        let child = libc::fork();
        if child > 0 {
            let mut status = 0;
            libc::waitpid(child, &raw mut status, 0);
            libc::_exit(libc::WEXITSTATUS(status));
        }
    }
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    rustix::mount::mount("proc", "/proc", "proc", rustix::mount::MountFlags::empty(), None)?;
    Ok(())
}

fn become_nobody() -> io::Result<()> {
    let (user, group) = (rustix::process::Uid::from_raw(NOBODY), rustix::process::Gid::from_raw(NOBODY));
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(group, group, group)?;
    rustix::thread::set_thread_res_uid(user, user, user)?;
    // Changing the user makes a process unreadable to itself until it runs another program.
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable)?;
    Ok(())
}

/// Moves into a user namespace in which no further one can be made. Outside nothing changes.
fn exhaust() -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    // SAFETY: the forked child has one thread.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER)? };
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1\n"))?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1\n"))?;
    std::fs::write("/proc/sys/user/max_user_namespaces", "0")
}

/// What Docker's default profile denies to a container without added capabilities and a sandbox would want.
const DOCKER: &[libc::c_long] = &[
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_open_by_handle_at,
    libc::SYS_kcmp,
];

/// EPERM for the calls and for `clone` with namespaces, ENOSYS for `clone3`, as the profile has it.
fn filters(denied: &[libc::c_long]) -> Vec<BpfProgram> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = denied.iter().map(|call| (*call, vec![])).collect();
    let new =
        [libc::CLONE_NEWUSER, libc::CLONE_NEWNS, libc::CLONE_NEWPID, libc::CLONE_NEWNET, libc::CLONE_NEWIPC];
    let with = |flag: i32| {
        let mask = SeccompCmpOp::MaskedEq(flag as u64);
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Qword, mask, flag as u64).unwrap();
        SeccompRule::new(vec![condition]).unwrap()
    };
    rules.insert(libc::SYS_clone, new.map(with).into());
    vec![program(rules, libc::EPERM), program(BTreeMap::from([(libc::SYS_clone3, vec![])]), libc::ENOSYS)]
}

fn program(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: i32) -> BpfProgram {
    let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let deny = SeccompAction::Errno(errno as u32);
    SeccompFilter::new(rules, SeccompAction::Allow, deny, arch).unwrap().try_into().unwrap()
}
