//! The comments of the function that a Rust prompt asks for, and whether two texts differ in comments only.

use std::ops::Range;

use super::items::{Item, Kind};
use super::tokens::Lexed;
use crate::kinds::code::prose::{Raw, indentation, of_block};

/// What may close a prompt: the body of its function, a declaration, or nothing.
const CLOSINGS: [&str; 3] = ["\n}", "\n{}", ""];

/// The lines of comments that could say what the function is for, likeliest first: those before it, those at the
/// beginning of its body, those before each earlier item, the nearest first. With them, what closes the prompt. `None`
/// where the prompt is not a piece of Rust with a function.
pub(in crate::kinds::code) fn of_function(
    prompt: &str,
    entry: Option<&str>,
) -> Option<(Vec<Vec<Raw>>, &'static str)> {
    CLOSINGS.iter().find_map(|closing| {
        let closed = format!("{prompt}{closing}");
        let lexed = Lexed::of(&closed)?;
        let items = Item::all(&lexed)?;
        let function = |item: &Item| item.kind == Kind::Function;
        let named = items.iter().rposition(|item| function(item) && Some(item.name.as_str()) == entry);
        // A benchmark's `entry_point` is not always the name in its prompt.
        let at = named.or_else(|| items.iter().rposition(function))?;
        let mut regions = vec![before(&lexed, &items, at)];
        if let Some((open, _)) = items[at].body {
            let next = code_tokens(&lexed).find(|token| *token > open).map(|token| lexed.tokens[token].from);
            regions.push(lexed.tokens[open].to..next.unwrap_or(prompt.len()).min(prompt.len()));
        }
        let mut earlier = at;
        while earlier > 0 {
            // Each line of the file's own doc comment is an item to itself.
            let run = items[..earlier].iter().rev().take_while(|item| item.kind == Kind::Inner).count();
            let region = before(&lexed, &items, earlier - run.max(1));
            regions.push(if run > 0 { region.start..items[earlier - 1].to } else { region });
            earlier -= run.max(1);
        }
        let lines = regions.into_iter().map(|region| lines(prompt, &lexed, region)).collect();
        Some((lines, *closing))
    })
}

/// From the end of the item before to the keyword of this one.
fn before(lexed: &Lexed<'_>, items: &[Item], at: usize) -> Range<usize> {
    let from = if at == 0 { 0 } else { items[at - 1].to };
    from..lexed.tokens[items[at].keyword].from
}

/// The tokens that are no doc comments.
fn code_tokens(lexed: &Lexed<'_>) -> impl Iterator<Item = usize> {
    let mut next = 0;
    std::iter::from_fn(move || {
        // The lexer makes a doc comment into an attribute that stands where the comment does.
        while lexed.is_mark(next, '#') && lexed.at(next).starts_with('/') {
            let bracket = next + 1 + usize::from(lexed.is_mark(next + 1, '!'));
            next = lexed.group(bracket, '[')? + 1;
        }
        next += 1;
        (next <= lexed.tokens.len()).then_some(next - 1)
    })
}

/// The lines of all comments of a region that stand on lines of their own.
fn lines(prompt: &str, lexed: &Lexed<'_>, region: Range<usize>) -> Vec<Raw> {
    let mut found = Vec::new();
    // What closes a prompt may be where a body begins.
    let region = region.start.min(prompt.len())..region.end.min(prompt.len());
    let mut at = region.start;
    let stops = code_tokens(lexed).map(|token| lexed.tokens[token].from..lexed.tokens[token].to);
    let stops = stops.filter(|token| region.start <= token.start && token.end <= region.end);
    // Between two tokens there is nothing but white space and comments.
    for stop in stops.chain(std::iter::once(region.end..region.end)) {
        while let Some(comment) = next_comment(&prompt[at..stop.start]) {
            let comment = at + comment.start..at + comment.end;
            at = comment.end;
            if is_line_start(prompt, comment.start) {
                found.extend(of_comment(prompt, comment));
            }
        }
        at = stop.end;
    }
    found
}

fn is_line_start(prompt: &str, at: usize) -> bool {
    let before = prompt[..at].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n')
}

/// The next comment of a text that has nothing else but white space.
fn next_comment(gap: &str) -> Option<Range<usize>> {
    let from = gap.find('/')?;
    let rest = &gap[from..];
    let length =
        if rest.starts_with("/*") { block_end(rest)? } else { rest.find('\n').unwrap_or(rest.len()) };
    Some(from..from + length)
}

/// The end of a block comment, which may hold others.
fn block_end(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0usize, 0);
    let bytes = text.as_bytes();
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" if depth == 1 => return Some(at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    None
}

fn of_comment(prompt: &str, comment: Range<usize>) -> Vec<Raw> {
    let text = &prompt[comment.clone()];
    let indentation = indentation(prompt, comment.start);
    if let Some(inner) = text.strip_prefix("/*") {
        let marks = inner.len() - inner.trim_start_matches(['*', '!']).len();
        let inner = inner[marks..].trim_end_matches('/').trim_end_matches('*');
        let from = comment.start + 2 + marks;
        let mut lines = of_block(prompt, from..from + inner.len(), indentation);
        // A line that is broken off the first one looks like the second.
        if let [first, second, ..] = &mut lines[..] {
            first.prefix.clone_from(&second.prefix);
        }
        return lines;
    }
    let begun = text.trim_start_matches('/').trim_start_matches('!').trim_start();
    let from = comment.end - begun.len();
    let prefix = format!("{indentation}{}", &prompt[comment.start..from]);
    vec![Raw { words: from..from + begun.trim_end().len(), prefix }]
}

/// Whether two prompts have the same tokens, comments apart, once both are closed.
pub(in crate::kinds::code) fn is_same_code(before: &str, after: &str, closing: &str) -> bool {
    let (before, after) = (format!("{before}{closing}"), format!("{after}{closing}"));
    let (Some(before), Some(after)) = (Lexed::of(&before), Lexed::of(&after)) else { return false };
    code_tokens(&before).map(|token| before.at(token)).eq(code_tokens(&after).map(|token| after.at(token)))
}
