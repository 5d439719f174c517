//! The one reader of YAML, and the limits that every YAML text is held to.
//!
//! Suites and datasets keep the place of every value and are composed in `spine/suite`, within `MAX_DEPTH`, `MAX_VALUES` and
//! `MAX_TEXT_BYTES`. Everything else is read here, a run's `config.resolved.yaml` among it. Defaults make that longer and deeper
//! than the suite it came from, so this reader goes further, and `readable_again` says before a run begins whether it goes far enough.

use proofhouse_ledger::Json;
use proofhouse_ledger::files::MAX_FILE_BYTES;
use serde::de::DeserializeOwned;
use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;

use super::complaint::Complaint;

/// How deep lists and maps may nest in what a user writes.
pub(crate) const MAX_DEPTH: usize = proofhouse_ledger::json::MAX_DEPTH;

/// How many values a user's document may have after its aliases are expanded: a bomb stops here.
pub(crate) const MAX_VALUES: usize = 1_000_000;

/// How many bytes of text a user's document may have after its aliases are expanded.
pub(crate) const MAX_TEXT_BYTES: usize = 128 << 20;

/// How deep this reader goes.
const READ_DEPTH: usize = MAX_DEPTH + 32;

/// Documents that nest no deeper are read on any thread.
const SHALLOW: usize = 32;

/// The stack for others.
const STACK_BYTES: usize = 64 << 20;

/// How many keys and values this reader takes, aliases expanded.
const READ_NODES: usize = 8 * MAX_VALUES;

/// How many bytes of text this reader takes, aliases expanded.
const READ_TEXT_BYTES: usize = MAX_FILE_BYTES as usize;

/// Reads a document: JSON or YAML 1.2, in which `yes` is text.
///
/// # Errors
/// What is wrong with it and where, or which limit it goes beyond.
pub fn read<T: DeserializeOwned + Send>(text: &str) -> Result<T, Complaint> {
    if nests_at_most(text) <= SHALLOW {
        return read_here(text);
    }
    // Whoever reads may be a thread with little stack, and every level of a document takes some of it.
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(STACK_BYTES);
        match reader.spawn_scoped(scope, || read_here(text)) {
            Ok(reader) => reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => Err(Complaint::new(format!("no thread to read it with: {error}"))),
        }
    })
}

/// No document nests deeper: a level is a column of its line's beginning, or a bracket.
fn nests_at_most(text: &str) -> usize {
    let brackets = text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
    let opening = |line: &str| line.bytes().take_while(|byte| matches!(byte, b' ' | b'-' | b'?')).count();
    // A key on the same line is one level more, and the document itself another.
    text.lines().map(opening).max().unwrap_or(0) + brackets + 2
}

fn read_here<T: DeserializeOwned>(text: &str) -> Result<T, Complaint> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: READ_DEPTH,
            flow_nesting_limit: READ_DEPTH + 1,
            max_nodes: READ_NODES,
            // Each container ends with an event of its own.
            max_events: 2 * READ_NODES + 16,
            max_total_scalar_bytes: READ_TEXT_BYTES,
        },
        strict_booleans: true,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| complaint(&error))
}

/// The same from bytes.
///
/// # Errors
/// As [`read`], or that they are not UTF-8.
pub fn read_bytes<T: DeserializeOwned + Send>(bytes: &[u8]) -> Result<T, Complaint> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Complaint::new(format!("not UTF-8 from byte {} on", error.valid_up_to())))?;
    read(text)
}

fn complaint(error: &Error) -> Complaint {
    match error.without_snippet() {
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => deep(READ_DEPTH),
        Error::Budget { breach: BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. }, .. } => many(),
        Error::Budget { breach: BudgetBreach::ScalarBytes { .. }, .. } => long(READ_TEXT_BYTES),
        _ => Complaint::of(error),
    }
}

/// Whether a value that is about to be written as YAML can be read again.
///
/// # Errors
/// The limit that it goes beyond.
pub(crate) fn readable_again(value: &Json) -> Result<(), Complaint> {
    fits(value, READ_DEPTH, READ_TEXT_BYTES)
}

/// The same of a file with other limits.
///
/// # Errors
/// The limit that it goes beyond.
pub(crate) fn fits(value: &Json, max_depth: usize, max_bytes: usize) -> Result<(), Complaint> {
    let mut size = Size::default();
    size.add(value, 0);
    match size {
        Size { depth, .. } if depth > max_depth => Err(deep(max_depth)),
        Size { nodes, .. } if nodes > READ_NODES => Err(many()),
        Size { bytes, .. } if bytes > max_bytes => Err(long(max_bytes)),
        _ => Ok(()),
    }
}

/// What a value takes when it is written.
#[derive(Debug, Default)]
struct Size {
    depth: usize,
    nodes: usize,
    /// No fewer than it takes.
    bytes: usize,
}

impl Size {
    fn add(&mut self, value: &Json, depth: usize) {
        match value {
            Json::Object(object) => {
                self.node(depth, 0);
                for (key, member) in object.iter() {
                    self.node(depth + 1, key.len());
                    self.add(member, depth + 1);
                }
                self.depth = self.depth.max(depth + 1);
            }
            Json::Array(items) => {
                self.node(depth, 0);
                items.iter().for_each(|item| self.add(item, depth + 1));
                self.depth = self.depth.max(depth + 1);
            }
            Json::String(text) => self.node(depth, text.len()),
            _ => self.node(depth, 0),
        }
    }

    fn node(&mut self, depth: usize, text_bytes: usize) {
        // A control character becomes six; a number, quotes, a dash, a colon and the end of the line are fewer than 40.
        self.bytes += 2 * depth + 6 * text_bytes + 40;
        self.nodes += 1;
    }
}

fn deep(limit: usize) -> Complaint {
    Complaint::new(format!("nested deeper than {limit}"))
}

fn many() -> Complaint {
    Complaint::new(format!("more than {READ_NODES} keys and values"))
}

fn long(limit: usize) -> Complaint {
    Complaint::new(format!("more than {} MiB", limit >> 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> Json {
        (1..depth).fold(Json::Array(Vec::new()), |inner, at| match at % 2 {
            0 => Json::Array(vec![inner]),
            _ => Json::Object([("k", inner)].into_iter().collect()),
        })
    }

    #[test]
    fn what_is_called_readable_is_read_and_what_is_not_is_refused() {
        for depth in [1, 63, 64, 65, 100, 128, READ_DEPTH] {
            readable_again(&nested(depth)).unwrap();
            assert_eq!(read::<Json>(&nested(depth).to_string()).unwrap(), nested(depth), "{depth}");
        }
        for flow in [nested(READ_DEPTH + 1), nested(400)] {
            assert_eq!(readable_again(&flow).unwrap_err().what, "nested deeper than 160");
            assert!(read::<Json>(&flow.to_string()).is_err());
        }
        let block = "- ".repeat(READ_DEPTH) + "1";
        read::<Json>(&block).unwrap();
        assert_eq!(read::<Json>(&format!("- {block}")).unwrap_err().what, "nested deeper than 160");
    }

    #[test]
    fn a_long_document_is_read_whole() {
        // 250,000 nodes and 64 MiB of text were once the limits of what could be read, not of what was written.
        let many = Json::Array((0..300_000).map(|at| Json::from(at % 10)).collect());
        readable_again(&many).unwrap();
        assert_eq!(read::<Json>(&many.to_string()).unwrap(), many);
        let long = Json::from("x".repeat(70 << 20));
        readable_again(&long).unwrap();
        assert_eq!(read::<Json>(&long.to_string()).unwrap(), long);
        assert_eq!(
            readable_again(&Json::from("x".repeat(180 << 20))).unwrap_err().what,
            "more than 1024 MiB"
        );
        let many = Json::Array(vec![Json::Null; READ_NODES]);
        assert_eq!(readable_again(&many).unwrap_err().what, "more than 8000000 keys and values");
    }

    #[test]
    fn aliases_are_no_bombs() {
        let values: String = (1..12)
            .map(|at| format!("a{at}: &a{at} [{}]\n", vec![format!("*a{}", at - 1); 10].join(", ")))
            .collect();
        assert!(read::<Json>(&format!("a0: &a0 [x]\n{values}")).is_err());
        let text = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 1100].join(", "));
        assert!(read::<Json>(&text).is_err());
    }

    #[test]
    fn words_mean_what_they_mean_in_a_suite() {
        assert_eq!(read::<Json>("[yes, on, true, 010]").unwrap().to_string(), r#"["yes","on",true,10]"#);
        assert_eq!(read_bytes::<Json>(b"a: \xff").unwrap_err().what, "not UTF-8 from byte 3 on");
    }
}
