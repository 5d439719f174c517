//! Python answers judged through the library: in two boxes, warm and alone, in every tier that keeps them apart.

use proofhouse::kinds::code::{
    Bench, Border, Budgets, ErrorType, Judge, Judged, Problem, Python, Sample, read_problems,
};
use proofhouse_sandbox::{Helper, Options, Request, Sandbox, Tier};

use crate::conformance::data;

mod cases;
mod conformance;
mod interpreters;

fn bench_in(tier: Option<Tier>) -> Bench {
    let mut budgets = Budgets::default();
    budgets.test.cpu_ms = 2_000;
    bench_with(tier, budgets)
}

fn bench_with(tier: Option<Tier>, budgets: Budgets) -> Bench {
    let mut options = Options::new(env!("CARGO_TARGET_TMPDIR"));
    options.helper = Helper::At(env!("CARGO_BIN_EXE_proofhouse").into());
    options.request = tier.map_or(Request::AUTO, Request::exactly);
    Bench::new(Sandbox::open(options).expect("a sandbox"), budgets).expect("a bench")
}

fn judge_in(tier: Option<Tier>, python: &str, problems: Vec<Problem>) -> Judge {
    Judge::new(bench_in(tier), Box::new(Python::find(python.as_ref())), problems)
}

fn python(problems: Vec<Problem>) -> Judge {
    judge_in(None, "python3", problems)
}

fn told(judged: &Judged) -> &'static str {
    judged.error_type.map_or("passed", ErrorType::as_str)
}

fn sample(task_id: &str, completion: &str) -> Sample {
    Sample {
        index: 0,
        task_id: Some(task_id.to_owned()),
        completion_id: 0,
        completion: Ok(completion.to_owned()),
    }
}

fn one_in_python() -> Problem {
    Problem {
        task_id: "one".into(),
        prompt: "from typing import List\n\n\ndef one(values: List[float]) -> float:\n    \"\"\" Gives the first.\n    \"\"\"\n".into(),
        entry_point: Some("one".into()),
        test: "\n\ndef check(candidate):\n    assert candidate([1.5, float('inf')]) == 1.5\n    assert candidate([2]) == 2\n".into(),
        ..Problem::default()
    }
}

#[test]
fn python_verdicts_have_their_reasons() {
    let judge = python(vec![one_in_python()]);
    let whole = "def one(values: List[float]) -> float:\n    return values[0]\n";
    for (completion, wanted) in [
        ("    return values[0]\n", "passed"),
        (whole, "passed"),
        (&format!("Here's it:\n```python\n{whole}```\nDone, isn't it?"), "passed"),
        (&format!("```python\n{whole}"), "passed"),
        (&format!("Sure, here it is:\n\n{whole}\nThat's all."), "passed"),
        ("    return 0\n", "assertion_failure"),
        ("    return values[9]\n", "runtime_error"),
        ("    return (\n", "compile_error"),
        ("    import sys; sys.exit(3)\n", "runtime_error"),
        ("    while True: pass\n", "test_timeout"),
        ("I am sorry but I cannot help with this", "extraction_failed"),
    ] {
        let judged = judge.judge_completion("one", completion).unwrap();
        assert_eq!(told(&judged), wanted, "{completion}: {judged:#?}");
    }
    let wrong = judge.judge_completion("one", "    return 0\n").unwrap().diagnostics.panic.unwrap();
    assert_eq!((wrong.file.as_deref(), wrong.line), (Some("test"), Some(4)));
    let index = judge.judge_completion("one", "    return values[9]\n").unwrap().diagnostics.panic.unwrap();
    assert_eq!((index.file.as_deref(), index.line), (Some("completion"), Some(7)));
}

#[test]
fn the_answer_is_found_among_what_is_around_it_in_python() {
    let judge = python(vec![one_in_python()]);
    let fenced = |code: &str| format!("```python\n{code}```\n");
    for body in ["return values[0]", "return 0"] {
        let whole = format!("def one(values: List[float]) -> float:\n    {body}\n");
        let answer = fenced(&whole);
        let wanted = if body == "return 0" { "assertion_failure" } else { "passed" };
        for completion in [
            format!("Usage:\n{}Code:\n{answer}", fenced("print(one([1]))\n")),
            format!("It prints:\n```\n3\n```\nCode:\n{answer}"),
            format!("First:\n```bash\npip install x\n```\nThen:\n{answer}"),
            format!(
                "{}{}{}",
                fenced("import math\n"),
                fenced("def helper(): return 1\n"),
                fenced(&whole.replace("return", "math.floor(helper()); return"))
            ),
            format!("{answer}Or:\n{}", fenced("def one(values): return 5\n")),
            format!("Here:\n~~~python\n{whole}~~~\n"),
            format!("Here:\n```python title=\"a.py\"\n{whole}```\n"),
            format!("    {body}\n```\n"),
            format!("    {body}\n```\n\nThis doesn't change it.\n"),
            format!("{}{}", fenced("print(one([1]))\n"), fenced(&format!("    {body}\n"))),
            format!("<think>\nMaybe\n{}no\n</think>\n{answer}", fenced("def one(values): return 5\n")),
            format!("Maybe\n{}no\n</think>\n\n{whole}", fenced("def one(values): return 5\n")),
            format!("<think>it's easy</think>    {body}\n"),
            format!(
                "1. It:\n\n   ```python\n   def one(values: List[float]) -> float:\n       {body}\n   ```\n"
            ),
            format!("from __future__ import annotations\n{whole}"),
            format!("\u{feff}{answer}"),
            format!("{}\r\n", whole.replace('\n', "\r\n")),
            format!("{body}\n"),
            format!("x = values\nif x:\n    {body}\nreturn None\n"),
            format!("x = values\n    {body}\n"),
            format!("  {body}\n\ndef other():\n  pass\n"),
            format!("\t{body}\n"),
            format!("```python def one(values): {body}```"),
            format!("<p>Here:</p><pre><code>{}</code></pre>", whole.replace("->", "-&gt;")),
            format!("{}{}", fenced(&whole.replace("values[0]", "values[FIRST]")), fenced("FIRST = 0\n")),
            format!("{}{}", fenced("FIRST = 0\n"), fenced(&whole.replace("values[0]", "values[FIRST]"))),
            fenced(&whole.replace(
                "    return",
                "    \"\"\" As:\n\n    ```python\n    one([1])\n    ```\n    \"\"\"\n    return",
            )),
            format!("{whole}\nimport unittest\nunittest.main()\n"),
            format!("{whole}\nif __name__ == '__main__':\n    print(one([int(input())]))\n"),
            format!("from typing import Any\ndef mine(values): {body}\none: Any = mine\n"),
        ] {
            let judged = judge.judge_completion("one", &completion).unwrap();
            assert_eq!(told(&judged), wanted, "{completion}: {judged:#?}");
        }
    }
    let unfinished = format!("<think>\nMaybe\n{}", fenced("def one(values): return values[0]\n"));
    assert_eq!(told(&judge.judge_completion("one", &unfinished).unwrap()), "extraction_failed");
}

#[test]
fn values_of_classes_that_extend_plain_ones_are_plain_in_python() {
    let value = |wanted: &str| Problem {
        prompt: "def value():\n    \"\"\" Gives it. \"\"\"\n".into(),
        entry_point: Some("value".into()),
        test: format!("def check(candidate):\n    assert candidate() == {wanted}\n"),
        ..one_in_python()
    };
    for (wanted, right, wrong) in [
        ("{'a': 2, 'b': 1}", "Counter('aab')", "Counter('ab')"),
        ("{'a': [1]}", "defaultdict(list, {'a': [1]})", "defaultdict(list)"),
        ("{'a': 1, 'b': 2}", "OrderedDict(a=1, b=2)", "OrderedDict(a=1)"),
        ("(1, 4)", "Pair(1, 4)", "Pair(4, 1)"),
        ("[(1, {2: 3})]", "[Pair(1, Counter({2: 3}))]", "[Pair(1, Counter())]"),
        ("5", "Level.FIVE", "Level.SIX"),
        ("5", "Fraction(10, 2)", "Fraction(11, 2)"),
        ("5", "All(Fraction)(5)", "All(Fraction)(6)"),
        ("5", "All(Decimal)(5)", "All(Decimal)(6)"),
        ("0.5", "Decimal('0.5')", "Decimal('0.51')"),
        ("5", "All(int)(5)", "All(int)(6)"),
        ("1.5", "All(float)(1.5)", "All(float)(2)"),
        ("'x'", "All(str)('x')", "All(str)('y')"),
        ("b'x'", "All(bytes)(b'x')", "All(bytes)(b'y')"),
        ("[1]", "All(list)([1])", "All(list)([2])"),
        ("(1,)", "All(tuple)([1])", "All(tuple)([2])"),
        ("{1}", "All(set)([1])", "All(set)([2])"),
        ("{1}", "All(frozenset)([1])", "All(frozenset)([2])"),
        ("{1: 2}", "All(dict)({1: 2})", "All(dict)({1: 3})"),
        ("[{'items': (1, 2.5)}]", "[{'items': (1, 2.5)}]", "[{'items': (1, 2)}]"),
    ] {
        let judge = python(vec![value(wanted)]);
        let say = |given: &str| {
            let completion = format!(
                "    from collections import Counter, OrderedDict, defaultdict, namedtuple\n    from decimal import Decimal\n    from enum import IntEnum\n    from fractions import Fraction\n    Pair = namedtuple('Pair', 'a b')\n    class Level(IntEnum):\n        FIVE = 5\n        SIX = 6\n    def All(base):\n        names = ('__eq__', '__iter__', '__repr__', '__str__', '__int__', '__float__', '__len__', '__getitem__', 'items')\n        hash_too = {{'__hash__': base.__hash__}}\n        return type('All', (base,), dict.fromkeys(names, lambda *args: {wanted}) | hash_too)\n    return {given}\n"
            );
            judge.judge_completion("one", &completion).unwrap()
        };
        let (good, bad) = (say(right), say(wrong));
        assert_eq!((told(&good), told(&bad)), ("passed", "assertion_failure"), "{right}: {good:#?} {bad:#?}");
    }
    let judge = python(vec![value("5")]);
    for given in ["object()", "iter([5])"] {
        let judged = judge.judge_completion("one", &format!("    return {given}\n")).unwrap();
        assert_eq!(told(&judged), "assertion_failure", "{given}: {judged:#?}");
    }
    let record = "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass R:\n    x: int\ndef value():\n    return R(5).x\n";
    assert_eq!(told(&judge.judge_completion("one", record).unwrap()), "passed");
}

#[test]
fn what_a_call_raises_and_changes_reaches_the_python_test() {
    let judged = |test: &str, completion: &str| {
        let judge = python(vec![Problem { test: test.into(), ..one_in_python() }]);
        told(&judge.judge_completion("one", completion).unwrap())
    };
    let raises = "def check(f):\n    try:\n        f([])\n    except ValueError as error:\n        assert str(error) == 'empty'\n    else:\n        assert False\n    assert f([1]) == 1\n";
    let own = "    class Mine(ValueError): pass\n    if not values: raise Mine('empty')\n    return 1\n";
    assert_eq!(judged(raises, own), "passed");
    assert_eq!(judged(raises, &own.replace("ValueError", "KeyError")), "runtime_error");
    assert_eq!(judged(raises, "    return 1\n"), "assertion_failure");
    let sorts = "def check(f):\n    x = [3, 1]\n    f(x)\n    assert x == [1, 3]\n    x = {1: 2}\n    f(values=x)\n    assert x == {}\n";
    let both = "    values.sort() if isinstance(values, list) else values.clear()\n";
    assert_eq!(judged(sorts, both), "passed");
    assert_eq!(judged(sorts, "    sorted(values)\n"), "assertion_failure");
    let keeps = "def check(f):\n    x = [3, 1]\n    assert f(x) == [1, 3]\n    assert x == [3, 1]\n";
    assert_eq!(judged(keeps, "    return sorted(values)\n"), "passed");
    assert_eq!(judged(keeps, "    values.sort()\n    return values\n"), "assertion_failure");
}

#[test]
fn every_kind_of_python_test_is_run() {
    let case = "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(one([1]), 1)\n    def test_b(self):\n        self.assertEqual(one([2]), 2)\n";
    let main = format!("{case}\nunittest.main()\n");
    let set_up = "import unittest\n\nclass T(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        assert one([1]) == 1\n    def test_a(self):\n        self.assertEqual(one([1]), 1)\n";
    for (test, wanted) in [
        (case, "T.test_a T.test_b"),
        (&main, "T.test_a T.test_b"),
        (set_up, "T.test_a"),
        (
            "def test_a():\n    assert one([1]) == 1\n\ndef test_b():\n    assert one([2]) == 2\n",
            "test_a test_b",
        ),
        ("class TestOne:\n    def test_a(self):\n        assert one([1]) == 1\n", "TestOne.test_a"),
        ("async def test_a():\n    assert one([1]) == 1\n", "test_a"),
        ("def check(f):\n    pass\n\ndef test_a():\n    assert one([1]) == 1\n", "check test_a"),
        ("def check():\n    assert one([1]) == 1\n", "check"),
        ("for n in [1, 2]:\n    assert one([n]) == n\n", "check"),
        ("def try_it(n):\n    assert one([n]) == n\n\ntry_it(1)\n", "check"),
    ] {
        let judge = python(vec![Problem { test: test.into(), ..one_in_python() }]);
        let right = judge.judge_completion("one", "    return values[0]\n").unwrap();
        let names: Vec<&str> = right.diagnostics.tests.iter().map(|test| test.name.as_str()).collect();
        assert_eq!((told(&right), names.join(" ").as_str()), ("passed", wanted), "{test}: {right:#?}");
        let wrong = judge.judge_completion("one", "    return 0\n").unwrap();
        assert_eq!(told(&wrong), "assertion_failure", "{test}: {wrong:#?}");
        let raises = judge.judge_completion("one", "    raise ValueError\n").unwrap();
        assert_eq!(told(&raises), "runtime_error", "{test}: {raises:#?}");
    }
    for test in [
        "def helper():\n    assert one([1]) == 1\n",
        "def test_a(fixture):\n    assert one([1]) == 1\n",
        "def test_a():\n    assert one([1]) == 1\n    yield\n",
        "import unittest\n\nclass T(unittest.TestCase):\n    @unittest.skip('later')\n    def test_a(self):\n        self.assertEqual(one([1]), 1)\n",
        "def check(candidate):\n    assert True\n",
    ] {
        let judge = python(vec![Problem { test: test.into(), ..one_in_python() }]);
        let judged = judge.judge_completion("one", "    return values[0]\n").unwrap();
        assert_eq!((told(&judged), judged.test_ok), ("no_tests", None), "{test}: {judged:#?}");
    }
}

#[test]
fn nothing_that_only_pretends_passes_in_python() {
    let judge = python(vec![one_in_python()]);
    for completion in [
        "    import sys; sys.exit(0)\n",
        "    import os; os._exit(0)\n",
        "    class A(float):\n        def __eq__(self, other): return True\n    return A(7)\n",
        "    class A:\n        def __repr__(self): return 'exit()'\n    return A()\n",
        "    import sys\n    for f in sys._current_frames().values(): f.f_builtins['AssertionError'] = None\n    return 0\n",
        "    import os\n    open('report', 'a').write('ok\\tcheck\\t\\t0\\t0\\t\\n'); os.kill(os.getppid(), 9)\n",
        "    import os\n    open('report', 'w').write('ok\\tcheck\\t\\t0\\t0\\t\\n'); os._exit(0)\n",
        "    import json\n    json.load(open('task.json'))\n    return values[0]\n",
    ] {
        let judged = judge.judge_completion("one", completion).unwrap();
        assert!(!judged.passed(), "{completion}: {judged:#?}");
    }
}

#[test]
fn answers_that_are_judged_together_run_in_warm_interpreters() {
    let language = Python::find("python3".as_ref());
    let judge = Judge::new(bench_in(Some(Tier::Strong)), Box::new(language.clone()), vec![one_in_python()]);
    let bodies = ["    return values[0]\n", "    return 0\n", "    raise ValueError\n", "    return (\n"];
    let samples: Vec<Sample> = bodies.iter().map(|body| sample("one", body)).collect();
    let alone: Vec<Judged> = samples.iter().map(|sample| judge.judge(sample)).collect();
    assert_eq!(language.warm_runs(), 0, "a single answer has a box of its own");
    let together = judge.judge_many(&samples.iter().collect::<Vec<_>>());
    assert_eq!((language.warm_runs(), &together), (4, &alone));
    // What leaves a doubt is judged again in a box of its own.
    let leaves = [sample("one", "    import os; os._exit(0)\n"), samples[0].clone()];
    let judged = judge.judge_many(&leaves.iter().collect::<Vec<_>>());
    assert_eq!((told(&judged[0]), told(&judged[1])), ("runtime_error", "passed"));
    assert_eq!(language.warm_runs(), 5);
}
