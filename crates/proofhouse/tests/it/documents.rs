//! One run of each kind in its four forms: terminal, Markdown, page and JSON say the same.

use proofhouse::text::doc::terminal;
use serde_json::Value;

use crate::lab::{Lab, on_one_line};

/// What a reader reads of a text with markup in it: no tags, no escapes, no marks of code.
fn read(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        if !rest[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!') {
            out.push('<');
            rest = &rest[at + 1..];
            continue;
        }
        let hidden = ["<style>", "<script"].iter().find(|tag| rest[at..].starts_with(**tag));
        let end = match hidden {
            Some(tag) => rest[at..].find(&format!("</{}", &tag[1..6])).map(|end| at + end + 1),
            None => None,
        };
        let from = end.unwrap_or(at);
        rest = &rest[from + rest[from..].find('>').unwrap_or(0) + 1..];
    }
    out.push_str(rest);
    for (escape, text) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\"")] {
        out = out.replace(escape, text);
    }
    for c in ' '..='~' {
        out = out.replace(&format!("&#{};", u32::from(c)), &c.to_string());
    }
    let out = out.replace("&amp;", "&");
    on_one_line(&out.replace(['\\', '`'], "").replace("**", ""))
}

/// Everything that the JSON says is said everywhere: sentences, answers, and the cells of tables.
fn shared(report: &Value) -> Vec<String> {
    let mut said = Vec::new();
    let texts = |value: &Value, keys: &[&str]| -> Vec<String> {
        keys.iter().map(|key| value[key].as_str().unwrap().to_owned()).collect()
    };
    let sections = report["sections"].as_array().unwrap();
    let blocks = sections.iter().flat_map(|section| section["blocks"].as_array().unwrap());
    for block in blocks.filter(|block| block["reach"] == "everywhere") {
        match block["type"].as_str().unwrap() {
            "headline" => said.extend(texts(block, &["title", "text"])),
            "sentence" => said.extend(texts(block, &["text"])),
            "list" => {
                block["items"].as_array().unwrap().iter().for_each(|item| said.extend(texts(item, &["text"])))
            }
            "cards" => {
                let cards =
                    block["cards"].as_array().unwrap().iter().filter(|card| card["reach"] == "everywhere");
                cards.for_each(|card| {
                    said.extend(texts(card, &["title"]));
                    said.extend(card["texts"]["expected"].as_str().map(str::to_owned));
                    said.extend(card["why"].as_str().map(str::to_owned));
                });
            }
            "pairs" => {
                let pairs =
                    block["pairs"].as_array().unwrap().iter().filter(|pair| pair["reach"] == "everywhere");
                pairs.for_each(|pair| said.extend(texts(pair, &["name", "value"])));
            }
            "table" => {
                let rows = block["rows"].as_array().unwrap().iter();
                rows.for_each(|row| said.extend(texts(&row[0], &["text"])));
            }
            other => panic!("`{other}` is not for a terminal"),
        }
    }
    said
}

#[test]
fn every_form_of_a_report_says_the_same() {
    for (kind, least) in [("probe", 3), ("code", 8), ("robustness", 6), ("containment", 7)] {
        let lab = Lab::new();
        lab.run(&format!("init {kind} .")).exits(0);
        let run = lab.tools(&format!("run {kind}.yaml --no-cache --run-dir run")).exits(0);
        let json: Value = serde_json::from_str(&lab.run("report run --format json").exits(0).stdout).unwrap();
        let forms = [
            ("terminal", run.stdout.clone()),
            ("text", lab.run("report run --format text").exits(0).stdout),
            ("markdown", lab.run("report run --format markdown").exits(0).stdout),
            ("page", lab.read("run/report.html")),
        ];
        assert_eq!(forms[0].1, forms[1].1, "{kind}: what `run` says can be read again");
        assert_eq!(forms[2].1, lab.run("report run --markdown").exits(0).stdout);
        let sentences = shared(&json);
        assert!(sentences.len() >= least, "{kind}: {sentences:#?}");
        for (form, text) in forms {
            let text = read(&text);
            for sentence in &sentences {
                assert!(text.contains(&read(sentence)), "{kind}, {form}: {sentence:?} in\n{text}");
            }
        }
        let too_wide = run.stdout.lines().find(|line| terminal::width(line) > terminal::WIDTH);
        assert_eq!(too_wide, None, "{kind}");
        lab.run("verify run").exits(0);
    }
}

#[test]
fn the_first_failures_are_told_by_name_with_the_judges_reasons() {
    let lab = Lab::new();
    let cases: String =
        (0..7).map(|at| format!("  - {{id: c{at}, input: \"2 + {at}\", expected: \"4\"}}\n")).collect();
    lab.write(
        "s.yaml",
        format!(
            "kind: probe\nsuite_id: s\ntargets:\n  one: {{scripted: {{otherwise: {{reply: \"5\"}}}}}}\n\
             judges:\n  exact: {{equals: {{}}}}\n  near: {{numeric: {{}}}}\nrepetitions: 2\ncases:\n{cases}"
        ),
    );
    let said = lab
        .run("run s.yaml --run-dir run")
        .says("14 trials of 14 assessed failed. All are in `report.html#verdict=failed`")
        .says("c0 on one: expected `4`, answered `5`; exact: ")
        .says("; near: expected 4, got 5")
        .said();
    assert_eq!(said.matches(" on one: ").count(), 5, "each case once, five in all: {said}");
}
