//! The second life of the executable. Started again with a first argument that nobody types, it is the helper that forks boxes,
//! or a payload, or sets limits and becomes another program.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Resource, Rlimit, setrlimit};

/// The name under which the executable runs in its second life.
pub(crate) const NAME: &str = "proofhouse-box";
#[cfg(target_os = "linux")]
pub(crate) const HELPER: &str = "--helper-on-standard-input";
pub(crate) const BUILTIN: &str = "--builtin";
pub(crate) const LIMITED: &str = "--limited";

/// Becomes the helper or a payload when this process was started as one, and then never returns; otherwise does nothing.
///
/// Call it before anything else in `main`: the helper must be small and have one thread.
pub fn trampoline_main_if_asked() {
    let mut args = std::env::args_os();
    if args.next().is_none_or(|name| name != NAME) {
        return;
    }
    let Some(what) = args.next() else { return };
    match what.to_str() {
        #[cfg(target_os = "linux")]
        Some(HELPER) => helper(),
        Some(BUILTIN) => {
            let words: Vec<String> = args.map(|word| word.to_string_lossy().into_owned()).collect();
            exit(crate::builtin::run(&words))
        }
        Some(LIMITED) => exit(limited(args.collect())),
        _ => {}
    }
}

#[cfg(target_os = "linux")]
fn helper() -> ! {
    // A session of its own: Ctrl-C at the terminal is for the harness, which then ends its boxes in order.
    let _ = rustix::process::setsid();
    match rustix::io::dup(std::io::stdin()) {
        Ok(socket) => {
            let null = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty());
            if let Ok(null) = null {
                let _ = rustix::stdio::dup2_stdin(null);
            }
            let _ = rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC);
            crate::linux::helper::main(&socket)
        }
        Err(_) => exit(1),
    }
}

/// Sets what limits a process can set for itself, then becomes the program: `cpu-seconds address nproc nofile fsize program …`.
fn limited(args: Vec<OsString>) -> i32 {
    let rows = [Resource::Cpu, Resource::As, Resource::Nproc, Resource::Nofile, Resource::Fsize];
    if args.len() <= rows.len() {
        return 126;
    }
    let (values, program) = args.split_at(rows.len());
    for (resource, value) in rows.into_iter().zip(values) {
        let Some(value) =
            std::str::from_utf8(value.as_bytes()).ok().and_then(|text| text.parse::<u64>().ok())
        else {
            continue;
        };
        let value = rustix::process::getrlimit(resource).maximum.map_or(value, |hard| hard.min(value));
        let _ = setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) });
    }
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    #[expect(clippy::disallowed_methods, reason = "this crate is the home of process starting")]
    let error = Command::new(&program[0]).args(&program[1..]).exec();
    match error.kind() {
        std::io::ErrorKind::NotFound => 127,
        _ => 126,
    }
}

fn exit(code: i32) -> ! {
    #[expect(
        clippy::disallowed_methods,
        reason = "this process is not the harness: it is the trampoline and has nothing to finish"
    )]
    std::process::exit(code)
}
