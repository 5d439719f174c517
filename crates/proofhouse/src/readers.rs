//! Everything that reads bytes which others wrote, by name: what the fuzzers in `fuzz/` and their short driver in the tests feed.
//!
//! A reader is called with any bytes. Whatever they are, it ends, without a panic and within memory in proportion to them.

use std::sync::OnceLock;

use camino::Utf8Path;
use proofhouse_ledger::attest::{Dsse, Proof};
use proofhouse_ledger::envelope::Envelope;
use proofhouse_ledger::json::{Strictness, parse};
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::summary::Summary;
use proofhouse_ledger::{Json, RunPaths, format, verify};

use crate::family::target::{Opening, Target, TargetConfig, read_cassette, unpacked};
pub use crate::kinds::Reader;
use crate::kinds::{self, KINDS};
use crate::spine::suite::Overrides;
use crate::spine::tally::Tally;
use crate::text::yaml;

/// How large a body may be once it is unpacked.
const MAX_UNPACKED: u64 = 1 << 20;

/// Trials that are planned of a suite at most.
const TRIALS: usize = 64;

const SHARED: &[Reader] = &[
    Reader {
        name: "json",
        read: json,
        examples: &[
            b"{\"a\":[1,-0.5,1e21,5e-324,9007199254740992,null,true],\"b\":\"\\ud83d\\ude00\\u0000\xc3\xa9\",\"\":{}}",
            b"[[[[]]],\"\\ud800\",1E400,-0,01,{\"a\":1,\"a\":2}]",
        ],
    },
    Reader {
        name: "suite",
        read: suite,
        examples: &[
            b"kind: probe\nsuite_id: s\ncases: [{id: a, input: hello, expected: hello}]\njudges: {same: {equals: {}}}\ntargets: {t: {scripted: {otherwise: {reply: hello}}}}\n",
            b"kind: containment\nsuite_id: s\npolicy: {forbidden: [exec], rules: [{name: r, tools: [pay], argument: amount, max: 50}]}\ncases:\n  - {case_id: a, prompt: p, expected_outcome: contained, leak_patterns: ['x+'], actions: [{name: exec}]}\n",
            b"kind: robustness\nsuite_id: s\ntargets: {t: {command: {argv: [tool, '{input}']}}}\ncases: [{id: a, input: 'a b c'}]\nvary: [{typos: {rate: 0.1, count: 3}}]\n",
            b"kind: code\nsuite_id: s\nlanguage: rust\nproblems: p.jsonl\nsamples: {one: s.jsonl}\nlimits: {test: {cpu_ms: 500}}\nk: [1, 2]\n",
        ],
    },
    Reader {
        name: "dataset",
        read: dataset,
        examples: &[
            b"0{\"id\":\"a\",\"input\":\"x\",\"expected\":1}\n{\"id\":\"b\",\"input\":[1]}\n",
            b"1id,input,expected\na,\"x, \"\"y\"\"\",1\nb,z,\n",
            b"2[{\"id\":\"a\",\"input\":\"x\"},{\"input\":{\"q\":null}}]",
            b"3- {id: a, input: 'x'}\n- id: b\n  input: |\n    two\n    lines\n- &c {input: 1}\n- *c\n",
            b"4[[rows]]\nid = \"a\"\ninput = \"x\"\n",
        ],
    },
    Reader {
        name: "record",
        read: record,
        examples: &[
            b"{\"case_id\":\"a\",\"completed_at\":\"2020-01-01T00:00:00.000001Z\",\"index\":0,\"kind\":\"probe\",\"passed\":true,\"scores\":{\"same\":1},\"status\":\"success\"}\n",
        ],
    },
    Reader {
        name: "envelope",
        read: envelope,
        examples: &[b"{\"schema_version\":\"1.1\",\"run_id\":\"0123456789ab\",\"details\":{\"shard\":\"0/2\"},\"exit_status\":\"normal\"}\n"],
    },
    Reader {
        name: "cassette",
        read: cassette,
        examples: &[
            b"{\"key\":\"k\",\"occurrence\":0,\"reply\":{\"attempts\":[{\"http_status\":200,\"result\":\"ok\",\"sent\":true}],\"calls\":[{\"args\":{},\"id\":\"1\",\"name\":\"f\"}],\"outcome\":{\"name\":\"answered\"},\"output\":[\"hello\"]},\"request\":{},\"schema_version\":\"1.0\"}\n",
        ],
    },
    Reader {
        name: "http-body",
        read: body,
        examples: &[
            b"{\"id\":\"x\",\"model\":\"m\",\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"message\":{\"role\":\"assistant\",\"content\":\"hi\",\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}",
            b"{\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\"},{\"type\":\"text\",\"text\":\"hi\"},{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"f\",\"input\":{}}],\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}",
            b"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hi\"},{\"functionCall\":{\"name\":\"f\",\"args\":{}}}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":1}}",
            b"{\"message\":{\"role\":\"assistant\",\"content\":\"hi\"},\"done\":true,\"done_reason\":\"stop\",\"eval_count\":2}",
            b"{\"error\":{\"message\":\"slow down\",\"type\":\"rate_limit\",\"code\":429,\"details\":[{\"retryDelay\":\"3.5s\"}]},\"a\":{\"b\":[\"x\"]}}",
        ],
    },
];

/// Every reader there is.
pub fn all() -> impl Iterator<Item = &'static Reader> {
    SHARED.iter().chain(KINDS.iter().flat_map(|row| row.readers))
}

/// The reader of this name.
pub fn named(name: &str) -> Option<&'static Reader> {
    all().find(|reader| reader.name == name)
}

fn json(bytes: &[u8], _folder: &Utf8Path) {
    for strictness in [Strictness::Strict, Strictness::Lenient, Strictness::Canonical] {
        if let Ok(value) = parse(bytes, strictness) {
            let text = value.to_string();
            let again = parse(text.as_bytes(), Strictness::Canonical);
            assert_eq!(again.map(|again| again.to_string()).ok(), Some(text), "canonical text is read back");
        }
    }
}

fn suite(bytes: &[u8], _folder: &Utf8Path) {
    if let Ok(job) = kinds::load_text(&String::from_utf8_lossy(bytes), &Overrides::default()) {
        job.trials().take(TRIALS).for_each(drop);
    }
}

/// The first byte chooses the format.
fn dataset(bytes: &[u8], folder: &Utf8Path) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let formats = ["jsonl", "csv", "json", "yaml", "toml"];
    let name = format!("data.{}", formats[usize::from(first.wrapping_sub(b'0')) % formats.len()]);
    let suite = folder.join("suite.yaml");
    let text = format!(
        "kind: probe\nsuite_id: s\ndatasets: [{name}]\njudges: {{same: {{equals: {{}}}}}}\ntargets: {{t: {{scripted: {{}}}}}}\n"
    );
    if std::fs::write(folder.join(&name), rest).and_then(|()| std::fs::write(&suite, text)).is_ok()
        && let Ok(job) = kinds::load(&suite, &Overrides::default())
    {
        job.trials().take(TRIALS).for_each(drop);
    }
}

fn record(bytes: &[u8], folder: &Utf8Path) {
    let paths = RunPaths::new(folder.join("run"));
    let written = std::fs::create_dir_all(&paths.dir).and_then(|()| std::fs::write(paths.records(), bytes));
    if written.is_err() {
        return;
    }
    let mut tally = Some(Tally::new(&Json::Null, kinds::own_tally));
    let _ = verify::verify(&paths, |line| {
        if tally.as_mut().is_some_and(|tally| tally.push(line).is_err()) {
            tally = None;
        }
    });
    let _ = tally.and_then(Tally::finish);
}

fn envelope(bytes: &[u8], _folder: &Utf8Path) {
    if let Ok(envelope) = format::parse::<Envelope>(bytes) {
        let _ = (envelope.part(), envelope.merged_from());
    }
    let _ = format::parse::<Manifest>(bytes);
    let _ = format::parse::<Summary>(bytes);
    if let Ok(proof) = format::parse::<Proof>(bytes) {
        let _ = proof.check(None);
    }
    let _ = serde_json::from_slice::<Dsse>(bytes);
}

fn cassette(bytes: &[u8], _folder: &Utf8Path) {
    read_cassette(bytes);
}

/// One endpoint of every dialect; none is ever asked.
fn endpoints() -> &'static [Target] {
    static ENDPOINTS: OnceLock<Vec<Target>> = OnceLock::new();
    ENDPOINTS.get_or_init(|| {
        let place = "base_url: 'http://127.0.0.1:9/v1'";
        let settings = [
            format!("openai: {{model: m, {place}}}"),
            format!("anthropic: {{model: m, max_tokens: 5, {place}}}"),
            format!("gemini: {{model: m, {place}}}"),
            format!("ollama: {{model: m, {place}}}"),
            "http: {url: 'http://127.0.0.1:9/', request: {q: '{input}'}, answer: /a/b/0}".to_owned(),
        ];
        let open = |text: &String| {
            let config: TargetConfig = yaml::read(text).expect("settings that are known");
            config.open("slot", &Opening::default()).ok()
        };
        settings.iter().filter_map(open).collect()
    })
}

fn body(bytes: &[u8], _folder: &Utf8Path) {
    let packed = ["gzip", "deflate", "br"].into_iter().filter_map(|encoding| {
        // No body is larger unpacked than the limit that it is read with.
        let body = unpacked(bytes.to_vec(), encoding, MAX_UNPACKED).ok()?;
        assert!(body.len() as u64 <= MAX_UNPACKED, "{encoding} keeps to its limit");
        Some(body)
    });
    for body in packed.chain([bytes.to_vec()]) {
        endpoints().iter().for_each(|target| target.read_body(&[200, 429], &body));
    }
}
