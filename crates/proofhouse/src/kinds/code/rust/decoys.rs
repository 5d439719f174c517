//! Tests with one expectation made wrong. Who shares a process with its tests and passes them honestly fails these; who is equal to
//! everything, or writes the report itself, passes them too.

use super::tokens::{Lexed, What};

/// More than this show nothing new of an answer.
const MAX_DECOYS: usize = 8;

/// Words of expressions that are nothing but the values in them, beside the names of types and fields.
const PLAIN: [&str; 7] = ["vec", "from", "to_string", "to_owned", "into", "true", "false"];

/// The text of tests that nobody should pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decoy {
    pub(super) text: String,
    /// Whether hardly an answer that passes the real tests honestly can pass these: what was made wrong is a whole value.
    pub(super) sure: bool,
    /// Whether it is the claim itself that was turned round: who is equal to everything fails that too.
    pub(super) denies: bool,
}

/// One change of a text.
struct Change {
    from: usize,
    to: usize,
    with: String,
    sure: bool,
    denies: bool,
}

/// The decoys of these tests, spread over their assertions. `entry` is the function that they call.
pub(super) fn of(source: &str, entry: &str) -> Vec<Decoy> {
    let Some(lexed) = Lexed::of(source) else { return Vec::new() };
    let (mut changes, mut denied) = (Vec::new(), None);
    for (at, word) in lexed.words().filter(|(at, _)| lexed.is_mark(at + 1, '!')) {
        let Some(close) = ['(', '[', '{'].iter().find_map(|open| lexed.group(at + 2, *open)) else {
            continue;
        };
        let parts = arguments(&lexed, at + 3, close);
        match (word, parts.as_slice()) {
            ("assert_eq" | "debug_assert_eq", [left, right, ..]) => {
                changes.push(unequal(&lexed, at, *left, *right, entry));
            }
            ("assert" | "debug_assert", [claim, ..]) => {
                let no = negated(&lexed, *claim);
                match of_claim(&lexed, *claim, entry) {
                    Some(change) => {
                        changes.push(change);
                        denied.get_or_insert(no);
                    }
                    None => changes.push(no),
                }
            }
            _ => {}
        }
    }
    let room = MAX_DECOYS - usize::from(denied.is_some());
    let step = changes.len().div_ceil(room).max(1);
    let chosen = changes.into_iter().step_by(step).chain(denied);
    chosen
        .map(|change| {
            let text = format!("{}{}{}", &source[..change.from], change.with, &source[change.to..]);
            Decoy { text, sure: change.sure, denies: change.denies }
        })
        .collect()
}

/// The parts between commas; a comparison is no bracket here.
fn arguments(lexed: &Lexed<'_>, from: usize, to: usize) -> Vec<(usize, usize)> {
    let (mut parts, mut start, mut at) = (Vec::new(), from, from);
    while at < to {
        match lexed.tokens[at].what {
            What::Open(_, close) => at = close,
            What::Mark(',') => {
                parts.push((start, at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if start < to {
        parts.push((start, to));
    }
    parts
}

/// An equation with another value on the side that does not call the function.
fn unequal(lexed: &Lexed<'_>, at: usize, left: (usize, usize), right: (usize, usize), entry: &str) -> Change {
    let calls = |(from, to): (usize, usize)| (from..to).any(|at| lexed.word(at) == entry);
    let literal = |(from, to): (usize, usize)| (from..to).find_map(|at| changed(lexed, at));
    let sides = [right, left].into_iter().filter(|side| !calls(*side));
    for (from, to) in sides {
        if let Some(change) = literal((from, to)) {
            let plain = |at: usize| {
                let word = lexed.word(at);
                let field = lexed.is_mark(at + 1, ':') && !lexed.is_mark(at + 2, ':');
                word.is_empty() || field || word.starts_with(char::is_uppercase) || PLAIN.contains(&word)
            };
            return Change { sure: (from..to).all(plain), ..change };
        }
    }
    // There is no value to change: then the claim itself is.
    let name = &lexed.tokens[at];
    let with = lexed.at(at).replace("_eq", "_ne");
    Change { from: name.from, to: name.to, with, sure: true, denies: true }
}

/// A claim with another value in it, outside of what the function is given; `None` where it only bounds something.
fn of_claim(lexed: &Lexed<'_>, (from, to): (usize, usize), entry: &str) -> Option<Change> {
    let bounds = (from..to).any(|at| {
        let turbofish = lexed.is_mark(at.wrapping_sub(1), ':');
        lexed.is_mark(at, '<') && !turbofish
    });
    let near = (from..to).any(|at| lexed.word(at) == "abs");
    if bounds && !near {
        return None;
    }
    let (mut found, mut at) = (Vec::new(), from);
    while at < to {
        if lexed.word(at) == entry
            && let Some(close) = lexed.group(at + 1, '(')
        {
            at = close;
        } else {
            found.extend(changed(lexed, at));
        }
        at += 1;
    }
    let unclear = ['|', '!', '<', '>'];
    let equation = |at: usize| lexed.is_mark(at, '=') && lexed.is_mark(at + 1, '=') || lexed.word(at) == "eq";
    let sure =
        (from..to).any(equation) && !(from..to).any(|at| unclear.iter().any(|mark| lexed.is_mark(at, *mark)));
    let change = if near { found.into_iter().next() } else { found.pop() };
    change.map(|change| Change { sure, ..change })
}

fn negated(lexed: &Lexed<'_>, (from, to): (usize, usize)) -> Change {
    let (from, to) = (lexed.tokens[from].from, lexed.tokens[to - 1].to);
    Change { from, to, with: format!("!({})", &lexed.text[from..to]), sure: true, denies: true }
}

/// The literal at this token, changed to another of its type.
fn changed(lexed: &Lexed<'_>, at: usize) -> Option<Change> {
    let token = lexed.tokens.get(at)?;
    let text = lexed.at(at);
    let with = match (token.what, text) {
        (What::Word, "true") => "false".to_owned(),
        (What::Word, "false") => "true".to_owned(),
        // Not the field of a tuple.
        (What::Literal, _) if !lexed.is_mark(at.wrapping_sub(1), '.') => other(text)?,
        _ => return None,
    };
    Some(Change { from: token.from, to: token.to, with, sure: false, denies: false })
}

fn other(literal: &str) -> Option<String> {
    if let Some(end) = literal.rfind('"') {
        return Some(format!("{}~{}", &literal[..end], &literal[end..]));
    }
    if let Some(quote) = literal.find('\'') {
        let (sort, character) = literal.split_at(quote);
        return Some(format!("{sort}{}", if character == "'a'" { "'b'" } else { "'a'" }));
    }
    let digits = literal.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'_').count();
    let (number, rest) = literal.split_at(digits);
    if rest.starts_with(['x', 'o', 'b']) {
        return None;
    }
    let number: u128 = number.replace('_', "").parse().ok()?;
    let is_float = rest.starts_with(['.', 'e', 'E', 'f']);
    // Never larger than a type may hold, and never a new zero to divide by.
    let next = if is_float || number < 2 { number.checked_add(1)? } else { number - 1 };
    Some(format!("{next}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<(String, bool)> {
        of(source, "f").into_iter().map(|decoy| (decoy.text, decoy.sure)).collect()
    }

    #[test]
    fn an_expectation_is_made_wrong() {
        for (source, expected, sure) in [
            ("assert_eq!(f(1), 7);", "assert_eq!(f(1), 6);", true),
            ("assert_eq!(\"a\", f(1));", "assert_eq!(\"a~\", f(1));", true),
            ("assert_eq!(f(1), Some(-1.5));", "assert_eq!(f(1), Some(-2.5));", true),
            ("assert_eq!(f(1), P { a: 0u8 });", "assert_eq!(f(1), P { a: 1u8 });", true),
            ("assert_eq!(f(1), of(0));", "assert_eq!(f(1), of(1));", false),
            ("assert_eq!(f(1), wanted);", "assert_ne!(f(1), wanted);", true),
            ("assert_eq!(f(1).0, x.1);", "assert_ne!(f(1).0, x.1);", true),
            ("assert!(f(1));", "assert!(!(f(1)));", true),
            ("assert!(f(1) < 3);", "assert!(!(f(1) < 3));", true),
        ] {
            assert_eq!(texts(source), [(expected.to_owned(), sure)], "{source}");
        }
        let both = texts("assert!(close(f(1), 2.0, \"m\"));");
        assert_eq!(both[0].0, "assert!(close(f(1), 2.0, \"m~\"));");
        assert_eq!(both[1].0, "assert!(!(close(f(1), 2.0, \"m\")));");
        let near = texts("assert!((f(1) - 2.0).abs() < 1e-9);");
        assert_eq!(near[0], ("assert!((f(1) - 3.0).abs() < 1e-9);".to_owned(), false));
        let equal = texts("assert!(f(1).eq(&[2]));");
        assert_eq!(equal[0], ("assert!(f(1).eq(&[1]));".to_owned(), true));
    }

    #[test]
    fn there_are_never_many() {
        assert_eq!(texts(&"assert_eq!(f(1), 7);".repeat(100)).len(), MAX_DECOYS);
        assert!(texts("let x = f(1);").is_empty());
    }
}
