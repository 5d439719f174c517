//! What would be sent or left out without a word: said before anything is asked, each once, with a count.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use proofhouse_ledger::Digest;
use proofhouse_ledger::json::Object;
use regex::Regex;

use super::problem::{listed, quoted};
use super::prompt::{Prompt, Sent};
use crate::text::numbers::count;
use crate::text::template::{Form, is_jinja};

static VARIABLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}").expect("a pattern of our own"));
static FILE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"file://[^\s`'\x22]*").expect("a pattern of our own"));

/// What was noticed while the cases were read.
#[derive(Debug, Default)]
pub(crate) struct Silent {
    /// Columns that something uses.
    used: BTreeSet<String>,
    /// Source → columns that nothing uses, and in how many of its rows the first was seen.
    unused: BTreeMap<String, (BTreeSet<String>, u64)>,
    /// What stands in a field and looks as if it were filled in → where first, and how often.
    literal: BTreeMap<String, (String, u64)>,
    /// For each prompt: the digest that all cases have so far, and whether they still do.
    equal: Vec<(Option<Digest>, bool)>,
    cases: u64,
}

impl Silent {
    /// For cases of which something uses these columns.
    pub(crate) fn new(used: BTreeSet<String>, prompts: usize) -> Self {
        Silent { used, equal: vec![(None, true); prompts], ..Silent::default() }
    }

    /// Columns that a dataset's own settings use.
    pub(crate) fn uses(&mut self, columns: impl IntoIterator<Item = String>) {
        self.used.extend(columns);
    }

    /// Looks at a row of a source, such as a dataset's name.
    pub(crate) fn row(&mut self, source: &str, row: &Object) {
        let mut unused = false;
        for (key, value) in row.iter() {
            if !self.used.contains(key) {
                let entry = match self.unused.get_mut(source) {
                    Some(entry) => entry,
                    None => self.unused.entry(source.to_owned()).or_default(),
                };
                if !entry.0.contains(key) {
                    entry.0.insert(key.to_owned());
                }
                unused = true;
                continue;
            }
            let Some(text) =
                value.as_str().filter(|text| text.starts_with("file://") || text.starts_with("${"))
            else {
                continue;
            };
            let whole = VARIABLE.find(text).is_some_and(|found| found.len() == text.trim().len());
            let what = match text.starts_with("file://") {
                true => "file://",
                false if whole => "${",
                false => continue,
            };
            let place = || format!("{} in field {} of {}", quoted(text), quoted(key), quoted(source));
            self.literal.entry(what.to_owned()).or_insert_with(|| (place(), 0)).1 += 1;
        }
        if unused && let Some(entry) = self.unused.get_mut(source) {
            entry.1 += 1;
        }
    }

    /// Looks at what a case is asked.
    pub(crate) fn case(&mut self, sent: &[Sent]) {
        self.cases += 1;
        for (sent, (first, equal)) in sent.iter().zip(&mut self.equal) {
            if !*equal {
                continue;
            }
            let digest = sent.fingerprint();
            *equal = first.is_none_or(|first| first == digest);
            *first = Some(digest);
        }
    }

    /// Everything that has to be said.
    pub(crate) fn warnings(&self, prompts: &[Prompt], form: Option<Form>) -> Vec<String> {
        let mut warnings = Vec::new();
        for prompt in prompts {
            let named = prompt
                .name
                .as_ref()
                .map_or_else(|| "the prompt".to_owned(), |name| format!("prompt `{name}`"));
            for source in prompt.sources() {
                warnings.extend(in_source(&named, source, form));
            }
        }
        for (what, (first, times)) in &self.literal {
            let more = more(*times, "value", "values");
            let hint = if what == "${" { "the environment is not read" } else { "no file is read" };
            warnings.push(format!("{first} is sent as it stands: {hint}{more}"));
        }
        for (source, (names, rows)) in &self.unused {
            let names = listed(names.iter().map(String::as_str));
            let (noun, rows) = ("nothing uses the field", more(*rows, "row", "rows"));
            warnings.push(format!("{noun} {names} of {}{rows}", quoted(source)));
        }
        for (prompt, (_, equal)) in prompts.iter().zip(&self.equal) {
            if *equal && self.cases > 1 {
                let named = prompt
                    .name
                    .as_ref()
                    .map_or_else(|| "the prompt".to_owned(), |name| format!("prompt `{name}`"));
                warnings.push(format!(
                    "{named} asks the same of all {} cases: no field of them is in it",
                    count(self.cases)
                ));
            }
        }
        warnings
    }
}

fn more(times: u64, one: &str, many: &str) -> String {
    match times {
        0 | 1 => String::new(),
        2 => format!(" (and 1 more {one})"),
        times => format!(" (and {} more {many})", count(times - 1)),
    }
}

/// What a text says that nobody will fill in.
fn in_source(named: &str, source: &str, form: Option<Form>) -> Vec<String> {
    let mut warnings = Vec::new();
    if form == Some(Form::Simple) && is_jinja(source) {
        warnings.push(format!(
            "{named} has `{{{{ … }}}}`, which `template: simple` sends as text with one brace less"
        ));
    }
    if let Some(found) = FILE.find(source) {
        warnings.push(format!(
            "{named} has {}, which is sent as text: a prompt from a file is `{{file: …}}`",
            quoted(found.as_str())
        ));
    }
    if let Some(found) = VARIABLE.find(source) {
        warnings.push(format!(
            "{named} has {}, which is sent as text: the environment is not read",
            quoted(found.as_str())
        ));
    }
    warnings
}
