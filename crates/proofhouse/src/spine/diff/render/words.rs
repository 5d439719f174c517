//! Old and new text as one: what stayed, what went, what came, word by word, and nothing in it that a terminal obeys.

use similar::{DiffTag, TextDiff};

use crate::spine::diff::report::{Excerpt, FieldChange};

/// What stays of a long unchanged stretch, on each side of a change.
const CONTEXT_CHARS: usize = 48;
/// What is shown of one changed stretch.
const STRETCH_CHARS: usize = 240;
/// Below this share of common words, old and new are shown one after the other.
const ALIKE: f32 = 0.4;

/// A stretch of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Same(String),
    Old(String),
    New(String),
}

/// How a field's change reads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ShownChange {
    /// Two texts with much in common.
    Mixed(Vec<Piece>),
    /// `old → new`
    Apart(String, String),
}

/// Reads a change of a field, visible and shortened.
pub(super) fn reading(change: &FieldChange) -> ShownChange {
    if let (Some(old), Some(new)) = (&change.old, &change.new)
        && old.kind == "string"
        && new.kind == "string"
        && let Some(pieces) = pieces(old, new)
    {
        return ShownChange::Mixed(pieces);
    }
    ShownChange::Apart(value(change.old.as_ref()), value(change.new.as_ref()))
}

/// A value by itself, on one line.
pub(super) fn value(excerpt: Option<&Excerpt>) -> String {
    let Some(excerpt) = excerpt else { return "(absent)".to_owned() };
    let quote = if excerpt.kind == "string" { "\"" } else { "" };
    let (front, back) = cuts(excerpt);
    format!("{quote}{front}{}{back}{quote}", visible(&clip(&excerpt.text, STRETCH_CHARS)))
}

fn cuts(excerpt: &Excerpt) -> (&'static str, &'static str) {
    let mark = |cut: u64| if cut > 0 { "…" } else { "" };
    (mark(excerpt.cut_before), mark(excerpt.cut_after))
}

/// The stretches of two texts; `None` where they have too little in common to be read as one.
fn pieces(old: &Excerpt, new: &Excerpt) -> Option<Vec<Piece>> {
    let (old_words, new_words) = (words(&old.text), words(&new.text));
    let diff = TextDiff::from_slices(&old_words, &new_words);
    if diff.ratio() < ALIKE {
        return None;
    }
    let mut pieces = Vec::new();
    for op in diff.ops() {
        let (tag, old_range, new_range) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            pieces.push(Piece::Same(old_words[old_range].concat()));
            continue;
        }
        let gone = old_words[old_range].concat();
        let come = new_words[new_range].concat();
        pieces.extend((!gone.is_empty()).then(|| Piece::Old(visible(&clip(&gone, STRETCH_CHARS)))));
        pieces.extend((!come.is_empty()).then(|| Piece::New(visible(&clip(&come, STRETCH_CHARS)))));
    }
    let last = pieces.len().saturating_sub(1);
    let (front, back) = (old.cut_before > 0, old.cut_after + new.cut_after > 0);
    for (at, piece) in pieces.iter_mut().enumerate() {
        if let Piece::Same(text) = piece {
            *text = visible(&context(text, at == 0, at == last, (front, back)));
        }
    }
    Some(pieces)
}

/// Words, runs of white space, and every other character by itself. A script without spaces is taken by character.
fn words(text: &str) -> Vec<&str> {
    #[derive(PartialEq)]
    enum Sort {
        Word,
        White,
        Single,
    }
    let sort = |c: char| match c {
        '\u{2e80}'.. => Sort::Single,
        _ if c.is_alphanumeric() || c == '_' => Sort::Word,
        '\n' => Sort::Single,
        _ if c.is_whitespace() => Sort::White,
        _ => Sort::Single,
    };
    let mut words = Vec::new();
    let mut from = 0;
    let mut last: Option<Sort> = None;
    for (at, c) in text.char_indices() {
        let now = sort(c);
        if at > from && (last.as_ref() != Some(&now) || now == Sort::Single) {
            words.push(&text[from..at]);
            from = at;
        }
        last = Some(now);
    }
    words.extend((from < text.len()).then(|| &text[from..]));
    words
}

/// An unchanged stretch, cut to what stands next to a change.
fn context(text: &str, first: bool, last: bool, (cut_front, cut_back): (bool, bool)) -> String {
    let chars: Vec<char> = text.chars().collect();
    let (head, tail) = (if first { 0 } else { CONTEXT_CHARS }, if last { 0 } else { CONTEXT_CHARS });
    let mut out = String::new();
    if chars.len() <= head + tail + 8 {
        out.extend((first && cut_front).then_some('…'));
        out.push_str(text);
        out.extend((last && cut_back).then_some('…'));
        return out;
    }
    out.extend(&chars[..head]);
    out.push('…');
    out.extend(&chars[chars.len() - tail..]);
    out
}

/// The first and last characters of a long text.
fn clip(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    let head: String = text.chars().take(limit / 2).collect();
    let tail: String = text.chars().skip(count - limit / 2).collect();
    format!("{head} …{} more characters… {tail}", count - 2 * (limit / 2))
}

/// Text on one line, with every character shown that would move the cursor, hide, turn around or colour what follows.
pub(super) use crate::text::visible::exact as visible;

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(old: &str, new: &str) -> String {
        let excerpt = |text: &str| Excerpt {
            kind: "string".to_owned(),
            text: text.to_owned(),
            cut_before: 0,
            cut_after: 0,
        };
        let change =
            FieldChange { pointer: "/output".to_owned(), old: Some(excerpt(old)), new: Some(excerpt(new)) };
        match reading(&change) {
            ShownChange::Apart(old, new) => format!("{old} → {new}"),
            ShownChange::Mixed(pieces) => pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Same(text) => text.clone(),
                    Piece::Old(text) => format!("[-{text}-]"),
                    Piece::New(text) => format!("{{+{text}+}}"),
                })
                .collect(),
        }
    }

    #[test]
    fn words_are_marked_and_the_rest_is_shortened() {
        insta::assert_snapshot!(plain("The capital is Paris.", "The capital is Lyon."), @"The capital is [-Paris-]{+Lyon+}.");
        insta::assert_snapshot!(plain("yes", "no"), @r#""yes" → "no""#);
        insta::assert_snapshot!(plain("fn f() {\n    1\n}\n", "fn f() {\n    2\n}\n"), @"fn f() {⏎    [-1-]{+2+}⏎}⏎");
        insta::assert_snapshot!(plain("東京は日本の首都です", "京都は日本の首都です"), @"[-東-]京{+都+}は日本の首都です");
        let long = "lorem ipsum dolor ".repeat(30);
        insta::assert_snapshot!(plain(&format!("{long}old {long}"), &format!("{long}new {long}")), @"…ipsum dolor lorem ipsum dolor lorem ipsum dolor [-old-]{+new+} lorem ipsum dolor lorem ipsum dolor lorem ipsum…");
    }
}
