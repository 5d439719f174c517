//! Composing a tree from the parser's events.
//!
//! The events are those of the parser below `serde-saphyr`, taken directly instead of through its deserialiser, because a
//! suite needs what that one does not keep: the path to a duplicate key, several mistakes at once, and types as they were
//! written (`"3"` is text and `yes` is text, whatever type the reader hopes for).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_saphyr::granit_parser::{
    self, BufferedInput, ErrorKind, Event, Parser, ScalarStyle, ScanError, Tag,
};

use super::problem::{Code, Place, Problem, quoted};
use super::scalar::resolve;
use super::tree::{Entry, Kind, Mark, Node, NodeId, Source, Step, Tree, path_text};
use crate::text::yaml::{MAX_DEPTH, MAX_TEXT_BYTES, MAX_VALUES};

/// Characters of a shared text, so that a composer can outlive the borrow of its source.
struct Chars {
    source: Arc<Source>,
    at: usize,
}

impl Iterator for Chars {
    type Item = char;
    fn next(&mut self) -> Option<char> {
        let c = self.source.text[self.at..].chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }
}

/// Turns events into nodes; pulled row by row for a dataset.
pub(crate) struct Composer {
    source: Arc<Source>,
    parser: Parser<'static, BufferedInput<Chars>>,
    pub(crate) nodes: Vec<Node>,
    anchors: BTreeMap<usize, (NodeId, Size)>,
    /// What there is so far, what stands behind aliases counted each time.
    size: Size,
    path: Vec<OwnedStep>,
    pub(crate) problems: Vec<Problem>,
}

/// How much a value is.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    values: usize,
    text_bytes: usize,
}

enum OwnedStep {
    Key(String),
    Index(usize),
}

impl fmt::Debug for Composer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Composer").field("source", &self.source.name).finish_non_exhaustive()
    }
}

type Composed<T> = Result<T, Problem>;

impl Composer {
    pub(crate) fn new(source: Arc<Source>) -> Self {
        let options = granit_parser::options! { emit_comments: false, emit_unresolved_aliases: true };
        let chars = Chars { source: Arc::clone(&source), at: 0 };
        Composer {
            parser: Parser::new_from_iter_with_options(chars, options),
            source,
            nodes: Vec::new(),
            anchors: BTreeMap::new(),
            size: Size::default(),
            path: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn problem(&self, code: Code, mark: Mark, what: impl Into<String>) -> Problem {
        let steps: Vec<Step<'_>> = self
            .path
            .iter()
            .map(|step| match step {
                OwnedStep::Key(key) => Step::Key(key),
                OwnedStep::Index(index) => Step::Index(*index),
            })
            .collect();
        Problem::new(code, self.source.place(mark), what).at_path(path_text(&steps))
    }

    fn next(&mut self) -> Composed<(Event<'static>, Mark)> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => Ok((event, Mark::new(&span))),
            Some(Err(error)) => Err(self.scan_problem(&error)),
            None => Err(self.problem(Code::Syntax, Mark::default(), "the document ends too early")),
        }
    }

    fn scan_problem(&self, error: &ScanError) -> Problem {
        let marker = error.marker();
        let line = u32::try_from(marker.line()).unwrap_or(u32::MAX);
        let column = u32::try_from(marker.col() + 1).unwrap_or(u32::MAX);
        let problem = |column, what: &str| self.problem(Code::Syntax, Mark { line, column, width: 1 }, what);
        let what = error.info();
        match error.kind() {
            ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation => {
                let text =
                    self.source.text.split('\n').nth(marker.line().saturating_sub(1)).unwrap_or_default();
                let tab = text.chars().position(|c| c == '\t').and_then(|at| u32::try_from(at + 1).ok());
                problem(tab.unwrap_or(column), "a tab where YAML wants spaces")
                    .hint("indent with spaces; YAML does not allow tabs there")
            }
            ErrorKind::DocumentIndicatorInQuotedScalar
            | ErrorKind::UnclosedQuotedScalar
            | ErrorKind::InvalidQuotedScalarIndent
            | ErrorKind::InvalidTrailingSingleQuotedScalar
            | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
                problem(column, &what).hint("check that every quote is closed")
            }
            _ => problem(column, &what),
        }
    }

    /// The root of the only document.
    pub(super) fn document(&mut self) -> Composed<NodeId> {
        let (first, mark) = self.open()?;
        let root = self.compose(first, mark)?;
        self.close()?;
        Ok(root)
    }

    /// The first event of the root node, which is nothing for an empty file.
    pub(crate) fn open(&mut self) -> Composed<(Event<'static>, Mark)> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd, _) => {
                    let place = Place::whole(self.source.name.clone());
                    return Err(Problem::new(Code::Empty, place, "the file is empty"));
                }
                event => return Ok(event),
            }
        }
    }

    /// Nothing may follow the root node.
    pub(crate) fn close(&mut self) -> Composed<()> {
        loop {
            match self.next()? {
                (Event::DocumentEnd, _) => {}
                (Event::StreamEnd, _) => return Ok(()),
                (_, mark) => {
                    return Err(self
                        .problem(Code::Syntax, mark, "a second document")
                        .hint("one file holds one document; remove what follows `---`"));
                }
            }
        }
    }

    /// The next item of a root sequence that `open` has begun, or nothing at its end.
    pub(crate) fn item(&mut self) -> Composed<Option<NodeId>> {
        self.size = Size::default();
        if self.anchors.is_empty() {
            // Nothing can refer to an earlier item any more.
            self.nodes.clear();
        }
        match self.next()? {
            (Event::SequenceEnd, _) => Ok(None),
            (event, mark) => self.compose(event, mark).map(Some),
        }
    }

    /// Gives the nodes composed so far away as a tree below `root`, and takes them back with [`Composer::put_back`].
    pub(crate) fn lend(&mut self, root: NodeId) -> Tree {
        Tree { source: Arc::clone(&self.source), nodes: std::mem::take(&mut self.nodes), root }
    }

    pub(crate) fn put_back(&mut self, tree: Tree) {
        self.nodes = tree.nodes;
    }

    fn add(&mut self, kind: Kind, mark: Mark) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("MAX_VALUES is below 2^32"));
        self.nodes.push(Node { kind, mark, block: false });
        id
    }

    fn count(&mut self, more: Size, mark: Mark) -> Composed<()> {
        self.size.values = self.size.values.saturating_add(more.values);
        self.size.text_bytes = self.size.text_bytes.saturating_add(more.text_bytes);
        let limit = match self.size {
            Size { values, .. } if values > MAX_VALUES => format!("{MAX_VALUES} values"),
            Size { text_bytes, .. } if text_bytes > MAX_TEXT_BYTES => {
                format!("{} MiB of text", MAX_TEXT_BYTES >> 20)
            }
            _ => return Ok(()),
        };
        Err(self
            .problem(Code::TooLarge, mark, format!("more than {limit}, aliases expanded"))
            .hint("move cases to a dataset file, and check what `&` and `*` repeat"))
    }

    fn compose(&mut self, event: Event<'static>, mark: Mark) -> Composed<NodeId> {
        let before = self.size;
        let text_bytes = match &event {
            Event::Scalar(text, ..) => text.len(),
            _ => 0,
        };
        self.count(Size { values: 1, text_bytes }, mark)?;
        if self.path.len() > MAX_DEPTH {
            return Err(self.problem(Code::TooLarge, mark, format!("nested deeper than {MAX_DEPTH}")));
        }
        let (id, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let kind = self.scalar(&text, style, tag.as_deref(), mark)?;
                let id = self.add(kind, mark);
                self.nodes[id.0 as usize].block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                (id, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.container_tag(tag.as_deref(), "seq", mark)?;
                (self.list(mark)?, anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.container_tag(tag.as_deref(), "map", mark)?;
                (self.map(mark)?, anchor)
            }
            Event::Alias(anchor) => return self.alias(anchor, mark),
            Event::UnresolvedAlias(name) => {
                return Err(self
                    .problem(
                        Code::Syntax,
                        mark,
                        format!("alias {} has no anchor", quoted(&format!("*{name}"))),
                    )
                    .hint(format!("write `&{name}` before the value that it repeats, above this line")));
            }
            other => return Err(self.problem(Code::Syntax, mark, format!("unexpected {other:?}"))),
        };
        if anchor > 0 {
            let size = Size {
                values: self.size.values - before.values,
                text_bytes: self.size.text_bytes - before.text_bytes,
            };
            self.anchors.insert(anchor, (id, size));
        }
        Ok(id)
    }

    fn alias(&mut self, anchor: usize, mark: Mark) -> Composed<NodeId> {
        match self.anchors.get(&anchor) {
            Some(&(id, size)) => {
                self.count(size, mark)?;
                Ok(id)
            }
            None => Err(self.problem(Code::Syntax, mark, "the alias is inside the value that it repeats")),
        }
    }

    fn list(&mut self, mark: Mark) -> Composed<NodeId> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(self.add(Kind::List(items), mark)),
                (event, at) => {
                    self.path.push(OwnedStep::Index(items.len()));
                    items.push(self.compose(event, at)?);
                    self.path.pop();
                }
            }
        }
    }

    fn map(&mut self, mark: Mark) -> Composed<NodeId> {
        let mut entries: Vec<Entry> = Vec::new();
        // Where each key is, so that a map of many keys stays fast.
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut merges = Vec::new();
        loop {
            let (event, key_mark) = self.next()?;
            if event == Event::MappingEnd {
                break;
            }
            let merge = matches!(&event, Event::Scalar(text, ScalarStyle::Plain, _, None) if text == "<<");
            let key = self.key(event, key_mark)?;
            self.path.push(OwnedStep::Key(key.clone()));
            let first = seen.get(&key).map(|at| entries[*at].key_mark).filter(|_| !merge);
            if let Some(first) = first {
                let what = format!("duplicate key {}", quoted(&key));
                let problem = self.problem(Code::DuplicateKey, key_mark, what);
                let first = self.source.place(first);
                self.problems.push(problem.also("first here", first).hint("keep one of the two"));
            }
            let (event, at) = self.next()?;
            let value = self.compose(event, at)?;
            self.path.pop();
            if merge {
                merges.push((value, key_mark));
            } else if first.is_none() {
                seen.insert(key.clone(), entries.len());
                entries.push(Entry { key, key_mark, value });
            }
        }
        for (value, at) in merges {
            self.merge(&mut entries, &mut seen, value, at)?;
        }
        Ok(self.add(Kind::Map(entries), mark))
    }

    /// `<<: *defaults`: what the map does not say itself comes from the merged one.
    fn merge(
        &mut self,
        entries: &mut Vec<Entry>,
        seen: &mut BTreeMap<String, usize>,
        value: NodeId,
        mark: Mark,
    ) -> Composed<()> {
        let sources = match &self.nodes[value.0 as usize].kind {
            Kind::Map(_) => vec![value],
            Kind::List(items) => items.clone(),
            _ => Vec::new(),
        };
        let maps = sources.iter().map(|id| match &self.nodes[id.0 as usize].kind {
            Kind::Map(merged) => Some(merged),
            _ => None,
        });
        let Some(maps) = maps.collect::<Option<Vec<_>>>().filter(|maps| !maps.is_empty()) else {
            return Err(self.problem(Code::WrongType, mark, "`<<` merges maps only"));
        };
        for entry in maps.into_iter().flatten() {
            if !seen.contains_key(&entry.key) {
                seen.insert(entry.key.clone(), entries.len());
                entries.push(entry.clone());
            }
        }
        Ok(())
    }

    fn key(&mut self, event: Event<'static>, mark: Mark) -> Composed<String> {
        let (text, kind) = match event {
            Event::Scalar(text, style, _, tag) => {
                let kind = self.scalar(&text, style, tag.as_deref(), mark)?;
                self.count(Size { values: 0, text_bytes: text.len() }, mark)?;
                (text.into_owned(), Some(kind))
            }
            Event::Alias(anchor) => {
                let id = self.alias(anchor, mark)?;
                match &self.nodes[id.0 as usize].kind {
                    Kind::Text(text) => (text.clone(), Some(Kind::Text(text.clone()))),
                    _ => (String::new(), None),
                }
            }
            _ => (String::new(), None),
        };
        match kind {
            Some(Kind::Text(key)) => Ok(key),
            Some(other) => Err(self
                .problem(Code::NotCanonical, mark, format!("a key is text, found {}", other.describe()))
                .hint(format!("put it in quotes: `\"{text}\":`"))),
            None => Err(self.problem(Code::NotCanonical, mark, "a key is text, found a list or a map")),
        }
    }

    fn scalar(&self, text: &str, style: ScalarStyle, tag: Option<&Tag>, mark: Mark) -> Composed<Kind> {
        let Some(tag) = tag else {
            return Ok(if style == ScalarStyle::Plain { resolve(text) } else { Kind::Text(text.to_owned()) });
        };
        let kind = resolve(text);
        match (tag.core_suffix(), kind) {
            (Some("str"), _) => Ok(Kind::Text(text.to_owned())),
            (Some("null"), Kind::Null) => Ok(Kind::Null),
            (Some("bool"), Kind::Bool(value)) => Ok(Kind::Bool(value)),
            (Some("int"), Kind::Integer(digits)) => Ok(Kind::Integer(digits)),
            (Some("float"), Kind::Float(value)) => Ok(Kind::Float(value)),
            (Some("float"), Kind::Integer(digits)) => {
                Ok(Kind::Float(digits.parse().unwrap_or(f64::INFINITY)))
            }
            _ if tag.parts() == ("", "!") => Ok(Kind::Text(text.to_owned())),
            _ => Err(self.tag_problem(tag, mark)),
        }
    }

    fn container_tag(&self, tag: Option<&Tag>, core: &str, mark: Mark) -> Composed<()> {
        match tag {
            Some(tag) if tag.core_suffix() != Some(core) => Err(self.tag_problem(tag, mark)),
            _ => Ok(()),
        }
    }

    fn tag_problem(&self, tag: &Tag, mark: Mark) -> Problem {
        self.problem(Code::Syntax, mark, format!("tag {} does not fit here", quoted(&tag.original())))
            .hint("remove the tag; suites and datasets hold plain values")
    }
}
