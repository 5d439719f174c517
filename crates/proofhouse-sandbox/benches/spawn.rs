//! What a box costs: `true` in each tier against a plain process and against bubblewrap, interleaved in one run, with a small and with a
//! large harness.

#[cfg(target_os = "linux")]
#[path = "support/mod.rs"]
mod support;

fn main() {
    #[cfg(target_os = "linux")]
    linux::main();
}

#[cfg(target_os = "linux")]
#[expect(clippy::print_stdout, reason = "a benchmark prints")]
#[expect(clippy::disallowed_methods, reason = "what is compared with is a plain process")]
mod linux {
    use std::hint::black_box;
    use std::process::{Command, Stdio};

    use proofhouse_sandbox::recipes::libraries;
    use proofhouse_sandbox::{Bind, Sandbox, Spec, Status, Tier};

    use super::support::{Rows, open};

    const ROUNDS: usize = 300;
    const BALLAST: usize = 1 << 30;

    pub(crate) fn main() {
        let strong = open(Tier::Strong, false);
        let confined = open(Tier::Confined, false);
        let limited = open(Tier::Limited, false);
        println!("one spawn of `true`, {ROUNDS} rounds interleaved");
        compare([&strong, &confined, &limited]);
        // Every page touched, as a harness with a large ledger in memory would have.
        let ballast = black_box(vec![1u8; BALLAST]);
        println!("\nthe same from a harness that holds 1 GiB");
        compare([&strong, &confined, &limited]);
        black_box(&ballast);
    }

    fn compare([strong, confined, limited]: [&Sandbox; 3]) {
        let spec = Spec::new(["/usr/bin/true"]).binds(libraries()).binds([Bind::same("/usr/bin/true")]);
        let boxed = |sandbox: &Sandbox| assert_eq!(sandbox.run(&spec).status, Status::Ok);
        let has_bubblewrap = Command::new("bwrap").arg("--version").stdout(Stdio::null()).status().is_ok();
        let mut rows = Rows::new(&[
            "std::process::Command",
            "box, strong",
            "box, confined",
            "box, limited",
            "a program",
            "bubblewrap",
        ]);
        let program = spec.clone().as_program();
        for _ in 0..ROUNDS {
            rows.time(0, plain);
            rows.time(1, || boxed(strong));
            rows.time(2, || boxed(confined));
            rows.time(3, || boxed(limited));
            rows.time(4, || assert_eq!(strong.run(&program).status, Status::Ok));
            if has_bubblewrap {
                rows.time(5, bubblewrap);
            }
        }
        rows.print();
    }

    fn plain() {
        let output =
            Command::new("/usr/bin/true").env_clear().stdin(Stdio::null()).output().expect("true starts");
        assert!(output.status.success());
    }

    /// As it is usually called for the same isolation, with the same things visible.
    fn bubblewrap() {
        let args = "--unshare-all --die-with-parent --new-session --cap-drop ALL --clearenv --ro-bind /usr/lib /usr/lib \
                    --ro-bind-try /usr/lib64 /usr/lib64 --ro-bind-try /lib /lib --ro-bind-try /lib64 /lib64 \
                    --ro-bind /usr/bin/true /usr/bin/true --dev /dev --tmpfs /work --chdir /work /usr/bin/true";
        let output = Command::new("bwrap").args(args.split_whitespace()).stdin(Stdio::null()).output();
        assert!(output.expect("bwrap starts").status.success());
    }
}
