//! The handle: made once, used from many threads.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::outcome::{Infra, Outcome};
use crate::portable;
use crate::probe::{Gap, Probe};
use crate::spec::{Network, Spec};
use crate::tier::{Refusal, Request, Tier, choose};

/// Where the second process comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Helper {
    /// This executable started again; its `main` calls [`crate::trampoline_main_if_asked`].
    CurrentExe,
    /// Another executable whose `main` does.
    At(PathBuf),
}

impl Helper {
    /// The executable. On Linux the running file itself, even if it has been replaced on disk since.
    pub(crate) fn program(&self) -> io::Result<PathBuf> {
        match self {
            Helper::At(path) => Ok(path.clone()),
            Helper::CurrentExe if cfg!(target_os = "linux") => Ok("/proc/self/exe".into()),
            Helper::CurrentExe => std::env::current_exe(),
        }
    }

    /// A command for the executable's second life, with nothing of our environment.
    pub(crate) fn command(&self, what: &str) -> io::Result<Command> {
        use std::os::unix::process::CommandExt;
        #[expect(clippy::disallowed_methods, reason = "this crate is the home of process starting")]
        let mut command = Command::new(self.program()?);
        command.arg0(crate::trampoline::NAME).arg(what).env_clear();
        Ok(command)
    }

    /// Starts the helper with our socket as its standard input.
    #[cfg(target_os = "linux")]
    pub(crate) fn start(&self, socket: OwnedFd) -> io::Result<std::process::Child> {
        use std::process::Stdio;
        let mut command = self.command(crate::trampoline::HELPER)?;
        command.stdin(socket).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/").spawn()
    }
}

/// How to open a sandbox.
#[derive(Clone, Debug)]
pub struct Options {
    /// `--sandbox` and `--require-sandbox`.
    pub request: Request,
    /// Where the second process comes from.
    pub helper: Helper,
    /// A directory in which tiers without a private root make their work directories. When the caller is root, its path should
    /// be open to other users, as `/tmp` is.
    pub scratch: PathBuf,
    /// Whether a delegated cgroup is used for memory, where there is one.
    pub cgroup: bool,
}

impl Options {
    /// `auto`, this executable, work directories below `scratch`.
    pub fn new(scratch: impl Into<PathBuf>) -> Options {
        Options { request: Request::AUTO, helper: Helper::CurrentExe, scratch: scratch.into(), cgroup: true }
    }
}

/// Why no sandbox could be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No tier that was asked for is to be had.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The helper could not be started.
    #[error("the sandbox's helper process could not be started")]
    Helper(#[source] io::Error),
}

/// What a run has beside its spec.
#[derive(Default)]
pub(crate) struct Around<'a> {
    /// In place of standard input.
    pub(crate) end: Option<OwnedFd>,
    pub(crate) cancel: Option<&'a Cancel>,
    /// Who takes the sockets of its doors.
    pub(crate) opened: Option<&'a mut dyn FnMut(Vec<OwnedFd>)>,
}

/// Runs specs in boxes of one tier.
#[derive(Debug)]
pub struct Sandbox {
    tier: Tier,
    probe: Probe,
    options: Options,
    #[cfg(target_os = "linux")]
    launcher: crate::linux::Launcher,
}

impl Sandbox {
    /// Starts the helper, probes the machine and picks the tier.
    pub fn open(options: Options) -> Result<Sandbox, OpenError> {
        let (sandbox, request) = Sandbox::probe_only(options)?;
        let tier = choose(request, &sandbox.probe)?;
        Ok(Sandbox { tier, ..sandbox })
    }

    /// Probes without asking for any tier, for `doctor`.
    pub fn examine(options: Options) -> Result<Probe, OpenError> {
        Ok(Sandbox::probe_only(options)?.0.probe)
    }

    #[cfg(target_os = "linux")]
    fn probe_only(options: Options) -> Result<(Sandbox, Request), OpenError> {
        let request = options.request;
        crate::scratch::remove_stale(&options.scratch);
        let mut launcher = crate::linux::Launcher::new(options.helper.clone(), options.scratch.clone())
            .map_err(OpenError::Helper)?;
        let probe = crate::linux::probe::probe(&mut launcher, options.cgroup);
        Ok((Sandbox { tier: Tier::None, probe, options, launcher }, request))
    }

    #[cfg(not(target_os = "linux"))]
    fn probe_only(options: Options) -> Result<(Sandbox, Request), OpenError> {
        crate::scratch::remove_stale(&options.scratch);
        let request = options.request;
        Ok((Sandbox { tier: Tier::None, probe: portable::probe(), options }, request))
    }

    /// The tier of all boxes.
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// What the machine can do.
    pub fn probe(&self) -> &Probe {
        &self.probe
    }

    /// What its tier does not hold on this machine, in words.
    pub fn gap_texts(&self) -> Vec<String> {
        self.probe.gaps(self.tier).into_iter().map(|gap| gap.text.to_owned()).collect()
    }

    /// The same without what lets no attack through: what a verdict under this sandbox rests on.
    pub fn open_gap_texts(&self) -> Vec<String> {
        let open = self.probe.gaps(self.tier).into_iter().filter(Gap::lets_through);
        open.map(|gap| gap.text.to_owned()).collect()
    }

    /// The digest of the policy that holds a spec with this network grant.
    pub fn policy_digest(&self, network: Network) -> String {
        let cgroup = matches!(self.probe.memory, crate::probe::Memory::Cgroup(_));
        crate::policy::policy_digest(self.tier, network, cgroup)
    }

    /// Runs one spec to its end.
    pub fn run(&self, spec: &Spec) -> Outcome {
        self.run_in(self.tier, spec, None)
    }

    /// Runs one spec to its end, or until it is called off.
    pub fn run_until(&self, spec: &Spec, cancel: &Cancel) -> Outcome {
        self.run_in(self.tier, spec, Some(cancel))
    }

    /// Runs one spec with this descriptor, one end of a [`crate::link`], in place of its standard input. No copy of it stays here, so
    /// that whoever holds the other end sees when the program is gone.
    pub fn run_linked(&self, spec: &Spec, end: OwnedFd, cancel: Option<&Cancel>) -> Outcome {
        self.run_with(self.tier, spec, Around { end: Some(end), cancel, ..Around::default() })
    }

    /// Runs one spec with a network of its own. The sockets of its doors come out, in the spec's order, before its program starts: what
    /// connects waits until they are served. Tiers without a network of their own fail to set such a box up.
    pub fn run_served(
        &self,
        spec: &Spec,
        cancel: Option<&Cancel>,
        opened: &mut dyn FnMut(Vec<OwnedFd>),
    ) -> Outcome {
        self.run_with(self.tier, spec, Around { cancel, opened: Some(opened), ..Around::default() })
    }

    /// Whether boxes can have a network of their own.
    pub fn has_own_network(&self) -> bool {
        self.tier == Tier::Strong
    }

    /// Runs a spec in a given tier, for probes, attacks and their controls.
    pub(crate) fn run_in(&self, tier: Tier, spec: &Spec, cancel: Option<&Cancel>) -> Outcome {
        self.run_with(tier, spec, Around { cancel, ..Around::default() })
    }

    fn run_with(&self, tier: Tier, spec: &Spec, around: Around<'_>) -> Outcome {
        if spec.network == Network::Own && tier != Tier::Strong {
            let step = format!("give the box a network of its own, which the tier `{tier}` has not");
            return Outcome::failed(tier, spec, Infra::Setup { step, errno: libc::EOPNOTSUPP });
        }
        #[cfg(target_os = "linux")]
        if tier != Tier::None {
            return self.launcher.run(spec, tier, around);
        }
        portable::run(spec, tier, &self.options.helper, self.scratch(), around.end, around.cancel)
    }

    /// Runs a spec with nothing but time and output limits and process groups, the way systems without Linux's mechanisms do.
    pub fn run_portably(&self, spec: &Spec) -> Outcome {
        portable::run(spec, Tier::Limited, &self.options.helper, self.scratch(), None, None)
    }

    /// Runs a spec in no box at all, with nothing but its limits on time and output: for the user's own tools, such as git, for which
    /// nobody needs to know what the machine could hold.
    pub fn run_unboxed(options: &Options, spec: &Spec) -> Outcome {
        portable::run(spec, Tier::None, &options.helper, &options.scratch, None, None)
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn helper(&self) -> &Helper {
        &self.options.helper
    }

    pub(crate) fn scratch(&self) -> &Path {
        &self.options.scratch
    }
}

/// Calls off runs that are under way.
#[derive(Debug)]
pub struct Cancel {
    read: OwnedFd,
    write: OwnedFd,
}

impl Cancel {
    /// Nothing is called off yet.
    pub fn new() -> io::Result<Cancel> {
        let (read, write) = rustix::pipe::pipe()?;
        rustix::io::fcntl_setfd(&read, rustix::io::FdFlags::CLOEXEC)?;
        rustix::io::fcntl_setfd(&write, rustix::io::FdFlags::CLOEXEC)?;
        Ok(Cancel { read, write })
    }

    /// Ends all runs that were started with this.
    pub fn cancel(&self) {
        let _ = rustix::io::write(&self.write, &[1]);
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }
}
