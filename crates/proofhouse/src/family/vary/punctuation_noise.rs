//! The `punctuation_noise` generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::slots::{Slots, choose};
use super::{Ask, Edit, Generator, Lack, Maker, Settings, Variants, intensity, lexicon, scan};
use crate::text::complaint::Complaint;

/// Commas, periods and colons that come or go.
///
/// Informal writing misses some and has others too many. A sign is inserted directly after an ordinary word, or
/// removed from there; never twice at one place and never after an article.
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
        PunctuationNoise { intensity_min: 0.05, intensity_max: 0.2 }
    }
}

impl Settings for PunctuationNoise {
    const NAME: &'static str = "punctuation_noise";
    const GENERATOR_VERSION: u32 = 1;

    fn check(&self) -> Result<(), Complaint> {
        intensity::check(self.intensity_min, self.intensity_max)
    }

    fn maker(&self) -> Maker<'_> {
        Maker::Rules(self)
    }
}

impl Generator for PunctuationNoise {
    fn variants(&self, ask: &Ask<'_>) -> Variants {
        let sites = sites(ask.base);
        if sites.is_empty() {
            return Variants::of(Vec::new(), ask.count, Lack::EmptyText);
        }
        let (least, most) =
            intensity::counts(ask.base.chars().count(), self.intensity_min, self.intensity_max);
        let alternatives = sites.iter().map(|site| site.alternatives()).collect();
        let slots = Slots::new(alternatives, least, most);
        choose::<Self>(ask, slots, Lack::IntensityOutOfReach, |choice| {
            choice.iter().map(|(place, alternative)| sites[*place].edit(*alternative)).collect()
        })
    }
}

const SIGNS: [char; 3] = [',', '.', ':'];

enum Site {
    /// A word without punctuation ends here.
    Bare(usize),
    /// This sign alone stands here after a word.
    Signed(usize, char),
}

impl Site {
    fn alternatives(&self) -> usize {
        match self {
            Site::Bare(_) => SIGNS.len(),
            Site::Signed(..) => 1,
        }
    }

    fn edit(&self, alternative: usize) -> Edit {
        match *self {
            Site::Bare(at) => Edit::insert(at, SIGNS[alternative]),
            Site::Signed(at, sign) => Edit { at, removed: sign.into(), inserted: String::new() },
        }
    }
}

fn sites(text: &str) -> Vec<Site> {
    let chunks = scan::chunks(text);
    let plain = chunks.iter().filter(|chunk| chunk.plain && !lexicon::is_article(chunk.word(text)));
    plain
        .filter_map(|chunk| {
            let mut tail = chunk.tail(text).chars();
            match (tail.next(), tail.next()) {
                (None, _) => Some(Site::Bare(chunk.core.end)),
                (Some(sign), None) if SIGNS.contains(&sign) => Some(Site::Signed(chunk.core.end, sign)),
                _ => None,
            }
        })
        .collect()
}
