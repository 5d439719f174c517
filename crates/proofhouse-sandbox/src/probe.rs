//! What this machine can do, found out by doing it, and what each tier lacks here. Plain data: the caller prints and records it.

use std::fmt;

use crate::outcome::errno_text;
use crate::tier::Tier;

/// The findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Operating system and kernel.
    pub system: String,
    /// Whether the caller is root.
    pub root: bool,
    /// Each mechanism by itself.
    pub mechanisms: Vec<Mechanism>,
    /// Landlock's version of the running kernel, 0 without.
    pub landlock_abi: u32,
    /// What counts memory.
    pub memory: Memory,
    /// A `strong` box was spawned and held, or why not.
    pub strong: Result<(), Failure>,
    /// A `confined` box was spawned and held, or why not.
    pub confined: Result<(), Failure>,
}

/// One mechanism and what trying it gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mechanism {
    /// Its name.
    pub name: String,
    /// It works, or the system's error number.
    pub result: Result<(), i32>,
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.result {
            Ok(()) => write!(f, "{}: ok", self.name),
            Err(errno) => write!(f, "{}: {}", self.name, errno_text(errno)),
        }
    }
}

/// The mechanism that counts CPU time of everything a process starts.
pub(crate) const TASK_CLOCK: &str = "inherited task clock";
/// The same by a cgroup that limits no memory.
pub(crate) const GROUP_CLOCK: &str = "cgroup with CPU time";
/// The mechanism that tells address spaces apart.
pub(crate) const COMPARE: &str = "compare address spaces";

/// What counts a box's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The kernel, exactly.
    Cgroup(String),
    /// Init, by looking.
    Watchdog,
}

/// Why a tier is not to be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{step}: {}", errno_text(*errno))]
pub struct Failure {
    /// What failed.
    pub step: String,
    /// The system's error number.
    pub errno: i32,
    /// What would help.
    pub fix: String,
}

/// Something that a tier does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// A stable word.
    pub id: &'static str,
    /// What it means, in the words that doctor, manifest, report, envelope and records have in common.
    pub text: &'static str,
}

impl Gap {
    /// Whether an attack gets through by it, or a program past a limit: then it may change a verdict, and each record says so. The
    /// others are held by a second lock alone, or tell a program something that it can do nothing with.
    pub fn lets_through(&self) -> bool {
        !["memory-sampled", "host-paths", "device-ioctl", "unix-path"].contains(&self.id)
    }
}

impl Probe {
    /// Whether a tier is to be had.
    pub fn has(&self, tier: Tier) -> bool {
        match tier {
            Tier::Strong => self.strong.is_ok(),
            Tier::Confined => self.confined.is_ok(),
            Tier::Limited | Tier::None => true,
        }
    }

    /// The best tier that is to be had.
    pub fn best(&self) -> Tier {
        [Tier::Strong, Tier::Confined].into_iter().find(|tier| self.has(*tier)).unwrap_or(Tier::Limited)
    }

    /// Why a tier is not to be had.
    pub fn failure(&self, tier: Tier) -> Option<&Failure> {
        match tier {
            Tier::Strong => self.strong.as_ref().err(),
            Tier::Confined => self.confined.as_ref().err(),
            Tier::Limited | Tier::None => None,
        }
    }

    /// What a tier does not hold on this machine.
    pub fn gaps(&self, tier: Tier) -> Vec<Gap> {
        let gap = |id, text| Gap { id, text };
        let mut gaps = Vec::new();
        if tier != Tier::None {
            gaps.extend(self.memory_gap(tier));
        }
        if !self.counts_cpu() && tier != Tier::None {
            gaps.push(gap(
                "cpu-sampled",
                "CPU time is counted by looking: children that a tool starts and ignores may use more than its budget",
            ));
        }
        match tier {
            Tier::Strong => {}
            Tier::Confined => {
                gaps.push(gap(
                    "disk-total",
                    "the size of the work directory is not limited, only that of one file",
                ));
                gaps.push(gap(
                    "host-seen",
                    "names of host files and where links lead, users and processes may be learned; contents of files not",
                ));
                gaps.push(gap("host-paths", "programs see host paths"));
                gaps.extend(self.landlock_gaps());
            }
            Tier::Limited => {
                gaps.push(gap("no-isolation", "files, network and processes of the user are within reach"));
            }
            Tier::None => gaps.push(gap("nothing-held", "nothing is promised")),
        }
        gaps
    }

    /// What the tier says about memory, unless the kernel counts it.
    fn memory_gap(&self, tier: Tier) -> Option<Gap> {
        let (id, text) = match tier {
            _ if self.memory != Memory::Watchdog => return None,
            _ if !self.works(COMPARE) => (
                "memory-not-held",
                "memory is not held: no cgroup counts it, and processes that share one address space cannot be told apart",
            ),
            Tier::Strong => (
                "memory-sampled",
                "memory is counted by looking, not by the kernel: a short peak may be missed",
            ),
            _ => (
                "memory-not-held",
                "memory is not held: no cgroup counts it, and what waits in sockets that are handed on is not seen",
            ),
        };
        Some(Gap { id, text })
    }

    fn works(&self, mechanism: &str) -> bool {
        self.mechanisms.iter().any(|each| each.name == mechanism && each.result.is_ok())
    }

    /// Whether the kernel counts the CPU time of a box, so that nothing in it can avoid the count.
    pub fn counts_cpu(&self) -> bool {
        let with_memory = matches!(&self.memory, Memory::Cgroup(kind) if kind.contains("version 2"));
        with_memory || self.works(GROUP_CLOCK) || self.works(TASK_CLOCK)
    }

    fn landlock_gaps(&self) -> Vec<Gap> {
        const BY_ABI: [(u32, &str, &str); 4] = [
            (3, "truncate", "files of the user can be emptied, though not written (Landlock ABI below 3)"),
            (5, "device-ioctl", "controls of open devices are not filtered (Landlock ABI below 5)"),
            (6, "signals", "processes of the same user can be signalled (Landlock ABI below 6)"),
            (9, "unix-path", "unix sockets with a path are held by the filter alone (Landlock ABI below 9)"),
        ];
        let missing = BY_ABI.into_iter().filter(|(abi, ..)| self.landlock_abi < *abi);
        missing.map(|(_, id, text)| Gap { id, text }).collect()
    }

    /// The tier's name with what counts its memory, as records show it.
    pub fn label(&self, tier: Tier) -> String {
        match (&self.memory, tier) {
            (Memory::Cgroup(_), Tier::Strong | Tier::Confined) => format!("{tier}+cgroup"),
            _ => tier.to_string(),
        }
    }

    /// Everything as rows of name and value, for `doctor`.
    pub fn rows(&self) -> Vec<(String, String)> {
        let mut rows = vec![
            ("system".to_owned(), self.system.clone()),
            ("user".to_owned(), if self.root { "root" } else { "unprivileged" }.to_owned()),
        ];
        let text = |result: &Result<(), i32>| result.map_or_else(errno_text, |()| "ok".to_owned());
        rows.extend(self.mechanisms.iter().map(|each| (each.name.clone(), text(&each.result))));
        rows.push(("Landlock ABI".into(), self.landlock_abi.to_string()));
        rows.push((
            "memory".into(),
            match &self.memory {
                Memory::Cgroup(kind) => kind.clone(),
                Memory::Watchdog => "watchdog, 0.5 to 10 ms".into(),
            },
        ));
        for (tier, found) in [(Tier::Strong, &self.strong), (Tier::Confined, &self.confined)] {
            let value = match found {
                Ok(()) => "held".to_owned(),
                Err(failure) => format!("{failure}; hint: {}", failure.fix),
            };
            rows.push((format!("tier {tier}"), value));
            if found.is_ok() {
                rows.extend(
                    self.gaps(tier)
                        .into_iter()
                        .map(|gap| (format!("gap of {tier}: {}", gap.id), gap.text.to_owned())),
                );
            }
        }
        rows
    }
}

/// The words of all gaps that there can be.
#[cfg(test)]
pub(crate) fn every_gap() -> std::collections::BTreeSet<&'static str> {
    let none = || Failure { step: String::new(), errno: 0, fix: String::new() };
    let mut probe = Probe {
        system: String::new(),
        root: false,
        mechanisms: Vec::new(),
        landlock_abi: 0,
        memory: Memory::Watchdog,
        strong: Err(none()),
        confined: Err(none()),
    };
    let mut ids = std::collections::BTreeSet::new();
    for compare in [Err(libc::EPERM), Ok(())] {
        probe.mechanisms = vec![Mechanism { name: COMPARE.into(), result: compare }];
        ids.extend(Tier::ALL.into_iter().flat_map(|tier| probe.gaps(tier)).map(|gap| gap.id));
    }
    ids
}
