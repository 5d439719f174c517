//! What the box costs a compiler: CPU time of the same `rustc` call without and with a box, interleaved in one run.

#[cfg(target_os = "linux")]
#[path = "support/mod.rs"]
mod support;

fn main() {
    #[cfg(target_os = "linux")]
    linux::main();
}

#[cfg(target_os = "linux")]
#[expect(clippy::print_stdout, reason = "a benchmark prints")]
mod linux {
    use proofhouse_sandbox::recipes::Toolchain;
    use proofhouse_sandbox::{Sandbox, Status, Tier};

    use super::support::{Rows, open};

    const ROUNDS: usize = 30;

    const SOURCE: &str = "use std::collections::BTreeMap;\n\
        pub fn count(text: &str) -> BTreeMap<String, usize> {\n\
            let mut seen = BTreeMap::new();\n\
            for word in text.split_whitespace() { *seen.entry(word.to_lowercase()).or_insert(0) += 1; }\n\
            seen\n\
        }\n\
        #[test]\nfn counts() { assert_eq!(count(\"a b A\").get(\"a\"), Some(&2)); }\n";

    pub(crate) fn main() {
        let toolchain = Toolchain::rust("rustc".as_ref()).expect("a toolchain");
        let args =
            ["--edition=2024", "--test", "-Cdebuginfo=0", "-Ccodegen-units=1", "-o", "tests", "lib.rs"];
        let spec = toolchain.rustc(args).file("lib.rs", SOURCE);
        let none = open(Tier::None, false);
        let strong = open(Tier::Strong, false);
        let confined = open(Tier::Confined, false);
        let cpu_ms = |sandbox: &Sandbox| {
            let outcome = sandbox.run(&spec);
            assert_eq!(outcome.status, Status::Ok, "{}", outcome.stderr.text());
            outcome.usage.cpu_us as f64 / 1000.0
        };
        println!("CPU time of one `rustc --test` with linking, {ROUNDS} rounds interleaved");
        let mut rows = Rows::new(&["no box", "box, strong", "box, confined"]);
        for _ in 0..ROUNDS {
            rows.add(0, cpu_ms(&none));
            rows.add(1, cpu_ms(&strong));
            rows.add(2, cpu_ms(&confined));
        }
        rows.print();
    }
}
