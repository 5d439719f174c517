//! The short form of the fuzzers in `fuzz/`: every reader of what others wrote, fed with its own examples and with what small changes
//! make of them. `PROOFHOUSE_FUZZ=100` feeds a hundred times as much.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use camino::Utf8PathBuf;
use proofhouse::readers::{self, Reader};

use crate::lab::{Lab, variable};

/// Readers that write a file first, or read in many ways, are slower.
const FED: usize = 12_000;
const FED_WITH_FILES: usize = 2_500;
/// How much larger the process may grow, in bytes; the inputs are a few kB.
const MEMORY: u64 = 300 << 20;

/// Pieces that break readers.
const PIECES: [&[u8]; 24] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b"\n",
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"1e999",
    b"-",
    b"99999999999999999999",
    b"\xef\xbb\xbf",
    b"```",
    b"null",
    b": ",
    b"*a",
    b"&a",
    b"<<",
    b"{{",
    b"\r\n",
    b"%%",
];

/// Inputs that once broke a reader.
const FOUND: [&[u8]; 1] = [b"fn a"];

struct Mutator(u64);

impl Mutator {
    fn next(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }

    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let from = self.next(length + 1);
        let most = self.next(64).min(length - from);
        from..from + most
    }

    /// One to six small changes of one of the inputs.
    fn changed(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = corpus[self.next(corpus.len())].clone();
        for _ in 0..=self.next(6) {
            let at = self.next(bytes.len() + 1);
            match self.next(9) {
                0 if at < bytes.len() => bytes[at] ^= 1 << self.next(8),
                1 if at < bytes.len() => bytes[at] = self.next(256) as u8,
                2 => drop(bytes.drain(self.range(bytes.len()))),
                3 => {
                    let part = bytes[self.range(bytes.len())].to_vec();
                    drop(bytes.splice(at..at, part));
                }
                4 => {
                    let piece = PIECES[self.next(PIECES.len())];
                    drop(bytes.splice(at..at, piece.iter().copied()));
                }
                // Deep, and long.
                5 => {
                    let piece = PIECES[self.next(PIECES.len())];
                    let many = [8, 200, 3_000][self.next(3)];
                    drop(bytes.splice(at..at, piece.repeat(many)));
                }
                6 => bytes.truncate(at),
                7 => {
                    let other = &corpus[self.next(corpus.len())];
                    bytes.truncate(at);
                    bytes.extend_from_slice(&other[self.next(other.len() + 1)..]);
                }
                _ => {
                    let digits = self.next(usize::MAX).to_string();
                    drop(bytes.splice(at..at, digits.into_bytes()));
                }
            }
        }
        bytes.truncate(256 << 10);
        bytes
    }
}

/// What earlier versions wrote, for readers of runs and suites.
fn kept(name: &str) -> Vec<Vec<u8>> {
    let files: &[&str] = match name {
        "record" => &["run/records.jsonl"],
        "envelope" => &["run.run.json", "run/manifest.json", "run/summary.json"],
        "suite" => &["suite.yaml"],
        _ => &[],
    };
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1");
    let all = ["probe", "code", "robustness", "containment"]
        .into_iter()
        .flat_map(|kind| files.iter().map(move |file| (kind, *file)));
    all.map(|(kind, file)| {
        let mut bytes = std::fs::read(golden.join(kind).join(file)).unwrap();
        // Some lines are enough to change.
        let end = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).nth(2);
        if name == "record" {
            bytes.truncate(end.unwrap_or(bytes.len()));
        }
        bytes
    })
    .collect()
}

/// The most memory that this process has had, in bytes; nothing where that cannot be known.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()? << 10)
}

fn feed(reader: &Reader, count: usize) {
    let lab = Lab::new();
    let folder = Utf8PathBuf::from_path_buf(lab.path("")).unwrap();
    let mut corpus: Vec<Vec<u8>> = reader.examples.iter().map(|example| example.to_vec()).collect();
    corpus.extend(kept(reader.name));
    assert!(!corpus.is_empty(), "`{}` has examples", reader.name);
    let before = peak_bytes();
    let mut mutator = Mutator(0x5eed);
    let changed = (0..count).map(|_| mutator.changed(&corpus));
    // What was found once is looked at first.
    for input in FOUND.iter().map(|found| found.to_vec()).chain(corpus.clone()).chain(changed) {
        let read = catch_unwind(AssertUnwindSafe(|| (reader.read)(&input, &folder)));
        assert!(read.is_ok(), "`{}` panics on {:?}", reader.name, String::from_utf8_lossy(&input));
    }
    if let (Some(before), Some(after)) = (before, peak_bytes()) {
        assert!(after - before < MEMORY, "`{}` took {} bytes", reader.name, after - before);
    }
}

fn fed(name: &str, count: usize) {
    let times = variable("PROOFHOUSE_FUZZ").map_or(1, |text| text.parse().expect("a number"));
    feed(readers::named(name).unwrap(), count * times);
}

macro_rules! fed {
    ($($test:ident $name:literal $count:expr;)*) => {
        $(#[test] fn $test() { fed($name, $count); })*

        #[test]
        fn every_reader_is_fed_and_has_its_fuzzer() {
            let fed = [$($name),*];
            for reader in readers::all() {
                assert!(fed.contains(&reader.name), "`{}` is fed by no test", reader.name);
                let target = format!("../../fuzz/fuzz_targets/{}.rs", reader.name.replace('-', "_"));
                let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&target)).expect(&target);
                assert!(text.contains(&format!("feed(\"{}\", bytes)", reader.name)), "{target}");
            }
        }
    };
}

fed! {
    json_is_read_whatever_it_is "json" FED;
    suites_are_read_whatever_they_are "suite" FED_WITH_FILES;
    datasets_are_read_whatever_they_are "dataset" FED_WITH_FILES;
    records_are_read_whatever_they_are "record" FED_WITH_FILES;
    envelopes_are_read_whatever_they_are "envelope" FED;
    cassettes_are_read_whatever_they_are "cassette" FED;
    bodies_are_read_whatever_they_are "http-body" FED_WITH_FILES;
    samples_are_read_whatever_they_are "sample" FED;
    problems_are_read_whatever_they_are "problem" FED_WITH_FILES;
    completions_are_read_whatever_they_are "completion" FED_WITH_FILES;
    messages_are_read_whatever_they_are "mcp" FED;
    cases_are_read_whatever_they_are "containment-case" FED;
    answers_are_read_whatever_they_are "answer" FED;
    requests_of_agents_are_read_whatever_they_are "agent-request" FED;
}
