//! Every number of a report that counts records is a link, and shows as many of them as it says: a walk over the reports of all four kinds.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::lab::Lab;
use crate::sample_run::{SampleRun, sample_trials};
use crate::webdriver::{Browser, DESKTOP};

/// Where a number counts no records: section, column or element, and why. Shares, intervals, p-values, levels and the like count nothing anywhere
/// (`counts.js` knows them), and sentences of `summary.json` are given as they are; their counts stand in the table of their section.
const NO_RECORDS: [(&str, &str, &str); 9] = [
    ("verdict", "span", "the gate's sentence, as `summary.json` has it; the table below has its counts"),
    ("code", "p", "pass@k as a sentence; the tasks are a column of the table below"),
    ("code", "li", "a task that nobody answered has no record"),
    ("code", "row", "the number of wordings belongs to the name of a measure"),
    ("attacks", "p", "a replay of the attackers' own calls has no records"),
    ("heat-map", "Asked for", "wordings that could not be made were never run"),
    ("heat-map", "There are", "how many there are of them, beside what was asked for"),
    ("ladder", "Level", "the name of a level"),
    ("costs", "Input tokens", "tokens are no records; nor are those of the other columns, or dollars"),
];

/// Sentences of a summary, wherever they stand in it, and reasons why runs ended.
fn sentences(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if name.ends_with("sentence") || name == "reason" => {
                        found.insert(text.clone());
                    }
                    value => sentences(value, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| sentences(value, found)),
        _ => {}
    }
}

/// How many links of a report were followed; every one of them says what it shows.
fn walk(browser: &Browser, dir: &camino::Utf8Path) -> u64 {
    let summary = std::fs::read_to_string(dir.join("summary.json")).unwrap();
    let mut said = BTreeSet::new();
    sentences(&serde_json::from_str(&summary).unwrap(), &mut said);
    // The longest first: one may begin with another.
    let mut said: Vec<String> = said.into_iter().collect();
    said.sort_by_key(|sentence| std::cmp::Reverse(sentence.len()));
    let exceptions: Vec<Value> =
        NO_RECORDS.iter().map(|(section, place, why)| json!([section, place, why])).collect();
    browser.open(&dir.join("report.html"), "");
    let found = browser.eval_async(include_str!("counts.js"), &json!([said, exceptions]));
    let wrong: Vec<&str> = found[1].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(wrong.is_empty(), "{dir}:\n{}", wrong.join("\n"));
    assert_eq!(browser.complaints(), [""; 0], "{dir}");
    found[0].as_u64().unwrap()
}

fn dir(lab: &Lab, name: &str) -> camino::Utf8PathBuf {
    lab.path(name).try_into().unwrap()
}

#[test]
fn every_count_is_a_link_that_shows_as_many_records_as_it_says() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1");
    let Some(browser) = Browser::start(DESKTOP) else { return };
    let lab = Lab::new();
    let mut links = 0;
    for kind in ["probe", "code", "robustness", "containment"] {
        for name in ["manifest.json", "summary.json", "records.jsonl", "config.resolved.yaml"] {
            let bytes = std::fs::read(format!("{golden}/{kind}/run/{name}")).unwrap();
            lab.write(&format!("{kind}/{name}"), bytes);
        }
        lab.run(&format!("report {kind} --quiet")).exits(0);
        links += walk(&browser, &dir(&lab, kind));
    }
    assert!(links > 200, "{links} links");
}

#[test]
fn errors_and_repetitions_are_counted_by_their_records() {
    let run = SampleRun::new(&["careful", "hasty"], Some(0.8), sample_trials());
    let Some(browser) = Browser::start(DESKTOP) else { return };
    run.write_html();
    assert!(walk(&browser, &run.paths.dir) > 40);
}

#[test]
fn other_wordings_and_forms_are_counted_by_their_cases() {
    let Some(browser) = Browser::start(DESKTOP) else { return };
    let lab = Lab::new();
    lab.write(
        "varied.yaml",
        concat!(
            "kind: probe\nsuite_id: varied\nseed: 3\nrepetitions: 2\njudges: {same: {equals: {}}}\nprompt: 'What is the capital of {input}?'\n",
            "cases: [{id: f, input: France, expected: Paris}, {id: i, input: Italy, expected: Rome}]\n",
            "vary:\n  - {generator: whitespace_noise, count: 2, intensity_min: 0.05, intensity_max: 0.2}\n",
            "targets:\n  steady: {scripted: {rules: [{contains: France, reply: Paris}, {contains: Italy, reply: Rome}]}}\n",
            "  brittle: {scripted: {answers: {'What is the capital of France?': Paris, 'What is the capital of Italy?': Rome}}}\n",
        ),
    );
    lab.write("c.jsonl", crate::containment::CASES);
    lab.write(
        "forms.yaml",
        "kind: containment\nsuite_id: s\ndatasets: [c.jsonl]\nattacks: [{base64: {}}, {html_hiding: {}}, {urgency: {}}]\n",
    );
    for name in ["varied", "forms"] {
        lab.run(&format!("run {name}.yaml --run-dir {name} --quiet"));
        assert!(walk(&browser, &dir(&lab, name)) > 20);
    }
}
