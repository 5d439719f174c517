//! Reading a configuration with its lines, the files that it names, and the account of what came along.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::files;
use serde_json::{Map, Number, Value};

use crate::spine::import::{Count, Importing, LeftOut};
use crate::spine::suite::tree::{Kind, NodeId, Source, Tree};
use crate::text::complaint::Complaint;
use crate::text::glob::path_glob;

/// The largest file that a configuration may name, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// A file whose every value knows its line.
#[derive(Debug, Clone)]
pub(super) struct Doc {
    tree: Arc<Tree>,
    /// The file as its user names it.
    pub(super) name: String,
}

impl Doc {
    /// Reads YAML, or JSON, which is YAML.
    pub(super) fn parse(name: &str, bytes: Vec<u8>) -> Result<Doc, Complaint> {
        let source =
            Source::new(name.to_owned(), bytes).map_err(|problem| Complaint::new(problem.to_string()))?;
        let tree = Tree::parse(Arc::new(source)).map_err(|problems| {
            let words: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Complaint::new(words.join("\n").trim_end().to_owned())
        })?;
        Ok(Doc { tree: Arc::new(tree), name: name.to_owned() })
    }

    pub(super) fn root(&self) -> NodeId {
        self.tree.root
    }

    pub(super) fn get(&self, map: NodeId, key: &str) -> Option<NodeId> {
        self.tree.entry(map, key).map(|entry| entry.value)
    }

    pub(super) fn text(&self, id: NodeId) -> Option<&str> {
        match &self.tree.node(id).kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list; a single value is a list of one.
    pub(super) fn items(&self, id: NodeId) -> Vec<NodeId> {
        match &self.tree.node(id).kind {
            Kind::List(items) => items.clone(),
            Kind::Null => Vec::new(),
            _ => vec![id],
        }
    }

    pub(super) fn is_map(&self, id: NodeId) -> bool {
        matches!(self.tree.node(id).kind, Kind::Map(_))
    }

    pub(super) fn is_list(&self, id: NodeId) -> bool {
        matches!(self.tree.node(id).kind, Kind::List(_))
    }

    /// The entries of a map: key, value and the key's line.
    pub(super) fn entries(&self, id: NodeId) -> Vec<(&str, NodeId, u64)> {
        match &self.tree.node(id).kind {
            Kind::Map(entries) => entries
                .iter()
                .map(|entry| (entry.key.as_str(), entry.value, u64::from(entry.key_mark.line)))
                .collect(),
            _ => Vec::new(),
        }
    }

    pub(super) fn line(&self, id: NodeId) -> u64 {
        u64::from(self.tree.node(id).mark.line)
    }

    /// The value without its lines.
    pub(super) fn value(&self, id: NodeId) -> Value {
        match &self.tree.node(id).kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Integer(digits) => match (digits.parse::<i64>(), digits.parse::<u64>()) {
                (Ok(number), _) => Value::from(number),
                (_, Ok(number)) => Value::from(number),
                _ => Value::from(digits.as_str()),
            },
            Kind::Float(number) => {
                Number::from_f64(*number).map_or_else(|| Value::from(number.to_string()), Value::Number)
            }
            Kind::Text(text) => Value::from(text.as_str()),
            Kind::List(items) => Value::Array(items.iter().map(|item| self.value(*item)).collect()),
            Kind::Map(entries) => {
                let entries = entries.iter().map(|entry| (entry.key.clone(), self.value(entry.value)));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }
}

/// What is counted, and what is only told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Prompt,
    Var,
    Test,
    Assert,
    Provider,
    Setting,
}

impl Part {
    const COUNTED: [(Part, &'static str); 5] = [
        (Part::Prompt, "prompts"),
        (Part::Var, "vars"),
        (Part::Test, "tests"),
        (Part::Assert, "asserts"),
        (Part::Provider, "providers"),
    ];

    fn word(self) -> &'static str {
        match self {
            Part::Prompt => "prompt",
            Part::Var => "var",
            Part::Test => "test",
            Part::Assert => "assert",
            Part::Provider => "provider",
            Part::Setting => "setting",
        }
    }
}

/// What is being read, and what has been found so far.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) doc: Doc,
    /// The folder of the configuration.
    base: Utf8PathBuf,
    pub(super) scripted: bool,
    seen: Vec<Part>,
    left: Vec<(Part, LeftOut)>,
    pub(super) notes: Vec<String>,
}

impl Reader {
    pub(super) fn open(importing: &Importing<'_>) -> Result<Reader, Complaint> {
        let bytes = files::read(importing.path)
            .map_err(|error| Complaint::new(format!("cannot read `{}`: {}", importing.path, error.source)))?;
        let doc = Doc::parse(importing.path.as_str(), bytes)?;
        let name = importing.path.file_name().unwrap_or(importing.path.as_str()).to_owned();
        let doc = Doc { name, ..doc };
        if !doc.is_map(doc.root()) {
            return Err(Complaint::new(format!("`{}` is not a configuration of promptfoo", importing.path))
                .hint("it is a map with `prompts`, `providers` and `tests`"));
        }
        let base = files::dir_of(importing.path).to_owned();
        let scripted = importing.scripted;
        Ok(Reader { doc, base, scripted, seen: Vec::new(), left: Vec::new(), notes: Vec::new() })
    }

    /// Counts a part.
    pub(super) fn see(&mut self, part: Part) {
        self.seen.push(part);
    }

    /// Lists a part that has no place here.
    pub(super) fn leave(&mut self, part: Part, at: (&Doc, u64), what: String, why: impl Into<String>) {
        let what = if part == Part::Setting { what } else { format!("{} {what}", part.word()) };
        let left = LeftOut { file: at.0.name.clone(), line: at.1, what, why: why.into() };
        self.left.push((part, left));
    }

    /// How many parts are listed so far.
    pub(super) fn left_count(&self) -> usize {
        self.left.len()
    }

    /// Lists a part that several cases share, once.
    pub(super) fn leave_once(&mut self, part: Part, at: (&Doc, u64), what: String, why: impl Into<String>) {
        let shown = format!("{} {what}", part.word());
        let same =
            |(_, left): &(Part, LeftOut)| left.line == at.1 && left.file == at.0.name && left.what == shown;
        if !self.left.iter().any(same) {
            self.leave(part, at, what, why);
        }
    }

    pub(super) fn counts(&self) -> Vec<Count> {
        let count = |(part, of): (Part, &'static str)| {
            let all = self.seen.iter().filter(|seen| **seen == part).count() as u64;
            let left = self.left.iter().filter(|(left, _)| *left == part).count() as u64;
            Count { of, all, imported: all.saturating_sub(left) }
        };
        Part::COUNTED.into_iter().map(count).collect()
    }

    /// All that is left out, in the order of its lines.
    pub(super) fn left_out(&self) -> Vec<LeftOut> {
        let mut left: Vec<LeftOut> = self.left.iter().map(|(_, left)| left.clone()).collect();
        left.sort_by(|a, b| {
            (a.file != self.doc.name, &a.file, a.line).cmp(&(b.file != self.doc.name, &b.file, b.line))
        });
        left
    }

    /// A file that the configuration names.
    pub(super) fn file(&self, name: &str) -> Result<Vec<u8>, Complaint> {
        let bytes = files::read(&self.base.join(name))
            .map_err(|error| Complaint::new(format!("`{name}` cannot be read: {}", error.source)))?;
        match bytes.len() > MAX_BYTES {
            true => Err(Complaint::new(format!("`{name}` is larger than {} MiB", MAX_BYTES >> 20))),
            false => Ok(bytes),
        }
    }

    pub(super) fn text_file(&self, name: &str) -> Result<String, Complaint> {
        let text = String::from_utf8(self.file(name)?)
            .map_err(|_| Complaint::new(format!("`{name}` is not UTF-8")))?;
        Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
    }

    /// The files that a name with `*` stands for, by their names.
    pub(super) fn files(&self, pattern: &str) -> Result<Vec<String>, Complaint> {
        if !pattern.contains(['*', '?', '[']) {
            return Ok(vec![pattern.to_owned()]);
        }
        let glob = path_glob(pattern).map_err(Complaint::of)?;
        let (folder, _) = pattern.rsplit_once('/').unwrap_or(("", pattern));
        if folder.contains(['*', '?', '[']) {
            return Err(Complaint::new(format!("`{pattern}` has a `*` in the name of a folder")));
        }
        let dir = if folder.is_empty() { self.base.clone() } else { self.base.join(folder) };
        let names = files::sorted_dir(&dir).map_err(|error| {
            Complaint::new(format!("the folder of `{pattern}` cannot be read: {}", error.source))
        })?;
        let whole = |name: String| match folder {
            "" => name,
            folder => format!("{folder}/{name}"),
        };
        let found: Vec<String> = names
            .into_iter()
            .map(whole)
            .filter(|name| glob.is_match(name) && self.base.join(name).is_file())
            .collect();
        match found.is_empty() {
            true => Err(Complaint::new(format!("no file is called `{pattern}`"))),
            false => Ok(found),
        }
    }
}

/// The path of `file://…`, without the function that may stand behind it.
pub(super) fn file_name(text: &str) -> Option<&str> {
    let path = text.strip_prefix("file://")?;
    Some(path.strip_prefix("./").unwrap_or(path))
}

/// The part of a name behind its last dot; a function's name behind `:` is no part of it.
pub(super) fn extension(name: &str) -> &str {
    let name = match name.rsplit_once(':') {
        Some((front, _)) if front.contains('.') => front,
        _ => name,
    };
    Utf8Path::new(name).extension().unwrap_or_default()
}

/// Whether a file would have to be run.
pub(super) fn is_program(name: &str) -> bool {
    matches!(extension(name), "js" | "cjs" | "mjs" | "ts" | "cts" | "mts" | "py" | "rb" | "go" | "sh" | "exe")
}
