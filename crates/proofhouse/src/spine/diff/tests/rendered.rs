//! What people read, for a handful of runs.

use proofhouse_ledger::Json;
use proofhouse_ledger::record::Status;

use super::lab::{Lab, Row, json, lines, row, six};
use crate::spine::diff::{Report, Style, render_github, render_json, render_markdown, render_text};

/// A run with a bit of everything, some of it hostile.
fn eventful() -> Report {
    let mut rows = six();
    rows.push(Row { variant: Some("shuffled"), repetition: 2, ..row("four", "left") });
    rows.push(row("five", "left"));
    rows[2].output = json(r#"{"answer":["Paris","France"],"sure":true}"#);
    let mut changed = rows.clone();
    changed[0].output = Json::from("The answer to one is, of course, 41.");
    changed[0].scores.0 = 0.0;
    changed[0].passed = Some(false);
    changed[1].status = Status::Timeout;
    changed[1].error = Some("no answer within 30 s".to_owned());
    changed[1].output = Json::Null;
    changed[1].passed = None;
    changed[2].output = json(r#"{"answer":["Lyon","France"],"sure":true}"#);
    changed[6].output = Json::from("\u{1b}[2J```\n@everyone | <b>::error::x</b> 100 %");
    changed.remove(7);
    changed.push(row("six", "left"));
    let mut report = Lab::with(("x", &lines("x", &rows)), ("y", &lines("y", &changed))).report();
    report.a.dir = "runs/base".to_owned();
    report.b.dir = "runs/head".to_owned();
    report
}

#[test]
fn text_is_grouped_worst_first_and_ends_with_the_counts() {
    insta::assert_snapshot!(render_text(&eventful(), Style::Plain), @r#"
    A  runs/base  run 2d711642b726, 8 records
    B  runs/head  run a1fce4363854, 8 records
    different runs: run_id 2d711642b726 → a1fce4363854

    1 regression
      one  slot left, repetition 0, line 1
        /passed        true → false
        /output        The answer to one is{+, of course,+} [-42-]{+41+}.
        /scores/exact  1 → 0

    1 lost verdict
      one  slot right, repetition 0, line 2
        /passed  true → null
        /status  "success" → "timeout"
        /error   null → "no answer within 30 s"
        /output  "The answer to one is 42." → null

    1 removed trial
      five  slot left, repetition 0, line 8 of A: success, passed

    2 output changes
      two  slot left, repetition 0, line 3
        /output/answer/0  "Paris" → "Lyon"
      four  slot left, variant shuffled, repetition 2, line 7
        /output  "The answer to four is 42." → "␛[2J```⏎@everyone | <b>::error::x</b> 100 %"

    1 added trial
      six  slot left, repetition 0, line 8 of B: success, passed

    left: on cases like these, B cannot be told from A: −25.0 points (95 % interval −69.9 to +36.2) may be noise (permutation test over 4 cases, p = 1, adjusted for 2 comparisons); about 43 cases would tell with 80 % power, if they fall out like these
    right: A and B fare alike on all 2 cases; on cases like these, a difference of up to 65.8 points is not excluded
    7 common, 3 unchanged: 1 regression, 1 lost verdict, 1 removed trial, 2 output changes, 1 added trial
    "#);
}

#[test]
fn nothing_changed_is_said_briefly() {
    let rows = lines("x", &six());
    let mut report = Lab::with(("x", &rows), ("x", &rows)).report();
    (report.a.dir, report.b.dir) = ("runs/base".to_owned(), "runs/head".to_owned());
    insta::assert_snapshot!(render_text(&report, Style::Plain), @r#"
    A  runs/base  run 2d711642b726, 6 records
    B  runs/head  run 2d711642b726, 6 records

    left: A and B fare alike on all 3 cases; on cases like these, a difference of up to 56.1 points is not excluded
    right: A and B fare alike on all 3 cases; on cases like these, a difference of up to 56.1 points is not excluded
    6 common, no changes
    "#);
}

#[test]
fn damage_is_told_with_line_numbers() {
    let mut bad = lines("x", &six());
    bad[1] = bad[1]
        .replace("\"output_sha256\":\"", "\"output_sha256\":\"0")
        .replace("0\",\"passed\"", "\",\"passed\"");
    bad[3] = "garbage \u{1b}[31m".to_owned();
    let mut report = Lab::with(("x", &lines("x", &six())), ("x", &bad)).report();
    (report.a.dir, report.b.dir) = ("runs/base".to_owned(), "runs/head".to_owned());
    insta::assert_snapshot!(render_text(&report, Style::Plain), @r#"
    A  runs/base  run 2d711642b726, 6 records
    B  runs/head  run 2d711642b726, 6 records

    1 removed trial
      two  slot right, repetition 0, line 4 of A: success, passed

    1 metadata change
      one  slot right, repetition 0, line 2
        /record_sha256 of B: stored digest does not match (stored e5e86031b5d5ab98…, right is a6811cfdfd015679…)
        /output_sha256 of B: stored digest does not match (stored 059c39e172598ed1…, right is 59c39e172598ed18…)

    1 unreadable line
      line 4 of B: not a canonical JSON object (byte 0: expected `{`)

    left: A and B fare alike on all 3 cases; on cases like these, a difference of up to 56.1 points is not excluded
    right: A and B fare alike on all 2 cases; on cases like these, a difference of up to 65.8 points is not excluded
    5 common, 4 unchanged: 1 removed trial, 1 metadata change, 1 unreadable
    "#);
}

#[test]
fn colour_marks_words_without_brackets() {
    let text = render_text(&eventful(), Style::Colour);
    let (good, bad) = ("\u{1b}[32m42\u{1b}[0m", "\u{1b}[31m41\u{1b}[0m");
    assert!(text.contains(good) && text.contains(bad), "what went was right, what came is wrong: {text}");
    assert!(!text.contains("[-"));
    assert!(!text.contains("\u{1b}[2J"), "what a target printed never reaches the terminal as it is");
}

#[test]
fn markdown_is_a_comment_that_mentions_nobody() {
    insta::assert_snapshot!(render_markdown(&eventful()), @r#"
    ### proofhouse diff: 1 regression

    `runs/base` → `runs/head`

    - `different runs: run_id 2d711642b726 → a1fce4363854`

    - `left: on cases like these, B cannot be told from A: −25.0 points (95 % interval −69.9 to +36.2) may be noise (permutation test over 4 cases, p = 1, adjusted for 2 comparisons); about 43 cases would tell with 80 % power, if they fall out like these`
    - `right: A and B fare alike on all 2 cases; on cases like these, a difference of up to 65.8 points is not excluded`

    | change | records |
    |---|---:|
    | regression | 1 |
    | lost verdict | 1 |
    | removed trial | 1 |
    | output changes | 2 |
    | added trial | 1 |

    <details open><summary>1 regression</summary>

    - `one` `slot left, repetition 0, line 1`
      ```text
      /passed  true → false
      /output  The answer to one is{+, of course,+} [-42-]{+41+}.
      /scores/exact  1 → 0
      ```

    </details>

    <details><summary>1 lost verdict</summary>

    - `one` `slot right, repetition 0, line 2`
      ```text
      /passed  true → null
      /status  "success" → "timeout"
      /error  null → "no answer within 30 s"
      /output  "The answer to one is 42." → null
      ```

    </details>

    <details><summary>1 removed trial</summary>

    - `five` `slot left, repetition 0, line 8 of A: success, passed`

    </details>

    <details><summary>2 output changes</summary>

    - `two` `slot left, repetition 0, line 3`
      ```text
      /output/answer/0  "Paris" → "Lyon"
      ```
    - `four` `slot left, variant shuffled, repetition 2, line 7`
      ````text
      /output  "The answer to four is 42." → "␛[2J```⏎@everyone | <b>::error::x</b> 100 %"
      ````

    </details>

    <details><summary>1 added trial</summary>

    - `six` `slot left, repetition 0, line 8 of B: success, passed`

    </details>

    7 common, 3 unchanged: 1 regression, 1 lost verdict, 1 removed trial, 2 output changes, 1 added trial
    "#);
}

#[test]
fn annotations_are_one_line_each() {
    insta::assert_snapshot!(render_github(&eventful()), @r#"
    ::error title=regression%3A one::slot left, repetition 0, line 1%0A/passed  true → false%0A/output  The answer to one is{+, of course,+} [-42-]{+41+}.%0A/scores/exact  1 → 0
    ::error title=lost verdict%3A one::slot right, repetition 0, line 2%0A/passed  true → null%0A/status  "success" → "timeout"%0A/error  null → "no answer within 30 s"%0A/output  "The answer to one is 42." → null
    ::error title=removed trial%3A five::slot left, repetition 0, line 8 of A: success, passed
    ::notice title=proofhouse diff::7 common, 3 unchanged: 1 regression, 1 lost verdict, 1 removed trial, 2 output changes, 1 added trial. left: on cases like these, B cannot be told from A: −25.0 points (95 %25 interval −69.9 to +36.2) may be noise (permutation test over 4 cases, p = 1, adjusted for 2 comparisons); about 43 cases would tell with 80 %25 power, if they fall out like these. right: A and B fare alike on all 2 cases; on cases like these, a difference of up to 65.8 points is not excluded. different runs: run_id 2d711642b726 → a1fce4363854
    "#);
}

#[test]
fn json_is_canonical() {
    let text = render_json(&eventful());
    let value = json(text.trim_end());
    assert_eq!(format!("{value}\n"), text);
    assert_eq!(value.pointer("/counts/regression"), Some(&Json::Number(1.0)));
    assert_eq!(value.pointer("/changes/0/trial/case_id"), Some(&Json::from("one")));
}

#[test]
fn a_comment_is_never_too_long_for_a_pull_request() {
    let rows: Vec<Row> = (0..300).map(|at| row(&format!("case {at}"), "left")).collect();
    let mut changed = rows.clone();
    changed.iter_mut().for_each(|row| row.output = Json::from("é`".repeat(3_000)));
    let mut lab = Lab::with(("x", &lines("x", &rows)), ("x", &lines("x", &changed)));
    lab.options.limit = 300;
    let comment = render_markdown(&lab.report());
    assert!(comment.chars().count() < 65_000);
    assert!(comment.contains("300 output changes") && comment.contains(" more\n"));
}
