//! The map of synonyms, read from the text file beside the generator.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proofhouse_ledger::Digest;

use super::super::DataFile;

const SYNONYMS: &str = include_str!("../synonyms.txt");
const SYNONYMS_VERSION: u32 = 1;

/// Base, third person, -ing, past and participle.
const VERB_FORMS: usize = 4;

/// The file's version and digest.
pub(super) fn data() -> DataFile {
    static DATA: LazyLock<DataFile> =
        LazyLock::new(|| DataFile { version: SYNONYMS_VERSION, digest: Digest::of(SYNONYMS.as_bytes()) });
    *DATA
}

/// The map as it is shipped.
pub(in super::super) fn get() -> &'static Map {
    static MAP: LazyLock<Map> = LazyLock::new(|| {
        Map::read(SYNONYMS).unwrap_or_else(|line| panic!("the shipped map is faulty: {line}"))
    });
    &MAP
}

/// When a word may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Condition {
    /// Nothing more than what holds for its kind.
    None,
    /// Every form only where a verb must stand.
    Verb,
    /// When its own `into` follows.
    Into,
}

/// A word with its synonyms.
#[derive(Debug)]
pub(in super::super) struct Entry {
    pub(in super::super) head: String,
    pub(in super::super) is_verb: bool,
    pub(in super::super) condition: Condition,
    pub(in super::super) protected: bool,
    /// The forms of each alternative, in the order of the head's forms.
    pub(in super::super) alternatives: Vec<Vec<String>>,
}

#[derive(Debug)]
pub(in super::super) struct Map {
    entries: Vec<Entry>,
    /// Each form of each head: its entry and the number of the form.
    forms: BTreeMap<String, (usize, usize)>,
}

impl Map {
    /// Reads the file; an error is the line that is not understood.
    fn read(text: &str) -> Result<Map, &str> {
        let lines = || text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let protected: Vec<&str> = lines()
            .filter_map(|line| line.strip_prefix("protect "))
            .flat_map(str::split_whitespace)
            .collect();
        let mut map = Map { entries: Vec::new(), forms: BTreeMap::new() };
        for line in lines().filter(|line| !line.starts_with("protect ")) {
            map.add(line, &protected).ok_or(line)?;
        }
        Ok(map)
    }

    fn add(&mut self, line: &str, protected: &[&str]) -> Option<()> {
        let (left, right) = line.split_once(" = ")?;
        let mut left = left.split_whitespace();
        let (forms, condition, domain) = match left.next()? {
            "verb" => (VERB_FORMS, Condition::None, false),
            "verb!" => (VERB_FORMS, Condition::Verb, false),
            "verb>into" => (VERB_FORMS, Condition::Into, false),
            "noun" => (2, Condition::None, false),
            "term" => (2, Condition::None, true),
            "word" => (1, Condition::None, false),
            _ => return None,
        };
        let heads: Vec<&str> = left.collect();
        let alternatives: Vec<Vec<String>> = right
            .split(" | ")
            .map(|alternative| alternative.split_whitespace().map(str::to_owned).collect())
            .collect();
        if heads.len() != forms || alternatives.iter().any(|alternative| alternative.len() != forms) {
            return None;
        }
        for (form, word) in heads.iter().enumerate() {
            let before = self.forms.insert((*word).to_owned(), (self.entries.len(), form));
            if before.is_some() {
                return None;
            }
        }
        let protected = domain || heads.iter().any(|word| protected.contains(word));
        self.entries.push(Entry {
            head: heads[0].to_owned(),
            is_verb: forms == VERB_FORMS,
            condition,
            protected,
            alternatives,
        });
        Some(())
    }

    /// The entry of a word in small letters, and which form of it the word is.
    pub(super) fn find(&self, word: &str) -> Option<(&Entry, usize)> {
        self.forms.get(word).map(|(entry, form)| (&self.entries[*entry], *form))
    }

    /// Whether the word is the basic form of an entry.
    pub(super) fn is_head(&self, word: &str) -> bool {
        self.find(word).is_some_and(|(_, form)| form == 0)
    }

    /// Every entry, in the order of the file.
    pub(in super::super) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

/// Whether the word takes `an`; right for every word of the map, which a test checks letter by letter.
pub(super) fn sounds_like_vowel(word: &str) -> bool {
    let spoken_as_you =
        ["use", "usual", "uni"].iter().any(|start| word.starts_with(start)) && !word.starts_with("unint");
    word.starts_with(['a', 'e', 'i', 'o', 'u']) && !spoken_as_you
}

#[cfg(test)]
mod tests {
    use super::super::super::{contract, guard};
    use super::*;

    fn all_words() -> impl Iterator<Item = &'static str> {
        get().entries().iter().flat_map(|entry| entry.alternatives.iter().flatten()).map(String::as_str)
    }

    /// Whoever changes the map changes its version, and whoever changes the version sees this.
    #[test]
    fn version_and_bytes_belong_together() {
        let digest = data().digest.to_string();
        assert_eq!(
            (data().version, digest.as_str()),
            (1, "9689c0988afdfd30b28a9a4c88d5f154ff6f24b2ae0595b25a4964d07257f733")
        );
    }

    #[test]
    fn faulty_lines_are_refused() {
        for line in ["verb a b c = d e f g", "word a", "adverb a = b", "word a = b c", "noun a b = c d | e"] {
            assert_eq!(Map::read(line).map(drop), Err(line));
        }
        assert!(Map::read("word a = b\nword a = c").is_err(), "twice");
    }

    #[test]
    fn words_are_plain_small_and_allowed_in_an_instruction() {
        for word in all_words().chain(get().forms.keys().map(String::as_str)) {
            assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
            assert_eq!(contract::findings(word, &[]), [], "{word}");
            let sentence = format!("Sort the rows {word} now.");
            let reasons = guard::check("Sort the rows now.", sentence.as_bytes(), false, &[]);
            assert!(reasons.is_ok(), "{word}: {reasons:?}");
        }
    }

    #[test]
    fn no_alternative_is_its_own_head() {
        for entry in get().entries() {
            let mut bases: Vec<&str> = entry.alternatives.iter().map(|forms| forms[0].as_str()).collect();
            bases.push(&entry.head);
            let count = bases.len();
            bases.sort_unstable();
            bases.dedup();
            assert_eq!(bases.len(), count, "{}", entry.head);
        }
    }

    /// English spelling is no guide to its sounds, so the words where it misleads are listed here by hand.
    #[test]
    fn articles_fit_every_word() {
        let consonant = ["usual", "useful"];
        let silent = ["hour", "honest"];
        for word in all_words()
            .filter(|word| word.starts_with(['u', 'h']) || word.starts_with("eu") || word.starts_with("on"))
        {
            let vowel = !word.starts_with('h') && !consonant.contains(&word);
            assert!(!silent.contains(&word), "{word}");
            assert_eq!(sounds_like_vowel(word), vowel, "{word}");
        }
    }
}
