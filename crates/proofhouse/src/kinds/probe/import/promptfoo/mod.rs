//! promptfoo's configurations: prompts, providers, tests and asserts become suites.
//!
//! Every prompt, variable, test and assert is counted where it is written, and either has its place in a suite or is listed with
//! its line and why it has none. Tests that go to other prompts or providers than the rest get a suite of their own, because a cell
//! of our matrix is put to every case.

use crate::spine::import::{Import, Imported, Importing};
use crate::text::complaint::Complaint;

mod assemble;
mod asserts;
mod cases;
mod javascript;
mod prompts;
mod providers;
mod source;
mod sql;

use source::{Part, Reader};

pub(super) const IMPORT: Import = Import {
    name: "promptfoo",
    about: "A promptfooconfig: prompts, providers, tests and asserts become suites.",
    read,
};

/// Keys on top of a configuration that say nothing about what is asked and how it is judged.
const HARMLESS: [&str; 13] = [
    "$schema",
    "description",
    "prompts",
    "providers",
    "targets",
    "tests",
    "scenarios",
    "defaultTest",
    "outputPath",
    "sharing",
    "commandLineOptions",
    "writeLatestResults",
    "tags",
];

fn read(importing: &Importing<'_>) -> Result<Imported, Complaint> {
    let mut reader = Reader::open(importing)?;
    let doc = reader.doc.clone();
    let root = doc.root();
    for (key, value, line) in doc.entries(root) {
        if !HARMLESS.contains(&key) {
            let why = match key {
                "evaluateOptions" => {
                    "how many at once, and how fast, is said by `transport` of a target and flags of `run`"
                }
                "env" => "the environment is not part of a suite",
                "nunjucksFilters" => "templates know no filters but their own",
                "extensions" => "nothing is called back",
                "redteam" => "attacks are a suite of kind `containment`",
                _ => "a suite has nothing like it",
            };
            let _ = value;
            reader.leave(Part::Setting, (&doc, line), format!("`{key}`"), why);
        }
    }
    let title = doc.get(root, "description").and_then(|id| doc.text(id)).map(str::to_owned);
    let providers = providers::read(&mut reader);
    let prompts = prompts::read(&mut reader);
    let tests = cases::read(&mut reader);
    Ok(assemble::assemble(reader, title, providers, (prompts, tests)))
}
