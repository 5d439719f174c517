//! The files that a suite names, whatever for: prompts, cases, examples, stored answers, programs of its own. For whoever watches it.

use std::collections::BTreeSet;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::paths;
use super::tree::{Kind, NodeId, Source, Tree};

/// Files that are told at most; a suite names a few.
const MAX_FILES: usize = 10_000;
/// A text that is longer is no path.
const MAX_PATH: usize = 1_000;
/// A file that names others (a suite, a prompt with its examples) is no longer than that.
const MAX_NAMING_BYTES: u64 = 8 << 20;

/// The suite and every file that is there and that a text in it names, or a text in one of those; of a glob also its folder, where
/// further files may come. Nothing where the suite is no
/// YAML at the moment, or too long to look through.
pub fn named_files(suite: &Utf8Path) -> Option<BTreeSet<Utf8PathBuf>> {
    let base = match suite.parent() {
        Some(parent) if !parent.as_str().is_empty() => parent,
        _ => Utf8Path::new("."),
    };
    let mut found = BTreeSet::from([suite.to_owned()]);
    let mut named = BTreeSet::new();
    collect(suite, base, &mut named)?;
    for file in &named {
        if file.extension().is_some_and(|end| ["yaml", "yml", "json"].contains(&end)) {
            collect(file, base, &mut found);
        }
    }
    found.append(&mut named);
    Some(found)
}

fn collect(file: &Utf8Path, base: &Utf8Path, found: &mut BTreeSet<Utf8PathBuf>) -> Option<()> {
    if std::fs::metadata(file).ok()?.len() > MAX_NAMING_BYTES {
        return None;
    }
    let source = Source::new(file.as_str().to_owned(), std::fs::read(file).ok()?).ok()?;
    let tree = Tree::parse(Arc::new(source)).ok()?;
    let mut open: Vec<NodeId> = vec![tree.root];
    while let Some(node) = open.pop() {
        match &tree.node(node).kind {
            Kind::Text(text) => add(text, base, found),
            Kind::List(list) => open.extend(list),
            Kind::Map(entries) => {
                open.extend(entries.iter().map(|entry| entry.value));
            }
            _ => {}
        }
        if found.len() >= MAX_FILES {
            break;
        }
    }
    Some(())
}

/// A text is a path, a glob, or a command line with paths among its words.
fn add(text: &str, base: &Utf8Path, found: &mut BTreeSet<Utf8PathBuf>) {
    if text.is_empty() || text.len() > MAX_PATH || text.contains('\n') {
        return;
    }
    for word in std::iter::once(text).chain(text.split_whitespace().filter(|word| *word != text)) {
        let path = base.join(word);
        if word.contains('*') {
            let files = paths::matching(base, word).unwrap_or_default();
            if let Some(folder) =
                files.first().and_then(|file| base.join(file).parent().map(ToOwned::to_owned))
            {
                found.insert(folder);
            }
            found.extend(files.into_iter().map(|file| base.join(file)));
        } else if path.is_file() {
            found.insert(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_a_suite_names_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(dir.path()).unwrap();
        let write = |name: &str, text: &str| {
            let path = base.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for name in
            ["cases.jsonl", "more/a.csv", "more/b.csv", "p.md", "judge.py", "train.jsonl", "other.txt"]
        {
            write(name, "");
        }
        write("chat.yaml", "examples: {dataset: train.jsonl}\nmessages: []\n");
        write(
            "s.yaml",
            "datasets: [cases.jsonl, more/*.csv]\nprompts: [{file: p.md}, {file: chat.yaml}]\njudges:\n  own: {command: \"python3 judge.py\"}\nabout: not/there.txt\n",
        );
        let found = named_files(&base.join("s.yaml")).unwrap();
        let names: Vec<&str> = found.iter().map(|path| path.strip_prefix(base).unwrap().as_str()).collect();
        assert_eq!(
            names,
            [
                "cases.jsonl",
                "chat.yaml",
                "judge.py",
                "more",
                "more/a.csv",
                "more/b.csv",
                "p.md",
                "s.yaml",
                "train.jsonl"
            ]
        );
        write("s.yaml", "a: [");
        assert_eq!(named_files(&base.join("s.yaml")), None);
    }
}
