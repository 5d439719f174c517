//! YAML as a tree whose every key and value knows its place.

use std::sync::Arc;

use serde_saphyr::granit_parser::Span;

use super::compose::Composer;
use super::problem::{Code, Place, Problem, quoted};

/// The text that places refer to.
#[derive(Debug)]
pub(crate) struct Source {
    /// The file as the user would name it.
    pub(crate) name: String,
    /// Its text, without a byte order mark.
    pub(crate) text: String,
}

impl Source {
    /// Takes the bytes of a file: UTF-8, a byte order mark is dropped.
    pub(crate) fn new(name: String, bytes: Vec<u8>) -> Result<Self, Problem> {
        let text = String::from_utf8(bytes).map_err(|error| {
            let (at, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
            let from = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
            let to = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |newline| at + newline);
            let line = memchr::memchr_iter(b'\n', &bytes[..at]).count() as u64 + 1;
            let place = Place::in_line(name.as_str(), line, &bytes[from..to], at - from, 1);
            Problem::new(Code::Syntax, place, "invalid UTF-8").hint("save the file as UTF-8")
        })?;
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        Ok(Source { name, text })
    }

    pub(crate) fn place(&self, mark: Mark) -> Place {
        let line = self.text.split('\n').nth((mark.line as usize).saturating_sub(1)).unwrap_or_default();
        let offset =
            |characters: u32| line.char_indices().nth(characters as usize).map_or(line.len(), |(at, _)| at);
        let (from, to) =
            (offset(mark.column.saturating_sub(1)), offset((mark.column + mark.width).saturating_sub(1)));
        Place {
            column: mark.column.into(),
            ..Place::in_line(self.name.as_str(), mark.line.into(), line.as_bytes(), from, to - from)
        }
    }
}

/// Line and column from 1, and the characters to underline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mark {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) width: u32,
}

impl Mark {
    pub(super) fn new(span: &Span) -> Self {
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let width = if span.start.line() == span.end.line() { span.end.col() - span.start.col() } else { 1 };
        Mark {
            line: number(span.start.line()),
            column: number(span.start.col() + 1),
            width: number(width.max(1)),
        }
    }
}

/// Index of a node in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(super) u32);

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) mark: Mark,
    /// A text after `>` or `|`.
    pub(crate) block: bool,
}

/// A value with the type that YAML 1.2 gives it.
#[derive(Debug)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    /// Decimal digits with an optional `-`, of any length.
    Integer(String),
    Float(f64),
    Text(String),
    List(Vec<NodeId>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_mark: Mark,
    pub(crate) value: NodeId,
}

/// One document.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) source: Arc<Source>,
    pub(super) nodes: Vec<Node>,
    pub(crate) root: NodeId,
}

/// A step from a value to one that it contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Writes `targets.steady.rules[0]`.
pub(crate) fn push_step(path: &mut String, step: Step<'_>) {
    match step {
        Step::Key(key) => {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(key);
        }
        Step::Index(index) => path.push_str(&format!("[{index}]")),
    }
}

/// Steps as one text.
pub(crate) fn path_text(steps: &[Step<'_>]) -> String {
    let mut path = String::new();
    steps.iter().for_each(|step| push_step(&mut path, *step));
    path
}

impl Tree {
    /// Composes the only document of a source. Duplicate keys are all reported at once.
    pub(crate) fn parse(source: Arc<Source>) -> Result<Tree, Vec<Problem>> {
        let mut composer = Composer::new(Arc::clone(&source));
        let document = composer.document();
        let mut problems = std::mem::take(&mut composer.problems);
        match document {
            Ok(root) if problems.is_empty() => Ok(Tree { source, nodes: composer.nodes, root }),
            Ok(_) => Err(problems),
            Err(problem) => {
                problems.push(problem);
                Err(problems)
            }
        }
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The entry of a map.
    pub(crate) fn entry(&self, map: NodeId, key: &str) -> Option<&Entry> {
        match &self.node(map).kind {
            Kind::Map(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// Whether a text was written as a block, after `>` or `|`.
    pub(crate) fn is_block(&self, steps: &[Step<'_>]) -> bool {
        let mut node = self.root;
        for step in steps {
            let next = match (step, &self.node(node).kind) {
                (Step::Key(key), Kind::Map(_)) => self.entry(node, key).map(|entry| entry.value),
                (Step::Index(index), Kind::List(items)) => items.get(*index).copied(),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => return false,
            }
        }
        self.node(node).block
    }

    /// Where a value stands; a missing step or a value without text of its own stands at the key that leads to it.
    pub(crate) fn place(&self, from: NodeId, steps: &[Step<'_>]) -> Place {
        let (mut node, mut mark) = (from, self.node(from).mark);
        for step in steps {
            let (next, key_mark) = match (step, &self.node(node).kind) {
                (Step::Key(key), Kind::Map(_)) => match self.entry(node, key) {
                    Some(entry) => (entry.value, Some(entry.key_mark)),
                    None => break,
                },
                (Step::Index(index), Kind::List(items)) => match items.get(*index) {
                    Some(item) => (*item, None),
                    None => break,
                },
                _ => break,
            };
            node = next;
            mark = self.shown(next, key_mark);
        }
        self.source.place(mark)
    }

    /// Scalars stand at themselves; lists, maps and nothing at all at their key, which is where a reader looks.
    pub(crate) fn shown(&self, id: NodeId, key: Option<Mark>) -> Mark {
        let node = self.node(id);
        match (&node.kind, key) {
            (Kind::List(_) | Kind::Map(_) | Kind::Null, Some(key)) => key,
            (Kind::List(_) | Kind::Map(_), None) => Mark { width: 1, ..node.mark },
            _ => node.mark,
        }
    }
}

impl Kind {
    /// The value as a message names it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Kind::Null => "nothing".to_owned(),
            Kind::Bool(value) => format!("`{value}`"),
            Kind::Integer(digits) => quoted(digits),
            Kind::Float(value) => format!("`{value}`"),
            Kind::Text(text) if text.is_empty() => "empty text".to_owned(),
            Kind::Text(text) => format!("the text {}", quoted(text)),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a map".to_owned(),
        }
    }
}
