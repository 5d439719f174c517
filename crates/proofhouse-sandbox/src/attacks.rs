//! The attack suite as a library, so that `doctor --attack` can run it on the user's own machine.
//!
//! Each attack is a small function that runs as a payload, with a check on the *outside*: a file not written, a port not reached,
//! a process gone, bytes bounded. Each also has a control: the same attack without the box, or with the one guard removed that
//! stops it, because an attack that never works proves nothing.

use crate::sandbox::Sandbox;
use crate::tier::Tier;

/// What came of one attack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttackResult {
    /// The attack's name.
    pub name: &'static str,
    /// What it tries, in words.
    pub what: &'static str,
    /// The kind of box that it was aimed at.
    pub spec: &'static str,
    /// The effect that it had, or `None` when it was held.
    pub effect: Option<String>,
    /// Whether the tier says that it does not hold this.
    pub declared: bool,
}

impl AttackResult {
    /// Whether the box did what it says: held, or declared not to.
    pub fn as_promised(&self) -> bool {
        self.effect.is_none() || self.declared
    }
}

/// Runs all attacks that need no compiler against one tier, `strong` or `confined`; weaker tiers promise nothing, and nothing is
/// run against them.
#[cfg(target_os = "linux")]
pub fn run_attacks(sandbox: &Sandbox, tier: Tier) -> Vec<AttackResult> {
    crate::linux::attacks::run_all(sandbox, tier)
}

/// Runs one attack, on each kind of box that it is aimed at.
#[cfg(target_os = "linux")]
pub fn run_attack(sandbox: &Sandbox, tier: Tier, name: &str) -> Vec<AttackResult> {
    crate::linux::attacks::run_those(sandbox, tier, |each| each == name)
}

/// There are no boxes to attack on this system.
#[cfg(not(target_os = "linux"))]
pub fn run_attacks(_: &Sandbox, _: Tier) -> Vec<AttackResult> {
    Vec::new()
}

/// Runs the attacks on the compiler, with the toolchain inside the box.
#[cfg(target_os = "linux")]
pub fn run_compile_attacks(
    sandbox: &Sandbox,
    tier: Tier,
    toolchain: &crate::recipes::Toolchain,
) -> Vec<AttackResult> {
    crate::linux::attacks::compile::run_all(sandbox, tier, toolchain)
}

/// There are no boxes to attack on this system.
#[cfg(not(target_os = "linux"))]
pub fn run_compile_attacks(_: &Sandbox, _: Tier, _: &crate::recipes::Toolchain) -> Vec<AttackResult> {
    Vec::new()
}

/// Runs the control of every attack. An effect of `None` means that the attack does not work at all.
#[cfg(target_os = "linux")]
pub fn run_controls(sandbox: &Sandbox) -> Vec<AttackResult> {
    crate::linux::attacks::control_all(sandbox)
}

/// Runs the control of every attack on the compiler.
#[cfg(target_os = "linux")]
pub fn run_compile_controls(sandbox: &Sandbox, toolchain: &crate::recipes::Toolchain) -> Vec<AttackResult> {
    crate::linux::attacks::compile::control_all(sandbox, toolchain)
}

/// Runs attacks that try to leave processes behind, `runs` times, and returns how many processes are left one second later.
#[cfg(target_os = "linux")]
pub fn count_orphans(sandbox: &Sandbox, tier: Tier, runs: usize) -> std::io::Result<usize> {
    crate::linux::attacks::orphan_runs(sandbox, tier, runs)
}

/// Runs an honest program near its memory limit whose children borrow its address space, and counts how the runs ended.
#[cfg(target_os = "linux")]
pub fn count_borrowing(
    sandbox: &Sandbox,
    tier: Tier,
    runs: usize,
) -> std::collections::BTreeMap<String, usize> {
    crate::linux::attacks::borrowing_runs(sandbox, tier, runs)
}

/// Runs a program that fills memory as fast as it can against a limit, to measure by how much the limit is overshot.
#[cfg(target_os = "linux")]
pub fn memory_bomb(sandbox: &Sandbox, limit_bytes: u64) -> crate::Outcome {
    crate::linux::attacks::memory_bomb(sandbox, limit_bytes)
}
