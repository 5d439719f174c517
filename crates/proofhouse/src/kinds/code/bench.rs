//! Where completions are run: the sandbox with a budget for each phase, and secrets that only a runner learns.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proofhouse_ledger::Digest;
use proofhouse_sandbox::{Limits, Outcome, Sandbox, Spec};

use super::output;

/// How much each phase may use. CPU time decides; wall clock is a guard that a loaded machine does not reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    /// For the compiler and linter.
    pub compile: Limits,
    /// For the tests.
    pub test: Limits,
}

impl Default for Budgets {
    fn default() -> Budgets {
        const MIB: u64 = 1 << 20;
        let limits = Limits::default();
        Budgets {
            compile: Limits {
                cpu_ms: 20_000,
                wall_ms: 120_000,
                memory_bytes: 2048 * MIB,
                file_bytes: 256 * MIB,
                disk_bytes: 512 * MIB,
                ..limits
            },
            test: Limits { cpu_ms: 10_000, wall_ms: 40_000, ..limits },
        }
    }
}

/// A sandbox with budgets, shared by all workers.
pub struct Bench {
    sandbox: Arc<Sandbox>,
    budgets: Budgets,
    key: [u8; 32],
    counter: AtomicU64,
}

impl Bench {
    /// Takes a sandbox into use.
    pub fn new(sandbox: Sandbox, budgets: Budgets) -> io::Result<Bench> {
        let mut key = [0; 32];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut key)?;
        Ok(Bench { sandbox: Arc::new(sandbox), budgets, key, counter: AtomicU64::new(0) })
    }

    /// The sandbox.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// The sandbox, for boxes that stay longer than one judgement.
    pub(super) fn shared_sandbox(&self) -> Arc<Sandbox> {
        Arc::clone(&self.sandbox)
    }

    /// The budgets.
    pub fn budgets(&self) -> &Budgets {
        &self.budgets
    }

    /// Everything about it that a verdict depends on.
    pub(super) fn conditions(&self) -> String {
        format!("{} {:?}", self.sandbox.policy_digest(proofhouse_sandbox::Network::None), self.budgets)
    }

    /// A text that nobody can guess, another one each time. It is never recorded.
    pub(super) fn secret(&self) -> String {
        let count = self.counter.fetch_add(1, Ordering::Relaxed);
        String::from_utf8_lossy(&Digest::of_parts(&[&self.key, &count.to_le_bytes()]).hex()).into_owned()
    }

    pub(super) fn compile(&self, mut spec: Spec) -> Outcome {
        spec.limits = self.budgets.compile;
        told("compile", self.sandbox.run(&spec))
    }

    pub(super) fn test(&self, mut spec: Spec) -> Outcome {
        spec.limits = self.budgets.test;
        spec.keep = output::KEEP;
        told("test", self.sandbox.run(&spec))
    }

    /// Runs a program that speaks with another over this end of a link.
    pub(super) fn test_linked(&self, mut spec: Spec, end: OwnedFd) -> Outcome {
        spec.limits = self.budgets.test;
        spec.keep = output::KEEP;
        told("test, linked", self.sandbox.run_linked(&spec, end, None))
    }
}

/// The same outcome, told to `-vv`.
pub(super) fn told(purpose: &'static str, outcome: Outcome) -> Outcome {
    let (wall_ms, cpu_ms) = (outcome.usage.wall_ms, outcome.usage.cpu_ms);
    tracing::debug!(%purpose, status = ?outcome.status, wall_ms, cpu_ms, tier = ?outcome.tier, "box");
    outcome
}
