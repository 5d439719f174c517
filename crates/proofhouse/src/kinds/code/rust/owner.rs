//! Tasks that ask for a function of a type, `impl Solution { fn … }`: they are read as if they asked for the function alone, and
//! their tests get a type of that name whose function calls it.

use super::frame::blank;
use super::items::{Item, Kind};
use super::tokens::Lexed;

/// A prompt without the type around its function.
pub(super) struct Freed {
    pub(super) prompt: String,
    pub(super) owner: String,
    pub(super) entry: String,
}

/// Frees the function of a prompt that has it in the `impl` of a type which the tests name.
pub(super) fn freed(prompt: &str, named: Option<&str>, tests: &str) -> Option<Freed> {
    let named = named.map(|name| name.rsplit("::").next().unwrap_or(name).trim());
    let closings = ["\n}\n}", "\n{}\n}", "\n}", ""];
    closings.iter().find_map(|closing| {
        let closed = format!("{prompt}{closing}");
        let lexed = Lexed::of(&closed)?;
        let items = Item::all(&lexed)?;
        let block = items.last()?;
        let (open, close) = block.body.filter(|_| block.kind == Kind::Impl)?;
        let words: Vec<&str> = (block.keyword + 1..open).map(|at| lexed.word(at)).collect();
        let [owner] = words[..] else { return None };
        let functions = Item::within(&lexed, open + 1, close)?;
        // More than the wanted one could need one another.
        let [function] = functions.as_slice() else { return None };
        let wanted = named.is_none_or(|name| name == owner || name == function.name);
        let (body, _) = function.body.filter(|_| function.kind == Kind::Function)?;
        let has_self = (function.keyword..body).any(|at| matches!(lexed.word(at), "self" | "Self"));
        if !wanted || has_self || !calls(tests, owner, &function.name) {
            return None;
        }
        let mut before = closed.as_bytes()[..block.from].to_vec();
        for item in items.iter().filter(|item| item.kind == Kind::Type && item.name == owner) {
            // With fields, or traits, it is more than a name.
            if item.body.is_some() {
                return None;
            }
            blank(&mut before[item.from..item.to]);
        }
        let before = String::from_utf8(before).ok()?;
        let function_text = &prompt[function.from..function.to.min(prompt.len())];
        Some(Freed {
            prompt: format!("{before}{function_text}"),
            owner: owner.to_owned(),
            entry: function.name.clone(),
        })
    })
}

/// Whether a text has `Owner::function`.
fn calls(tests: &str, owner: &str, function: &str) -> bool {
    let Some(lexed) = Lexed::of(tests).or_else(|| Lexed::of(tests.trim_start().strip_prefix('}')?)) else {
        return false;
    };
    lexed.words().any(|(at, word)| {
        word == owner
            && lexed.is_mark(at + 1, ':')
            && lexed.is_mark(at + 2, ':')
            && lexed.word(at + 3) == function
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_a_type_is_freed() {
        let tests = "fn main() { assert_eq!(Solution::add(1, 2), 3); }";
        let open = "use std::fmt;\nstruct Solution;\n\nimpl Solution {\n    /// Adds.\n    pub fn add(a: i32, b: i32) -> i32 {\n";
        for prompt in [open.to_owned(), format!("{open}    }}\n}}\n")] {
            for named in [None, Some("add"), Some("Solution"), Some("Solution::add")] {
                let freed = freed(&prompt, named, tests).unwrap();
                assert_eq!((freed.owner.as_str(), freed.entry.as_str()), ("Solution", "add"));
                assert!(freed.prompt.starts_with("use std::fmt;\n") && !freed.prompt.contains("Solution"));
                assert!(
                    freed.prompt.contains("/// Adds.\n    pub fn add(a: i32, b: i32) -> i32 {"),
                    "{}",
                    freed.prompt
                );
            }
        }
        assert!(freed(open, Some("sub"), tests).is_none());
        assert!(freed(open, None, "fn main() { add(1, 2); }").is_none());
        let method = open.replace("a: i32, b", "&self, b");
        assert!(freed(&method, None, tests).is_none());
    }
}
