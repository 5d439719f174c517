//! Every message that a wrong suite gives, as the user sees it.

use super::{GOOD, Lab, Overrides, load, refused};

#[test]
fn misspelt_top_key() {
    insta::assert_snapshot!(refused(&GOOD.replace(r#"cases:"#, "repetition: 3\ncases:")), @r"
    suite.yaml:8:1: unknown key `repetition`
      |
    8 | repetition: 3
      | ^^^^^^^^^^

    hint: did you mean `repetitions`?
    ");
}

#[test]
fn misspelt_required_key_is_reported_once() {
    insta::assert_snapshot!(refused(&GOOD.replace("judges:", "judge:")), @r"
    suite.yaml:6:1: unknown key `judge`
      |
    6 | judge:
      | ^^^^^

    hint: did you mean `judges`?
    ");
}

#[test]
fn misspelt_key_at_every_level() {
    let suite = r#"kind: probe
suite_id: demo
sed: 7
determinism: {strict_serialisation: true}
targets:
  steady:
    scripted:
      rule: []
      rules:
        - {contain: x, reply: "4"}
      otherwise: {repply: "4", reply: "5"}
judges:
  exact: {equals: {ignorecase: true}}
datasets:
  - {path: data/x.jsonl, fmt: jsonl, fields: {identity: task_id}}
scoring: {weight: {exact: 1}}
gate: {passrate: 0.5, pass_rate: 0.5}
"#;
    insta::assert_snapshot!(refused(suite), @r#"
    suite.yaml:3:1: unknown key `sed`
      |
    3 | sed: 7
      | ^^^

    hint: did you mean `seed`?

    suite.yaml:4:15: unknown key `strict_serialisation`
      |
    4 | determinism: {strict_serialisation: true}
      |               ^^^^^^^^^^^^^^^^^^^^ determinism.strict_serialisation

    hint: did you mean `strict_serialization`?

    suite.yaml:8:7: unknown key `rule`
      |
    8 |       rule: []
      |       ^^^^ targets.steady.scripted.rule

    hint: did you mean `rules`?

    suite.yaml:10:12: unknown key `contain`
       |
    10 |         - {contain: x, reply: "4"}
       |            ^^^^^^^ targets.steady.scripted.rules[0].contain

    hint: did you mean `contains`?

    suite.yaml:11:19: unknown key `repply`
       |
    11 |       otherwise: {repply: "4", reply: "5"}
       |                   ^^^^^^ targets.steady.scripted.otherwise.repply

    hint: did you mean `reply`?

    suite.yaml:13:20: unknown key `ignorecase`
       |
    13 |   exact: {equals: {ignorecase: true}}
       |                    ^^^^^^^^^^ judges.exact.equals.ignorecase

    hint: did you mean `ignore_case`?

    suite.yaml:15:12: there is no file `data/x.jsonl`
       |
    15 |   - {path: data/x.jsonl, fmt: jsonl, fields: {identity: task_id}}
       |            ^^^^^^^^^^^^ datasets[0].path

    hint: paths are relative to the suite: `data` is empty or not there

    suite.yaml:15:26: unknown key `fmt`
       |
    15 |   - {path: data/x.jsonl, fmt: jsonl, fields: {identity: task_id}}
       |                          ^^^ datasets[0].fmt

    hint: the keys here are `path`, `format`, `sha256`, `dataset_hash`, `fields`, `where`, `sample`, `split`, `revision`

    suite.yaml:15:47: unknown key `identity`
       |
    15 |   - {path: data/x.jsonl, fmt: jsonl, fields: {identity: task_id}}
       |                                               ^^^^^^^^ datasets[0].fields.identity

    hint: the keys here are `id`, `input`, `expected`, `tags`, `judges`

    suite.yaml:16:11: unknown key `weight`
       |
    16 | scoring: {weight: {exact: 1}}
       |           ^^^^^^ scoring.weight

    hint: did you mean `weights`?

    suite.yaml:17:8: unknown key `passrate`
       |
    17 | gate: {passrate: 0.5, pass_rate: 0.5}
       |        ^^^^^^^^ gate.passrate

    hint: did you mean `pass_rate`?

    11 problems
    "#);
}

#[test]
fn misspelt_target_kind() {
    insta::assert_snapshot!(refused(&GOOD.replace("scripted:", "scriptd:")), @r#"
    suite.yaml:5:5: unknown key `scriptd`
      |
    5 |     scriptd: {otherwise: {reply: "4"}}
      |     ^^^^^^^ targets.steady.scriptd

    hint: did you mean `scripted`?
    "#);
}

#[test]
fn misspelt_judge_kind() {
    insta::assert_snapshot!(refused(&GOOD.replace("equals:", "equal:")), @r"
    suite.yaml:7:11: unknown key `equal`
      |
    7 |   exact: {equal: {}}
      |           ^^^^^ judges.exact.equal

    hint: did you mean `equals`?
    ");
}

#[test]
fn two_kinds_in_one_judge() {
    insta::assert_snapshot!(refused(&GOOD.replace("{equals: {}}", "{equals: {}, contains: {value: x}}")), @r"
    suite.yaml:7:3: expected one key, found 2: `equals`, `contains`
      |
    7 |   exact: {equals: {}, contains: {value: x}}
      |   ^^^^^ judges.exact

    hint: give each a name of its own
    ");
}

#[test]
fn judge_without_settings() {
    insta::assert_snapshot!(refused(&GOOD.replace("{equals: {}}", "equals")), @r"
    suite.yaml:7:10: `equals` needs settings
      |
    7 |   exact: equals
      |          ^^^^^^ judges.exact

    hint: write `equals: {}`, or its settings instead of `{}`
    ");
}

#[test]
fn judge_with_null_settings() {
    insta::assert_snapshot!(refused(&GOOD.replace("{equals: {}}", "{equals: }")), @r"
    suite.yaml:7:11: expected a map of settings, found nothing
      |
    7 |   exact: {equals: }
      |           ^^^^^^ judges.exact.equals

    hint: write `{}` for no settings
    ");
}

#[test]
fn duplicate_keys() {
    insta::assert_snapshot!(refused(&GOOD.replace("judges:", "seed: 1\nseed: 2\njudges:\n  exact: {contains: {value: a, value: b}}")), @r"
    suite.yaml:7:1: duplicate key `seed`
      |
    7 | seed: 2
      | ^^^^
      |
    6 | seed: 1
      | ^^^^ first here

    hint: keep one of the two

    suite.yaml:9:32: duplicate key `value`
      |
    9 |   exact: {contains: {value: a, value: b}}
      |                                ^^^^^ judges.exact.contains.value
      |
    9 |   exact: {contains: {value: a, value: b}}
      |                      ^^^^^ first here

    hint: keep one of the two

    suite.yaml:10:3: duplicate key `exact`
       |
    10 |   exact: {equals: {}}
       |   ^^^^^ judges.exact
       |
     9 |   exact: {contains: {value: a, value: b}}
       |   ^^^^^ first here

    hint: keep one of the two

    3 problems
    ");
}

#[test]
fn number_out_of_range() {
    insta::assert_snapshot!(refused(&GOOD.replace("cases:", "repetitions: 0\nseed: -1\ntimeout_ms: 86400001\ncases:")), @r"
    suite.yaml:8:14: expected a whole number from 1 to 100000, found `0`
      |
    8 | repetitions: 0
      |              ^ repetitions

    suite.yaml:9:7: expected a whole number from 0 to 9007199254740992, found `-1`
      |
    9 | seed: -1
      |       ^^ seed

    suite.yaml:10:13: expected a whole number from 1 to 86400000, found `86400001`
       |
    10 | timeout_ms: 86400001
       |             ^^^^^^^^ timeout_ms

    3 problems
    ");
}

#[test]
fn seed_beyond_safe_integers() {
    insta::assert_snapshot!(refused(&GOOD.replace("cases:", "seed: 9007199254740993\ncases:")), @r"
    suite.yaml:8:7: expected a whole number from 0 to 9007199254740992, found `9007199254740993`
      |
    8 | seed: 9007199254740993
      |       ^^^^^^^^^^^^^^^^ seed
    ");
}

#[test]
fn numbers_that_only_seem_to_fit() {
    let scoring = "scoring: {weights: {exact: 9007199254740993}}\nrepetitions: 3.0\ntimeout_ms: 123456789012345678901234567890\ncases:";
    insta::assert_snapshot!(refused(&GOOD.replace("cases:", scoring)), @r"
    suite.yaml:8:28: integer `9007199254740993` is beyond 2^53 and would be rounded
      |
    8 | scoring: {weights: {exact: 9007199254740993}}
      |                            ^^^^^^^^^^^^^^^^ scoring.weights.exact

    suite.yaml:9:14: expected a whole number from 1 to 100000, found `3.0`
      |
    9 | repetitions: 3.0
      |              ^^^ repetitions

    suite.yaml:10:13: integer `123456789012345678901234567890` is beyond 2^53 and would be rounded
       |
    10 | timeout_ms: 123456789012345678901234567890
       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ timeout_ms

    3 problems
    ");
}

#[test]
fn wrong_types_all_at_once() {
    insta::assert_snapshot!(refused(&GOOD.replace("cases:", "repetitions: many\nseed: \"7\"\ntimeout_ms: 1.5\ntitle: 12\nprompt: [a]\ndeterminism: strict\ncases:")), @r#"
    suite.yaml:8:14: expected a whole number from 1 to 100000, found the text `many`
      |
    8 | repetitions: many
      |              ^^^^ repetitions

    suite.yaml:9:7: expected a whole number from 0 to 9007199254740992, found the text `7`
      |
    9 | seed: "7"
      |       ^^^ seed

    hint: remove the quotes: 7

    suite.yaml:10:13: expected a whole number from 1 to 86400000, found `1.5`
       |
    10 | timeout_ms: 1.5
       |             ^^^ timeout_ms

    suite.yaml:11:8: expected text, found `12`
       |
    11 | title: 12
       |        ^^ title

    hint: put it in quotes: "12"

    suite.yaml:12:1: expected text, or a map with `file`, `text` or `messages`, found a list
       |
    12 | prompt: [a]
       | ^^^^^^

    suite.yaml:13:14: expected a map of settings, found the text `strict`
       |
    13 | determinism: strict
       |              ^^^^^^ determinism

    6 problems
    "#);
}

#[test]
fn text_true_for_a_determinism_key() {
    insta::assert_snapshot!(refused(&GOOD.replace("cases:", "determinism: {strict_serialization: \"true\", deterministic_artifacts: yes}\ncases:")), @r#"
    suite.yaml:8:37: expected `true` or `false`, found the text `true`
      |
    8 | determinism: {strict_serialization: "true", deterministic_artifacts: yes}
      |                                     ^^^^^^ determinism.strict_serialization

    hint: remove the quotes: true

    suite.yaml:8:70: expected `true` or `false`, found the text `yes`
      |
    8 | determinism: {strict_serialization: "true", deterministic_artifacts: yes}
      |                                                                      ^^^ determinism.deterministic_artifacts

    hint: write `true`

    2 problems
    "#);
}

#[test]
fn one_for_a_determinism_key() {
    insta::assert_snapshot!(refused(&GOOD.replace("cases:", "determinism: {strict_serialization: 1}\ncases:")), @r"
    suite.yaml:8:37: expected `true` or `false`, found `1`
      |
    8 | determinism: {strict_serialization: 1}
      |                                     ^ determinism.strict_serialization
    ");
}

#[test]
fn missing_keys() {
    insta::assert_snapshot!(refused(&GOOD.replace("suite_id: demo\n", "")), @r"
    suite.yaml:1:1: missing key `suite_id`
      |
    1 | kind: probe
      | ^

    hint: add `suite_id: …`
    ");
}

#[test]
fn not_a_map() {
    insta::assert_snapshot!(refused("- kind: probe\n"), @r"
    suite.yaml:1:1: expected a map of settings, found a list
      |
    1 | - kind: probe
      | ^
    ");
}

#[test]
fn empty_file() {
    insta::assert_snapshot!(refused("# nothing yet\n"), @"suite.yaml: the file is empty");
}

#[test]
fn no_such_suite() {
    let lab = Lab::new("");
    let problems = load(&lab.path("other.yaml"), &Overrides::default()).unwrap_err();
    insta::assert_snapshot!(lab.shown(&problems), @r"
    other.yaml: there is no such file

    hint: `proofhouse init` writes a suite to start from
    ");
}

#[test]
fn misspelt_kind() {
    insta::assert_snapshot!(refused(&GOOD.replace("kind: probe", "kind: prob")), @r"
    suite.yaml:1:7: `prob` is not a kind of suite
      |
    1 | kind: prob
      |       ^^^^

    hint: did you mean `probe`?
    ");
}

#[test]
fn bad_suite_id() {
    insta::assert_snapshot!(refused(&GOOD.replace("suite_id: demo", "suite_id: ../my suite")), @r"
    suite.yaml:2:11: `../my suite` is not a usable name: 1 to 100 of a-z A-Z 0-9 . _ - and no dot in front
      |
    2 | suite_id: ../my suite
      |           ^^^^^^^^^^^ suite_id

    hint: for example `my-suite`
    ");
}

#[test]
fn bad_slot_name() {
    insta::assert_snapshot!(refused(&GOOD.replace("steady:", "a/b:")), @r"
    suite.yaml:4:3: `a/b` is not a usable name: 1 to 100 of a-z A-Z 0-9 . _ - and no dot in front
      |
    4 |   a/b:
      |   ^^^ targets.a/b

    hint: for example `a-b`
    ");
}

#[test]
fn empty_targets() {
    insta::assert_snapshot!(refused(&GOOD.replace("targets:\n  steady:\n    scripted: {otherwise: {reply: \"4\"}}\n", "targets: {}\n")), @r"
    suite.yaml:3:1: the suite has no targets
      |
    3 | targets: {}
      | ^^^^^^^

    hint: give it at least one: `targets: {model: {scripted: {…}}}`
    ");
}

#[test]
fn empty_judges() {
    insta::assert_snapshot!(refused(&GOOD.replace("judges:\n  exact: {equals: {}}", "judges: {}")), @r"
    suite.yaml:6:1: the suite has no judges
      |
    6 | judges: {}
      | ^^^^^^

    hint: give it at least one: `judges: {exact: {equals: {}}}`
    ");
}

#[test]
fn no_cases() {
    insta::assert_snapshot!(refused(GOOD.split("cases:").next().unwrap()), @r"
    suite.yaml:1:1: the suite has no cases
      |
    1 | kind: probe
      | ^

    hint: write some below `cases:`, or name a file below `datasets:`
    ");
}

#[test]
fn settings_that_cannot_work() {
    insta::assert_snapshot!(refused(&GOOD.replace("{otherwise: {reply: \"4\"}}", "{rules: [{regex: \"(a\", reply: x}, {contains: b}, {chance: 2, reply: x}], otherwise: {reply: \"{1} {\"}}")), @r#"
    suite.yaml:5:32: the pattern cannot be used: unclosed group
      |
    5 |     scripted: {rules: [{regex: "(a", reply: x}, {contains: b}, {chance: 2, reply: x}], otherwise: {r…
      |                                ^^^^ targets.steady.scripted.rules[0].regex

    suite.yaml:5:49: the rule says nothing
      |
    5 |     scripted: {rules: [{regex: "(a", reply: x}, {contains: b}, {chance: 2, reply: x}], otherwise: {r…
      |                                                 ^ targets.steady.scripted.rules[1]

    hint: give it `reply`, `fault` or `tool_calls`

    suite.yaml:5:73: expected a number from 0 to 1, found `2`
      |
    5 |     scripted: {rules: [{regex: "(a", reply: x}, {contains: b}, {chance: 2, reply: x}], otherwise: {r…
      |                                                                         ^ targets.steady.scripted.rules[2].chance

    suite.yaml:5:107: `{` opens a brace that nothing closes
      |
    5 | …s: b}, {chance: 2, reply: x}], otherwise: {reply: "{1} {"}}
      |                                                    ^^^^^^^ targets.steady.scripted.otherwise.reply

    hint: write `{{` and `}}` for braces that stand for themselves

    4 problems
    "#);
}

#[test]
fn judge_that_cannot_work() {
    insta::assert_snapshot!(refused(&GOOD.replace("{equals: {}}", "{contains: {value: \"\"}}")), @r#"
    suite.yaml:7:11: an expected text is empty, and every answer contains it
      |
    7 |   exact: {contains: {value: ""}}
      |           ^^^^^^^^ judges.exact.contains

    hint: remove the empty text from `value`
    "#);
}

#[test]
fn unknown_judges_in_scoring() {
    insta::assert_snapshot!(refused(&GOOD.replace("cases:", "scoring: {weights: {exakt: 2}, primary: best}\ncases:")), @r"
    suite.yaml:8:21: no judge is named `exakt`
      |
    8 | scoring: {weights: {exakt: 2}, primary: best}
      |                     ^^^^^ scoring.weights.exakt

    hint: did you mean `exact`?

    suite.yaml:8:41: no judge is named `best`
      |
    8 | scoring: {weights: {exakt: 2}, primary: best}
      |                                         ^^^^ scoring.primary

    hint: the choices are `exact`, `weighted_mean`

    2 problems
    ");
}

#[test]
fn weights_and_threshold_out_of_range() {
    insta::assert_snapshot!(refused(&GOOD.replace("cases:", "scoring: {weights: {exact: -1}, threshold: 1.5}\ngate: {pass_rate: 80}\ncases:")), @r"
    suite.yaml:8:28: expected a number that is not negative, found `-1`
      |
    8 | scoring: {weights: {exact: -1}, threshold: 1.5}
      |                            ^^ scoring.weights.exact

    suite.yaml:8:44: expected a number from 0 to 1, found `1.5`
      |
    8 | scoring: {weights: {exact: -1}, threshold: 1.5}
      |                                            ^^^ scoring.threshold

    suite.yaml:9:19: expected a number from 0 to 1, found `80`
      |
    9 | gate: {pass_rate: 80}
      |                   ^^ gate.pass_rate

    3 problems
    ");
}

#[test]
fn weights_that_are_not_numbers() {
    insta::assert_snapshot!(refused(&GOOD.replace("cases:", "scoring: {weights: {exact: .nan}, threshold: .inf}\ncases:")), @r"
    suite.yaml:8:28: expected a number that is not negative, found `NaN`
      |
    8 | scoring: {weights: {exact: .nan}, threshold: .inf}
      |                            ^^^^ scoring.weights.exact

    suite.yaml:8:46: expected a number from 0 to 1, found `inf`
      |
    8 | scoring: {weights: {exact: .nan}, threshold: .inf}
      |                                              ^^^^ scoring.threshold

    2 problems
    ");
}

#[test]
fn weights_that_are_all_zero() {
    insta::assert_snapshot!(refused(&GOOD.replace("cases:", "scoring: {weights: {exact: 0}, primary: weighted_mean}\ncases:")), @r"
    suite.yaml:8:11: all weights are 0, so there is no weighted mean
      |
    8 | scoring: {weights: {exact: 0}, primary: weighted_mean}
      |           ^^^^^^^ scoring.weights

    hint: give at least one judge a weight above 0
    ");
}

#[test]
fn judge_named_like_the_mean() {
    insta::assert_snapshot!(refused(&GOOD.replace("exact:", "weighted_mean:")), @r"
    suite.yaml:7:3: `weighted_mean` is the name of the mean of all judges
      |
    7 |   weighted_mean: {equals: {}}
      |   ^^^^^^^^^^^^^ judges.weighted_mean

    hint: choose another name
    ");
}

#[test]
fn unknown_judge_in_a_case() {
    insta::assert_snapshot!(refused(&GOOD.replace("expected: \"4\"", "judges: [exat]")), @r#"
    suite.yaml:9:33: no judge is named `exat`
      |
    9 |   - {id: add-1, input: "2 + 2", judges: [exat]}
      |                                 ^^^^^^ cases[0].judges

    hint: did you mean `exact`?
    "#);
}

#[test]
fn case_without_judges() {
    insta::assert_snapshot!(refused(&GOOD.replace("expected: \"4\"", "judges: []")), @r#"
    suite.yaml:9:33: the case has no judge
      |
    9 |   - {id: add-1, input: "2 + 2", judges: []}
      |                                 ^^^^^^ cases[0].judges

    hint: leave `judges` out to use all judges, or name some of `exact`
    "#);
}

#[test]
fn unclosed_template_brace() {
    insta::assert_snapshot!(refused(&GOOD.replace("cases:", "prompt: \"Q: {question\"\ncases:")), @r#"
    suite.yaml:8:9: `{question` opens a brace that nothing closes
      |
    8 | prompt: "Q: {question"
      |         ^^^^^^^^^^^^^^ prompt

    hint: write `{{` and `}}` for braces that stand for themselves
    "#);
}

#[test]
fn stray_template_brace() {
    insta::assert_snapshot!(refused(&GOOD.replace("cases:", "prompt: |\n  Answer as {\"answer\": 1}.\n  {input}\ncases:")), @r#"
    suite.yaml:9:3: `{"answer": 1}` is not the name of a field
      |
    9 |   Answer as {"answer": 1}.
      |   ^ prompt

    hint: write `{{` and `}}` for braces that stand for themselves
    "#);
}

#[test]
fn template_field_missing() {
    insta::assert_snapshot!(refused(&GOOD.replace("cases:", "prompt: \"{question}\"\ncases:")), @r#"
    suite.yaml:10:5: the prompt needs `{question}`, which this case does not have
       |
    10 |   - {id: add-1, input: "2 + 2", expected: "4"}
       |     ^ cases[0]

    hint: the case's fields are `expected`, `id`, `input`
    "#);
}

#[test]
fn template_field_null() {
    insta::assert_snapshot!(refused(&GOOD.replace("\"2 + 2\"", "null")), @r#"
    suite.yaml:9:17: the prompt needs `{input}`, which is null in this case
      |
    9 |   - {id: add-1, input: null, expected: "4"}
      |                 ^^^^^ cases[0].input

    hint: give the field a value, or take the row out
    "#);
}

#[test]
fn ids_missing_empty_and_odd() {
    let suite = GOOD.replace(
        "  - {id: add-1, input: \"2 + 2\", expected: \"4\"}\n",
        r#"  - {input: a, expected: a}
  - {id: "", input: a}
  - {id: [1], input: a}
  - {id: 1.5, input: a}
  - {id: "a\tb", input: a}
  - {id: x, input: a, tags: {a: b}}
"#,
    );
    insta::assert_snapshot!(refused(&suite), @r#"
    suite.yaml:10:10: the id is empty
       |
    10 |   - {id: "", input: a}
       |          ^^ cases[1].id

    hint: an id is text or a whole number, unique in the suite

    suite.yaml:11:6: the id is `[1]`
       |
    11 |   - {id: [1], input: a}
       |      ^^ cases[2].id

    hint: an id is text or a whole number, unique in the suite

    suite.yaml:12:10: the id is `1.5`
       |
    12 |   - {id: 1.5, input: a}
       |          ^^^ cases[3].id

    hint: an id is text or a whole number, unique in the suite

    suite.yaml:13:10: the id has a control character
       |
    13 |   - {id: "a\tb", input: a}
       |          ^^^^^^ cases[4].id

    hint: an id is text or a whole number, unique in the suite

    suite.yaml:14:23: `tags` is text or a list of texts
       |
    14 |   - {id: x, input: a, tags: {a: b}}
       |                       ^^^^ cases[5].tags

    hint: for example `["arithmetic", "easy"]`

    5 problems
    "#);
}

#[test]
fn duplicate_ids_inline_and_in_a_file() {
    let suite = format!("{GOOD}  - {{id: \"7\", input: x}}\ndatasets: [{{path: d.jsonl}}]\n");
    let suite = suite.replace("equals: {}", "equals: {value: x}");
    let rows =
        "{\"id\":\"b\",\"input\":\"1\"}\n{\"id\": 7, \"input\":\"2\"}\n{\"id\":\"b\",\"input\":\"3\"}\n";
    insta::assert_snapshot!(Lab::new(&suite).file("d.jsonl", rows).refused(), @r#"
    d.jsonl:2:8: duplicate case id `7`
       |
     2 | {"id": 7, "input":"2"}
       |        ^
      ::: suite.yaml:10:10
       |
    10 |   - {id: "7", input: x}
       |          ^^^ first here

    hint: a case's id is unique in the suite

    d.jsonl:3:7: duplicate case id `b`
      |
    3 | {"id":"b","input":"3"}
      |       ^^^
      |
    1 | {"id":"b","input":"1"}
      |       ^^^ first here

    hint: a case's id is unique in the suite

    2 problems
    "#);
}

#[test]
fn judge_without_anything_to_compare_with() {
    let rows = "{\"id\":\"a\",\"input\":\"1\"}\n{\"id\":\"b\",\"input\":\"2\",\"judges\":[\"exact\"],\"expected\":null}\n";
    let suite = format!(
        "{GOOD}  - {{id: c, input: x}}\ndatasets: [{{path: d.jsonl, fields: {{expected: answer}}}}]\n"
    );
    insta::assert_snapshot!(Lab::new(&suite).file("d.jsonl", rows).refused(), @r#"
    suite.yaml:10:5: judge `exact` needs `expected`, which this case does not have
       |
    10 |   - {id: c, input: x}
       |     ^ cases[1]

    hint: add `expected`, or let `judges` name the judges that do without it

    d.jsonl:1:1: judge `exact` needs `answer`, which this case does not have
      |
    1 | {"id":"a","input":"1"}
      | ^
      = and 1 more row

    hint: add `answer`, or let `judges` name the judges that do without it

    2 problems
    "#);
}

#[test]
fn judge_that_is_an_empty_map() {
    let said = refused(&GOOD.replace("{equals: {}}", "{}"));
    // How many more there are is not pinned here: a new judge is nobody's business but its own.
    let (first, _) = said.split_once(", `regex`").expect("judges are listed in the order of their table");
    insta::assert_snapshot!(first, @r"
    suite.yaml:7:3: expected one key, found none
      |
    7 |   exact: {}
      |   ^^^^^ judges.exact

    hint: write one of `equals`, `contains`
    ");
}

#[test]
fn case_is_not_a_map() {
    insta::assert_snapshot!(refused(&GOOD.replace("- {id: add-1, input: \"2 + 2\", expected: \"4\"}", "- just text")), @r"
    suite.yaml:9:5: expected a map of the case's fields, found the text `just text`
      |
    9 |   - just text
      |     ^^^^^^^^^ cases[0]
    ");
}

#[test]
fn values_without_a_json_form() {
    insta::assert_snapshot!(refused(&GOOD.replace("\"2 + 2\"", ".nan, a: {b: [1, -.inf]}, c: 9007199254740993, d: 12345678901234567890123")), @r#"
    suite.yaml:9:24: NaN is not a number that JSON can hold
      |
    9 |   - {id: add-1, input: .nan, a: {b: [1, -.inf]}, c: 9007199254740993, d: 12345678901234567890123, ex…
      |                        ^^^^ cases[0].input

    hint: write null, or put it in quotes

    suite.yaml:9:41: minus infinity is not a number that JSON can hold
      |
    9 |   - {id: add-1, input: .nan, a: {b: [1, -.inf]}, c: 9007199254740993, d: 12345678901234567890123, ex…
      |                                         ^^^^^ cases[0].a.b[1]

    hint: write null, or put it in quotes

    suite.yaml:9:53: integer `9007199254740993` is beyond 2^53 and would be rounded
      |
    9 |   - {id: add-1, input: .nan, a: {b: [1, -.inf]}, c: 9007199254740993, d: 12345678901234567890123, ex…
      |                                                     ^^^^^^^^^^^^^^^^ cases[0].c

    hint: put it in quotes: "9007199254740993"

    suite.yaml:9:74: integer `12345678901234567890123` is beyond 2^53 and would be rounded
      |
    9 |   - {id: add-1, input: .nan, a: {b: [1, -.inf]}, c: 9007199254740993, d: 12345678901234567890123, ex…
      |                                                                          ^^^^^^^^^^^^^^^^^^^^^^^ cases[0].d

    hint: put it in quotes: "12345678901234567890123"

    4 problems
    "#);
}

#[test]
fn keys_that_are_not_text() {
    insta::assert_snapshot!(refused(&GOOD.replace("expected: \"4\"", "1: one")), @r#"
    suite.yaml:9:33: a key is text, found `1`
      |
    9 |   - {id: add-1, input: "2 + 2", 1: one}
      |                                 ^ cases[0]

    hint: put it in quotes: `"1":`
    "#);
}

#[test]
fn tabs() {
    insta::assert_snapshot!(refused(&GOOD.replace("  steady:\n", "\tsteady:\n")), @r"
    suite.yaml:4:1: a tab where YAML wants spaces
      |
    4 | →steady:
      | ^ targets

    hint: indent with spaces; YAML does not allow tabs there
    ");
}

#[test]
fn unclosed_quote() {
    insta::assert_snapshot!(refused(&GOOD.replace("\"2 + 2\"", "\"2 + 2")), @r#"
    suite.yaml:9:43: invalid trailing content after double-quoted scalar
      |
    9 |   - {id: add-1, input: "2 + 2, expected: "4"}
      |                                           ^ cases

    hint: check that every quote is closed
    "#);
}

#[test]
fn unknown_alias() {
    insta::assert_snapshot!(refused(&GOOD.replace("\"2 + 2\"", "*two")), @r#"
    suite.yaml:9:24: alias `*two` has no anchor
      |
    9 |   - {id: add-1, input: *two, expected: "4"}
      |                        ^^^^ cases[0].input

    hint: write `&two` before the value that it repeats, above this line
    "#);
}

#[test]
fn unknown_tag() {
    insta::assert_snapshot!(refused(&GOOD.replace("\"2 + 2\"", "!python/object x")), @r#"
    suite.yaml:9:39: tag `!python/object` does not fit here
      |
    9 |   - {id: add-1, input: !python/object x, expected: "4"}
      |                                       ^ cases[0].input

    hint: remove the tag; suites and datasets hold plain values
    "#);
}

#[test]
fn two_documents() {
    insta::assert_snapshot!(refused(&GOOD.replace("cases:", "---\ncases:")), @r"
    suite.yaml:8:1: a second document
      |
    8 | ---
      | ^^^

    hint: one file holds one document; remove what follows `---`
    ");
}

#[test]
fn alias_bomb() {
    let mut suite = GOOD.replace("cases:", "description: x\ncases:");
    suite.push_str("    a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..8 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        suite.push_str(&format!("    a{level}: &a{level} [{items}]\n"));
    }
    let suite = suite
        .replace("  - {id: add-1, input: \"2 + 2\", expected: \"4\"}\n", "  - id: add-1\n    input: x\n");
    insta::assert_snapshot!(refused(&suite), @r"
    suite.yaml:17:49: more than 1000000 values, aliases expanded
       |
    17 |     a5: &a5 [*a4, *a4, *a4, *a4, *a4, *a4, *a4, *a4, *a4, *a4]
       |                                                 ^^^ cases[0].a5[7]

    hint: move cases to a dataset file, and check what `&` and `*` repeat
    ");
}

#[test]
fn invalid_utf8_in_the_suite() {
    let lab = Lab::new("").file("suite.yaml", b"kind: probe\ntitle: caf\xe9 noir\n");
    insta::assert_snapshot!(lab.refused(), @r"
    suite.yaml:2:11: invalid UTF-8
      |
    2 | title: caf� noir
      |           ^

    hint: save the file as UTF-8
    ");
}
