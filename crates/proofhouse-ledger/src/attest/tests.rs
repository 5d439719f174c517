//! What a statement says of a run, what is held against it, and what a proof about one record proves.

use std::fs;

use camino::Utf8PathBuf;

use super::*;
use crate::Json;
use crate::record::samples;

/// Stands in for a key: whoever knows the word signs. Real keys are tested where they are.
fn sign(bytes: &[u8]) -> Vec<u8> {
    Digest::of_parts(&[b"word", bytes]).0.to_vec()
}

fn fits(signed: &[u8], signature: &[u8]) -> bool {
    sign(signed) == signature
}

/// The files of a run of three records; a statement only looks at what they are, not at what they say.
struct Lab {
    dir: tempfile::TempDir,
    records: Vec<Vec<u8>>,
    manifest: Manifest,
}

impl Lab {
    fn new() -> Self {
        let records: Vec<Vec<u8>> =
            (0..3).map(|index| samples::probe(index, &Json::from("x"), |_| {})).collect();
        let leaves: Vec<Digest> = records.iter().map(|line| stored_digest(line)).collect();
        // The third of three leaves has no sibling: it moves up unchanged.
        let node = |left: Digest, right: Digest| Digest::of_parts(&[&[1], &left.0, &right.0]);
        let root = node(node(leaves[0], leaves[1]), leaves[2]);
        let any = Digest::of(b"any");
        let manifest = format!(
            r#"{{"schema_version":"1.0","kind":"probe","run_id":"{}","suite_id":"suite","suite_sha256":"{any}",
                "suite_content_sha256":"{any}","datasets":[],"targets":[],"seed":7,"plan_sha256":"{any}","record_count":3,
                "counts":{{}},"records_sha256":"{any}","records_merkle_root":"{root}","config_sha256":"{any}",
                "summary_sha256":"{any}","proofhouse_version":"0.1","toolchains":{{}},"sandbox":null,"started_at":"",
                "completed_at":"","determinism":{{"strict_serialization":true,"deterministic_artifacts":true}},
                "platform":null,"command":null}}"#,
            samples::run_id()
        );
        let lab = Self {
            dir: tempfile::tempdir().unwrap(),
            records,
            manifest: format::parse(manifest.as_bytes()).unwrap(),
        };
        let paths = lab.paths();
        fs::create_dir(&paths.dir).unwrap();
        fs::write(paths.config(), "config").unwrap();
        fs::write(paths.summary(), "summary").unwrap();
        fs::write(paths.envelope(), "envelope").unwrap();
        fs::write(paths.records(), lab.records.concat()).unwrap();
        fs::write(paths.manifest(), canonical::to_file(&lab.manifest).unwrap()).unwrap();
        lab
    }

    /// The same, signed.
    fn signed() -> Self {
        let lab = Self::new();
        lab.attest(&lab.statement());
        lab
    }

    fn paths(&self) -> RunPaths {
        RunPaths::new(Utf8PathBuf::from_path_buf(self.dir.path().join("run")).unwrap())
    }

    fn statement(&self) -> Statement {
        statement(&self.paths(), &self.manifest).unwrap()
    }

    fn attest(&self, statement: &Statement) {
        let envelope = Dsse::sign(statement, "word".to_owned(), sign);
        fs::write(self.paths().attestation(), canonical::to_file(&envelope).unwrap()).unwrap();
    }

    fn found(&self) -> Vec<String> {
        let mut findings = Findings::default();
        check(&self.paths(), fits, &mut findings);
        findings.list.iter().map(ToString::to_string).collect()
    }

    /// What is found where the signed statement says something else.
    fn found_after(&self, change: impl FnOnce(&mut Statement)) -> Vec<String> {
        let mut statement = self.statement();
        change(&mut statement);
        self.attest(&statement);
        self.found()
    }
}

fn stored_digest(line: &[u8]) -> Digest {
    let mut spans = Spans::default();
    Line::split(line.trim_ascii_end(), &mut spans).unwrap().get(HEAD.record_sha256).unwrap()
}

#[test]
fn a_statement_names_each_file_that_is_there() {
    let lab = Lab::new();
    let names = |statement: &Statement| {
        statement.subject.iter().map(|subject| subject.name.clone()).collect::<Vec<_>>().join(" ")
    };
    let found = lab.statement();
    assert_eq!(
        names(&found),
        "../run.run.json config.resolved.yaml manifest.json records.jsonl summary.json"
    );
    assert_eq!(found.subject[0].digest.sha256, Digest::of(b"envelope"));
    assert_eq!(found.subject[1].digest.sha256, Digest::of(b"config"));
    assert_eq!(found.subject[4].digest.sha256, Digest::of(b"summary"));
    assert_eq!((found.predicate.record_count, found.predicate.proofhouse_version.as_str()), (3, "0.1"));
    assert_eq!(found.predicate.records_merkle_root, lab.manifest.records_merkle_root);

    fs::write(lab.paths().report(), "report").unwrap();
    fs::remove_file(lab.paths().envelope()).unwrap();
    let found = lab.statement();
    assert_eq!(names(&found), "config.resolved.yaml manifest.json records.jsonl report.html summary.json");
}

/// The example of DSSE's own protocol page.
#[test]
fn what_is_signed_is_the_pre_authentication_encoding() {
    let expected = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world";
    assert_eq!(signed_bytes("http://example.com/HelloWorld", b"hello world"), expected);
}

#[test]
fn either_alphabet_is_read_and_each_text_once() {
    for (text, expected) in [
        ("+/8=", Some(vec![0xfb, 0xff])),
        ("-_8=", Some(vec![0xfb, 0xff])),
        ("", Some(Vec::new())),
        ("+_8=", None),
        ("+/8", None),
        ("+/9=", None),
        ("+/8=\n", None),
    ] {
        assert_eq!(decode(text), expected, "{text}");
    }
}

#[test]
fn an_envelope_is_the_first_line_or_all_lines() {
    let envelope = Dsse::sign(&Lab::new().statement(), "word".to_owned(), sign);
    let line = canonical::to_file(&envelope).unwrap();
    let pretty = serde_json::to_vec_pretty(&envelope).unwrap();
    let followed = [&line[..], b"another line\n"].concat();
    for bytes in [&line[..], line.trim_ascii_end(), &pretty, &followed] {
        assert_eq!(Dsse::parse(bytes), Ok(envelope.clone()));
    }
    for bytes in [&b""[..], b"\n", b"{}", b"[]\n"] {
        assert_eq!(Dsse::parse(bytes), Err(Unproven::Form));
    }
}

#[test]
fn a_statement_is_proven_by_any_signature_of_the_key() {
    let statement = Lab::new().statement();
    let sound = Dsse::sign(&statement, "word".to_owned(), sign);
    assert_eq!((sound.payload_type.as_str(), sound.signatures[0].keyid.as_str()), (PAYLOAD_TYPE, "word"));
    let of = |change: &dyn Fn(&mut Dsse)| {
        let mut envelope = sound.clone();
        change(&mut envelope);
        envelope.proven(fits)
    };
    let other = || Signature { keyid: "word".to_owned(), sig: STANDARD.encode(b"of somebody else") };
    let resigned = |envelope: &mut Dsse| {
        let payload = decode(&envelope.payload).unwrap();
        envelope.signatures[0].sig = STANDARD.encode(sign(&signed_bytes(&envelope.payload_type, &payload)));
    };
    assert_eq!(of(&|_| {}), Ok(statement.clone()));
    assert_eq!(of(&|envelope| envelope.signatures.insert(0, other())), Ok(statement.clone()));
    assert_eq!(of(&|envelope| envelope.signatures[0].keyid.clear()), Ok(statement));
    assert_eq!(of(&|envelope| envelope.signatures.clear()), Err(Unproven::Unsigned));
    assert_eq!(of(&|envelope| envelope.signatures = vec![other()]), Err(Unproven::Signature));
    assert_eq!(of(&|envelope| envelope.signatures[0].sig = "no base64".to_owned()), Err(Unproven::Signature));
    assert_eq!(of(&|envelope| envelope.payload = STANDARD.encode("{}")), Err(Unproven::Signature));
    assert_eq!(of(&|envelope| envelope.payload_type.push('x')), Err(Unproven::Signature));
    assert_eq!(of(&|envelope| envelope.payload = "no base64".to_owned()), Err(Unproven::Form));
    // Signed by the key, and still no statement of this type.
    let retyped = of(&|envelope| {
        envelope.payload_type.push('x');
        resigned(envelope);
    });
    let emptied = of(&|envelope| {
        envelope.payload = STANDARD.encode("{}");
        resigned(envelope);
    });
    assert_eq!((retyped, emptied), (Err(Unproven::Form), Err(Unproven::Form)));
}

#[test]
fn a_signed_run_is_what_was_signed() {
    let lab = Lab::signed();
    assert!(lab.found().is_empty(), "{:?}", lab.found());
    // The envelope has the name of the directory, which may have been moved since.
    let moved = lab.found_after(|statement| statement.subject[0].name = "../elsewhere.run.json".to_owned());
    assert!(moved.is_empty(), "{moved:?}");
}

#[test]
fn an_attestation_that_cannot_be_held_against_the_run_is_told() {
    let lab = Lab::signed();
    let path = lab.paths().attestation();
    fs::write(&path, "{}").unwrap();
    assert_eq!(lab.found(), ["run.intoto.jsonl: is not a DSSE envelope with an in-toto Statement"]);
    fs::remove_file(&path).unwrap();
    let missing = "run.intoto.jsonl: is missing: the run was not signed, or its signature was removed";
    assert_eq!(lab.found(), [missing]);
    fs::create_dir(&path).unwrap();
    let [found] = &lab.found()[..] else { panic!("one finding") };
    assert!(found.starts_with("run.intoto.jsonl: cannot be read: "), "{found}");
    fs::remove_dir(&path).unwrap();

    let about = "run.intoto.jsonl: is not a statement about a run";
    assert_eq!(lab.found_after(|statement| statement.statement_type.push('x')), [about]);
    assert_eq!(lab.found_after(|statement| statement.predicate_type.push('x')), [about]);
}

#[test]
fn a_statement_speaks_of_all_files_of_a_run_and_of_no_other() {
    let lab = Lab::signed();
    for needed in ["config.resolved.yaml", "manifest.json", "records.jsonl", "summary.json"] {
        let found = lab.found_after(|statement| statement.subject.retain(|subject| subject.name != needed));
        assert_eq!(found, [format!("run.intoto.jsonl: says nothing about `{needed}`")]);
    }
    // The envelope's absence is told by whoever reads it.
    assert!(lab.found_after(|statement| drop(statement.subject.remove(0))).is_empty());
    for strange in ["../run.intoto.jsonl", "run.run.json", "../../etc/passwd", "notes.txt"] {
        let found = lab.found_after(|statement| {
            let digest = Sha256 { sha256: Digest::of(b"") };
            statement.subject.insert(0, Subject { digest, name: strange.to_owned() });
            statement.subject[1].digest.sha256 = Digest::of(b"other");
        });
        let expected = [
            format!("run.intoto.jsonl: speaks of `{strange}`, which is no file of a run"),
            "run.run.json: is not the file that was signed".to_owned(),
        ];
        assert_eq!(found, expected, "what comes after it is looked at too");
    }
}

#[test]
fn a_file_that_was_changed_or_removed_is_told() {
    let lab = Lab::signed();
    fs::write(lab.paths().summary(), "another").unwrap();
    assert_eq!(lab.found(), ["summary.json: is not the file that was signed"]);
    fs::remove_file(lab.paths().summary()).unwrap();
    let [found] = &lab.found()[..] else { panic!("one finding") };
    assert!(found.starts_with("summary.json: was signed and cannot be read: "), "{found}");
}

#[test]
fn a_record_is_proven_by_its_id_or_its_place() {
    let lab = Lab::signed();
    let paths = lab.paths();
    for (index, line) in lab.records.iter().enumerate() {
        let proof = prove(&paths, &index.to_string()).unwrap();
        assert_eq!(proof.record.as_bytes(), line.trim_ascii_end());
        assert_eq!((proof.index, proof.record_count), (index as u64, 3));
        assert_eq!(proof.manifest.as_bytes(), fs::read(paths.manifest()).unwrap());
        assert_eq!(proof.check(Some(&fits)), [""; 0]);
        let id = crate::RecordId::of_trial(samples::SLOT, &format!("case-{index}"), None, 0);
        assert_eq!(prove(&paths, &id.to_string()).unwrap(), proof);
    }
    assert_eq!(prove(&paths, "2").unwrap().audit_path.len(), 1, "only the node over the other two");
    assert_eq!(prove(&paths, "3").unwrap_err().to_string(), "the run has no record `3`");
    fs::write(paths.records(), [&lab.records[0][..], b"{}\n"].concat()).unwrap();
    assert_eq!(
        prove(&paths, "0").unwrap_err().to_string(),
        "line 2 of `records.jsonl` is not a record",
        "the root is that of sound records only"
    );
}

#[test]
fn what_a_proof_does_not_prove_is_told() {
    const RECORD: &str = "the record does not match its own digest, run or index";
    const TREE: &str = "the record is not in the tree whose root the manifest holds";
    let lab = Lab::signed();
    let sound = prove(&lab.paths(), "1").unwrap();
    let of = |change: &dyn Fn(&mut Proof)| {
        let mut proof = sound.clone();
        change(&mut proof);
        proof.check(None)
    };
    let forged = |key: &str, value: &str| {
        let line = samples::forged(&lab.records[1], key, value);
        String::from_utf8(line.trim_ascii_end().to_vec()).unwrap()
    };
    assert!(of(&|_| {}).is_empty());
    assert_eq!(of(&|proof| proof.record = proof.record.replace("true", "false")), [RECORD]);
    assert_eq!(of(&|proof| proof.record.clear()), [RECORD]);
    assert_eq!(of(&|proof| proof.record = forged("run_id", r#""000000000000""#)), [RECORD]);
    assert_eq!(of(&|proof| proof.record = forged("index", "2")), [RECORD]);
    assert_eq!(of(&|proof| proof.record = forged("passed", "false")), [TREE]);
    assert_eq!(of(&|proof| proof.index = 2), [RECORD]);
    assert_eq!(of(&|proof| proof.audit_path.truncate(1)), [TREE]);
    // Four records would have the same way to the root: that the manifest counts three is looked at by itself.
    assert_eq!(of(&|proof| proof.record_count = 4), [TREE]);
    let root = lab.manifest.records_merkle_root.to_string();
    let other = Digest::of(b"other").to_string();
    assert_eq!(of(&|proof| proof.manifest = proof.manifest.replace(&root, &other)), [TREE]);
    let [version] = &of(&|proof| proof.manifest = proof.manifest.replace("\"1.0\"", "\"9.0\""))[..] else {
        panic!("one reason")
    };
    assert_eq!(version, "manifest: `schema_version` is 9.0; this program knows 1.0");
}

#[test]
fn a_proof_of_a_signed_run_needs_the_signature_of_its_manifest() {
    let lab = Lab::signed();
    let sound = prove(&lab.paths(), "1").unwrap();
    let nobody = |_: &[u8], _: &[u8]| false;
    assert_eq!(
        sound.check(Some(&nobody)),
        ["the attestation is not signed by this key, or was changed after it was signed"]
    );
    let mut stripped = sound.clone();
    stripped.attestation = None;
    assert_eq!(stripped.check(Some(&fits)), ["the run was not signed"]);
    assert!(stripped.check(None).is_empty());

    // A sound proof, and a sound signature, of something else: of the manifest's bytes under another name, and of another
    // manifest under its name.
    for (name, digest) in
        [("summary.json", Digest::of(sound.manifest.as_bytes())), ("manifest.json", Digest::of(b"another"))]
    {
        let mut statement = lab.statement();
        statement.subject = vec![Subject { digest: Sha256 { sha256: digest }, name: name.to_owned() }];
        let mut proof = sound.clone();
        proof.attestation = Some(Dsse::sign(&statement, String::new(), sign));
        assert_eq!(proof.check(Some(&fits)), ["the manifest is not the one that was signed"]);
    }
}
