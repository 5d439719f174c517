//! The `punctuation_noise` generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scan::Chunk;
use super::slots::{Slots, choose};
use super::{Ask, Edit, Generator, Lack, Maker, Settings, Variants, intensity, lexicon, scan};
use crate::text::complaint::Complaint;

/// Commas, periods and colons that come or go.
///
/// Informal writing misses some and has others too many. A comma comes before a word that opens a phrase (`and`, `into`,
/// `when` and the like) or after one that opens a sentence (`First`, `Then`); a comma that is there may go, and so may the
/// period at the very end, or come there. Only where `intensity_min` asks for more edits than there are such pauses, a sign
/// may come or go after any ordinary word that is no article.
///
/// Guarantee: only `,`, `.` and `:` are inserted or removed; the sequence of words is unchanged; nothing changes in or
/// at a number, an address, an identifier, a quotation or code; edits ÷ characters of the base lies within
/// `intensity_min` and `intensity_max`, and where no whole number of edits does, there is a shortfall.
///
/// ```yaml
/// punctuation_noise: {intensity_min: 0.05, intensity_max: 0.20}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PunctuationNoise {
    /// The smallest share of edits, from 0 to 1.
    pub intensity_min: f64,
    /// The greatest share of edits, from 0 to 1.
    pub intensity_max: f64,
}

impl Default for PunctuationNoise {
    fn default() -> Self {
        PunctuationNoise { intensity_min: 0.0, intensity_max: 0.04 }
    }
}

impl Settings for PunctuationNoise {
    const NAME: &'static str = "punctuation_noise";
    const GENERATOR_VERSION: u32 = 2;

    fn check(&self) -> Result<(), Complaint> {
        intensity::check(self.intensity_min, self.intensity_max)
    }

    fn maker(&self) -> Maker<'_> {
        Maker::Rules(self)
    }
}

impl Generator for PunctuationNoise {
    fn variants(&self, ask: &Ask<'_>) -> Variants {
        let chunks = scan::chunks(ask.base);
        let (least, most) =
            intensity::counts(ask.base.chars().count(), self.intensity_min, self.intensity_max);
        let mut sites = pauses(ask.base, &chunks);
        if sites.len() < least.max(1) {
            sites = everywhere(ask.base, &chunks);
        }
        if sites.is_empty() {
            return Variants::of(Vec::new(), ask.count, Lack::EmptyText);
        }
        let alternatives = sites.iter().map(|site| site.alternatives()).collect();
        let slots = Slots::new(alternatives, least, most);
        choose::<Self>(ask, slots, Lack::IntensityOutOfReach, |choice| {
            choice.iter().map(|(place, alternative)| sites[*place].edit(*alternative)).collect()
        })
    }
}

const SIGNS: [char; 3] = [',', '.', ':'];

enum Site {
    /// A word without punctuation ends here; one of these signs may come.
    Bare(usize, &'static [char]),
    /// This sign alone stands here after a word.
    Signed(usize, char),
}

impl Site {
    fn alternatives(&self) -> usize {
        match self {
            Site::Bare(_, signs) => signs.len(),
            Site::Signed(..) => 1,
        }
    }

    fn edit(&self, alternative: usize) -> Edit {
        match *self {
            Site::Bare(at, signs) => Edit::insert(at, signs[alternative]),
            Site::Signed(at, sign) => Edit { at, removed: sign.into(), inserted: String::new() },
        }
    }
}

/// What stands after an ordinary word: nothing, or one sign.
fn sign_after(chunk: &Chunk, text: &str) -> Option<Option<char>> {
    let mut tail = chunk.tail(text).chars();
    match (tail.next(), tail.next()) {
        (None, _) => Some(None),
        (Some(sign), None) if SIGNS.contains(&sign) => Some(Some(sign)),
        _ => None,
    }
}

/// After every ordinary word that is no article.
fn everywhere(text: &str, chunks: &[Chunk]) -> Vec<Site> {
    let plain = chunks.iter().filter(|chunk| chunk.plain && !lexicon::is_article(chunk.word(text)));
    let site = |chunk: &Chunk| match sign_after(chunk, text)? {
        None => Some(Site::Bare(chunk.core.end, &SIGNS)),
        Some(sign) => Some(Site::Signed(chunk.core.end, sign)),
    };
    plain.filter_map(site).collect()
}

/// Words before which a reader may pause.
#[rustfmt::skip]
const OPENERS: &[&str] = &[
    "although", "and", "as", "because", "but", "by", "during", "for", "from", "if", "in", "including",
    "into", "on", "or", "so", "that", "then", "through", "unless", "using", "when", "whenever", "where",
    "which", "while", "who", "with", "without",
];

/// Words that open a sentence and after which a reader may pause.
#[rustfmt::skip]
const LEADS: &[&str] = &[
    "additionally", "afterwards", "also", "finally", "first", "however", "kindly", "next", "now",
    "otherwise", "please", "second", "similarly", "then", "therefore", "third", "today", "tomorrow",
    "yesterday",
];

/// Words after which nobody pauses, because they belong to what comes.
#[rustfmt::skip]
const BINDING: &[&str] = &[
    "a", "about", "after", "all", "an", "and", "any", "are", "as", "at", "be", "before", "between", "but",
    "by", "can", "did", "do", "does", "each", "every", "for", "from", "had", "has", "have", "how", "if",
    "in", "into", "is", "it", "its", "many", "more", "most", "much", "no", "not", "of", "on", "only",
    "or", "so", "some", "such", "than", "that", "the", "their", "then", "these", "this", "those", "to",
    "was", "were", "what", "when", "where", "which", "while", "who", "whose", "will", "with", "your",
];

/// Where a pause could be.
fn pauses(text: &str, chunks: &[Chunk]) -> Vec<Site> {
    let is = |list: &[&str], chunk: &Chunk| {
        list.binary_search(&chunk.word(text).to_ascii_lowercase().as_str()).is_ok()
    };
    let site = |(at, chunk): (usize, &Chunk)| {
        let next = chunks.get(at + 1).filter(|next| !next.code);
        let opens = at == 0 || chunks[at - 1].code || chunks[at - 1].ends_sentence(text);
        let last = next.is_none();
        match (sign_after(chunk, text)?, next) {
            (Some(','), Some(_)) => Some(Site::Signed(chunk.core.end, ',')),
            (Some('.'), None) if last => Some(Site::Signed(chunk.core.end, '.')),
            (None, None) => Some(Site::Bare(chunk.core.end, &['.'])),
            (None, Some(_)) if opens && is(LEADS, chunk) => Some(Site::Bare(chunk.core.end, &[','])),
            (None, Some(next)) => {
                let pause = !opens
                    && next.plain
                    && next.whole.start == next.core.start
                    && is(OPENERS, next)
                    && !is(BINDING, chunk);
                pause.then_some(Site::Bare(chunk.core.end, &[',']))
            }
            _ => None,
        }
    };
    chunks.iter().enumerate().filter(|(_, chunk)| chunk.plain).filter_map(site).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        for list in [OPENERS, LEADS, BINDING] {
            assert!(list.windows(2).all(|pair| pair[0] < pair[1]), "{list:?}");
        }
    }

    #[test]
    fn the_default_keeps_to_pauses() {
        let base = "Please sort the rows of the table by date, and print them in small groups.";
        let ask = Ask { base, count: 50, seed: 1, case_id: "x" };
        for variant in PunctuationNoise::default().variants(&ask).list {
            assert!(variant.edits.len() <= 2, "{}", variant.text);
            for edit in variant.edits {
                let after = &base[edit.at + edit.removed.len()..];
                let pause = edit.removed == "," || after.is_empty() || after.starts_with(" in small");
                assert!(
                    pause || edit.at == "Please".len() || after.starts_with(" by date"),
                    "{}",
                    variant.text
                );
            }
        }
    }
}
