//! What the wanted function returns, looked at when the program starts: a type of the completion's own can make every
//! comparison true, and only the compiler knows what a name, an alias or an opaque type stands for.

use std::collections::BTreeSet;

use super::assemble::Assembled;
use super::frame::Frame;
use super::items::Item;
use super::shared::Signature;
use super::tokens::Lexed;

/// Functions with more parameters are not looked at.
const MAX_PARAMETERS: usize = 8;

/// The item of a guard that looks at what the function returns; it does nothing where that cannot be asked for.
pub(super) fn item(frame: &Frame, assembled: &Assembled) -> String {
    let look = call(frame, assembled).unwrap_or_default();
    format!("#[allow(warnings, clippy::all)] pub(crate) fn __proofhouse_returns() {{ {look} }}\n")
}

fn call(frame: &Frame, assembled: &Assembled) -> Option<String> {
    let name = frame.entry.as_deref()?;
    let closed = format!("{}\n}}", frame.head);
    let head = Lexed::of(&closed)?;
    let asked = |(at, word): (usize, &str)| {
        head.tokens[at].from >= frame.entry_from && matches!(word, "impl" | "dyn" | "async")
    };
    if head.words().any(asked) {
        return None;
    }
    let (function, parameters) = match plain_parameters(&assembled.source, name) {
        Some(count) => (format!("super::{name}"), count),
        // A function with type parameters is looked at as the prompt calls it.
        None => {
            let signature = Signature::of(frame).filter(|signature| !signature.result().contains('&'))?;
            let named: Vec<String> = signature
                .parameters()
                .iter()
                .enumerate()
                .map(|(at, each)| format!("a{at}: {each}"))
                .collect();
            let names: Vec<String> = (0..named.len()).map(|at| format!("a{at}")).collect();
            (format!("|{}| super::{name}({})", named.join(", "), names.join(", ")), named.len())
        }
    };
    let tests = frame.checks.words.iter().map(String::as_str);
    let is_type = |word: &&str| word.starts_with(|c: char| c.is_ascii_uppercase());
    let known: BTreeSet<&str> = head.words().map(|(_, word)| word).chain(tests).filter(is_type).collect();
    let known: Vec<String> = known.into_iter().map(|word| format!("\"{word}\"")).collect();
    (parameters <= MAX_PARAMETERS)
        .then(|| format!("::__proofhouse_runner::returns_{parameters}({function}, &[{}]);", known.join(", ")))
}

/// How many parameters the function has, if it has no type parameters and is called like any other.
fn plain_parameters(source: &str, name: &str) -> Option<usize> {
    let lexed = Lexed::of(source)?;
    let item = Item::all(&lexed)?.into_iter().find(|item| item.is_function(name))?;
    let (open, _) = item.body?;
    let list = (item.keyword + 2..open).find(|at| lexed.group(*at, '(').is_some())?;
    let close = lexed.group(list, '(')?;
    let is_lifetime = |at: usize| lexed.is_mark(at.wrapping_sub(1), '\'');
    let generic = (item.keyword + 2..list).any(|at| !lexed.word(at).is_empty() && !is_lifetime(at));
    let hidden = (list..close).any(|at| lexed.word(at) == "impl");
    let called_otherwise =
        (item.attributes.end..item.keyword).any(|at| matches!(lexed.word(at), "unsafe" | "extern" | "async"));
    if generic || hidden || called_otherwise {
        return None;
    }
    Some(Signature::count(&lexed, list, close))
}
