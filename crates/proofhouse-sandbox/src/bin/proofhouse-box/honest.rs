//! Honest programs near their memory limit, of many shapes: whatever they start and share, each page is counted once, so that all of
//! them end well, and the same programs a little over the limit never do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use proofhouse_sandbox::recipes::{Python, programs};
use proofhouse_sandbox::{Sandbox, Spec};

const MIB: u64 = 1 << 20;
/// What a program may hold.
const LIMIT: u64 = 60 * MIB;
/// What one holds that is near its limit, with the interpreter, and one that is over it.
const NEAR: u64 = 42 * MIB;
const OVER: u64 = 72 * MIB;

/// Name and program. Each holds `held` bytes while it does what its name says.
const SHAPES: [(&str, &str); 14] = [
    ("posix_spawn", "for _ in range(4): os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)"),
    ("vfork", "for _ in range(4): subprocess.run(['/bin/true'], check=True, close_fds=False)"),
    ("subprocess", "for _ in range(4): subprocess.run(['/bin/true'], check=True)"),
    (
        "pipeline",
        "assert subprocess.run(['/bin/sh', '-c', 'seq 2000 | sort -r | uniq | wc -l'], capture_output=True).stdout == b'2000\\n'",
    ),
    (
        "threads",
        "def one(): subprocess.run(['/bin/true'], check=True)
started = [threading.Thread(target=one) for _ in range(4)]
for each in started: each.start()
for each in started: each.join()",
    ),
    (
        "mapped",
        "with open('file', 'wb') as file: file.write(bytes(2 << 20))
with open('file', 'r+b') as file: view = mmap.mmap(file.fileno(), 0)
if (child := os.fork()) == 0:
    view[::4096] = bytes(len(view) // 4096)
    time.sleep(0.03)
    os._exit(0)
sum(view[::4096]); ended(child)",
    ),
    (
        "fork_server",
        "children = []
for _ in range(5):
    if (child := os.fork()) == 0:
        time.sleep(0.03)
        os._exit(0)
    children.append(child)
for child in children: ended(child)",
    ),
    ("many_small", "for _ in range(24): os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)"),
    (
        "small_at_once",
        "running = [subprocess.Popen(['/bin/sleep', '0.03']) for _ in range(8)]
assert all(each.wait() == 0 for each in running)",
    ),
    (
        "double_fork",
        "for _ in range(3):
    if (child := os.fork()) == 0:
        if os.fork() == 0: time.sleep(0.01)
        os._exit(0)
    ended(child)
time.sleep(0.03)",
    ),
    (
        "unwaited",
        "children = []
for _ in range(6):
    if (child := os.fork()) == 0: os._exit(0)
    children.append(child)
time.sleep(0.03)
for child in children: ended(child)",
    ),
    (
        "pipes",
        "ends = [os.pipe() for _ in range(16)]
for _, write in ends: os.write(write, bytes(60000))
subprocess.run(['/bin/true'], check=True)",
    ),
    (
        "up_and_down",
        "for _ in range(4):\n    del block\n    block = bytearray(held)\n    subprocess.run(['/bin/true'], check=True)",
    ),
    (
        "shell_children",
        "assert subprocess.run(['/bin/sh', '-c', 'for i in 1 2 3 4; do (sleep 0.01 &); (/bin/true); done; wait']).returncode == 0",
    ),
];

fn program(shape: &str, held: u64) -> String {
    format!(
        "import mmap, os, subprocess, threading, time
held = {held}
block = bytearray(held)
def ended(child): assert os.waitpid(child, 0)[1] == 0
{shape}
assert len(block) == held
print('done')
"
    )
}

fn spec(python: &Python, shape: &str, held: u64) -> Spec {
    let mut spec = python.run(["-I", "-S", "-c", &program(shape, held)]).binds(programs());
    spec.limits.memory_bytes = LIMIT;
    spec.limits.wall_ms = 60_000;
    spec
}

/// Runs programs in turn until there were so many runs, two at a time, and counts how they ended.
fn count(sandbox: &Sandbox, specs: &[(&str, Spec)], runs: usize) -> BTreeMap<String, usize> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut ends = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= runs {
                return ends;
            }
            let (name, spec) = &specs[at % specs.len()];
            let outcome = sandbox.run(spec);
            let said = outcome.stdout.head == b"done\n";
            ends.push(match outcome.status {
                proofhouse_sandbox::Status::Ok if said => "ok".to_owned(),
                // The peak tells how far beyond it was, when a run that should have ended well did not.
                proofhouse_sandbox::Status::MemoryLimit if specs.len() > 1 => {
                    format!("{name}: memory_limit at {} KiB", outcome.usage.peak_memory_bytes >> 10)
                }
                proofhouse_sandbox::Status::MemoryLimit => "memory_limit".to_owned(),
                other => format!("{name}: {other:?} {}", outcome.stderr.text().replace('\n', " ")),
            });
        }
    };
    let mut counts = BTreeMap::new();
    std::thread::scope(|scope| {
        let threads = [scope.spawn(worker), scope.spawn(worker)];
        for end in threads.into_iter().flat_map(|thread| thread.join().expect("a worker")) {
            *counts.entry(end).or_default() += 1;
        }
    });
    counts
}

/// All shapes near the limit, in turn.
pub(crate) fn near(sandbox: &Sandbox, runs: usize) -> BTreeMap<String, usize> {
    let python = Python::find("python3".as_ref()).expect("the machine has Python");
    let specs: Vec<_> = SHAPES.iter().map(|(name, shape)| (*name, spec(&python, shape, NEAR))).collect();
    count(sandbox, &specs, runs)
}

/// Some of them again and again, near the limit and over it: a line for each program.
pub(crate) fn again(sandbox: &Sandbox, runs: usize) -> BTreeMap<String, BTreeMap<String, usize>> {
    let python = Python::find("python3".as_ref()).expect("the machine has Python");
    let mut lines = BTreeMap::new();
    for (name, shape) in SHAPES.iter().filter(|(name, _)| ["vfork", "double_fork", "mapped"].contains(name)) {
        for (place, held) in [("near", NEAR), ("over", OVER)] {
            let one = [(*name, spec(&python, shape, held))];
            lines.insert(format!("{name} {place}"), count(sandbox, &one, runs));
        }
    }
    lines
}
