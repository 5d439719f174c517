//! The map of synonyms, read from the text file beside the generator.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proofhouse_ledger::Digest;

use super::super::DataFile;

const SYNONYMS: &str = include_str!("../synonyms.txt");
const SYNONYMS_VERSION: u32 = 4;

/// Base, third person, -ing, past and participle; those with another participle have one form more.
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
    /// What has to stand beside it.
    pub(super) context: Context,
    /// The forms of each alternative, in the order of the head's forms.
    pub(in super::super) alternatives: Vec<Vec<String>>,
}

/// The sense that a line is about, told by the neighbours of its word: a list that is empty asks nothing.
#[derive(Debug, Default)]
pub(super) struct Context {
    /// One of these stands directly before it.
    pub(super) left: Vec<String>,
    /// One of these stands directly behind it.
    pub(super) right: Vec<String>,
    /// None of these stands before it.
    pub(super) no_left: Vec<String>,
    /// None of these stands behind it.
    pub(super) no_right: Vec<String>,
}

impl Context {
    fn read(text: &str) -> Option<Context> {
        let mut context = Context::default();
        for part in text.split(" ; ") {
            let (key, words) = part.split_once(": ")?;
            let list = match key {
                "left" => &mut context.left,
                "right" => &mut context.right,
                "no-left" => &mut context.no_left,
                "no-right" => &mut context.no_right,
                _ => return None,
            };
            list.extend(words.split_whitespace().map(str::to_owned));
            if list.is_empty() {
                return None;
            }
        }
        Some(context)
    }
}

#[derive(Debug)]
pub(in super::super) struct Map {
    entries: Vec<Entry>,
    /// Each form of each head: the entries that have it, and the number of the form.
    forms: BTreeMap<String, Vec<(usize, usize)>>,
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
        let (line, context) = match line.split_once(" ; ") {
            Some((line, context)) => (line, Context::read(context)?),
            None => (line, Context::default()),
        };
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
        let is_verb = forms == VERB_FORMS;
        let count = heads.len();
        let alternatives: Vec<Vec<String>> = right
            .split(" | ")
            .map(|alternative| alternative.split_whitespace().map(str::to_owned).collect())
            .collect();
        let counted = count == forms || (is_verb && count == VERB_FORMS + 1);
        if !counted || alternatives.iter().any(|alternative| alternative.len() != count) {
            return None;
        }
        for (form, word) in heads.iter().enumerate() {
            self.forms.entry((*word).to_owned()).or_default().push((self.entries.len(), form));
        }
        let protected = domain || heads.iter().any(|word| protected.contains(word));
        self.entries.push(Entry {
            head: heads[0].to_owned(),
            is_verb,
            condition,
            protected,
            context,
            alternatives,
        });
        Some(())
    }

    /// The entries of a word in small letters, and which form of each the word is.
    pub(super) fn find(&self, word: &str) -> impl Iterator<Item = (&Entry, usize)> {
        let found = self.forms.get(word).map(Vec::as_slice).unwrap_or_default();
        found.iter().map(|(entry, form)| (&self.entries[*entry], *form))
    }

    /// Whether the word is the basic form of an entry.
    pub(super) fn is_head(&self, word: &str) -> bool {
        self.find(word).any(|(_, form)| form == 0)
    }

    /// Every entry, in the order of the file.
    pub(in super::super) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

/// Whether the word takes `an`; right for every word of the map, which a test checks letter by letter.
pub(super) fn sounds_like_vowel(word: &str) -> bool {
    let spoken_as_you = ["use", "usi", "usual", "uni", "uti"].iter().any(|start| word.starts_with(start))
        && !word.starts_with("unint");
    word.starts_with(['a', 'e', 'i', 'o', 'u']) && !spoken_as_you
}

#[cfg(test)]
mod tests {
    use super::super::super::contract;
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
            (4, "b6338c1e6014ccf6140875db6c4da95e0a18b56ce2586103c28f957ab0af1e31")
        );
    }

    #[test]
    fn faulty_lines_are_refused() {
        for line in [
            "verb a b c = d e f g",
            "word a",
            "adverb a = b",
            "word a = b c",
            "noun a b = c d | e",
            "word a = b ; beside: c",
            "word a = b ; left: ",
        ] {
            assert_eq!(Map::read(line).map(drop), Err(line));
        }
        assert!(Map::read("word a = b ; left: c\nword a = c ; right: d ; no-left: #").is_ok(), "two senses");
    }

    #[test]
    fn words_are_plain_small_and_allowed_in_an_instruction() {
        for word in all_words().chain(get().forms.keys().map(String::as_str)) {
            assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
            assert_eq!(contract::findings(word, &[]), [], "{word}");
        }
    }

    #[test]
    fn no_alternative_is_its_own_head() {
        for entry in get().entries() {
            assert!(
                !entry.context.left.iter().any(|word| entry.context.no_left.contains(word)),
                "{}",
                entry.head
            );
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
        let consonant = ["usual", "useful", "use", "uses", "using", "used", "usually", "utilizes"];
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
