//! Judges that weigh more than the answer: its time, its price, and what models say of its facts and its context.

use serde_json::json;

use super::lab::Lab;
use super::servers::{Act, Server, completion};

/// Four questions; those with a `2` are answered late.
fn suite(base: &str, judges: &str, more: &str) -> String {
    format!(
        "kind: probe\nsuite_id: weighed\nprompt: 'number {{input}}'\ntargets:\n  model: {{openai: {{model: m, base_url: '{base}', temperature: 0}}}}\n\
         judges: {{{judges}}}\ncases: [{{id: a, input: '1'}}, {{id: b, input: '2'}}, {{id: c, input: '3'}}, {{id: d, input: '4'}}]\n{more}"
    )
}

fn server() -> Server {
    Server::start(|seen, _| {
        let late = seen.raw.contains("number 2");
        let answer = Box::new(Act::Json(200, completion("fine")));
        Act::After(if late { 400 } else { 0 }, answer)
    })
}

fn scores(lab: &Lab, run: &str, judge: &str) -> Vec<String> {
    lab.records(run).iter().map(|record| record["scores"][judge].to_string()).collect()
}

const QUICK: &str = "quick: {latency: {max_ms: 399}}";

#[test]
fn a_time_is_judged_as_the_tape_keeps_it() {
    let (server, lab) = (server(), Lab::new());
    lab.write("s.yaml", suite(&server.base(), QUICK, ""));
    // A time that nobody keeps cannot be had again.
    let before = lab.snapshot();
    lab.run("run s.yaml --run-dir live")
        .exits(9)
        .says("nothing would keep it")
        .says("`--record DIR` keeps times with the answers");
    assert_eq!((lab.snapshot(), server.seen().len()), (before, 0));
    lab.run("check s.yaml").exits(0);

    lab.run("run s.yaml --run-dir live --record tape --jobs 1 --quiet").exits(0);
    let records = lab.records("live");
    let times: Vec<f64> =
        records.iter().map(|record| record["response"]["latency_ms"].as_f64().unwrap()).collect();
    assert!(times[1] >= 400.0, "{times:?}");
    // Others were quick unless this machine was not: the verdicts follow from the times that stand there.
    let follow: Vec<String> = times.iter().map(|time| u8::from(*time <= 399.0).to_string()).collect();
    assert_eq!(scores(&lab, "live", "quick"), follow);
    assert!(records[1]["judge"]["quick"].as_str().unwrap().contains("more than 399"), "{}", records[1]);
    assert_eq!(records[1]["latency_ms"], json!(null), "the time of the trial stays in the telemetry");
    lab.run("verify live --rejudge").exits(0).says("4 verdicts the same");

    drop(server);
    lab.run("run s.yaml --run-dir again --replay tape --jobs 4 --quiet").exits(0);
    assert_eq!(lab.run_files("again"), lab.run_files("live"));
    // Judged again by other limits, from the records alone.
    lab.write("all.yaml", suite("http://127.0.0.1:9/v1", "quick: {latency: {max_ms: 1000000}}", ""));
    lab.run("score live all.yaml --run-dir scored --only-judges --quiet").exits(0);
    assert_eq!(scores(&lab, "scored", "quick"), ["1"; 4]);
    lab.run("verify scored --rejudge").exits(0);
    // A verdict that the time contradicts is found.
    let forged = lab.read("live/records.jsonl").replace("\"quick\":0", "\"quick\":1");
    assert_ne!(forged, lab.read("live/records.jsonl"));
    lab.write("live/records.jsonl", forged);
    lab.run("verify live --rejudge").exits(7);
}

#[test]
fn a_time_that_nobody_kept_is_not_judged() {
    let (server, lab) = (server(), Lab::new());
    lab.write("plain.yaml", suite(&server.base(), "says: {equals: {value: fine}}", ""));
    lab.run("run plain.yaml --run-dir plain --record tape --quiet").exits(0);
    assert!(!lab.read("plain/records.jsonl").contains("\"latency_ms\":4"), "no judge weighs it");
    // The same requests, by a suite that wants to know more than the tape does.
    lab.write("s.yaml", suite(&server.base(), QUICK, ""));
    lab.run("run s.yaml --run-dir replayed --replay tape --quiet").exits(9);
    assert_eq!(scores(&lab, "replayed", "quick"), ["null"; 4]);
    lab.run("score plain s.yaml --run-dir scored --quiet").exits(9);
    assert_eq!(scores(&lab, "scored", "quick"), ["null"; 4]);
    assert!(lab.records("scored")[0]["judge"]["quick"].as_str().unwrap().contains("nobody kept"));
    // And one that wants to know less does not take times over.
    lab.run("run s.yaml --run-dir timed --record timed-tape --quiet").exits(0);
    lab.run("run plain.yaml --run-dir less --replay timed-tape --quiet").exits(0);
    assert_eq!(lab.run_files("less"), lab.run_files("plain"));
}

#[test]
fn runs_that_need_not_be_repeated_do_without_a_tape_and_without_the_cache() {
    let (server, lab) = (server(), Lab::new());
    let judges = "quick: {not: {latency: {max_ms: 1000000}}}";
    lab.write("s.yaml", suite(&server.base(), judges, "determinism: {deterministic_artifacts: false}\n"));
    for (run, requests) in [("one", 4), ("two", 8)] {
        lab.run(&format!("run s.yaml --run-dir {run} --cache kept --quiet")).exits(0);
        assert_eq!(server.seen().len(), requests, "an answer from the cache took no time");
        assert_eq!(scores(&lab, run, "quick"), ["0"; 4]);
    }
    // A script takes the time that it says it takes, and that is the same every time.
    lab.write(
        "here.yaml",
        "kind: probe\nsuite_id: here\ntargets:\n  m: {scripted: {latency_ms: 5, rules: [{contains: slow, latency_ms: 30, reply: x}], otherwise: {reply: y}}}\n\
         judges: {quick: {latency: {max_ms: 29}}}\ncases: [{id: a, input: slow}, {id: b, input: other}]\n",
    );
    lab.run("run here.yaml --run-dir here --quiet").exits(0);
    lab.run("run here.yaml --run-dir same --jobs 1 --quiet").exits(0);
    assert_eq!(scores(&lab, "here", "quick"), ["0", "1"]);
    assert_eq!(lab.records("here")[0]["response"], json!({"latency_ms": 30}));
    assert_eq!(lab.run_files("here"), lab.run_files("same"));
}

#[test]
fn the_cost_of_an_answer_follows_from_its_tokens_and_the_price_list() {
    let (server, lab) = (server(), Lab::new());
    // An answer has 11 tokens of input and 3 of output.
    lab.write("s.yaml", suite(&server.base(), "cheap: {cost: {max_usd: 0.00002}}", ""));
    lab.run("check s.yaml").exits(0);
    lab.run("run s.yaml --run-dir live")
        .exits(9)
        .says("`model` has no price")
        .says("`--prices FILE` names what models cost");
    assert_eq!(server.seen().len(), 0);
    lab.write("fair.yaml", "m: {input: 1, output: 3}\n").write("dear.yaml", "m: {input: 1, output: 3.01}\n");
    lab.run("run s.yaml --run-dir fair --prices fair.yaml --record tape --quiet").exits(0);
    lab.run("run s.yaml --run-dir dear --prices dear.yaml --replay tape --quiet").exits(0);
    assert_eq!(scores(&lab, "fair", "cheap"), ["1"; 4], "11 + 3 x 3 are 20 millionths");
    assert_eq!(scores(&lab, "dear", "cheap"), ["0"; 4]);
    let why = lab.records("dear")[0]["judge"]["cheap"].as_str().unwrap().to_owned();
    assert_eq!(why, "the answer cost 0.00002003 US dollars, more than 0.00002");
    for run in ["fair", "dear"] {
        lab.run(&format!("verify {run} --rejudge")).exits(0).says("4 verdicts the same");
    }
    // Verdicts rest on prices: other prices are another run.
    let id = |run: &str| lab.records(run)[0]["run_id"].to_string();
    assert_ne!(id("fair"), id("dear"));
    lab.run("run s.yaml --run-dir fair --prices dear.yaml --resume").exits(11).says("cannot be resumed");
    lab.run("score fair s.yaml --run-dir scored --prices dear.yaml --quiet").exits(0);
    assert_eq!(scores(&lab, "scored", "cheap"), ["0"; 4]);
}

#[test]
fn what_answers_from_here_costs_nothing_unless_the_gate_has_a_price() {
    let lab = Lab::new();
    let suite = |gate: &str| {
        format!(
            "kind: probe\nsuite_id: here\nprompts: {{one: '{{{{ input }}}}!', two: '{{{{ input }}}}?'}}\ntargets: {{m: {{scripted: {{otherwise: {{reply: x}}}}}}}}\n\
             judges: {{cheap: {{cost: {{max_usd: 0}}}}}}\ncases: [{{id: a, input: q}}]\n{gate}"
        )
    };
    lab.write("s.yaml", suite(""));
    lab.run("run s.yaml --run-dir free --quiet").exits(0);
    assert_eq!(scores(&lab, "free", "cheap"), ["1", "1"], "for every prompt");
    lab.write("s.yaml", suite("gate: {pass_rate: 0, prices: {m: {input: 1, output: 1}}}\n"));
    lab.run("run s.yaml --run-dir priced --quiet");
    assert_eq!(scores(&lab, "priced", "cheap"), ["null", "null"], "a script does not say what it used");
}

#[test]
fn models_judge_facts_and_context_and_all_they_said_is_kept() {
    let lab = Lab::new();
    let grader = "{scripted: {rules: [\
        {contains: 'CATEGORY: C', reply: \"It says less.\\nCATEGORY: A\"}, \
        {contains: 'Reference answer:', reply: \"SUPPORTED: a\\nUNSUPPORTED: b\\nSTATEMENTS: 2\"}], \
        otherwise: {reply: \"1. SUPPORTED: Paris is in France.\\n2. SUPPORTED: It is large.\\nSTATEMENTS: 2\"}}}";
    let models = format!("models: {{grader: {grader}}}");
    lab.write(
        "s.yaml",
        format!(
            "kind: probe\nsuite_id: rag\nprompt: 'Q: {{{{ question }}}}'\ntargets: {{m: {{scripted: {{otherwise: {{reply: 'Paris, a large city in France.'}}}}}}}}\n\
             judges:\n  facts: {{factuality: {{scores: {{subset: 0.5}}, {models}}}}}\n  recall: {{context-recall: {{{models}}}}}\n  \
             enough: {{context-recall: {{min_share: 0.5, {models}}}}}\n  faithful: {{faithfulness: {{{models}}}}}\n  \
             other: {{faithfulness: {{context: '{{{{ notes }}}}', {models}}}}}\n\
             cases: [{{id: a, question: Where is Paris?, context: Paris lies in France., notes: none, expected: In France. It is large.}}]\n"
        ),
    );
    // The context is used by judges alone, and no key of the case is called unused.
    let checked = lab.run("check s.yaml").exits(0).said();
    assert!(!checked.contains("context"), "{checked}");
    lab.run("run s.yaml --run-dir run --record tape --quiet").exits(0);
    let record = &lab.records("run")[0];
    assert_eq!(
        record["scores"],
        json!({"facts": 0.5, "recall": 0.5, "enough": 1, "faithful": 1, "other": 1}),
        "{record}"
    );
    assert_eq!(record["judge"]["facts"], "grader: A, a subset");
    assert_eq!(record["judge"]["recall"], "grader: 1 of 2 supported, not `b`");
    assert_eq!(
        record["advice"]["facts"]["grader"],
        json!({"score": 0.5, "text": "It says less.\nCATEGORY: A"})
    );
    lab.run("verify run --rejudge").exits(0).says("ask a model");
    // A case without its context is refused before anybody is asked.
    let without = lab.read("s.yaml").replace("context: Paris lies in France., ", "");
    lab.write("without.yaml", without);
    lab.run("run without.yaml --run-dir none").exits(3).says("context");
}

#[test]
fn sql_is_judged_by_what_it_may_hold() {
    let lab = Lab::new();
    lab.write(
        "s.yaml",
        "kind: probe\nsuite_id: sql\ntargets: {echo: {scripted: {otherwise: {reply: '{input}'}}}}\n\
         judges: {sql: {is-sql: {statements: [select], tables: [staff]}}}\n\
         cases:\n  - {id: right, input: \"```sql\\nSELECT name FROM staff\\n```\"}\n  - {id: table, input: SELECT name FROM pay}\n  \
         - {id: kind, input: DELETE FROM staff}\n  - {id: text, input: I cannot write SQL}\n",
    );
    lab.run("run s.yaml --run-dir run --quiet").exits(0);
    assert_eq!(scores(&lab, "run", "sql"), ["1", "0", "0", "0"]);
    let why: Vec<String> =
        lab.records("run").iter().skip(1).map(|record| record["judge"]["sql"].to_string()).collect();
    assert!(why[0].contains("the table `pay` is not allowed"), "{why:?}");
    assert!(why[1].contains("a statement is `delete`"), "{why:?}");
    assert!(why[2].contains("not SQL"), "{why:?}");
    lab.run("verify run --rejudge").exits(0).says("4 verdicts the same");
}

#[test]
fn a_tool_has_neither_tokens_nor_an_endpoint() {
    let lab = Lab::new();
    lab.write(
        "r.yaml",
        "kind: robustness\nsuite_id: r\ntargets: {t: {command: {argv: [echo, x]}}}\n\
         judges: {quick: {latency: {max_ms: 5}}}\ncases: [{id: a, instruction: x}]\n",
    );
    lab.run("check r.yaml").exits(3).says("a judge of kind `latency` weighs time or cost");
}
