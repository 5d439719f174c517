//! The compiler's JSON messages as structure.

use std::ops::Range;

use serde::Deserialize;

use crate::code::report::word;
use crate::code::verdict::Finding;

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
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) errors: Vec<Finding>,
    /// Of the linter, in the completion itself.
    pub(super) lints: Vec<Finding>,
    /// Errors as a person reads them.
    pub(super) rendered: String,
    /// Whether there was an error that is not a lint of the linter.
    pub(super) real_error: bool,
}

/// Reads the messages. `own` is what the model wrote of the file of the completion.
pub(super) fn read(stderr: &[u8], own: &Range<usize>) -> Told {
    let mut told = Told::default();
    for line in String::from_utf8_lossy(stderr).lines() {
        let Ok(message) = serde_json::from_str::<Message>(line) else { continue };
        let is_lint = message.code.as_ref().is_some_and(|code| code.code.starts_with("clippy::"));
        let primary = message.spans.iter().find(|span| span.is_primary);
        if is_lint {
            let in_own =
                |span: &&Span| word(&span.file_name) == "completion" && own.contains(&span.byte_start);
            if primary.is_some_and(|span| in_own(&span)) && told.lints.len() < MAX_FINDINGS {
                told.lints.push(finding(&message));
            }
        } else if message.level.starts_with("error") {
            let summary = message.code.is_none() && message.message.starts_with("aborting due to");
            told.real_error = true;
            told.rendered.push_str(message.rendered.as_deref().unwrap_or_default());
            if !summary && told.errors.len() < MAX_FINDINGS {
                told.errors.push(finding(&message));
            }
        }
    }
    told.rendered = told.rendered.replace("candidate.rs", "completion").replace("tests.rs", "test");
    told
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
