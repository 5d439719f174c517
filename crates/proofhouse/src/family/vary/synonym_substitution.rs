//! The `synonym_substitution` generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scan::{self, Chunk};
use super::slots::{Slots, choose};
use super::{Ask, DataFile, Edit, Generator, Lack, Maker, Settings, Variants, lexicon};
use crate::text::complaint::Complaint;

pub(super) mod map;

use self::map::{Condition, Context, Entry};

/// Words replaced by close synonyms.
///
/// Other users have other vocabularies. The map of synonyms is part of the program, with a version and a digest; it
/// lists every inflected form, so nothing is guessed. A pair holds for one sense of its word, which its neighbours tell: `find the
/// sum` becomes `determine the sum`, and `the child was found` stays. Domain terms (`list`, `key`, `function` and the like) stay as they
/// are unless `whitelist` names them. Names and words in quotations, code, addresses and identifiers are left alone.
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
    const GENERATOR_VERSION: u32 = 4;

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
                let beside = Beside { text, chunks: &chunks, at };
                // A capital inside a sentence makes a name of the word.
                if matches!(case, Case::Capital) && !beside.opens() {
                    return None;
                }
                let article = at.checked_sub(1).map(|before| chunks[before].word(text).to_ascii_lowercase());
                let mut words: Vec<String> = Vec::new();
                for (entry, form) in map::get().find(&word.to_ascii_lowercase()) {
                    if !self.allows(entry) || !beside.holds(entry, form) {
                        continue;
                    }
                    for alternative in entry.alternatives.iter().map(|forms| forms[form].as_str()) {
                        let shown = case.apply(alternative);
                        if fits_article(article.as_deref(), alternative)
                            && shown != word
                            && !words.contains(&shown)
                        {
                            words.push(shown);
                        }
                    }
                }
                (!words.is_empty()).then(|| Place { word: chunks[at].core.clone(), words })
            })
            .collect()
    }

    fn allows(&self, entry: &Entry) -> bool {
        !entry.protected || self.whitelist.iter().any(|term| term.eq_ignore_ascii_case(&entry.head))
    }
}

/// A word and what stands beside it.
struct Beside<'a> {
    text: &'a str,
    chunks: &'a [Chunk],
    at: usize,
}

impl Beside<'_> {
    /// Whether the word may be replaced where it stands.
    fn holds(&self, entry: &Entry, form: usize) -> bool {
        let must_be_verb = entry.condition == Condition::Verb && (form == 0 || entry.context.left.is_empty())
            || (entry.is_verb && form == 0);
        let own_into = || {
            let clause =
                self.chunks[self.at + 1..].iter().take_while(|chunk| !closes_clause(chunk, self.text));
            clause.map(|chunk| chunk.word(self.text)).any(|word| word.eq_ignore_ascii_case("into"))
        };
        let alone = self.chunks[self.at].tail(self.text).is_empty();
        (!must_be_verb || self.stands_as_verb())
            && (entry.condition != Condition::Into || (alone && own_into()))
            && self.in_context(&entry.context)
    }

    /// Nothing but a verb can stand here.
    fn stands_as_verb(&self) -> bool {
        self.opens() || opens_verb(&self.chunks[self.at - 1], self.text)
    }

    /// A sentence begins with the word.
    fn opens(&self) -> bool {
        let Some(before) = self.at.checked_sub(1).map(|before| &self.chunks[before]) else { return true };
        let chunk = &self.chunks[self.at];
        let gap = &self.text[before.whole.end..chunk.whole.start];
        let capital = chunk.word(self.text).starts_with(char::is_uppercase);
        let bullet = matches!(&self.text[before.whole.clone()], "-" | "*" | "•");
        before.code
            || before.ends_sentence(self.text)
            || (capital && before.tail(self.text).contains(scan::is_final) && !before.plain)
            || (capital && (gap.contains('\n') || bullet))
    }

    fn in_context(&self, context: &Context) -> bool {
        let chunk = &self.chunks[self.at];
        let free = chunk.whole.start == chunk.core.start && !self.opens();
        let before = self.at.checked_sub(1).map(|before| &self.chunks[before]);
        let before = before.filter(|before| free && !before.code && before.tail(self.text).is_empty());
        let after = self.chunks.get(self.at + 1);
        let after = after.filter(|after| {
            !after.code && chunk.tail(self.text).is_empty() && after.whole.start == after.core.start
        });
        let stands = |list: &[String], neighbour: Option<&Chunk>, edge: &str, at_edge: bool| {
            list.iter().any(|wanted| match neighbour {
                Some(neighbour) => self.is(neighbour, wanted),
                None => at_edge && wanted == edge,
            })
        };
        let left = |list: &[String]| stands(list, before, "^", self.opens());
        let right = |list: &[String]| stands(list, after, "$", self.ends());
        (context.left.is_empty() || left(&context.left))
            && (context.right.is_empty() || right(&context.right))
            && !left(&context.no_left)
            && !right(&context.no_right)
    }

    /// A sentence or a clause ends with the word.
    fn ends(&self) -> bool {
        !self.chunks[self.at].tail(self.text).is_empty() || self.at + 1 == self.chunks.len()
    }

    /// Whether a neighbour is the word, or of the class, that a line of the map names.
    fn is(&self, neighbour: &Chunk, wanted: &str) -> bool {
        let word = neighbour.word(self.text);
        let small = word.to_lowercase();
        match wanted {
            "#" => {
                word.starts_with(|c: char| c.is_ascii_digit() || c == '$') || lexicon::is_number_word(&small)
            }
            "@" => neighbour.plain && word.starts_with(char::is_uppercase),
            "%" => DETERMINERS.contains(&small.as_str()) || small.ends_with("'s") || small.ends_with("’s"),
            _ => neighbour.plain && small == wanted,
        }
    }
}

/// Words that open a noun.
const DETERMINERS: &[&str] =
    &["a", "an", "the", "my", "your", "his", "her", "its", "our", "their", "this", "that", "these", "those"];

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
