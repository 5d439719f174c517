//! The tests of a task, made callable one by one: attributes that only `rustc --test` understands are replaced by spaces
//! of the same length, so that every line and column stays what it was, and each module gets a list of its tests. Where
//! they cannot be listed from their text, because a macro makes them, they are left to rustc's own harness.

use std::ops::Range;

use super::frame::blank;
use super::items::{Item, Kind};
use super::tokens::{Lexed, What};

pub(super) mod cfg;

/// The name of the list that each module of tests gets.
pub(super) const LIST: &str = "__proofhouse_checks";

/// The tests of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checks {
    /// The edited text. Empty if there is nothing to run.
    pub(super) source: String,
    /// Who collects them.
    pub(super) mode: Mode,
    /// Their names in the order in which they run; empty where only the harness knows them.
    pub(super) names: Vec<String>,
    /// All words of the text, for what they might need.
    pub(super) words: Vec<String>,
}

/// Who collects the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The list functions in the text.
    Listed,
    /// `rustc --test`: the text is as it was, but that attributes of the whole file are taken out.
    Harness,
}

/// One edit: these bytes are replaced by this text.
struct Edit {
    from: usize,
    to: usize,
    with: Option<String>,
}

/// What listing has found so far.
#[derive(Default)]
struct Listing {
    edits: Vec<Edit>,
    names: Vec<String>,
    /// Something that only the compiler can tell: it may be, or hide, a test.
    unclear: bool,
}

impl Checks {
    /// Reads the tests: `#[test]` functions, in modules or not, or one `fn main`, or plain statements.
    pub(super) fn of(test: &str) -> Checks {
        let none = Checks { source: String::new(), mode: Mode::Listed, names: Vec::new(), words: Vec::new() };
        let Some(lexed) = Lexed::of(test) else { return none };
        if lexed.tokens.is_empty() {
            return none;
        }
        let declares = |item: &Item| {
            matches!(item.kind, Kind::Function | Kind::Module)
                || (item.kind == Kind::Macro && makes_tests(&lexed, item))
        };
        if Item::all(&lexed).is_some_and(|items| items.iter().any(declares)) {
            return Checks::of_items(test).unwrap_or(none);
        }
        // Statements: they become the body of a function, on the lines where they were.
        Checks::of_items(&format!("fn main() {{ {test}\n}}")).unwrap_or(none)
    }

    /// Whether there is nothing to run.
    pub(super) fn is_empty(&self) -> bool {
        self.source.is_empty()
    }

    fn of_items(test: &str) -> Option<Checks> {
        let lexed = Lexed::of(test)?;
        let items = Item::all(&lexed)?;
        let words = lexed.words().map(|(_, word)| word.to_owned()).collect();
        let mut found = Listing::default();
        let has_tests = contains_test(&lexed, 0..lexed.tokens.len());
        let mut list = module(&lexed, &items, "", &mut found);
        // Tests that cannot be listed must not be left out in silence.
        if (found.unclear && has_tests) || is_conditional(&lexed, &found.edits) {
            let inner = items.iter().filter(|item| item.kind == Kind::Inner);
            let edits = inner.map(|item| Edit { from: item.from, to: item.to, with: None }).collect();
            return Some(Checks {
                source: apply(test, edits),
                mode: Mode::Harness,
                names: Vec::new(),
                words,
            });
        }
        if !has_tests
            && let Some(main) = items.iter().find(|item| item.is_function("main") && does_something(item))
        {
            found.names.push("main".to_owned());
            list = entry(&lexed, main, "main");
        }
        if found.names.is_empty() {
            return None;
        }
        let source = apply(test, found.edits) + &list_function(&list);
        Some(Checks { source, mode: Mode::Listed, names: found.names, words })
    }
}

/// Whether an item is there only when tests are compiled: a test, or a module of them.
pub(super) fn is_test_only(lexed: &Lexed<'_>, item: &Item) -> bool {
    let attributes = attributes(lexed, item);
    let conditions = || attributes.iter().filter(|attribute| attribute.name() == "cfg");
    match item.kind {
        Kind::Function => attributes.iter().any(|attribute| attribute.name() == "test"),
        Kind::Module => {
            let inside = || item.body.is_some_and(|(open, close)| contains_test(lexed, open..close));
            conditions()
                .any(|cfg| cfg.holds(lexed, false) == Some(false) && cfg.holds(lexed, true) == Some(true))
                || (matches!(item.name.as_str(), "test" | "tests") && inside())
        }
        _ => false,
    }
}

fn contains_test(lexed: &Lexed<'_>, mut tokens: Range<usize>) -> bool {
    tokens.any(|at| is_test_attribute(lexed, at))
}

fn is_test_attribute(lexed: &Lexed<'_>, at: usize) -> bool {
    lexed.is_mark(at, '#')
        && lexed
            .group(at + 1, '[')
            .is_some_and(|close| lexed.word(close - 1) == "test" && !lexed.is_mark(close - 2, '('))
}

/// Whether a condition on `test` is left after these edits: it holds only if the compiler is told that it compiles tests.
fn is_conditional(lexed: &Lexed<'_>, edits: &[Edit]) -> bool {
    let edited = |at: usize| {
        let from = lexed.tokens[at].from;
        edits.iter().any(|edit| edit.with.is_none() && (edit.from..edit.to).contains(&from))
    };
    lexed.words().any(|(at, word)| {
        let list = at + 1 + usize::from(lexed.is_mark(at + 1, '!'));
        matches!(word, "cfg" | "cfg_attr")
            && !edited(at)
            && lexed.group(list, '(').is_some_and(|close| (list..close).any(|at| lexed.word(at) == "test"))
    })
}

/// Whether a macro, by its definition or by what it is given, has `#[test]` in it.
fn makes_tests(lexed: &Lexed<'_>, item: &Item) -> bool {
    lexed
        .tokens
        .iter()
        .enumerate()
        .any(|(at, token)| (item.from..item.to).contains(&token.from) && is_test_attribute(lexed, at))
}

/// Collects the tests of one module, and gives the entries of its list.
fn module(lexed: &Lexed<'_>, items: &[Item], path: &str, found: &mut Listing) -> String {
    let mut list = String::new();
    for item in items {
        let attributes = attributes(lexed, item);
        let conditions = attributes.iter().filter(|attribute| attribute.name() == "cfg");
        let holds: Vec<_> = conditions.map(|cfg| cfg.holds(lexed, true)).collect();
        found.unclear |= holds.contains(&None);
        if holds.contains(&Some(false)) {
            found.edits.push(Edit { from: item.from, to: item.to, with: None });
            continue;
        }
        for attribute in &attributes {
            // The attribute of another crate makes a test of its own kind.
            let foreign = !matches!(lexed.word(attribute.tokens.start), "test" | "core" | "std");
            found.unclear |= attribute.name() == "test" && foreign;
            let ours = matches!(attribute.name(), "test" | "should_panic" | "ignore" | "cfg");
            if ours || item.kind == Kind::Inner && attribute.name() == "allow" {
                let Range { start: from, end: to } = attribute.bytes;
                found.edits.push(Edit { from, to, with: None });
            }
        }
        let has = |name: &str| attributes.iter().any(|attribute| attribute.name() == name);
        match item.kind {
            Kind::Function if has("test") && !has("ignore") && does_something(item) => {
                let name = format!("{path}{}", item.name);
                found.unclear |= ends_otherwise(lexed, item);
                list.push_str(&entry(lexed, item, &name));
                found.names.push(name);
            }
            Kind::Module => {
                let Some((open, close)) = item.body else { continue };
                let Some(inner) = Item::within(lexed, open + 1, close) else { continue };
                let inner_path = format!("{path}{}::", item.name);
                let inner_list = module(lexed, &inner, &inner_path, found);
                let at = lexed.tokens[close].from;
                found.edits.push(Edit { from: at, to: at, with: Some(list_function(&inner_list)) });
                list.push_str(&format!("list.extend({}::{LIST}());", item.name));
            }
            Kind::Macro => found.unclear |= makes_tests(lexed, item),
            _ => {}
        }
    }
    list
}

/// Whether a test gives something that only the harness understands.
fn ends_otherwise(lexed: &Lexed<'_>, item: &Item) -> bool {
    let end = item.body.map_or(item.keyword, |(open, _)| open);
    let arrow = (item.keyword..end).find(|at| lexed.is_mark(*at, '-') && lexed.is_mark(at + 1, '>'));
    arrow.is_some_and(|arrow| !(arrow..end).any(|at| lexed.word(at).ends_with("Result")) && end > arrow + 4)
}

/// A test with an empty body tests nothing.
fn does_something(item: &Item) -> bool {
    item.body.is_some_and(|(open, close)| open + 1 < close)
}

/// One entry of a list: name, what the panic must say (`None`: no panic is wanted), and the call.
fn entry(lexed: &Lexed<'_>, item: &Item, name: &str) -> String {
    let attributes = attributes(lexed, item);
    let expected = match attributes.iter().find(|attribute| attribute.name() == "should_panic") {
        None => "::core::option::Option::None".to_owned(),
        Some(attribute) => {
            let literal = lexed
                .tokens
                .iter()
                .find(|token| token.what == What::Literal && attribute.bytes.contains(&token.from))
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

/// An attribute of an item.
struct Attribute<'a> {
    /// Its path: `core::prelude::v1::test` is `test`.
    name: &'a str,
    bytes: Range<usize>,
    /// The tokens between its brackets.
    tokens: Range<usize>,
}

impl<'a> Attribute<'a> {
    fn name(&self) -> &'a str {
        self.name
    }

    /// The value of a `cfg`; `None` where only the compiler knows.
    fn holds(&self, lexed: &Lexed<'_>, test: bool) -> Option<bool> {
        let close = lexed.group(self.tokens.start + 1, '(')?;
        let last = close - usize::from(lexed.is_mark(close - 1, ','));
        cfg::holds(lexed, self.tokens.start + 2, last, test)
    }
}

fn attributes<'a>(lexed: &Lexed<'a>, item: &Item) -> Vec<Attribute<'a>> {
    let mut found = Vec::new();
    let inner = usize::from(item.kind == Kind::Inner);
    let mut at = item.attributes.start;
    while at < item.attributes.end || (item.kind == Kind::Inner && found.is_empty()) {
        let Some(close) = lexed.group(at + 1 + inner, '[') else { break };
        let tokens = at + 2 + inner..close;
        let path = tokens.clone().take_while(|at| !lexed.word(*at).is_empty() || lexed.is_mark(*at, ':'));
        let name = path.last().map_or("", |at| lexed.word(at));
        found.push(Attribute { name, bytes: lexed.tokens[at].from..lexed.tokens[close].to, tokens });
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
    fn conditions_are_looked_at() {
        let checks = Checks::of(
            "#[cfg(all(test, unix))] mod a { #[cfg(test)] use super::*; #[test] fn x() { f() } #[cfg(feature = \"y\")] #[test] fn y() { f() } }\n\
             #[cfg(not(test))] mod b { #[test] fn z() { f() } }\n#[core::prelude::v1::test] fn w() -> Result<(), String> { f() }",
        );
        assert_eq!((checks.mode, checks.names.join(" ")), (Mode::Listed, "a::x w".to_owned()));
        assert!(!checks.source.contains("cfg") && !checks.source.contains("fn y"), "{}", checks.source);
    }

    #[test]
    fn what_cannot_be_listed_is_left_to_the_harness() {
        for text in [
            "macro_rules! c { ($n:ident) => { #[test] fn $n() { f() } } } c!(a); #[test] fn z() { f() }",
            "#[cfg(test)] mod tests { use super::*; macro_rules! c { ($n:ident) => { #[test] fn $n() {} } } c!(a); }",
            "proptest! { #[test] fn a(x in 0..9) { f(x) } }",
            "#[cfg(all(test, target_env = \"gnu\"))] mod tests { #[test] fn a() { f() } }",
            "#[cfg_attr(test, test)] fn a() { f() }",
            "#[test] fn a() { if cfg!(test) { f() } }",
            "#[test] fn a() -> std::process::ExitCode { f() }",
            "#[tokio::test] async fn a() { f().await }",
        ] {
            let checks = Checks::of(text);
            assert_eq!((checks.mode, checks.source.as_str()), (Mode::Harness, text));
            assert!(checks.names.is_empty() && !checks.is_empty() && !checks.words.is_empty());
        }
        let inner = Checks::of("#![cfg(test)]\nmacro_rules! c { () => { #[test] fn a() { f() } } } c!();");
        assert!(
            inner.mode == Mode::Harness && inner.source.starts_with("             \nmacro_rules"),
            "{}",
            inner.source
        );
    }

    #[test]
    fn what_tests_nothing_has_no_tests() {
        for text in [
            "",
            "#[cfg(all(test, feature = \"slow\"))] mod tests { #[test] fn a() { f() } }",
            "#[test] #[ignore = \"slow\"] fn a() { f() }",
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
