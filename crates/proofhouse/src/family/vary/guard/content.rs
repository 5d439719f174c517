//! What the guard says about words: banned ones, new subjects, new requirements, losses and novelties.

use super::super::synonym_substitution::map;
use super::super::{lexicon, scan};
use super::text::{Text, stem};
use super::{Comparison, Reason, terms};

impl Comparison<'_> {
    /// `forbidden_token` and `new_work_verb`.
    pub(super) fn banned_words(&self, reasons: &mut Vec<Reason>) {
        for (token, phrases) in terms::FORBIDDEN {
            if self.grows_any(phrases) && !self.allows(token) {
                // `tests` is on the list beside `test`: an answer that has only that form is told so.
                let plural = *token == "test" && !self.answer.words.iter().any(|word| word == "test");
                let shown = if plural && self.answer.words.iter().any(|word| word == "tests") {
                    "tests"
                } else {
                    token
                };
                reasons.push(Reason::ForbiddenToken(shown.to_owned()));
            }
        }
        let strict = if self.strict { terms::DELIVERY_VERBS } else { &[] };
        for verb in terms::WORK_VERBS.iter().chain(strict).filter(|verb| self.grows(verb)) {
            reasons.push(Reason::NewWorkVerb((*verb).to_owned()));
        }
    }

    /// `references_format`, `references_performance` and `references_tooling`.
    pub(super) fn subjects(&self, reasons: &mut Vec<Reason>) {
        for (words, reason) in [
            (terms::FORMATS, Reason::ReferencesFormat),
            (terms::PERFORMANCE, Reason::ReferencesPerformance),
            (terms::TOOLING, Reason::ReferencesTooling),
        ] {
            if words.iter().any(|word| self.grows(word)) {
                reasons.push(reason);
            }
        }
    }

    /// `adds_requirement`.
    pub(super) fn requirements(&self, reasons: &mut Vec<Reason>) {
        let strict = if self.strict { terms::CLAUSES } else { &[] };
        let phrase = terms::REQUIREMENTS.iter().chain(strict).any(|phrase| self.grows(phrase));
        let modal = terms::MODALS.iter().filter(|modal| self.grows(modal)).any(|modal| {
            let length = modal.split(' ').count();
            self.answer.places(modal).any(|at| !self.speaks_of_base(at + length))
        });
        if phrase || modal || self.joined_verbs().next().is_some() {
            reasons.push(Reason::AddsRequirement);
        }
    }

    /// Whether the next word with content is one of the base's.
    fn speaks_of_base(&self, from: usize) -> bool {
        let next = self.answer.words[from..].iter().position(|word| !is_empty_word(word));
        next.is_none_or(|offset| self.base.has_stem(&self.answer.stems[from + offset]))
    }

    /// Verbs of a further task after `and`: new ones that neither continue an infinitive nor name the result.
    pub(super) fn joined_verbs(&self) -> impl Iterator<Item = usize> {
        let words = &self.answer.words;
        (1..words.len()).filter(move |&at| {
            let verb = words[at].as_str();
            matches!(words[at - 1].as_str(), "and" | "plus")
                && is_task_verb(verb)
                && !self.base.has_stem(&self.answer.stems[at])
                && !(at >= 3 && words[at - 3] == "to")
                && !(terms::RESULT_VERBS.contains(&verb) && self.names_result(at + 1))
                && !self.allows(verb)
        })
    }

    /// The object of a result verb is something of the base.
    fn names_result(&self, from: usize) -> bool {
        let stems = &self.answer.stems[from..];
        let mut near = stems.iter().zip(&self.answer.words[from..]).take(4);
        near.any(|(stem, word)| !is_empty_word(word) && self.base.has_stem(stem))
    }

    /// `removed_content`.
    pub(super) fn losses(&self, reasons: &mut Vec<Reason>) {
        let mut lost: Vec<String> = self.lost_literals();
        let count = |text: &Text<'_>| -> usize { terms::NEGATIONS.iter().map(|word| text.count(word)).sum() };
        if count(self.answer) < count(self.base) {
            lost.extend(
                terms::NEGATIONS
                    .iter()
                    .find(|word| self.base.count(word) > self.answer.count(word))
                    .map(|word| (*word).to_owned()),
            );
        }
        let content = self.content_words();
        let missing: Vec<&String> = content.iter().filter(|word| !self.keeps(word)).collect();
        if self.strict || missing.len() * 2 > content.len() {
            lost.extend(missing.into_iter().cloned());
        }
        let mut told: Vec<String> = Vec::new();
        for word in lost {
            if !told.contains(&word) {
                told.push(word.clone());
                reasons.push(Reason::RemovedContent(word));
            }
        }
    }

    /// Quotations, code, numbers, addresses and identifiers that are not in the answer as they stand.
    fn lost_literals(&self) -> Vec<String> {
        let raw = self.base.raw;
        let quoted = scan::quotations(raw).into_iter().map(|range| raw[range].trim_end());
        let single = self.base.chunks.iter().filter(|chunk| !chunk.plain && !chunk.quoted);
        quoted
            .chain(single.map(|chunk| chunk.word(raw)))
            .filter(|literal| literal.contains(char::is_alphanumeric) && !stands_in(self.answer.raw, literal))
            .map(str::to_owned)
            .collect()
    }

    /// The plain words of the base that carry its meaning, without the verb that opens it.
    fn content_words(&self) -> Vec<String> {
        let plain = self.base.chunks.iter().enumerate().filter(|(_, chunk)| chunk.plain);
        plain
            .map(|(at, chunk)| (at, chunk.word(self.base.raw).to_lowercase()))
            .filter(|(at, word)| !(*at == 0 && lexicon::is_imperative(word)))
            .flat_map(|(_, word)| word.split('-').map(str::to_owned).collect::<Vec<_>>())
            .filter(|word| !is_empty_word(word))
            .collect()
    }

    /// The word, another form of it or a synonym of it is in the answer.
    pub(super) fn keeps(&self, word: &str) -> bool {
        let own = stem(word);
        let means = |group: &mut dyn Iterator<Item = &str>| {
            let stems: Vec<String> = group.map(stem).collect();
            stems.contains(&own) && stems.iter().any(|stem| self.answer.has_stem(stem))
        };
        self.answer.has_stem(&own)
            || self.allows(word)
            || means(&mut terms::COLLECTIONS.iter().copied())
            || map::get().entries().iter().any(|entry| {
                let alternatives = entry.alternatives.iter().map(|forms| forms[0].as_str());
                means(&mut alternatives.chain([entry.head.as_str()]))
            })
    }

    /// `new_language` and `out_of_scope_term`.
    pub(super) fn novelties(&self, reasons: &mut Vec<Reason>) {
        let language = |name: &str| Reason::NewLanguage(name.to_lowercase());
        reasons.extend(terms::LANGUAGES.iter().filter(|name| self.grows(name)).map(|name| language(name)));
        for name in terms::LANGUAGES_IN_CONTEXT {
            if named_in_context(self.answer, name) && !named_in_context(self.base, name) && !self.allows(name)
            {
                reasons.push(language(name));
            }
        }
        let (base, answer) = (self.base.raw.to_lowercase(), self.answer.raw.to_lowercase());
        for name in terms::LANGUAGES_WITH_SIGNS {
            let allowed = self.allow_terms.iter().any(|term| term.eq_ignore_ascii_case(name));
            if stands_in(&answer, name) && !stands_in(&base, name) && !allowed {
                reasons.push(language(name));
            }
        }
        for (name, range) in SCRIPTS {
            let in_script = |text: &str| text.chars().any(|c| range.contains(&u32::from(c)));
            if in_script(&answer) && !in_script(&base) {
                reasons.push(language(name));
            }
        }
        for (term, phrases) in terms::OUT_OF_SCOPE {
            if self.grows_any(phrases) && !self.allows(term) {
                reasons.push(Reason::OutOfScopeTerm((*term).to_owned()));
            }
        }
    }
}

pub(super) fn is_empty_word(word: &str) -> bool {
    terms::EMPTY_WORDS.binary_search(&word).is_ok()
}

fn is_task_verb(word: &str) -> bool {
    let forbidden = ["test", "benchmark", "log", "debug", "optimize", "optimise"];
    lexicon::is_imperative(word) || terms::WORK_VERBS.contains(&word) || forbidden.contains(&word)
}

/// Whether the name stands, with its capital, after `in`, `using` or `with`, and not before a hyphen.
fn named_in_context(text: &Text<'_>, name: &str) -> bool {
    text.chunks.windows(2).any(|pair| {
        let before = pair[0].word(text.raw).to_lowercase();
        matches!(before.as_str(), "in" | "using" | "with") && pair[1].word(text.raw) == name
    })
}

/// Whether the name stands with no letter or digit at either side.
fn stands_in(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// Scripts by the ranges of their letters.
const SCRIPTS: &[(&str, std::ops::RangeInclusive<u32>)] = &[
    ("greek", 0x370..=0x3ff),
    ("cyrillic", 0x400..=0x52f),
    ("hebrew", 0x590..=0x5ff),
    ("arabic", 0x600..=0x6ff),
    ("devanagari", 0x900..=0x97f),
    ("thai", 0xe00..=0xe7f),
    ("kana", 0x3040..=0x30ff),
    ("han", 0x4e00..=0x9fff),
    ("hangul", 0xac00..=0xd7af),
];
