//! Characters that nobody sees or that a screen obeys: one table for terminal, Markdown, page and the page's script.
//!
//! What a model, a dataset or a server said may move the cursor, colour what follows, turn text around or hide in it. Line
//! feeds and tabs are not in the table: text may have lines. The joiners U+200C and U+200D are not either: emoji and several
//! scripts are written with them.

use std::fmt::Write as _;

/// First and last character of each range.
const UNSEEN: [(char, char); 15] = [
    ('\0', '\u{8}'),
    ('\u{b}', '\u{1f}'),
    ('\u{7f}', '\u{9f}'),
    // Soft hyphen, Arabic letter mark, Mongolian vowel separator.
    ('\u{ad}', '\u{ad}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{180e}', '\u{180e}'),
    // Zero-width space, left-to-right and right-to-left marks.
    ('\u{200b}', '\u{200b}'),
    ('\u{200e}', '\u{200f}'),
    // Line and paragraph separators, embeddings and overrides of direction.
    ('\u{2028}', '\u{202e}'),
    // Word joiner, invisible operators, isolates of direction.
    ('\u{2060}', '\u{206f}'),
    // Hangul fillers, byte order mark, interlinear annotation.
    ('\u{115f}', '\u{1160}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{fff9}', '\u{fffb}'),
    // Tags: a second, invisible ASCII that models read.
    ('\u{e0000}', '\u{e007f}'),
];

/// Spaces that look like another space, and joiners: seen only where two texts are compared character by character.
const LOOKALIKES: [(char, char); 6] = [
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200d}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
];

fn is_in(c: char, table: &[(char, char)]) -> bool {
    table.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

/// Whether a character is shown by name instead of being obeyed.
pub fn is_unseen(c: char) -> bool {
    !(' '..='~').contains(&c) && is_in(c, &UNSEEN)
}

/// Appends a character, by its picture (`␛`) or its number (`[U+202E]`) where it is unseen.
pub fn push(out: &mut String, c: char) {
    if is_unseen(c) { push_name(out, c) } else { out.push(c) }
}

fn push_name(out: &mut String, c: char) {
    match picture(c) {
        Some(picture) => out.push(picture),
        None => write!(out, "[U+{:04X}]", u32::from(c)).expect("writing to a string cannot fail"),
    }
}

/// Control characters have pictures of their own, one column wide.
fn picture(c: char) -> Option<char> {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)),
        '\u{7f}' => Some('\u{2421}'),
        _ => None,
    }
}

/// Text of unknown origin, its lines and tabs kept.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push(&mut out, c));
    out
}

/// The same on one line.
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push('⏎'),
            '\t' => push_name(&mut out, c),
            c => push(&mut out, c),
        }
    }
    out
}

/// The same on one line, with spaces that look alike told apart: for texts that are compared.
pub fn exact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push('⏎'),
            c if c == '\t' || is_in(c, &LOOKALIKES) => push_name(&mut out, c),
            c => push(&mut out, c),
        }
    }
    out
}

/// One character for one, where columns must not move: a picture, or the sign for what cannot be shown.
pub fn stand_in(c: char) -> char {
    if is_unseen(c) { picture(c).unwrap_or('\u{fffd}') } else { c }
}

/// The table as a class of a JavaScript regular expression with the `u` flag.
pub fn script_class() -> String {
    let mut out = String::from("[");
    for (first, last) in UNSEEN {
        write!(out, "\\u{{{:x}}}", u32::from(first)).expect("writing to a string cannot fail");
        if first != last {
            write!(out, "-\\u{{{:x}}}", u32::from(last)).expect("writing to a string cannot fail");
        }
    }
    out.push(']');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_screen_obeys_is_shown_by_name() {
        let hostile = "\u{1b}[31mred\u{7} a\tb\r\n\u{202e}drow\u{200b}\u{9b}1m\u{7f}é\u{e0041}";
        assert_eq!(visible(hostile), "␛[31mred␇ a\tb␍\n[U+202E]drow[U+200B][U+009B]1m␡é[U+E0041]");
        assert_eq!(one_line("a\n\tb\u{a0}c"), "a⏎␉b\u{a0}c");
        assert_eq!(exact("a\n\tb\u{a0}c\u{200d}"), "a⏎␉b[U+00A0]c[U+200D]");
    }

    #[test]
    fn every_control_character_but_line_feed_and_tab_is_unseen() {
        for c in (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| c.is_control()) {
            assert_eq!(is_unseen(c), c != '\n' && c != '\t', "{c:?}");
        }
        for c in "aé漢👩\u{200d}🚀\u{200c} \u{a0}".chars() {
            assert!(!is_unseen(c), "{c:?}");
        }
    }

    #[test]
    fn the_scripts_class_is_the_same_table() {
        let class = regex::Regex::new(&format!("^{}$", script_class().replace("\\u", "\\x"))).unwrap();
        for c in (0..=0x10_ffff).filter_map(char::from_u32) {
            assert_eq!(class.is_match(c.encode_utf8(&mut [0; 4])), is_unseen(c), "{c:?}");
        }
    }
}
