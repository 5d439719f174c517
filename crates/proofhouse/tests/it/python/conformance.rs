//! Public data and known attacks, judged as plain CPython judges them.

use std::collections::BTreeMap;

use super::*;

/// Problems and samples of one set of attacks.
fn attacks(kind: &str) -> Option<(Vec<Problem>, Vec<Sample>)> {
    let file = |what: &str| data(&format!("attacks/{kind}_python_{what}.jsonl"));
    let path = |path: std::path::PathBuf| camino::Utf8PathBuf::from_path_buf(path).ok();
    let problems = read_problems(&path(file("problems")?)?).unwrap();
    let text = std::fs::read_to_string(file("samples")?).unwrap();
    let read = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        sample(row["task_id"].as_str().unwrap(), row["completion"].as_str().unwrap())
    };
    Some((problems, text.lines().map(read).collect()))
}

/// The verdict of every sample, alone and together, which are the same.
fn verdicts(judge: &Judge, samples: &[Sample]) -> Vec<Judged> {
    let together: Vec<Judged> =
        samples.chunks(40).flat_map(|chunk| judge.judge_many(&chunk.iter().collect::<Vec<_>>())).collect();
    for (sample, together) in samples.iter().zip(&together) {
        let alone = judge.judge(sample);
        assert_eq!(&alone, together, "{:?}", sample.task_id);
    }
    together
}

fn names(samples: &[Sample], judged: &[Judged], passed: bool) -> Vec<String> {
    let found = samples.iter().zip(judged).filter(|(_, judged)| judged.passed() == passed);
    found
        .map(|(sample, judged)| format!("{:?} {:?} {:?}", sample.task_id, told(judged), judged.error))
        .collect()
}

#[test]
fn conformance_no_known_forgery_passes_in_python() {
    let Some((problems, samples)) = attacks("forging") else { return };
    for tier in [Tier::Strong, Tier::Confined] {
        let judge = judge_in(Some(tier), "python3", problems.clone());
        let judged = verdicts(&judge, &samples);
        let passed = names(&samples, &judged, true);
        let control = |name: &&String| name.contains("control");
        assert_eq!(passed.len(), passed.iter().filter(control).count(), "{passed:?}");
    }
}

#[test]
fn conformance_known_shapes_pass_in_python() {
    let Some((problems, samples)) = attacks("shapes") else { return };
    let judge = python(problems);
    let failed = names(&samples, &verdicts(&judge, &samples), false);
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn conformance_known_answers_are_read_in_python() {
    let Some((problems, samples)) = attacks("answers") else { return };
    let judge = python(problems);
    let judged = verdicts(&judge, &samples);
    for (sample, judged) in samples.iter().zip(&judged) {
        let right = sample.task_id.as_ref().unwrap().ends_with("/right");
        assert_eq!(judged.passed(), right, "{:?}: {judged:#?}", sample.task_id);
    }
}

/// Answers that differ from the solution in one small thing, most of which are wrong.
fn mutants(solution: &str) -> Vec<String> {
    let changes = [
        ("==", "!="),
        ("<=", "<"),
        (">", ">="),
        (" + ", " - "),
        ("1", "2"),
        ("0", "1"),
        ("True", "False"),
        ("return ", "return not "),
        ("return ", "raise ValueError("),
        ("and", "or"),
        ("range(", "iter("),
    ];
    let changed = changes.iter().filter(|(from, _)| solution.contains(from));
    changed.map(|(from, to)| solution.replacen(from, to, 1)).collect()
}

#[test]
fn conformance_python_solutions_and_mutants_are_judged_as_plain_python_judges_them() {
    let Some(path) = data("code/humaneval_python_dev.jsonl") else { return };
    let path = camino::Utf8PathBuf::from_path_buf(path).unwrap();
    let problems = read_problems(&path).unwrap();
    assert_eq!(problems.len(), 82);
    let mut samples = Vec::new();
    for problem in &problems {
        let solution = problem.canonical_solution.as_deref().unwrap();
        samples.push(sample(&problem.task_id, solution));
        samples.extend(mutants(solution).iter().map(|mutant| sample(&problem.task_id, mutant)));
    }
    let plain = plain_verdicts(&problems, &samples);
    let judge = python(problems.clone());
    let mut borders: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (samples, plain) in samples.chunks(40).zip(plain.chunks(40)) {
        let judged = judge.judge_many(&samples.iter().collect::<Vec<_>>());
        for ((sample, judged), plain) in samples.iter().zip(&judged).zip(plain) {
            *borders.entry(judged.border.map_or("none", Border::as_str)).or_default() += 1;
            if judged.passed() != *plain {
                wrong.push(format!(
                    "{:?} {:?}: plain {plain}, {judged:#?}",
                    sample.task_id, sample.completion
                ));
            }
        }
    }
    eprintln!("{} answers, borders {borders:?}", samples.len());
    assert!(wrong.is_empty(), "{} of {}: {}", wrong.len(), samples.len(), wrong.join("\n"));
    assert!(samples.len() > 300, "{}", samples.len());
}

#[test]
fn conformance_published_solutions_of_mbpp_pass_across_the_border() {
    let Some(path) = data("probe/mbpp_dev.jsonl") else { return };
    let problems = read_problems(&camino::Utf8PathBuf::from_path_buf(path).unwrap()).unwrap();
    let samples: Vec<Sample> = problems
        .iter()
        .map(|problem| sample(&problem.task_id, problem.canonical_solution.as_deref().unwrap()))
        .collect();
    // One of them computes for more than three seconds.
    let budgets = Budgets::default();
    let judge = Judge::new(bench_with(None, budgets), Box::new(Python::find("python3".as_ref())), problems);
    let judged: Vec<Judged> =
        samples.chunks(40).flat_map(|chunk| judge.judge_many(&chunk.iter().collect::<Vec<_>>())).collect();
    let failed = names(&samples, &judged, false);
    assert!(failed.is_empty() && judged.len() > 100, "{} of {}: {failed:#?}", failed.len(), judged.len());
    assert!(judged.iter().all(|judged| judged.border == Some(Border::Separate)));
}

/// What plain CPython says of prompt, answer and tests in one program.
pub(super) fn plain_verdicts(problems: &[Problem], samples: &[Sample]) -> Vec<bool> {
    const PLAIN: &str = "import json, os, signal, sys
for line in sys.stdin:
    program = json.loads(line)
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2): os.dup2(null, number)
        signal.setitimer(signal.ITIMER_PROF, 3)
        signal.alarm(120)
        try: exec(program, {'__name__': 'plain'})
        except BaseException: os._exit(1)
        os._exit(0)
    print(int(os.waitpid(child, 0)[1] == 0), flush=True)
";
    let by_id: BTreeMap<&str, &Problem> =
        problems.iter().map(|problem| (problem.task_id.as_str(), problem)).collect();
    let mut input = String::new();
    for sample in samples {
        let problem = by_id[sample.task_id.as_deref().unwrap()];
        let completion = sample.completion.as_deref().unwrap();
        let entry = problem.entry_point.as_deref().unwrap();
        let program = format!("{}{completion}\n{}\ncheck({entry})\n", problem.prompt, problem.test);
        input += &format!("{}\n", serde_json::Value::from(program));
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in"), input).unwrap();
    #[expect(clippy::disallowed_methods, reason = "plain CPython is what the verdicts are compared with")]
    let output = std::process::Command::new("python3")
        .args(["-c", PLAIN])
        .stdin(std::fs::File::open(folder.path().join("in")).unwrap())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line == "1").collect()
}
