//! Tests that draw random numbers: without a seed, the same answer may pass once and fail once.

use crate::kinds::code::problem::Problem;

/// Most names that a warning lists.
const MAX_NAMES: usize = 5;

/// What draws numbers, behind `random.` or by its own name.
const DRAWS: [&str; 12] = [
    "randint",
    "randrange",
    "random",
    "choice",
    "choices",
    "shuffle",
    "sample",
    "uniform",
    "gauss",
    "getrandbits",
    "randn",
    "rand",
];

/// What a reader of the suite should know, if the tests of some tasks draw numbers and set no seed.
pub(super) fn warning(problems: &[Problem]) -> Option<String> {
    let found: Vec<&str> = problems
        .iter()
        .filter(|problem| is_left_to_chance(&problem.test))
        .map(|problem| problem.task_id.as_str())
        .collect();
    let listed: Vec<String> = found.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    let more = match found.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!found.is_empty()).then(|| {
        format!(
            "the tests draw random numbers without a seed, so verdicts may differ from run to run: {}{more}",
            listed.join(", ")
        )
    })
}

fn is_left_to_chance(test: &str) -> bool {
    let code: Vec<&str> = test.lines().map(|line| line.split(" #").next().unwrap_or_default()).collect();
    let has = |wanted: &dyn Fn(&str) -> bool| code.iter().any(|line| wanted(line));
    // `random.seed(1)`, `Random(1)`, `default_rng(1)`.
    let seeds = |line: &str| {
        ["seed(", "Random(", "default_rng(", "setstate("]
            .iter()
            .any(|call| line.split(call).skip(1).any(|rest| !rest.trim_start().starts_with(')')))
    };
    let imports = has(&|line| line.trim_start().starts_with("from random import"));
    let draws = |line: &str| {
        DRAWS.iter().any(|name| {
            let call = format!("{name}(");
            line.match_indices(&call).any(|(at, _)| {
                let before = &line[..at];
                let named = before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
                before.ends_with("random.") || (imports && !named)
            })
        })
    };
    has(&draws) && !has(&seeds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_seed_are_told_from_those_with_one() {
        for test in [
            "import random\nassert f(random.randint(1, 9))",
            "from random import choice\nassert f(choice([1]))",
            "import numpy as np\nassert f(np.random.rand(3))",
            "import random\nrandom.seed()\nassert f(random.random())",
        ] {
            assert!(is_left_to_chance(test), "{test}");
        }
        for test in [
            "import random\nrandom.seed(7)\nassert f(random.randint(1, 9))",
            "import random\ndice = random.Random(3)\nassert f(dice.randint(1, 9))",
            "assert sample(3) == 4",
            "assert f.choice(3) == 4  # random.choice(",
            "from random import Random\nassert f(sample_of(3))",
        ] {
            assert!(!is_left_to_chance(test), "{test}");
        }
    }

    #[test]
    fn tasks_are_named() {
        let task = |name: usize| Problem {
            task_id: format!("t{name}"),
            test: "assert f(random.random())".to_owned(),
            ..Problem::default()
        };
        let said = warning(&(0..7).map(task).collect::<Vec<_>>()).unwrap();
        assert!(said.ends_with("run to run: `t0`, `t1`, `t2`, `t3`, `t4` and 2 more"), "{said}");
        assert_eq!(warning(&[Problem::default()]), None);
    }
}
