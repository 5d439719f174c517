//! Reading an instruction: words, gaps, sentence ends, and the stretches that no generator may touch.

use std::ops::Range;

use super::code;

/// A stretch between white space; where code begins or ends, a stretch does too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunk {
    /// All of it.
    pub(super) whole: Range<usize>,
    /// Without brackets before it and punctuation after it; may be empty.
    pub(super) core: Range<usize>,
    /// The core is an ordinary word of letters: no number, address, identifier, quotation or code.
    pub(super) plain: bool,
    /// It stands, at least in part, in a quotation or in code.
    pub(super) quoted: bool,
    /// It stands in code that no quotation mark or backtick encloses.
    pub(super) code: bool,
}

impl Chunk {
    /// The core as it stands.
    pub(super) fn word<'a>(&self, text: &'a str) -> &'a str {
        &text[self.core.clone()]
    }

    /// The punctuation after the core.
    pub(super) fn tail<'a>(&self, text: &'a str) -> &'a str {
        &text[self.core.end..self.whole.end]
    }

    /// A sentence ends here. Abbreviations such as `e.g.` are not plain words and end none.
    pub(super) fn ends_sentence(&self, text: &str) -> bool {
        self.plain && self.tail(text).contains(is_final)
    }
}

/// Punctuation that ends a sentence.
pub(super) fn is_final(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？')
}

/// Everything between white space, in order.
pub(super) fn chunks(text: &str) -> Vec<Chunk> {
    let code = code::ranges(text);
    let quoted = quotations_beside(text, &code);
    let (mut next_quoted, mut next_code) = (0, 0);
    let mut chunks = Vec::new();
    let mut rest = 0;
    while let Some(offset) = text[rest..].find(|c: char| !c.is_whitespace()) {
        let start = rest + offset;
        while quoted.get(next_quoted).is_some_and(|range| range.end <= start) {
            next_quoted += 1;
        }
        while code.get(next_code).is_some_and(|range| range.end <= start) {
            next_code += 1;
        }
        let (in_code, edge) = match code.get(next_code) {
            Some(range) if range.start <= start => (true, range.end),
            Some(range) => (false, range.start),
            None => (false, text.len()),
        };
        let end = text[start..edge].find(char::is_whitespace).map_or(edge, |length| start + length);
        let quoted = in_code || quoted.get(next_quoted).is_some_and(|range| range.start < end);
        let whole = &text[start..end];
        let opened = whole.len() - whole.trim_start_matches(['(', '[', '{', '¿', '¡']).len();
        let core = whole[opened..].trim_end_matches(is_closing);
        let core = start + opened..start + opened + core.len();
        let plain = !quoted && is_plain(&text[core.clone()]);
        chunks.push(Chunk { whole: start..end, core, plain, quoted, code: in_code });
        rest = end;
    }
    chunks
}

fn is_closing(c: char) -> bool {
    is_final(c) || matches!(c, ',' | ':' | ';' | ')' | ']' | '}' | '、' | '，' | '：' | '；')
}

/// Letters with single hyphens or apostrophes between them, and no capital after a small letter.
fn is_plain(word: &str) -> bool {
    let mut letter_before = false;
    let (mut small, mut camel) = (false, false);
    for c in word.chars() {
        if c.is_alphabetic() {
            camel |= small && c.is_uppercase();
            small |= c.is_lowercase();
            letter_before = true;
        } else if letter_before && matches!(c, '-' | '\'' | '’') {
            letter_before = false;
            small = false;
        } else {
            return false;
        }
    }
    letter_before && !camel
}

/// Quotations and code, in order and without overlap; a quotation that is never closed reaches to the end.
pub(super) fn quotations(text: &str) -> Vec<Range<usize>> {
    quotations_beside(text, &code::ranges(text))
}

/// The same where the code is known: a quotation mark in code opens nothing in the prose around it.
fn quotations_beside(text: &str, code: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    let end = text.len()..text.len();
    for edge in code.iter().cloned().chain(std::iter::once(end)) {
        let prose = &text[..edge.start];
        while let Some(c) = prose[at..].chars().next() {
            match quotation_end(prose, at, c) {
                Some(end) => {
                    found.push(at..end);
                    at = end;
                }
                None => at += c.len_utf8(),
            }
        }
        if !edge.is_empty() {
            found.push(edge.clone());
        }
        at = edge.end;
    }
    found
}

fn quotation_end(text: &str, at: usize, opening: char) -> Option<usize> {
    let inside = at + opening.len_utf8();
    let until = |closing: &[char]| {
        let found = text[inside..].find(closing).map(|offset| inside + offset);
        let end = |start: usize| start + text[start..].chars().next().map_or(0, char::len_utf8);
        Some(found.map_or(text.len(), end))
    };
    match opening {
        '`' => Some(code_end(text, at)),
        '"' => until(&['"']),
        '“' => until(&['”']),
        '„' => until(&['“', '”']),
        '«' => until(&['»']),
        '‹' => until(&['›']),
        '「' => until(&['」']),
        '『' => until(&['』']),
        '\'' => single_quotation_end(text, at, inside, '\''),
        '‘' => single_quotation_end(text, at, inside, '’'),
        _ => None,
    }
}

/// A run of backticks reaches to the next run of the same length.
fn code_end(text: &str, at: usize) -> usize {
    let run = |from: usize| text[from..].len() - text[from..].trim_start_matches('`').len();
    let fence = run(at);
    let mut from = at + fence;
    while let Some(offset) = text[from..].find('`') {
        let start = from + offset;
        let length = run(start);
        from = start + length;
        if length == fence {
            return from;
        }
    }
    text.len()
}

/// The same sign is an apostrophe, so a quotation must open before a word and close after one.
fn single_quotation_end(text: &str, at: usize, inside: usize, closing: char) -> Option<usize> {
    let before = text[..at].chars().next_back();
    if before.is_some_and(|c| !c.is_whitespace() && !matches!(c, '(' | '[' | '{')) {
        return None;
    }
    if text[inside..].starts_with(char::is_whitespace) {
        return None;
    }
    text[inside..].match_indices(closing).map(|(offset, sign)| (inside + offset, sign.len())).find_map(
        |(start, length)| {
            let after = text[start + length..].chars().next();
            let closes = !after.is_some_and(char::is_alphanumeric)
                && !text[..start].ends_with(char::is_whitespace)
                && start > inside;
            closes.then_some(start + length)
        },
    )
}

/// The end of the prose without white space, and the place before its final punctuation.
pub(super) struct Ending {
    /// Before the final punctuation.
    pub(super) before_punctuation: usize,
    /// After everything but white space.
    pub(super) end: usize,
}

/// Where the prose ends: code after it is not part of it, and a text that is all code has none.
pub(super) fn ending(text: &str) -> Option<Ending> {
    let trimmed = text.trim_end();
    let code = code::ranges(trimmed);
    if code.last().is_none_or(|range| range.end < trimmed.len()) {
        return Some(Ending {
            before_punctuation: trimmed.trim_end_matches(is_final).len(),
            end: trimmed.len(),
        });
    }
    let mut prose = 0..0;
    let mut from = 0;
    for range in code {
        let stretch = text[from..range.start].trim_end();
        if stretch.contains(char::is_alphanumeric) {
            prose = from..from + stretch.len();
        }
        from = range.end;
    }
    let before = text[..prose.end].trim_end_matches(|c| is_final(c) || matches!(c, ':' | ';' | ','));
    (!prose.is_empty()).then_some(Ending { before_punctuation: before.len(), end: prose.end })
}

/// Whether the words can stand in prose that code surrounds: nothing in them may end a docstring or a comment.
pub(super) fn fits_between_code(text: &str, words: &str) -> bool {
    let closes =
        ["\"\"\"", "'''", "\\", "*/"].iter().any(|sign| words.contains(sign)) || words.ends_with(['"', '\'']);
    !closes || code::ranges(text).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plain words in order; everything else is left out.
    fn plain(text: &str) -> Vec<&str> {
        chunks(text).iter().filter(|chunk| chunk.plain).map(|chunk| chunk.word(text)).collect()
    }

    #[test]
    fn plain_words_are_words_only() {
        assert_eq!(
            plain("Parse (the) in-memory list, then stop."),
            ["Parse", "the", "in-memory", "list", "then", "stop"]
        );
        assert_eq!(plain("v2 3.14 a_b camelCase std::io e.g. x@y.zz https://a.b/c, C++ it's"), ["it's"]);
        assert_eq!(plain("JSON über 文字列 שלום"), ["JSON", "über", "文字列", "שלום"]);
    }

    #[test]
    fn quotations_and_code_are_not_plain() {
        assert_eq!(plain("say \"a b\" or `c d` or 'e f' or “g h” now"), ["say", "or", "or", "or", "now"]);
        assert_eq!(plain("the users' list isn't 'done"), ["the", "list", "isn't"]);
        assert_eq!(plain("``a ` b`` c"), ["c"]);
        assert_eq!(plain("a `b c"), ["a"], "never closed");
        assert_eq!(plain("«a b» 「c d」 „e f“ g"), ["g"]);
    }

    #[test]
    fn sentences_end_after_words() {
        let text = "Stop. See e.g. this! Or 3. no";
        let ends: Vec<bool> = chunks(text).iter().map(|chunk| chunk.ends_sentence(text)).collect();
        assert_eq!(ends, [true, false, false, true, false, false, false]);
    }

    #[test]
    fn the_ending_is_before_punctuation_and_white_space() {
        let place = |text: &str| ending(text).map(|ending| (ending.before_punctuation, ending.end));
        assert_eq!(place("Do it?! \n"), Some((5, 7)));
        assert_eq!(place("…"), Some((0, 3)));
        assert_eq!(place("Explain this:\nlet a = 1;\n"), Some((12, 13)));
        assert_eq!(place("let a = 1;"), None);
    }
}
