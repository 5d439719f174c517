//! Rust completions that are judged together: one box for all of them, a verdict as soon as it is known, and nobody the worse for
//! who stands beside it.

use proofhouse::kinds::code::{
    Bench, Budgets, Clippy, ErrorType, Judge, Judged, Problem, Rust, Sample, Soundness,
};
use proofhouse_sandbox::{Limits, Tier};

use crate::code::bench_with;

fn bench() -> Bench {
    let budgets = Budgets::default();
    let test = Limits { cpu_ms: 1000, wall_ms: 20_000, memory_bytes: 256 << 20, ..budgets.test };
    bench_with(Budgets { test, ..budgets })
}

fn add() -> Problem {
    Problem {
        task_id: "add".into(),
        prompt: "fn add(a: i32, b: i32) -> i32 {\n".into(),
        entry_point: Some("add".into()),
        test: "fn main() { assert_eq!(add(1, 2), 3); assert_eq!(add(40, 2), 42); }".into(),
        canonical_solution: Some("    a + b\n}\n".into()),
        ..Problem::default()
    }
}

fn samples(bodies: &[&str]) -> Vec<Sample> {
    let sample = |body: &&str| Sample {
        index: 0,
        task_id: Some("add".into()),
        completion_id: 0,
        completion: Ok(format!("    {body}\n}}\n")),
    };
    bodies.iter().map(sample).collect()
}

fn told(judged: &Judged) -> &'static str {
    judged.error_type.map_or("passed", ErrorType::as_str)
}

const RIGHT: &str = "a + b";
const WRONG: &str = "a - b";
const LOOPS: &str = "loop { std::hint::spin_loop() }";

#[test]
fn members_of_a_batch_run_in_forks_of_one_box() {
    let bench = bench();
    let strong = bench.sandbox().tier() == Tier::Strong;
    let language = Rust::find("rustc".as_ref(), Clippy::Off);
    let judge = Judge::new(bench, Box::new(language.clone()), vec![add()]);
    // The last five say something before they answer, or do not end plainly: each of those has a box of its own in the end.
    let bodies = [
        RIGHT,
        WRONG,
        "panic!(\"no {a}\")",
        "eprintln!(\"sums\"); b + a",
        "std::thread::spawn(move || a + b).join().unwrap()",
        "for _ in 0..9000 { eprintln!(\"much to say\"); } a + b",
        "let mut all = vec![]; while all.len() < 1 << 12 { all.push(vec![1_u8; 1 << 20]); } a + b",
        "fn deep(n: i32) -> i32 { if n < 0 { 0 } else { std::hint::black_box(deep(n + 1)) + 1 } } deep(a) + b",
        LOOPS,
        RIGHT,
    ];
    let samples = samples(&bodies);
    let alone: Vec<Judged> = samples.iter().map(|sample| judge.judge(sample)).collect();
    assert_eq!(language.warm_runs(), 0, "a single answer has a box of its own");
    let verdicts: Vec<&str> = alone.iter().map(told).collect();
    let wanted = "passed assertion_failure runtime_error passed passed passed memory_limit runtime_error test_timeout passed";
    assert_eq!(verdicts.join(" "), wanted);
    let together = judge.judge_many(&samples.iter().collect::<Vec<_>>());
    for ((together, alone), body) in together.iter().zip(&alone).zip(bodies) {
        assert_eq!(together, alone, "{body}");
    }
    assert_eq!(language.warm_runs(), if strong { 6 } else { 0 });
}

#[test]
fn a_verdict_is_told_as_soon_as_it_is_known() {
    let judge = Judge::new(bench(), Box::new(Rust::find("rustc".as_ref(), Clippy::Off)), vec![add()]);
    let samples = samples(&[LOOPS, RIGHT, WRONG, "a +", RIGHT]);
    let soundness = Soundness::default();
    let mut order = Vec::new();
    judge.judge_each(&samples.iter().collect::<Vec<_>>(), &mut |at, judged| {
        // A failure is settled here too, by the task's own solution, which is judged while the others wait.
        let settled = soundness.settle_beside_others(&judge, "add", judged).map_err(|judged| told(&judged));
        order.push((at, told(&settled.expect("the solution leaves no doubt"))));
    });
    assert_eq!(order.last(), Some(&(0, "test_timeout")), "{order:?}");
    order.sort_unstable();
    let verdicts: Vec<&str> = order.into_iter().map(|(_, told)| told).collect();
    assert_eq!(verdicts, ["test_timeout", "passed", "assertion_failure", "compile_error", "passed"]);
}
