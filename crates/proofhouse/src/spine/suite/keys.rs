//! Keys in use have no place in what the user wrote: everything that a suite and its data say is recorded.
//!
//! What merely looks like a key is refused in the settings of targets alone: a containment case may well protect a made-up one.

use proofhouse_ledger::json::Object;

use super::problem::{Code, Place, Problem};
use super::tree::{Kind, Mark, Node, NodeId, Step, Tree};
use crate::family::target::Keys;

/// Every place of a document at which a key stands.
pub(crate) fn in_tree(tree: &Tree, keys: &Keys) -> Vec<Problem> {
    if keys.is_empty() {
        return Vec::new();
    }
    let mut problems: Vec<Problem> = tree
        .nodes
        .iter()
        .flat_map(|node| texts(tree, node))
        .filter_map(|said| {
            let variable = keys.find(said.text.as_bytes())?;
            Some(problem(variable, tree.source.place(said.mark)).at_path(keys.redact(said.below)))
        })
        .collect();
    problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
    problems
}

/// A text of a document.
struct Said<'t> {
    text: &'t str,
    mark: Mark,
    /// The key that it stands below, if there is one.
    below: &'t str,
}

/// What a map or a list says itself; what is inside its parts is said by them.
fn texts<'t>(tree: &'t Tree, node: &'t Node) -> Vec<Said<'t>> {
    let value = |id: NodeId, below: &'t str| match &tree.node(id).kind {
        Kind::Text(text) | Kind::Integer(text) => Some(Said { text, mark: tree.node(id).mark, below }),
        _ => None,
    };
    match &node.kind {
        Kind::Map(entries) => {
            let keys = entries.iter().map(|entry| Said { text: &entry.key, mark: entry.key_mark, below: "" });
            keys.chain(entries.iter().filter_map(|entry| value(entry.value, &entry.key))).collect()
        }
        Kind::List(items) => items.iter().filter_map(|item| value(*item, "")).collect(),
        _ => Vec::new(),
    }
}

/// The first field of a row that holds a key.
pub(crate) fn in_row(row: &Object, keys: &Keys, place: impl FnOnce(&[Step<'_>]) -> Place) -> Option<Problem> {
    if keys.is_empty() {
        return None;
    }
    let found = row.iter().find_map(|(field, value)| match keys.find(field.as_bytes()) {
        Some(variable) => Some((field, variable)),
        None => Some((field, keys.find_in(value)?)),
    });
    found.map(|(field, variable)| problem(variable, place(&[Step::Key(field)])).at_path(keys.redact(field)))
}

/// The lines of a file's bytes at which keys stand.
pub(crate) fn in_bytes(file: &str, bytes: &[u8], keys: &Keys) -> Vec<Problem> {
    if keys.find(bytes).is_none() {
        return Vec::new();
    }
    let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
    lines.filter_map(|(line, number)| in_line(file, (line, number), keys)).collect()
}

/// A line at which a key stands.
pub(crate) fn in_line(file: &str, (line, number): (&[u8], u64), keys: &Keys) -> Option<Problem> {
    keys.find(line).map(|variable| problem(variable, Place { line: number, column: 1, ..Place::whole(file) }))
}

/// Nothing of the line is shown: whoever reads the message must not learn the key.
fn problem(variable: &str, place: Place) -> Problem {
    let place = Place { text: None, ..place };
    let what = format!("the value of `{variable}` stands here, and a suite is no place for a key");
    Problem::new(Code::BadValue, place, what).hint(format!(
        "what suites and datasets say is recorded: take the key out, and change it where `{variable}` comes from if the file was shared"
    ))
}

impl Problem {
    /// The same without any character of a key.
    pub(crate) fn without(self, keys: &Keys) -> Self {
        if keys.is_empty() {
            return self;
        }
        let clean = |text: String| keys.redact(&text).into_owned();
        let hide =
            |place: Place| Place { text: place.text.map(|text| keys.dot(&text).into_owned()), ..place };
        Problem {
            place: Box::new(hide(*self.place)),
            what: clean(self.what),
            path: clean(self.path),
            hint: self.hint.map(clean),
            notes: self.notes.into_iter().map(clean).collect(),
            also: self.also.map(|also| Box::new((clean(also.0), hide(also.1)))),
            ..self
        }
    }
}
