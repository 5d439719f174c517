//! Signed runs: what `attest` writes, `verify --key` and an independent implementation check, and the reverse.

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::lab::{Lab, kept, variable};

/// PKCS #8 and SubjectPublicKeyInfo of RFC 8410, around a seed and its public key.
const PRIVATE_PREFIX: &str = "302e020100300506032b657004220420";
const PUBLIC_PREFIX: &str = "302a300506032b6570032100";

fn pem(label: &str, prefix: &str, key: &[u8]) -> String {
    let mut der: Vec<u8> =
        (0..prefix.len()).step_by(2).map(|at| u8::from_str_radix(&prefix[at..at + 2], 16).unwrap()).collect();
    der.extend_from_slice(key);
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}

/// A key pair of this seed, as `NAME.pem` and `NAME.pub.pem`.
fn key(lab: &Lab, name: &str, seed: u8) {
    use ring::signature::{Ed25519KeyPair, KeyPair as _};
    let seed = [seed; 32];
    let pair = Ed25519KeyPair::from_seed_unchecked(&seed).unwrap();
    lab.write(&format!("{name}.pem"), pem("PRIVATE KEY", PRIVATE_PREFIX, &seed));
    lab.write(&format!("{name}.pub.pem"), pem("PUBLIC KEY", PUBLIC_PREFIX, pair.public_key().as_ref()));
}

/// A run, signed with `mine`; `other` is another key.
fn signed() -> Lab {
    let lab = Lab::new();
    lab.small_suite();
    lab.run("run small.yaml --run-dir run --quiet").exits(0);
    key(&lab, "mine", 1);
    key(&lab, "other", 2);
    lab.run("attest run --key mine.pem").exits(0).says("run.intoto.jsonl");
    lab.run("verify run --key mine.pub.pem").exits(0).says("signed by");
    lab
}

fn payload(lab: &Lab) -> Value {
    let payload = lab.json("run.intoto.jsonl")["payload"].as_str().unwrap().to_owned();
    serde_json::from_slice(&STANDARD.decode(payload).unwrap()).unwrap()
}

#[test]
fn a_statement_names_every_file_as_sha256sum_does() {
    let lab = signed();
    let statement = payload(&lab);
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    let mut names = Vec::new();
    for subject in statement["subject"].as_array().unwrap() {
        let name = subject["name"].as_str().unwrap();
        let bytes = std::fs::read(lab.path("run").join(name)).unwrap();
        assert_eq!(subject["digest"]["sha256"], proofhouse_ledger::Digest::of(&bytes).to_string(), "{name}");
        names.push(name.to_owned());
    }
    let expected = [
        "../run.run.json",
        "config.resolved.yaml",
        "manifest.json",
        "records.jsonl",
        "report.html",
        "summary.json",
    ];
    assert_eq!(names, expected);
    assert_eq!(statement["predicate"]["record_count"], 16);
}

#[test]
fn a_wrong_key_is_refused() {
    let lab = signed();
    lab.run("verify run --key other.pub.pem").exits(7).says("is not signed by this key");
    lab.run("verify run --key mine.pem").exits(2).says("holds no `PUBLIC KEY`");
    lab.run("verify run --key missing.pem").exits(1);
}

#[test]
fn a_key_from_the_environment_signs_too() {
    let lab = signed();
    let before = lab.read("run.intoto.jsonl");
    std::fs::remove_file(lab.path("run.intoto.jsonl")).unwrap();
    let args = ["attest", "run", "--key", "env:SIGNING_KEY"];
    lab.finish(lab.command(&args).env("SIGNING_KEY", lab.read("mine.pem"))).exits(0);
    assert_eq!(lab.read("run.intoto.jsonl"), before, "Ed25519 signs the same way each time");
    lab.finish(&mut lab.command(&args)).exits(2).says("names a variable that the environment does not have");
}

#[test]
fn a_stripped_signature_is_refused() {
    let lab = signed();
    let mut envelope = lab.json("run.intoto.jsonl");
    envelope["signatures"] = Value::Array(Vec::new());
    lab.write("run.intoto.jsonl", envelope.to_string());
    lab.run("verify run --key mine.pub.pem").exits(7).says("has no signature");
    std::fs::remove_file(lab.path("run.intoto.jsonl")).unwrap();
    lab.run("verify run --key mine.pub.pem").exits(7).says("its signature was removed");
    lab.run("verify run").exits(0);
}

/// A careful forger changes the manifest and everything that repeats its digest: only the signature tells.
#[test]
fn a_replaced_manifest_is_refused() {
    let lab = signed();
    let manifest = lab.read("run/manifest.json");
    let version = format!("\"proofhouse_version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    let forged = manifest.replace(&version, "\"proofhouse_version\":\"9.9.9\"");
    assert_ne!(forged, manifest);
    let digest = |text: &str| proofhouse_ledger::Digest::of(text.as_bytes()).to_string();
    lab.write("run/manifest.json", &forged);
    lab.run("verify run").exits(7).says("manifest_sha256");
    let envelope = lab.read("run.run.json").replace(&digest(&manifest), &digest(&forged));
    lab.write("run.run.json", envelope);
    lab.run("report run --quiet").exits(0);
    lab.run("verify run").exits(0);
    let found = lab.run("verify run --key mine.pub.pem").exits(7);
    assert!(found.stdout.contains("manifest.json: is not the file that was signed"), "{}", found.stdout);
    assert!(found.stdout.contains("run.run.json: is not the file that was signed"), "{}", found.stdout);
}

#[test]
fn a_signed_run_can_be_moved_with_all_that_belongs_to_it() {
    let lab = signed();
    for suffix in ["", ".run.json", ".intoto.jsonl", ".telemetry.jsonl"] {
        std::fs::rename(lab.path(&format!("run{suffix}")), lab.path(&format!("archive{suffix}"))).unwrap();
    }
    lab.run("verify archive --key mine.pub.pem").exits(0).says("was written as `run`");
}

#[test]
fn what_is_not_sound_or_not_whole_is_not_signed() {
    let lab = signed();
    let records = lab.read("run/records.jsonl");
    lab.write("run/records.jsonl", records.replacen("\"passed\":true", "\"passed\":null", 1));
    lab.run("attest run --key mine.pem").exits(7).says("is not sound");
    lab.write("run/records.jsonl", records);
    std::fs::remove_file(lab.path("run.run.json")).unwrap();
    lab.run("attest run --key mine.pem").exits(8).says("recover");
}

#[test]
fn a_run_that_takes_the_place_of_a_signed_one_is_not_signed() {
    let lab = signed();
    lab.run("run small.yaml --run-dir run --overwrite --quiet").exits(0);
    assert!(!lab.path("run.intoto.jsonl").exists());
}

#[test]
fn one_record_is_proven_without_the_rest() {
    let lab = signed();
    let id = lab.records("run")[5]["record_id"].as_str().unwrap().to_owned();
    let proof = lab.run(&format!("attest run --prove {id}")).exits(0).stdout;
    assert_eq!(lab.run("attest run --prove 5").exits(0).stdout, proof);
    let elsewhere = Lab::new();
    elsewhere.write("proof.json", &proof);
    key(&elsewhere, "mine", 1);
    key(&elsewhere, "other", 2);
    elsewhere.run("verify --proof proof.json").exits(0).says("record 5 of 16 is in its run");
    elsewhere.run("verify --proof proof.json --key mine.pub.pem").exits(0).says("signed by");
    elsewhere.run("verify --proof proof.json --key other.pub.pem").exits(7).says("is not signed by this key");
    for (from, to) in [
        ("\\\"output\\\":\\\"beta\\\"", "\\\"output\\\":\\\"gamma\\\""),
        ("\"index\":5", "\"index\":6"),
        ("\"record_count\":16,", "\"record_count\":17,"),
        ("\"schema_version\":\"1.0\"}", "\"schema_version\":\"2.0\"}"),
    ] {
        assert!(proof.contains(from), "{from}: {proof}");
        elsewhere.write("forged.json", proof.replacen(from, to, 1));
        elsewhere.run("verify --proof forged.json").exits(7);
    }
    lab.run("attest run --prove nobody").exits(11).says("the run has no record `nobody`");
}

/// The independent implementation; nothing where it is not installed and nobody insists.
fn independent(lab: &Lab, args: &[&str]) -> Option<(bool, String)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    if !kept("securesystemslib").join("ready").exists() {
        assert!(
            variable("PROOFHOUSE_REQUIRE_SECURESYSTEMSLIB").is_none(),
            "tools/securesystemslib is not installed"
        );
        eprintln!("skipped: `tools/securesystemslib install` has not been run");
        return None;
    }
    #[expect(clippy::disallowed_methods, reason = "the test runs another implementation")]
    let output = Command::new(format!("{root}/tools/securesystemslib"))
        .args(args)
        .current_dir(lab.path(""))
        .output()
        .unwrap();
    Some((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

#[test]
fn securesystemslib_accepts_what_attest_writes_and_refuses_what_was_changed() {
    let lab = signed();
    let Some((accepted, said)) = independent(&lab, &["verify", "run.intoto.jsonl", "mine.pub.pem"]) else {
        return;
    };
    assert!(accepted);
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), payload(&lab));
    let (accepted, _) = independent(&lab, &["verify", "run.intoto.jsonl", "other.pub.pem"]).unwrap();
    assert!(!accepted, "another key");
    let mut envelope = lab.json("run.intoto.jsonl");
    let forged = payload(&lab).to_string().replace("\"record_count\":16", "\"record_count\":17");
    envelope["payload"] = STANDARD.encode(forged).into();
    lab.write("forged.intoto.jsonl", envelope.to_string());
    let (accepted, _) = independent(&lab, &["verify", "forged.intoto.jsonl", "mine.pub.pem"]).unwrap();
    assert!(!accepted, "another payload");
}

#[test]
fn verify_accepts_what_securesystemslib_signs() {
    let lab = signed();
    let Some((done, envelope)) = independent(&lab, &["sign", "run.intoto.jsonl", "other.pem"]) else {
        return;
    };
    assert!(done);
    lab.write("run.intoto.jsonl", envelope);
    lab.run("verify run --key other.pub.pem").exits(0).says("signed by");
    lab.run("verify run --key mine.pub.pem").exits(7).says("is not signed by this key");
}
