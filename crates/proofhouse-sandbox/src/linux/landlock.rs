//! The Landlock layer: in a private root the second lock on the same door, without one the only lock on files.

use std::fs::File;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

/// The newest ABI that the library knows; older kernels enforce what they have.
const NEWEST: ABI = ABI::V9;

/// What a process may reach, to be turned into a rule set.
pub(crate) struct Reach<'a> {
    /// Readable and executable.
    pub(crate) read: Vec<&'a Path>,
    /// Everything but making devices.
    pub(crate) write: Vec<&'a Path>,
    /// Devices to read and write.
    pub(crate) devices: Vec<&'a Path>,
    /// The host's network stays open.
    pub(crate) network: bool,
}

/// Restricts this process and all it starts. `Ok(false)`: the kernel has no Landlock.
pub(crate) fn restrict(reach: &Reach<'_>) -> Result<bool, Box<dyn std::error::Error>> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    if !reach.network {
        rules = rules.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut created = rules.create()?;
    let write = AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    for path in &reach.read {
        created = allow(created, path, AccessFs::from_read(NEWEST))?;
    }
    for path in &reach.write {
        created = allow(created, path, write)?;
    }
    for path in &reach.devices {
        created = allow(created, path, AccessFs::ReadFile | AccessFs::WriteFile)?;
    }
    let status = created.restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, Box<dyn std::error::Error>> {
    let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
    let fd = rustix::fs::open(path, flags, rustix::fs::Mode::empty())
        .map_err(|error| format!("`{}`: {error}", path.display()))?;
    let is_dir = File::from(fd.try_clone()?).metadata()?.is_dir();
    let access = if is_dir { access } else { access & AccessFs::from_file(NEWEST) };
    Ok(rules.add_rule(PathBeneath::new(fd, access))?)
}

/// The ABI of the running kernel, 0 without Landlock.
pub(crate) fn abi() -> Result<u32, i32> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with the version flag the call takes a null pointer and size 0, and returns a number.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, VERSION) };
    if abi < 0 { Err(super::last_errno()) } else { Ok(abi as u32) }
}
