//! Meaning by embeddings: of an endpoint, and of a file without any network; and datasets in parquet.

use serde_json::json;

use crate::lab::Lab;
use crate::real::Served;
use crate::servers::{Act, Server};

const CASES: &str = concat!(
    "cases:\n  - {id: same, input: it rains, expected: the rain falls}\n  - {id: other, input: the sun shines, expected: the rain falls}\n",
    "  - {id: none, input: xyz, expected: the rain falls}\ntargets: {echo: {scripted: {otherwise: {reply: '{input}'}}}}\n",
);

#[test]
fn an_endpoint_of_embeddings_tells_what_means_the_same() {
    let lab = Lab::new();
    let server = Server::start(|seen, _| {
        let text = seen.body["input"].as_str().unwrap_or_default();
        let (rain, sun) =
            (f64::from(u8::from(text.contains("rain"))), f64::from(u8::from(text.contains("sun"))));
        match rain + sun > 0.0 {
            true => Act::Json(200, json!({"data": [{"embedding": [rain, sun, 0.25]}]})),
            false => Act::Json(200, json!({"error": "no words"})),
        }
    });
    let suite = format!(
        "kind: probe\nsuite_id: s\n{CASES}judges:\n  meaning:\n    similar:\n      min_similarity: 0.9\n      model:\n        http: {{url: 'http://{}/v1/embeddings', \
         request: {{model: m, input: '{{input}}'}}, answer: /data/0/embedding}}\n",
        server.address
    );
    lab.write("s.yaml", suite);
    lab.run("run s.yaml --run-dir run --record tape --quiet").exits(0);
    let scores = |run: &str| -> Vec<String> {
        lab.records(run).iter().map(|record| record["scores"]["meaning"].to_string()).collect()
    };
    assert_eq!(scores("run"), ["1", "0", "null"]);
    assert!(lab.records("run")[1]["judge"]["meaning"].as_str().unwrap().contains("below 0.9"));
    assert_eq!(server.seen().len(), 6);
    // What was heard is played back, without a request more.
    lab.run("run s.yaml --run-dir again --replay tape --quiet").exits(0);
    assert_eq!((scores("again"), server.seen().len()), (scores("run"), 6));
}

/// SmolLM2 behind llama.cpp: sentences that mean the same are nearer to each other than to others.
#[test]
fn a_real_model_tells_what_means_the_same() {
    let Some(served) = Served::doing("smollm2", "embed") else { return };
    let lab = Lab::new();
    lab.write(
        "s.yaml",
        format!(
            "kind: probe\nsuite_id: real\ntimeout_ms: 120000\ntargets: {{echo: {{scripted: {{otherwise: {{reply: '{{input}}'}}}}}}}}\n\
             judges:\n  meaning:\n    similar:\n      min_similarity: 0.9\n      model:\n        http: {{url: '{}/embeddings', \
             request: {{model: smollm2-135m-instruct, input: '{{input}}'}}, answer: /data/0/embedding}}\n\
             cases:\n  - {{id: same, input: The cat sits on the mat., expected: A cat is sitting on a mat.}}\n  \
             - {{id: other, input: The cat sits on the mat., expected: Quarterly interest rates rose sharply.}}\n  \
             - {{id: nearest, input: The price of oil fell today., expected: [The cat sits on the mat., Quarterly interest rates rose sharply.]}}\n",
            served.base
        ),
    );
    lab.run("run s.yaml --run-dir run --record tape --quiet").exits(0);
    let records = lab.records("run");
    let scores: Vec<String> = records.iter().map(|record| record["scores"]["meaning"].to_string()).collect();
    assert_eq!(scores, ["1", "0", "1"], "{records:?}");
    let nearest = records[2]["judge"]["meaning"].as_str().unwrap();
    assert!(nearest.contains("to `Quarterly interest rates rose sharply.` is 0.9"), "{nearest}");
    drop(served);
    lab.run("run s.yaml --run-dir again --replay tape --quiet").exits(0);
    assert_eq!(lab.run_files("again"), lab.run_files("run"));
}

#[test]
fn a_file_of_word_vectors_needs_no_network() {
    let lab = Lab::new();
    let vectors = "rain 1 0\nrains 1 0\nfalls 0.2 0.1\nsun 0 1\nshines 0 0.9\n";
    let digest = proofhouse_ledger::Digest::of(vectors.as_bytes()).prefixed();
    lab.write("words.txt", vectors);
    let judge = |digest: &str| {
        format!(
            "kind: probe\nsuite_id: s\n{CASES}judges:\n  meaning: {{similar: {{model: {{vectors: {{path: words.txt, sha256: '{digest}'}}}}}}}}\n"
        )
    };
    lab.write("s.yaml", judge(&digest));
    lab.run("run s.yaml --run-dir run --quiet").exits(0);
    let records = lab.records("run");
    let scores: Vec<String> = records.iter().map(|record| record["scores"]["meaning"].to_string()).collect();
    assert_eq!(scores, ["1", "0", "null"]);
    assert!(
        records[2]["judge"]["meaning"].as_str().unwrap().contains("no word of this text"),
        "{}",
        records[2]
    );
    lab.write("s.yaml", judge(&format!("sha256:{}", "0".repeat(64))));
    lab.run("run s.yaml --run-dir other --quiet").exits(9).says("is not the file that the suite names");
}

#[test]
fn parquet_is_read_by_builds_that_can() {
    use base64::Engine as _;
    let lab = Lab::new();
    // Written by pyarrow: id, input, expected and tags of two rows.
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(include_str!("similar/rows.parquet.b64").trim())
        .unwrap();
    lab.write("rows.parquet", bytes);
    lab.write(
        "s.yaml",
        "kind: probe\nsuite_id: s\ndatasets: [rows.parquet]\njudges: {any: {length: {min: 0}}}\ntargets: {echo: {scripted: {otherwise: {reply: '{input}'}}}}\n",
    );
    if !cfg!(feature = "parquet") {
        lab.run("check s.yaml").exits(3).says("does not read parquet").says("--features parquet");
        return;
    }
    lab.run("run s.yaml --run-dir run --quiet").exits(0);
    let records = lab.records("run");
    assert_eq!((&records[0]["case_id"], &records[0]["input"]), (&json!("a"), &json!("x é")));
    assert_eq!((&records[0]["expected"], &records[0]["tags"]), (&json!(1.5), &json!(["t", "u"])));
    assert_eq!((&records[1]["expected"], &records[1]["tags"]), (&json!(-2), &json!(["v"])));
    lab.write("rows.parquet", "PAR1 and nothing else");
    lab.run("check s.yaml").exits(3).says("no parquet that can be read");
}
