//! Files of other tools: promptfoo's configurations become suites, results of lm-eval and Inspect become runs.

use serde_json::{Value, json};

use crate::conformance::data;
use crate::lab::Lab;

/// A configuration with most of what people write, and the files that it names.
fn configured() -> Lab {
    let lab = Lab::new();
    lab.write("pf/long.txt", "Explain {{topic}}.\n---\nTeach {{topic}} to {{who}}.\n");
    lab.write(
        "pf/chat.json",
        r#"[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "{{topic}}?"}]"#,
    );
    lab.write("pf/notes/a.md", "first note\n").write("pf/notes/b.md", "second note\n");
    lab.write("pf/rows.csv", "topic,who,__expected,__expected2\nsnow,me,contains: snow,\"javascript: output.length < 900\"\nice,you,Teach ice,\n");
    lab.write(
        "pf/more.jsonl",
        "{\"vars\": {\"topic\": \"fog\"}, \"assert\": [{\"type\": \"icontains\", \"value\": \"FOG\"}]}\n",
    );
    lab.write(
        "pf/promptfooconfig.yaml",
        r#"description: A bit of everything
prompts:
  - 'About {{topic}}'
  - {id: chat, label: Chat, raw: 'file://chat.json'}
  - file://long.txt
providers:
  - echo
  - id: openai:chat:gpt-4o-mini
    label: small one
    config: {temperature: 0, max_tokens: 20, apiKey: sk-never, seed: 4}
  - bedrock:nova
defaultTest:
  vars: {who: somebody}
  assert:
    - {type: not-contains, value: sorry}
tests:
  - description: rain on the echo
    vars: {topic: rain}
    prompts: [Chat]
    providers: [echo]
    assert:
      - {type: contains, value: '{{topic}}'}
      - {type: regex, value: '^(?=x)'}
      - {type: llm-rubric, value: 'It is about {{topic}}', provider: 'openai:gpt-4o'}
  - vars: {topic: [sun, moon], id: 7, note: 'file://notes/*'}
    assert:
      - {type: javascript, value: 'output.length > 0 && !output.includes("x y z")'}
      - {type: javascript, value: 'JSON.parse(output).a === 1'}
      - {type: is-json}
      - type: assert-set
        assert: [{type: equals, value: a}, {type: starts-with, value: About, weight: 2}]
  - vars: {topic: wind, who: 'the {{topic}} itself'}
    threshold: 0.5
    assert: [{type: tool-magic}, {type: contains, value: '{{nobody}}'}]
  - file://rows.csv
  - file://more.jsonl
  - file://gone.csv
scenarios:
  - config: [{vars: {topic: dew}}, {vars: {topic: hail}}]
    tests: [{vars: {who: all}, assert: [{type: contains-any, value: [dew, hail]}]}]
evaluateOptions: {maxConcurrency: 2}
"#,
    );
    lab
}

#[test]
fn a_promptfoo_configuration_becomes_suites_that_pass_check() {
    let lab = configured();
    let out = lab
        .run("import promptfoo pf/promptfooconfig.yaml --out in")
        .exits(0)
        .says("imported 3 of 3 prompts, 15 of 15 vars, 7 of 8 tests, 13 of 17 asserts, 2 of 3 providers")
        .says("left out: promptfooconfig.yaml:11: provider `bedrock:nova`")
        .says("left out: promptfooconfig.yaml:23: assert `regex: ^(?=x)`: ")
        .says("left out: promptfooconfig.yaml:28: assert `javascript: JSON.parse(output).a === 1`: ")
        .says("left out: promptfooconfig.yaml:34: assert `tool-magic`: no judge here says the same")
        .says(
            "left out: promptfooconfig.yaml:34: assert `contains: {{nobody}}`: nothing fills `{{ nobody }}`",
        )
        .says("left out: promptfooconfig.yaml:37: test `file://gone.csv`: ");
    assert_eq!(out.stdout, "in/suite.yaml\nin/suite-2.yaml\nin/suite-3.yaml\n");
    lab.run("check in/suite.yaml in/suite-2.yaml in/suite-3.yaml")
        .exits(0)
        .says("in/suite-2.yaml: ok, 9 cases, 108 trials");
    let first = lab.read("in/suite.yaml");
    assert!(first.contains("# Left out:\n#   promptfooconfig.yaml:"), "{first}");
    let whole = first + &lab.read("in/suite-2.yaml") + &lab.read("in/suite-3.yaml");
    assert!(!whole.contains("sk-never"), "{whole}");
    // What is there already is left alone.
    lab.run("import promptfoo pf/promptfooconfig.yaml --out in")
        .exits(11)
        .says("`in/suite.yaml` is there already");
}

#[test]
fn asserts_of_time_price_sql_and_context_become_judges() {
    let lab = Lab::new();
    lab.write(
        "pf.yaml",
        r#"prompts: ['{{question}}']
providers: [openai:gpt-4o-mini]
tests:
  - vars: {question: Where is Paris?, context: Paris is in France.}
    assert:
      - {type: latency, threshold: 2000}
      - {type: cost, threshold: 0.001}
      - {type: not-is-sql}
      - {type: contains-sql, value: {databaseType: MySQL, allowedTables: ['select::null::staff']}}
      - {type: factuality, value: It is in France.}
      - {type: context-recall, threshold: 0.8, value: Paris is in France.}
      - {type: context-faithfulness, threshold: 0.9}
      - {type: latency}
"#,
    );
    lab.run("import promptfoo pf.yaml --out in")
        .exits(0)
        .says("left out: pf.yaml:13: assert `latency`: it has no `threshold`");
    let folder = camino::Utf8PathBuf::from_path_buf(lab.path("in")).unwrap();
    let names = proofhouse_ledger::files::sorted_dir(&folder).unwrap();
    let suite = names.into_iter().find(|name| name.ends_with(".yaml"));
    let text = lab.read(&format!("in/{}", suite.as_deref().unwrap()));
    for judge in ["latency", "cost", "is-sql", "factuality", "context-recall", "faithfulness"] {
        assert!(text.contains(&format!("{judge}:")), "{judge}: {text}");
    }
    lab.run(&format!("check in/{}", suite.unwrap())).exits(0);
}

#[test]
fn an_imported_suite_asks_what_promptfoo_would_ask() {
    let lab = configured();
    lab.run("import promptfoo pf/promptfooconfig.yaml --out in --scripted").exits(0);
    for suite in ["suite", "suite-2", "suite-3"] {
        let code = lab.run(&format!("run in/{suite}.yaml --run-dir {suite} --quiet")).code;
        assert!(matches!(code, Some(0 | 9)), "{suite}: {code:?}");
        lab.run(&format!("verify {suite}")).exits(0);
    }
    let asked: Vec<String> = lab
        .records("suite-2")
        .iter()
        .filter(|record| record["slot"].as_str().unwrap().starts_with("echo/"))
        .map(|record| record["input"].to_string())
        .collect();
    for text in [
        "\"About sun\"",
        "\"Teach moon to somebody.\"",
        "\"Explain snow.\"",
        "\"Teach ice to you.\"",
        "\"Teach hail to all.\"",
    ] {
        assert!(asked.iter().any(|asked| asked == text), "{text} in {asked:#?}");
    }
    // Two prompts of one file, two texts of a list, two files of a glob.
    assert_eq!(asked.iter().filter(|asked| asked.contains("moon")).count(), 4 * 2);
    let third = lab.records("suite-3");
    assert!(third.iter().any(|record| record["input"] == "Teach wind to the wind itself."), "{third:#?}");
    let rain = &lab.records("suite")[0];
    assert_eq!(rain["scores"]["contains"], 1, "{rain}");
    assert_eq!(rain["tags"], json!(["asserts-left-out"]));
}

#[test]
fn files_that_are_no_configuration_are_refused() {
    let lab = Lab::new();
    lab.write("list.yaml", "- a\n").write("broken.yaml", "prompts: [\n");
    lab.run("import promptfoo list.yaml").exits(3).says("is not a configuration of promptfoo");
    lab.run("import promptfoo broken.yaml").exits(3).says("broken.yaml:");
    lab.run("import promptfoo gone.yaml").exits(3).says("cannot read `gone.yaml`");
    lab.run("import other gone.yaml").exits(2).says("promptfoo");
    lab.write("x.jsonl", "{\"a\": 1}\n").write("y.json", "{\"a\": 1}").write("z.eval", "PK\u{1}");
    lab.run("import lm-eval-samples x.jsonl").exits(3).says("no `resps`");
    lab.run("import inspect-log y.json").exits(3).says("not a log of Inspect");
    lab.run("import inspect-log z.eval").exits(3).says("damaged or cut off");
    assert!(!lab.path("imported").exists());
}

/// Lines as lm-eval 0.4 writes them, of documents with these answers.
fn samples(answers: &[(&str, &str, f64, f64)]) -> String {
    let line = |at: usize, (asked, said, ..): &(&str, &str, f64, f64), filter: &str, score: f64| {
        let row = json!({
            "doc_id": at, "doc": {"question": asked}, "target": "6", "filter": filter, "metrics": ["exact_match"], "exact_match": score,
            "arguments": {"gen_args_0": {"arg_0": format!("Q: {asked}\nA:"), "arg_1": {"until": ["\n"]}}},
            "resps": [[said]], "filtered_resps": ["[invalid]"], "doc_hash": "x", "prompt_hash": "x", "target_hash": "x",
        });
        row.to_string() + "\n"
    };
    let all = answers.iter().enumerate();
    let strict: String = all.clone().map(|(at, answer)| line(at, answer, "strict", answer.2)).collect();
    strict + &all.map(|(at, answer)| line(at, answer, "flexible", answer.3)).collect::<String>()
}

#[test]
fn samples_of_lm_eval_become_runs_that_diff_and_compare_read() {
    let lab = Lab::new();
    let file = "samples_sums_2026-01-01T00-00-00.000000.jsonl";
    lab.write(
        &format!("a/llama__one/{file}"),
        samples(&[("2+4?", "6", 1.0, 1.0), ("3+3?", "it is 6", 0.0, 1.0), ("5+1?", "", 0.0, 0.0)]),
    );
    lab.write(
        &format!("b/llama__one/{file}"),
        samples(&[("2+4?", "7", 0.0, 0.0), ("3+3?", "it is 6", 0.0, 1.0), ("5+1?", "6", 1.0, 1.0)]),
    );
    for side in ["a", "b"] {
        let out =
            lab.run(&format!("import lm-eval-samples {side}/llama__one/{file} --out in-{side}")).exits(0);
        assert!(out.stdout.ends_with(&format!("in-{side}/run\n")), "{}", out.stdout);
        lab.run(&format!("verify in-{side}/run")).exits(0);
    }
    let records = lab.records("in-a/run");
    let scores: Vec<&Value> = records.iter().map(|record| &record["scores"]).collect();
    assert_eq!(scores[0], &json!({"exact_match.strict": 1, "exact_match.flexible": 1}));
    assert_eq!(scores[1], &json!({"exact_match.strict": 0, "exact_match.flexible": 1}));
    assert_eq!((&records[0]["slot"], &records[0]["input"]), (&json!("llama-one"), &json!("Q: 2+4?\nA:")));
    lab.run("diff in-a/run in-b/run").says("1 regression");
    lab.run("compare in-a/run in-b/run").exits(0).says("permutation test over 3 cases");
}

#[test]
fn choices_that_lm_eval_weighed_are_the_ones_that_weigh_most() {
    let lab = Lab::new();
    let row = json!({
        "doc_id": 0, "doc": {}, "target": "1", "filter": "none", "metrics": ["acc", "bits"], "acc": 1.0, "bits": 3.5,
        "arguments": {"gen_args_0": {"arg_0": "Grass is", "arg_1": " blue"}, "gen_args_1": {"arg_0": "Grass is", "arg_1": " green"}},
        "resps": [[["-3.0", "False"]], [["-2.5", "False"]]], "filtered_resps": [["-3.0", "False"], ["-2.5", "False"]],
    });
    lab.write("samples_mc.jsonl", row.to_string() + "\n");
    lab.run("import lm-eval-samples samples_mc.jsonl")
        .exits(0)
        .says("`bits` is left out: a score is from 0 to 1");
    let record = &lab.records("imported/run")[0];
    assert_eq!((&record["output"], &record["scores"]), (&json!("green"), &json!({"acc": 1})));
}

/// A log as Inspect writes it: two samples in two epochs, one of them an error.
fn log() -> Value {
    let sample = |id: Value, epoch: u64, said: &str, letter: &str| {
        json!({
            "id": id, "epoch": epoch, "input": format!("question {id}"), "target": ["x"],
            "output": {"choices": [{"message": {"role": "assistant", "content": [{"type": "text", "text": said}]}}]},
            "scores": {"a_second": {"value": {"part": 0.5}}, "match": {"value": letter}},
        })
    };
    let mut broken = sample(json!("b"), 2, "", "I");
    broken["error"] = json!({"message": "boom"});
    broken["scores"] = json!({});
    json!({
        "version": 2, "status": "success",
        "eval": {"task": "letters", "model": "mock/model", "scorers": [{"name": "match"}, {"name": "a_second"}]},
        "samples": [sample(json!(1), 1, "x", "C"), sample(json!("b"), 1, "y", "I"), sample(json!(1), 2, "z", "P"), broken],
    })
}

/// An archive whose files are not packed.
fn archive(files: &[(&str, String)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let sizes: Vec<u8> = [0, text.len() as u32, text.len() as u32]
            .into_iter()
            .flat_map(u32::to_le_bytes)
            .chain((name.len() as u16).to_le_bytes())
            .chain([0, 0])
            .collect();
        directory.extend(b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0");
        directory.extend(&sizes);
        directory.extend([0; 10]);
        directory.extend((out.len() as u32).to_le_bytes());
        directory.extend(name.as_bytes());
        out.extend(b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0");
        out.extend(&sizes);
        out.extend(name.as_bytes());
        out.extend(text.as_bytes());
    }
    let (at, count) = (out.len() as u32, files.len() as u16);
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count.to_le_bytes().into_iter().chain(count.to_le_bytes()));
    out.extend((directory.len() as u32).to_le_bytes().into_iter().chain(at.to_le_bytes()).chain([0, 0]));
    out
}

#[test]
fn a_log_of_inspect_becomes_the_same_run_from_either_of_its_forms() {
    let lab = Lab::new();
    let mut whole = log();
    lab.write("log.json", whole.to_string());
    let samples = whole["samples"].take();
    let mut files: Vec<(String, String)> = samples
        .as_array()
        .unwrap()
        .iter()
        .map(|sample| {
            (format!("samples/{}_epoch_{}.json", sample["id"], sample["epoch"]), sample.to_string())
        })
        .collect();
    files.push(("header.json".to_owned(), whole.to_string()));
    let files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    lab.write("log.eval", archive(&files));
    lab.run("import inspect-log log.json --out a").exits(0).says("imported 4 of 4 answers");
    lab.run("import inspect-log log.eval --out b").exits(0);
    assert_eq!(lab.read("a/run/records.jsonl"), lab.read("b/run/records.jsonl"));
    let records = lab.records("a/run");
    let seen: Vec<String> = records
        .iter()
        .map(|record| {
            format!(
                "{} {} {} {}",
                record["case_id"], record["repetition"], record["scores"]["match"], record["status"]
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            "\"1\" 0 1 \"success\"",
            "\"1\" 1 0.5 \"success\"",
            "\"b\" 0 0 \"success\"",
            "\"b\" 1 null \"error\""
        ]
    );
    assert_eq!(records[0]["primary_metric"], "match");
    lab.run("verify a/run").exits(0);
    lab.run("verify b/run").exits(0);
}

/// What a configuration holds, counted without the importer: prompts, vars, tests and asserts as they are written.
fn written(config: &Value) -> [usize; 4] {
    fn list(value: &Value) -> Vec<&Value> {
        match value {
            Value::Null => Vec::new(),
            Value::Array(list) => list.iter().collect(),
            other => vec![other],
        }
    }
    fn asserts(test: &Value) -> usize {
        list(&test["assert"]).iter().map(|assert| 1 + asserts(assert)).sum()
    }
    let vars = |test: &Value| test["vars"].as_object().map_or(0, serde_json::Map::len);
    let tests = list(&config["tests"]);
    let everywhere: Vec<&Value> = tests.iter().copied().chain([&config["defaultTest"]]).collect();
    [
        list(&config["prompts"]).len(),
        everywhere.iter().map(|test| vars(test)).sum(),
        tests.len(),
        everywhere.iter().map(|test| asserts(test)).sum(),
    ]
}

/// The numbers of `imported 3 of 3 prompts, …`.
fn counted(said: &str) -> Vec<(usize, usize)> {
    let line = said.lines().find_map(|line| line.strip_prefix("imported ")).expect(said);
    line.split(", ")
        .map(|part| {
            let words: Vec<&str> = part.split(' ').collect();
            (words[0].parse().unwrap(), words[2].parse().unwrap())
        })
        .collect()
}

/// Every configuration is read, nothing is lost without a word, nine tenths map, and every suite passes and runs.
#[test]
fn conformance_of_the_promptfoo_import() {
    let Some(root) = data("probe/promptfoo") else { return };
    #[expect(clippy::disallowed_methods, reason = "into a sorted list")]
    let mut files: Vec<_> = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 63);
    let (mut all, mut mapped, mut suites, mut judged) = ([0; 4], [0; 4], 0, 0);
    for (nth, file) in files.iter().enumerate() {
        let name = file.file_name().unwrap().to_str().unwrap();
        let lab = Lab::new();
        let out = lab.run(&format!("import promptfoo {} --out in", file.display())).exits(0);
        let config: Value = serde_saphyr::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let (there, said) = (written(&config), counted(&out.stderr));
        // A part is in the suite, or it is listed with its line.
        let listed = lab.read("in/suite.yaml");
        for (at, part) in ["prompt ", "var ", "test ", "assert "].into_iter().enumerate() {
            let left = listed.lines().filter(|line| {
                line.strip_prefix(&format!("#   {name}:"))
                    .and_then(|rest| rest.split_once(": "))
                    .is_some_and(|(line, what)| line.parse::<u64>().is_ok() && what.starts_with(part))
            });
            assert_eq!(said[at].1, there[at], "{name}: {part}");
            assert_eq!(said[at].1 - said[at].0, left.count(), "{name}: {part}");
            all[at] += there[at];
            mapped[at] += said[at].0;
        }
        for suite in out.stdout.lines() {
            lab.run(&format!("check {suite}")).exits(0);
        }
        // What answers from here stands in for every provider.
        for suite in lab
            .run(&format!("import promptfoo {} --out s --scripted", file.display()))
            .exits(0)
            .stdout
            .lines()
        {
            suites += 1;
            let run = format!("run-{nth}-{suites}");
            let code = lab.run(&format!("run {suite} --run-dir {run} --quiet")).code;
            assert!(matches!(code, Some(0 | 9)), "{name}: {suite}: {code:?}");
            lab.run(&format!("verify {run}")).exits(0);
            judged += lab.records(&run).iter().filter(|record| !record["passed"].is_null()).count();
        }
    }
    let (sum, of): (usize, usize) = (mapped.iter().sum(), all.iter().sum());
    let share = sum as f64 / of as f64;
    eprintln!(
        "{sum} of {of} parts map ({:.1} %): {mapped:?} of {all:?}; {suites} suites, {judged} verdicts",
        share * 100.0
    );
    assert!(share >= 0.9 && mapped[0] * 10 >= all[0] * 8, "{mapped:?} of {all:?}");
    assert!(suites >= 63 && judged > 300, "{suites} suites, {judged} verdicts");
}
