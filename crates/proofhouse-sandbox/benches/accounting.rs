//! What counting the CPU time of a box costs: a spawn of `true` with the kernel's task clock on its init, and without, where the
//! host allows the clock at all.

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
    use proofhouse_sandbox::recipes::libraries;
    use proofhouse_sandbox::{Bind, Spec, Status, Tier};

    use super::support::{Rows, open, quantile, timed_ms};

    const ROUNDS: usize = 400;

    pub(crate) fn main() {
        for tier in [Tier::Strong, Tier::Confined] {
            let sandbox = open(tier, false);
            let spec = Spec::new(["/usr/bin/true"]).binds(libraries()).binds([Bind::same("/usr/bin/true")]);
            let uncounted = spec.clone().without_task_clock();
            let boxed = |spec: &Spec| assert_eq!(sandbox.run(spec).status, Status::Ok);
            let mut rows = Rows::new(&["without the clock", "with the clock"]);
            let (mut with, mut without) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                without.push(timed_ms(|| boxed(&uncounted)));
                with.push(timed_ms(|| boxed(&spec)));
            }
            for (row, values) in [&without, &with].into_iter().enumerate() {
                values.iter().for_each(|value| rows.add(row, *value));
            }
            println!("{tier}, {ROUNDS} rounds interleaved");
            rows.print();
            let cost = |share| quantile(&mut with.clone(), share) - quantile(&mut without.clone(), share);
            println!("the clock costs {:+.3} ms at the tenth, {:+.3} ms at the half\n", cost(0.1), cost(0.5));
        }
    }
}
