//! The guards of a box by name, so that a control run can leave out exactly one and show that an attack then works.

/// A set of guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guards(pub(crate) u32);

impl Guards {
    /// No guard.
    pub const NONE: Guards = Guards(0);
    /// The system call filter.
    pub const SECCOMP: Guards = Guards(1);
    /// Landlock.
    pub const LANDLOCK: Guards = Guards(1 << 1);
    /// The network namespace.
    pub const NET: Guards = Guards(1 << 4);
    /// The namespaces of IPC objects and host name.
    pub const IPC: Guards = Guards(1 << 5);
    /// Dropping capabilities, and no new privileges.
    pub const PRIVILEGES: Guards = Guards(1 << 6);
    /// Resource limits of the kernel.
    pub const RLIMITS: Guards = Guards(1 << 7);
    /// The watchdog over CPU time and memory.
    pub const WATCHDOG: Guards = Guards(1 << 8);
    /// Closing every descriptor but the first three.
    pub const FDS: Guards = Guards(1 << 9);
    /// The user of the box's own, when the caller is root.
    pub const USER: Guards = Guards(1 << 10);
    /// The empty environment.
    pub const ENV: Guards = Guards(1 << 11);
    /// Size and inode limit of the work directory.
    pub const DISK: Guards = Guards(1 << 12);
    /// The output cap.
    pub const OUTPUT: Guards = Guards(1 << 13);
    /// Killing what is left when the program has ended.
    pub const REAP: Guards = Guards(1 << 14);
    /// The wall-clock guard.
    pub const WALL: Guards = Guards(1 << 15);
    /// All of them.
    pub const ALL: Guards = Guards(u32::MAX);

    /// Both sets together.
    #[must_use]
    pub const fn and(self, other: Guards) -> Guards {
        Guards(self.0 | other.0)
    }

    /// Whether `guard` is in the set.
    pub(crate) fn has(self, guard: Guards) -> bool {
        self.0 & guard.0 != 0
    }
}
