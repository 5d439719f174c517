//! Rust text as a flat list of tokens with their places. The lexer is the real one of the Rust world and does not recurse,
//! so that no nesting, however deep, can hurt the harness.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) what: What,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// What a token is. Delimiters know their partner's place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Open(char, usize),
    Close(usize),
    Word,
    Mark(char),
    Literal,
}

/// A text with its tokens.
#[derive(Debug, Clone)]
pub(super) struct Lexed<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Token>,
}

impl<'a> Lexed<'a> {
    /// The tokens of a text, `None` where it is not Rust on this level: an unclosed bracket, string or comment.
    pub(super) fn of(text: &'a str) -> Option<Lexed<'a>> {
        // A byte order mark would shift every place.
        if text.starts_with('\u{feff}') {
            return None;
        }
        let stream: TokenStream = text.parse().ok()?;
        let tokens = flatten(stream);
        // The lexer keeps every text that it has seen until it is told that nobody asks for places any more.
        proc_macro2::extra::invalidate_current_thread_spans();
        Some(Lexed { text, tokens })
    }

    /// The text of a token.
    pub(super) fn at(&self, index: usize) -> &'a str {
        self.tokens.get(index).map_or("", |token| &self.text[token.from..token.to])
    }

    /// The word at this place, without `r#`; empty for anything else.
    pub(super) fn word(&self, index: usize) -> &'a str {
        match self.tokens.get(index) {
            Some(Token { what: What::Word, .. }) => {
                let word = self.at(index);
                word.strip_prefix("r#").unwrap_or(word)
            }
            _ => "",
        }
    }

    /// Whether this mark stands at this place.
    pub(super) fn is_mark(&self, index: usize, mark: char) -> bool {
        matches!(self.tokens.get(index), Some(Token { what: What::Mark(found), .. }) if *found == mark)
    }

    /// Where the group that opens here with this bracket closes.
    pub(super) fn group(&self, index: usize, bracket: char) -> Option<usize> {
        match self.tokens.get(index)?.what {
            What::Open(found, close) if found == bracket => Some(close),
            _ => None,
        }
    }

    /// Whether there is an attribute of a whole file or block anywhere.
    pub(super) fn has_inner_attribute(&self) -> bool {
        (0..self.tokens.len())
            .any(|at| self.is_mark(at, '#') && self.is_mark(at + 1, '!') && self.group(at + 2, '[').is_some())
    }

    /// All words, at any depth.
    pub(super) fn words(&self) -> impl Iterator<Item = (usize, &'a str)> {
        (0..self.tokens.len()).filter(|at| self.tokens[*at].what == What::Word).map(|at| (at, self.word(at)))
    }
}

fn flatten(stream: TokenStream) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut stack = vec![(stream.into_iter(), None::<(usize, Range<usize>)>)];
    while let Some((iter, group)) = stack.last_mut() {
        let Some(tree) = iter.next() else {
            if let Some((open, close)) = group.take() {
                let index = tokens.len();
                tokens.push(Token { what: What::Close(open), from: close.start, to: close.end });
                if let What::Open(bracket, _) = tokens[open].what {
                    tokens[open].what = What::Open(bracket, index);
                }
            }
            stack.pop();
            continue;
        };
        match tree {
            TokenTree::Group(group) => {
                let bracket = match group.delimiter() {
                    Delimiter::Parenthesis => '(',
                    Delimiter::Brace => '{',
                    Delimiter::Bracket => '[',
                    Delimiter::None => ' ',
                };
                let open = group.span_open().byte_range();
                let index = tokens.len();
                tokens.push(Token { what: What::Open(bracket, index), from: open.start, to: open.end });
                let close = group.span_close().byte_range();
                stack.push((group.stream().into_iter(), Some((index, close))));
            }
            TokenTree::Ident(ident) => push(&mut tokens, What::Word, ident.span().byte_range()),
            TokenTree::Punct(mark) => push(&mut tokens, What::Mark(mark.as_char()), mark.span().byte_range()),
            TokenTree::Literal(literal) => push(&mut tokens, What::Literal, literal.span().byte_range()),
        }
    }
    tokens
}

fn push(tokens: &mut Vec<Token>, what: What, place: Range<usize>) {
    tokens.push(Token { what, from: place.start, to: place.end });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_text() {
        let lexed = Lexed::of("/* é */ fn f() { \"}\" }").unwrap();
        let texts: Vec<_> = (0..lexed.tokens.len()).map(|at| lexed.at(at)).collect();
        assert_eq!(texts, ["fn", "f", "(", ")", "{", "\"}\"", "}"]);
        assert_eq!(lexed.group(4, '{'), Some(6));
        assert_eq!(lexed.tokens[6].what, What::Close(4));
    }

    #[test]
    fn depth_is_no_danger() {
        let depth = 200_000;
        let text = format!("{}{}", "(".repeat(depth), ")".repeat(depth));
        assert_eq!(Lexed::of(&text).unwrap().tokens.len(), 2 * depth);
    }

    #[test]
    fn what_is_not_closed_is_not_rust() {
        for text in ["{", "}", "\"", "/*", "r#\"x\"", "(]", "`x`"] {
            assert!(Lexed::of(text).is_none(), "{text}");
        }
    }
}
