//! The words of other tools, and ours for the same thing: for hints.

/// What promptfoo, Inspect, OpenAI's evals and lm-eval call it → what it is here.
const WORDS: &[(&[&str], &str, &str)] = &[
    (
        &["providers"],
        "targets",
        "`targets: {model: {openai: {model: …}}}`; `proofhouse import promptfoo FILE` turns a whole configuration into suites",
    ),
    (&["models", "solvers"], "targets", "`targets: {model: {openai: {model: …}}}`"),
    (
        &["tests", "test_cases", "samples", "scenarios"],
        "cases",
        "`cases: [{input: …, expected: …}]`, or a file below `datasets`",
    ),
    (
        &["assert", "asserts", "scorer", "scorers", "metrics"],
        "judges",
        "`judges: {right: {contains: {value: …}}}`",
    ),
    (
        &["defaultTest", "default_test"],
        "judges",
        "judges hold for every case; a case names its own with `judges: [name]`",
    ),
    (
        &["vars", "variables"],
        "cases",
        "the fields of a case stand in the case itself: `cases: [{question: …}]`",
    ),
    (&["dataset", "data"], "datasets", "`datasets: [questions.csv]`"),
    (&["num_repeat", "repeat", "epochs", "n"], "repetitions", "`repetitions: 3`"),
    (
        &["evaluateOptions", "outputPath", "output_path", "sharing"],
        "kind",
        "flags of `proofhouse run` say how it is run",
    ),
    (&["name", "id"], "suite_id", "`suite_id: my-suite`"),
    (&["eval", "evals"], "kind", "`kind: probe`, and `proofhouse run FILE`"),
];

/// Our word for another tool's, where the keys that may stand here have it.
pub(super) fn ours(word: &str, known: &[&str]) -> Option<String> {
    let (_, ours, example) =
        WORDS.iter().find(|(theirs, ours, _)| theirs.contains(&word) && known.contains(ours))?;
    Some(format!("that is `{ours}` here: {example}"))
}
