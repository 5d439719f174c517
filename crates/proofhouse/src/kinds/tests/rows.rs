//! What rows become: formats, fields, limits, and what happens when a file changes.

use std::io::Write;

use proofhouse_ledger::{Digest, Json};

use super::{GOOD, Lab, WITH_DATA};
use crate::kinds::probe::{Primary, Probe};
use crate::spine::run::job::SuiteBody as _;
use crate::spine::suite::{Case, Code, Format, Overrides};

fn gz(content: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// The suite with one dataset, and that file.
fn data(name: &str, content: impl AsRef<[u8]>) -> Lab {
    Lab::new(&WITH_DATA.replace("x.jsonl", name)).file(&format!("data/{name}"), content)
}

#[test]
fn defaults_are_applied() {
    let loaded = Lab::new(GOOD).loaded();
    let suite = &loaded.suite;
    assert_eq!(
        (suite.seed, loaded.body_as::<Probe>().unwrap().repetitions, suite.timeout_ms),
        (0, 1, 60_000)
    );
    assert!(suite.determinism.strict_serialization && suite.determinism.deterministic_artifacts);
    assert_eq!(
        (
            loaded.body_as::<Probe>().unwrap().scoring.threshold,
            loaded.body_as::<Probe>().unwrap().scoring.primary
        ),
        (1.0, Primary::Judge(0))
    );
    assert_eq!(loaded.case_count, 1);
    let case = &Lab::new(GOOD).cases()[0];
    assert_eq!((case.id.as_str(), &*case.input(), &case.expected), ("add-1", "2 + 2", &Json::from("4")));
    assert_eq!((case.tags.len(), &case.judges), (0, &None));
}

#[test]
fn every_format_gives_the_same_cases() {
    let jsonl = "{\"id\":\"a\",\"input\":\"x, y\",\"expected\":\"1\",\"tags\":[\"t\",\"u\"],\"judges\":\"exact\"}\n\n{\"id\":\"b\",\"input\":\"z\"}";
    let csv = "id,input,expected,tags,judges\r\na,\"x, y\",1,t; u,exact\r\nb,z,,,\r\n";
    let json = "[{\"id\":\"a\",\"input\":\"x, y\",\"expected\":\"1\",\"tags\":[\"t\",\"u\"],\"judges\":[\"exact\"]},\n {\"id\":\"b\",\"input\":\"z\"}]";
    let yaml =
        "- id: a\n  input: x, y\n  expected: '1'\n  tags: [t, u]\n  judges: exact\n- {id: b, input: z}\n";
    let expected = data("x.jsonl", jsonl).cases();
    assert_eq!(expected[0].tags, ["t", "u"]);
    assert_eq!(expected[0].judges, Some(vec![0]));
    // The rows may be the only list of an object.
    let inside = &format!("{{\"about\": {{\"n\": [1, \"}}]\"]}}, \"examples\" : {json}, \"v\": 2}}\n");
    for (name, content) in
        [("x.json", json), ("x.json", inside), ("x.yaml", yaml), ("x.yml", yaml), ("x.ndjson", jsonl)]
    {
        assert_eq!(data(name, content).cases(), expected, "{name}");
        assert_eq!(data(&format!("{name}.gz"), gz(content)).cases(), expected, "{name}.gz");
        assert_eq!(
            data(name, format!("\u{feff}{content}")).cases(),
            expected,
            "{name} with a byte order mark"
        );
        assert_eq!(data(name, content.replace('\n', "\r\n")).cases(), expected, "{name} with CRLF");
    }
    for bytes in [csv.as_bytes().to_vec(), format!("\u{feff}{csv}").into_bytes()] {
        let cases = data("x.csv", bytes).cases();
        assert_eq!(cases[0], expected[0]);
        assert_eq!(
            (cases[1].id.as_str(), &cases[1].expected),
            ("b", &Json::from("")),
            "an empty cell is empty text"
        );
    }
}

#[test]
fn cases_come_before_datasets_and_fields_can_be_renamed() {
    let suite = format!(
        "{}datasets:\n  - path: d.csv\n    fields: {{id: task_id, input: question, expected: answer, tags: topics}}\n",
        GOOD.replace("cases:", "prompt: 'Q: {input} ({level}) {{}}'\ncases:")
            .replace("input:", "level: 3, input:")
    );
    let cases = Lab::new(&suite)
        .file("d.csv", "task_id,question,answer,topics,level\n1,why?,because,a;b,hard\n")
        .cases();
    let inputs: Vec<_> = cases.iter().map(Case::input).collect();
    let shown: Vec<_> = cases.iter().zip(&inputs).map(|(case, input)| (case.id.as_str(), &**input)).collect();
    assert_eq!(shown, [("add-1", "Q: 2 + 2 (3) {}"), ("1", "Q: why? (hard) {}")]);
    assert_eq!((&cases[1].expected, cases[1].tags.join("+")), (&Json::from("because"), "a+b".to_owned()));
}

#[test]
fn structures_are_canonical_json_inside_a_prompt() {
    let suite = GOOD.replace("\"2 + 2\"", "{b: [1, 2.50, true], a: ü}");
    assert_eq!(Lab::new(&suite).cases()[0].input(), r#"{"a":"ü","b":[1,2.5,true]}"#);
}

#[test]
fn block_scalars_are_kept_as_yaml_says() {
    let suite = GOOD.replace(
        "  - {id: add-1, input: \"2 + 2\", expected: \"4\"}\n",
        "  - id: a\n    input: |\n      two\n      lines\n  - id: b\n    input: >\n      one\n      line\n  - id: c\n    input: |-\n      bare\n",
    );
    let suite = suite.replace("equals: {}", "equals: {value: x}");
    for suite in [suite.clone(), suite.replace('\n', "\r\n")] {
        let inputs: Vec<_> =
            Lab::new(&suite).cases().into_iter().map(|case| case.input().into_owned()).collect();
        assert_eq!(inputs, ["two\nlines\n", "one line\n", "bare"]);
    }
}

#[test]
fn anchors_and_merges_are_expanded() {
    let suite = GOOD.replace(
        "  - {id: add-1, input: \"2 + 2\", expected: \"4\"}\n",
        "  - &first {id: a, input: x, expected: 1}\n  - {<<: *first, id: b}\n  - {id: c, <<: [{input: y}, *first]}\n",
    );
    let shown: Vec<_> = Lab::new(&suite)
        .cases()
        .into_iter()
        .map(|case| (case.id.clone(), case.input().into_owned(), case.expected))
        .collect();
    let case = |id: &str, input: &str| (id.to_owned(), input.to_owned(), Json::Number(1.0));
    assert_eq!(shown, [case("a", "x"), case("b", "x"), case("c", "y")]);
}

#[test]
fn a_limit_cuts_the_stream_and_not_the_check() {
    let lab = data("x.jsonl", "{\"id\":\"a\",\"input\":\"1\"}\n{\"id\":\"b\",\"input\":\"2\"}\n");
    let limited = lab.load_with(&Overrides { limit: Some(1), ..Overrides::default() }).unwrap();
    assert_eq!(limited.case_count, 1);
    assert_eq!(limited.datasets[0].rows, 2);
    assert_eq!(
        limited.body_as::<Probe>().unwrap().cases().map(|case| case.unwrap().id).collect::<Vec<_>>(),
        ["a"]
    );
    let generous = lab.load_with(&Overrides { limit: Some(9), ..Overrides::default() }).unwrap();
    assert_eq!(generous.case_count, 2);
}

#[test]
fn lenient_mode_keeps_large_integers_as_text_and_says_so() {
    let rows = "{\"id\":\"a\",\"input\":1,\"expected\":12345678901234567890}\n{\"id\":\"b\",\"input\":2}\n";
    let lenient = Overrides { strict_serialization: Some(false), ..Overrides::default() };
    let suite = format!("{WITH_DATA}cases: [{{id: c, input: 9007199254740993}}]\n");
    let lab = Lab::new(&suite).file("data/x.jsonl", rows);
    assert_eq!(lab.load().unwrap_err().first_code(), Code::NotCanonical);
    let loaded = lab.load_with(&lenient).unwrap();
    assert!(!loaded.suite.determinism.deterministic_artifacts, "it follows strict_serialization");
    let shown = loaded.warnings.join("\n").replace(&format!("{}/", lab.root()), "");
    insta::assert_snapshot!(shown, @r"
    suite.yaml:10:24: integer `9007199254740993` is beyond 2^53 and would be rounded; kept as text in `cases[0].input`
    data/x.jsonl:1:32: integer 12345678901234567890 is beyond 2^53 and would be rounded; kept as text in `expected`
    ");
    let cases: Vec<_> = loaded.body_as::<Probe>().unwrap().cases().map(Result::unwrap).collect();
    assert_eq!(cases[0].input(), "9007199254740993");
    assert_eq!(cases[1].expected, Json::from("12345678901234567890"));
    let written = suite.replace("kind: probe", "kind: probe\ndeterminism: {strict_serialization: false}");
    assert_eq!(Lab::new(&written).file("data/x.jsonl", rows).loaded().warnings.len(), 2);
}

#[test]
fn many_warnings_are_counted() {
    let rows: String = (0..30).map(|i| format!("{{\"id\":{i},\"input\":12345678901234567890}}\n")).collect();
    let lenient = Overrides { strict_serialization: Some(false), ..Overrides::default() };
    let warnings = data("x.jsonl", rows).load_with(&lenient).unwrap().warnings.clone();
    assert_eq!(warnings.len(), 22, "and one says that all cases ask the same");
    assert_eq!(warnings[20], "10 more rows have integers beyond 2^53, kept as text");
}

#[test]
fn overrides_win() {
    let suite = GOOD.replace(
        "cases:",
        "seed: 1\ndeterminism: {strict_serialization: true, deterministic_artifacts: false}\ncases:",
    );
    let lab = Lab::new(&suite);
    assert!(!lab.loaded().suite.determinism.deterministic_artifacts);
    let overrides = Overrides { seed: Some(9), deterministic_artifacts: Some(true), ..Overrides::default() };
    let suite = lab.load_with(&overrides).unwrap().suite.clone();
    assert_eq!((suite.seed, suite.determinism.deterministic_artifacts), (9, true));
}

#[test]
fn a_data_root_replaces_the_suites_directory() {
    let lab = Lab::new(WITH_DATA).file("elsewhere/data/x.jsonl", "{\"id\":\"a\",\"input\":\"1\"}\n");
    let overrides = Overrides { data_root: Some(lab.path("elsewhere")), ..Overrides::default() };
    let loaded = lab.load_with(&overrides).unwrap();
    assert_eq!((loaded.datasets[0].path.as_str(), loaded.datasets[0].rows), ("data/x.jsonl", 1));
    assert_eq!(loaded.datasets[0].format, Format::Jsonl);
}

#[test]
fn a_hash_is_of_the_bytes_on_disk() {
    let content = gz("{\"id\":\"a\",\"input\":\"1\"}\n");
    let digest = Digest::of(&content);
    let suite = WITH_DATA.replace("x.jsonl", &format!("x.jsonl.gz\n    sha256: {}", digest.prefixed()));
    assert_eq!(Lab::new(&suite).file("data/x.jsonl.gz", content).loaded().datasets[0].sha256, digest);
}

#[test]
fn a_change_between_the_passes_is_noticed() {
    let lab = data("x.jsonl", "{\"id\":\"a\",\"input\":\"1\"}\n{\"id\":\"b\",\"input\":\"2\"}\n");
    let loaded = lab.loaded();
    let changes = [
        "{\"id\":\"a\",\"input\":\"1\"}\n{\"id\":\"b\",\"input\":\"3\"}\n",
        "{\"id\":\"a\"}\n",
        "{\"id\":\"a\",\"input\":\"1\"}\n",
        "nonsense",
    ];
    let lab = changes.into_iter().fold(lab, |lab, change| {
        let lab = lab.file("data/x.jsonl", change);
        let error = loaded.body_as::<Probe>().unwrap().cases().find_map(Result::err).expect(change);
        assert_eq!(error.first_code(), Code::Changed, "{change}");
        lab
    });
    let problems = loaded.body_as::<Probe>().unwrap().cases().find_map(Result::err).unwrap();
    insta::assert_snapshot!(lab.shown(&problems), @r"
    data/x.jsonl: the dataset changed while it was read

    hint: run again; every trial so far used the rows that were there before

    data/x.jsonl:1:1: expected a JSON value
      |
    1 | nonsense
      | ^^^^^^^^

    hint: check that the row is JSON: double quotes, no comma at the end, no comments

    2 problems
    ");
    assert_eq!(
        loaded.body_as::<Probe>().unwrap().cases().filter(Result::is_err).count(),
        1,
        "a stream ends with its first error"
    );
    std::fs::remove_file(lab.path("data/x.jsonl")).unwrap();
    assert_eq!(
        loaded.body_as::<Probe>().unwrap().cases().find_map(Result::err).unwrap().first_code(),
        Code::Unreadable
    );
}

#[test]
fn a_change_behind_the_limit_is_noticed_too() {
    let lab = data("x.jsonl", "{\"id\":\"a\",\"input\":\"1\"}\n{\"id\":\"b\",\"input\":\"2\"}\n");
    let loaded = lab.load_with(&Overrides { limit: Some(1), ..Overrides::default() }).unwrap();
    let _lab = lab.file("data/x.jsonl", "{\"id\":\"a\",\"input\":\"1\"}\n{\"id\":\"b\",\"input\":\"3\"}\n");
    let results: Vec<_> = loaded.body_as::<Probe>().unwrap().cases().collect();
    assert!(results[0].is_ok());
    assert_eq!(results[1].as_ref().unwrap_err().first_code(), Code::Changed);
}

#[test]
fn a_packed_bomb_stops_at_the_line_limit() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let zeros = vec![b' '; 1 << 20];
    (0..64).for_each(|_| encoder.write_all(&zeros).unwrap());
    let problems = data("x.jsonl.gz", encoder.finish().unwrap()).load().unwrap_err();
    assert_eq!(problems.first_code(), Code::TooLarge);
}

#[test]
fn json_elements_are_found_across_buffers() {
    let long = "ä\\\"]},{".repeat(40_000);
    let rows: Vec<String> =
        (0..3).map(|i| format!("{{\"id\": {i}, \"input\": \"{long}\", \"x\": [[{{}}]]}}")).collect();
    let cases = data("x.json", format!("[ {} ]\n", rows.join(" ,\n"))).cases();
    assert_eq!(cases.len(), 3);
    assert_eq!(cases[2].input(), long.replace("\\\"", "\""));
}

#[test]
fn colliding_fingerprints_would_be_looked_at_twice() {
    let rows: String = (0..5000).map(|i| format!("{{\"id\":\"case-{i}\",\"input\":\"x\"}}\n")).collect();
    assert_eq!(data("x.jsonl", &rows).loaded().case_count, 5000);
    let problems =
        data("x.jsonl", format!("{rows}{{\"id\":\"case-17\",\"input\":\"x\"}}\n")).load().unwrap_err();
    let problem = problems.iter().next().unwrap();
    assert_eq!((problem.code, problem.place.line), (Code::DuplicateCase, 5001));
    assert_eq!(problem.also.as_ref().map(|also| also.1.line), Some(18));
}

/// Suites whose cases can be passed over without making them, in part, and not at all.
#[test]
fn a_plan_that_is_entered_anywhere_is_the_plan_that_is_gone_through() {
    let rows = "\u{feff}{\"id\":\"a\",\"input\":\"1\"}\n\n{\"id\":\"b\",\"input\":\"2\"}\n{\"id\":\"c\",\"input\":\"3\"}\n";
    let base = WITH_DATA.replace("  steady:", "  other: {scripted: {}}\n  steady:");
    let more = "cases: [{id: x, input: '8'}, {id: y, input: '9'}]\nrepetitions: 2\n";
    let twice = "  - path: data/x.jsonl\n  - path: data/y.csv\n  - path: data/z.jsonl\n";
    let table = [
        base.clone(),
        format!("{base}{more}"),
        base.replace("  - path: data/x.jsonl\n", twice) + more,
        format!("{base}    where: \"input != '2'\"\n"),
        format!("{base}    fields: {{id: input}}\n"),
        format!("{base}vary: [{{generator: whitespace_noise, count: 2}}]\n"),
        base.replace("data/x.jsonl", "data/nameless.jsonl") + more,
    ];
    for suite in table {
        let lab = Lab::new(&suite)
            .file("data/x.jsonl", rows)
            .file("data/y.csv", "id,input\nd,4\ne,5\n")
            .file("data/z.jsonl", "{\"id\":\"f\",\"input\":\"6\"}\n{\"id\":\"g\",\"input\":\"7\"}")
            .file("data/nameless.jsonl", "{\"input\":\"1\"}\n{\"input\":\"2\"}\n{\"input\":\"1\"}\n");
        let loaded = lab.loaded();
        let plan =
            || loaded.body_as::<Probe>().unwrap().plan(&loaded.suite).map(|trial| format!("{trial:?}"));
        let all: Vec<String> = plan().collect();
        assert_eq!(all.len() as u64, loaded.trial_count, "{suite}");
        for at in 0..=all.len() {
            let mut entered = loaded.body_as::<Probe>().unwrap().plan(&loaded.suite);
            let first = entered.nth(at).map(|trial| format!("{trial:?}"));
            assert_eq!(first.as_ref(), all.get(at), "{at} of {suite}");
            let rest: Vec<String> = entered.map(|trial| format!("{trial:?}")).collect();
            assert_eq!(rest, all[all.len().min(at + 1)..], "{at} of {suite}");
        }
    }
    let lab = Lab::new(&base).file("data/x.jsonl", rows);
    let loaded = lab.loaded();
    std::fs::write(lab.path("data/x.jsonl"), rows.replace('3', "4")).unwrap();
    let rest: Vec<_> = {
        let mut entered = loaded.body_as::<Probe>().unwrap().plan(&loaded.suite);
        assert!(entered.nth(1).unwrap().is_ok());
        entered.collect()
    };
    assert!(rest.last().unwrap().is_err(), "rows that were passed over count for the file's digest");
}
