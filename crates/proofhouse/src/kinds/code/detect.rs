//! What a problem file does not say outright: the language of its tasks, and the crates that they use.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;

use super::formats::{Row, understand};
use super::language::LanguageName;
use super::lines::{Lines, Next};
use super::problem::Problem;
use super::sample::TEXT_KEYS;

/// What a file of JSON lines holds, by its first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Tasks with their tests.
    Problems,
    /// Answers to tasks.
    Samples,
    /// Neither, or nothing that can be read.
    Other,
}

/// What the file holds. A line that is both, as where a harness adds its answers to the rows of the problem file, is an answer.
pub fn content_of(path: &Utf8Path) -> Content {
    let mut line = Vec::new();
    let Ok(mut lines) = Lines::open(path) else { return Content::Other };
    while matches!(lines.next(&mut line), Ok(Next::Line)) {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        return match Row::read(&line) {
            Ok(row) if TEXT_KEYS.iter().any(|key| row.has(key)) => Content::Samples,
            Ok(row) if understand(&row).is_ok() => Content::Problems,
            _ => Content::Other,
        };
    }
    Content::Other
}

/// Why the language cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoLanguage {
    /// Nothing in the problems says it.
    #[error(
        "the language of the problems is not clear: neither a `language`, nor task ids, prompts or tests say it"
    )]
    Unknown,
    /// Tasks of several: of each its language, how many there are, and the name of one.
    #[error("the problems are of {number} languages: {counted}", number = number(.0.len()), counted = counted(.0))]
    Mixed(Vec<(LanguageName, usize, String)>),
    /// A language that is not judged.
    #[error("the problems say that they are in `{0}`: completions in {titles} are judged", titles = titles())]
    Other(String),
}

impl NoLanguage {
    /// What would help.
    pub fn hint(&self) -> String {
        match self {
            NoLanguage::Unknown => format!("say {}", LanguageName::choices("language: ")),
            NoLanguage::Mixed(_) => {
                "judge them one after the other: `tasks:` in a suite, or `--task`, names those of one language".to_owned()
            }
            NoLanguage::Other(_) => "is it the right file?".to_owned(),
        }
    }

    /// The same on a command line.
    pub(crate) fn flag_hint(&self) -> String {
        match self {
            NoLanguage::Unknown => format!("say it: {}", LanguageName::choices("--language ")),
            NoLanguage::Mixed(_) | NoLanguage::Other(_) => self.hint(),
        }
    }
}

fn number(count: usize) -> String {
    if count == 2 { "two".to_owned() } else { count.to_string() }
}

fn counted(found: &[(LanguageName, usize, String)]) -> String {
    let each = |(name, count, one): &(LanguageName, usize, String)| {
        format!("{count} are {} (`{one}`)", name.profile().title)
    };
    found.iter().map(each).collect::<Vec<_>>().join(", ")
}

fn titles() -> String {
    let titles = LanguageName::ALL.iter().map(|name| name.profile().title);
    titles.collect::<Vec<_>>().join(" and in ")
}

/// What one problem says of its language.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Sign {
    Is(LanguageName),
    Other(String),
    None,
}

/// The language of the problems, by what they say of themselves and by how they look.
///
/// # Errors
/// Where they do not agree, or say nothing.
pub fn language_of(problems: &[Problem]) -> Result<LanguageName, NoLanguage> {
    let signs: Vec<(Sign, &Problem)> = problems.iter().map(|problem| (sign(problem), problem)).collect();
    let of = |wanted: &LanguageName| -> Option<(LanguageName, usize, String)> {
        let mut found =
            signs.iter().filter(|(sign, _)| *sign == Sign::Is(*wanted)).map(|(_, problem)| problem);
        let first = found.next()?.task_id.clone();
        Some((*wanted, 1 + found.count(), first))
    };
    let found: Vec<_> = LanguageName::ALL.iter().filter_map(of).collect();
    match &found[..] {
        [(language, ..)] => Ok(*language),
        [_, _, ..] => Err(NoLanguage::Mixed(found)),
        [] => Err(signs
            .iter()
            .find_map(|(sign, _)| match sign {
                Sign::Other(name) => Some(NoLanguage::Other(name.clone())),
                _ => None,
            })
            .unwrap_or(NoLanguage::Unknown)),
    }
}

fn sign(problem: &Problem) -> Sign {
    if let Some(language) = &problem.language {
        return named(language).map_or_else(|| Sign::Other(language.clone()), Sign::Is);
    }
    // `Rust/3`, `Python/3`, `Go/3`; `HumanEval/3` is everybody's.
    if let Some((word, _)) = problem.task_id.split_once('/') {
        match named(word) {
            Some(language) => return Sign::Is(language),
            None if OTHERS.contains(&word.to_ascii_lowercase().as_str()) => {
                return Sign::Other(word.to_owned());
            }
            None => {}
        }
    }
    let marks = |marks: &[&str]| {
        let texts = [&problem.prompt, &problem.test];
        marks.iter().filter(|mark| texts.iter().any(|text| text.contains(**mark))).count()
    };
    let seen = LanguageName::ALL.iter().map(|name| (marks(name.profile().marks), *name));
    let most = seen.clone().map(|(count, _)| count).max().unwrap_or(0);
    let mut best = seen.filter(|(count, _)| *count == most);
    match (best.next(), best.next()) {
        (Some((_, language)), None) => Sign::Is(language),
        _ => Sign::None,
    }
}

/// Languages that data sets name in their task ids and that are not judged here.
const OTHERS: [&str; 20] = [
    "c",
    "c#",
    "c++",
    "cpp",
    "csharp",
    "d",
    "dart",
    "go",
    "haskell",
    "java",
    "javascript",
    "js",
    "julia",
    "kotlin",
    "lua",
    "php",
    "ruby",
    "scala",
    "swift",
    "typescript",
];

fn named(word: &str) -> Option<LanguageName> {
    let word = word.to_ascii_lowercase();
    let is_it = |name: &&LanguageName| {
        let profile = name.profile();
        profile.word == word || profile.aliases.contains(&word.as_str())
    };
    LanguageName::ALL.iter().find(is_it).copied()
}

/// Versions with which the public data sets were made.
const VERSIONS: [(&str, &str); 10] = [
    ("chrono", "0.4"),
    ("itertools", "0.13"),
    ("lazy_static", "1"),
    ("md5", "0.7"),
    ("num", "0.4"),
    ("once_cell", "1"),
    ("rand", "0.4"),
    ("regex", "1"),
    ("serde", "1"),
    ("serde_json", "1"),
];

/// The version of a crate that the public data sets need, where that is known.
pub fn usual_version(name: &str) -> Option<&'static str> {
    VERSIONS.iter().find(|(known, _)| *known == name).map(|(_, version)| *version)
}

/// The crates that Rust tasks use beside the standard library, each with the tasks that use it.
pub fn crates_of(problems: &[Problem]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for problem in problems {
        let solution = problem.canonical_solution.as_deref().unwrap_or_default();
        let declaration = problem.declaration.as_deref().unwrap_or_default();
        let text = [declaration, &problem.prompt, solution, &problem.test].join("\n");
        for name in crates_in(&text) {
            found.entry(name).or_default().push(problem.task_id.clone());
        }
    }
    found
}

/// Names that a `use` or `extern crate` takes from outside and that are used, and well-known crates that are named in a
/// path. Many data sets import the same crates for all tasks, of which few need them.
fn crates_in(text: &str) -> BTreeSet<String> {
    const OWN: [&str; 7] = ["std", "core", "alloc", "crate", "self", "super", "test"];
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
    let bare = |line: &'_ str| line.trim_start_matches("pub ").to_owned();
    let (imports, code): (Vec<String>, Vec<String>) =
        code.map(bare).partition(|line| line.starts_with("use ") || line.starts_with("extern crate "));
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = code.iter().flat_map(|line| line.split(|c| !is_word(c))).collect();
    let modules: BTreeSet<&str> =
        code.iter().filter_map(|line| line.strip_prefix("mod ")).map(head).collect();
    // What `use std::{collections, fmt};` brings in is not a crate when a later `use` begins with it.
    let brought: BTreeSet<&str> = imports
        .iter()
        .filter(|line| line.starts_with("use std") || line.starts_with("use core"))
        .flat_map(|line| line.split(|c| !is_word(c)))
        .collect();
    let outside = |name: &str| {
        let lower = name.starts_with(|c: char| c.is_ascii_lowercase());
        lower && !OWN.contains(&name) && !modules.contains(name) && !brought.contains(name)
    };
    let mut found = BTreeSet::new();
    for line in &imports {
        let rest = line.strip_prefix("use ").or(line.strip_prefix("extern crate ")).unwrap_or_default();
        let name = head(rest.trim_start_matches("::"));
        let used = rest.contains('*')
            || rest.split(|c| !is_word(c)).any(|word| !word.is_empty() && words.contains(word));
        if outside(name) && used {
            found.insert(name.to_owned());
        }
    }
    for (name, _) in VERSIONS {
        let path = format!("{name}::");
        let in_path = |line: &String| {
            line.match_indices(&path).any(|(at, _)| !line[..at].ends_with(|c| is_word(c) || c == ':'))
        };
        if outside(name) && code.iter().any(in_path) {
            found.insert(name.to_owned());
        }
    }
    found
}

fn head(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(task_id: &str, prompt: &str, test: &str) -> Problem {
        Problem {
            task_id: task_id.to_owned(),
            prompt: prompt.to_owned(),
            test: test.to_owned(),
            ..Problem::default()
        }
    }

    #[test]
    fn a_language_is_told_by_words_and_by_looks() {
        let rust = problem("a", "fn f(x: i32) -> i32 {\n", "#[test]\nfn t() { assert_eq!(f(1), 1); }");
        let python = problem(
            "b",
            "def f(x):\n    \"\"\" f \"\"\"\n",
            "def check(candidate):\n    assert candidate(1) == 1",
        );
        let nothing = problem("c", "", "");
        assert_eq!(language_of(&[rust.clone(), nothing.clone()]), Ok(LanguageName::Rust));
        assert_eq!(language_of(std::slice::from_ref(&python)), Ok(LanguageName::Python));
        assert_eq!(language_of(std::slice::from_ref(&nothing)), Err(NoLanguage::Unknown));
        assert!(matches!(language_of(&[rust, python]), Err(NoLanguage::Mixed(found)) if found.len() == 2));
        assert_eq!(language_of(&[problem("Rust/1", "", "")]), Ok(LanguageName::Rust));
        let said = |word: &str| Problem { language: Some(word.to_owned()), ..problem("x", "def f", "") };
        assert_eq!(language_of(&[said("rs")]), Ok(LanguageName::Rust));
        assert_eq!(language_of(&[said("go")]), Err(NoLanguage::Other("go".to_owned())));
        assert_eq!(
            language_of(&[problem("Go/1", "func f(x int) int {", "")]),
            Err(NoLanguage::Other("Go".to_owned()))
        );
    }

    #[test]
    fn crates_are_told_from_modules_and_the_standard_library() {
        let text = "use std::{collections::HashMap, fmt};\nuse fmt::Display;\nuse rand::Rng;\nextern crate regex;\nmod own { }\nuse own::x;\nuse super::*;\n// use serde::Serialize;\nuse serde::Serialize;\nfn f(rng: Rng, x: regex::Regex) { md5::compute(b\"\"); std::rand::x(); }";
        let found = crates_in(text);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["md5", "rand", "regex"]);
        assert_eq!(usual_version("rand"), Some("0.4"));
    }
}
