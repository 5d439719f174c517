//! The table of attacks and the runner. A new attack is one function and one row in the table of its file.

mod arena;
mod artefacts;
mod budget;
mod closed;
pub(crate) mod compile;
mod descriptors;
mod files;
mod hidden;
mod kernel;
mod memory;
mod network;
mod processes;
mod raw;
mod resources;
mod results;

use std::sync::atomic::{AtomicUsize, Ordering};

use self::arena::{Arena, Target};
pub(crate) use self::hidden::honest;
use crate::attacks::AttackResult;
use crate::guards::Guards;
use crate::outcome::{Outcome, Status};
use crate::probe::Probe;
use crate::sandbox::Sandbox;
use crate::spec::{Arg, Door, Proc, Spec, Work};
use crate::tier::Tier;

/// One attack.
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    /// Runs inside the box.
    pub(crate) payload: fn(&Target) -> i32,
    /// Looked at outside.
    pub(crate) check: Check,
    /// How to show that it works at all.
    pub(crate) control: Control,
    /// Changes to the spec, such as small limits.
    pub(crate) adjust: fn(&mut Spec, &Arena),
    /// The kinds of box that it is aimed at.
    pub(crate) shapes: &'static [Shape],
}

/// A kind of box that suites build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A command of a robustness suite, or another tool.
    Tool,
    /// The same with a host directory in which its debug files and artefacts arrive.
    Artefacts,
    /// A candidate or checker.
    Program,
    /// A program that boxes what it forks.
    Zygote,
    /// An agent with a loopback of its own, whose doors are served from outside.
    Agent,
}

/// Every kind of box.
pub(crate) const EVERY: &[Shape] = &[Shape::Tool, Shape::Artefacts, Shape::Program, Shape::Zygote];
/// Boxes that may start other programs.
pub(crate) const TOOLS: &[Shape] = &[Shape::Tool, Shape::Artefacts];

/// Boxes of candidates and checkers.
pub(crate) const PROGRAMS: &[Shape] = &[Shape::Program, Shape::Zygote];
/// One of each, for attacks that take long.
pub(crate) const ONE_OF_EACH: &[Shape] = &[Shape::Tool, Shape::Program];

/// The same, and a box with a network of its own.
pub(crate) const NETWORKED: &[Shape] = &[Shape::Tool, Shape::Program, Shape::Agent];

impl Shape {
    fn word(self) -> &'static str {
        match self {
            Shape::Tool => "tool",
            Shape::Artefacts => "tool with artefacts",
            Shape::Program => "program",
            Shape::Zygote => "zygote",
            Shape::Agent => "agent",
        }
    }

    /// What suites make of a spec of this kind.
    fn apply(self, spec: Spec, arena: &Arena) -> Spec {
        match self {
            Shape::Tool | Shape::Artefacts | Shape::Agent => {
                let mut spec =
                    spec.env("HOME", Arg::work("")).env("TMPDIR", Arg::work("")).env("LANG", "C.UTF-8");
                spec.binds.extend(crate::recipes::programs());
                spec.proc = Proc::Own;
                if self == Shape::Artefacts {
                    arena.make_work();
                    spec.work = Work::Host(arena.work());
                }
                if self == Shape::Agent {
                    spec = spec.doors([Door::Tcp(8080), Door::Udp(53)]);
                }
                spec
            }
            Shape::Program => spec.as_program(),
            Shape::Zygote => spec.as_zygote(),
        }
    }
}

/// How an effect is seen from outside.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// The payload got through and says so.
    Says,
    /// The arena's secret is in the output.
    Leaks,
    /// Something in the arena's directory is not as it was.
    Changed,
    /// A listener of the arena heard something.
    Heard,
    /// The victim process was ended or stopped.
    Harmed,
    /// A process with the arena's name outlives the box.
    Survives,
    /// Anything else.
    Other(fn(&Arena, &Outcome) -> Option<String>),
}

/// The run that shows that an attack works.
#[derive(Clone, Copy)]
pub(crate) enum Control {
    /// As a plain process without any box.
    Bare,
    /// In a box of this tier without these guards.
    Without(Tier, Guards),
}

/// A payload says this when it got through.
pub(crate) const REACHED: &str = "REACHED";

fn table() -> impl Iterator<Item = &'static Attack> {
    let all: [&[Attack]; 12] = [
        network::ATTACKS,
        files::ATTACKS,
        memory::ATTACKS,
        resources::ATTACKS,
        processes::ATTACKS,
        kernel::ATTACKS,
        results::ATTACKS,
        budget::ATTACKS,
        hidden::ATTACKS,
        descriptors::ATTACKS,
        closed::ATTACKS,
        artefacts::ATTACKS,
    ];
    all.into_iter().flatten()
}

/// What a tier says that it does not hold on this host; an attack of these names may have an effect. A gap that is no longer one
/// is an error of the list, which a test finds.
pub(crate) fn declared(tier: Tier, probe: &Probe) -> Vec<&'static str> {
    let mut gaps = Vec::new();
    let said: Vec<&str> = probe.gaps(tier).iter().map(|gap| gap.id).collect();
    for (gap, attacks) in GAPS.iter().filter(|(gap, _)| said.contains(gap)) {
        // Root's boxes have a user of their own, to whom none of the host's processes belongs.
        if *gap != "signals" || !probe.root {
            gaps.extend(*attacks);
        }
    }
    gaps
}

/// What each declared gap lets through.
const GAPS: &[(&str, &[&str])] = &[
    (
        "disk-total",
        &["disk-fill", "inode-fill", "disk-unlinked", "artefact-fill", "artefact-inodes", "artefact-sparse"],
    ),
    ("host-seen", &["stat-outside", "link-read-by-tool"]),
    ("memory-not-held", &["memory-sockets-handed"]),
    (
        "cpu-sampled",
        &["time-ignored-children", "time-ignored-brief", "time-unwaited-flag", "time-exec-children"],
    ),
    (
        "signals",
        &[
            "kill",
            "stop-other",
            "kill-group",
            "kill-thread",
            "kill-queue",
            "kill-pidfd",
            "kill-all",
            "kill-init",
        ],
    ),
    ("truncate", &["truncate"]),
];

/// Runs one payload by name; this is what happens inside.
pub(crate) fn payload(name: &str, words: &[&str]) -> i32 {
    if name == "victim" {
        return arena::be_victim();
    }
    let Some(target) = Target::parse(words) else { return 125 };
    match table().find(|attack| attack.name == name) {
        Some(attack) => (attack.payload)(&target),
        None => 124,
    }
}

/// All attacks against one tier. Tiers that promise no isolation are not attacked: the user's own processes would pay for it.
pub(crate) fn run_all(sandbox: &Sandbox, tier: Tier) -> Vec<AttackResult> {
    run_those(sandbox, tier, |_| true)
}

/// Those attacks whose names are wanted.
pub(crate) fn run_those(sandbox: &Sandbox, tier: Tier, wanted: impl Fn(&str) -> bool) -> Vec<AttackResult> {
    if tier < Tier::Confined {
        return Vec::new();
    }
    let declared = declared(tier, sandbox.probe());
    let aims = aims();
    // Only namespaces give a box a network of its own; elsewhere such a box is not started at all.
    let there = |aim: &&Aim| aim.shape != Shape::Agent || tier == Tier::Strong;
    let aims = aims.iter().filter(|aim| wanted(aim.attack.name)).filter(there);
    side_by_side(aims, |Aim { attack, shape }| {
        let declared = declared.contains(&attack.name);
        // Where nothing would hold it, this one ends the user's whole session.
        let too_dangerous = declared && attack.name == "kill-all";
        let effect = match too_dangerous {
            true => Some("not tried: nothing would hold it here".to_owned()),
            false => try_one(sandbox, attack, *shape, tier, Guards::NONE),
        };
        AttackResult { name: attack.name, what: attack.what, spec: shape.word(), effect, declared }
    })
}

/// An attack and a kind of box that it is aimed at.
struct Aim {
    attack: &'static Attack,
    shape: Shape,
}

fn aims() -> Vec<Aim> {
    let of = |attack: &'static Attack| attack.shapes.iter().map(move |shape| Aim { attack, shape: *shape });
    table().flat_map(of).collect()
}

/// All controls.
pub(crate) fn control_all(sandbox: &Sandbox) -> Vec<AttackResult> {
    let control = |attack: &Attack| match attack.control {
        Control::Bare => {
            let without = Guards::ENV.and(Guards::REAP).and(Guards::OUTPUT);
            try_one(sandbox, attack, attack.shapes[0], Tier::None, without)
        }
        Control::Without(tier, guards) => try_one(sandbox, attack, attack.shapes[0], tier, guards),
    };
    side_by_side(table(), |attack| AttackResult {
        name: attack.name,
        what: attack.what,
        spec: attack.shapes[0].word(),
        effect: control(attack),
        declared: false,
    })
}

/// Runs attacks that leave processes behind, again and again, and counts what is left a second later.
pub(crate) fn orphan_runs(sandbox: &Sandbox, tier: Tier, runs: usize) -> std::io::Result<usize> {
    let arena = Arena::new(sandbox, false)?;
    let orphans: Vec<&Attack> = table().filter(|attack| matches!(attack.check, Check::Survives)).collect();
    let order: Vec<&Attack> = orphans.iter().cycle().take(runs).copied().collect();
    let words = arena.target.words();
    side_by_side(order.into_iter(), |attack| {
        let mut all = vec!["attack", attack.name];
        all.extend(words.iter().map(String::as_str));
        let outcome = sandbox.run_in(tier, &Spec::builtin(&all), None);
        let effect = (outcome.status != Status::Ok).then(|| format!("{:?}", outcome.status));
        AttackResult {
            name: attack.name,
            what: attack.what,
            spec: Shape::Tool.word(),
            effect,
            declared: false,
        }
    });
    raw::sleep_ms(1_000);
    Ok(arena.survivors())
}

/// Runs the honest program with borrowing children again and again.
pub(crate) fn borrowing_runs(
    sandbox: &Sandbox,
    tier: Tier,
    runs: usize,
) -> std::collections::BTreeMap<String, usize> {
    let mut spec = Spec::builtin(&["honest", "borrow"]);
    spec.limits.memory_bytes = hidden::LIMIT;
    let one = |_: &()| AttackResult {
        name: "borrow",
        what: "an honest program",
        spec: Shape::Tool.word(),
        effect: Some(format!("{:?}", sandbox.run_in(tier, &spec, None).status)),
        declared: false,
    };
    let mut ends = std::collections::BTreeMap::new();
    for result in side_by_side(vec![(); runs].iter(), one) {
        *ends.entry(result.effect.unwrap_or_default()).or_default() += 1;
    }
    ends
}

/// The heap attack with another limit, in the sandbox's own tier.
pub(crate) fn memory_bomb(sandbox: &Sandbox, limit_bytes: u64) -> Outcome {
    let words = Target::default().words();
    let mut all = vec!["attack", "heap"];
    all.extend(words.iter().map(String::as_str));
    let mut spec = Spec::builtin(&all);
    spec.limits.memory_bytes = limit_bytes;
    spec.limits.address_bytes = None;
    sandbox.run(&spec)
}

/// Maps in order with a few threads, because most attacks only wait.
fn side_by_side<'a, T: Sync + 'a>(
    items: impl Iterator<Item = &'a T>,
    one: impl Fn(&T) -> AttackResult + Sync,
) -> Vec<AttackResult> {
    const THREADS: usize = 4;
    let items: Vec<&T> = items.collect();
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            match items.get(index) {
                Some(item) => done.push((index, one(item))),
                None => return done,
            }
        }
    };
    let mut all: Vec<(usize, AttackResult)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, result)| result).collect()
}

fn try_one(sandbox: &Sandbox, attack: &Attack, shape: Shape, tier: Tier, without: Guards) -> Option<String> {
    // Most attacks leave other processes alone, and a process to harm takes time to start.
    let victim =
        attack.name == "affinity-other" || processes::ATTACKS.iter().any(|each| each.name == attack.name);
    let arena = match Arena::new(sandbox, victim) {
        Ok(arena) => arena,
        Err(error) => return Some(format!("the arena could not be set up: {error}")),
    };
    let words = arena.target.words();
    let mut all = vec!["attack", attack.name];
    all.extend(words.iter().map(String::as_str));
    let mut spec = shape.apply(Spec::builtin(&all), &arena);
    // Ample: an attack that runs out of time on a busy machine would look as if it had been held.
    spec.limits.wall_ms = 60_000;
    spec.without = without;
    (attack.adjust)(&mut spec, &arena);
    let outcome = sandbox.run_in(tier, &spec, None);
    let broken = matches!(outcome.status, Status::InfraError(_)) && !matches!(attack.check, Check::Other(_));
    if broken {
        return Some(format!("the box failed: {:?}", outcome.status));
    }
    arena.effect(attack.check, &outcome)
}

/// Leaves the spec as it is.
pub(crate) fn as_is(_: &mut Spec, _: &Arena) {}

/// The control of attacks that only the filter stops.
pub(crate) const NO_FILTER: Control = Control::Without(Tier::Strong, Guards::SECCOMP);
/// The control of attacks that need privileges in the box's own namespaces.
pub(crate) const NO_FILTER_NO_DROP: Control =
    Control::Without(Tier::Strong, Guards::SECCOMP.and(Guards::PRIVILEGES).and(Guards::LANDLOCK));
/// The control of attacks on limits.
pub(crate) const NO_LIMITS: Control =
    Control::Without(Tier::Strong, Guards::RLIMITS.and(Guards::WATCHDOG).and(Guards::WALL));

/// Prints that the payload got through.
#[expect(clippy::print_stdout, reason = "a payload's standard output is what the harness reads")]
pub(crate) fn reached(through: bool) -> i32 {
    if through {
        println!("{REACHED}");
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Gap;

    #[test]
    fn names_are_unique_and_every_declared_gap_is_an_attack() {
        let mut names: Vec<&str> = table().map(|attack| attack.name).collect();
        for gap in GAPS.iter().flat_map(|(_, attacks)| *attacks) {
            assert!(names.contains(gap), "{gap}");
        }
        // A gap by which something gets through is one that records tell of, and no other is.
        for (id, _) in GAPS {
            assert!(Gap { id, text: "" }.lets_through(), "{id}");
        }
        for id in crate::probe::every_gap() {
            let told = Gap { id, text: "" }.lets_through();
            let nothing_held = ["no-isolation", "nothing-held"].contains(&id);
            assert_eq!(told, nothing_held || GAPS.iter().any(|(gap, _)| *gap == id), "{id}");
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(count >= 230, "{count}");
        assert!(aims().len() >= 480);
    }
}
