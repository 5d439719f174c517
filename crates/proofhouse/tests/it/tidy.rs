//! The plan of the house, read from the code itself: which module may use which, and where kinds of suite may be named.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn crate_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    #[expect(clippy::disallowed_methods, reason = "the order of findings does not matter")]
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// One source file: where it stands among the modules, and its text without comments and tests.
struct Source {
    name: String,
    /// `spine::run::open`, without `mod`.
    module: Vec<String>,
    text: String,
}

impl Source {
    fn all() -> Vec<Source> {
        let mut files = Vec::new();
        sources(&crate_root(), &mut files);
        let read = |path: PathBuf| {
            let relative = path.strip_prefix(crate_root()).unwrap();
            let mut module: Vec<String> =
                relative.with_extension("").iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            if matches!(module.last().unwrap().as_str(), "mod" | "lib" | "main") {
                module.pop();
            }
            Source {
                name: relative.display().to_string(),
                module,
                text: code_of(&std::fs::read_to_string(&path).unwrap()),
            }
        };
        let all: Vec<Source> = files.into_iter().map(read).filter(|source| !source.is_test()).collect();
        assert!(all.len() > 200, "the sources were found");
        all
    }

    /// What is for tests alone may look anywhere.
    fn is_test(&self) -> bool {
        self.module.iter().any(|part| part == "tests")
    }

    /// Every module path that it names, from the crate's root; `super::` is resolved.
    fn uses(&self) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        for (at, _) in self.text.match_indices("crate::") {
            paths(&self.text[at + "crate::".len()..], &[], &mut found);
        }
        for (at, _) in self.text.match_indices("super::") {
            if self.text[..at].ends_with("super::") {
                continue;
            }
            let (mut rest, mut base) = (&self.text[at..], self.module.clone());
            while let Some(after) = rest.strip_prefix("super::") {
                base.pop();
                rest = after;
            }
            paths(rest, &base, &mut found);
        }
        found
    }
}

/// A file's code: comments, and what follows the module of its tests, say nothing about the plan.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The paths at the start of a text, below `base`: `a::b`, `{a, b::c}`.
fn paths(text: &str, base: &[String], found: &mut Vec<Vec<String>>) {
    if let Some(list) = text.strip_prefix('{') {
        let (mut depth, mut from) = (1usize, 0);
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 || (depth == 1 && c == ',') {
                paths(list[from..at].trim(), base, found);
                from = at + 1;
            }
            if depth == 0 {
                return;
            }
        }
        return;
    }
    let word: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if word.is_empty() || word == "self" {
        found.push(base.to_vec());
        return;
    }
    let mut longer = base.to_vec();
    longer.push(word.clone());
    match text[word.len()..].strip_prefix("::") {
        Some(rest) => paths(rest, &longer, found),
        None => found.push(longer),
    }
}

/// The modules that a file declares, in its order.
fn declared(file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(crate_root().join(file)).unwrap();
    let word = |line: &str| {
        let seen = ["pub(crate) ", "pub(super) ", "pub "].iter().find_map(|seen| line.strip_prefix(seen));
        let rest = seen.unwrap_or(line);
        Some(rest.strip_prefix("mod ")?.strip_suffix(';')?.to_owned())
    };
    text.lines().filter_map(word).collect()
}

/// What may stand below one module: an earlier one of the same list, or itself.
fn out_of_order(order: &[String], own: &str, used: &str) -> bool {
    let place = |name: &str| order.iter().position(|known| known == name);
    match (place(own), place(used)) {
        (Some(own), Some(used)) => used > own,
        _ => false,
    }
}

#[test]
fn modules_use_only_what_stands_before_them() {
    let order = declared("lib.rs");
    let floors = ["family", "spine"].map(|floor| (floor, declared(&format!("{floor}/mod.rs"))));
    let mut wrong = BTreeSet::new();
    for source in Source::all() {
        let Some(own) = source.module.first() else { continue };
        assert!(order.contains(own) || *own == "main", "`{own}` is not listed in lib.rs");
        for used in source.uses() {
            let Some(first) = used.first() else { continue };
            if out_of_order(&order, own, first) {
                wrong.insert(format!("{} uses {}", source.name, used.join("::")));
            }
            for (floor, rooms) in &floors {
                let (Some(own_room), Some(room)) = (source.module.get(1), used.get(1)) else { continue };
                if own == floor && first == floor && out_of_order(rooms, own_room, room) {
                    wrong.insert(format!("{} uses {}", source.name, used.join("::")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_file_is_declared_where_it_stands() {
    let mut lost = Vec::new();
    for source in Source::all() {
        let Some((name, parents)) = source.module.split_last() else { continue };
        let parent = parents.join("/");
        let candidates = match parent.as_str() {
            "" => vec!["lib.rs".to_owned(), "main.rs".to_owned()],
            parent => vec![format!("{parent}/mod.rs"), format!("{parent}.rs")],
        };
        let known = candidates
            .iter()
            .filter(|file| crate_root().join(file).exists())
            .any(|file| declared(file).contains(name));
        if !known && name != "main" {
            lost.push(source.name);
        }
    }
    assert!(lost.is_empty(), "nothing declares {lost:#?}");
}

/// A report can never run or judge anything again: what tells people sees the ledger and figures only.
#[test]
fn who_tells_sees_the_ledger_alone() {
    let told = ["tally", "diff", "present", "export"];
    let roles = ["tally", "sections", "account", "export"];
    let acting = ["suite", "plan", "run"];
    let mut wrong = BTreeSet::new();
    for source in Source::all() {
        let module: Vec<&str> = source.module.iter().map(String::as_str).collect();
        let tells = match module[..] {
            ["spine", room, ..] => told.contains(&room),
            ["kinds", _, role, ..] => roles.contains(&role),
            _ => false,
        };
        for used in source.uses().into_iter().filter(|_| tells) {
            let used: Vec<&str> = used.iter().map(String::as_str).collect();
            let forbidden = match used[..] {
                ["family" | "cli", ..] => true,
                ["spine", room, ..] => acting.contains(&room),
                _ => false,
            };
            if forbidden {
                wrong.insert(format!("{} uses {}", source.name, used.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A kind is one folder: nobody else names one, and no kind reaches into another.
#[test]
fn kinds_are_named_in_their_own_folders_alone() {
    let kinds: Vec<String> = declared("kinds/mod.rs").into_iter().filter(|name| name != "tests").collect();
    let mut wrong = BTreeSet::new();
    for source in Source::all() {
        let own = source.module.first().map(String::as_str);
        let inside = own == Some("kinds");
        for kind in &kinds {
            let mut word = kind.clone();
            word[..1].make_ascii_uppercase();
            if !inside && source.text.contains(&format!("Kind::{word}")) {
                wrong.insert(format!("{} names Kind::{word}", source.name));
            }
            if !inside && source.text.contains(&format!("summary.{kind}")) {
                wrong.insert(format!("{} reads the summary's `{kind}`", source.name));
            }
        }
        for used in source.uses() {
            let [first, kind, ..] = &used[..] else { continue };
            let foreign =
                inside && source.module.get(1).is_some_and(|own| kinds.contains(own) && own != kind);
            if first == "kinds" && kinds.contains(kind) && foreign {
                wrong.insert(format!("{} uses {}", source.name, used.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_source_file_says_what_it_is_for() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    sources(crates, &mut files);
    let silent: Vec<_> =
        files.iter().filter(|path| !std::fs::read_to_string(path).unwrap().starts_with("//!")).collect();
    assert!(silent.is_empty(), "without a `//!` opening: {silent:#?}");
}

/// The reader of paths reads what people write.
#[test]
fn paths_are_read_as_the_compiler_reads_them() {
    let module = ["spine", "run", "open"].map(str::to_owned).to_vec();
    let text = "use super::job::Job;\nuse crate::{spine::plan::{self, Trial}, stats};\nlet x = super::super::tally::write();";
    let source = Source { name: String::new(), module, text: text.to_owned() };
    let found: Vec<String> = source.uses().iter().map(|path| path.join("::")).collect();
    assert_eq!(
        found,
        ["spine::plan", "spine::plan::Trial", "stats", "spine::run::job::Job", "spine::tally::write"]
    );
}
