//! How people and machines read a comparison: terminal text, a pull-request comment, JSON, workflow annotations.
//!
//! Whatever a target printed is hostile here: each format makes it visible and keeps it inside its place.

mod github;
mod markdown;
mod text;
mod words;

use proofhouse_ledger::canonical;

use super::report::Report;

pub use github::render_github;
pub use markdown::render_markdown;
pub use text::{counts_line, remarks, render_text};

/// Whether text may be coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// `[-old-]{+new+}`
    #[default]
    Plain,
    /// ANSI colours.
    Colour,
}

/// The report as canonical JSON, with a newline at its end.
pub fn render_json(report: &Report) -> String {
    let bytes = canonical::to_file(report).expect("counts and rates of a report are finite numbers");
    String::from_utf8(bytes).expect("canonical JSON is UTF-8")
}
