//! A task's tests compiled once for many completions: they call the wanted function through a pointer that is set when
//! the program starts. Only where the prompt's signature is plain; a completion whose function has another type does not
//! fit the pointer, and is judged alone.

use super::assemble::Assembled;
use super::frame::Frame;
use super::imports;
use super::items::{Item, Kind};
use super::tokens::Lexed;

/// The wanted function as its prompt declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signature {
    name: String,
    parameters: Vec<String>,
    /// With its arrow; empty for nothing.
    result: String,
}

/// Words after which a function has no plain type: generics, borrowed names, hidden types, another way to be called.
const NOT_PLAIN: [&str; 9] = ["impl", "dyn", "where", "async", "unsafe", "extern", "const", "self", "Self"];

impl Signature {
    /// The signature of a task; `None` where tests cannot be shared.
    pub(super) fn of(frame: &Frame) -> Option<Signature> {
        let name = frame.entry.as_deref()?;
        let before = Lexed::of(frame.head.get(..frame.entry_from)?)?;
        let imports_only = Item::all(&before)?.iter().all(|item| item.kind == Kind::Use);
        let rest = frame.head.get(frame.entry_from..)?;
        [format!("{rest}\n}}"), format!("{rest}\n{{}}")].iter().filter(|_| imports_only).find_map(|closed| {
            let lexed = Lexed::of(closed)?;
            let item = Item::all(&lexed)?.into_iter().find(|item| item.is_function(name))?;
            Signature::read(&lexed, &item)
        })
    }

    fn read(lexed: &Lexed<'_>, item: &Item) -> Option<Signature> {
        let (open, _) = item.body?;
        let list = item.keyword + 2;
        let close = lexed.group(list, '(')?;
        let plain = |at: usize| !NOT_PLAIN.contains(&lexed.word(at)) && !lexed.is_mark(at, '\'');
        if lexed.word(item.keyword) != "fn" || !(item.attributes.end..open).all(plain) {
            return None;
        }
        let text = |from: usize, to: usize| match from < to {
            true => lexed.text[lexed.tokens[from].from..lexed.tokens[to - 1].to].to_owned(),
            false => String::new(),
        };
        let mut parameters = Vec::new();
        for (from, at) in parts(lexed, list, close) {
            let colon = (from..at).find(|at| lexed.is_mark(*at, ':'))?;
            parameters.push(text(colon + 1, at));
        }
        let result = text(close + 1, open);
        Some(Signature { name: item.name.clone(), parameters, result })
    }

    /// The types of the parameters.
    pub(super) fn parameters(&self) -> &[String] {
        &self.parameters
    }

    /// The type of the result, with its arrow.
    pub(super) fn result(&self) -> &str {
        &self.result
    }

    /// How many parameters stand between two brackets.
    pub(super) fn count(lexed: &Lexed<'_>, list: usize, close: usize) -> usize {
        parts(lexed, list, close).len()
    }

    /// Whether the tests mean the same for this completion when they stand apart from it: its function is declared as the
    /// prompt declares it, and the tests use no other name that it brings along.
    pub(super) fn fits(&self, frame: &Frame, assembled: &Assembled) -> bool {
        let read = || {
            let lexed = Lexed::of(&assembled.source)?;
            let items = Item::all(&lexed)?;
            let entry = items.iter().find(|item| item.is_function(&self.name))?;
            let same = Signature::read(&lexed, entry)?.is_like(self);
            let used = |name: &str| name == "*" || frame.checks.words.iter().any(|word| word == name);
            let mut others =
                items.iter().filter(|item| item.from >= assembled.own.start && item.name != self.name);
            // The methods of a trait come with it, whatever its name; a macro may make anything.
            let may_be_trait = |leaf: &imports::Leaf| {
                leaf.name == "_"
                    || leaf.name.starts_with(|c: char| c.is_uppercase())
                        && !leaf.path.trim_start_matches(':').starts_with("std::collections")
            };
            let brings = others.any(|item| match item.kind {
                Kind::Use => {
                    imports::of_item(&lexed, item).iter().any(|leaf| used(&leaf.name) || may_be_trait(leaf))
                }
                Kind::Impl => false,
                Kind::Macro => item.name.is_empty() || used(&item.name),
                Kind::Type if lexed.word(item.keyword) == "trait" => true,
                _ => used(&item.name),
            });
            Some(same && !brings)
        };
        read().unwrap_or(false)
    }

    /// Whether both say the same, however they are spaced.
    fn is_like(&self, other: &Signature) -> bool {
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        let all =
            |signature: &Signature| signature.parameters.iter().map(|each| bare(each)).collect::<Vec<_>>();
        all(self) == all(other) && bare(&self.result) == bare(&other.result)
    }

    /// The module that the shared tests stand in.
    pub(super) fn module(&self, frame: &Frame) -> String {
        let Signature { name, parameters, result } = self;
        let named: Vec<String> =
            parameters.iter().enumerate().map(|(at, each)| format!("a{at}: {each}")).collect();
        let names: Vec<String> = (0..parameters.len()).map(|at| format!("a{at}")).collect();
        format!(
            "{}\npub(crate) type __ProofhouseEntry = fn({}) {result};\n\
             pub(crate) static __PROOFHOUSE_ENTRY: ::std::sync::OnceLock<__ProofhouseEntry> = ::std::sync::OnceLock::new();\n\
             fn {name}({}) {result} {{ (__PROOFHOUSE_ENTRY.get().expect(\"set before the tests\"))({}) }}\n\
             #[path = \"guard.rs\"] pub(crate) mod __proofhouse_guard;\n",
            &frame.head[..frame.entry_from],
            parameters.join(", "),
            named.join(", "),
            names.join(", "),
        )
    }

    /// The line behind a completion that makes its function known to the module `shared`.
    pub(super) fn behind(&self, shared: &str) -> String {
        format!(
            "\nconst _: () = ();\n#[doc(hidden)] pub(crate) const __PROOFHOUSE_ENTRY: crate::{shared}::__ProofhouseEntry = {};\n",
            self.name
        )
    }
}

/// Where each of the parameters between two brackets begins and ends.
fn parts(lexed: &Lexed<'_>, list: usize, close: usize) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let mut from = list + 1;
    for at in list + 1..=close {
        if at < close && !(lexed.is_mark(at, ',') && is_outside(lexed, list + 1, at)) {
            continue;
        }
        if from < at {
            parts.push((from, at));
        }
        from = at + 1;
    }
    parts
}

/// Whether a comma stands between parameters: not inside brackets, nor between `<` and `>`.
fn is_outside(lexed: &Lexed<'_>, from: usize, comma: usize) -> bool {
    let mut at = from;
    let mut angles = 0_i32;
    while at < comma {
        if let super::tokens::What::Open(_, close) = lexed.tokens[at].what {
            if close > comma {
                return false;
            }
            at = close;
        } else if lexed.is_mark(at, '<') {
            angles += 1;
        } else if lexed.is_mark(at, '>') && !lexed.is_mark(at.wrapping_sub(1), '-') {
            angles -= 1;
        }
        at += 1;
    }
    angles == 0
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::code::Problem;

    fn signature(prompt: &str) -> Option<(Vec<String>, String)> {
        let problem = Problem { prompt: prompt.to_owned(), ..Problem::default() };
        let signature = Signature::of(&Frame::of(&problem, &BTreeSet::new()))?;
        Some((signature.parameters, signature.result))
    }

    #[test]
    fn plain_signatures_are_read() {
        let plain = "use std::collections::HashMap;\n/// Doc, with (brackets).\nfn f(a: &str, mut b: HashMap<String, Vec<(i32, u8)>>, c: fn(u8, u8) -> u8) -> Option<(i32, i32)> {\n";
        let parameters =
            ["&str", "HashMap<String, Vec<(i32, u8)>>", "fn(u8, u8) -> u8"].map(str::to_owned).to_vec();
        assert_eq!(signature(plain), Some((parameters, "-> Option<(i32, i32)>".to_owned())));
        assert_eq!(signature("fn f() {\n"), Some((Vec::new(), String::new())));
        assert_eq!(
            signature("pub fn f(x: [u8; 3],) -> u8{"),
            Some((vec!["[u8; 3]".to_owned()], "-> u8".to_owned()))
        );
    }

    #[test]
    fn what_a_pointer_cannot_say_is_not_shared() {
        for prompt in [
            "fn f<T: Ord>(x: T) -> T {\n",
            "fn f<'a>(x: &'a str) -> &'a str {\n",
            "fn f(x: impl Iterator<Item = u8>) -> u8 {\n",
            "async fn f(x: u8) -> u8 {\n",
            "unsafe fn f(x: u8) -> u8 {\n",
            "struct P(u8);\nfn f(x: P) -> u8 {\n",
            "fn helper() -> u8 { 1 }\nfn f(x: u8) -> u8 {\n",
        ] {
            assert_eq!(signature(prompt), None, "{prompt}");
        }
    }
}
