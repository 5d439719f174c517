//! Every bit of every record, every bit of every other file, every edit of lines: none goes unnoticed.

use super::tests::{Lab, texts};
use super::*;
use crate::attest::{self, Dsse};
use crate::files;
use crate::record::{HEAD, Kind, samples};
use crate::{Digest, Json, canonical};

/// Sound records of every kind, of many lengths.
fn records() -> Vec<Vec<u8>> {
    let (observed, stop) = samples::seen();
    let mut all = Vec::new();
    for index in 0..40u64 {
        let output = match index % 4 {
            0 => Json::Null,
            1 => Json::from("x".repeat(index as usize)),
            2 => Json::from("é\"\\\n\u{1f600}"),
            _ => Json::Array(vec![Json::Number(index as f64 / 3.0), Json::Bool(true)]),
        };
        all.push(samples::probe(index, &output, |_| {}));
        all.push(samples::code(index));
        all.push(samples::robustness(index, (index % 2 == 0).then_some((&observed, &stop))));
        all.push(samples::containment(index, None));
    }
    all
}

/// What `verify` finds in a single line, without the digests of the whole file.
fn is_noticed(line: &[u8], spans: &mut Spans) -> bool {
    let Ok(line) = Line::split(line, spans) else { return true };
    match (line.get(HEAD.record_sha256), line.recompute_digest()) {
        (Ok(stored), Ok(computed)) => stored != computed,
        _ => true,
    }
}

#[test]
fn a_million_flipped_bits_of_records_are_all_noticed_in_their_own_line() {
    let (mut flips, mut spans) = (0u64, Spans::default());
    for record in records() {
        let mut line = record.strip_suffix(b"\n").unwrap().to_vec();
        assert!(!is_noticed(&line, &mut spans), "a sound record");
        for at in 0..line.len() {
            for bit in 0..8 {
                line[at] ^= 1 << bit;
                // A flipped bit that makes a newline splits the line: both halves are no records.
                let halves = line.split(|byte| *byte == b'\n').collect::<Vec<_>>();
                assert!(halves.iter().all(|half| is_noticed(half, &mut spans)), "bit {bit} of byte {at}");
                line[at] ^= 1 << bit;
                flips += 1;
            }
        }
    }
    assert!(flips >= 1_000_000, "{flips} flips");
}

/// Stands in for a key: whoever knows the word signs. Real keys are tested where they are.
fn sign(bytes: &[u8]) -> Vec<u8> {
    Digest::of_parts(&[b"word", bytes]).0.to_vec()
}

fn is_sound(paths: &RunPaths) -> bool {
    let Ok(mut verified) = verify(paths, |_| {}) else { return false };
    attest::check(paths, |signed, signature| sign(signed) == signature, &mut verified.findings);
    verified.findings.total == 0 && verified.findings.left_over.is_empty()
}

#[test]
fn a_flipped_bit_in_any_byte_of_a_signed_run_is_noticed() {
    let lab = Lab::of(Kind::Probe, vec![samples::probe(0, &Json::from("x"), |_| {})]);
    lab.verify();
    let paths = lab.paths();
    let statement = attest::statement(&paths, &lab.manifest).unwrap();
    let signed = canonical::to_file(&Dsse::sign(&statement, "word".to_owned(), sign)).unwrap();
    std::fs::write(paths.attestation(), signed).unwrap();
    assert!(is_sound(&paths));
    let all = [paths.records(), paths.manifest(), paths.config(), paths.summary(), paths.envelope()];
    for path in all {
        let whole = files::read(&path).unwrap();
        // One bit of each byte: which one differs from byte to byte.
        for at in 0..whole.len() {
            let mut bad = whole.clone();
            bad[at] ^= 1 << (at % 8);
            std::fs::write(&path, &bad).unwrap();
            assert!(!is_sound(&paths), "byte {at} of {path}");
        }
        std::fs::write(&path, &whole).unwrap();
    }
    assert!(is_sound(&paths));
}

#[test]
fn every_edit_of_lines_is_noticed() {
    let lab = Lab::probes(12);
    let whole = lab.lines.clone();
    assert!(texts(&lab.verify()).is_empty());
    let mut edits: Vec<Vec<Vec<u8>>> = Vec::new();
    let edit = |edits: &mut Vec<Vec<Vec<u8>>>, change: &dyn Fn(&mut Vec<Vec<u8>>)| {
        let mut lines = whole.clone();
        change(&mut lines);
        edits.push(lines);
    };
    for a in 0..whole.len() {
        edit(&mut edits, &|lines| drop(lines.remove(a)));
        edit(&mut edits, &|lines| lines.truncate(a));
        edit(&mut edits, &|lines| lines[a].clear());
        edit(&mut edits, &|lines| {
            lines[a].pop();
        });
        edit(&mut edits, &|lines| lines[a].insert(0, b' '));
        edit(&mut edits, &|lines| lines.insert(a, b"\n".to_vec()));
        edit(&mut edits, &|lines| lines.insert(a, b"{}\n".to_vec()));
        edit(&mut edits, &|lines| lines.push(samples::probe(12 + a as u64, &Json::Null, |_| {})));
        for b in 0..whole.len() {
            edit(&mut edits, &|lines| lines.insert(b, lines[a].clone()));
            if a != b {
                edit(&mut edits, &|lines| lines.swap(a, b));
                edit(&mut edits, &|lines| lines[a] = lines[b].clone());
                edit(&mut edits, &|lines| {
                    let line = lines.remove(a);
                    lines.insert(b, line);
                });
            }
        }
    }
    assert!(edits.len() > 600, "{}", edits.len());
    for lines in edits {
        let bytes = lines.concat();
        if bytes == whole.concat() {
            continue;
        }
        std::fs::write(lab.paths().records(), bytes).unwrap();
        let found = verify(&lab.paths(), |_| {}).unwrap().findings;
        assert!(found.list.iter().any(|finding| finding.file == "records.jsonl"), "{:?}", found.list);
    }
}
