//! Forgeries and honest shapes of our own, in every tier that keeps candidates apart, judged together and alone.

use super::*;

/// The tasks of a file with all answers to them, in its order.
fn cases(text: &str) -> (Vec<Problem>, Vec<(Sample, String)>) {
    let (mut problems, mut samples) = (Vec::new(), Vec::new());
    for (at, task) in text.split("\n## task ").skip(1).enumerate() {
        let mut answers = task.split("\n~ ");
        let about = answers.next().unwrap_or_default();
        let (entry, about) = about.split_once('\n').unwrap();
        let (prompt, about) = about.split_once("\n## test\n").unwrap();
        let (about, before) = about.split_once("\n## before\n").unwrap_or((about, ""));
        let (test, solution) = about.split_once("\n## solution\n").unwrap_or((about, ""));
        let task_id = format!("{at}/{entry}");
        problems.push(Problem {
            task_id: task_id.clone(),
            prompt: format!("{prompt}\n"),
            entry_point: Some(entry.to_owned()),
            test: format!("{test}\n"),
            canonical_solution: (!solution.is_empty()).then(|| format!("{solution}\n")),
            ..Problem::default()
        });
        for answer in answers {
            let (name, code) = answer.split_once('\n').unwrap();
            let code = format!("{before}\n{}\n", code.trim_end()).trim_start_matches('\n').to_owned();
            samples.push((sample(&task_id, &code), format!("{task_id}: {name}")));
        }
    }
    (problems, samples)
}

/// What is said of the answers in a tier, together and alone: of all in a strong box, and of every second one in a confined box
/// unless all are asked for.
fn judged(tier: Tier, text: &str) -> Vec<(String, [Judged; 2])> {
    let (problems, mut samples) = cases(text);
    if tier != Tier::Strong && !crate::code_attacks::is_full() {
        samples = samples.into_iter().step_by(2).collect();
    }
    judged_as(tier, (problems, samples))
}

fn judged_as(
    tier: Tier,
    (problems, samples): (Vec<Problem>, Vec<(Sample, String)>),
) -> Vec<(String, [Judged; 2])> {
    let judge = judge_in(Some(tier), "python3", problems);
    let mut found = Vec::new();
    for chunk in samples.chunks(40) {
        let together = judge.judge_many(&chunk.iter().map(|(sample, _)| sample).collect::<Vec<_>>());
        for ((sample, name), together) in chunk.iter().zip(together) {
            // Where each candidate has a box of its own, together is alone.
            let alone = if tier == Tier::Strong { judge.judge(sample) } else { together.clone() };
            found.push((name.clone(), [together, alone]));
        }
    }
    found
}

fn no_forgery_passes(tier: Tier) {
    let judged = judged(tier, include_str!("cases/forged.txt"));
    assert!(judged.len() >= 100, "{}", judged.len());
    let passed: Vec<_> =
        judged.iter().filter(|(_, both)| both.iter().any(|judged| judged.passed())).collect();
    assert!(passed.is_empty(), "{passed:#?}");
    for (name, both) in &judged {
        // What races with its own threads and clocks may end one way or the other.
        if !["thread", "alarm", "fork", "signal", "replies"].iter().any(|word| name.contains(word)) {
            assert_eq!(both[0].error_type, both[1].error_type, "{name}: {both:#?}");
        }
        let infra = both.iter().any(|judged| judged.error_type.is_some_and(ErrorType::is_infra));
        assert!(!infra, "{name}: {both:#?}");
    }
}

#[test]
fn no_forgery_passes_in_a_strong_box() {
    no_forgery_passes(Tier::Strong);
}

#[test]
fn no_forgery_passes_in_a_confined_box() {
    no_forgery_passes(Tier::Confined);
}

fn every_honest_shape_passes(tier: Tier) {
    let judged = judged(tier, include_str!("cases/honest.txt"));
    assert!(judged.len() >= 40, "{}", judged.len());
    let failed: Vec<_> =
        judged.iter().filter(|(_, both)| !both.iter().all(|judged| judged.passed())).collect();
    assert!(failed.is_empty(), "{} of {}: {failed:#?}", failed.len(), judged.len());
    // Warm and alone say the same, to the byte.
    for (name, [together, alone]) in &judged {
        assert_eq!(together, alone, "{name}");
    }
    let shared = |both: &[Judged; 2]| both[0].border == Some(Border::Shared);
    let shared: Vec<&str> =
        judged.iter().filter(|(_, both)| shared(both)).map(|(name, _)| name.as_str()).collect();
    let wanted = [
        "same: identity and threads",
        "Base: subclassed by the tests",
        "add: the very object, by assertIs",
        "logged: a log of the tests",
        // Coroutines that are interleaved, a list that a `with` goes on with, parts of classes of the tests, logs.
        "fetch: gather",
        "fetch: tasks",
        "managed: contextmanager",
        "managed: class",
        "lazy: descriptor",
        "Meta: type",
        "log: logger",
        // Programs that the answer writes and the tests run.
        "source: honest",
        "module: honest",
        "module2: honest",
        "module3: honest",
        "program: honest",
        "program: honest loop",
    ];
    assert!(shared.iter().all(|name| wanted.iter().any(|wanted| name.ends_with(wanted))), "{shared:?}");
}

fn shapes_are_judged_as_plain_python_judges_them(tier: Tier) {
    let judged = judged_as(tier, cases(include_str!("cases/shapes.txt")));
    let (wrong, right): (Vec<_>, Vec<_>) = judged.iter().partition(|(name, _)| name.contains(": wrong: "));
    assert!(right.len() >= 90 && wrong.len() >= 80, "{} {}", right.len(), wrong.len());
    let failed: Vec<_> =
        right.iter().filter(|(_, both)| !both.iter().all(|judged| judged.passed())).collect();
    assert!(failed.is_empty(), "{} of {}: {failed:#?}", failed.len(), right.len());
    for (name, both) in &wrong {
        let theirs = [Some(ErrorType::AssertionFailure), Some(ErrorType::RuntimeError)];
        assert!(both.iter().all(|judged| theirs.contains(&judged.error_type)), "{name}: {both:#?}");
    }
    // Slots of a class, a list that an object keeps, and subclasses in the tests are all that no border carries here.
    let shared = right.iter().filter(|(_, both)| both[0].border == Some(Border::Shared));
    let shared: Vec<&str> = shared.map(|(name, _)| name.as_str()).collect();
    let wanted = ["Slim", "managed", "keeper", "Keeper", "Base"];
    assert!(shared.iter().all(|name| wanted.iter().any(|wanted| name.contains(wanted))), "{shared:?}");
}

#[test]
fn shapes_are_judged_as_plain_python_judges_them_in_a_strong_box() {
    shapes_are_judged_as_plain_python_judges_them(Tier::Strong);
}

#[test]
fn shapes_are_judged_as_plain_python_judges_them_in_a_confined_box() {
    shapes_are_judged_as_plain_python_judges_them(Tier::Confined);
}

fn is_wrong(name: &str) -> bool {
    name.contains(": wrong: ") || name.contains(": forged: ")
}

#[test]
fn what_is_called_right_is_right_to_plain_python() {
    for text in [include_str!("cases/values.txt"), include_str!("cases/objects.txt")] {
        let (problems, samples) = cases(text);
        // Only right ones: the others are run inside of boxes alone.
        let right: Vec<_> = samples.into_iter().filter(|(_, name)| !is_wrong(name)).collect();
        let (right, names): (Vec<Sample>, Vec<String>) = right.into_iter().unzip();
        let plain = conformance::plain_verdicts(&problems, &right);
        let refused: Vec<_> = names.iter().zip(&plain).filter(|(_, plain)| !**plain).collect();
        assert!(refused.is_empty() && plain.len() == names.len(), "{refused:#?}");
    }
}

/// Whether every right answer of a file passes and no other does, with the tasks' solutions and without.
fn values_are_told_apart(tier: Tier, text: &str) {
    for with_solution in [true, false] {
        let (mut problems, samples) = cases(text);
        if !with_solution {
            problems.iter_mut().for_each(|problem| problem.canonical_solution = None);
        }
        let judged = judged_as(tier, (problems, samples));
        let (wrong, right): (Vec<_>, Vec<_>) = judged.iter().partition(|(name, _)| is_wrong(name));
        assert!(right.len() >= 50 && wrong.len() >= 25, "{} {}", right.len(), wrong.len());
        let failed: Vec<_> = right.iter().filter(|(_, both)| !both.iter().all(Judged::passed)).collect();
        assert!(failed.is_empty(), "{with_solution}: {} of {}: {failed:#?}", failed.len(), right.len());
        for (name, both) in &wrong {
            let theirs = [Some(ErrorType::AssertionFailure), Some(ErrorType::RuntimeError)];
            let theirs = both.iter().all(|judged| theirs.contains(&judged.error_type));
            assert!(theirs, "{with_solution}: {name}: {both:#?}");
        }
    }
}

#[test]
fn values_of_own_classes_are_told_apart_in_a_strong_box() {
    values_are_told_apart(Tier::Strong, include_str!("cases/values.txt"));
}

#[test]
fn values_of_own_classes_are_told_apart_in_a_confined_box() {
    values_are_told_apart(Tier::Confined, include_str!("cases/values.txt"));
}

#[test]
fn objects_of_own_classes_are_told_apart_in_a_strong_box() {
    values_are_told_apart(Tier::Strong, include_str!("cases/objects.txt"));
}

#[test]
fn objects_of_own_classes_are_told_apart_in_a_confined_box() {
    values_are_told_apart(Tier::Confined, include_str!("cases/objects.txt"));
}

#[test]
fn every_honest_shape_passes_in_a_strong_box() {
    every_honest_shape_passes(Tier::Strong);
}

#[test]
fn every_honest_shape_passes_in_a_confined_box() {
    every_honest_shape_passes(Tier::Confined);
}
