//! A text as the guard reads it: words in small letters and their stems.

use super::super::scan::{self, Chunk};

pub(super) struct Text<'a> {
    pub(super) raw: &'a str,
    pub(super) chunks: Vec<Chunk>,
    /// Words in small letters; hyphens part words, apostrophes do not, and a final `'s` is left out.
    pub(super) words: Vec<String>,
    pub(super) stems: Vec<String>,
}

impl<'a> Text<'a> {
    pub(super) fn read(raw: &'a str) -> Text<'a> {
        let words: Vec<String> = split(raw).collect();
        let stems = words.iter().map(|word| stem(word)).collect();
        Text { raw, chunks: scan::chunks(raw), words, stems }
    }

    /// How often the phrase appears, each word in any inflection.
    pub(super) fn count(&self, phrase: &str) -> usize {
        self.places(phrase).count()
    }

    /// Where the phrase starts, as numbers of words.
    pub(super) fn places(&self, phrase: &str) -> impl Iterator<Item = usize> {
        let wanted: Vec<String> = split(phrase).map(|word| stem(&word)).collect();
        (0..self.stems.len()).filter(move |&at| !wanted.is_empty() && self.stems[at..].starts_with(&wanted))
    }

    /// Whether the text starts with the phrase.
    pub(super) fn starts(&self, phrase: &str) -> bool {
        self.places(phrase).next() == Some(0)
    }

    /// Whether the stem appears.
    pub(super) fn has_stem(&self, stem: &str) -> bool {
        self.stems.iter().any(|word| word == stem)
    }
}

fn split(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '\'' | '’'))
        .map(|word| word.trim_matches(['\'', '’']))
        .filter(|word| !word.is_empty())
        .map(|word| {
            let small = word.to_lowercase().replace('’', "'");
            small.strip_suffix("'s").map(str::to_owned).unwrap_or(small)
        })
}

/// Whether two phrases are the same but for inflection.
pub(super) fn same_words(a: &str, b: &str) -> bool {
    split(a).map(|word| stem(&word)).eq(split(b).map(|word| stem(&word)))
}

/// The word without its inflection: rough, but the same for all regular forms of a word.
pub(super) fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    if let Some(start) = stem.strip_suffix("ies").filter(|start| start.len() > 1) {
        stem = format!("{start}y");
    } else if ["sses", "shes", "ches", "xes", "zes"].iter().any(|ending| stem.ends_with(ending)) {
        stem.truncate(stem.len() - 2);
    } else if stem.len() > 2
        && stem.ends_with('s')
        && !["ss", "us", "is"].iter().any(|end| stem.ends_with(end))
    {
        stem.pop();
    }
    let cut = match stem.strip_suffix("ing").or_else(|| stem.strip_suffix("ed")) {
        Some(start) if start.len() > 2 => start.len(),
        _ => stem.len(),
    };
    if cut < stem.len() {
        stem.truncate(cut);
        let last = stem.as_bytes()[cut - 1];
        let doubled = last.is_ascii_alphabetic() && stem.as_bytes()[cut - 2] == last;
        if doubled && !matches!(last, b'l' | b's' | b'z') {
            stem.pop();
        }
    }
    if let Some(start) = stem.strip_suffix('e').filter(|start| start.len() > 2) {
        stem.truncate(start.len());
    }
    if let Some(start) = stem.strip_suffix('i').filter(|start| start.len() > 2) {
        stem = format!("{start}y");
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflected_forms_share_a_stem() {
        for forms in [
            "compile compiles compiled compiling",
            "dictionary dictionaries",
            "map maps mapped mapping",
            "key keys keyed keying",
            "match matches matched matching",
            "copy copies copied copying",
            "validate validates validated validating",
            "process processes processed processing",
            "log logs logged logging",
        ] {
            let mut words = forms.split(' ');
            let expected = stem(words.next().expect("a word"));
            words.for_each(|word| assert_eq!(stem(word), expected, "{word}"));
        }
        for (a, b) in [("test", "contest"), ("list", "listen"), ("validate", "validation"), ("this", "thing")]
        {
            assert_ne!(stem(a), stem(b));
        }
    }

    #[test]
    fn phrases_are_counted_in_any_inflection() {
        let text = Text::read("Handles each element's IDs; handling thread-safe maps — don’t.");
        assert_eq!(text.count("handle"), 2);
        assert_eq!(text.count("thread safe"), 1);
        assert_eq!((text.count("element"), text.count("id"), text.count("don't")), (1, 1, 1));
        assert_eq!(text.count("safe thread"), 0);
        assert!(text.starts("handle each"));
    }

    #[test]
    fn any_text_can_be_read() {
        for text in ["", "'", "éed", "ééing", "🙂ed", "文ing", "s's's", "iii", "ﬀed"] {
            assert!(Text::read(text).count("x") == 0, "{text}");
        }
    }
}
