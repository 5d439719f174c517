//! Suites at the edge of what is taken: whatever `run` accepts can be read again by everybody, and the rest is refused before.

use crate::lab::Lab;

/// A run of the suite goes through every command that reads its configuration again.
fn is_read_again(lab: &Lab, commands: &[&str]) {
    lab.run("run suite.yaml --run-dir run --quiet").exits(0);
    for command in commands {
        lab.run(command).exits(0);
    }
    // As a kill just before the seal leaves it.
    let envelope =
        lab.read("run.run.json").replace("\"exit_status\":\"normal\"", "\"exit_status\":\"in_progress\"");
    lab.write("run.run.json.tmp", envelope);
    std::fs::remove_file(lab.path("run.run.json")).unwrap();
    for file in ["manifest.json", "summary.json", "report.html"] {
        std::fs::remove_file(lab.path(&format!("run/{file}"))).unwrap();
    }
    lab.run("run suite.yaml --run-dir run --resume --quiet").exits(0);
    lab.run("verify run").exits(0);
}

#[test]
fn many_inline_cases_are_read_again() {
    let lab = Lab::new();
    // Some 280,000 keys and values.
    let cases: String = (0..14_000)
        .map(|at| {
            format!("  - {{id: c{at}, input: 'question {at}', expected: 'question {at}', tags: [a, b]}}\n")
        })
        .collect();
    lab.write("suite.yaml", format!(
        "kind: probe\nsuite_id: many\njudges: {{same: {{equals: {{}}}}}}\ntargets: {{echo: {{scripted: {{otherwise: {{reply: '{{input}}'}}}}}}}}\ncases:\n{cases}"
    ));
    is_read_again(&lab, &[]);
}

/// `depth` lists in each other.
fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn what_nests_deeply_is_read_again() {
    for depth in [59, 90, 105] {
        let lab = Lab::new();
        let schema = (0..depth / 2)
            .fold("{}".to_owned(), |inner, _| format!("{{not: {{type: string, items: {inner}}}}}"));
        lab.write("suite.yaml", format!(
            "kind: probe\nsuite_id: deep\njudges: {{same: {{json-equals: {{}}}}, fits: {{json-schema: {{schema: {schema}}}}}}}\n\
             scoring: {{weights: {{fits: 0}}}}\n\
             targets: {{one: {{scripted: {{otherwise: {{reply: {0}}}}}}}}}\ncases:\n  - {{id: a, input: x, expected: {0}}}\n",
            nested(depth)
        ));
        let commands = [
            "verify run --rejudge --suite suite.yaml",
            "report run --quiet",
            "diff run run --fail-on-changes",
            "score run suite.yaml --run-dir scored --quiet",
        ];
        is_read_again(&lab, &commands);
    }
}

#[test]
fn what_could_not_be_read_again_is_refused_before_anything_is_written() {
    let lab = Lab::new();
    let suite = |reply: &str| {
        format!(
            "kind: probe\nsuite_id: s\njudges: {{same: {{equals: {{}}}}}}\ntargets: {{one: {{scripted: {{otherwise: {{reply: {reply}}}}}}}}}\ncases: [{{id: a, input: x, expected: x}}]\n"
        )
    };
    let refused = |suite: String, why: &str| {
        lab.write("suite.yaml", suite);
        lab.run("check suite.yaml").exits(3).says(why);
    };
    refused(suite(&nested(123)), "the run's `manifest.json` would be nested deeper than 120");
    lab.run("run suite.yaml --run-dir run").exits(3);
    assert!(!lab.path("run").exists() && !lab.path("run.run.json.tmp").exists());
    refused(suite(&nested(130)), "nested deeper than 128");
    refused(suite(&"x".repeat(16 << 20)), "the run's `manifest.json` would be more than 16 MiB");
    // A mebibyte, two hundred times: the file is small, what it means is not.
    let bomb = format!("&a {}\ndescription: x\nx: [{}]", "x".repeat(1 << 20), vec!["*a"; 200].join(", "));
    refused(format!("title: {bomb}\n{}", suite("x")), "more than 128 MiB of text, aliases expanded");
}
