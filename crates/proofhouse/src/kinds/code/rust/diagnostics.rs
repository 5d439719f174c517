//! The compiler's JSON messages as structure.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::kinds::code::report::word;
use crate::kinds::code::verdict::Finding;

/// More findings than this say nothing new.
const MAX_FINDINGS: usize = 10;
const MAX_MESSAGE_CHARS: usize = 400;

#[derive(Deserialize)]
struct Message {
    message: String,
    code: Option<Code>,
    level: String,
    #[serde(default)]
    spans: Vec<Span>,
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    byte_start: usize,
    line_start: u64,
    column_start: u64,
    is_primary: bool,
}

/// What a compiler said.
#[derive(Debug, Clone, Default)]
pub(super) struct CompilerReport {
    pub(super) errors: Vec<Finding>,
    /// Of the linter, in the completion itself.
    pub(super) lints: Vec<Finding>,
    /// Errors as a person reads them.
    pub(super) rendered: String,
    /// Whether there was an error that is not a lint of the linter.
    pub(super) real_error: bool,
}

impl CompilerReport {
    fn error(&mut self, message: &Message) {
        self.real_error = true;
        self.rendered.push_str(message.rendered.as_deref().unwrap_or_default());
        if self.errors.len() < MAX_FINDINGS {
            self.errors.push(finding(message));
        }
    }

    /// Whether nothing is wrong but that the function cannot be called as the border calls it.
    pub(super) fn is_of_border(&self) -> bool {
        let of_border = |file: &str| file == "border.rs" || file.starts_with("glue");
        let places: Vec<_> = self.errors.iter().filter_map(|error| error.file.as_deref()).collect();
        !places.is_empty() && places.iter().all(|file| of_border(file))
    }
}

/// Reads the messages. `own` tells which bytes of the file of the completion the model is behind.
pub(super) fn read(stderr: &[u8], own: &dyn Fn(usize) -> bool) -> CompilerReport {
    let mut told = CompilerReport::default();
    for message in messages(stderr) {
        let is_lint = message.code.as_ref().is_some_and(|code| code.code.starts_with("clippy::"));
        let primary = message.spans.iter().find(|span| span.is_primary);
        if is_lint {
            let in_own = |span: &&Span| word(&span.file_name) == "completion" && own(span.byte_start);
            if primary.is_some_and(|span| in_own(&span)) && told.lints.len() < MAX_FINDINGS {
                told.lints.push(finding(&message));
            }
        } else if message.level.starts_with("error") {
            let summary = message.code.is_none() && message.message.starts_with("aborting due to");
            if !summary {
                told.error(&message);
            }
        }
    }
    told.rendered = normal(&told.rendered);
    told
}

/// The errors of one member of a batch, in the words that it would meet alone: the phase of the compiler in which it stops is the
/// same, and so is what is said of it up to there. `None` where a neighbour has a part in it.
pub(super) fn rejected_member(stderr: &[u8], number: usize) -> Option<CompilerReport> {
    let folder = format!("m{number}/");
    let mut told = CompilerReport::default();
    for mut message in messages(stderr).filter(|message| message.level.starts_with("error")) {
        let of_member = |span: &Span| span.file_name.starts_with(&folder);
        if !message.spans.iter().any(of_member) {
            continue;
        }
        for span in &mut message.spans {
            if let Some(name) = span.file_name.strip_prefix(&folder) {
                span.file_name = name.to_owned();
            }
        }
        told.error(&message);
    }
    let rendered = told.rendered.replace(&folder, "").replace(&format!("m{number}::"), "candidate::");
    if told.errors.is_empty() || told.is_of_border() || names_a_member(&rendered) {
        return None;
    }
    told.rendered = normal(&rendered);
    Some(told)
}

/// Whether a text has the folder or the module of a member in it.
fn names_a_member(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('m') {
        let before = rest[..at].chars().next_back();
        rest = &rest[at + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let behind = &rest[digits..];
        let alone = before.is_none_or(|c| !c.is_alphanumeric() && c != '_');
        if digits > 0 && alone && (behind.starts_with('/') || behind.starts_with("::")) {
            return true;
        }
    }
    false
}

/// The text that a person reads, without what changes from run to run: the compiler writes long types to files whose
/// names are random.
fn normal(rendered: &str) -> String {
    let random = |line: &&str| {
        line.contains("= note: the full name for the type has been written to '")
            || line.contains("= note: consider using `--verbose` to print the full type name")
    };
    let kept: String = rendered.split_inclusive('\n').filter(|line| !random(line)).collect();
    without_temporary(&kept).replace("candidate.rs", "completion").replace("tests.rs", "test")
}

/// The compiler links in a directory whose name is random: `rustcAb12Cd/` is `rustc/`.
fn without_temporary(text: &str) -> String {
    const RANDOM: usize = 6;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("/rustc") {
        let behind = at + "/rustc".len();
        out.push_str(&rest[..behind]);
        rest = &rest[behind..];
        let name = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        if name == RANDOM && rest[name..].starts_with('/') {
            rest = &rest[name..];
        }
    }
    out + rest
}

/// What a compiler said that died: the addresses of its backtrace change from run to run, so they go.
pub(super) fn of_crash(said: &str) -> String {
    let end = said
        .find("rustc interrupted by ")
        .map(|at| said[at..].find('\n').map_or(said.len(), |line| at + line + 1));
    without_temporary(&said[..end.unwrap_or(said.len())])
}

/// The linter's findings in what the model wrote of one member of a batch.
pub(super) fn read_member(stderr: &[u8], number: usize, own: &dyn Fn(usize) -> bool) -> CompilerReport {
    let folder = format!("m{number}/");
    let mut told = CompilerReport::default();
    for mut message in messages(stderr) {
        let mut of_member = false;
        for span in &mut message.spans {
            if let Some(name) = span.file_name.strip_prefix(&folder) {
                of_member |= span.is_primary && name == "candidate.rs" && own(span.byte_start);
                span.file_name = name.to_owned();
            }
        }
        let is_lint = message.code.as_ref().is_some_and(|code| code.code.starts_with("clippy::"));
        if is_lint && of_member && told.lints.len() < MAX_FINDINGS {
            told.lints.push(finding(&message));
        }
    }
    told
}

/// The members of a batch that errors name; `None` if there is an error that names none.
pub(super) fn members_in_error(stderr: &[u8]) -> Option<BTreeSet<usize>> {
    let mut found = BTreeSet::new();
    for message in messages(stderr).filter(|message| message.level.starts_with("error")) {
        let mut named = message.spans.iter().filter_map(|span| {
            span.file_name.strip_prefix('m').and_then(|rest| rest.split_once('/')?.0.parse::<usize>().ok())
        });
        match named.next() {
            Some(number) => {
                found.insert(number);
                found.extend(named);
            }
            None if message.spans.is_empty() && message.message.starts_with("aborting due to") => {}
            None => return None,
        }
    }
    Some(found)
}

fn messages(stderr: &[u8]) -> impl Iterator<Item = Message> {
    stderr.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

fn finding(message: &Message) -> Finding {
    let primary = message.spans.iter().find(|span| span.is_primary);
    Finding {
        code: message.code.as_ref().map(|code| code.code.clone()),
        message: message.message.chars().take(MAX_MESSAGE_CHARS).collect(),
        file: primary.map(|span| word(&span.file_name).to_owned()),
        line: primary.map(|span| span.line_start),
        column: primary.map(|span| span.column_start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_random_files_go() {
        let text = " --> candidate.rs:1:2\n   = note: the full name for the type has been written to 'p.long-type-1.txt'\n   \
                    = note: consider using `--verbose` to print the full type name to the console\nhelp: x\n";
        assert_eq!(normal(text), " --> completion:1:2\nhelp: x\n");
    }

    #[test]
    fn what_changes_from_run_to_run_goes() {
        let linker = "note: \"/x/rustcp48fSG/symbols.o\" \"/lib/rustlib/x.rlib\" /rustc/59807616/library";
        assert_eq!(normal(linker), linker.replace("p48fSG", ""));
        let crash = "error: rustc interrupted by SIGSEGV, printing backtrace\n\n/x.so(+0x1a2b)[0x7f00]\n";
        assert_eq!(of_crash(crash), "error: rustc interrupted by SIGSEGV, printing backtrace\n");
        assert_eq!(of_crash("memory allocation failed"), "memory allocation failed");
    }

    #[test]
    fn a_text_that_names_a_neighbour_is_known() {
        for text in ["use crate::m3::f;", "--> m12/candidate.rs:1:1", "m0::X"] {
            assert!(names_a_member(text), "{text}");
        }
        for text in ["am3::f", "m::f", "sum3/x", "m3 / 4", "_m3::f", "um7/"] {
            assert!(!names_a_member(text), "{text}");
        }
    }

    #[test]
    fn an_error_without_a_member_is_unclear() {
        let error = |file: &str| {
            let span = format!(
                r#"{{"file_name":"{file}","byte_start":0,"line_start":1,"column_start":1,"is_primary":true}}"#
            );
            format!(r#"{{"message":"m","code":null,"level":"error","spans":[{span}],"rendered":null}}"#)
        };
        let summary = r#"{"message":"aborting due to 2 previous errors","code":null,"level":"error","spans":[],"rendered":null}"#;
        let named = format!("{}\n{}\n{summary}\n", error("m3/candidate.rs"), error("m11/tests.rs"));
        assert_eq!(members_in_error(named.as_bytes()), Some(BTreeSet::from([3, 11])));
        let unclear = format!("{named}{}\n", error("main.rs"));
        assert_eq!(members_in_error(unclear.as_bytes()), None);
    }
}
