//! The `constraint_injection_light` generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scan::{ending, is_final};
use super::slots::{Slots, choose};
use super::{Ask, Edit, Generator, Lack, Maker, Settings, Variants};

/// One soft preference more.
///
/// Users add preferences that are no requirements. One preference is added, as a sentence at the end or as a phrase
/// before the final punctuation. A preference is left out when the instruction has words that it could conflict with, or
/// has the preference already; an instruction that does not end like a sentence gets phrases only.
///
/// Guarantee: the base is kept and exactly one preference of the list is added; no preference conflicts with another
/// or mentions what an instruction must not mention (tests, coverage, performance, tooling and the like).
///
/// ```yaml
/// constraint_injection_light: {}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstraintInjectionLight {}

/// A preference in its two forms, and beginnings of words that it could conflict with.
struct Preference {
    sentence: &'static str,
    phrase: &'static str,
    conflicts: &'static [&'static str],
}

const PREFERENCES: &[Preference] = &[
    Preference {
        sentence: "Prefer clarity over cleverness.",
        phrase: "preferring clarity over cleverness",
        conflicts: &["clever", "golf", "obfuscat", "cryptic", "trick"],
    },
    Preference {
        sentence: "Keep solution simple.",
        phrase: "keeping the solution simple",
        conflicts: &["advanced", "complex", "comprehensive", "elaborate", "sophisticated"],
    },
    Preference {
        sentence: "Favor descriptive names.",
        phrase: "favoring descriptive names",
        conflicts: &["short", "single-letter", "terse", "abbreviat", "golf"],
    },
    Preference {
        sentence: "Lean toward a small interface.",
        phrase: "leaning toward a small interface",
        conflicts: &["comprehensive", "extensive", "full", "large", "rich"],
    },
    Preference {
        sentence: "Stay close to common conventions.",
        phrase: "staying close to common conventions",
        conflicts: &["custom", "novel", "original", "unconventional", "unusual"],
    },
    Preference {
        sentence: "Prefer plain wording over jargon.",
        phrase: "preferring plain wording over jargon",
        conflicts: &["academic", "formal", "jargon", "technical"],
    },
    Preference {
        sentence: "Favor explicit behavior over hidden behavior.",
        phrase: "favoring explicit behavior over hidden behavior",
        conflicts: &["hidden", "implicit", "magic", "transparent"],
    },
    Preference {
        sentence: "Lean toward familiar building blocks.",
        phrase: "leaning toward familiar building blocks",
        conflicts: &["from-scratch", "novel", "scratch", "unusual"],
    },
    Preference {
        sentence: "Keep naming consistent where practical.",
        phrase: "keeping naming consistent where practical",
        conflicts: &["inconsistent", "random"],
    },
    Preference {
        sentence: "Prefer flat structure over deep nesting.",
        phrase: "preferring flat structure over deep nesting",
        conflicts: &["hierarch", "nest", "recurs", "tree"],
    },
    Preference {
        sentence: "Lean toward sensible defaults.",
        phrase: "leaning toward sensible defaults",
        conflicts: &["default"],
    },
    Preference {
        sentence: "Keep the tone of any wording neutral.",
        phrase: "keeping the tone of any wording neutral",
        conflicts: &["casual", "formal", "friendly", "humor", "poem", "tone"],
    },
];

impl Settings for ConstraintInjectionLight {
    const NAME: &'static str = "constraint_injection_light";
    const GENERATOR_VERSION: u32 = 2;

    fn maker(&self) -> Maker<'_> {
        Maker::Rules(self)
    }
}

impl Generator for ConstraintInjectionLight {
    fn variants(&self, ask: &Ask<'_>) -> Variants {
        if !ask.base.contains(char::is_alphanumeric) {
            return Variants::of(Vec::new(), ask.count, Lack::EmptyText);
        }
        let edits = fitting(ask.base);
        let slots = Slots::one_of(edits.len());
        choose::<Self>(ask, slots, Lack::NoFittingPhrase, |choice| vec![edits[choice[0].1].clone()])
    }
}

/// One edit per preference and form that fits the instruction.
fn fitting(base: &str) -> Vec<Edit> {
    let small = base.to_lowercase();
    let words: Vec<&str> = small.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
    let Some(end) = ending(base) else { return Vec::new() };
    let ends_like_a_sentence = base[..end.end].ends_with(is_final);
    let mut edits = Vec::new();
    for preference in PREFERENCES {
        let conflict =
            preference.conflicts.iter().any(|start| words.iter().any(|word| word.starts_with(start)));
        let sentence = preference.sentence.to_lowercase();
        if conflict || small.contains(sentence.trim_end_matches('.')) || small.contains(preference.phrase) {
            continue;
        }
        if ends_like_a_sentence {
            edits.push(Edit::insert(end.end, format!(" {}", preference.sentence)));
        }
        edits.push(Edit::insert(end.before_punctuation, format!(", {}", preference.phrase)));
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_preference_is_banned_or_conflicts_with_another() {
        for preference in PREFERENCES {
            for text in [preference.sentence, preference.phrase] {
                assert_eq!(super::super::contract::findings(text, &[]), [], "{text}");
            }
            for other in PREFERENCES.iter().filter(|other| other.sentence != preference.sentence) {
                let words: Vec<String> =
                    other.sentence.to_lowercase().split(' ').map(str::to_owned).collect();
                let clash = preference
                    .conflicts
                    .iter()
                    .find(|start| words.iter().any(|word| word.starts_with(*start)));
                assert_eq!(clash, None, "{} and {}", preference.sentence, other.sentence);
            }
        }
    }
}
