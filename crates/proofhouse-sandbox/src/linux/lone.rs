//! A filter for a process that is forked inside a box, beside others, and stays alone: it ends the process for whatever reaches
//! another one or starts one. Who is ended by it can be run again in a box of its own, where the same is allowed or denied as always.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Stands for the number of the process, which nobody knows before it is forked.
const OWN: u32 = 0x5a7e_1e57;

/// The filter's instructions as the kernel takes them, and the bytes in it that stand for the process's own number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoneFilter {
    /// Eight bytes for each instruction.
    pub steps: Vec<u8>,
    /// To be replaced by the number of the process, wherever they occur.
    pub own: [u8; 4],
}

/// Calls that end the process, whatever they are given.
const ENDING: &[libc::c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_tkill,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    libc::SYS_ioprio_set,
    libc::SYS_setpriority,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
];

/// Calls that are for the process itself only: their first argument is its number.
const OWN_ONLY: [libc::c_long; 4] =
    [libc::SYS_kill, libc::SYS_tgkill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo];

/// Calls that mean the caller when their first argument is zero.
const CALLER_ONLY: [libc::c_long; 4] = [
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
];

/// Makes the filter; `None` where this machine's architecture is not known.
pub fn lone_filter() -> Option<LoneFilter> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ENDING.iter().map(|call| (*call, Vec::new())).collect();
    let rule = |op, value| {
        let condition = SeccompCondition::new(0, Len::Dword, op, value).ok()?;
        SeccompRule::new(vec![condition]).ok()
    };
    for call in OWN_ONLY {
        rules.insert(call, vec![rule(Op::Ne, u64::from(OWN))?]);
    }
    for call in CALLER_ONLY {
        rules.insert(call, vec![rule(Op::Ne, 0)?]);
    }
    // Threads are part of the process; anything else that `clone` makes is another one.
    rules.insert(libc::SYS_clone, vec![rule(Op::MaskedEq(libc::CLONE_THREAD as u64), 0)?]);
    let arch = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::KillProcess, arch).ok()?;
    let program = BpfProgram::try_from(filter).ok()?;
    let steps = program
        .iter()
        .flat_map(|step| {
            let [low, high] = step.code.to_ne_bytes();
            let [a, b, c, d] = step.k.to_ne_bytes();
            [low, high, step.jt, step.jf, a, b, c, d]
        })
        .collect();
    Some(LoneFilter { steps, own: OWN.to_ne_bytes() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_number_stands_once_for_each_call_that_is_for_oneself() {
        let filter = lone_filter().unwrap();
        assert_eq!(filter.steps.len() % 8, 0);
        let found = filter.steps.windows(4).filter(|bytes| *bytes == filter.own).count();
        assert_eq!(found, OWN_ONLY.len());
    }
}
