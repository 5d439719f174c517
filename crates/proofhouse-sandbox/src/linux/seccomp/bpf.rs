//! Turns decisions about calls into one filter program. It is one filter, because the kernel takes long to install each, and it
//! begins with a search by halves, because the kernel tries a filter on every number there is when it installs one.

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, sock_filter};

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

/// One condition on one argument. Flags, modes and numbers of processes are looked at in their low 32 bits, as the kernel does.
#[derive(Clone, Debug)]
pub(super) enum When {
    /// It is this.
    Is(u8, u32),
    /// It is none of these.
    NoneOf(u8, Vec<u32>),
    /// One of these bits is set.
    Any(u8, u32),
    /// Under this mask it is exactly this.
    Bits(u8, u32, u32),
    /// A pointer is given. It is compared whole: one whose low half is zero is still a pointer.
    Given(u8),
    /// A pointer is another than this.
    Other(u8, u64),
}

/// A jump whose distance is not known yet: `true` for where the jump goes when the comparison holds.
struct Open(usize, bool);

impl When {
    pub(super) fn is(index: u8, value: u64) -> When {
        When::Is(index, value as u32)
    }

    pub(super) fn not(index: u8, value: u64) -> When {
        When::NoneOf(index, vec![value as u32])
    }

    /// Adds the comparison; it goes on where the condition holds and jumps away where it does not.
    fn compile(&self, out: &mut BpfProgram, away: &mut Vec<Open>) {
        // Every argument takes eight bytes, the low half first.
        let low = |index: u8| load(ARGUMENTS + u32::from(index) * 8);
        let high = |index: u8| load(ARGUMENTS + u32::from(index) * 8 + 4);
        let mut leaves = |out: &mut BpfProgram, code, value, when| {
            away.push(Open(out.len(), when));
            out.push(instruction(code, (0, 0), value));
        };
        match self {
            When::Is(index, value) => {
                out.push(low(*index));
                leaves(out, JUMP_IF_EQUAL, *value, false);
            }
            When::NoneOf(index, values) => {
                out.push(low(*index));
                values.iter().for_each(|value| leaves(out, JUMP_IF_EQUAL, *value, true));
            }
            When::Any(index, bits) => {
                out.push(low(*index));
                leaves(out, JUMP_IF_SET, *bits, false);
            }
            When::Bits(index, mask, value) => {
                out.push(low(*index));
                out.push(instruction(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, (0, 0), *mask));
                leaves(out, JUMP_IF_EQUAL, *value, false);
            }
            When::Given(index) => Self::differs(out, [low(*index), high(*index)], 0, leaves),
            When::Other(index, value) => Self::differs(out, [low(*index), high(*index)], *value, leaves),
        }
    }

    /// Goes on when one half differs; two equal halves jump away.
    fn differs(
        out: &mut BpfProgram,
        [low, high]: [sock_filter; 2],
        value: u64,
        mut leaves: impl FnMut(&mut BpfProgram, u32, u32, bool),
    ) {
        out.push(low);
        // Over the second half, when the first has decided.
        out.push(instruction(JUMP_IF_EQUAL, (0, 2), value as u32));
        out.push(high);
        leaves(out, JUMP_IF_EQUAL, (value >> 32) as u32, true);
    }

    pub(super) fn text(&self) -> String {
        match self {
            When::Other(index, _) => format!("arg{index} is not the box's own"),
            other => format!("{other:x?}"),
        }
    }
}

/// Compiles decisions: `actions` by number, everything else by `rest`; the calls to look at are denied with EPERM when one of
/// their rows of conditions holds.
pub(super) fn compile(actions: &BTreeMap<u32, Action>, rest: Action, rows: &[(u32, Vec<When>)]) -> Vec<u64> {
    let mut looks: BTreeMap<u32, BpfProgram> = BTreeMap::new();
    for call in actions.iter().filter(|(_, action)| **action == Action::Look).map(|(call, _)| *call) {
        looks.insert(
            call,
            look(rows.iter().filter(|(each, _)| *each == call).map(|(_, conditions)| conditions)),
        );
    }
    pack(&first_look(actions, rest, &looks))
}

/// The end of one call: allowed, unless a row of conditions holds.
fn look<'a>(rows: impl Iterator<Item = &'a Vec<When>>) -> BpfProgram {
    let mut out = BpfProgram::new();
    for conditions in rows {
        let mut away = Vec::new();
        conditions.iter().for_each(|condition| condition.compile(&mut out, &mut away));
        out.push(returns(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32));
        let next = out.len();
        for Open(at, when) in away {
            let distance = u8::try_from(next - at - 1).expect("a row of conditions takes few instructions");
            *(if when { &mut out[at].jt } else { &mut out[at].jf }) = distance;
        }
    }
    out.push(returns(libc::SECCOMP_RET_ALLOW));
    out
}

/// Finds what is done about a call. Foreign architectures and x32 numbers, which have the same architecture word as x86-64 and other
/// meanings, end the process.
fn first_look(
    actions: &BTreeMap<u32, Action>,
    rest: Action,
    looks: &BTreeMap<u32, BpfProgram>,
) -> BpfProgram {
    const X32_BIT: u32 = 0x4000_0000;
    let mut spans = vec![(0, rest)];
    for (call, action) in actions {
        spans.extend([(*call, *action), (*call + 1, rest)]);
    }
    spans.push((X32_BIT, Action::Kill));
    // Of two that begin at one number the later counts, and neighbours that say the same are one; calls that are looked at are
    // looked at each for itself.
    let mut merged: Vec<(u32, Action)> = Vec::new();
    for span in spans {
        merged.pop_if(|last| last.0 == span.0);
        if merged.last().is_none_or(|last| last.1 != span.1 || span.1 == Action::Look) {
            merged.push(span);
        }
    }
    let mut program = vec![
        load(ARCH_OFFSET),
        instruction(JUMP_IF_EQUAL, (1, 0), ARCH),
        returns(libc::SECCOMP_RET_KILL_PROCESS),
        load(0),
    ];
    let search = search(&merged);
    // Behind the search stand the ends of the calls that are looked at.
    let mut place = program.len() + search.len();
    let mut places = BTreeMap::new();
    for (call, end) in looks {
        places.insert(*call, place);
        place += end.len();
    }
    for step in search {
        let at = program.len();
        program.push(match step {
            Step::Do(instruction) => instruction,
            Step::Look(call) => instruction(JUMP, (0, 0), (places[&call] - at - 1) as u32),
        });
    }
    program.extend(looks.values().flatten().cloned());
    program
}

enum Step {
    Do(sock_filter),
    /// A jump to the end of this call.
    Look(u32),
}

/// Finds the span that a number is in, by halves.
fn search(spans: &[(u32, Action)]) -> Vec<Step> {
    let ends = |action| vec![Step::Do(returns(action))];
    match spans {
        [] | [(_, Action::Allow)] => ends(libc::SECCOMP_RET_ALLOW),
        [(_, Action::Errno(errno))] => ends(libc::SECCOMP_RET_ERRNO | u32::from(*errno)),
        [(_, Action::Kill)] => ends(libc::SECCOMP_RET_KILL_PROCESS),
        [(call, Action::Look)] => vec![Step::Look(*call)],
        // A single call between two spans that say the same takes one comparison.
        [(_, around), (call, inner), (next, after)]
            if around == after && *next == call + 1 && *around != Action::Look =>
        {
            let mut steps = vec![Step::Do(instruction(JUMP_IF_EQUAL, (1, 0), *call))];
            steps.extend(search(&spans[..1]));
            steps.extend(search(&[(*call, *inner)]));
            steps
        }
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

const JUMP_IF_SET: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;

fn returns(action: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, (0, 0), action)
}

fn instruction(code: u32, (jt, jf): (u8, u8), k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt, jf, k }
}

fn load(offset: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, (0, 0), offset)
}

/// Where the kernel puts the architecture in what a filter sees.
const ARCH_OFFSET: u32 = 4;
/// And the arguments.
const ARGUMENTS: u32 = 16;

/// The architecture's word: machine number, 64 bits, little-endian.
#[cfg(target_arch = "x86_64")]
pub(super) const ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(super) const ARCH: u32 = 0xc000_00b7;
#[cfg(target_arch = "riscv64")]
pub(super) const ARCH: u32 = 0xc000_00f3;

/// Eight bytes an instruction, as the kernel lays them out.
fn pack(program: &BpfProgram) -> Vec<u64> {
    let word = |ins: &sock_filter| {
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
