//! Attacks on the compiler and its reader: the program is never run, compiling it is the attack.

use super::arena::Arena;
use super::{Check, Control};
use crate::attacks::AttackResult;
use crate::guards::Guards;
use crate::outcome::{Outcome, Status};
use crate::recipes::Toolchain;
use crate::sandbox::Sandbox;
use crate::spec::{Arg, Spec};
use crate::tier::Tier;

/// One attack at compile time.
struct Attack {
    name: &'static str,
    what: &'static str,
    /// The program.
    source: fn(&Arena) -> String,
    /// The body of a procedural macro that the program calls as `pm::go!()`.
    macro_body: Option<fn(&Arena) -> String>,
    check: Check,
    control: Control,
    /// It never ends by itself, so little time is given to it.
    endless: bool,
}

const MEMORY: u64 = 512 << 20;
const DISK: u64 = 64 << 20;
const OUTPUT: u64 = 100_000;

/// Without Landlock, filter or private root, as the caller's own user.
const OPEN: Control = Control::Without(Tier::Limited, Guards::USER);
const NO_CLOCK: Control =
    Control::Without(Tier::Limited, Guards::USER.and(Guards::WATCHDOG).and(Guards::RLIMITS));
const ENDLESS_OUTPUT: Control = Control::Without(Tier::Strong, Guards::OUTPUT);
const ANY_SIZE: Control =
    Control::Without(Tier::Strong, Guards::RLIMITS.and(Guards::DISK).and(Guards::WATCHDOG));

macro_rules! row {
    ($name:literal, $what:literal, $source:expr, $check:expr, $control:expr) => {
        row!(@ $name, $what, $source, None, $check, $control, false)
    };
    (endless $name:literal, $what:literal, $source:expr) => {
        row!(@ $name, $what, $source, None, Check::Other(overran), NO_CLOCK, true)
    };
    (macro $name:literal, $what:literal, $body:expr, $check:expr) => {
        row!(@ $name, $what, calls_macro, Some($body), $check, OPEN, false)
    };
    (@ $name:literal, $what:literal, $source:expr, $body:expr, $check:expr, $control:expr, $endless:literal) => {
        Attack {
            name: $name,
            what: $what,
            source: $source,
            macro_body: $body,
            check: $check,
            control: $control,
            endless: $endless,
        }
    };
}

const LEAK: Check = Check::Other(leaked);

const ATTACKS: &[Attack] = &[
    row!("include-str", "include a file outside", |a| including("include_str!", &secret(a)), LEAK, OPEN),
    row!("include-bytes", "include its bytes in the program", include_bytes, LEAK, OPEN),
    row!("include-dots", "include it by a relative path", include_dots, LEAK, OPEN),
    row!("include-source", "include a source file outside", include_source, LEAK, OPEN),
    row!("path-module", "name a source file outside as a module", path_module, LEAK, OPEN),
    row!("incbin", "have the assembler include a file", incbin, LEAK, OPEN),
    row!("env", "read the harness's environment", env_path, Check::Other(path_leaked), Control::Bare),
    row!("proc-environ", "include another's environment", proc_environ, LEAK, Control::Bare),
    row!(
        "passwd",
        "include the list of users",
        |_| including("include_str!", "/etc/passwd"),
        Check::Other(users),
        OPEN
    ),
    row!("dev-zero", "include a device without end", dev_zero, Check::Other(swallowed), OPEN),
    row!(endless "const-loop", "evaluate a constant without end", const_loop),
    row!(endless "macro-blow-up", "expand a macro without end", macro_blow_up),
    row!(endless "const-recursion", "evaluate a recursion that doubles at each step", const_recursion),
    row!("error-flood", "write diagnostics without end", error_flood, Check::Other(flooded), ENDLESS_OUTPUT),
    row!("giant-static", "make an enormous program", giant_static, Check::Other(giant), ANY_SIZE),
    row!(macro "macro-read", "a procedural macro that reads a secret", macro_read, LEAK),
    row!(macro "macro-write", "one that writes outside", macro_write, Check::Changed),
    row!(macro "macro-connect", "one that connects to this host", macro_connect, Check::Heard),
    row!(macro "macro-unix", "one that connects to a unix socket", macro_unix, Check::Heard),
    row!(macro "macro-kill", "one that kills a process", macro_kill, Check::Harmed),
];

pub(crate) fn run_all(sandbox: &Sandbox, tier: Tier, toolchain: &Toolchain) -> Vec<AttackResult> {
    let one = |attack: &Attack| result(attack, try_one(sandbox, toolchain, attack, tier, Guards::NONE));
    super::side_by_side(ATTACKS.iter(), one)
}

pub(crate) fn control_all(sandbox: &Sandbox, toolchain: &Toolchain) -> Vec<AttackResult> {
    let one = |attack: &Attack| {
        let (tier, without) = match attack.control {
            Control::Bare => (Tier::None, Guards::ENV),
            Control::Without(tier, guards) => (tier, guards),
        };
        result(attack, try_one(sandbox, toolchain, attack, tier, without))
    };
    super::side_by_side(ATTACKS.iter(), one)
}

fn result(attack: &Attack, effect: Option<String>) -> AttackResult {
    AttackResult { name: attack.name, what: attack.what, spec: "compiler", effect, declared: false }
}

fn try_one(
    sandbox: &Sandbox,
    toolchain: &Toolchain,
    attack: &Attack,
    tier: Tier,
    without: Guards,
) -> Option<String> {
    let arena = match Arena::new(sandbox, true) {
        Ok(arena) => arena,
        Err(error) => return Some(format!("the arena could not be set up: {error}")),
    };
    let run = |mut spec: Spec| {
        spec.limits.cpu_ms = if attack.endless { 400 } else { 30_000 };
        let guarded = without == Guards::NONE || !attack.endless;
        spec.limits.wall_ms = if guarded { 60_000 } else { 2_000 };
        spec.limits.memory_bytes = MEMORY;
        spec.limits.disk_bytes = DISK;
        spec.limits.file_bytes = DISK;
        spec.limits.output_bytes = OUTPUT;
        spec.without = without;
        sandbox.run_in(tier, &spec, None)
    };
    let mut args = vec![Arg::from("--edition=2024"), "-Cdebuginfo=0".into(), "-o".into(), Arg::work("out")];
    args.push("main.rs".into());
    let mut spec_files = Vec::new();
    if let Some(body) = attack.macro_body {
        let made = run(macro_crate(toolchain, &body(&arena)));
        let library = match &made.collected[..] {
            [only] => only.result.clone().ok(),
            _ => None,
        };
        let Some(library) = library else {
            return Some(format!("the macro was not built: {:?} {}", made.status, made.stderr.text()));
        };
        spec_files.push(library);
        args.push(Arg::text("--extern=pm=").then(Arg::work("libpm.so")));
    }
    let mut spec = toolchain.rustc(args).file("main.rs", (attack.source)(&arena)).collect("out", 1 << 30);
    for library in spec_files {
        spec = spec.program_from("libpm.so", library.fd);
    }
    let outcome = run(spec);
    if matches!(outcome.status, Status::InfraError(_)) {
        return Some(format!("the box failed: {:?}", outcome.status));
    }
    arena.effect(attack.check, &outcome)
}

fn macro_crate(toolchain: &Toolchain, body: &str) -> Spec {
    let source = format!(
        "extern crate proc_macro;\nuse proc_macro::TokenStream;\n\
         #[proc_macro]\npub fn go(_: TokenStream) -> TokenStream {{ {body} }}\n"
    );
    let args = [
        Arg::from("--edition=2024"),
        "--crate-type=proc-macro".into(),
        "--crate-name=pm".into(),
        "-o".into(),
    ];
    let args = args.into_iter().chain([Arg::work("libpm.so"), Arg::from("pm.rs")]);
    toolchain.rustc_library(args).file("pm.rs", source).collect("libpm.so", 1 << 30)
}

fn calls_macro(_: &Arena) -> String {
    "pm::go!(); fn main() {}".to_owned()
}

fn secret(arena: &Arena) -> String {
    arena.target.secret().display().to_string()
}

/// A program that holds the text that a macro brought.
fn including(name: &str, argument: &str) -> String {
    format!("static S: &str = {name}({argument:?});\nfn main() {{ print!(\"{{S}}\"); }}\n")
}

/// A program whose only diagnostic is an environment variable.
fn env_path(_: &Arena) -> String {
    "compile_error!(concat!(\"got \", env!(\"PATH\")));\nfn main() {}\n".to_owned()
}

fn include_bytes(arena: &Arena) -> String {
    format!(
        "static S: &[u8] = include_bytes!({:?});\nfn main() {{ std::hint::black_box(S); }}\n",
        secret(arena)
    )
}

fn include_dots(arena: &Arena) -> String {
    let path = format!("{}{}", "../".repeat(40), secret(arena).trim_start_matches('/'));
    format!("static S: &str = include_str!({path:?});\nfn main() {{ print!(\"{{S}}\"); }}\n")
}

fn include_source(arena: &Arena) -> String {
    let path = arena.target.dir.join("secret.rs");
    format!("include!({:?});\nfn main() {{}}\n", path.display().to_string())
}

fn path_module(arena: &Arena) -> String {
    let path = arena.target.dir.join("secret.rs");
    format!("#[path = {:?}]\nmod stolen;\nfn main() {{}}\n", path.display().to_string())
}

fn incbin(arena: &Arena) -> String {
    format!(
        "std::arch::global_asm!(\".section .rodata.stolen,\\\"aR\\\",@progbits\", \".globl stolen\", \"stolen:\", \
         \".incbin \\\"{}\\\"\");\n\
         unsafe extern \"C\" {{ static stolen: u8; }}\nfn main() {{ std::hint::black_box(&raw const stolen); }}\n",
        secret(arena)
    )
}

fn proc_environ(arena: &Arena) -> String {
    let path = format!("/proc/{}/environ", arena.target.victim);
    format!("static S: &[u8] = include_bytes!({path:?});\nfn main() {{ std::hint::black_box(S); }}\n")
}

fn dev_zero(_: &Arena) -> String {
    "static S: &[u8] = include_bytes!(\"/dev/zero\");\nfn main() { std::hint::black_box(S); }\n".to_owned()
}

fn const_loop(_: &Arena) -> String {
    "#![allow(long_running_const_eval)]\nconst X: u64 = { let mut n = 0u64; loop { n = n.wrapping_add(1); if n == u64::MAX { break n } } };\n\
     fn main() { std::hint::black_box(X); }\n"
        .to_owned()
}

fn macro_blow_up(_: &Arena) -> String {
    let mut source =
        String::from("#![recursion_limit = \"1024\"]\nmacro_rules! m0 { () => { let _ = 1; } }\n");
    for level in 1..=40 {
        let below = level - 1;
        source.push_str(&format!("macro_rules! m{level} {{ () => {{ m{below}!(); m{below}!(); }} }}\n"));
    }
    source + "fn main() { m40!(); }\n"
}

fn const_recursion(_: &Arena) -> String {
    "#![allow(long_running_const_eval)]\nconst fn f(n: u64) -> u64 { if n < 2 { n } else { f(n - 1) + f(n - 2) } }\n\
     const X: u64 = f(60);\nfn main() { std::hint::black_box(X); }\n"
        .to_owned()
}

fn error_flood(_: &Arena) -> String {
    let mut source = String::new();
    for number in 0..400 {
        source.push_str(&format!("fn f{number}() {{ missing_{number}(); let x: u8 = \"wrong\"; }}\n"));
    }
    source + "fn main() {}\n"
}

fn giant_static(_: &Arena) -> String {
    "#[unsafe(no_mangle)]\npub static S: [u8; 200 << 20] = [1; 200 << 20];\nfn main() { std::hint::black_box(&S); }\n".to_owned()
}

fn macro_read(arena: &Arena) -> String {
    let path = secret(arena);
    format!(
        "let s = std::fs::read_to_string({path:?}).unwrap_or_default(); format!(\"compile_error!({{s:?}});\").parse().unwrap()"
    )
}

fn macro_write(arena: &Arena) -> String {
    let path = arena.target.absent().display().to_string();
    format!("let _ = std::fs::write({path:?}, \"planted\"); TokenStream::new()")
}

fn macro_connect(arena: &Arena) -> String {
    format!(
        "let _ = std::net::TcpStream::connect((\"127.0.0.1\", {}u16)); TokenStream::new()",
        arena.target.tcp
    )
}

fn macro_unix(arena: &Arena) -> String {
    let path = arena.target.dir.join("stream.sock").display().to_string();
    format!("let _ = std::os::unix::net::UnixStream::connect({path:?}); TokenStream::new()")
}

fn macro_kill(arena: &Arena) -> String {
    let victim = arena.target.victim;
    format!(
        "unsafe extern \"C\" {{ fn kill(pid: i32, signal: i32) -> i32; }}\n\
         unsafe {{ kill({victim}, 9); }} std::thread::sleep(std::time::Duration::from_millis(20)); TokenStream::new()"
    )
}

fn program(outcome: &Outcome) -> Vec<u8> {
    let found = outcome.collected.first().and_then(|each| each.result.as_ref().ok());
    found.and_then(|found| found.read().ok()).unwrap_or_default()
}

fn contains(bytes: &[u8], wanted: &str) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted.as_bytes())
}

fn leaked(arena: &Arena, outcome: &Outcome) -> Option<String> {
    let said = contains(&outcome.stderr.head, &arena.secret) || contains(&outcome.stdout.head, &arena.secret);
    let kept = contains(&program(outcome), &arena.secret);
    (said || kept).then(|| format!("the secret is in the {}", if said { "diagnostics" } else { "program" }))
}

fn path_leaked(_: &Arena, outcome: &Outcome) -> Option<String> {
    let (_, path) = std::env::vars_os().find(|(name, _)| name == "PATH")?;
    contains(&outcome.stderr.head, path.to_str()?).then(|| "PATH is in the diagnostics".to_owned())
}

fn users(_: &Arena, outcome: &Outcome) -> Option<String> {
    let text = std::fs::read_to_string("/etc/passwd").ok()?;
    let first = text.lines().next()?;
    contains(&program(outcome), first).then(|| "the list of users is in the program".to_owned())
}

fn swallowed(_: &Arena, outcome: &Outcome) -> Option<String> {
    let refused = matches!(outcome.status, Status::Exit(_));
    (!refused).then(|| format!("the compiler went on reading: {:?}", outcome.status))
}

fn overran(_: &Arena, outcome: &Outcome) -> Option<String> {
    let ended = outcome.status == Status::CpuLimit;
    (!ended).then(|| format!("{:?} after {} ms of CPU time", outcome.status, outcome.usage.cpu_ms))
}

fn flooded(_: &Arena, outcome: &Outcome) -> Option<String> {
    (outcome.stderr.length > OUTPUT).then(|| format!("{} bytes of diagnostics", outcome.stderr.length))
}

fn giant(_: &Arena, outcome: &Outcome) -> Option<String> {
    let length =
        outcome.collected.first().and_then(|each| each.result.as_ref().ok()).map(|found| found.length);
    length.filter(|length| *length > DISK).map(|length| format!("a program of {length} bytes"))
}
