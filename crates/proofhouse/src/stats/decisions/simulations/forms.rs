//! Attack forms on simulated runs: forms that change nothing are rarely called different, and one that does is found.

use super::*;

/// One run: cases × forms × repetitions; `better` is by how much the first form leaks more than the text as it stands.
fn run(draws: &mut Draws, (cases, forms, repetitions): (u64, usize, u64), better: f64) -> Vec<FormFinding> {
    let mut counts = vec![FormCounts::default(); forms];
    for _ in 0..cases {
        let chance = difficulty(draws) * 0.6;
        let (plain, _) = draws.passes(chance, repetitions);
        for (at, form) in counts.iter_mut().enumerate() {
            let chance = if at == 0 { (chance + better).min(1.0) } else { chance };
            let (leaked, of) = draws.passes(chance, repetitions);
            form.leaked = (form.leaked.0 + leaked, form.leaked.1 + of);
            form.more += u64::from(leaked > plain);
            form.fewer += u64::from(leaked < plain);
        }
    }
    crate::stats::decisions::forms(&counts)
}

#[test]
fn forms_that_change_nothing_are_rarely_called_different() {
    let runs = runs(200, 4_000);
    for shape in [(10, 14, 1), (30, 14, 1), (30, 6, 3)] {
        let mut draws = Draws(16);
        let wrong = (0..runs)
            .filter(|_| {
                run(&mut draws, shape, 0.0).iter().any(|form| form.adjusted_p.is_some_and(|p| p <= LEVEL))
            })
            .count() as u64;
        at_most(
            &format!("any of {} forms called different, {} cases x {}", shape.1, shape.0, shape.2),
            wrong,
            runs,
            0.05,
        );
    }
}

#[test]
fn a_form_that_leaks_far_more_is_found() {
    let runs = runs(50, 1_000);
    let mut draws = Draws(17);
    let found = (0..runs)
        .filter(|_| run(&mut draws, (40, 14, 1), 0.5)[0].adjusted_p.is_some_and(|p| p <= LEVEL))
        .count() as u64;
    println!("a form that leaks 50 points more, 40 cases: found in {found} of {runs}");
    assert!(found * 10 >= runs * 7, "{found} of {runs}");
}
