//! How exactly limits are kept: by how much a deadline is overrun, and by how much memory overshoots with the watchdog and with a cgroup.

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
    use proofhouse_sandbox::attacks::memory_bomb;
    use proofhouse_sandbox::recipes::programs;
    use proofhouse_sandbox::{Sandbox, Spec, Status, Tier};

    use super::support::{open, quantile, timed_ms};

    const RUNS: usize = 200;
    const WALL_MS: u64 = 50;
    const CPU_MS: u64 = 50;

    pub(crate) fn main() {
        for tier in [Tier::Strong, Tier::Confined] {
            let sandbox = open(tier, false);
            deadlines(&sandbox);
            memory(&sandbox, "watchdog");
        }
        let sandbox = open(Tier::Strong, true);
        if sandbox.probe().label(Tier::Strong).ends_with("+cgroup") {
            memory(&sandbox, "cgroup");
        } else {
            println!("no delegated cgroup here");
        }
    }

    /// From asking for the run to having its outcome, less the limit; a box's own start and end are in it.
    fn deadlines(sandbox: &Sandbox) {
        let mut spec = Spec::new(["/bin/sleep", "30"]).binds(programs());
        spec.limits.wall_ms = WALL_MS;
        let run = |spec: &Spec, expected: Status| assert_eq!(sandbox.run(spec).status, expected);
        let over = |_| timed_ms(|| run(&spec, Status::WallLimit)) - WALL_MS as f64;
        let mut wall: Vec<f64> = (0..RUNS).map(over).collect();
        let mut spec = Spec::new(["/bin/sh", "-c", "while :; do :; done"]).binds(programs());
        spec.limits.cpu_ms = CPU_MS;
        let over = |_| sandbox.run(&spec).usage.cpu_us as f64 / 1000.0 - CPU_MS as f64;
        let mut cpu: Vec<f64> = (0..RUNS).map(over).collect();
        for (name, values) in [("wall deadline", &mut wall), ("CPU limit", &mut cpu)] {
            let [p50, p99, max] = [0.5, 0.99, 1.0].map(|share| quantile(values, share));
            println!(
                "{:<9} {name:<14} overrun p50 {p50:.1} ms, p99 {p99:.1} ms, max {max:.1} ms",
                sandbox.tier()
            );
        }
    }

    fn memory(sandbox: &Sandbox, how: &str) {
        for mib in [64u64, 128, 256] {
            let limit = mib << 20;
            let over = |_| {
                let outcome = memory_bomb(sandbox, limit);
                assert_eq!(outcome.status, Status::MemoryLimit);
                let peak = if how == "cgroup" {
                    outcome.usage.peak_memory_bytes
                } else {
                    outcome.usage.max_rss_bytes
                };
                (peak as f64 / limit as f64 - 1.0) * 100.0
            };
            let mut values: Vec<f64> = (0..30).map(over).collect();
            let [p50, max] = [0.5, 1.0].map(|share| quantile(&mut values, share));
            println!(
                "{:<9} {how:<9} limit {mib:>4} MiB overshoot p50 {p50:+.1} %, max {max:+.1} %",
                sandbox.tier()
            );
        }
    }
}
