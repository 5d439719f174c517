//! Honest programs under the allow list: what Rust and Python programs, their checkers and a zygote need is open, and starting
//! another program is not.

use proofhouse_sandbox::recipes::Python;
use proofhouse_sandbox::{Spec, Status, Tier, hand_over, link};

use crate::lab::{lab, toolchain};

const TIERS: [Tier; 2] = [Tier::Strong, Tier::Confined];

fn python(script: &str) -> Spec {
    Python::find("python3".as_ref()).expect("the machine has Python").run(["-c", script])
}

fn expect(tier: Tier, spec: &Spec, said: &str) {
    let outcome = lab(tier).run(spec);
    assert_eq!(outcome.stdout.text(), said, "{tier}: {:?} {}", outcome.status, outcome.stderr.text());
    assert_eq!(outcome.status, Status::Ok, "{tier}: {}", outcome.stderr.text());
}

#[test]
fn ordinary_python_runs_under_the_allow_list() {
    let script = "
import asyncio, collections, concurrent.futures, datetime, decimal, json, os, random, re, signal, tempfile, threading, time
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    assert sum(pool.map(lambda n: n * n, range(100))) == 328350
async def wait():
    await asyncio.sleep(0.01)
    return 7
assert asyncio.run(wait()) == 7
with tempfile.NamedTemporaryFile('w+') as file:
    file.write('x'); file.flush()
    assert os.stat(file.name).st_size == 1
os.mkdir('d'); os.rename('d', 'e'); os.listdir('.'); os.rmdir('e')
signal.signal(signal.SIGALRM, lambda *_: None); signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(0.03)
child = os.fork()
if child == 0:
    os._exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
r, w = os.pipe(); os.write(w, b'y'); assert os.read(r, 1) == b'y'
random.random(); datetime.datetime.now(); os.cpu_count(); os.urandom(4); os.path.realpath('.')
print('ok')
";
    for tier in TIERS {
        expect(tier, &python(script).as_program(), "ok\n");
    }
}

#[test]
fn no_second_program_is_started() {
    let script = "
import os, subprocess, sys
for what in ('execv', 'posix_spawn', 'run'):
    try:
        if what == 'execv': os.execv(sys.executable, [sys.executable, '-c', 'print(1)'])
        elif what == 'posix_spawn': os.posix_spawn(sys.executable, [sys.executable, '-c', 'print(2)'], {})
        else: subprocess.run([sys.executable, '-c', 'print(3)'], check=True)
        print('started by', what)
    except PermissionError:
        pass
print('none')
";
    for tier in TIERS {
        expect(tier, &python(script).as_program(), "none\n");
        let mut granted =
            python("import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(3)'])").as_program();
        granted.exec = true;
        expect(tier, &granted, "3\n");
    }
}

/// The calls that a zygote's forks make to box themselves: limits, a session, no new privileges, Landlock, a filter, and the end of
/// a child by signal.
const ZYGOTE: &str = "
import ctypes, os, resource, signal, time
libc = ctypes.CDLL(None, use_errno=True)
def must(value, what):
    if value < 0: raise OSError(ctypes.get_errno(), what)
    return value
child = os.fork()
if child == 0:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    must(libc.prctl(1, signal.SIGKILL, 0, 0, 0), 'pdeathsig')
    must(libc.prctl(38, 1, 0, 0, 0), 'no new privs')
    attr = (ctypes.c_uint64 * 1)(1)
    rules = must(libc.syscall(444, attr, 8, 0), 'landlock')
    must(libc.syscall(446, rules, 0), 'restrict')
    class Program(ctypes.Structure):
        _fields_ = [('length', ctypes.c_ushort), ('filter', ctypes.c_void_p)]
    allow = (ctypes.c_uint64 * 1)(0x7fff000000000006)
    must(libc.syscall(317, 1, 0, ctypes.byref(Program(1, ctypes.addressof(allow)))), 'seccomp')
    time.sleep(60)
time.sleep(0.2)
os.kill(child, signal.SIGKILL)
assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL, 'the child failed'
print('boxed')
";

#[test]
#[cfg(target_arch = "x86_64")]
fn a_zygote_boxes_what_it_forks_and_nobody_else_may() {
    for tier in TIERS {
        expect(tier, &python(ZYGOTE).as_zygote(), "boxed\n");
        let refused = lab(tier).run(&python(ZYGOTE).as_program());
        assert_eq!(refused.status, Status::Exit(1), "{tier}: {}", refused.stderr.text());
    }
}

#[test]
fn a_compiled_program_runs_under_the_allow_list() {
    let source = r#"
use std::io::Write;
fn main() {
    let threads: Vec<_> = (0..4).map(|n| std::thread::spawn(move || n * n)).collect();
    assert_eq!(threads.into_iter().map(|t| t.join().unwrap()).sum::<i32>(), 14);
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || { std::thread::sleep(std::time::Duration::from_millis(5)); send.send(1).unwrap() });
    receive.recv().unwrap();
    std::fs::write("a", "b").unwrap();
    std::fs::copy("a", "c").unwrap();
    std::fs::create_dir_all("d/e").unwrap();
    std::fs::remove_dir_all("d").unwrap();
    assert_eq!(std::fs::canonicalize("c").is_ok(), true);
    let map: std::collections::HashMap<_, _> = (0..1000).map(|n| (n, vec![0u8; 1000])).collect();
    let _ = (std::time::Instant::now(), std::time::SystemTime::now(), std::thread::available_parallelism());
    assert!(std::panic::catch_unwind(|| panic!("caught")).is_err());
    assert!(std::process::Command::new("/usr/bin/true").status().is_err(), "another program was started");
    std::io::stdout().write_all(format!("{}\n", map.len()).as_bytes()).unwrap();
}
"#;
    for tier in TIERS {
        let lab = lab(tier);
        let made = lab.run(
            &toolchain().rustc(["main.rs", "-o", "main"]).file("main.rs", source).collect("main", 1 << 26),
        );
        assert_eq!(made.status, Status::Ok, "{}", made.stderr.text());
        let found = made.collected.into_iter().next().unwrap().result.expect("a program");
        let program = lab.program(found);
        let spec = program.run([]).binds(proofhouse_sandbox::recipes::libraries());
        let outcome = lab.run(&spec);
        assert_eq!(outcome.stdout.text(), "1000\n", "{tier}: {:?} {}", outcome.status, outcome.stderr.text());
    }
}

#[test]
fn descriptors_reach_a_program_over_its_link() {
    let receive = "import os, socket; s = socket.socket(fileno=0); _, fds, _, _ = socket.recv_fds(s, 1, 1); os.write(fds[0], b'here')";
    for tier in TIERS {
        let lab = lab(tier);
        let (ours, theirs) = link().unwrap();
        let (mut ask, given) = std::os::unix::net::UnixStream::pair().unwrap();
        std::thread::scope(|scope| {
            let boxed = scope.spawn(|| lab.run_linked(&python(receive).as_program(), theirs, None));
            hand_over(&ours, &[1], &given).unwrap();
            drop(given);
            let mut heard = String::new();
            std::io::Read::read_to_string(&mut ask, &mut heard).unwrap();
            let outcome = boxed.join().unwrap();
            assert_eq!(heard, "here", "{tier}: {}", outcome.stderr.text());
        });
    }
}
