//! The `synonym_substitution` generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scan::{self, Chunk};
use super::slots::{Slots, choose};
use super::{Ask, DataFile, Edit, Generator, Lack, Maker, Settings, Variants};
use crate::text::complaint::Complaint;

pub(super) mod map;

use self::map::{Condition, Entry};

/// Words replaced by close synonyms.
///
/// Other users have other vocabularies. The map of synonyms is part of the program, with a version and a digest; it
/// lists every inflected form, so nothing is guessed. Domain terms (`list`, `key`, `function` and the like) stay as they
/// are unless `whitelist` names them. Words in quotations, code, addresses and identifiers are left alone.
///
/// Guarantee: 1 to `max_replacements` words are replaced, each by an alternative of the map in the same case and
/// inflection; an article before the word stays and still fits it; undoing the edits restores the base.
///
/// ```yaml
/// synonym_substitution: {max_replacements: 5, whitelist: [dictionary]}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SynonymSubstitution {
    /// The greatest number of replaced words in one variant, at least 1.
    pub max_replacements: u32,
    /// Domain terms that may be replaced after all, in their basic form.
    pub whitelist: Vec<String>,
}

impl Default for SynonymSubstitution {
    fn default() -> Self {
        SynonymSubstitution { max_replacements: 3, whitelist: Vec::new() }
    }
}

impl Settings for SynonymSubstitution {
    const NAME: &'static str = "synonym_substitution";
    const GENERATOR_VERSION: u32 = 1;

    fn check(&self) -> Result<(), Complaint> {
        if self.max_replacements == 0 {
            return Err(Complaint::new("`max_replacements` is 0").hint("give at least 1"));
        }
        let unknown = self.whitelist.iter().find(|term| !map::get().is_head(&term.to_lowercase()));
        match unknown {
            Some(term) => Err(Complaint::new(format!("the map of synonyms has no entry `{term}`"))
                .hint("remove it from `whitelist`, or write its basic form")),
            None => Ok(()),
        }
    }

    fn data(&self) -> Option<DataFile> {
        Some(map::data())
    }

    fn maker(&self) -> Maker<'_> {
        Maker::Rules(self)
    }
}

impl Generator for SynonymSubstitution {
    fn variants(&self, ask: &Ask<'_>) -> Variants {
        let places = self.places(ask.base);
        let alternatives = places.iter().map(|place| place.words.len()).collect();
        let slots = Slots::new(alternatives, 1, self.max_replacements as usize);
        choose::<Self>(ask, slots, Lack::NoSynonym, |choice| {
            let edit = |place: &Place, alternative: usize| {
                Edit::replace(ask.base, place.word.clone(), &*place.words[alternative])
            };
            choice.iter().map(|(place, alternative)| edit(&places[*place], *alternative)).collect()
        })
    }
}

/// A word and what may stand in its place.
struct Place {
    word: std::ops::Range<usize>,
    words: Vec<String>,
}

impl SynonymSubstitution {
    fn places(&self, text: &str) -> Vec<Place> {
        let chunks = scan::chunks(text);
        (0..chunks.len())
            .filter_map(|at| {
                let word = chunks[at].word(text);
                let case = if chunks[at].plain { Case::of(word)? } else { return None };
                let (entry, form) = map::get().find(&word.to_ascii_lowercase())?;
                if entry.protected
                    && !self.whitelist.iter().any(|term| term.eq_ignore_ascii_case(&entry.head))
                {
                    return None;
                }
                if !holds(entry, form, text, &chunks[..=at], &chunks[at + 1..]) {
                    return None;
                }
                let article = at.checked_sub(1).map(|before| chunks[before].word(text).to_ascii_lowercase());
                let words: Vec<String> = entry
                    .alternatives
                    .iter()
                    .map(|forms| forms[form].as_str())
                    .filter(|alternative| fits_article(article.as_deref(), alternative))
                    .map(|alternative| case.apply(alternative))
                    .collect();
                (!words.is_empty()).then(|| Place { word: chunks[at].core.clone(), words })
            })
            .collect()
    }
}

/// Whether the word, the last of `before`, may be replaced where it stands.
fn holds(entry: &Entry, form: usize, text: &str, before: &[Chunk], after: &[Chunk]) -> bool {
    let must_be_verb = entry.condition == Condition::Verb || (entry.is_verb && form == 0);
    let stands_as_verb = match before {
        [.., opener, _] => opener.ends_sentence(text) || opens_verb(opener, text),
        _ => true,
    };
    let own_into = || {
        let clause = after.iter().take_while(|chunk| !closes_clause(chunk, text));
        let mut words = clause.map(|chunk| chunk.word(text));
        words.any(|word| word.eq_ignore_ascii_case("into"))
    };
    let alone = before.last().is_none_or(|word| word.tail(text).is_empty());
    (!must_be_verb || stands_as_verb) && (entry.condition != Condition::Into || (alone && own_into()))
}

/// A word after which only a verb can stand.
fn opens_verb(before: &Chunk, text: &str) -> bool {
    let openers = ["to", "please", "must", "should", "can", "could", "will", "you", "we"];
    before.tail(text).is_empty() && openers.iter().any(|word| before.word(text).eq_ignore_ascii_case(word))
}

/// A word with punctuation, or one that opens another clause: an `into` after it may belong to another verb.
fn closes_clause(chunk: &Chunk, text: &str) -> bool {
    let openers = ["and", "or", "but", "then", "that", "which", "to"];
    !chunk.tail(text).is_empty() || openers.iter().any(|word| chunk.word(text).eq_ignore_ascii_case(word))
}

fn fits_article(article: Option<&str>, word: &str) -> bool {
    match article {
        Some("a") => !map::sounds_like_vowel(word),
        Some("an") => map::sounds_like_vowel(word),
        _ => true,
    }
}

/// The case of an English word; a word of mixed case has none and is left alone.
#[derive(Clone, Copy)]
enum Case {
    Lower,
    Capital,
    Upper,
}

impl Case {
    fn of(word: &str) -> Option<Case> {
        let (first, rest) = word.as_bytes().split_first()?;
        if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            Some(Case::Lower)
        } else if first.is_ascii_uppercase() && rest.iter().all(u8::is_ascii_lowercase) {
            Some(Case::Capital)
        } else if word.bytes().all(|byte| byte.is_ascii_uppercase()) {
            Some(Case::Upper)
        } else {
            None
        }
    }

    fn apply(self, word: &str) -> String {
        match self {
            Case::Lower => word.to_owned(),
            Case::Capital => word[..1].to_ascii_uppercase() + &word[1..],
            Case::Upper => word.to_ascii_uppercase(),
        }
    }
}
