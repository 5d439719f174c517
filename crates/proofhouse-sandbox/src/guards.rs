//! The guards of a box by name, so that a control run can leave out exactly one and show that an attack then works.

/// A set of guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guards(pub(crate) u32);

#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "most guards are of Linux"))]
impl Guards {
    /// No guard.
    pub(crate) const NONE: Guards = Guards(0);
    /// The system call filter.
    pub(crate) const SECCOMP: Guards = Guards(1);
    /// Landlock.
    pub(crate) const LANDLOCK: Guards = Guards(1 << 1);
    /// The network namespace.
    pub(crate) const NET: Guards = Guards(1 << 4);
    /// The namespaces of IPC objects and host name.
    pub(crate) const IPC: Guards = Guards(1 << 5);
    /// Dropping capabilities, and no new privileges.
    pub(crate) const PRIVILEGES: Guards = Guards(1 << 6);
    /// Resource limits of the kernel.
    pub(crate) const RLIMITS: Guards = Guards(1 << 7);
    /// The watchdog over CPU time and memory.
    pub(crate) const WATCHDOG: Guards = Guards(1 << 8);
    /// Closing every descriptor but the first three.
    pub(crate) const FDS: Guards = Guards(1 << 9);
    /// The user of the box's own, when the caller is root.
    pub(crate) const USER: Guards = Guards(1 << 10);
    /// The empty environment.
    pub(crate) const ENV: Guards = Guards(1 << 11);
    /// Size and inode limit of the work directory.
    pub(crate) const DISK: Guards = Guards(1 << 12);
    /// The output cap.
    pub(crate) const OUTPUT: Guards = Guards(1 << 13);
    /// Killing what is left when the program has ended.
    pub(crate) const REAP: Guards = Guards(1 << 14);
    /// The kernel's count of CPU time.
    pub(crate) const CLOCK: Guards = Guards(1 << 16);
    /// The wall-clock guard.
    pub(crate) const WALL: Guards = Guards(1 << 15);

    /// Both sets together.
    #[must_use]
    pub(crate) const fn and(self, other: Guards) -> Guards {
        Guards(self.0 | other.0)
    }

    /// Whether `guard` is in the set.
    pub(crate) fn has(self, guard: Guards) -> bool {
        self.0 & guard.0 != 0
    }
}
