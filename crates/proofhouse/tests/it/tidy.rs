//! The plan of the house, read from the code itself: which module may use which, and where kinds of suite may be named.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{Punct, Spacing, TokenStream, TokenTree};

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

/// `diff` puts changes of some kinds' fields into classes of their own, which every kind shares.
const DIFF_LOOKS_AT_FIELDS: [&str; 2] = ["spine/diff/inspect.rs", "spine/diff/pair.rs"];

/// `code` and `check` judge problem files without a suite; `--lane auto` is two runs after each other.
const COMMANDS_OF_ONE_KIND: [&str; 5] =
    ["cli/check.rs", "cli/code.rs", "cli/lanes.rs", "cli/mcp_proxy.rs", "cli/run.rs"];

/// Whether a text holds `word` where no longer name ends with it.
fn names_word(text: &str, word: &str) -> bool {
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '"'))
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
            let fields = format!("{}.", kind.to_uppercase());
            if !inside && names_word(&source.text, &fields) && !DIFF_LOOKS_AT_FIELDS.contains(&&*source.name)
            {
                wrong.insert(format!("{} reads fields of a `{kind}` record", source.name));
            }
        }
        for used in source.uses() {
            let [first, kind, ..] = &used[..] else { continue };
            let foreign = match inside {
                true => source.module.get(1).is_some_and(|own| kinds.contains(own) && own != kind),
                false => !COMMANDS_OF_ONE_KIND.contains(&&*source.name),
            };
            if first == "kinds" && kinds.contains(kind) && foreign {
                wrong.insert(format!("{} uses {}", source.name, used.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A member of a family is one file and its lines of the table: nobody else has a `match` that would need it.
#[test]
fn members_of_families_are_named_in_their_tables_alone() {
    // What has settings of its own that a suite or a command line gives apart from it.
    let known = ["TargetConfig::Command", "LanguageName::Rust"];
    let tables = [
        ("TargetConfig::", "family/target/mod.rs"),
        ("JudgeConfig::", "family/judge/mod.rs"),
        ("GeneratorConfig::", "family/vary/mod.rs"),
        ("AttackConfig::", "family/attack/mod.rs"),
        ("LanguageName::", "kinds/code/language.rs"),
    ];
    let mut wrong = BTreeSet::new();
    let mut seen = 0;
    for source in Source::all() {
        for (prefix, table) in tables {
            for (at, _) in source.text.match_indices(prefix) {
                seen += 1;
                let rest = &source.text[at + prefix.len()..];
                let word: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
                let is_member = word.chars().next().is_some_and(char::is_uppercase)
                    && word.chars().any(char::is_lowercase);
                let name = format!("{prefix}{word}");
                if is_member && source.name != table && !known.contains(&name.as_str()) {
                    wrong.insert(format!("{} names {name}", source.name));
                }
            }
        }
    }
    assert!(seen > 10, "the tables are used");
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

/// The code of all three crates, without comments and tests.
fn all_code() -> Vec<(String, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    sources(crates, &mut files);
    let tests = |path: &PathBuf| {
        let mut parts = path.strip_prefix(crates).unwrap().iter();
        parts.any(|part| {
            ["tests", "tests.rs", "benches", "examples", "fuzz"].contains(&part.to_str().unwrap())
        })
    };
    let code: Vec<_> = files
        .into_iter()
        .filter(|path| !tests(path))
        .map(|path| (path.display().to_string(), code_of(&std::fs::read_to_string(&path).unwrap())))
        .collect();
    assert!(code.len() > 250, "the sources were found");
    code
}

/// Who reads YAML with limits of its own reads less, or more, than the others.
#[test]
fn yaml_is_read_in_one_place() {
    let home =
        ["text/yaml.rs", "spine/suite/compose.rs", "spine/suite/tree.rs", "spine/suite/dataset/yaml.rs"];
    // Its module of tests is shared, and so looks like code.
    let tests = "family/judge/grading.rs";
    let users = all_code().into_iter().filter(|(_, code)| names_in_code(code, "serde_saphyr"));
    let users: Vec<String> = users.map(|(name, _)| name).filter(|name| !name.ends_with(tests)).collect();
    let strangers: Vec<_> =
        users.iter().filter(|name| !home.iter().any(|home| name.ends_with(home))).collect();
    assert!(strangers.is_empty(), "read with `text::yaml`: {strangers:#?}");
    assert_eq!(users.len(), home.len());
}

/// Where a text has a `Result` whose error is only words, by the text that follows `Result`.
fn errors_in_words(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, start) in code.match_indices("Result<") {
        // The end of this `Result`, and the place of the comma before its error.
        let (mut depth, mut commas, mut end) = (1usize, Vec::new(), None);
        let from = at + start.len();
        let mut before = ' ';
        for (place, c) in code[from..].char_indices() {
            match c {
                '<' | '(' | '[' => depth += 1,
                '>' if before == '-' => {}
                '>' | ')' | ']' => depth -= 1,
                ',' if depth == 1 => commas.push(place),
                _ => {}
            }
            before = c;
            if depth == 0 {
                end = Some(place);
                break;
            }
        }
        let Some(end) = end else { continue };
        // A comma at the end has nothing behind it.
        let errors = commas.iter().rev().map(|comma| code[from + comma + 1..from + end].trim());
        let Some(error) = errors.into_iter().find(|error| !error.is_empty()) else { continue };
        let error = error.trim_end_matches(',').trim();
        let is_words = error == "String" || error.starts_with("(String") || error.ends_with(", String)");
        // A lexer's test holds such a function as text.
        if is_words && !code[..at].ends_with("fn w() -> ") {
            found.push(code[at..from + end + 1].to_owned());
        }
    }
    found
}

/// An error is a value: what to do about it and whether it may be shown are its parts, not phrases in its text.
#[test]
fn no_error_is_only_words() {
    let mut wrong = BTreeSet::new();
    for (name, code) in all_code() {
        wrong.extend(errors_in_words(&code).into_iter().map(|error| format!("{name}: {error}")));
    }
    assert!(wrong.is_empty(), "use `Complaint`, or an error of its own: {wrong:#?}");
    assert_eq!(errors_in_words("fn f() -> Result<Vec<(u8, u8)>, String> {").len(), 1);
    assert_eq!(errors_in_words("fn f() -> Result<\n    A,\n    (String, String),\n> {").len(), 1);
    assert_eq!(errors_in_words("fn f() -> Result<String, Error>; f: fn(&str) -> Result<(), E>").len(), 0);
}

/// Nothing is decided, and nothing is cut out, by what the text of an error says.
#[test]
fn no_error_is_searched_for_a_phrase() {
    // `message` is what compilers say, which has no parts of its own.
    const NAMES: [&str; 11] =
        ["error", "err", "e", "what", "why", "reason", "complaint", "refusal", "problem", "wrong", "failure"];
    const SEARCHES: [&str; 5] =
        [".contains(\"", ".starts_with(\"", ".ends_with(\"", ".split_once(\"", ".find(\""];
    let mut wrong = BTreeSet::new();
    for (name, code) in all_code() {
        for (search, at) in
            SEARCHES.iter().flat_map(|search| code.match_indices(search).map(move |(at, _)| (search, at)))
        {
            let before = code[..at].trim_end_matches(".to_string()").trim_end_matches(".what");
            let word: String =
                before.chars().rev().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let word: String = word.chars().rev().collect();
            if NAMES.contains(&word.as_str()) {
                let line = code[..at].matches('\n').count() + 1;
                wrong.insert(format!("{name}: about line {line}: {word}{search}"));
            }
        }
        if code.contains("\\n\\nhint: \")") || code.contains("is_about_a_key") {
            wrong.insert(format!("{name}: a hint is cut out of a text"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// One word per thing, and few of them: the glossary has at most 25, and each is a word of the code and of another document.
#[test]
fn the_glossary_is_short_and_kept() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let architecture = read("ARCHITECTURE.md");
    let (_, glossary) = architecture.split_once("## Glossary").unwrap();
    let words: Vec<&str> = glossary.split("**").skip(1).step_by(2).collect();
    assert!((15..=25).contains(&words.len()), "{} words: {words:?}", words.len());
    let distinct: BTreeSet<&&str> = words.iter().collect();
    assert_eq!(distinct.len(), words.len(), "a word appears twice: {words:?}");
    let code: String = all_code().into_iter().map(|(_, code)| code).collect();
    let documents =
        ["README.md", "CONTRIBUTING.md", "docs/formats.md", "docs/containment.md", "docs/endpoints.md"]
            .map(read)
            .join("\n")
            + &architecture[..architecture.len() - glossary.len()];
    let holds = |text: &str, word: &str| {
        let mut capital = word.to_owned();
        capital[..1].make_ascii_uppercase();
        text.contains(word) || text.contains(&capital)
    };
    let unused: Vec<&&str> =
        words.iter().filter(|word| !holds(&code, word) || !holds(&documents, word)).collect();
    assert!(unused.is_empty(), "not used: {unused:?}");
}

/// Names that readers guessed wrongly do not come back.
#[test]
fn types_have_names_that_say_what_they_are() {
    const GUESSED: [&str; 12] = [
        "Scribe", "Desk", "Sheet", "Noted", "Purse", "Heard", "Jury", "Court", "Silence", "Found", "Told",
        "Seen",
    ];
    let mut wrong = BTreeSet::new();
    for Source { name, text: code, .. } in Source::all() {
        for guessed in GUESSED {
            if ["struct ", "enum ", "trait ", "type "].iter().any(|word| {
                code.match_indices(&format!("{word}{guessed}"))
                    .any(|(at, found)| !code[at + found.len()..].starts_with(|c: char| c.is_alphanumeric()))
            }) {
                wrong.insert(format!("{name}: {guessed}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What users read calls nothing a "seed" but where randomness comes from, and the policy of that name.
#[test]
fn no_document_speaks_of_a_seed_that_its_reader_never_saw() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts: Vec<(String, String)> = all_code_with_comments();
    for name in
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "ARCHITECTURE.md", "schemas/suite.schema.json"]
    {
        texts.push((name.to_owned(), std::fs::read_to_string(root.join(name)).unwrap()));
    }
    for folder in ["docs", "docs/reference", "docs/decisions"] {
        #[expect(clippy::disallowed_methods, reason = "the order of findings does not matter")]
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                texts.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let meant = [
        "the seed's",
        "of the seed as",
        "rules of the seed",
        "schema of the seed",
        "the seeds say",
        "example of the seed",
    ];
    let wrong: Vec<_> = texts
        .iter()
        .flat_map(|(name, text)| {
            meant.iter().filter(|words| text.contains(**words)).map(move |words| (name, words))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The sources with their comments, of which doc comments become pages, help and schemas.
fn all_code_with_comments() -> Vec<(String, String)> {
    let mut files = Vec::new();
    sources(&crate_root(), &mut files);
    let read = |path: PathBuf| (path.display().to_string(), std::fs::read_to_string(&path).unwrap());
    files.into_iter().map(read).collect()
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

/// A crate's manifest: the names of its dependencies as code spells them.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.trim_end_matches(']').ends_with("dependencies") && !line.contains("workspace");
            continue;
        }
        let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
        if inside && !name.is_empty() && !name.starts_with('#') {
            names.push(name.replace('-', "_"));
        }
    }
    names
}

/// Whether code names something: as a whole word before `::`, or in a `use` of its own.
fn names(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = &code[at + name.len()..];
        let whole = !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.');
        whole && (after.starts_with("::") || after.starts_with(';') || after.starts_with(" as "))
    })
}

/// The same, as the compiler reads it: neither comments nor texts name anything.
fn names_in_code(code: &str, name: &str) -> bool {
    fn seen(tokens: TokenStream, name: &str) -> bool {
        let is_path = |punct: &Punct| punct.as_char() == ':' && punct.spacing() == Spacing::Joint;
        let mut before_colons = false;
        let mut use_of = false;
        for token in tokens {
            match &token {
                TokenTree::Group(group) if seen(group.stream(), name) => return true,
                TokenTree::Punct(punct) if before_colons && is_path(punct) => return true,
                TokenTree::Punct(punct) if use_of && punct.as_char() == ';' => return true,
                _ => {}
            }
            let is_name = matches!(&token, TokenTree::Ident(word) if word == name);
            use_of = is_name && use_of || matches!(&token, TokenTree::Ident(word) if word == "use");
            before_colons = is_name;
        }
        false
    }
    names(code, name) && code.parse().is_ok_and(|tokens| seen(tokens, name))
}

/// What no code names is not built by anybody who wants the program.
#[test]
fn every_dependency_is_used() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let root = std::fs::read_to_string(crates.parent().unwrap().join("Cargo.toml")).unwrap();
    let mut unused = BTreeSet::new();
    let mut wanted = BTreeSet::new();
    for name in ["proofhouse", "proofhouse-ledger", "proofhouse-sandbox"] {
        let mut files = Vec::new();
        sources(&crates.join(name), &mut files);
        let code: Vec<String> = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        let manifest = std::fs::read_to_string(crates.join(name).join("Cargo.toml")).unwrap();
        let known = dependencies(&manifest);
        assert!(known.len() > 3, "the dependencies of {name} were found");
        for dependency in known {
            if !code.iter().any(|text| names_in_code(text, &dependency)) {
                unused.insert(format!("{name} does not use `{dependency}`"));
            }
            wanted.insert(dependency);
        }
    }
    let shared = root.split("[workspace.dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    for dependency in dependencies(&format!("[dependencies]\n{shared}")) {
        if !wanted.contains(&dependency) {
            unused.insert(format!("no crate wants `{dependency}`"));
        }
    }
    assert!(unused.is_empty(), "{unused:#?}");
}

#[test]
fn dependencies_are_found_as_manifests_and_code_name_them() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\n# why\nserde.workspace = true\nhyper-util = { version = \"1\" }\n\
                    [target.'cfg(unix)'.dependencies]\nlibc = \"1\"\n[lints]\nworkspace = true\n";
    assert_eq!(dependencies(manifest), ["serde", "hyper_util", "libc"]);
    assert!(names("use serde::Serialize;", "serde") && names("let x = serde::de::x();", "serde"));
    assert!(!names("use serde_json::Value; // serde", "serde") && !names("self.serde::<u8>()", "serde"));
    assert!(names_in_code("fn f() { serde::g(); }", "serde") && names_in_code("use serde;", "serde"));
    assert!(!names_in_code("const X: &str = \"use rand::Rng;\"; // rand::Rng", "rand"));
    assert!(!names_in_code("fn f(serde: u8) {}", "serde"));
}

/// The numbered points of a text, each with all of its lines.
fn points(text: &str) -> Vec<String> {
    let mut points: Vec<String> = Vec::new();
    for line in text.lines() {
        match points.last_mut() {
            _ if line.starts_with(|c: char| c.is_ascii_digit()) => points.push(line.to_owned()),
            Some(point) => point.push_str(&format!(" {}", line.trim())),
            None => {}
        }
    }
    points
}

/// ARCHITECTURE.md says of each invariant what fails when it breaks; whoever renames a test renames it there.
#[test]
fn every_invariant_names_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let architecture = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let section = architecture.split("## Invariants").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut files = Vec::new();
    sources(&root.join("crates"), &mut files);
    // A test by its name, in the file or the folder that its module is.
    let is_check = |word: &str| {
        let Some((module, test)) = word.rsplit_once("::") else { return false };
        let module = module.trim_end_matches("::tests").rsplit("::").next().unwrap();
        let is_home =
            |path: &&PathBuf| path.iter().any(|part| *part == *module || *part == *format!("{module}.rs"));
        files
            .iter()
            .filter(is_home)
            .any(|path| std::fs::read_to_string(path).unwrap().contains(&format!("fn {test}(")))
    };
    let invariants = points(section);
    assert!(invariants.len() > 10, "the invariants were found");
    let mut wrong = BTreeSet::new();
    for invariant in &invariants {
        let words: Vec<&str> = invariant.split('`').skip(1).step_by(2).collect();
        let missing = words.iter().filter(|word| word.contains("::") && !is_check(word));
        wrong.extend(missing.map(|word| format!("there is no test `{word}`")));
        if !words.iter().any(|word| is_check(word)) && !invariant.contains("clippy") {
            wrong.insert(format!("no test: {invariant}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The texts in backticks of a document.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Whoever adds a room draws it into the map, and whoever moves one moves it there.
#[test]
fn the_code_map_is_the_tree() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let architecture = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let map = architecture.split("## Code map").nth(1).unwrap().split("\n## ").next().unwrap();
    let drawn: BTreeSet<&str> = quoted(map).collect();
    let exists = |path: &str| {
        [path.to_owned(), format!("{path}.rs")].iter().any(|path| crate_root().join(path).exists())
    };
    let mut wrong = BTreeSet::new();
    for place in drawn.iter().filter_map(|word| word.strip_prefix("…/")) {
        if !exists(&place.replace("KIND", "probe")) {
            wrong.insert(format!("`…/{place}` is in the map and not in the tree"));
        }
    }
    let is_drawn = |place: &str| ["", ".rs"].iter().any(|end| drawn.contains(&*format!("…/{place}{end}")));
    for room in declared("lib.rs") {
        let inside = ["spine", "kinds"].contains(&&*room);
        if !inside && !is_drawn(&room) {
            wrong.insert(format!("`…/{room}` is not in the map"));
        }
    }
    for room in declared("spine/mod.rs") {
        if !is_drawn(&format!("spine/{room}")) {
            wrong.insert(format!("`…/spine/{room}` is not in the map"));
        }
    }
    for room in declared("family/mod.rs") {
        if !drawn.contains(&*room) {
            wrong.insert(format!("the family `{room}` is not in the map"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What CONTRIBUTING says that an addition touches is there to be touched.
#[test]
fn contributing_names_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let is_tables = |path: &&str| {
        path.ends_with("mod.rs") || path.ends_with(".rs") && !path.contains("my_") && !path.ends_with("/x.rs")
    };
    let mut seen = 0;
    for path in quoted(&text).filter(|path| path.contains('/')).filter(is_tables) {
        let path = path.replace("KIND", "probe");
        let homes = ["crates/proofhouse/src", "crates/proofhouse-ledger/src", ""];
        assert!(homes.iter().any(|home| root.join(home).join(&path).exists()), "there is no `{path}`");
        seen += 1;
    }
    assert!(seen > 8, "the table was found");
}
