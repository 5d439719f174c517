//! Whatever is in the files: an answer, never a panic, and a message that stays on its lines.

use proptest::prelude::*;

use super::{Lab, WITH_DATA};
use crate::kinds::probe::Probe;
use crate::spine::suite::Overrides;

const FULL: &str = include_str!("full.yaml");
const ROWS: [(&str, &str); 4] = [
    (
        "x.jsonl",
        "{\"id\":\"a\",\"input\":\"ä\",\"tags\":[\"t\",{\"u\":-1.5e3}]}\n{\"id\":2,\"input\":\"\\ud83d\\ude00\"}\n",
    ),
    ("x.json", "[{\"id\":\"a\",\"input\":\"ä\",\"tags\":[\"t\"]},\n {\"id\":2,\"input\":\"\\\"]\"}]\n"),
    ("x.csv", "id,input,tags\na,\"x, \"\"y\"\"\",t;u\nb,\"two\nlines\",\n"),
    (
        "x.yaml",
        "- &a {id: a, input: ä, tags: [t]}\n- {<<: *a, id: 2}\n- id: b\n  input: |\n    two\n    lines\n",
    ),
];

/// What means something to one of the formats.
const SIGNS: [&str; 14] =
    ["{", "}", "[", "]", "\"", "\\u", "*a", "<<: ", "- ", "\n", "\t", ": ", "!!int ", "~"];

/// Edits of a text: at a place, so many bytes are replaced by others.
fn edits() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, Vec<u8>)>> {
    let replacement = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..4),
        prop::sample::select(&SIGNS[..]).prop_map(|sign| sign.as_bytes().to_vec()),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), 0..6usize, replacement), 1..5)
}

fn mangle(text: &str, edits: Vec<(prop::sample::Index, usize, Vec<u8>)>) -> Vec<u8> {
    edits.into_iter().fold(text.as_bytes().to_vec(), |mut bytes, (at, length, replacement)| {
        let from = if bytes.is_empty() { 0 } else { at.index(bytes.len()) };
        let to = (from + length).min(bytes.len());
        bytes.splice(from..to, replacement);
        bytes
    })
}

/// Loads, reads all cases, and looks at whatever message comes.
fn survives(lab: &Lab) {
    for strict in [true, false] {
        let overrides = Overrides { strict_serialization: Some(strict), ..Overrides::default() };
        let message = match lab.load_with(&overrides) {
            Ok(loaded) => {
                let streamed =
                    loaded.body_as::<Probe>().unwrap().cases().filter(Result::is_ok).count() as u64;
                assert_eq!(streamed, loaded.case_count);
                assert_eq!(loaded.identity(), lab.load_with(&overrides).unwrap().identity());
                crate::spine::suite::yaml::emit(&loaded.resolved())
            }
            Err(problems) => problems.to_string(),
        };
        assert!(message.chars().all(|c| c == '\n' || !c.is_control()), "{message:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn mangled_suites(edits in edits()) {
        let lab = Lab::new("").file("suite.yaml", mangle(FULL, edits));
        survives(&lab.file("data/x.jsonl", "{\"task_id\":\"t\",\"question\":\"q\",\"answer\":\"a\"}\n"));
    }

    #[test]
    fn mangled_rows(which in 0..ROWS.len(), edits in edits()) {
        let (name, text) = ROWS[which];
        survives(&Lab::new(&WITH_DATA.replace("x.jsonl", name)).file(&format!("data/{name}"), mangle(text, edits)));
    }
}
