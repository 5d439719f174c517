//! Every message that a wrong dataset gives, as the user sees it.

use super::{GOOD, Lab, Overrides, WITH_DATA, refused_rows};

/// The message when the suite names one file and another one is there.
fn refused_rows_named(asked: &str, there: &str) -> String {
    Lab::new(&WITH_DATA.replace("x.jsonl", asked)).file(there, "{}").refused()
}

#[test]
fn missing_dataset_near_another() {
    insta::assert_snapshot!(refused_rows_named("x.jsonl", "data/y.jsonl"), @r"
    suite.yaml:9:11: there is no file `data/x.jsonl`
      |
    9 |   - path: data/x.jsonl
      |           ^^^^^^^^^^^^ datasets[0].path

    hint: did you mean `data/y.jsonl`?
    ");
}

#[test]
fn missing_dataset_folder() {
    insta::assert_snapshot!(Lab::new(WITH_DATA).refused(), @r"
    suite.yaml:9:11: there is no file `data/x.jsonl`
      |
    9 |   - path: data/x.jsonl
      |           ^^^^^^^^^^^^ datasets[0].path

    hint: paths are relative to the suite: `data` is empty or not there
    ");
}

#[test]
fn wrong_dataset_hash() {
    let digest = "sha256:0000000000000000000000000000000000000000000000000000000000000000";
    let suite = format!("{WITH_DATA}    sha256: {digest}\n");
    insta::assert_snapshot!(Lab::new(&suite).file("data/x.jsonl", "{\"id\":\"a\",\"input\":\"b\"}\n").refused(), @r"
    suite.yaml:10:13: `data/x.jsonl` is not the file that the suite names
       |
    10 |     sha256: sha256:0000000000000000000000000000000000000000000000000000000000000000
       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ datasets[0].sha256
       = the suite says sha256:0000000000000000000000000000000000000000000000000000000000000000
       = the file has   sha256:f43fa2589c796aa598e9412a22a0d470dc19dd37efb4d8ab6475c969aa9ded50

    hint: restore the file, or write its digest if the change is meant
    ");
}

#[test]
fn malformed_dataset_hash() {
    let suite = format!("{WITH_DATA}    sha256: md5:abc\n");
    insta::assert_snapshot!(Lab::new(&suite).file("data/x.jsonl", "{\"id\":\"a\",\"input\":\"b\"}\n").refused(), @r"
    suite.yaml:10:13: `md5:abc` is not a SHA-256 digest (64 lowercase hexadecimal digits, `sha256:` before them is allowed)
       |
    10 |     sha256: md5:abc
       |             ^^^^^^^ datasets[0].sha256

    hint: `sha256sum data/x.jsonl` prints it
    ");
}

#[test]
fn unclear_format() {
    insta::assert_snapshot!(refused_rows("x.txt", "a"), @r"
    suite.yaml:9:11: the format of `data/x.txt` is not clear from its name
      |
    9 |   - path: data/x.txt
      |           ^^^^^^^^^^ datasets[0].path

    hint: add `format: jsonl`, `csv`, `json`, `yaml` or `toml`
    ");
}

#[test]
fn unknown_format() {
    let suite = format!("{WITH_DATA}    format: jsonlines\n");
    insta::assert_snapshot!(Lab::new(&suite).file("data/x.jsonl", "").refused(), @r"
    suite.yaml:10:13: unknown value `jsonlines`
       |
    10 |     format: jsonlines
       |             ^^^^^^^^^ datasets[0].format

    hint: did you mean `jsonl`?
    ");
}

#[test]
fn paths_that_escape() {
    let suite = WITH_DATA.replace("data/x.jsonl", "/etc/passwd\n    format: jsonl\n  - path: data/../../x.jsonl\n  - path: link.jsonl\n  - path: \"\"\n    format: csv");
    let outside = tempfile::NamedTempFile::new().unwrap();
    let lab = Lab::new(&suite).file("data/y.jsonl", "");
    std::os::unix::fs::symlink(outside.path(), lab.path("link.jsonl")).unwrap();
    insta::assert_snapshot!(lab.refused(), @r#"
    suite.yaml:9:11: `/etc/passwd` is an absolute path
      |
    9 |   - path: /etc/passwd
      |           ^^^^^^^^^^^ datasets[0].path

    hint: datasets lie below the suite's directory; move the file there, or give another root with `--data-root`

    suite.yaml:11:11: `data/../../x.jsonl` leaves the suite's directory
       |
    11 |   - path: data/../../x.jsonl
       |           ^^^^^^^^^^^^^^^^^^ datasets[1].path

    hint: datasets lie below the suite's directory; move the file there, or give another root with `--data-root`

    suite.yaml:12:11: `link.jsonl` is a link that leaves the suite's directory
       |
    12 |   - path: link.jsonl
       |           ^^^^^^^^^^ datasets[2].path

    hint: datasets lie below the suite's directory; move the file there, or give another root with `--data-root`

    suite.yaml:13:11: the path is empty
       |
    13 |   - path: ""
       |           ^^ datasets[3].path

    hint: write the file's path, relative to the suite

    4 problems
    "#);
}

#[test]
fn dataset_is_a_folder() {
    let suite = WITH_DATA.replace("data/x.jsonl", "data\n    format: jsonl");
    insta::assert_snapshot!(Lab::new(&suite).file("data/y.jsonl", "").refused(), @r"
    suite.yaml:9:11: `data` is not a file
      |
    9 |   - path: data
      |           ^^^^ datasets[0].path

    hint: name one file; list several datasets one by one
    ");
}

#[test]
fn empty_datasets() {
    let suite = format!("{WITH_DATA}  - path: data/y.csv\n  - path: data/z.json\n  - path: data/w.yaml\n");
    let lab = Lab::new(&suite).file("data/x.jsonl", "\n\n").file("data/y.csv", "id,input\n");
    insta::assert_snapshot!(lab.file("data/z.json", " [ ]\n").file("data/w.yaml", "# none\n").refused(), @r"
    suite.yaml:9:11: `data/x.jsonl` has no rows
      |
    9 |   - path: data/x.jsonl
      |           ^^^^^^^^^^^^ datasets[0].path

    hint: take it out, or check that it was written to its end

    suite.yaml:10:11: `data/y.csv` has no rows
       |
    10 |   - path: data/y.csv
       |           ^^^^^^^^^^ datasets[1].path

    hint: take it out, or check that it was written to its end

    suite.yaml:11:11: `data/z.json` has no rows
       |
    11 |   - path: data/z.json
       |           ^^^^^^^^^^^ datasets[2].path

    hint: take it out, or check that it was written to its end

    suite.yaml:12:11: `data/w.yaml` has no rows
       |
    12 |   - path: data/w.yaml
       |           ^^^^^^^^^^^ datasets[3].path

    hint: take it out, or check that it was written to its end

    4 problems
    ");
}

#[test]
fn rows_without_a_json_form() {
    let rows = [
        r#"{"id":"a","input":NaN}"#,
        r#"{"id":"b","input":{"x":[1,-Infinity]}}"#,
        r#"{"id":"c","input":{"n":12345678901234567890}}"#,
        r#"{"id":"d","input":"\ud800 alone"}"#,
        r#"{"id":"e","input":"x","id":"f"}"#,
        r#"{"id":"g","input":1e999}"#,
    ];
    insta::assert_snapshot!(refused_rows("x.jsonl", rows.join("\n")), @r#"
    data/x.jsonl:1:19: `NaN` and `Infinity` are not JSON
      |
    1 | {"id":"a","input":NaN}
      |                   ^^^ input

    hint: JSON has no such number; write null, or text in double quotes

    data/x.jsonl:2:27: `-Infinity` is not JSON
      |
    2 | {"id":"b","input":{"x":[1,-Infinity]}}
      |                           ^^^^^^^^^ input.x[1]

    hint: JSON has no such number; write null, or text in double quotes

    data/x.jsonl:3:24: integer 12345678901234567890 is beyond 2^53 and would be rounded
      |
    3 | {"id":"c","input":{"n":12345678901234567890}}
      |                        ^^^^^^^^^^^^^^^^^^^^ input.n

    hint: write it as text in double quotes, or let `determinism: {strict_serialization: false}` do so

    data/x.jsonl:4:20: lone surrogate in a string
      |
    4 | {"id":"d","input":"\ud800 alone"}
      |                    ^^^^^^ input

    hint: a character beyond U+FFFF is two escapes in a row: `\ud83d\ude00`

    data/x.jsonl:5:23: duplicate key `id`
      |
    5 | {"id":"e","input":"x","id":"f"}
      |                       ^^^^ id

    hint: keep one of the two

    data/x.jsonl:6:19: number `1e999` is too large
      |
    6 | {"id":"g","input":1e999}
      |                   ^^^^^ input

    hint: JSON has no such number; write null, or text in double quotes

    6 problems
    "#);
}

#[test]
fn rows_with_broken_json() {
    let rows = [
        "{'id': 1}",
        r#"{"id":"a","input":"x",}"#,
        "[1]",
        "12",
        r#"{"id":"a","input":"x"} {}"#,
        r#"{"id":"a"#,
    ];
    insta::assert_snapshot!(refused_rows("x.jsonl", rows.join("\n")), @r#"
    data/x.jsonl:1:2: expected a key in double quotes
      |
    1 | {'id': 1}
      |  ^

    hint: check that the row is JSON: double quotes, no comma at the end, no comments

    data/x.jsonl:2:23: expected a key in double quotes
      |
    2 | {"id":"a","input":"x",}
      |                       ^

    hint: check that the row is JSON: double quotes, no comma at the end, no comments

    data/x.jsonl:3:1: a row is an object of fields, found an array
      |
    3 | [1]
      | ^^^

    hint: write `{"id": …, "input": …}`

    data/x.jsonl:4:1: a row is an object of fields, found a number
      |
    4 | 12
      | ^^

    hint: write `{"id": …, "input": …}`

    data/x.jsonl:5:24: unexpected text after the value
      |
    5 | {"id":"a","input":"x"} {}
      |                        ^

    hint: check that the row is JSON: double quotes, no comma at the end, no comments

    data/x.jsonl:6:9: string without an end
      |
    6 | {"id":"a
      |         ^ id

    hint: check that the row is JSON: double quotes, no comma at the end, no comments

    6 problems
    "#);
}

#[test]
fn rows_with_invalid_utf8() {
    insta::assert_snapshot!(refused_rows("x.jsonl", b"{\"id\":\"a\",\"input\":\"caf\xe9\"}\n"), @r#"
    data/x.jsonl:1:23: invalid UTF-8
      |
    1 | {"id":"a","input":"caf�"}
      |                       ^ input

    hint: save the file as UTF-8
    "#);
}

#[test]
fn rows_with_wrong_fields() {
    let rows = [
        r#"{"task_id":"a","input":"x"}"#,
        r#"{"id":"  ","input":"x"}"#,
        r#"{"id":"b","inptu":"x","meta":1}"#,
        r#"{"id":"c","input":"x","tags":[1]}"#,
        r#"{"id":"d","input":"x","judges":["exactly"]}"#,
        r#"{"id":true,"input":"x"}"#,
    ];
    insta::assert_snapshot!(refused_rows("x.jsonl", rows.join("\n")), @r#"
    data/x.jsonl:2:7: the id is empty
      |
    2 | {"id":"  ","input":"x"}
      |       ^^^^ id

    hint: an id is text or a whole number, unique in the suite

    data/x.jsonl:3:1: the prompt needs `{input}`, which this case does not have
      |
    3 | {"id":"b","inptu":"x","meta":1}
      | ^

    hint: did you mean `inptu`? the case's fields are `id`, `inptu`, `meta`

    data/x.jsonl:4:30: `tags` is text or a list of texts
      |
    4 | {"id":"c","input":"x","tags":[1]}
      |                              ^^^ tags

    hint: for example `["arithmetic", "easy"]`

    data/x.jsonl:5:32: no judge is named `exactly`
      |
    5 | {"id":"d","input":"x","judges":["exactly"]}
      |                                ^^^^^^^^^^^ judges

    hint: did you mean `exact`?

    data/x.jsonl:6:7: the id is `true`
      |
    6 | {"id":true,"input":"x"}
      |       ^^^^ id

    hint: an id is text or a whole number, unique in the suite

    5 problems
    "#);
}

#[test]
fn field_named_by_the_suite_is_missing() {
    let suite = format!("{WITH_DATA}    fields: {{input: question}}\n");
    insta::assert_snapshot!(Lab::new(&suite).file("data/x.jsonl", "{\"id\":\"a\",\"input\":\"b\"}\n").refused(), @r#"
    data/x.jsonl:1:1: the prompt needs `{input}` (field `question`), which this case does not have
      |
    1 | {"id":"a","input":"b"}
      | ^

    hint: the case's fields are `id`, `input`
    "#);
}

#[test]
fn csv_rows() {
    let rows = "id,input,tags\na,\"1, 2\",x\nb,too,many,fields\n,no id,\nc,x\n";
    insta::assert_snapshot!(refused_rows("x.csv", rows), @r"
    data/x.csv:3:1: 4 fields where the header has 3
      |
    3 | b,too,many,fields
      | ^^^^^^^^^^^^^^^^^

    hint: put a field that contains a comma in double quotes, and double the quotes inside it

    data/x.csv:4:1: the id is empty
      |
    4 | ,no id,
      | ^ id

    hint: an id is text or a whole number, unique in the suite

    data/x.csv:5:1: 2 fields where the header has 3
      |
    5 | c,x
      | ^^^

    hint: put a field that contains a comma in double quotes, and double the quotes inside it

    3 problems
    ");
}

#[test]
fn csv_with_invalid_utf8() {
    insta::assert_snapshot!(refused_rows("x.csv", b"id,input\na,caf\xe9\n"), @r"
    data/x.csv:2:3: invalid UTF-8
      |
    2 | a,caf�
      |   ^^^^ input

    hint: save the file as UTF-8
    ");
}

#[test]
fn csv_header_twice() {
    insta::assert_snapshot!(refused_rows("x.csv", "id,input,id\na,b,c\n"), @r"
    data/x.csv:1:10: duplicate column `id`
      |
    1 | id,input,id
      |          ^^

    hint: the first line of a csv file names each column once
    ");
}

#[test]
fn csv_quote_that_never_ends() {
    let rows = format!("id,input\na,\"{}", "x".repeat(17 << 20));
    insta::assert_snapshot!(refused_rows("x.csv", rows), @r#"
    data/x.csv:2:1: a record is longer than 16 MiB
      |
    2 | a,"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
      | ^

    hint: check that every double quote is closed
    "#);
}

#[test]
fn json_rows() {
    let rows = "[\n  {\"id\": \"a\", \"input\": \"x\"},\n  {\"id\": \"b\",\n   \"input\": 12345678901234567890},\n  3,\n  {\"id\": \"\", \"input\": 1}\n]\n";
    insta::assert_snapshot!(refused_rows("x.json", rows), @r#"
    data/x.json:4:13: integer 12345678901234567890 is beyond 2^53 and would be rounded
      |
    4 |    "input": 12345678901234567890},
      |             ^^^^^^^^^^^^^^^^^^^^ input

    hint: write it as text in double quotes, or let `determinism: {strict_serialization: false}` do so

    data/x.json:5:3: a row is an object of fields, found a number
      |
    5 |   3,
      |   ^

    hint: write `{"id": …, "input": …}`

    data/x.json:6:10: the id is empty
      |
    6 |   {"id": "", "input": 1}
      |          ^^ id

    hint: an id is text or a whole number, unique in the suite

    3 problems
    "#);
}

#[test]
fn json_that_is_no_array() {
    insta::assert_snapshot!(refused_rows("x.json", "{\"id\": \"a\"}\n{\"id\": \"b\"}\n"), @r#"
    data/x.json:1:11: the object has no list of rows
      |
    1 | {"id": "a"}
      |           ^

    hint: a `json` dataset is one array of objects: `[{"id": …}, …]`; one object per line is `format: jsonl`
    "#);
}

#[test]
fn json_whose_rows_could_be_in_two_places() {
    let text = "{\"a\": [{\"id\": \"a\", \"input\": \"b\"}],\n \"b\": [1]}\n";
    insta::assert_snapshot!(refused_rows("x.json", text), @r#"
    data/x.json:2:7: the object has two lists, and it is not clear which of them holds the rows
      |
    2 |  "b": [1]}
      |       ^

    hint: a `json` dataset is one array of objects: `[{"id": …}, …]`; one object per line is `format: jsonl`
    "#);
}

#[test]
fn json_with_a_comma_too_many() {
    insta::assert_snapshot!(refused_rows("x.json", "[\n  {\"id\": \"a\", \"input\": \"b\"},\n]\n"), @r#"
    data/x.json:3:1: a comma with nothing after it
      |
    3 | ]
      | ^

    hint: a `json` dataset is one array of objects: `[{"id": …}, …]`; one object per line is `format: jsonl`
    "#);
}

#[test]
fn json_without_an_end() {
    insta::assert_snapshot!(refused_rows("x.json", "[{\"id\": \"a\", \"input\": \"b\"}"), @r#"
    data/x.json:1:27: the array has no end
      |
    1 | [{"id": "a", "input": "b"}
      |                           ^

    hint: a `json` dataset is one array of objects: `[{"id": …}, …]`; one object per line is `format: jsonl`
    "#);
}

#[test]
fn json_with_something_behind() {
    insta::assert_snapshot!(refused_rows("x.json", "[{\"id\": \"a\", \"input\": \"b\"}] x"), @r#"
    data/x.json:1:29: unexpected text after the array
      |
    1 | [{"id": "a", "input": "b"}] x
      |                             ^

    hint: a `json` dataset is one array of objects: `[{"id": …}, …]`; one object per line is `format: jsonl`
    "#);
}

#[test]
fn yaml_rows() {
    let rows = "- {id: a, input: x}\n- {id: b, input: .nan}\n- {id: c, id: d, input: x}\n- text\n- {id: e, inputs: x}\n- {id: f, input: 9007199254740993}\n";
    insta::assert_snapshot!(refused_rows("x.yaml", rows), @r#"
    data/x.yaml:2:18: NaN is not a number that JSON can hold
      |
    2 | - {id: b, input: .nan}
      |                  ^^^^ input

    hint: write null, or put it in quotes

    data/x.yaml:3:11: duplicate key `id`
      |
    3 | - {id: c, id: d, input: x}
      |           ^^
      |
    3 | - {id: c, id: d, input: x}
      |    ^^ first here

    hint: keep one of the two

    data/x.yaml:4:3: expected a map of the case's fields, found the text `text`
      |
    4 | - text
      |   ^^^^

    data/x.yaml:5:3: the prompt needs `{input}`, which this case does not have
      |
    5 | - {id: e, inputs: x}
      |   ^

    hint: did you mean `inputs`? the case's fields are `id`, `inputs`

    data/x.yaml:6:18: integer `9007199254740993` is beyond 2^53 and would be rounded
      |
    6 | - {id: f, input: 9007199254740993}
      |                  ^^^^^^^^^^^^^^^^ input

    hint: put it in quotes: "9007199254740993"

    5 problems
    "#);
}

#[test]
fn yaml_that_is_no_list() {
    insta::assert_snapshot!(refused_rows("x.yaml", "a: 1\n"), @r"
    data/x.yaml:1:1: expected a list of cases
      |
    1 | a: 1
      | ^

    hint: begin each case with `- `
    ");
}

#[test]
fn line_too_long() {
    let rows = format!(
        "{{\"id\":\"a\",\"input\":\"x\"}}\n{{\"id\":\"b\",\"input\":\"{}\"}}\n",
        "x".repeat(17 << 20)
    );
    insta::assert_snapshot!(refused_rows("x.jsonl", rows), @r#"
    data/x.jsonl:2:1: a line is longer than 16 MiB
      |
    2 | {"id":"b","input":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
      | ^
    "#);
}

#[test]
fn broken_gz() {
    insta::assert_snapshot!(refused_rows("x.jsonl.gz", "not packed"), @"data/x.jsonl.gz: cannot be read: invalid gzip header");
}

#[test]
fn many_problems_are_cut() {
    let rows: String = (0..50).map(|n| format!("{{\"id\":[{n}]}}\n")).collect();
    let message = refused_rows("x.jsonl", rows);
    assert_eq!(message.matches("the id is `[").count(), 20);
    assert!(message.ends_with("more than 20 problems; the first 20 are shown"), "{message}");
    // One mistake of many rows is one problem.
    let rows: String = (0..50).map(|_| "{}\n").collect();
    let message = refused_rows("x.jsonl", rows);
    assert_eq!(message.matches("the prompt needs `{input}`").count(), 1, "{message}");
    assert!(message.contains("and 49 more rows"), "{message}");
}

#[test]
fn long_lines_are_cropped_around_the_caret() {
    let rows = format!(
        "{{\"id\":\"a\",\"pad\":\"{}\",\"input\":NaN,\"more\":\"{}\"}}\n",
        "ä".repeat(5000),
        "y".repeat(5000)
    );
    insta::assert_snapshot!(refused_rows("x.jsonl", rows), @r#"
    data/x.jsonl:1:5028: `NaN` and `Infinity` are not JSON
      |
    1 | …ääääääääääääääääääääääääääääääääääääääää","input":NaN,"more":"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…
      |                                                    ^^^ input

    hint: JSON has no such number; write null, or text in double quotes
    "#);
}

#[test]
fn hostile_text_stays_on_its_line() {
    let rows =
        "{\"id\":\"a\\u001b[31m\\u202e\",\"input\":\"x\"}\n{\"id\":\"\u{1b}[31m\",\"in\u{1b}put\":NaN}\n";
    insta::assert_snapshot!(refused_rows("x.jsonl", rows), @r#"
    data/x.jsonl:1:7: the id has a control character
      |
    1 | {"id":"a\u001b[31m\u202e","input":"x"}
      |       ^^^^^^^^^^^^^^^^^^^ id

    hint: an id is text or a whole number, unique in the suite

    data/x.jsonl:2:8: control character in a string
      |
    2 | {"id":"␛[31m","in␛put":NaN}
      |        ^ id

    hint: check that the row is JSON: double quotes, no comma at the end, no comments

    2 problems
    "#);
}

#[test]
fn wide_characters_keep_the_caret_in_place() {
    insta::assert_snapshot!(refused_rows("x.jsonl", "{\"id\":\"日本語\",\"input\":NaN}\n"), @r#"
    data/x.jsonl:1:21: `NaN` and `Infinity` are not JSON
      |
    1 | {"id":"日本語","input":NaN}
      |                        ^^^ input

    hint: JSON has no such number; write null, or text in double quotes
    "#);
}

#[test]
fn overrides_out_of_range() {
    let lab = Lab::new(GOOD);
    let overrides = Overrides { seed: Some(u64::MAX), limit: Some(0), ..Overrides::default() };
    insta::assert_snapshot!(lab.shown(&lab.load_with(&overrides).unwrap_err()), @r"
    command line: `--seed` is beyond 9007199254740992, which records cannot hold exactly

    hint: give a smaller seed

    command line: `--limit 0` leaves no case to run

    hint: give at least 1, or leave `--limit` out

    2 problems
    ");
}
