//! The values that tests write down: literals, and variants of enums without fields.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::kinds::code::rust::tokens::{Lexed, What};

/// A literal of the tests, with its sign, or a variant of an enum that has no fields.
#[derive(Clone, Copy)]
pub(super) struct Literal {
    pub(super) at: usize,
    pub(super) signed: bool,
    pub(super) variant: bool,
}

/// Enums by name, with their variants that have no fields.
pub(super) type Enums = BTreeMap<String, Vec<String>>;

/// A text with what is known of its values.
pub(super) struct Values<'a> {
    pub(super) lexed: &'a Lexed<'a>,
    pub(super) enums: Enums,
}

impl Values<'_> {
    /// The literals of a range that may stand for another value: no patterns, lengths, fields or formats.
    pub(super) fn literals(&self, range: Range<usize>) -> Vec<Literal> {
        let lexed = self.lexed;
        let mut found = Vec::new();
        let mut at = range.start;
        while at < range.end {
            // A macro but the one that makes a value of values may do anything with them.
            let open = (lexed.is_mark(at + 1, '!') && !lexed.word(at).is_empty()).then_some(at + 2);
            let inner =
                open.and_then(|open| ['(', '[', '{'].iter().find_map(|bracket| lexed.group(open, *bracket)));
            if let Some(close) = inner
                && !matches!(lexed.word(at), "vec" | "assert" | "assert_eq")
            {
                at = close;
            } else if is_literal(lexed, at) && self.may_be_another(at, at) {
                found.push(Literal { at, signed: self.is_signed(at), variant: false });
            } else if self.is_variant(at) && self.may_be_another(at, at + 3) {
                found.push(Literal { at, signed: false, variant: true });
                at += 3;
            }
            at += 1;
        }
        found
    }

    /// Whether `Name::Variant` stands here, of an enum that is known, and nothing that belongs to it around it.
    fn is_variant(&self, at: usize) -> bool {
        let lexed = self.lexed;
        let path = lexed.is_mark(at + 1, ':') && lexed.is_mark(at + 2, ':');
        let known = self
            .enums
            .get(lexed.word(at))
            .is_some_and(|all| all.iter().any(|name| name == lexed.word(at + 3)));
        let goes_on = matches!(
            lexed.tokens.get(at + 4).map(|token| token.what),
            Some(What::Open(..) | What::Mark(':'))
        );
        let inside = lexed.is_mark(at.wrapping_sub(1), ':') || lexed.word(at.wrapping_sub(1)) == "let";
        path && known && !goes_on && !inside
    }

    fn may_be_another(&self, at: usize, last: usize) -> bool {
        let lexed = self.lexed;
        let before = |mark: char| lexed.is_mark(at.wrapping_sub(1), mark);
        let pattern = lexed.is_mark(last + 1, '=') && lexed.is_mark(last + 2, '>');
        let key = !lexed.word(at.wrapping_sub(2)).is_empty();
        let attribute = before('=')
            && key
            && lexed.tokens.get(last + 1).is_some_and(|next| matches!(next.what, What::Close(_)));
        let constant = before('<') && lexed.is_mark(at.wrapping_sub(2), ':');
        let place = at.checked_sub(2).is_some_and(|before| {
            let value = matches!(lexed.tokens[before].what, What::Word | What::Close(_));
            value && lexed.group(before + 1, '[') == Some(last + 1)
        });
        // The field of a tuple, the end of a range, a length.
        !before('.')
            && !before(';')
            && !place
            && !pattern
            && !attribute
            && !constant
            && !lexed.is_mark(last + 1, '|')
    }

    /// Whether a minus belongs to the literal.
    fn is_signed(&self, at: usize) -> bool {
        let lexed = self.lexed;
        let is_number = lexed.at(at).starts_with(|c: char| c.is_ascii_digit());
        let behind = at.checked_sub(2).and_then(|at| lexed.tokens.get(at)).map(|token| token.what);
        let value = matches!(behind, None | Some(What::Close(_) | What::Word | What::Literal));
        is_number && lexed.is_mark(at.wrapping_sub(1), '-') && !value && !lexed.is_mark(at + 1, '.')
    }
}

/// The enums that these texts define, and those of the standard library that tests have.
pub(super) fn enums(texts: [&str; 2]) -> Enums {
    let ordering = ["Less", "Equal", "Greater"].map(str::to_owned).to_vec();
    let mut enums = Enums::from([("Ordering".to_owned(), ordering)]);
    for lexed in texts.iter().filter_map(|text| Lexed::of(text)) {
        for (at, _) in lexed.words().filter(|(_, word)| *word == "enum") {
            let Some(close) = lexed.group(at + 2, '{') else { continue };
            // A variant without fields is a word, or has a number behind it.
            let is_bare = |part: &Range<usize>| part.len() == 1 || lexed.is_mark(part.start + 1, '=');
            let variants = arguments(&lexed, at + 3, close).into_iter().filter(is_bare);
            let names =
                variants.map(|part| lexed.word(part.start).to_owned()).filter(|name| !name.is_empty());
            enums.insert(lexed.word(at + 1).to_owned(), names.collect());
        }
    }
    enums
}

/// Whether a value stands here.
pub(super) fn is_literal(lexed: &Lexed<'_>, at: usize) -> bool {
    match lexed.tokens[at].what {
        What::Literal => true,
        What::Word => matches!(lexed.at(at), "true" | "false"),
        _ => false,
    }
}

/// The parts between commas; a comparison is no bracket here.
pub(super) fn arguments(lexed: &Lexed<'_>, from: usize, to: usize) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut at) = (Vec::new(), from, from);
    while at < to {
        match lexed.tokens[at].what {
            What::Open(_, close) => at = close,
            What::Mark(',') => {
                parts.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if start < to {
        parts.push(start..to);
    }
    parts.retain(|part| !part.is_empty());
    parts
}
