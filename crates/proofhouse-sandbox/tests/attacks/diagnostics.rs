//! What the compiler says inside the box is the same on every host.

use proofhouse_sandbox::{Status, Tier};

use crate::lab::{lab, toolchain};

const BROKEN: &str = "use std::fmt::Missing;\nfn f(v: Vec<u8>) -> Vec<u8> { drop(v); v }\n\
                      fn main() { let x: u8 = \"a\"; f(vec![]).push(300); undefined!(); std::fs::File::open(1); }\n";

#[test]
fn diagnostics_name_no_host_path_and_are_the_same_from_two_directories() {
    let toolchain = toolchain();
    for tier in [Tier::Strong, Tier::Confined] {
        let mut seen = Vec::new();
        for _ in 0..2 {
            // Each lab has a directory of its own, which is where a tier without a private root works.
            let lab = lab(tier);
            for format in ["human", "json"] {
                let args = ["--edition=2024", "--error-format", format, "main.rs"];
                let outcome = lab.run(&toolchain.rustc(args).file("main.rs", BROKEN));
                assert_eq!(outcome.status, Status::Exit(1));
                let text = outcome.stderr.text();
                assert!(text.contains("E0308") && text.contains("main.rs:3"), "{text}");
                let sysroot = toolchain.sysroot.display().to_string();
                let scratch = lab.dir.path().display().to_string();
                for host in [sysroot.as_str(), &scratch, "/root", "/home", "/tmp"] {
                    assert!(!text.contains(host), "{tier}: `{host}` is in {text}");
                }
                seen.push(outcome.stderr);
            }
        }
        assert_eq!(seen[0], seen[2], "{tier}");
        assert_eq!(seen[1], seen[3], "{tier}");
    }
}

#[test]
fn a_failing_link_names_no_host_path_in_strong() {
    let source = "unsafe extern \"C\" { fn missing_symbol(); }\nfn main() { unsafe { missing_symbol() } }\n";
    let toolchain = toolchain();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let lab = lab(Tier::Strong);
        let outcome = lab.run(&toolchain.rustc(["--edition=2024", "main.rs"]).file("main.rs", source));
        assert_eq!(outcome.status, Status::Exit(1));
        let text = outcome.stderr.text();
        assert!(text.contains("missing_symbol"), "{text}");
        assert!(!text.contains(&toolchain.sysroot.display().to_string()), "{text}");
        seen.push(text.contains("/toolchain/"));
    }
    assert_eq!(seen[0], seen[1]);
}

#[test]
fn compile_lint_and_test_hand_over_from_box_to_box() {
    let toolchain = toolchain();
    let source =
        "pub fn twice(n: u32) -> u32 { return n * 2; }\n#[test]\nfn doubles() { assert_eq!(twice(2), 4); }\n";
    for tier in [Tier::Strong, Tier::Confined] {
        let lab = lab(tier);
        let args = ["--edition=2024", "--test", "-Wclippy::all", "-Cdebuginfo=0", "-o", "tests", "lib.rs"];
        let built = if toolchain.has_clippy() { toolchain.clippy(args) } else { toolchain.rustc(args) };
        let built = lab.run(&built.file("lib.rs", source).collect("tests", 64 << 20));
        assert_eq!(built.status, Status::Ok, "{}", built.stderr.text());
        if toolchain.has_clippy() {
            assert!(built.stderr.text().contains("needless_return"), "{}", built.stderr.text());
        }
        let program = built.collected[0].result.as_ref().unwrap().fd.clone();
        let test = proofhouse_sandbox::Spec::new([proofhouse_sandbox::Arg::work("tests")])
            .binds(proofhouse_sandbox::recipes::libraries())
            .program_from("tests", program);
        let outcome = lab.run(&test);
        assert_eq!(outcome.status, Status::Ok, "{}", outcome.stderr.text());
        assert!(outcome.stdout.text().contains("test doubles ... ok"));
    }
}
