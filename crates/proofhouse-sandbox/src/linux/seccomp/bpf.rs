//! Turns decisions about calls into one filter program. It is one filter, because the kernel takes long to install each, and it
//! begins with a search by halves, because the kernel tries a filter on every number there is when it installs one.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// What is done about a call, by its number alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Allow,
    /// The call fails with this error number; 0 pretends that it was done.
    Errno(u16),
    /// Its arguments decide: go on to the list.
    Look,
    Kill,
}

/// One condition on one argument.
#[derive(Clone, Debug)]
pub(super) enum When {
    /// On its low 32 bits, which is all that the kernel looks at for flags, modes and numbers of processes.
    Low(u8, Op, u64),
    /// On whether a pointer is given. It is compared whole: one whose low half is zero is still a pointer.
    Given(u8),
    /// On whether a pointer is another than this.
    Other(u8, u64),
}

impl When {
    /// The low bits under `mask` are exactly `value`.
    pub(super) fn bits(index: u8, mask: u64, value: u64) -> When {
        When::Low(index, Op::MaskedEq(mask), value)
    }

    pub(super) fn is(index: u8, value: u64) -> When {
        When::Low(index, Op::Eq, value)
    }

    pub(super) fn not(index: u8, value: u64) -> When {
        When::Low(index, Op::Ne, value)
    }

    fn condition(&self) -> Result<SeccompCondition, seccompiler::BackendError> {
        match self {
            When::Low(index, op, value) => SeccompCondition::new(*index, Len::Dword, op.clone(), *value),
            When::Given(index) => SeccompCondition::new(*index, Len::Qword, Op::Ne, 0),
            When::Other(index, value) => SeccompCondition::new(*index, Len::Qword, Op::Ne, *value),
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            When::Low(index, op, value) => format!("arg{index} {op:?} {value:#x}"),
            When::Given(index) => format!("arg{index} given"),
            When::Other(index, _) => format!("arg{index} is not the box's own"),
        }
    }
}

/// Compiles decisions: `actions` by number, everything else by `rest`; the calls to look at are denied with EPERM when one of
/// their rows of conditions holds.
pub(super) fn compile(
    actions: &BTreeMap<u32, Action>,
    rest: Action,
    rows: &[(u32, Vec<When>)],
) -> Result<Vec<u64>, seccompiler::BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let mut looked_at: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for (call, conditions) in rows.iter().filter(|(call, _)| actions.get(call) == Some(&Action::Look)) {
        let conditions = conditions.iter().map(When::condition).collect::<Result<Vec<_>, _>>()?;
        looked_at.entry(i64::from(*call)).or_default().push(SeccompRule::new(conditions)?);
    }
    let errno = SeccompAction::Errno(libc::EPERM as u32);
    let list: BpfProgram = SeccompFilter::new(looked_at, SeccompAction::Allow, errno, arch)?.try_into()?;
    Ok(pack(&[first_look(actions, rest), list].concat()))
}

/// What stands before the list of calls whose arguments decide. Foreign architectures pass on to the list, which begins by ending
/// them.
fn first_look(actions: &BTreeMap<u32, Action>, rest: Action) -> BpfProgram {
    let mut spans = vec![(0, rest)];
    for (call, action) in actions {
        spans.extend([(*call, *action), (*call + 1, rest)]);
    }
    // x32 numbers have the same architecture word as x86-64, and other meanings.
    const X32_BIT: u32 = 0x4000_0000;
    spans.push((X32_BIT, Action::Kill));
    // Of two that begin at one number the later counts, and neighbours that say the same are one.
    let mut merged: Vec<(u32, Action)> = Vec::new();
    for span in spans {
        merged.pop_if(|last| last.0 == span.0);
        if merged.last().is_none_or(|last| last.1 != span.1) {
            merged.push(span);
        }
    }
    let search = search(&merged);
    let length = search.len();
    let mut program = vec![
        load(ARCH_OFFSET),
        instruction(JUMP_IF_EQUAL, (1, 0), ARCH),
        // Over everything up to the list.
        instruction(JUMP, (0, 0), length as u32 + 1),
        load(0),
    ];
    program.extend(search.into_iter().enumerate().map(|(at, step)| match step {
        Step::Do(instruction) => instruction,
        Step::Behind => instruction(JUMP, (0, 0), (length - at - 1) as u32),
    }));
    program
}

enum Step {
    Do(seccompiler::sock_filter),
    /// A jump behind the search.
    Behind,
}

/// Finds the span that a number is in, by halves.
fn search(spans: &[(u32, Action)]) -> Vec<Step> {
    let ends = |action| vec![Step::Do(instruction(libc::BPF_RET | libc::BPF_K, (0, 0), action))];
    match spans {
        [] | [(_, Action::Allow)] => ends(libc::SECCOMP_RET_ALLOW),
        [(_, Action::Errno(errno))] => ends(libc::SECCOMP_RET_ERRNO | u32::from(*errno)),
        [(_, Action::Kill)] => ends(libc::SECCOMP_RET_KILL_PROCESS),
        [(_, Action::Look)] => vec![Step::Behind],
        _ => {
            let (below, above) = spans.split_at(spans.len() / 2);
            let (below, first) = (search(below), above[0].0);
            // A jump on a condition reaches 255 instructions; beyond that it takes a plain jump in between.
            let mut steps = match u8::try_from(below.len()) {
                Ok(over) => vec![Step::Do(instruction(JUMP_IF_AT_LEAST, (over, 0), first))],
                Err(_) => vec![
                    Step::Do(instruction(JUMP_IF_AT_LEAST, (0, 1), first)),
                    Step::Do(instruction(JUMP, (0, 0), below.len() as u32)),
                ],
            };
            steps.extend(below);
            steps.extend(search(above));
            steps
        }
    }
}

const JUMP: u32 = libc::BPF_JMP | libc::BPF_JA;
const JUMP_IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const JUMP_IF_AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;

fn instruction(code: u32, (jt, jf): (u8, u8), k: u32) -> seccompiler::sock_filter {
    seccompiler::sock_filter { code: code as u16, jt, jf, k }
}

fn load(offset: u32) -> seccompiler::sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, (0, 0), offset)
}

/// Where the kernel puts the architecture in what a filter sees.
const ARCH_OFFSET: u32 = 4;

/// The architecture's word: machine number, 64 bits, little-endian.
#[cfg(target_arch = "x86_64")]
pub(super) const ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(super) const ARCH: u32 = 0xc000_00b7;
#[cfg(target_arch = "riscv64")]
pub(super) const ARCH: u32 = 0xc000_00f3;

/// Eight bytes an instruction, as the kernel lays them out.
fn pack(program: &BpfProgram) -> Vec<u64> {
    let word = |ins: &seccompiler::sock_filter| {
        let [c0, c1] = ins.code.to_ne_bytes();
        let [k0, k1, k2, k3] = ins.k.to_ne_bytes();
        u64::from_ne_bytes([c0, c1, ins.jt, ins.jf, k0, k1, k2, k3])
    };
    program.iter().map(word).collect()
}

/// Stands in a compiled filter for the half of an address that is known only at the start of a box.
const PLACE: u64 = 0x5ec0_a110;

/// The stand-in for the address of an argument.
pub(super) fn stand_in(index: u8) -> u64 {
    let low = PLACE + u64::from(index) * 2;
    (low + 1) << 32 | low
}

/// Puts the true addresses of the first arguments where their stand-ins are.
pub(crate) fn settle(filter: &mut [u64], addresses: [u64; 3]) {
    for word in filter {
        let [c0, c1, jt, jf, k @ ..] = word.to_ne_bytes();
        let k = u64::from(u32::from_ne_bytes(k));
        let Some(at) = k.checked_sub(PLACE).filter(|at| *at < 6) else { continue };
        let address = addresses[at as usize / 2];
        let half = if at % 2 == 0 { address as u32 } else { (address >> 32) as u32 };
        let [k0, k1, k2, k3] = half.to_ne_bytes();
        *word = u64::from_ne_bytes([c0, c1, jt, jf, k0, k1, k2, k3]);
    }
}
