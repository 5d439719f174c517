//! The tests of a task, made callable one by one: attributes that only `rustc --test` understands are replaced by spaces
//! of the same length, so that every line and column stays what it was, and each module gets a list of its tests.

use super::frame::blank;
use super::items::{Item, Kind};
use super::tokens::{Lexed, What};

/// The name of the list that each module of tests gets.
pub(super) const LIST: &str = "__proofhouse_checks";

/// The tests of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checks {
    /// The edited text. Empty if there is nothing to run.
    pub(super) source: String,
    /// Their names in the order in which they run.
    pub(super) names: Vec<String>,
    /// All words of the text, for what they might need.
    pub(super) words: Vec<String>,
}

/// One edit: these bytes are replaced by this text.
struct Edit {
    from: usize,
    to: usize,
    with: Option<String>,
}

impl Checks {
    /// Reads the tests: `#[test]` functions, in modules or not, or one `fn main`, or plain statements.
    pub(super) fn of(test: &str) -> Checks {
        let none = Checks { source: String::new(), names: Vec::new(), words: Vec::new() };
        let Some(lexed) = Lexed::of(test) else { return none };
        if lexed.tokens.is_empty() {
            return none;
        }
        let items = Item::all(&lexed);
        let declares = |item: &Item| matches!(item.kind, Kind::Function | Kind::Module);
        if items.is_some_and(|items| items.iter().any(declares)) {
            return Checks::of_items(test).unwrap_or(none);
        }
        // Statements: they become the body of a function, on the lines where they were.
        Checks::of_items(&format!("fn main() {{ {test}\n}}")).unwrap_or(none)
    }

    fn of_items(test: &str) -> Option<Checks> {
        let lexed = Lexed::of(test)?;
        let items = Item::all(&lexed)?;
        // Tests that a macro makes cannot be listed, and must not be left out in silence.
        if (0..lexed.tokens.len()).any(|at| makes_tests(&lexed, at)) {
            return None;
        }
        let mut edits = Vec::new();
        let mut names = Vec::new();
        let has_tests = contains_test(&lexed);
        let mut list = module(&lexed, &items, "", &mut edits, &mut names);
        if !has_tests
            && let Some(main) = items.iter().find(|item| item.is_function("main") && does_something(item))
        {
            names.push("main".to_owned());
            list = entry(&lexed, main, "main");
        }
        if names.is_empty() {
            return None;
        }
        let source = apply(test, edits) + &list_function(&list);
        let words = lexed.words().map(|(_, word)| word.to_owned()).collect();
        Some(Checks { source, names, words })
    }
}

fn contains_test(lexed: &Lexed<'_>) -> bool {
    (0..lexed.tokens.len()).any(|at| is_test_attribute(lexed, at))
}

fn is_test_attribute(lexed: &Lexed<'_>, at: usize) -> bool {
    lexed.is_mark(at, '#')
        && lexed.group(at + 1, '[').is_some_and(|close| close == at + 3)
        && lexed.word(at + 2) == "test"
}

/// Whether a macro that is defined here has `#[test]` in it.
fn makes_tests(lexed: &Lexed<'_>, at: usize) -> bool {
    if lexed.word(at) != "macro_rules" || !lexed.is_mark(at + 1, '!') {
        return false;
    }
    let close = ['{', '(', '['].into_iter().find_map(|bracket| lexed.group(at + 3, bracket));
    close.is_some_and(|close| (at..close).any(|at| is_test_attribute(lexed, at)))
}

/// Collects the tests of one module, and gives the entries of its list.
fn module(
    lexed: &Lexed<'_>,
    items: &[Item],
    path: &str,
    edits: &mut Vec<Edit>,
    names: &mut Vec<String>,
) -> String {
    let mut list = String::new();
    for item in items {
        let attributes = attributes(lexed, item);
        // `cfg(test)` is always so here.
        for (words, range) in &attributes {
            let ours = matches!(words.first(), Some(&"test" | &"should_panic" | &"ignore"));
            if ours || words.as_slice() == ["cfg", "test"] {
                edits.push(Edit { from: range.start, to: range.end, with: None });
            }
        }
        let has = |name: &str| attributes.iter().any(|(words, _)| words.first() == Some(&name));
        match item.kind {
            Kind::Function if has("test") && !has("ignore") && does_something(item) => {
                let name = format!("{path}{}", item.name);
                list.push_str(&entry(lexed, item, &name));
                names.push(name);
            }
            Kind::Module => {
                let Some((open, close)) = item.body else { continue };
                let Some(inner) = Item::within(lexed, open + 1, close) else { continue };
                let inner_path = format!("{path}{}::", item.name);
                let inner_list = module(lexed, &inner, &inner_path, edits, names);
                let at = lexed.tokens[close].from;
                edits.push(Edit { from: at, to: at, with: Some(list_function(&inner_list)) });
                list.push_str(&format!("list.extend({}::{LIST}());", item.name));
            }
            _ => {}
        }
    }
    list
}

/// A test with an empty body tests nothing.
fn does_something(item: &Item) -> bool {
    item.body.is_some_and(|(open, close)| open + 1 < close)
}

/// One entry of a list: name, what the panic must say (`None`: no panic is wanted), and the call.
fn entry(lexed: &Lexed<'_>, item: &Item, name: &str) -> String {
    let attributes = attributes(lexed, item);
    let wanted = attributes.iter().find(|(words, _)| words.first() == Some(&"should_panic"));
    let expected = match wanted {
        None => "::core::option::Option::None".to_owned(),
        Some((_, range)) => {
            let literal = lexed
                .tokens
                .iter()
                .find(|token| token.what == What::Literal && range.contains(&token.from))
                .map_or("\"\"", |token| &lexed.text[token.from..token.to]);
            format!("::core::option::Option::Some({literal})")
        }
    };
    format!(
        "list.push((\"{name}\", {expected}, (|| crate::__proofhouse_runner::Ending::end({}())) as fn()));",
        item.name
    )
}

fn list_function(list: &str) -> String {
    format!(
        " #[allow(clippy::all)] #[doc(hidden)] pub(crate) fn {LIST}() -> crate::__proofhouse_runner::Checks {{ \
         #[allow(unused_mut)] let mut list: crate::__proofhouse_runner::Checks = ::std::vec::Vec::new(); {list} list }} "
    )
}

/// The words of each attribute of an item, and its bytes.
fn attributes<'a>(lexed: &Lexed<'a>, item: &Item) -> Vec<(Vec<&'a str>, std::ops::Range<usize>)> {
    let mut found = Vec::new();
    let mut at = item.attributes.start;
    while at < item.attributes.end {
        let Some(close) = lexed.group(at + 1, '[') else { break };
        let words = (at + 2..close).map(|index| lexed.word(index)).filter(|word| !word.is_empty()).collect();
        found.push((words, lexed.tokens[at].from..lexed.tokens[close].to));
        at = close + 1;
    }
    found
}

fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.from);
    let mut out = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for edit in edits {
        out.push_str(&text[at..edit.from]);
        match edit.with {
            Some(with) => out.push_str(&with),
            None => {
                let mut gone = text.as_bytes()[edit.from..edit.to].to_vec();
                blank(&mut gone);
                out.push_str(&String::from_utf8(gone).expect("spaces and line ends"));
            }
        }
        at = edit.to;
    }
    out + &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_found_wherever_they_stand() {
        let modules = "\n#[cfg(test)]\nmod tests {\n  use super::*;\n  #[test]\n  fn a() { f() }\n  #[test] #[ignore] fn skipped() {}\n  \
                       mod deep { #[test]\n #[should_panic(expected = \"no\")]\n fn b() { f() } }\n}\n#[test] fn c() { f() }";
        let checks = Checks::of(modules);
        assert_eq!(checks.names, ["tests::a", "tests::deep::b", "c"]);
        assert!(!checks.source.contains("#[test]") && !checks.source.contains("cfg"));
        assert!(checks.source.contains("Some(\"no\")"));
        assert_eq!(Checks::of("fn main() { let candidate = f; }").names, ["main"]);
        assert_eq!(Checks::of("assert_eq!(f(), 1);\nassert!(true);").names, ["main"]);
    }

    #[test]
    fn what_tests_nothing_has_no_tests() {
        for text in [
            "",
            "macro_rules! c { ($n:ident) => { #[test] fn $n() { f() } } } c!(a); #[test] fn z() { f() }",
            "\n// nothing\n",
            "#[cfg(test)] mod tests { use super::*; }",
            "fn helper() {}",
            "#[test] fn empty() {}",
            "{",
        ] {
            assert!(Checks::of(text).names.is_empty(), "{text}");
        }
    }

    #[test]
    fn lines_and_columns_stay() {
        let text = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { assert!(false) }\n}\n";
        let edited = Checks::of(text).source;
        let place = |text: &str| {
            let at = text.find("assert!").unwrap();
            (text[..at].matches('\n').count(), at - text[..at].rfind('\n').unwrap())
        };
        assert_eq!(place(&edited), place(text));
    }
}
