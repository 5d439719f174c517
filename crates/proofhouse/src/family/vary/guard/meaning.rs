//! What the guard says about small words that turn a task into another one: numbers, quantifiers, bounds, opposites, connectives, and
//! what goes from where to where.

use std::collections::BTreeMap;

use super::super::lexicon;
use super::content::is_empty_word;
use super::text::Text;
use super::{Comparison, Reason};

/// Senses that exclude each other, each with the phrases that say it. A task is another one when a sense of the base is gone and
/// another one of the same line has come.
const OPPOSITES: &[&[&[&str]]] = &[
    // Quantifiers and bounds.
    &[
        &["all", "every", "each"],
        &["any", "some", "a few", "several", "one of"],
        &["no", "none", "neither"],
        &["most"],
    ],
    &[
        &["at least", "minimum of", "no fewer than", "no less than", "or more"],
        &["at most", "up to", "maximum of", "no more than", "or fewer", "or less"],
        &["exactly", "precisely"],
    ],
    &[
        &[
            "more than",
            "greater than",
            "larger than",
            "longer than",
            "above",
            "over",
            "exceed",
            "bigger than",
        ],
        &["less than", "fewer than", "smaller than", "shorter than", "below", "under"],
        &["equal to", "equal"],
    ],
    &[&["both"], &["either"], &["neither"]],
    &[&["only"], &["also"]],
    &[&["always"], &["never"], &["sometimes", "optionally"]],
    &[&["unique", "distinct"], &["duplicate", "repeated"]],
    // Comparatives and superlatives.
    &[&["older", "earlier"], &["newer", "later", "younger"]],
    &[&["oldest", "earliest"], &["newest", "latest", "youngest", "most recent"]],
    &[&["first", "leading"], &["last", "final", "trailing"], &["second"], &["third"]],
    &[
        &["largest", "biggest", "greatest", "highest", "maximum", "max", "most expensive"],
        &["smallest", "lowest", "least", "minimum", "min", "cheapest"],
        &["average", "mean"],
        &["median"],
    ],
    &[&["longest"], &["shortest"]],
    &[&["longer"], &["shorter"]],
    &[&["larger", "bigger", "greater", "higher"], &["smaller", "lower"]],
    &[&["more"], &["fewer", "less"]],
    &[&["best"], &["worst"]],
    &[&["ascending", "increasing", "alphabetical"], &["descending", "decreasing", "reverse alphabetical"]],
    &[&["up"], &["down"]],
    &[&["before"], &["after"]],
    &[&["left"], &["right"]],
    &[&["top"], &["bottom"]],
    &[&["start", "begin", "beginning"], &["end", "finish"]],
    &[&["prefix"], &["suffix"]],
    &[
        &["upper", "uppercase", "upper case", "capital"],
        &["lower", "lowercase", "lower case", "small letters"],
    ],
    // Properties.
    &[&["even"], &["odd"]],
    &[&["positive"], &["negative"]],
    &[&["valid"], &["invalid"]],
    &[&["empty"], &["non empty", "nonempty", "filled"]],
    &[&["inclusive", "including"], &["exclusive", "excluding"]],
    &[&["true"], &["false"]],
    &[&["success", "successful", "succeed"], &["failure", "failed", "fail", "error"]],
    &[&["public"], &["private"]],
    &[&["local"], &["remote", "global"]],
    &[&["in memory"], &["on disk", "persistent", "file based"]],
    &[&["synchronous"], &["asynchronous"]],
    &[&["mutable"], &["immutable"]],
    &[&["sorted", "ordered"], &["unsorted", "unordered", "shuffled"]],
    &[&["active", "enabled"], &["inactive", "disabled"]],
    &[&["recursive", "recursively"], &["iterative", "iteratively"]],
    &[&["shallow"], &["deep"]],
    &[&["horizontal"], &["vertical"]],
    &[&["row"], &["column"]],
    &[&["key"], &["value"]],
    &[&["input"], &["output"]],
    // Operations.
    &[&["add", "append", "insert"], &["remove", "delete", "drop", "discard"]],
    &[
        &["include", "keep", "retain", "preserve"],
        &["exclude", "omit", "skip", "ignore", "remove", "delete", "drop", "discard"],
    ],
    &[&["show", "display", "reveal"], &["hide"]],
    &[&["increase", "increment", "raise"], &["decrease", "decrement", "reduce"]],
    &[&["encode"], &["decode"]],
    &[&["encrypt"], &["decrypt"]],
    &[&["compress", "zip"], &["decompress", "unzip", "extract"]],
    &[&["serialize", "serialise"], &["deserialize", "deserialise", "parse"]],
    &[&["open"], &["close"]],
    &[&["push"], &["pop"]],
    &[&["read", "load", "import"], &["write", "save", "export"]],
    &[&["upload"], &["download"]],
    &[&["send"], &["receive"]],
    &[&["allow", "accept", "permit"], &["deny", "reject", "refuse", "forbid"]],
    &[&["enable"], &["disable"]],
    &[&["lock"], &["unlock"]],
    &[&["split"], &["join", "merge", "concatenate", "combine"]],
    &[&["sum", "total"], &["product"], &["average", "mean"], &["difference"], &["count", "number of"]],
    &[&["union"], &["intersection"]],
    &[&["multiply"], &["divide"], &["add"], &["subtract"]],
    &[&["round up", "ceiling"], &["round down", "floor"]],
    // Units.
    &[
        &["second"],
        &["minute"],
        &["hour", "hourly"],
        &["day", "daily"],
        &["week", "weekly"],
        &["month", "monthly"],
        &["year", "yearly", "annual"],
    ],
    &[&["byte"], &["kilobyte"], &["megabyte"], &["gigabyte"]],
    &[&["meter", "metre"], &["kilometer", "kilometre"], &["mile"], &["foot", "feet"]],
    &[&["character", "letter"], &["word"], &["line"], &["sentence"], &["paragraph"]],
    &[&["integer", "whole number"], &["float", "decimal"], &["string"], &["boolean"]],
];

/// Words that say "one of these will do".
const ALTERNATIVES: &[&str] = &["or", "either"];

/// Number words; what is written in digits counts as the same.
const NUMBERS: &[&str] = &[
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];

/// Other words for numbers.
const MULTIPLES: &[(&str, u64)] = &[
    ("once", 1),
    ("single", 1),
    ("twice", 2),
    ("double", 2),
    ("pair", 2),
    ("both", 2),
    ("triple", 3),
    ("dozen", 12),
    ("hundred", 100),
    ("thousand", 1_000),
    ("million", 1_000_000),
];

/// Words between what goes and where it goes: swapped sides are another task.
const DIRECTIONS: &[&str] = &[
    "to", "into", "from", "than", "per", "before", "after", "by", "over", "under", "minus", "inside",
    "within",
];

impl Comparison<'_> {
    /// `changed_meaning`.
    pub(super) fn meaning(&self, reasons: &mut Vec<Reason>) {
        let mut changed: Vec<String> = Vec::new();
        changed.extend(self.changed_numbers());
        changed.extend(OPPOSITES.iter().filter_map(|senses| self.turned(senses)));
        let alternatives = |text: &Text<'_>| ALTERNATIVES.iter().any(|word| text.count(word) > 0);
        if alternatives(self.base) != alternatives(self.answer) && !self.is_bound_phrase() {
            changed.push("or".to_owned());
        }
        changed.extend(self.added_negation());
        changed.extend(self.swapped());
        changed.extend(self.replaced());
        changed.extend(self.narrowed());
        changed.sort();
        changed.dedup();
        reasons.extend(changed.into_iter().filter(|word| !self.allows(word)).map(Reason::ChangedMeaning));
    }

    /// A number that the base does not have, or one of the base that is gone. "One" may come and go as an article does.
    fn changed_numbers(&self) -> Option<String> {
        let (base, answer) = (numbers(self.base), numbers(self.answer));
        let differs = |a: &BTreeMap<u64, usize>, b: &BTreeMap<u64, usize>| {
            a.keys().find(|number| **number > 1 && !b.contains_key(number)).map(u64::to_string)
        };
        differs(&answer, &base).or_else(|| differs(&base, &answer))
    }

    /// The sense that has taken the place of another one.
    fn turned(&self, senses: &[&[&str]]) -> Option<String> {
        let said = |text: &Text<'_>| -> Vec<usize> {
            senses.iter().map(|phrases| phrases.iter().map(|phrase| exact(text, phrase)).sum()).collect()
        };
        let (base, answer) = (said(self.base), said(self.answer));
        let gone = (0..senses.len()).any(|sense| base[sense] > answer[sense]);
        let come = (0..senses.len()).find(|&sense| base[sense] == 0 && answer[sense] > 0);
        let word = |sense: usize| senses[sense].iter().find(|phrase| exact(self.answer, phrase) > 0);
        come.filter(|_| gone).and_then(word).map(|phrase| (*phrase).to_owned())
    }

    /// Whether an `or` only ends a bound: `ten or more` is `at least ten`.
    fn is_bound_phrase(&self) -> bool {
        const BOUNDS: &[&str] =
            &["or more", "or less", "or fewer", "or above", "or below", "or older", "or newer", "or not"];
        let only_bounds = |text: &Text<'_>| {
            let all: usize = ALTERNATIVES.iter().map(|word| text.count(word)).sum();
            let bounds: usize = BOUNDS.iter().map(|phrase| text.count(phrase)).sum();
            all <= bounds
        };
        only_bounds(self.base) && only_bounds(self.answer)
    }

    /// A negation that the base does not have; one that is gone is lost content.
    fn added_negation(&self) -> Option<String> {
        const NEGATIONS: &[&str] =
            &["not", "no", "never", "without", "don't", "doesn't", "except", "unless", "isn't", "aren't"];
        // Bounds are said with and without `no`.
        const BOUNDS: &[&str] = &["no more than", "no fewer than", "no less than", "no longer than"];
        let count = |text: &Text<'_>| -> usize {
            let all: usize = NEGATIONS.iter().map(|word| text.count(word)).sum();
            all - BOUNDS.iter().map(|phrase| text.count(phrase)).sum::<usize>().min(all)
        };
        let (base, answer) = (count(self.base), count(self.answer));
        let word = NEGATIONS.iter().find(|word| self.answer.count(word) > self.base.count(word));
        word.filter(|_| answer > base && !self.says_without()).map(|word| (*word).to_owned())
    }

    /// Whether the base leaves something out by a verb, which others say with a negation.
    fn says_without(&self) -> bool {
        const VERBS: &[&str] = &[
            "remove",
            "exclude",
            "omit",
            "skip",
            "ignore",
            "drop",
            "strip",
            "avoid",
            "missing",
            "lack",
            "unique",
            "invalid",
            "empty",
            "different",
            "fail",
        ];
        VERBS.iter().any(|verb| self.base.count(verb) > 0)
    }

    /// A word in the place of another one that does not mean the same, or two words in each other's place, in a text that is otherwise
    /// nearly the base. Verbs have too many synonyms to be told by this.
    fn replaced(&self) -> Option<String> {
        const FEW: usize = 4;
        let (base, answer) = (self.base, self.answer);
        if base.words.len() != answer.words.len() {
            return None;
        }
        let differ: Vec<usize> =
            (1..base.stems.len()).filter(|&at| base.stems[at] != answer.stems[at]).collect();
        let carries = |word: &str| !is_empty_word(word) && !lexicon::is_imperative(word);
        if differ.is_empty() || differ.len() > FEW {
            return None;
        }
        let of = |text: &Text<'_>| {
            let mut stems: Vec<String> = differ.iter().map(|&at| text.stems[at].clone()).collect();
            stems.sort();
            stems
        };
        let swapped = of(base) == of(answer) && differ.iter().all(|&at| carries(&base.words[at]));
        let another = |&&at: &&usize| {
            let (old, new) = (&base.words[at], &answer.words[at]);
            let same_number = number(old).is_some() && number(old) == number(new);
            carries(old) && carries(new) && !self.keeps(old) && !same_sense(old, new) && !same_number
        };
        let found =
            if swapped { differ.first() } else { differ.iter().find(another).filter(|_| differ.len() <= 2) };
        found.map(|&at| answer.words[at].clone())
    }

    /// A word that picks some of what the base means as a whole.
    fn narrowed(&self) -> Option<String> {
        const PICKS: &[&str] = &[
            "first", "second", "third", "last", "next", "previous", "oldest", "newest", "latest", "earliest",
            "largest", "smallest", "highest", "lowest", "longest", "shortest", "except", "unless", "only",
        ];
        let senses = |word: &&&str| !self.base.words.iter().any(|old| old == *word || same_sense(old, word));
        PICKS.iter().filter(|word| exact(self.answer, word) > 0).find(senses).map(|word| (*word).to_owned())
    }

    /// Two words that have changed sides of the same direction.
    fn swapped(&self) -> Option<String> {
        let (base, answer) = (sides(self.base), sides(self.answer));
        let turned = base.iter().find(|(left, direction, right)| {
            let back = (right.clone(), *direction, left.clone());
            left != right
                && answer.contains(&back)
                && !answer.contains(&(left.clone(), *direction, right.clone()))
        });
        turned.map(|(_, direction, _)| (*direction).to_owned())
    }
}

/// Whether two words say the same sense.
fn same_sense(a: &str, b: &str) -> bool {
    OPPOSITES
        .iter()
        .flat_map(|senses| senses.iter())
        .any(|phrases| phrases.contains(&a) && phrases.contains(&b))
}

/// How often a phrase stands in the text, word by word; stems would make `ordered` of `order` and `fewer` of `few`.
fn exact(text: &Text<'_>, phrase: &str) -> usize {
    let wanted: Vec<&str> = phrase.split(' ').collect();
    let plural = |word: &str, wanted: &str| {
        word == wanted
            || word
                .strip_prefix(wanted)
                .is_some_and(|ending| matches!(ending, "s" | "es" | "ing" | "d" | "ed"))
            || wanted.strip_suffix('e').is_some_and(|start| word.strip_prefix(start) == Some("ing"))
    };
    let last = wanted.len() - 1;
    let matches = |window: &[String]| {
        window.iter().zip(&wanted).enumerate().all(|(at, (word, wanted))| match at == last {
            true => plural(word, wanted),
            false => word == wanted,
        })
    };
    text.words.windows(wanted.len()).filter(|window| matches(window)).count()
}

/// The numbers of a text, in digits or as words, and how often each stands there.
fn numbers(text: &Text<'_>) -> BTreeMap<u64, usize> {
    let mut found = BTreeMap::new();
    for number in text.words.iter().filter_map(|word| number(word)) {
        *found.entry(number).or_default() += 1;
    }
    found
}

fn number(word: &str) -> Option<u64> {
    word.parse()
        .ok()
        .or_else(|| NUMBERS.iter().position(|name| *name == word).map(|at| at as u64))
        .or_else(|| MULTIPLES.iter().find(|(name, _)| *name == word).map(|(_, number)| *number))
}

/// What stands at both sides of each direction: the nearest words with content, as stems.
fn sides(text: &Text<'_>) -> Vec<(String, &'static str, String)> {
    let content =
        |at: usize| !is_empty_word(&text.words[at]) && !DIRECTIONS.contains(&text.words[at].as_str());
    let mut found = Vec::new();
    for (at, word) in text.words.iter().enumerate() {
        let Some(direction) = DIRECTIONS.iter().find(|direction| *direction == word) else { continue };
        let left = (0..at).rev().find(|&before| content(before));
        let right = (at + 1..text.words.len()).find(|&after| content(after));
        if let Some((left, right)) = left.zip(right) {
            found.push((text.stems[left].clone(), *direction, text.stems[right].clone()));
        }
    }
    found
}
