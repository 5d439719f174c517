//! Honest programs near their limits, and harnesses side by side: the same verdict every time, and nobody in another's way.

use std::collections::BTreeMap;

use proofhouse_sandbox::recipes::{Python, programs};
use proofhouse_sandbox::{Spec, Status, Tier};

use crate::lab::{Stage, is_root, lab};

const MIB: u64 = 1 << 20;

/// Holds most of its memory and starts children as C libraries do, which borrow the parent's address space for a moment: counted
/// twice, they would be over the limit.
const SPAWNING: &str = "
import os, subprocess
block = bytearray(70 << 20)
for number in range(6):
    if number % 2:
        subprocess.run(['/bin/true'], check=True)
    else:
        os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)
assert len(block)
print('done')
";

fn near_its_limit() -> Spec {
    let python = Python::find("python3".as_ref()).expect("the machine has Python");
    python.run(["-c", SPAWNING]).binds(programs()).limits(|limits| limits.memory_bytes = 100 * MIB)
}

#[test]
fn children_that_borrow_memory_are_not_counted_twice() {
    for (tier, runs) in [(Tier::Strong, 60), (Tier::Confined, 60)] {
        let lab = lab(tier);
        let spec = near_its_limit();
        let worker = || (0..runs / 2).map(|_| lab.run(&spec)).collect::<Vec<_>>();
        let outcomes = std::thread::scope(|scope| {
            let threads = [scope.spawn(worker), scope.spawn(worker)];
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        for outcome in outcomes {
            assert_eq!(outcome.status, Status::Ok, "{tier}: {}", outcome.stderr.text());
            assert!(
                outcome.usage.peak_memory_bytes < 100 * MIB,
                "{tier}: {}",
                outcome.usage.peak_memory_bytes
            );
        }
    }
}

/// The crate's own program: a child that stays in its parent's memory for a while is one memory, at every look.
#[test]
fn two_hundred_programs_with_borrowing_children_have_one_verdict() {
    for (stage, tier, runs) in [
        (Stage::new().user(), "strong", "200"),
        (Stage::new(), "strong", "40"),
        (Stage::new().user(), "confined", "40"),
    ] {
        let rows = stage.run(&["borrow", tier, runs]);
        assert_eq!(rows, BTreeMap::from([("Ok".to_owned(), runs.to_owned())]), "{tier}");
    }
}

#[test]
fn twenty_repetitions_over_the_limit_have_one_verdict() {
    for tier in [Tier::Strong, Tier::Confined] {
        let lab = lab(tier);
        let spec = near_its_limit().limits(|limits| limits.memory_bytes = 60 * MIB);
        for _ in 0..20 {
            assert_eq!(lab.run(&spec).status, Status::MemoryLimit, "{tier}");
        }
    }
}

/// A harness in another pid namespace sees none of our processes, and must leave our directories alone all the same.
#[test]
fn harnesses_in_two_pid_namespaces_share_one_scratch_directory() {
    if !is_root() {
        return;
    }
    let lab = lab(Tier::Confined);
    let path = lab.dir.path().display().to_string();
    std::fs::set_permissions(lab.dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o1777)).unwrap();
    std::thread::scope(|scope| {
        let boxed = scope.spawn(|| {
            let script = "echo here > kept; sleep 2; cat kept";
            lab.run(&Spec::new(["/bin/sh", "-c", script]).binds(programs()).env("PATH", "/usr/bin:/bin"))
        });
        std::thread::sleep(std::time::Duration::from_millis(300));
        for stage in [Stage::new().other_pids(), Stage::new().user().other_pids()] {
            let rows = stage.scratch(&path).run(&["doctor", "confined"]);
            assert!(rows["request confined"].contains("confined"), "{rows:#?}");
        }
        let outcome = boxed.join().unwrap();
        assert_eq!((outcome.status, outcome.stdout.text()), (Status::Ok, "here\n".to_owned()));
    });
}
